"""Exports: what Venire's own readers make of them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from studies_on_disk import HEAD, write_study
from venire import read_judgments, read_preferences
from venire.errors import FormatError, SettingError
from venire.io.aspects import read_aspects
from venire.judging.answers import SURPLUS, Answer, Stored
from venire.judging.exports import CONTENTS, LABELS, by_assessor, export, write_export, write_qrels
from venire.judging.samples import write_sample
from venire.judging.store import Store
from venire.judging.study_files import read_study
from venire.judging.tasks import Task

ENDINGS = ("csv", "tsv", "jsonl", "parquet", "csv.gz")
ASPECTS = """
[[aspects]]
name = "trust"
[[aspects]]
name = "clarity"
[[tasks]]
kind = "label"
pool = "pool.tsv"
"""


@pytest.fixture
def study(tmp_path):
    return read_study(write_study(tmp_path, HEAD + ASPECTS))[0]


def stored(task: Task, assessor: str, value, **more) -> Stored:
    """An answer by this assessor."""
    common = {"key": f"{task.key}{assessor}{more.get('repeat', 0)}", "status": "counted", "at": 1_700_000_000.25}
    kind = "machine" if assessor == "model" else "person"
    fields = {**common, "received": 0.0, "shown": "", "version": 1, "seconds": 2.5, **more}
    return Stored(task=task, assessor=assessor, kind=kind, value=value, **fields)


def label(doc: str, **more) -> Task:
    return Task(kind="conditional" if more.get("given") else "label", topic="q1", doc=doc, **more)


def rows(judgments) -> list[tuple[str, ...]]:
    names = ["topic", "doc", "assessor", "label", *judgments.facets]
    return sorted(zip(*(judgments.column(name).texts() for name in names), strict=True))


LABELLED = [
    stored(label("d1"), "ann", {"label": "2"}, comment='said "so",\nand more'),
    stored(label("d1"), "bob", {"label": "1"}),
    stored(label("d2", probability=0.25), "ann", {"label": "1"}),
    stored(label("d2", given="d1"), "ann", {"label": "2"}),
    stored(label("d3"), "bob", {"cannot": "empty"}),
    stored(label("d1"), "model", {"label": "1"}, machine={"prompt": "abc", "distribution": {"1": 0.75, "2": 0.25}}),
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_labels_are_read_back(tmp_path, study, ending):
    path = tmp_path / f"labels.{ending}"
    write_export(export(study, LABELLED), path)
    found = read_judgments(path)
    assert rows(found) == [
        ("q1", "d1", "ann", "2", ""),
        ("q1", "d1", "bob", "1", ""),
        ("q1", "d1", "model", "1", ""),
        ("q1", "d2", "ann", "1", ""),
        ("q1", "d2", "ann", "2", "d1"),
    ]
    assert (found.reference, found.machines, dict(found.prompts)) == (("ann",), ("model",), {"model": "abc"})
    assert found.scale.labels == ("0", "1", "2")
    assert sorted(found.probability[~np.isnan(found.probability)].tolist()) == [0.25]
    assert set(found.time.tolist()) == {1_700_000_000.25}


@pytest.mark.parametrize("ending", ENDINGS)
def test_aspects_in_isolation_and_given_another_document_are_read_back(tmp_path, study, ending):
    def said(trust: str, clarity: str):
        return {"labels": {"trust": trust, "clarity": clarity}}

    tasks = {given: Task(kind="aspects", topic="q1", doc="d2", given=given) for given in ("", "d1", "d3")}
    answers = [
        stored(replace(tasks[""], doc="d1"), "ann", said("N/A", "N/A")),
        *(stored(task, "ann", said("1", n)) for n, task in zip(("0", "2", "1"), tasks.values(), strict=True)),
        stored(tasks["d1"], "model", said("N/A", "2"), machine={"prompt": "abc"}),
    ]
    path = tmp_path / f"aspects.{ending}"
    found = export(study, answers, "aspects")
    assert [(note.kind, note.fields["n"]) for note in found.notes] == [("left-out-given", 1)], "d3 has no judgment"
    write_export(found, path)
    rows = [
        (row["doc"], row["given"], row["assessor"], row["trust"], row["clarity"])
        for row in read_aspects(path).records()
    ]
    assert sorted(rows, key=str) == [
        ("d1", None, "ann", "N/A", "N/A"),
        ("d2", "d1", "ann", "1", "2"),
        ("d2", "d1", "model", "N/A", "2"),
        ("d2", None, "ann", "1", "0"),
    ]
    clarity = read_judgments(path, where={"aspect": "clarity"})
    assert sorted(clarity.column("given").texts()) == ["", "d1", "d1"]


def test_columns_are_those_that_say_something(study):
    frame = export(study, LABELLED).frame
    assert frame.columns == [
        *("topic", "doc", "assessor", "label", "given", "time", "seconds", "probability"),
        *("comment", "cannot", "distribution"),
    ]
    assert frame["cannot"].to_list()[4] == "empty"
    assert json.loads(frame["distribution"][5]) == {"1": 0.75, "2": 0.25}
    few = export(study, LABELLED[:2]).frame
    assert few.columns == ["topic", "doc", "assessor", "label", "time", "seconds", "comment"]


def test_surplus_repeats_and_versions_are_told(study):
    later = [
        stored(label("d1"), "ann", {"label": "0"}, repeat=1, at=1_800_000_000.0),
        stored(label("d2"), "bob", {"label": "0"}, status=SURPLUS, version=2),
    ]
    plain = export(study, [*LABELLED[:2], *later])
    assert plain.frame["status"].to_list() == ["", "", SURPLUS]
    assert plain.frame["version"].to_list() == [1, 1, 2]
    assert [note.kind for note in plain.notes] == ["left-out-repeats"]
    both = export(study, [*LABELLED[:2], *later], repeats=True)
    assert both.frame["repeat"].to_list() == [0, 0, 1, 0]


def test_views_are_units(tmp_path, study):
    answers = [LABELLED[0], stored(label("d1", view="snippet"), "ann", {"label": "0"})]
    write_export(export(study, answers), tmp_path / "x.csv")
    found = read_judgments(tmp_path / "x.csv")
    assert rows(found) == [("q1", "d1", "ann", "0", "snippet"), ("q1", "d1", "ann", "2", "page")]


def test_a_label_given_a_document_without_a_label_waits(study):
    found = export(study, [LABELLED[0], stored(label("d2", given="d3"), "ann", {"label": "1"})])
    assert len(found) == 1
    assert [(note.kind, note.fields["n"]) for note in found.notes] == [("left-out-given", 1)]


def test_labels_that_the_scale_no_longer_has_are_left_out(study):
    old = [stored(label("d2"), "bob", {"label": "9"}), aspects("ann", trust="9", clarity="1")]
    found = export(study, [LABELLED[0], old[0]])
    assert found.frame["label"].to_list() == ["2"]
    assert [(note.kind, note.fields["n"]) for note in found.notes] == [("left-out-labels", 1)]
    with pytest.raises(SettingError, match="the scale had in an earlier version"):
        export(study, old[:1])
    renamed = aspects("bob", trust="1", before="9")
    by_aspect = export(study, [old[1], renamed], "aspects").frame
    assert by_aspect.select("aspect", "label").rows() == [("trust", "1"), ("clarity", "N/A")]


def test_prompts_that_changed_are_not_declared(study):
    answers = [stored(label(doc), "model", {"label": "1"}, machine={"prompt": doc}) for doc in ("d1", "d2")]
    assert export(study, answers).judgments.prompts == {}


def aspects(assessor: str, **labels: str) -> Stored:
    return stored(Task(kind="aspects", topic="q1", doc="d1"), assessor, {"labels": labels})


@pytest.mark.parametrize("ending", ENDINGS)
def test_aspects_have_a_row_each(tmp_path, study, ending):
    answers = [aspects("ann", trust="2", clarity="N/A"), aspects("bob", trust="0", clarity="1")]
    path = tmp_path / f"aspects.{ending}"
    write_export(export(study, answers, "aspects"), path)
    found = read_judgments(path)
    assert rows(found) == [
        ("q1", "d1", "ann", "2", "trust"),
        ("q1", "d1", "bob", "0", "trust"),
        ("q1", "d1", "bob", "1", "clarity"),
    ]
    assert found.scale.labels == ("0", "1", "2")


def test_aspects_with_labels_of_their_own_are_places(tmp_path):
    own = 'name = "clarity"\nlabels = [{ name = "low" }, { name = "high" }]'
    study, _ = read_study(write_study(tmp_path, HEAD + ASPECTS.replace('name = "clarity"', own)))
    found = export(study, [aspects("ann", trust="2", clarity="high")], "aspects")
    assert found.frame.select("aspect", "label").rows() == [("trust", "2"), ("clarity", "1")]
    assert [note.kind for note in found.notes] == ["places-of-labels"]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("content", "kind"), [("preferences", "preference"), ("lists", "lists")])
def test_preferences_keep_their_direction(tmp_path, study, ending, content, kind):
    task = Task(kind=kind, topic="q1", doc="d1", other="d2")
    answers = [
        stored(task, "ann", {"strength": 2}, swapped=True),
        stored(task, "bob", {"strength": -1}),
        stored(replace(task, topic="q2"), "bob", {"strength": 0}),
        stored(replace(task, topic="q2"), "ann", {"cannot": "both empty"}),
    ]
    path = tmp_path / f"preferences.{ending}"
    found = export(study, answers, content)
    assert [note.kind for note in found.notes] == ["left-out-cannot"]
    write_export(found, path)
    read = read_preferences(path)
    assert [(row["topic"], row["left"], row["right"], row["assessor"], row["strength"]) for row in read.records()] == [
        ("q1", "d1", "d2", "ann", 2),
        ("q1", "d1", "d2", "bob", -1),
        ("q2", "d1", "d2", "bob", 0),
    ]


def test_qrels_are_one_file_for_each_assessor(tmp_path, study):
    files = by_assessor(export(study, LABELLED), tmp_path / "qrels")
    write_qrels(files)
    assert [path.name for path in files] == ["ann.qrels", "bob.qrels", "model.qrels"]
    assert (tmp_path / "qrels" / "ann.qrels").read_text().splitlines()[1:] == [
        "# reference: ann",
        "q1 0 d1 2",
        "q1 0 d2 1",
    ]
    found = read_judgments(tmp_path / "qrels")
    assert rows(found) == [
        ("q1", "d1", "ann", "2"),
        ("q1", "d1", "bob", "1"),
        ("q1", "d1", "model", "1"),
        ("q1", "d2", "ann", "1"),
    ]
    assert (found.reference, found.machines) == (("ann",), ("model",))


def test_qrels_of_pages_and_snippets_are_apart(tmp_path, study):
    answers = [LABELLED[0], stored(label("d1", view="snippet"), "ann", {"label": "0"})]
    files = by_assessor(export(study, answers), tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in files] == ["page/ann.qrels", "snippet/ann.qrels"]


def test_nothing_to_export_and_no_table(tmp_path, study):
    for content in CONTENTS:
        with pytest.raises(SettingError, match="there are no answers to export"):
            export(study, [], content)
    with pytest.raises(FormatError, match=r"the ending '.xlsx' is not that of a table"):
        write_export(export(study, LABELLED, LABELS), tmp_path / "x.xlsx")


def given_by(study, lease, at: float, name: str) -> Answer:
    """An answer to a task: labels differ by assessor and document."""
    task, number = lease.task, len(name) + len(lease.task.doc)
    values = {
        "label": {"label": study.scale[number % 3].name},
        "conditional": {"label": study.scale[number % 2].name},
        "aspects": {"labels": {each.name: each.labels[number % 2].name for each in study.aspects}},
    }
    value = values.get(task.kind, {"strength": number % 5 - 2})
    fields = {"shown": lease.shown, "repeat": lease.repeat, "swapped": lease.swapped}
    return Answer(key=f"{name}-{task.key}-{lease.repeat}", task=task.key, value=value, at=at, seconds=1.0, **fields)


def test_the_sample_judged_by_everybody(tmp_path):
    """Two people and a machine answer all tasks; every export is read back, complete, in the order given."""
    path = write_sample(tmp_path / "study.toml")[0]
    path.write_text(path.read_text().replace("repeats = 0.1 ", "repeats = 0.5 "))
    study, tasks = read_study(path)
    order: list[tuple[str, str]] = []
    with Store.open(study, tasks) as store:
        for name in ("bob", "ann", "model"):
            while leases := store.next_tasks(name):
                store.answer(name, given_by(study, leases[0], float(len(order)), name))
                order.append((name, leases[0].task.key))
        answers = store.stored()
    assert [(each.assessor, each.task.key) for each in answers] == order
    for content, kinds in CONTENTS.items():
        path = tmp_path / f"{content}.csv"
        write_export(export(study, answers, content), path)
        asked = [task for task in tasks if task.kind in kinds]
        rows_each = len(study.aspects) if content == "aspects" else 1
        expected = rows_each * (sum(task.needed for task in asked) + len(asked))
        found = read_preferences(path) if content in ("preferences", "lists") else read_judgments(path)
        assert len(found) == expected, content
    labels = read_judgments(tmp_path / "labels.csv")
    assert (labels.reference, labels.machines) == (("ann",), ("model",))
    twice = export(study, answers, repeats=True).frame
    assert 0 < twice["repeat"].sum() == sum(each.repeat for each in answers if each.task.kind in CONTENTS[LABELS])
