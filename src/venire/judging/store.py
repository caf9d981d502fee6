"""The store: everything that is known of a study in progress.

Every method is one transaction.  An answer that was acknowledged is on the disk.  See ``judging.ledger`` for how tasks
are leased and which answers count, ``judging.assignment`` for who gets a task, ``judging.access`` for who may judge,
and ``judging.database`` for how writes are serialised.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from venire.errors import SettingError
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
)
from venire.judging.assignment import (
    ANYBODY,
)
from venire.judging.backups import migrate
from venire.judging.database import Database, is_server, sqlite_files
from venire.judging.ledger import Clock, Ledger, named_key, storable
from venire.judging.opening import synchronise, task_of
from venire.judging.orders import Turn
from venire.judging.schema import Row
from venire.judging.study import MACHINE, Study
from venire.judging.tasks import Task

REST_MINUTES = 5
"""A pause of this length between two answers is a rest."""

Asked = Sequence[tuple[str, int]]
"""Keys of tasks, and repeats."""


class Store:
    """The database of a study, open; for use by several threads.

    study: as it was opened; tasks: those of the study, by ``Task.key``
    """

    def __init__(self, study: Study, tasks: Mapping[str, Task], database: Database, clock: Clock) -> None:
        self.study, self.tasks, self.database, self.clock = study, tasks, database, clock
        self._ledger = Ledger(study, tasks, database, clock)

    @classmethod
    def open(
        cls,
        study: Study,
        tasks: Sequence[Task],
        database: str | None = None,
        *,
        new_version: bool = False,
        as_it_is: bool = False,
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
        as_it_is
            Leave versions, assessors and tasks of the database as they are: for what concerns access alone, and has to
            work also where the study file was changed.

        Raises
        ------
        SettingError
            If scale, aspects or guidelines changed, and this is no new version.
        """
        opened = Database(address_of(study, database))
        try:
            migrate(opened)
            known = {task.key: task for task in tasks}
            how = {"new_version": new_version, "as_it_is": as_it_is}
            opened.write(lambda connection: synchronise(connection, study, known, clock(), **how))
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
            self._ledger.board.catch_up(connection, revision, self.database.rollbacks, anew=True)
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
            paused = self._ledger.look(connection)
            found = _active(connection, assessor)
            if paused or found is None:
                return ()
            return self._ledger.next(connection, found, n, revision=None)

        self._ledger.turns(assessor)
        return self.database.write(work)

    def answer(self, assessor: str, answer: Answer) -> Receipt:
        """Store an answer, and return what became of it."""
        return self.answer_and_next(assessor, answer, 0)[0]

    def answers(self, assessor: str, answers: Sequence[Answer]) -> list[Receipt]:
        """Store answers that were given elsewhere, all in one transaction; a pause does not make them surplus."""
        for answer in answers:
            self._ledger.refuse(answer)

        def work(connection: Connection) -> list[Receipt]:
            revision, _ = self._ledger.begin(connection)
            found = _active(connection, assessor)
            if found is None:
                raise SettingError(f"the access of {assessor!r} was revoked", hint="name another assessor")
            return [self._ledger.store(connection, found, answer, revision, paused=False) for answer in answers]

        return self.database.write(work)

    def answer_and_next(self, assessor: str, answer: Answer, n: int) -> tuple[Receipt, tuple[Lease, ...]]:
        """Store an answer and lease the next tasks, in one transaction."""
        self._ledger.refuse(answer)

        def work(connection: Connection) -> tuple[Receipt, tuple[Lease, ...]]:
            revision, paused = self._ledger.begin(connection)
            found = _active(connection, assessor)
            if found is None:
                return Receipt(answer.key, REFUSED, why="access was revoked"), ()
            receipt = self._ledger.store(connection, found, answer, revision, paused=paused)
            return receipt, self._ledger.next(connection, found, n, revision) if n and not paused else ()

        self._ledger.turns(assessor)
        return self.database.write(work)

    def shown(self, task: Task) -> str:
        """Return the hash of what a task shows, as ``shown_hash``; files are read again when they change."""
        return self._ledger.shown(task)

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
        self._ledger.turns(assessor)
        queue = self._ledger.board.queues.get(found.id) or self.database.write(
            lambda each: self._ledger.queue(each, found)
        )
        left = self._ledger.board.n_left(queue)
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
            self._ledger.paused = on
            access.record(connection, "pause" if on else "resume", now=self.clock())

        self._change(work)

    def reassign(self, task: str, assessor: str) -> None:
        """Give a task to another assessor: leases of others end, and a fixed assignment is theirs from now on.

        Raises
        ------
        SettingError
            If they have answered it, or if it has all the answers that it needs.
        """
        id = self._ledger.id(task)

        def work(connection: Connection, revision: int) -> None:
            found = access.assessor_row(connection, assessor)
            if found.kind == MACHINE:
                raise SettingError(f"{assessor!r} is a machine: it answers every task, and takes no person's place")
            rows = connection.execute(queries.PLACES, {"tasks": [id]}).all()
            self._refuse_reassign(task, found, rows)
            places, tasks = schema.place, schema.task
            if self._ledger.board.judge[id] != ANYBODY:
                values = {"judge": found.id, "changed": revision}
                connection.execute(update(tasks).where(tasks.c.id == id).values(**values))
                self._ledger.board.judge[id] = found.id
            connection.execute(delete(places).where(places.c.task == id, places.c.person, places.c.answer.is_(None)))
            self._ledger.lease(connection, found, [Turn(id, 0)], -revision)
            self._ledger.board.reopened.append(id)
            access.record(connection, "reassign", found.id, now=self.clock(), task=task)

        self._change(work)

    def _refuse_reassign(self, task: str, found: Row, rows: Sequence[Row]) -> None:
        if any(row.assessor == found.id and row.answer is not None for row in rows):
            raise SettingError(f"assessor {found.name!r} has answered this task", hint="choose another assessor")
        if not self._ledger.board.is_open(self._ledger.id(task)):
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
            self._ledger.refuse(answer)
        open_, close = [[(self._ledger.id(task), repeat) for task, repeat in turns] for turns in (begun, ended)]

        def work(connection: Connection) -> bool:
            revision, paused = self._ledger.begin(connection)
            found = _active(connection, assessor)
            if found is None:
                raise SettingError(f"the access of {assessor!r} was revoked", hint="invite them again")
            for answer in answers:
                self._ledger.store(connection, found, answer, revision, paused=False)
            if unread:
                connection.execute(insert(schema.reply), [self._reply(found.id, each) for each in unread])
            self._put_down(connection, found, close + open_)
            if open_:
                self._pick_up(connection, found, open_, revision)
            return paused

        return self.database.write(work)

    def _reply(self, assessor: int, unread: Unread) -> dict[str, Any]:
        values = {
            "task": self._ledger.id(unread.task),
            "assessor": assessor,
            "repeat": unread.repeat,
            "at": self.clock(),
        }
        return {**values, "text": storable(unread.text), "machine": json.dumps(dict(unread.machine))}

    def _put_down(self, connection: Connection, assessor: Row, turns: Sequence[tuple[int, int]]) -> None:
        keys = [named_key(Turn(*each), assessor) for each in turns]
        if keys:
            connection.execute(queries.DELETE_PLACE.where(schema.place.c.answer.is_(None)), keys)

    def _pick_up(self, connection: Connection, assessor: Row, turns: Sequence[tuple[int, int]], revision: int) -> None:
        """Note what is in hand; an answer that is being replaced keeps its place."""
        found = connection.execute(queries.PLACES, {"tasks": [task for task, _ in turns]})
        held = {(row.task, row.repeat) for row in found if row.assessor == assessor.id}
        rows = [
            {"task": task, "assessor": assessor.id, "repeat": repeat, "person": False, "swapped": False}
            | {"turn": revision, "expires": self._ledger.expiry()}
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

    def _change(self, work: Callable[[Connection, int], Any]) -> Any:
        """Run a write of which the revision tells."""
        return self.database.write(lambda connection: work(connection, self._ledger.begin(connection)[0]))


def _active(connection: Connection, name: str) -> Row | None:
    """Return the row of an assessor who may judge, or None."""
    return connection.execute(queries.ACTIVE, {"name": name}).one_or_none()


def _since_rest(times: Sequence[float], now: float) -> int:
    """Count the answers, newest first, that came without a rest before them."""
    for count, (later, earlier) in enumerate(zip([now, *times], times, strict=False)):
        if later - earlier > 60 * REST_MINUTES:
            return count
    return len(times)


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
