r"""Paired tests: could two equal systems differ so much on these topics?

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

If c of B random draws are as large as the observed value, p = (1 + c) / (1 + B): the observed value is one of them, and
p is never 0 (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585); Sakai prints c / B.  Where all differences of a pair
are the same, t has no spread; p is then that of all signs, 2^(1-n), and 1 if all are 0.  A pair with fewer than two
topics in common has no p-value (NaN).

Adjustments for m p-values in ascending order :math:`p_{(1)} \le \dots \le p_{(m)}`:

    Holm                 :math:`\max_{j \le i} \min(1, (m - j + 1) p_{(j)})`
    Benjamini-Hochberg   :math:`\min_{j \ge i} \min(1, m p_{(j)} / j)`

Holm's (1979, jstor.org/stable/4615733) controls the familywise error rate under any dependence between tests; Benjamini
and Hochberg's (1995, doi:10.1111/j.2517-6161.1995.tb02031.x) controls the false discovery rate under positive
dependence.  A p-value that is NaN stays so and is not counted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from venire.checks import need_at_least
from venire.errors import MeasureError, SettingError, UnknownName
from venire.kernels import paired_tests
from venire.kernels.paired_tests import (
    Differences,
    all_pairs,
    all_signs,
    count_sums_as_large,
    differences_of,
    random_signs,
)
from venire.measures.scores import NOTHING, Scores
from venire.randomness import topic_weights
from venire.results import counted, listed
from venire.types import Bools, Floats, Ints

EXACT_UNTIED = 50
EXACT_TIED = 13
BLOCK_DRAWS = 1 << 14
"""How many draws are held at a time."""


Pairs = str | Sequence[tuple[str, str]] | None


@dataclass(frozen=True, eq=False)
class PairedScores:
    """values (system, topic), NaN where missing; a, b (pair,) number the systems; differences are a less b."""

    values: Floats
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measure: str
    a: Ints
    b: Ints
    differences: Differences

    def names(self, pair: int) -> tuple[str, str]:
        """Names of the two systems of a pair."""
        return self.systems[self.a[pair]], self.systems[self.b[pair]]

    def all_names(self) -> tuple[tuple[str, str], ...]:
        """Names of the two systems of every pair."""
        sides = ([self.systems[number] for number in side.tolist()] for side in (self.a, self.b))
        return tuple(zip(*sides, strict=True))


def paired_scores(scores: Scores, measure: str | None = None, *, pairs: Pairs = None) -> PairedScores:
    """Pair the scores of systems by topic.

    Parameters
    ----------
    measure : may be omitted if there is only one
    pairs : None: every two systems, in their order; a name: every other system against this baseline, which is b;
        or pairs of names [(a, b), ...].  Systems that returned nothing are in no pair, and may not be named
    """
    one = _of_one_measure(scores, measure)
    systems = one.names["system"]
    asked = {pairs} if isinstance(pairs, str) else {name for pair in pairs or () for name in pair}
    if silent := [name for name in one.silent if name in asked]:
        message = f"{listed(silent)} {NOTHING}, and cannot be compared"
        raise SettingError(message, hint="compare systems with results for these topics")
    a, b = numbered_pairs(systems, pairs)
    values = np.moveaxis(one.values, one.axes.index("system"), 0).astype(np.float64, copy=False)
    name = measure or (scores.names["measure"][0] if "measure" in scores.axes else "score")
    return PairedScores(values, systems, one.names["topic"], name, a, b, differences_of(values, a, b))


def _of_one_measure(scores: Scores, measure: str | None) -> Scores:
    """Select the measure; what is left must be systems by topics."""
    if "measure" in scores.axes:
        known = scores.names["measure"]
        if measure is None and len(known) != 1:
            raise MeasureError(
                f"there are {len(known)} measures, and systems are compared by one of them",
                hint=f"name one: {', '.join(map(repr, known))}",
            )
        scores = scores.select(measure=measure or known[0])
    if sorted(scores.axes) != ["system", "topic"]:
        raise SettingError(
            f"scores are by {', '.join(scores.axes) or 'nothing'}, expected by system and topic",
            hint='select from the others as in scores.select(assessor="A"), or take scores.mean("assessor")',
        )
    return scores


def numbered_pairs(systems: tuple[str, ...], pairs: Pairs) -> tuple[Ints, Ints]:
    """Number the systems of every pair -> a, b, both (pair,)."""
    if len(systems) < 2:
        named = f" ({', '.join(systems)})" if systems else ""
        raise SettingError(
            f"found {counted(len(systems), 'system')}{named}, expected two or more to compare",
            hint="add the run of another system on the same topics",
        )
    if pairs is None:
        return all_pairs(len(systems))
    if isinstance(pairs, str):
        pairs = [(each, pairs) for each in systems if each != _known(pairs, systems)]
    places = {name: number for number, name in enumerate(systems)}
    found = np.array([[places[_known(a, systems)], places[_known(b, systems)]] for a, b in pairs], dtype=np.int64)
    found = found.reshape(-1, 2)
    if not len(found) or (found[:, 0] == found[:, 1]).any():
        raise SettingError(f"the pairs are {list(pairs)!r}", hint="name pairs of two different systems")
    return found[:, 0], found[:, 1]


def _known(name: str, systems: tuple[str, ...]) -> str:
    if name not in systems:
        raise UnknownName("system", name, systems)
    return name


class PairTest(ABC):
    """A paired test by ``name``; ``familywise``: its p-values already hold for all pairs together."""

    name: ClassVar[str] = ""
    familywise: ClassVar[bool] = False

    @abstractmethod
    def p_values(self, paired: PairedScores, rng: np.random.Generator) -> Floats:
        """Return the two-sided p-value of every pair -> (pair,)."""

    def words(self, n_topics: int) -> str:  # noqa: ARG002 - some tests need it
        """Return the name of the test, with the number of draws."""
        return self.name

    def finest(self, n_topics: int) -> float:  # noqa: ARG002 - some tests need it
        """Return the smallest possible p-value; 0 if there is none."""
        return 0.0


@dataclass(frozen=True)
class _RandomTest(PairTest):
    """A test with ``n`` random draws, the same for all pairs."""

    drawn: ClassVar[str] = "draws"
    n: int = 9_999

    def __post_init__(self) -> None:
        need_at_least(1, "the number of draws", self.n)

    def words(self, n_topics: int) -> str:  # noqa: ARG002 - some tests need it
        """Return the name of the test, with the number of draws."""
        return f"{self.name}, {self.n:,} {self.drawn}"

    def finest(self, n_topics: int) -> float:  # noqa: ARG002 - some tests need it
        """Return the p-value if no draw is as large as the observed value."""
        return 1 / (1 + self.n)


@dataclass(frozen=True)
class PairedT(PairTest):
    """Student's paired t-test."""

    name: ClassVar[str] = "paired t-test"

    def p_values(self, paired: PairedScores, rng: np.random.Generator) -> Floats:  # noqa: ARG002 - no draws
        """Return the two-sided p-value of every pair -> (pair,)."""
        return student_p_values(paired.differences)


