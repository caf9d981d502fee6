"""Strata of a sampled pool: documents of a topic that had the same probability to be drawn for judging.

A stratum has N documents of the pool, n of them judged, and each of these stands for N / n documents.  Documents that
were not drawn belong to it by the probability beside their negative label (``Undrawn``).  If the probabilities of a
topic are all the same, or not known, its whole pool is one stratum, as in a uniform sample.  Where there are several,
each has to be known and judged in part: a document without a probability, a pool without documents that were not drawn,
and a stratum without a judged document are errors.  Assessors may have had samples of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.data.judgments import Items
from venire.data.panel import Panel
from venire.errors import MeasureError
from venire.kernels.ragged import offsets
from venire.measures.measure import Strata
from venire.types import Bools, Floats, Ints

STATAP = "use statAP, which needs the judged documents only"
POOL = "give each document of the pool that was not drawn a row with the label -1 and its probability"
UNKNOWN = (
    "document {doc!r} of topic {topic!r} was not judged{by} and has no probability, and those of others differ: infAP "
    "cannot tell its stratum",
    POOL,
)
WHOLE = (
    "all documents of topic {topic!r} were judged{by}, though with different probabilities: infAP needs those that "
    "were not drawn, too",
    POOL,
)
EMPTY = (
    "no document of topic {topic!r} with the probability {p:g} was judged{by}: infAP cannot infer how many of this "
    "stratum are relevant",
    "leave the topic out of the judgments",
)
SECOND = "document {doc!r} of topic {topic!r} has rows{by} with different probabilities", "keep one of them"


def strata_of(panel: Panel, items: Items, first: int, last: int) -> Strata | None:
    """Divide the pools of judges first..last-1 into strata -> (judge, item + 2); None if each pool is one stratum.

    The two items that no topic has are a stratum of their own.  Cost: O(n log n) in judges x items.
    """
    pools = Pools.of(panel, items, first, last)
    if len(pools.levels) < 2:
        return None
    n_items_of = np.bincount(items.topic, minlength=len(items.topics))
    topics = np.flatnonzero(n_items_of)
    start, place = offsets(n_items_of)[topics], np.repeat(np.arange(len(topics)), n_items_of[topics])
    n_judged = np.add.reduceat(pools.judged, start, axis=1, dtype=np.int64)
    lowest = np.minimum.reduceat(np.where(pools.level < 0, len(pools.levels), pools.level), start, axis=1)
    several = (lowest < np.maximum.reduceat(pools.level, start, axis=1)) & (n_judged > 0)
    if not several.any():
        return None
    inside = several[:, place]
    pools.refuse(inside & (pools.level < 0), UNKNOWN)
    pools.refuse(inside & (n_judged == n_items_of[topics])[:, place], WHOLE)
    pool = np.arange(last - first)[:, None] * len(topics) + place
    cell = pool * len(pools.levels) + np.where(inside, pools.level, 0)
    _, number, size = np.unique(cell.ravel(), return_inverse=True, return_counts=True)
    sampled = np.bincount(number, weights=pools.judged.ravel(), minlength=len(size))
    number = number.reshape(cell.shape)
    pools.refuse(inside & (sampled == 0)[number], EMPTY)
    weight = np.append(np.where(sampled > 0, size / np.maximum(sampled, 1), 1.0), 1.0)
    return Strata(np.pad(number, [(0, 0), (0, 2)], constant_values=len(size)), weight)


class Pools(NamedTuple):
    """What judges were asked: probabilities that occur, levels (level,), ascending; level, judged (judge, item).

    level: the number of the probability, -1 where it is not known.  several: whether there are other judges.
    """

    levels: Floats
    level: Ints
    judged: Bools
    items: Items
    judges: tuple[str | None, ...]
    several: bool

    @classmethod
    def of(cls, panel: Panel, items: Items, first: int, last: int) -> Pools:
        """Find the probability of every item for judges first..last-1 of a panel that knows probabilities."""
        rows, judges = slice(*np.searchsorted(panel.judge, [first, last])), panel.judges[first:last]
        chance = np.ones(len(panel.judge))[rows] if panel.probability is None else panel.probability[rows]
        cell = (panel.judge[rows].astype(np.int64) - first) * len(items) + panel.item[rows]
        left, theirs = _undrawn(items, judges)
        levels = np.unique(np.append(chance, theirs))
        level, judged = np.full((len(judges), len(items)), -1), np.zeros((len(judges), len(items)), dtype=np.bool_)
        level.flat[left], level.flat[cell] = np.searchsorted(levels, theirs), np.searchsorted(levels, chance)
        judged.flat[cell] = True
        pools, second = cls(levels, level, judged, items, judges, len(panel.judges) > 1), np.zeros_like(judged)
        for cells, given in ((cell, chance), (left, theirs)):
            second.flat[cells[levels[level.flat[cells]] != given]] = True
        pools.refuse(second, SECOND)
        return pools

    def refuse(self, wrong: Bools, fault: tuple[str, str]) -> None:
        """Raise at the first item (judge, item) that is wrong; fault: a message, and a way out."""
        if not wrong.any():
            return
        judge, item = np.argwhere(wrong)[0].tolist()
        message = fault[0].format(
            doc=self.items.doc[item],
            topic=self.items.topics[int(self.items.topic[item])],
            by=f" by {self.judges[judge]!r}" if self.several else "",
            p=self.levels[self.level[judge, item]],
        )
        raise MeasureError(message, hint=[fault[1], STATAP])


def _undrawn(items: Items, judges: tuple[str | None, ...]) -> tuple[Ints, Floats]:
    """Cells (judge x item) that were not drawn for these judges, and their probabilities; both (row,)."""
    if items.undrawn is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    place = {name: n for n, name in enumerate(judges)}
    judge = np.array([place.get(name, -1) for name in items.undrawn.assessor.names], dtype=np.int64)
    judge = judge[items.undrawn.assessor.codes]
    rows = judge >= 0
    return judge[rows] * len(items) + items.undrawn.item[rows], items.undrawn.probability[rows]
