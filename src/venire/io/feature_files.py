"""Tables of features: topic, doc, perhaps given (the document read before), and numbers under any other name.

CSV, TSV, JSONL, Parquet, data frames, and columns by name.  Text may be gz or zst.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from venire.data.ids import Category
from venire.errors import FormatError
from venire.io.lines import read_bytes
from venire.io.tables.cells import encoded, texts
from venire.io.tables.columns import JSON_LINES, PARQUET, SEPARATOR, Form, ending_of
from venire.io.tables.delimited import checked_rows, find_layout, refuse_bytes
from venire.io.tables.json_lines import filled_lines, parsed_lines
from venire.io.tables.rows import as_polars
from venire.types import Floats, Ints

if TYPE_CHECKING:
    import polars as pl

NAMES = ("topic", "doc", "given")
HINT = "a table of features has the columns topic, doc, perhaps given, and numbers"


class FeatureRows(NamedTuple):
    """What is described: topic, doc and perhaps given (row,); and by which numbers.

    columns: their names; values (row, column), NaN where a cell is empty; line (row,) and where are for errors.
    """

    named: Mapping[str, Category]
    columns: tuple[str, ...]
    values: Floats
    line: Ints
    where: object


def read_features(source: Any) -> FeatureRows:
    """Read features from a file, a frame of polars or pandas, or columns by name; lines of a frame count its rows."""
    frame, line, where = _from_file(Path(source)) if isinstance(source, (str, Path)) else _from_frame(source)
    columns = tuple(name for name in frame.columns if name not in NAMES)
    if not {"topic", "doc"} <= set(frame.columns) or not columns:
        raise FormatError(where, None, f"found the columns {', '.join(frame.columns) or '(none)'}", hint=HINT)
    if frame.height == 0:
        raise FormatError(where, None, "holds no features", hint=HINT)
    form = Form(where)
    named = {
        name: encoded(texts(frame[name], where, line).fill_null("").alias(name), form, line)
        for name in NAMES
        if name in frame.columns
    }
    return FeatureRows(named, columns, np.column_stack([_numbers(frame[c], where, line) for c in columns]), line, where)


def _from_frame(source: Any) -> tuple[pl.DataFrame, Ints, object]:
    import polars as pl

    frame = pl.DataFrame(source) if isinstance(source, Mapping) else as_polars(source, Form("features"))
    return frame, np.arange(1, frame.height + 1), "features"


def _from_file(path: Path) -> tuple[pl.DataFrame, Ints, object]:
    """Read one file by its first bytes and its name."""
    import polars as pl

    data, ending = read_bytes(path), ending_of(path.name)
    if data.startswith(PARQUET):
        try:
            frame = pl.read_parquet(io.BytesIO(data))
        except pl.exceptions.PolarsError as error:
            raise FormatError(path, None, f"cannot be read as Parquet ({error})") from None
        return frame, np.arange(1, frame.height + 1), path
    data = data if data.endswith(b"\n") else data + b"\n"
    if ending in JSON_LINES or (ending not in SEPARATOR and data[:4096].lstrip()[:1] == b"{"):
        refuse_bytes(data, 0, path)
        lines, number = filled_lines(data)
        if not lines:
            raise FormatError(path, None, "holds no features", hint=HINT)
        return parsed_lines(lines, number + 1, Form(path)), number + 1, path
    return _from_text(data, path, SEPARATOR.get(ending, ""))


def _from_text(data: bytes, path: Path, preferred: str) -> tuple[pl.DataFrame, Ints, object]:
    import polars as pl

    layout = find_layout(data, path, preferred=preferred)
    schema, quote = dict.fromkeys(layout.names, pl.String), '"' if layout.quoted else None
    if not data[layout.start :].strip():
        return pl.DataFrame(schema=schema), np.zeros(0, dtype=np.int64), path
    rows, line = checked_rows(data[layout.start :], data.count(b"\n", 0, layout.start), layout)
    frame = pl.read_csv(rows, has_header=False, separator=layout.separator, quote_char=quote, schema=schema)
    return frame, line, path


def _numbers(column: pl.Series, where: object, line: Ints) -> Floats:
    """Return a column as numbers, NaN where it is empty; refuse text and infinities."""
    import polars as pl

    plain = texts(column, where, line).str.strip_chars() if column.dtype == pl.String else column
    if not (plain.dtype == pl.String or plain.dtype == pl.Boolean or plain.dtype.is_numeric()):
        message = f"column {column.name!r} holds {column.dtype}, expected numbers"
        raise FormatError(where, None, message, hint="leave the column out, or turn it into numbers")
    numbers = plain.cast(pl.Float64, strict=False)
    wrong = ((numbers.is_null() & plain.is_not_null()) | numbers.is_infinite().fill_null(False)).arg_true()
    if len(wrong):
        row = int(wrong[0])
        message = f"{plain[row]!r} in column {column.name!r} is no number"
        raise FormatError(where, int(line[row]), message, hint="features are finite numbers; a cell may be empty")
    return numbers.fill_null(np.nan).to_numpy()
