"""Batches of a table's columns into Rows: cells become text, wide tables are melted, names are encoded.

A wide table is melted batch by batch, so that memory is linear in the labels there are, not in the cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from venire.data.ids import Category, Ids
from venire.data.judgments import FACETS
from venire.data.rows import Rows
from venire.errors import FormatError
from venire.io.cells import seconds, texts
from venire.io.column_names import Columns, Form, described
from venire.io.file_kinds import votes_fault
from venire.scan.slices import Slices, padded
from venire.types import Codes, Floats, Ints, Words

if TYPE_CHECKING:
    import polars as pl

NAMES_AT_ONCE = 1 << 20
CELLS_AT_ONCE = 1 << 22
FEWEST_VOTES = 4


class Batch(NamedTuple):
    """Rows of a table: the columns that are used, as read; which is what; the line of each row (row,).

    rest: a hash of the columns that are not used (row,), if there are any.
    """

    frame: pl.DataFrame
    columns: Columns
    line: Ints
    rest: Words | None = None


class Part(NamedTuple):
    """A batch as text, one column per role; in the wide form also its cells: row, assessor or aspect, label."""

    frame: pl.DataFrame
    line: Ints
    cells: pl.DataFrame | None = None
    rest: Words | None = None


def picked(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """Choose columns by their very names: ``*`` and ``^a$`` are names here, not patterns as in a polars selection."""
    import polars as pl

    return pl.DataFrame([frame[name] for name in names])


def batch_of(frame: pl.DataFrame, columns: Columns, line: Ints) -> Batch:
    """Choose the columns that are used; of the others only a hash of each row is kept, to know rows that are copies."""
    import polars as pl

    others = [frame[name] for name in columns.unused if name in frame.columns]
    others = [each.cast(pl.String) for each in others if not (each.dtype.is_nested() or each.dtype == pl.Object)]
    rest = pl.DataFrame(others).hash_rows().to_numpy() if others else None
    return Batch(picked(frame, columns.used()), columns, line, rest)


def sliced(frame: pl.DataFrame, columns: Columns) -> Iterator[Batch]:
    """Cut a frame into batches; its lines are its rows."""
    n_rows = max(CELLS_AT_ONCE // max(frame.width, 1), 1) if columns.spread else max(frame.height, 1)
    for start in range(0, frame.height, n_rows):
        part = frame.slice(start, n_rows)
        yield batch_of(part, columns, np.arange(start + 1, start + part.height + 1))


def rows_of(batches: Iterable[Batch], form: Form, *, name: str, assessor: str | None, default: str) -> Rows:
    """Make Rows of batches; the table's ``name`` is for notes, ``default`` names its assessor if nothing else does."""
    parts, columns = [], Columns({})
    for batch in batches:
        columns = _agreed(columns, batch, form)
        parts.append(_part(batch, form))
    note = f"{name}: {described(columns, form)}"
    telling = bool(columns.spread or columns.unused) or any(role != name for role, name in columns.roles.items())
    table = _joined(parts, form)
    parts.clear()
    _refuse_empty(table, form)
    _refuse_votes(table, columns, form)
    rest = table.rest
    named, line, time = _encoded(table, form)
    if "assessor" not in named:
        named["assessor"] = Category.constant(assessor or default, len(line))
        note += f"; one assessor, {assessor or default!r}"
        telling = True
    elif assessor is not None:
        message = f"has assessors of its own, so they cannot all be called {assessor!r}"
        raise FormatError(form.where, None, message, hint="leave the assessor's name out")
    return Rows(
        source=str(form.where),
        topic=named["topic"],
        doc=named["doc"],
        assessor=named["assessor"],
        label=named["label"],
        line=line,
        facets={facet: named[facet] for facet in FACETS if facet in named},
        time=time,
        rest=rest,
        extra={name: named[name] for name in form.also if name in named},
        repeats="last",
        notes=(note,) if telling else (),
        columns=tuple(dict.fromkeys([*columns.used(), *columns.unused])),
    )


def _encoded(table: Part, form: Form) -> tuple[dict[str, Category], Ints, Floats | None]:
    """Encode each role's column, and spread the rows of a wide table over its cells; also lines and times."""
    frame, line, cells, _ = table
    time = frame.drop_in_place("time").fill_null(np.nan).to_numpy() if "time" in frame.columns else None
    named = {role: encoded(frame.drop_in_place(role), form, line) for role in list(frame.columns)}
    if cells is None:
        return named, line, time
    row = cells.drop_in_place("row").to_numpy()
    named = {role: Category(column.codes[row], column.names) for role, column in named.items()}
    line, time = line[row], None if time is None else time[row]
    return named | {role: encoded(cells[role], form, line) for role in cells.columns}, line, time


def encoded(column: pl.Series, form: Form, line: Ints) -> Category:
    """Encode a column of text without nulls; names come out in bytewise order.  O(n), and a sort of the names."""
    import polars as pl

    rows = column.alias("name").to_frame().with_row_index("row")
    first = rows.select(pl.col("row").min().over("name")).to_series().to_numpy()
    leading = np.flatnonzero(first == np.arange(len(first), dtype=first.dtype))
    names = column.gather(leading)
    order = names.arg_sort().to_numpy()
    code: Codes = np.empty(len(first), dtype=np.int32)
    code[leading[order]] = np.arange(len(order), dtype=np.int32)
    category = Category(code[first], packed(names.gather(order)))
    _refuse_zero_bytes(category, column.name, form, line)
    return category


def _refuse_zero_bytes(category: Category, what: str, form: Form, line: Ints) -> None:
    """Raise if a name holds a byte that no name may hold."""
    buffer, _, end = category.names.slices
    zero = np.flatnonzero(buffer[: end[-1]] == 0)
    if len(zero):
        code = int(np.searchsorted(end, zero[0], side="right"))
        row = int(np.argmax(category.codes == code))
        raise FormatError(form.where, int(line[row]), f"{what} {category.names[code]!r} holds a zero byte")


