r"""Tests of pairs: could two systems that are the same differ so much on these topics?

Each test is a small value that gives a two-sided p-value for every pair of systems at once.

    PairedT           Student's t of the differences
    Wilcoxon          signed ranks (1945, doi:10.2307/3001968) by scipy.stats.wilcoxon: differences of 0 are dropped;
                      exact up to 50 topics if no two differences are tied and none is 0, else normal, corrected for
                      ties but not for continuity; up to 13 topics exact given the ties, by all signs of the ranks
    SignFlip          Fisher's randomisation of signs, for IR as in Smucker, Allan and Carterette (2007,
                      doi:10.1145/1321440.1321528); all signs where they are no more than the draws
    PairedBootstrap   Sakai (2006, doi:10.1145/1148170.1148261): the mean shifted to 0, topics resampled, t compared
    TukeyHSD          randomised, over all systems at once: Carterette (2012, doi:10.1145/2094072.2094076), Sakai (2012,
                      Evaluation with informational and navigational intents, WWW): scores permuted within topics, each
                      difference compared with the largest of any two means.  Its p-values hold for all pairs together
                      and need no adjustment

Urbano, Lima and Hanjalic (2019, doi:10.1145/3331184.3331259) find on simulated collections that the t-test and the
randomisation of signs behave best, the bootstrap and Wilcoxon's test less so.

With B random draws of which c are as large as what is seen, p = (1 + c) / (1 + B): what is seen is one of them, and p
is never 0 (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585); Sakai prints c / B.  Where all differences of a pair
are the same there is no spread for a t; p is then that of all signs, 2^(1-n), and 1 if all are 0.  A pair with fewer
than two topics in common has no p-value (NaN).

Multiplicity: p-values adjusted for how many there are.

With m p-values in ascending order :math:`p_{(1)} \le \dots \le p_{(m)}`,

    Holm                 :math:`\max_{j \le i} \min(1, (m - j + 1) p_{(j)})`
    Benjamini-Hochberg   :math:`\min_{j \ge i} \min(1, m p_{(j)} / j)`

Holm's (1979, jstor.org/stable/4615733) keeps the probability of any false finding below the level, whatever the
dependence between tests; Benjamini and Hochberg's (1995, doi:10.1111/j.2517-6161.1995.tb02031.x) the expected share of
false ones among the findings, under positive dependence.  A p-value that is NaN stays so and is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from venire.checks import need_at_least
from venire.errors import SettingError, UnknownName
from venire.kernels import paired_tests
from venire.kernels.paired_tests import Differences, all_signs, count_sums_as_large, random_signs
from venire.kernels.resampling import topic_weights
from venire.measures.paired_scores import PairedScores
from venire.types import Bools, Floats, Ints

EXACT_UNTIED = 50
EXACT_TIED = 13
BLOCK_DRAWS = 1 << 14
"""How many draws are held at a time."""


class PairTest(Protocol):
    """What every test of pairs does; ``familywise``: its p-values already hold for all pairs together."""

    familywise: ClassVar[bool]

    def p_values(self, paired: PairedScores, rng: np.random.Generator) -> Floats:
        """Two-sided p-value of every pair -> (pair,)."""
        ...  # pragma: no cover

    def words(self, n_topics: int) -> str:
        """Say which test it is."""
        ...  # pragma: no cover

    def finest(self, n_topics: int) -> float:
        """The smallest p-value that the test can give; 0 if there is no least one."""
        ...  # pragma: no cover


@dataclass(frozen=True)
class PairedT:
    """Student's paired t-test."""

    familywise: ClassVar[bool] = False

    def p_values(self, paired: PairedScores, rng: np.random.Generator) -> Floats:  # noqa: ARG002 - nothing is drawn
        """Two-sided p-value of every pair -> (pair,)."""
        from scipy.special import stdtr

        differences = paired.differences
        spread = ~differences.without_spread
        p = _of_alike(differences)
        p[spread] = 2 * stdtr(differences.n[spread] - 1.0, -np.abs(differences.t[spread]))
        return p

    def words(self, n_topics: int) -> str:  # noqa: ARG002 - whatever the number
        """Say which test it is."""
        return "paired t-test"

    def finest(self, n_topics: int) -> float:  # noqa: ARG002 - whatever the number
        """No p-value is the smallest."""
        return 0.0


