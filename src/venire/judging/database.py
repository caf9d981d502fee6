"""The database of a study: a SQLite file, or PostgreSQL for a team.

Writes are serialised, and committed to the disk before they are acknowledged:

    SQLite      WAL, ``synchronous=FULL``, ``BEGIN IMMEDIATE``; several processes may open the same file
    PostgreSQL  psycopg 3; each write begins by locking the row of ``state``

Writes that arrive while another one is committed share the next transaction, so that a hundred people at once wait for
a few flushes of the disk rather than for a hundred.  If one of them fails, all are rolled back and run one by one.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock
from typing import Any, Generic, TypeVar, cast

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from venire.errors import DatabaseError, SettingError

T = TypeVar("T")
WAIT_SECONDS = 60
"""How long a write waits for another process that writes."""
SQLITE, POSTGRESQL = "sqlite", "postgresql"
OPENING = 0x76656E69
"""Number of the lock that is held in PostgreSQL while a database is opened."""


class _Job(Generic[T]):
    """A write that waits for its transaction."""

    def __init__(self, work: Callable[[Connection], T]) -> None:
        self.work, self.is_done = work, False
        self.value: T | None = None
        self.error: BaseException | None = None
        self.turn = Event()  # it is done, or leads the next transaction

    def outcome(self) -> T:
        if self.error is not None:
            raise self.error
        return cast("T", self.value)


class Database:
    """An open database, for use by several threads.

    transactions: number of the one that writes now; rollbacks: how many were rolled back, and what was remembered from
    within them is void
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.engine = _engine(address)
        self.transactions = self.rollbacks = 0
        self._writing = self.engine.execution_options(writes=True)
        self._waiting: deque[_Job[Any]] = deque()
        self._is_busy = False
        self._guard = Lock()  # of the two before, for moments

    @property
    def file(self) -> Path | None:
        """The SQLite file; None for PostgreSQL."""
        return None if is_server(self.address) else Path(self.address)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction, and return its value once it is on the disk.

        ``work`` may run twice, if the transaction that it shared with others was rolled back.
        """
        job = _Job(work)
        with self._guard:
            self._waiting.append(job)
            leads, self._is_busy = not self._is_busy, True
        if not leads:
            job.turn.wait()
        if not job.is_done:
            self._lead()
        return job.outcome()

    def _lead(self) -> None:
        """Run all that wait, tell them, and let the first of those that came meanwhile lead the next transaction."""
        with self._guard:
            jobs = list(self._waiting)
            self._waiting.clear()
        self._run(jobs)
        with self._guard:
            following = list(self._waiting)[:1]
            self._is_busy = bool(following)
        for job in (*jobs, *following):
            job.turn.set()

    def _run(self, jobs: list[_Job[Any]]) -> None:
        try:
            values = self._committed(jobs)
        except BaseException as error:
            self.rollbacks += 1
            if len(jobs) == 1 or not isinstance(error, Exception):
                for job in jobs:
                    job.error, job.is_done = error, True
                return
            for job in jobs:
                self._run([job])
            return
        for job, value in zip(jobs, values, strict=True):
            job.value, job.is_done = value, True

    def _committed(self, jobs: list[_Job[Any]], *, again: bool = True) -> list[Any]:
        """Run jobs in one transaction; once more on a new connection where the server had closed the old one."""
        self.transactions += 1
        try:
            with named(self.address), self._writing.begin() as connection:
                return [job.work(connection) for job in jobs]
        except DatabaseError as error:
            cause = error.__cause__
            if again and isinstance(cause, DBAPIError) and cause.connection_invalidated:
                self.rollbacks += 1
                return self._committed(jobs, again=False)
            raise

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that reads: it sees the database as it was at its first query."""
        with named(self.address), self.engine.connect() as connection, connection.begin():
            yield connection

    def forget(self) -> None:
        """Overwrite what was deleted from a SQLite file, and empty its log, as far as nobody reads it."""
        if self.file is not None:
            with named(self.address), self.engine.connect() as connection:
                raw: Any = connection.connection.driver_connection
                raw.execute("VACUUM")
                raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def is_server(address: str) -> bool:
    """Return whether an address is that of a database server, rather than a file."""
    return "://" in address


def sqlite_files(address: str) -> list[str]:
    """Return the names of a SQLite file, and of those that are beside it while it is in use."""
    return [address, *(f"{address}-{ending}" for ending in ("wal", "shm", "journal"))]


def _engine(address: str) -> Engine:
    if not is_server(address):
        return _sqlite(Path(address))
    try:
        url = make_url(address)
        if url.get_backend_name() != POSTGRESQL:
            raise SettingError(f"{_shown(address)}: a file or postgresql://... was expected")
        return create_engine(url.set(drivername="postgresql+psycopg"), pool_size=8, max_overflow=32)
    except (ArgumentError, NoSuchModuleError) as error:
        raise SettingError(f"{_shown(address)}: not an address of a database") from error
    except ModuleNotFoundError as error:
        hint = 'pip install "venire[postgresql]"'
        raise SettingError("PostgreSQL needs the package psycopg", hint=hint) from error


def _sqlite(path: Path) -> Engine:
    """Open a file; a new one can be read by its owner alone, since it holds names."""
    with named(str(path)):
        path.touch(mode=0o600)
    settings = {"timeout": WAIT_SECONDS, "check_same_thread": False, "isolation_level": None}
    engine = create_engine(f"sqlite:///{path}", connect_args=settings, pool_size=8, max_overflow=32)

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: Any) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _shown(address: str) -> str:
    """Return an address without its password."""
    try:
        return make_url(address).render_as_string(hide_password=True) if is_server(address) else address
    except ArgumentError:
        return "the database"


@contextmanager
def named(address: str) -> Iterator[None]:
    """Turn an error of the database into one that names it and the reason."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        reason = str(error.orig if isinstance(error, DBAPIError) else error).strip().partition("\n")[0]
        raise DatabaseError(f"{_shown(address)}: {reason}") from error
    except OSError as error:
        if isinstance(error, DatabaseError) or error.strerror is None:
            raise
        raise DatabaseError(f"{_shown(address)}: {error.strerror.lower()}") from error


def lock(connection: Connection) -> None:
    """Let one process at a time make tables, or bring them to a study; SQLite does so itself."""
    if connection.dialect.name == POSTGRESQL:
        connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": OPENING})
