r"""Label patterns: items with the same counts of labels are one pattern, with a number of items.

Statistics of agreement depend on an item only by its counts of labels.  Few such histograms are different (126 for five
labels on five grades), so sums over a million items are sums over patterns, and a resample of items is a multinomial
draw over patterns.

Histograms are numbered exactly in one of two ways.  With k the most labels on an item and L grades, a histogram is a
number with L digits in base k + 1, the sum of :math:`(k + 1)^l` over the labels l of the item; where that stays below
:math:`2^{53}` nothing is sorted.  Otherwise the labels of an item in ascending order are read as a number in base
L + 1, renumbered before it would overflow.

An assessor counts once for an item: several labels by one assessor on an item are refused, as agreement with oneself is
not agreement between assessors (``consistency`` measures it).  ``judgments.anonymous()`` treats every label as another
person's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from venire.agreement.distance import Distance, label_values
from venire.agreement.intervals import (
    Coefficient,
    Options,
    Resampling,
    Source,
    Values,
    chosen_units,
    coefficient,
    estimated,
)
from venire.data.judgments import Judgments
from venire.data.label_pairs import distinct_items, refuse_mixed
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, PairsError, reasons
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.kernels.distinct import numbered
from venire.randomness import topic_weights
from venire.types import Bools, Codes, Floats, Ints

EXACT = 1 << 53
"""Whole numbers below this add up exactly in double precision."""
LARGEST = 1 << 62
BLOCK_ROWS = 1 << 20
DENSE_CELLS = 1 << 21
"""A table with more cells than this is kept sparse."""
ITEMS_PER_BINOMIAL = 10
"""Drawing one binomial number takes about as long as drawing this many items."""


class Patterns(NamedTuple):
    """Distinct histograms: pattern p has label[e] times[e] times for e in start[p]:start[p + 1].

    start (pattern + 1,); label, times (entry,), labels ascending within a pattern; n_items (pattern,).
    """

    start: Ints
    label: Ints
    times: Ints
    n_items: Ints
    n_labels: int

    @property
    def size(self) -> Ints:
        """How many labels an item of each pattern has -> (pattern,)."""
        sums: Ints = np.add.reduceat(self.times, self.start[:-1]) if len(self.times) else self.n_items[:0]
        return sums

    def table(self) -> Any:
        """Counts as a matrix (pattern, label) of float64: an array, or a sparse one where that would be large."""
        shape = (len(self.n_items), self.n_labels)
        if shape[0] * shape[1] > DENSE_CELLS:
            from scipy.sparse import csr_array

            return csr_array((self.times.astype(np.float64), self.label, self.start), shape=shape)
        dense = np.zeros(shape)
        dense[np.repeat(np.arange(shape[0]), np.diff(self.start)), self.label] = self.times
        return dense


def patterns_of(item: Codes, label: Codes, shape: tuple[int, int]) -> tuple[Patterns, Ints]:
    """Collapse items to patterns; item, label (row,), shape: numbers of items and labels.

    Returns the patterns and which of them each item has (item,), -1 for an item without labels.
    Cost: O(rows + items log items), or O(rows log rows) where there are many labels; memory linear in both.
    """
    n_items, n_labels = shape
    usual = 2 * -(-len(item) // max(n_items, 1)) + 2
    found = _by_digits(item, label, shape, usual) if usual**n_labels <= EXACT else None
    if found is not None:
        return found
    size = _by_item(item, None, n_items)
    found = _by_digits(item, label, shape, int(size.max(initial=0)) + 1)
    return found or _by_order(item, label, size.astype(np.int64), n_labels)


def _by_item(item: Codes, values: tuple[Codes, Floats] | None, n_items: int) -> Floats:
    """Count rows by item, or sum the values of their labels -> (item,); a block of rows at a time avoids copies.

    values: label (row,) and the value of each label (label,).
    """
    total = np.zeros(n_items)
    for begin in range(0, len(item), BLOCK_ROWS):
        block = slice(begin, begin + BLOCK_ROWS)
        total += np.bincount(item[block], None if values is None else values[1][values[0][block]], minlength=n_items)
    return total


def _by_digits(item: Codes, label: Codes, shape: tuple[int, int], base: int) -> tuple[Patterns, Ints] | None:
    """Patterns of items whose histogram is a number in this base; None where the base is too small, or too large.

    Where a digit overflows, the digits of all items add up to less than there are labels.
    """
    n_labels = shape[1]
    if base**n_labels > EXACT:
        return None
    key = _by_item(item, (label, base ** np.arange(n_labels, dtype=np.float64)), shape[0])
    found, pattern = numbered(key.astype(np.int64))
    n_items = np.bincount(pattern, minlength=len(found))
    digits = found[:, None] // base ** np.arange(n_labels) % base
    if digits.sum(axis=1) @ n_items != len(item) or int(found[-1:].max(initial=0)) >= base**n_labels:
        return None
    if len(found) and found[0] == 0:  # items without labels
        digits, n_items, pattern = digits[1:], n_items[1:], pattern - 1
    where, which = np.nonzero(digits)
    start = np.append(0, np.cumsum((digits > 0).sum(axis=1)))
    return Patterns(start, which, digits[where, which], n_items, n_labels), pattern


def _by_order(item: Codes, label: Codes, size: Ints, n_labels: int) -> tuple[Patterns, Ints]:
    """Patterns of items by their labels in ascending order; size (item,) how many labels an item has."""
    ordered = np.sort(item.astype(np.int64) * n_labels + label) % n_labels
    begin = np.append(0, np.cumsum(size))[:-1]
    by_size = np.argsort(-size, kind="stable")
    code, span = np.zeros(len(size), dtype=np.int64), 1
    for place in range(int(size.max(initial=0))):
        active = by_size[: np.searchsorted(-size[by_size], -place)]
        if span * (n_labels + 1) >= LARGEST // (len(size) + 1):
            code[active] = numbered(code[active])[1]
            span = len(active)
        code[active] = code[active] * (n_labels + 1) + ordered[begin[active] + place] + 1
        span *= n_labels + 1
    labelled = size > 0
    rank = numbered(code[labelled])[1]
    key = rank * (int(size.max(initial=0)) + 1) + size[labelled]
    _, first, which, n_items = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    pattern = np.full(len(size), -1, dtype=np.int64)
    pattern[labelled] = which
    chosen = np.flatnonzero(labelled)[first]
    return _from_rows(ordered, begin[chosen], size[chosen], n_items, n_labels), pattern


def _from_rows(ordered: Ints, begin: Ints, size: Ints, n_items: Ints, n_labels: int) -> Patterns:
    """Patterns of the items whose labels are ordered[begin:begin + size]; begin, size (pattern,)."""
    pattern = np.repeat(np.arange(len(size)), size)
    row = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size) + begin[pattern]
    key, count = np.unique(pattern * n_labels + ordered[row], return_counts=True)
    start = np.searchsorted(key, np.arange(len(size) + 1) * n_labels)
    return Patterns(start, key % n_labels, count, n_items, n_labels)


def group_table(group: Codes | Ints, pattern: Ints, shape: tuple[int, int], times: Ints | None = None) -> Any:
    """How many items of each pattern each group has; group, pattern (item,), pattern -1 left out -> (group, pattern).

    times: how many items each entry stands for; None: one.  A matrix of float64: an array, or a sparse one where that
    would be large.
    """
    present = pattern >= 0
    key = group[present].astype(np.int64) * shape[1] + pattern[present]
    weight = None if times is None else times[present].astype(np.float64)
    if shape[0] * shape[1] <= DENSE_CELLS:
        return np.bincount(key, weight, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
    from scipy.sparse import csr_array

    cell, place = np.unique(key, return_inverse=True)
    times = np.bincount(place, weight)
    return csr_array((times.astype(np.float64), (cell // shape[1], cell % shape[1])), shape=shape)


def pattern_weights(n_items: Ints, n_draws: int, rng: np.random.Generator) -> Floats:
    """How often items of each pattern (pattern,) are in a resample of as many items -> (draw, pattern).

    A multinomial draw; item by item, which is quicker, where nearly every item has a pattern of its own.
    """
    n, n_patterns = int(n_items.sum()), len(n_items)
    if n_patterns * ITEMS_PER_BINOMIAL < n:
        return rng.multinomial(n, n_items / n, size=n_draws).astype(np.float64)
    pattern = np.repeat(np.arange(n_patterns), n_items)
    drawn = np.empty((n_draws, n_patterns))
    for weights in drawn:
        weights[:] = np.bincount(pattern[rng.integers(n, size=n, dtype=np.int32)], minlength=n_patterns)
    return drawn


def weighted_pairs(table: Any, weight: Floats) -> Floats:
    r"""Sum weight over the ordered pairs of labels of an item, :math:`\sum_{ij} n_i n_j w_{ij}` -> (pattern,).

    table (pattern, label), weight (label, label).  Cost: patterns x labels^2; never more than a block of patterns.
    """
    total = np.empty(table.shape[0])
    step = max(1, DENSE_CELLS // table.shape[1])
    for begin in range(0, len(total), step):
        block = table[begin : begin + step]
        product = block @ weight
        total[begin : begin + step] = (
            np.einsum("ij,ij->i", block, product)
            if isinstance(block, np.ndarray)
            else block.multiply(product).sum(axis=1)
        )
    return total


NO_PAIRS = "no item has labels by two assessors"
ONE_LABEL = "all labels that can be compared are the same, so no disagreement is expected by chance"


@dataclass(frozen=True, eq=False)
class LabelPatterns:
    """Items by pattern of labels: item (row,), topic, pattern (item,); values (label,); table (pattern, label).

    Where items are counted only (``label_facts``), times is how many of them each topic and pattern stands for, and
    n_sharing how many assessors judged items that others judged.
    """

    scale: Scale
    item: Codes
    topic: Codes
    pattern: Ints
    patterns: Patterns
    table: Any
    size: Ints
    n_topics: int
    n_raters: int
    times: Ints | None = None
    n_sharing: int = 0

    @property
    def values(self) -> Floats:
        """Labels as numbers -> (label,)."""
        return label_values(self.scale)

    @property
    def paired(self) -> Bools:
        """Whether items of a pattern have two labels or more -> (pattern,)."""
        return self.size >= 2

    @property
    def n_items(self) -> int:
        """How many items have two labels or more."""
        return int(self.patterns.n_items[self.paired].sum())

    @cached_property
    def occurring(self) -> Bools:
        """Which labels were given at all -> (label,)."""
        return np.bincount(self.patterns.label, minlength=len(self.scale)) > 0

    def source(self, units: str | None) -> Source:
        """Return how patterns are resampled: by items, or by topics, of which those without pairs stay as they are."""
        n_items = self.patterns.n_items
        by_topic = group_table(self.topic, self.pattern, (self.n_topics, len(self.size)), self.times)
        with_pairs = np.asarray(by_topic @ self.paired.astype(np.float64)) > 0
        by_topic = by_topic if with_pairs.all() else by_topic[np.flatnonzero(with_pairs)]
        n_topics, rest = by_topic.shape[0], n_items - np.asarray(by_topic.sum(axis=0)).ravel()

        def draw_items(n_draws: int, rng: np.random.Generator) -> Floats:
            return pattern_weights(n_items, n_draws, rng)

        def draw_topics(n_draws: int, rng: np.random.Generator) -> Floats:
            return np.asarray(topic_weights(n_topics, n_draws, rng) @ by_topic) + rest

        whole = n_items.astype(np.float64)
        if chosen_units(units, n_topics) == "topics":
            return Source(whole, by_topic, draw_topics, n_topics, "topics")
        return Source(whole, by_topic, draw_items, self.n_items, "items")

    def distances(self, distance: Distance) -> Floats:
        """Distances of labels that do not depend on how often they are given -> (label, label)."""
        return distance(self.values, self.marginals(self.patterns.n_items[None].astype(np.float64))[0])

    def marginals(self, weights: Floats) -> Floats:
        """How often labels are given, on items with two or more: weights (draw, pattern) -> (draw, label)."""
        return np.asarray((weights * self.paired) @ self.table)

    def pair_means(self, distances: Floats) -> Floats:
        """Mean distance of two labels of an item -> (pattern,); 0 where it has one."""
        size = self.size.astype(np.float64)
        return weighted_pairs(self.table, distances) / np.where(self.paired, size * (size - 1), 1.0) * self.paired

    def coefficient(
        self,
        name: str,
        level: str,
        values: Values,
        how: Options,
        *,
        meaning: str,
        source: Source | None = None,
        reason: str | None = None,
    ) -> Coefficient:
        """Estimate a statistic of all assessors; reason: why it is undefined where it is."""
        asked = Resampling(**how)
        found = estimated(values, source or self.source(asked.resample), asked)
        reason = reason or (ONE_LABEL if self.paired.any() else NO_PAIRS)
        about: dict[str, Any] = {"raters": "all", "n_items": self.n_items, "n_raters": self.n_raters}
        return coefficient(found, name=name, level=level, meaning=meaning, reason=reason, **about)


def label_patterns(judgments: JudgmentsLike | LabelPatterns) -> LabelPatterns:
    """Collapse judgments to label patterns, which several statistics can share.

    Cost: O(rows log rows); memory linear in rows and items.
    """
    if isinstance(judgments, LabelPatterns):
        return judgments
    judgments = as_judgments(judgments)
    refuse_mixed(judgments)
    if len(judgments) == 0:
        raise PairsError("there is no label to compare", hint=reasons(judgments.notes))
    item, topic = distinct_items(judgments)
    refuse_repeats(judgments, item)
    patterns, pattern = patterns_of(item, judgments.label, (len(topic), len(judgments.scale)))
    n_topics, n_raters = len(judgments.items.topics), len(np.unique(judgments.assessor.codes))
    return LabelPatterns(
        judgments.scale, item, topic, pattern, patterns, patterns.table(), patterns.size, n_topics, n_raters
    )


def first_repeat(item: Codes, assessor: Codes) -> tuple[int, int] | None:
    """Return an item and an assessor who gave it several labels, or None; item, assessor (row,).  O(rows log rows)."""
    n_assessors = int(assessor.max(initial=0)) + 1
    small = (int(item.max(initial=0)) + 1) * n_assessors < 1 << 31
    key: Any = item.astype(np.int32 if small else np.int64)
    key *= n_assessors
    key += assessor
    key.sort()
    again = key[1:] == key[:-1]
    if not again.any():
        return None
    found = int(key[np.argmax(again)])
    return found // n_assessors, found % n_assessors


def refuse_repeats(judgments: Judgments, item: Codes) -> None:
    """Refuse several labels by one assessor for an item; item (row,)."""
    found = first_repeat(item, judgments.assessor.codes)
    if found is None:
        return
    row = int(np.argmax(item == found[0]))
    doc, topic = judgments.items.doc[judgments.item[row]], judgments.column("topic").codes[row]
    raise AmbiguousLabels(
        f"assessor {judgments.assessors[found[1]]!r} gave several labels for document {doc!r} of topic "
        f"{judgments.topics[topic]!r}, and agreement is between assessors",
        hint="keep the first or the last of them when reading, treat every label as another person's with "
        "anonymous(), or measure the agreement of assessors with themselves (consistency)",
    )
