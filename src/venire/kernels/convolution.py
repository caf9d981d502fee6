r"""Convolution: the exact distribution of a sum of independent discrete contributions.

Contribution k takes the value :math:`v_{ko}` with probability :math:`p_{ko}`.  Sums that are equal are merged as they
come, so where values lie on a lattice (counts, P@k) the distribution stays as small as the lattice.  Where they do not
(logarithmic discounts) the number of different sums grows with every contribution; beyond ``limit`` of them mass is
moved to a grid, each sum split between its two neighbours so that the mean stays, and the variance grows by at most a
quarter of a squared step per move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.types import Floats

LIMIT = 1 << 15
TIE = 1e-9
"""Sums closer to each other than this part of the range are the same sum."""


class Mass(NamedTuple):
    """A discrete distribution: value (point,) ascending, chance (point,); step of the grid, 0 where it is exact."""

    value: Floats
    chance: Floats
    step: float = 0.0

    def chances(self) -> tuple[float, float, float]:
        """Probabilities above zero, at zero, and below."""
        near = max(TIE * float(np.abs(self.value).max(initial=0.0)), self.step / 2)
        above, below = self.value > near, self.value < -near
        return (
            float(self.chance[above].sum()),
            float(self.chance[~(above | below)].sum()),
            float(self.chance[below].sum()),
        )

    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation."""
        mean = float(self.value @ self.chance)
        return mean, float(np.sqrt(np.maximum((self.value - mean) ** 2 @ self.chance, 0.0)))


def sum_distribution(values: Floats, chances: Floats, *, limit: int = LIMIT) -> Mass:
    """Distribution of the sum of contributions; values and chances (contribution, outcome).

    Cost: O(contributions x outcomes x points), points at most limit; sorting where values are on no lattice.
    """
    scale = float(np.abs(values).max(axis=1, initial=0.0).sum()) if values.size else 0.0
    mass = Mass(np.zeros(1), np.ones(1))
    for value, chance in zip(values, chances, strict=True):
        if not value.any():
            continue
        sums = (mass.value[:, None] + value).ravel()
        weights = (mass.chance[:, None] * chance).ravel()
        mass = _merged(sums, weights, max(scale, 1.0) * TIE, mass.step)
        if len(mass.value) > limit:
            mass = _on_grid(mass, limit)
    return mass


def _merged(value: Floats, chance: Floats, near: float, step: float) -> Mass:
    """Merge sums that are equal, up to rounding."""
    order = np.argsort(value, kind="stable")
    value, chance = value[order], chance[order]
    first = np.flatnonzero(np.append(True, np.diff(value) > near))
    return Mass(value[first], np.add.reduceat(chance, first), step)


def _on_grid(mass: Mass, limit: int) -> Mass:
    """Move mass to a grid of half as many points, each sum split between its neighbours; zero is a point of it."""
    step = (mass.value[-1] - mass.value[0]) / (limit // 2 - 2)
    place = mass.value / step
    low = np.floor(place)
    origin = int(low[0])
    part = place - low
    index = (low - origin).astype(np.int64)
    size = int(index[-1]) + 2
    chance: Floats = np.bincount(index, mass.chance * (1 - part), minlength=size).astype(np.float64)
    chance += np.bincount(index + 1, mass.chance * part, minlength=size)
    return Mass((np.arange(size) + origin) * step, chance, max(step, mass.step))
