r"""Two engines whose lists differ in quality and in diversity, and which of their documents are labelled.

Engine s goes down its list: at each rank it takes, among the documents not taken yet, the one with the highest

    q_st u(d) / top + z_sd - diversity_s o(d|d'),    q_st ~ N(quality_s, spread²),    z ~ N(0, 1)

d' being the document just above.  Without diversity that is the order of ``venire.analysis.systems``; with it, what
repeats the document above comes later.

Labels are collected as in Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 3.2 (design ``paper``): of a list,
ranks 1 to 5 in isolation, and ranks 2 to 5 given rank 1; for a share of the topics (the paper: three fifths) ranks 1 to
4 given rank 5, for the others ranks 6 to 10 in isolation, and 7 to 10 given rank 6.  So of the neighbours in a list
only (2|1) and (7|6) have labels.  Design ``neighbours`` labels ranks 1 to 5 in isolation, and each of them given the
one above.  A document or a pair that both lists ask for is labelled once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.analysis.context_worth import Contents
from venire.analysis.setting import need_at_least
from venire.data.ids import Category, Ids
from venire.data.runs import RunTable
from venire.types import Bools, Floats, Ints

DEPTH = 10
DESIGNS = ("paper", "neighbours")
SIDES = ("left", "right")
LABELLED = ("both", "left")

_ALWAYS = [(rank, None) for rank in range(5)] + [(rank, 0) for rank in range(1, 5)]
TEMPLATES = {
    "fifth": (*_ALWAYS, *((rank, 4) for rank in range(4))),
    "tenth": (*_ALWAYS, *((rank, None) for rank in range(5, 10)), *((rank, 5) for rank in range(6, 10))),
    "neighbours": (*((rank, None) for rank in range(5)), *((rank, rank - 1) for rank in range(1, 5))),
}
"""Which rank is labelled given which, ranks from 0; None: in isolation."""


@dataclass(frozen=True)
class Engine:
    """A search engine: how well it ranks, and how much it avoids to repeat itself.

    Parameters
    ----------
    quality
        Weight of a document's worth, in standard deviations of the engine's noise; 0: a random order.
    diversity
        What it costs a document to repeat all of the one above, likewise.
    spread
        Standard deviation of how much the quality varies over topics.
    """

    quality: float
    diversity: float = 0.0
    spread: float = 0.5

    def __post_init__(self) -> None:
        for name in ("quality", "diversity", "spread"):
            need_at_least(0, name, getattr(self, name))


def ranked(engine: Engine, contents: Contents, *, rng: np.random.Generator) -> Ints:
    """Rank documents by one engine -> (topic, rank), places of documents.  O(topics x docs x facets x DEPTH)."""
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

    Rows come by topic, document and given, each once.
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
    """Lay a template over the lists of these topics -> topic, doc, given, (row,) each, with repeats."""
    rank = np.array([own for own, _ in TEMPLATES[template]])
    given = np.array([-1 if other is None else other for _, other in TEMPLATES[template]])
    doc = lists[topics][:, :, rank]
    before = np.where(given < 0, -1, lists[topics][:, :, given])
    topic = np.broadcast_to(topics[:, None, None], doc.shape)
    return topic.ravel(), doc.ravel(), before.ravel()


def run_table(name: str, lists: Ints, topics: Ids, docs: Ids) -> RunTable:
    """Make the run of one side; lists (topic, rank)."""
    n_topics, depth = lists.shape
    return RunTable(
        name=name,
        system=Category.constant(name, lists.size),
        topic=Category(np.repeat(np.arange(n_topics, dtype=np.int32), depth), topics),
        doc=Category(lists.ravel().astype(np.int32), docs),
        score=np.tile(np.arange(depth, 0, -1, dtype=np.float64), n_topics),
    )
