r"""Ideal orders: the best order of documents whose utility depends on the document read before.

.. math:: \max_{\pi} \sum_{i=1}^{k} w_i\, u(\pi_i | \pi_{i-1}), \qquad
    \text{or, for a user who stops,} \quad \max_{\pi} \sum_i w_i\, u_i \prod_{j<i} (1 - u_j)

over orders of k documents.  Sorting by gain is not optimal once context counts (Golbus et al. 2014,
doi:10.1145/2566486.2568015, normalise without saying how).  The orders are built rank by rank, for all problems at once
(branch and bound).  An order is discarded if its bound, the rest at the highest utility that each document can have,
does not exceed the best order known; or if another order of the same documents with the same last one (and first one,
where that matters) scores more.  While a problem has at most ``WIDE`` orders, the result is exact; beyond that, the
orders with the highest bounds are continued (beam search), and the best bound that was discarded limits the error.  No
order exceeds the best walk either, in which a document may recur, and which needs no search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from venire.data.context import ISOLATION, Context, Reader, Reads
from venire.data.judgments import Items
from venire.measures.blocks import topic_blocks
from venire.measures.context.utility import Utility
from venire.measures.measure import ContextMeasure
from venire.types import Bools, Floats, Ints, Words

NARROW, SOME, WIDE, CELLS = 32, 512, 4096, 1 << 21
"""Widths of a search: the first, that of topics with too many documents, and the last; cells held at a time."""
MOST_DOCUMENTS = 48
"""How many documents of a problem are searched; 64 would be the most."""
CLOSE = 1e-12


class Orders(NamedTuple):
    """Problems in parallel.

    alone (problem, doc): utility at the first rank; after (problem, given, doc): after another document; present
    (problem, doc): whether it is a document; clash (problem, doc): bits of the documents that cannot be in the same
    order, including itself.  first (problem, first, doc), if any: utility at later ranks given the document at the
    first rank, for the pairs that are ``unknown`` (problem, given, doc).
    """

    alone: Floats
    after: Floats
    present: Bools
    clash: Words
    first: Floats | None = None
    unknown: Bools | None = None

    def take(self, problems: Ints) -> Orders:
        """Keep some of the problems."""
        return Orders._make(None if each is None else each[problems] for each in self)

    def most_after(self) -> Floats:
        """Return an upper bound of the utility after another document, 0 for no such pair -> (problem, given, doc)."""
        after = self.after
        if self.first is not None and self.unknown is not None:
            after = np.where(self.unknown, self.first.max(axis=1, initial=0.0)[:, None], after)
        possible = self.present[:, :, None] & self.present[:, None] & ~np.eye(after.shape[1], dtype=np.bool_)
        return np.where(possible, after, 0.0)


class Best(NamedTuple):
    """Value of the best order found, and an upper bound; both (problem,)."""

    value: Floats
    bound: Floats


def best_orders(orders: Orders, weights: Floats, *, stops: bool = False, wide: int = WIDE) -> Best:
    """Search the best order of every problem; weights (rank,) must not increase.

    Cost: at most WIDE x documents x ranks per problem; NARROW instead of WIDE if the first search meets the bound.
    """
    n_docs = orders.alone.shape[1]
    weights = weights[: max(n_docs, 1)]
    highest = np.where(orders.present, np.maximum(orders.alone, orders.most_after().max(axis=1, initial=0.0)), -1.0)
    by_highest = np.argsort(-highest, axis=1, kind="stable")
    orders, highest = _sorted(orders, by_highest), np.take_along_axis(highest, by_highest, axis=1)
    ceiling = value_of(np.maximum(highest, 0.0)[:, : len(weights)], weights, stops=stops)
    rests = walks_from(orders.most_after(), weights, stops=stops)
    value = np.zeros(len(highest))
    bound = np.minimum(ceiling, best_walks(np.where(orders.present, orders.alone, 0.0), rests[0], weights, stops=stops))
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
    """Prefixes of orders, all (state,): problem, score so far, chance to read on, first and last document, bits."""

    problem: Ints
    score: Floats
    alive: Floats
    first: Ints
    last: Ints
    used: Words

    def take(self, which: Ints | Bools) -> States:
        """Keep some."""
        return States._make(each[which] for each in self)


@dataclass(frozen=True, eq=False)
class Search:
    """A search of limited width; documents are numbered by descending utility; highest (problem, doc).

    rests (rank, problem, doc): upper bound of a walk after a document at this rank.
    """

    orders: Orders
    highest: Floats
    rests: Floats
    weights: Floats
    stops: bool
    width: int

    def run(self, best: Floats) -> tuple[Floats, Floats]:
        """Improve the best values known (problem,); also return the highest bound discarded because of the width."""
        n, best, lost = len(best), best.copy(), np.zeros(len(best))
        none = np.zeros(n, dtype=np.int64)
        states = States(np.arange(n), np.zeros(n), np.ones(n), none, none, none.astype(np.uint64))
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
        """Append every document that is free to every order -> orders and their bounds."""
        bits = np.uint64(1) << np.arange(self.highest.shape[1], dtype=np.uint64)
        free = self.orders.present[states.problem] & ((states.used[:, None] & bits) == 0)
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
        """Return an upper bound of what follows if a document takes this rank -> (state, doc).

        The free documents in order c_0 >= c_1 >= ...: those above the document keep their place, those below move up.
        For a user who stops, the bound includes the document itself.
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
        keys = (each[order] for each in (states.problem, ends, states.used))
        same = np.logical_and.reduce([each[1:] == each[:-1] for each in keys])
        return order[np.append(True, ~same)]

    def _fitting(self, states: States, bound: Floats, lost: Floats) -> tuple[States, Floats]:
        """Keep the ``width`` orders of each problem with the highest bounds; ``lost`` takes the best of the others."""
        order = np.lexsort((-states.score, -bound, states.problem))
        place = np.arange(len(order)) - np.searchsorted(states.problem[order], states.problem[order])
        kept, cut = order[place < self.width], order[place >= self.width]
        np.maximum.at(lost, states.problem[cut], bound[cut])
        return states.take(kept), bound[kept]


