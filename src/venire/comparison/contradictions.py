r"""Contradictions: pairs of systems that are significant by one judge and reversed by another.

For systems a and b, let :math:`d_{jt}` be their difference on topic t by judge j.

1.  Paired t-tests over topics, for every pair and judge, are adjusted by Holm for all of them (pairs x judges).  The
    judge with the smallest p-value is j; without a significant one there is no contradiction.
2.  Judge k *reverses* the pair if its mean difference has the other sign, and not only because it judged other topics:
    on the topics of both, it is below that of j (in the direction of j).
3.  It *contradicts* j if, besides, its own difference is significant (adjusted), or the two judges differ
    significantly: a paired t-test of :math:`d_{jt} - d_{kt}` over the topics of both, whose p-value is multiplied by
    the number of pairs of systems times that of pairs of judges (Bonferroni, since j and k are chosen for their
    differences); or if k was declared a reference.

Without step 3 every judge whose small difference happens to have the other sign would contradict; with dozens of
judges there is always one.  With it, judges who agree except for chance are said to contradict each other in fewer
than 5 % of collections (``tests/simulation/test_contradictions.py``).  Two significant differences of opposite sign
are a qualitative interaction (Gail and Simon 1985, doi:10.2307/2530862).  They imply the other test: the t of the
difference is at least the smaller of the two, since its standard error is at most the sum of both.  The other test
also finds judges of whom one sees a difference and the other sees none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from venire.comparison.forecast import TIE
from venire.comparison.significance import CONFIDENCE
from venire.comparison.tests import holm, student_p_values
from venire.kernels.paired_tests import differences_of
from venire.results import Records, Tabular, counted, known, listed
from venire.types import Bools, Floats, Ints

ALPHA = 1 - CONFIDENCE
"""The level of the tests."""
MOST_NAMES = 3


@dataclass(frozen=True, eq=False)
class PairsByJudge:
    """Pairs of systems by one measure: n_topics, delta, p_adjusted, between, p_between (judge, pair).

    strongest (pair,): the judge with the smallest p-value.  between: its difference less that of each judge on the
    topics of both, and p_between the adjusted p-value; NaN where there are no such topics.
    """

    measure: str
    a: Ints
    b: Ints
    n_topics: Ints
    delta: Floats
    p_adjusted: Floats
    strongest: Ints
    between: Floats
    p_between: Floats

    @classmethod
    def of(cls, measure: str, values: Floats, a: Ints, b: Ints) -> PairsByJudge:
        """Test every pair by the labels of every judge, and every judge against the one with the smallest p-value.

        values (judge, system, topic): scores, NaN where a judge does not count; a, b (pair,).
        """
        tested = [differences_of(each, a, b) for each in values]
        delta = np.array([each.mean for each in tested]).reshape(len(values), len(a))
        p = np.array([student_p_values(each) for each in tested]).reshape(delta.shape)
        strongest = np.nan_to_num(p, nan=np.inf).argmin(axis=0)
        n_topics = np.array([each.n for each in tested]).reshape(delta.shape)
        p_adjusted = holm(p.ravel()).reshape(p.shape)
        return cls(measure, a, b, n_topics, delta, p_adjusted, strongest, *_between(values, a, b, strongest))

    @property
    def sign(self) -> Ints:
        """The sign of each difference, 0 if it is equal or not known -> (judge, pair)."""
        known = np.nan_to_num(self.delta)
        return np.where(np.abs(known) > TIE, np.sign(known), 0).astype(np.int64)

    @property
    def voters(self) -> Bools:
        """Judges who can be compared on at least half as many topics as any other -> (judge, pair)."""
        return (self.n_topics > 0) & (self.n_topics >= self.n_topics.max(axis=0, initial=0) / 2)

    @property
    def significant(self) -> Bools:
        """Which differences are significant, adjusted -> (judge, pair)."""
        return np.nan_to_num(self.p_adjusted, nan=1.0) <= ALPHA + 1e-12


def _between(values: Floats, a: Ints, b: Ints, strongest: Ints) -> tuple[Floats, Floats]:
    """Compare the strongest judge with each: values (judge, system, topic) -> differences, p-values (judge, pair).

    The p-values are adjusted for all pairs of judges and of systems.
    """
    pairs = np.arange(len(a))
    of_strongest = values[strongest, a] - values[strongest, b]
    both = (np.concatenate([of_strongest, own[a] - own[b]]) for own in values)
    found = [differences_of(each, pairs, len(a) + pairs) for each in both]
    n_judges = int((~np.isnan(values)).any(axis=(1, 2)).sum())
    p = np.array([student_p_values(each) for each in found]) * len(a) * (n_judges * (n_judges - 1) / 2)
    return np.array([each.mean for each in found]), np.minimum(p, 1.0)


class Reversal(NamedTuple):
    """A pair that is significant by one judge, with a ahead, and reversed by another."""

    a: str
    b: str
    measure: str
    judge: str
    delta: float
    p_adjusted: float
    against: str
    delta_against: float
    p_against: float
    p_between: float
    contradicts: bool

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object; None for unknown p-values."""
        held = self._asdict()
        held.pop("contradicts")
        return {key: known(value) if isinstance(value, float) else value for key, value in held.items()}

    def sentence(self) -> str:
        """Return who has which system ahead, with p-values."""
        return (
            f"with the labels of {self.judge}, {self.a} is ahead of {self.b} by {self.delta:.3f} "
            f"({_p(self.p_adjusted)}), with those of {self.against}, {self.b} is ahead by {-self.delta_against:.3f} "
            f"({self._how_sure()})"
        )

    def ahead_of(self, system: str) -> float:
        """Return how far the other system of the pair is ahead of this one, by the judge who has it ahead."""
        return self.delta if self.b == system else -self.delta_against

    def _how_sure(self) -> str:
        """Return whether the reversal is significant, or else whether the two judges differ significantly."""
        if self.p_against <= ALPHA:
            return _p(self.p_against)
        differ = f"; the judges differ significantly, {_p(self.p_between)}" if self.p_between <= ALPHA else ""
        return f"not significant{differ}"


