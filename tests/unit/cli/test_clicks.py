from __future__ import annotations

import pytest

from json_results import loaded
from venire import read_judgments

LOG = "".join(
    f"{t * 10 + s}\tq{t}\t{rank}\td{rank}\t{int((t * s + rank) % 4 == 0)}\t{20 + 5 * t}\n"
    for t in range(6)
    for s in range(4)
    for rank in (1, 2, 3)
)
QRELS = "".join(f"q{t} 0 d{rank} {(t + rank) % 3}\n" for t in range(6) for rank in (1, 2, 3))


@pytest.fixture
def log(write):
    return write("log.tsv", "session\ttopic\trank\tdoc\tclicked\tdwell\n" + LOG)


def test_a_log_by_itself(venire, log, tmp_path):
    saved = tmp_path / "labels.qrels"
    answer = venire("clicks", log, "--format", "json", "--dwell", 30, "--save-labels", saved)
    found = loaded(answer.out)
    assert answer.code == 0
    assert list(found) == ["summary", "ranks", "notes"]
    assert found["summary"]["sessions"] == 24
    assert found["summary"]["impressions"] == 72
    assert [each["rank"] for each in found["ranks"]] == [1, 2, 3]
    assert set(found["ranks"][0]) == {"rank", "impressions", "clicks", "satisfied", "click_rate", "satisfied_rate"}
    assert "24 sessions on 6 topics" in answer.err
    assert len(read_judgments(saved)) == 18
    assert venire("clicks", log, "-q").out.splitlines()[0].split()[0] == "rank"


def test_with_judgments(venire, log, write, tmp_path):
    qrels = write("qrels.txt", QRELS)
    plot = tmp_path / "c.svg"
    answer = venire(
        "clicks", log, "-j", qrels, "-m", "CG@3", "-m", "AP", "--top", 2, "--format", "json", "--plot", plot
    )
    found = loaded(answer.out)
    assert answer.code == 0, answer.err
    assert list(found) == ["correlations", "method", "notes"]
    keys = ["system", "measure", "alpha", "online", "correlation", "value", "low", "high"]
    assert list(found["correlations"][0]) == [*keys, "gain", "gain_low", "gain_high", "topics"]
    assert {row["online"] for row in found["correlations"]} == {"CTR", "CTR@2", "click nDCG@2"}
    assert len(found["correlations"]) == 2 * 3 * 2
    assert plot.stat().st_size > 1000
    again = venire("clicks", log, "-j", qrels, "-m", "CG@3", "-m", "AP", "--top", 2, "--format", "json")
    assert again.out == answer.out, "the same seed, the same result"


def test_runs_and_alphas(venire, log, write):
    given = "topic,doc,given,label\n" + "".join(
        f"q{t},d{rank},,{(t + rank) % 3}\nq{t},d{rank},d{rank % 3 + 1},{t % 3}\n"
        for t in range(6)
        for rank in (1, 2, 3)
    )
    run = write("x.run", "".join(f"q{t} Q0 d{rank} 1 {-rank * (t - 2.5)} x\n" for t in range(6) for rank in (1, 2, 3)))
    asked = (run, "-j", write("given.csv", given), "-m", "CG@3", "--alphas", "0,1", "--format", "csv")
    answer = venire("clicks", log, *asked)
    assert answer.code == 0, answer.err
    lines = [line.split(",") for line in answer.out.splitlines()]
    assert lines[0][:5] == ["system", "measure", "alpha", "online", "correlation"]
    assert {(line[0], line[2]) for line in lines[1:]} == {("x", "0.0"), ("x", "1.0")}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("x",), "RUNS can only be used with judgments"),
        (("--alphas", "a", "-j", "x"), "'a' are not numbers"),
        (("-", "-j", "-"), "standard input (-) can be read only once"),
        (("-j", "x", "-m", "nope"), "there is no measure 'nope'"),
    ],
)
def test_bad_usage(venire, log, asked, message):
    answer = venire("clicks", log, *asked)
    assert answer.code == 2
    assert message in answer.err


def test_a_row_per_session_or_per_result(venire, write):
    wide = write("wide.csv", "session,topic,docs,clicks\n1,q,a b,1 0\n")
    assert loaded(venire("clicks", wide, "--format", "json").out)["summary"]["impressions"] == 2
    answer = venire("clicks", write("long.csv", "session,topic,doc,clicked\n1,q,a b,1 0\n"))
    assert answer.code == 2
    assert "'1 0' is not a click flag" in answer.err


def test_standard_input_and_errors(venire, log):
    assert venire("clicks", "-", stdin=log.read_bytes()).code == 0
    bad = log.read_text().replace("\t1\td1\t", "\t0\td1\t", 1)
    answer = venire("clicks", "-", stdin=bad.encode())
    assert answer.code == 2
    assert "-:2: rank '0' is not a whole number" in answer.err
