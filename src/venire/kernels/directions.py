r"""Directions with ties: which of two sides is better, the mode of several answers, and agreement at every threshold.

A direction is 1 (left), 0 (tie) or -1 (right).  With differences d and a threshold t, the direction of a measure is 0
where :math:`|d| \le t`, else the sign of d.  With cases sorted by :math:`|d|`, a threshold is a *place*, the number of
cases before it that are tied, so agreement at all thresholds is a few cumulative sums.  With the share of equal
directions a, and the shares of each direction by the measure (m) and by the users (u),

.. math:: \kappa = \frac{a - e}{1 - e}, \quad e = \sum_c m_c u_c; \qquad J = \frac{a}{2 - a}

Cohen (1960).  J is Jaccard's coefficient of two sets of n answers (case, direction) each: n a are in both, n (2 - a) in
either.

Weights are how often a case counts, so that resampled topics and folds are one more axis.

Gains in kappa are the contributions of cases to the difference of two kappas with the same users.  Kappa is a function
of sums over cases: how often the answer is the users', and how often it is each direction.  Expanded about the middle
of both sums, the difference of two kappas is a sum over cases, up to terms of third order:

.. math:: \kappa_a - \kappa_b \approx \sum_i \nabla\kappa(\text{middle}) \cdot (a_i - b_i)

Under the null hypothesis the two answers are exchangeable, so the sign of the contribution of a topic is random.  p is
the share of signs whose sum is larger, and half of those whose sum is equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.kernels.paired_tests import random_signs
from venire.types import Bools, Floats, Ints

OUTCOMES = np.array([-1, 0, 1])
NOT_YET = -2.0
"""Share of ties before the first threshold."""


class Curves(NamedTuple):
    """Agreement at every threshold of a measure: kappa, same (user, measure, draw, place), ties (measure, draw, place).

    same and ties are shares.  open (measure, place): the places that are thresholds; the others would separate cases
    with equal differences, and are meaningless.  kappa is NaN where both sides always give the same single answer.
    """

    kappa: Floats
    same: Floats
    ties: Floats
    open: Bools


def directions(strength: Floats, slight: float = 0.0) -> Ints:
    """Directions of strengths, those up to slight are ties; (...) -> (...)."""
    return np.where(np.abs(strength) <= slight, 0, np.sign(strength)).astype(np.int64)


def modes(direction: Ints, group: Ints, n_groups: int) -> tuple[Ints, Bools]:
    """The most frequent direction of each group, 0 for ties among them, and whether tied; (row,) -> (group,)."""
    counts = np.bincount(group * 3 + direction + 1, minlength=3 * n_groups).reshape(-1, 3)
    most = counts == counts.max(axis=1, keepdims=True)
    shared = most.sum(axis=1) > 1
    return np.where(shared, 0, most.argmax(axis=1) - 1).astype(np.int64), shared


def tie_curves(difference: Floats, users: Ints, weights: Floats) -> Curves:
    """Agreement of measures with users at every threshold.

    difference (measure, case), users (user, case) directions, weights (draw, case).
    Cost: O(users x measures x draws x cases) in time and memory, after a sort.
    """
    order = np.argsort(np.abs(difference), axis=1, kind="stable")
    sign = np.sign(np.take_along_axis(difference, order, axis=1))
    weight = weights[:, order].swapaxes(0, 1)
    total = weights.sum(axis=1)[:, None]
    tied = _before(weight)
    left = _after(weight * (sign > 0)[:, None])
    mine = (total - tied - left, tied, left)
    theirs = [(weights @ (users == outcome).T).T[:, None, :, None] for outcome in OUTCOMES]
    same = np.stack([_same(weight, sign, each[order]) for each in users])
    chance = sum(a * b for a, b in zip(mine, theirs, strict=True)) / total**2
    return Curves(kappas(same / total, chance), same / total, tied / total, open_places(difference))


def open_places(difference: Floats) -> Bools:
    """Numbers of tied cases that a threshold can give: the zero differences at least; (measure, case) -> (., place)."""
    size = np.sort(np.abs(difference), axis=1)
    edge = np.full((len(size), 1), np.inf)
    return np.diff(np.concatenate([np.zeros_like(edge), size, edge], axis=1), axis=1) > 0


def thresholds_at(difference: Floats, place: Ints) -> Floats:
    """The threshold of a place: the largest difference that is tied, 0 if none; (measure, case), (measure, ...)."""
    size = np.sort(np.abs(difference), axis=1)
    size = np.concatenate([np.zeros((len(size), 1)), size], axis=1)
    return np.take_along_axis(size, place.reshape(len(size), -1), axis=1).reshape(place.shape)


def nearest_places(curves: Curves, share: Floats) -> Ints:
    """The places whose shares of ties are nearest to some shares, the smaller of two: (draw, share) -> (measure, ., .).

    Cost: O(measures x draws x (cases + shares x log(cases))).
    """
    reached = np.maximum.accumulate(np.where(curves.open[:, None], curves.ties, NOT_YET), axis=-1)
    wanted = np.broadcast_to(share, (len(reached), *share.shape))
    above = np.minimum(_first_from(reached, wanted), reached.shape[-1] - 1)
    below = np.take_along_axis(reached, np.maximum(above - 1, 0), axis=-1)
    lower = (below > NOT_YET) & (above > 0)
    lower &= np.round(share - below, 12) <= np.round(np.take_along_axis(reached, above, axis=-1) - share, 12)
    return np.where(lower, _first_from(reached, below), above)


def at_places(values: Floats, place: Ints) -> Floats:
    """Values of curves (..., measure, draw, place) at places (measure, draw, share) -> (..., measure, draw, share)."""
    return np.take_along_axis(values, np.broadcast_to(place, (*values.shape[:-1], place.shape[-1])), axis=-1)


def _first_from(rising: Floats, bound: Floats) -> Ints:
    """First place of each row that is as large as a bound: (..., place), (..., bound) -> (..., bound)."""
    row = 4.0 * np.arange(rising[..., 0].size).reshape(*rising.shape[:-1], 1)  # rows apart: all are within -2 to 1
    found = np.searchsorted((rising + row).ravel(), (bound + row).ravel()).reshape(bound.shape)
    return np.asarray(found - (row / 4.0).astype(np.int64) * rising.shape[-1])


def kappas(same: Floats, chance: Floats) -> Floats:
    """Cohen's kappa from agreement and chance agreement; NaN where chance agreement is 1."""
    room = 1 - chance
    return np.divide(same - chance, room, out=np.full(np.shape(same), np.nan), where=room > 1e-12)