@dataclass(frozen=True, eq=False)
class Contradictions(Tabular):
    """Pairs of systems that are significant by one judge and contradicted by another, as the module describes."""

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    reference: tuple[str, ...]
    tested: tuple[PairsByJudge, ...]

    @cached_property
    def reversals(self) -> tuple[Reversal, ...]:
        """Every judge who reverses a significant pair, whether it contradicts or not; the largest first."""
        found = [row for each in self.tested for row in self._of(each)]
        return tuple(sorted(found, key=lambda row: (not row.contradicts, -min(row.delta, -row.delta_against))))

    @cached_property
    def found(self) -> tuple[Reversal, ...]:
        """The reversals that are contradictions."""
        return tuple(row for row in self.reversals if row.contradicts)

    def _of(self, tested: PairsByJudge) -> list[Reversal]:
        significant, sign, every = tested.significant, tested.sign, np.arange(len(tested.a))
        strong, first = significant[tested.strongest, every], sign[tested.strongest, every]
        apart = np.isnan(tested.between) | (tested.between * first > TIE)
        reverses = strong & (sign * first < 0) & apart
        differs = np.nan_to_num(tested.p_between, nan=1.0) <= ALPHA + 1e-12
        reference = np.isin(self.judges, self.reference)[:, None]
        contradicts = reverses & (significant | differs | reference)
        rows = zip(*(each.tolist() for each in np.nonzero(reverses)), strict=True)
        return [self._reversal(tested, judge, pair, bool(contradicts[judge, pair])) for judge, pair in rows]

    def _reversal(self, tested: PairsByJudge, against: int, pair: int, contradicts: bool) -> Reversal:
        strongest = int(tested.strongest[pair])
        turn = 1 if tested.delta[strongest, pair] > 0 else -1
        a, b = (self.systems[int(side[pair])] for side in (tested.a, tested.b)[::turn])
        one, other = ((tested.delta[j, pair] * turn, tested.p_adjusted[j, pair]) for j in (strongest, against))
        who = self.judges[strongest], self.judges[against]
        return Reversal(
            *(a, b, tested.measure),
            *(who[0], float(one[0]), float(one[1])),
            *(who[1], float(other[0]), float(other[1])),
            *(float(tested.p_between[against, pair]), contradicts),
        )

    @property
    def n_pairs(self) -> int:
        """How many pairs of systems are compared."""
        return len(self.tested[0].a)

    @property
    def n_judges(self) -> int:
        """How many judges labelled enough to be compared, on enough topics."""
        return max((int(each.voters.any(axis=1).sum()) for each in self.tested), default=0)

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the contradicted pairs, each once, the largest contradictions first."""
        unique = {frozenset((row.a, row.b)): (row.a, row.b) for row in reversed(self.found)}
        return tuple(unique.values())[::-1]

    def records(self) -> Records:
        """Return one row per contradicted pair, measure and contradicting judge."""
        return [row.record() for row in self.found]

    def sentence(self, first: Reversal | None = None) -> str:
        """Return how many pairs are contradicted, and the largest contradiction, or the one to name ``first``."""
        name, n = self.tested[0].measure, self.n_pairs
        if self.n_judges < 2 and not self.found:
            return f"By {name}, the systems can be compared with the labels of one judge only."
        if not self.found:
            return f"By {name}, none of {self.n_judges} judges contradicts another on {counted(n, 'pair')} of systems."
        first = first or self.found[0]
        if n == 1:
            return f"Judges contradict each other: by {first.measure}, {first.sentence()}."
        some = f"{len(self.pairs()):,} of {counted(n, 'pair')} of systems"
        return f"Judges contradict each other on {some}: by {first.measure}, {first.sentence()}."

    def against(self, candidate: str, baseline: str, *, margin: float = 0.0) -> Opposition:
        """Say who opposes the claim that a candidate is ahead of a baseline (or at most ``margin`` behind).

        It fails if judges contradict each other on the pair, if some judge has the baseline ahead significantly, or if
        no majority of the judges who labelled enough has the candidate ahead; if references were declared, of these.
        So the claim can hold in one direction only, whoever scores the runs.
        """
        found = tuple(
            row
            for row in self.reversals
            if {row.a, row.b} == {candidate, baseline}
            and (row.contradicts or (row.a == baseline and row.delta > margin))
        )
        votes = [self._votes(each, candidate, baseline, margin) for each in self.tested]
        lost = tuple(vote for vote in votes if vote.n_for <= len(vote.against))
        return Opposition(found, lost)

    def _votes(self, tested: PairsByJudge, candidate: str, baseline: str, margin: float) -> Votes:
        names = [(self.systems[x], self.systems[y]) for x, y in zip(tested.a, tested.b, strict=True)]
        straight = (candidate, baseline) in names
        pair = names.index((candidate, baseline) if straight else (baseline, candidate))
        delta = (tested.delta[:, pair] if straight else -tested.delta[:, pair]) + margin
        voters = tested.voters[:, pair]
        reference = np.isin(self.judges, self.reference) & voters
        voters = reference if reference.any() else voters
        opposed = np.flatnonzero(voters & (delta < -TIE)).tolist()
        measure, names_of = tested.measure, self.judges
        n_for = int((voters & (delta > TIE)).sum())
        return Votes(measure, n_for, int(voters.sum()), tuple(names_of[n] for n in opposed))


class Votes(NamedTuple):
    """By a measure, how many of the judges have a candidate ahead, and who has the baseline ahead."""

    measure: str
    n_for: int
    n_judges: int
    against: tuple[str, ...]

    def sentence(self) -> str:
        """Return both in words."""
        if self.n_judges == 1:
            ahead = f"the baseline is ahead with the labels of {self.against[0]}" if self.against else "none is ahead"
            return f"by {self.measure}, {ahead}"
        others = f"; the baseline is ahead with those of {listed(self.against, MOST_NAMES)}" if self.against else ""
        return (
            f"by {self.measure}, the candidate is ahead with the labels of {self.n_for} of "
            f"{counted(self.n_judges, 'judge')}{others}"
        )


class Opposition(NamedTuple):
    """Who opposes a claim: judges who contradict, and measures without a majority for it."""

    reversals: tuple[Reversal, ...]
    lost: tuple[Votes, ...]

    def reasons(self) -> list[str]:
        """Return the reasons in words."""
        said = [f"by {row.measure}, {row.sentence()}" for row in self.reversals[:MOST_NAMES]]
        more = len(self.reversals) - MOST_NAMES
        said += [f"{counted(more, 'more contradiction')}"] if more > 0 else []
        if said:
            return [f"judges contradict each other: {'; '.join(said)}"]
        return [vote.sentence() for vote in self.lost]


def _p(p: float) -> str:
    """Format a p-value: at most two digits, never 0."""
    if np.isnan(p):
        return "not tested"
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
