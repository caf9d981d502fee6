"""Rated requests of the ranking evaluation API of Elasticsearch (7, 8) and OpenSearch (1, 2): ``_rank_eval``.

An object has a list ``requests``; each has an ``id`` and ``ratings``, a list of ``_index``, ``_id`` and ``rating``.
A document is named by its ``_id``; where several indices have rated documents, by ``_index/_id``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from venire.errors import FormatError
from venire.io.documents import read_json
from venire.io.sources.labels import Imported
from venire.io.sources.records import LIMIT, Columns, Record, is_name

HINT = 'expected {"requests": [{"id": "...", "ratings": [{"_index": "...", "_id": "...", "rating": 1}]}]}'


def labels(path: Path, columns: Columns) -> Iterator[Imported]:  # noqa: ARG001 - the keys are fixed
    """Read all ratings."""
    held = read_json(path, hint=HINT, limit=LIMIT)
    requests = held.get("requests") if isinstance(held, dict) else None
    if not isinstance(requests, list):
        raise FormatError(path, None, "has no list of requests", hint=HINT)
    found = [(record, each) for record in _records(path, requests) for each in record.ratings("_id", hint=HINT)]
    several = len({str(each.get("_index")) for _, each in found}) > 1
    for record, each in found:
        if several and not is_name(each.get("_index")):
            raise record.fault(
                f"has a rating of {str(each['_id'])[:60]!r} without _index, where others have one", hint=HINT
            )
        doc = f"{each.get('_index')}/{each['_id']}" if several else str(each["_id"])
        yield Imported(topic=str(record.held["id"]), doc=doc, label=record.value(each.get("rating")), line=record.place)


def _records(path: Path, requests: list[Any]) -> Iterator[Record]:
    for number, request in enumerate(requests, start=1):
        record = Record(path, request, number)
        if not isinstance(request, dict) or not is_name(request.get("id")):
            raise record.fault("has no id", hint=HINT)
        yield record
