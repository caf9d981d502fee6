"""Paired labels: the labels of two documents, by the same person or after pooling, for many pairs at once.

Labels are entries sorted by item (and person): one join serves preference tests and ranked lists.  Costs are linear in
the rows returned, times a search; there is never an assessor x item matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.kernels.ragged import offsets
from venire.types import Codes, Floats, Ints


class Entries(NamedTuple):
    """Labels by item: start (item + 1,) into who, label and weight, all (entry,); sorted by item, then who."""

    start: Ints
    who: Ints
    label: Codes
    weight: Floats


class PairedLabels(NamedTuple):
    """Two labels for a pair of items, all (row,), sorted by pair; weight of each row."""

    pair: Ints
    a: Codes
    b: Codes
    weight: Floats


def middle_entries(item: Codes, assessor: Codes, label: Codes, n_items: int) -> Entries:
    """One label per item and person; of several, the middle one (the lower of two).  O(rows log rows)."""
    order = np.lexsort((label, assessor, item))
    item, who, label = item[order], assessor[order].astype(np.int64), label[order]
    new = np.append(True, (item[1:] != item[:-1]) | (who[1:] != who[:-1]))[: len(item)]
    first = np.flatnonzero(new)
    size = np.diff(np.append(first, len(item)))
    middle = first + (size - 1) // 2
    start = offsets(np.bincount(item[first], minlength=n_items))
    return Entries(start, who[first], label[middle], np.ones(len(first)))


def pooled_entries(weights: Floats, items: Ints, n_items: int) -> Entries:
    """Labels of pooled items: weights (row, label), items (row,) in order; ``who`` numbers an item's labels."""
    row, label = np.nonzero(weights)
    start = offsets(np.bincount(items[row], minlength=n_items))
    who = np.arange(len(row)) - start[items[row]]
    return Entries(start, who, label.astype(np.int32), weights[row, label])


def by_person(entries: Entries, first: Ints, second: Ints) -> PairedLabels:
    """Pair labels that one person gave to both items; first, second (pair,) number the items."""
    n_who = int(entries.who.max(initial=0)) + 1
    item = np.repeat(np.arange(len(entries.start) - 1), np.diff(entries.start))
    key = item * n_who + entries.who
    pair, here = _expanded(entries.start, first)
    wanted = second[pair] * n_who + entries.who[here]
    there = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
    both = key[there] == wanted if len(key) else np.zeros(0, dtype=np.bool_)
    pair, here, there = pair[both], here[both], there[both]
    return PairedLabels(pair, entries.label[here], entries.label[there], entries.weight[here])


def every_two(entries: Entries, first: Ints, second: Ints) -> PairedLabels:
    """Pair every label of the first item with every label of the second, by the product of their weights."""
    pair, here = _expanded(entries.start, first)
    again, there = _expanded(entries.start, second[pair])
    pair, here = pair[again], here[again]
    weight = entries.weight[here] * entries.weight[there]
    return PairedLabels(pair, entries.label[here], entries.label[there], weight)


def _expanded(start: Ints, item: Ints) -> tuple[Ints, Ints]:
    """Every entry of every requested item -> position of the request, and the entry, both (row,)."""
    size = np.diff(start)[item]
    owner = np.repeat(np.arange(len(item)), size)
    return owner, np.arange(len(owner)) - offsets(size)[owner] + start[item][owner]


def count_wins(pairs: PairedLabels, won: Floats, weight: Floats, n_labels: int) -> Floats:
    """Count how often a label won against another, in both orientations -> (label, label).

    won, weight (pair,): the share of the first item (1, one half, 0), and how often the pair counts.
    """
    worth = pairs.weight * weight[pairs.pair]
    share = won[pairs.pair]
    cells = n_labels * n_labels
    a, b = pairs.a.astype(np.int64), pairs.b.astype(np.int64)
    one: Floats = np.bincount(a * n_labels + b, worth * share, minlength=cells).astype(np.float64)
    one += np.bincount(b * n_labels + a, worth * (1 - share), minlength=cells)
    return one.reshape(n_labels, n_labels)


def mean_preference(pairs: PairedLabels, p: Floats, n_pairs: int) -> Floats:
    """Probability that the first item is preferred, by p (label, label), averaged over rows -> (pair,); NaN if none."""
    total = np.bincount(pairs.pair, pairs.weight, minlength=n_pairs)
    preferred = np.bincount(pairs.pair, pairs.weight * p[pairs.a, pairs.b], minlength=n_pairs)
    return np.divide(preferred, total, out=np.full(n_pairs, np.nan), where=total > 0)
