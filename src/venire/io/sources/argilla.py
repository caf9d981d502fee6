"""Argilla (2.x) exports records, ``dataset.records.to_json``: a list of objects.

They have ``fields``, ``metadata`` and ``responses``, in which each question has a list of ``value`` and ``user_id``.
They do not tell which responses are drafts or were discarded.
Records in columns (``records.to_list(flatten=True)``, or ``to_datasets`` as JSON) have ``QUESTION.responses``,
``QUESTION.responses.users`` and ``QUESTION.responses.status`` beside the fields and the metadata.

The assessor is the id of the user.  Several questions are aspects; answers with several values (rankings, several
labels) are left out.  Suggestions are not read: they are what a model proposed, not what somebody answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from venire.io.sources.labels import Imported
from venire.io.sources.records import Columns, Record, records, refuse_unknown_question

HINT = "export the records with dataset.records.to_list(flatten=True)"
FLAT = ".responses"
DOUBT = "drafts and discarded ones among them: only records.to_list(flatten=True) tells which they are"


def labels(path: Path, columns: Columns) -> Iterator[Imported]:
    """Read all responses that were submitted; ``columns["label"]`` chooses one of several questions."""
    known: dict[str, None] = {}
    for record in records(path, hint=HINT):
        held = record.held
        answers = _nested(record) if isinstance(held.get("responses"), dict) else _flat(record)
        places = [held.get("metadata"), held.get("fields"), held]
        for question, value, user, status in answers:
            known[question] = None
            if columns.get("label", question) != question:
                continue
            topic, doc = (record.name(role, columns, *places) for role in ("topic", "doc"))
            left_out = "" if status in (None, "submitted") else f"{str(status)[:30]}, not submitted"
            is_list = isinstance(value, list)  # of a ranking, or a question with several labels
            label, none = ("", f"answers to {question!r} are lists") if is_list else record.choice(value, question)
            yield Imported(
                topic=topic,
                doc=doc,
                label=label,
                assessor="" if user is None else str(user),
                aspect=question,
                left_out=left_out or none,
                doubt=DOUBT if status is None and not none else "",
                line=record.place,
            )
    refuse_unknown_question(path, columns, known)


def _nested(record: Record) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield question, value, user and status of every response."""
    for question, responses in record.held["responses"].items():
        for each in responses if isinstance(responses, list) else [responses]:
            if not isinstance(each, dict):
                raise record.fault(f"has a response to {question!r} that is no object", hint=HINT)
            yield question, each.get("value"), each.get("user_id"), each.get("status")


def _flat(record: Record) -> Iterator[tuple[str, Any, Any, Any]]:
    for key, values in record.held.items():
        if key.endswith(FLAT) and isinstance(values, list):
            users: Any = record.held.get(f"{key}.users")
            status: Any = record.held.get(f"{key}.status", [None] * len(values))
            if not all(isinstance(each, list) and len(each) == len(values) for each in (users, status)):
                raise record.fault(f"has not one user for each value of {key!r}", hint=HINT)
            yield from zip([key.removesuffix(FLAT)] * len(values), values, users, status, strict=True)
