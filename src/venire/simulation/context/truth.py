r"""Worth of documents alone and after another one; two engines that rank them; and which documents are labelled.

Two engines differ in quality and in diversity.  At each rank engine s takes, among the remaining documents, the one
with the highest

    q_st u(d) / top + z_sd - diversity_s o(d|d'),    q_st ~ N(quality_s, spread²),    z ~ N(0, 1)

d' being the document above.  Without diversity this is the order of ``venire.simulation.systems``; with diversity,
documents that repeat the one above are ranked lower.

Labels are collected as in Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 3.2 (design ``paper``): of a list,
ranks 1 to 5 in isolation, and ranks 2 to 5 given rank 1; for a share of the topics (the paper: three fifths) ranks 1 to
4 given rank 5, for the others ranks 6 to 10 in isolation, and 7 to 10 given rank 6.  So of the neighbours in a list
only (2|1) and (7|6) have labels.  Design ``neighbours`` labels ranks 1 to 5 in isolation, and each of them given the
one above.  A document or a pair that occurs in both lists is labelled once.

A topic has facets of information; document d of worth u(d), from 0 to the top of the scale, covers a set C_d of them.
Given c, read immediately before,

    o(d|c) = |C_d ∩ C_c| / |C_d|            share of d that is also in c                 ``overlap``
    n(d|c) = |C_d \ C_c| / |F \ C_c|        share of what c does not cover that is in d  ``supplement``
    u(d|c) = u(d) (1 - redundancy o(d|c) + complementarity n(d|c)),  at most the top     ``worth_given``

A repetition is worth less, a document that complements the previous one is worth more, and a worthless one remains
worthless.  With redundancy = complementarity = 0 context has no effect.  Golbus et al. (2014), Section 3.1, describe
both effects in words; the formula is ours.

Distribution of the contents: u(d) / top ~ Beta(shape), and d covers facet f of topic t with probability
π_tf (1 - breadth (1 - u(d) / top)), where π_tf is the power ``rarity`` of a number ~ U(0, 1): a few facets are
frequent and most are rare, so that of two documents one mostly repeats the other or is unrelated to it; and better
documents cover more facets.  A document that covers none is given one at random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.data.ids import Category, Ids
from venire.data.runs import RunTable
from venire.simulation.context.setting import DEPTH, ContextSetting, Engine
from venire.types import Bools, Codes, Floats, Ints

Places = Ints | Codes


@dataclass(frozen=True, eq=False)
class Contents:
    """Documents of every topic: ``worth`` (topic, doc), ``covers`` (topic, doc, facet); and the effect of context.

    Examples
    --------
    >>> covers = np.array([[[True, True, False], [True, False, False], [False, True, True]]])
    >>> contents = Contents(np.array([[2.0, 3.0, 2.0]]), covers, top=4, redundancy=0.5, complementarity=0.2)
    >>> contents.worth_given(np.array([0, 0]), np.array([1, 2]), np.array([0, 0]))
    array([1.5, 1.9])
    """

    worth: Floats
    covers: Bools
    top: int
    redundancy: float
    complementarity: float

    def overlap(self, topic: Places, doc: Places, given: Places) -> Floats:
        """Return o(d|c), the share of a document that is also in the previous one; all (row,).  O(rows x facets)."""
        own, before = self.covers[topic, doc], self.covers[topic, given]
        return np.asarray((own & before).sum(axis=-1) / own.sum(axis=-1), dtype=np.float64)

    def supplement(self, topic: Places, doc: Places, given: Places) -> Floats:
        """Return n(d|c), the share of what the previous document does not cover; 0 where it covers everything."""
        own, before = self.covers[topic, doc], self.covers[topic, given]
        not_covered = (~before).sum(axis=-1)
        return np.asarray((own & ~before).sum(axis=-1) / np.maximum(not_covered, 1), dtype=np.float64)

    def worth_given(self, topic: Places, doc: Places, given: Places) -> Floats:
        """Return u(d|c), or u(d) where ``given`` is -1; all of one shape -> that shape."""
        alone, before = self.worth[topic, doc], np.maximum(given, 0)
        lost = self.redundancy * self.overlap(topic, doc, before)
        gained = self.complementarity * self.supplement(topic, doc, before)
        return np.where(given < 0, alone, np.minimum(alone * (1 - lost + gained), self.top))

    def along(self, lists: Places, context: float) -> Floats:
        """Return the utility of each document of ranked lists, Eq. (1): (1 - context) u(d) + context u(d|previous).

        lists (topic, ..., rank) -> (topic, ..., rank)
        """
        before = np.concatenate([np.full_like(lists[..., :1], -1), lists[..., :-1]], axis=-1)
        topic = np.arange(len(lists)).reshape(-1, *[1] * (lists.ndim - 1))
        return (1 - context) * self.worth[topic, lists] + context * self.worth_given(topic, lists, before)


def draw_contents(setting: ContextSetting, *, rng: np.random.Generator) -> Contents:
    """Draw the worth and the facets of all documents."""
    worth = setting.top * rng.beta(*setting.shape, size=(setting.n_topics, setting.docs_per_topic))
    covers = draw_facets(worth / setting.top, setting.n_facets, setting.rarity, setting.breadth, rng=rng)
    return Contents(worth, covers, setting.top, setting.redundancy, setting.complementarity)


def draw_facets(share: Floats, n_facets: int, rarity: float, breadth: float, *, rng: np.random.Generator) -> Bools:
    """Draw the facets of documents; share (topic, doc) of the top worth -> (topic, doc, facet), at least one each."""
    common = rng.random((len(share), 1, n_facets)) ** rarity
    covers = rng.random((*share.shape, n_facets)) < common * (1 - breadth * (1 - share[..., None]))
    own = np.arange(n_facets) == rng.integers(n_facets, size=(*share.shape, 1))
    return np.asarray(covers | (own & ~covers.any(axis=-1, keepdims=True)))


SIDES = ("left", "right")

_ALWAYS = [(rank, None) for rank in range(5)] + [(rank, 0) for rank in range(1, 5)]
TEMPLATES = {
    "fifth": (*_ALWAYS, *((rank, 4) for rank in range(4))),
    "tenth": (*_ALWAYS, *((rank, None) for rank in range(5, 10)), *((rank, 5) for rank in range(6, 10))),
    "neighbours": (*((rank, None) for rank in range(5)), *((rank, rank - 1) for rank in range(1, 5))),
}
"""Labelled ranks and the rank that is given, from 0; None: in isolation."""


def ranked(engine: Engine, contents: Contents, *, rng: np.random.Generator) -> Ints:
    """Rank documents by one engine -> (topic, rank), numbers of documents.  O(topics x docs x facets x DEPTH)."""
    n_topics, n_docs = contents.worth.shape
    quality = engine.quality + engine.spread * rng.standard_normal((n_topics, 1))
    score = quality * contents.worth / contents.top + rng.standard_normal((n_topics, n_docs))
    rows, docs = np.arange(n_topics), np.broadcast_to(np.arange(n_docs), (n_topics, n_docs))
    lists = np.empty((n_topics, min(DEPTH, n_docs)), dtype=np.int64)
    penalty: Floats | float = 0.0
    for rank in range(lists.shape[1]):
        taken = (score - penalty).argmax(axis=1)
        lists[:, rank] = taken
        score[rows, taken] = -np.inf
        if engine.diversity:
            penalty = engine.diversity * contents.overlap(rows[:, None], docs, taken[:, None])
    return lists


def labelled_rows(lists: Ints, fifth: Bools, design: str) -> tuple[Ints, Ints, Ints]:
    """Choose what is labelled; lists (topic, list, rank), fifth (topic,) -> topic, doc, given (-1: none), (row,) each.

    Rows are sorted by topic, document and given, without repeats.
    """
    parts = (("fifth", fifth), ("tenth", ~fifth)) if design == "paper" else ((design, np.ones_like(fifth)),)
    found = [_asked(lists, np.flatnonzero(topics), name) for name, topics in parts]
    topic, doc, given = (np.concatenate(column) for column in zip(*found, strict=True))
    n_docs = int(lists.max()) + 1
    key = np.unique((topic * n_docs + doc) * (n_docs + 1) + given + 1)
    pair, given = np.divmod(key, n_docs + 1)
    topic, doc = np.divmod(pair, n_docs)
    return topic, doc, given - 1


def _asked(lists: Ints, topics: Ints, template: str) -> tuple[Ints, Ints, Ints]:
    """Apply a template to the lists of these topics -> topic, doc, given, (row,) each, with repeats."""
    rank = np.array([own for own, _ in TEMPLATES[template]])
    given = np.array([-1 if other is None else other for _, other in TEMPLATES[template]])
    doc = lists[topics][:, :, rank]
    before = np.where(given < 0, -1, lists[topics][:, :, given])
    topic = np.broadcast_to(topics[:, None, None], doc.shape)
    return topic.ravel(), doc.ravel(), before.ravel()


def run_table(name: str, lists: Ints, topics: Ids, docs: Ids) -> RunTable:
    """Return the run of one side; lists (topic, rank)."""
    n_topics, depth = lists.shape
    return RunTable(
        name=name,
        system=Category.constant(name, lists.size),
        topic=Category(np.repeat(np.arange(n_topics, dtype=np.int32), depth), topics),
        doc=Category(lists.ravel().astype(np.int32), docs),
        score=np.tile(np.arange(depth, 0, -1, dtype=np.float64), n_topics),
    )
