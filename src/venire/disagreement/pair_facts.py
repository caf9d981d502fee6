"""PairFacts: pairs of labels by topic, and their moments over items; the small facts of disagreement.

p(R|i), its intervals, the influence of topics and the gains of users need nothing else.  A part has all labels of its
items (``venire.engine.seam``).  Counts of pairs are whole numbers, which add up exactly in any order; where every item
weighs the same (``weight="item"``), sums agree to rounding.  Whether items were judged again because of their
labels (``selection``) cannot be seen in sums: it is tested where judgments are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from venire.data.ids import Category, Ids, in_natural_order
from venire.data.judgments import Judgments
from venire.data.label_pairs import pair_up
from venire.engine.seam import places, united
from venire.kernels.label_pairs import PairSums
from venire.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class PairFacts:
    """Sums of pairs, as in ``PairSums``, and the names of the topics."""

    topics: tuple[str, ...]
    by_topic: Floats
    square: Floats
    cross: Floats
    hits: Floats
    n_items: Ints

    @property
    def sums(self) -> PairSums:
        """The sums, for ``kernels.shares``."""
        return PairSums(self.by_topic, self.square, self.cross, self.hits, self.n_items)


@dataclass(frozen=True, eq=False)
class CountPairs:
    """The job of disagreement: count the pairs of labels of a part.

    relevant (relevant, label).  estimator, observed, reference, weight: as in ``pair_up``; the estimator is stated,
    since a part does not know how many labels items of other parts have.  assessors: the names of all.
    """

    relevant: Bools
    estimator: str
    assessors: tuple[str, ...]
    observed: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    weight: str = "pair"
    together: ClassVar[Mapping[str, tuple[str, ...]]] = {"judgments": ("topic", "doc")}

    def facts(self, part: Judgments) -> PairFacts:
        """Count the pairs of a part."""
        codes = places(part.assessors, self.assessors)[part.assessor.codes]
        part = replace(part, assessor=Category(codes, Ids.of(self.assessors)))
        observed, reference = self.observed, self.reference
        pairs = pair_up(part, estimator=self.estimator, observed=observed, reference=reference, weight=self.weight)
        return PairFacts(part.topics, *pairs.sums(self.relevant))

    def merged(self, facts: Sequence[PairFacts]) -> PairFacts:
        """Add up the pairs of all parts."""
        topics = united((each.topics for each in facts), in_natural_order)
        by_topic = np.zeros((len(topics), *facts[0].by_topic.shape[1:]))
        for each in facts:
            by_topic[places(each.topics, topics)] += each.by_topic
        square, cross, hits, n_items = (
            np.sum([getattr(each, name) for each in facts], axis=0) for name in ("square", "cross", "hits", "n_items")
        )
        return PairFacts(topics, by_topic, square, cross, hits, n_items)
