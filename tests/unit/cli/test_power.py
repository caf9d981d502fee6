from __future__ import annotations

import csv
import io
import subprocess
import sys

import pytest
from click.testing import CliRunner

from json_results import loaded
from venire import read_judgments, read_runs
from venire.cli import power as own
from venire.cli.main import cli
from venire.comparison.tests import PairedBootstrap, TukeyHSD
from venire.quality.power import NAMES, discriminative_power

KEYS = ["measure", "labels", "test", "alpha", "share", "pairs", "told_apart", "difference", "topics", "reason"]
QUICK = ("--draws", 99)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A small collection of five assessors and ten systems, all documents judged."""
    folder = tmp_path_factory.mktemp("demo")
    sizes = ["--topics", "12", "--docs", "80"]
    result = CliRunner().invoke(cli, ["simulate", "levels", "-o", str(folder), *sizes, "--format", "json"])
    assert result.exit_code == 0, result.output
    return folder


def rows_of(answer):
    assert answer.code == 0, answer.err
    held = loaded(answer.out)
    assert list(held) == ["power"]
    assert all(list(row) == KEYS for row in held["power"])
    return held["power"]


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
@pytest.mark.parametrize(("test", "value"), [("bootstrap", PairedBootstrap(99)), ("tukey", TukeyHSD(99))])
def test_assessors_side_by_side(venire, demo, test, value):
    asked = ("--per", "assessor", "--test", test, "-m", "nDCG@10", "-m", "AP", "--rng", 4)
    answer = venire("power", demo / "judgments.tsv", demo / "runs", *asked, *QUICK, "--format", "json")
    rows = rows_of(answer)
    judgments, runs = read_judgments(demo / "judgments.tsv"), read_runs(demo / "runs")
    expected = discriminative_power(judgments, runs, ["nDCG@10", "AP"], per="assessor", test=value, rng=4)
    assert rows == expected.records()
    assert [row["labels"] for row in rows] == 2 * list(judgments.assessors)
    assert {row["test"] for row in rows} == {test}
    assert all(row["pairs"] == 45 and row["share"] == row["told_apart"] / 45 for row in rows)
    assert "differ significantly" in answer.err


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
def test_gains_and_tests_side_by_side(venire, demo):
    asked = ("--pool", "median", "--gains", "linear", "--gains", "binary:2", "--test", "tukey", "--test", "bootstrap")
    rows = rows_of(venire("power", demo / "judgments.tsv", demo / "runs", *asked, *QUICK, "--format", "json"))
    assert [(row["test"], row["labels"]) for row in rows] == [
        *(("tukey", "linear"), ("tukey", "binary:2")),
        *(("bootstrap", "linear"), ("bootstrap", "binary:2")),
    ]
    strict = rows_of(
        venire("power", demo / "judgments.tsv", demo / "runs", *asked, *QUICK, "--alpha", 0.01, "--format", "json")
    )
    assert all(one["share"] <= other["share"] for one, other in zip(strict, rows, strict=True))
    assert {row["alpha"] for row in strict} == {0.01}


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
def test_people_are_spared_empty_columns(venire, demo):
    asked = ("power", demo / "judgments.tsv", demo / "runs", "--assessor", "lazy1")
    lines = venire(*asked, *QUICK).out.splitlines()
    assert lines[0].split() == KEYS[:-1]
    assert len(lines) == 2
    few = venire(*asked, "--draws", 5)
    assert few.out.splitlines()[0].split() == [*KEYS[:7], *KEYS[8:]]
    assert "nothing is significant" in few.err
    rows = list(csv.DictReader(io.StringIO(venire(*asked, *QUICK, "--format", "csv").out)))
    assert list(rows[0]) == KEYS
    assert rows[0]["reason"] == ""


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
def test_an_assessor_of_one_topic_has_no_share_and_the_command_goes_on(venire, demo, write):
    lines = (demo / "judgments.tsv").read_text(encoding="utf-8").splitlines()
    head = [line for line in lines if line.startswith("#") or line.startswith("topic")]
    body = [line.split("\t") for line in lines if line not in head]
    first = body[0][0]
    kept = [row for row in body if "lazy1" not in row or row[0] == first]
    table = write("some.tsv", "\n".join([*head, *("\t".join(row) for row in kept)]) + "\n")
    rows = rows_of(venire("power", table, demo / "runs", "--per", "assessor", *QUICK, "--format", "json"))
    (lazy,) = (row for row in rows if row["labels"] == "lazy1")
    assert (lazy["share"], lazy["pairs"], lazy["topics"]) == (None, 0, 1)
    assert "1 topic" in lazy["reason"]
    assert all(row["share"] is not None for row in rows if row["labels"] != "lazy1")


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
@pytest.mark.parametrize("args", [("--per", "assessor"), ("--pool", "mean", "-m", "AP", "-m", "RR")])
def test_a_plot_is_written(venire, demo, tmp_path, args):
    place = tmp_path / "plot.svg"
    answer = venire("power", demo / "judgments.tsv", demo / "runs", *args, *QUICK, "--plot", place, "-q")
    assert answer.code == 0, answer.err
    shown = place.read_text(encoding="utf-8")
    assert "significant at 0.05" in shown
    assert ("lazy1" if args[0] == "--per" else "labels mean") in shown


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "5 assessors judged"),
        (("--pool", "median", "--assessor", "lazy1"), "exclude each other"),
        (("--pool", "median", "-m", "nDGC@10"), "did you mean"),
        (("--pool", "median", "--gains", "lienar"), "are not gains"),
        (("--pool", "median", "--fit-on", "JUDGMENTS"), "gains by a model"),
        (("--pool", "median", "--alpha", 1), "--alpha"),
        (("--pool", "median", "--test", "t"), "--test"),
    ],
)
def test_what_cannot_be_done_is_said(venire, demo, args, words):
    places = {"JUDGMENTS": demo / "judgments.tsv"}
    answer = venire("power", demo / "judgments.tsv", demo / "runs", *(places.get(arg, arg) for arg in args))
    assert answer.code == 2
    assert words in answer.err
    assert answer.out == ""


def test_one_system_cannot_be_told_from_others(venire, qrels, run):
    answer = venire("power", qrels, run)
    assert answer.code == 2
    assert "error: found 1 system (sys), expected two or more to compare" in answer.err
    assert "hint: add the run of another system" in answer.err


def test_the_words_of_the_command_are_those_of_the_library():
    assert tuple(NAMES.values()) == own.TESTS


def test_its_help_loads_nothing_heavy():
    code = "import sys, venire.cli.power; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"polars", "scipy", "matplotlib"} & set(loaded)
