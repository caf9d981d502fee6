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


def primary_rows(judgments: Judgments, *, but: Sequence[str] = ()) -> Bools:
    """Mark one label per item (and document read before, aspect, ...): by the assessor who judged most of its topic.

    Of two who judged as much, the first by name; of an assessor's repeated labels, the last.  but: assessors whose
    labels are never the primary ones.
    """
    topic, n_assessors = judgments.items.topic[judgments.item], len(judgments.assessors)
    cell = topic.astype(np.int64) * n_assessors + judgments.assessor.codes
    left_out = np.isin(judgments.assessors, list(but))[judgments.assessor.codes]
    load, case = np.where(left_out, 0, np.bincount(cell)[cell]), _cases(judgments)
    order = np.lexsort((-np.arange(len(cell)), judgments.assessor.codes, -load, case))
    marked = np.zeros(len(cell), dtype=np.bool_)
    marked[order[np.append(True, case[order][1:] != case[order][:-1])[: len(order)]]] = True
    return marked & ~left_out


def _cases(judgments: Judgments) -> Ints:
    """Number what was judged: an item, under the facets there are -> (row,)."""
    case = judgments.item.astype(np.int64)
    for column in judgments.facets.values():
        case = np.unique(case * len(column.names) + column.codes, return_inverse=True)[1]
    return case


def with_primary(judgments: Judgments, name: str = PRIMARY, *, but: Sequence[str] = ()) -> Judgments:
    """Give the primary labels to an assessor of this name; the others, and all of those in ``but``, stay whose."""
    names = [*judgments.assessors, name]
    whose = np.where(primary_rows(judgments, but=but), len(names) - 1, judgments.assessor.codes)
    used, codes = np.unique(whose, return_inverse=True)
    return replace(judgments, assessor=Category(codes.astype(np.int32), Ids.of(names[code] for code in used)))
