"""PatternFacts: how many items of each topic have each pattern of labels; the small facts of agreement.

Krippendorff's alpha, Fleiss' kappa, Gwet's coefficient and raw agreement, with their intervals, need nothing else.  A
part has all labels of its items (``venire.engine.seam``).  Coefficients of pairs of assessors need to know who judged
what, and are computed from judgments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from venire.agreement.patterns import LabelPatterns, Patterns, label_patterns
from venire.data.ids import in_natural_order
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.engine.seam import places, united
from venire.types import Codes, Ints


@dataclass(frozen=True, eq=False)
class PatternFacts:
    """Counts of items by topic and pattern: topic, pattern, n_items (entry,); patterns (pattern, label).

    Patterns come in the order in which ``patterns_of`` numbers them: by how many of the highest label they have, then
    of the next.
    """

    topics: tuple[str, ...]
    assessors: tuple[str, ...]
    patterns: Ints
    topic: Codes
    pattern: Codes
    n_items: Ints

    def table(self, scale: Scale) -> LabelPatterns:
        """Return the label patterns, from which coefficients are computed."""
        where, label = np.nonzero(self.patterns)
        start = np.append(0, np.cumsum((self.patterns > 0).sum(axis=1)))
        n_items = np.bincount(self.pattern, self.n_items, minlength=len(self.patterns)).astype(np.int64)
        found = Patterns(start, label, self.patterns[where, label], n_items, len(scale))
        nobody = np.zeros(0, dtype=np.int32)
        about = (len(self.topics), len(self.assessors), self.n_items)
        return LabelPatterns(
            scale, nobody, self.topic, self.pattern.astype(np.int64), found, found.table(), found.size, *about
        )


@dataclass(frozen=True)
class CountPatterns:
    """The job of agreement: count the items of a part by topic and pattern of labels."""

    together: ClassVar[Mapping[str, tuple[str, ...]]] = {"judgments": ("topic", "doc")}

    def facts(self, part: Judgments) -> PatternFacts:
        """Count the items of a part."""
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
        who = tuple(part.assessor.names[n] for n in np.unique(part.assessor.codes).tolist())
        topic, pattern = (each.astype(np.int32) for each in np.divmod(cell, n_patterns))
        return PatternFacts(part.topics, who, counts, topic, pattern, n_items)

    def merged(self, facts: Sequence[PatternFacts]) -> PatternFacts:
        """Add up the items of all parts."""
        topics = united((each.topics for each in facts), in_natural_order)
        every = np.concatenate([each.patterns for each in facts])
        order = np.lexsort(every.T)
        new = np.append(True, (every[order[1:]] != every[order[:-1]]).any(axis=1))[: len(order)]
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(new) - 1
        first = np.cumsum([0, *(len(each.patterns) for each in facts)])
        cell = np.concatenate(
            [
                places(each.topics, topics)[each.topic].astype(np.int64) * int(new.sum()) + number[begin + each.pattern]
                for each, begin in zip(facts, first[:-1], strict=True)
            ]
        )
        found, place = np.unique(cell, return_inverse=True)
        n_items = np.bincount(place, np.concatenate([each.n_items for each in facts])).astype(np.int64)
        topic, pattern = (each.astype(np.int32) for each in np.divmod(found, max(int(new.sum()), 1)))
        who = united(each.assessors for each in facts)
        return PatternFacts(topics, who, every[order[new]], topic, pattern, n_items)
