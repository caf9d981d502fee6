"""People who answer, for tests: one task or all that they get, at the time that a test says, with a known truth."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from venire.judging.answers import Answer, Lease
from venire.judging.store import Store
from venire.judging.study import ASPECTS, LISTS, PREFERENCE
from venire.judging.tasks import Task

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


def answer_all(store: Store, name: str, truth: Mapping[str, int], *, careful: float = 0.9, seed: int = 1) -> int:
    """Answer all tasks that a person gets, who knows the truth and errs now and then; return how many."""
    draw, n = Random(f"{name} {seed}"), 0
    while leases := store.next_tasks(name):
        for lease in leases:
            told = {"shown": lease.shown, "at": store.clock(), "swapped": lease.swapped, "seconds": 2.0}
            value = _judged(store, lease.task, truth, lambda: draw.random() < careful, draw)
            key = f"{name}-{lease.task.key}-{lease.repeat}"
            store.answer(name, said(lease, key=key, value=value, **told))
            n += 1
    return n


def _judged(store: Store, task: Task, truth: Mapping[str, int], is_right: Callable[[], bool], draw: Random) -> dict:
    """Return what a person says to a task."""
    labels = [each.name for each in store.study.scale]

    def level(doc: str) -> int:
        return truth[doc] if is_right() else draw.randrange(len(labels))

    if task.kind == ASPECTS:
        return {"labels": {each.name: draw.choice(each.labels).name for each in store.study.aspects}}
    if task.kind == LISTS:
        first, second = (store.study.lists[system][task.topic] for system in (task.doc, task.other))
        return {"strength": max(-2, min(2, level(first[0]) - level(second[0])))}
    if task.kind == PREFERENCE:
        return {"strength": max(-2, min(2, level(task.doc) - level(task.other)))}
    return {"label": labels[level(task.doc)]}