@dataclass(frozen=True)
class Wilcoxon:
    """Wilcoxon's signed-rank test."""

    familywise: ClassVar[bool] = False

    def p_values(self, paired: PairedScores, rng: np.random.Generator) -> Floats:  # noqa: ARG002 - nothing is drawn
        """Two-sided p-value of every pair -> (pair,)."""
        from scipy.stats import wilcoxon

        differences = paired.differences
        differ = differences.value.any(axis=0)
        few, many = (differ & chosen for chosen in (differences.n <= EXACT_TIED, differences.n > EXACT_TIED))
        p = np.ones(len(differences.n))
        if few.any():
            ranks = _signed_ranks(differences.value[:, few])[:EXACT_TIED]
            p[few] = count_sums_as_large(ranks, all_signs(len(ranks))) / 2.0 ** len(ranks)
        if many.any():
            values = np.where(differences.present, differences.value, np.nan)[:, many]
            p[many] = wilcoxon(values, axis=0, nan_policy="omit").pvalue
        return np.where(differences.n < 2, np.nan, p)

    def words(self, n_topics: int) -> str:  # noqa: ARG002 - whatever the number
        """Say which test it is."""
        return "Wilcoxon signed-rank test"

    def finest(self, n_topics: int) -> float:
        """All ranks on one side, where this is exact; else no p-value is the smallest."""
        return 2.0 ** (1 - n_topics) if n_topics <= EXACT_UNTIED else 0.0


@dataclass(frozen=True)
class SignFlip:
    """Randomisation of signs with ``n`` draws, the same for all pairs."""

    familywise: ClassVar[bool] = False
    n: int = 9_999

    def __post_init__(self) -> None:
        need_at_least(1, "the number of draws", self.n)

    def p_values(self, paired: PairedScores, rng: np.random.Generator) -> Floats:
        """Two-sided p-value of every pair -> (pair,)."""
        differences = paired.differences
        n_topics = len(differences.value)
        if self._exact(n_topics):
            p = count_sums_as_large(differences.value, all_signs(n_topics)) / 2.0**n_topics
        else:
            drawn = (random_signs(n_topics, n, rng) for n in _blocks(self.n))
            p = _of_counts(sum(count_sums_as_large(differences.value, each) for each in drawn), self.n)
        return np.where(differences.n < 2, np.nan, p)

    def words(self, n_topics: int) -> str:
        """Say which test it is."""
        how = f"all {2**n_topics:,} signs" if self._exact(n_topics) else f"{self.n:,} draws"
        return f"sign-flip randomisation, {how}"

    def finest(self, n_topics: int) -> float:
        """What is seen, and nothing else, is as large as it is; its opposite is, where all signs are counted."""
        return 2.0 ** (1 - n_topics) if self._exact(n_topics) else 1 / (1 + self.n)

    def _exact(self, n_topics: int) -> bool:
        return n_topics < 63 and 2**n_topics <= self.n


@dataclass(frozen=True)
class PairedBootstrap:
    """Studentised bootstrap of the shifted differences with ``n`` resamples of topics, the same for all pairs."""

    familywise: ClassVar[bool] = False
    n: int = 1_000

    def __post_init__(self) -> None:
        need_at_least(1, "the number of resamples", self.n)

    def p_values(self, paired: PairedScores, rng: np.random.Generator) -> Floats:
        """Achieved significance level of every pair -> (pair,)."""
        differences = paired.differences
        drawn = (topic_weights(len(differences.value), n, rng) for n in _blocks(self.n))
        p = _of_counts(sum(paired_tests.count_t_as_large(differences, each) for each in drawn), self.n)
        return np.where(differences.without_spread, np.maximum(_of_alike(differences), 1 / (1 + self.n)), p)

    def words(self, n_topics: int) -> str:  # noqa: ARG002 - whatever the number
        """Say which test it is."""
        return f"paired bootstrap, {self.n:,} resamples of topics"

    def finest(self, n_topics: int) -> float:  # noqa: ARG002 - whatever the number
        """What is seen, and nothing else, is as large as it is."""
        return 1 / (1 + self.n)


