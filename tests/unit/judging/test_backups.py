"""Tables that are made and migrated, and copies of a database."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from threading import Event, Thread

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, select

from people import said
from studies import label_tasks, study_of
from venire.errors import DatabaseError, SettingError
from venire.judging import backups, schema
from venire.judging.backups import backup, migrate, restore
from venire.judging.database import Database
from venire.judging.store import Store

NEXT = """
from alembic import op
from sqlalchemy import Column, Text

revision, down_revision = "0002", "0001"


def upgrade():
    op.add_column("event", Column("more", Text))
    {then}
"""


@pytest.fixture
def study(tmp_path):
    return study_of(tmp_path)


@pytest.fixture
def tasks(study):
    return label_tasks(study, needed=2)


def opened(study, tasks, address=None):
    return Store.open(study, tasks, address)


def migrations(folder, then="pass"):
    """The project's migrations, and another one."""
    folder.mkdir()
    for path in backups.MIGRATIONS.glob("m*.py"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "m0002_more.py").write_text(NEXT.format(then=then))
    return folder


def columns(database):
    with database.read() as connection:
        return {row[1] for row in connection.exec_driver_sql("PRAGMA table_info(event)")}


def test_migrations_lead_to_the_tables_of_the_code(address):
    database = Database(address)
    schema.migration.create(database.engine)
    database.write(lambda connection: backups._upgrade(connection, backups.MIGRATIONS, schema.HEAD, copied=False))
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.tables) == []
        assert connection.execute(select(schema.migration.c.version_num)).scalar() == schema.HEAD
    database.close()


def test_a_migration_copies_the_database_first(study, tasks, tmp_path):
    with opened(study, tasks) as store:
        store.answer("ann", said(tasks[0], "2"))
        migrate(store.database, scripts=migrations(tmp_path / "more"), head="0002")
        assert "more" in columns(store.database)
        assert len(store.stored()) == 1
    (copy,) = tmp_path.glob("study.db.backup-*")
    old = Database(str(copy))
    assert "more" not in columns(old)
    old.close()


def test_a_migration_that_fails_changes_nothing(study, tasks, tmp_path):
    with opened(study, tasks) as store:
        with pytest.raises(ZeroDivisionError):
            migrate(store.database, scripts=migrations(tmp_path / "more", "1 / 0"), head="0002")
        assert "more" not in columns(store.database)
    opened(study, tasks).close()


@pytest.mark.slow
def test_a_migration_of_postgresql_copies_its_tables_first(server, study, tasks, tmp_path):
    def schemas(database):
        with database.read() as connection:
            return [name for name in inspect(connection).get_schema_names() if name.startswith(backups.COPIES)]

    with opened(study, tasks, server.address("migrated")) as store:
        store.answer("ann", said(tasks[0], "2"))
        with pytest.raises(ZeroDivisionError):
            migrate(store.database, scripts=migrations(tmp_path / "wrong", "1 / 0"), head="0002")
        assert schemas(store.database) == [], "a migration that fails leaves nothing"
        scripts = migrations(tmp_path / "more")
        for _ in range(2):
            migrate(store.database, scripts=scripts, head="0002")
        (copy,) = schemas(store.database)
        with store.database.read() as connection:
            columns = {each["name"] for each in inspect(connection).get_columns("event", schema=copy)}
            kept = connection.exec_driver_sql(f'SELECT value FROM "{copy}"."answer"').scalars().all()
        assert "more" not in columns
        assert kept == ['{"label": "2"}']


@pytest.mark.slow
def test_a_user_who_may_not_copy_tables_cannot_migrate_them(server, study, tasks, tmp_path):
    address = server.address("guarded")
    with opened(study, tasks, address) as store, store.database.engine.begin() as connection:
        connection.exec_driver_sql("CREATE ROLE weak LOGIN")
        connection.exec_driver_sql("GRANT USAGE ON SCHEMA guarded TO weak")
        connection.exec_driver_sql("GRANT ALL ON ALL TABLES IN SCHEMA guarded TO weak")
    weak = Database(address.replace("postgres@", "weak@", 1))
    with pytest.raises(SettingError, match="which this user may not do") as told:
        migrate(weak, scripts=migrations(tmp_path / "more"), head="0002")
    assert "GRANT CREATE" in told.value.hint
    weak.close()


def test_a_database_of_a_newer_version_is_refused(study, tasks, tmp_path):
    with opened(study, tasks) as store:
        migrate(store.database, scripts=migrations(tmp_path / "more"), head="0002")
    with pytest.raises(SettingError, match="newer version"):
        opened(study, tasks)


