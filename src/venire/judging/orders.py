"""In which order an assessor gets tasks.

Tasks come in blocks by topic, in an order of topics and of documents that is random, another one for each assessor.
There are five passes over the topics, each in the same order:

    1  snippets: in isolation for half of the topics, and given another document for the other half
    2  snippets: given another document for the first half, and in isolation for the other half
    3  pages, which are judged after their snippets: as 1
    4  preferences between documents, and between lists
    5  pages: as 2

so that the two judgments of a document, labels or aspects, are as far apart as the tasks allow, and each kind comes
first equally often (Golbus et al. 2014, Section 4.1, doi:10.1145/2566486.2568015: "in different period of time to
reduce bias").  Some tasks come again later, for self-consistency.

Everything follows from the seed and the names: the order of the tasks that are there does not change when others are
added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from venire.judging.designs import chance
from venire.judging.study import LISTS, PAGE, PREFERENCE, SNIPPET, Order
from venire.judging.tasks import Task

COMPARED = 3
PASSES = {SNIPPET: (0, 1), PAGE: (2, 4)}
"""Passes over the topics: that of preferences; by view, those of what comes first and what comes later."""
TRIES = 8
"""How many places are tried for a repeat."""
SOON = 80
"""A repeat comes within so many tasks of the first that are far enough: assessors who share tasks see the first ones of
their orders only."""


class Turn(NamedTuple):
    """The number of a task in a list, and 1 where it comes again."""

    task: int
    repeat: int = 0


def turns(tasks: Sequence[Task], assessor: str, order: Order) -> list[Turn]:
    """Return the order in which an assessor gets these tasks, with those that come again.  O(tasks log tasks).

    Examples
    --------
    >>> tasks = [Task(kind="label", topic=topic, doc=doc) for topic in ("q1", "q2") for doc in "ab"]
    >>> turns(tasks, "ann", Order(seed=1))
    [Turn(task=1, repeat=0), Turn(task=0, repeat=0), Turn(task=3, repeat=0), Turn(task=2, repeat=0)]
    """
    topics = {topic: _of_topic(topic, assessor, order.seed) for topic in {task.topic for task in tasks}}
    places = [_place(task, topics[task.topic], assessor, order.seed) for task in tasks]
    first = sorted(range(len(tasks)), key=places.__getitem__)
    again = _repeats([tasks[n] for n in first], assessor, order)
    found: list[Turn] = []
    for at, number in enumerate(first):
        found += [Turn(first[n], 1) for n in again.get(at, ())]
        found.append(Turn(number))
    return found + [Turn(first[n], 1) for n in again.get(len(first), ())]


def _of_topic(topic: str, assessor: str, seed: int) -> tuple[float, bool]:
    """Return the place of a topic among others, and whether its conditional judgments come first."""
    return chance(seed, assessor, topic), chance(seed, assessor, "conditional first", topic) < 0.5


def _place(task: Task, topic: tuple[float, bool], assessor: str, seed: int) -> tuple[int, float, float, float]:
    """Return what tasks are ordered by: the pass, the topic, the document, and the task."""
    by_topic, conditional_first = topic
    by_doc = chance(seed, assessor, task.topic, task.doc)
    return _pass(task, conditional_first=conditional_first), by_topic, by_doc, chance(seed, assessor, task.key)


def _pass(task: Task, *, conditional_first: bool) -> int:
    if task.kind in (PREFERENCE, LISTS):
        return COMPARED
    return PASSES[task.view][bool(task.given) != conditional_first]


def context_of(task: Task) -> tuple[str, str, str, bool] | None:
    """Return what is judged, and whether that is given another document; None for a preference."""
    return None if task.kind in (PREFERENCE, LISTS) else (task.topic, task.doc, task.view, bool(task.given))


def counterpart(task: Task) -> tuple[str, str, str, bool] | None:
    """Return the same in isolation for what is given another document, and the other way round."""
    found = context_of(task)
    return found and (*found[:3], not found[3])


def is_related(one: Task, other: Task) -> bool:
    """Return whether two tasks judge one document, in isolation and given another, or are the same."""
    context = context_of(one)
    return one.key == other.key or (context is not None and context == counterpart(other))


def _repeats(tasks: Sequence[Task], assessor: str, order: Order) -> dict[int, list[int]]:
    """Choose the tasks that come again, and before which of the tasks, in their order -> {place: numbers of tasks}.

    There are ``apart`` tasks or more between a repeat and its task, and between it and a related label; a task for
    which there is no such place does not come again.
    """
    if not order.repeats:
        return {}
    where: dict[tuple[str, str], list[int]] = {}
    for number, task in enumerate(tasks):
        where.setdefault((task.topic, task.doc), []).append(number)
    found: dict[int, list[int]] = {}
    again: dict[int, int] = {}
    for number in sorted(range(len(tasks)), key=lambda n: chance(order.seed, assessor, "again", tasks[n].key)):
        if len(again) >= round(order.repeats * len(tasks)):
            break
        task = tasks[number]
        near = [n for n in where[task.topic, task.doc] if is_related(task, tasks[n])]
        others = [again[n] for n in near if n in again]
        least = number + order.apart + 1
        most = min(least + SOON, len(tasks))
        for place in _places(least, most, assessor, task.key, order.seed) if least <= most else ():
            if _is_apart(place, near, others, order.apart):
                found.setdefault(place, []).append(number)
                again[number] = place
                break
    return found


def _places(least: int, most: int, assessor: str, key: str, seed: int) -> Iterator[int]:
    """Yield random places from ``least`` to ``most``."""
    return (least + int(chance(seed, assessor, "place", key, n) * (most - least + 1)) for n in range(TRIES))


def _is_apart(place: int, tasks: Sequence[int], repeats: Sequence[int], apart: int) -> bool:
    """Return whether so many tasks lie between a place and tasks, by number, and repeats, by place."""
    from_tasks = all(place - each > apart or each - place >= apart for each in tasks)
    return from_tasks and all(abs(place - each) >= apart for each in repeats)
