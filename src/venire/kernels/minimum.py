r"""The minimum of a smooth function of a few parameters, by BFGS (Nocedal and Wright 2006, Algorithm 6.1).

The one of :mod:`scipy.optimize`, with which the tests compare it, takes longer to import than a minimum takes to find.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from venire.types import Floats

STEP = 1e-5
"""Of central differences, for parameters of order 1."""
FLAT, MOST_STEPS = 1e-7, 200
"""The slope, relative to the value, at which the search ends; and after how many steps it ends at the latest."""
ENOUGH, SHORTEST = 1e-4, 1e-12
"""The share of the expected decrease that a step must reach, and the shortest step that is tried."""


def minimum(cost: Callable[[Floats], float], start: Floats) -> Floats:
    """Return where a function is lowest, near ``start``.

    Cost: 2 n evaluations a step for n parameters, and about 30 steps.

    Examples
    --------
    >>> minimum(lambda x: float((x[0] - 1) ** 2 + (x[1] - x[0] ** 2) ** 2), np.array([-1.0, 2.0])).round(6).tolist()
    [1.0, 1.0]
    """
    at, value, slope = start, cost(start), _slope(cost, start)
    inverse = np.eye(len(at)) / max(1.0, float(np.linalg.norm(slope)))
    for number in range(MOST_STEPS):
        step = -inverse @ slope
        while not (lower := cost(at + step)) <= value + ENOUGH * float(slope @ step):
            step = step / 2
            if np.abs(step).max() < SHORTEST:
                return at
        steeper = _slope(cost, at + step)
        inverse = _updated(inverse, step, steeper - slope, is_first=number == 0)
        at, value, slope = at + step, lower, steeper
        if np.abs(slope).max() < FLAT * max(1.0, abs(value)):
            break
    return at


def _slope(cost: Callable[[Floats], float], at: Floats) -> Floats:
    return np.array([(cost(at + each) - cost(at - each)) / (2 * STEP) for each in STEP * np.eye(len(at))])


def _updated(inverse: Floats, step: Floats, change: Floats, *, is_first: bool) -> Floats:
    """Return the inverse of the matrix of second derivatives after a step, by the change of slope (6.17, 6.20)."""
    curvature = float(step @ change)
    if curvature <= SHORTEST * float(np.linalg.norm(step) * np.linalg.norm(change)):
        return inverse
    eye = np.eye(len(step))
    if is_first:
        inverse = eye * curvature / float(change @ change)
    rest = eye - np.outer(step, change) / curvature
    return np.asarray(rest @ inverse @ rest.T + np.outer(step, step) / curvature)
