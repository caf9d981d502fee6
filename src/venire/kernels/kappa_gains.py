r"""Gains in kappa: what each case adds to the difference of two kappas with the same users, and a test by swapping.

Kappa is a function of sums over cases: how often the answer is the users', and how often it is each direction.  About
the middle of both sums the difference of two kappas is a sum over cases, up to terms of third order:

.. math:: \kappa_a - \kappa_b \approx \sum_i \nabla\kappa(\text{middle}) \cdot (a_i - b_i)

If both answers were as good as each other, each could as well have been the other's: then the sign of what a topic
adds is a coin's.  p is the share of signs whose sum is larger, and half of those whose sum is equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.kernels.direction_ties import OUTCOMES, kappas
from venire.kernels.signs import random_signs
from venire.types import Bools, Floats, Ints

EQUAL = 1e-10


class KappaGains(NamedTuple):
    """Kappas of two sets of answers (order,), NaN where they have no meaning; by_case (order, case): what each adds."""

    first: Floats
    second: Floats
    by_case: Floats


def kappa_gains(first: Ints, second: Ints, users: Ints, counted: Bools) -> KappaGains:
    """Compare two sets of answers with the users', in several orders: (order, case), users (case,).

    counted (order, case): the cases that count.  Cost: O(orders x cases).
    """
    one, other = (_features(each, users, counted) for each in (first, second))
    said = np.stack([(counted & (users == outcome)).sum(axis=1) for outcome in OUTCOMES], axis=1).astype(np.float64)
    a, b = one.sum(axis=1), other.sum(axis=1)
    slope = _slope((a + b) / 2, said)
    return KappaGains(_kappa(a, said), _kappa(b, said), ((one - other) * slope[:, None]).sum(axis=-1))


def flip_test(value: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """One-sided p-values that sums over topics are not above 0: value (order, topic) -> (order,).

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


def _kappa(sums: Floats, said: Floats) -> Floats:
    n = said.sum(axis=1)
    return kappas(sums[:, 0] / n, (sums[:, 1:] * said).sum(axis=1) / n**2)


def _slope(sums: Floats, said: Floats) -> Floats:
    """Slope of kappa in its sums: (order, 4), said (order, 3) -> (order, 4); 0 where kappa has no meaning."""
    n = said.sum(axis=1, keepdims=True)
    same, room = sums[:, :1] / n, 1 - (sums[:, 1:] * said).sum(axis=1, keepdims=True) / n**2
    slope = np.concatenate([1 / n * np.ones_like(same), said / n**2 * _over(same - 1, room)], axis=1)
    return _over(slope, room)


def _over(part: Floats, room: Floats) -> Floats:
    return np.divide(part, room, out=np.zeros_like(part), where=room > 1e-12)
