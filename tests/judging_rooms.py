"""Small studies, a clock that tests move, and stores in the databases that are there."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from venire.judging.answers import Answer, Lease
from venire.judging.store import Store
from venire.judging.study import LABEL, MACHINE, Assessor, Defined, Document, Order, Study, Topic
from venire.judging.tasks import Task

SCALE = (Defined("0", "Not relevant"), Defined("1", "Relevant"), Defined("2", "Highly relevant"))
LEASE = 30 * 60.0
_keys = itertools.count()


@dataclass
class Clock:
    """Time that stands still until a test moves it."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += seconds


def small_study(
    folder: Path, *, people: Sequence[str] = ("ann", "bob", "cy"), n_docs: int = 4, **changes: Any
) -> Study:
    """A study of labels in one topic, by people and the machine gpt."""
    docs = [f"d{n}" for n in range(n_docs)]
    settings: dict[str, Any] = {
        "path": folder / "study.toml",
        "name": "small",
        "title": "Which pages answer the question?",
        "scale": SCALE,
        "topics": {"q1": Topic("q1", "a question"), "q2": Topic("q2", "another question")},
        "documents": {doc: Document(doc, content=f"the page {doc}") for doc in docs},
        "assessors": (*map(Assessor, people), Assessor("gpt", MACHINE)),
        "guidelines": "Read it all.",
        "order": Order(seed=3),
    }
    return Study(**{**settings, **changes})


def label_tasks(study: Study, *, needed: int = 1, topic: str = "q1", **changes: Any) -> list[Task]:
    """One label per document of a study."""
    return [Task(kind=LABEL, topic=topic, doc=doc, needed=needed, **changes) for doc in study.documents]


@dataclass
class Room:
    """A store that is open, its clock, and what an assessor does there."""

    store: Store
    clock: Clock = field(default_factory=Clock)

    def give(self, assessor: str, lease: Lease | Task, label: str = "1", **changes: Any):
        """Answer a task that was leased, or one that was not."""
        return self.store.answer(assessor, said(lease, label, **changes))

    def judge_all(self, assessor: str, label: str = "1") -> int:
        """Answer everything that there is for an assessor; return how much that was."""
        for n in itertools.count():
            leases = self.store.next_tasks(assessor)
            if not leases:
                return n
            assert self.give(assessor, leases[0], label).status == "counted"
        raise AssertionError

    def counted(self) -> list[tuple[str, str, str]]:
        """Who said what to which document, as far as it counts."""
        return [(each.assessor, each.task.doc, each.value["label"]) for each in self.store.stored()]


def said(lease: Lease | Task, label: str | None = "1", **changes: Any) -> Answer:
    """An answer with a new key; label None withdraws."""
    task, repeat = (lease.task, lease.repeat) if isinstance(lease, Lease) else (lease, 0)
    value = None if label is None else {"label": label}
    settings = {"key": f"k{next(_keys)}", "task": task.key, "value": value, "shown": "0", "at": 0.0, "repeat": repeat}
    return Answer(**{**settings, **changes})
