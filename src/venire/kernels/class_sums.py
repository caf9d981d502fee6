r"""Sums of independent contributions, many sums at once, where contributions come in classes.

Sum s has :math:`n_{sc}` contributions of class c, each of which takes the value :math:`v_{co}` with probability
:math:`p_{co}`.  Its characteristic function is a product of powers,

.. math:: \log \varphi_s(\omega) = \sum_c n_{sc} \log \sum_o p_{co} e^{i \omega v_{co}}

so that all sums together cost one matrix product, and their distributions come back by a Fourier transform:

    no variance        the sum is known
    on a lattice       values are multiples of a unit: a finite transform is exact, up to rounding (about 1e-13)
    few values         the sum is gone through value by value (``convolution``), exactly
    otherwise          a sum is known to a ``step``: as if a normal of that standard deviation were added, some 1/200 of
                       the sum's own, so that P(S > 0) + P(S = 0) / 2 is an integral that converges (Gil-Pelaez 1951,
                       doi:10.1093/biomet/38.3-4.481; by midpoints, Davies 1973, doi:10.1093/biomet/60.2.415), and
                       P(S = 0) is what stands out of the density at zero

A transform is periodic; its period is so long that by Bernstein's inequality less than 1e-16 of the mass is outside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from venire.kernels.convolution import sum_distribution
from venire.types import Bools, Floats, Ints

FREQUENCIES = 1 << 12
"""At how many frequencies a sum is looked at, where it is on no lattice."""
LONGEST_LATTICE = 1 << 15
FEW_VALUES = 1 << 14
"""Sums with at most this many different values are gone through, where they are on no lattice."""
CELLS = 1 << 21
"""How many cells (sums or classes x frequencies) are worked on at a time."""
OUTSIDE = float(np.log(2 / 1e-16))
DAMPED = 6.2
"""How many standard deviations of the normal that is added the last frequency reaches: exp(-6.2^2 / 2) = 5e-9."""
SAME, NOISE = 1e-9, 1e-15
"""Values closer than this part of the largest are equal; chances below that are rounding of a transform."""

Complexes = NDArray[np.complex128]
Table = Callable[[Floats, Floats], Complexes]
"""From values and chances (class, outcome) to transforms (class, frequency)."""


class Chances(NamedTuple):
    """Probabilities that a sum is above zero, at it, and below, and the step, 0 where exact; all (sum,)."""

    above: Floats
    level: Floats
    below: Floats
    step: Floats


def sum_moments(counts: Ints, values: Floats, chances: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of each sum; counts (sum, class), values and chances (class, outcome) -> (sum,) each."""
    mean = (values * chances).sum(axis=1)
    variance = ((values - mean[:, None]) ** 2 * chances).sum(axis=1)
    return counts @ mean, counts @ variance


def sum_chances(counts: Ints, values: Floats, chances: Floats) -> Chances:
    """Probabilities of each sum's sign; counts (sum, class), values and chances (class, outcome).

    Cost: O(sums x classes x frequencies + classes x outcomes x frequencies), at most 2^14 frequencies on a lattice
    and 2^12 off it; memory O(sums x frequencies).
    """
    used = (values != 0).any(axis=1) & (counts > 0).any(axis=0)
    counts, values, chances = counts[:, used], values[used], chances[used]
    answer = Chances(*(np.full(len(counts), fill) for fill in (0.0, 1.0, 0.0, 0.0)))
    mean, variance = sum_moments(counts, values, chances)
    some, known = counts.any(axis=1), variance == 0
    _put(answer, known, _settled(np.where(np.abs(mean) > SAME * np.abs(values).max(initial=0.0), mean, 0.0)[known]))
    some &= ~known
    unit, half = lattice_unit(values), _half_widths(counts, values, chances)
    low, high = _range(counts, values)
    width = np.minimum(2 * half, high - low)
    if unit and width.max(initial=0.0) / unit < LONGEST_LATTICE:
        size = _power_of_two(width / unit + 3)
        for n in np.unique(size[some]).tolist():
            rows = some & (size == n)
            _put(answer, rows, _on_lattice(counts[rows], np.rint(values / unit), chances, n))
        return answer
    few = some & _few_values(counts, chances)
    for row in np.flatnonzero(few).tolist():
        _put(answer, np.array([row]), _gone_through(counts[row], values, chances))
    near = some & ~few & (np.abs(mean) < half)
    _put(answer, some & ~few & ~near, _settled(mean[some & ~few & ~near]))
    reach = np.minimum(np.abs(mean) + half, np.maximum(-low, high))
    period = np.exp2(np.ceil(2 * np.log2(np.maximum(1.01 * reach, 1e-300))) / 2)
    for length in np.unique(period[near]).tolist():
        rows = near & (period == length)
        _put(answer, rows, _off_lattice(counts[rows], values, chances, length))
    return answer


def lattice_unit(values: Floats, *, finest: int = 64, most: int = 1 << 12) -> float:
    """The largest number that all values are multiples of, 0 if there is none; looks at parts of the smallest."""
    size = np.unique(np.abs(values[values != 0]))
    if not len(size):
        return 1.0
    for part in range(1, finest + 1):
        multiple = size * (part / size[0])
        if multiple[-1] > most:
            break
        if (np.abs(multiple - np.rint(multiple)) < SAME * np.maximum(multiple, 1)).all():
            return float(size[-1] / np.rint(multiple[-1]))
    return 0.0


