"""What a predictor of conditional labels learns from: pairs of labelled documents, and features of documents or pairs.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 3.1.  A pair is one label g(d|c) with the two labels in
isolation g(d) and g(c).  These are the labels of the same assessor.  Where that assessor gave none, they are the median
of all labels of the document (the lower of two middle ones; on a scale without order the most frequent label, the first
of several).  Repeated labels of one assessor are combined in the same way.

A table of features has the columns topic and doc, perhaps given, and numbers under any other name.  Without ``given`` a
row describes a document, and a pair has the features of both documents: ``x`` of the document, ``given x`` of the one
read before.  With ``given`` a row describes the pair.  A missing value is replaced by the mean of the training pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.data.context import ContextPairs
from venire.data.judgments import Items, Judgments, given_items, is_conditional
from venire.data.panel import in_isolation
from venire.errors import FormatError, PairsError, SettingError
from venire.io.side_files import FeatureRows, read_features
from venire.results import Note, counted
from venire.types import Bools, Codes, Floats, Ints

GIVEN = "given "


@dataclass(frozen=True, eq=False)
class LabelledPairs:
    """Pairs with their conditional label: topic and outcome (pair,); both labels in isolation are known.

    n_left_out   conditional labels without a label in isolation of one of the documents
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
        return LabelledPairs(self.pairs.take(rows), self.outcome[rows], self.topic[rows])

    def notes(self) -> tuple[Note, ...]:
        """Return what was left out, and where a median replaces an assessor's own label."""
        words = "{n:conditional label} left out: a document of the pair has no label in isolation"
        left_out = Note("no-isolation-label", words, n=self.n_left_out)
        words = "{n:label} in isolation not given by the assessor of the pair: the median of the document is used"
        return tuple(note for note in (left_out, Note("median-label", words, n=self.n_pooled)) if note.fields["n"])


def labelled_pairs(judgments: Judgments) -> LabelledPairs:
    """Join every conditional label with the labels in isolation of both documents.  O(rows log rows)."""
    alone, rows = in_isolation(judgments)[0], is_conditional(judgments)
    if not rows.any():
        hint = "name the document read just before in a column 'given', empty for a label in isolation"
        raise PairsError("there is no conditional label to learn from", hint=hint)
    item, given = judgments.item[rows].astype(np.int64), given_items(judgments)[rows]
    assessor = judgments.assessor.codes[rows]
    (label, pooled), (given_label, given_pooled) = (_isolation(alone, each, assessor) for each in (item, given))
    known = (label >= 0) & (given_label >= 0)
    if not known.any():
        message = f"none of {counted(int(rows.sum()), 'conditional label')} has labels in isolation of both documents"
        hint = "rows whose 'given' is empty are labels in isolation; both documents of a pair need one"
        raise PairsError(message, hint=hint)
    pairs = ContextPairs(item, given, label, given_label).take(known)
    used = int((pooled & known).sum() + (given_pooled & known).sum())
    outcome, topic = judgments.label[rows][known], judgments.items.topic[item][known]
    return LabelledPairs(pairs, outcome, topic, int((~known).sum()), used)


def _isolation(alone: Judgments, item: Ints, assessor: Codes) -> tuple[Codes, Bools]:
    """Label in isolation by this assessor, else the item's median, else -1; and whether it is the median -> (pair,)."""
    n, by_item, found = len(alone.assessor.names), alone.item.astype(np.int64), []
    for key, wanted in ((by_item * n + alone.assessor.codes, item * n + assessor), (by_item, item)):
        keys, labels = resolve_labels(key, alone.label, ordered=alone.scale.ordered)
        found.append(np.append(labels, -1)[_places(keys, wanted)].astype(np.int32))
    own, pooled = found
    return np.where(own >= 0, own, pooled), (own < 0) & (pooled >= 0)


