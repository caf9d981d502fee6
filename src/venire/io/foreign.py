"""Judgments and runs as objects of other tools: ir_measures' rows and frames, ranx's Qrels and Run.

Objects are recognised by their attributes, not by their class, so that neither tool needs to be installed:

- rows of ir_measures (and of ir_datasets) are named tuples with ``query_id``, ``doc_id`` and ``relevance`` (Qrel,
  perhaps with ``iteration``, the second column of qrels) or ``score`` (ScoredDoc); any iterable of them;
- ranx's Qrels and Run have ``to_dict``, ``name``, and ``qrels`` or ``run``;
- tables of pyarrow and datasets of Hugging Face become frames;
- ``{assessor: judgments}`` names the assessor of each, and ``{system: run}`` the system.

Cost: a Python object for every row; files are read far faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from venire.data.ids import Category, is_id
from venire.data.runs import RunTable
from venire.data.scale import whole
from venire.errors import FormatError
from venire.io.rows import Rows, named, rows_of_qrels

QREL, SCORED = ("query_id", "doc_id", "relevance"), ("query_id", "doc_id", "score")
ITERATION = "iteration"


def known_judgments(source: Any, *, second_column: str = "ignore") -> Any:
    """Convert judgments of another tool to Rows, or to a source that can be read; return others as they are."""
    source = _listed(_framed(source, "judgments"))
    if isinstance(source, list | tuple) and not source:
        raise FormatError("list", None, "holds no judgments", hint="expected rows such as Qrel, or names of files")
    if _is_ranx(source, "run") or (_has_rows(source, SCORED) and not _has_rows(source, QREL)):
        raise FormatError("judgments", None, "found scores of documents, which is a run", hint="give qrels instead")
    if _is_ranx(source, "qrels"):
        from venire.io.tables.rows import rows_from_dict

        name = getattr(source, "name", None)
        return rows_from_dict(source.to_dict(), source="ranx.Qrels", assessor=str(name or "assessor"))
    if _has_rows(source, QREL):
        return _rows_of(source, second_column)
    if hasattr(source, "columns") and second_column != "ignore" and ITERATION in source.columns:
        renamed = {ITERATION: second_column}
        return source.rename(columns=renamed) if hasattr(source, "iloc") else source.rename(renamed)
    return source


def refuse_other(source: Any, where: str) -> None:
    """Raise where a source is of a type that cannot be read."""
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        message = f"found {type(source).__name__}, expected the name of a file, a data frame or a dictionary"
        raise FormatError(where, None, message, hint="several of these may be in a list")


def refuse_flat(held: Mapping[Any, Any], where: str, example: str) -> None:
    """Raise where a dictionary holds anything but dictionaries, as the record of a row does; example: what is read."""
    for key, each in held.items():
        if not isinstance(each, Mapping):
            found = f"found {type(each).__name__} under {str(key)[:60]!r}, expected a dictionary of documents"
            hint = f"expected {example}; make a data frame of records: polars.DataFrame(records)"
            raise FormatError(where, None, found, hint=hint)


def names_assessors(source: Any) -> bool:
    """Whether a source is {assessor: judgments}, not {topic: {doc: label}}, by the first document of each topic."""
    return isinstance(source, Mapping) and any(
        isinstance(next(iter(each.values()), None), Mapping) if isinstance(each, Mapping) else _is_object(each, QREL)
        for each in source.values()
    )


def of_assessor(name: object, rows: Rows) -> Rows:
    """Name the assessor of rows; a source with several assessors keeps their names."""
    several = len(rows.assessor.names) > 1
    return rows if several else named(rows, str(name))


def known_runs(source: Any) -> Any:
    """Convert runs of another tool to a RunTable or a dictionary; return others as they are."""
    source = _listed(_framed(source, "runs"))
    if _is_ranx(source, "qrels") or (_has_rows(source, QREL) and not _has_rows(source, SCORED)):
        raise FormatError("runs", None, "found relevance of documents, which is qrels", hint="give a run instead")
    if _is_ranx(source, "run"):
        return {str(getattr(source, "name", None) or "run"): source.to_dict()}
    if _has_rows(source, SCORED):
        return _table_of("run", source)
    if isinstance(source, Mapping) and any(_is_object(each, SCORED) for each in source.values()):
        return [_of_system(str(name), known_runs(each)) for name, each in source.items()]
    return source


def _framed(source: Any, where: str) -> Any:
    """Convert tables of Arrow and datasets of Hugging Face to frames; return others as they are."""
    package = type(source).__module__.partition(".")[0]
    if package == "datasets" and isinstance(source, Mapping):
        hint = "give one of them, as in data['test']"
        raise FormatError(where, None, f"found several splits: {', '.join(map(str, source))}", hint=hint)
    if package == "datasets" and hasattr(source, "to_polars"):
        return _named_classes(source)
    if package == "pyarrow":
        from venire.io.tables.blocks import as_polars

        return as_polars(source, where)
    return source


def _named_classes(source: Any) -> Any:
    """Convert a dataset of Hugging Face to a frame, in which classes have their names, not their numbers."""
    frame = source.to_polars()
    for name, feature in (source.features or {}).items():
        if type(feature).__name__ == "ClassLabel":
            frame = frame.with_columns(frame[name].replace_strict(dict(enumerate(feature.names)), default=None))
    return frame


def _listed(source: Any) -> Any:
    """List the elements of an iterator, since it can be read only once; return others as they are."""
    return list(source) if isinstance(source, Iterator) else source


def _has_rows(source: Any, fields: tuple[str, ...]) -> bool:
    """Whether a source is an iterable of named tuples with these fields, by its first one."""
    if isinstance(source, (str, bytes, Mapping)) or not isinstance(source, Iterable) or hasattr(source, "columns"):
        return False
    first = next(islice(source, 1), None)
    return isinstance(first, tuple) and set(fields) <= set(getattr(first, "_fields", ()))


def _is_ranx(source: Any, holds: str) -> bool:
    """Whether a source is ranx's Qrels or Run; a frame may have a column of that name."""
    return hasattr(source, holds) and hasattr(source, "to_dict") and not hasattr(source, "columns")


