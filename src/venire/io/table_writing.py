"""Writing judgments as tables that ``read_table`` reads back exactly: CSV, TSV, JSONL, Parquet.

A scale that reading would not infer from the labels is declared: in a comment ahead of a CSV or TSV header, or, for the
other formats and for labels that such a comment cannot hold, in a TOML file beside the table.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from venire.data.ids import Category, Ids, as_bytes
from venire.data.judgments import Judgments
from venire.data.rows import inferred_scale
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, FormatError, UnknownName, VenireError
from venire.io.column_names import Columns, Form, find_columns, spread_of
from venire.io.qrels import header_scale
from venire.io.scale_files import scale_file, write_scale_beside
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
    comment = _declare_scale(judgments, path, comments=ending in SEPARATOR)
    with _opened(path) as file:
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
    for label in _used_labels(judgments):
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
    return frame.pivot(on=spread, index=keys, values="label").select(*keys, *names)


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


def _declare_scale(judgments: Judgments, path: Path, *, comments: bool) -> bytes:
    """Return the comment that declares the scale, if one is needed and can; write it beside the table if none can."""
    scale = judgments.scale
    if scale_file(path) is None and _inferred(judgments) == scale:
        return b""
    comment = as_bytes(f"# scale: {scale}\n")
    if comments and _read_back(comment) == scale:
        return comment
    write_scale_beside(scale, path)
    return b""


def _used_labels(judgments: Judgments) -> list[str]:
    return [judgments.scale.labels[level] for level in sorted(set(judgments.label.tolist()))]


def _inferred(judgments: Judgments) -> Scale | None:
    """Return the scale that reading would infer."""
    try:
        return inferred_scale(Category.of(_used_labels(judgments)))
    except (VenireError, IndexError):
        return None


def _read_back(comment: bytes) -> Scale | None:
    try:
        return header_scale(comment)
    except VenireError:
        return None


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing, compressed as its ending says; the same bytes are always written alike."""
    with path.open("wb") as raw:
        if path.name.lower().endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
                yield cast("BinaryIO", file)
        elif path.name.lower().endswith(".zst"):
            import zstandard

            with zstandard.ZstdCompressor().stream_writer(raw) as writer:
                yield cast("BinaryIO", writer)
        else:
            yield raw