def _places(keys: Ints, wanted: Ints) -> Ints:
    """Find each wanted key among ascending keys -> its place, -1 where it is missing."""
    if len(keys) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def resolve_labels(key: Ints, label: Codes, *, ordered: bool) -> tuple[Ints, Codes]:
    """Combine labels by key: the lower median, or without order the most frequent; both ascending by key.

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


@dataclass(frozen=True, eq=False)
class Features:
    """Features of documents among certain items, or of pairs of them.

    names    of the columns of a pair
    paired   whether rows describe pairs (key = item x items + given) or documents (key = item)
    key      (row,), ascending; values (row, column of the table), NaN where there is none
    """

    names: tuple[str, ...]
    paired: bool
    key: Ints
    values: Floats
    n_items: int

    def of(self, pairs: ContextPairs) -> Floats:
        """Return features of pairs, NaN where there are none -> (pair, column)."""
        if int(max(pairs.item.max(initial=-1), pairs.given.max(initial=-1))) >= self.n_items:
            message = f"the features are for {self.n_items:,} items, and a pair names one beyond them"
            raise SettingError(message, hint="bind them to these judgments: model.with_features(judgments, features)")
        if not self.paired:
            return np.hstack([self._found(pairs.item), self._found(pairs.given)])
        given = pairs.given.astype(np.int64)
        return self._found(np.where(given >= 0, pairs.item.astype(np.int64) * self.n_items + given, -1))

    def _found(self, wanted: Ints) -> Floats:
        place = _places(self.key, wanted)
        return np.where((place >= 0)[:, None], self.values[place], np.nan)


def bound_features(source: Any, judgments: Judgments) -> Features | None:
    """Read features (a file, a frame of polars or pandas, columns by name) of the items of these judgments.

    Rows on documents that were not judged are left out; None stays None.  O(rows log rows).
    """
    if source is None or isinstance(source, Features):
        return source
    rows, n_items = read_features(source), len(judgments.items)
    paired = "given" in rows.named
    item = _items(rows, "doc", judgments.items)
    given = _items(rows, "given", judgments.items) if paired else item
    known = np.flatnonzero((item >= 0) & (given >= 0))
    if len(known) == 0:
        message, hint = "describes no document that was judged", "topics and documents are those of the judgments"
        raise FormatError(rows.where, None, message, hint=hint)
    key = (item * n_items + given if paired else item)[known]
    order = known[np.argsort(key, kind="stable")]
    key = np.sort(key)
    repeated = np.flatnonzero(np.diff(key) == 0)
    if len(repeated):
        first, second = sorted(rows.line[order][repeated[0] : repeated[0] + 2].tolist())
        raise FormatError(rows.where, second, f"describes the same as line {first}", hint="keep one of the lines")
    names = rows.columns if paired else (*rows.columns, *(f"{GIVEN}{name}" for name in rows.columns))
    return Features(names, paired, key, rows.values[order], n_items)


def _items(rows: FeatureRows, name: str, items: Items) -> Ints:
    """Return the item number of each document of a column, -1 for documents that were not judged -> (row,)."""
    topic, doc = rows.named["topic"], rows.named[name]
    return items.numbers_of(topic.names, topic.codes, doc.names.slices.take(doc.codes))


@dataclass(frozen=True, eq=False)
class Standard:
    """Standardisation of features: (x - centre) / spread, both (column,), 0 where there is no value."""

    names: tuple[str, ...]
    paired: bool
    centre: Floats
    spread: Floats

    @classmethod
    def of(cls, features: Features, values: Floats) -> Standard:
        """Take mean and standard deviation over pairs (pair, column); a column without spread or values is kept."""
        present = ~np.isnan(values)
        n = np.maximum(present.sum(axis=0), 1)
        centre = np.where(present, values, 0.0).sum(axis=0) / n
        spread = np.sqrt(np.where(present, (values - centre) ** 2, 0.0).sum(axis=0) / n)
        return cls(features.names, features.paired, centre, np.where(spread > 0, spread, 1.0))

    def __call__(self, values: Floats) -> Floats:
        """Standardise features (pair, column); a missing value becomes the mean."""
        return np.nan_to_num((values - self.centre) / self.spread, nan=0.0)
