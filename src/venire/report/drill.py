"""Drill down: from a pair of systems to its topics, and from a topic to the labels of its documents.

The page holds the first results of every system with the labels of all judges, so that it needs no server.  What it
holds is limited: systems from the best, and topics with the largest differences between the best two; the page states
how much that is.

A document is *disputed* if judges give it different labels.  Its weight on the decision between systems a and b is

    |slope(rank by a) - slope(rank by b)| x (mean difference between the gains of the labels of two judges)

with the slope of the measure at its rank in each list (``measures.slopes``), 0 if it is not among the first results: by
so much the difference of the two systems on the topic changes, on average, between the labels of two judges.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from venire.comparison.by_judge import SHOWN
from venire.data.judgments import is_conditional
from venire.data.runs import Facts
from venire.io.pool import first_docs
from venire.measures.evaluate import Case
from venire.measures.names import parse_measure
from venire.measures.scores import student_quantile
from venire.measures.scoring import Scoring
from venire.measures.slopes import rank_slopes
from venire.report.evidence import TOP, Evidence
from venire.report.leaderboard import Judge, different_systems, kind_of
from venire.results import Records
from venire.types import Bools, Floats, Ints

DEEPEST = 20
"""Lists are embedded to the depth of the measure, but not deeper."""
MOST_CELLS = 60_000
"""How many places of lists are embedded: systems x topics x depth."""
FEWEST_SYSTEMS = 8
MOST_SCORED = 8
"""How many judges' scores by topic are embedded."""
MOST_DISPUTED = 25
SCORE_UNITS, SLOPE_UNITS = 10_000, 100_000
UNLABELLED, FIRST = ".", "0"
"""In the labels of a document: no label, and the lowest label; the next character is the next label."""


class TopicLists(NamedTuple):
    """A topic: who judged, documents with their labels by judge, and lists (system, rank) into docs; -1: id not known.

    slopes (system, rank), or (1, rank) where they are the same for all systems, in units of 1/100,000.
    """

    topic: str
    judges: list[int]
    docs: list[str]
    labels: list[str]
    lists: list[list[int]]
    scores: list[list[int | None]]
    slopes: list[list[int]]


class Disputed(NamedTuple):
    """A document on which judges differ: its ranks by the two systems (None: not among the first), and its weight."""

    topic: str
    doc: str
    labels: Mapping[str, str]
    rank_a: int | None
    rank_b: int | None
    weight: float


