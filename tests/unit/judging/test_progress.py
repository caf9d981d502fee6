"""Numbers of a study in progress; the same as those of the commands on the export."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from people import Clock, said
from studies import label_tasks, study_of
from venire.cli.main import cli
from venire.judging.exports import export, write_export
from venire.judging.progress import STATISTICS, LiveProgress, progress
from venire.judging.store import Store
from venire.judging.study import ASPECTS, MACHINE, PREFERENCE, SNIPPET, Assessor, Topic
from venire.judging.tasks import Task

PEOPLE = ("ann", "bob", "cy")


@pytest.fixture
def judged(tmp_path):
    """A study of 120 documents, of which three people and a machine judged two thirds; ann is the reference."""
    assessors = (Assessor("ann", reference=True), Assessor("bob"), Assessor("cy"), Assessor("gpt", MACHINE))
    topics = {f"q{n}": Topic(f"q{n}", "a question") for n in range(6)}
    study = study_of(tmp_path, assessors=assessors, n_docs=20, topics=topics)
    tasks = [task for topic in topics for task in label_tasks(study, topic=topic, needed=3)]
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, len(tasks))
    with Store.open(study, tasks, clock=Clock()) as store:
        for name in (*PEOPLE, "gpt"):
            noisy = np.clip(truth + rng.integers(-1, 2, len(tasks)) * (rng.random(len(tasks)) < 0.3), 0, 2)
            chosen = [n for n in range(len(tasks)) if rng.random() < 0.67]
            labels = np.full(len(tasks), 2) if name == "cy" else noisy
            store.answers(name, [said(tasks[n], str(labels[n]), seconds=float(n)) for n in chosen])
        yield store


def told(*arguments) -> dict:
    done = CliRunner().invoke(cli, [*map(str, arguments), "--format", "json", "-q"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def same(one, other):
    """Compare records to the last digit, as JSON has them."""
    assert json.loads(json.dumps(one)) == other


def test_the_numbers_are_those_of_the_commands_on_the_export(judged, tmp_path):
    file = tmp_path / "judgments.csv"
    write_export(export(judged.study, judged.stored()), file)
    (found,) = progress(judged).quality
    statistics = told("agreement", file)["statistics"]
    same(found.agreement.records(), [each for each in statistics if each["name"] in STATISTICS])
    told_fit = told("disagreement", file)
    same(found.fit.records(), told_fit["parameters"])
    same(found.assessors.records(), told("agreement", file, "--by", "assessor")["assessors"])
    assert found.fit.pairs.sum() > 100


def test_who_stands_out_against_the_reference(judged):
    (found,) = progress(judged).quality
    assert {row["assessor"]: row["flags"] for row in found.assessors.records() if row["flags"]} == {"cy": ["one label"]}
    assert found.assessors.profiles.reference == ("ann",)


def test_double_judgments_that_are_still_needed(judged):
    judged.study = replace(judged.study, deviation=0.01)
    (found,) = progress(judged).quality
    needed = {(row["relevant"], row["label"]): row["judgments"] for row in found.effort.records()}
    assert found.still_needed == {key: max(0, n - found.effort.n_judgments) for key, n in needed.items()}
    assert max(found.still_needed.values()) > 0
    judged.study = replace(judged.study, deviation=0.5)
    (loose,) = progress(judged).quality
    assert max(loose.still_needed.values()) < max(found.still_needed.values())
    (lowest,) = found.lowest
    assert (lowest.label, lowest.negligible) == ("0", False)


def test_progress_by_topic_and_assessor(judged):
    found = progress(judged)
    by_people = [each for each in judged.stored() if each.kind == "person"]
    assert (found.needed, found.done) == (360, len(by_people))
    assert sum(each.done for each in found.topics) == len(by_people)
    assert {each.topic: each.needed for each in found.topics} == {f"q{n}": 60 for n in range(6)}
    assert [each.assessor for each in found.assessors] == ["ann", "bob", "cy", "gpt"]
    assert found.assessors[0].reference
    assert found.assessors[0].seconds == np.median([each.seconds for each in by_people if each.assessor == "ann"])


def test_repeats_gold_surplus_and_what_cannot_be_judged(tmp_path):
    study = study_of(tmp_path, n_docs=4)
    gold = {"d0": "2", "d1": "0"}
    tasks = [replace(task, gold=gold.get(task.doc, "")) for task in label_tasks(study, needed=1)]
    clock = Clock()
    with Store.open(study, tasks, clock=clock) as store:
        for n, label in enumerate("2101"):
            store.answer("ann", said(tasks[n], label))
        store.answer("ann", said(tasks[0], "2", repeat=1))
        store.answer("ann", said(tasks[1], "2", repeat=1))
        store.answer("bob", said(tasks[0], "1"))
        store.answer("gpt", said(tasks[2], value={"cannot": "does not load"}))
        ann, bob, _, gpt = progress(store).assessors
    assert (ann.done, ann.repeated, ann.same, ann.gold, ann.right) == (4, 2, 1, 2, 1)
    assert (bob.done, bob.surplus, bob.last) == (0, 1, clock.now)
    assert (gpt.done, gpt.cannot, gpt.seconds) == (1, 1, None)


def test_gold_counts_what_it_states(tmp_path):
    aspects = Task(kind=ASPECTS, topic="t1", doc="d0", gold='{"trust": "1", "clarity": "N/A"}')
    pair = Task(kind=PREFERENCE, topic="t1", doc="d0", other="d1", gold="-1")
    with Store.open(study_of(tmp_path), [aspects, pair], clock=Clock()) as store:
        store.answer("ann", said(aspects, value={"labels": {"trust": "1", "clarity": "2"}}))
        store.answer("ann", said(pair, value={"strength": -2}))
        store.answer("gpt", said(aspects, value={"cannot": "empty"}))
        store.answer("gpt", said(pair, value={"strength": 0}))
        ann, *_, gpt = progress(store).assessors
    assert ((ann.gold, ann.right), (gpt.gold, gpt.right)) == ((3, 2), (1, 0))


@pytest.mark.parametrize("scales", ["one scale", "scales of their own"])
def test_aspects_have_the_numbers_of_the_commands_too(tmp_path, scales):
    study = study_of(tmp_path, n_docs=30)
    if scales == "one scale":
        study = replace(study, aspects=tuple(replace(each, labels=study.scale) for each in study.aspects))
    tasks = [Task(kind=ASPECTS, topic="t1", doc=doc, needed=2) for doc in study.documents]
    tasks += [replace(task, given="d0") for task in tasks[1:9]]
    rng = np.random.default_rng(3)
    with Store.open(study, tasks, clock=Clock()) as store:
        for name in ("ann", "bob"):
            for n, task in enumerate(tasks):
                names = {each.name: [label.name for label in each.labels] for each in study.aspects}
                labels = {k: str(rng.choice([*v, v[n % len(v)], v[n % len(v)], "N/A"])) for k, v in names.items()}
                store.answer(name, said(task, value={"labels": labels}))
        found = progress(store).quality
        write_export(export(study, store.stored(), "aspects"), tmp_path / "aspects.csv")
    assert [each.aspect for each in found] == ["trust", "clarity"]
    for each in found:
        one = ("--where", f"aspect={each.aspect}")
        statistics = told("agreement", tmp_path / "aspects.csv", *one)["statistics"]
        same(each.agreement.records(), [row for row in statistics if row["name"] in STATISTICS])
        same(each.fit.records(), told("disagreement", tmp_path / "aspects.csv", *one)["parameters"])
        assert each.fit.pairs.sum() > 20


def test_views_are_apart_and_what_is_not_known_yet_has_a_reason(tmp_path):
    study = study_of(tmp_path)
    pages, snippets = label_tasks(study), label_tasks(study, view=SNIPPET)
    pair = Task(kind=PREFERENCE, topic="t1", doc="d0", other="d1")
    with Store.open(study, [*pages, *snippets, pair], clock=Clock()) as store:
        assert progress(store).quality == ()
        store.answer("ann", said(pages[0]))
        store.answer("ann", said(snippets[0]))
        store.answer("ann", said(pair, value={"strength": 1}))
        found = progress(store).quality
    assert [each.view for each in found] == ["page", "snippet"]
    assert found[0].fit is None
    assert any("two different assessors" in reason for reason in found[0].reasons)
    assert found[0].still_needed == {}


def test_numbers_are_computed_again_when_something_was_written(tmp_path):
    study = study_of(tmp_path)
    tasks = label_tasks(study)
    now = Clock()
    with Store.open(study, tasks, clock=Clock()) as store:
        live = LiveProgress(store, clock=now)
        first = live()
        assert live() is first
        store.answer("ann", said(tasks[0]))
        second = live()
        assert (second.done, first.done) == (1, 0)
        assert live() is second
