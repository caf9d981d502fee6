"""Top lists: which K documents of a topic an order is asked for; those at the top of every run, or of the pool.

Chu et al. (2021), Section 5.2, take the top K of each run, all of which were judged.  Here a list with a document in
its top K that nobody labelled is left out and counted, or (``condensed``) its first K labelled documents are taken.
Without runs there is no rank: K documents of each topic are drawn at random, among those that occur in preference
tests (*tested*) or among all (*random*).

Which documents are chosen must not depend on the labels that are compared.  Among the K documents that one set of
labels rates *best*, that set says next to nothing, since it has the same label for most of them, and any other set
seems to tell more: of two exchangeable sets the other one always wins.  So *best* is for a look at one set alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from venire.agreement.preference_labels import item_numbers
from venire.data.facts import Facts
from venire.data.judgments import Items, Judgments
from venire.data.preferences import Preferences
from venire.data.runs import Runs
from venire.errors import ScaleError, SettingError, UnknownName
from venire.io.scanning import scan
from venire.tabular import Records, Tabular
from venire.types import Bools, Codes, Floats, Ints, RNGLike
from venire.words import counted

CHOICES = ("tested", "random", "best")
WORDS = {
    "tested": "K documents with preference tests, drawn at random",
    "random": "K documents drawn at random",
    "best": "the K documents with the highest mean label",
}
USUAL_K = 10


@dataclass(frozen=True, eq=False)
class TopLists(Tabular):
    """Lists of K documents each: topic (list,) and item (list, K) into ``items``; ``left_out`` counts those too short.

    ``words`` say how documents were chosen.
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
        """Documents in a list."""
        return self.item.shape[1]

    def among(self, items: Items) -> TopLists:
        """The same documents as numbered by other judgments; lists with a document that they lack are left out."""
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
        """Those lists whose documents all have a label among these judgments, as numbered there."""
        found = self.among(judgments.items)
        labelled = np.bincount(judgments.item, minlength=len(judgments.items)) > 0
        kept = labelled[found.item].all(axis=1)
        left_out = found.left_out + int((~kept).sum())
        return replace(found, topic=found.topic[kept], item=found.item[kept], left_out=left_out)

    def sentence(self) -> str:
        """Say what the lists hold, and how many were too short."""
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
    if choose == "runs" and runs is None:
        raise SettingError(
            "there are no runs to take lists from", hint="give runs, or choose tested or random documents"
        )
    if choose == "best" and also is not None:
        hint = "choose tested or random documents, or those of runs"
        raise SettingError("the best documents by one set of labels favour the other set", hint=hint)
    if choose == "runs" and runs is not None:
        lists = top_of_runs(judgments, runs, k, condensed=condensed)
        lists = lists if also is None else lists.labelled_in(also).labelled_in(judgments)
    else:
        lists = top_of_pool(judgments, k, preferences, choose=choose, also=also, rng=rng)
    if k is not None:
        refuse_no_list(lists, judgments)
    return lists


def top_of_pool(
    judgments: Judgments,
    k: int | None = None,
    preferences: Preferences | None = None,
    *,
    choose: str | None = None,
    also: Judgments | None = None,
    rng: RNGLike = 0,
) -> TopLists:
    """Choose K labelled documents of every topic that has as many; one list per topic.

    k: None: 10, or what the middle topic has, if that is less.  choose: at "random", or among those that are "tested"
    by preferences (the default where these are given); or the "best" by mean label, which takes labels with an order
    unless all documents are chosen.  also: other judgments that must have labels of the documents too.
    """
    choose = choose or ("random" if preferences is None else "tested")
    if choose not in CHOICES:
        raise UnknownName("choice", choose, CHOICES)
    item = np.flatnonzero(_eligible(judgments, preferences if choose == "tested" else None, also))
    topic = judgments.items.topic[item]
    n_docs = np.bincount(topic, minlength=len(judgments.items.topics))
    k = _usual(n_docs[n_docs > 0]) if k is None else _checked(k)
    whole = k >= n_docs.max(initial=0) > 0
    first = (
        -_mean_level(judgments, whole=whole)[item] if choose == "best" else np.random.default_rng(rng).random(len(item))
    )
    order = np.lexsort((item, first, topic))
    there = np.flatnonzero(n_docs >= k).astype(np.int32)
    chosen = item[order][np.searchsorted(topic[order], there)[:, None] + np.arange(k)]
    words = WORDS[choose]
    if whole and len(there):
        words = "all documents with preference tests" if choose == "tested" else "all documents of a topic"
    return TopLists(judgments.items, there, chosen, words, int(((n_docs > 0) & (n_docs < k)).sum()))