@dataclass(frozen=True, eq=False)
class Drill:
    """What the page holds of lists and labels; pair: the systems between which the verdict decides.

    with_documents: False where labels are for intents, so that a document has several by a judge; topics have no lists.
    different (system, system): who differs significantly, as in the leaderboard; pairs with one of ``unadjusted``, the
    best systems, are tested as in the verdict, and others with p-values adjusted for all pairs.
    """

    measure: str
    depth: int
    systems: tuple[str, ...]
    n_systems: int
    n_topics: int
    judges: tuple[Judge, ...]
    scored: tuple[str, ...]
    scale: tuple[str, ...]
    gains: tuple[float, ...]
    topics: tuple[TopicLists, ...]
    pair: tuple[str, str]
    quantile: float | None
    different: Bools
    unadjusted: tuple[str, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    with_documents: bool = True

    def data(self) -> dict[str, Any]:
        """Return it as the script of the page reads it."""
        return {
            "measure": self.measure,
            "depth": self.depth,
            "systems": list(self.systems),
            "judges": [[each.name, each.kind] for each in self.judges],
            "scored": list(self.scored),
            "scale": list(self.scale),
            "gains": list(self.gains),
            "pair": list(self.pair),
            "all": len(self.systems) == self.n_systems,
            "t": self.quantile,
            "differ": ["".join(map(str, row)) for row in self.different.astype(int).tolist()],
            "tests": [self.test(True, True), self.test(False, True), self.test(True, False), self.test(False, False)],
            "unadjusted": list(self.unadjusted),
            "topics": [
                [*each._replace(labels=[_shortened(text) for text in each.labels]), self.texts.get(each.topic, "")]
                for each in self.topics
            ],
            "texts": dict(self.documents),
            "documents": self.with_documents,
        }

    def test(self, differ: bool, adjusted: bool) -> str:
        """Say whether two systems differ significantly, and by which test; nothing if there is none."""
        if self.quantile is None:
            return ""
        n = f"{self.n_systems * (self.n_systems - 1) // 2:,}"
        how = f"paired t-test, p-value adjusted for all {n} pairs; the interval is not" if adjusted else "paired t-test"
        return f"The systems {'' if differ else 'do not '}differ significantly ({how})."

    def differences(self) -> list[tuple[TopicLists, float]]:
        """Return the difference between the two systems of the verdict by topic, largest first."""
        a, b = (self.systems.index(name) for name in self.pair)
        found = [(each, _less(each.scores[0], a, b)) for each in self.topics]
        return sorted(((each, gap) for each, gap in found if gap is not None), key=lambda row: (-row[1], row[0].topic))

    @cached_property
    def disputed(self) -> list[Disputed]:
        """The documents on which judges differ, those with the largest weight on the decision first."""
        found = [row for each in self.topics for row in self.differing(each) if row.weight > 0]
        return sorted(found, key=lambda row: (-row.weight, row.topic, row.doc))[:MOST_DISPUTED]

    def differing(self, each: TopicLists) -> list[Disputed]:
        """Return the documents of a topic on which judges differ, in the lists of the two systems; by weight."""
        places = [self.systems.index(name) for name in self.pair]
        a, b = (_ranks(each.lists[place]) for place in places)
        one, other = (each.slopes[place if len(each.slopes) > 1 else 0] for place in places)
        rows = []
        for number in sorted({*a, *b}):
            text, ranks = each.labels[number], (a.get(number), b.get(number))
            slopes = [0 if rank is None else slope[rank - 1] for rank, slope in zip(ranks, (one, other), strict=True)]
            weight = abs(slopes[0] - slopes[1]) / SLOPE_UNITS * _apart(text, self.gains)
            if len({*text} - {UNLABELLED}) > 1:
                rows.append(Disputed(each.topic, each.docs[number], self._by_judge(each, text), *ranks, weight))
        return sorted(rows, key=lambda row: -row.weight)

    def _by_judge(self, each: TopicLists, text: str) -> dict[str, str]:
        pairs = zip(each.judges, text, strict=True)
        return {self.judges[j].name: self.scale[ord(c) - ord(FIRST)] for j, c in pairs if c != UNLABELLED}

    def disputed_records(self) -> Records:
        """Return one row per disputed document."""
        return [
            {**row._asdict(), "labels": dict(row.labels), "a": self.pair[0], "b": self.pair[1]} for row in self.disputed
        ]


def _shortened(labels: str) -> str:
    """Return labels with many missing ones in a row as their number in brackets: of a crowd, most judge few items.

    Examples
    --------
    >>> _shortened("1..20......3")
    '1..20(6)3'
    """
    return re.sub(r"\.{4,}", lambda found: f"({len(found[0])})", labels)


def _apart(labels: str, gains: Sequence[float]) -> float:
    """Return the mean difference between the gains of the labels of two judges, 0 for fewer than two labels."""
    given = sorted(gains[ord(letter) - ord(FIRST)] for letter in labels if letter != UNLABELLED)
    n = len(given)
    if n < 2:
        return 0.0
    return sum((2 * place - n + 1) * gain for place, gain in enumerate(given)) * 2 / (n * (n - 1))


def _less(scores: list[int | None], a: int, b: int) -> float | None:
    one, other = scores[a], scores[b]
    return None if one is None or other is None else (one - other) / SCORE_UNITS


def _ranks(places: list[int]) -> dict[int, int]:
    return {doc: rank for rank, doc in enumerate(places, start=1) if doc >= 0}


def drill(evidence: Evidence) -> Drill | None:
    """Collect what the page holds; None for one system, or if nothing was judged."""
    verdict, scores = evidence.verdict, evidence.scores["linear"]
    other = _other(evidence)
    if other is None or evidence.nothing_judged:
        return None
    k = parse_measure(evidence.question.measure).k
    depth, n_topics = min(k or TOP, DEEPEST), len(scores.names["topic"])
    order = np.argsort(-verdict.mean, kind="stable")
    n_systems = int(np.clip(MOST_CELLS // (depth * n_topics), FEWEST_SYSTEMS, len(order)))
    pair = (verdict.best, other)
    kept = list(dict.fromkeys([*pair, *(verdict.systems[n] for n in order[:n_systems].tolist())]))
    systems = tuple(sorted(kept, key=[verdict.systems[n] for n in order].index))
    chosen = _topics(evidence, pair, most=max(MOST_CELLS // (depth * len(systems)), 1))
    judges = _judges(evidence)
    view = _Views(evidence, systems, depth, judges, tuple(_scored(evidence)))
    topics = tuple(view.topic(name) for name in chosen)
    texts = evidence.question.texts
    wanted = {doc for each in topics for doc in each.docs}
    rows = [verdict.systems.index(name) for name in systems]
    return Drill(
        evidence.question.measure,
        depth,
        systems,
        len(verdict.systems),
        n_topics,
        judges,
        view.scored,
        evidence.judgments.scale.labels,
        tuple(view.plan.worths[0].values.tolist()),
        topics,
        pair,
        student_quantile(n_topics - 1, 0.975) if n_topics > 1 else None,
        different_systems(evidence)[np.ix_(rows, rows)],
        (verdict.best, *verdict.twins),
        {} if texts is None else texts.of_topics(chosen),
        {} if texts is None else texts.of_docs(wanted),
        not evidence.question.by_intent,
    )


def _other(evidence: Evidence) -> str | None:
    """Return the system that the best one is compared with: that of a contradiction, the closest rival, or the next."""
    verdict = evidence.verdict
    against = dissent(evidence)
    return against.system if against else verdict.closest or verdict.second


class Dissent(NamedTuple):
    """A judge who contradicts that the best system is ahead of another one."""

    judge: str
    system: str


def dissent(evidence: Evidence) -> Dissent | None:
    """Return the judge who contradicts the verdict by the largest difference, if any.

    Where a reference is declared, its labels count: others contradict it only if it has a leader.
    """
    verdict = evidence.verdict
    row = verdict.contradiction
    if row is None or (verdict.leader is None and evidence.judgments.reference):
        return None
    return Dissent(row.against, row.b) if row.a == verdict.best else Dissent(row.judge, row.a)


def _topics(evidence: Evidence, pair: tuple[str, str], *, most: int) -> list[str]:
    """Return the topics to embed, in natural order: all, or those on which the two systems differ most."""
    scores = evidence.scores["linear"]
    names, place = scores.names["topic"], [scores.names["system"].index(name) for name in pair]
    gap = np.abs(np.nan_to_num(scores.values[place[0], :, 0] - scores.values[place[1], :, 0]))
    largest = np.sort(np.argsort(-gap, kind="stable")[:most])
    return [names[n] for n in largest.tolist()]


def _judges(evidence: Evidence) -> tuple[Judge, ...]:
    """Return all assessors: the reference, people, then others, in the order of their names."""
    place = ("reference", "person", "", "machine")
    judges = [Judge(name, kind_of(evidence, name)) for name in evidence.judgments.assessors]
    return tuple(sorted(judges, key=lambda each: (place.index(each.kind), each.name)))


def _scored(evidence: Evidence) -> list[str]:
    """Return the judges whose scores by topic are embedded: who scores the runs, and the first of the others."""
    found = evidence.by_judge
    others = [name for name, share in zip(found.judges, found.share[:, 0], strict=True) if share >= SHOWN]
    return [evidence.judge, *(name for name in others if name != evidence.judge)][:MOST_SCORED]


class _Views:
    """Looks up lists, labels and scores by topic."""

    def __init__(
        self,
        evidence: Evidence,
        systems: tuple[str, ...],
        depth: int,
        judges: tuple[Judge, ...],
        scored: tuple[str, ...],
    ) -> None:
        self.facts, self.systems, self.depth, self.scored = evidence.facts, systems, depth, scored
        self.items = evidence.facts.items
        labels = evidence.judgments.take(~is_conditional(evidence.judgments))
        self.labels = labels
        self.judged = np.bincount(labels.item, minlength=len(self.items)) > 0
        self.rows_of = _grouped(labels.items.topic[labels.item], len(labels.items.topics))
        self.lists_of = _grouped(self.facts.topic, len(self.items.topics))
        number = {each.name: n for n, each in enumerate(judges)}
        self.judge = np.array([number[name] for name in labels.assessors])[labels.assessor.codes]
        self.place = {name: n for n, name in enumerate(self.items.topics)}
        self.scores = _scores_by_topic(evidence, systems, scored)
        by_name = {name: n for n, name in enumerate(systems)}
        self.system = np.array([by_name.get(name, -1) for name in self.facts.systems])[self.facts.system]
        self.table = _first_items(self.facts, self.judged, depth)
        scoring = Scoring(assessor=evidence.judge)
        self.plan = scoring.plan([evidence.question.measure], labels.scale, in_context=True)
        panel = Case.of(evidence.labels, evidence.runs, scoring).panel
        if self.items.intents is None:
            self.slopes = rank_slopes(self.facts, panel, self.plan, depth)
            self.unlabelled = first_docs(evidence.question.runs, self._incomplete(), depth)

    def _incomplete(self) -> set[tuple[str, str]]:
        """Return the lists that are held and have a result that nobody labelled, by system and topic."""
        n_known = (self.table >= 0).sum(axis=1)
        lists = np.flatnonzero((self.system >= 0) & (n_known < np.minimum(self.facts.depth, self.depth)))
        return {(self.systems[self.system[n]], self.items.topics[self.facts.topic[n]]) for n in lists.tolist()}

    def topic(self, name: str) -> TopicLists:
        """Return what is held of a topic."""
        rows = self.rows_of[self.place[name]]
        judges = np.unique(self.judge[rows])
        scores = [self.scores[judge].get(name, [None] * len(self.systems)) for judge in self.scored]
        if self.items.intents is not None:
            return TopicLists(name, judges.tolist(), [], [], [[] for _ in self.systems], scores, [[]])
        numbers = self.lists_of[self.place[name]]
        numbers = numbers[self.system[numbers] >= 0]
        table = self.table[numbers]
        items = np.unique(table[table >= 0])
        docs = list(self.items.doc.take(items))
        labels = self._labels(rows, items, judges)
        lists: list[list[int]] = [[] for _ in self.systems]
        number = {doc: n for n, doc in enumerate(docs)}
        places = np.where(table >= 0, np.searchsorted(items, table), -1).tolist()
        depth = np.minimum(self.facts.depth[numbers], self.depth).tolist()
        for system, row, n in zip(self.system[numbers].tolist(), places, depth, strict=True):
            more = self.unlabelled.get((self.systems[system], name), [])
            lists[system] = [
                place if place >= 0 or rank >= len(more) else number.setdefault(more[rank], len(number))
                for rank, place in enumerate(row[:n])
            ]
        more = list(number)[len(docs) :]
        labels += [UNLABELLED * len(judges)] * len(more)
        slopes = _shared_slopes(self.slopes[numbers], self.system[numbers], len(self.systems))
        return TopicLists(name, judges.tolist(), [*docs, *more], labels, lists, scores, slopes)

    def _labels(self, rows: Ints, items: Ints, judges: Ints) -> list[str]:
        """Return the labels of each document as a text with a character per judge."""
        if not len(judges):
            return [""] * len(items)
        table = np.full((len(items), len(judges)), ord(UNLABELLED), dtype=np.uint32)
        rows = rows[np.isin(self.labels.item[rows], items)]
        place = np.searchsorted(items, self.labels.item[rows]), np.searchsorted(judges, self.judge[rows])
        table[place] = self.labels.label[rows] + ord(FIRST)
        return ["".join(map(chr, row)) for row in table.tolist()]


def _first_items(facts: Facts, judged: Bools, depth: int) -> Ints:
    """Return the items at the first ranks of every list, -1 where nobody labelled the document -> (list, depth)."""
    table = np.full((len(facts.depth), depth), -1, dtype=np.int64)
    held = (facts.rank <= depth) & judged[facts.item]
    table[np.repeat(np.arange(len(facts.depth)), facts.n_hits)[held], facts.rank[held] - 1] = facts.item[held]
    return table


def _shared_slopes(slopes: Floats, system: Ints, n_systems: int) -> list[list[int]]:
    """Return slopes by system in whole units, or one row if they are the same for all; slopes (list, rank)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a rank that nobody judged
        top = np.nanmax(slopes, axis=0, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    if np.allclose(np.where(np.isnan(slopes), top, slopes), top, rtol=0, atol=0.5 / SLOPE_UNITS):
        return [_units(top)]
    rows = [[0] * slopes.shape[1] for _ in range(n_systems)]
    for place, row in zip(system.tolist(), np.nan_to_num(slopes), strict=True):
        rows[place] = _units(row)
    return rows


def _units(slopes: Floats) -> list[int]:
    return np.round(slopes * SLOPE_UNITS).astype(int).tolist()


def _grouped(codes: Any, n: int) -> list[Ints]:
    """Return the places of every code."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes, minlength=n))[:-1]) if n else []


def _scores_by_topic(
    evidence: Evidence, systems: tuple[str, ...], scored: tuple[str, ...]
) -> dict[str, dict[str, list[int | None]]]:
    """Return scores in units of 1/10,000, by judge and topic, in the order of the systems."""
    found, own = evidence.by_judge, evidence.scores["linear"]
    tables: dict[str, tuple[tuple[str, ...], Floats]] = {
        judge: (
            found.topics,
            found.scores[found.judges.index(judge), [found.systems.index(name) for name in systems], :, 0],
        )
        for judge in scored
        if judge in found.judges
    }
    rows = [own.names["system"].index(name) for name in systems]
    tables[evidence.judge] = (own.names["topic"], own.values[rows, :, 0])
    return {judge: dict(zip(topics, _score_units(values.T), strict=True)) for judge, (topics, values) in tables.items()}


def _score_units(scores: Floats) -> list[list[int | None]]:
    """Return scores (topic, system) in whole units, None where there is none."""
    units = np.round(np.nan_to_num(scores) * SCORE_UNITS).astype(int).tolist()
    missing = np.isnan(scores).tolist()
    return [[None if no else n for n, no in zip(*rows, strict=True)] for rows in zip(units, missing, strict=True)]
