"""Conditional labels: what a document is worth to somebody who has just read another one.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 3.1: beside g(d), the label of a document in *isolation*,
an assessor gives g(d|c), its *conditional* label: given the document c, read just before.  In ``Judgments`` the facet
``given`` holds the name of c, and nothing for a label in isolation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from venire.data.judgments import Judgments
from venire.types import Bools, Codes, Floats, Ints


def is_conditional(judgments: Judgments) -> Bools:
    """Mark the labels that were given after another document -> (row,)."""
    given = judgments.facets.get("given")
    if given is None:
        return np.zeros(len(judgments), dtype=np.bool_)
    named: Bools = given.names.slices.end > given.names.slices.start
    return named[given.codes] if len(named) else np.zeros(len(judgments), dtype=np.bool_)


def given_items(judgments: Judgments) -> Ints:
    """Number the document read before among the items: -1 in isolation, -2 where it is not there -> (row,)."""
    rows = is_conditional(judgments)
    number = np.full(len(judgments), -1, dtype=np.int64)
    if rows.any():
        given, topic = judgments.facets["given"], judgments.column("topic")
        names = given.names.slices.take(given.codes[rows])
        found = judgments.items.numbers_of(topic.names, topic.codes[rows], names)
        number[rows] = np.where(found >= 0, found, -2)
    return number


@dataclass(frozen=True, eq=False)
class ContextPairs:
    """Documents read after another, all (pair,).

    item, given       both among the items; given is -1 where nothing that is known was read before
    label, given_label   their labels in isolation, -1 where there is none
    """

    item: Ints
    given: Ints
    label: Codes
    given_label: Codes

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: Ints | Bools) -> ContextPairs:
        """Choose pairs."""
        return ContextPairs(self.item[rows], self.given[rows], self.label[rows], self.given_label[rows])


class Predictor(Protocol):
    """Whoever can say which label a document would get after another."""

    def probabilities(self, pairs: ContextPairs) -> Floats:
        """Probability of each label -> (pair, label); rows sum to 1."""
