r"""Studentised bootstrap: how t would vary over topics, had two systems the same mean.

Sakai (2006, doi:10.1145/1148170.1148261), after Efron and Tibshirani (1993): with differences z of n topics, t = t(z),
and w = z less its mean (the shift), topics are drawn anew with replacement, and

.. math:: t^* = \frac{\bar w^*}{s(w^*) / \sqrt{n}}

is as large as t as often as chance makes it.  One set of resamples serves all pairs of systems.  A resample enters by
how often each topic is drawn, so that :math:`S_1 = \sum w^*` and :math:`S_2 = \sum w^{*2}` are matrix products, and

.. math:: t^{*2} = \frac{(n-1) S_1^2}{n S_2 - S_1^2}, \qquad
          t^{*2} \ge t^2 \iff S_1^2 (n - 1 + t^2) \ge t^2 n S_2 .

A resample without spread has an infinite t*, as large as any; if it is all zero, t* = 0.  Where a pair lacks topics, n
is in each resample the number of its topics that were drawn; a resample with fewer than two is as large as any.
"""

from __future__ import annotations

import numpy as np

from venire.kernels.differences import Differences
from venire.types import Floats, Ints

BLOCK_CELLS = 1 << 20
"""How many resampled statistics are held at a time."""

TIE = 1e-9
"""Squares of t closer than this, relative to their size, are the same."""

ZERO = 1e-11
"""A shifted difference below this part of the largest is zero."""

_FLOOR = 1e-30


def count_as_large(differences: Differences, weights: Floats) -> Ints:
    """Count resamples whose t* is as far from 0 as t: weights (draw, topic) -> (pair,); none for pairs without spread.

    Cost: O(draws x topics x pairs), as two matrix products (three where topics are missing); memory bounded.
    """
    counts = np.zeros(len(differences.n), dtype=np.int64)
    spread = np.flatnonzero(~differences.alike)
    step = max(1, BLOCK_CELLS // max(1, len(weights)))
    for first in range(0, len(spread), step):
        block = spread[first : first + step]
        counts[block] = _as_large(differences.take(block), weights)
    return counts


def extreme_t(differences: Differences, weights: Floats, *, tail: float) -> tuple[Floats, Floats]:
    """Order statistics of t* that cut off a tail at either end: weights (draw, topic) -> low, high, both (pair,).

    Infinite where so many resamples have no spread; NaN for pairs without spread.  Cost: as ``count_as_large``.
    """
    low, high = np.full((2, len(differences.n)), np.nan)
    spread = np.flatnonzero(~differences.alike)
    n_draws = len(weights)
    lower = max(int(np.floor(tail * (n_draws + 1))) - 1, 0)
    step = max(1, BLOCK_CELLS // max(1, n_draws))
    for first in range(0, len(spread), step):
        block = spread[first : first + step]
        t = np.partition(_t(differences.take(block), weights), [lower, n_draws - 1 - lower], axis=1)
        low[block], high[block] = t[:, lower], t[:, n_draws - 1 - lower]
    return low, high


def _shifted(differences: Differences) -> Floats:
    """Differences less their mean, 0 where there is none -> (topic, pair)."""
    w = np.where(differences.there, differences.value - differences.mean, 0.0)
    w[np.abs(w) < ZERO * np.abs(differences.value).max(axis=0, initial=0.0)] = 0.0
    return w


def _as_large(differences: Differences, weights: Floats) -> Ints:
    """Compare squares by the inequality above, so that nothing is divided -> (pair,)."""
    w, t2 = _shifted(differences), differences.t**2
    # So small a square vanishes beside any other, but keeps a resample that is all zero from passing for a large one.
    squares = np.where(differences.there, np.maximum(w * w, _FLOOR * (w * w).max(axis=0)), 0.0) * (1 - TIE)
    if differences.complete:
        n = differences.n
        sums = w.T @ weights.T
        least = (squares * (t2 * n / (n - 1 + t2))).T @ weights.T
    else:
        drawn = differences.there.T.astype(np.float64) @ weights.T
        sums = (w.T @ weights.T) * np.sqrt(np.maximum(drawn - 1, 0) + t2[:, None])
        least = ((squares * t2).T @ weights.T) * drawn
        least[drawn < 2] = 0.0
    np.multiply(sums, sums, out=sums)
    return (sums >= least).sum(axis=1)


def _t(differences: Differences, weights: Floats) -> Floats:
    """t* of every resample -> (pair, draw)."""
    w = _shifted(differences)
    n = differences.n[:, None] if differences.complete else differences.there.T.astype(np.float64) @ weights.T
    mean, squares = w.T @ weights.T, (w * w).T @ weights.T
    apart = n * squares - mean * mean
    apart[apart <= TIE * n * squares] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean * np.sqrt(np.maximum(n - 1, 0)) / np.sqrt(apart)
    return np.where(n < 2, np.inf, np.where(mean == 0, 0.0, t))
