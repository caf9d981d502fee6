r"""Rank correlation of grades from a table of counts, for many resampled tables at once.

Spearman's rho is Pearson's correlation of ranks, tied ones sharing their mean rank.  Grades are few, so the table of
how often each two of them meet holds all there is to know: grade i of :math:`n_i` has the rank
:math:`\sum_{h<i} n_h + (n_i + 1)/2`.  A table in which topics count as often as they were drawn gives exactly the rho
of the documents drawn.
"""

from __future__ import annotations

import numpy as np

from venire.types import Floats


def spearman_of_counts(counts: Floats) -> Floats:
    """Spearman's rho of two gradings; counts (..., a, b) -> (...); NaN where one of them is constant.

    Examples
    --------
    >>> spearman_of_counts(np.array([[[2.0, 0.0], [0.0, 2.0]], [[0.0, 2.0], [2.0, 0.0]]])).tolist()
    [1.0, -1.0]
    """
    a, b = counts.sum(axis=-1), counts.sum(axis=-2)
    rank_a, rank_b = _centred_ranks(a), _centred_ranks(b)
    together = np.einsum("...ij,...i,...j->...", counts, rank_a, rank_b)
    spread = np.sqrt((a * rank_a**2).sum(axis=-1) * (b * rank_b**2).sum(axis=-1))
    return np.divide(together, spread, out=np.full(together.shape, np.nan), where=spread > 0)


def _centred_ranks(counts: Floats) -> Floats:
    """Rank of each grade, less the mean rank; counts (..., grade) -> same shape."""
    n = counts.sum(axis=-1, keepdims=True)
    return counts.cumsum(axis=-1) - counts / 2 - n / 2
