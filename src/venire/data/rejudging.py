r"""Rejudging: draws of the labels that another judge might give, from those that one judge gave.

In draw d, an item of topic t with the old label i gets the label j, at level :math:`l_j`, with a probability in
proportion to

.. math:: T^{(d,t)}_{ij}\, r_j\, \exp(u^{(d)} l_j),

independently of other items.  ``matrices`` defines what varies between draws: nothing (one known judge), the judge, or
the judge and the topic.  The ``leaning`` r, (item, label), and the ``tilt`` u of an item may be absent.  Each draw has
its own random numbers, from the seed and its number, so that results do not depend on blocks or cores.  Items that the
old judge did not label stay unjudged.

Labels of other judges are not drawn.  Of n judges, draw d is of the judge d mod n: the labels that this judge gave
(``Given``) are kept, also on items that the old judge did not label, and only the others are drawn.  The last judges
may have no labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from venire.data.judgments import Judgments, is_conditional
from venire.randomness import stream
from venire.types import Bools, Codes, Floats, Ints

if TYPE_CHECKING:  # numpy.random takes time to load
    from numpy.random import Generator, SeedSequence

Matrices = Callable[["Generator", int], Floats]
"""From random numbers and the number of a draw to transition matrices (topic or 1, label, label)."""
MOST_TILT = 6.0
"""The logarithm of the odds of adjacent labels changes by no more than this."""


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

    def labels(self, n_items: int) -> Codes:
        """Label of every item by every judge, -1 where there is none -> (judge, item)."""
        found = np.full((self.n_judges, n_items), -1, dtype=np.int32)
        for judge, row in enumerate(found):
            self.overwrite(row, judge)
        return found

    def overwrite(self, labels: Codes, judge: int) -> None:
        """Replace drawn labels (item,) by those that a judge gave, in place; a judge without labels gave none."""
        if judge < self.n_judges:
            item, label = self.labels_of(judge)
            labels[item] = label

    def labels_of(self, judge: int) -> tuple[Ints, Codes]:
        """Return the items and labels of a judge."""
        rows = slice(self.offset[judge], self.offset[judge + 1])
        return self.item[rows], self.label[rows]


class Normals(NamedTuple):
    """A mixture of normal distributions: weight (component,), mean (component, column), factor of the covariance."""

    weight: Floats
    mean: Floats
    factor: Floats

    @classmethod
    def one(cls, mean: Floats, factor: Floats) -> Normals:
        """Return a single normal distribution: mean (column,), factor (column, column)."""
        return cls(np.ones(1), mean[None], factor[None])

    def draw(self, rng: Generator) -> Floats:
        """Draw once -> (column,)."""
        number = int(np.searchsorted(np.cumsum(self.weight)[:-1], rng.random())) if len(self.weight) > 1 else 0
        return np.asarray(self.mean[number] + self.factor[number] @ rng.standard_normal(self.mean.shape[1]))


@dataclass(frozen=True, eq=False)
class Tilt:
    """Tilts of items, u = design @ c, with coefficients c of the judge of a draw.

    design (item, column); judges: distributions of c by judge; step: distance of adjacent levels.
    """

    design: Floats
    judges: tuple[Normals, ...]
    step: float

    def coefficients(self, judge: int, rng: Generator) -> Floats:
        """Draw the coefficients of a judge -> (column,); judges beyond the last are like the last."""
        return self.judges[min(judge, len(self.judges) - 1)].draw(rng)

    def odds(self, items: Ints, coefficients: Floats) -> Floats:
        """Return the factors of the odds of adjacent labels: coefficients (draw, column) -> (draw, item)."""
        tilts = coefficients @ self.design[items].T
        tilts *= self.step
        return np.asarray(np.exp(np.clip(tilts, -MOST_TILT, MOST_TILT, out=tilts), out=tilts))


@dataclass(frozen=True, eq=False)
class Rejudging:
    """Draws by number: old (item,) the labels now, -1 = none; topic (item,); how matrices are drawn; the seed.

    given: labels by other judges, which are kept; n_judges: how many judges take turns.
    """

    old: Codes
    topic: Codes
    matrices: Matrices
    numbers: range
    seed: SeedSequence
    leaning: Floats | None = None
    given: Given | None = None
    n_judges: int = 1
    tilt: Tilt | None = None

    unmixed = True

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the draws: their numbers, from 1."""
        return tuple(str(number + 1) for number in self.numbers)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.old)

    @property
    def drawn(self) -> Bools:
        """Items whose label is drawn -> (item,); with one judge, none that this judge labelled."""
        found = self.old >= 0
        if self.given is not None and self.n_judges == 1:
            found[self.given.item] = False
        return found

    def part(self, first: int, last: int) -> Rejudging:
        """Return draws first..last-1, with the same labels."""
        return replace(self, numbers=self.numbers[first:last])

    def labels(self, first: int, last: int) -> Codes:
        """New labels in draws first..last-1 -> (draw, item), -1 = not judged.  O(draws x items x labels).

        Items are sorted by topic and old label, so that a draw repeats the rows of its matrices.
        """
        items = np.flatnonzero(self.drawn)
        n_labels = int(self.old.max(initial=0)) + 1
        cell = self.topic[items].astype(np.int64) * n_labels + self.old[items]
        order = items[np.argsort(cell, kind="stable")]
        cells, count = np.unique(cell, return_counts=True)
        topic, old = np.divmod(cells, n_labels)
        numbers = self.numbers[first:last]
        streams = [stream(self.seed, number) for number in numbers]
        odds = self._odds(order, streams, numbers)
        leaning = None if self.leaning is None else np.ascontiguousarray(self.leaning[order].T)
        found = np.full((last - first, self.n_items), -1, dtype=np.int32)
        for row, (number, rng) in enumerate(zip(numbers, streams, strict=True)):
            matrices = self.matrices(rng, number)
            rows = matrices[topic if len(matrices) > 1 else np.zeros_like(topic), old]
            found[row, order] = _choose(
                rng.random(len(order)), rows, count, (leaning, None if odds is None else odds[row])
            )
            if self.given is not None:
                self.given.overwrite(found[row], number % self.n_judges)
        return found

    def _odds(self, items: Ints, streams: Sequence[Generator], numbers: range) -> Floats | None:
        """Return the factors of the odds of adjacent labels -> (draw, item), or None without a tilt."""
        tilt = self.tilt
        if tilt is None:
            return None
        drawn = [tilt.coefficients(number % self.n_judges, rng) for number, rng in zip(numbers, streams, strict=True)]
        return tilt.odds(items, np.array(drawn).reshape(len(drawn), -1))

    def gains(self, values: Floats, first: int, last: int) -> tuple[Floats, Bools]:
        """Gain of every item, and whether judged, in draws first..last-1; both (draw, item).  values (label,)."""
        labels = self.labels(first, last)
        return np.append(values, 0.0)[labels], labels >= 0


def _choose(chance: Floats, rows: Floats, count: Ints, weighing: tuple[Floats | None, Floats | None]) -> Codes:
    """Choose labels by chances (item,): rows (cell, label) are repeated by count, and weighed per item.

    weighing: the leaning of documents (label, item), and the factors of the odds of adjacent labels (item,).
    """
    leaning, factor = weighing
    upto, power, bounds = np.zeros(len(chance)), None, []
    for label, column in enumerate(rows.T):
        part = np.repeat(column, count)
        if leaning is not None:
            part *= leaning[label]
        if factor is not None:
            part = part if power is None else part * power
            power = factor if power is None else power * factor
        upto = upto + part
        bounds.append(upto)
    found = np.zeros(len(chance), dtype=np.int32)
    target = chance * upto
    for bound in bounds[:-1]:
        found += target > bound
    return found
