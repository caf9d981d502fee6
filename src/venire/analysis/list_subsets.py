"""List subsets: p(R|i) from good lists and from bad ones, from the top of lists and from all of them.

Demeester et al. (2014), Section 6.2 and Table 3: a list is of high quality if an assessor gave at least one of its
results a label in R.  p(R|i) is estimated from the documents of such lists, of the others, and of all; each from the
upper half of the ranks and from all of them.  A document that lists of both kinds return counts in both.

Every item is in some of these subsets and not in others; pairs are counted once by which, and summed up from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.analysis.item_pairs import ItemPairs, labelled_share
from venire.analysis.result_lists import ResultLists
from venire.data.judgments import Judgments
from venire.kernels.shares import shares
from venire.models.relevance import RelevantSets
from venire.types import Bools, Floats, Ints

KINDS = ("all", "high-quality", "low-quality")


@dataclass(frozen=True, eq=False)
class ListSubset:
    """p(R|i) and pairs (relevant, label) from lists of one kind, down to rank ``top`` (None: all that was judged)."""

    lists: str
    top: int | None
    p: Floats
    pairs: Floats


def list_subsets(
    judgments: Judgments,
    lists: ResultLists,
    paired: ItemPairs,
    *,
    by: tuple[str, ...],
    relevant: RelevantSets,
    top: int,
) -> tuple[ListSubset, ...]:
    """p(R|i) from all lists, those of high quality and the others, down to half the depth and the whole."""
    depths = sorted({max(top // 2, 1), top}) if lists.rank is not None else [None]
    keys = [(kind, depth) for depth in depths for kind in KINDS]
    found = [_members(judgments, lists, by, marked, depths) for marked in relevant.labels]
    p, n = np.full((2, len(keys), len(relevant.names), len(judgments.scale)), np.nan)
    for row, members in enumerate(found):
        bits = (members << np.arange(len(keys))[:, None]).sum(axis=0)
        used, cell = np.unique(bits, return_inverse=True)
        counts = paired.by_cell(cell, len(used))
        inside = (used >> np.arange(len(keys))[:, None] & 1).astype(np.float64)
        sums = np.tensordot(inside, counts, axes=1)
        p[:, row], n[:, row] = (each[:, 0] for each in shares(sums, relevant.labels[[row]]))
    return tuple(ListSubset(kind, depth, p[k], n[k]) for k, (kind, depth) in enumerate(keys))


def _members(
    judgments: Judgments, lists: ResultLists, by: tuple[str, ...], marked: Bools, depths: Sequence[int | None]
) -> Ints:
    """Whether an item is in a list of each kind and depth -> (depth x kind, item), 0 or 1."""
    hit = np.nan_to_num(labelled_share(judgments, by, marked)) > 0
    high = lists.sums(hit) > 0
    rows = []
    for depth in depths:
        kept = lists if depth is None else lists.upto(depth)
        for chosen in (np.ones_like(high), high, ~high):
            inside = np.zeros(len(judgments.items), dtype=np.int64)
            inside[kept.item[chosen[kept.owner]]] = 1
            rows.append(inside)
    return np.array(rows)
