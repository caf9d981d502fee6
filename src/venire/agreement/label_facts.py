"""LabelFacts: the small facts of agreement, by topic: items by pattern of labels, labels by assessor, pairs of labels.

Coefficients of all assessors (``table.BY_PATTERN``) need to know how many items have each pattern of labels.  Those of
every two assessors need, by topic, how often each assessor gave each label, and how often two of them gave an item
which two labels.  A part has all labels of its items (``venire.engine.seam``), and counts add up.

The size of these facts does not grow with the items, but with topics x assessors^2 x labels^2.  Intervals that draw
items need to know all labels of each item, so they are computed from judgments only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from venire.agreement.cohen import LabelPairs, PairCounts, label_pairs
from venire.agreement.intervals import Resampling
from venire.agreement.kappa import AssessorSums, units_of
from venire.agreement.patterns import LabelPatterns, Patterns, group_table, label_patterns
from venire.data.ids import in_natural_order
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.engine.seam import places, united
from venire.types import Codes, Ints


@dataclass(frozen=True, eq=False)
class LabelFacts:
    """Counts by topic: of items with each pattern, of labels by assessor, and of pairs of labels by two assessors.

    topic, pattern, n_items (entry,); patterns (pattern, label), in the order in which ``patterns_of`` numbers them: by
    how many of the highest label they have, then of the next.  assessors: who gave labels; sharing: who judged items
    that others judged.  labels (entry, 4): topic, assessor, label, number; pairs (entry, 6): topic, two assessors,
    their labels, number.  Both are empty where assessors are not counted.
    """

    topics: tuple[str, ...]
    assessors: tuple[str, ...]
    sharing: tuple[str, ...]
    patterns: Ints
    topic: Codes
    pattern: Codes
    n_items: Ints
    labels: Ints
    pairs: Ints

    def table(self, scale: Scale) -> LabelPatterns:
        """Return the label patterns, from which coefficients are computed."""
        where, label = np.nonzero(self.patterns)
        start = np.append(0, np.cumsum((self.patterns > 0).sum(axis=1)))
        n_items = np.bincount(self.pattern, self.n_items, minlength=len(self.patterns)).astype(np.int64)
        found = Patterns(start, label, self.patterns[where, label], n_items, len(scale))
        nobody = np.zeros(0, dtype=np.int32)
        about = (len(self.topics), len(self.assessors), self.n_items, len(self.sharing))
        return LabelPatterns(
            scale, nobody, self.topic, self.pattern.astype(np.int64), found, found.table(), found.size, *about
        )

    def pair_counts(self, table: LabelPatterns, asked: Resampling, n_assessors: int) -> PairCounts:
        """Return the labels of every two assessors on the same item by unit, as ``cohen.pair_counts`` does."""
        units = units_of(table, asked)
        topic, first, second, one, other, n = self.pairs.T
        unit = units.of_topic[topic].astype(np.int64)
        known = unit >= 0
        pairs = LabelPairs(unit, first, second, one, other, n.astype(np.float64))
        return PairCounts.of(LabelPairs(*(each[known] for each in pairs)), n_assessors, units.source)

    def assessor_sums(self, table: LabelPatterns, asked: Resampling, n_assessors: int) -> AssessorSums:
        """Return labels by unit and assessor, as ``kappa.assessor_sums`` does."""
        units = units_of(table, asked)
        shape, n_units = (n_assessors, len(table.scale)), len(units.source.whole)
        topic, who, label, n = self.labels.T
        unit = units.of_topic[topic]
        cell = np.where(unit >= 0, who * shape[1] + label, -1)
        labels = group_table(np.maximum(unit, 0), cell, (n_units, shape[0] * shape[1]), n)
        return AssessorSums.of(labels, table, units, shape)


@dataclass(frozen=True)
class CountLabels:
    """The job of agreement; assessors: the names of all, for counts by assessor, or none to do without these."""

    assessors: tuple[str, ...] = ()
    together: ClassVar[Mapping[str, tuple[str, ...]]] = {"judgments": ("topic", "doc")}

    def facts(self, part: Judgments) -> LabelFacts:
        """Count the items, labels and pairs of a part."""
        table = label_patterns(part)
        n_patterns = len(table.size)
        labelled = table.pattern >= 0
        cell, n_items = np.unique(
            table.topic[labelled].astype(np.int64) * n_patterns + table.pattern[labelled], return_counts=True
        )
        counts = np.zeros((n_patterns, len(part.scale)), dtype=np.int64)
        counts[np.repeat(np.arange(n_patterns), np.diff(table.patterns.start)), table.patterns.label] = (
            table.patterns.times
        )
        shared = table.paired[table.pattern[table.item]]
        codes = part.assessor.codes
        who, sharing = (tuple(part.assessor.names[n] for n in np.unique(each)) for each in (codes, codes[shared]))
        topic, pattern = (each.astype(np.int32) for each in np.divmod(cell, n_patterns))
        return LabelFacts(part.topics, who, sharing, counts, topic, pattern, n_items, *self._by_assessor(part, table))

    def _by_assessor(self, part: Judgments, table: LabelPatterns) -> tuple[Ints, Ints]:
        """Count labels by topic and assessor, and pairs of labels by topic and two assessors."""
        if not self.assessors:
            return np.zeros((0, 4), dtype=np.int64), np.zeros((0, 6), dtype=np.int64)
        who = places(part.assessors, self.assessors)[part.assessor.codes].astype(np.int64)
        topic = table.topic[table.item].astype(np.int64)
        given = np.column_stack([topic, who, part.label, np.ones(len(who), dtype=np.int64)])
        pairs = label_pairs(table, table.topic, who, part.label, len(self.assessors))
        return summed(given), summed(np.column_stack(pairs).astype(np.int64))

    def merged(self, facts: Sequence[LabelFacts]) -> LabelFacts:
        """Add up the counts of all parts."""
        topics = united((each.topics for each in facts), in_natural_order)
        every = np.concatenate([each.patterns for each in facts])
        order = np.lexsort(every.T)
        new = np.append(True, (every[order[1:]] != every[order[:-1]]).any(axis=1))[: len(order)]
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(new) - 1
        first = np.cumsum([0, *(len(each.patterns) for each in facts)])
        counted = [
            np.column_stack([each.topic, number[begin + each.pattern], each.n_items])
            for each, begin in zip(facts, first[:-1], strict=True)
        ]
        topic_of = [places(each.topics, topics).astype(np.int64) for each in facts]

        def added(rows: list[Ints]) -> Ints:
            """Add up rows of all parts, whose first column is the topic."""
            moved = [np.column_stack([at[each[:, 0]], each[:, 1:]]) for at, each in zip(topic_of, rows, strict=True)]
            return summed(np.concatenate(moved))

        items = added(counted)
        labels, pairs = added([each.labels for each in facts]), added([each.pairs for each in facts])
        who, sharing = (united(getattr(each, name) for each in facts) for name in ("assessors", "sharing"))
        topic, pattern = (each.astype(np.int32) for each in items.T[:2])
        return LabelFacts(topics, who, sharing, every[order[new]], topic, pattern, items[:, 2], labels, pairs)


def summed(rows: Ints) -> Ints:
    """Add up the last column of rows that agree in the others, by which they are then ordered."""
    order = np.lexsort(rows[:, -2::-1].T)
    rows = rows[order]
    new = np.append(True, (rows[1:, :-1] != rows[:-1, :-1]).any(axis=1))[: len(rows)]
    if not len(rows):
        return rows
    begin = np.flatnonzero(new)
    return np.column_stack([rows[begin, :-1], np.add.reduceat(rows[:, -1], begin)])
