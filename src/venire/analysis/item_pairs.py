"""Item pairs: pairs of labels summed up by anything that documents have, and what some assessors said of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.data.judgments import Judgments
from venire.kernels.counts import pair_blocks
from venire.models.pairs import Pairs, distinct_items
from venire.models.predicted_relevance import PredictedRelevance
from venire.models.selection import safe_pairs
from venire.types import Bools, Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class ItemPairs:
    """Labels that are paired, and the judged document (item,) of each item: one has several where it has intents."""

    pairs: Pairs
    document: Codes

    def by_cell(self, cell: Ints, n_cells: int) -> Floats:
        """Count pairs by a number that every document has: cell (document,) -> (cell, first, second).

        Cost: O(items x labels^2); memory: a block of items, and the counts.
        """
        n_labels, own = len(self.pairs.scale), cell[self.document]
        counts = np.zeros((n_cells, n_labels, n_labels))
        for block, pairs in pair_blocks(self.pairs.sides, by_item=self.pairs.weight == "item"):
            for first, second in np.ndindex(n_labels, n_labels):
                counts[:, first, second] += np.bincount(own[block], pairs[:, first, second], minlength=n_cells)
        return counts


def item_pairs(judgments: Judgments, setting: PredictedRelevance) -> ItemPairs:
    """Pair labels up as a fit does, and refuse what it refuses.  O(rows log rows)."""
    pairs = safe_pairs(
        judgments,
        estimator=setting.estimator,
        observed=setting.observed,
        reference=setting.reference,
        weight=setting.weight,
    )
    item, _ = distinct_items(judgments)
    document = np.arange(len(pairs.topic), dtype=np.int32)
    document[item] = judgments.item
    return ItemPairs(pairs, document)


def labelled_share(judgments: Judgments, by: Sequence[str], marked: Bools) -> Floats:
    """Share of a document's labels by these assessors that are marked -> (document,); NaN where they gave none."""
    codes = [judgments.assessor.code_of(name, "assessor") for name in by]
    rows = np.isin(judgments.assessor.codes, codes)
    item, n_items = judgments.item[rows], len(judgments.items)
    n = np.bincount(item, minlength=n_items)
    hits = np.bincount(item, marked[judgments.label[rows]], minlength=n_items)
    return np.where(n > 0, hits / np.maximum(n, 1), np.nan)
