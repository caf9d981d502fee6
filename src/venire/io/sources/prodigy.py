"""Prodigy (1.x) exports a line for each annotation, ``prodigy db-out``.

``answer`` is accept, reject or ignore.  In a choice, ``accept`` lists the ids of the options that were chosen.  In a
binary task there is no such list, and the answer is the label: 1 for accept, 0 for reject; tasks about several
``label`` are several questions.  The assessor is
``_annotator_id``, else ``_session_id``; ``_timestamp`` is in seconds.  Topic and document are among the keys of the
task, or in its ``meta``.  A reviewed task has the reviewer's answer, and in ``versions`` those of the annotators, which
are in datasets of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from venire.io.sources.labels import Imported
from venire.io.sources.records import Columns, Record, records, refuse_unknown_question, seconds

HINT = "export the annotations with prodigy db-out"
BINARY = {"accept": "1", "reject": "0"}
REVIEWED = "answers that were reviewed: export the datasets of the annotators, too"


def labels(path: Path, columns: Columns) -> Iterator[Imported]:
    """Read all annotations; those that were ignored, and choices that were rejected, have no label.

    ``columns["label"]`` chooses one of several questions: the label of a binary task.
    """
    known: dict[str, None] = {}
    for record in records(path, hint=HINT):
        held = record.held
        aspect = "" if isinstance(held.get("accept"), list) else str(held.get("label") or "")
        known[aspect or "accept"] = None
        if columns.get("label", aspect) not in (aspect, aspect or "accept"):
            continue
        topic, doc = (record.name(role, columns, held.get("meta"), held) for role in ("topic", "doc"))
        label, left_out = _label(record)
        who = held.get("_annotator_id") or held.get("_session_id")
        for _ in versions if isinstance(versions := held.get("versions"), list) else ():
            yield Imported(topic=topic, doc=doc, label="", left_out=REVIEWED, line=record.place)
        yield Imported(
            topic=topic,
            doc=doc,
            label=label,
            assessor="" if who is None else str(who),
            aspect=aspect,
            at=seconds(held.get("_timestamp")),
            left_out=left_out,
            line=record.place,
        )
    refuse_unknown_question(path, columns, known)


def _label(record: Record) -> tuple[str, str]:
    """Return the label, and why there is none."""
    answer, accept = record.held.get("answer"), record.held.get("accept")
    if answer not in ("accept", "reject", "ignore"):
        raise record.fault(f"has the answer {str(answer)[:30]!r}, expected accept, reject or ignore", hint=HINT)
    choice = isinstance(accept, list)
    if answer == "ignore" or (choice and answer == "reject"):
        return "", f"the answer is {answer}"
    if choice:
        return record.choice(accept, "accept")
    return BINARY[answer], ""
