"""List orders: how uncertain the order of every list is, from label preferences alone.

Lists of different runs share documents, and many have the same labels.  Labels are paired once for every two
documents that occur together; lists whose documents win as much against each other have the same scores up to their
order (Chu et al. 2021, Eq. 5, where p_ij + p_ji = 1), and the same entropy: it is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.analysis.label_preferences import Paired
from venire.analysis.top_lists import TopLists
from venire.kernels.paired_labels import PairedLabels, mean_preference
from venire.kernels.plackett_luce import CLIP, clipped, entropy_of, scores_of_wins
from venire.types import Bools, Floats, Ints

DIGITS = 10
"""Sums of wins that are the same in so many digits are the same."""


@dataclass(frozen=True, eq=False)
class ListOrders:
    """Every two documents of lists: pair (list, K (K - 1) / 2) numbers the distinct ones, turned (the same shape) those
    that stand the other way round; labels are those of the distinct pairs.  topic (list,) is into ``topics``.
    """

    topics: tuple[str, ...]
    topic: Ints
    k: int
    pair: Ints
    turned: Bools
    n_pairs: int
    labels: PairedLabels
    clip: float

    def preferences(self, p: Floats) -> Floats:
        """Document-level matrices by label preferences p (label, label), Eqs. (7) and (8) -> (list, K, K)."""
        one, left, right = self._one_sided(p), *np.triu_indices(self.k, 1)
        matrices = np.full((len(one), self.k, self.k), 0.5)
        matrices[:, left, right], matrices[:, right, left] = one, 1 - one
        return matrices

    def pdp(self, p: Floats) -> tuple[Floats, Floats]:
        """Mean PDP of the lists of every topic, and its standard error, 0 where exact -> both (topic,)."""
        one, left, right = self._one_sided(p), *np.triu_indices(self.k, 1)
        wins = one @ (left[:, None] == np.arange(self.k)) + (1 - one) @ (right[:, None] == np.arange(self.k))
        alike, place = np.unique(np.round(np.sort(wins, axis=1), DIGITS), axis=0, return_inverse=True)
        found = entropy_of(scores_of_wins(alike))
        n_topics = len(self.topics)
        size = np.bincount(self.topic, minlength=n_topics)
        value = np.bincount(self.topic, found.value[place.ravel()], minlength=n_topics) / size
        return value, np.sqrt(np.bincount(self.topic, found.error[place.ravel()] ** 2, minlength=n_topics)) / size

    @property
    def n_unknown(self) -> int:
        """Pairs of documents of which no labels could be paired."""
        return int((np.bincount(self.labels.pair, minlength=self.n_pairs) == 0).sum())

    def _one_sided(self, p: Floats) -> Floats:
        """Probability that the upper document is preferred to the lower one, clipped -> (list, K (K - 1) / 2)."""
        preferred = clipped(mean_preference(self.labels, p, self.n_pairs), self.clip)[self.pair]
        return np.where(self.turned, 1 - preferred, preferred)


def orders_of(lists: TopLists, paired: Paired, *, clip: float = CLIP) -> ListOrders:
    """Pair the labels of all documents that occur together.  O(pairs of documents x labels of each)."""
    left, right = np.triu_indices(lists.k, 1)
    a, b = lists.item[:, left], lists.item[:, right]
    n_items = max(len(lists.items), 1)
    found, pair = np.unique(np.minimum(a, b) * n_items + np.maximum(a, b), return_inverse=True)
    topic, place = np.unique(lists.topic, return_inverse=True)
    return ListOrders(
        tuple(lists.items.topics.take(topic)),
        place,
        lists.k,
        pair.reshape(a.shape),
        a > b,
        len(found),
        paired(found // n_items, found % n_items),
        clip,
    )
