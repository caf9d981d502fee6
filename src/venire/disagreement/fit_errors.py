r"""Errors of what is computed with p(R|i): how far it moves as topics are left out of the fit.

A number :math:`\theta = \sum_i w_i g_i(p)` with weights w and gains g(p) has two sources of error, the topics over
which w was counted and those from which p was estimated; often they are the same topics.  With :math:`a_t` the change
of the mean over T topics if topic t is left out, and :math:`b_t` that if t is left out of the fit (on U topics),

.. math:: s^2 = \sum_t \left(\sqrt{\tfrac{T-1}{T}}\, a_t + \sqrt{\tfrac{U-1}{U}}\, b_t\right)^2

is the jackknife (Efron and Stein 1981, doi:10.1214/aos/1176345462) of both together, topics being matched by name.
Without b it is the usual squared standard error of a mean.

Where p is 0 or 1, or one topic has all pairs of a label, leaving topics out shows no spread.  There the half-width of
the 95 % interval of p, divided by 1.96, is taken as an error of its own; so it is for every label where the topics of a
fit are not known (one that was saved).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from venire.disagreement.predicted_relevance import PredictedRelevanceFit
from venire.kernels.shares import shares
from venire.types import Floats

Z = 1.959963984540054


class GainChanges(NamedTuple):
    """How gains move with the topics of a fit: left_out (topic, label), as b above; alone (label,), where b is 0."""

    topics: tuple[str, ...]
    left_out: Floats
    alone: Floats


def gain_changes(fit: PredictedRelevanceFit, row: int, gains: Callable[[Floats], Floats]) -> GainChanges:
    """Find how gains, a function of p(R|i) (..., label) -> (..., label), move with the topics of the fit."""
    p, away = fit.known(row), _left_out(fit, row)
    unseen = ~(away != 0).any(axis=0)
    own = np.where(unseen, (fit.spread.high - fit.spread.low)[row] / (2 * Z), 0.0)
    inward = np.nan_to_num(own) * np.where(p > 0.5, -1.0, 1.0)
    moved, alone = (gains(np.clip(p + by, 0.0, 1.0)) - gains(p) for by in (away, inward))
    return GainChanges(fit.topics[: len(away)], moved, alone)


def _left_out(fit: PredictedRelevanceFit, row: int) -> Floats:
    """How far p(R|i) moves without each topic, times the root of (U - 1) / U -> (topic, label); 0 where not known."""
    if len(fit.topics) != len(fit.by_topic):
        return np.zeros((0, len(fit.scale)))
    relevant, total = fit.relevant.labels[row : row + 1], fit.by_topic.sum(axis=0)
    away = shares(total - fit.by_topic, relevant)[:, 0] - shares(total, relevant)[0]
    n = np.maximum((fit.by_topic.sum(axis=2) > 0).sum(axis=0), 1)
    alone = np.isnan(away).any(axis=0)
    return np.where(alone, 0.0, away) * np.sqrt((n - 1) / n)


def mean_error(values: Floats, topics: tuple[str, ...], weights: Floats, changes: GainChanges | None = None) -> Floats:
    """Standard error of means over topics, those of estimated gains included; NaN with fewer than two topics.

    values (topic, ...): scores by topic, NaN where there is none; weights (..., label): the mean number of each label.
    """
    n = (~np.isnan(values)).sum(axis=0)
    mean = np.nansum(values, axis=0) / np.maximum(n, 1)
    away = np.nan_to_num((mean - values) / np.sqrt(np.maximum(n * (n - 1), 1)))
    if changes is None:
        square = (away**2).sum(axis=0)
    else:
        place = {name: number for number, name in enumerate(topics)}
        fitted = np.moveaxis(weights @ changes.left_out.T, -1, 0)
        known = np.array([place.get(name, -1) for name in changes.topics], dtype=np.int64)
        away[known[known >= 0]] += fitted[known >= 0]
        square = (away**2).sum(axis=0) + (fitted[known < 0] ** 2).sum(axis=0)
        square += ((weights * changes.alone) ** 2).sum(axis=-1)
    return np.where(n > 1, np.sqrt(square), np.nan)
