"""Assignment: who gets which task, exactly, and at a cost that does not grow with the number of tasks.

A person gets a task if

    (answers by people that count) + (live leases of other people) < needed

and they have not answered it.  That is decided from the rows of ``place`` inside the transaction that writes the
lease.  Where to look is remembered outside of it: :class:`Board` mirrors the numbers of every task, brought up to date
by the rows that changed since its last transaction, and :class:`Queue` how far an assessor has come in their order.
An assessor's order is made once; after that a request looks at the few tasks that follow.

Machines never take a person's place: they get every task once, and ``needed`` does not limit them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, func, select

from venire.judging import schema
from venire.judging.answers import COUNTED
from venire.judging.orders import Turn, context_of, counterpart, turns
from venire.judging.schema import Row
from venire.judging.study import LISTS, PERSON, PREFERENCE, Study
from venire.judging.tasks import Task
from venire.types import Bools

Ids: TypeAlias = NDArray[np.int32]
ANYBODY = 0
UNKNOWN = -1
"""The revision of a board that has to be read anew."""
AT_ONCE = 8
"""Tasks that are looked at in one query, for each that is wanted."""


class Turns(NamedTuple):
    """An assessor's order: ids of tasks, and whether they come again."""

    tasks: Ids
    repeats: Ids


@dataclass(eq=False)
class Queue:
    """How far an assessor has come in their order; ``later``: turns to look at again; ``recent``: the last answers."""

    assessor: int
    person: bool
    tasks: Ids
    repeats: Ids
    answered: Bools
    recent: deque[Turn]
    repeated: set[Turn] = field(default_factory=set)
    later: list[Turn] = field(default_factory=list)
    cursor: int = 0
    n_reopened: int = 0

    def note(self, turn: Turn) -> None:
        """Remember an answer."""
        if turn.repeat:
            self.repeated.add(turn)
        else:
            self.answered[turn.task] = True
        self.recent.append(turn)

    def forget(self, turn: Turn) -> None:
        """Remember that an answer was withdrawn: the task may be given again."""
        if turn.repeat:
            self.repeated.discard(turn)
        else:
            self.answered[turn.task] = False
        if turn in self.recent:
            self.recent.remove(turn)
        self.later.append(turn)


@dataclass(eq=False)
class Board:
    """The numbers of all tasks, by the ids of their rows, as of a revision of the database.

    taken: answers by people that count; needed: 0 for tasks that the study no longer has
    judge: the one assessor who answers it, or ANYBODY; reopened: tasks that were given away, and are free again
    """

    study: Study
    tasks: Mapping[int, Task]
    revision: int = UNKNOWN
    rollbacks: int = 0
    taken: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    needed: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    judge: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    reopened: list[int] = field(default_factory=list)
    queues: dict[int, Queue] = field(default_factory=dict)

    def catch_up(self, connection: Connection, revision: int, rollbacks: int, *, anew: bool = False) -> None:
        """Read the tasks that changed since the last time; all of them ``anew`` after a transaction was rolled back."""
        if anew or rollbacks != self.rollbacks:
            self.revision, self.rollbacks = UNKNOWN, rollbacks
        if self.revision == UNKNOWN:
            self.queues.clear()
            size = connection.execute(select(func.coalesce(func.max(schema.task.c.id), 0))).scalar_one() + 1
            self.taken, self.needed, self.judge = (np.zeros(size, dtype=np.int32) for _ in range(3))
        if revision > self.revision:
            for row in connection.execute(_CHANGED, {"since": self.revision}):
                self._update(row)
        self.revision = revision

    def _update(self, row: Row) -> None:
        if row.id >= len(self.taken) or row.id not in self.tasks:
            return
        self.taken[row.id], self.judge[row.id] = row.taken, row.judge or ANYBODY
        self.needed[row.id] = row.needed if row.active else 0
        if self.revision != UNKNOWN and row.active and row.taken < row.needed:
            self.reopened.append(row.id)

    def count(self, task: int, more: int) -> None:
        """Note that an answer counts (1), or no longer does (-1), in the present transaction."""
        if task < len(self.taken):
            self.taken[task] += more
            if more < 0:
                self.reopened.append(task)

    def is_open(self, task: int | Ids) -> Any:
        """Return whether more answers by people are needed."""
        return self.taken[task] < self.needed[task]

    def queue(self, connection: Connection, assessor: Row, turns: Turns) -> Queue:
        """Return the queue of an assessor; made from their order when they first ask."""
        if assessor.id not in self.queues:
            self.queues[assessor.id] = self._new_queue(connection, assessor, turns)
        return self.queues[assessor.id]

    def _new_queue(self, connection: Connection, assessor: Row, turns: Turns) -> Queue:
        queue = Queue(
            assessor=assessor.id,
            person=assessor.kind == PERSON,
            tasks=turns.tasks,
            repeats=turns.repeats,
            answered=np.zeros(len(self.taken), dtype=np.bool_),
            recent=deque(maxlen=max(1, self.study.order.apart)),
            n_reopened=len(self.reopened),
        )
        reassigned = np.setdiff1d(np.flatnonzero(self.judge == assessor.id), turns.tasks)
        queue.later += [Turn(int(task), 0) for task in reassigned]
        for row in connection.execute(_ANSWERED, {"assessor": assessor.id}):
            if row.task < len(queue.answered):
                queue.note(Turn(row.task, row.repeat))
        return queue

    def n_left(self, queue: Queue) -> int:
        """Count the tasks that an assessor may still be given, those in their hands among them."""
        ahead = self._fit(queue, queue.tasks[queue.cursor :], queue.repeats[queue.cursor :])
        return int(ahead.sum()) + sum(self._may_come(queue, turn) for turn in set(queue.later))

    def take(
        self, queue: Queue, n: int, *, held: Iterable[Turn], free: Callable[[Sequence[Turn]], Iterable[Turn]]
    ) -> list[Turn]:
        """Return up to n turns that ``free``, a query, finds to be free; they stay in the queue until answered.

        held: turns that the assessor has in their hands
        """
        for task in self.reopened[queue.n_reopened :]:
            if self.judge[task] in (ANYBODY, queue.assessor):
                queue.later.append(Turn(task, 0))
        queue.n_reopened = len(self.reopened)
        found: list[Turn] = []
        near: list[Turn] = []
        waiting, queue.later = deque(dict.fromkeys(queue.later)), []
        while len(found) < n and (turns := self._following(queue, waiting, AT_ONCE * (n - len(found)))):
            close = self._too_soon(queue, turns, held)
            asked = [turn for turn in turns if turn not in close]
            near += [turn for turn in turns if turn in close]
            found += list(free(asked))[: n - len(found)] if asked else []
            queue.later += asked
        soft = [turn for turn in near if not turn.repeat]
        if len(found) < n and soft:
            found += list(free(soft))[: n - len(found)]
        queue.later += [*near, *waiting]
        return found

    def _following(self, queue: Queue, waiting: deque[Turn], size: int) -> list[Turn]:
        """Return the next turns that may be free: those looked at before, then those in the order."""
        turns: list[Turn] = []
        while waiting and len(turns) < size:
            turn = waiting.popleft()
            if self._may_come(queue, turn):
                turns.append(turn)
        while len(turns) < size and queue.cursor < len(queue.tasks):
            turns += self._advance(queue, size - len(turns))
        return turns

    def _advance(self, queue: Queue, size: int) -> list[Turn]:
        ahead = slice(queue.cursor, queue.cursor + max(size, 256))
        tasks, repeats = queue.tasks[ahead], queue.repeats[ahead]
        fits = np.flatnonzero(self._fit(queue, tasks, repeats))[:size]
        queue.cursor += int(fits[-1]) + 1 if len(fits) == size else len(tasks)
        return [Turn(int(tasks[at]), int(repeats[at])) for at in fits]

    def _fit(self, queue: Queue, tasks: Ids, repeats: Ids) -> Bools:
        """Return which turns of an order may come, as far as the board knows."""
        first = ~queue.answered[tasks]
        if queue.person:
            judge = self.judge[tasks]
            first &= self.is_open(tasks) & ((judge == ANYBODY) | (judge == queue.assessor))
        return first | ((repeats > 0) & queue.answered[tasks])

    def _may_come(self, queue: Queue, turn: Turn) -> bool:
        if queue.answered[turn.task]:
            return bool(turn.repeat) and turn not in queue.repeated
        is_theirs = self.judge[turn.task] in (ANYBODY, queue.assessor)
        return not queue.person or bool(is_theirs and self.is_open(turn.task))

    def _too_soon(self, queue: Queue, turns: Sequence[Turn], held: Iterable[Turn]) -> set[Turn]:
        """Return repeats, and judgments in isolation or given another document, that come too soon after the other."""
        before = {turn.task for turn in (*queue.recent, *held)} if queue.person else set()
        seen = {context_of(task) for id in before if (task := self.tasks.get(id))} - {None}
        early = {turn for turn in turns if turn.repeat and not queue.answered[turn.task]}
        return early | {turn for turn in turns if turn.task in before or counterpart(self.tasks[turn.task]) in seen}


