"""The rules by which tasks are given and answers count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from people import LEASE, Clock, said
from studies import SCALE, label_tasks, study_of
from venire.errors import SettingError, UnknownName
from venire.judging.answers import COUNTED, REFUSED, SURPLUS, Unread
from venire.judging.shown import shown_hash
from venire.judging.store import Store
from venire.judging.study import ASPECTS, CONDITIONAL, LABEL, PREFERENCE, Aspect, Defined, Document, Order
from venire.judging.tasks import Task


def test_a_task_is_leased_to_as_many_as_it_needs(room):
    it = room(n_docs=1, needed=2)
    assert [len(it.store.next_tasks(name)) for name in ("ann", "bob", "cy")] == [1, 1, 0]


def test_tasks_in_hand_come_first_and_stay_in_order(room):
    it = room()
    first = it.store.next_tasks("ann", n=2)
    again = it.store.next_tasks("ann", n=3)
    assert [lease.task for lease in again[:2]] == [lease.task for lease in first]
    assert len({lease.task.key for lease in again}) == 3


def test_a_lease_expires_and_is_no_lock(room):
    it = room(n_docs=1)
    assert it.store.next_tasks("ann")
    assert not it.store.next_tasks("bob")
    it.clock.move(LEASE + 1)
    assert it.store.next_tasks("bob")
    assert not it.store.next_tasks("ann")


def test_who_is_there_keeps_the_lease(room):
    it = room(n_docs=1)
    it.store.next_tasks("ann")
    it.clock.move(LEASE * 0.6)
    (lease,) = it.store.next_tasks("ann")
    it.clock.move(LEASE * 0.6)
    assert not it.store.next_tasks("bob")
    assert it.give("ann", lease).status == COUNTED


def test_a_late_answer_counts_if_the_place_is_free(room):
    it = room(n_docs=1)
    (lease,) = it.store.next_tasks("ann")
    it.clock.move(LEASE + 1)
    assert it.give("ann", lease).status == COUNTED


def test_a_late_answer_is_surplus_if_the_place_was_given_away(room):
    it = room(n_docs=1)
    (lease,) = it.store.next_tasks("ann")
    it.clock.move(LEASE + 1)
    (other,) = it.store.next_tasks("bob")
    assert it.give("ann", lease, "0").status == SURPLUS
    assert it.give("bob", other, "2").status == COUNTED
    assert it.counted() == [("bob", "d0", "2")]
    assert [each.status for each in it.store.stored(surplus=True)] == [SURPLUS, COUNTED]


def test_an_answer_to_a_paused_study_is_surplus(room):
    it = room(n_docs=2)
    (lease,) = it.store.next_tasks("ann")
    it.store.pause(True)
    assert it.store.paused
    assert it.store.next_tasks("ann") == ()
    assert it.give("ann", lease).status == SURPLUS
    it.store.pause(False)
    assert [each.task.doc for each in it.store.next_tasks("ann", n=9)] != [lease.task.doc]
    assert it.judge_all("bob") == 1


def test_after_revocation_nothing_is_stored(room):
    it = room()
    (lease,) = it.store.next_tasks("ann")
    it.store.revoke("ann")
    receipt = it.give("ann", lease)
    assert (receipt.status, receipt.why) == (REFUSED, "access was revoked")
    assert it.store.stored(surplus=True) == []
    assert it.store.next_tasks("ann") == ()
    assert it.store.standing("ann").revoked
    assert len(it.store.next_tasks("bob", n=9)) == 4


def test_the_same_key_is_stored_once(room):
    it = room()
    (lease,) = it.store.next_tasks("ann")
    answer = said(lease, "2")
    assert not it.store.answer("ann", answer).again
    second = it.store.answer("ann", replace(answer, value={"label": "0"}))
    assert (second.status, second.again) == (COUNTED, True)
    assert it.counted() == [("ann", lease.task.doc, "2")]


def test_a_key_is_an_assessors_own(room):
    it = room(needed=2)
    (lease,) = it.store.next_tasks("ann")
    it.store.answer("ann", said(lease, key="same"))
    assert not it.store.answer("bob", said(lease, key="same")).again


def test_nobody_counts_twice(room):
    it = room(n_docs=1, needed=2)
    (lease,) = it.store.next_tasks("ann")
    assert it.give("ann", lease, "1").status == COUNTED
    assert it.give("ann", lease, "2").status == SURPLUS
    assert it.counted() == [("ann", "d0", "1")]
    assert len(it.store.next_tasks("bob")) == 1


def test_a_change_is_a_new_row_that_keeps_its_status(room):
    it = room(n_docs=1)
    (lease,) = it.store.next_tasks("ann")
    it.give("ann", lease, "0", key="a")
    it.store.pause(True)
    assert it.give("ann", lease, "1", key="b", replaces="a").status == COUNTED
    assert it.give("ann", lease, "2", key="c", replaces="a").status == COUNTED
    assert it.counted() == [("ann", "d0", "2")]
    assert [each.key for each in it.store.history("ann")] == ["c"]
    it.store.pause(False)
    assert not it.store.next_tasks("bob")


def test_a_change_of_a_surplus_answer_stays_surplus(room):
    it = room(n_docs=1)
    it.store.next_tasks("bob")
    (task,) = it.store.tasks.values()
    assert it.give("ann", task, key="a").status == SURPLUS
    assert it.give("ann", task, "2", replaces="a").status == SURPLUS
    assert it.counted() == []


def test_undo_gives_the_task_back_first(room):
    it = room()
    first, second = it.store.next_tasks("ann", n=2)
    it.give("ann", first, key="a")
    assert it.give("ann", first, None, replaces="a").status == COUNTED
    assert it.store.stored(surplus=True) == []
    assert it.store.history("ann") == ()
    assert [lease.task for lease in it.store.next_tasks("ann", n=2)] == [first.task, second.task]
    assert it.give("ann", first, "2").status == COUNTED


def test_an_undone_place_is_free_for_others_when_the_lease_ends(room):
    it = room(n_docs=1)
    it.store.next_tasks("bob")
    it.clock.move(LEASE + 1)
    (lease,) = it.store.next_tasks("ann")
    it.give("ann", lease, key="a")
    assert not it.store.next_tasks("bob")
    it.give("ann", lease, None, replaces="a")
    assert not it.store.next_tasks("bob")
    it.clock.move(LEASE + 1)
    (other,) = it.store.next_tasks("bob")
    assert it.give("ann", lease, "2", replaces="a").status == SURPLUS
    assert it.give("bob", other).status == COUNTED


@pytest.mark.parametrize("replaces", ["unknown", "of another task", "of bob"])
def test_a_change_of_nothing_is_an_error(room, replaces):
    it = room(needed=2)
    one, other = it.store.next_tasks("ann", n=2)
    it.give("ann", one, key="of another task".replace(" ", "-"))
    it.give("bob", other.task, key="of-bob")
    with pytest.raises(SettingError, match="no earlier answer"):
        it.give("ann", other, replaces=replaces.replace(" ", "-"))


def test_machines_take_nobodys_place_and_nobody_takes_theirs(room):
    it = room(n_docs=2)
    assert it.judge_all("gpt") == 2
    assert it.judge_all("ann") == 2
    assert it.judge_all("gpt") == 0
    assert len(it.store.stored()) == 4
    assert {(each.assessor, each.kind) for each in it.store.stored()} == {("gpt", "machine"), ("ann", "person")}


def test_machines_answer_several_fixed_tasks_on_one_document_once(room, tmp_path):
    study = study_of(tmp_path, n_docs=2)
    tasks = [task for name in ("ann", "bob") for task in label_tasks(study, judge=name)]
    it = room(study, tasks)
    assert [it.judge_all(name) for name in ("ann", "bob", "cy", "gpt")] == [2, 2, 0, 2]


def test_replies_that_cannot_be_read_leave_the_task_open(room):
    it = room(n_docs=1)
    (lease,) = it.store.next_tasks("gpt")
    reply = Unread(lease.task.key, 0, "I think\0 \udc80 so", {"model": "m"})
    it.store.exchange("gpt", answers=[], unread=[reply], ended=[], begun=[])
    assert len(it.store.unread("gpt")) == 1
    it.clock.move(LEASE + 1)
    assert it.store.next_tasks("gpt")


def test_a_fixed_task_is_reassigned(room, tmp_path):
    study = study_of(tmp_path, n_docs=1)
    it = room(study, label_tasks(study, judge="ann"))
    (lease,) = it.store.next_tasks("ann")
    assert it.store.next_tasks("bob") == ()
    it.store.reassign(lease.task.key, "bob")
    assert it.give("ann", lease).status == SURPLUS
    it.clock.move(LEASE + 1)
    assert it.store.next_tasks("cy") == ()
    again = room(study, label_tasks(study, judge="ann"), clock=it.clock)
    assert again.judge_all("bob") == 1


def test_an_open_task_is_reassigned(room):
    it = room(n_docs=1)
    (lease,) = it.store.next_tasks("ann")
    it.store.reassign(lease.task.key, "bob")
    assert it.store.next_tasks("ann") == ()
    assert it.judge_all("bob") == 1
    with pytest.raises(SettingError, match="all the answers"):
        it.store.reassign(lease.task.key, "ann")
    with pytest.raises(SettingError, match="has answered"):
        it.store.reassign(lease.task.key, "bob")
    with pytest.raises(SettingError, match="machine"):
        it.store.reassign(lease.task.key, "gpt")


def test_repeats_come_after_other_tasks_and_take_no_place(room):
    it = room(n_docs=12, order=Order(seed=1, repeats=0.25, apart=4), people=("ann",))
    given = []
    while leases := it.store.next_tasks("ann"):
        given.append((leases[0].task.doc, leases[0].repeat))
        assert it.give("ann", leases[0]).status == COUNTED
    repeats = [doc for doc, repeat in given if repeat]
    assert len(repeats) == 3
    for doc in repeats:
        assert given.index((doc, 1)) - given.index((doc, 0)) > 4
    assert len(it.store.stored()) == 15


def test_a_repeat_is_not_given_to_who_did_not_answer_first(room):
    it = room(n_docs=6, order=Order(seed=1, repeats=0.5, apart=1))
    total = it.judge_all("bob")
    assert total > 6
    assert it.judge_all("ann") == 0


@pytest.mark.parametrize("kinds", [(LABEL, CONDITIONAL), (ASPECTS, ASPECTS), (LABEL, ASPECTS)], ids=" ".join)
def test_isolation_and_condition_are_apart_also_when_others_took_what_lay_between(room, tmp_path, kinds):
    study = study_of(tmp_path, n_docs=8, order=Order(seed=1, apart=3))
    value = {LABEL: {"label": "1"}, CONDITIONAL: {"label": "1"}, ASPECTS: {"labels": {"trust": "1", "clarity": "N/A"}}}
    isolated = [replace(task, kind=kinds[0]) for task in label_tasks(study)]
    conditional = [Task(kind=kinds[1], topic="t1", doc="d0", given="d1"), Task(kind=LABEL, topic="t2", doc="d0")]
    it = room(study, isolated + conditional)
    between = [task for task in isolated if task.doc != "d0"][:4]
    for task in between:
        assert it.give("bob", task, value=value[task.kind]).status == COUNTED
    given = []
    while leases := it.store.next_tasks("ann"):
        task = leases[0].task
        given.append((task.topic, task.doc, task.given))
        it.give("ann", leases[0], value=value[task.kind])
    assert abs(given.index(("t1", "d0", "")) - given.index(("t1", "d0", "d1"))) > 3
    assert len(given) == 6


def test_tasks_that_must_be_apart_are_given_when_nothing_else_is_left(room, tmp_path):
    study = study_of(tmp_path, n_docs=2)
    tasks = [Task(kind=LABEL, topic="t1", doc="d0"), Task(kind=CONDITIONAL, topic="t1", doc="d0", given="d1")]
    assert room(study, tasks).judge_all("ann") == 2


def test_sides_are_at_random_and_stay(room, tmp_path):
    study = study_of(tmp_path, n_docs=40)
    tasks = [Task(kind=PREFERENCE, topic="t1", doc="d0", other=doc, needed=2) for doc in study.documents if doc != "d0"]
    it = room(study, tasks)
    first = {lease.task.key: lease.swapped for lease in it.store.next_tasks("ann", n=39)}
    assert 10 < sum(first.values()) < 30
    again = room(study, tasks, clock=it.clock)
    assert {lease.task.key: lease.swapped for lease in again.store.next_tasks("ann", n=39)} == first
    assert {lease.task.key: lease.swapped for lease in it.store.next_tasks("bob", n=39)} != first


def test_where_an_assessor_stands(room):
    it = room(n_docs=5)
    leases = it.store.next_tasks("ann", n=3)
    for lease in leases[:2]:
        it.clock.move(60)
        it.give("ann", lease)
    it.give("bob", leases[2].task)
    standing = it.store.standing("ann")
    assert (standing.done, standing.left, standing.since_rest) == (2, 3, 2)
    it.clock.move(10 * 60)
    assert it.store.standing("ann").since_rest == 0
    it.give("ann", leases[2])
    assert it.store.standing("ann").since_rest == 1
    assert (it.store.standing("bob").done, it.store.standing("bob").left) == (1, 2)


def test_the_revision_grows_with_every_write(room):
    it = room()
    seen = [it.store.revision()]
    (lease,) = it.store.next_tasks("ann")
    seen.append(it.store.revision())
    it.give("ann", lease)
    seen.append(it.store.revision())
    it.store.pause(True)
    seen.append(it.store.revision())
    assert seen == sorted(set(seen))
    it.store.standing("ann")
    it.store.stored()
    assert room(clock=it.clock).store.revision() == seen[-1]


def test_an_answer_and_the_next_tasks_in_one_transaction(room):
    it = room(n_docs=3)
    one, two = it.store.next_tasks("ann", n=2)
    receipt, leases = it.store.answer_and_next("ann", said(one), 2)
    assert receipt.status == COUNTED
    assert leases[0].task == two.task
    assert len(leases) == 2


def test_stored_answers_have_what_was_handed_in(room):
    it = room()
    (lease,) = it.store.next_tasks("gpt")
    changes = {"comment": "odd\0 \udc80", "seconds": 2.5, "shown": lease.shown, "machine": {"model": "m"}}
    it.clock.move(5)
    it.give("gpt", lease, "2", at=7.0, swapped=True, **changes)
    (found,) = it.store.stored()
    assert (found.task, found.comment, found.seconds, found.shown) == (lease.task, "odd ?", 2.5, lease.shown)
    assert (found.at, found.received, found.swapped, found.machine) == (7.0, it.clock(), True, {"model": "m"})
    assert (found.version, found.kind, found.repeat) == (1, "machine", 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"key": ""},
        {"key": "x" * 101},
        {"key": "a b"},
        {"repeat": -1},
        {"repeat": 10**6},
        {"at": float("nan")},
        {"seconds": -1.0},
        {"seconds": float("inf")},
        {"comment": "x" * 10_001},
        {"value": None},
        {"value": {}},
        {"value": {"label": "9"}},
        {"value": {"label": ["1"]}},
        {"value": {"label": "1", "strength": 1}},
        {"value": {"strength": 1}},
        {"value": {"cannot": 3}},
        {"task": "nothing"},
    ],
)
def test_what_is_no_answer_is_not_stored(tmp_path, changes):
    study = study_of(tmp_path)
    with Store.open(study, label_tasks(study)) as store:
        (lease,) = store.next_tasks("ann")
        with pytest.raises((SettingError, UnknownName)):
            store.answer("ann", said(lease, **changes))
        assert store.stored(surplus=True) == []


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        (PREFERENCE, {"strength": 2}, True),
        (PREFERENCE, {"strength": 0}, False),
        (PREFERENCE, {"strength": 1.0}, False),
        (PREFERENCE, {"strength": True}, False),
        ("aspects", {"labels": {"true": "N/A", "new": "low"}}, True),
        ("aspects", {"labels": {"true": "0"}}, False),
        ("aspects", {"labels": {"true": "low", "new": "low"}}, False),
        ("aspects", {"labels": ["true", "new"]}, False),
        ("aspects", {"cannot": "does not load"}, True),
    ],
)
def test_values_fit_their_kind(tmp_path, kind, value, fits):
    aspects = (Aspect("true", "Is it?", ()), Aspect("new", "Is it?", (Defined("low"), Defined("high"))))
    study = study_of(tmp_path, aspects=aspects, ties=False)
    task = Task(kind=kind, topic="t1", doc="d0", other="d1" * (kind == PREFERENCE))
    with Store.open(study, [task]) as store:
        answer = said(task, value=value)
        if fits:
            assert store.answer("ann", answer).status == COUNTED
        else:
            with pytest.raises((SettingError, UnknownName)):
                store.answer("ann", answer)


def test_a_changed_scale_is_a_new_version(tmp_path, address):
    study = study_of(tmp_path)
    tasks = label_tasks(study, needed=2)
    with Store.open(study, tasks, address) as store:
        store.answer("ann", said(tasks[0], "2"))
    changed = replace(study, guidelines="Read the first page.")
    with pytest.raises(SettingError, match="not those of the answers so far"):
        Store.open(changed, tasks, address)
    with Store.open(changed, tasks, address, new_version=True) as store:
        store.answer("bob", said(tasks[0], "1"))
        assert [(each.assessor, each.version) for each in store.stored()] == [("ann", 1), ("bob", 2)]
    with Store.open(changed, tasks, address) as store:
        assert len(store.stored()) == 2


def test_answers_that_a_new_scale_does_not_have_no_longer_count(tmp_path, address):
    study = study_of(tmp_path, n_docs=2)
    tasks = label_tasks(study)
    with Store.open(study, tasks, address) as store:
        store.answer("ann", said(tasks[0], "2"))
        store.answer("ann", said(tasks[1], "1"))
    binary = replace(study, scale=SCALE[:2])
    with Store.open(binary, tasks, address, new_version=True) as store:
        assert [each.value for each in store.stored()] == [{"label": "1"}]
        assert [each.status for each in store.stored(surplus=True)] == [SURPLUS, COUNTED]
        (lease,) = store.next_tasks("ann", n=5)
        assert lease.task == tasks[0]


def test_tasks_come_and_go(tmp_path, address):
    study = study_of(tmp_path, n_docs=3)
    tasks = label_tasks(study)
    with Store.open(study, tasks[:2], address) as store:
        store.answer("ann", said(tasks[0], "1"))
    with Store.open(study, tasks[1:], address) as store:
        assert {lease.task.doc for lease in store.next_tasks("bob", n=9)} == {"d1", "d2"}
        assert [(each.task.doc, each.value) for each in store.stored()] == [("d0", {"label": "1"})]
    with Store.open(study, [replace(task, needed=2) for task in tasks], address) as store:
        assert {lease.task.doc for lease in store.next_tasks("cy", n=9)} == {"d0", "d1", "d2"}


def test_a_running_store_sees_the_tasks_that_another_process_ends(room, tmp_path):
    study = study_of(tmp_path, n_docs=3)
    tasks = label_tasks(study)
    it = room(study, tasks)
    other = room(study, tasks[:1], clock=it.clock)
    assert [lease.task.doc for lease in it.store.next_tasks("ann", n=9)] == ["d0"]
    assert other.judge_all("bob") == 0


def test_a_database_belongs_to_one_study(tmp_path, address):
    study = study_of(tmp_path)
    Store.open(study, label_tasks(study), address).close()
    with pytest.raises(SettingError, match="of the study 'small', not 'other'"):
        Store.open(replace(study, name="other"), label_tasks(study), address)


def test_the_hash_of_what_is_shown_follows_the_document(tmp_path):
    page = tmp_path / "d0.html"
    page.write_text("one")
    study = study_of(tmp_path)
    study = replace(study, documents={**study.documents, "d0": Document("d0", file=page)})
    tasks = label_tasks(study)
    with Store.open(study, tasks, clock=Clock()) as store:
        before = [store.shown(task) for task in tasks]
        assert before == [shown_hash(study, task) for task in tasks]
        page.write_text("another")
        after = [store.shown(task) for task in tasks]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, True, True, True]
    assert shown_hash(replace(study, guidelines=""), tasks[1]) != before[1]
