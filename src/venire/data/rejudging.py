r"""Rejudging: the labels that another judge might give, drawn from those that one judge gave.

In draw d, an item of topic t with the old label i gets the label j with probability :math:`T^{(d,t)}_{ij}`,
independently of other items; with a ``leaning`` r, (item, label), in proportion to :math:`T^{(d,t)}_{ij} r_j`.  What
varies between draws is up to ``matrices``: nothing (one judge, known), the judge, or the judge and the topic.  Each
draw has a stream of random numbers of its own, made from the seed and its number, so it is the same however draws are
divided into blocks or among cores.  Items that the old judge did not label stay unjudged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from venire.data.streams import stream
from venire.types import Bools, Codes, Floats

if TYPE_CHECKING:  # numpy.random takes time to load
    from numpy.random import Generator, SeedSequence

Matrices = Callable[["Generator"], Floats]
"""From random numbers to transition matrices (topic or 1, label, label)."""


@dataclass(frozen=True, eq=False)
class Rejudging:
    """Draws by number: old (item,) the labels before, -1 = none; topic (item,); how matrices are drawn; the seed."""

    old: Codes
    topic: Codes
    matrices: Matrices
    numbers: range
    seed: SeedSequence
    leaning: Floats | None = None

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the draws: their numbers, from 1."""
        return tuple(str(number + 1) for number in self.numbers)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.old)

    def part(self, first: int, last: int) -> Rejudging:
        """Draws first..last-1 of these; what is drawn does not change."""
        return replace(self, numbers=self.numbers[first:last])

    def labels(self, first: int, last: int) -> Codes:
        """New labels in draws first..last-1 -> (draw, item), -1 = not judged.  O(draws x items x labels).

        Items are taken by topic and old label, so that each draw repeats the rows of its matrices and gathers nothing.
        """
        if self.leaning is not None:
            return self._leaning_labels(self.leaning, first, last)
        judged = np.flatnonzero(self.old >= 0)
        n_labels = int(self.old.max(initial=0)) + 1
        cell = self.topic[judged].astype(np.int64) * n_labels + self.old[judged]
        order = judged[np.argsort(cell, kind="stable")]
        cells, count = np.unique(cell, return_counts=True)
        topic, old = np.divmod(cells, n_labels)
        found = np.full((last - first, self.n_items), -1, dtype=np.int32)
        for row, number in enumerate(self.numbers[first:last]):
            numbers = stream(self.seed, number)
            upto = self.matrices(numbers).cumsum(axis=-1)[..., :-1]
            rows = upto[topic if len(upto) > 1 else np.zeros_like(topic), old]
            drawn = numbers.random(len(order))
            label = np.zeros(len(order), dtype=np.int32)
            for bound in rows.T:
                label += drawn > np.repeat(bound, count)
            found[row, order] = label
        return found

    def _leaning_labels(self, leaning: Floats, first: int, last: int) -> Codes:
        """New labels where each item leans to some of them; as ``labels``."""
        judged = np.flatnonzero(self.old >= 0)
        topic, old, leaning = self.topic[judged], self.old[judged], leaning[judged]
        found = np.full((last - first, self.n_items), -1, dtype=np.int32)
        for row, number in enumerate(self.numbers[first:last]):
            numbers = stream(self.seed, number)
            matrices = self.matrices(numbers)
            upto = (matrices[topic if len(matrices) > 1 else np.zeros_like(topic), old] * leaning).cumsum(axis=1)
            drawn = numbers.random(len(judged)) * upto[:, -1]
            found[row, judged] = (drawn[:, None] > upto[:, :-1]).sum(axis=1)
        return found

    def gains(self, values: Floats, first: int, last: int) -> tuple[Floats, Bools]:
        """Gain of every item, and whether judged, in draws first..last-1; both (draw, item).  values (label,)."""
        labels = self.labels(first, last)
        return np.append(values, 0.0)[labels], np.broadcast_to(self.old >= 0, labels.shape)