def _sorted(orders: Orders, place: Ints) -> Orders:
    """Renumber the documents: place (problem, doc) -> old numbers."""
    row = np.arange(len(place))[:, None]
    square = (row[:, :, None], place[:, :, None], place[:, None, :])
    bits = np.arange(place.shape[1], dtype=np.uint64)
    member = (orders.clash[row, place][:, :, None] >> place[:, None, :].astype(np.uint64)) & np.uint64(1)
    return Orders(
        orders.alone[row, place],
        orders.after[square],
        orders.present[row, place],
        (member << bits).sum(axis=2, dtype=np.uint64),
        None if orders.first is None else orders.first[square],
        None if orders.unknown is None else orders.unknown[square],
    )


def walks_from(after: Floats, weights: Floats, *, stops: bool) -> Floats:
    """Return the value of the best walk that continues after a document at each rank -> (rank, problem, doc).

    In a walk documents may recur, so that no order exceeds it.  after (problem, given, doc), 0 where there is no
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


MOST_PAIRS = 1 << 24
"""Up to how many pairs of a topic's documents, times judges, the bound is tightened."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Documents of the best orders: the items that each judge has a label for, seen (judge, item + 2)."""

    items: Items
    reader: Reader
    seen: Bools
    group: Ints | None


def ideals_in_context(candidates: Candidates, utility: Utility, measure: ContextMeasure) -> Best:
    """Search the best order of every topic, for every judge -> value and bound, both (judge, topic).

    Of a topic with more than MOST_DOCUMENTS, those with the highest possible utility are ordered; the bound is for all
    documents.
    """
    n_judges, n_topics = len(candidates.seen), len(candidates.items.topics)
    whole = Best(np.zeros((n_judges, n_topics)), np.zeros((n_judges, n_topics)))
    n_items_of = np.bincount(candidates.items.topic, minlength=n_topics)
    utmost = highest_utility(candidates, utility)
    for topics, item in topic_blocks(n_items_of, candidates.seen.shape[1] - 1, n_judges=n_judges * MOST_DOCUMENTS):
        best = _searched(candidates, utility, measure, item, utmost[:, item])
        if item.shape[1] > MOST_DOCUMENTS and n_judges * item.shape[1] ** 2 <= MOST_PAIRS:
            unproven = np.flatnonzero((best.bound > best.value * (1 + 2 * CLOSE)).any(axis=0))
            if len(unproven):
                # Improve the bounds by the utility of every pair of documents.
                highest, walks = _of_all_pairs(candidates, utility, measure, item[unproven], utmost[:, item[unproven]])
                again = _searched(candidates, utility, measure, item[unproven], highest)
                value = np.maximum(best.value[:, unproven], again.value)
                bound = np.minimum(np.minimum(best.bound[:, unproven], again.bound), walks)
                best.value[:, unproven], best.bound[:, unproven] = value, np.maximum(bound, value)
        for all_topics, part in zip(whole, best, strict=True):
            all_topics[:, topics] = part
    return whole


