"""Facts: the result of one scan of the runs, independent of the labels.

A *list* is one system's ranking for one topic; a *hit* is a judged item in a list.  Facts hold the ranks of the hits
and the depths of the lists; labels and gains come later, so one scan serves every assessor, gain and simulated judge.

Measures read lists in padded blocks: lists of similar length side by side, whose *slots* are the judged items in rank
order (or all ranks, where unjudged documents have a gain).  Gains have one row per judge, so that every array a measure
reads is (judge, list, slot).  Two extra items stand for an unjudged document and for padding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from venire.data.judgments import Items
from venire.errors import TopicsError
from venire.kernels.ragged import blocks, gather, offsets
from venire.types import Bools, Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class Facts:
    """Lists: system, topic, depth (list,).  Hits: offset (list + 1,) into rank (from 1) and item (hit,), by rank."""

    items: Items
    systems: tuple[str, ...]
    system: Codes
    topic: Codes
    depth: Ints
    offset: Ints
    rank: Codes
    item: Codes
    unjudged_topics: tuple[str, ...] = ()

    @property
    def n_hits(self) -> Ints:
        """Hits per list -> (list,)."""
        return np.diff(self.offset)


def no_common_topic(of_runs: Iterable[str], judged: Iterable[str]) -> TopicsError:
    """Return the error for runs and judgments on different topics, with some of both."""
    run, other = (", ".join(map(repr, islice(names, 3))) for names in (of_runs, judged))
    message = f"the runs and the judgments have no topic in common: the runs have {run}, the judgments {other}"
    return TopicsError(message, hint="topic ids must be identical; venire inspect shows those of each file")


CELLS = 1 << 20
NOWHERE = 1 << 30
"""The rank of padding: beyond every cut-off."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """The input of a measure.

    gains, judged (judge, list, slot); rank (list, slot) or (judge, list, slot), ascending, NOWHERE in padding;
    depth (list,); ideal: the value of the measure for the best ranking, (judge, list, ...), or None.
    """

    gains: Floats
    rank: Ints
    judged: Bools
    depth: Ints
    ideal: Floats | None = None

    def upto(self, k: int | None) -> Ranked:
        """Drop everything below rank k."""
        if k is None:
            return self
        seen = self.rank <= k
        slots = np.flatnonzero(seen.any(axis=tuple(range(seen.ndim - 1))))
        width = int(slots[-1]) + 1 if len(slots) else 0
        seen = seen[..., :width]
        gains, judged = self.gains[..., :width] * seen, self.judged[..., :width] & seen
        return replace(self, gains=gains, rank=self.rank[..., :width], judged=judged)

    def by_rank(self, depth: int) -> Floats:
        """Return gains by rank, zero without a judged document -> (judge, list, depth)."""
        rank = np.broadcast_to(self.rank, self.gains.shape)
        table = np.zeros((*self.gains.shape[:-1], depth + 1))
        np.put_along_axis(table, np.minimum(rank - 1, depth), self.gains, axis=-1)
        return table[..., :depth]


@dataclass(frozen=True, eq=False)
class Block:
    """Lists side by side: their numbers (list,), rank and item (list, slot), depth (list,)."""

    lists: Ints
    rank: Ints
    item: Codes
    depth: Ints


def list_blocks(facts: Facts, n_items: int, *, depth: int | None, every_rank: bool, n_judges: int) -> Iterator[Block]:
    """Cut lists at ``depth`` and arrange them in blocks.  O(hits), or O(ranks) with ``every_rank``."""
    unjudged, nothing = n_items, n_items + 1
    cells = max(1, CELLS // n_judges)
    rank, item, start = facts.rank, facts.item, facts.offset
    if depth is not None:
        kept = rank <= depth
        start = offsets(kept.astype(np.int64))[facts.offset]
        rank, item = rank[kept], item[kept]
    counts = np.diff(start)
    reach = facts.depth if depth is None else np.minimum(facts.depth, depth)
    rank, item = np.append(rank, NOWHERE), np.append(item, nothing)
    for lists, width in blocks(reach if every_rank else counts, cells=cells):
        cell = gather(start[lists], counts[lists], int(counts[lists].max(initial=0)), padding=len(rank) - 1)
        if not every_rank:
            yield Block(lists, rank[cell].astype(np.int64), item[cell], facts.depth[lists])
            continue
        place = np.arange(1, width + 1)
        inside = place <= reach[lists][:, None]
        every = np.where(inside, unjudged, nothing).astype(np.int32)
        every = np.concatenate([every, np.full((len(lists), 1), nothing, dtype=np.int32)], axis=1)
        np.put_along_axis(every, np.minimum(rank[cell] - 1, width), item[cell], axis=1)
        yield Block(lists, np.where(inside, place, NOWHERE), every[:, :width], facts.depth[lists])


def topic_blocks(n_items_of: Ints, nothing: int, *, n_judges: int) -> Iterator[tuple[Ints, Ints]]:
    """Arrange the items of each topic in blocks: numbers of the topics (topic,), items (topic, slot)."""
    start = offsets(n_items_of)
    for topics, width in blocks(n_items_of, cells=max(1, CELLS // n_judges)):
        yield topics, gather(start[topics], n_items_of[topics], width, padding=nothing)


def copies(judged: Bools, group: Ints) -> Bools:
    """Mark judged documents that are copies of a judged document higher up in the same list.

    judged (judge, list, slot), group (list, slot) -> (judge, list, slot)
    """
    order = np.argsort(group, axis=-1, kind="stable")
    ordered = np.take_along_axis(group, order, axis=-1)
    slot = np.arange(group.shape[-1])
    starts = np.append(np.ones((len(group), 1), dtype=np.bool_), ordered[:, 1:] != ordered[:, :-1], axis=1)
    first = np.maximum.accumulate(np.where(starts[:, : len(slot)], slot, 0), axis=-1)
    ordered_judged = np.take_along_axis(judged, order[None], axis=-1)
    above = ordered_judged.cumsum(axis=-1) - ordered_judged
    again = ordered_judged & (above > np.take_along_axis(above, first[None], axis=-1))
    return np.take_along_axis(again, np.argsort(order, axis=-1)[None], axis=-1)
