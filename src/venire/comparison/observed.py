r"""Observed pairs: what other judges' own labels say of two systems, and how much of it they labelled.

The weight of a rank is the score of a list with one document of the highest gain at that rank, and nothing else: for
nDCG the discount, for P@k 1/k, for AP 1/rank.  Of the documents that the current or the other judge labelled, the
*share* is the part of the weight in the lists of the two systems that the other judge labelled.

A topic counts for a pair if the other judge labelled at least ``ENOUGH`` of that weight on it.  On these topics, both
systems are scored with the labels of the other judge alone, and the difference is tested with Student's paired t-test.
What this judge did not label is unjudged, as everywhere.  Of several other judges, the difference on a topic is the
mean over those for whom the topic counts, and the share is the mean over all.

A judge who labelled at least ``NEARLY_ALL`` of the weight over all topics is an outcome of its own: ``judges`` counts
them, and ``judges_agree`` those who keep the order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venire.comparison.tests import student_p_values
from venire.data.panel import one_label_each
from venire.data.rejudging import Given
from venire.kernels.paired_tests import decimals_of, summarised
from venire.measures.evaluate import Case, Layout
from venire.measures.measure import Measure, Ranked
from venire.measures.scoring import Plan, score_facts
from venire.results import known
from venire.types import Bools, Codes, Floats, Ints

ENOUGH, NEARLY_ALL = 0.9, 0.95
"""The least share of the weight that a judge labelled: on a topic that counts, and for an outcome of its own."""
SEEN = ("delta", "p_value", "topics", "share", "judges", "judges_agree")
"""The keys of a record."""
TIE = 1e-12
"""Means closer than this are equal: smaller differences are rounding errors."""


@dataclass(frozen=True, eq=False)
class ObservedPairs:
    """Pairs by the labels of other judges, all (pair,): NaN where no topic counts.

    delta, p_value: over the topics that count; topics: how many; share: of the weight that was labelled; judges, agree:
    how many judges labelled nearly all, and how many of these keep the order; exact: whether nothing is unknown.
    """

    delta: Floats
    p_value: Floats
    topics: Ints
    share: Floats
    judges: Ints
    agree: Ints
    exact: Bools

    def record(self, pair: int) -> dict[str, Any] | None:
        """Return a pair as a JSON object; None if the other judges labelled nothing of it."""
        if not self.share[pair] > 0:
            return None
        numbers = (known(self.delta[pair]), known(self.p_value[pair]), int(self.topics[pair]), float(self.share[pair]))
        return dict(zip(SEEN, (*numbers, int(self.judges[pair]), int(self.agree[pair])), strict=True))


@dataclass(frozen=True, eq=False)
class OwnLabels:
    """Judges for scoring: labels (judge, item), -1 = none."""

    label: Codes

    unmixed = True

    @property
    def judges(self) -> tuple[str, ...]:
        """Their numbers."""
        return tuple(map(str, range(len(self.label))))

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.label.shape[1]

    def gains(self, values: Floats, first: int, last: int) -> tuple[Floats, Bools]:
        """Gain of every item, and whether it was judged, for judges first..last-1; both (judge, item)."""
        label = self.label[first:last]
        return np.append(values, 0.0)[label], label >= 0


@dataclass(frozen=True, eq=False)
class Observed:
    """Other judges' own labels: scores (judge, system, topic, measure), and weights of the lists.

    labelled, needed (judge, measure, system, topic): weights that the judge labelled, and that the judge or the current
    one did.  seen (judge, topic): whether the judge labelled anything; whole (judge, topic): all that the current one
    did.  ideal (measure,): whether the best ranking counts.
    """

    scores: Floats
    labelled: Floats
    needed: Floats
    seen: Bools
    whole: Bools
    ideal: Bools

    @classmethod
    def of(cls, case: Case, plan: Plan, layout: Layout, given: Given) -> Observed:
        """Score the lists with the labels of every other judge.  O(judges x hits) per measure."""
        old, labels = one_label_each(case.panel) >= 0, given.labels(len(case.judgments.items))
        topic, n_topics = case.judgments.items.topic, len(case.judgments.items.topics)
        seen, whole = np.zeros((2, len(labels), n_topics), dtype=np.bool_)
        for judge, row in enumerate(labels >= 0):
            seen[judge, topic[row]] = True
            whole[judge] = np.bincount(topic[old & ~row], minlength=n_topics) == 0
        own = replace(layout, seen=seen)
        scores = own.place(score_facts(case.facts, OwnLabels(labels), plan)).transpose(3, 0, 1, 2)
        parts = [_coverage(case, layout, rank_weights(each, case), labels=(labels >= 0, old)) for each in plan.measures]
        labelled, needed = (np.stack(each, axis=1) for each in zip(*parts, strict=True))
        ideal = np.array([each.normalised for each in plan.measures])
        return cls(scores, labelled, needed, seen[:, layout.chosen], whole[:, layout.chosen], ideal)

    def share(self) -> Floats:
        """Share of the weight in all lists that each judge labelled -> (judge, measure)."""
        needed = self.needed.sum(axis=(2, 3))
        return np.divide(self.labelled.sum(axis=(2, 3)), needed, out=np.zeros_like(needed), where=needed > 0)

    def pairs(self, a: Ints, b: Ints, *, number: int = 0, delta: Floats) -> ObservedPairs:
        """Compare pairs of systems by one measure; delta (pair,): the difference now.

        Cost: O(judges x topics x pairs).
        """
        n_judges, n_topics = self.seen.shape
        total, count = np.zeros((2, n_topics, len(a)))
        share, judges, agree = np.zeros((3, len(a)))
        exact = np.ones(len(a), dtype=np.bool_)
        for judge in range(n_judges):
            weights = self.labelled[judge, number], self.needed[judge, number]
            labelled, needed = (each[a] + each[b] for each in weights)
            counts = (self.seen[judge] & (labelled >= ENOUGH * needed - TIE)).T
            differences = (self.scores[judge, a, :, number] - self.scores[judge, b, :, number]).T
            total += np.where(counts, differences, 0.0)
            count += counts
            have, need = labelled.sum(axis=1), needed.sum(axis=1)
            part = np.divide(have, need, out=np.zeros(len(a)), where=need > 0)
            share += part / n_judges
            nearly = part >= NEARLY_ALL
            mean = np.nansum(differences, axis=0) / n_topics
            kept = (np.sign(mean) == np.sign(delta)) & (np.abs(mean) > TIE) & (np.abs(delta) > TIE)
            judges, agree = judges + nearly, agree + (nearly & kept)
            exact &= (have >= need - TIE) & bool(not self.ideal[number] or self.whole[judge].all())
        value = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
        found = summarised(np.round(value, decimals_of(self.scores[..., number])).astype(np.float64))
        numbers = (found.mean, student_p_values(found), found.n, share, judges.astype(np.int64), agree.astype(np.int64))
        return ObservedPairs(*numbers, exact)


def rank_weights(measure: Measure, case: Case) -> Floats:
    """Weight of every rank -> (deepest rank,): the score of a list with one document of gain 1 at this rank."""
    deepest = int(case.facts.depth.max(initial=1))
    measure, rank = measure.resolved(deepest), np.arange(1, deepest + 1)
    one = np.ones((1, 1), dtype=np.int64)
    ideal = measure.ideal_of(Ranked(np.ones((1, 1, 1)), one, np.ones((1, 1, 1), dtype=np.bool_), one[0]))
    depth = np.full(deepest, deepest)
    ones = np.ones((1, deepest, 1), dtype=np.bool_)
    at = None if ideal is None else np.repeat(ideal, deepest, axis=1)
    lists = Ranked(np.ones((1, deepest, 1)), rank[:, None], ones, depth, at)
    empty = replace(lists, gains=np.zeros((1, deepest, 1)))
    found = np.abs(np.nan_to_num(measure(lists) - measure(empty)))[0]
    return found if found.any() else np.ones(deepest)


def _coverage(case: Case, layout: Layout, weight: Floats, *, labels: tuple[Bools, Bools]) -> tuple[Floats, Floats]:
    """Weight that each judge labelled, and that this or the current judge did -> (judge, system, topic) each."""
    facts, (other, old) = case.facts, labels
    used = np.flatnonzero(weight[facts.rank - 1] > 0)
    lists = np.repeat(np.arange(len(facts.depth)), facts.n_hits)[used]
    item, value = facts.item[used], weight[facts.rank[used] - 1]
    shape = (len(other), len(facts.systems), len(facts.items.topics))
    found = np.zeros((2, *shape))
    for judge, row in enumerate(other):
        for part, chosen in zip(found, (row, row | old), strict=True):
            sums = np.bincount(lists, weights=value * chosen[item], minlength=len(facts.depth))
            part[judge, facts.system, facts.topic] = sums
    return found[0][..., layout.chosen], found[1][..., layout.chosen]
