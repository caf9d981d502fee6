r"""Expectation and maximisation: the loop, and the two steps for labels by people who each err in their own way.

Dempster, Laird and Rubin (1977, doi:10.1111/j.2517-6161.1977.tb01600.x).  With T (item, class) the probability of an
item's class, :math:`\pi` (class,) and E (assessor, class, label) an assessor's answers by class:

.. math:: \pi_c = \overline{T_c}, \quad E_{acl} \propto \alpha + \sum_{rows (t, a, l)} T_{tc}; \qquad
          T_{tc} \propto \pi_c \prod_{rows (t, a, l)} E_{acl}

(Dawid and Skene 1979, Eqs. 2.3 to 2.5).  What never falls is the log-likelihood, plus
:math:`\alpha \sum \log E` if there is smoothing.  Rows, not a matrix of items by assessors, carry the labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from venire.types import Bools, Codes, Floats, Ints

TINY = 1e-300


class Ascent(NamedTuple):
    """Where climbing ended: the state, the values on the way (iteration,), and whether it had stopped to rise."""

    state: Floats
    values: Floats
    converged: bool


def ascend(start: Floats, step: Callable[[Floats], tuple[Floats, float]], *, tolerance: float, most: int) -> Ascent:
    """Repeat a step (state -> state, value) until the value rises by no more than the tolerance, most times at most."""
    state, values = start, [-np.inf]
    for _ in range(most):
        state, value = step(state)
        values.append(value)
        if value - values[-2] <= tolerance:
            return Ascent(state, np.array(values[1:]), True)
    return Ascent(state, np.array(values[1:]), False)


class Rows(NamedTuple):
    """Labels in long form: item, cell (row,), where a cell is an assessor's label, assessor x n_labels + label."""

    item: Codes
    cell: Ints
    n_items: int
    n_assessors: int
    n_labels: int

    @classmethod
    def of(cls, item: Codes, assessor: Codes, label: Codes, shape: tuple[int, int, int]) -> Rows:
        """Number the cells; shape: how many items, assessors, labels."""
        return cls(item, assessor.astype(np.int64) * shape[2] + label, *shape)


def confusion(rows: Rows, classes: Floats, smoothing: float) -> Floats:
    """How assessors answer, given probabilities of classes (item, class) -> (assessor, class, label); rows sum to 1.

    An assessor who never met a class answers it at random.  O(rows x classes).
    """
    shape = (rows.n_assessors, rows.n_labels)
    counts = np.empty((shape[0], classes.shape[1], shape[1]))
    for number, weight in enumerate(classes.T):
        met = np.bincount(rows.cell, weight[rows.item], minlength=shape[0] * shape[1])
        counts[:, number] = met.reshape(shape) + smoothing
    total = counts.sum(axis=2, keepdims=True)
    known: Bools = total > 0
    return np.where(known, counts / np.where(known, total, 1.0), 1.0 / shape[1])


def classify(rows: Rows, prior: Floats, answers: Floats) -> tuple[Floats, float]:
    """Probabilities of classes given all labels -> (item, class), and the log-likelihood.  O(rows x classes)."""
    logs = np.empty((rows.n_items, len(prior)))
    for number, chance in enumerate(prior):
        log = np.log(np.maximum(answers[:, number], TINY)).ravel()
        seen = np.bincount(rows.item, log[rows.cell], minlength=rows.n_items)
        logs[:, number] = seen + np.log(np.maximum(chance, TINY))
    highest = logs.max(axis=1, keepdims=True)
    chances = np.exp(logs - highest)
    total = chances.sum(axis=1, keepdims=True)
    return chances / total, float((np.log(total) + highest).sum())
