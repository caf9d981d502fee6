"""Judgments as tables that ``read_table`` reads back exactly: CSV, TSV, JSONL, Parquet.

A scale that reading would not infer from the labels is declared, and so are the reference and machines: in comments
ahead of a CSV or TSV header, or, for the other formats and for labels that such a comment cannot hold, in a TOML file
beside the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from venire.data.ids import Category
from venire.data.judgments import Judgments
from venire.errors import AmbiguousLabels, FormatError, UnknownName
from venire.io.compression import written
from venire.io.declarations import declarations, used_labels
from venire.io.outputs import NewFiles
from venire.io.tables.columns import JSON_LINES, LAYOUTS, SEPARATOR, Form, ending_of, find_columns

if TYPE_CHECKING:
    import polars as pl


def add_table(files: NewFiles, judgments: Judgments, path: Path, *, layout: str = "long") -> None:
    """Write a table in the format that the path's ending names; .gz or .zst may follow it.

    layout: "long"; "wide", a column per assessor and a row for each topic, document, facets, time and probability; or
    "aspects", a column per aspect and a row for each topic, document, assessor, other facets, time and probability.

    When not to use this: several labels by one assessor for one document fit into the long layout only.
    """
    if layout not in LAYOUTS:
        raise UnknownName("layout", layout, LAYOUTS)
    form, ending = Form(path, layout), ending_of(path.name)
    frame, spread = _long(judgments, form), LAYOUTS[layout]
    frame = frame if spread is None else _wide(frame, judgments, form, spread)
    comment = declarations(files, judgments, path, comments=ending in SEPARATOR)
    with written(path, files) as file:
        if ending in SEPARATOR:
            file.write(comment)
            frame.write_csv(file, separator=SEPARATOR[ending])
        elif ending in JSON_LINES:
            frame.write_ndjson(file)
        else:
            frame.write_parquet(file)


def _long(judgments: Judgments, form: Form) -> pl.DataFrame:
    """Return the long table, names and labels as text, a time or probability that is not known as null."""
    import polars as pl

    for label in used_labels(judgments):
        if label != label.strip():
            message = f"label {label!r} begins or ends with white space, which is lost in a table"
            raise FormatError(form.where, None, message, hint="give the scale other labels")
    names = ("topic", "doc", "assessor", "label", *judgments.facets)
    series = [_texts(name, judgments.column(name), form) for name in names]
    if judgments.time is not None:
        series.append(pl.Series("time", judgments.time).fill_nan(None))
    if judgments.probability is not None:
        series.append(pl.Series("probability", judgments.probability).fill_nan(None))
    return pl.DataFrame(series)


def _texts(name: str, column: Category, form: Form) -> pl.Series:
    import polars as pl

    try:
        names = pl.Series(name, list(column.names), dtype=pl.String)
    except UnicodeEncodeError as error:
        message = f"{name} {error.object!r} is not UTF-8, as all text in a table is"
        raise FormatError(form.where, None, message, hint="write qrels, which keep bytes as they are") from None
    return names.gather(column.codes)


def _wide(frame: pl.DataFrame, judgments: Judgments, form: Form, spread: str) -> pl.DataFrame:
    """Give each assessor, or aspect, a column."""
    if spread not in frame.columns:
        raise UnknownName("column", spread, frame.columns)
    keys = [name for name in frame.columns if name not in (spread, "label")]
    used = set(frame[spread].unique())
    names = [name for name in judgments.column(spread).names if name in used]
    for name in names:
        _refuse_name(name, keys, form, spread)
    repeated = frame.select(*keys, spread).is_duplicated()
    if repeated.any():
        topic, doc, name = frame.filter(repeated).select("topic", "doc", spread).row(0)
        raise AmbiguousLabels(
            f"document {doc!r} of topic {topic!r} has several labels for {spread} {name!r}, and a cell of {form.where} "
            "holds one",
            hint="write the long layout, or keep only the first or last label on reading",
        )
    return _picked(frame.pivot(on=spread, index=keys, values="label"), [*keys, *names])


def _picked(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """Choose columns by name; unlike in a polars selection, ``*`` and ``^a$`` are names, not patterns."""
    import polars as pl

    return pl.DataFrame([frame[name] for name in names])


def _refuse_name(name: str, keys: Sequence[str], form: Form, spread: str) -> None:
    """Raise where a name, as a column, would be read as something else."""
    try:
        found = find_columns([*keys, name], form)
    except FormatError:
        found = None
    if found is None or (found.roles, found.spread) != ({key: key for key in keys}, (name,)):
        message = f"{spread} {name!r} cannot be a column, since it would be read as something else"
        raise FormatError(form.where, None, message, hint="write the long layout")
