"""What a machine was asked and what it said, in SQLite and PostgreSQL."""

from __future__ import annotations

import pytest

from people import said
from studies import study_of
from venire.errors import SettingError
from venire.judging.answers import Unread
from venire.judging.study import MACHINE


@pytest.fixture
def machine(tmp_path):
    return next(each.name for each in study_of(tmp_path).assessors if each.kind == MACHINE)


def exchange(store, machine, *, answers=(), unread=(), ended=(), begun=()):
    return store.exchange(machine, answers=answers, unread=unread, ended=ended, begun=begun)


def test_what_has_begun_and_not_ended_is_in_hand(room, machine):
    store = room().store
    first, second, third = [(task.key, 0) for task in list(store.tasks.values())[:3]]
    exchange(store, machine, begun=[first, second])
    exchange(store, machine, ended=[first], begun=[third])
    assert store.in_hand(machine) == {second, third}
    exchange(store, machine, begun=[second])
    assert store.in_hand(machine) == {second, third}
    exchange(store, machine, ended=[second, third])
    assert store.in_hand(machine) == set()
    exchange(store, machine)


def test_an_answer_counts_and_takes_no_place(room, machine):
    store = room().store
    task = next(iter(store.tasks.values()))
    exchange(store, machine, begun=[(task.key, 0)])
    answer = said(task, "1", machine={"model": "toy"}, key="m-1")
    exchange(store, machine, answers=[answer], ended=[(task.key, 0)])
    exchange(store, machine, answers=[answer], ended=[(task.key, 0)])
    [found] = store.stored()
    assert (found.assessor, found.kind, found.status, found.machine) == (machine, MACHINE, "counted", {"model": "toy"})
    assert store.in_hand(machine) == set()
    assert task in [lease.task for lease in store.next_tasks(store.study.people[0], n=9)]


def test_an_answer_that_is_being_replaced_keeps_its_place(room, machine):
    store = room().store
    task = next(iter(store.tasks.values()))
    exchange(store, machine, answers=[said(task, "1", key="m-1")])
    exchange(store, machine, begun=[(task.key, 0)])
    assert [each.value for each in store.stored()] == [{"label": "1"}]
    exchange(store, machine, answers=[said(task, "0", key="m-2", replaces="m-1")], ended=[(task.key, 0)])
    assert [(each.value, each.status) for each in store.stored()] == [({"label": "0"}, "counted")]


def test_replies_that_cannot_be_read_are_kept_as_they_are(room, machine):
    store = room().store
    task = next(iter(store.tasks))
    texts = ["I cannot", "\x00\ud800 'DROP TABLE reply", "läßt \U0001f600"]
    exchange(store, machine, unread=[Unread(task, n, text, {"why": "not JSON"}) for n, text in enumerate(texts)])
    kept = store.unread(machine)
    assert [(each.task, each.repeat, each.machine) for each in kept] == [
        (task, n, {"why": "not JSON"}) for n in range(3)
    ]
    assert (kept[0].text, kept[2].text) == (texts[0], texts[2])
    assert store.stored() == []


def test_a_pause_is_told_and_what_was_asked_before_counts(room, machine):
    store = room().store
    task = next(iter(store.tasks.values()))
    assert not exchange(store, machine, begun=[(task.key, 0)])
    store.pause(True)
    assert exchange(store, machine, answers=[said(task, "1")], ended=[(task.key, 0)])
    assert [each.status for each in store.stored()] == ["counted"]


def test_a_revoked_machine_stores_nothing(room, machine):
    store = room().store
    store.revoke(machine)
    with pytest.raises(SettingError, match="was revoked"):
        exchange(store, machine, answers=[said(next(iter(store.tasks.values())), "1")])
    assert store.stored() == []
