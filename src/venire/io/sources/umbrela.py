"""UMBRELA (castorini, 0.0.7) writes a line of JSON for each query and passage.

It has ``model``, ``query``, ``passage``, ``prediction`` and ``judgment``, 0 to 3; ``result_status`` is 0 where the
reply of the model could not be read and the judgment is a fallback, which is no label.  These lines have texts and no
ids: a topic is the text of its query, a document that of the passage, unless ``qid`` and ``docid`` were added.  Also
read are its requests with a ``judgment`` added to each of the ``candidates``, which have ids.  The qrels that it writes
are qrels.

The assessor is the model, a machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from venire.io.sources.labels import Imported
from venire.io.sources.records import Columns, Record, is_name, records

HINT = 'expected lines such as {"model": "...", "query": "...", "passage": "...", "judgment": 2}'
FALLBACK = "the reply of the model could not be read (result_status 0)"


def labels(path: Path, columns: Columns) -> Iterator[Imported]:
    """Read all judgments."""
    for record in records(path, hint=HINT):
        candidates = record.held.get("candidates")
        query = record.held.get("query")
        for pair in candidates if isinstance(candidates, list) else [record.held]:
            if not isinstance(pair, dict):
                raise record.fault("has a candidate that is no object", hint=HINT)
            topic = record.name("topic", columns, *([query] if isinstance(query, Mapping) else []), record.held)
            yield _judged(record, topic, record.name("doc", columns, pair), pair)


def _judged(record: Record, topic: str, doc: str, pair: Mapping[str, Any]) -> Imported:
    model, parsed = (pair.get(key, record.held.get(key)) for key in ("model", "result_status"))
    fallback = parsed in (0, False)
    return Imported(
        topic=topic,
        doc=doc,
        label="" if fallback else record.value(pair.get("judgment")),
        assessor=str(model) if is_name(model) else "",
        machine=True,
        left_out=FALLBACK if fallback else "",
        line=record.place,
    )
