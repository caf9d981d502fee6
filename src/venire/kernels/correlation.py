r"""Rank correlations between vectors of scores: Kendall's tau, tau-AP and rank-biased overlap.

Two vectors give each system a score; the higher, the better the rank.  Leading axes are free and broadcast: x
(draw, system) against y (system,) gives (draw,).  Every function takes ``variant``, which says what a tie is:

    b    agreement of two observers who may both tie: symmetric, and 1 for a ranking with itself (default)
    a    a tie is an order that is not known: the mean over all orders of tied systems
    w    (rank-biased overlap only) tied systems stand at the same rank, as Webber et al. (2010) have it

Kendall (1945, doi:10.1093/biomet/33.3.239), with C concordant and D discordant of :math:`n_0 = n(n-1)/2` pairs, and
:math:`n_x, n_y` of them not tied in x, in y:

.. math:: \tau_a = \frac{C - D}{n_0}, \qquad \tau_b = \frac{C - D}{\sqrt{n_x n_y}}

Tau-AP (Yilmaz, Aslam and Robertson 2008, doi:10.1145/1390334.1390435) walks down the ranking by y; at each system but
the first it asks which share of those above are rightly above, by x.  With ties as in Urbano and Marrero (2017,
doi:10.1145/3121050.3121106), :math:`m_i` systems above the group of :math:`t_i` tied with i, :math:`c_i` of them above
it by x too and :math:`d_i` below it:

.. math::
    \tau_{AP,b}(y) = \frac{2}{|\{m_i > 0\}|} \sum_{m_i > 0} \frac{c_i}{m_i} - 1, \qquad
    \tau_{AP,a} = \frac{1}{n-1} \sum_{m_i > 0} (c_i - d_i) \frac1{t_i} \sum_{k=0}^{t_i-1} \frac1{m_i + k}

:math:`\tau_{AP,b}` is the mean of walking down y and walking down x; :math:`\tau_{AP,a}` takes x as the truth, and is
written here in a form in which orders tied in x are averaged too (the paper has none).

Rank-biased overlap (Webber, Moffat and Zobel 2010, doi:10.1145/1852102.1852106; its extrapolated form) of two rankings
of the same n systems, with ties as in Corsi and Urbano (2024, doi:10.1145/3626772.3657700): system i is among the first
d with probability :math:`c_{id}` in x, :math:`c'_{id}` in y, and

.. math::
    RBO = (1-p) \sum_{d=1}^{n} p^{d-1} A_d + p^n A_n, \qquad
    A_d^a = \frac{\sum_i c_{id} c'_{id}}{d}, \quad
    A_d^b = \frac{\sum_i c_{id} c'_{id}}{\sqrt{\sum_i c_{id}^2 \sum_i c'^2_{id}}}, \quad
    A_d^w = \frac{2 \sum_i c_{id} c'_{id}}{\sum_i c_{id} + \sum_i c'_{id}}

A correlation is NaN where it is not defined: fewer than two systems, a score that is NaN, or (b) one side all tied.
Cost: O(system^2) per pair of vectors, in blocks of bounded memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Literal

import numpy as np

from venire.types import Bools, Floats, Ints

BLOCK_CELLS = 1 << 20
"""How many pairs of systems are held at a time."""

Kernel = Callable[[Floats, Floats], Floats]


def kendall_tau(x: Floats, y: Floats, *, variant: Literal["b", "a"] = "b") -> Floats:
    """Kendall's rank correlation; x, y (..., system) -> (...).

    Examples
    --------
    >>> kendall_tau(np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]), np.array([30.0, 10.0, 20.0])).round(4).tolist()
    [0.3333, -0.3333]
    """
    return _in_blocks({"a": _tau_a, "b": _tau_b}[variant], x, y)


def tau_ap(x: Floats, y: Floats, *, variant: Literal["b", "a"] = "b") -> Floats:
    """Rank correlation that minds the top; x, y (..., system) -> (...).  Variant a: x is the truth."""
    return _in_blocks({"a": _tau_ap_a, "b": _tau_ap_b}[variant], x, y)


def rbo(x: Floats, y: Floats, *, p: float = 0.9, variant: Literal["b", "a", "w"] = "b") -> Floats:
    """Rank-biased overlap, extrapolated; x, y (..., system) -> (...).  p: how likely one reads on, 0 < p < 1.

    Not for chance-corrected talk: unrelated rankings have a value above 0.
    """
    return _in_blocks(partial(_rbo, p=p, variant=variant), x, y)


def _in_blocks(kernel: Kernel, x: Floats, y: Floats) -> Floats:
    """Apply a kernel of (pair, system) to leading axes of any shape, a block at a time; NaN where a score is NaN."""
    x, y = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    n = x.shape[-1]
    first, second = (each.reshape(prod(each.shape[:-1]), n) for each in (x, y))
    answer = np.full(len(first), np.nan)
    step = max(1, BLOCK_CELLS // max(n * n, 1))
    for begin in range(0, len(first) if n > 1 else 0, step):
        rows = slice(begin, begin + step)
        known = ~(np.isnan(first[rows]) | np.isnan(second[rows])).any(axis=-1)
        answer[rows] = np.where(known, kernel(first[rows], second[rows]), np.nan)
    return answer.reshape(x.shape[:-1])


def _tau_a(x: Floats, y: Floats) -> Floats:
    n = x.shape[-1]
    return _balance(_above(x), _above(y)) / (n * (n - 1) // 2)


def _tau_b(x: Floats, y: Floats) -> Floats:
    by_x, by_y = _above(x), _above(y)
    untied = np.count_nonzero(by_x, axis=(-2, -1)) * np.count_nonzero(by_y, axis=(-2, -1))
    return _ratio(_balance(by_x, by_y), np.sqrt(untied))


def _balance(by_x: Bools, by_y: Bools) -> Ints:
    """Concordant less discordant pairs of systems -> (pair,)."""
    against = by_x & by_y.swapaxes(-1, -2)
    return np.count_nonzero(by_x & by_y, axis=(-2, -1)) - np.count_nonzero(against, axis=(-2, -1))


def _above(scores: Floats) -> Bools:
    """Whether j stands above i -> (pair, i, j)."""
    return scores[:, None, :] > scores[:, :, None]


def _tau_ap_b(x: Floats, y: Floats) -> Floats:
    by_x, by_y = _above(x), _above(y)
    right = np.count_nonzero(by_x & by_y, axis=-1)
    return (_walked(right, np.count_nonzero(by_x, axis=-1)) + _walked(right, np.count_nonzero(by_y, axis=-1))) / 2


def _walked(right: Ints, above: Ints) -> Floats:
    """2 x the mean share rightly above - 1, over those that have any above; right, above (pair, system) -> (pair,)."""
    below_top = above > 0
    shares = np.divide(right, above, out=np.zeros(right.shape), where=below_top)
    return 2 * _ratio(shares.sum(axis=-1), np.count_nonzero(below_top, axis=-1)) - 1


def _tau_ap_a(x: Floats, y: Floats) -> Floats:
    n = x.shape[-1]
    by_x, by_y = _above(x), _above(y)
    above = np.count_nonzero(by_y, axis=-1)
    tied = n - above - np.count_nonzero(by_y, axis=-2)
    balance = np.count_nonzero(by_y & by_x, axis=-1) - np.count_nonzero(by_y & by_x.swapaxes(-1, -2), axis=-1)
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, n + 1))])
    inverse_rank = (harmonic[above + tied - 1] - harmonic[np.maximum(above - 1, 0)]) / tied
    return (balance * inverse_rank).sum(axis=-1) / (n - 1)


def _rbo(x: Floats, y: Floats, *, p: float, variant: str) -> Floats:
    n = x.shape[-1]
    first, second = _among_first(x, same_rank=variant == "w"), _among_first(y, same_rank=variant == "w")
    overlap = (first * second).sum(axis=-2)
    if variant == "a":
        agreement = overlap / np.arange(1, n + 1)
    elif variant == "b":
        agreement = overlap / np.sqrt((first * first).sum(axis=-2) * (second * second).sum(axis=-2))
    else:
        agreement = 2 * overlap / (first.sum(axis=-2) + second.sum(axis=-2))
    weight = (1 - p) * p ** np.arange(n)
    weight[-1] += p**n
    return (agreement * weight).sum(axis=-1)


def _among_first(scores: Floats, *, same_rank: bool) -> Floats:
    """Probability that a system is among the first d -> (pair, system, depth)."""
    above = _above(scores)
    top = np.count_nonzero(above, axis=-1)[..., None]
    tied = scores.shape[-1] - top - np.count_nonzero(above, axis=-2)[..., None]
    depth = np.arange(1, scores.shape[-1] + 1)
    return np.clip(depth - top, 0, 1).astype(np.float64) if same_rank else np.clip((depth - top) / tied, 0.0, 1.0)


def _ratio(part: Floats | Ints, whole: Floats | Ints) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
