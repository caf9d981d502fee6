r"""Scores by judge: systems x judges, with intervals over topics.

Every judge's own labels score every system; nothing is pooled or drawn.  The mean over topics has Student's interval,
:math:`\bar x \pm t_{n-1} s / \sqrt n`; with one topic there is none.

*Which labels suffice.*  Documents that a judge did not label have gain 0, so a judge who labelled the results of one
system only would favour it.  The *share* of a judge is the number of list places (down to the depth of the measure)
that it labelled, divided by the number that anyone labelled.  In comparisons, a judge counts for a system and topic if
its number of labelled places in that list is at least ``ENOUGH`` times the largest of any judge; others are shown
with their share, and contradict nobody (``comparison.contradictions``).  Neither do copies of another judge
(``data.assessors``).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from venire.comparison.contradictions import Contradictions, PairsByJudge
from venire.comparison.observed import TIE
from venire.comparison.significance import CONFIDENCE
from venire.comparison.tests import Pairs, numbered_pairs
from venire.data.assessors import Copy, copies, copy_notes
from venire.data.gains import GainsLike
from venire.data.judgments import Judgments
from venire.data.panel import Panel, Pool, build_panel
from venire.errors import EqualLabelsWarning, MissingTopicsWarning, UnjudgedWarning, UnknownName
from venire.io.judgments import JudgmentsLike
from venire.io.runs import Progress, RunsLike
from venire.measures.evaluate import Case, Layout, as_list, labels_for
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike, Plan, Scoring, score_facts
from venire.results import Note, Records, Tabular, counted, known, listed
from venire.types import Bools, Floats, Ints

ENOUGH = 0.9
"""The part of the largest number of labelled places in a list that a judge must have labelled to count."""
SHOWN = 0.5
"""The least share of the judged list places that a judge must have labelled for its scores to be shown to people."""
MOST_JUDGES = 5
"""Number of judges in a table for people."""
MOST_NAMES = 3
POOLED = "pooled labels"
"""Name of the judge whose labels are those of several assessors."""


@dataclass(frozen=True, eq=False)
class ScoresByJudge(Tabular):
    """Scores by the labels of each judge: scores (judge, system, topic, measure), NaN where a judge has no label.

    labelled (judge, system, topic, measure): places of the list that the judge labelled; judged (system, topic,
    measure): those that anyone labelled.  Judges come in the order in which they are shown: declared references,
    other people, then by how much they labelled.  copies: judges who repeat the labels of another; silent: systems that
    returned nothing, which have no scores.
    """

    judges: tuple[str, ...]
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measures: tuple[str, ...]
    scores: Floats
    labelled: Floats
    judged: Floats
    reference: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    copies: tuple[Copy, ...] = ()
    confidence: float = CONFIDENCE
    notes: tuple[Any, ...] = ()
    silent: tuple[str, ...] = ()

    @classmethod
    def on(
        cls,
        case: Case,
        plan: Plan,
        *,
        judges: Sequence[str] | None = None,
        first: str | None = None,
        confidence: float = CONFIDENCE,
    ) -> ScoresByJudge:
        """Score the lists of a case by each of its assessors; ``first`` is shown before the other undeclared ones.

        The assessor who scores the case does so with its panel, which may have shared weights of pooled labels.
        """
        labels, assessor = case.judgments, case.scoring.assessor
        panel = build_panel(labels, per="assessor")
        if assessor is not None:
            panel = panel.replaced(panel.judges.index(assessor), case.panel)
        whole = replace(case, panel=panel, scoring=replace(case.scoring, assessor=None, pool=None, per="assessor"))
        return cls._of(whole, plan, labels, confidence)._chosen(judges, first)

    @classmethod
    def _of(cls, case: Case, plan: Plan, labels: Judgments, confidence: float) -> ScoresByJudge:
        with warnings.catch_warnings():  # evaluate and compare warn of these for the judge who scores the runs
            warnings.simplefilter("ignore", MissingTopicsWarning)
            warnings.simplefilter("ignore", UnjudgedWarning)
            warnings.simplefilter("ignore", EqualLabelsWarning)
            layout = Layout.of(case, plan)
        values = layout.place(score_facts(case.facts, case.panel, plan, group=case.group)).transpose(3, 0, 1, 2)
        labelled, judged = _places(case, plan, layout)
        names = tuple(POOLED if name is None else str(name) for name in case.panel.judges)
        order = sorted(range(len(names)), key=names.__getitem__)
        return cls(
            tuple(names[n] for n in order),
            case.facts.systems,
            layout.topics,
            plan.names,
            values[order],
            labelled[order],
            judged,
            labels.reference,
            labels.machines,
            copies(labels) if len(names) > 1 else (),
            confidence,
            layout.notes,
            layout.silent,
        )

    def _chosen(self, judges: Sequence[str] | None, first: str | None) -> ScoresByJudge:
        """Keep some judges, or all, in the order in which they are shown."""
        for name in judges or ():
            if name not in self.judges:
                raise UnknownName("assessor", name, self.judges)
        kind = [self._kind(name, first) for name in self.judges]
        order = np.lexsort((-self.labelled.sum(axis=(1, 2, 3)), kind)).tolist()
        kept = [n for n in order if judges is None or self.judges[n] in judges]
        names = tuple(self.judges[n] for n in kept)
        return replace(self, judges=names, scores=self.scores[kept], labelled=self.labelled[kept])

    def with_first(self, judge: str) -> ScoresByJudge:
        """Show a judge before the others, except declared references and people."""
        return self._chosen(None, judge)

    def ordered(self, names: Sequence[str]) -> ScoresByJudge:
        """Show judges of the same kind in the order of names, those that are not named after them."""
        place = {name: number for number, name in enumerate(names)}
        kind = [(self._kind(name, None), place.get(name, len(place))) for name in self.judges]
        order = sorted(range(len(kind)), key=kind.__getitem__)
        judges = tuple(self.judges[n] for n in order)
        return replace(self, judges=judges, scores=self.scores[order], labelled=self.labelled[order])

    def joined(self, other: ScoresByJudge) -> ScoresByJudge:
        """Put judges of the same systems and topics first, such as one with labels by several assessors."""
        place = [other.topics.index(name) if name in other.topics else -1 for name in self.topics]
        scores, labelled = (np.pad(each, [(0, 0), (0, 0), (0, 1), (0, 0)]) for each in (other.scores, other.labelled))
        scores[:, :, -1] = np.nan
        return replace(
            self,
            judges=(*other.judges, *self.judges),
            scores=np.concatenate([scores[:, :, place], self.scores]),
            labelled=np.concatenate([labelled[:, :, place], self.labelled]),
        )

    def _kind(self, name: str, first: str | None) -> int:
        """Return the place of a judge's kind: reference, other person, the one named first, others."""
        if name in self.reference:
            return 0
        if self.machines and name not in self.machines:
            return 1
        return 2 if name == first else 3

    @property
    def declared(self) -> bool:
        """Whether it was declared who is a person or a machine."""
        return bool(self.reference or self.machines)

    @cached_property
    def n_topics(self) -> Ints:
        """Number of topics with a score -> (judge, system, measure)."""
        return (~np.isnan(self.scores)).sum(axis=2)

    @cached_property
    def mean(self) -> Floats:
        """Mean over topics -> (judge, system, measure)."""
        total = np.nansum(self.scores, axis=2)
        return np.divide(total, self.n_topics, out=np.full(total.shape, np.nan), where=self.n_topics > 0)

    @cached_property
    def _limits(self) -> tuple[Floats, Floats]:
        """Student's interval of each mean; NaN with fewer than two topics -> two of (judge, system, measure)."""
        names = {"assessor": self.judges, "system": self.systems, "topic": self.topics, "measure": self.measures}
        low, high = Scores(self.scores, tuple(names), names).interval(confidence=self.confidence)
        return low.values, high.values

    @property
    def low(self) -> Floats:
        """Lower limit of each mean -> (judge, system, measure)."""
        return self._limits[0]

    @property
    def high(self) -> Floats:
        """Upper limit of each mean -> (judge, system, measure)."""
        return self._limits[1]

    @cached_property
    def share(self) -> Floats:
        """Share of the judged list places that each judge labelled, on the topics it judged -> (judge, measure)."""
        seen = ~np.isnan(self.scores)
        places = np.where(seen, self.judged, 0.0).sum(axis=(1, 2))
        found = np.where(seen, self.labelled, 0.0).sum(axis=(1, 2))
        return np.divide(found, places, out=np.ones(places.shape), where=places > 0)

    @cached_property
    def counts(self) -> Bools:
        """Whether a judge labelled enough of a list to be compared -> (judge, system, topic, measure).

        Of two judges of whom one is a copy, the one who labelled less is not compared.
        """
        enough: Bools = self.labelled >= ENOUGH * self.labelled.max(axis=0)
        total = dict(zip(self.judges, self.labelled.sum(axis=(1, 2, 3)).tolist(), strict=True))
        for one, other, _ in self.copies:
            if one in total and other in total:
                enough[self.judges.index(other if total[one] >= total[other] else one)] = False
        return enough

    def records(self) -> Records:
        """Return one row per measure, judge and system: mean, interval, topics, and the judge's share of places."""
        nothing: dict[str, float | int | None] = {"mean": None, "low": None, "high": None, "topics": 0}
        return [
            {"judge": judge, "system": system, "measure": measure, **cells, "share": float(self.share[j, m])}
            for m, measure in enumerate(self.measures)
            for j, judge in enumerate(self.judges)
            for system, cells in (
                *((name, self._cells((j, s, m))) for s, name in enumerate(self.systems)),
                *((name, nothing) for name in self.silent),
            )
        ]

    def _cells(self, place: tuple[int, int, int]) -> dict[str, float | int | None]:
        """Return the mean of a judge and a system by a measure, its interval, and the number of topics."""
        numbers = {"mean": self.mean, "low": self.low, "high": self.high}
        return {**{name: known(each[place]) for name, each in numbers.items()}, "topics": int(self.n_topics[place])}

    def table(self, measure: str | None = None, *, most: int = MOST_JUDGES) -> tuple[list[str], list[list[str]]]:
        """Return the heads and cells of a table for people: the first judges, and systems from best to worst.

        Scores of a judge who labelled under half of the judged list places are not shown: documents without a label
        count as not relevant, so that they would say how much was labelled.
        """
        m = self._number(measure)
        enough = self.share[:most, m, None] >= SHOWN
        mean = np.where(enough, self.mean[:most, :, m], np.nan)
        low, high = self.low[:most, :, m], self.high[:most, :, m]
        first = mean[int(np.argmax(enough))]
        order = np.argsort(-np.nan_to_num(first, nan=-np.inf), kind="stable").tolist()
        rows = [[self.systems[s], *(_cell(mean[j, s], low[j, s], high[j, s]) for j in range(len(mean)))] for s in order]
        rows += [[name, *[_cell(np.nan, np.nan, np.nan)] * len(mean)] for name in self.silent]
        return ["system", *(self._head(j, m) for j in range(len(mean)))], rows

    def notes_on_judges(self, *, most: int = MOST_JUDGES) -> list[Note]:
        """Return notes on copies, on judges who are not in a table for people, and on those who labelled too little."""
        few = [name for name, share in zip(self.judges, self.share.min(axis=1), strict=True) if share < ENOUGH]
        notes = copy_notes(self.copies)
        if len(self.judges) > most:
            text = "{n:judge} not shown: {names:list}"
            notes.append(Note("judges-not-shown", text, n=len(self.judges) - most, names=self.judges[most:]))
        if few:
            text = (
                "{names:list} labelled under {enough:.0%} of the judged list places, and can contradict others only on "
                "lists of which they labelled as much; scores of those who labelled under {shown:.0%} are not shown"
            )
            notes.append(Note("few-labels", text, enough=ENOUGH, shown=SHOWN, names=few))
        return notes

    def _head(self, judge: int, measure: int) -> str:
        """Return a judge's name, whether it is the reference, its topics if not all, and its share if not enough."""
        name, share = self.judges[judge], self.share[judge, measure]
        n_topics = int(self.n_topics[judge, :, measure].max(initial=0))
        about = ["reference"] * (name in self.reference) + ["machine"] * (name in self.machines)
        about += [f"{n_topics} of {counted(len(self.topics), 'topic')}"] if n_topics < len(self.topics) else []
        about += [f"labelled {share:.0%}"] if share < ENOUGH else []
        return f"{name} ({', '.join(about)})" if about else name

    def _number(self, measure: str | None) -> int:
        if measure is not None and measure not in self.measures:
            raise UnknownName("measure", measure, self.measures)
        return 0 if measure is None else self.measures.index(measure)

    def sentence(self) -> str:
        """Return the best system of each judge, or those that tie, by the first measure."""
        mean = np.where(self.share[:, :1] >= SHOWN, self.mean[:, :, 0], np.nan)
        best: dict[tuple[str, ...], list[str]] = {}
        for judge, row in zip(self.judges, mean, strict=True):
            if not np.isnan(row).all():
                places = np.flatnonzero(np.isclose(row, np.nanmax(row), rtol=0, atol=TIE))
                best.setdefault(tuple(self.systems[n] for n in places.tolist()), []).append(judge)
        if not best:
            return f"No judge labelled enough to tell which system is first by {self.measures[0]}."
        parts = [
            f"{listed(first)} {'is' if len(first) == 1 else 'are'} first by the labels of {listed(judges, MOST_NAMES)}"
            for first, judges in best.items()
        ]
        return f"By {self.measures[0]}, {'; '.join(parts)}."

    def contradictions(self, measure: str | None = None, *, pairs: Pairs = None) -> Contradictions:
        """Find the pairs of systems on which judges contradict each other, by one measure or by each of them.

        pairs : as in ``compare_systems``, or none; p-values are adjusted for these, and for the judges
        """
        some = len(self.systems) > 1 and pairs != []
        a, b = numbered_pairs(self.systems, pairs) if some else (_NONE, _NONE)
        numbers = range(len(self.measures)) if measure is None else [self._number(measure)]
        values = np.where(self.counts, self.scores, np.nan)
        found = tuple(PairsByJudge.of(self.measures[m], values[..., m], a, b) for m in numbers)
        return Contradictions(self.systems, self.judges, self.reference, found)


