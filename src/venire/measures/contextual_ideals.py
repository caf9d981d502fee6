"""What the best order of a topic's judged documents comes to, where utility depends on the document before."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from venire.data.align import topic_blocks
from venire.data.context import ISOLATION, Context, Reader, Reads
from venire.data.judgments import Items
from venire.measures.ideal_orders import (
    CELLS,
    CLOSE,
    MOST_DOCUMENTS,
    SOME,
    WIDE,
    Best,
    Orders,
    best_orders,
    best_walks,
    value_of,
    walks_from,
)
from venire.measures.measure import ContextMeasure
from venire.measures.utility import Utility
from venire.types import Bools, Floats, Ints, Words

MOST_PAIRS = 1 << 24
"""How many pairs of a topic's documents, times judges, are looked at for a closer bound."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Documents that best orders are made of: the items that each judge has a label for, seen (judge, item + 2)."""

    items: Items
    reader: Reader
    seen: Bools
    group: Ints | None


def ideals_in_context(candidates: Candidates, utility: Utility, measure: ContextMeasure) -> Best:
    """Seek the best order of every topic, for every judge -> value and bound, both (judge, topic).

    Of a topic with more than MOST_DOCUMENTS, those that can have the highest utility are ordered; the bound is that of
    all documents.
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
                _look_closer(candidates, utility, measure, item[unproven], utmost, into=(best, unproven))
        for all_topics, part in zip(whole, best, strict=True):
            all_topics[:, topics] = part
    return whole


def _searched(candidates: Candidates, utility: Utility, measure: ContextMeasure, item: Ints, highest: Floats) -> Best:
    """Order the documents of topics that can have the highest utility -> value and bound, both (judge, topic).

    item (topic, slot), highest (judge, topic, slot): what the utility of each cannot exceed.
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


def _look_closer(
    candidates: Candidates,
    utility: Utility,
    measure: ContextMeasure,
    item: Ints,
    utmost: Floats,
    *,
    into: tuple[Best, Ints],
) -> None:
    """Improve best orders of topics (topic, slot) that are not proven, by what every pair of documents is worth."""
    best, topics = into
    highest, walks = _of_all_pairs(candidates, utility, measure, item, utmost[:, item])
    again = _searched(candidates, utility, measure, item, highest)
    value = np.maximum(best.value[:, topics], again.value)
    bound = np.minimum(np.minimum(best.bound[:, topics], again.bound), walks)
    best.value[:, topics], best.bound[:, topics] = value, np.maximum(bound, value)


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
    """Return what no document's utility can exceed, wherever it stands; 0 without a label -> (judge, item + 2)."""
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

    highest (judge, topic, slot): what the utility of each cannot exceed.
    """
    nothing = candidates.seen.shape[1] - 1
    utility = np.where(candidates.seen[:, item], highest, -1.0)
    best = np.argsort(-utility, axis=-1, kind="stable")[..., :MOST_DOCUMENTS]
    chosen = np.take_along_axis(np.broadcast_to(item, utility.shape), best, axis=-1)
    there = np.take_along_axis(utility, best, axis=-1) >= 0
    return np.where(there, chosen, nothing)


def _orders(candidates: Candidates, utility: Utility, item: Ints) -> Orders:
    """Utility of every document after every other; item (judge, topic, candidate), problems judge by judge."""
    n_judges, n_topics, n_docs = item.shape
    judge = np.arange(n_judges)[:, None, None]
    there = candidates.seen[judge, item]
    reads, seen = _pairs(candidates, item, item)
    found = candidates.reader.find(reads, seen)
    shape = (n_judges * n_topics, n_docs, n_docs)
    flat = (n_judges * n_topics, n_docs)
    orders = Orders(
        utility.gains[judge, item].reshape(flat),
        utility.of_reads(reads, found).reshape(shape),
        there.reshape(flat),
        _clashes(candidates.group, item).reshape(flat),
    )
    if candidates.reader.context.backoff != "first":
        return orders
    collected = replace(candidates.reader, context=Context()).find(reads, seen)
    first = utility.of_reads(reads, collected).reshape(shape)
    return replace(orders, first=first, unknown=(found.source == ISOLATION).reshape(shape))


def _pairs(candidates: Candidates, given: Ints, item: Ints) -> tuple[Reads, Bools]:
    """Read every item (judge, topic, doc) right after every one given (judge, topic, other) -> (judge, topic, pair).

    Also whether there is a label for the item of each pair.
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

    item (topic, slot), utmost (judge, topic, slot): what no utility can exceed.
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
    """What the utility of each document of a topic after each other cannot exceed -> (judge, given, doc); 0 for none.

    item, utmost (judge, doc).  A few of those given are read at a time.
    """
    n_judges, n_docs = item.shape
    there = candidates.seen[np.arange(n_judges)[:, None], item]
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
        found[:, given] = np.where(other & there[:, given, None] & there[:, None], after, 0.0)
    return found


def _clashes(group: Ints | None, item: Ints) -> Words:
    """Bits of the documents that are copies of each, itself among them -> (judge, topic, candidate)."""
    bits = np.uint64(1) << np.arange(item.shape[-1], dtype=np.uint64)
    if group is None:
        return np.broadcast_to(bits, item.shape)
    of = np.append(group, [-1, -2])[item]
    same = of[..., :, None] == of[..., None, :]
    return (same * bits).sum(axis=-1, dtype=np.uint64)