def test_a_copy_is_made_while_others_write(study, tmp_path):
    tasks = label_tasks(study, needed=2)
    with opened(study, tasks) as store:
        enough, stop = Event(), Event()

        def write():
            n = 0
            while not stop.is_set():
                key = f"k{n}"
                store.answer("ann", said(tasks[n % 4], key=key))
                n += 1
                if n > 5:
                    enough.set()

        writer = Thread(target=write)
        writer.start()
        enough.wait(30)
        copy = backup(store.database.address, tmp_path / "copy.db")
        stop.set()
        writer.join()
        whole = store.stored(surplus=True)
    with opened(study, tasks, str(copy)) as found:
        kept = found.stored(surplus=True)
        assert 5 < len(kept) <= len(whole)
        assert [each.key for each in kept] == [each.key for each in whole[: len(kept)]]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_a_copy_is_restored_and_what_is_replaced_is_kept(study, tasks, tmp_path):
    with opened(study, tasks) as store:
        store.answer("ann", said(tasks[0], "2"))
        address = store.database.address
        copy = backup(address, tmp_path / "copy.db")
        store.answer("ann", said(tasks[1], "1"))
    with pytest.raises(SettingError, match="newer than the copy") as told:
        restore(address, copy, study=study.name)
    assert "lose what came since" in told.value.hint
    kept = restore(address, copy, study=study.name, lose_newer=True)
    with opened(study, tasks) as store, opened(study, tasks, str(kept)) as other:
        assert [len(each.stored()) for each in (store, other)] == [1, 2]


def test_a_database_that_is_lost_is_restored(study, tasks, tmp_path):
    with opened(study, tasks) as store:
        store.answer("ann", said(tasks[0], "2"))
        copy = backup(store.database.address, tmp_path / "copy.db")
        path = store.database.file
    for part in tmp_path.glob("study.db*"):
        part.unlink()
    assert restore(str(path), copy, study=study.name) is None
    with opened(study, tasks) as store:
        assert len(store.stored()) == 1


def test_a_database_in_use_is_not_replaced(study, tasks, tmp_path):
    with opened(study, tasks) as store:
        copy = backup(store.database.address, tmp_path / "copy.db")
        with pytest.raises(DatabaseError, match="in use"):
            restore(store.database.address, copy, study=study.name, lose_newer=True)
        assert store.answer("ann", said(tasks[0])).status == "counted"


def test_what_is_no_copy_of_the_study_is_refused(study, tasks, tmp_path):
    with opened(study, tasks) as store:
        copy = backup(store.database.address, tmp_path / "copy.db")
    text, damaged = tmp_path / "text.db", tmp_path / "damaged.db"
    text.write_text("no database")
    data = bytearray(copy.read_bytes())
    for page in range(2, 12):
        data[4096 * page : 4096 * page + 64] = b"\xff" * 64
    damaged.write_bytes(data)
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE state (id)")
    for path in (text, damaged, tmp_path / "other.db", tmp_path / "nothing.db"):
        with pytest.raises(SettingError, match=path.name):
            restore(str(tmp_path / "study.db"), path, study=study.name)
    with pytest.raises(SettingError, match="of the study 'small', not 'large'"):
        restore(str(tmp_path / "study.db"), copy, study="large")
    with pytest.raises(DatabaseError, match="no such database"):
        backup(str(tmp_path / "none.db"))


def test_postgresql_has_programs_of_its_own(tmp_path):
    with pytest.raises(SettingError, match="its own programs") as told:
        backup("postgresql://localhost/x")
    assert "pg_dump" in told.value.hint
    with pytest.raises(SettingError, match="its own programs"):
        restore("postgresql://localhost/x", tmp_path / "copy", study="small")


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("mysql://localhost/x", "a file or postgresql"),
        ("://x", "not an address"),
        ("postgresql://user:secret@127.0.0.1:1/x", "127.0.0.1"),
        ("no/such/folder/study.db", "no such file or directory"),
    ],
)
def test_an_address_that_leads_nowhere(study, tasks, address, error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((SettingError, DatabaseError), match=error) as told:
        opened(study, tasks, address)
    assert "secret" not in str(told.value)


def test_a_file_that_is_no_database(study, tasks, tmp_path):
    (tmp_path / "study.db").write_text("no database at all, but text")
    with pytest.raises(DatabaseError, match=r"study\.db: file is not a database"):
        opened(study, tasks)
