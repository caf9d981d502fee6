"""Results that may be labelled: how probable each is to be drawn for a budget, and the draw itself.

Probabilities are in proportion to the sizes of results over the root of their costs, with a floor
(``planning.systems`` has the sizes), and samples are spread over topics, of each cost apart, so that a sample costs
little more or less than the budget (``kernels.sampling``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.comparison.correction import rank_weights
from venire.data.runs import Facts
from venire.kernels.sampling import inclusion_probabilities, systematic
from venire.measures.scoring import Plan as Measured
from venire.types import Bools, Floats, Ints

FLOOR = 0.1
"""Least probability of a result that counts, as a share of the mean."""
BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class Candidates:
    """Results that may be labelled: their items, sizes and costs (candidate,), and topics; see the module."""

    item: Ints
    size: Floats
    cost: Floats
    topic: Ints

    @property
    def least(self) -> float:
        """What a sample of one costs on average; 0 where there are no candidates."""
        return float(self._probabilities(1) @ self.cost)

    def probabilities(self, budget: float) -> Floats:
        """Return inclusion probabilities that cost as much as the budget on average -> (candidate,)."""
        n, cost = len(self.item), self.cost
        if (cost == cost[:1]).all():
            return self._probabilities(min(np.floor(budget / cost[0] + 1e-9), n)) if n else np.zeros(0)
        low, high = 0, n
        while low < high:
            middle = (low + high + 1) // 2
            fits = float(self._probabilities(middle) @ cost) <= budget * (1 + 1e-9)
            low, high = (middle, high) if fits else (low, middle - 1)
        return self._probabilities(low)

    def _probabilities(self, n: float) -> Floats:
        least = FLOOR * n / max(len(self.item), 1)
        return inclusion_probabilities(self.size / np.sqrt(self.cost), n, least=least)

    def draw(self, probability: Floats, rng: np.random.Generator) -> Bools:
        """Draw candidates, spread over topics; with several costs as many of each as is expected -> (candidate,)."""
        costs, kind = np.unique(self.cost, return_inverse=True)
        if len(costs) < 2:
            return systematic(probability, self.topic, rng)
        return systematic(probability, kind * (int(self.topic.max()) + 1) + self.topic, rng)


def group_spread(deviation: Floats, group: Ints, n_groups: int) -> Floats:
    """Return the mean deviation of the items of each group -> (group,), that of all where there are none."""
    n = np.bincount(group[deviation > 0], minlength=n_groups)
    total = np.bincount(group, weights=deviation, minlength=n_groups)
    overall = total.sum() / max(n.sum(), 1)
    return np.where(n > 0, total / np.maximum(n, 1), overall)


def summed_weights(facts: Facts, measured: Measured, share: float) -> Floats:
    """Sum the weights of each item over all systems -> (item,).  O(hits), block by block."""
    weight = np.append(share * rank_weights(measured.measures[0], int(facts.depth.max(initial=1))), 0.0)
    found = np.zeros(len(facts.items))
    for first in range(0, len(facts.item), BLOCK):
        part = slice(first, first + BLOCK)
        value = weight[np.minimum(facts.rank[part], len(weight)) - 1]
        found += np.bincount(facts.item[part], weights=value, minlength=len(found))
    return found


def reasons_of(facts: Facts, item: Ints) -> list[str]:
    """Say how many systems return each item, and how high (item,).  O(hits), block by block."""
    place = np.full(len(facts.items), -1, dtype=np.int32)
    place[item] = np.arange(len(item), dtype=np.int32)
    best, n_lists = np.full(len(item), 1 << 30), np.zeros(len(item), dtype=np.int64)
    for first in range(0, len(facts.item), BLOCK):
        there = place[facts.item[first : first + BLOCK]]
        mine = there >= 0
        np.minimum.at(best, there[mine], facts.rank[first : first + BLOCK][mine])
        n_lists += np.bincount(there[mine], minlength=len(item))
    total = len(facts.systems)
    return [f"returned by {n} of {total} systems, best rank {rank}" for n, rank in zip(n_lists, best, strict=True)]
