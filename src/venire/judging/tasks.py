"""Tasks: the questions of a study, each answered by one or more assessors.

A task is the same for everybody.  What differs is kept with the lease and the answer: who, which side a document was
shown on, and whether the task was repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from venire.judging.study import LISTS, PAGE


@dataclass(frozen=True, kw_only=True)
class Task:
    """One question.

    kind: one of ``study.KINDS``; view: the page or the snippet is judged
    doc: the document, or for result lists the first system; other: the second document or system of a preference
    given: the document that was read just before, for conditional labels, and for aspects judged given another document
    needed: how many people answer it; machines come on top of that
    judge: the one assessor who answers it, where that is fixed; "" for whoever comes
    probability: with which a plan chose it, None where it was not chosen at random; reason: as the plan states it
    gold: the answer that is known to be right, which assessors do not see; "" where there is none
    position: in the order of the study file, for exports
    """

    kind: str
    topic: str
    doc: str
    other: str = ""
    given: str = ""
    view: str = PAGE
    needed: int = 1
    judge: str = ""
    probability: float | None = None
    reason: str = ""
    gold: str = ""
    position: int = 0

    @cached_property
    def key(self) -> str:
        """Identifies the task in every version of the study and in every database: a hash of what is asked."""
        parts = (self.kind, self.topic, self.doc, self.other, self.given, self.view, self.judge)
        return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def documents_of(task: Task, lists: Mapping[str, Mapping[str, tuple[str, ...]]]) -> tuple[str, ...]:
    """Return the documents that a task shows: for result lists, all of both (``Study.lists``)."""
    if task.kind == LISTS:
        return tuple(doc for system in (task.doc, task.other) for doc in lists.get(system, {}).get(task.topic, ()))
    return tuple(doc for doc in (task.given, task.doc, task.other) if doc)
