r"""Rank correlations: Kendall's tau, tau-AP, rank-biased overlap and Spearman's rho, for many pairs of vectors at once.

Vectors give each system a score; a higher score is a better rank.  Each coefficient has one implementation, a matrix
product over what two rankings share: signs of pairs of systems for tau, systems above one for tau-AP, systems among
the first d for rank-biased overlap.  ``*_matrix`` correlates every two vectors, x (..., a, system) with y (..., b,
system) -> (..., a, b), y being x by default; the plain functions correlate x with y (..., system) -> (...).  Leading
axes broadcast.

Kendall (1945, doi:10.1093/biomet/33.3.239), with C concordant and D discordant of :math:`n_0 = n(n-1)/2` pairs, and
:math:`n_x, n_y` of them not tied in x, in y:

.. math:: \tau_a = \frac{C - D}{n_0}, \qquad \tau_b = \frac{C - D}{\sqrt{n_x n_y}}

Tau-AP (Yilmaz, Aslam and Robertson 2008, doi:10.1145/1390334.1390435) goes down the ranking by y and computes, for each
system but the first, the share of the systems above it that are above it by x too.  With ties as in Urbano and Marrero
(2017, doi:10.1145/3121050.3121106; their variant b), :math:`m_i` systems strictly above i by y and :math:`c_i` of them
above it by x,

.. math:: \tau_{AP,b}(y) = \frac{2}{|\{m_i > 0\}|} \sum_{m_i > 0} \frac{c_i}{m_i} - 1

and :math:`\tau_{AP,b}` is the mean of going down y and going down x.

Rank-biased overlap (Webber, Moffat and Zobel 2010, doi:10.1145/1852102.1852106; its extrapolated form) of two rankings
of the same n systems, with ties as in Corsi and Urbano (2024, doi:10.1145/3626772.3657700; their variant b): system i
is among the first d with probability :math:`c_{id}` in x, :math:`c'_{id}` in y, and

.. math::
    RBO = (1-p) \sum_{d=1}^{n} p^{d-1} A_d + p^n A_n, \qquad
    A_d = \frac{\sum_i c_{id} c'_{id}}{\sqrt{\sum_i c_{id}^2 \sum_i c'^2_{id}}}

Over resampled topics, a draw gives topic i the weight :math:`w_i`, how often it was drawn.  Copies of a topic are tied
with themselves on both sides, so with the signs :math:`s^x_{ij} = sgn(x_i - x_j)`

.. math:: \tau_b = \frac{\sum_{ij} w_i w_j s^x_{ij} s^y_{ij}}
    {\sqrt{\sum_{ij} w_i w_j |s^x_{ij}| \, \sum_{ij} w_i w_j |s^y_{ij}|}}

and rho is Pearson's correlation of the mean ranks :math:`\sum_{x_j < x_i} w_j + (1 + \sum_{x_j = x_i} w_j) / 2`.

A correlation is NaN where it is not defined: fewer than two systems, a score that is NaN, or one side all tied (tau-a
and rank-biased overlap are defined there).  Counts are products in single precision, exact up to 2^24 pairs of systems.
Cost: O(a b system^2), memory in blocks over leading axes, each at least (a + b, system, system).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from venire.types import Bools, Floats, Ints

BLOCK_CELLS = 1 << 22
"""Number of cells (vector x system x system, or pair of topics x draw) held at a time."""

Singles = NDArray[np.float32]
Kernel = Callable[[Floats, Floats], Floats]


def kendall_tau(x: Floats, y: Floats, *, variant: Literal["b", "a"] = "b") -> Floats:
    """Kendall's rank correlation; x, y (..., system) -> (...).

    Examples
    --------
    >>> kendall_tau(np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]), np.array([30.0, 10.0, 20.0])).round(4).tolist()
    [0.3333, -0.3333]
    """
    return kendall_tau_matrix(x[..., None, :], y[..., None, :], variant=variant)[..., 0, 0]


def tau_ap(x: Floats, y: Floats) -> Floats:
    """Rank correlation that weighs the top more, variant b; x, y (..., system) -> (...)."""
    return tau_ap_matrix(x[..., None, :], y[..., None, :])[..., 0, 0]


def rbo(x: Floats, y: Floats, *, p: float = 0.9) -> Floats:
    """Rank-biased overlap, extrapolated, variant b; x, y (..., system) -> (...).  p: persistence, 0 < p < 1.

    Not corrected for chance: unrelated rankings have a value above 0.
    """
    return rbo_matrix(x[..., None, :], y[..., None, :], p=p)[..., 0, 0]


def kendall_tau_matrix(x: Floats, y: Floats | None = None, *, variant: Literal["b", "a"] = "b") -> Floats:
    """Kendall's tau of every two vectors."""
    return _in_blocks(partial(_tau, variant=variant), x, y)


