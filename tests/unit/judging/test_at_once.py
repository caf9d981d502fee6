"""Many at once, in threads and in processes; and processes that are killed: nothing is lost, nothing counted twice."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from people import said
from studies import label_tasks, study_of
from venire.errors import DatabaseError
from venire.judging.answers import COUNTED, SURPLUS
from venire.judging.store import Store

N_PEOPLE, N_DOCS, NEEDED = 20, 60, 3
PEOPLE = tuple(f"p{n}" for n in range(N_PEOPLE))


def the_study(folder):
    study = study_of(folder, people=PEOPLE, n_docs=N_DOCS)
    return study, label_tasks(study, needed=NEEDED)


def judge_all(store, assessor) -> int:
    leases, n = store.next_tasks(assessor, n=2), 0
    while leases:
        receipt, leases = store.answer_and_next(assessor, said(leases[0], key=f"{assessor}-{n}"), 2)
        assert receipt.status == COUNTED
        n += 1
    return n


def assert_exact(store) -> None:
    per_task = Counter(each.task.doc for each in store.stored())
    assert set(per_task.values()) == {NEEDED}
    assert len(per_task) == N_DOCS
    assert len(store.stored(surplus=True)) == N_DOCS * NEEDED


def test_twenty_threads_give_each_task_the_answers_that_it_needs(address, tmp_path):
    with Store.open(*the_study(tmp_path), address) as store:
        with ThreadPoolExecutor(N_PEOPLE) as threads:
            given = list(threads.map(lambda name: judge_all(store, name), PEOPLE))
        assert sum(given) == N_DOCS * NEEDED
        assert_exact(store)


def test_all_want_the_last_place(address, tmp_path):
    study = study_of(tmp_path, people=PEOPLE, n_docs=1)
    tasks = label_tasks(study)
    with Store.open(study, tasks, address) as store, ThreadPoolExecutor(N_PEOPLE) as threads:
        receipts = list(threads.map(lambda name: store.answer(name, said(tasks[0], key="k")), PEOPLE))
        assert Counter(each.status for each in receipts) == {COUNTED: 1, SURPLUS: N_PEOPLE - 1}
        assert len(store.stored()) == 1


def test_one_that_fails_takes_no_other_with_it(tmp_path):
    with Store.open(*the_study(tmp_path)) as store:
        tasks = list(store.tasks.values())

        def act(n: int):
            try:
                return store.answer(PEOPLE[n % N_PEOPLE], said(tasks[n], replaces="nothing" * (n % 3 == 0)))
            except ValueError:
                return None

        with ThreadPoolExecutor(N_PEOPLE) as threads:
            receipts = list(threads.map(act, range(N_DOCS)))
        assert [each is None for each in receipts] == [n % 3 == 0 for n in range(N_DOCS)]
        assert len(store.stored()) == N_DOCS * 2 // 3


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_at_once import judge_all, judge_forever, the_study
from venire.judging.store import Store
folder, address, how, *people = sys.argv[2:]
with Store.open(*the_study(Path(folder)), address) as store:
    for name in people:
        if how == "all":
            judge_all(store, name)
        else:
            judge_forever(store, name)
"""


def judge_forever(store, assessor) -> None:
    """Answer and take back for ever; print each key that was acknowledged."""
    for n in itertools.count():
        (lease,) = store.next_tasks(assessor)
        key = f"{assessor}-{n}"
        store.answer(assessor, said(lease, "2", key=key, comment=key))
        print(json.dumps([key, lease.task.key]), flush=True)  # noqa: T201
        store.answer(assessor, said(lease, "0", key=f"{key}-changed", replaces=key))
        if n % 2:
            store.answer(assessor, said(lease, None, key=f"{key}-undone", replaces=key))


def start_writer(folder, address, how, *people):
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": str(here.parents[1])}
    command = [sys.executable, "-c", WRITER, str(here), str(folder), address, how, *people]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


@pytest.mark.slow
def test_several_processes_write_to_one_database(address, tmp_path):
    writers = [start_writer(tmp_path, address, "all", *PEOPLE[n::3]) for n in range(3)]
    outputs = [writer.communicate(timeout=120) for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0], outputs
    with Store.open(*the_study(tmp_path), address) as store:
        assert_exact(store)


def acknowledged_until_killed(writer, kill, n: int) -> list[list[str]]:
    """Return what a writer printed before it, or its server, was killed after n answers."""
    lines = [writer.stdout.readline() for _ in range(n)]
    kill()
    rest = writer.communicate(timeout=60)[0].splitlines()
    found = []
    for line in (*lines, *rest):
        with suppress(json.JSONDecodeError):
            found.append(json.loads(line))
    assert len(found) >= n
    return found


def assert_kept(acknowledged, folder, address) -> None:
    with Store.open(*the_study(folder), address) as store:
        rows = {each.key for name in PEOPLE for each in store.history(name, n=10**6)}
        kept = all_keys(store)
        assert not {key for key, _ in acknowledged} - kept
        assert rows <= kept
        per_task = Counter(each.task.key for each in store.stored())
        assert max(per_task.values()) <= NEEDED


def all_keys(store) -> set[str]:
    from sqlalchemy import select

    from venire.judging import schema

    with store.database.read() as connection:
        return set(connection.execute(select(schema.answer.c.key)).scalars())


@pytest.mark.slow
def test_what_was_acknowledged_survives_the_end_of_the_process(address, tmp_path):
    writer = start_writer(tmp_path, address, "forever", PEOPLE[0])
    acknowledged = acknowledged_until_killed(writer, lambda: os.kill(writer.pid, signal.SIGKILL), 25)
    assert writer.returncode == -signal.SIGKILL
    assert_kept(acknowledged, tmp_path, address)


@pytest.mark.slow
def test_what_was_acknowledged_survives_the_end_of_the_database_server(server, tmp_path):
    address = server.address("killed")
    writer = start_writer(tmp_path, address, "forever", PEOPLE[0])
    acknowledged = acknowledged_until_killed(writer, server.kill, 25)
    assert writer.returncode == 1
    server.start()
    assert_kept(acknowledged, tmp_path, address)


@pytest.mark.slow
def test_a_store_goes_on_when_the_database_server_is_back(server, tmp_path):
    study, tasks = the_study(tmp_path)
    with Store.open(study, tasks, server.address("back")) as store:
        store.answer("p0", said(tasks[0]))
        server.kill()
        with pytest.raises(DatabaseError):
            store.answer("p0", said(tasks[1], key="again"))
        server.start()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with suppress(DatabaseError):
                assert store.answer("p0", said(tasks[1], key="again")).status == COUNTED
                break
        assert len(store.stored()) == 2
