import asyncio
import json
from collections import Counter
from dataclasses import replace

import pytest

from model_server import Model, ModelServer, Reply, completion
from studies import study_of, task_of
from venire.errors import SettingError, UnknownName
from venire.judging.machines.asking import Forecast, Machine, Prices, Tally, agenda, ask, forecast, machine_name
from venire.judging.machines.client import Endpoint, NoReply, ServerRefused
from venire.judging.machines.prompts import Prompts
from venire.judging.store import Store
from venire.judging.study import CONDITIONAL, IMAGE, KINDS, LABEL, MACHINE, PREFERENCE, Assessor, Document

STUDY = study_of()
TASKS = [task_of(kind, position=n) for n, kind in enumerate(KINDS)]
DOCS = ("d1", "d2", "d3")
LABELS = [task_of(LABEL, doc, position=n) for n, doc in enumerate(DOCS)]


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens the store of tasks, in one database."""
    stores = []

    def open_store(tasks=TASKS, study=STUDY, **settings):
        stores.append(Store.open(study, tasks, str(tmp_path / "study.db"), **settings))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


def machine_of(study=STUDY, assessor="gpt", model="toy"):
    return Machine(assessor=assessor, model=model, prompts=Prompts(study))


def asked(store, model=None, *, machine=None, concurrency=2, server=None, **settings):
    """Ask a server of this model; return the agenda and the tally."""
    machine = machine or machine_of(store.study)
    planned = agenda(machine, list(store.tasks.values()), store, **settings)
    tally = Tally()
    with ModelServer(model or Model()) as running:
        told = {"model": machine.model, "url": running.url, "backoff": 0.001, "attempts": 3} | (server or {})
        asyncio.run(ask(planned, store, Endpoint(**told), concurrency=concurrency, tally=tally))
    return planned, tally


def content(text):
    return lambda *_: Reply(200, json.dumps(completion(text)).encode())


def test_a_machine_answers_tasks_of_every_kind(opened):
    store = opened()
    planned, tally = asked(store)
    found = {each.task.kind: each for each in store.stored()}
    swapped = {each.task.kind: each.swapped for each in planned.requests}
    assert found["label"].value == {"label": "2"}
    assert found["conditional"].value == {"label": "2"}
    assert found["aspects"].value == {"labels": {"trust": "1", "clarity": "2"}}
    assert found["preference"].value == {"strength": 2}
    assert found["lists"].value == {"strength": 0}
    assert {each.task.kind: each.swapped for each in store.stored()} == swapped
    assert (tally.asked, tally.stored, tally.tokens_in, tally.tokens_out) == (5, 5, 500, 35)
    for each in found.values():
        assert (each.assessor, each.kind, each.status, each.shown) == (
            "gpt",
            MACHINE,
            "counted",
            store.shown(each.task),
        )
        assert each.machine["model"] == "toy"
        assert each.machine["served"] == "toy-1"
        assert each.machine["prompt"] == planned.machine.prompts.hash
        assert each.machine["tokens"] == {"in": 100, "out": 7}
        assert each.machine["distribution"]
    assert max(found["label"].machine["distribution"].items(), key=lambda pair: pair[1])[0] == "2"
    best = max(found["preference"].machine["distribution"].items(), key=lambda pair: pair[1])
    assert best == ("2", pytest.approx(0.8 / (0.8 + 0.1875)))


def test_what_is_stored_is_not_asked_again(opened):
    model = Model()
    asked(opened(), model, limit=2)
    assert len(model.requests) == 2
    planned, tally = asked(opened(), model)
    assert (planned.known, tally.stored, len(model.requests)) == (2, 3, 5)
    planned, tally = asked(opened(), model)
    assert (planned.requests, planned.known, tally.asked) == ((), 5, 0)
    planned, tally = asked(opened(), model, repeats=3)
    assert (planned.known, tally.stored) == (5, 10)
    assert Counter(each.repeat for each in opened().stored()) == {0: 5, 1: 5, 2: 5}


def test_repeats_of_a_preference_show_both_orders(opened):
    store = opened([task_of(PREFERENCE)])
    planned, _ = asked(store, repeats=4)
    sides = [each.swapped for each in planned.requests]
    assert sides[0] != sides[1]
    assert sides[2] != sides[3]
    assert [each.value["strength"] for each in store.stored()] == [2] * 4


@pytest.mark.parametrize("text", ["", "3", '{"label": "3"}', "I would say 2", '{"label": "2", "label": "0"}', "null"])
def test_an_unreadable_reply_stays_missing_and_is_kept(opened, text):
    model = Model(script=content(text))
    store = opened(LABELS)
    _, tally = asked(store, model)
    assert store.stored() == []
    assert (tally.asked, tally.stored, tally.failed, sum(tally.unreadable.values())) == (3, 0, 0, 3)
    kept = store.unread("gpt")
    assert [each.text for each in kept] == [text] * 3
    assert {each.task for each in kept} == {task.key for task in LABELS}
    assert asked(store, model)[0].known == 3
    assert len(model.requests) == 3
    assert asked(store, again=True)[1].stored == 3
    assert len(store.unread("gpt")) == 3


def test_a_prompt_that_the_server_filters_is_kept_too(opened):
    def script(request, _):
        hostile = "Football" in request["messages"][1]["content"]
        return Reply(400, b'{"error": {"message": "content filter"}}') if hostile else None

    store = opened(LABELS)
    _, tally = asked(store, Model(script=script), concurrency=1)
    assert (tally.stored, dict(tally.unreadable)) == (2, {"refused by the server": 1})
    assert "content filter" in store.unread("gpt")[0].text


def test_failures_are_counted_and_asked_again_the_next_time(opened):
    store = opened(LABELS)
    _, tally = asked(store, Model(script=lambda r, _: Reply(500) if "Football" in str(r) else None), concurrency=4)
    assert (tally.stored, tally.failed, tally.asked) == (2, 1, 3)
    planned, tally = asked(store)
    assert (len(planned.requests), planned.repeated, tally.stored) == (1, 0, 1)


def test_asking_stops_when_nothing_is_answered(opened):
    store = opened([task_of(CONDITIONAL, doc, given=given) for given in DOCS for doc in DOCS])
    model = Model(script=lambda *_: Reply(500))
    with pytest.raises(NoReply, match="no reply after 3 attempts: status 500"):
        asked(store, model)
    assert len(model.requests) <= 3 * 5


def test_a_refusal_stops_and_what_came_before_is_stored(opened):
    store = opened(LABELS)
    script = lambda request, _: Reply(401, b"no") if "Football" in str(request) else None  # noqa: E731
    with pytest.raises(ServerRefused, match="status 401"):
        asked(store, Model(script=script), concurrency=1)
    assert [each.task.doc for each in store.stored()] == ["d1"]
    planned, _ = asked(opened(LABELS))
    assert (len(planned.requests), planned.repeated) == (2, 1)


def test_a_kill_repeats_what_was_in_hand_and_counts_it(opened):
    store = opened(LABELS)

    async def stopped() -> None:
        with ModelServer(Model(delay=5.0)) as server:
            planned = agenda(machine_of(), LABELS, store)
            endpoint = Endpoint(model="toy", url=server.url)
            running = asyncio.create_task(ask(planned, store, endpoint, concurrency=2))
            while len(server.model.requests) != 2:
                await asyncio.sleep(0.01)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

    asyncio.run(stopped())
    assert store.in_hand("gpt") == {(each.key, 0) for each in LABELS[:2]}
    planned, tally = asked(opened(LABELS))
    assert (planned.repeated, tally.stored) == (2, 3)
    assert opened(LABELS).in_hand("gpt") == set()


def test_another_model_or_prompt_needs_another_assessor_or_replaces(opened):
    store = opened(LABELS)
    asked(store)
    with pytest.raises(SettingError, match="gpt has answered 3 tasks by another model, toy") as caught:
        asked(store, machine=machine_of(model="other"))
    assert any("replace" in way for way in caught.value.ways)
    _, tally = asked(store, Model(script=content('{"label": "1"}')), machine=machine_of(model="other"), replace=True)
    assert tally.stored == 3
    assert [(each.value["label"], each.machine["model"], each.status) for each in store.stored()] == [
        ("1", "other", "counted")
    ] * 3
    assert asked(store, replace=True)[1].stored == 3
    assert {(each.value["label"], each.machine["model"]) for each in store.stored()} == {("2", "toy"), ("0", "toy")}
    assert asked(store)[0].known == 3
    told = study_of(guidelines="Judge the title.")
    store = opened(LABELS, told, new_version=True)
    with pytest.raises(SettingError, match="by another prompt"):
        asked(store, machine=machine_of(told))


def test_a_paused_study_and_a_revoked_machine_stop_asking(opened):
    store = opened(LABELS)
    store.pause(True)
    model = Model()
    with pytest.raises(SettingError, match="is paused"):
        asked(store, model)
    assert model.requests == []
    store.pause(False)
    store.revoke("gpt")
    with pytest.raises(SettingError, match="revoked"):
        asked(store, model)


def test_a_person_is_never_a_machine(opened):
    with pytest.raises(SettingError, match="ann is a person"):
        machine_of(assessor="ann")
    with pytest.raises(UnknownName, match="'gtp'"):
        machine_of(assessor="gtp")
    store = opened(LABELS)
    asked(store)
    assert {each.task.doc for each in store.next_tasks("ann", n=9)} == set(DOCS)
    assert store.standing("bob").left == 3


def test_the_only_machine_need_not_be_named():
    assert machine_name(STUDY, None) == "gpt"
    assert machine_name(STUDY, "ann") == "ann"
    with pytest.raises(SettingError, match="0 machines among"):
        machine_name(study_of(assessors=STUDY.assessors[:2]), None)
    with pytest.raises(SettingError, match="2 machines: gpt, llama"):
        machine_name(study_of(assessors=(*STUDY.assessors, Assessor("llama", MACHINE))), None)


def test_a_question_that_several_people_have_is_asked_once(opened):
    fixed = [replace(LABELS[0], judge=name, position=n) for n, name in enumerate(("ann", "bob", "gpt"))]
    planned, tally = asked(opened(fixed))
    assert [each.task.judge for each in planned.requests] == ["gpt"]
    assert tally.stored == 1


def test_images_are_left_to_people(opened):
    documents = STUDY.documents | {"d2": Document("d2", kind=IMAGE, content="png")}
    planned, tally = asked(opened(LABELS, replace(STUDY, documents=documents)))
    assert (planned.images, tally.stored) == (1, 2)


def test_keys_hold_model_prompt_task_and_repeat():
    planned = [machine_of(), machine_of(model="other"), machine_of(study_of(guidelines="x"))]
    from venire.judging.machines.asking import Request

    requests = [Request(LABELS[0]), Request(LABELS[1]), Request(LABELS[0], 1)]
    assert len({machine.key(request) for machine in planned for request in requests}) == 9
    assert planned[0].key(Request(LABELS[0], swapped=True)) == planned[0].key(requests[0])


def test_the_forecast_counts_characters_and_is_refined_by_tokens(opened):
    planned = agenda(machine_of(), TASKS, opened())
    prompts = [planned.machine.prompts.prompt(each.task, swapped=each.swapped) for each in planned.requests]
    expected = forecast(planned)
    assert expected == Forecast(5, sum(each.characters for each in prompts) / 4, 60)
    assert expected.refined(Tally()) == expected
    assert expected.refined(Tally(measured=2, tokens_in=30, tokens_out=4)) == Forecast(5, 75, 10)
    assert Prices(2.0, 8.0).cost(1_000_000, 500_000) == 6.0


def test_a_forecast_of_many_requests_rests_on_a_sample(opened, monkeypatch):
    planned = agenda(machine_of(), LABELS, opened(LABELS), repeats=40)
    whole = forecast(planned)
    monkeypatch.setattr("venire.judging.machines.asking.SAMPLE", 30)
    assert forecast(planned).tokens_in == pytest.approx(whole.tokens_in, rel=0.05)
