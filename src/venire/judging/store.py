"""The store: everything that is known of a study in progress, and the rules by which answers count.

Every method is one transaction.  An answer that was acknowledged is on the disk.  See ``judging.assignment`` for who
gets a task, ``judging.access`` for who may judge, and ``judging.database`` for how writes are serialised.

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
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from venire.errors import SettingError, UnknownName
from venire.judging import access, queries, schema
from venire.judging.access import Member, Session
from venire.judging.answers import (
    COUNTED,
    REFUSED,
    SURPLUS,
    Answer,
    Given,
    Lease,
    Receipt,
    Standing,
    Stored,
    Unread,
    refuse_value,
)
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
from venire.judging.backups import migrate
from venire.judging.database import Database, is_server, sqlite_files
from venire.judging.opening import synchronise, task_of
from venire.judging.orders import Turn
from venire.judging.schema import Row
from venire.judging.shown import shown_hash as shown_hash
from venire.judging.study import MACHINE, PERSON, Study
from venire.judging.tasks import Task

KEY = re.compile(r"[\w.:-]{1,100}", re.ASCII)
LONGEST_COMMENT = 10_000
MOST_REPEATS = 1_000
REST_MINUTES = 5
"""A pause of this length between two answers is a rest."""

Clock = Callable[[], float]
Asked = Sequence[tuple[str, int]]
"""Keys of tasks, and repeats."""


class Store:
    """The database of a study, open; for use by several threads.

    study: as it was opened; tasks: those of the study, by ``Task.key``
    """

    def __init__(self, study: Study, tasks: Mapping[str, Task], database: Database, clock: Clock) -> None:
        self.study, self.tasks, self.database, self.clock = study, tasks, database, clock
        with database.read() as connection:
            self._ids: dict[str, int] = {
                row.key: row.id for row in connection.execute(select(schema.task.c.key, schema.task.c.id))
            }
            self._version: int = connection.execute(select(func.max(schema.version.c.id))).scalar_one()
        self._board = Board(study, {self._ids[key]: task for key, task in tasks.items()})
        self._begun, self._is_paused = -1, False
        self._orders: dict[str, Turns] = {}
        self._shown: dict[tuple[Any, ...], str] = {}

    @classmethod
    def open(
        cls,
        study: Study,
        tasks: Sequence[Task],
        database: str | None = None,
        *,
        new_version: bool = False,
        clock: Clock = time.time,
    ) -> Store:
        """Open the database of a study, and make it if there is none.

        Tasks that the study has now and did not have are added; those that it no longer has are kept with their
        answers, and no longer given.

        Parameters
        ----------
        database
            A SQLite file, or postgresql://...; default: the study's, else the study file's name with .db.
        new_version
            Go on with another scale or other guidelines than those of the answers so far.

        Raises
        ------
        SettingError
            If scale, aspects or guidelines changed, and this is no new version.
        """
        opened = Database(address_of(study, database))
        try:
            migrate(opened)
            known = {task.key: task for task in tasks}
            opened.write(lambda connection: synchronise(connection, study, known, clock(), new_version=new_version))
            return cls(study, known, opened, clock)
        except BaseException:
            opened.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Access

    def invite(self, assessor: str, *, again: bool = False) -> str:
        """Return a new token by which an assessor joins, once; one that was not used ends."""
        return self._change(lambda connection, _: access.invite(connection, assessor, again=again, now=self.clock()))

    def organiser_token(self) -> str:
        """Return a new token of the organiser; earlier ones end."""
        return self._change(lambda connection, _: access.organiser_token(connection, now=self.clock()))

    def open_session(self, token: str) -> Session | None:
        """Exchange a token for a session; None if it is unknown, used, or has ended."""
        with self.database.read() as connection:
            if not access.is_known(connection, token):
                return None
        return self._change(lambda connection, _: access.open_session(connection, token, now=self.clock()))

    def session(self, cookie: str) -> Session | None:
        """Return the session of a cookie; None if it is unknown or has ended."""
        with self.database.read() as connection:
            return access.session(connection, cookie, now=self.clock())

    def revoke(self, assessor: str) -> None:
        """End the access of an assessor at once; their answers stay."""
        self._change(lambda connection, _: access.revoke(connection, assessor, now=self.clock()))

    def erase(self, assessor: str, *, answers: bool = False) -> str:
        """Remove the name, the access and the comments of an assessor, or all of their answers too.

        Returns
        -------
        str
            The name that stands in place of theirs.
        """

        def work(connection: Connection, revision: int) -> str:
            name = access.erase(connection, assessor, answers=answers, now=self.clock(), revision=revision)
            self._board.catch_up(connection, revision, self.database.rollbacks, anew=True)
            return name

        name = self._change(work)
        self.database.forget()
        return name

    def members(self) -> tuple[Member, ...]:
        """Return the access of every assessor."""
        with self.database.read() as connection:
            return access.members(connection, now=self.clock())

    # Judging

    def next_tasks(self, assessor: str, *, n: int = 1) -> tuple[Lease, ...]:
        """Lease the next tasks to an assessor: those in their hands first; none while the study is paused."""

        def work(connection: Connection) -> tuple[Lease, ...]:
            paused = self._look(connection)
            found = _active(connection, assessor)
            if paused or found is None:
                return ()
            return self._next(connection, found, n, revision=None)

        self._turns(assessor)
        return self.database.write(work)

    def answer(self, assessor: str, answer: Answer) -> Receipt:
        """Store an answer, and return what became of it."""
        return self.answer_and_next(assessor, answer, 0)[0]

    def answers(self, assessor: str, answers: Sequence[Answer]) -> list[Receipt]:
        """Store answers that were given elsewhere, all in one transaction; a pause does not make them surplus."""
        for answer in answers:
            self._refuse(answer)

        def work(connection: Connection) -> list[Receipt]:
            revision, _ = self._begin(connection)
            found = _active(connection, assessor)
            if found is None:
                raise SettingError(f"the access of {assessor!r} was revoked", hint="name another assessor")
            return [self._store(connection, found, answer, revision, paused=False) for answer in answers]

        return self.database.write(work)

    def answer_and_next(self, assessor: str, answer: Answer, n: int) -> tuple[Receipt, tuple[Lease, ...]]:
        """Store an answer and lease the next tasks, in one transaction."""
        self._refuse(answer)

        def work(connection: Connection) -> tuple[Receipt, tuple[Lease, ...]]:
            revision, paused = self._begin(connection)
            found = _active(connection, assessor)
            if found is None:
                return Receipt(answer.key, REFUSED, why="access was revoked"), ()
            receipt = self._store(connection, found, answer, revision, paused=paused)
            return receipt, self._next(connection, found, n, revision) if n and not paused else ()

        self._turns(assessor)
        return self.database.write(work)

    def history(self, assessor: str, *, n: int = 20) -> tuple[Given, ...]:
        """Return an assessor's own answers as they stand after changes, newest first; without withdrawn ones."""
        with self.database.read() as connection:
            rows = connection.execute(queries.HISTORY.limit(n), {"name": assessor}).all()
        return tuple(
            Given(
                key=row.key,
                task=self.tasks.get(row.task_key) or task_of(row),
                value=json.loads(row.value),
                status=row.status,
                at=row.at,
                repeat=row.repeat,
                swapped=row.swapped,
                comment=row.comment,
            )
            for row in rows
        )

    def standing(self, assessor: str) -> Standing:
        """Return where an assessor stands."""
        with self.database.read() as connection:
            paused: bool = connection.execute(queries.STATE).one().paused
            found = _active(connection, assessor)
            if found is None:
                return Standing(done=0, left=0, since_rest=0, paused=paused, revoked=True)
            done = connection.execute(queries.DONE, {"assessor": found.id}).scalar_one()
            times = connection.execute(queries.TIMES.limit(2 * max(1, self.study.rest_after)), {"assessor": found.id})
            since = _since_rest(list(times.scalars()), self.clock())
        self._turns(assessor)
        queue = self._board.queues.get(found.id) or self.database.write(lambda each: self._queue(each, found))
        left = self._board.n_left(queue)
        return Standing(done=done, left=left, since_rest=since, paused=paused, revoked=False)

    # The organiser

    @property
    def paused(self) -> bool:
        """Whether the study is paused: nobody gets a task, and answers are surplus."""
        with self.database.read() as connection:
            return bool(connection.execute(queries.STATE).one().paused)

    def pause(self, on: bool) -> None:
        """Pause the study, or go on."""

        def work(connection: Connection, _: int) -> None:
            connection.execute(update(schema.state).values(paused=on))
            self._is_paused = on
            access.record(connection, "pause" if on else "resume", now=self.clock())

        self._change(work)

    def reassign(self, task: str, assessor: str) -> None:
        """Give a task to another assessor: leases of others end, and a fixed assignment is theirs from now on.

        Raises
        ------
        SettingError
            If they have answered it, or if it has all the answers that it needs.
        """
        id = self._id(task)

        def work(connection: Connection, revision: int) -> None:
            found = access.assessor_row(connection, assessor)
            if found.kind == MACHINE:
                raise SettingError(f"{assessor!r} is a machine: it answers every task, and takes no person's place")
            rows = connection.execute(queries.PLACES, {"tasks": [id]}).all()
            self._refuse_reassign(task, found, rows)
            places, tasks = schema.place, schema.task
            if self._board.judge[id] != ANYBODY:
                values = {"judge": found.id, "changed": revision}
                connection.execute(update(tasks).where(tasks.c.id == id).values(**values))
                self._board.judge[id] = found.id
            connection.execute(delete(places).where(places.c.task == id, places.c.person, places.c.answer.is_(None)))
            self._lease(connection, found, [Turn(id, 0)], -revision)
            self._board.reopened.append(id)
            access.record(connection, "reassign", found.id, now=self.clock(), task=task)

        self._change(work)

    def _refuse_reassign(self, task: str, found: Row, rows: Sequence[Row]) -> None:
        if any(row.assessor == found.id and row.answer is not None for row in rows):
            raise SettingError(f"assessor {found.name!r} has answered this task", hint="choose another assessor")
        if not self._board.is_open(self._id(task)):
            raise SettingError("this task has all the answers that it needs")

    def revision(self) -> int:
        """Return a number that grows with every write."""
        with self.database.read() as connection:
            return int(connection.execute(queries.STATE).one().revision)

    def stored(self, *, surplus: bool = False) -> list[Stored]:
        """Return the answers as they stand after changes, in the order of their first versions; without withdrawn ones.

        surplus: with those that do not count, too
        """
        with self.database.read() as connection:
            rows = connection.execute(queries.STORED if surplus else queries.STORED.where(queries.IS_COUNTED)).all()
        return [self._stored(row) for row in rows]

    def _stored(self, row: Row) -> Stored:
        return Stored(
            key=row.key,
            task=self.tasks.get(row.task_key) or task_of(row),
            assessor=row.name,
            kind=row.kind,
            value=json.loads(row.value),
            status=COUNTED if row.held == COUNTED else SURPLUS,
            at=row.at,
            received=row.received,
            shown=row.shown,
            version=row.version,
            repeat=row.repeat,
            swapped=row.swapped,
            seconds=row.seconds,
            comment=row.comment,
            machine=None if row.machine is None else json.loads(row.machine),
        )

    # Machines' replies that cannot be read

    def add_reply(self, assessor: str, task: str, text: str, *, repeat: int = 0, machine: Any = None) -> None:
        """Keep a reply of a machine that could not be read; the task stays unanswered."""

        def work(connection: Connection, _: int) -> None:
            found = access.assessor_row(connection, assessor)
            values = {"task": self._id(task), "assessor": found.id, "repeat": repeat, "at": self.clock()}
            kept = {"text": _storable(text), "machine": None if machine is None else json.dumps(machine)}
            connection.execute(insert(schema.reply).values(**values, **kept))

        self._change(work)

    def n_replies(self) -> dict[str, int]:
        """Count the replies that could not be read, by machine."""
        table = schema.reply.join(schema.assessor)
        counts = (
            select(schema.assessor.c.name, func.count().label("n")).select_from(table).group_by(schema.assessor.c.name)
        )
        with self.database.read() as connection:
            return {row.name: row.n for row in connection.execute(counts)}

    def exchange(
        self, assessor: str, *, answers: Sequence[Answer], unread: Sequence[Unread], ended: Asked, begun: Asked
    ) -> bool:
        """Store what came back from a machine, and note what it is asked next, in one transaction.

        ended, begun: task and repeat of requests; those that have begun and not ended are ``in_hand``

        Returns
        -------
        bool
            Whether the study is paused.  What was asked before counts nevertheless.
        """
        for answer in answers:
            self._refuse(answer)
        open_, close = [[(self._id(task), repeat) for task, repeat in turns] for turns in (begun, ended)]

        def work(connection: Connection) -> bool:
            revision, paused = self._begin(connection)
            found = _active(connection, assessor)
            if found is None:
                raise SettingError(f"the access of {assessor!r} was revoked", hint="invite them again")
            for answer in answers:
                self._store(connection, found, answer, revision, paused=False)
            if unread:
                connection.execute(insert(schema.reply), [self._reply(found.id, each) for each in unread])
            self._put_down(connection, found, close + open_)
            if open_:
                self._pick_up(connection, found, open_, revision)
            return paused

        return self.database.write(work)

    def _reply(self, assessor: int, unread: Unread) -> dict[str, Any]:
        values = {"task": self._id(unread.task), "assessor": assessor, "repeat": unread.repeat, "at": self.clock()}
        return {**values, "text": _storable(unread.text), "machine": json.dumps(dict(unread.machine))}

    def _put_down(self, connection: Connection, assessor: Row, turns: Sequence[tuple[int, int]]) -> None:
        keys = [_named_key(Turn(*each), assessor) for each in turns]
        if keys:
            connection.execute(queries.DELETE_PLACE.where(schema.place.c.answer.is_(None)), keys)

    def _pick_up(self, connection: Connection, assessor: Row, turns: Sequence[tuple[int, int]], revision: int) -> None:
        """Note what is in hand; an answer that is being replaced keeps its place."""
        found = connection.execute(queries.PLACES, {"tasks": [task for task, _ in turns]})
        held = {(row.task, row.repeat) for row in found if row.assessor == assessor.id}
        rows = [
            {"task": task, "assessor": assessor.id, "repeat": repeat, "person": False, "swapped": False}
            | {"turn": revision, "expires": self._expiry()}
            for task, repeat in turns
            if (task, repeat) not in held
        ]
        if rows:
            connection.execute(insert(schema.place), rows)

    def in_hand(self, assessor: str) -> set[tuple[str, int]]:
        """Return the tasks, with repeats, that a machine was asked and has not answered."""
        place, task, who = schema.place, schema.task, schema.assessor
        table = place.join(task, place.c.task == task.c.id).join(who, place.c.assessor == who.c.id)
        query = select(task.c.key, place.c.repeat).select_from(table)
        with self.database.read() as connection:
            found = connection.execute(query.where(who.c.name == assessor, place.c.answer.is_(None)))
            return {(row.key, row.repeat) for row in found}

    def unread(self, assessor: str) -> list[Unread]:
        """Return the replies of a machine that could not be read."""
        reply, task, who = schema.reply, schema.task, schema.assessor
        table = reply.join(task, reply.c.task == task.c.id).join(who, reply.c.assessor == who.c.id)
        query = select(task.c.key, reply.c.repeat, reply.c.text, reply.c.machine).select_from(table)
        with self.database.read() as connection:
            rows = connection.execute(query.where(who.c.name == assessor).order_by(reply.c.id)).all()
        return [Unread(row.key, row.repeat, row.text, json.loads(row.machine or "{}")) for row in rows]

    # Inside a transaction

    def _change(self, work: Callable[[Connection, int], Any]) -> Any:
        """Run a write of which the revision tells."""
        return self.database.write(lambda connection: work(connection, self._begin(connection)[0]))

    def _look(self, connection: Connection) -> bool:
        """Lock the study, bring the board up to date, and return whether it is paused; nothing is written yet."""
        if self._begun != self.database.transactions:
            revision, paused = connection.execute(queries.LOCKED).one()
            self._board.catch_up(connection, revision, self.database.rollbacks)
            return bool(paused)
        return self._is_paused

    def _begin(self, connection: Connection) -> tuple[int, bool]:
        """Raise the revision, which locks the study in PostgreSQL, and bring the board up to date.

        Writes that share a transaction share its revision.
        """
        if self._begun != self.database.transactions:
            revision, paused = connection.execute(queries.BUMP).one()
            self._board.catch_up(connection, revision - 1, self.database.rollbacks)
            self._board.revision = revision
            self._begun, self._is_paused = self.database.transactions, paused
        return self._board.revision, self._is_paused

    def _queue(self, connection: Connection, assessor: Row) -> Queue:
        if self._board.revision == UNKNOWN or self._board.rollbacks != self.database.rollbacks:
            self._board.catch_up(connection, connection.execute(queries.STATE).one().revision, self.database.rollbacks)
        return self._board.queue(connection, assessor, self._turns(assessor.name))

    def _turns(self, assessor: str) -> Turns:
        """Return the order of an assessor, which is made once, before the transaction that needs it."""
        if assessor not in self._orders:
            is_machine = assessor in self.study.machines
            make = turns_of_machine if is_machine else partial(turns_of_person, self.study)
            self._orders[assessor] = make(self._board.tasks, assessor)
        return self._orders[assessor]

    def _next(self, connection: Connection, assessor: Row, n: int, revision: int | None) -> tuple[Lease, ...]:
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
        queue, hands = self._queue(connection, assessor), [Turn(row.task, row.repeat) for row in leases]
        turns = self._board.take(
            queue, n - len(found), held=hands, free=lambda turns: self._free(connection, assessor, turns)
        )
        if turns:
            revision = self._bumped(connection, revision)
            found += self._lease(connection, assessor, turns, revision)
        return tuple(found)

    def _bumped(self, connection: Connection, revision: int | None) -> int:
        return self._begin(connection)[0] if revision is None else revision

    def _renew(self, connection: Connection, assessor: Row, leases: Sequence[Row], revision: int | None) -> list[Row]:
        """Renew leases of which less than half is left, since their holder is there."""
        self._bumped(connection, revision)
        now, places = self.clock(), schema.place
        mine = (places.c.assessor == assessor.id, places.c.answer.is_(None), places.c.expires > now)
        connection.execute(update(places).where(*mine).values(expires=self._expiry()))
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
            if turn.repeat or n_taken(of.get(turn.task, []), assessor.id, now) < self._board.needed[turn.task]
        ]

    def _lease(self, connection: Connection, assessor: Row, turns: Sequence[Turn], turn: int) -> list[Lease]:
        """Write leases; the assessor holds none of these."""
        expires = self._expiry()
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

    def _expiry(self) -> float:
        return self.clock() + 60 * self.study.lease_minutes

    def _shown_lease(self, assessor: Row, turn: Turn, expires: float) -> Lease:
        task = self._board.tasks[turn.task]
        swapped = is_swapped(self.study, task, assessor.name, turn.repeat)
        shown = self.shown(task)
        return Lease(task=task, repeat=turn.repeat, swapped=swapped, expires=expires, shown=shown)

    def shown(self, task: Task) -> str:
        """Return the hash of what a task shows, as ``shown_hash``; files are read again when they change."""
        return shown_hash(self.study, task, known=self._shown)

    def _id(self, task: str) -> int:
        if task not in self._ids:
            raise UnknownName("task", task, ())
        return self._ids[task]

    def _refuse(self, answer: Answer) -> None:
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

    def _store(self, connection: Connection, assessor: Row, answer: Answer, revision: int, *, paused: bool) -> Receipt:
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
        if self._board.judge[turn.task] not in (ANYBODY, assessor.id):
            return SURPLUS
        if turn.repeat:
            first = [
                row for row in places if row.assessor == assessor.id and row.repeat == 0 and row.answer is not None
            ]
            return COUNTED if first else SURPLUS
        free = n_taken(places, assessor.id, now) < self._board.needed[turn.task]
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
            "comment": _storable(answer.comment),
            "shown": _storable(answer.shown)[:100],
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
            connection.execute(queries.UPDATE_PLACE, {**values, **_named_key(turn, assessor)})
        if own is None or own.answer is None:
            self._count(connection, assessor, turn, status, 1, revision)
            self._queue(connection, assessor).note(turn)

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
            values = {"answer": None, "status": None, "expires": self._expiry(), "turn": -revision}
            connection.execute(queries.UPDATE_PLACE, {**values, **_named_key(turn, assessor)})
            self._count(connection, assessor, turn, COUNTED, -1, revision)
        else:
            connection.execute(queries.DELETE_PLACE, _named_key(turn, assessor))
        self._queue(connection, assessor).forget(turn)

    def _count(self, connection: Connection, assessor: Row, turn: Turn, status: str, more: int, revision: int) -> None:
        """Keep the number of answers by people that count."""
        if assessor.kind == PERSON and turn.repeat == 0 and status == COUNTED:
            connection.execute(queries.COUNT, {"of_id": turn.task, "more": more, "now": revision})
            self._board.count(turn.task, more)


