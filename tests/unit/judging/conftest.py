"""Databases for tests of the judging room: a SQLite file each, and PostgreSQL where it can be had."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import pytest

import postgresql_server
from people import Clock, Room
from studies import label_tasks, study_of
from venire.judging.store import Store

_names = itertools.count()


@pytest.fixture(scope="session")
def server():
    """Start a PostgreSQL server, or skip."""
    if why := postgresql_server.why_not():
        pytest.skip(why)
    with tempfile.TemporaryDirectory(prefix="venire-pg-") as folder:
        started = postgresql_server.Server(Path(folder))
        yield started
        started.stop()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def address(request, tmp_path):
    """Return the address of an empty database, of both kinds in turn."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return request.getfixturevalue("server").address(f"study{next(_names)}")


@pytest.fixture
def room(address, tmp_path):
    """Return a function that opens a store with a clock that stands still; all are closed at the end."""
    opened = []

    def open_room(study=None, tasks=None, *, clock=None, needed=1, **changes) -> Room:
        study = study_of(tmp_path, **changes) if study is None else study
        clock = clock or Clock()
        tasks = label_tasks(study, needed=needed) if tasks is None else tasks
        opened.append(Store.open(study, tasks, address, clock=clock))
        return Room(opened[-1], clock)

    yield open_room
    for store in opened:
        store.close()
