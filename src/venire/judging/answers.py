"""Answers: what an assessor said to a task, and what became of it.

A value is one of

    {"label": NAME}                    label, conditional
    {"labels": {ASPECT: NAME}}         aspects; "N/A" where an aspect does not apply
    {"strength": -2..2}                preference, lists; positive: ``doc`` of the task is better, on either side
    {"cannot": REASON}                 any kind: it cannot be judged, and why
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from venire.errors import SettingError, UnknownName
from venire.judging.study import ASPECTS, CONDITIONAL, LABEL, STRENGTHS, Defined, Study
from venire.judging.tasks import Task

NOT_APPLICABLE = "N/A"
LONGEST_REASON = 1_000

COUNTED, SURPLUS, REFUSED = "counted", "surplus", "refused"
"""An answer counts; came late and is kept beside those that count; or is not stored, since access was revoked."""

Value = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer as it is handed in.

    key: chosen by the sender, the same whenever the same answer is sent again (idempotency)
    task: ``Task.key``; repeat: 0, or 1 where the task came again for self-consistency
    shown: hash of scale, guidelines and document that were shown; swapped: ``other`` was on the left
    seconds: how long the task was on the screen; at: when it was answered, seconds since 1970
    replaces: the key of an earlier answer by the same assessor that this one changes, "" for a new one
    value None: the earlier answer is withdrawn (undo)
    machine: for machines, model, prompt hash, label distribution and tokens
    """

    key: str
    task: str
    value: Value | None
    shown: str
    at: float
    repeat: int = 0
    swapped: bool = False
    seconds: float | None = None
    comment: str = ""
    replaces: str = ""
    machine: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Receipt:
    """What became of an answer: it is stored durably, unless refused; again: the same key had been stored before."""

    key: str
    status: str
    again: bool = False
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A task in the hands of an assessor, until it expires (seconds since 1970).

    swapped: ``other`` is shown on the left; shown: hash of what is shown, which the answer hands back
    """

    task: Task
    shown: str
    expires: float
    repeat: int = 0
    swapped: bool = False


@dataclass(frozen=True, kw_only=True)
class Given:
    """One of an assessor's own answers, as it stands after changes."""

    key: str
    task: Task
    value: Value
    status: str
    at: float
    repeat: int = 0
    swapped: bool = False
    comment: str = ""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where an assessor stands: tasks done and left, answers since the last rest, and whether judging goes on."""

    done: int
    left: int
    since_rest: int
    paused: bool
    revoked: bool


@dataclass(frozen=True, kw_only=True)
class Stored:
    """An answer as it is exported: the last of its chain of changes.

    at: when it was given, by the clock of the assessor's computer; received: when the last change was stored
    version: 1 for the first version of scale and guidelines, 2 for the next
    machine: for machines, model, prompt hash, label distribution and tokens
    """

    key: str
    task: Task
    assessor: str
    kind: str
    value: Value
    status: str
    at: float
    received: float
    shown: str
    version: int
    repeat: int = 0
    swapped: bool = False
    seconds: float | None = None
    comment: str = ""
    machine: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Unread:
    """A reply of a machine that is no answer; machine: model, prompt hash, and why it cannot be read."""

    task: str
    repeat: int
    text: str
    machine: Mapping[str, Any]


def refuse_value(study: Study, task: Task, value: Value) -> None:
    """Raise if a value is no answer to a task.

    Raises
    ------
    SettingError
        If it is of another kind, or incomplete.
    UnknownName
        If a label or an aspect is not the study's.
    """
    if set(value) == {"cannot"}:
        if not isinstance(value["cannot"], str) or len(value["cannot"]) > LONGEST_REASON:
            raise SettingError(f"a reason has at most {LONGEST_REASON:,} characters")
    elif task.kind in (LABEL, CONDITIONAL):
        _refuse_label("label", _only(value, "label"), study.scale)
    elif task.kind == ASPECTS:
        _refuse_aspects(study, _only(value, "labels"))
    else:
        _refuse_strength(study, _only(value, "strength"))


def _only(value: Value, name: str) -> Any:
    if set(value) != {name}:
        found = ", ".join(sorted(map(str, value))) or "nothing"
        raise SettingError(f"an answer to this task is a {name!r} or 'cannot'; found {found}")
    return value[name]


def _refuse_label(kind: str, label: object, scale: tuple[Defined, ...], *others: str) -> None:
    known = [*(each.name for each in scale), *others]
    if label not in known:
        raise UnknownName(kind, str(label), known)


def _refuse_aspects(study: Study, labels: object) -> None:
    if not isinstance(labels, Mapping) or set(labels) != {each.name for each in study.aspects}:
        raise SettingError("an answer on aspects has a label, or N/A, for each of them")
    for each in study.aspects:
        _refuse_label(f"label of {each.name}", labels[each.name], each.labels or study.scale, NOT_APPLICABLE)


def _refuse_strength(study: Study, strength: object) -> None:
    allowed = [each for each in STRENGTHS if each or study.ties]
    if type(strength) is not int or strength not in allowed:
        raise SettingError(f"strength {strength!r}: one of {', '.join(map(str, allowed))} was expected")
