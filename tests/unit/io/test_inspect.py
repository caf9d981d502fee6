"""What inspect accepts, commands accept; what it refuses, they refuse."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import polars as pl
import pytest

from venire import evaluate, read_judgments
from venire.errors import FormatError, VenireError
from venire.io.inspect import MOST_ERRORS, inspect_file

LONG = "topic,doc,assessor,label\n1,a,x,1\n1,b,x,0\n"
JUDGMENTS: dict[str, str | bytes] = {
    "good.qrels": "1 0 a 1\n1 0 b 0\n",
    "comments.qrels": "# by hand\n1 0 a 1\n#1 0 b 1\n",
    "columns.qrels": "1 0 a 1\n1 0 b\n1 0 c 0 x\n1 0 d 1\n",
    "control.qrels": "1 0 a\x01 1\n1 0 b 0\n",
    "text.qrels": "1 0 a Rel\n1 0 b Non\n",
    "stray.qrels": "1 0 a 1\n1 0 b x\n1 0 c 0\n",
    "other-label.qrels": "1 0 a 1\n1 0 a 0\n",
    "same-label.qrels": "1 0 a 1\n1 0 a 1\n",
    "negative.qrels": "1 0 a -1\n1 0 b 1\n",
    "nothing-counts.qrels": "1 0 a -1\n",
    "preferences.txt": "1 a b a\n1 a c c\n",
    "run.txt": "1 Q0 a 1 2.5 x\n1 Q0 b 2 1.5 x\n",
    "five.txt": "1 0 a 1 x\n1 0 b 0 x\n",
    "crlf.qrels": "1 0 a 1\r\n1 0 b 0\r\n",
    "no-line-end.qrels": "1 0 a 1\n1 0 b 0",
    "bom.qrels": b"\xef\xbb\xbf1 0 a 1\n",
    "latin.qrels": b"1 0 caf\xe9 1\n",
    "empty.qrels": "",
    "blank.qrels": "\n\n",
    "only-comments.qrels": "# nothing\n",
    "utf16.qrels": "1 0 a 1\n".encode("utf-16"),
    "zip.qrels": b"PK\x03\x04rest",
    "cut.gz": gzip.compress(b"1 0 a 1\n" * 500)[:40],
    "bad-scale.qrels": "# scale: a<a\n1 0 a 1\n",
    "off-scale.qrels": "# scale: 0<1\n1 0 a 1\n1 0 b 7\n",
    "fractions.qrels": "1 0 a 0.5\n1 0 b 1\n",
    "good.csv": LONG,
    "semicolons.csv": LONG.replace(",", ";"),
    "quoted.csv": 'topic,doc,label\n1,"a,b",1\n1,"c\nd",0\n',
    "short-row.csv": LONG + "1,c,x\n1,d,x,1\n1,e\n",
    "long-row.csv": LONG + "1,c,x,1,2\n",
    "quote.csv": LONG + '1,"c,x,1\n',
    "twice-in-header.csv": "topic,doc,label,label\n1,a,1,1\n",
    "two-topics.csv": "topic,qid,doc,label\n1,1,a,1\n",
    "no-label.csv": "topic,doc,stars\n1,a,1\n",
    "no-doc.csv": "topic,url,label\n1,a,1\n",
    "wide.csv": "topic,doc,ann,bob\n1,a,1,0\n1,b,,2\n",
    "wide-text.csv": "topic,doc,url,title\n1,a,http,x\n",
    "votes.csv": "topic,doc,votes_rel,votes_non\n1,a,1,2\n",
    "empty-cell.csv": "topic,doc,label\n1,a,1\n1,b,\n",
    "time.csv": "topic,doc,label,time\n1,a,1,now\n",
    "given.csv": "topic,doc,label,given\n1,a,1,\n1,a,0,a\n",
    "clicks.csv": "session,topic,rank,doc,clicked\ns,1,1,a,0\n",
    "zero.csv": b"topic,doc,label\n1,\0,0\n",
    "header-only.csv": "topic,doc,label\n",
    "latin.csv": b"topic,doc,label\n1,caf\xe9,1\n",
    "carriage.csv": "topic,doc,label\r1,a,1\r",
    "good.tsv": LONG.replace(",", "\t"),
    "good.jsonl": '{"topic": "1", "doc": "a", "label": 1}\n',
    "bad.jsonl": '{"topic": "1", "doc": "a", "label": 1}\n{"topic": "1"\n["x"]\n',
    "key-twice.jsonl": '{"topic": "1", "doc": "a", "doc": "b", "label": 1}\n',
    "not.parquet": "PAR1 not really",
}
RUNS: dict[str, str | bytes] = {
    "good.run": "1 Q0 a 1 2.5 x\n1 Q0 b 2 1.5 x\n",
    "columns.run": "1 Q0 a 1 2.5 x\n1 Q0 b 2 1.5\n1 Q0 c 3 1 x\n",
    "score.run": "1 Q0 a 1 high x\n1 Q0 b 2 1.5 x\n1 Q0 c 3 nan x\n",
    "rank.run": "1 Q0 a first 2.5 x\n1 Q0 b second 1.5 x\n",
    "twice.run": "1 Q0 a 1 2.5 x\n1 Q0 a 2 1.5 x\n",
    "scattered.run": "1 Q0 a 1 3 x\n2 Q0 a 1 3 x\n1 Q0 b 2 2 x\n",
    "scattered-twice.run": "1 Q0 a 1 3 x\n2 Q0 a 1 3 x\n1 Q0 a 2 2 x\n",
    "rising.run": "1 Q0 a 1 1 x\n1 Q0 b 2 2 x\n",
    "tied.run": "1 Q0 a 1 1 x\n1 Q0 b 2 1 x\n",
    "cut.run": "1 Q0 a 1 3 bm25\n1 Q0 b 2 2 bm25\n1 Q0 c 3 1 bm",
    "no-line-end.run": "1 Q0 a 1 3 bm25\n1 Q0 b 2 2 bm25",
    "comment.run": "1 Q0 a 1 3 x\n#1 Q0 b 2 2 x\n",
    "control.run": "1 Q0 a 1 3 x\n1 Q0 b\x02 2 2 x\n1 Q0 c 3 1 x\n",
    "good.csv": "topic,doc,rank,score,system\n1,a,1,2.5,x\n1,b,2,1.5,x\n",
    "text.csv": "topic,doc,score,system\n1,a,high,x\n1,b,1.5,x\n",
    "twice.csv": "topic,doc,score,system\n1,a,2,x\n1,a,1,x\n",
    "short.csv": "topic,doc,score,system\n1,a,2,x\n1,b,1\n",
    "empty-score.csv": "topic,doc,score,system\n1,a,,x\n1,b,1,x\n",
}


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def error_of(function, *args) -> VenireError | None:
    """Return the error that a function raises; warnings are passed over, as by a command."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args)
        except VenireError as error:
            return error
    return None