def _half_widths(counts: Ints, values: Floats, chances: Floats) -> Floats:
    """How far from its mean a sum may be, by Bernstein's inequality -> (sum,)."""
    mean = (values * chances).sum(axis=1)
    reach = np.abs(values - mean[:, None]).max(axis=1, initial=0.0)
    most = np.where(counts > 0, reach, 0.0).max(axis=1, initial=0.0)
    part = OUTSIDE * most / 3
    return part + np.sqrt(part**2 + 2 * OUTSIDE * sum_moments(counts, values, chances)[1])


def _range(counts: Ints, values: Floats) -> tuple[Floats, Floats]:
    return counts @ values.min(axis=1, initial=np.inf), counts @ values.max(axis=1, initial=-np.inf)


def _on_lattice(counts: Ints, places: Floats, chances: Floats, n: int) -> Chances:
    """Sums of whole numbers by a transform of n points; places (class, outcome)."""
    mean, _ = sum_moments(counts, places, chances)
    low, high = _range(counts, places)
    start = np.where(high - low < n, low, np.rint(mean) - n // 2).astype(np.int64)
    roots, frequency = np.exp(-2j * np.pi * np.arange(n) / n), np.arange(n // 2 + 1)

    def table(place: Floats, chance: Floats) -> Complexes:
        cell = place.astype(np.int64)
        return sum(
            (p[:, None] * roots[(v[:, None] * frequency) & (n - 1)] for v, p in zip(cell.T, chance.T, strict=True)),
            start=np.zeros((len(place), len(frequency)), dtype=np.complex128),
        )

    size, angle = _log_transforms(counts, places, chances, table, len(frequency))
    parts = []
    for first in range(0, len(counts), step := max(1, CELLS // n)):
        rows = slice(first, first + step)
        mass = np.fft.irfft(np.exp(size[rows] + 1j * angle[rows]), n=n, axis=1)
        mass[mass < NOISE] = 0.0
        value = start[rows, None] + ((np.arange(n) - start[rows, None]) & (n - 1))
        parts.append([(mass * which).sum(axis=1) / mass.sum(axis=1) for which in (value > 0, value == 0, value < 0)])
    above, level, below = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Chances(above, level, below, np.zeros(len(above)))


def _off_lattice(counts: Ints, values: Floats, chances: Floats, period: float) -> Chances:
    """Sums of any values, smoothed a little, by their transforms at half-whole multiples of 2 pi / period."""
    place = np.arange(FREQUENCIES) + 0.5
    omega = 2 * np.pi / period * place
    step = DAMPED / float(omega[-1])

    def table(value: Floats, chance: Floats) -> Complexes:
        total = np.where(value == 0, chance, 0.0).sum(axis=1)[:, None].astype(np.complex128)
        for v, p in zip(value.T, np.where(value == 0, 0.0, chance).T, strict=True):
            if p.any():
                total = total + p[:, None] * np.exp(1j * v[:, None] * omega)
        return total

    size, angle = _log_transforms(counts, values, chances, table, len(omega))
    size = np.exp(size - (omega * step) ** 2 / 2)
    middle = 0.5 + (size * np.sin(angle)) @ (1 / place) / np.pi
    beside = DAMPED * step
    at_zero, around = np.ones_like(omega), np.cos(omega * beside)
    density = 2 / period * (size * np.cos(angle)) @ np.stack([at_zero, around], axis=1)
    level = np.clip((density[:, 0] - density[:, 1]) * step * np.sqrt(2 * np.pi), 0.0, 1.0)
    level[level < SAME] = 0.0
    above = np.clip(middle - level / 2, 0.0, 1.0 - level)
    return Chances(above, level, np.maximum(1.0 - above - level, 0.0), np.full(len(above), step))


def _log_transforms(counts: Ints, values: Floats, chances: Floats, table: Table, n: int) -> tuple[Floats, Floats]:
    """Logarithm of the size, and angle, of each sum's transform -> (sum, frequency) each."""
    size, angle = np.zeros((2, len(counts), n))
    used = np.flatnonzero(counts.any(axis=0))
    step = max(1, CELLS // n)
    for first in range(0, len(used), step):
        some = used[first : first + step]
        found = table(values[some], chances[some])
        size += counts[:, some] @ np.log(np.maximum(np.abs(found), 1e-300))
        angle += counts[:, some] @ np.angle(found)
    return size, angle


def _settled(mean: Floats) -> Chances:
    """Sums that are known, or whose mean is so far from zero that nothing is beyond it."""
    above, level, below = (each.astype(np.float64) for each in (mean > 0, mean == 0, mean < 0))
    return Chances(above, level, below, np.zeros(len(mean)))


def _few_values(counts: Ints, chances: Floats) -> Bools:
    """Whether a sum can take few values: n of a class with o outcomes give at most C(n + o - 1, o - 1) -> (sum,)."""
    from scipy.special import gammaln

    outcomes = (chances > 0).sum(axis=1)
    found = counts.sum(axis=1) <= np.log2(FEW_VALUES) * 4
    some, o = counts[found], np.maximum(outcomes, 1)
    found[found] = (gammaln(some + o) - gammaln(some + 1) - gammaln(o)).sum(axis=1) <= np.log(FEW_VALUES)
    return found


def _gone_through(counts: Ints, values: Floats, chances: Floats) -> Chances:
    """Take one sum value by value; counts (class,)."""
    each = np.repeat(np.arange(len(counts)), counts)
    mass = sum_distribution(values[each], chances[each])
    return Chances(*(np.array([part]) for part in (*mass.chances(), mass.step)))


def _power_of_two(size: Floats) -> Ints:
    return (1 << np.ceil(np.log2(np.maximum(size, 4))).astype(np.int64)).astype(np.int64)


def _put(answer: Chances, rows: Bools | Ints, found: Chances) -> None:
    """Put what was found for some of the sums in its place."""
    for whole, part in zip(answer, found, strict=True):
        whole[rows] = part
