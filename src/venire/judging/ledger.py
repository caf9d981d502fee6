"""What happens inside a transaction: tasks are leased, and answers are stored, by the rules by which they count.

What becomes of an answer:

    live lease                        counted
    no live lease, the place is free  counted
    otherwise, or study paused        surplus: kept beside those that count
    access revoked                    refused: not stored
    change of an earlier answer       keeps its status
    undo                              a new row without a value; the task is leased to the assessor again
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any

from sqlalchemy import Connection, func, select, update

from venire.errors import SettingError, UnknownName
from venire.judging import queries, schema
from venire.judging.answers import COUNTED, SURPLUS, Answer, Lease, Receipt, refuse_value
from venire.judging.assignment import (
    ANYBODY,
    UNKNOWN,
    Board,
    Queue,
    Turns,
    is_swapped,
    n_taken,
    turns_of_machine,
    turns_of_person,
)
from venire.judging.database import Database
from venire.judging.orders import Turn
from venire.judging.schema import Row
from venire.judging.shown import shown_hash
from venire.judging.study import MACHINE, PERSON, Study
from venire.judging.tasks import Task

KEY = re.compile(r"[\w.:-]{1,100}", re.ASCII)
LONGEST_COMMENT = 10_000
Clock = Callable[[], float]
MOST_REPEATS = 1_000


class Ledger:
    """The tasks of a study and its answers so far, for use inside transactions of its database."""

    def __init__(self, study: Study, tasks: Mapping[str, Task], database: Database, clock: Clock) -> None:
        self.study, self.tasks, self.database, self.clock = study, tasks, database, clock
        with database.read() as connection:
            self._ids: dict[str, int] = {
                row.key: row.id for row in connection.execute(select(schema.task.c.key, schema.task.c.id))
            }
            self._version: int = connection.execute(select(func.max(schema.version.c.id))).scalar_one()
        self.board = Board(study, {self._ids[key]: task for key, task in tasks.items()})
        self._begun, self.paused = -1, False
        self._orders: dict[str, Turns] = {}
        self._shown: dict[tuple[Any, ...], str] = {}

    def look(self, connection: Connection) -> bool:
        """Lock the study, bring the board up to date, and return whether it is paused; nothing is written yet."""
        if self._begun != self.database.transactions:
            revision, paused = connection.execute(queries.LOCKED).one()
            self.board.catch_up(connection, revision, self.database.rollbacks)
            return bool(paused)
        return self.paused

    def begin(self, connection: Connection) -> tuple[int, bool]:
        """Raise the revision, which locks the study in PostgreSQL, and bring the board up to date.

        Writes that share a transaction share its revision.
        """
        if self._begun != self.database.transactions:
            revision, paused = connection.execute(queries.BUMP).one()
            self.board.catch_up(connection, revision - 1, self.database.rollbacks)
            self.board.revision = revision
            self._begun, self.paused = self.database.transactions, paused
        return self.board.revision, self.paused

    def queue(self, connection: Connection, assessor: Row) -> Queue:
        """Return the queue of an assessor, on a board that is up to date."""
        if self.board.revision == UNKNOWN or self.board.rollbacks != self.database.rollbacks:
            self.board.catch_up(connection, connection.execute(queries.STATE).one().revision, self.database.rollbacks)
        return self.board.queue(connection, assessor, self.turns(assessor.name))

    def turns(self, assessor: str) -> Turns:
        """Return the order of an assessor, which is made once, before the transaction that needs it."""
        if assessor not in self._orders:
            is_machine = assessor in self.study.machines
            make = turns_of_machine if is_machine else partial(turns_of_person, self.study)
            self._orders[assessor] = make(self.board.tasks, assessor)
        return self._orders[assessor]

    def next(self, connection: Connection, assessor: Row, n: int, revision: int | None) -> tuple[Lease, ...]:
        """Lease the next tasks to an assessor, those in their hands first; revision: None before one began."""
        now = self.clock()
        held = connection.execute(queries.HELD, {"assessor": assessor.id}).all()
        leases = [row for row in held if row.task_key in self.tasks and row.expires > now]
        if any(row.expires <= now for row in held):
            connection.execute(queries.DELETE_EXPIRED, {"of_assessor": assessor.id, "now": now})
        if any(row.expires - now < self.study.lease_minutes * 30 for row in leases[:n]):
            leases = self._renew(connection, assessor, leases, revision)
        found = [self._shown_lease(assessor, Turn(row.task, row.repeat), row.expires) for row in leases[:n]]
        if len(found) == n:
            return tuple(found)
        queue, hands = self.queue(connection, assessor), [Turn(row.task, row.repeat) for row in leases]
        turns = self.board.take(
            queue, n - len(found), held=hands, free=lambda turns: self._free(connection, assessor, turns)
        )
        if turns:
            revision = self._bumped(connection, revision)
            found += self.lease(connection, assessor, turns, revision)
        return tuple(found)

    def _bumped(self, connection: Connection, revision: int | None) -> int:
        return self.begin(connection)[0] if revision is None else revision

    def _renew(self, connection: Connection, assessor: Row, leases: Sequence[Row], revision: int | None) -> list[Row]:
        """Renew leases of which less than half is left, since their holder is there."""
        self._bumped(connection, revision)
        now, places = self.clock(), schema.place
        mine = (places.c.assessor == assessor.id, places.c.answer.is_(None), places.c.expires > now)
        connection.execute(update(places).where(*mine).values(expires=self.expiry()))
        ids = {(row.task, row.repeat) for row in leases}
        held = connection.execute(queries.HELD, {"assessor": assessor.id}).all()
        return [row for row in held if (row.task, row.repeat) in ids]

    def _free(self, connection: Connection, assessor: Row, turns: Sequence[Turn]) -> list[Turn]:
        """Return the turns that may be leased: not held or answered by this assessor, and with a place left."""
        now, rows = self.clock(), connection.execute(queries.PLACES, {"tasks": [turn.task for turn in turns]}).all()
        mine = {
            (row.task, row.repeat)
            for row in rows
            if row.assessor == assessor.id and (row.answer is not None or row.expires > now)
        }
        free = [turn for turn in turns if turn not in mine]
        if assessor.kind == MACHINE:
            return free
        of: dict[int, list[Row]] = {}
        for row in rows:
            of.setdefault(row.task, []).append(row)
        return [
            turn
            for turn in free
            if turn.repeat or n_taken(of.get(turn.task, []), assessor.id, now) < self.board.needed[turn.task]
        ]

    def lease(self, connection: Connection, assessor: Row, turns: Sequence[Turn], turn: int) -> list[Lease]:
        """Write leases; the assessor holds none of these."""
        expires = self.expiry()
        leases = [self._shown_lease(assessor, each, expires) for each in turns]
        rows = [
            {
                "task": each.task,
                "assessor": assessor.id,
                "repeat": each.repeat,
                "person": assessor.kind == PERSON,
                "swapped": lease.swapped,
                "turn": turn,
                "expires": expires + place * 1e-5,
            }
            for place, (each, lease) in enumerate(zip(turns, leases, strict=True))
        ]
        connection.execute(queries.INSERT_PLACE, rows)
        return leases

    def expiry(self) -> float:
        """Return when a lease ends that begins now."""
        return self.clock() + 60 * self.study.lease_minutes

    def _shown_lease(self, assessor: Row, turn: Turn, expires: float) -> Lease:
        task = self.board.tasks[turn.task]
        swapped = is_swapped(self.study, task, assessor.name, turn.repeat)
        shown = self.shown(task)
        return Lease(task=task, repeat=turn.repeat, swapped=swapped, expires=expires, shown=shown)

    def shown(self, task: Task) -> str:
        """Return the hash of what a task shows, as ``shown_hash``; files are read again when they change."""
        return shown_hash(self.study, task, known=self._shown)

    def id(self, task: str) -> int:
        """Return the number of a task in the database."""
        if task not in self._ids:
            raise UnknownName("task", task, ())
        return self._ids[task]

    def refuse(self, answer: Answer) -> None:
        """Raise if an answer cannot be stored, before the transaction."""
        if not KEY.fullmatch(answer.key):
            raise SettingError("the key of an answer has 1 to 100 letters, digits or . : _ -")
        if answer.task not in self._ids:
            raise UnknownName("task", answer.task, ())
        if not 0 <= answer.repeat < MOST_REPEATS:
            raise SettingError(f"repeat {answer.repeat}: 0 to {MOST_REPEATS - 1} was expected")
        if not isfinite(answer.at) or not (answer.seconds is None or 0 <= answer.seconds < float("inf")):
            raise SettingError("the times of an answer have to be finite")
        if len(answer.comment) > LONGEST_COMMENT:
            raise SettingError(f"a comment has at most {LONGEST_COMMENT:,} characters")
        if answer.value is None and not answer.replaces:
            raise SettingError("an answer has a value, unless it withdraws an earlier one")
        if answer.value is not None and answer.task in self.tasks:
            refuse_value(self.study, self.tasks[answer.task], answer.value)

    def store(self, connection: Connection, assessor: Row, answer: Answer, revision: int, *, paused: bool) -> Receipt:
        """Store an answer, and return what became of it."""
        before = _answer(connection, assessor.id, answer.key)
        if before is not None:
            return Receipt(answer.key, before.status, again=True)
        turn = Turn(self._ids[answer.task], answer.repeat)
        places = connection.execute(queries.PLACES, {"tasks": [turn.task]}).all()
        own = next((row for row in places if (row.assessor, row.repeat) == (assessor.id, answer.repeat)), None)
        root = self._root(connection, assessor, answer, turn)
        if answer.value is None:
            status = own.status if own is not None and _holds(own, root) else SURPLUS
        else:
            status = self._status(assessor, turn, own, root, places, paused=paused)
        id = self._add_row(connection, assessor, answer, root, status)
        if answer.value is None:
            self._withdraw(connection, assessor, turn, own, root, revision)
        elif own is None or own.answer is None or _holds(own, root):
            self._hold(connection, assessor, turn, own, id, status, revision)
        return Receipt(answer.key, status)

    def _root(self, connection: Connection, assessor: Row, answer: Answer, turn: Turn) -> int | None:
        """Return the first answer of the chain that an answer changes; None for a new one."""
        if not answer.replaces:
            return None
        found = _answer(connection, assessor.id, answer.replaces)
        if found is None or Turn(found.task, found.repeat) != turn:
            raise SettingError(f"answer {answer.key!r} replaces {answer.replaces!r}, which is no earlier answer to it")
        return found.root or found.id

    def _status(
        self,
        assessor: Row,
        turn: Turn,
        own: Row | None,
        root: int | None,
        places: Iterable[Row],
        *,
        paused: bool,
    ) -> str:
        """Apply the rules: does this answer count?"""
        if own is not None and own.answer is not None:
            return str(own.status) if _holds(own, root) else SURPLUS
        if paused:
            return SURPLUS
        if assessor.kind == MACHINE:
            return COUNTED
        now = self.clock()
        if own is not None and own.expires > now:
            return COUNTED
        if self.board.judge[turn.task] not in (ANYBODY, assessor.id):
            return SURPLUS
        if turn.repeat:
            first = [
                row for row in places if row.assessor == assessor.id and row.repeat == 0 and row.answer is not None
            ]
            return COUNTED if first else SURPLUS
        free = n_taken(places, assessor.id, now) < self.board.needed[turn.task]
        return COUNTED if free else SURPLUS

    def _add_row(self, connection: Connection, assessor: Row, answer: Answer, root: int | None, status: str) -> int:
        values = {
            "key": answer.key,
            "root": root,
            "task": self._ids[answer.task],
            "assessor": assessor.id,
            "repeat": answer.repeat,
            "value": None if answer.value is None else json.dumps(dict(answer.value)),
            "status": status,
            "at": answer.at,
            "received": self.clock(),
            "seconds": answer.seconds,
            "comment": storable(answer.comment),
            "shown": storable(answer.shown)[:100],
            "swapped": answer.swapped,
            "replaces": answer.replaces,
            "machine": None if answer.machine is None else json.dumps(dict(answer.machine)),
            "version": self._version,
        }
        added: Any = connection.execute(queries.INSERT_ANSWER, values).inserted_primary_key
        return int(added[0])

    def _hold(
        self,
        connection: Connection,
        assessor: Row,
        turn: Turn,
        own: Row | None,
        id: int,
        status: str,
        revision: int,
    ) -> None:
        """Let an answer hold the place: a new place, the one that was leased, or the one of the answer it changes."""
        values = {"answer": id, "status": status, "expires": None}
        if own is None:
            person, swapped = assessor.kind == PERSON, False
            key = {"task": turn.task, "assessor": assessor.id, "repeat": turn.repeat}
            row = {**key, "person": person, "swapped": swapped, "turn": revision, **values}
            connection.execute(queries.INSERT_PLACE, row)
        else:
            connection.execute(queries.UPDATE_PLACE, {**values, **named_key(turn, assessor)})
        if own is None or own.answer is None:
            self._count(connection, assessor, turn, status, 1, revision)
            self.queue(connection, assessor).note(turn)

    def _withdraw(
        self,
        connection: Connection,
        assessor: Row,
        turn: Turn,
        own: Row | None,
        root: int | None,
        revision: int,
    ) -> None:
        """Take the place back from an answer, and lease it to the assessor again."""
        if own is None or not _holds(own, root):
            return
        if own.status == COUNTED:
            values = {"answer": None, "status": None, "expires": self.expiry(), "turn": -revision}
            connection.execute(queries.UPDATE_PLACE, {**values, **named_key(turn, assessor)})
            self._count(connection, assessor, turn, COUNTED, -1, revision)
        else:
            connection.execute(queries.DELETE_PLACE, named_key(turn, assessor))
        self.queue(connection, assessor).forget(turn)

    def _count(self, connection: Connection, assessor: Row, turn: Turn, status: str, more: int, revision: int) -> None:
        """Keep the number of answers by people that count."""
        if assessor.kind == PERSON and turn.repeat == 0 and status == COUNTED:
            connection.execute(queries.COUNT, {"of_id": turn.task, "more": more, "now": revision})
            self.board.count(turn.task, more)


def _holds(own: Row, root: int | None) -> bool:
    """Return whether a place is held by an answer of this chain of changes."""
    return root is not None and own.root == root


def named_key(turn: Turn, assessor: Row) -> dict[str, int]:
    """Return the parameters of queries on one place."""
    return {"of_task": turn.task, "of_repeat": turn.repeat, "of_assessor": assessor.id}


def _answer(connection: Connection, assessor: int, key: str) -> Row | None:
    """Return an assessor's answer of a key."""
    return connection.execute(queries.OF_KEY, {"assessor": assessor, "key": key}).one_or_none()


def storable(text: str) -> str:
    """Return text as every database stores it."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
