"""Blocks of lists, and of topics, as padded arrays.

Lists of similar length lie side by side; their *slots* are the judged items in rank order, or all ranks where unjudged
documents have a gain.  Two extra items stand for an unjudged document and for padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from venire.data.runs import Facts
from venire.kernels.ragged import blocks, gather, offsets
from venire.measures.measure import NOWHERE
from venire.types import Codes, Ints

CELLS = 1 << 20
"""How many cells (judge x list x slot) a block has."""


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
