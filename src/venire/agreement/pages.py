"""Pages: what was judged, with copies of a document taken as one page.

A page judged for several intents, or after several other documents, is a separate page each time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.errors import PairsError
from venire.io.duplicates import Duplicates, groups_of
from venire.models.pairs import refuse_mixed
from venire.types import Bools, Codes


class Pages(NamedTuple):
    """Labels by page: page, assessor, label (row,); topic (page,)."""

    page: Codes
    assessor: Codes
    label: Codes
    topic: Codes

    def take(self, rows: Bools) -> Pages:
        """Choose rows; pages keep their numbers."""
        return self._replace(page=self.page[rows], assessor=self.assessor[rows], label=self.label[rows])


def pages_of(judgments: Judgments, duplicates: Duplicates | None = None) -> Pages:
    """Number the pages that were judged; copies of a document for one topic are one page.  O(rows log rows)."""
    refuse_mixed(judgments)
    if len(judgments) == 0:
        raise PairsError("there is no label to pair", hint="; ".join(judgments.notes) or None)
    item = judgments.item if duplicates is None else groups_of(duplicates, judgments.items)[judgments.item]
    key = item.astype(np.int64)
    for name in ("intent", "given"):
        if name in judgments.facets:
            facet = judgments.facets[name]
            key = key * len(facet.names) + facet.codes
    _, first, page = np.unique(key, return_index=True, return_inverse=True)
    topic = judgments.items.topic[judgments.item[first]]
    return Pages(page.astype(np.int32), judgments.assessor.codes, judgments.label, topic)
