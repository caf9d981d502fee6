"""Tables of judgments: CSV, TSV, JSONL, Parquet, data frames and dictionaries into Rows.

The *long* form has a row per label and columns topic, doc, label and, where there are several assessors, assessor.
Columns are recognised by the names they usually have (``column_names.ROLES``); intent, aspect, given, unit, task and
time are read where they occur.  The *wide* form has a row per topic and document and a column per assessor; an empty
cell means not judged.  There every column is an assessor, but for topic and doc and those named exactly intent,
aspect, given, unit, task or time.  Wide by aspects: topic, doc, perhaps assessor, and a column per aspect.

Ids are the text that is written.  Ahead of the header of a CSV or TSV may stand lines that begin with ``#``, and one of
them, ``# scale: Non<Rel<HRel``, declares the scale; so may a TOML file beside any table (``scale_files``).
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from venire.data.ids import Category
from venire.data.rows import Rows
from venire.data.scale import Scale
from venire.errors import FormatError
from venire.io.column_names import Form, find_columns, spread_of
from venire.io.delimited import read_delimited
from venire.io.frames import Batch, rows_of, sliced
from venire.io.json_lines import read_json_lines
from venire.io.lines import read_bytes
from venire.io.naming import stem
from venire.io.scale_files import header_scale, scale_beside
from venire.io.table_formats import JSON_LINES, PARQUET, SEPARATOR, ending_of, looks_like_table
from venire.io.table_writing import write_table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["looks_like_table", "read_table", "rows_from_dict", "rows_from_frame", "scale_beside", "write_table"]


def read_table(
    path: Path,
    *,
    wide: bool = False,
    wide_aspects: bool = False,
    assessor: str | None = None,
    columns: Mapping[str, str] | None = None,
    also: Sequence[str] = (),
) -> Rows:
    """Read one table; text formats may be gz or zst.

    assessor: the name of the one assessor of a table that names none; without it, that is the file's name.
    columns: which column is what, as in {"label": "rating"}, if its name does not tell.  also: names of further
    columns that are read, into ``Rows.extra``.
    ``Rows.notes`` say which column was taken for what; ``Rows.line`` is the line, and the row in Parquet.
    The scale is that of the header, else that of the file beside.
    Cost: O(bytes), plus a sort of the distinct names.

    When not to use this: headerless qrels, also those separated by tabs, are read by ``read_qrels``.
    """
    form = Form(path, spread_of(wide, wide_aspects), columns or {}, tuple(also))
    batches, scale = _batches(path, form)
    rows = rows_of(batches, form, name=path.name, assessor=assessor, default=stem(path))
    return replace(rows, scale=scale or scale_beside(path))


def rows_from_frame(
    frame: pl.DataFrame | pd.DataFrame,
    *,
    source: str = "frame",
    wide: bool = False,
    wide_aspects: bool = False,
    assessor: str | None = None,
    columns: Mapping[str, str] | None = None,
    also: Sequence[str] = (),
) -> Rows:
    """Read a data frame of polars or pandas as ``read_table`` reads a file; ``Rows.line`` counts its rows from 1."""
    form = Form(source, spread_of(wide, wide_aspects), columns or {}, tuple(also))
    table = as_polars(frame, form)
    batches = sliced(table, find_columns(table.columns, form))
    return rows_of(batches, form, name=source, assessor=assessor, default="assessor")


def rows_from_dict(
    qrels: Mapping[str, Mapping[str, int | float | str]], *, source: str = "dict", assessor: str = "assessor"
) -> Rows:
    """Read a dictionary of dictionaries, topic -> document -> label, as pytrec_eval takes them.

    Examples
    --------
    >>> rows = rows_from_dict({"51": {"d1": 2, "d2": 0}})
    >>> rows.doc.texts(), rows.label.texts()
    (['d1', 'd2'], ['2', '0'])
    """
    topics = list(qrels)
    docs = [doc for each in qrels.values() for doc in each]
    labels = [_label(label) for each in qrels.values() for label in each.values()]
    _refuse_dict([*topics, *docs, *labels] if docs else [], source)
    n_docs = [len(each) for each in qrels.values()]
    return Rows(
        source=source,
        topic=Category.of(topics).take(np.repeat(np.arange(len(topics)), n_docs)),
        doc=Category.of(docs),
        assessor=Category.constant(assessor, len(docs)),
        label=Category.of(labels),
        line=np.arange(1, len(docs) + 1),
        repeats="error",
    )


def _batches(path: Path, form: Form) -> tuple[Iterator[Batch], Scale | None]:
    """Begin to read a file by its first bytes and its name; also the scale that its header declares."""
    data, ending = read_bytes(path), ending_of(path.name)
    if data.startswith(PARQUET):
        return _read_parquet(data, form), None
    if ending == ".parquet":
        raise FormatError(path, None, f"is not Parquet: it begins with {data[:4]!r}, expected {PARQUET!r}")
    if ending in JSON_LINES or (ending not in SEPARATOR and data[:4096].lstrip()[:1] == b"{"):
        return read_json_lines(data, form), None
    return read_delimited(data, form, preferred=SEPARATOR.get(ending, "")), header_scale(data, path)


def _read_parquet(data: bytes, form: Form) -> Iterator[Batch]:
    import polars as pl

    try:
        columns = find_columns(list(pl.read_parquet_schema(io.BytesIO(data))), form)
        frame = pl.read_parquet(io.BytesIO(data), columns=columns.used())
    except pl.exceptions.PolarsError as error:
        raise FormatError(form.where, None, f"cannot be read as Parquet ({error})") from None
    yield from sliced(frame, columns)


def as_polars(frame: object, form: Form) -> pl.DataFrame:
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame
    if type(frame).__module__.partition(".")[0] != "pandas" or not hasattr(frame, "columns"):
        message = f"found {type(frame).__module__}.{type(frame).__qualname__}, expected a data frame"
        raise FormatError(form.where, None, message, hint="polars and pandas DataFrames are read; collect a LazyFrame")
    table = cast("pd.DataFrame", frame)
    try:
        return pl.from_pandas(table.reset_index() if any(table.index.names) else table)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        message = f"the pandas frame cannot be read ({error})"
        raise FormatError(form.where, None, message, hint="turn columns of mixed types into text first") from None


def _label(label: float | str) -> str:
    """Write a label as text, whole numbers without a fraction."""
    return label if isinstance(label, str) else str(int(label)) if float(label).is_integer() else str(float(label))


def _refuse_dict(texts: Sequence[object], source: str) -> None:
    """Raise unless there are judgments, and each topic, document and label is a text that says something."""
    wrong = [text for text in texts if not isinstance(text, str) or not text or "\0" in text]
    hint = 'expected {"51": {"d1": 2}}'
    if wrong:
        raise FormatError(source, None, f"found {wrong[0]!r}, expected text for topics and documents", hint=hint)
    if not texts:
        raise FormatError(source, None, "holds no judgments", hint=hint)
