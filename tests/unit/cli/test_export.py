from __future__ import annotations

import pytest

from json_results import loaded
from venire.cli import export
from venire.io import exchange

HEAD = "topic\tdoc\tassessor\tlabel\n"


@pytest.fixture
def labels(write):
    rows = [("1", "a", "X", 2), ("1", "a", "Y", 1), ("1", "b", "X", 0), ("1", "b", "Y", 0), ("2", "c", "X", 1)]
    return write("labels.tsv", HEAD + "".join("\t".join(map(str, row)) + "\n" for row in rows))


def test_the_words_are_the_librarys():
    assert export.TOOLS == exchange.TOOLS


def test_json_says_scale_and_counts(venire, labels, tmp_path):
    target = tmp_path / "q.qrels"
    args = ("--gains", "0=0,1=0.4,2=0.9", "--assessor", "X", "-o", target, "--format", "json")
    answer = venire("export", labels, *args)
    assert answer.code == 0, answer.err
    assert loaded(answer.out) == {
        "labels": [
            {"label": "2", "gain": 0.9, "relevance": 900},
            {"label": "1", "gain": 0.4, "relevance": 400},
            {"label": "0", "gain": 0.0, "relevance": 0},
        ],
        "file": str(target),
        "beside": f"{target}.toml",
        "to": "trec",
        "gains": "stated",
        "scale_by": 1000,
        "rounding": 0.0,
        "lines": 3,
        "topics": 2,
        "groups": None,
        "largest": 900,
        "notes": [
            "1 line with a gain below 0.5 would count as relevant from level 1 on (P, AP, RR, R): "
            "state a level in these numbers, or use nDCG"
        ],
    }
    assert target.read_text() == "1 0 a 900\n1 0 b 0\n2 0 c 400\n"
    assert "relevance is 1,000 times the gain" in answer.err


def test_the_scale_may_be_said(venire, labels, tmp_path):
    args = ("--pool", "mean", "--scale-by", "10", "-o", tmp_path / "q", "-q")
    assert venire("export", labels, *args).err == ""
    assert (tmp_path / "q").read_text() == "1 0 a 15\n1 0 b 0\n2 0 c 10\n"


def test_groups(venire, labels, tmp_path):
    answer = venire("export", labels, "--to", "groups", "-o", tmp_path / "q", "--format", "json")
    assert loaded(answer.out)["groups"] == 2
    assert (tmp_path / "q").read_text() == "1 X a 2\n1 X b 0\n2 X c 1\n1 Y a 1\n1 Y b 0\n"
    assert venire("export", labels, "--to", "groups", "--assessor", "Y", "-o", tmp_path / "q").code == 0
    assert (tmp_path / "q").read_text() == "1 Y a 1\n1 Y b 0\n"


def test_ranx(venire, labels, tmp_path):
    assert venire("export", labels, "--to", "ranx", "--assessor", "Y", "-o", tmp_path / "q.json").code == 0
    assert loaded((tmp_path / "q.json").read_text()) == {"1": {"a": 1, "b": 0}}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["-o", "q"], "nothing says whose labels count"),
        (["--assessor", "X"], "Missing option '-o'"),
        (["--to", "groups", "--pool", "mean", "-o", "q"], "cannot be used with --pool"),
        (["--to", "ranx", "--assessor", "X", "-o", "q.qrels"], "ranx does not read"),
        (["--assessor", "X", "--scale-by", "0", "-o", "q"], "--scale-by"),
    ],
)
def test_what_cannot_be_written(venire, labels, args, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = venire("export", labels, *args)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_a_topic_that_would_be_a_comment_is_not_written(venire, write, tmp_path):
    table = write("labels.tsv", "topic\tdoc\tlabel\n#1\ta\t1\n2\ta\t0\n")
    answer = venire("export", table, "-o", tmp_path / "out.qrels")
    assert (answer.code, answer.out) == (2, "")
    assert "topic '#1' begins with '#'" in answer.err
