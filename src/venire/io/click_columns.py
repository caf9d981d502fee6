"""Columns of a click log: which is what, and its cells as flags, ranks and seconds, or what is wrong with a row.

In the *long* form a row is one result that was shown: session, topic, doc, clicked, perhaps rank and dwell.  In the
*wide* form a row is a session: topic, its documents and as many click flags (perhaps as many dwell times, ``-`` where
there is none), separated by white space in a cell, or as lists in JSONL and Parquet; best rank first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from venire.errors import FormatError
from venire.io.tables.cells import texts
from venire.io.tables.columns import ROLES, Groups, column_among, plain
from venire.results import counted
from venire.types import Ints

if TYPE_CHECKING:
    import polars as pl

_SESSION = (("session", "sessionid", "sid", "visit", "visitid"), ("impressionid", "searchid", "serpid", "pageid"))
_DWELL = (
    ("dwell", "dwelltime", "dwellseconds", "dwelltimeseconds", "dwelltimes", "dwells"),
    ("dwellms", "dwelltimems"),
)
_LONG_DOC = (*ROLES["doc"], ("url", "urlid", "uri", "result", "resultid", "item", "itemid"))
_LONG_CLICKED = (("clicked", "click", "isclick", "isclicked", "wasclicked"), ("clicks",))
_WIDE_DOC = ("docs", "docids", "documents", "urls", "urlids", "results", "resultids", "items")
_WIDE_CLICKED = ("clicks", "clickflags", "clickeds", "flags")
LONG: Mapping[str, Groups] = {
    "session": _SESSION,
    "topic": ROLES["topic"],
    "rank": (("rank", "position", "pos"),),
    "doc": _LONG_DOC,
    "clicked": _LONG_CLICKED,
    "dwell": _DWELL,
}
WIDE: Mapping[str, Groups] = {
    "session": _SESSION,
    "topic": ROLES["topic"],
    "doc": (_WIDE_DOC, *_LONG_DOC),
    "clicked": (_WIDE_CLICKED, *_LONG_CLICKED),
    "dwell": _DWELL,
}
"""Names of each role."""

YES, NO = ("1", "true", "yes"), ("0", "false", "no")
HINT = "columns are session, topic, doc, clicked (0 or 1), perhaps rank and dwell in seconds"
WIDE_HINT = "a row of the wide form has topic, docs and clicks: as many flags as documents, separated by spaces"


class LogColumns(NamedTuple):
    """The column of each role, whether a row is a whole session, and the seconds in a unit of dwell time."""

    roles: Mapping[str, str]
    wide: bool
    unit: float = 1.0

    def described(self) -> str:
        """Say which column was taken for what."""
        form = "a row per session" if self.wide else "a row per result"
        return f"{form}; " + ", ".join(f"{role} = {name}" for role, name in self.roles.items())


class Cells(NamedTuple):
    """Rows of a log as read: its columns, the line of each row (row,), and its name in errors."""

    frame: pl.DataFrame
    line: Ints
    where: object

    def refuse(self, wrong: pl.Series, message: Callable[[int], str], hint: str) -> None:
        """Raise at the first wrong row, on its line."""
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            raise FormatError(self.where, int(self.line[row]), message(row), hint=hint)


def find_log_columns(names: Sequence[str], where: object, line: int | None, *, wide: bool | None) -> LogColumns:
    """Find each role's column; wide: None: as the names have it."""
    if wide is None:
        there = {plain(name) for name in names}
        single = {name for group in _LONG_DOC for name in group}
        wide = bool(there & set(_WIDE_DOC)) and not there & single
    known = WIDE if wide else LONG
    found = {role: column_among(names, known[role], repr(role), where=where, line=line) for role in known}
    roles = {role: name for role, name in found.items() if name is not None}
    for role in ("topic", "doc", "clicked") if wide else ("session", "topic", "doc", "clicked"):
        if role not in roles:
            expected = ", ".join(name for group in known[role] for name in group)
            message = f"no column for {role!r}: found {', '.join(names) or 'nothing'}; expected one of {expected}"
            raise FormatError(where, line, message, hint=WIDE_HINT if wide else HINT)
    return LogColumns(roles, wide, 1e-3 if plain(roles.get("dwell", "")) in _DWELL[1] else 1.0)


def log_rows(cells: Cells, columns: LogColumns) -> pl.DataFrame:
    """Turn cells into a row per result: session, topic, doc, clicked; rank and dwell (seconds) if they are there."""
    import polars as pl

    if columns.wide:
        cells = _spread(cells, columns)
        columns = columns._replace(roles={role: role for role in cells.frame.columns})
    names = columns.roles
    found = [_name(cells, names[role], role) for role in ("session", "topic", "doc")]
    found.append(_flags(cells, names["clicked"]))
    if "rank" in names:
        found.append(_ranks(cells, names["rank"]))
    if "dwell" in names:
        found.append(_seconds(cells, names["dwell"]) * columns.unit)
    return pl.DataFrame(found)


