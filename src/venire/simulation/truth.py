"""Truth: what a simulated collection knows, and no assessor does.

Labels drawn from a known truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.data.scale import Scale
from venire.errors import UnknownName
from venire.simulation.assessors import under_effect
from venire.simulation.assignments import Pairs
from venire.types import Codes, Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Truth:
    """True levels, the assessors' confusions, the topics' effects and the systems' qualities.

    Parameters
    ----------
    items
        Every document of every topic, judged or not, by topic and document.
    level
        True level (item,).
    judged
        Where the judged items stand among them: ``level[judged]`` goes with ``judgments.items``.
    prevalence
        Mean probability of each true level (level,).
    effect
        How hard each topic is to judge (topic,), 0 being usual; topics as in ``items.topics``.
    assessors
        Names, in the order of ``judgments.assessors``, those included who judged nothing.
    weight
        How much a topic's effect counts with each assessor (assessor,).
    confusion
        Probability of each label at effect 0 (assessor, true level, label).
    systems, quality
        Names, and latent quality (system,).
    """

    scale: Scale
    items: Items
    level: Codes
    judged: Ints
    prevalence: Floats
    effect: Floats
    assessors: tuple[str, ...]
    weight: Floats
    confusion: Floats
    systems: tuple[str, ...]
    quality: Floats

    @property
    def topics(self) -> Ids:
        """Names of all topics."""
        return self.items.topics

    @property
    def order(self) -> tuple[str, ...]:
        """The systems, best first."""
        return tuple(self.systems[n] for n in np.argsort(-self.quality))

    def as_judgments(self) -> Judgments:
        """Return the true levels of all items as the labels of one assessor, named truth."""
        item = np.arange(len(self.items), dtype=np.int32)
        return Judgments(self.scale, self.items, item, Category.constant("truth", len(item)), self.level)

    def confusion_on(self, assessor: str) -> Floats:
        """Probability of each of an assessor's labels -> (topic, true level, label)."""
        if assessor not in self.assessors:
            raise UnknownName("assessor", assessor, self.assessors)
        number = self.assessors.index(assessor)
        return under_effect(self.confusion[number], self.weight[number] * self.effect, self.prevalence)

    def label_probabilities(self) -> Floats:
        """p(label | item) for an assessor drawn at random from all of them -> (item, label)."""
        mean = np.mean([self.confusion_on(assessor) for assessor in self.assessors], axis=0)
        return np.asarray(mean[self.items.topic, self.level])

    def at_least(self, label: object) -> Floats:
        """p(R | item), R being this label or higher, for an assessor drawn at random -> (item,)."""
        return self.label_probabilities() @ self.scale.at_least(label)


def judgments_of(truth: Truth, rows: Pairs, *, streams: list[np.random.Generator]) -> Judgments:
    """Draw labels for rows of (item of the truth, assessor); they come out by item, then assessor."""
    item, assessor = _in_order(*rows, len(truth.assessors))
    names = Category(assessor.astype(np.int32), Ids.of(truth.assessors)).take(np.arange(len(assessor)))
    number = np.zeros(len(truth.items), dtype=np.int32)
    number[truth.judged] = np.arange(len(truth.judged))
    topic = Category(truth.items.topic, truth.items.topics).take(truth.judged)
    items = Items(topic.names, topic.codes, truth.items.doc.take(truth.judged))
    return Judgments(truth.scale, items, number[item], names, _labels(truth, item, assessor, streams))


def _in_order(item: Ints, assessor: Ints, n_assessors: int) -> Pairs:
    key = item * n_assessors + assessor
    if (key[1:] < key[:-1]).any():
        key.sort()
    return np.divmod(key, n_assessors)


def _labels(truth: Truth, item: Ints, assessor: Ints, streams: list[np.random.Generator]) -> Codes:
    """Draw labels (row,), each assessor's from a stream of their own."""
    n_levels = len(truth.scale)
    label = np.empty(len(item), dtype=np.int32)
    by_assessor = np.argsort(assessor.astype(np.int16) if len(streams) < 2**15 else assessor, kind="stable")
    ends = np.bincount(assessor, minlength=len(streams)).cumsum()
    cell = truth.items.topic.astype(np.int64) * n_levels + truth.level
    for rows, name, rng in zip(np.split(by_assessor, ends[:-1]), truth.assessors, streams, strict=True):
        p = truth.confusion_on(name).reshape(-1, n_levels)
        label[rows] = drawn(p, cell[item[rows]], rng)
    return label


def drawn(p: Floats, cell: Ints, rng: np.random.Generator) -> Codes:
    """Draw a level for every row by the probabilities of its cell; p (cell, level), cell (row,) -> (row,)."""
    cumulative = p.cumsum(axis=1)
    cumulative /= cumulative[:, -1:]
    u = rng.random(len(cell))
    level = np.zeros(len(cell), dtype=np.int32)
    for threshold in cumulative.T[:-1]:
        level += u >= threshold[cell]
    return level
