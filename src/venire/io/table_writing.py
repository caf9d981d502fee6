"""Writing judgments as tables that ``read_table`` reads back exactly: CSV, TSV, JSONL, Parquet.

A scale that reading would not infer from the labels is declared: in a comment ahead of a CSV or TSV header, or, for the
other formats and for labels that such a comment cannot hold, in a TOML file beside the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from venire.data.ids import Category, Ids
from venire.data.judgments import Judgments
from venire.errors import AmbiguousLabels, FormatError, UnknownName
from venire.io.column_names import Columns, Form, find_columns, spread_of
from venire.io.frames import picked
from venire.io.lines import written
from venire.io.scale_files import declare_scale, used_labels
from venire.io.table_formats import JSON_LINES, SEPARATOR, ending_of

if TYPE_CHECKING:
    import polars as pl


def write_table(judgments: Judgments, path: Path, *, wide: bool = False, wide_aspects: bool = False) -> None:
    """Write a table in the format that the path's ending names; .gz or .zst may follow it.

    wide: a column per assessor, and a row for each topic, document and whatever else the labels have: facets, time.
    wide_aspects: a column per aspect, and a row for each topic, document, assessor and whatever else.

    When not to use this: several labels by one assessor for one document fit into the long form only.
    """
    form, ending = Form(path, spread_of(wide, wide_aspects)), ending_of(path.name)
    if ending not in (*SEPARATOR, *JSON_LINES, ".parquet"):
        message = f"the ending {ending!r} is that of no table"
        raise FormatError(path, None, message, hint="call it .csv, .tsv, .jsonl or .parquet; .gz or .zst may follow")
    frame = _long(judgments, form)
    frame = _wide(frame, judgments, form) if form.spread else frame
    comment = declare_scale(judgments, path, comments=ending in SEPARATOR)
    with written(path) as file:
        if ending in SEPARATOR:
            file.write(comment)
            frame.write_csv(file, separator=SEPARATOR[ending])
        elif ending in JSON_LINES:
            frame.write_ndjson(file)
        else:
            frame.write_parquet(file)


def _long(judgments: Judgments, form: Form) -> pl.DataFrame:
    """Return the long table, names and labels as text, a time that is not known as null."""
    import polars as pl

    columns = {
        "topic": judgments.column("topic"),
        "doc": Category(judgments.item, judgments.items.doc),
        "assessor": judgments.assessor,
        "label": Category(judgments.label, Ids.of(judgments.scale.labels)),
        **judgments.facets,
    }
    for label in used_labels(judgments):
        if label != label.strip():
            message = f"label {label!r} begins or ends in white space, which is lost in a table"
            raise FormatError(form.where, None, message, hint="give the scale other labels")
    series = [_texts(name, column, form) for name, column in columns.items()]
    if judgments.time is not None:
        series.append(pl.Series("time", judgments.time).fill_nan(None))
    return pl.DataFrame(series)


def _texts(name: str, column: Category, form: Form) -> pl.Series:
    import polars as pl

    try:
        names = pl.Series(name, list(column.names), dtype=pl.String)
    except UnicodeEncodeError as error:
        message = f"{name} {error.object!r} is not UTF-8, as all text in a table is"
        raise FormatError(form.where, None, message, hint="write qrels, which keep bytes as they are") from None
    return names.gather(column.codes)


def _wide(frame: pl.DataFrame, judgments: Judgments, form: Form) -> pl.DataFrame:
    """Give each assessor, or aspect, a column."""
    spread = form.spread or ""
    if spread not in frame.columns:
        raise UnknownName("column", spread, frame.columns)
    keys = [name for name in frame.columns if name not in (spread, "label")]
    used = set(frame[spread].unique())
    names = [name for name in judgments.column(spread).names if name in used]
    _refuse_names(names, keys, form)
    _refuse_repeats(frame, keys, form)
    return picked(frame.pivot(on=spread, index=keys, values="label"), [*keys, *names])


def _refuse_names(names: Sequence[str], keys: Sequence[str], form: Form) -> None:
    """Raise at the first name that, as a column, would be read as something else."""
    for name in names:
        try:
            found = find_columns([*keys, name], form)
        except FormatError:
            found = None
        if found != Columns({key: key for key in keys}, (name,)):
            message = f"{form.spread} {name!r} cannot be a column, since it would be read as something else"
            raise FormatError(form.where, None, message, hint="write the long form, without wide")


def _refuse_repeats(frame: pl.DataFrame, keys: Sequence[str], form: Form) -> None:
    """Raise if a cell of the wide table would hold two labels."""
    repeated = frame.select(*keys, form.spread or "").is_duplicated()
    if repeated.any():
        topic, doc, name = frame.filter(repeated).select("topic", "doc", form.spread or "").row(0)
        raise AmbiguousLabels(
            f"document {doc!r} of topic {topic!r} has several labels for {form.spread} {name!r}, "
            f"and a cell of {form.where} holds one",
            hint="write the long form, without wide; or settle repeats when reading, as with --repeats last",
        )
