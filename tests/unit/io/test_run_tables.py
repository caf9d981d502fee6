"""Runs in tables, and runs that were read before."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from venire import evaluate, read_runs
from venire.errors import FormatError, UnknownName
from venire.io import run_scores
from venire.io.runs import as_runs

QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}}
ROWS = [("1", "a", 1, 1.5, "x"), ("1", "b", 2, 2.5, "x"), ("2", "a", 1, 3.0, "x"), ("2", "b", 2, 9.0, "x")]
TABLE = pl.DataFrame(ROWS, schema=["topic", "doc", "rank", "score", "system"], orient="row")


def reciprocal_ranks(runs) -> dict[str, list[float]]:
    scores = evaluate(QRELS, runs, ["RR"])
    return dict(zip(scores.names["system"], scores.values[:, :, 0].tolist(), strict=True))


@pytest.fixture
def files(tmp_path):
    """The same run in every format."""
    TABLE.write_csv(tmp_path / "sys.csv")
    TABLE.write_csv(tmp_path / "sys.tsv", separator="\t")
    TABLE.write_parquet(tmp_path / "sys.parquet")
    (tmp_path / "sys.run").write_text("".join(f"{t} Q0 {d} {r} {s} {n}\n" for t, d, r, s, n in ROWS))
    return tmp_path


@pytest.mark.parametrize("name", ["sys.run", "sys.csv", "sys.tsv", "sys.parquet"])
def test_rules_hold_for_every_format(files, name):
    assert reciprocal_ranks(files / name) == {"x": [0.5, 0.5]}
    assert reciprocal_ranks(read_runs(files / name, order="rank")) == {"x": [1.0, 1.0]}
    assert reciprocal_ranks(read_runs(files / name, system_from="file")) == {"sys": [0.5, 0.5]}
    assert run_scores(read_runs(files / name, order="rank", system_from="file"))["sys"]["2"] == {"a": -1.0, "b": -2.0}


def test_runs_that_were_read_keep_their_rules(files):
    runs = read_runs(files / "sys.run", order="rank", system_from="file")
    assert as_runs(runs) is runs
    assert read_runs(runs) is runs
    assert read_runs(runs, order="score").rules.order == "score"
    assert read_runs(runs, duplicate_docs="first").rules.order == "rank"
    with pytest.raises(UnknownName, match="upwards"):
        read_runs(runs, order="upwards")


def test_columns_are_known_by_their_names(tmp_path):
    path = tmp_path / "bm25.csv"
    path.write_text('query_id;"docno";docid;similarity\n1;a;7;1e3\n1;b;8;2\n')
    assert run_scores(path) == {"bm25": {"1": {"a": 1000.0, "b": 2.0}}}
    frame = pd.DataFrame({"qid": ["1", "1"], "docid": [3, 4], "docno": ["a", "b"], "rank": [1, 0], "query": ["x", "x"]})
    assert run_scores(frame) == {"frame": {"1": {"a": -1.0, "b": 0.0}}}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("topic,doc,label\n1,a,1\n", 1, "no column for the score"),
        ("1,Q0,a,2,2.5,x\n", 1, "no column for the topic"),
        ("topic,doc,score\n", None, "holds no run lines"),
        ("topic,doc,score\n1,a,high\n", 2, "'high' in column 'score' is not a finite number"),
        ("topic,doc,score\n1,a,1\n\n1,,1\n", 4, "the doc is empty"),
        ("topic,doc,score\n1,a,2\n1,b,\n", 3, "score nan is not a finite number"),
        ("topic,doc,score\n\n1,a,2\n1,a,1\n", 4, "ranked twice"),
        ("topic,doc,score\n1,a,2,x\n", 2, "found 4 fields"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_with_its_line(tmp_path, text, line, words):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=words) as caught:
        evaluate(QRELS, path, ["RR"])
    assert (str(caught.value.where), caught.value.line) == (str(path), line)


def test_runs_without_ranks_are_not_ordered_by_them():
    with pytest.raises(FormatError, match="has no ranks"):
        evaluate(QRELS, read_runs({"1": {"a": 1.0}}, order="rank"), ["RR"])
