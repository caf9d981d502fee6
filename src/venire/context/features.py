"""Features of documents, or of pairs of documents, that help to predict a conditional label.

A table has the columns topic and doc, perhaps given, and numbers under any other name.  Without ``given`` a row
describes a document, and a pair has the features of both: ``x`` of the document read, ``given x`` of the one before.
With ``given`` a row describes the pair itself.  Tables are CSV, TSV, JSONL (also gz or zst), Parquet, data frames, and
columns by name.  Where a pair has no value, the mean of the pairs learnt from is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from venire.data.conditional import ContextPairs
from venire.data.ids import Category
from venire.data.judgments import Items, Judgments
from venire.errors import FormatError, SettingError
from venire.io.sources import finite_numbers, frame_of, read_frame
from venire.io.tables.cells import encoded, texts
from venire.io.tables.columns import Form
from venire.types import Floats, Ints

GIVEN = "given "
NAMES = ("topic", "doc", "given")
HINT = "a table of features has the columns topic, doc, perhaps given, and numbers"


class FeatureRows(NamedTuple):
    """Features as read: topic, doc and perhaps given (row,), the names of the numbers, and values (row, column).

    line (row,) and where are for errors.
    """

    named: Mapping[str, Category]
    columns: tuple[str, ...]
    values: Floats
    line: Ints
    where: object


def read_features(source: Any) -> FeatureRows:
    """Read features from a file, a frame of polars or pandas, or columns by name; lines of a frame count its rows."""
    rows = read_frame(Path(source)) if isinstance(source, (str, Path)) else frame_of(source, "features")
    frame, line, where = rows
    columns = tuple(name for name in frame.columns if name not in NAMES)
    if not {"topic", "doc"} <= set(frame.columns) or not columns:
        raise FormatError(where, None, f"found the columns {', '.join(frame.columns) or '(none)'}", hint=HINT)
    if frame.height == 0:
        raise FormatError(where, None, "holds no features", hint=HINT)
    cells = {name: texts(frame[name], where, line).fill_null("") for name in NAMES if name in frame.columns}
    named = {name: encoded(cell.alias(name), Form(where), line) for name, cell in cells.items()}
    hint = "features are finite numbers; a cell may be empty"
    values = np.column_stack([finite_numbers(rows, name, hint=hint) for name in columns])
    return FeatureRows(named, columns, values, line, where)


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
        """Features of pairs, NaN where there are none -> (pair, column)."""
        if int(max(pairs.item.max(initial=-1), pairs.given.max(initial=-1))) >= self.n_items:
            raise SettingError(
                f"the features are for {self.n_items:,} items, and a pair names one beyond them",
                hint="bind them to these judgments: model.with_features(judgments, features)",
            )
        if self.paired:
            given = pairs.given.astype(np.int64)
            return self._found(np.where(given >= 0, pairs.item.astype(np.int64) * self.n_items + given, -1))
        return np.hstack([self._found(pairs.item), self._found(pairs.given)])

    def _found(self, wanted: Ints) -> Floats:
        values = np.full((len(wanted), self.values.shape[1]), np.nan)
        if len(self.key):
            place = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
            found = self.key[place] == wanted
            values[found] = self.values[place[found]]
        return values


def bound_features(source: Any, judgments: Judgments) -> Features:
    """Read features (a file, a frame of polars or pandas, columns by name) of the items of these judgments.

    Rows about documents that nobody judged are left out.  O(rows log rows).
    """
    if isinstance(source, Features):
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
    _refuse_repeats(key, rows.line[order], rows.where)
    names = rows.columns if paired else (*rows.columns, *(f"{GIVEN}{name}" for name in rows.columns))
    return Features(names, paired, key, rows.values[order], n_items)


def _items(rows: FeatureRows, name: str, items: Items) -> Ints:
    """Number the documents of a column among the items, -1 where they are not there -> (row,)."""
    topic, doc = rows.named["topic"], rows.named[name]
    return items.numbers_of(topic.names, topic.codes, doc.names.slices.take(doc.codes))


def _refuse_repeats(key: Ints, line: Ints, where: object) -> None:
    again = np.flatnonzero(np.diff(key) == 0)
    if len(again):
        first, second = sorted(line[again[0] : again[0] + 2].tolist())
        raise FormatError(where, second, f"describes the same as line {first}", hint="keep one of the lines")


@dataclass(frozen=True, eq=False)
class Standard:
    """How features were made comparable: (x - centre) / spread, both (column,), 0 where there is no value."""

    names: tuple[str, ...]
    paired: bool
    centre: Floats
    spread: Floats

    def __call__(self, values: Floats) -> Floats:
        """Standardise features (pair, column); a missing value becomes the mean."""
        return np.nan_to_num((values - self.centre) / self.spread, nan=0.0)


def standard_of(features: Features, values: Floats) -> Standard:
    """Mean and standard deviation of features over pairs; a column without spread or values is left as it is."""
    there = ~np.isnan(values)
    n = np.maximum(there.sum(axis=0), 1)
    centre = np.where(there, values, 0.0).sum(axis=0) / n
    spread = np.sqrt(np.where(there, (values - centre) ** 2, 0.0).sum(axis=0) / n)
    return Standard(features.names, features.paired, centre, np.where(spread > 0, spread, 1.0))
