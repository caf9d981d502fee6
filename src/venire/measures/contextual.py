"""Scoring in context: measures with alpha, for a block of judges at a time.

As in isolation, but what a document is worth depends on the list it stands in: beside the gain of an item there is the
utility of a slot.  The labels in condition of a block of lists are found once and serve every alpha and every measure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from venire.data.align import Ranked, copies, list_blocks
from venire.data.context import GIVEN_FIRST, ISOLATION, Conditions, Context, Reader
from venire.data.facts import Facts
from venire.data.panel import Panel
from venire.measures.contextual_ideals import Candidates, ideals_in_context
from venire.measures.ideal_orders import Best
from venire.measures.measure import ContextMeasure, Measure, alpha_of
from venire.measures.scoring import JUDGE_CELLS, Plan
from venire.measures.utility import Utility, reads_of
from venire.types import Bools, Codes, Floats, Ints

N_SOURCES = ISOLATION
"""Kinds of label counted: at the first rank, collected, predicted, given the first, in isolation."""


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of labels in condition, and what stands for those that are not."""

    conditions: Conditions
    context: Context


class ScoresInContext(NamedTuple):
    """Scores (judge, measure, list); how many labels were of which kind, and how many back off after an unjudged
    document, sources (judge, list, kind + 1); the best orders, (judge, topic), by the number of the measure.  Scores
    are shares of their bounds, so that a best order that was not found makes no score too high.
    """

    values: Floats
    sources: Ints
    best: dict[int, Best]


def score_in_context(
    facts: Facts, panel: Panel, plan: Plan, known: Known, *, group: Ints | None = None
) -> ScoresInContext:
    """Score every list for every judge by measures with alpha.

    group (item,): items with the same number are copies of one document.
    Cost: O(judges x hits) per measure, and the search for best orders where a measure is normalised.
    """
    n_judges, n_lists, n_topics = len(panel.judges), len(facts.depth), len(facts.items.topics)
    values = np.zeros((n_judges, len(plan.measures), n_lists))
    sources = np.zeros((n_judges, n_lists, N_SOURCES + 1), dtype=np.int64)
    asking = [number for number, each in enumerate(plan.measures) if each.normalised]
    best = {n: Best(np.zeros((n_judges, n_topics)), np.zeros((n_judges, n_topics))) for n in asking}
    step = max(1, JUDGE_CELLS // max(panel.n_items, len(known.conditions.pair), 1))
    for first in range(0, n_judges, step):
        judges = first, min(first + step, n_judges)
        bench = Bench.of(facts, panel, known, judges, group)
        groups = ((worth, alpha_of(plan.measures[numbers[0]]), numbers) for worth, numbers in plan.by_worth())
        readings = [(Utility.of(panel, worth, alpha, judges), numbers) for worth, alpha, numbers in groups]
        for utility, numbers in readings:
            for number in (each for each in numbers if each in best):
                found = ideals_in_context(bench.candidates, utility, _contextual(plan.measures[number]))
                for whole, part in zip(best[number], found, strict=True):
                    whole[slice(*judges)] = part
        ideal = {number: each.bound[slice(*judges)] for number, each in best.items()}
        bench.score(plan, readings, ideal, into=(values[slice(*judges)], sources[slice(*judges)]))
    return ScoresInContext(values, sources, best)


@dataclass(frozen=True, eq=False)
class Bench:
    """A few judges: who reads, which items they have labels for (judge, item + 2), and the topics they choose from."""

    facts: Facts
    reader: Reader
    seen: Bools
    group: Ints | None

    @classmethod
    def of(cls, facts: Facts, panel: Panel, known: Known, judges: tuple[int, int], group: Ints | None) -> Bench:
        """Take judges first..last-1 of a panel."""
        reader = Reader.of(known.conditions, known.context, panel, judges)
        seen = (reader.label >= 0) | known.conditions.seen(*judges)
        return cls(facts, reader, np.pad(seen, [(0, 0), (0, 2)]), group)

    @property
    def candidates(self) -> Candidates:
        """What best orders are made of."""
        return Candidates(self.facts.items, self.reader, self.seen, self.group)

    def score(
        self,
        plan: Plan,
        readings: list[tuple[Utility, list[int]]],
        ideals: dict[int, Floats],
        *,
        into: tuple[Floats, Ints],
    ) -> None:
        """Score block by block into values (judge, measure, list), and count sources (judge, list, kind + 1)."""
        n_judges, n_items = self.seen.shape[0], self.seen.shape[1] - 2
        every_rank = any(worth.unjudged > 0 for worth in plan.worths)
        for block in list_blocks(self.facts, n_items, depth=plan.depth, every_rank=every_rank, n_judges=n_judges):
            seen = self.seen[:, block.item]
            reads = reads_of(block, seen, n_items, condensed=plan.condensed)
            found = self.reader.find(reads, seen)
            before = self.seen[np.arange(n_judges)[:, None, None], reads.previous] & (reads.previous >= 0)
            into[1][:, block.lists] = _counted(found.source, before, reads.rank, plan)
            again = self._copies(seen, block.item)
            depth = seen.sum(axis=-1) if plan.condensed else block.depth
            for utility, numbers in readings:
                gains = np.where(again, 0.0, utility.of_reads(reads, found))
                rank = reads.rank if plan.condensed else block.rank
                ranked = Ranked(gains, rank, seen, depth)
                for number in numbers:
                    ideal = ideals[number][:, self.facts.topic[block.lists]] if number in ideals else None
                    into[0][:, number, block.lists] = plan.measures[number](replace(ranked, ideal=ideal))

    def _copies(self, seen: Bools, item: Codes) -> Bools:
        """Mark copies of documents higher up -> (judge, list, slot)."""
        if self.group is None:
            return np.zeros_like(seen)
        n_items = len(self.group)
        return copies(seen, np.append(self.group, [n_items, n_items + 1])[item])


def _counted(source: Ints, before: Bools, rank: Ints, plan: Plan) -> Ints:
    """Count labels by kind down to the deepest cut-off; last, those that back off after an unjudged document."""
    cuts = [each.k for each in plan.measures]
    within = np.broadcast_to(rank <= max(k for k in cuts if k) if None not in cuts else True, source.shape)
    kinds = [((source == kind) & within).sum(axis=-1) for kind in range(1, N_SOURCES + 1)]
    backed_off = ((source == GIVEN_FIRST) | (source == ISOLATION)) & within & ~before
    return np.stack([*kinds, backed_off.sum(axis=-1)], axis=-1)


def _contextual(measure: Measure) -> ContextMeasure:
    if not isinstance(measure, ContextMeasure):
        raise TypeError(f"{measure} knows no context")
    return measure