def tau_ap_matrix(x: Floats, y: Floats | None = None) -> Floats:
    """Tau-AP, variant b, of every two vectors."""
    return _in_blocks(_tau_ap, x, y)


def rbo_matrix(x: Floats, y: Floats | None = None, *, p: float = 0.9) -> Floats:
    """Rank-biased overlap, variant b, of every two vectors."""
    return _in_blocks(partial(_rbo, p=p), x, y)


def _in_blocks(kernel: Kernel, x: Floats, y: Floats | None) -> Floats:
    """Apply a kernel of (draw, a, system), (draw, b, system) a block of draws at a time; NaN where a score is NaN."""
    other = x if y is None else y
    leading = np.broadcast_shapes(x.shape[:-2], other.shape[:-2])
    n_draws, n_a, n_b, n = prod(leading), x.shape[-2], other.shape[-2], x.shape[-1]
    first = np.broadcast_to(x, (*leading, n_a, n)).reshape(n_draws, n_a, n)
    alone = prod(other.shape[:-2]) == 1  # one ranking for all draws: what it is made of is computed once a block
    second = (other if alone else np.broadcast_to(other, (*leading, n_b, n))).reshape(-1 if n else 1, n_b, n)
    answer = np.full((n_draws, n_a, n_b), np.nan)
    step = max(1, BLOCK_CELLS // max((n_a + n_b) * n * n, 1))
    for begin in range(0, n_draws if n > 1 else 0, step):
        rows = slice(begin, begin + step)
        a = first[rows]
        b = a if y is None else second if alone else second[rows]
        both = _complete(a)[:, :, None] & _complete(b)[:, None, :]
        answer[rows] = np.where(both, kernel(a, b), np.nan)
    return answer.reshape(*leading, n_a, n_b)


def _complete(x: Floats) -> Bools:
    return np.asarray(~np.isnan(x).any(axis=-1))


def _tau(x: Floats, y: Floats, *, variant: str) -> Floats:
    systems = range(1, x.shape[-1])
    by_x = _signs(x, systems)
    by_y = by_x if y is x else _signs(y, systems)
    balance = (by_x @ by_y.swapaxes(-1, -2)).astype(np.float64)
    if variant == "a":
        return balance / by_x.shape[-1]
    untied = (np.count_nonzero(each, axis=-1).astype(np.float64) for each in (by_x, by_y))
    return _ratio(balance, np.sqrt(_outer(*untied)))


def _tau_ap(x: Floats, y: Floats) -> Floats:
    by_x = _above(x)
    by_y = by_x if y is x else _above(y)
    right = (by_x.swapaxes(-3, -2) @ by_y.transpose(0, 2, 3, 1)).astype(np.float64)
    down_y = _down(right, by_y)
    down_x = down_y if y is x else _down(right.swapaxes(-1, -2), by_x)
    return (down_y + down_x.swapaxes(-1, -2)) / 2


def _down(right: Floats, above: Singles) -> Floats:
    """Tau-AP down one ranking; right (draw, system, other, own), above (draw, own, i, j) -> (draw, other, own)."""
    n_above = above.sum(axis=-1, dtype=np.float64)
    share = np.divide(1.0, n_above, out=np.zeros(n_above.shape), where=n_above > 0)
    n_below_top = np.count_nonzero(n_above, axis=-1)[:, None, :]
    return 2 * _ratio(np.einsum("dior,dri->dor", right, share), n_below_top) - 1


def _rbo(x: Floats, y: Floats, *, p: float) -> Floats:
    n = x.shape[-1]
    weight = (1 - p) * p ** np.arange(n)
    weight[-1] += p**n
    by_x = _among_first(x, np.sqrt(weight))
    by_y = by_x if y is x else _among_first(y, np.sqrt(weight))
    return by_x @ by_y.swapaxes(-1, -2)


def _among_first(x: Floats, weight: Floats) -> Floats:
    """Probability to be among the first d, of unit length for each d, weighted -> (draw, vector, d x system)."""
    n = x.shape[-1]
    above = _above(x)
    top, below = (above.sum(axis=axis, dtype=np.float64)[..., None, :] for axis in (-1, -2))
    among = np.clip((np.arange(1, n + 1)[:, None] - top) / (n - top - below), 0.0, 1.0)
    among *= weight[:, None] / np.sqrt((among * among).sum(axis=-1, keepdims=True))
    return among.reshape(*x.shape[:-1], n * n)


def _above(x: Floats) -> Singles:
    """1 where j stands above i -> (draw, vector, i, j)."""
    return (x[..., None, :] > x[..., :, None]).astype(np.float32)


def _signs(x: Floats, rows: range) -> Singles:
    """+1, -1 or 0 (tied): whether each i of the rows scores above every j < i; (..., system) -> (..., pair)."""
    signs = np.empty((*x.shape[:-1], sum(rows)), dtype=np.float32)
    end = 0
    for i in rows:
        begin, end = end, end + i
        own, others = x[..., i, None], x[..., :i]
        signs[..., begin:end] = own > others
        signs[..., begin:end] -= own < others
    return signs


def _outer(a: Floats, b: Floats) -> Floats:
    return a[..., :, None] * b[..., None, :]


def _ratio(part: Floats, whole: Floats | Ints) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)