def student_p_values(differences: Differences) -> Floats:
    """Return two-sided p-values of Student's paired t-test -> (pair,); NaN with fewer than two topics."""
    from scipy.special import stdtr

    spread = ~differences.without_spread
    p = _of_alike(differences)
    p[spread] = 2 * stdtr(differences.n[spread] - 1.0, -np.abs(differences.t[spread]))
    return p


@dataclass(frozen=True)
class Wilcoxon(PairTest):
    """Wilcoxon's signed-rank test."""

    name: ClassVar[str] = "Wilcoxon signed-rank test"

    def p_values(self, paired: PairedScores, rng: np.random.Generator) -> Floats:  # noqa: ARG002 - no draws
        """Return the two-sided p-value of every pair -> (pair,)."""
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

    def finest(self, n_topics: int) -> float:
        """Return the p-value of all ranks on one side, where it is exact; else 0."""
        return 2.0 ** (1 - n_topics) if n_topics <= EXACT_UNTIED else 0.0


@dataclass(frozen=True)
class SignFlip(_RandomTest):
    """Randomisation of signs with ``n`` draws, the same for all pairs."""

    name: ClassVar[str] = "sign-flip randomisation"

    def p_values(self, paired: PairedScores, rng: np.random.Generator) -> Floats:
        """Return the two-sided p-value of every pair -> (pair,)."""
        differences = paired.differences
        n_topics = len(differences.value)
        if self._exact(n_topics):
            p = count_sums_as_large(differences.value, all_signs(n_topics)) / 2.0**n_topics
        else:
            drawn = (random_signs(n_topics, n, rng) for n in _blocks(self.n))
            p = _of_counts(sum(count_sums_as_large(differences.value, each) for each in drawn), self.n)
        return np.where(differences.n < 2, np.nan, p)

    def words(self, n_topics: int) -> str:
        """Return the name of the test, with the number of signs or draws."""
        return f"{self.name}, all {2**n_topics:,} signs" if self._exact(n_topics) else super().words(n_topics)

    def finest(self, n_topics: int) -> float:
        """Return the p-value if no other signs give a mean as large; with all signs, the opposite ones do."""
        return 2.0 ** (1 - n_topics) if self._exact(n_topics) else super().finest(n_topics)

    def _exact(self, n_topics: int) -> bool:
        return n_topics < 63 and 2**n_topics <= self.n


