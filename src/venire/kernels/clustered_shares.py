r"""Shares whose cases come in clusters (topics): how sure they are when cases of one topic are alike.

With h hits in n cases of a topic the share is :math:`p = \sum h / \sum n`.  To first order its variance is

.. math:: s^2 = \frac{T}{T-1} \frac{\sum_t (h_t - p n_t)^2}{N^2}

and the interval is Wilson's (1927, doi:10.1080/01621459.1927.10502953) on :math:`p(1-p)/s^2` cases, never more than
there are, with Student's t for the effective number of topics :math:`(\sum n)^2 / \sum n^2` less one.  Where no spread
over topics can be seen (p is 0 or 1, or one topic has all), every topic counts as one case, with the normal for t.
"""

from __future__ import annotations

import numpy as np

from venire.types import Floats

LEVEL = 0.95
KNOWN = 1e9
"""Degrees of freedom where a spread is taken for granted, not estimated."""


def clustered_shares(hits: Floats, cases: Floats, *, level: float = LEVEL) -> tuple[Floats, Floats, Floats]:
    """Shares and their intervals; NaN where there is no case: hits, cases (topic, ...) -> p, low, high (...)."""
    from scipy.special import stdtrit

    n, there = cases.sum(axis=0), (cases > 0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = hits.sum(axis=0) / n
        variance = ((hits - p * cases) ** 2).sum(axis=0) / (n * n) * there / (there - 1)
        clusters = n * n / (cases * cases).sum(axis=0)
        seen = (p > 0) & (p < 1) & (there > 1)
        effective = np.where(seen, np.minimum(p * (1 - p) / variance, n), clusters)
        freedom = np.where(seen, np.maximum(clusters - 1, 1), KNOWN)
        t2 = stdtrit(np.where(np.isnan(freedom), 1.0, freedom), (1 + level) / 2) ** 2
        centre = (p + t2 / (2 * effective)) / (1 + t2 / effective)
        half = np.sqrt(t2 * (p * (1 - p) / effective + t2 / (4 * effective**2))) / (1 + t2 / effective)
    return p, np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
