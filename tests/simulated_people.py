"""People who judge a study: they know the truth, and err now and then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from venire.judging import Answer, Task
from venire.judging.store import Store
from venire.judging.study import ASPECTS, LISTS, PREFERENCE


def answer_all(store: Store, name: str, truth: Mapping[str, int], *, careful: float = 0.9, seed: int = 1) -> int:
    """Answer all tasks that a person gets, and return how many."""
    draw = Random(f"{name} {seed}")
    clock, n = store.clock, 0
    while leases := store.next_tasks(name):
        for lease in leases:
            told = {"key": f"{name}-{lease.task.key}-{lease.repeat}", "shown": lease.shown, "at": clock()}
            value = said(store, lease.task, truth, lambda: draw.random() < careful, draw)
            told |= {"repeat": lease.repeat, "swapped": lease.swapped, "seconds": 2.0}
            store.answer(name, Answer(task=lease.task.key, value=value, **told))
            n += 1
    return n


def said(store: Store, task: Task, truth: Mapping[str, int], is_right: Callable[[], bool], draw: Random) -> dict:
    """Return the answer to a task."""
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
