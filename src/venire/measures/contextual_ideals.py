"""What the best order of a topic's judged documents comes to, where utility depends on the document before."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from venire.data.align import topic_blocks
from venire.data.context import ISOLATION, Context, Reader, Reads
from venire.data.judgments import Items
from venire.measures.ideal_orders import MOST_DOCUMENTS, SOME, WIDE, Best, Orders, best_orders, value_of
from venire.measures.measure import ContextMeasure
from venire.measures.utility import Utility
from venire.types import Bools, Floats, Ints, Words


@dataclass(frozen=True, eq=False)
class Candidates:
    """Documents that best orders are made of: the items that each judge has a label for, seen (judge, item + 2)."""

    items: Items
    reader: Reader
    seen: Bools
    group: Ints | None


def ideals_in_context(candidates: Candidates, utility: Utility, measure: ContextMeasure) -> Best:
    """Seek the best order of every topic, for every judge -> value and bound, both (judge, topic).

    Of a topic with more than MOST_DOCUMENTS, those with the highest gains in isolation are ordered; the bound is that
    of all documents.
    """
    n_judges, n_topics = len(candidates.seen), len(candidates.items.topics)
    value, bound = np.zeros((n_judges, n_topics)), np.zeros((n_judges, n_topics))
    n_items_of = np.bincount(candidates.items.topic, minlength=n_topics)
    weights = measure.weights(np.arange(1, (measure.k or 1) + 1))
    highest = highest_utility(candidates, utility)
    for topics, item in topic_blocks(n_items_of, candidates.seen.shape[1] - 1, n_judges=n_judges * MOST_DOCUMENTS):
        chosen = _candidates(candidates, utility, item)
        width = WIDE if item.shape[1] <= MOST_DOCUMENTS else SOME
        best = best_orders(_orders(candidates, utility, chosen), weights, stops=measure.stops, wide=width)
        value[:, topics] = best.value.reshape(n_judges, -1)
        bound[:, topics] = best.bound.reshape(n_judges, -1)
        if item.shape[1] > chosen.shape[2]:
            more = candidates.seen[:, item].sum(axis=-1) > MOST_DOCUMENTS
            top = -np.sort(-highest[:, item], axis=-1)[..., : len(weights)]
            bound[:, topics] = np.where(more, value_of(top, weights, stops=measure.stops), bound[:, topics])
    return Best(value, bound)


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


def _candidates(candidates: Candidates, utility: Utility, item: Ints) -> Ints:
    """Choose the documents to order; item (topic, slot) -> (judge, topic, candidate), ``nothing`` in padding."""
    nothing = candidates.seen.shape[1] - 1
    gains = np.where(candidates.seen[:, item], utility.gains[:, item], -1.0)
    best = np.argsort(-gains, axis=-1, kind="stable")[..., :MOST_DOCUMENTS]
    chosen = np.take_along_axis(np.broadcast_to(item, gains.shape), best, axis=-1)
    there = np.take_along_axis(gains, best, axis=-1) >= 0
    return np.where(there, chosen, nothing)


def _orders(candidates: Candidates, utility: Utility, item: Ints) -> Orders:
    """Utility of every document after every other; item (judge, topic, candidate), problems judge by judge."""
    n_judges, n_topics, n_docs = item.shape
    judge = np.arange(n_judges)[:, None, None]
    there = candidates.seen[judge, item]
    given = np.where(there, item, -1)[..., None]
    square = (n_judges, n_topics, n_docs * n_docs)
    pairs = np.broadcast_to(item[:, :, None, :], (*item.shape, n_docs)).reshape(square)
    previous = np.broadcast_to(given, (*item.shape, n_docs)).reshape(square)
    reads = Reads(np.full((1, 1, 1), 2), pairs, previous, np.full((1, 1, 1), -1))
    seen = np.broadcast_to(there[:, :, None, :], (*item.shape, n_docs)).reshape(square)
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


def _clashes(group: Ints | None, item: Ints) -> Words:
    """Bits of the documents that are copies of each, itself among them -> (judge, topic, candidate)."""
    bits = np.uint64(1) << np.arange(item.shape[-1], dtype=np.uint64)
    if group is None:
        return np.broadcast_to(bits, item.shape)
    of = np.append(group, [-1, -2])[item]
    same = of[..., :, None] == of[..., None, :]
    return (same * bits).sum(axis=-1, dtype=np.uint64)