def _name(cells: Cells, name: str, role: str) -> pl.Series:
    import polars as pl

    column = cells.frame[name]
    if column.dtype == pl.String and not column.null_count() and column.str.len_bytes().min():
        return column.alias(role)
    text = texts(column, cells.where, cells.line)
    if text.null_count():
        cells.refuse(text.is_null(), lambda _: f"the {role} is empty", f"every row needs its {role}")
    return text.alias(role)


def _flags(cells: Cells, name: str) -> pl.Series:
    import polars as pl

    column = cells.frame[name]
    if column.dtype == pl.Int8 and not column.null_count() and ((column == 0) | (column == 1)).all():
        return (column == 1).alias("clicked")
    if column.dtype == pl.Boolean and not column.null_count():
        return column.alias("clicked")
    text = texts(column, cells.where, cells.line).fill_null("").str.strip_chars()
    flag = text.str.to_lowercase().is_in(YES)
    unknown = ~(flag | text.str.to_lowercase().is_in(NO))
    cells.refuse(unknown, lambda row: f"{text[row]!r} is no click flag", "write 1 for a click and 0 for none")
    return flag.alias("clicked")


def _ranks(cells: Cells, name: str) -> pl.Series:
    import polars as pl

    column = cells.frame[name]
    if column.dtype == pl.Int32 and not column.null_count() and (column >= 1).all():
        return column.alias("rank")
    text = texts(column, cells.where, cells.line)
    rank = text.str.strip_chars().cast(pl.Int32, strict=False)
    wrong = rank.is_null() | (rank < 1)
    cells.refuse(
        wrong.fill_null(True),
        lambda row: f"rank {text[row] or ''!r} is not a whole number from 1 on",
        "the first result has rank 1; without a column for it, the order of rows is the rank",
    )
    return rank.alias("rank")


def _seconds(cells: Cells, name: str) -> pl.Series:
    """Read dwell times; NaN is an empty cell, as pandas has it."""
    import polars as pl

    column = cells.frame[name]
    if column.dtype.is_float():
        column = column.fill_nan(None)
    else:
        column = texts(column, cells.where, cells.line).str.strip_chars()
        column = column.set(column.is_in(["", "-"]), None)
    value = column.cast(pl.Float64, strict=False)
    fine = (value.is_finite() & (value >= 0)).fill_null(False)
    cells.refuse(
        column.is_not_null() & ~fine,
        lambda row: f"dwell {_written(column[row])!r} is not a number of seconds from 0 on",
        "leave it empty where it is not known",
    )
    return value.alias("dwell")


def _written(cell: object) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _spread(cells: Cells, columns: LogColumns) -> Cells:
    """Give every result of a session a row of its own, ranks from 1 on."""
    import polars as pl

    lists = {role: _parts(cells, columns.roles[role]) for role in ("doc", "clicked", "dwell") if role in columns.roles}
    length = lists["doc"].list.len()
    cells.refuse(length == 0, lambda _: "there are no documents", WIDE_HINT)
    for role, noun in (("clicked", "click flag"), ("dwell", "dwell time")):
        if role in lists:
            _refuse_uneven(cells, lists[role].list.len(), length, noun)
    times = length.to_numpy()
    row = np.repeat(np.arange(len(times)), times)
    place = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
    whole = [cells.frame[columns.roles["topic"]].alias("topic")]
    if "session" in columns.roles:
        whole.append(cells.frame[columns.roles["session"]].alias("session"))
    else:
        whole.append((f"{cells.where}:" + pl.Series(cells.line).cast(pl.String)).alias("session"))
    spread = [each.gather(row) for each in whole]
    spread += [each.explode().alias(role) for role, each in lists.items()]
    spread.append(pl.Series("rank", place + 1))
    return Cells(pl.DataFrame(spread), cells.line[row], cells.where)


def _refuse_uneven(cells: Cells, found: pl.Series, length: pl.Series, noun: str) -> None:
    cells.refuse(
        found != length,
        lambda row: f"found {counted(found[row], noun)} for {counted(length[row], 'document')}",
        WIDE_HINT,
    )


def _parts(cells: Cells, name: str) -> pl.Series:
    """Lists in the cells of a column: as they are, or text split at white space; an empty cell is an empty list."""
    import polars as pl

    column = cells.frame[name]
    if isinstance(column.dtype, pl.List | pl.Array):
        return column.cast(pl.List(column.dtype.inner)).fill_null([])
    return texts(column, cells.where, cells.line).fill_null("").str.extract_all(r"\S+")
