"""Pooled pairs: each label of a crowd, and the label that the others gave the item.

What does the pooled label of a crowd say about one more person?  The pool of all contains that person's label, and so
agrees with it too often.  So every label is paired with the most frequent label of the *other* assessors of the item,
the lowest of equally frequent ones (leave one out).  The pool of the others has one label fewer than that of all, so
estimates are slightly cautious.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venire.data.assessors import last_rows
from venire.data.ids import Category, Ids
from venire.data.judgments import Judgments, number_items
from venire.data.panel import in_isolation


def pooled_pairs(judgments: Judgments, name: str) -> Judgments:
    r"""Return an item for each label that others share its item with: the label, and by ``name`` that of the others.

    Conditional labels are left out; of those that an assessor repeats, the last counts.  Cost: O(rows x labels), in
    time and memory.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> pairs = pooled_pairs(read_grid("1 0\n1 0\n0 ."), "others")
    >>> pairs.column("label").texts()[:5], pairs.where(assessor="others").column("label").texts()
    (['1', '1', '0', '0', '0'], ['0', '0', '1', '0', '0'])
    """
    labels = in_isolation(judgments)[0]
    labels = labels.take(last_rows(labels))
    rest = labels.label_counts()[labels.item]
    rest[np.arange(len(labels)), labels.label] -= 1
    met = np.flatnonzero(rest.sum(axis=1))
    kept, pooled = labels.take(met), rest[met].argmax(axis=1).astype(np.int32)
    n = len(kept)
    docs = Category(np.arange(n, dtype=np.int32), Ids.of(str(number) for number in range(n)))
    items, item = number_items(kept.column("topic"), docs)
    codes = np.append(kept.assessor.codes, np.full(n, len(kept.assessors), dtype=np.int32))
    held = replace(kept, items=items, facets={}, time=None, probability=None, reference=(), machines=(), prompts={})
    return replace(
        held,
        item=np.tile(item, 2),
        assessor=Category(codes, Ids.of([*kept.assessors, name])),
        label=np.append(kept.label, pooled),
    )