_NONE: Ints = np.zeros(0, dtype=np.int64)


def scores_by_judge(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("nDCG@10",),
    *,
    gains: GainsLike = "linear",
    judges: Sequence[str] | None = None,
    pool: str | Pool | None = None,
    topics: Iterable[str] | None = None,
    confidence: float = CONFIDENCE,
    progress: Progress | None = None,
) -> ScoresByJudge:
    """Score systems by the labels of every judge, with intervals over topics.

    Parameters
    ----------
    judges : assessors to show; None: all
    pool : take the pooled labels of all assessors as those of one judge, as in ``evaluate``
    confidence : of the intervals; contradictions are tested at level .05

    Notes
    -----
    The runs are scanned once, and every judge is one more row of the arrays.  Cost: O(judges x hits) per measure.

    Examples
    --------
    >>> from venire.simulation import Synthetic, generate
    >>> made = generate(Synthetic(n_topics=12), rng=1)
    >>> found = scores_by_judge(made.judgments, made.runs, "P@10", gains="binary:1")
    >>> found.mean.shape, found.contradictions().found
    ((5, 10, 1), ())
    """
    labels = labels_for(judgments, measures)
    scoring = Scoring(per=None if pool else "assessor", pool=pool, gains=gains, topics=topics)
    plan = scoring.plan(as_list(measures), labels.scale)
    case = Case.of(labels, runs, scoring, progress=progress)
    return ScoresByJudge._of(case, plan, labels, confidence)._chosen(judges, None)