def resampled_tau(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Kendall's tau-b of every two vectors over resampled topics.

    x (first, topic), y (second, topic), weights (draw, topic) -> (draw, first, second).  Cost: O(first second draw
    topic^2), as products of matrices in blocks.

    Examples
    --------
    >>> resampled_tau(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]]), np.ones((1, 3))).round(4).tolist()
    [[[0.3333]]]
    """
    single = weights.astype(np.float32)
    balance = np.zeros((len(weights), len(x) * len(y)))
    n_topics = x.shape[1]
    step = max(1, BLOCK_CELLS // max((len(weights) + len(x) * len(y)) * n_topics, 1))
    for start in range(1, n_topics, step):
        rows = range(start, min(start + step, n_topics))
        signs = (_signs(x, rows)[:, None, :] * _signs(y, rows)).reshape(len(x) * len(y), -1)
        balance += np.concatenate([single[:, i, None] * single[:, :i] for i in rows], axis=1) @ signs.T
    whole = np.sqrt(_outer(_untied(x, weights), _untied(y, weights)))
    return _ratio(balance.reshape(whole.shape), whole)


def resampled_rho(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Spearman's rho of every two vectors over resampled topics; shapes as in ``resampled_tau``.

    Cost: O(first second draw topic).
    """
    by_x, by_y = ([_centred_ranks(vector, weights) for vector in side] for side in (x, y))
    answer = np.full((len(weights), len(x), len(y)), np.nan)
    for first, a in enumerate(by_x):
        for second, b in enumerate(by_y):
            whole = np.sqrt((weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1))
            answer[:, first, second] = _ratio((weights * a * b).sum(axis=1), whole)
    return answer


def _untied(vectors: Floats, weights: Floats) -> Floats:
    """Weight of the pairs that are not tied -> (draw, vector): all pairs less those within a tie."""
    pairs = weights.sum(axis=1) ** 2
    return np.stack([(pairs - (_tied(each, weights)[0] ** 2).sum(axis=1)) / 2 for each in vectors], axis=1)


def _tied(vector: Floats, weights: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Weight of each distinct value, ascending -> (draw, value); and which value each topic has (topic,)."""
    order = np.argsort(vector, kind="stable")
    new = np.append(True, np.diff(vector[order]) > 0)
    value = np.empty(len(vector), dtype=np.intp)
    value[order] = np.cumsum(new) - 1
    return np.add.reduceat(weights[:, order], np.flatnonzero(new), axis=1), value


def _centred_ranks(vector: Floats, weights: Floats) -> Floats:
    """Mean ranks within each draw, less their mean -> (draw, topic)."""
    tied, value = _tied(vector, weights)
    return _middle_ranks(tied)[:, value]


def _middle_ranks(counts: Floats) -> Floats:
    """Rank of each of several tied groups in order, less the mean rank; counts (..., group) -> same shape."""
    return counts.cumsum(axis=-1) - counts / 2 - counts.sum(axis=-1, keepdims=True) / 2


def spearman_of_counts(counts: Floats) -> Floats:
    """Spearman's rho of two gradings from a table of how often grades meet; (..., a, b) -> (...).

    NaN where a grading is constant.  A table in which topics count as often as they were drawn gives exactly the rho of
    the documents drawn.

    Examples
    --------
    >>> spearman_of_counts(np.array([[[2.0, 0.0], [0.0, 2.0]], [[0.0, 2.0], [2.0, 0.0]]])).tolist()
    [1.0, -1.0]
    """
    a, b = counts.sum(axis=-1), counts.sum(axis=-2)
    rank_a, rank_b = _middle_ranks(a), _middle_ranks(b)
    together = np.einsum("...ij,...i,...j->...", counts, rank_a, rank_b)
    return _ratio(together, np.sqrt((a * rank_a**2).sum(axis=-1) * (b * rank_b**2).sum(axis=-1)))