def packed(names: pl.Series) -> Ids:
    """Pack a column of text into Ids."""
    parts = [names.slice(start, NAMES_AT_ONCE) for start in range(0, len(names), NAMES_AT_ONCE)]
    end = np.cumsum(names.str.len_bytes().to_numpy(), dtype=np.int64)
    start = np.append(0, end[:-1]) if len(end) else end
    return Ids(Slices(padded(b"".join(part.str.join("").item().encode() for part in parts)), start, end))


def _agreed(known: Columns, batch: Batch, form: Form) -> Columns:
    """Add a batch's columns to those known, with which they must agree."""
    for role, name in batch.columns.roles.items():
        before = known.roles.get(role, name)
        if before != name:
            message = f"from here on {name!r} is the {role}, but before it was {before!r}"
            raise FormatError(form.where, int(batch.line[0]), message, hint="name the column alike throughout")
    return Columns(
        {**known.roles, **batch.columns.roles},
        tuple(dict.fromkeys(known.spread + batch.columns.spread)),
        tuple(dict.fromkeys(known.unused + batch.columns.unused)),
    )


def _part(batch: Batch, form: Form) -> Part:
    """Turn a batch into text, and melt the columns that hold labels."""
    import polars as pl

    read = {"time": seconds, "label": _labels}
    columns = [
        read.get(role, texts)(batch.frame[name], form.where, batch.line).alias(role)
        for role, name in batch.columns.roles.items()
    ]
    frame = pl.DataFrame(columns)
    if not form.spread:
        return Part(frame, batch.line, rest=batch.rest)
    return Part(frame, batch.line, _melted(batch, form))


def _labels(column: pl.Series, where: object, line: Ints) -> pl.Series:
    """Return the text of each label, without white space around it."""
    label = texts(column, where, line).str.strip_chars()
    return label.set(label == "", None)


def _melted(batch: Batch, form: Form) -> pl.DataFrame:
    """Return the filled cells of the columns that hold labels, row by row: assessor or aspect, label, row."""
    import polars as pl

    names = batch.columns.spread
    columns = [batch.frame[name] for name in names]
    columns = [each if each.dtype == pl.String else texts(each, form.where, batch.line) for each in columns]
    filled = pl.DataFrame(columns).select(pl.all().is_not_null()).to_numpy()
    name, row = np.nonzero(filled.T)
    label = pl.concat([each.alias("label") for each in columns]).drop_nulls()
    spread = pl.Series(form.spread or "", names).gather(name)
    cells = pl.DataFrame([spread, _labels(label, form.where, batch.line), pl.Series("row", row)])
    return cells.drop_nulls("label").sort("row", maintain_order=True)


def _joined(parts: Sequence[Part], form: Form) -> Part:
    """Put parts end to end; rows of a wide table that have no label fall away."""
    import polars as pl

    cells, before = [], 0
    for part in parts:
        if part.cells is not None:
            cells.append(part.cells.with_columns(pl.col("row") + before))
        before += len(part.line)
    if not parts or (cells and not any(map(len, cells))):
        raise FormatError(form.where, None, "holds no judgments", hint="expected rows under the header")
    frame = pl.concat([part.frame for part in parts], how="diagonal")
    may_be_empty = [name for name in (*FACETS, *form.also) if name in frame.columns]
    frame = frame.with_columns(pl.col(may_be_empty).fill_null("")) if may_be_empty else frame
    line = np.concatenate([part.line for part in parts])
    if not cells:
        return Part(frame, line, rest=_rest(parts))
    joined = pl.concat(cells)
    row = joined["row"].to_numpy()
    judged = np.bincount(row, minlength=len(line)) > 0
    place = pl.Series("row", (np.cumsum(judged) - 1)[row])
    return Part(frame.filter(pl.Series(judged)), line[judged], joined.with_columns(place))


def _rest(parts: Sequence[Part]) -> Words | None:
    """Put the hashes of the columns that are not used end to end, if any part has them."""
    if all(part.rest is None for part in parts):
        return None
    return np.concatenate([np.zeros(len(part.line), np.uint64) if part.rest is None else part.rest for part in parts])


def _refuse_votes(table: Part, columns: Columns, form: Form) -> None:
    """Raise where columns that should be assessors are named for labels and count how often each was given.

    Numbers of votes fill every cell, and those of a row come to the same in all rows.
    """
    if table.cells is None or form.spread != "assessor" or not all(name.isdigit() for name in columns.spread):
        return
    shape, whole = (len(table.line), len(columns.spread)), table.cells["label"].str.contains(r"^\d+$").all()
    if shape[0] < FEWEST_VOTES or len(table.cells) != shape[0] * shape[1] or not whole:
        return
    votes = np.bincount(table.cells["row"].to_numpy(), table.cells["label"].cast(float).to_numpy())
    if (votes == votes[0]).all() and votes[0] > 1:
        raise votes_fault(columns.spread, form.where)


def _refuse_empty(table: Part, form: Form) -> None:
    """Raise at the first row without topic, document, assessor or label."""
    empty = {
        int(table.frame[role].is_null().arg_max() or 0): role
        for role in ("label", "assessor", "doc", "topic")
        if role in table.frame.columns and table.frame[role].null_count()
    }
    if empty:
        row = min(empty)
        hint = (
            "leave out the rows that hold no judgment" if empty[row] == "label" else f"every row needs its {empty[row]}"
        )
        raise FormatError(form.where, int(table.line[row]), f"the {empty[row]} is empty", hint=hint)