def jaccard_of(same: Floats) -> Floats:
    """Jaccard's coefficient of the answers of two sides, of which this share is the same."""
    return np.asarray(same / (2 - same))


def _before(values: Floats) -> Floats:
    """Sums before each place: (..., case) -> (..., place)."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


def _after(values: Floats) -> Floats:
    """Sums from each place on: (..., case) -> (..., place)."""
    sums = _before(values)
    return sums[..., -1:] - sums


def _same(weight: Floats, sign: Floats, theirs: Ints) -> Floats:
    """Weight of equal directions at each place: weight (measure, draw, case), sign, theirs (measure, case)."""
    alike, tied = (sign == theirs).astype(np.float64), (theirs == 0).astype(np.float64)
    return (weight * alike[:, None]).sum(axis=-1, keepdims=True) + _before(weight * (tied - alike)[:, None])


EQUAL = 1e-10
"""Sums closer than this part of what they could be are equal."""


class KappaGains(NamedTuple):
    """Kappas of two sets of answers (order,), NaN where undefined; by_case (order, case): contributions."""

    first: Floats
    second: Floats
    by_case: Floats


def kappa_gains(first: Ints, second: Ints, users: Ints, counted: Bools) -> KappaGains:
    """Compare two sets of answers with the users', in several orders: (order, case), users (case,).

    counted (order, case): the cases that count.  Cost: O(orders x cases).
    """
    one, other = (_features(each, users, counted) for each in (first, second))
    user_counts = np.stack([(counted & (users == outcome)).sum(axis=1) for outcome in OUTCOMES], axis=1).astype(
        np.float64
    )
    a, b = one.sum(axis=1), other.sum(axis=1)
    slope = _slope((a + b) / 2, user_counts)
    return KappaGains(_kappa(a, user_counts), _kappa(b, user_counts), ((one - other) * slope[:, None]).sum(axis=-1))


def flip_test(value: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """One-sided p-values of sums over topics being above 0: value (order, topic) -> (order,).

    Cost: O(draws x orders x topics), as a matrix product.
    """
    seen = value.sum(axis=1)
    drawn = random_signs(value.shape[1], n_draws, rng) @ value.T
    near = EQUAL * np.abs(value).sum(axis=1) + EQUAL
    above, equal = (drawn > seen + near).sum(axis=0), (np.abs(drawn - seen) <= near).sum(axis=0)
    return np.asarray((above + (1 + equal) / 2) / (n_draws + 1))


def _features(answers: Ints, users: Ints, counted: Bools) -> Floats:
    """Whether the answer is the users', and whether it is each direction -> (order, case, 4)."""
    found = [answers == users, *(answers == outcome for outcome in OUTCOMES)]
    return np.stack([each & counted for each in found], axis=-1).astype(np.float64)


def _kappa(sums: Floats, user_counts: Floats) -> Floats:
    n = user_counts.sum(axis=1)
    return kappas(sums[:, 0] / n, (sums[:, 1:] * user_counts).sum(axis=1) / n**2)


def _slope(sums: Floats, user_counts: Floats) -> Floats:
    """Slope of kappa in its sums: (order, 4), user_counts (order, 3) -> (order, 4); 0 where kappa is undefined."""
    n = user_counts.sum(axis=1, keepdims=True)
    same, room = sums[:, :1] / n, 1 - (sums[:, 1:] * user_counts).sum(axis=1, keepdims=True) / n**2
    slope = np.concatenate([1 / n * np.ones_like(same), user_counts / n**2 * _over(same - 1, room)], axis=1)
    return _over(slope, room)


def _over(part: Floats, room: Floats) -> Floats:
    return np.divide(part, room, out=np.zeros_like(part), where=room > 1e-12)
