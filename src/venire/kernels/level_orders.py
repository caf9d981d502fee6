r"""Expected scores of a ranking by levels, over all orders of the documents within a level.

A ranking by few levels leaves the order within a level open.  Level b holds the ranks :math:`s_b < r \le s_b + n_b`,
highest level first; its documents have gains by another label.  With every order within levels equally likely, rank r
holds each of the level's documents with probability :math:`1/n_b`, and two ranks of one level hold each ordered pair of
them with probability :math:`1/(n_b(n_b-1))`.  So, with :math:`\bar g_b` the mean gain of a level,

.. math:: E\sum_r c(r)\, g_r = \sum_b \bar g_b \sum_{r \in b} c(r)

for discounted gain, and with :math:`M_{ab} = \sum_{i \in a, j \in b} \min(g_i, g_j)`, for the sum of graded precisions
(average precision where gains are 0 and 1),

.. math::
    E\sum_r c(r) \sum_{l \le r} \min(g_l, g_r) = \sum_b \Big(\bar g_b + \sum_{a > b} \frac{M_{ab}}{n_b}\Big)
    \sum_{r \in b} c(r) + \sum_b \frac{M_{bb} - n_b \bar g_b}{n_b (n_b - 1)} \sum_{r \in b} (r - s_b - 1)\, c(r)

Everywhere: counts (..., level, label) of documents by the level that ranks them and the label that gives their gain,
lowest first; gains (..., label); discount (rank,), from rank 1, zero behind a cut-off; the answer is (...).
Cost: O(levels^2 labels) per ranking, whatever the number of documents.
"""

from __future__ import annotations

import numpy as np

from venire.types import Floats, Ints


def expected_discounted(counts: Ints, gains: Floats, discount: Floats) -> Floats:
    """Expected sum of gain by discount, over orders within levels."""
    n = counts.sum(axis=-1)
    return (_over(n, (counts * gains[..., None, :]).sum(axis=-1)) * _by_level(n, discount)).sum(axis=-1)


def best_discounted(totals: Ints, gains: Floats, discount: Floats) -> Floats:
    """Sum of gain by discount in the best ranking; totals (..., label)."""
    gains = np.broadcast_to(gains, totals.shape)
    order = np.argsort(gains, axis=-1)
    by_level = _by_level(np.take_along_axis(totals, order, axis=-1), discount)
    return (np.take_along_axis(gains, order, axis=-1) * by_level).sum(axis=-1)


def expected_graded_precisions(counts: Ints, gains: Floats, discount: Floats) -> Floats:
    """Expected sum over ranks r of c(r) sum_{l<=r} min(g_l, g_r), over orders within levels; c(r) = 1/r for AP, GAP."""
    n = counts.sum(axis=-1)
    least = np.minimum(gains[..., :, None], gains[..., None, :])
    pairs = counts @ least @ counts.swapaxes(-1, -2)
    own = (counts * gains[..., None, :]).sum(axis=-1)
    among = np.diagonal(pairs, axis1=-2, axis2=-1)
    above = np.tril(pairs, -1).sum(axis=-2)
    rank = np.arange(1, len(discount) + 1)
    first = _start(n) + 1
    here = _by_level(n, discount)
    behind = _by_level(n, discount * rank) - first * here
    return (_over(n, own + above) * here + _over(n * (n - 1), among - own) * behind).sum(axis=-1)


def _start(n: Ints) -> Ints:
    """How many documents stand above each level -> (..., level)."""
    return np.flip(np.cumsum(np.flip(n, -1), axis=-1), -1) - n


def _by_level(n: Ints, discount: Floats) -> Floats:
    """Sum of the discount over the ranks of each level -> (..., level)."""
    upto = np.concatenate([[0.0], np.cumsum(discount)])
    start = _start(n)
    return upto[start + n] - upto[start]


def _over(n: Ints, total: Floats) -> Floats:
    """Divide; 0 where a level is empty."""
    return np.divide(total, n, out=np.zeros(np.shape(total)), where=n > 0)