def _eligible(judgments: Judgments, preferences: Preferences | None, also: Judgments | None) -> Bools:
    """Documents with labels, among those with tests and those of other judgments, if given -> (item,)."""
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


def _mean_level(judgments: Judgments, *, whole: bool) -> Floats:
    """Mean label of every item, as a level of the scale -> (item,); whole: all are chosen, any order will do."""
    if not judgments.scale.ordered and not whole:
        raise ScaleError(
            f"the labels {judgments.scale} have no order, so no document is better than another",
            hint=[
                'draw documents at random (choose="random", --choose random)',
                "take those at the top of runs",
                'say the order of the labels, as in --scale "Non<Rel<HRel"',
            ],
        )
    n = np.bincount(judgments.item, minlength=len(judgments.items))
    return np.bincount(judgments.item, judgments.label, minlength=len(n)) / np.maximum(n, 1)


def top_of_runs(judgments: Judgments, runs: Runs, k: int | None = None, *, condensed: bool = False) -> TopLists:
    """Take the top K of every run; one list per run and topic.

    k: None: 10, or what the middle list has judged from its top on, if that is less.  condensed: leave documents that
    nobody labelled out of a list first.
    """
    facts = scan(runs, judgments.items)
    rank = _ranks(facts, judgments)
    judged = rank > 0
    owner = np.repeat(np.arange(len(facts.depth)), facts.n_hits)[judged]
    item, rank = facts.item[judged], rank[judged]
    start = np.searchsorted(owner, np.arange(len(facts.depth)))
    place = np.arange(len(owner)) - start[owner] + 1
    whole = place if condensed else np.where(rank == place, place, 0)
    n_whole = np.bincount(owner[whole > 0], minlength=len(facts.depth))
    k = _usual(n_whole[n_whole > 0]) if k is None else _checked(k)
    lists = np.flatnonzero(n_whole >= k)
    chosen = item[start[lists][:, None] + np.arange(k)].astype(np.int64)
    words = "the first K judged documents of each run" if condensed else "the top K of each run"
    return TopLists(judgments.items, facts.topic[lists], chosen.reshape(-1, k), words, len(facts.depth) - len(lists))


def _ranks(facts: Facts, judgments: Judgments) -> Floats:
    """Rank of every hit, 0 where its item has no label among these judgments -> (hit,)."""
    labelled = np.bincount(judgments.item, minlength=len(judgments.items)) > 0
    return np.where(labelled[facts.item], facts.rank, 0).astype(np.float64)


def _usual(sizes: Ints) -> int:
    """10, or the lower middle of the sizes if that is less; 2 at least."""
    middle = int(np.sort(sizes)[(len(sizes) - 1) // 2]) if len(sizes) else USUAL_K
    return max(2, min(USUAL_K, middle))


def _checked(k: int) -> int:
    if k < 2:
        raise SettingError(f"lists of {counted(k, 'document')} have no order", hint="take 2 or more, such as 5 or 10")
    return k


def refuse_no_list(lists: TopLists, judgments: Judgments) -> None:
    """Refuse a number of documents that no list has; say how many there are."""
    if len(lists):
        return
    n_docs = np.bincount(judgments.items.topic[np.unique(judgments.item)])
    raise SettingError(
        f"no list has {counted(lists.k, 'judged document')}; the topic with most has {n_docs.max():,}",
        hint=["ask for fewer documents with --top", "leave documents that nobody judged out of runs with --condensed"],
    )
