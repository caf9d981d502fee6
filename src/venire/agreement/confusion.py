"""Confusion of every two assessors: how often they gave the same item which two labels, in long form.

Several labels of an assessor for an item share its weight, so every item that both judged counts once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.agreement.with_others import summed
from venire.data.label_pairs import distinct_items, refuse_mixed
from venire.data.scale import Scale
from venire.errors import PairsError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.kernels.distinct import numbered
from venire.results import Tabular, counted
from venire.types import Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class Confusions(Tabular):
    """Labels of two assessors on the same items: first < second in order, their labels, how many items (cell,)."""

    scale: Scale
    assessors: tuple[str, ...]
    first: Ints
    second: Ints
    label: Ints
    other: Ints
    n: Floats

    def pairs(self) -> list[tuple[str, str]]:
        """Name the pairs of assessors who share items."""
        n, key = len(self.assessors), np.unique(self.first * len(self.assessors) + self.second)
        return [(self.assessors[each // n], self.assessors[each % n]) for each in key]

    def n_shared(self) -> dict[tuple[str, str], float]:
        """Count the items that each pair of assessors shares; pairs without any are omitted."""
        n, names = len(self.assessors), self.assessors
        key, number = numbered(self.first * n + self.second)
        total = summed(number, self.n).tolist()
        return {(names[each // n], names[each % n]): count for each, count in zip(key.tolist(), total, strict=True)}

    def matrix(self, a: str, b: str) -> Floats:
        """Counts of two assessors, the labels of a in rows -> (label, label)."""
        for name in (a, b):
            if name not in self.assessors:
                raise UnknownName("assessor", name, self.assessors)
        one, two = self.assessors.index(a), self.assessors.index(b)
        rows = (self.first == min(one, two)) & (self.second == max(one, two))
        size = len(self.scale)
        counts = summed(self.label[rows] * size + self.other[rows], self.n[rows], size * size)
        counts = counts.reshape(size, size)
        return counts if one < two else counts.T

    def records(self) -> list[dict[str, Any]]:
        """Return one row per pair of assessors and pair of labels."""
        names, labels = self.assessors, self.scale.labels
        columns = zip(self.first, self.second, self.label, self.other, self.n.tolist(), strict=True)
        return [
            {"a": names[a], "b": names[b], "label_a": labels[one], "label_b": labels[other], "n": n}
            for a, b, one, other, n in columns
        ]

    def sentence(self) -> str:
        """Say how often two assessors gave the same label."""
        total = float(self.n.sum())
        same, pairs = (
            float(self.n[self.label == self.other].sum()) / max(total, 1.0),
            counted(len(self.pairs()), "pair"),
        )
        return f"Two assessors gave the same item the same label in {same:.0%} of {total:,.0f} cases, over {pairs}."


def confusions(judgments: JudgmentsLike) -> Confusions:
    '''Count labels of every two assessors on the items that both judged.

    Cost: O(rows log rows + pairs of labels on the same item); memory: the cells that are not empty.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> found = confusions(read_grid("""
    ...     2 1 . 0
    ...     2 2 1 0"""))
    >>> found.matrix("U1", "U2")
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 0., 1.]])
    '''
    judgments = as_judgments(judgments)
    refuse_mixed(judgments)
    item, _ = distinct_items(judgments)
    who, n_assessors, n_labels = judgments.assessor.codes, len(judgments.assessor.names), len(judgments.scale)
    order = np.lexsort((who, item))
    item, who, label = item[order], who[order], judgments.label[order]
    key, weight = _counted_pairs(item, who, label, (n_assessors, n_labels))
    if not len(key):
        raise PairsError(
            "no item was judged by two assessors, so there is no confusion between them",
            hint="have some items judged a second time",
        )
    columns = (key // n_labels**2 // n_assessors, key // n_labels**2 % n_assessors, key // n_labels % n_labels)
    return Confusions(judgments.scale, judgments.assessors, *columns, key % n_labels, weight)


def _counted_pairs(item: Codes, who: Codes, label: Codes, sizes: tuple[int, int]) -> tuple[Ints, Floats]:
    """Multiply the sparse table of items by assessors and labels with itself -> keys and weights (cell,)."""
    from scipy.sparse import coo_array

    cell = np.cumsum(np.append(True, (item[1:] != item[:-1]) | (who[1:] != who[:-1]))[: len(item)]) - 1
    weight = (1.0 / np.bincount(cell, minlength=1))[cell]
    n_assessors, n_labels = sizes
    side = who.astype(np.int64) * n_labels + label
    given = coo_array((weight, (item, side)), (int(item.max(initial=-1)) + 1, n_assessors * n_labels)).tocsr()
    both = (given.T @ given).tocoo()
    (first, one), (second, other) = (np.divmod(each.astype(np.int64), n_labels) for each in both.coords)
    key = ((first * n_assessors + second) * n_labels + one) * n_labels + other
    found = np.flatnonzero(first < second)
    found = found[np.argsort(key[found])]
    return key[found], both.data[found]
