"""Runs: the rankings of any number of systems, as sources and rules; a Scan adds where judged items are in them.

A source is a file, or columns already in memory.  The rules define how lines become ranked lists.  Every rule can
change a score, so all rules are listed here.

The result of a scan is Facts.  A *list* is one system's ranking for one topic; a *hit* is a judged item in a list.
Facts hold the ranks of the hits and the depths of the lists; labels and gains come later, so one scan serves every
assessor, gain and simulated judge.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np

from venire.data.ids import Category
from venire.data.judgments import Intents, Items
from venire.errors import TopicsError
from venire.kernels.ragged import copied, offsets
from venire.results import Records, Tabular, counted
from venire.types import Bools, Codes, Floats, Ints

ORDERS = ("score", "rank")
SCORE_TYPES = ("float64", "float32")
DUPLICATE_DOCS = ("error", "first")
SYSTEM_FROM = ("tag", "file")


@dataclass(frozen=True, kw_only=True)
class RunRules:
    """How lines become lists.

    order : "score" (descending) or "rank" (the rank column, ascending); ties by document id, descending bytewise.
    score_type : "float64", or "float32" as in trec_eval 9 and pytrec_eval, where close scores become ties.
    duplicate_docs : a document that occurs twice in a list is an "error", or only its "first" line counts.
    system_from : the system is the run's "tag", or the name of its "file".
    """

    order: str = "score"
    score_type: str = "float64"
    duplicate_docs: str = "error"
    system_from: str = "tag"


@dataclass(frozen=True, eq=False)
class RunTable:
    """Runs in memory, all columns (row,); optional: ranks, and the line of each row in its file."""

    name: str
    system: Category
    topic: Category
    doc: Category
    score: Floats
    rank: Floats | None = None
    line: Ints | None = None


@dataclass(frozen=True, eq=False)
class Runs(Tabular):
    """Sources of runs and the rules to read them by."""

    sources: tuple[Path | RunTable, ...]
    rules: RunRules = RunRules()

    def sentence(self) -> str:
        """Return a summary in one line."""
        return f"Runs from {counted(len(self.sources), 'source')}, ranked by {self.rules.order}"

    def records(self) -> Records:
        """Return one row per source; numbers of systems and lines are known for sources in memory only."""
        return [
            {"source": each.name, "kind": "memory", "systems": len(each.system.names), "lines": len(each.score)}
            if isinstance(each, RunTable)
            else {"source": each.name, "kind": "file", "systems": None, "lines": None}
            for each in self.sources
        ]

    def __repr__(self) -> str:
        names = [source.name for source in self.sources[:3]]
        more = ", ..." if len(self.sources) > 3 else ""
        return f"<Runs: {', '.join(names)}{more} ({counted(len(self.sources), 'source')})>"


@dataclass(frozen=True, eq=False)
class Facts:
    """Lists: system, topic, depth (list,).  Hits: offset (list + 1,) into rank (from 1) and item (hit,), by rank.

    silent: systems that were left out, since they returned nothing (``measures.list_facts.with_results``).
    """

    items: Items
    systems: tuple[str, ...]
    system: Codes
    topic: Codes
    depth: Ints
    offset: Ints
    rank: Codes
    item: Codes
    unjudged_topics: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def n_hits(self) -> Ints:
        """Hits per list -> (list,)."""
        return np.diff(self.offset)

    def documents(self, marked: Bools, *, depth: int | None = None) -> Ints:
        """Count the documents of each list, down to a depth, with a marked item; marked (item,) -> (list,).

        A document that is judged for several intents counts once.
        """
        some = np.flatnonzero(marked[self.item] & (self.rank <= (depth or np.inf)))
        lists, rank = np.repeat(np.arange(len(self.depth)), self.n_hits)[some], self.rank[some]
        other = (np.diff(lists, prepend=-1) != 0) | (np.diff(rank, prepend=0) != 0)
        return np.bincount(lists[other], minlength=len(self.depth))

    def by_name(self) -> Facts:
        """Sort the systems by name, and the lists by system and topic, so that the order of files does not matter."""
        order = np.array(sorted(range(len(self.systems)), key=self.systems.__getitem__), dtype=np.int64)
        system = np.argsort(order).astype(np.int32)[self.system]
        return replace(
            self._ordered(lists := np.lexsort((self.topic, system))),
            systems=tuple(self.systems[n] for n in order),
            system=system[lists],
            unjudged_topics=tuple(sorted(self.unjudged_topics)),
        )

    def by_topic(self) -> Facts:
        """Sort the lists by topic, so that those of a topic stand together."""
        lists = np.argsort(self.topic, kind="stable")
        return self if bool((self.topic[1:] >= self.topic[:-1]).all()) else self._ordered(lists)

    def of_topics(self, first: int, last: int) -> Facts:
        """Return the lists for topics first..last-1 and hits on their items alone; lists are ``by_topic``."""
        some, items = self.items.of_topics(first, last)
        lists = slice(*np.searchsorted(self.topic, [first, last]).tolist())
        offset = self.offset[lists.start : lists.stop + 1]
        hits = slice(int(offset[0]), int(offset[-1]))
        return replace(
            self,
            items=items,
            system=self.system[lists],
            topic=self.topic[lists] - np.int32(first),
            depth=self.depth[lists],
            offset=offset - offset[0],
            rank=self.rank[hits],
            item=self.item[hits] - np.int32(some.start),
        )

    def _ordered(self, lists: Ints) -> Facts:
        """Put the lists into an order (list,)."""
        start = offsets(self.n_hits[lists])
        hits = np.repeat(self.offset[:-1][lists] - start[:-1], self.n_hits[lists]) + np.arange(len(self.rank))
        return replace(
            self,
            system=self.system[lists],
            topic=self.topic[lists],
            depth=self.depth[lists],
            offset=start,
            rank=self.rank[hits],
            item=self.item[hits],
        )

    def by_intent(self, items: Items, intents: Intents) -> Facts:
        """Replace each hit of a document by hits of the items that are this document for an intent, at the same rank.

        Cost: O(hits x intents of a document).
        """
        first = offsets(np.bincount(intents.document, minlength=len(intents.documents)))
        hits, place = copied(np.diff(first)[self.item])
        item = (first[self.item[hits]] + place).astype(np.int32)
        offset = np.searchsorted(hits, self.offset)
        return replace(self, items=items, offset=offset, rank=self.rank[hits], item=item)

    def by_need(self, intents: Intents, *, depth: int | None = None) -> tuple[Facts, Ints]:
        """Split each list, down to a depth, into one list per intent that it has hits for: these, and which it was.

        The topics of the parts are needs.  Only for facts by intent.  Cost: O(hits log hits).
        """
        seen = np.arange(len(self.rank)) if depth is None else np.flatnonzero(self.rank <= depth)
        owner = np.repeat(np.arange(len(self.depth)), self.n_hits)[seen]
        key = owner * max(len(intents.topic), 1) + intents.need[self.item[seen]]
        order = np.argsort(key, kind="stable")
        start = np.flatnonzero(np.diff(key[order], prepend=-1))
        hits, lists = seen[order], owner[order[start]]
        split = replace(
            self,
            system=self.system[lists],
            topic=intents.need[self.item[hits[start]]],
            depth=self.depth[lists],
            offset=np.append(start, len(hits)),
            rank=self.rank[hits],
            item=self.item[hits],
        )
        return split, lists

    def of_systems(self, chosen: Ints) -> Facts:
        """Keep the lists of some systems, in the order of their numbers (ascending)."""
        kept = np.isin(self.system, chosen)
        hits = np.repeat(kept, self.n_hits)
        return replace(
            self,
            systems=tuple(self.systems[n] for n in chosen.tolist()),
            system=np.searchsorted(chosen, self.system[kept]).astype(np.int32),
            topic=self.topic[kept],
            depth=self.depth[kept],
            offset=offsets(self.n_hits[kept]),
            rank=self.rank[hits],
            item=self.item[hits],
        )


@dataclass(frozen=True, eq=False, repr=False)
class Scan(Runs):
    """Runs that were scanned for the items of some judgments (``io.runs.scan``): facts says where these items are.

    A Scan can be given wherever runs are expected.  Functions that need the same items do not read the sources again.
    """

    facts: Facts = field(kw_only=True)


def no_common_topic(of_runs: Iterable[str], judged: Iterable[str]) -> TopicsError:
    """Return the error for runs and judgments on different topics, with some of both."""
    run, other = (", ".join(map(repr, islice(names, 3))) or "none" for names in (of_runs, judged))
    message = f"the runs and the judgments have no topic in common: the runs have {run}, the judgments {other}"
    return TopicsError(message, hint="topic ids must be identical; venire inspect shows those of each file")
