"""Primary labels: one label per item where assessors shared the work, and the others as second opinions.

In many collections nobody judged everything: each topic went to one assessor, and a part of it to a second.  The label
of an item by whoever judged most of its topic is its *primary* one.  All primary labels together are as good as one
assessor's for scoring; the rest tells how far another judge would differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from venire.data.ids import Category, Ids
from venire.data.judgments import Judgments
from venire.types import Bools, Floats, Ints

PRIMARY = "primary assessors"


def coverage(judgments: Judgments) -> Floats:
    """Share of the judged items that each assessor judged -> (assessor,).  O(rows log rows)."""
    n_items = len(judgments.items)
    cell = np.unique(judgments.assessor.codes.astype(np.int64) * n_items + judgments.item)
    judged = max(len(np.unique(judgments.item)), 1)
    return np.bincount(cell // max(n_items, 1), minlength=len(judgments.assessors)) / judged


def first_rows(judgments: Judgments) -> Ints:
    """Row of the first label of each assessor -> (assessor,)."""
    return np.unique(judgments.assessor.codes, return_index=True)[1]


def by_coverage(judgments: Judgments) -> list[str]:
    """Names of the assessors: who judged the most comes first, and of those whose labels come first."""
    order = np.lexsort((first_rows(judgments), -coverage(judgments)))
    return [judgments.assessors[n] for n in order.tolist()]


def primary_rows(judgments: Judgments, *, but: Sequence[str] = (), order: Sequence[str] = ()) -> Bools:
    """Mark one label per item (and document read before, aspect, ...): by the assessor who judged most of its topic.

    Of two who judged as much, the one who comes first in ``order``, by default that of ``by_coverage``; of an
    assessor's repeated labels, the last.  but: assessors whose labels are never the primary ones.
    """
    topic, n_assessors = judgments.items.topic[judgments.item], len(judgments.assessors)
    place = {name: number for number, name in enumerate(order or by_coverage(judgments))}
    rank = np.array([place[name] for name in judgments.assessors], dtype=np.int64)[judgments.assessor.codes]
    cell = topic.astype(np.int64) * n_assessors + judgments.assessor.codes
    left_out = np.isin(judgments.assessors, list(but))[judgments.assessor.codes]
    load, case = np.where(left_out, 0, np.bincount(cell)[cell]), cases(judgments)
    rows = np.lexsort((-np.arange(len(cell)), rank, -load, case))
    marked = np.zeros(len(cell), dtype=np.bool_)
    marked[rows[np.append(True, case[rows][1:] != case[rows][:-1])[: len(rows)]]] = True
    return marked & ~left_out


def cases(judgments: Judgments) -> Ints:
    """Number what was judged: an item, under the facets there are -> (row,)."""
    case = judgments.item.astype(np.int64)
    for column in judgments.facets.values():
        case = np.unique(case * len(column.names) + column.codes, return_inverse=True)[1]
    return case


def with_primary(
    judgments: Judgments, name: str = PRIMARY, *, but: Sequence[str] = (), order: Sequence[str] = ()
) -> Judgments:
    """Give the primary labels to an assessor of this name; the others, and all of those in ``but``, stay whose."""
    names = [*judgments.assessors, name]
    whose = np.where(primary_rows(judgments, but=but, order=order), len(names) - 1, judgments.assessor.codes)
    used, codes = np.unique(whose, return_inverse=True)
    return replace(judgments, assessor=Category(codes.astype(np.int32), Ids.of(names[code] for code in used)))
