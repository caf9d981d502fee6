"""Runs in tables: CSV and TSV with a header, Parquet, data frames; columns are known by their names.

A table has a row for each document of a list: topic, document, score or rank or both, and perhaps the system.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.data.ids import Category
from venire.data.runs import RunTable
from venire.errors import FormatError
from venire.io.lines import read_bytes, stem
from venire.io.tables.cells import encoded, texts
from venire.io.tables.columns import (
    PARQUET,
    RUN_ROLES,
    SEPARATOR,
    Form,
    column_among,
    ending_of,
    header_names,
    header_start,
)
from venire.io.tables.delimited import checked_rows, find_layout
from venire.io.tables.rows import as_polars
from venire.results import first_few
from venire.types import Floats, Ints

if TYPE_CHECKING:
    import polars as pl


def read_run_table(path: Path) -> RunTable:
    """Read one file."""
    import polars as pl

    data = read_bytes(path)
    if not data.startswith(PARQUET) and ending_of(path.name) != ".parquet":
        return _from_text(data if data.endswith(b"\n") else data + b"\n", path)
    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except pl.exceptions.PolarsError as error:
        raise FormatError(path, None, f"cannot be read as Parquet ({error})") from None
    return run_of_frame(frame, str(path))


def _from_text(data: bytes, path: Path) -> RunTable:
    import polars as pl

    _columns(header_names(data, path.name), path, data.count(b"\n", 0, header_start(data)) + 1)
    layout = find_layout(data, path, preferred=SEPARATOR.get(ending_of(path.name), ""))
    columns = _columns(layout.names, path, layout.line)
    if not data[layout.start :].strip():
        raise FormatError(path, None, "holds no run lines", hint="expected rows under the header")
    rows, line = checked_rows(data[layout.start :], data.count(b"\n", 0, layout.start), layout)
    quote, schema = '"' if layout.quoted else None, dict.fromkeys(layout.names, pl.String)
    frame = pl.read_csv(rows, has_header=False, separator=layout.separator, quote_char=quote, schema=schema)
    return _table(frame, columns, str(path), line)


def run_of_frame(frame: Any, name: str = "frame") -> RunTable:
    """Read a frame of polars or pandas; lines count its rows from 1."""
    table = as_polars(frame, Form(name))
    return _table(table, _columns(table.columns, name, None), name, np.arange(1, table.height + 1))


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


def _table(frame: pl.DataFrame, columns: Mapping[str, str], name: str, line: Ints) -> RunTable:
    """Encode the columns; without a score, documents are ordered by rank; without a system, the file names it."""
    named = {
        role: _names(frame[columns[role]], role, name, line) for role in ("topic", "doc", "system") if role in columns
    }
    number = {role: _numbers(frame[columns[role]], name, line) for role in ("rank", "score") if role in columns}
    rank = number.get("rank")
    return RunTable(
        name,
        named.get("system") or Category.constant(stem(Path(name)), len(line)),
        named["topic"],
        named["doc"],
        number["score"] if rank is None or "score" in number else -rank,
        rank,
        line,
    )


def _names(column: pl.Series, role: str, where: str, line: Ints) -> Category:
    text = texts(column, where, line)
    if text.null_count():
        raise FormatError(where, int(line[text.is_null().arg_max() or 0]), f"the {role} is empty")
    return encoded(text.alias(role), Form(where), line)


def _numbers(column: pl.Series, where: str, line: Ints) -> Floats:
    """Return a column as numbers, NaN where it is empty; text that is no number is refused."""
    import polars as pl

    text = column.str.strip_chars() if column.dtype == pl.String else column
    numbers = text.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & text.is_not_null()).arg_true()
    if len(wrong):
        message = f"{text[int(wrong[0])]!r} in column {column.name!r} is not a number"
        raise FormatError(where, int(line[wrong[0]]), message, hint="leave out documents that have no score")
    values: Floats = numbers.fill_null(np.nan).to_numpy()
    return values
