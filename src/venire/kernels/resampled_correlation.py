r"""Kendall's and Spearman's rank correlations over resampled topics, from weights instead of copies.

A draw gives topic i the weight :math:`w_i`, how often it was drawn (``resample.topic_weights``).  Copies of a topic are
tied with themselves on both sides, so that a draw's tau-b is, with the signs :math:`s^x_{ij} = sgn(x_i - x_j)`,

.. math:: \tau_b = \frac{\sum_{ij} w_i w_j s^x_{ij} s^y_{ij}}
    {\sqrt{\sum_{ij} w_i w_j |s^x_{ij}| \, \sum_{ij} w_i w_j |s^y_{ij}|}}

(Kendall 1945, doi:10.1093/biomet/33.3.239), and its rho is Pearson's correlation of the mean ranks
:math:`r_i = \sum_{x_j < x_i} w_j + (1 + \sum_{x_j = x_i} w_j) / 2`.  With all weights 1 they are plain tau and rho.

Everywhere: x (first, topic), y (second, topic), weights (draw, topic) -> (draw, first, second); NaN where a side is all
tied.  Cost: O(first second draw topic^2) for tau, as products of matrices in single precision (whole numbers, exact up
to 2^24 in a block) and in blocks of bounded memory; O(first second draw topic) for rho.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from venire.types import Floats, Ints

BLOCK_CELLS = 1 << 23
"""How many cells (pair of topics x draw or pair of vectors) are held at a time."""


def resampled_tau(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Kendall's tau-b of every two vectors, for each draw.

    Examples
    --------
    >>> resampled_tau(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]]), np.ones((1, 3))).round(4).tolist()
    [[[0.3333]]]
    """
    single = weights.astype(np.float32)
    balance = np.zeros((len(weights), len(x) * len(y)))
    for i, j in _pairs(x.shape[1], width=len(weights) + len(x) * len(y)):
        signs = _signs(x, i, j)[:, None, :] * _signs(y, i, j)
        balance += (single[:, i] * single[:, j]) @ signs.reshape(len(x) * len(y), len(i)).T
    whole = np.sqrt(_untied(x, weights)[:, :, None] * _untied(y, weights)[:, None, :])
    part = balance.reshape(whole.shape)
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)


def resampled_rho(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Spearman's rho of every two vectors, for each draw."""
    ranks = [[_deviations(vector, weights) for vector in side] for side in (x, y)]
    answer = np.full((len(weights), len(x), len(y)), np.nan)
    for (first, a), (second, b) in ((i, j) for i in enumerate(ranks[0]) for j in enumerate(ranks[1])):
        whole = np.sqrt((weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1))
        part = (weights * a * b).sum(axis=1)
        answer[:, first, second] = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
    return answer


def _pairs(n_topics: int, *, width: int) -> Iterator[tuple[Ints, Ints]]:
    """Every pair of topics j < i once, as many at a time as blocks of this width allow."""
    step = max(1, BLOCK_CELLS // max(width * n_topics, 1))
    for start in range(1, n_topics, step):
        rows = np.arange(start, min(start + step, n_topics))
        i = np.repeat(rows, rows)
        yield i, np.arange(len(i)) - np.repeat(np.cumsum(rows) - rows, rows)


def _signs(vectors: Floats, i: Ints, j: Ints) -> NDArray[np.float32]:
    """Which of two topics is above the other -> (vector, pair)."""
    return np.sign(vectors[:, i] - vectors[:, j]).astype(np.float32)


def _untied(vectors: Floats, weights: Floats) -> Floats:
    """Weight of the pairs that are not tied -> (draw, vector): all pairs less those within a tie."""
    pairs = weights.sum(axis=1) ** 2
    return np.stack([(pairs - (_tied(each, weights)[0] ** 2).sum(axis=1)) / 2 for each in vectors], axis=1)


def _tied(vector: Floats, weights: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Weight of each distinct value -> (draw, value), ascending; and the value of each topic (topic,)."""
    order = np.argsort(vector, kind="stable")
    new = np.append(True, np.diff(vector[order]) > 0)
    value = np.empty(len(vector), dtype=np.intp)
    value[order] = np.cumsum(new) - 1
    return np.add.reduceat(weights[:, order], np.flatnonzero(new), axis=1), value


def _deviations(vector: Floats, weights: Floats) -> Floats:
    """Mean ranks within each draw, less their mean -> (draw, topic)."""
    tied, value = _tied(vector, weights)
    rank = (np.cumsum(tied, axis=1) - tied + (tied + 1) / 2)[:, value]
    mean = (weights * rank).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
    return np.asarray(rank - mean, dtype=np.float64)
