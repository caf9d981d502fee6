"""What an assessor sees of a task: the panes, the question, and the answers that can be given."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from venire.judging.answers import NOT_APPLICABLE, Lease
from venire.judging.study import (
    ASPECTS,
    CONDITIONAL,
    IMAGE,
    LABEL,
    LISTS,
    PREFERENCE,
    SNIPPET,
    STRENGTHS,
    Aspect,
    Defined,
    Document,
    Study,
    Topic,
)

MOST_KEYS = 10
SIDES = ("doc", "other", "given")
WORDS = {
    2: "{left} is much better",
    1: "{left} is better",
    0: "Both are the same",
    -1: "{right} is better",
    -2: "{right} is much better",
}
REASONS = ("The page is empty or broken", "I do not understand the language", "I do not know enough about it")
QUESTIONS = {
    (LABEL, False): "How relevant is this {what}?",
    (CONDITIONAL, True): "You have just read the first {what}. How relevant is the second one now?",
    (ASPECTS, False): "Judge each aspect of this {what}.",
    (ASPECTS, True): "You have just read the first {what}. Judge each aspect of the second one now.",
    (PREFERENCE, False): "Which {what} would you rather have?",
    (LISTS, False): "Which list of results is better?",
}
"""By kind of task, and whether another document was read before."""


@dataclass(frozen=True)
class Choice:
    """An answer that a button and a key give: the value of a form's field, and the words on the button."""

    key: str
    value: str
    name: str
    definition: str = ""


@dataclass(frozen=True)
class Row:
    """An aspect with its choices."""

    name: str
    definition: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Pane:
    """A document or a list of results; ``side`` is its name in the address of its page."""

    caption: str
    side: str
    show: str
    document: Document | None = None
    results: tuple[Document, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Screen:
    """A task on one screen.

    answers: the field of the form that the choices fill; rows: aspects in place of choices
    given: the answer that is being changed, with its comment; replaces: its key
    key, began: of the new answer, for browsers without our script
    """

    lease: Lease
    topic: Topic
    question: str
    panes: tuple[Pane, ...]
    answers: str
    choices: tuple[Choice, ...] = ()
    rows: tuple[Row, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    comment: str = ""
    replaces: str = ""
    key: str = field(default_factory=lambda: secrets.token_hex(16))
    began: float = field(default_factory=time.time)

    @property
    def id(self) -> str:
        """Identifies a task on the screen: a repeated one is another."""
        return f"{self.lease.task.key}-{self.lease.repeat}"


def screen(study: Study, lease: Lease, **more: Any) -> Screen:
    """Return what is shown of a task that an assessor has in hand."""
    task = lease.task
    pair = task.kind in (PREFERENCE, LISTS)
    what = "snippet" if task.view == SNIPPET else "page"
    return Screen(
        lease=lease,
        topic=study.topics.get(task.topic, Topic(task.topic, task.topic)),
        question=QUESTIONS[task.kind, bool(task.given)].format(what=what),
        panes=_panes(study, lease),
        answers="strength" if pair else "label",
        choices=_choices(study, lease),
        rows=tuple(_row(study, each) for each in study.aspects) if task.kind == ASPECTS else (),
        **more,
    )


def _choices(study: Study, lease: Lease) -> tuple[Choice, ...]:
    if lease.task.kind in (PREFERENCE, LISTS):
        return _strengths(study, swapped=lease.swapped)
    return () if lease.task.kind == ASPECTS else keyed(study.scale)


def keyed(labels: Sequence[Defined]) -> tuple[Choice, ...]:
    """Return labels with their keys: the digits that they are, or else 1, 2, ... from the lowest."""
    names = [each.name for each in labels]
    digits = all(len(name) == 1 and name in "0123456789" for name in names)
    keys = names if digits else [str(n % 10) if n <= MOST_KEYS else "" for n in range(1, len(names) + 1)]
    return tuple(Choice(key, each.name, each.name, each.definition) for key, each in zip(keys, labels, strict=True))


def _row(study: Study, aspect: Aspect) -> Row:
    missing = Choice("n", NOT_APPLICABLE, NOT_APPLICABLE, "does not apply")
    return Row(aspect.name, aspect.definition, (*keyed(aspect.labels or study.scale), missing))


def _strengths(study: Study, *, swapped: bool) -> tuple[Choice, ...]:
    """Return the answers to a preference, from left to right; a value is positive where ``doc`` is better."""
    shown = [strength for strength in STRENGTHS if strength or study.ties]
    return tuple(
        Choice(str(n), str(-strength if swapped else strength), WORDS[strength].format(left="Left", right="Right"))
        for n, strength in enumerate(shown, 1)
    )


def _panes(study: Study, lease: Lease) -> tuple[Pane, ...]:
    task = lease.task
    if task.kind in (PREFERENCE, LISTS):
        sides = ("other", "doc") if lease.swapped else ("doc", "other")
        return tuple(_pane(study, lease, side, where) for side, where in zip(sides, ("Left", "Right"), strict=True))
    if task.given:
        return _pane(study, lease, "given", "First, just read"), _pane(study, lease, "doc", "Second, to judge")
    return (_pane(study, lease, "doc", ""),)


def _pane(study: Study, lease: Lease, side: str, caption: str) -> Pane:
    task, name = lease.task, getattr(lease.task, side)
    if task.kind == LISTS:
        docs = study.lists.get(name, {}).get(task.topic, ())
        return Pane(caption, side, "list", results=tuple(document_of(study, doc) for doc in docs))
    document = document_of(study, name)
    show = "snippet" if task.view == SNIPPET else "image" if document.kind == IMAGE else "frame"
    return Pane(caption, side, show, document)


def document_of(study: Study, doc: str) -> Document:
    """Return a document; one that the study does not describe is shown by its name."""
    return study.documents.get(doc) or Document(doc, title=doc)
