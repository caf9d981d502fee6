"""Top lists: which K documents of a topic an order is asked for; those at the top of every run, or of the pool.

Chu et al. (2021), Section 5.2, take the top K of each run, all of which were judged.  Here a list with a document in
its top K that nobody labelled is left out and counted, or (``condensed``) its first K labelled documents are taken.
Without runs there is no rank: the pool's *best* documents are those with the highest mean label (the top of the ideal
list, ties by name), or K are drawn at random.  Best documents depend on the labels; to compare two label
settings choose the lists once and use them for both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from venire.data.facts import Facts
from venire.data.judgments import Items, Judgments
from venire.data.runs import Runs
from venire.errors import ScaleError, SettingError, UnknownName
from venire.io.scanning import scan
from venire.tabular import Records, Tabular
from venire.types import Codes, Floats, Ints, RNGLike
from venire.words import counted

CHOICES = ("best", "random")
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

    def sentence(self) -> str:
        """Say what the lists hold, and how many were too short."""
        short = f"; {counted(self.left_out, 'list')} too short" if self.left_out else ""
        return f"{counted(len(self), 'list')} of {counted(self.k, 'document')}: {self.words}{short}."

    def records(self) -> Records:
        """Return one row per list: its topic and documents."""
        topics = self.items.topics.take(self.topic)
        docs = list(self.items.doc.take(self.item.ravel()))
        return [{"topic": topic, "docs": docs[n * self.k : (n + 1) * self.k]} for n, topic in enumerate(topics)]


def top_of_pool(judgments: Judgments, k: int | None = None, *, choose: str = "best", rng: RNGLike = 0) -> TopLists:
    """Choose K labelled documents of every topic that has as many; one list per topic.

    k: None: 10, or what the middle topic has, if that is less.  choose: "best" by mean label, which takes labels with
    an order unless all documents are chosen; or "random".
    """
    if choose not in CHOICES:
        raise UnknownName("choice", choose, CHOICES)
    labelled = np.bincount(judgments.item, minlength=len(judgments.items))
    item = np.flatnonzero(labelled)
    topic = judgments.items.topic[item]
    n_docs = np.bincount(topic, minlength=len(judgments.items.topics))
    k = _usual(n_docs[n_docs > 0]) if k is None else _checked(k)
    if choose == "best" and not judgments.scale.ordered and k < n_docs.max(initial=0):
        raise ScaleError(
            f"the labels {judgments.scale} have no order, so no document is better than another",
            hint=[
                'draw documents at random (choose="random", --choose random)',
                "take those at the top of runs",
                'say the order of the labels, as in --scale "Non<Rel<HRel"',
            ],
        )
    if choose == "best":
        level = np.bincount(judgments.item, judgments.label, minlength=len(labelled))[item] / labelled[item]
        order = np.lexsort((item, -level, topic))
    else:
        order = np.lexsort((np.random.default_rng(rng).random(len(item)), topic))
    start = np.searchsorted(topic[order], np.flatnonzero(n_docs >= k))
    chosen = item[order][start[:, None] + np.arange(k)]
    words = "the K documents with the highest mean label" if choose == "best" else "K documents drawn at random"
    if k >= n_docs.max(initial=0):
        words = "all documents of a topic"
    there = np.flatnonzero(n_docs >= k).astype(np.int32)
    return TopLists(judgments.items, there, chosen, words, int(((n_docs > 0) & (n_docs < k)).sum()))


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
