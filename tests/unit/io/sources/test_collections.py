"""Test collections of other tools: folders of BEIR and Hugging Face, Arrow, nuggets; datasets of ir_datasets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import source_files as files
from venire import read_judgments, read_runs
from venire.data.judgments import fingerprint
from venire.errors import FormatError
from venire.io import read_nuggets, read_texts
from venire.io.inspect import inspect_file
from venire.io.sources.folders import all_files
from venire.io.texts import topic_ids


def rows(judgments) -> list[tuple[str, ...]]:
    return sorted(zip(*(judgments.column(name).texts() for name in ("topic", "doc", "assessor", "label")), strict=True))


@pytest.fixture
def beir(tmp_path):
    folder = tmp_path / "eggs"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_bytes(files.lines(files.CORPUS))
    (folder / "queries.jsonl").write_bytes(files.lines(files.QUERIES))
    (folder / "qrels" / "test.tsv").write_bytes(files.BEIR_QRELS)
    return folder


@pytest.fixture
def hugging_face(tmp_path):
    """A folder as MTEB pushes it: Parquet, qrels in two files."""
    folder = tmp_path / "hf"
    tables = {"corpus": files.CORPUS, "queries": files.QUERIES}
    qrels = pl.read_csv(files.BEIR_QRELS, separator="\t")
    for name, frame in {**{name: pl.DataFrame(each) for name, each in tables.items()}, "qrels": qrels}.items():
        (folder / name).mkdir(parents=True)
        for part in range(2):
            half = frame.slice(part * (frame.height // 2), None if part else frame.height // 2)
            half.write_parquet(folder / name / f"test-0000{part}-of-00002.parquet")
    return folder


JUDGED = [("q1", "d1", "test", "2"), ("q1", "d2", "test", "0"), ("q2", "d3", "test", "1")]


@pytest.mark.parametrize("layout", ["beir", "hugging_face"])
def test_a_folder_stands_for_its_qrels_and_has_texts(layout, request):
    folder = request.getfixturevalue(layout)
    assert rows(read_judgments(folder)) == JUDGED
    texts = read_texts(topics=folder, docs=folder)
    assert texts.of_topics(["q2"]) == {"q2": "oil chains"}
    assert texts.of_docs(["d1", "d2"]) == {"d1": "Eggs: Eight minutes.", "d2": "In butter."}
    kinds = [inspect_file(path).kind for path in all_files(folder)]
    assert set(kinds) == {"qrels of BEIR or MTEB", "texts"}


def test_topics_are_named_by_a_folder_a_dataset_or_lines(beir):
    assert topic_ids(beir) == topic_ids(beir / "queries.jsonl") == ["q1", "q2"]
    (beir / "some.txt").write_text("q2\toil chains\n")
    assert topic_ids(beir / "some.txt") == ["q2"]


def test_several_splits_need_a_choice(beir):
    (beir / "qrels" / "dev.tsv").write_bytes(files.BEIR_QRELS)
    with pytest.raises(FormatError, match="has qrels of several splits: dev, test") as caught:
        read_judgments(beir)
    assert "dev.tsv" in caught.value.hint
    assert rows(read_judgments(beir / "qrels" / "test.tsv")) == JUDGED


def test_a_folder_without_queries_has_no_texts_of_topics(beir):
    (beir / "queries.jsonl").unlink()
    with pytest.raises(FormatError, match="the folder has no queries"):
        read_texts(topics=beir)


def test_a_folder_of_runs_is_none_of_these(tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 a\n")
    (tmp_path / "data").mkdir()
    assert [path.name for path in read_runs(tmp_path).sources] == ["a.run"]


def test_inspect_counts_texts(beir):
    found = inspect_file(beir / "corpus.jsonl")
    assert (found.kind, found.facts["texts"]) == ("texts", 3)
    assert found.facts["use"].startswith("texts of topics or of documents")
    with (beir / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d4"}\n')
    assert [(each.line, each.fatal) for each in inspect_file(beir / "corpus.jsonl").problems] == [(4, True)]


FRAME = pl.DataFrame({"topic": ["q1", "q1"], "doc": ["d1", "d2"], "assessor": ["a", "b"], "label": [1, 0]})


def test_arrow_files_and_streams_are_tables(tmp_path):
    FRAME.write_ipc(tmp_path / "a.arrow")
    FRAME.write_ipc(tmp_path / "a.feather", compression="lz4")
    FRAME.write_ipc_stream(tmp_path / "stream")
    for name in ("a.arrow", "a.feather", "stream"):
        assert rows(read_judgments(tmp_path / name)) == [("q1", "d1", "a", "1"), ("q1", "d2", "b", "0")]
        assert inspect_file(tmp_path / name).kind == "judgments table (long)"
    FRAME.select("topic", "doc", score=pl.col("label") / 2).write_ipc(tmp_path / "run.arrow")
    assert inspect_file(tmp_path / "run.arrow").kind == "run table"
    (tmp_path / "cut.arrow").write_bytes((tmp_path / "a.arrow").read_bytes()[:99])
    with pytest.raises(FormatError, match=r"cut.arrow: cannot be read as Parquet or Arrow"):
        read_judgments(tmp_path / "cut.arrow")


@pytest.mark.parametrize("batch", [300, 1_000])
@pytest.mark.parametrize("compression", [None, "zstd"])
def test_an_arrow_file_is_read_as_parquet_and_text_are(tmp_path, monkeypatch, batch, compression):
    """In blocks that have rows of several record batches, or a part of one."""
    ipc = pytest.importorskip("pyarrow.ipc")
    monkeypatch.setattr("venire.io.tables.blocks.ROWS", 400)
    rng = np.random.default_rng(7)
    frame = pl.DataFrame(
        {
            "note": ["not read"] * 1_000,
            "topic": [f"q{n}" for n in rng.integers(0, 9, 1_000)],
            "doc": [f"{'a long name of ' * (n % 2)}d{n}" for n in rng.integers(0, 99, 1_000)],
            "assessor": [f"w{n}" for n in rng.integers(0, 7, 1_000)],
            "label": rng.integers(0, 4, 1_000),
        }
    )
    options = ipc.IpcWriteOptions(compression=compression)
    with ipc.new_file(tmp_path / "a.arrow", frame.to_arrow().schema, options=options) as file:
        file.write_table(frame.to_arrow(), max_chunksize=batch)
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=300)
    frame.write_csv(tmp_path / "a.csv")
    expected = rows(read_judgments(frame))
    for name in ("a.arrow", "a.parquet", "a.csv"):
        found = read_judgments(tmp_path / name)
        assert rows(found) == expected
        assert fingerprint(found) == fingerprint(read_judgments(frame))


def test_tables_of_pyarrow_are_frames():
    pytest.importorskip("pyarrow")
    assert rows(read_judgments(FRAME.to_arrow())) == rows(read_judgments(FRAME))
    run = FRAME.select("topic", "doc", score=pl.col("label") / 2)
    assert read_runs(run.to_arrow()).sources[0].score.tolist() == [0.5, 0.0]


def test_nuggets_are_a_table(tmp_path):
    for who in ("ann", "gpt"):
        (tmp_path / f"{who}.jsonl").write_bytes(files.lines(files.NUGGETS))
    found = read_nuggets(tmp_path)
    assert found.columns == ["topic", "run", "nugget", "importance", "assessor", "label"]
    assert found.height == 8
    assert found.row(0) == ("q1", "a", "eggs take eight minutes", "vital", "ann", "support")
    assert set(found["assessor"]) == {"ann", "gpt"}
    seen = inspect_file(tmp_path / "ann.jsonl")
    assert (seen.kind, seen.facts["nuggets"], seen.facts["labels"]) == ("nuggetizer assignments", 2, 4)
    with pytest.raises(FormatError, match="the nuggets of an answer") as caught:
        read_judgments(tmp_path / "ann.jsonl")
    assert "read_nuggets" in caught.value.hint


def test_nuggets_of_passages_are_intents(tmp_path):
    path = tmp_path / "gpt.jsonl"
    path.write_bytes(files.lines(files.NUGGETS_OF_PASSAGES))
    found = read_judgments(path, scale="not_support<partial_support<support")
    assert sorted(zip(found.column("intent").texts(), found.column("label").texts(), strict=True)) == [
        ("eggs are cooled in water", "not_support"),
        ("eggs take eight minutes", "support"),
    ]
    assert read_nuggets(path)["run"].to_list() == ["d1", "d1"]


WRONG = {
    "no run": ({"run_id": None}, "names neither a run"),
    "no list": ({"nuggets": {}}, "no list of nuggets"),
    "an assignment": ({"nuggets": [{"text": "x", "assignment": "yes"}]}, "the nugget 'x' with the assignment 'yes'"),
    "importance": ({"nuggets": [{"text": "x", "importance": "high"}]}, "the nugget 'x' with the importance 'high'"),
    "twice": ({"nuggets": 2 * [{"text": "x", "assignment": "support"}]}, "the nugget 'x' twice"),
    "no text": ({"nuggets": [{"assignment": "support"}]}, "a nugget without text"),
    "half a pair": ({"qid": "\ud800"}, "which is no text"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_wrong_nuggets_are_named(tmp_path, change, message):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(files.NUGGETS[0]) + "\n" + json.dumps({**files.NUGGETS[1], **change}))
    with pytest.raises(FormatError, match=f":2: .*{message}"):
        read_nuggets(path)


def test_without_ir_datasets_an_error_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    for read in (read_judgments, read_runs, lambda name: read_texts(topics=name)):
        with pytest.raises(FormatError, match="ir_datasets is not installed") as caught:
            read("irds:some/dataset")
        assert "venire[ir_datasets]" in caught.value.hint
    assert not inspect_file(Path("irds:some/dataset")).readable
