"""venire compare: the contract of its output, and the gate."""

from __future__ import annotations

import csv
import json

import pytest
from click.testing import CliRunner

from two_judges import table, write_files
from venire.cli.compare import pair_number
from venire.cli.main import cli


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    arguments = ["simulate", "levels", "-o", str(folder / "demo"), "--topics", "15", "--rng", "3", "-q"]
    assert CliRunner().invoke(cli, arguments).exit_code == 0
    return folder / "demo"


def run(collection, *more):
    judgments, runs = str(collection / "judgments.tsv"), str(collection / "runs")
    return CliRunner().invoke(cli, ["compare", judgments, runs, "--assessor", "careful1", "--draws", "100", *more])


def systems(collection):
    return [path.name for path in sorted((collection / "runs").iterdir())]


def test_json_has_pairs_systems_and_tau(collection):
    result = run(collection, "--format", "json", "-q")
    assert result.exit_code == 0, result.output
    held = json.loads(result.stdout)
    assert set(held) == {"pairs", "systems", "tau", "judge_models"}
    assert [each["judge_model"] for each in held["judge_models"]] == ["fixed", "assessors", "hierarchical"]
    assert list(held["pairs"][0]) == [
        *("a", "b", "measure", "delta", "p_value", "p_adjusted", "expected_delta", "sd"),
        *(
            "p_stays_ahead",
            "p_tie",
            "p_flips",
            "se",
            "p_stays_ahead_topics",
            "p_stays_ahead_both",
            "observed",
            "method",
        ),
    ]
    assert {"system", "mean", "low", "high", "rank_low", "rank_high"} <= set(held["systems"][0])
    assert set(held["tau"]) == {"mean", "low", "high"}
    n = len(held["systems"])
    assert len(held["pairs"]) == n * (n - 1) // 2


def test_observations_are_columns_of_csv(collection):
    rows = list(csv.DictReader(run(collection, "--format", "csv", "-q", "--new-judge", "careful2").stdout.splitlines()))
    held = json.loads(run(collection, "--format", "json", "-q", "--new-judge", "careful2").stdout)["pairs"]
    for row, pair in zip(rows, held, strict=True):
        assert list(row)[-1] == "method"
        assert {f"observed_{key}" for key in pair["observed"]} < set(row)
        assert float(row["observed_share"]) == pytest.approx(pair["observed"]["share"])
        assert row["method"] == pair["method"]


def names(collection):
    held = json.loads(run(collection, "--format", "json", "-q").stdout)
    ranked = sorted(held["systems"], key=lambda each: each["mean"])
    return ranked[0]["system"], ranked[-1]["system"]


def test_the_gate_passes_and_fails_with_one_line(collection):
    worst, best = names(collection)
    passed = run(collection, "--baseline", worst, "--candidate", best, "--require", "p_stays_ahead>=0.8")
    assert passed.exit_code == 0
    assert "passed: p_stays_ahead = " in passed.stderr
    failed = run(collection, "--baseline", best, "--candidate", worst, "--require", "p_stays_ahead>=0.8", "-q")
    assert failed.exit_code == 1
    assert failed.stderr.count("\n") == 1
    assert "not passed" in failed.stderr
    assert "is not ahead of" in failed.stderr


@pytest.mark.parametrize("format", ["table", "csv", "markdown", "latex"])
def test_every_format_has_a_row_per_pair(collection, format):
    result = run(collection, "--format", format, "-q", "--baseline", names(collection)[0])
    assert result.exit_code == 0
    assert result.stdout.count("nDCG@10") == len(systems(collection)) - 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--require", "p_stays_ahead>=0.9"], "requires --baseline"),
        (["--baseline", "x", "--candidate", "y", "--require", "p_stays"], "not a condition"),
        (["--baseline", "x", "--candidate", "y", "--require", "p_stay>=0.9"], "p_stays_ahead"),
        (["--agreement", "0.9"], "two rates"),
        (["--baseline", "nosuch"], "nosuch"),
        (["--new-judge", "nosuch"], "nosuch"),
    ],
)
def test_what_is_wrong_is_said(collection, arguments, said):
    result = run(collection, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_one_pair_is_told_in_detail(collection):
    worst, best = names(collection)
    result = run(collection, "--baseline", worst, "--candidate", best, "--format", "json")
    held = json.loads(result.stdout)
    assert {each["source"] for each in held["sources"]} == {"topics", "judges", "both"}
    assert len(held["topics"]) == 15
    assert [each["judge_model"] for each in held["judge_models"]] == ["fixed", "assessors", "hierarchical"]
    assert "By judge model" in result.stderr


@pytest.mark.parametrize("n", [2, 5, 9])
def test_pairs_are_numbered_as_they_come(n):
    systems = [f"s{k}" for k in range(n)]
    expected = [(systems[a], systems[b]) for a in range(n) for b in range(a + 1, n)]
    for number, (a, b) in enumerate(expected):
        assert pair_number(systems, a, b) == pair_number(systems, b, a) == number


def test_stated_agreement(collection):
    result = run(collection, "--agreement", "0.9,0.7", "-m", "P@10", "--format", "json", "-q")
    assert result.exit_code == 0
    assert all(0 <= pair["p_stays_ahead"] <= 1 for pair in json.loads(result.stdout)["pairs"])


@pytest.mark.parametrize("more", [(), ("--judge-model", "pooled")])
def test_of_two_judges_who_contradict_each_other_neither_opens_the_gate(tmp_path, more):
    judgments, runs = write_files(tmp_path, table())
    for assessor, ahead, behind in (("llm", "L", "C"), ("expert", "C", "L")):
        asked = ["--assessor", assessor, "--baseline", behind, "--candidate", ahead, "--draws", "100", *more]
        result = CliRunner().invoke(cli, ["compare", judgments, runs, *asked, "--require", "p_stays_ahead>=0.9"])
        assert result.exit_code == 1, result.output
        assert "p_stays_ahead" in result.stderr


def test_a_second_judge_who_says_the_same_opens_the_gate(tmp_path):
    judgments, runs = write_files(tmp_path, table(identical=True))
    asked = ["--assessor", "llm", "--baseline", "D", "--candidate", "C", "--require", "p_stays_ahead>=1"]
    result = CliRunner().invoke(
        cli, ["compare", judgments, runs, *asked, "--draws", "100", "-m", "nDCG@10", "-m", "AP"]
    )
    assert result.exit_code == 0, result.output


def test_systems_that_score_alike_have_no_correlation(tmp_path):
    judgments, runs = write_files(tmp_path, table())
    for number in range(2):
        copy = (tmp_path / "runs" / "C").read_text(encoding="utf-8").replace(" C\n", f" C{number}\n")
        (tmp_path / "runs" / f"C{number}").write_text(copy, encoding="utf-8")
    for name in "DL":
        (tmp_path / "runs" / name).unlink()
    result = CliRunner().invoke(cli, ["compare", judgments, runs, "--assessor", "llm", "--format", "json", "-q"])
    assert result.exit_code == 0, result.output
    held = json.loads(result.stdout)
    assert held["tau"] == {"mean": None, "low": None, "high": None}
    assert {each["tau"] for each in held["judge_models"]} == {None}
