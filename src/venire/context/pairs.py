"""Pairs of documents whose labels are known in isolation and in condition: what a predictor learns from.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 3.1.  A pair is one label g(d|c), with the two labels in
isolation g(d) and g(c).  These are the ones the same assessor gave; where that assessor gave none they are the median
of all that the document got (of an even number the lower of the two in the middle; on a scale without order the most
frequent label, of equals the one that the scale names first).  An assessor's own repeated labels are settled alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.data.conditional import ContextPairs, given_items, is_conditional
from venire.data.judgments import FACETS, Judgments
from venire.errors import AmbiguousLabels, PairsError
from venire.results import counted
from venire.types import Bools, Codes, Ints


@dataclass(frozen=True, eq=False)
class LabelledPairs:
    """Pairs with the label in condition; topic and outcome (pair,), both isolation labels known.

    n_left_out   labels in condition that lack a label in isolation of one of the documents
    n_pooled     labels in isolation, of both documents, that are a median over other assessors
    """

    pairs: ContextPairs
    outcome: Codes
    topic: Codes
    n_left_out: int = 0
    n_pooled: int = 0

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def topics(self) -> Ints:
        """Numbers of the topics that have pairs, ascending."""
        return np.unique(self.topic).astype(np.int64)

    def take(self, rows: Ints | Bools) -> LabelledPairs:
        """Choose pairs."""
        pairs = self.pairs
        chosen = ContextPairs(pairs.item[rows], pairs.given[rows], pairs.label[rows], pairs.given_label[rows])
        return LabelledPairs(chosen, self.outcome[rows], self.topic[rows])

    def notes(self) -> list[str]:
        """Say what was left out, and what stands in for an assessor's own label."""
        words = []
        if self.n_left_out:
            labels = counted(self.n_left_out, "label")
            words.append(f"{labels} in condition left out: a document of the pair has no label in isolation")
        if self.n_pooled:
            labels = counted(self.n_pooled, "label")
            words.append(
                f"{labels} in isolation by the pair's own assessor are missing: the document's median stands in"
            )
        return words


def labelled_pairs(judgments: Judgments) -> LabelledPairs:
    """Join every label in condition with the labels in isolation of both documents.  O(rows log rows)."""
    _refuse_mixture(judgments)
    rows = is_conditional(judgments)
    if not rows.any():
        raise PairsError(
            "no label was given after another document, so there is nothing to learn from",
            hint="name the document read just before in a column 'given', empty for a label in isolation",
        )
    item, given = judgments.item[rows].astype(np.int64), given_items(judgments)[rows]
    assessor = judgments.assessor.codes[rows]
    alone = judgments.take(~rows)
    (label, pooled), (given_label, given_pooled) = (_isolation(alone, each, assessor) for each in (item, given))
    known = (label >= 0) & (given_label >= 0)
    if not known.any():
        raise PairsError(
            f"none of {counted(int(rows.sum()), 'label')} in condition has labels in isolation of both documents",
            hint="rows whose 'given' is empty are labels in isolation; both documents of a pair need one",
        )
    pairs = ContextPairs(item, given, label, given_label)
    found = LabelledPairs(pairs, judgments.label[rows], judgments.items.topic[item]).take(known)
    used = int((pooled & known).sum() + (given_pooled & known).sum())
    return LabelledPairs(found.pairs, found.outcome, found.topic, int((~known).sum()), used)


def _isolation(alone: Judgments, item: Ints, assessor: Codes) -> tuple[Codes, Bools]:
    """Label in isolation by this assessor, else the item's median, else -1; and whether it is the median -> (pair,)."""
    n_assessors = len(alone.assessor.names)
    own = alone.item.astype(np.int64) * n_assessors + alone.assessor.codes
    first = _looked_up(own, alone.label, item * n_assessors + assessor, ordered=alone.scale.ordered)
    pooled = _looked_up(alone.item.astype(np.int64), alone.label, item, ordered=alone.scale.ordered)
    return np.where(first >= 0, first, pooled).astype(np.int32), (first < 0) & (pooled >= 0)


def _looked_up(key: Ints, label: Codes, wanted: Ints, *, ordered: bool) -> Codes:
    """Find the settled label of each wanted key, -1 where it has none."""
    keys, settled = settled_labels(key, label, ordered=ordered)
    if len(keys) == 0:
        return np.full(len(wanted), -1, dtype=np.int32)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, settled[place], -1).astype(np.int32)


def settled_labels(key: Ints, label: Codes, *, ordered: bool) -> tuple[Ints, Codes]:
    """One label for each key: the lower median, or without order the most frequent; both ascending by key.

    key, label (row,) -> distinct keys, their labels (key,).  O(rows log rows).
    """
    if ordered:
        order = np.lexsort((label, key))
        keys, start, n = np.unique(key[order], return_index=True, return_counts=True)
        return keys, label[order][start + (n - 1) // 2]
    cells, times = np.unique(np.stack([key, label.astype(np.int64)]), axis=1, return_counts=True)
    order = np.lexsort((cells[1], -times, cells[0]))
    keys, start = np.unique(cells[0][order], return_index=True)
    return keys, cells[1][order][start].astype(np.int32)


def _refuse_mixture(judgments: Judgments) -> None:
    """Refuse labels for several aspects, intents, units or tasks at once."""
    for name in (name for name in FACETS if name != "given" and name in judgments.facets):
        column = judgments.facets[name]
        values = [column.names[int(code)] for code in np.unique(column.codes)]
        if len(values) > 1:
            shown = ", ".join(repr(value) for value in values[:5])
            raise AmbiguousLabels(
                f"the labels are for {len(values)} different values of {name} ({shown}), and nothing says which counts",
                hint=f"choose with where({name}={values[-1]!r}), on the command line --where {name}={values[-1]}",
            )