def _searched(candidates: Candidates, utility: Utility, measure: ContextMeasure, item: Ints, highest: Floats) -> Best:
    """Order the documents of topics with the highest possible utility -> value and bound, both (judge, topic).

    item (topic, slot), highest (judge, topic, slot): upper bound of the utility of each.
    """
    weights = measure.weights(np.arange(1, (measure.k or 1) + 1))
    chosen = _candidates(candidates, highest, item)
    width = WIDE if item.shape[1] <= MOST_DOCUMENTS else SOME
    best = best_orders(_orders(candidates, utility, chosen), weights, stops=measure.stops, wide=width)
    value, bound = (each.reshape(highest.shape[:2]) for each in best)
    if item.shape[1] > chosen.shape[2]:
        others = value_of(_with_another(highest, len(weights)), weights, stops=measure.stops)
        bound = np.maximum(bound, others)
    return Best(value, bound)


def _with_another(highest: Floats, k: int) -> Floats:
    """Highest utilities of k documents that are not all candidates -> (judge, topic, rank); 0 where there are none.

    highest (judge, topic, slot).  The best of the others follows the k - 1 best candidates.
    """
    top = -np.sort(-highest, axis=-1)
    if k > MOST_DOCUMENTS:
        return top[..., :k]
    found = np.concatenate([top[..., : k - 1], top[..., MOST_DOCUMENTS : MOST_DOCUMENTS + 1]], axis=-1)
    return np.where(found[..., -1:] > 0, found, 0.0)


def highest_utility(candidates: Candidates, utility: Utility) -> Floats:
    """Return an upper bound of each document's utility at any rank; 0 without a label -> (judge, item + 2)."""
    reader = candidates.reader
    highest, conditions = utility.gains.copy(), reader.conditions
    if reader.context.predictor is not None:
        highest = np.maximum(highest, utility.joined(utility.own, utility.after.max(initial=0.0)))
    judge, pair = np.nonzero(reader.rows >= 0)
    row = reader.rows[judge, pair]
    item = conditions.item[row]
    after = (conditions.shares @ utility.after)[row]
    np.maximum.at(highest, (judge, item), utility.joined(utility.own[judge, item], after))
    return np.where(candidates.seen, highest, 0.0)


def _candidates(candidates: Candidates, highest: Floats, item: Ints) -> Ints:
    """Choose the documents to order; item (topic, slot) -> (judge, topic, candidate), ``nothing`` in padding.

    highest (judge, topic, slot): upper bound of the utility of each.
    """
    nothing = candidates.seen.shape[1] - 1
    utility = np.where(candidates.seen[:, item], highest, -1.0)
    best = np.argsort(-utility, axis=-1, kind="stable")[..., :MOST_DOCUMENTS]
    chosen = np.take_along_axis(np.broadcast_to(item, utility.shape), best, axis=-1)
    present = np.take_along_axis(utility, best, axis=-1) >= 0
    return np.where(present, chosen, nothing)