def _holds(own: Row, root: int | None) -> bool:
    """Return whether a place is held by an answer of this chain of changes."""
    return root is not None and own.root == root


def _named_key(turn: Turn, assessor: Row) -> dict[str, int]:
    return {"of_task": turn.task, "of_repeat": turn.repeat, "of_assessor": assessor.id}


def _active(connection: Connection, name: str) -> Row | None:
    """Return the row of an assessor who may judge, or None."""
    return connection.execute(queries.ACTIVE, {"name": name}).one_or_none()


def _answer(connection: Connection, assessor: int, key: str) -> Row | None:
    """Return an assessor's answer of a key."""
    return connection.execute(queries.OF_KEY, {"assessor": assessor, "key": key}).one_or_none()


def _since_rest(times: Sequence[float], now: float) -> int:
    """Count the answers, newest first, that came without a rest before them."""
    for count, (later, earlier) in enumerate(zip([now, *times], times, strict=False)):
        if later - earlier > 60 * REST_MINUTES:
            return count
    return len(times)


def _storable(text: str) -> str:
    """Return text as every database stores it."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def address_of(study: Study, database: str | None = None) -> str:
    """Return the database of a study: the one that is named, else the study's, else the study file's name with .db."""
    return database or study.database or str(study.path.with_suffix(".db"))


def files_of(study: Study, database: str | None = None) -> list[Path]:
    """Return the files that belong to a study: those that it is read from, pages of documents, and its database."""
    pages = [each.file for each in study.documents.values() if each.file is not None]
    address = address_of(study, database)
    return [*study.files, *pages, *([] if is_server(address) else map(Path, sqlite_files(address)))]


def stored_answers(
    study: Study, tasks: Iterable[Task], database: str | None = None, *, surplus: bool = False
) -> list[Stored]:
    """Return the answers to a study as they stand, whatever was changed in it since.

    Nothing is written, but tables of an earlier version are migrated.

    surplus: with those that do not count, too
    """
    address = address_of(study, database)
    if not is_server(address) and not Path(address).exists():
        raise SettingError(f"there are no answers yet: there is no database {address}")
    opened = Database(address)
    try:
        migrate(opened)
        with opened.read() as connection:
            there = set(connection.execute(select(schema.task.c.key)).scalars())
        known = {task.key: task for task in tasks if task.key in there}
        return Store(study, known, opened, time.time).stored(surplus=surplus)
    finally:
        opened.close()
