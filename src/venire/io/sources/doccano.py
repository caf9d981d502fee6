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
        chosen = held.get(columns.get("label") or ("label" if "label" in held else "labels"))
        none = chosen in (None, [], "")
        yield Imported(
            topic=topic,
            doc=doc,
            label="" if none else record.value(chosen),
            left_out="no label was chosen" if none else "",
            line=record.place,
        )
    refuse_unknown_question(path, columns, known)
