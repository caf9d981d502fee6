"""Datasets of ir_datasets (0.5.5 and later), named ``irds:ID``: ``irds:msmarco-passage-v2/trec-dl-2021/judged``.

Qrels are judgments by one assessor, named after the dataset; queries are texts of topics; documents are texts of
documents; scored documents, where a dataset has them, are a run.

Nothing is downloaded: ir_datasets fetches what it does not have, which is refused while Venire reads.  Data that are
not there are an error that says how to fetch them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from venire.data.ids import Category
from venire.data.runs import RunTable
from venire.errors import FormatError, known_names
from venire.io.files import DATASET
from venire.io.foreign import as_id, known_judgments, known_runs
from venire.io.rows import Rows, named

SUBTOPIC = "subtopic_id"


def rows(path: Path) -> Rows:
    """Read the qrels of a dataset; subtopics are intents."""
    found = _listed(path, "qrels")
    read: Rows = known_judgments(found)
    intents = {}
    if hasattr(found[0], SUBTOPIC):
        intents["intent"] = Category.of(as_id(getattr(each, SUBTOPIC), str(path)) for each in found)
    return named(replace(read, source=str(path), facets=intents), dataset_id(path))


def lists(path: Path) -> RunTable:
    """Read the scored documents of a dataset as a run."""
    table: RunTable = known_runs(_listed(path, "scoreddocs"))
    return replace(table, name=str(path), system=Category.constant(dataset_id(path), len(table.score)))


def topic_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield id and text of the queries of a dataset."""
    yield from ((name, text) for name, text, *_ in topics(path))


def topics(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield id, text, description and narrative of the queries of a dataset; "" where there are none."""
    for each in _listed(path, "queries"):
        yield str(each.query_id), _text(each), getattr(each, "description", ""), getattr(each, "narrative", "")


def doc_texts(path: Path, wanted: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield id and text of documents of a dataset."""
    yield from ((name, text) for name, _, text in documents(path, wanted))


def documents(path: Path, wanted: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Yield id, title ("" if there is none) and text of documents of a dataset."""
    with _reading(path, "docs") as dataset:
        found = list(dataset.docs_store().get_many_iter(list(wanted)))
    yield from ((str(each.doc_id), str(getattr(each, "title", "")), _text(each)) for each in found)


def content(path: Path) -> Iterator[bytes]:
    """Yield what identifies a dataset: a line for each of its qrels, or of its queries if it has no qrels."""
    for row in _listed(path, "qrels" if "qrels" in entities(path) else "queries"):
        yield "\t".join(map(str, row)).encode("utf-8", "surrogateescape") + b"\n"


def entities(path: Path) -> list[str]:
    """Return what a dataset has: docs, queries, qrels, scoreddocs."""
    dataset = _dataset(path)
    return [name for name in ("docs", "queries", "qrels", "scoreddocs") if getattr(dataset, f"has_{name}")()]


def dataset_id(path: Path) -> str:
    """Return the name of a dataset in ir_datasets."""
    return str(path).removeprefix(DATASET)


def _text(each: Any) -> str:
    """Return the text of a query or a document."""
    text = each.default_text() if hasattr(each, "default_text") else getattr(each, "text", None)
    return " ".join(str(field) for field in each[1:]) if text is None else str(text)


def _listed(path: Path, what: str) -> list[Any]:
    """List the qrels, queries or scored documents of a dataset."""
    with _reading(path, what) as dataset:
        found = list(getattr(dataset, f"{what}_iter")())
    if not found:
        raise FormatError(path, None, f"the dataset has no {what}")
    return found


def _dataset(path: Path) -> Any:
    """Find a dataset by its name."""
    try:
        import ir_datasets
    except ImportError:
        hint = "install it: pip install 'venire[ir_datasets]'"
        raise FormatError(path, None, "ir_datasets is not installed", hint=hint) from None
    try:
        return ir_datasets.load(dataset_id(path))
    except KeyError:
        near = known_names(dataset_id(path), ir_datasets.registry)
        hint = f"{near}{';' * (not near.endswith('?'))} ir_datasets list shows all names"
        raise FormatError(path, None, "ir_datasets knows no dataset of this name", hint=hint) from None


@contextmanager
def _reading(path: Path, what: str) -> Iterator[Any]:
    """Open a dataset for reading; what goes wrong, and data that would have to be downloaded, are errors of ours."""
    dataset = _dataset(path)
    if not getattr(dataset, f"has_{what}")():
        hint = f"it has {', '.join(entities(path)) or 'nothing'}"
        raise FormatError(path, None, f"the dataset has no {what}", hint=hint)
    try:
        with _offline():
            yield dataset
    except _Download:
        name = dataset_id(path)
        hint = f"fetch it first: ir_datasets export {name} {what}"
        message = f"ir_datasets has no copy of the {what} here, and nothing is downloaded while results are computed"
        raise FormatError(path, None, message, hint=hint) from None
    except FormatError:
        raise
    except Exception as error:  # a parser of ir_datasets on a damaged file
        message = f"ir_datasets cannot read the {what} ({type(error).__name__}: {str(error)[:200]})"
        raise FormatError(path, None, message, hint=f"try ir_datasets export {dataset_id(path)} {what}") from None


class _Download(BaseException):
    """Something would have to be downloaded; not an Exception, which ir_datasets would catch and try elsewhere."""


@contextmanager
def _offline() -> Iterator[None]:
    """Refuse downloads of ir_datasets, all of which ask for requests."""
    from ir_datasets import lazy_libs

    before = lazy_libs.requests

    def refuse() -> NoReturn:
        raise _Download

    lazy_libs.requests = refuse
    try:
        yield
    finally:
        lazy_libs.requests = before
