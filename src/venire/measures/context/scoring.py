"""Scores in context: measures with alpha.

As in isolation, but the utility of a document depends on the list: beside the gain of an item there is the utility of a
slot.  The conditional labels of a block of lists are looked up once and serve every alpha and every measure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np

from venire.data.context import GIVEN_FIRST, ISOLATION, Conditions, Context, Reader
from venire.data.judgments import Judgments, is_conditional
from venire.data.panel import Panel
from venire.data.runs import Facts
from venire.errors import MeasureError, ScaleError
from venire.measures.blocks import list_blocks
from venire.measures.context.ideals import CLOSE, Best, Candidates, ideals_in_context
from venire.measures.context.utility import Utility, reads_of
from venire.measures.measure import ContextMeasure, Ranked, alpha_of
from venire.measures.scores import SOURCES, BestOrders, ContextUse
from venire.measures.scoring import JUDGE_CELLS, Plan, copies, score_facts
from venire.types import Bools, Codes, Floats, Ints

N_SOURCES = ISOLATION
"""Sources that are counted: first rank, collected, predicted, given the first document, in isolation."""


@dataclass(frozen=True, eq=False)
class Known:
    """The conditional labels that are known, and what replaces the others."""

    conditions: Conditions
    context: Context


class ScoresInContext(NamedTuple):
    """Scores (judge, measure, list); labels by source, and how many back off after an unjudged document, sources
    (judge, list, source + 1); the best orders, (judge, topic), by the number of the measure.  Scores are shares of the
    upper bounds, so that they are never too high.
    """

    values: Floats
    sources: Ints
    best: dict[int, Best]

    def use(self, plan: Plan, known: Known, topic: Codes, scored: Bools) -> ContextUse:
        """Count labels by source; topic (list,), scored (judge, topic): whether the scores of a topic count."""
        lists = scored[:, topic]
        orders = {
            plan.names[number]: _best_orders(best.value, best.bound, scored, self.values[:, number][lists])
            for number, best in self.best.items()
        }
        counts = dict(zip(SOURCES, self.sources[lists].sum(axis=0).tolist(), strict=True))
        rules = known.context.backoff, known.context.expected
        return ContextUse(*rules, **counts, best_orders=orders, more_notes=known.conditions.notes)


def score_in_context(
    facts: Facts, panel: Panel, plan: Plan, known: Known, *, group: Ints | None = None
) -> ScoresInContext:
    """Score every list for every judge by measures some of which have alpha; group as in ``score_facts``."""
    values = np.zeros((len(panel.judges), len(plan.measures), len(facts.depth)))
    plain = [number for number in range(len(plan.measures)) if number not in plan.contextual]
    if plain:
        values[:, plain] = score_facts(facts, panel, plan.only(plain), group=group)
    scored = _scores_in_context(facts, panel, plan.only(plan.contextual), known, group=group)
    values[:, plan.contextual] = scored.values
    return scored._replace(values=values, best={plan.contextual[n]: each for n, each in scored.best.items()})


def _scores_in_context(
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
                found = ideals_in_context(bench.candidates, utility, cast(ContextMeasure, plan.measures[number]))
                for whole, part in zip(best[number], found, strict=True):
                    whole[slice(*judges)] = part
        ideal = {number: each.bound[slice(*judges)] for number, each in best.items()}
        bench.score(plan, readings, ideal, (values[slice(*judges)], sources[slice(*judges)]))
    return ScoresInContext(values, sources, best)


@dataclass(frozen=True, eq=False)
class Bench:
    """A few judges: the conditional labels they use, and the items they have labels for (judge, item + 2)."""

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
        """Documents of the best orders."""
        return Candidates(self.facts.items, self.reader, self.seen, self.group)

    def score(
        self,
        plan: Plan,
        readings: list[tuple[Utility, list[int]]],
        ideals: dict[int, Floats],
        into: tuple[Floats, Ints],
    ) -> None:
        """Score block by block into values (judge, measure, list), and count sources (judge, list, source + 1)."""
        n_judges, n_items = self.seen.shape[0], self.seen.shape[1] - 2
        every_rank = any(worth.unjudged > 0 for worth in plan.worths)
        for block in list_blocks(self.facts, n_items, depth=plan.depth, every_rank=every_rank, n_judges=n_judges):
            seen = self.seen[:, block.item]
            reads = reads_of(block, seen, n_items, condensed=plan.condensed)
            found = self.reader.find(reads, seen)
            before = self.seen[np.arange(n_judges)[:, None, None], reads.previous] & (reads.previous >= 0)
            into[1][:, block.lists] = _counted(found.source, before, reads.rank, plan)
            again = np.zeros_like(seen)
            if self.group is not None:
                again = copies(seen, np.append(self.group, [n_items, n_items + 1])[block.item])
            depth = seen.sum(axis=-1) if plan.condensed else block.depth
            for utility, numbers in readings:
                gains = np.where(again, 0.0, utility.of_reads(reads, found))
                rank = reads.rank if plan.condensed else block.rank
                ranked = Ranked(gains, rank, seen, depth)
                for number in numbers:
                    ideal = ideals[number][:, self.facts.topic[block.lists]] if number in ideals else None
                    into[0][:, number, block.lists] = plan.measures[number](replace(ranked, ideal=ideal))


def _counted(source: Ints, before: Bools, rank: Ints, plan: Plan) -> Ints:
    """Count labels by source down to the deepest cut-off; last, those that back off after an unjudged document."""
    cuts = [each.k for each in plan.measures]
    within = np.broadcast_to(rank <= max(k for k in cuts if k) if None not in cuts else True, source.shape)
    kinds = [((source == kind) & within).sum(axis=-1) for kind in range(1, N_SOURCES + 1)]
    backed_off = ((source == GIVEN_FIRST) | (source == ISOLATION)) & within & ~before
    return np.stack([*kinds, backed_off.sum(axis=-1)], axis=-1)


def require_conditional(judgments: Judgments, plan: Plan, context: Context | None) -> None:
    """Reject alpha where there are no conditional labels and no model predicts them, or on another scale."""
    if context is not None and context.predictor is not None:
        scale = getattr(context.predictor, "scale", judgments.scale)
        if scale.labels != judgments.scale.labels:
            message = f"conditional labels are predicted on the scale {scale}, and the labels are on {judgments.scale}"
            raise ScaleError(message, hint="declare the scale when reading, or fit the model on these labels")
        return
    if not is_conditional(judgments).any():
        column = "their column given is empty" if "given" in judgments.facets else "they have no column given"
        message = f"{plan.names[plan.contextual[0]]} needs conditional labels, and the judgments hold none: {column}"
        hints = ["name the document read before each in a column `given`", "use alpha=0"]
        raise MeasureError(message, hint=[*hints, "give a model that predicts conditional labels (Context)"])


def _best_orders(value: Floats, bound: Floats, scored: Bools, scores: Floats) -> BestOrders:
    value, bound = value[scored], bound[scored]
    short = np.divide(bound - value, bound, out=np.zeros_like(bound), where=bound > 0)
    searched = int((short > 2 * CLOSE).sum())
    furthest = float(short.max(initial=0.0)) if searched else 0.0
    return BestOrders(len(value) - searched, searched, furthest, int((scores > 1 + 1e-9).sum()))
