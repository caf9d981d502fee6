r"""Copies: assessors whose labels are the same on every item that both labelled, too many items to be chance.

Two judges who work independently do not agree on everything.  Let n be the number of items that both labelled, and
:math:`p_c = \sum_l s_l^2` the agreement that their labels with shares s would have by chance.  Judges with a kappa as
high as .9, which independent ones hardly reach, agree on an item with probability :math:`r = 1 - .1\,(1 - p_c)`, and on
all n with :math:`r^n`.  If they do agree on all, and :math:`r^n < .001`, one set of labels is taken for a copy of the
other: a file read twice, a model asked twice.  It tells nothing of what an independent judge would say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.primary import cases, first_rows
from venire.types import Codes, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

KAPPA, CHANCE = 0.9, 0.001
FEWEST = int(np.log(CHANCE) / np.log(KAPPA))
"""Fewer items than these never tell a copy."""
MOST = 4
"""How many copies are named."""


class Copy(NamedTuple):
    """An assessor who repeats another's labels, and on how many items."""

    first: str
    second: str
    n_items: int

    def sentence(self) -> str:
        """Say it in one sentence."""
        return (
            f"{self.second} is a copy of {self.first}, not an independent judge: all {self.n_items:,} items that both "
            "labelled have the same label"
        )


def copies(judgments: Judgments, assessors: Collection[str] | None = None) -> tuple[Copy, ...]:
    """Find copies among all assessors, or among these; of two, the one whose labels come first is the original.

    Of labels that an assessor repeats for an item, the last counts.  Cost: O(rows log rows + pairs of labels on the
    same item).
    """
    codes, case, n_labels = judgments.assessor.codes, cases(judgments), len(judgments.scale)
    chosen = None if assessors is None else [name in set(assessors) for name in judgments.assessors]
    rows = np.arange(len(codes))[::-1] if chosen is None else np.flatnonzero(np.array(chosen)[codes])[::-1]
    _, last = np.unique(codes[rows].astype(np.int64) * (case.max(initial=0) + 1) + case[rows], return_index=True)
    rows = rows[last]
    item, cell = (_table(codes[rows], column) for column in (case[rows], case[rows] * n_labels + judgments.label[rows]))
    met = (item @ item.T).tocoo()
    enough = (met.row < met.col) & (met.data >= FEWEST)
    order, names, equal = first_rows(judgments), judgments.assessors, (cell @ cell.T).tocsr()
    found = []
    for a, b, n in zip(met.row[enough].tolist(), met.col[enough].tolist(), met.data[enough].tolist(), strict=True):
        if equal[a, b] == n and _no_chance((cell[[a]] * cell[[b]]).indices % n_labels):
            one, two = sorted((a, b), key=lambda code: int(order[code]))
            found.append(Copy(names[one], names[two], int(n)))
    return tuple(found)


def copy_notes(found: Iterable[Copy], *names: str) -> list[str]:
    """Say which assessors are copies, of these alone if any are named; not more than a few."""
    said = [each.sentence() for each in found if not names or {each.first, each.second} & set(names)]
    more = [f"{len(said) - MOST} more pairs of assessors are copies"] if len(said) > MOST else []
    return said[:MOST] + more


def _table(row: Codes, column: Ints) -> csr_array[Any, Any]:
    """A sparse table of ones."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(row), dtype=np.int64), (row, column)))


def _no_chance(label: Ints) -> bool:
    """Whether labels that are all shared, (item,), are too many and too varied to be shared by chance."""
    share = np.bincount(label) / len(label)
    agreement = 1 - (1 - KAPPA) * (1 - (share**2).sum())
    return bool(len(label) * np.log(agreement) < np.log(CHANCE))
