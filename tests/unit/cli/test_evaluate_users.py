from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path

import pytest

from json_results import loaded

KEYS = ["system", "measure", "topic", "assessor", "value", "low", "high", "sd", "user_low", "user_high"]
GAINS = "0=0.1,1=0.5,2=0.9"


def scores(answer) -> list[dict[str, object]]:
    assert answer.code == 0, answer.err
    rows = loaded(answer.out)["scores"]
    assert all(list(row) == KEYS for row in rows)
    return rows


def test_users_have_a_mean_and_a_spread(venire, qrels, run):
    args = ("evaluate", qrels, run, "--gains", GAINS, "--users", 400, "-m", "P@2", "-m", "nDCG@2", "--format", "json")
    precision, gain = scores(venire(*args))
    assert [precision[key] for key in KEYS[:4]] == ["sys", "P@2", "all", "qrels"]
    true = ((0.9 + 0.1) / 2 + (0.1 + 0.5) / 2) / 2
    variance = sum(p * (1 - p) for p in (0.9, 0.1, 0.1, 0.5)) / 16
    assert precision["value"] == pytest.approx(true, abs=4 * (variance / 400) ** 0.5)
    assert precision["sd"] == pytest.approx(variance**0.5, rel=0.15)
    assert precision["user_low"] <= precision["value"] <= precision["user_high"]
    assert precision["low"] < precision["user_low"]
    assert gain["measure"] == "nDCG@2"


def test_the_same_seed_gives_the_same_users(venire, qrels, run):
    args = ("evaluate", qrels, run, "--gains", GAINS, "--users", 7, "--format", "json")
    assert venire(*args).out == venire(*args, "--rng", 0).out != venire(*args, "--rng", 1).out


def test_people_see_the_mean_and_the_deviation(venire, qrels, run):
    answer = venire("evaluate", qrels, run, "--gains", GAINS, "--users", 50, "-m", "P@2", "-m", "AP")
    head, row = answer.out.splitlines()
    assert head.split() == ["system", "P@2", "P@2", "sd", "AP", "AP", "sd"]
    assert row.split()[0] == "sys"
    assert len(row.split()) == 5
    assert "means over 50 simulated users" in answer.err


def test_topics_have_a_spread_too_and_no_quantiles(venire, qrels, run):
    args = ("evaluate", qrels, run, "--gains", GAINS, "--users", 30, "-m", "P@2", "--per-topic")
    answer = venire(*args, "--format", "json")
    rows = scores(answer)
    assert [row["topic"] for row in rows] == ["1", "2", "all"]
    assert rows[0]["sd"] > 0
    assert rows[0]["low"] is None
    assert rows[2]["low"] is not None
    assert rows[2]["value"] == pytest.approx((rows[0]["value"] + rows[1]["value"]) / 2)
    table = list(csv.DictReader(io.StringIO(venire(*args, "--format", "csv").out)))
    assert list(table[0]) == KEYS
    assert [float(row["value"]) for row in table] == [row["value"] for row in rows]
    assert venire(*args).out.splitlines()[0].split() == ["system", "topic", "P@2", "P@2", "sd"]


def test_one_user_has_no_deviation(venire, qrels, run):
    (row,) = scores(venire("evaluate", qrels, run, "--gains", GAINS, "--users", 1, "-m", "P@2", "--format", "json"))
    assert row["sd"] is None
    assert row["user_low"] == row["user_high"] == row["value"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--users", "10"], "are no probabilities"),
        (["--users", "0", "--gains", GAINS], "0 is not in the range"),
        (["--users", "10", "--gains", GAINS, "--per", "assessor"], "cannot be used with --per"),
        (["--users", "10", "--gains", GAINS, "-m", "P(rel=2)@2"], "has a threshold"),
        (["--users", "10", "--gains", GAINS, "--unjudged", "0.2", "-m", "P@2"], "unjudged documents have a gain"),
    ],
)
def test_what_makes_no_sense_is_refused(venire, qrels, run, args, words):
    answer = venire("evaluate", qrels, run, *args)
    assert answer.code == 2
    assert answer.out == ""
    assert words in answer.err


HOWTO = Path(__file__).parents[3] / "docs" / "howto" / "llm-judge.md"
TOPICS = range(20)


@pytest.fixture
def judged_twice(write):
    """A judge who labels all, and a person who labels half of it, one lower for every third."""
    lines = [(t, d, (t + d) % 3) for t in TOPICS for d in range(12)]
    llm = write("llm.qrels", "".join(f"{t} 0 {t}-{d} {label}\n" for t, d, label in lines))
    person = [(t, d, max(label - ((t * d) % 3 == 1), 0)) for t, d, label in lines if d < 6]
    human = write("human.qrels", "".join(f"{t} 0 {t}-{d} {label}\n" for t, d, label in person))
    run = write("a.run", "".join(f"{t} Q0 {t}-{d} 0 {-d} a\n" for t in TOPICS for d in range(12)))
    return llm, human, run


def test_a_fit_of_a_judge_against_people_scores_runs_for_a_random_person(venire, judged_twice, tmp_path):
    llm, human, run = judged_twice
    sides = ("--observed", "llm", "--reference", "human")
    fitted = venire("disagreement", llm, human, *sides, "--save", tmp_path / "fit.json", "--format", "json")
    assert fitted.code == 0, fitted.err
    p = {row["label"]: row["p"] for row in loaded(fitted.out)["parameters"]}
    answer = venire("evaluate", llm, run, "--gains", tmp_path / "fit.json", "-m", "P@10", "--format", "json")
    assert answer.code == 0, answer.err
    labels = [str((t + d) % 3) for t in TOPICS for d in range(10)]
    (row,) = loaded(answer.out)["scores"]
    assert row["value"] == pytest.approx(sum(p[label] for label in labels) / len(labels))
    assert "mean over users" not in answer.err


def test_scores_that_are_not_means_over_users_say_so(venire, judged_twice, tmp_path):
    llm, human, run = judged_twice
    fit = tmp_path / "fit.json"
    assert venire("disagreement", llm, human, "--observed", "llm", "--save", fit).code == 0
    note = "nDCG@10 with these gains is not the mean over users; --users 1000 gives it"
    assert note in venire("evaluate", llm, run, "--gains", fit).err
    assert note not in venire("evaluate", llm, run, "--gains", fit, "--users", 10).err
    assert note not in venire("evaluate", llm, run).err
    several = venire("evaluate", llm, run, "--gains", fit, "-m", "AP", "-m", "P@5", "-m", "Q").err
    assert "AP, Q with these gains are each not the mean over users" in several


def test_the_commands_of_the_how_to_run(venire, judged_twice, tmp_path, monkeypatch):
    (tmp_path / "runs").mkdir()
    judged_twice[2].rename(tmp_path / "runs" / "a.run")
    monkeypatch.chdir(tmp_path)
    commands = [line for line in HOWTO.read_text(encoding="utf-8").splitlines() if line.startswith("venire ")]
    assert len(commands) == 5
    for command in commands:
        answer = venire(*shlex.split(command)[1:])
        assert answer.code == 0, answer.err
