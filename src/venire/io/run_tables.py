"""Runs in tables: CSV and TSV with a header, Parquet, data frames; columns are recognised by their names.

A table has a row for each document of a list: topic, document, score or rank or both, and perhaps the system.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.data.ids import Category
from venire.data.runs import RunTable
from venire.errors import FormatError
from venire.io.cells import texts
from venire.io.column_names import Form, column_among
from venire.io.frames import encoded
from venire.io.lines import read_bytes
from venire.io.naming import stem
from venire.io.sources import TableRows, frame_of, read_frame
from venire.io.table_formats import PARQUET, RUN_ROLES, ending_of, header_names, header_start
from venire.results import first_few
from venire.types import Floats

if TYPE_CHECKING:
    import polars as pl


def read_run_table(path: Path) -> RunTable:
    """Read one file."""
    data = read_bytes(path)
    if not data.startswith(PARQUET) and ending_of(path.name) != ".parquet":
        _columns(header_names(data, path.name), path, data.count(b"\n", 0, header_start(data)) + 1)
    rows = read_frame(path, data)
    if rows.frame.height == 0:
        raise FormatError(path, None, "holds no run lines", hint="expected rows under the header")
    return _table(rows, str(path))


def run_of_frame(frame: Any) -> RunTable:
    """Read a frame of polars or pandas; lines count its rows from 1."""
    return _table(frame_of(frame, "frame"), "frame")


def _columns(names: Sequence[str], where: object, line: int | None) -> dict[str, str]:
    """Find the column of each role."""
    found = {
        role: column_among(names, groups, f"the {role}", where=where, line=line) for role, groups in RUN_ROLES.items()
    }
    for role in ("topic", "doc", *["score"] * (found["rank"] is None)):
        if found[role] is None:
            known = ", ".join(name for group in RUN_ROLES[role] for name in group)
            message = f"no column for the {role}: found {first_few(names, 12) or 'nothing'}; expected one of {known}"
            raise FormatError(where, line, message, hint=f"name the columns in a header, one of them {role!r}")
    return {role: name for role, name in found.items() if name is not None}


def _table(rows: TableRows, name: str) -> RunTable:
    """Encode the columns; without a score, documents are ordered by rank; without a system, the file names it."""
    columns = _columns(rows.frame.columns, name, None)
    named = {role: _names(rows, columns[role], role) for role in ("topic", "doc", "system") if role in columns}
    number = {role: _numbers(rows, columns[role]) for role in ("rank", "score") if role in columns}
    rank = number.get("rank")
    return RunTable(
        name,
        named.get("system") or Category.constant(stem(Path(name)), len(rows.line)),
        named["topic"],
        named["doc"],
        number["score"] if rank is None or "score" in number else -rank,
        rank,
        rows.line,
    )


def _names(rows: TableRows, name: str, role: str) -> Category:
    text = texts(rows.frame[name], rows.where, rows.line)
    if text.null_count():
        raise FormatError(rows.where, int(rows.line[text.is_null().arg_max() or 0]), f"the {role} is empty")
    return encoded(text.alias(role), Form(rows.where), rows.line)


def _numbers(rows: TableRows, name: str) -> Floats:
    """Return a column as numbers, NaN where it is empty; other text is an error."""
    import polars as pl

    column: pl.Series = rows.frame[name]
    text = column.str.strip_chars() if column.dtype == pl.String else column
    numbers = text.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & text.is_not_null()).arg_true()
    if len(wrong):
        message = f"{text[int(wrong[0])]!r} in column {column.name!r} is not a number"
        raise FormatError(rows.where, int(rows.line[wrong[0]]), message, hint="leave out documents that have no score")
    values: Floats = numbers.fill_null(np.nan).to_numpy()
    return values
