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

So all that counts are the documents that only one of two systems returns (``OwnDocuments``): with :math:`r_A, i_A`
relevant and irrelevant ones of A, :math:`r_B, i_B` of B, and N n places,

.. math:: N n \Delta' = Bin(r_A, a_1) + Bin(i_A, 1 - a_0) - Bin(r_B, a_1) - Bin(i_B, 1 - a_0)

Documents that nobody judged have no label that a new judge could change; they count as irrelevant before and after.
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
class OwnDocuments:
    """Judged documents that only A or only B returns, relevant and irrelevant ones; places: N topics of n ranks."""

    relevant_a: int
    irrelevant_a: int
    relevant_b: int
    irrelevant_b: int
    places: int

    def __post_init__(self) -> None:
        if min(self.relevant_a, self.irrelevant_a, self.relevant_b, self.irrelevant_b) < 0 or self.places < 1:
            raise SettingError(f"{self}: counts of documents must not be negative, and at least one place is needed")

    @property
    def delta(self) -> float:
        """Difference of P@n under the corpus judge."""
        return (self.relevant_a - self.relevant_b) / self.places

    @property
    def reversed(self) -> OwnDocuments:
        """The same with A and B exchanged."""
        return OwnDocuments(self.relevant_b, self.irrelevant_b, self.relevant_a, self.irrelevant_a, self.places)

    def expected(self, a0: float, a1: float) -> float:
        """E[Delta']; Eq. (1) where A and B have as many documents each."""
        need_rates(a0, a1)
        more = self.irrelevant_a - self.irrelevant_b
        return (a1 * (self.relevant_a - self.relevant_b) + (1 - a0) * more) / self.places

    def variance(self, a0: float, a1: float) -> float:
        """Var[Delta'], that of four binomials; Eq. (2), corrected, where A and B have as many documents each."""
        need_rates(a0, a1)
        relevant, irrelevant = self.relevant_a + self.relevant_b, self.irrelevant_a + self.irrelevant_b
        return (relevant * a1 * (1 - a1) + irrelevant * a0 * (1 - a0)) / self.places**2

    def normal(self, a0: float, a1: float) -> float:
        """Pr[Delta' >= 0] by the normal approximation, as in the paper."""
        return _not_behind(self.expected(a0, a1), self.variance(a0, a1))

    def exact(self, a0: float, a1: float) -> tuple[Floats, int]:
        """Probabilities of N n Delta', by convolving four binomials, and the value of the first of them.

        Values that no binomial reaches within ten standard deviations are left out.
        """
        need_rates(a0, a1)
        parts = [
            *(_binomial(n, p) for n, p in ((self.relevant_a, a1), (self.irrelevant_a, 1 - a0))),
            *(_reversed(*_binomial(n, p)) for n, p in ((self.relevant_b, a1), (self.irrelevant_b, 1 - a0))),
        ]
        mass, first = parts[0]
        for other, start in parts[1:]:
            mass, first = np.convolve(mass, other), first + start
        return mass, first

    def chances(self, a0: float, a1: float) -> tuple[float, float, float]:
        """Exact probabilities that A is strictly ahead, level, and behind under the new judge."""
        mass, first = self.exact(a0, a1)
        value = np.arange(first, first + len(mass))
        return float(mass[value > 0].sum()), float(mass[value == 0].sum()), float(mass[value < 0].sum())


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

    @property
    def own(self) -> OwnDocuments:
        """The documents that only one of the systems returns."""
        return OwnDocuments(self.c10 + self.c11, self.c00 + self.c01, self.c01 + self.c11, self.c00 + self.c10, self.n)

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
        return _not_behind(self.expected(a0, a1), self.variance(a0, a1))

    def exact(self, a0: float, a1: float) -> Floats:
        """Exact probabilities of n Delta' = -n, ..., n, by convolving four binomials -> (2 n + 1,)."""
        mass, first = self.own.exact(a0, a1)
        return np.pad(mass, (self.n + first, self.n - first - len(mass) + 1))

    def chances(self, a0: float, a1: float) -> tuple[float, float, float]:
        """Exact probabilities that A is strictly ahead, level, and behind under the new judge."""
        return self.own.chances(a0, a1)


def _not_behind(mean: float, variance: float) -> float:
    """Pr[X >= 0] of a normal distribution."""
    from scipy.special import ndtr

    return float(ndtr(mean / variance**0.5)) if variance > 0 else float(mean >= 0)


def _binomial(n: int, p: float) -> tuple[Floats, int]:
    """P(X = k) for all k within ten standard deviations, and the least of them."""
    from scipy.special import gammaln, xlog1py, xlogy

    reach = 10 * (n * p * (1 - p)) ** 0.5 + 10
    first, last = max(0, int(n * p - reach)), min(n, int(n * p + reach) + 1)
    k = np.arange(first, last + 1.0)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(np.exp(ways + xlogy(k, p) + xlog1py(n - k, -p)), dtype=np.float64), first


def _reversed(mass: Floats, first: int) -> tuple[Floats, int]:
    """Return the distribution of -X."""
    return mass[::-1], -(first + len(mass) - 1)


def min_agreement_to_stay_ahead(n: int, rule: str = "two-sided") -> float:
    """The agreement a0 = a1 that keeps A ahead with 95 % confidence; all of A's n were relevant, and none of B's.

    rule: by 1.96 or 1.645 standard deviations of the normal ("two-sided", "one-sided"), or exactly, not behind
    ("exact") or strictly ahead ("exact, strictly").

    Examples
    --------
    >>> [round(min_agreement_to_stay_ahead(n), 4) for n in (1, 5, 10)]
    [0.9055, 0.7634, 0.7007]
    """
    return min_agreement(RankCounts(c10=n).own, rule)


def min_agreement(documents: OwnDocuments, rule: str = "exact, strictly") -> float:
    """The agreement a0 = a1, from 1/2 on, at which A, which is ahead, stays so with 95 % confidence.

    rule: as of ``min_agreement_to_stay_ahead``.  It is 1/2 where A stays ahead even with a judge who labels at random:
    because more of its documents were judged.

    Examples
    --------
    >>> min_agreement(OwnDocuments(60, 20, 30, 50, places=100)) < min_agreement(OwnDocuments(6, 2, 3, 5, places=10))
    True
    """
    from scipy.optimize import brentq

    if rule not in RULES:
        raise SettingError(f"{rule!r} is not a rule", hint=f"use one of {', '.join(RULES)}")
    if documents.delta <= 0:
        raise SettingError("the first system is not ahead", hint="exchange the systems")

    def lead(a: float) -> float:
        if rule in RULES[:2]:
            width = TWO_SIDED if rule == "two-sided" else ONE_SIDED
            return documents.expected(a, a) - width * documents.variance(a, a) ** 0.5
        ahead, level, _ = documents.chances(a, a)
        return ahead + (level if rule == "exact" else 0.0) - CONFIDENCE

    return 0.5 if lead(0.5) >= 0 else float(brentq(lead, 0.5, 1.0, xtol=1e-9))


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
