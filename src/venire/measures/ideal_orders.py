r"""Ideal orders: the best order of documents whose utility depends on the one read before.

.. math:: \max_{\pi} \sum_{i=1}^{k} w_i\, u(\pi_i | \pi_{i-1}), \qquad
    \text{or, for a user who stops,} \quad \max_{\pi} \sum_i w_i\, u_i \prod_{j<i} (1 - u_j)

over orders of k documents.  Sorting by gain is not the answer once context counts (Golbus et al. 2014,
doi:10.1145/2566486.2568015, normalise without saying how).  The orders are built rank by rank, for all problems at once
(branch and bound).  An order is given up if its bound, the rest at the highest utility each document can have, does not
exceed the best order known; or if another order of the same documents with the same last one (and first one, where
that matters) has more.  While what is left of a problem is within ``WIDE``, the answer is exact; beyond, the orders
with the highest bounds go on (beam search), and the best bound given up says how far the answer can be off.  No order
exceeds the best walk either, in which a document may come back, and which needs no search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from venire.types import Bools, Floats, Ints, Words

NARROW, SOME, WIDE, CELLS = 32, 512, 4096, 1 << 21
"""Widths of a search: to begin with, where documents had to be left out, and to the end; cells held at a time."""
MOST_DOCUMENTS = 48
"""How many documents of a problem the search looks at; 64 would be the most."""
CLOSE = 1e-12


@dataclass(frozen=True, eq=False)
class Orders:
    """Problems side by side.

    alone (problem, doc): utility at the first rank; after (problem, given, doc): after another; there (problem, doc):
    whether it is a document; clash (problem, doc): bits of the documents that may not stand beside it, itself among
    them.  first (problem, first, doc), where there is one: utility at later ranks by the document at the first rank,
    for the pairs that are ``unknown`` (problem, given, doc).
    """

    alone: Floats
    after: Floats
    there: Bools
    clash: Words
    first: Floats | None = None
    unknown: Bools | None = None

    def take(self, problems: Ints) -> Orders:
        """Choose some of the problems."""
        return Orders(
            self.alone[problems],
            self.after[problems],
            self.there[problems],
            self.clash[problems],
            None if self.first is None else self.first[problems],
            None if self.unknown is None else self.unknown[problems],
        )

    def most_after(self) -> Floats:
        """What no utility after another document can exceed, 0 for no such pair -> (problem, given, doc)."""
        after = self.after
        if self.first is not None and self.unknown is not None:
            after = np.where(self.unknown, self.first.max(axis=1, initial=0.0)[:, None], after)
        possible = self.there[:, :, None] & self.there[:, None] & ~np.eye(after.shape[1], dtype=np.bool_)
        return np.where(possible, after, 0.0)


class Best(NamedTuple):
    """Value of the best order found, and what no order can exceed; both (problem,)."""

    value: Floats
    bound: Floats


def best_orders(orders: Orders, weights: Floats, *, stops: bool = False, wide: int = WIDE) -> Best:
    """Seek the best order of every problem; weights (rank,) must not rise.

    Cost: at most WIDE x documents x ranks per problem; where the first narrow search meets the bound, NARROW.
    """
    n_docs = orders.alone.shape[1]
    weights = weights[: max(n_docs, 1)]
    highest = np.where(orders.there, np.maximum(orders.alone, orders.most_after().max(axis=1, initial=0.0)), -1.0)
    by_highest = np.argsort(-highest, axis=1, kind="stable")
    orders, highest = _sorted(orders, by_highest), np.take_along_axis(highest, by_highest, axis=1)
    ceiling = value_of(np.maximum(highest, 0.0)[:, : len(weights)], weights, stops=stops)
    rests = walks_from(orders.most_after(), weights, stops=stops)
    value = np.zeros(len(highest))
    bound = np.minimum(ceiling, best_walks(np.where(orders.there, orders.alone, 0.0), rests[0], weights, stops=stops))
    for width in (NARROW, wide):
        open_still = np.flatnonzero(bound > value * (1 + CLOSE) + CLOSE)
        step = max(1, CELLS // (width * max(n_docs, 1)))
        for start in range(0, len(open_still), step):
            chosen = open_still[start : start + step]
            search = Search(orders.take(chosen), highest[chosen], rests[:, chosen], weights, stops, width)
            value[chosen], lost = search.run(value[chosen])
            bound[chosen] = np.minimum(bound[chosen], np.maximum(value[chosen], lost))
    return Best(value, np.maximum(bound, value))


class States(NamedTuple):
    """Beginnings of orders, all (state,): problem, gained so far, chance to read on, first and last document, bits."""

    problem: Ints
    score: Floats
    alive: Floats
    first: Ints
    last: Ints
    used: Words

    def take(self, which: Ints | Bools) -> States:
        """Choose some."""
        return States(
            self.problem[which],
            self.score[which],
            self.alive[which],
            self.first[which],
            self.last[which],
            self.used[which],
        )


@dataclass(frozen=True, eq=False)
class Search:
    """A search of a certain width; documents are numbered from the highest utility down; highest (problem, doc).

    rests (rank, problem, doc): what no walk after a document at this rank exceeds.
    """

    orders: Orders
    highest: Floats
    rests: Floats
    weights: Floats
    stops: bool
    width: int

    def run(self, best: Floats) -> tuple[Floats, Floats]:
        """Improve the best values known (problem,); also the highest bound of what was given up for want of width."""
        n_problems, best, lost = len(best), best.copy(), np.zeros(len(best))
        none = np.zeros(n_problems, dtype=np.int64)
        states = States(
            np.arange(n_problems), np.zeros(n_problems), np.ones(n_problems), none, none, none.astype(np.uint64)
        )
        for rank in range(len(self.weights)):
            states, bound = self._longer(states, rank)
            np.maximum.at(best, states.problem, states.score)
            hopeful = bound > best[states.problem] * (1 + CLOSE) + CLOSE
            states, bound = states.take(hopeful), bound[hopeful]
            if not len(bound):
                break
            kept = self._undominated(states)
            states, bound = self._fitting(states.take(kept), bound[kept], lost)
        return best, lost

    def _longer(self, states: States, rank: int) -> tuple[States, Floats]:
        """Add every document that is free to every order -> orders and their bounds."""
        bits = np.uint64(1) << np.arange(self.highest.shape[1], dtype=np.uint64)
        free = self.orders.there[states.problem] & ((states.used[:, None] & bits) == 0)
        utility = self._utility(states, rank)
        rest = self._rest_without(states.problem, free, rank)
        state, doc = np.nonzero(free)
        gain, alive, problem = utility[state, doc], states.alive[state], states.problem[state]
        score = states.score[state] + alive * self.weights[rank] * gain
        alive = alive * (1 - gain) if self.stops else alive
        used = states.used[state] | self.orders.clash[problem, doc]
        first = doc if rank == 0 else states.first[state]
        most = np.minimum(rest[state, doc], self.rests[rank, problem, doc])
        return States(problem, score, alive, first, doc, used), score + alive * most

    def _utility(self, states: States, rank: int) -> Floats:
        """Utility of every document at this rank -> (state, doc)."""
        if rank == 0:
            return self.orders.alone[states.problem]
        after = self.orders.after[states.problem, states.last]
        if self.orders.first is None or self.orders.unknown is None:
            return after
        unknown = self.orders.unknown[states.problem, states.last]
        return np.where(unknown, self.orders.first[states.problem, states.first], after)

    def _rest_without(self, problem: Ints, free: Bools, rank: int) -> Floats:
        """Bound of what follows, if a document takes this rank -> (state, doc).

        The free documents in order c_0 >= c_1 >= ...: those above the document keep their place, those below move up.
        A user who stops is bounded without taking the document away.
        """
        left = self.weights[rank + 1 :]
        n_left = min(len(left), free.shape[1])
        left = left[:n_left]
        top = np.argsort(~free, axis=1, kind="stable")[:, : n_left + 1]
        value = np.where(np.take_along_axis(free, top, axis=1), self.highest[problem[:, None], top], 0.0)
        value = np.pad(value, [(0, 0), (0, n_left + 1 - value.shape[1])])
        if self.stops:
            return np.broadcast_to(value_of(value[:, :n_left], left, stops=True)[:, None], free.shape)
        above = np.pad((value[:, :n_left] * left).cumsum(axis=1), [(0, 0), (1, 0)])
        below = np.pad((value[:, 1:] * left)[:, ::-1].cumsum(axis=1)[:, ::-1], [(0, 0), (0, 1)])
        place = np.minimum(free.cumsum(axis=1) - 1, n_left)
        return np.take_along_axis(above + below, np.maximum(place, 0), axis=1)

    def _undominated(self, states: States) -> Ints:
        """Keep the best order of the same documents with the same ends; all of them for a user who stops."""
        if self.stops:
            return np.arange(len(states.score))
        ends = states.last if self.orders.first is None else states.last * self.highest.shape[1] + states.first
        order = np.lexsort((-states.score, ends, states.used, states.problem))
        same = (
            (np.diff(states.problem[order]) == 0)
            & (np.diff(ends[order]) == 0)
            & (states.used[order][1:] == states.used[order][:-1])
        )
        return order[np.append(True, ~same)]

    def _fitting(self, states: States, bound: Floats, lost: Floats) -> tuple[States, Floats]:
        """Keep the ``width`` orders of each problem with the highest bounds; ``lost`` takes the best of the others."""
        order = np.lexsort((-states.score, -bound, states.problem))
        place = np.arange(len(order)) - np.searchsorted(states.problem[order], states.problem[order])
        kept, cut = order[place < self.width], order[place >= self.width]
        np.maximum.at(lost, states.problem[cut], bound[cut])
        return states.take(kept), bound[kept]


def _sorted(orders: Orders, place: Ints) -> Orders:
    """Number the documents anew: place (problem, doc) -> old numbers."""
    row = np.arange(len(place))[:, None]
    square = (row[:, :, None], place[:, :, None], place[:, None, :])
    bits = np.arange(place.shape[1], dtype=np.uint64)
    member = (orders.clash[row, place][:, :, None] >> place[:, None, :].astype(np.uint64)) & np.uint64(1)
    return Orders(
        orders.alone[row, place],
        orders.after[square],
        orders.there[row, place],
        (member << bits).sum(axis=2, dtype=np.uint64),
        None if orders.first is None else orders.first[square],
        None if orders.unknown is None else orders.unknown[square],
    )


def walks_from(after: Floats, weights: Floats, *, stops: bool) -> Floats:
    """Return the value of the best walk that goes on after a document at each rank -> (rank, problem, doc).

    In a walk documents may come back, so that no order exceeds it.  after (problem, given, doc), 0 where there is no
    document or it is the one given.  Cost: O(ranks x documents^2) per problem.
    """
    rests = np.zeros((len(weights), *after.shape[:2]))
    for rank in range(len(weights) - 1, 0, -1):
        going = (1 - after if stops else 1.0) * rests[rank][:, None]
        rests[rank - 1] = (weights[rank] * after + going).max(axis=2, initial=0.0)
    return rests


def best_walks(alone: Floats, rest: Floats, weights: Floats, *, stops: bool) -> Floats:
    """Return the value of the best walk -> (problem,); alone, rest (problem, doc): what follows the first rank."""
    return (weights[0] * alone + (1 - alone if stops else 1.0) * rest).max(axis=1, initial=0.0)


def value_of(utility: Floats, weights: Floats, *, stops: bool) -> Floats:
    """Value of utilities in this order; utility (..., rank) -> (...)."""
    weights = weights[: utility.shape[-1]]
    if not stops:
        return (utility * weights).sum(axis=-1)
    alive = np.ones_like(utility)
    np.cumprod(1 - utility[..., :-1], axis=-1, out=alive[..., 1:])
    return (alive * utility * weights).sum(axis=-1)
