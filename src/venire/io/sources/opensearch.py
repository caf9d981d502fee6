"""Judgments of OpenSearch's Search Relevance Workbench (3.1 and later).

``judgmentRatings`` lists queries; each has the text ``query``, and ``ratings``, a list of ``docId`` and ``rating``.
Read are the body of a request that imports judgments, and the response to ``GET
_plugins/_search_relevance/judgments/ID``, which has them in ``hits.hits[]._source``.  A topic is the text of its query.
Judgments have a ``name``, which is the assessor, and a ``type``; those of types LLM_JUDGMENT and UBI_JUDGMENT (computed
from clicks) are by a machine.  Several of one name are several assessors, called ``NAME/ID``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from venire.errors import FormatError
from venire.io.documents import read_json
from venire.io.sources.labels import Imported
from venire.io.sources.records import LIMIT, Columns, Record, is_name

DONE = "COMPLETED"
MACHINES = ("LLM_JUDGMENT", "UBI_JUDGMENT")
HINT = 'expected {"judgmentRatings": [{"query": "...", "ratings": [{"docId": "...", "rating": "1.0"}]}]}'


def labels(path: Path, columns: Columns) -> Iterator[Imported]:  # noqa: ARG001 - the keys are fixed
    """Read all ratings."""
    found = list(_sources(read_json(path, hint=HINT, limit=LIMIT), path))
    done = [judged.get("name") for _, judged in found if judged.get("status", DONE) == DONE]
    times = Counter(name for name in done if isinstance(name, str))
    for own, judged in found:
        name, machine = judged.get("name"), judged.get("type") in MACHINES
        if (status := judged.get("status", DONE)) != DONE:
            left_out = f"judgments {str(name)[:60]!r} are {str(status)[:30]}"
            yield Imported(topic="", doc="", label="", left_out=left_out)
            continue
        for number, query in enumerate(judged["judgmentRatings"], start=1):
            record = Record(path, query, number)
            if not isinstance(query, dict) or not is_name(query.get("query")):
                raise record.fault("has no query", hint=HINT)
            who = "" if not isinstance(name, str) else name if times[name] == 1 else f"{name}/{own}"
            for each in record.ratings("docId", hint=HINT):
                topic, doc, label = str(query["query"]), str(each["docId"]), record.value(each.get("rating"))
                yield Imported(topic=topic, doc=doc, label=label, assessor=who, machine=machine, line=record.place)


def _sources(held: Any, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield id and judgments of a request or of a response, which also lists those that are not there, or failed."""
    hits = held.get("hits") if isinstance(held, dict) else None
    listed = hits.get("hits") if isinstance(hits, dict) else [{"_source": held}]
    for number, hit in enumerate(listed if isinstance(listed, list) else [None], start=1):
        source = hit.get("_source") if isinstance(hit, dict) else None
        done = isinstance(source, dict) and source.get("status", DONE) == DONE
        if not isinstance(source, dict) or (done and not isinstance(source.get("judgmentRatings"), list)):
            raise FormatError(path, None, "has no list of judgmentRatings", hint=HINT)
        yield str(hit.get("_id") or number), source