def read_and_count(path: Path) -> None:
    if len(read_judgments(path)) == 0:
        raise VenireError("no label counts")


@pytest.mark.parametrize("name", JUDGMENTS)
def test_inspect_and_read_judgments_accept_the_same_files(tmp_path, name):
    path = written(tmp_path, name, JUDGMENTS[name])
    error, found = error_of(read_and_count, path), inspect_file(path, judgments=True)
    assert found.readable == (error is None), (error, found.problems)
    if isinstance(error, FormatError) and error.line is not None and found.kind != "unknown":
        assert error.line in [problem.line for problem in found.problems if problem.fatal]


@pytest.mark.parametrize("name", RUNS)
def test_inspect_and_evaluate_accept_the_same_runs(tmp_path, name):
    path = written(tmp_path, name, RUNS[name])
    error, found = error_of(evaluate, {"1": {"a": 1}}, path, ["P@1"]), inspect_file(path)
    assert found.readable == (error is None), (error, found.problems)
    if isinstance(error, FormatError) and error.line is not None:
        assert error.line in [problem.line for problem in found.problems if problem.fatal]


def test_parquet(tmp_path):
    frame = pl.DataFrame({"topic": ["1", "1"], "doc": ["a", "b"], "label": [1, None]})
    frame.write_parquet(tmp_path / "bad.parquet")
    frame[:1].write_parquet(tmp_path / "good.parquet")
    assert inspect_file(tmp_path / "good.parquet").readable
    found = inspect_file(tmp_path / "bad.parquet")
    assert [problem.line for problem in found.problems if problem.fatal] == [2]
    assert error_of(read_judgments, tmp_path / "bad.parquet").line == 2


def test_all_errors_are_listed_with_their_lines(tmp_path):
    path = written(tmp_path, "x.csv", LONG + "1,c,x\n1,d,x,1\n1,e\n1,,x,1\n")
    assert [problem.line for problem in inspect_file(path).problems] == [4, 6, 7]
    alike = inspect_file(written(tmp_path, "x.qrels", "1 0 a 1\n1 0 b\n1 0 b\n1 0 b\n"), judgments=True)
    assert [(problem.line, "line 3, 4" in problem.what) for problem in alike.problems] == [(2, True)]
    many = inspect_file(written(tmp_path, "y.qrels", "1 0 a 1\n" * 30 + "".join(f"1 0 b{n}\n" for n in range(29))))
    assert len(many.problems) == MOST_ERRORS + 1


def test_a_scale_beside_the_file_holds_for_the_copy_too(tmp_path):
    written(tmp_path, "x.toml", 'scale = "Non<Rel"\n')
    found = inspect_file(written(tmp_path, "x.qrels", "1 0 a Rel\n1 0 b\n1 0 c Non\n"))
    assert [problem.line for problem in found.problems] == [2]
