"""A hundred assessors at once, through HTTP: no error, no lost judgment, and none too many."""

from __future__ import annotations

from collections import Counter

import pytest

from people_online import at_work, crowded, invited
from postgresql_server import Server, why_not
from served_studies import Served
from venire.judging.store import Store
from venire.judging.study_files import read_study

pytestmark = pytest.mark.slow
N_PEOPLE, N_TASKS, JUDGMENTS = 100, 200, 2


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    if request.param == "sqlite":
        yield None
        return
    if why_not():
        pytest.skip(why_not())
    folder = tmp_path / "server"
    folder.mkdir()
    server = Server(folder)
    yield server.address("study")
    server.stop()


def test_100_assessors_at_once_give_exactly_the_judgments_that_are_needed(database, tmp_path):
    path = crowded(tmp_path, n_people=N_PEOPLE, n_tasks=N_TASKS, judgments=JUDGMENTS)
    tokens = invited(path, N_PEOPLE, database)
    with Served(path, *([] if database is None else ["--database", database])) as served:
        work = at_work(served.root, tokens)
    assert work.errors == []
    assert work.statuses == {"counted": N_TASKS * JUDGMENTS}
    with Store.open(*read_study(path), database) as store:
        stored = store.stored(surplus=True)
    assert {each.status for each in stored} == {"counted"}
    assert set(Counter(each.task.doc for each in stored).values()) == {JUDGMENTS}
    assert len({(each.task.key, each.assessor) for each in stored}) == len(stored)
