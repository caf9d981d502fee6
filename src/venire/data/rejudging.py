r"""Rejudging: draws of the labels that another judge might give, from those that one judge gave.

In draw d, an item of topic t with the old label i gets the label j with probability :math:`T^{(d,t)}_{ij}`,
independently of other items; with a ``leaning`` r, (item, label), in proportion to :math:`T^{(d,t)}_{ij} r_j`.
``matrices`` defines what varies between draws: nothing (one known judge), the judge, or the judge and the topic.  Each
draw has its own random numbers, from the seed and its number, so that results do not depend on blocks or cores.  Items
that the old judge did not label stay unjudged.

Labels of other judges are not drawn.  With labels ``given`` by n of them, draw d is of the judge d mod n: the labels of
that judge are kept, also on items that the old judge did not label, and only the others are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from venire.data.judgments import Judgments, is_conditional
from venire.randomness import stream
from venire.types import Bools, Codes, Floats, Ints

if TYPE_CHECKING:  # numpy.random takes time to load
    from numpy.random import Generator, SeedSequence

Matrices = Callable[["Generator", int], Floats]
"""From random numbers and the number of a draw to transition matrices (topic or 1, label, label)."""


@dataclass(frozen=True, eq=False)
class Given:
    """Labels that judges gave: item and label (row,), those of judge n in rows offset[n] to offset[n + 1]."""

    item: Ints
    label: Codes
    offset: Ints

    @classmethod
    def of(cls, judgments: Judgments, names: Sequence[str]) -> Given:
        """Labels of these assessors in isolation, the last of those that one repeats for an item.  O(rows log rows)."""
        place = {name: number for number, name in enumerate(names)}
        who = np.array([place.get(name, -1) for name in judgments.assessors])[judgments.assessor.codes]
        rows = np.flatnonzero((who >= 0) & ~is_conditional(judgments))[::-1]
        cell, last = np.unique(who[rows] * len(judgments.items) + judgments.item[rows], return_index=True)
        judge, item = np.divmod(cell, max(len(judgments.items), 1))
        return cls(item, judgments.label[rows[last]], np.searchsorted(judge, np.arange(len(names) + 1)))

    @property
    def n_judges(self) -> int:
        """Number of judges who gave labels."""
        return len(self.offset) - 1

    def overwrite(self, labels: Codes, number: int) -> None:
        """Replace drawn labels (item,) by those that the judge of this draw gave, in place."""
        item, label = self.labels_of(number)
        labels[item] = label

    def labels_of(self, number: int) -> tuple[Ints, Codes]:
        """Return the items and labels of the judge of this draw."""
        judge = number % self.n_judges
        rows = slice(self.offset[judge], self.offset[judge + 1])
        return self.item[rows], self.label[rows]


@dataclass(frozen=True, eq=False)
class Rejudging:
    """Draws by number: old (item,) the labels now, -1 = none; topic (item,); how matrices are drawn; the seed.

    given: labels by other judges, which are kept.
    """

    old: Codes
    topic: Codes
    matrices: Matrices
    numbers: range
    seed: SeedSequence
    leaning: Floats | None = None
    given: Given | None = None

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the draws: their numbers, from 1."""
        return tuple(str(number + 1) for number in self.numbers)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.old)

    def part(self, first: int, last: int) -> Rejudging:
        """Return draws first..last-1, with the same labels."""
        return replace(self, numbers=self.numbers[first:last])

    def labels(self, first: int, last: int) -> Codes:
        """New labels in draws first..last-1 -> (draw, item), -1 = not judged.  O(draws x items x labels)."""
        leaning = self.leaning
        drawn = self._plain_labels(first, last) if leaning is None else self._leaning_labels(leaning, first, last)
        if self.given is not None:
            for row, number in zip(drawn, self.numbers[first:last], strict=True):
                self.given.overwrite(row, number)
        return drawn

    def _plain_labels(self, first: int, last: int) -> Codes:
        """Draw labels without a leaning.

        Items are sorted by topic and old label, so that a draw repeats the rows of its matrices.
        """
        judged = np.flatnonzero(self.old >= 0)
        n_labels = int(self.old.max(initial=0)) + 1
        cell = self.topic[judged].astype(np.int64) * n_labels + self.old[judged]
        order = judged[np.argsort(cell, kind="stable")]
        cells, count = np.unique(cell, return_counts=True)
        topic, old = np.divmod(cells, n_labels)
        found = np.full((last - first, self.n_items), -1, dtype=np.int32)
        for row, number in enumerate(self.numbers[first:last]):
            numbers = stream(self.seed, number)
            upto = self.matrices(numbers, number).cumsum(axis=-1)[..., :-1]
            rows = upto[topic if len(upto) > 1 else np.zeros_like(topic), old]
            drawn = numbers.random(len(order))
            label = np.zeros(len(order), dtype=np.int32)
            for bound in rows.T:
                label += drawn > np.repeat(bound, count)
            found[row, order] = label
        return found

    def _leaning_labels(self, leaning: Floats, first: int, last: int) -> Codes:
        """Draw labels with a leaning of each item."""
        judged = np.flatnonzero(self.old >= 0)
        topic, old, leaning = self.topic[judged], self.old[judged], leaning[judged]
        found = np.full((last - first, self.n_items), -1, dtype=np.int32)
        for row, number in enumerate(self.numbers[first:last]):
            numbers = stream(self.seed, number)
            matrices = self.matrices(numbers, number)
            upto = (matrices[topic if len(matrices) > 1 else np.zeros_like(topic), old] * leaning).cumsum(axis=1)
            drawn = numbers.random(len(judged)) * upto[:, -1]
            found[row, judged] = (drawn[:, None] > upto[:, :-1]).sum(axis=1)
        return found

    def gains(self, values: Floats, first: int, last: int) -> tuple[Floats, Bools]:
        """Gain of every item, and whether judged, in draws first..last-1; both (draw, item).  values (label,)."""
        labels = self.labels(first, last)
        return np.append(values, 0.0)[labels], labels >= 0
