"""Label patterns: judgments collapsed to what statistics of agreement need to know of an item.

An assessor counts once for an item: labels that one assessor repeated on an item are refused, as agreement with
oneself is not agreement between assessors (``consistency`` measures it).  ``judgments.anonymous()`` takes every label
as another person's; reading with ``repeats="first"`` or ``"last"`` keeps one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from venire.agreement.distance import Distance, label_values
from venire.agreement.resampling import Source, pattern_source
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, PairsError
from venire.kernels.patterns import Patterns, first_repeat, group_table, patterns_of, weighted_pairs
from venire.models.pairs import distinct_items, refuse_mixed
from venire.types import Bools, Codes, Floats, Ints

NO_PAIRS = "no item has labels by two assessors"
ONE_LABEL = "all labels that can be compared are the same, so there is no disagreement to expect"


@dataclass(frozen=True, eq=False)
class LabelPatterns:
    """Items by pattern of labels: item (row,), topic, pattern (item,); values (label,); table (pattern, label)."""

    scale: Scale
    item: Codes
    topic: Codes
    pattern: Ints
    patterns: Patterns
    table: Any
    size: Ints
    n_topics: int
    n_raters: int

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

    @cached_property
    def by_topic(self) -> Any:
        """How many items of each pattern each topic has -> (topic, pattern)."""
        return group_table(self.topic, self.pattern, (self.n_topics, len(self.size)))

    def source(self, units: str | None) -> Source:
        """Tell what is drawn anew."""
        return pattern_source(self.patterns.n_items, self.by_topic, self.paired, units)

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

    def why_undefined(self) -> str:
        """Say why nothing can be said."""
        return NO_PAIRS if not self.paired.any() else ONE_LABEL


def label_patterns(judgments: Judgments | LabelPatterns) -> LabelPatterns:
    """Collapse judgments to label patterns; several statistics can share them.

    Cost: O(rows log rows); memory linear in rows and items.
    """
    if isinstance(judgments, LabelPatterns):
        return judgments
    refuse_mixed(judgments)
    if len(judgments) == 0:
        raise PairsError("there is no label to compare", hint="; ".join(judgments.notes) or None)
    item, topic = distinct_items(judgments)
    refuse_repeats(judgments, item)
    patterns, pattern = patterns_of(item, judgments.label, (len(topic), len(judgments.scale)))
    table, size = patterns.table(), patterns.size
    gave = np.zeros(len(judgments.assessor.names), dtype=np.bool_)
    gave[judgments.assessor.codes] = True
    n_topics = len(judgments.items.topics)
    return LabelPatterns(judgments.scale, item, topic, pattern, patterns, table, size, n_topics, int(gave.sum()))


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
        hint="keep one of them (repeats='last', on the command line --repeats last), take every label as another "
        "person's with anonymous(), or measure agreement with oneself (venire consistency)",
    )
