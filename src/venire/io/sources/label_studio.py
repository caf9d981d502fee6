"""Label Studio (1.x) exports JSON: a list of tasks, each with ``data`` and a list of ``annotations``.

Annotations have ``completed_by`` (a number, or an object with an e-mail address), ``was_cancelled``, ``lead_time`` in
seconds, and in ``result`` the values of controls, of which those in ``READ`` are read.  JSON-MIN is a flat list with
``annotator``, the names of controls as keys, and the data; a key without a value is not there, and ratings and numbers
are in a list, ``[{"rating": 4}]``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from venire.errors import FormatError, Way
from venire.io.documents import read_json
from venire.io.sources.labels import Imported
from venire.io.sources.records import LIMIT, NO_LABEL, Columns, Record, refuse_unknown_question, seconds
from venire.io.tables.columns import ROLES, all_names, plain
from venire.results import first_few

HINT = "export the project as JSON or JSON-MIN"
READ = ("choices", "rating", "number")
"""Types of controls that are labels."""
OF_THE_EXPORT = frozenset({"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"})
"""Keys of JSON-MIN that are neither data nor controls."""


def labels(path: Path, columns: Columns) -> Iterator[Imported]:
    """Read all labels; several controls are aspects, and ``columns["label"]`` chooses one of them."""
    tasks = read_json(path, hint=HINT, limit=LIMIT)
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise FormatError(path, None, "is no list of tasks, as Label Studio exports", hint=HINT)
    refuse_unknown_question(path, columns, _questions(tasks))
    flat = columns.get("label") or ("" if any("annotations" in task for task in tasks) else _label_key(tasks, path))
    for record in (Record(path, task, number) for number, task in enumerate(tasks, start=1)):
        listed = record.held.get("annotations")
        data = record.held.get("data") if isinstance(listed, list) else record.held
        if not isinstance(data, dict):
            raise record.fault("has no data", hint=HINT)
        topic, doc = (record.name(role, columns, data) for role in ("topic", "doc"))
        nested = isinstance(listed, list)
        for annotation in listed if isinstance(listed, list) else [record.held]:
            found = _chosen(record, annotation, columns) if nested else [(flat, *_flat(record, flat))]
            for control, label, left_out in found:
                about = {"line": record.place, **_about(annotation)}
                yield Imported(topic=topic, doc=doc, label=label, aspect=control, left_out=left_out, **about)


def _chosen(record: Record, annotation: Any, columns: Columns) -> Iterator[tuple[str, str, str]]:
    """Yield the controls of an annotation, their labels, and why there is none."""
    listed = annotation.get("result") if isinstance(annotation, dict) else None
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise record.fault("has an annotation without a result", hint=HINT)
    named = [(str(each.get("from_name")), each) for each in listed]
    chosen = [(control, each) for control, each in named if columns.get("label", control) == control]
    if annotation.get("was_cancelled") or not chosen:
        yield "", "", "cancelled" if annotation.get("was_cancelled") else NO_LABEL
        return
    if others := sorted({str(each.get("type")) for _, each in chosen} - {*READ}):
        yield "", "", f"controls of type {first_few(others, 4)} are not read"
    for control, each in chosen:
        if each.get("type") in READ:
            if not isinstance(each.get("value"), dict):
                raise record.fault(f"has a result of {control[:60]!r} without a value", hint=HINT)
            yield control, *record.choice(each["value"].get(each["type"]), control)


def _questions(tasks: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the names of controls, in JSON-MIN all keys."""
    for task in tasks:
        listed = task.get("annotations")
        results = [each.get("result") for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        held = [each for result in results if isinstance(result, list) for each in result if isinstance(each, dict)]
        yield from (str(each.get("from_name")) for each in held)
        yield from () if isinstance(listed, list) else task


def _flat(record: Record, control: str) -> tuple[str, str]:
    """Return the label in JSON-MIN, where controls and data are keys of one object, and why there is none."""
    value = record.held.get(control)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = next((value[0][kind] for kind in READ if kind in value[0]), value)
    return record.choice(value, control)


def _label_key(tasks: list[dict[str, Any]], path: Path) -> str:
    """Return the key of the labels in JSON-MIN; it is missing where there is no label."""
    known = {name for role in ("topic", "doc") for name in all_names(ROLES[role])}
    keys = dict.fromkeys(key for task in tasks for key in task)
    others = [key for key in keys if key not in OF_THE_EXPORT and plain(str(key)) not in known]
    found = [key for key in others if plain(str(key)) in all_names(ROLES["label"])]
    if len(found) != 1:
        text = f"say which key has the labels: {first_few(others, 6)}"
        hint = [Way(text, control="NAME"), Way(text, column="label=NAME")]
        raise FormatError(path, None, "does not tell which key has the label", hint=hint)
    return found[0]


def _about(annotation: Mapping[str, Any]) -> dict[str, Any]:
    """Return who made an annotation, when, and in how many seconds."""
    who = annotation.get("completed_by", annotation.get("annotator"))
    if isinstance(who, dict):
        who = who.get("email") or who.get("username") or who.get("id")
    lead = annotation.get("lead_time")
    took = float(lead) if isinstance(lead, int | float) and 0 <= lead < 1e9 else None
    at = seconds(annotation.get("updated_at") or annotation.get("created_at"))
    return {"assessor": "" if who is None else str(who), "at": at, "seconds": took}