def _is_object(each: Any, fields: tuple[str, ...]) -> bool:
    """Whether a value of a dictionary is a source of its own: rows, an object or a frame, not a dictionary."""
    if isinstance(each, Mapping):
        return False
    return hasattr(each, "to_dict") or hasattr(each, "columns") or isinstance(each, Iterator) or _has_rows(each, fields)


def _rows_of(source: Iterable[Any], second_column: str) -> Rows:
    """Read rows of ir_measures as ``read_qrels`` reads lines; ``iteration`` is the second column."""
    listed = list(source)
    try:
        topic, doc = (Category.of(as_id(getattr(row, name)) for row in listed) for name in QREL[:2])
        label = Category.of(whole(str(_relevance(row, line))) for line, row in enumerate(listed, start=1))
    except AttributeError as error:
        raise FormatError(
            "rows", None, f"not every row is a Qrel ({error})", hint=f"fields: {', '.join(QREL)}"
        ) from None
    second = {second_column: Category.of(as_id(getattr(row, ITERATION, "0")) for row in listed)}
    return rows_of_qrels("Qrel rows", (topic, doc, label), np.arange(1, len(listed) + 1), second=second)


def _relevance(row: Any, line: int) -> Any:
    if row.relevance is None or row.relevance != row.relevance:
        raise FormatError("Qrel rows", line, "has no relevance", hint="leave out rows without a label")
    return row.relevance


def _table_of(system: str, source: Iterable[Any]) -> RunTable:
    listed = list(source)
    try:
        topic, doc = (Category.of(as_id(getattr(row, name)) for row in listed) for name in SCORED[:2])
        score = np.array([row.score for row in listed], dtype=np.float64)
    except (AttributeError, TypeError, ValueError) as error:
        message = f"not every row is a ScoredDoc ({error})"
        raise FormatError("rows", None, message, hint=f"fields: {', '.join(SCORED)}; scores are numbers") from None
    return RunTable(system, Category.constant(system, len(listed)), topic, doc, score)


def _of_system(name: str, source: Any) -> Any:
    """Name the system of a run, which errors name, too; a frame that names systems keeps their names."""
    if isinstance(source, RunTable):
        return replace(source, name=name, system=Category.constant(name, len(source.score)))
    if isinstance(source, list | tuple | Mapping) and not source:
        raise FormatError(name, None, "holds no run lines", hint="leave out systems that returned nothing")
    if isinstance(source, Mapping):
        own = any(isinstance(docs, Mapping) for lists in source.values() for docs in lists.values())
        if own and len(source) > 1:
            found = ", ".join(map(str, source))
            raise FormatError(name, None, f"holds several systems: {found[:60]}", hint="name each beside the others")
        return {name: next(iter(source.values())) if own else source}
    if not hasattr(source, "columns"):
        return source
    if "system" not in source.columns:
        import polars as pl

        column = pl.lit(name).alias("system")
        source = source.assign(system=name) if hasattr(source, "iloc") else source.with_columns(column)
    from venire.io.run_tables import run_of_frame

    return run_of_frame(source, name)


def as_id(name: object, where: str = "rows") -> str:
    """Return the name of a topic, document or system as text; raise where it cannot be one."""
    text = str(name)
    if not is_id(text):
        raise FormatError(where, None, f"found the id {text[:60]!r}, expected text for topics and documents")
    return text
