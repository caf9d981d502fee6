"""Lists of K documents whose order PDP asks for: the top of every run, or documents of the pool; and their orders.

Chu et al. (2021), Section 5.2, take the top K of each run, all of which were judged.  Here a list with a document in
its top K without a label is left out and counted, or (``condensed``) its first K labelled documents are taken.
Without runs, K documents of each topic are drawn at random, among those that occur in preference tests (*tested*) or
among all (*random*).

The choice of documents must not depend on the labels that are compared.  Among the K documents that one set of labels
rates *best*, that set hardly distinguishes any, since it has the same label for most of them, and any other set seems
to tell more: of two exchangeable sets the other one always wins.  So *best* is for one set alone.

Lists of different runs share documents, and many have the same labels.  Labels are paired once for every two
documents that occur together.  Lists that hold the same documents, or as many with the same labels, have the same
entropy whatever the label preferences are; it is computed once.  Such lists are found by random label preferences:
where each document of a list is preferred to the others as each of another list is, the labels are the same.  Scores
depend on sums of wins alone (Chu et al. 2021, Eq. 5, where p_ij + p_ji = 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.data.judgments import Items, Judgments
from venire.data.preferences import Preferences
from venire.data.runs import Runs
from venire.errors import ScaleError, SettingError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.preferences import PreferencesLike, read_preferences
from venire.io.runs import RunsLike, as_runs, scan
from venire.kernels.paired_labels import PairedLabels, mean_preference
from venire.kernels.ranking_entropy import BLOCK_CELLS, CLIP, MOST_EXACT, clipped, entropy_of, scores_of_wins
from venire.quality.label_preferences import Paired
from venire.results import Records, Tabular, counted
from venire.types import Bools, Codes, Floats, Ints, RNGLike
from venire.users.preferences import item_numbers

CHOICES = ("tested", "random", "best")
WORDS = {
    "tested": "K documents with preference tests, drawn at random",
    "random": "K documents drawn at random",
    "best": "the K documents with the highest mean label",
}
USUAL_K = 10
DIGITS, SEED = 9, 2021
"""Sums that are equal in so many digits are equal; seed of the label preferences that distinguish lists."""


@dataclass(frozen=True, eq=False)
class TopLists(Tabular):
    """Lists of K documents each: topic (list,) and item (list, K) into ``items``; ``left_out`` counts those too short.

    ``words`` describe how documents were chosen.
    """

    items: Items
    topic: Codes
    item: Ints
    words: str
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.topic)

    @property
    def k(self) -> int:
        """Number of documents in a list."""
        return self.item.shape[1]

    def among(self, items: Items) -> TopLists:
        """Return the documents with the numbers of other items; lists with a document that these lack are left out."""
        if items is self.items:
            return self
        flat = self.item.ravel()
        topics = self.items.topics.take(np.arange(len(self.items.topics)))
        number = items.numbers_of(topics, self.items.topic[flat], self.items.doc.slices.take(flat))
        number = number.reshape(self.item.shape)
        kept = (number >= 0).all(axis=1)
        number = number[kept]
        topic = items.topic[number[:, 0]] if self.k else self.topic[:0]
        return replace(self, items=items, topic=topic, item=number, left_out=self.left_out + int((~kept).sum()))

    def labelled_in(self, judgments: Judgments) -> TopLists:
        """Return the lists whose documents all have a label among these judgments, with their item numbers."""
        found = self.among(judgments.items)
        labelled = np.bincount(judgments.item, minlength=len(judgments.items)) > 0
        kept = labelled[found.item].all(axis=1)
        left_out = found.left_out + int((~kept).sum())
        return replace(found, topic=found.topic[kept], item=found.item[kept], left_out=left_out)

    def sentence(self) -> str:
        """Return how many lists there are, of how many documents, and how many were too short."""
        short = f"; {counted(self.left_out, 'list')} too short" if self.left_out else ""
        return f"{counted(len(self), 'list')} of {counted(self.k, 'document')}: {self.words}{short}."

    def records(self) -> Records:
        """Return one row per list: its topic and documents."""
        topics = self.items.topics.take(self.topic)
        docs = list(self.items.doc.take(self.item.ravel()))
        return [{"topic": topic, "docs": docs[n * self.k : (n + 1) * self.k]} for n, topic in enumerate(topics)]


def chosen_lists(
    judgments: Judgments,
    preferences: Preferences,
    runs: Runs | None = None,
    *,
    k: int | None = None,
    choose: str | None = None,
    condensed: bool = False,
    also: Judgments | None = None,
    rng: RNGLike = 0,
) -> TopLists:
    """Choose lists in one of ``CHOICES``, or those of "runs"; None: of runs if there are any, else "tested".

    also: other judgments, to be compared: every document of a list has labels in both.
    """
    choose = choose or ("tested" if runs is None else "runs")
    hint = "choose tested or random documents, or those of runs"
    if choose == "best" and also is not None:
        raise SettingError("the best documents by one set of labels favour the other set", hint=hint)
    if choose != "runs":
        lists = top_of_pool(judgments, k, preferences, choose=choose, also=also, rng=rng)
    elif runs is None:
        raise SettingError("there are no runs to take lists from", hint=hint)
    else:
        lists = top_of_runs(judgments, runs, k, condensed=condensed)
        lists = lists if also is None else lists.labelled_in(also).labelled_in(judgments)
    if k is not None and not len(lists):
        n_docs = np.bincount(judgments.items.topic[np.unique(judgments.item)])
        message = f"no list has {counted(lists.k, 'judged document')}; the topic with most has {n_docs.max():,}"
        fewer = ["ask for fewer documents per list", "leave documents without a label out of runs (condensed)"]
        raise SettingError(message, hint=fewer)
    return lists


def top_of_pool(
    judgments: JudgmentsLike,
    k: int | None = None,
    preferences: PreferencesLike | None = None,
    *,
    choose: str | None = None,
    also: JudgmentsLike | None = None,
    rng: RNGLike = 0,
) -> TopLists:
    """Choose K labelled documents of every topic that has as many; one list per topic.

    k: None: 10, or the median number of documents of a topic, if that is less.  choose: at "random", or among those
    that are "tested" by preferences (the default where these are given); or the "best" by mean label, which needs
    labels with an order unless all documents are chosen.  also: other judgments that must have labels of the documents.
    """
    judgments = as_judgments(judgments)
    preferences = None if preferences is None else read_preferences(preferences)
    also = None if also is None else as_judgments(also)
    choose = choose or ("random" if preferences is None else "tested")
    if choose not in CHOICES:
        raise UnknownName("choice", choose, CHOICES)
    item = np.flatnonzero(_eligible(judgments, preferences if choose == "tested" else None, also))
    topic = judgments.items.topic[item]
    n_docs = np.bincount(topic, minlength=len(judgments.items.topics))
    k = _usual(n_docs[n_docs > 0]) if k is None else _checked(k)
    whole = k >= n_docs.max(initial=0) > 0
    best = choose == "best"
    first = -_mean_label(judgments, whole=whole)[item] if best else np.random.default_rng(rng).random(len(item))
    order = np.lexsort((item, first, topic))
    enough = np.flatnonzero(n_docs >= k).astype(np.int32)
    chosen = item[order][np.searchsorted(topic[order], enough)[:, None] + np.arange(k)]
    words = WORDS[choose]
    if whole and len(enough):
        words = "all documents with preference tests" if choose == "tested" else "all documents of a topic"
    return TopLists(judgments.items, enough, chosen, words, int(((n_docs > 0) & (n_docs < k)).sum()))


def _eligible(judgments: Judgments, preferences: Preferences | None, also: Judgments | None) -> Bools:
    """Mark documents with labels, among those with tests and those of other judgments, if given -> (item,)."""
    chosen = np.bincount(judgments.item, minlength=len(judgments.items)) > 0
    if preferences is not None:
        tested = np.zeros(len(chosen) + 1, dtype=np.bool_)
        for side in item_numbers(preferences, judgments):
            tested[side] = True
        chosen &= tested[:-1]
    if also is not None:
        mine = TopLists(judgments.items, judgments.items.topic, np.arange(len(chosen))[:, None], "").labelled_in(also)
        shared = mine.among(judgments.items).item[:, 0]
        chosen &= np.isin(np.arange(len(chosen)), shared)
    return chosen


def _mean_label(judgments: Judgments, *, whole: bool) -> Floats:
    """Return the mean label of every item, as a level of the scale -> (item,); whole: all are chosen in any order."""
    if not judgments.scale.ordered and not whole:
        hint = ["choose documents at random", "take those at the top of runs", "state the order, as in Non<Rel<HRel"]
        raise ScaleError(f"the labels {judgments.scale} have no order, so no document is better", hint=hint)
    n = np.bincount(judgments.item, minlength=len(judgments.items))
    return np.bincount(judgments.item, judgments.label, minlength=len(n)) / np.maximum(n, 1)


def top_of_runs(judgments: JudgmentsLike, runs: RunsLike, k: int | None = None, *, condensed: bool = False) -> TopLists:
    """Take the top K of every run; one list per run and topic.

    k: None: 10, or the median number of judged documents from the top of a list on, if that is less.  condensed: leave
    documents without a label out of a list first.
    """
    judgments = as_judgments(judgments)
    runs = as_runs(runs)
    facts = scan(runs, judgments.items).facts
    labelled = np.bincount(judgments.item, minlength=len(judgments.items)) > 0
    judged = labelled[facts.item]
    owner = np.repeat(np.arange(len(facts.depth)), facts.n_hits)[judged]
    item, rank = facts.item[judged], facts.rank[judged]
    start = np.searchsorted(owner, np.arange(len(facts.depth)))
    place = np.arange(len(owner)) - start[owner] + 1
    whole = place if condensed else np.where(rank == place, place, 0)
    n_whole = np.bincount(owner[whole > 0], minlength=len(facts.depth))
    k = _usual(n_whole[n_whole > 0]) if k is None else _checked(k)
    lists = np.flatnonzero(n_whole >= k)
    chosen = item[start[lists][:, None] + np.arange(k)].astype(np.int64)
    words = "the first K judged documents of each run" if condensed else "the top K of each run"
    return TopLists(judgments.items, facts.topic[lists], chosen.reshape(-1, k), words, len(facts.depth) - len(lists))


def _usual(sizes: Ints) -> int:
    """Return 10, or the lower median of the sizes if that is less; 2 at least."""
    middle = int(np.sort(sizes)[(len(sizes) - 1) // 2]) if len(sizes) else USUAL_K
    return max(2, min(USUAL_K, middle))


def _checked(k: int) -> int:
    if k < 2:
        raise SettingError(f"lists of {counted(k, 'document')} have no order", hint="take 2 or more, such as 5 or 10")
    return k


@dataclass(frozen=True, eq=False)
class ListOrders:
    """Every two documents of lists: pair (list, K (K - 1) / 2) numbers the distinct ones, turned (the same shape) marks
    those in the other orientation; labels are those of the distinct pairs.  topic (list,) is into ``topics``.
    kind (list,): equivalent lists have one number; first (kind,): one list of each; start (kind, K): initial scores.
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
        """Return document-level matrices by label preferences p (label, label), Eqs. (7) and (8) -> (list, K, K)."""
        one = self._one_sided(p, np.arange(len(self.pair)))
        return _square(one, 1 - one, self.k)

    def pdp(self, p: Floats) -> tuple[Floats, Floats]:
        """Return the mean PDP of the lists of every topic, and its standard error, 0 where exact -> both (topic,)."""
        found = entropy_of(scores_of_wins(self._wins(p), self.start))
        n_topics = len(self.topics)
        size = np.bincount(self.topic, minlength=n_topics)
        value = np.bincount(self.topic, found.value[self.kind], minlength=n_topics) / size
        return value, np.sqrt(np.bincount(self.topic, found.error[self.kind] ** 2, minlength=n_topics)) / size

    def pdps(self, many: Sequence[Floats]) -> Floats:
        """Return PDP of every topic by each of many label preferences -> (preferences, topic), computed in blocks.

        Beyond 15 documents entropies are drawn, with the same draws for each of them.
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
        """Start from the scores of these label preferences: quicker for similar ones."""
        return replace(self, start=scores_of_wins(self._wins(p), self.start))

    def _wins(self, p: Floats) -> Floats:
        """Return sums of wins of the documents of every kind of list, in ascending order -> (kind, K)."""
        one = self._one_sided(p, self.first)
        return np.sort(_summed(one, 1 - one, self.k), axis=1)

    @property
    def n_unknown(self) -> int:
        """Number of pairs of documents whose labels could not be paired."""
        return int((np.bincount(self.labels.pair, minlength=self.n_pairs) == 0).sum())

    def _one_sided(self, p: Floats, lists: Ints) -> Floats:
        """Return the clipped probability that the upper document is preferred -> (list, K (K - 1) / 2)."""
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
    """Find equivalent lists -> one of each kind (kind,), the kind of every list (list,).

    Random label preferences, transformed so that sums identify their terms, make a number for every document.
    """
    n_labels = int(max(orders.labels.a.max(initial=0), orders.labels.b.max(initial=0))) + 1
    upper = np.triu(np.random.default_rng(SEED).uniform(0.1, 0.9, (n_labels, n_labels)), 1)
    p = upper + np.tril(1 - upper.T, -1) + 0.5 * np.eye(n_labels)
    one = orders._one_sided(p, orders.first)
    sums = _summed(np.exp(3 * one), np.exp(3 * (1 - one)), orders.k)
    _, first, kind = np.unique(np.round(np.sort(sums, axis=1), DIGITS), axis=0, return_index=True, return_inverse=True)
    return first, kind.ravel()


def _square(upper: Floats, lower: Floats, k: int, *, diagonal: float = 0.5) -> Floats:
    """Return matrices of values above and below the diagonal, each (list, K (K - 1) / 2) -> (list, K, K)."""
    left, right = np.triu_indices(k, 1)
    matrices = np.full((len(upper), k, k), diagonal)
    matrices[:, left, right], matrices[:, right, left] = upper, lower
    return matrices


def _summed(upper: Floats, lower: Floats, k: int) -> Floats:
    """Sum the rows of such matrices, without the diagonal -> (list, K).  O(lists x K^2)."""
    sums: Floats = _square(upper, lower, k, diagonal=0.0).sum(axis=2)
    return sums
