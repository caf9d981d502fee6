"""Scores by intent: lists are split by the intents that they have documents for; the parts are scored, and joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.data.judgments import Intents
from venire.data.runs import Facts
from venire.measures.blocks import list_blocks
from venire.measures.intents import IntentMeasure, greedy_gains
from venire.measures.measure import Measure, Ranked, share
from venire.types import Bools, Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class ByNeed:
    """Lists split by intent: ``split`` has a list per list and need, owner (list of split,) says of which list.

    order (item,), start (need,): the items by need, and where each need begins.
    """

    facts: Facts
    intents: Intents
    split: Facts
    owner: Ints
    order: Ints
    start: Ints

    @classmethod
    def of(cls, facts: Facts, intents: Intents, *, depth: int | None) -> ByNeed:
        """Split the lists, down to the depth that counts.  O(hits log hits)."""
        order = np.argsort(intents.need, kind="stable")
        start = np.searchsorted(intents.need[order], np.arange(len(intents.topic)))
        return cls(facts, intents, *facts.by_need(intents, depth=depth), order, start)

    def score(self, gains: Floats, judged: Bools, measures: Sequence[Measure]) -> Floats:
        """Score every list by measures that share gains; gains, judged (judge, item + 2) -> (judge, measure, list).

        Cost: O(judges x hits) per measure, and that of ``greedy_gains`` once for each redundancy.
        """
        of_items, seen = gains[:, self.order], judged[:, self.order]
        total = np.add.reduceat(of_items, self.start, axis=1)
        known = np.logical_or.reduceat(seen, self.start, axis=1)
        parts = [
            (n, *part) for n, each in enumerate(measures) if isinstance(each, IntentMeasure) for part in each.parts
        ]
        depth: dict[float, int] = {}
        for _, _, part in parts:
            if (alpha := part.redundancy) is not None:
                depth[alpha] = max(depth.get(alpha, 0), part.ideal_depth)
        ideals: dict[float, Floats] = {}
        scores = np.zeros((len(gains), len(measures), len(self.facts.depth)))
        for number, factor, part in parts:
            weight = part.need_weights(self.intents, total > 0, known)
            whole = self._of_topics(weight)
            if (alpha := part.redundancy) is not None:
                if alpha not in ideals:
                    ideals[alpha] = greedy_gains(gains[:, :-2], self.intents, weight, alpha=alpha, k=depth[alpha])
                whole = part.of_ideal(ideals[alpha])
            value = self._of_needs(gains, judged, part, total) * weight[:, self.split.topic]
            scores[:, number] += factor * share(self._of_lists(value), whole[:, self.facts.topic])
        return scores

    def _of_needs(self, gains: Floats, judged: Bools, measure: IntentMeasure, total: Floats) -> Floats:
        """Score the lists of each need -> (judge, list of split)."""
        values = np.zeros((len(gains), len(self.split.depth)))
        n_items = gains.shape[1] - 2
        for block in list_blocks(self.split, n_items, depth=measure.k, every_rank=False, n_judges=len(gains)):
            of_need = total[:, self.split.topic[block.lists]]
            ranked = Ranked(gains[:, block.item], block.rank, judged[:, block.item], block.depth, of_need)
            values[:, block.lists] = measure(ranked)
        return values

    def _of_lists(self, values: Floats) -> Floats:
        """Sum the values of the parts of each list; owner ascends -> (judge, list)."""
        return _sums(values, self.owner, len(self.facts.depth))

    def _of_topics(self, values: Floats) -> Floats:
        """Sum values of needs -> (judge, topic)."""
        return _sums(values, self.intents.topic, len(self.intents.documents.topics))


def _sums(values: Floats, group: Ints | Codes, n_groups: int) -> Floats:
    """Sum over neighbours of the same group, which ascends; values (judge, row), group (row,) -> (judge, group)."""
    found = np.zeros((len(values), n_groups))
    start = np.flatnonzero(np.diff(group, prepend=-1))
    if len(start):
        found[:, group[start]] = np.add.reduceat(values, start, axis=1)
    return found
