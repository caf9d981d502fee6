"""A table with a row for each label, in codes: every block is encoded as it comes, and its text let go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np

from venire.data.ids import Category, Ids, narrow
from venire.data.judgments import FACETS
from venire.engine.local import map_partitions
from venire.errors import FormatError
from venire.io.tables.blocks import TableRows
from venire.io.tables.cells import EXACT, checked_names, probabilities, seconds, texts
from venire.io.tables.columns import Columns, Form
from venire.scan.codes import gather
from venire.scan.names import Names
from venire.scan.slices import Slices
from venire.types import Codes, Floats, Ints, Words

if TYPE_CHECKING:
    import polars as pl

NUMBERS = ("time", "probability")
"""Columns that hold numbers."""
ROOM = 1 << 22
"""Codes that there is room for at first: memory costs nothing until it is used, and so much comes in large pages."""
MOST_INTEGERS = 1 << 16
"""Integers of a block within so many of each other are numbered by a table."""
MANY_ROWS = 1 << 19
"""Rows of a block from which on its columns are encoded by threads."""


class Growing:
    """Codes of a column so far, in the narrowest type that holds them, in one array that grows where it is."""

    def __init__(self, codes: Codes) -> None:
        self._codes, self._n_rows = np.empty(max(ROOM, len(codes)), dtype=codes.dtype), len(codes)
        self._codes[: len(codes)] = codes

    def add(self, codes: Codes) -> None:
        """Put codes behind the others; those of a block are copied, the others only where their type changes."""
        most = narrow(codes[:0], int(codes.max(initial=0)) + 1).dtype
        if most.itemsize > self._codes.dtype.itemsize:
            known, self._codes = self._codes, np.empty(len(self._codes), dtype=most)
            self._codes[: self._n_rows] = known[: self._n_rows]
        begin, self._n_rows = self._n_rows, self._n_rows + len(codes)
        if self._n_rows > len(self._codes):
            self._codes.resize(self._n_rows + (self._n_rows >> 4), refcheck=False)
        self._codes[begin : self._n_rows] = codes

    def all(self) -> Codes:
        """Return the codes (row,)."""
        return self._codes[: self._n_rows]


class LongTable:
    """The columns of a long table so far.

    Numbers and lines are arrays; lines that follow each other are a range.
    """

    def __init__(self) -> None:
        self.n_rows = 0
        self._names: dict[str, Names] = {}
        self._codes: dict[str, Growing] = {}
        self._numbers: dict[str, list[Floats]] = {}
        self._line: list[Ints | range] = []
        self._rest: list[Words | None] = []

    def add(self, rows: TableRows, columns: Columns) -> None:
        """Encode a block."""
        roles = dict(columns.roles)
        for role in [name for name in roles if name in NUMBERS]:
            read = seconds if role == "time" else probabilities
            if role not in self._numbers:
                self._numbers[role] = [np.full(self.n_rows, np.nan)]
            number = read(rows.frame[roles.pop(role)], rows.where, rows.line)
            self._numbers[role].append(number.fill_null(np.nan).to_numpy())
        for role in roles.keys() - self._names.keys():
            self._names[role], self._codes[role] = Names(), Growing(np.full(self.n_rows, -1, dtype=np.int8))
        workers = None if len(rows.line) >= MANY_ROWS else 1
        encoded = map_partitions(lambda role: self._encoded(role, roles[role], rows), roles, workers=workers)
        with closing(encoded) as found:
            for role, codes in zip(roles, found, strict=True):
                self._codes[role].add(codes)
        self._line.append(_as_range(rows.line))
        self._rest.append(hash_of_rest(rows, columns))
        n_rows = len(rows.line)
        for role in self._codes.keys() - roles.keys():
            self._codes[role].add(np.full(n_rows, -1, dtype=np.int8))
        for role in self._numbers.keys() - columns.roles.keys():
            self._numbers[role].append(np.full(n_rows, np.nan))
        self.n_rows += n_rows

    def columns(self, form: Form) -> tuple[dict[str, Category], Ints | range, dict[str, Floats], Words | None]:
        """Return the column of each role, lines, numbers, and a hash of what is not read."""
        import polars as pl

        line = _joined_lines(self._line)
        codes = {role: self._codes.pop(role).all() for role in list(self._codes)}
        names = dict[str, Slices]()
        for role in codes:
            may_be_empty = role in FACETS or role in form.also
            if may_be_empty and codes[role].min(initial=0) < 0:
                codes[role] = _replaced(codes[role], [-1], int(self._names[role].add(pl.Series([""]))[0]))
            names[role] = slices = self._names.pop(role).all()
            if not may_be_empty:
                blank = _plain(slices) == "" if role == "label" else slices.end == slices.start
                codes[role] = _replaced(codes[role], np.flatnonzero(blank), -1)
        _refuse_empty_codes(codes, line, form)
        named = {
            role: checked_names(
                *(codes.pop(role), names.pop(role), form.where, line, role),
                small=True,
                ordered=role not in ("topic", "doc"),
            )
            for role in list(codes)
        }
        if "label" in named:
            label, plain = named["label"], Category.of(_plain(named["label"].names.slices))
            named["label"] = Category(gather(narrow(plain.codes, len(plain.names)), label.codes), plain.names)
        numbers = {role: np.concatenate(parts) for role, parts in self._numbers.items()}
        known = [np.zeros(len(lines), dtype=np.uint64) if each is None else each for each, lines in self._rests()]
        return named, line, numbers, np.concatenate(known) if any(each is not None for each in self._rest) else None

    def _encoded(self, role: str, name: str, rows: TableRows) -> Codes:
        """Number the cells of a column -> (row,), -1 where they are null; text may be empty."""
        import polars as pl

        column = rows.frame[name]
        if column.dtype.is_integer() and not column.null_count() and len(column):
            low, high = cast("int", column.min()), cast("int", column.max())
            if high - low < MOST_INTEGERS and high < EXACT:
                offset = (column.cast(pl.Int64).to_numpy() - low).astype(np.int32)
                found = np.flatnonzero(np.bincount(offset))
                table = np.full(high - low + 1, -1, dtype=np.int32)
                table[found] = self._names[role].add(pl.Series(found + low).cast(pl.String))
                return gather(narrow(table, int(table.max()) + 1), offset)
        text = column if column.dtype == pl.String else texts(column, rows.where, rows.line)
        return self._names[role].add(text)

    def _rests(self) -> Iterator[tuple[Words | None, Ints | range]]:
        return zip(self._rest, self._line, strict=True)


def _as_range(line: Ints) -> Ints | range:
    """Return lines that follow each other as a range."""
    if len(line) and line[-1] - line[0] == len(line) - 1 and bool((np.diff(line) == 1).all()):
        return range(int(line[0]), int(line[-1]) + 1)
    return line


def _joined_lines(parts: Sequence[Ints | range]) -> Ints | range:
    """Concatenate lines, as a range where they follow each other."""
    ranges = [part for part in parts if isinstance(part, range)]
    if len(ranges) == len(parts) and all(a.stop == b.start for a, b in pairwise(ranges)):
        return range(ranges[0].start, ranges[-1].stop)
    return np.concatenate([np.asarray(part, dtype=np.int64) for part in parts])


def _replaced(codes: Codes, old: Sequence[int] | Ints, new: int) -> Codes:
    """Replace some codes, -1 for none, by another, in the type that holds it."""
    if not len(old) or not any((codes == each).any() for each in old):
        return codes
    table = np.append(np.arange(max(int(codes.max(initial=-1)), new) + 1, dtype=np.int32), np.int32(-1))
    table[np.asarray(old)] = new
    return gather(narrow(table, len(table)), codes)


def _refuse_empty_codes(codes: Mapping[str, Codes], line: Ints | range, form: Form) -> None:
    """Raise at the first row without topic, document, assessor or label."""
    roles = [role for role in ("label", "assessor", "doc", "topic") if role in codes]
    empty = {int(np.argmax(codes[role] < 0)): role for role in roles if codes[role].min(initial=0) < 0}
    if empty:
        raise empty_cell(empty, line, form)


def _plain(labels: Slices) -> pl.Series:
    """Return labels without white space around them."""
    import polars as pl

    return pl.Series(list(Ids(labels)), dtype=pl.String).str.strip_chars()


def hash_of_rest(rows: TableRows, columns: Columns) -> Words | None:
    """Hash the columns of each row that are not read -> (row,); None if there are none."""
    import polars as pl

    others = [rows.frame[name] for name in columns.unused if name in rows.frame.columns]
    others = [each.cast(pl.String) for each in others if not (each.dtype.is_nested() or each.dtype == pl.Object)]
    return pl.DataFrame(others).hash_rows().to_numpy() if others else None


def empty_cell(empty: Mapping[int, str], line: Ints | range, form: Form) -> FormatError:
    """Describe the first of some empty cells, by row."""
    row = min(empty)
    hint = "leave out rows without a judgment" if empty[row] == "label" else f"every row needs its {empty[row]}"
    return FormatError(form.where, int(line[row]), f"the {empty[row]} is empty", hint=hint)