@dataclass(frozen=True)
class TukeyHSD:
    """Randomised Tukey HSD with ``n`` permutations, over all systems on the topics that all of them have."""

    familywise: ClassVar[bool] = True
    n: int = 9_999

    def __post_init__(self) -> None:
        need_at_least(1, "the number of permutations", self.n)

    def p_values(self, paired: PairedScores, rng: np.random.Generator) -> Floats:
        """Two-sided p-value of every pair, holding for all pairs together -> (pair,)."""
        complete = self.complete(paired)
        values = paired.values[:, complete]
        means = values.mean(axis=1)
        ranges = paired_tests.permuted_ranges(values, self.n, rng)
        return _of_counts(paired_tests.count_as_wide(ranges, means[paired.a] - means[paired.b]), self.n)

    def critical(self, paired: PairedScores, rng: np.random.Generator, *, alpha: float = 0.05) -> float:
        """The smallest difference of means with a p-value of at most alpha; infinite if the draws are too few."""
        most = int(np.floor(alpha * (1 + self.n) + 1e-9)) - 1
        if most < 0:
            return float("inf")
        ranges = paired_tests.permuted_ranges(paired.values[:, self.complete(paired)], self.n, rng)
        return paired_tests.critical_range(ranges, most)

    def words(self, n_topics: int) -> str:  # noqa: ARG002 - whatever the number
        """Say which test it is."""
        return f"randomised Tukey HSD, {self.n:,} permutations"

    def finest(self, n_topics: int) -> float:  # noqa: ARG002 - whatever the number
        """What is seen, and nothing else, is as wide as it is."""
        return 1 / (1 + self.n)

    @staticmethod
    def complete(paired: PairedScores) -> Bools:
        """Topics that all systems have, which must be two or more -> (topic,)."""
        there = ~np.isnan(paired.values)
        complete: Bools = np.asarray(there.all(axis=0))
        if complete.sum() < 2:
            worst = int(there.sum(axis=1).argmin())
            raise SettingError(
                f"{int(complete.sum())} of {len(complete)} topics have a score of every system, expected 2 or more: "
                f"{paired.systems[worst]!r} has {int(there[worst].sum())}",
                hint="leave that system out, or score missing lists as 0",
            )
        return complete


def _blocks(n: int) -> Iterator[int]:
    """Draws in blocks, so that memory does not grow with their number."""
    return (min(BLOCK_DRAWS, n - first) for first in range(0, n, BLOCK_DRAWS))


def _signed_ranks(value: Floats) -> Floats:
    """Signed ranks of absolute differences, largest first; ties have the mean rank, 0 has none -> (topic, pair)."""
    from scipy.stats import rankdata

    size = np.where(value != 0, np.abs(value), np.nan)
    ranks = np.nan_to_num(rankdata(size, axis=0, nan_policy="omit")) * np.sign(value)
    return np.take_along_axis(ranks, np.argsort(-np.abs(ranks), axis=0, kind="stable"), axis=0)


def _of_counts(counts: Ints | int, n: int) -> Floats:
    """p-values from how many of n draws were as large as what was seen."""
    return np.asarray(1 + counts) / (1.0 + n)


def _of_alike(differences: Differences) -> Floats:
    """p-values of pairs without spread, by all signs; NaN with fewer than two topics -> (pair,)."""
    p = np.where(differences.mean == 0, 1.0, 2.0 ** (1 - np.minimum(differences.n, 1000)))
    return np.where(differences.n < 2, np.nan, p)


Adjust = Callable[[Floats], Floats]


def holm(p: Floats) -> Floats:
    """Adjust by Holm's step-down; (test,) -> (test,).

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    found = np.full(p.shape, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    found[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1.0)
    return found


def benjamini_hochberg(p: Floats) -> Floats:
    """Adjust by Benjamini and Hochberg's step-up; (test,) -> (test,)."""
    from scipy.stats import false_discovery_control

    found = np.full(p.shape, np.nan)
    known = ~np.isnan(p)
    found[known] = false_discovery_control(p[known])
    return found


def unadjusted(p: Floats) -> Floats:
    """Leave p-values as they are."""
    return p


ADJUSTMENTS: dict[str, Adjust] = {"holm": holm, "bh": benjamini_hochberg, "none": unadjusted}
WORDS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "not adjusted"}


def adjustment(adjust: str | Adjust | None) -> tuple[str, Adjust]:
    """Settle an adjustment, by name or as a function of p-values, with its name."""
    name = "none" if adjust is None else adjust
    if not isinstance(name, str):
        return str(getattr(name, "__name__", "own")), name
    if name not in ADJUSTMENTS:
        raise UnknownName("adjustment", name, ADJUSTMENTS)
    return name, ADJUSTMENTS[name]