@dataclass(frozen=True)
class PairedBootstrap(_RandomTest):
    """Studentised bootstrap of the shifted differences with ``n`` resamples of topics, the same for all pairs."""

    name: ClassVar[str] = "paired bootstrap"
    drawn: ClassVar[str] = "resamples of topics"
    n: int = 1_000

    def p_values(self, paired: PairedScores, rng: np.random.Generator) -> Floats:
        """Return the achieved significance level of every pair -> (pair,)."""
        differences = paired.differences
        drawn = (topic_weights(len(differences.value), n, rng) for n in _blocks(self.n))
        p = _of_counts(sum(paired_tests.count_t_as_large(differences, each) for each in drawn), self.n)
        return np.where(differences.without_spread, np.maximum(_of_alike(differences), 1 / (1 + self.n)), p)


@dataclass(frozen=True)
class TukeyHSD(_RandomTest):
    """Randomised Tukey HSD with ``n`` permutations, over all systems on the topics that all of them have."""

    name: ClassVar[str] = "randomised Tukey HSD"
    drawn: ClassVar[str] = "permutations"
    familywise: ClassVar[bool] = True

    def p_values(self, paired: PairedScores, rng: np.random.Generator) -> Floats:
        """Return the two-sided p-value of every pair, holding for all pairs together -> (pair,)."""
        values = paired.values[:, self.complete(paired)]
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

    @staticmethod
    def complete(paired: PairedScores) -> Bools:
        """Return the topics that all systems have, which must be two or more -> (topic,)."""
        present = ~np.isnan(paired.values)
        complete: Bools = np.asarray(present.all(axis=0))
        if complete.sum() < 2:
            worst = int(present.sum(axis=1).argmin())
            raise SettingError(
                f"{int(complete.sum())} of {len(complete)} topics have a score of every system, expected 2 or more: "
                f"{paired.systems[worst]!r} has {int(present[worst].sum())}",
                hint="remove that system, or score missing lists as 0",
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
    """Return p-values from how many of n draws were as large as the observed value."""
    return np.asarray(1 + counts) / (1.0 + n)


def _of_alike(differences: Differences) -> Floats:
    """Return p-values of pairs without spread, by all signs; NaN with fewer than two topics -> (pair,)."""
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
    found, known = p.copy(), np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    found[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1.0)
    return found


def benjamini_hochberg(p: Floats) -> Floats:
    """Adjust by Benjamini and Hochberg's step-up; (test,) -> (test,)."""
    from scipy.stats import false_discovery_control

    found, known = p.copy(), ~np.isnan(p)
    if known.any():
        found[known] = false_discovery_control(p[known])
    return found


def unadjusted(p: Floats) -> Floats:
    """Return p-values as they are."""
    return p


ADJUSTMENTS: dict[str, Adjust] = {"holm": holm, "bh": benjamini_hochberg, "none": unadjusted}
WORDS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "not adjusted", "tukey": "familywise"}


def adjustment(adjust: str | Adjust | None) -> tuple[str, Adjust]:
    """Resolve an adjustment, by name or as a function of p-values, with its name."""
    name = "none" if adjust is None else adjust
    if not isinstance(name, str):
        return str(getattr(name, "__name__", "custom")), name
    if name not in ADJUSTMENTS:
        raise UnknownName("adjustment", name, ADJUSTMENTS)
    return name, ADJUSTMENTS[name]
