"""Documents by topic as one JSON object, ``{topic: {document: number}}``: grades for judgments, scores for runs.

pytrec_eval takes such dictionaries, ranx saves them, and BEIR and MTEB (1.x, ``save_predictions``) write results so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from venire.data.ids import Category, is_id
from venire.data.runs import RunTable
from venire.errors import FormatError
from venire.io.documents import read_json
from venire.io.files import stem
from venire.io.rows import Rows
from venire.io.sources.records import LIMIT
from venire.results import first_few

HINT = 'expected {"q1": {"d1": 2.5, "d2": 1}}'
Row = tuple[str, str, float]


def rows(path: Path) -> Rows:
    """Read grades; the assessor is named after the file."""
    from venire.io.tables.rows import rows_from_dict

    held = read_json(path, hint=HINT, limit=LIMIT)
    found = {topic: dict(_documents(topic, docs, path)) for topic, docs in _topics(held, path)}
    return rows_from_dict(found, source=str(path), assessor=stem(path))


def lists(path: Path) -> RunTable:
    """Read scores; the system is named after the file."""
    held = read_json(path, hint=HINT, limit=LIMIT)
    return run_table(path, stem(path), scores(held, path))


def scores(held: Any, path: Path) -> Iterator[Row]:
    """Yield topic, document and score."""
    for topic, docs in _topics(held, path):
        for doc, score in _documents(topic, docs, path):
            yield topic, doc, score


def _topics(held: Any, path: Path) -> Iterator[tuple[str, Any]]:
    if not isinstance(held, dict):
        raise FormatError(path, None, "is no object of documents by topic", hint=HINT)
    yield from held.items()


def _documents(topic: str, docs: Any, path: Path) -> Iterator[tuple[str, float]]:
    if not isinstance(docs, dict):
        raise FormatError(path, None, f"topic {topic[:60]!r} has no object of documents", hint=HINT)
    for doc, number in docs.items():
        if not is_score(number):
            message = f"document {doc[:60]!r} of topic {topic[:60]!r} has {str(number)[:30]!r}, expected a number"
            raise FormatError(path, None, message, hint=HINT)
        yield doc, number


def is_score(value: Any) -> bool:
    """Return whether a value of JSON is a number, and finite."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and math.isfinite(value)
    )


def run_table(path: Path, system: str, found: Iterator[Row]) -> RunTable:
    """Make a run of topics, documents and scores."""
    read = list(found)
    if not read:
        raise FormatError(path, None, "holds no documents", hint=HINT)
    topic, doc, score = zip(*read, strict=True)
    for name in {system, *topic, *doc}:
        if not is_id(name):
            raise FormatError(path, None, f"found the id {name[:60]!r}, expected text")
    try:
        number = np.array(score, dtype=np.float64)
    except OverflowError:
        raise FormatError(path, None, "has a score that is too large for a number", hint=HINT) from None
    columns = Category.of(topic), Category.of(doc)
    return RunTable(str(path), Category.constant(system, len(read)), *columns, number)


def once(parts: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Join parts by topic; a topic that several of them have is an error that names these."""
    home: dict[str, str] = {}
    found: dict[str, Any] = {}
    for part, topics in parts.items():
        for topic, docs in _topics(topics, path):
            if home.setdefault(topic, part) != part:
                message = f"topic {topic[:60]!r} is in {home[topic]} and in {part}"
                hint = f"write the lists of one of {first_few(list(parts), 6)} to a file of its own, {HINT[9:]}"
                raise FormatError(path, None, message, hint=hint)
            found[topic] = docs
    return found
