"""Hidden gold: answers that are known to be right, with which those of assessors are compared unseen.

``Task.gold`` is a text: the label; for aspects, the labels of some or all of them as a JSON object; for a preference,
which of the two is better, as ``data.preferences`` has it (1: ``doc``, -1: ``other``, 0: neither).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from math import copysign
from pathlib import Path
from typing import NamedTuple

from venire.data.judgments import FACETS, Judgments
from venire.data.scale import NOT_APPLICABLE
from venire.errors import FormatError, known_names
from venire.io.aspects import aspect_labels
from venire.io.judgments import read_judgments
from venire.io.preferences import read_preferences
from venire.judging.answers import Value
from venire.judging.study import ASPECTS, LISTS, PREFERENCE, Study
from venire.judging.tasks import Task


class About(NamedTuple):
    """What gold is about; beside: the document that was read before, or the other one of a pair."""

    topic: str
    doc: str
    beside: str = ""


def read_gold(path: Path, study: Study, kind: str) -> dict[About, str]:
    """Read gold for tasks of a kind: labels, labels by aspect, or preferences, as the readers of ``io`` do."""
    read = _aspects if kind == ASPECTS else _preferences if kind in (PREFERENCE, LISTS) else _labels
    found: dict[About, str] = {}
    for about, gold in read(path, study):
        if found.setdefault(about, gold) != gold:
            raise _two_answers(path, about.topic, about.doc)
    return found


def _two_answers(path: Path, topic: str, doc: str) -> FormatError:
    message = f"{doc!r} of topic {topic!r} has two answers that are right"
    return FormatError(path, None, message, hint="gold has one answer to each task")


def _labels(path: Path, study: Study) -> Iterator[tuple[About, str]]:
    judgments = read_judgments(path, duplicate_labels="error")
    judgments.require_one(*(name for name in FACETS if name != "given"))
    for topic, doc, label, *given in _cells(judgments, "topic", "doc", "label"):
        _refuse(path, label, study.labels.labels, "the scale")
        yield About(topic, doc, *given), label


def _cells(judgments: Judgments, *names: str) -> Iterator[tuple[str, ...]]:
    """Yield the cells of columns, and of ``given`` if it is there, row by row."""
    given = ("given",) if "given" in judgments.facets else ()
    return zip(*(judgments.column(name).texts() for name in (*names, *given)), strict=True)


def _aspects(path: Path, study: Study) -> Iterator[tuple[About, str]]:
    known = {each.name: [NOT_APPLICABLE, *(label.name for label in each.labels)] for each in study.aspects}
    judgments, _ = aspect_labels(path, names=known, duplicate_labels="error")
    found: dict[About, dict[str, str]] = {}
    for topic, doc, aspect, label, *given in _cells(judgments, "topic", "doc", "aspect", "label"):
        _refuse(path, label, known[aspect], f"the scale of {aspect!r}")
        labels = found.setdefault(About(topic, doc, *given), {})
        if labels.setdefault(aspect, label) != label:
            raise _two_answers(path, topic, doc)
    yield from ((about, json.dumps(labels, sort_keys=True)) for about, labels in found.items())


def _preferences(path: Path, study: Study) -> Iterator[tuple[About, str]]:  # noqa: ARG001 - as the others
    for row in read_preferences(path).records():
        topic, left, right, strength = (row[name] for name in ("topic", "left", "right", "strength"))
        sign = _sign(float(strength))
        yield About(topic, left, right), str(sign)
        yield About(topic, right, left), str(-sign)


def _refuse(path: Path, label: str, known: Collection[str], scale: str) -> None:
    if label not in known:
        raise FormatError(path, None, f"label {label!r} is not on {scale}", hint=known_names(label, known))


def about(task: Task) -> About:
    """Return what a task is about."""
    return About(task.topic, task.doc, task.given or task.other)


def compared(task: Task, value: Value) -> list[bool]:
    """Return whether an answer is right, for each thing that gold states; nothing where it could not be judged.

    A label is right if it is that of the gold; a preference if it has the same direction.
    """
    if not task.gold or "cannot" in value:
        return []
    if "labels" in value:
        return [value["labels"].get(aspect) == label for aspect, label in json.loads(task.gold).items()]
    return [value["label"] == task.gold if "label" in value else str(_sign(value["strength"])) == task.gold]


def hits(answers: Iterable[tuple[Task, Value]]) -> tuple[int, int]:
    """Count what gold states of answers, and how much of it is right."""
    found = [right for task, value in answers for right in compared(task, value)]
    return len(found), sum(found)


def _sign(strength: float) -> int:
    return int(copysign(1, strength)) if strength else 0