def _orders(candidates: Candidates, utility: Utility, item: Ints) -> Orders:
    """Utility of every document after every other; item (judge, topic, candidate), problems judge by judge."""
    n_judges, n_topics, n_docs = item.shape
    judge = np.arange(n_judges)[:, None, None]
    present = candidates.seen[judge, item]
    reads, seen = _pairs(candidates, item, item)
    found = candidates.reader.find(reads, seen)
    shape = (n_judges * n_topics, n_docs, n_docs)
    flat = (n_judges * n_topics, n_docs)
    orders = Orders(
        utility.gains[judge, item].reshape(flat),
        utility.of_reads(reads, found).reshape(shape),
        present.reshape(flat),
        _clashes(candidates.group, item).reshape(flat),
    )
    if candidates.reader.context.backoff != "first":
        return orders
    collected = replace(candidates.reader, context=Context()).find(reads, seen)
    first = utility.of_reads(reads, collected).reshape(shape)
    return orders._replace(first=first, unknown=(found.source == ISOLATION).reshape(shape))


def _pairs(candidates: Candidates, given: Ints, item: Ints) -> tuple[Reads, Bools]:
    """Pair every item (judge, topic, doc) with every one read before (judge, topic, other) -> (judge, topic, pair).

    Also return whether there is a label for the item of each pair.
    """
    judge = np.arange(len(item))[:, None, None]
    square, flat = (*given.shape, item.shape[2]), (*given.shape[:2], given.shape[2] * item.shape[2])
    previous = np.where(candidates.seen[judge, given], given, -1)
    before, pairs, seen = (
        np.broadcast_to(each, square).reshape(flat)
        for each in (previous[..., None], item[:, :, None], candidates.seen[judge, item][:, :, None])
    )
    return Reads(np.full((1, 1, 1), 2), pairs, before, np.full((1, 1, 1), -1)), seen


def _of_all_pairs(
    candidates: Candidates, utility: Utility, measure: ContextMeasure, item: Ints, utmost: Floats
) -> tuple[Floats, Floats]:
    """Highest utility of each document (judge, topic, slot), and the best walk of each topic (judge, topic).

    item (topic, slot), utmost (judge, topic, slot): upper bound of the utility.
    Cost: O(documents^2) per topic and rank.
    """
    weights = measure.weights(np.arange(1, (measure.k or 1) + 1))
    highest, walks = np.zeros(utmost.shape), np.zeros(utmost.shape[:2])
    judge = np.arange(len(utmost))[:, None]
    for topic, docs in enumerate(item):
        alone = np.where(candidates.seen[judge, docs], utility.gains[judge, docs], 0.0)
        after = _after_all(candidates, utility, np.broadcast_to(docs, alone.shape), utmost[:, topic])
        highest[:, topic] = np.maximum(alone, after.max(axis=1))
        rest = walks_from(after, weights, stops=measure.stops)[0]
        walks[:, topic] = best_walks(alone, rest, weights, stops=measure.stops)
    return highest, walks


def _after_all(candidates: Candidates, utility: Utility, item: Ints, utmost: Floats) -> Floats:
    """Return an upper bound of the utility of each document after each other -> (judge, given, doc); 0 for none.

    item, utmost (judge, doc).
    """
    n_judges, n_docs = item.shape
    present = candidates.seen[np.arange(n_judges)[:, None], item]
    found = np.zeros((n_judges, n_docs, n_docs))
    step = max(1, CELLS // item.size)
    for start in range(0, n_docs, step):
        given = slice(start, start + step)
        reads, seen = _pairs(candidates, item[:, None, given], item[:, None])
        read = candidates.reader.find(reads, seen)
        shape = found[:, given].shape
        after = utility.of_reads(reads, read).reshape(shape)
        if candidates.reader.context.backoff == "first":
            after = np.where(read.source.reshape(shape) == ISOLATION, utmost[:, None], after)
        other = item[:, given, None] != item[:, None]
        found[:, given] = np.where(other & present[:, given, None] & present[:, None], after, 0.0)
    return found


def _clashes(group: Ints | None, item: Ints) -> Words:
    """Return the bits of the copies of each document, including itself -> (judge, topic, candidate)."""
    bits = np.uint64(1) << np.arange(item.shape[-1], dtype=np.uint64)
    if group is None:
        return np.broadcast_to(bits, item.shape)
    of = np.append(group, [-1, -2])[item]
    same = of[..., :, None] == of[..., None, :]
    return (same * bits).sum(axis=-1, dtype=np.uint64)
