r"""Critical values for several looks at growing data, so that the error rate over all looks is the one that was asked.

With information fractions :math:`t_1 < t_2 < \dots` the statistics are :math:`Z_k = B(t_k) / \sqrt{t_k}`, B a Brownian
motion, and a study goes on while :math:`|Z_k| < z_k` (Jennison and Turnbull 2000, doi:10.1201/9780367805326, Chapter 7;
Lan and DeMets 1983, doi:10.1093/biomet/70.3.659).  Of the level :math:`\alpha`, the amount

.. math:: \alpha(t) = 4 - 4 \Phi\left(z_{1-\alpha/4} / \sqrt t\right)

is spent up to t, half of it on either side: little at first, as O'Brien and Fleming do (1979, doi:10.2307/2530245),
since estimates from few labels are the least normal.  The critical values follow by integrating the density of B
over the region where the study goes on (Armitage, McPherson and Rowe 1969, doi:10.2307/2343787).  Where estimates at
different looks are more correlated than those of B, the error rate is lower.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from venire.types import Floats

N_POINTS = 201


def spent_by(time: Floats, level: float) -> Floats:
    """Return how much of the level is spent up to a fraction of the information."""
    from scipy.special import ndtr, ndtri

    return np.asarray(4 * ndtr(ndtri(level / 4) / np.sqrt(np.clip(time, 1e-12, 1.0))))


def critical_values(times: Sequence[float], spent: Sequence[float]) -> list[float]:
    """Return two-sided critical values of the looks; times ascending, spent: the level used up to each of them.

    Examples
    --------
    >>> [round(z, 3) for z in critical_values([0.5, 1.0], [0.0, 0.05])]
    [inf, 1.96]
    """
    from scipy.special import ndtr

    found: list[float] = []
    point, mass, before, used = np.zeros(1), np.ones(1), 0.0, 0.0
    for time, level in zip(times, spent, strict=True):
        step = np.sqrt(time - before)

        def left(bound: float, point: Floats = point, mass: Floats = mass, step: float = step) -> float:
            return float(mass @ (ndtr((-bound - point) / step) + ndtr((point - bound) / step)))

        bound = _solved(left, level - used)
        found.append(float(bound / np.sqrt(time)))
        reach = min(bound, 8 * np.sqrt(time))
        node, weight = _rule()
        near, height = reach * node, reach * weight
        density = np.exp(-(((near[:, None] - point) / step) ** 2) / 2) @ mass / (step * np.sqrt(2 * np.pi))
        point, mass, before, used = near, height * density, time, level
    return found


def levels_of(times: Sequence[float], level: float) -> list[float]:
    """Return the level of each look, of one test alone, where this much of the level is spent over all looks.

    The level of a look does not depend on those that follow.

    Examples
    --------
    >>> [round(each, 4) for each in levels_of([0.5, 1.0], 0.05)]
    [0.0031, 0.049]
    """
    from scipy.special import ndtr

    values = critical_values(times, spent_by(np.asarray(times), level).tolist())
    return [float(2 * ndtr(-each)) for each in values]


@cache
def _rule() -> tuple[Floats, Floats]:
    """Nodes and weights of the Gauss-Legendre rule, which take longer to find than all else about a look."""
    return np.polynomial.legendre.leggauss(N_POINTS)


def _solved(left: Callable[[float], float], amount: float) -> float:
    """Find the bound beyond which the amount is left, by bisection; infinite where nothing is to be spent."""
    if amount < 1e-12:
        return float("inf")
    low, high = 0.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if left(middle) > amount else (low, middle)
    return (low + high) / 2
