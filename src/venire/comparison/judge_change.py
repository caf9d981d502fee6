r"""Judge change: the probability that the better of two systems stays ahead when another judge labels the documents.

Turpin and Scholer (2009), Australasian Document Computing Symposium.  At each of n ranks, system A has a document that
the corpus judge found relevant (1) or not (0), and so has B; :math:`c_{xy}` counts the ranks with x for A and y for B.
A new judge agrees with a 0 with probability a0 and with a 1 with probability a1, document by document.  For the
difference of P@n,

.. math::
    E[\Delta'] &= (a_0 + a_1 - 1)\,(c_{10} - c_{01})/n \qquad (1) \\
    n^2 Var[\Delta'] &= 2 c_{00} a_0 (1 - a_0) + 2 c_{11} a_1 (1 - a_1)
        + (c_{01} + c_{10})\big(1 - a_0 - a_1 + 2 a_0 a_1 - (1 - a_0 - a_1)^2\big) \qquad (2)

The paper prints :math:`(c_{01} - c_{10})^2` for the last factor of (2), as if the ranks' squared expectations were
that of their sum; ``printed=True`` gives that form, which simulation refutes.  N queries are one query of N n ranks.
The paper approximates the difference by a normal distribution; it is a sum of four binomials, computed exactly here.
A document that both systems return is judged once and cancels, whatever its ranks: ``shared`` counts such documents,
and the four counts pair up the other documents of A and B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.checks import need_rates
from venire.errors import SettingError
from venire.types import Floats

TWO_SIDED, ONE_SIDED, CONFIDENCE = 1.959964, 1.644854, 0.95
RULES = ("two-sided", "one-sided", "exact", "exact, strictly")


@dataclass(frozen=True)
class RankCounts:
    """Number of ranks with label x for A and y for B: c00, c01, c10, c11; shared: documents that both return."""

    c00: int = 0
    c01: int = 0
    c10: int = 0
    c11: int = 0
    shared: int = 0

    def __post_init__(self) -> None:
        if min(self.c00, self.c01, self.c10, self.c11, self.shared) < 0 or self.n == 0:
            raise SettingError(f"{self}: counts of ranks must not be negative, and at least one must be positive")

    @property
    def n(self) -> int:
        """Number of ranks."""
        return self.c00 + self.c01 + self.c10 + self.c11 + self.shared

    @property
    def delta(self) -> float:
        """Difference of P@n under the corpus judge."""
        return (self.c10 - self.c01) / self.n

    def expected(self, a0: float, a1: float) -> float:
        """E[Delta'], Eq. (1)."""
        need_rates(a0, a1)
        return (a0 + a1 - 1) * self.delta

    def variance(self, a0: float, a1: float, *, printed: bool = False) -> float:
        """Var[Delta'], Eq. (2) corrected, or as printed."""
        need_rates(a0, a1)
        apart, drop = self.c01 + self.c10, (1 - a0 - a1) ** 2
        taken = drop * ((self.c01 - self.c10) ** 2 if printed else apart)
        same = 2 * self.c00 * a0 * (1 - a0) + 2 * self.c11 * a1 * (1 - a1)
        return (same + apart * (1 - a0 - a1 + 2 * a0 * a1) - taken) / self.n**2

    def normal(self, a0: float, a1: float) -> float:
        """Pr[Delta' >= 0] by the normal approximation, as in the paper."""
        from scipy.special import ndtr

        mean, variance = self.expected(a0, a1), self.variance(a0, a1)
        return float(ndtr(mean / variance**0.5)) if variance > 0 else float(mean >= 0)

    def exact(self, a0: float, a1: float) -> Floats:
        """Exact probabilities of n Delta' = -n, ..., n, by convolving four binomials -> (2 n + 1,)."""
        need_rates(a0, a1)
        ahead = np.convolve(_binomial(self.c10 + self.c11, a1), _binomial(self.c00 + self.c01, 1 - a0))
        behind = np.convolve(_binomial(self.c01 + self.c11, a1), _binomial(self.c00 + self.c10, 1 - a0))
        return np.pad(np.convolve(ahead, behind[::-1]), self.shared)

    def chances(self, a0: float, a1: float) -> tuple[float, float, float]:
        """Exact probabilities that A is strictly ahead, level, and behind under the new judge."""
        mass = self.exact(a0, a1)
        return float(mass[self.n + 1 :].sum()), float(mass[self.n]), float(mass[: self.n].sum())


def _binomial(n: int, p: float) -> Floats:
    """P(X = k) for k = 0..n -> (n + 1,)."""
    from scipy.special import gammaln, xlog1py, xlogy

    k = np.arange(n + 1.0)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(np.exp(ways + xlogy(k, p) + xlog1py(n - k, -p)), dtype=np.float64)


def min_agreement_to_stay_ahead(n: int, rule: str = "two-sided") -> float:
    """The agreement a0 = a1 that keeps A ahead with 95 % confidence; all of A's n were relevant, and none of B's.

    rule: by 1.96 or 1.645 standard deviations of the normal ("two-sided", "one-sided"), or exactly, not behind
    ("exact") or strictly ahead ("exact, strictly").

    Examples
    --------
    >>> [round(min_agreement_to_stay_ahead(n), 4) for n in (1, 5, 10)]
    [0.9055, 0.7634, 0.7007]
    """
    from scipy.optimize import brentq

    if rule not in RULES:
        raise SettingError(f"{rule!r} is not a rule", hint=f"use one of {', '.join(RULES)}")
    extreme = RankCounts(c10=n)

    def lead(a: float) -> float:
        if rule in RULES[:2]:
            width = TWO_SIDED if rule == "two-sided" else ONE_SIDED
            return extreme.expected(a, a) - width * extreme.variance(a, a) ** 0.5
        ahead, level, _ = extreme.chances(a, a)
        return ahead + (level if rule == "exact" else 0.0) - CONFIDENCE

    return float(brentq(lead, 0.5, 1.0))


def consistent_counts(n: int, delta: float) -> list[RankCounts]:
    """All counts of ranks that give this difference of P@n (Section 3.3)."""
    lead = round(n * delta)
    if abs(n * delta - lead) > 1e-9 or abs(lead) > n:
        raise SettingError(f"no P@{n} differs by {delta:g}", hint=f"expected a multiple of 1/{n} from -1 to 1")
    return [
        RankCounts(c00=n - c10 - c01 - c11, c01=c01, c10=c10, c11=c11)
        for c01 in range(n + 1)
        for c10 in [c01 + lead]
        if c10 >= 0 and c01 + c10 <= n
        for c11 in range(n - c01 - c10 + 1)
    ]


def bounds(n: int, delta: float, *, a0: float, a1: float, exact: bool = True) -> tuple[float, float]:
    """Least and greatest probability that A is not behind, over all counts of ranks with this difference."""
    found = []
    for counts in consistent_counts(n, delta):
        ahead, level, _ = counts.chances(a0, a1)
        found.append(ahead + level if exact else counts.normal(a0, a1))
    return min(found), max(found)


def contour(counts: RankCounts, *, steps: int = 51, exact: bool = False) -> tuple[Floats, Floats]:
    """Pr[Delta' >= 0] over agreements (Figure 1): the grid (step,), and probabilities (a0 step, a1 step)."""
    grid = np.linspace(0, 1, steps)
    values = np.empty((steps, steps))
    for row, column in np.ndindex(steps, steps):
        a0, a1 = float(grid[row]), float(grid[column])
        values[row, column] = 1 - counts.chances(a0, a1)[2] if exact else counts.normal(a0, a1)
    return grid, values


def limits(n: int, *, steps: int = 101) -> tuple[Floats, Floats, Floats, Floats]:
    """Expected Delta'(n) and its 95 % limits by agreement in the extreme case (Figure 2): grid, mean, low, high."""
    grid = np.linspace(0, 1, steps)
    extreme = RankCounts(c10=n)
    mean = np.array([extreme.expected(a, a) for a in grid.tolist()])
    half = TWO_SIDED * np.sqrt([max(extreme.variance(a, a), 0.0) for a in grid.tolist()])
    return grid, mean, mean - half, mean + half
