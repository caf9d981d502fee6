"""Tables that are made and migrated, and copies of a database: nothing is changed before there is one.

SQLite reads a copy itself, and so sees the database as it is between two transactions, while others write.  A
PostgreSQL server has programs of its own for that, pg_dump and pg_restore; before a migration its tables are copied
into a schema of their own, in the transaction that changes them.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from stat import S_IMODE

from sqlalchemy import Connection, insert, inspect, select, text
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.schema import CreateSchema

from venire.errors import DatabaseError, SettingError, Way
from venire.io.outputs import write_bytes
from venire.judging import schema
from venire.judging.database import Database, is_server, lock, named

MIGRATIONS = Path(__file__).with_name("migrations")
FINISHED = "delete"
"""The journal of a SQLite file that nobody has open: it has no files beside it."""
COPIES = "venire_backup_"
"""How the names of schemas begin that hold the tables of PostgreSQL as they were before a migration."""
NOT_ALLOWED = "42501"
"""What PostgreSQL says to a user who lacks a right."""
JOURNAL = slice(18, 20)
"""Where a SQLite file says which journal it has: 2 for a log beside it, 1 for others (its format, Section 1.3.3)."""


def migrate(database: Database, *, scripts: Path = MIGRATIONS, head: str = schema.HEAD) -> None:
    """Bring the tables to those of this version of Venire; a database that has tables is copied first."""
    with database.read() as connection:
        found = _migration(connection)
    if found is None:
        database.write(_create)
    elif found != head:
        if database.file is not None:
            backup(database.address)
        database.write(lambda connection: _upgrade(connection, scripts, head, copied=database.file is None))


def _migration(connection: Connection) -> str | None:
    """Return the last migration of a database; None for an empty one."""
    if not inspect(connection).has_table(schema.migration.name):
        return None
    return connection.execute(select(schema.migration.c.version_num)).scalar()


def _create(connection: Connection) -> None:
    """Make the tables, unless another process has just made them."""
    lock(connection)
    schema.tables.create_all(connection)
    if connection.execute(select(schema.migration)).first() is None:
        connection.execute(insert(schema.migration).values(version_num=schema.HEAD))


def _copy_tables(connection: Connection) -> None:
    """Copy the tables of PostgreSQL into a schema that is called by the time."""
    copies = f"{COPIES}{_now()}"
    names = inspect(connection).get_table_names()
    try:
        connection.execute(CreateSchema(copies))
    except ProgrammingError as error:
        if getattr(error.orig, "sqlstate", "") != NOT_ALLOWED:
            raise
        raise SettingError(
            "this database was made by an earlier version of Venire; before it is migrated its tables are copied, "
            "which this user may not do",
            hint="let a user who may create schemas in the database open it once (GRANT CREATE ON DATABASE)",
        ) from error
    for name in names:
        connection.execute(text(f'CREATE TABLE "{copies}"."{name}" AS TABLE "{name}"'))


def _upgrade(connection: Connection, scripts: Path, head: str, *, copied: bool) -> None:
    """Run the migrations that a database lacks, inside its transaction; copied: its tables are copied there, too."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    lock(connection)
    if copied and _migration(connection) != head:
        _copy_tables(connection)
    files = ScriptDirectory(str(scripts), version_locations=[str(scripts)])
    steps = lambda found, _: files._upgrade_revs(head, found)  # noqa: E731 - as Alembic's cookbook has it
    try:
        with EnvironmentContext(Config(), files, fn=steps) as environment:
            environment.configure(connection=connection, target_metadata=schema.tables, render_as_batch=True)
            environment.run_migrations()
    except CommandError as error:
        raise SettingError(
            "the database was made by a newer version of Venire", hint="install that version, or a later one"
        ) from error


def backup(address: str, path: Path | None = None) -> Path:
    """Copy a SQLite database while it is in use; the copy takes its place when it is complete.

    Cost: O(bytes) of the database, which is held in memory.

    Returns
    -------
    Path
        The copy: ``path``, or else the file's name with the time.
    """
    if is_server(address):
        raise SettingError("a PostgreSQL database is copied by its own programs", hint="run pg_dump")
    file = Path(address)
    if not file.is_file():
        raise DatabaseError(f"{file}: there is no such database", hint="has the study been served yet?")
    target = path or file.with_name(f"{file.name}.backup-{_now()}")
    write_bytes(target, _content(file), S_IMODE(file.stat().st_mode))
    return target


def _now() -> str:
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"


def restore(address: str, copy: Path, *, study: str, lose_newer: bool = False) -> Path | None:
    """Replace a SQLite database by a copy of it; what is replaced is copied first.

    Parameters
    ----------
    study
        The name of the study that the copy has to be of.
    lose_newer
        Go on although the database has seen more writes than the copy.

    Returns
    -------
    Path or None
        The copy of what was replaced, if there was anything.

    Raises
    ------
    SettingError
        If the copy is none of this study, or the database is newer.
    DatabaseError
        If the database is in use.
    """
    if is_server(address):
        raise SettingError("a PostgreSQL database is restored by its own programs", hint="run pg_restore")
    file, revision = Path(address), _revision(copy, study)
    kept = None
    if file.is_file() and file.stat().st_size:
        _refuse_newer(file, revision, study, lose_newer=lose_newer)
        _refuse_use(file)
        kept = backup(address)
    write_bytes(file, _content(copy), 0o600)
    return kept


def _content(file: Path) -> bytes:
    """Return the content of a database between two transactions, as a file without a log beside it."""
    with named(str(file)), _opened(file) as source:
        content = bytearray(source.serialize())
    content[JOURNAL] = b"\x01\x01"
    return bytes(content)


def _opened(file: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=10))


def _revision(file: Path, study: str) -> int:
    """Return the revision of a copy; it is an error if it is damaged, or of another study."""
    if not file.is_file():
        raise SettingError(f"{file}: there is no such file")
    try:
        with _opened(file) as source:
            damage = source.execute("PRAGMA quick_check").fetchone()[0]
            found, revision = source.execute("SELECT study, revision FROM state").fetchone()
    except (sqlite3.Error, TypeError) as error:
        raise SettingError(f"{file}: this is no database of a study") from error
    if damage != "ok":
        raise SettingError(f"{file}: the database is damaged: {damage}", hint="restore another copy")
    if found != study:
        raise SettingError(f"{file}: this is the database of the study {found!r}, not {study!r}")
    return int(revision)


def _refuse_newer(file: Path, revision: int, study: str, *, lose_newer: bool) -> None:
    found = _revision(file, study)
    if found > revision and not lose_newer:
        raise SettingError(
            f"{file}: the database is newer than the copy (revision {found:,}, copy {revision:,})",
            hint=["restore another copy", Way("lose what came since", lose_newer="")],
        )


def _refuse_use(file: Path) -> None:
    """Raise if somebody has a file open, by ending its log, which needs it for itself alone."""
    try:
        with _opened(file) as connection:
            connection.execute("PRAGMA busy_timeout=0")
            found = connection.execute(f"PRAGMA journal_mode={FINISHED}").fetchone()[0]
    except sqlite3.OperationalError:
        found = "in use"
    if found != FINISHED:
        raise DatabaseError(f"{file}: the database is in use", hint="stop the server first")
