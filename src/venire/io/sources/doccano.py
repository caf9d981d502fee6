"""doccano exports text classification as JSON or JSONL: ``id``, ``text``, and a list ``label``.

Metadata are keys of the record; in older exports they are in ``meta``, and the list is called ``labels``.  A project
that is not collaborative is exported as one file for each annotator, named after them, so that a file is one assessor.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from venire.io.sources.labels import Imported
from venire.io.sources.records import Columns, records, refuse_unknown_question

HINT = "export the project as JSONL, with one label for each text"


def labels(path: Path, columns: Columns) -> Iterator[Imported]:
    """Read all texts that have a label."""
    known: dict[str, None] = {}
    for record in records(path, hint=HINT):
        held = record.held
        known.update(dict.fromkeys(held))
        topic, doc = (record.name(role, columns, held.get("meta"), held) for role in ("topic", "doc"))
        key = columns.get("label") or ("label" if "label" in held else "labels")
        label, left_out = record.choice(held.get(key), key)
        yield Imported(topic=topic, doc=doc, label=label, left_out=left_out, line=record.place)
    refuse_unknown_question(path, columns, known)
