from __future__ import annotations

import csv
import io
import subprocess
import sys

import pytest
from click.testing import CliRunner

from json_results import loaded
from venire import parse_measure, read_judgments, read_runs
from venire.cli import robustness as own
from venire.cli.main import cli
from venire.comparison.rank_agreement import CORRELATIONS
from venire.comparison.robustness import between_assessors, between_gains

KEYS = [
    *("between", "measure", "gains", "other_gains", "a", "b", "correlation", "value", "low", "high", "systems"),
    *("topics", "sd"),
]
TWO = ("--gains", "linear", "--gains", "binary:2")
QUICK = ("--draws", 20, *TWO)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A small collection of five assessors and ten systems."""
    folder = tmp_path_factory.mktemp("demo")
    sizes = ["--topics", "6", "--docs", "200"]
    result = CliRunner().invoke(cli, ["simulate", "levels", "-o", str(folder), *sizes, "--format", "json"])
    assert result.exit_code == 0, result.output
    return folder


def document(answer):
    assert answer.code == 0, answer.err
    held = loaded(answer.out)
    assert list(held) == ["robustness", "notes"]
    assert all(list(row) == KEYS for row in held["robustness"])
    return held


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
def test_rankings_between_assessors(venire, demo):
    answer = venire("robustness", demo / "judgments.tsv", demo / "runs", "--format", "json", *QUICK)
    rows = document(answer)["robustness"]
    expected = between_assessors(
        read_judgments(demo / "judgments.tsv"), read_runs(demo / "runs"), gains=["linear", "binary:2"], n_draws=20
    )
    assert rows == expected.records()
    assert {row["between"] for row in rows} == {"assessors"}
    assert len(rows) == 2 * (1 + 10)
    assert rows[0]["a"] is None
    assert rows[0]["low"] <= rows[0]["value"] <= rows[0]["high"]
    assert "by different assessors" in answer.err


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_rankings_between_gains_by_any_correlation(venire, demo, correlation):
    whose = ("--between", "gains", "--pool", "median", "--correlation", correlation)
    rows = document(venire("robustness", demo / "judgments.tsv", demo / "runs", *QUICK, *whose, "--format", "json"))
    expected = between_gains(
        read_judgments(demo / "judgments.tsv"),
        read_runs(demo / "runs"),
        gains=["linear", "binary:2"],
        pool="median",
        correlation=correlation,
        n_draws=20,
    )
    assert rows["robustness"] == expected.records()
    assert [(row["gains"], row["other_gains"], row["a"]) for row in rows["robustness"]] == [
        ("linear", "binary:2", "median")
    ]


def test_without_runs_sets_of_judgments_are_compared(venire, demo):
    answer = venire("robustness", demo / "judgments.tsv", "-m", "AP", "-m", "nDCG@5", *TWO, "--format", "json")
    rows = document(answer)["robustness"]
    assert {row["between"] for row in rows} == {"sets"}
    assert {(row["measure"], row["gains"]) for row in rows} == {
        ("AP", "binary:3"),
        ("nDCG@5", "linear"),
        ("nDCG@5", "binary:2"),
    }
    assert all(row["correlation"] is None and row["systems"] is None for row in rows)
    relevant = venire("robustness", demo / "judgments.tsv", "-m", "AP", "--relevant", 1, "--format", "json")
    assert document(relevant)["robustness"][0]["gains"] == "binary:1"


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
def test_the_label_that_the_usual_gains_take_as_relevant(venire, demo):
    for between in ("assessors", "gains"):
        asked = ("robustness", demo / "judgments.tsv", demo / "runs", "--between", between, "--draws", 0, "-q")
        rows = document(venire(*asked, "--relevant", 2, "--format", "json"))["robustness"]
        usual = ["linear", "exponential", "binary:2", "prm:2", "udm:1/3:2"]
        assert list(dict.fromkeys(row["gains"] for row in rows)) == (usual if between == "assessors" else usual[:-1])


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
def test_without_resamples_no_interval_is_spoken_of(venire, demo):
    asked = ("robustness", demo / "judgments.tsv", demo / "runs", *TWO)
    assert "95% intervals: bootstrap over topics, n=2" in venire(*asked, "--draws", 2).err
    answer = venire(*asked, "--draws", 0)
    assert answer.code == 0
    assert "interval" not in answer.err


def test_one_assessor_is_asked_about_gains(venire, demo):
    one = ("--where", "assessor=careful1")
    rows = document(venire("robustness", demo / "judgments.tsv", demo / "runs", *QUICK, *one, "--format", "json"))
    assert [(row["between"], row["a"]) for row in rows["robustness"]] == [("gains", "careful1")]


def test_people_see_the_means_and_machines_everything(venire, demo):
    asked = ("robustness", demo / "judgments.tsv", demo / "runs", *QUICK)
    lines = venire(*asked).out.splitlines()
    assert lines[0].split() == ["measure", "gains", "correlation", "value", "low", "high", "systems", "topics", "sd"]
    assert len(lines) == 1 + 2
    assert len(venire(*asked, "--show", "pairs").out.splitlines()) == 1 + 22
    rows = list(csv.DictReader(io.StringIO(venire(*asked, "--format", "csv").out)))
    assert list(rows[0]) == KEYS
    assert len(rows) == 22


def test_a_model_may_be_fitted_on_other_judgments(venire, demo, write):
    pairs = [(0, 0), (1, 3), (2, 0), (0, 2)] * 50
    lines = [f"t\td{n}\t{who}\t{pair[who]}" for n, pair in enumerate(pairs) for who in (0, 1)]
    other = write("other.tsv", "\n".join(["topic\tdoc\tassessor\tlabel", *lines]) + "\n")
    asked = ("robustness", demo / "judgments.tsv", demo / "runs", "--gains", "prm:3", "--draws", 5, "-q")
    own, others = (
        document(venire(*asked, *fit, "--format", "json"))["robustness"][0]["value"]
        for fit in ((), ("--fit-on", other))
    )
    assert own != others


@pytest.mark.parametrize("args", [("runs",), ("runs", "--between", "gains"), ()])
def test_a_plot_is_written(venire, demo, tmp_path, args):
    place = tmp_path / "plot.svg"
    runs = [demo / "runs" if each == "runs" else each for each in args]
    quick = QUICK if args else TWO
    answer = venire("robustness", demo / "judgments.tsv", *runs, *quick, "--plot", place, "-q")
    assert answer.code == 0, answer.err
    drawn = place.read_text(encoding="utf-8")
    assert "linear" in drawn
    assert ("AP" if not args else "nDCG@10") in drawn


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--between", "assessors"), "requires RUNS"),
        (("RUNS", "--assessor", "careful1"), "--between gains"),
        (("RUNS", "--between", "sets"), "takes no RUNS"),
        (("RUNS", "--common", 2), "--common is for --between sets"),
        (("RUNS", "--relevant", 2, "--gains", "linear"), "--gains binary:LABEL"),
        (("RUNS", "--relevant", 9), "'9' is not a label of the scale"),
        (("--correlation", "tau-b"), "--correlation requires RUNS"),
        (("--draws", 300), "--draws requires RUNS"),
        (("--fit-on", "JUDGMENTS"), "all other topics"),
        (("RUNS", "-m", "nDGC@10"), "did you mean"),
        (("RUNS", "--gains", "lienar"), "are not gains"),
        (("RUNS", "--gains", "udm:4/3"), "1 <= M <= N"),
        (("RUNS", "--correlation", "tau"), "--correlation"),
        (("-m", "P@10"), "AP, GAP and nDCG"),
        (("--common", 1000), "1,000 documents"),
    ],
)
def test_what_cannot_be_done_is_said(venire, demo, args, words):
    places = {"RUNS": demo / "runs", "JUDGMENTS": demo / "judgments.tsv"}
    answer = venire("robustness", demo / "judgments.tsv", *(places.get(arg, arg) for arg in args))
    assert answer.code == 2
    assert words in answer.err
    assert answer.out == ""


def test_the_words_of_the_command_are_those_of_the_library():
    assert tuple(CORRELATIONS) == own.CORRELATIONS
    assert str(parse_measure("nDCG(dcg=zipf)")) == "nDCG(dcg=zipf)"


def test_its_help_loads_nothing_heavy():
    code = "import sys, venire.cli.robustness; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"polars", "scipy", "matplotlib"} & set(loaded)
