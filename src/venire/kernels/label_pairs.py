r"""Counts of pairs of labels on the same item, from label histograms.

An item whose labels are counted in a (first side) and b (second side) has :math:`a_i b_j` ordered pairs of a first
label i and a second label j.  Nobody is paired with themselves: for assessors on both sides, with labels counted in d
per assessor, :math:`\sum_s d_{si} d_{sj}` is subtracted.  Usually an assessor gives an item one label, and this is the
diagonal; only cells (item, assessor) with several labels need more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from venire.types import Bools, Codes, Floats, Ints

BLOCK_CELLS = 1 << 22
"""Number of cells (item x label x label) held at a time."""


class Sides(NamedTuple):
    """Labels of two sides: first, second, both (item, label); repeated cells: their item (cell,), counts (cell, label).

    both: labels by assessors on both sides; repeated: those of them who gave an item several labels, by item.
    mirrored: a label of the second side may come first too (Demeester et al. 2015, Eq. 5); a pair of assessors who
    are both on both sides still counts once in each order.  weight (first, second): of a pair, by its labels; None: 1.
    """

    first: Ints
    second: Ints
    both: Ints
    repeated_item: Ints
    repeated: Ints
    mirrored: bool = False
    weight: Floats | None = None


def histogram(item: Codes, label: Codes, shape: tuple[int, int]) -> Ints:
    """Count labels by item -> (item, label).  O(rows + items x labels)."""
    return np.bincount(item.astype(np.int64) * shape[1] + label, minlength=shape[0] * shape[1]).reshape(shape)


def repeated_cells(item: Codes, assessor: Codes, label: Codes, n_labels: int) -> tuple[Ints, Ints]:
    """Find assessors with several labels for an item -> item (cell,), counts (cell, label).

    Cost: O(rows log rows); O(rows), without copies of 64 bits, where rows ascend by item and assessor and none repeats.
    """
    if _all_later(item, assessor):
        return np.zeros(0, dtype=np.int64), np.zeros((0, n_labels), dtype=np.int64)
    key = item.astype(np.int64) * (int(assessor.max(initial=0)) + 1) + assessor
    ordered = np.sort(key)
    again = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    place = np.minimum(np.searchsorted(again, key), max(len(again) - 1, 0))
    rows = np.flatnonzero(again[place] == key) if len(again) else np.zeros(0, dtype=np.int64)
    counts = histogram(place[rows].astype(np.int32), label[rows], (len(again), n_labels))
    return again // (int(assessor.max(initial=0)) + 1), counts


def _all_later(item: Codes, assessor: Codes) -> bool:
    """Return whether every row has a later item than the one before, or the same and a later assessor."""
    later = assessor[1:] > assessor[:-1]
    later &= item[1:] == item[:-1]
    later |= item[1:] > item[:-1]
    return bool(later.all())


def pair_blocks(sides: Sides, *, by_item: bool = False) -> Iterator[tuple[slice, Floats]]:
    """Count ordered pairs of labels, a block of items at a time: which items, and (item, first, second).

    by_item: divide by the item's number of pairs, so that every item weighs the same.
    """
    n_items, n_labels = sides.first.shape
    step = max(1, BLOCK_CELLS // n_labels**2)
    for begin in range(0, n_items, step):
        block = slice(begin, min(begin + step, n_items))
        pairs = _products(sides.first[block], sides.second[block])
        _without_own(pairs, sides, block)
        if sides.mirrored:
            pairs = pairs + pairs.transpose(0, 2, 1)
            if sides.both[block].any():
                pairs -= _without_own(_products(sides.both[block], sides.both[block]), sides, block)
        if by_item:
            pairs /= np.maximum(pairs.sum(axis=(1, 2), keepdims=True), 1.0)
        if sides.weight is not None:
            pairs = pairs * sides.weight
        yield block, pairs


def _products(first: Ints, second: Ints) -> Floats:
    """Multiply the counts of both sides -> (item, first, second)."""
    return (first[:, :, None] * second[:, None, :]).astype(np.float64)


def _without_own(pairs: Floats, sides: Sides, block: slice) -> Floats:
    """Subtract, in place, the pairs of an assessor's labels with each other."""
    diagonal = np.arange(pairs.shape[1])
    pairs[:, diagonal, diagonal] -= sides.both[block]
    cells = slice(*np.searchsorted(sides.repeated_item, [block.start, block.stop]))
    own = sides.repeated[cells]
    twice = own[:, :, None] * own[:, None, :]
    twice[:, diagonal, diagonal] -= own
    item, first = np.unique(sides.repeated_item[cells], return_index=True)
    if len(item):
        pairs[item - block.start] -= np.add.reduceat(twice, first)
    return pairs


class PairSums(NamedTuple):
    """Sums over items: pairs by topic (topic, first, second), and moments over items, for the spread of a ratio.

    n the pairs of an item that begin with a label, h those of them that end in a relevant one: square (label,) is the
    sum of n n, cross and hits (relevant, label) those of h n and h h; n_items (label,) how many items have any.
    """

    by_topic: Floats
    square: Floats
    cross: Floats
    hits: Floats
    n_items: Ints


def pair_sums(sides: Sides, topic: Codes, n_topics: int, relevant: Bools, *, by_item: bool = False) -> PairSums:
    """Sum up ordered pairs; topic (item,), relevant (relevant, label).

    Cost: O(items x labels^2), least where the items of a topic stand together; memory: a block of items, and the sums.
    """
    n_labels = sides.first.shape[1]
    by_topic = np.zeros((n_topics, n_labels, n_labels))
    square, n_items = np.zeros(n_labels), np.zeros(n_labels, dtype=np.int64)
    cross, hits = np.zeros((2, len(relevant), n_labels))
    marks = np.vstack([np.ones(n_labels), relevant])
    for block, pairs in pair_blocks(sides, by_item=by_item):
        start = _runs(topic[block])
        np.add.at(by_topic, topic[block][start], np.add.reduceat(pairs, start, axis=0))
        n, *h = (pairs.reshape(-1, n_labels) @ marks.T).T.reshape(len(marks), -1, n_labels)
        square += (n * n).sum(axis=0)
        cross += [(each * n).sum(axis=0) for each in h]
        hits += [(each * each).sum(axis=0) for each in h]
        n_items += (n > 0).sum(axis=0)
    return PairSums(by_topic, square, cross, hits, n_items)


def _runs(codes: Codes) -> Ints:
    """Where each run of equal codes begins -> (run,)."""
    return np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
