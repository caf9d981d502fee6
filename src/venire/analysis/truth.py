"""Truth: what a simulated collection knows, and no assessor does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.analysis.assessors import under_effect
from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.data.scale import Scale
from venire.errors import UnknownName
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
