r"""Required differences: how far apart two systems' means must lie before resampled topics cannot explain it.

Sakai (2006, doi:10.1145/1148170.1148261): of the resamples of the shifted differences w, take the one whose
:math:`|t^*|` is the k-th largest, k = alpha B of B resamples; its :math:`|\bar w^*|` is the difference that the pair
would have needed.  With :math:`S_1 = \sum w^*` and :math:`S_2 = \sum w^{*2}` over the n topics of a resample,

.. math:: t^{*2} = (n - 1) \frac{r}{1 - r}, \qquad r = \frac{S_1^2}{n S_2} ,

so that both sums are matrix products, as in ``kernels.studentised``, and all pairs share the resamples.  Where the k-th
largest t* is infinite (a resample without spread), no difference would do.
"""

from __future__ import annotations

import numpy as np

from venire.kernels.differences import Differences
from venire.types import Floats

BLOCK_CELLS = 1 << 18
"""How many resampled statistics are held at a time."""

NO_SPREAD = 1e-9
"""A resample has no spread if r lies closer to 1 than this."""


def required_differences(differences: Differences, weights: Floats, most: int) -> Floats:
    """Difference that at most so many resamples are as large as: weights (draw, topic) -> (pair,).

    NaN for pairs whose differences have no spread; infinite where no difference is enough.
    Cost: O(draws x topics x pairs), as two matrix products (three where topics are missing); memory bounded.
    """
    found = np.full(len(differences.n), np.nan)
    spread = np.flatnonzero(~differences.alike)
    step = max(1, BLOCK_CELLS // max(1, len(weights)))
    for first in range(0, len(spread), step):
        block = spread[first : first + step]
        found[block] = _required(differences.take(block), weights, most)
    return found


def _required(differences: Differences, weights: Floats, most: int) -> Floats:
    """Mean of the resample whose t* is at place ``most``, the largest at 0 -> (pair,)."""
    w = np.where(differences.there, differences.value - differences.mean, 0.0)
    sums, squares = w.T @ weights.T, (w * w).T @ weights.T
    r = np.divide(sums * sums, squares, out=np.zeros(sums.shape), where=squares > 0)
    n = differences.n[:, None].astype(np.float64)
    if not differences.complete:
        n = differences.there.T.astype(np.float64) @ weights.T
        r /= np.maximum(n, 1)
        r = np.where((n < 2) | (1 - r < NO_SPREAD), np.inf, (n - 1) * r / np.maximum(1 - r, NO_SPREAD))
    place = np.argpartition(r, -1 - most, axis=1)[:, -1 - most, None]
    largest, total = (np.take_along_axis(each, place, axis=1) for each in (r, np.abs(sums)))
    if differences.complete:
        return np.where(n - largest < n * NO_SPREAD, np.inf, total / n)[:, 0]
    return np.where(np.isinf(largest), np.inf, total / np.maximum(np.take_along_axis(n, place, axis=1), 1))[:, 0]