_CHANGED = select(
    schema.task.c.id, schema.task.c.taken, schema.task.c.needed, schema.task.c.judge, schema.task.c.active
).where(schema.task.c.changed > bindparam("since"))
_ANSWERED = (
    select(schema.place.c.task, schema.place.c.repeat)
    .where(schema.place.c.assessor == bindparam("assessor"), schema.place.c.answer.is_not(None))
    .order_by(schema.place.c.answer)
)


def turns_of_person(study: Study, tasks: Mapping[int, Task], assessor: str) -> Turns:
    """Return the order of a person: tasks that are theirs or anybody's."""
    own = [id for id, task in tasks.items() if task.judge in ("", assessor)]
    order = np.array(turns([tasks[id] for id in own], assessor, study.order), dtype=np.int32).reshape(-1, 2)
    return Turns(np.array(own, dtype=np.int32)[order[:, 0]], order[:, 1])


def turns_of_machine(tasks: Mapping[int, Task], assessor: str) -> Turns:
    """Return the order of a machine: all tasks as they stand, but one of those that ask several people the same."""
    what: dict[tuple[str, ...], int] = {}
    for id, task in sorted(tasks.items(), key=lambda item: item[1].judge not in ("", assessor)):
        what.setdefault((task.kind, task.topic, task.doc, task.other, task.given, task.view), id)
    own = np.array(sorted(what.values()), dtype=np.int32)
    return Turns(own, np.zeros(len(own), dtype=np.int32))


def n_taken(places: Iterable[Row], assessor: int, now: float) -> int:
    """Count the places of a task that other people hold, by an answer that counts or by a live lease."""
    return sum(
        place.person
        and place.repeat == 0
        and place.assessor != assessor
        and (place.status == COUNTED if place.answer is not None else place.expires > now)
        for place in places
    )


def is_swapped(study: Study, task: Task, assessor: str, repeat: int) -> bool:
    """Return whether ``other`` is shown on the left, at random by the seed, the assessor and the task."""
    if task.kind not in (PREFERENCE, LISTS):
        return False
    text = f"{study.order.seed}\0{assessor}\0{task.key}\0{repeat}"
    return bool(sha256(text.encode("utf-8", "surrogateescape")).digest()[0] & 1)