def _places(case: Case, plan: Plan, layout: Layout) -> tuple[Floats, Floats]:
    """Count places that each judge labelled, and that anyone did -> (judge, system, topic, measure) and without judge.

    A missing list has no places.  Cost: O(judges x hits) per depth.
    """
    depths = [None if plan.condensed else each.k for each in plan.measures]
    by_depth = {k: _labelled(case, k) for k in set(depths)}
    shape = (len(case.facts.systems), len(case.facts.items.topics))
    found = np.zeros((len(case.panel.judges) + 1, *shape, len(depths)))
    for m, k in enumerate(depths):
        found[:, case.facts.system, case.facts.topic, m] = by_depth[k]
    found = found[:, :, layout.chosen]
    return found[:-1], found[-1]


def _labelled(case: Case, depth: int | None) -> Floats:
    """Count the places of every list down to a depth that judges labelled, and in the last row anyone."""
    facts, panel = case.facts, case.panel
    within = np.ones(len(facts.rank), dtype=np.bool_) if depth is None else facts.rank <= depth
    rows = [_judged(panel, judge) for judge in range(len(panel.judges))]
    anyone = np.zeros(panel.n_items, dtype=np.bool_)
    anyone[panel.item] = True
    found = np.empty((len(rows) + 1, len(facts.depth)))
    for number, judged in enumerate([*rows, anyone]):
        upto = np.append(0, np.cumsum(judged[facts.item] & within))
        found[number] = upto[facts.offset[1:]] - upto[facts.offset[:-1]]
    return found


def _judged(panel: Panel, judge: int) -> Bools:
    """Mark the items that a judge labelled -> (item,)."""
    rows = slice(*np.searchsorted(panel.judge, [judge, judge + 1]))
    judged = np.zeros(panel.n_items, dtype=np.bool_)
    judged[panel.item[rows]] = True
    return judged


def _cell(mean: float, low: float, high: float) -> str:
    """Format a mean and its interval."""
    if np.isnan(mean):
        return "-"
    return f"{mean:.3f}" if np.isnan(low) else f"{mean:.3f} [{low:.3f}, {high:.3f}]"
