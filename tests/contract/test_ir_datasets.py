"""Datasets of ir_datasets, with the package: one of our own, registered here, and one that is not on this machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from venire import evaluate, read_judgments, read_runs
from venire.errors import FormatError
from venire.io import read_texts
from venire.io.inspect import inspect_file
from venire.judging.study_files import read_study

ir_datasets = pytest.importorskip("ir_datasets")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Register a dataset with three documents, two queries, and qrels; return its name and folder."""
    folder = tmp_path_factory.mktemp("irds")
    (folder / "docs.tsv").write_text("d1\teight minutes\nd2\tin butter\nd3\toil it\n")
    (folder / "queries.tsv").write_text("q1\tboil eggs\nq2\toil chains\n")
    (folder / "qrels").write_text("q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n")
    made = ir_datasets.create_dataset(
        docs_tsv=folder / "docs.tsv", queries_tsv=folder / "queries.tsv", qrels_trec=folder / "qrels"
    )
    ir_datasets.registry.register("venire-test/eggs", made)
    return "irds:venire-test/eggs"


def test_judgments_are_those_of_the_file(dataset):
    found = read_judgments(dataset)
    assert list(found.assessors) == ["venire-test/eggs"]
    assert found.to_polars().select("topic", "doc", "label").rows() == [
        *(("q1", "d1", "2"), ("q1", "d2", "0"), ("q2", "d3", "1"))
    ]
    run = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d3": 1.0}}
    assert evaluate(dataset, run, "RR").mean().values.item() == 0.75


def test_texts_of_topics_and_documents(dataset):
    texts = read_texts(topics=dataset, docs=dataset)
    assert texts.of_topics(["q2"]) == {"q2": "oil chains"}
    assert texts.of_docs(["d1", "d9"]) == {"d1": "eight minutes"}


def test_our_rows_are_theirs(dataset):
    """The other direction: rows of ir_datasets are judgments as they are."""
    rows = ir_datasets.load(dataset.removeprefix("irds:")).qrels_iter()
    assert (
        read_judgments(rows).to_polars().drop("assessor").equals(read_judgments(dataset).to_polars().drop("assessor"))
    )


STUDY = """
scale = [{name = "no"}, {name = "yes"}]
assessors = [{name = "ann"}]
[study]
name = "eggs"
[topics]
file = "%(topics)s"
[documents]
file = "%(docs)s"
[[tasks]]
kind = "label"
pool = "%(pool)s"
"""


def test_a_study_of_a_dataset(dataset, tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY % {"topics": dataset, "docs": dataset, "pool": dataset})
    study, tasks = read_study(path)
    assert {name: topic.query for name, topic in study.topics.items()} == {"q1": "boil eggs", "q2": "oil chains"}
    assert [(task.topic, task.doc) for task in tasks] == [("q1", "d1"), ("q1", "d2"), ("q2", "d3")]
    assert study.documents["d2"].data() == b"in butter"
    assert study.files == (path,)
    path.write_text(STUDY % {"topics": "irds:no/such-dataset", "docs": dataset, "pool": dataset})
    with pytest.raises(FormatError, match="knows no dataset of this name"):
        read_study(path)
    path.write_text((STUDY % {"topics": dataset, "docs": dataset, "pool": dataset}).replace("pool", "plan"))
    with pytest.raises(FormatError, match="there is no file 'irds:"):
        read_study(path)


def test_what_a_dataset_has_not_is_said(dataset):
    with pytest.raises(FormatError, match="the dataset has no scoreddocs") as caught:
        read_runs(dataset)
    assert "docs, queries, qrels" in caught.value.hint
    with pytest.raises(FormatError, match="knows no dataset of this name"):
        read_judgments("irds:no/such-dataset")


def test_the_nearest_names_of_datasets_are_named():
    with pytest.raises(FormatError) as caught:
        read_judgments("irds:msmarco-passage/trec-dl-2091/judged")
    assert "did you mean 'msmarco-passage/trec-dl-2019/judged'" in caught.value.hint


def test_datasets_that_the_page_names_exist():
    page = (Path(__file__).parents[2] / "docs" / "integrations" / "ir-datasets.md").read_text(encoding="utf-8")
    named = set(re.findall(r"irds:([\w/.-]+\w)", page)) - {"our/eggs"}
    assert len(named) >= 2
    assert named <= set(ir_datasets.registry)


def test_inspect_says_what_it_has(dataset):
    found = inspect_file(Path(dataset))
    assert found.kind == "ir_datasets dataset"
    assert (found.facts["has"], found.facts["labels"]) == (["docs", "queries", "qrels"], 3)
    assert found.readable


def test_nothing_is_downloaded(monkeypatch, tmp_path):
    """A dataset that is not on this machine is an error that says how to fetch it; no connection is tried."""
    import socket

    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a connection"))
    name = "vaswani"
    with pytest.raises(FormatError, match="nothing is downloaded") as caught:
        read_judgments(f"irds:{name}")
    assert re.search(rf"ir_datasets export {name} qrels", caught.value.hint)
    with pytest.raises(FormatError, match="nothing is downloaded"):
        read_texts(docs=f"irds:{name}").of_docs(["1"])
