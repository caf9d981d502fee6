"""List orders: how uncertain the order of every list is, from label preferences alone.

Lists of different runs share documents, and many have the same labels.  Labels are paired once for every two
documents that occur together.  Lists that hold the same documents, or as many with the same labels, have the same
entropy whatever the label preferences are; it is computed once.  Which lists are alike in this way is found by label
preferences drawn at random: where each document of a list is preferred to the others as each of another list is, the
labels are the same.  Scores depend on sums of wins alone (Chu et al. 2021, Eq. 5, where p_ij + p_ji = 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.analysis.label_preferences import Paired
from venire.analysis.top_lists import TopLists
from venire.kernels.paired_labels import PairedLabels, mean_preference
from venire.kernels.plackett_luce import BLOCK_CELLS, CLIP, MOST_EXACT, clipped, entropy_of, scores_of_wins
from venire.types import Bools, Floats, Ints

DIGITS, SEED = 9, 2021
"""Sums that are the same in so many digits are the same; of the label preferences that tell lists apart."""


@dataclass(frozen=True, eq=False)
class ListOrders:
    """Every two documents of lists: pair (list, K (K - 1) / 2) numbers the distinct ones, turned (the same shape) those
    that stand the other way round; labels are those of the distinct pairs.  topic (list,) is into ``topics``.
    kind (list,): lists that are alike have one number; first (kind,): one list of each; start (kind, K): scores to
    begin with.
    """

    topics: tuple[str, ...]
    topic: Ints
    k: int
    pair: Ints
    turned: Bools
    n_pairs: int
    labels: PairedLabels
    clip: float
    kind: Ints
    first: Ints
    start: Floats

    def preferences(self, p: Floats) -> Floats:
        """Document-level matrices by label preferences p (label, label), Eqs. (7) and (8) -> (list, K, K)."""
        one = self._one_sided(p, np.arange(len(self.pair)))
        return _square(one, 1 - one, self.k)

    def pdp(self, p: Floats) -> tuple[Floats, Floats]:
        """Mean PDP of the lists of every topic, and its standard error, 0 where exact -> both (topic,)."""
        found = entropy_of(scores_of_wins(self._wins(p), self.start))
        n_topics = len(self.topics)
        size = np.bincount(self.topic, minlength=n_topics)
        value = np.bincount(self.topic, found.value[self.kind], minlength=n_topics) / size
        return value, np.sqrt(np.bincount(self.topic, found.error[self.kind] ** 2, minlength=n_topics)) / size

    def pdps(self, many: Sequence[Floats]) -> Floats:
        """PDP of every topic by each of many label preferences -> (preferences, topic); blocks of them at once.

        Beyond 15 documents entropies are drawn, with the same draws for each of them, one at a time.
        """
        step = max(1, BLOCK_CELLS // max(self.start.size, 1)) if self.k <= MOST_EXACT else 1
        found = np.zeros((len(many), len(self.topics)))
        size = np.bincount(self.topic)[self.topic]
        for first in range(0, len(many), step):
            part = many[first : first + step]
            wins, start = np.concatenate([self._wins(p) for p in part]), np.tile(self.start, (len(part), 1))
            value = entropy_of(scores_of_wins(wins, start)).value.reshape(len(part), -1)[:, self.kind] / size
            found[first : first + len(part)] = [np.bincount(self.topic, each, len(self.topics)) for each in value]
        return found

    def near(self, p: Floats) -> ListOrders:
        """Begin with the scores of these label preferences: quicker for others that are much the same."""
        return replace(self, start=scores_of_wins(self._wins(p), self.start))

    def _wins(self, p: Floats) -> Floats:
        """Sums of wins of the documents of every kind of list, in ascending order -> (kind, K)."""
        one = self._one_sided(p, self.first)
        return np.sort(_summed(one, 1 - one, self.k), axis=1)

    @property
    def n_unknown(self) -> int:
        """Pairs of documents of which no labels could be paired."""
        return int((np.bincount(self.labels.pair, minlength=self.n_pairs) == 0).sum())

    def _one_sided(self, p: Floats, lists: Ints) -> Floats:
        """Probability that the upper document is preferred to the lower one, clipped -> (list, K (K - 1) / 2)."""
        preferred = clipped(mean_preference(self.labels, p, self.n_pairs), self.clip)[self.pair[lists]]
        return np.where(self.turned[lists], 1 - preferred, preferred)


def orders_of(lists: TopLists, paired: Paired, *, clip: float = CLIP) -> ListOrders:
    """Pair the labels of all documents that occur together.  O(pairs of documents x labels of each)."""
    left, right = np.triu_indices(lists.k, 1)
    a, b = lists.item[:, left], lists.item[:, right]
    n_items = max(len(lists.items), 1)
    found, pair = np.unique(np.minimum(a, b) * n_items + np.maximum(a, b), return_inverse=True)
    topic, place = np.unique(lists.topic, return_inverse=True)
    every = np.arange(len(a))
    orders = ListOrders(
        topics=tuple(lists.items.topics.take(topic)),
        topic=place,
        k=lists.k,
        pair=pair.reshape(a.shape),
        turned=a > b,
        n_pairs=len(found),
        labels=paired(found // n_items, found % n_items),
        clip=clip,
        kind=every,
        first=every,
        start=np.zeros((len(a), lists.k)),
    )
    first, kind = _kinds(orders)
    return replace(orders, kind=kind, first=first, start=orders.start[first])


def _kinds(orders: ListOrders) -> tuple[Ints, Ints]:
    """Find lists that are alike -> one of each kind (kind,), the kind of every list (list,).

    Random label preferences, bent so that sums tell their terms apart, make a number for every document.
    """
    n_labels = int(max(orders.labels.a.max(initial=0), orders.labels.b.max(initial=0))) + 1
    upper = np.triu(np.random.default_rng(SEED).uniform(0.1, 0.9, (n_labels, n_labels)), 1)
    p = upper + np.tril(1 - upper.T, -1) + 0.5 * np.eye(n_labels)
    one = orders._one_sided(p, orders.first)
    sums = _summed(np.exp(3 * one), np.exp(3 * (1 - one)), orders.k)
    _, first, kind = np.unique(np.round(np.sort(sums, axis=1), DIGITS), axis=0, return_index=True, return_inverse=True)
    return first, kind.ravel()


def _square(upper: Floats, lower: Floats, k: int, *, diagonal: float = 0.5) -> Floats:
    """Matrices of values above and below the diagonal, each (list, K (K - 1) / 2) -> (list, K, K)."""
    left, right = np.triu_indices(k, 1)
    matrices = np.full((len(upper), k, k), diagonal)
    matrices[:, left, right], matrices[:, right, left] = upper, lower
    return matrices


def _summed(upper: Floats, lower: Floats, k: int) -> Floats:
    """Sums over the rows of such matrices, without the diagonal -> (list, K).  O(lists x K^2)."""
    sums: Floats = _square(upper, lower, k, diagonal=0.0).sum(axis=2)
    return sums
