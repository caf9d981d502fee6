from __future__ import annotations

import csv
import io

import pytest

from json_results import loaded
from venire.cli import scales
from venire.quality.label_scales import WAYS

KEYS = ["setting", "labels", "statistic", "measure", "value", "low", "high", "reason"]
QUICK = ("--draws", "20")


@pytest.fixture
def folder(venire, tmp_path):
    """A small collection with preferences and runs."""
    setting = ("--topics", "12", "--docs", "5", "--assessors", "3", "--systems", "3", "--sigma", "0.1", "0.1")
    assert venire("simulate", "perceived", "-o", tmp_path / "made", *setting, "--grades", "3", "-q").code == 0
    return tmp_path / "made"


def test_json_has_a_record_for_every_number(venire, folder):
    args = ("scales", folder / "judgments.tsv", folder / "runs", "--preferences", folder / "preferences.tsv")
    answer = venire(*args, "-m", "nDCG@5", "-m", "P@5", *QUICK, "--split", "inf", "--format", "json", "-q")
    assert (answer.code, answer.err) == (0, "")
    document = loaded(answer.out)
    assert [list(record) for record in document["scales"]] == [KEYS] * (4 * 6)
    assert list(dict.fromkeys(each["setting"] for each in document["scales"])) == [
        *("3", "3to2(>=1)", "3to2(>=2)", "3to5(w=inf)")
    ]
    assert {each["measure"] for each in document["scales"] if each["statistic"] == "discriminative_power"} == {
        *("nDCG@5", "P@5")
    }
    assert "reliable but useless" in document["warnings"][0]
    assert "lower is better" in document["meanings"]["pdp_individual"]
    assert [(each["mode"], each["a"], each["b"]) for each in document["differences"]] == [
        (mode, name, "3") for mode in ("individual", "aggregate") for name in ("3to2(>=1)", "3to2(>=2)", "3to5(w=inf)")
    ]
    assert all(each["low"] <= each["difference"] <= each["high"] for each in document["differences"])
    known = [each for each in document["scales"] if each["statistic"].startswith("pdp")]
    assert all(each["low"] <= each["value"] <= each["high"] for each in known)


def test_people_see_a_row_for_every_setting(venire, folder):
    answer = venire("scales", folder / "judgments.tsv", "--preferences", folder / "preferences.tsv", *QUICK)
    assert answer.code == 0
    head, *rows = answer.out.splitlines()
    assert head.split("  ")[0].strip() == "setting"
    assert "alpha" in head
    assert "PDP individual" in head
    assert "DP nDCG" not in head
    assert [row.split()[:2] for row in rows] == [["3", "3"], ["3to2(>=1)", "2"], ["3to2(>=2)", "2"]]
    assert "reliable but useless" in answer.err
    assert "PDP of the labels as they are is" in answer.err
    assert "PDP aggregate, difference from 3 with the 95% interval: 3to2(>=1)" in answer.err
    assert "alpha: agreement beyond chance" in answer.err


def test_the_plot_shows_all_settings(venire, folder, tmp_path):
    pytest.importorskip("matplotlib")
    plot = tmp_path / "scales.svg"
    args = ("scales", folder / "judgments.tsv", "--preferences", folder / "preferences.tsv", "--plot", plot)
    assert venire(*args, "--draws", "0", "-q").code == 0
    drawn = plot.read_text(encoding="utf-8")
    assert all(word in drawn for word in ("3to2(&gt;=1)", "3to2(&gt;=2)", "alpha", "Phi", "individual", "aggregate"))
    assert "discriminative power" not in drawn


def test_csv_is_long_and_without_words(venire, folder):
    answer = venire("scales", folder / "judgments.tsv", "--merge", "none", *QUICK, "--format", "csv", "-q")
    rows = list(csv.reader(io.StringIO(answer.out)))
    assert rows[0] == KEYS
    assert [row[:4] for row in rows[1:]] == [["3", "3", "krippendorff_alpha", ""], ["3", "3", "phi", ""]]


def test_agreement_of_one_assessor_is_null_with_a_reason(venire, qrels, run):
    answer = venire("scales", qrels, run, "-m", "P@2", *QUICK, "--format", "json", "-q")
    assert answer.code == 0
    records = loaded(answer.out)["scales"]
    assert all(each["value"] is None and each["reason"] for each in records)
    assert {each["statistic"] for each in records} == {"krippendorff_alpha", "phi", "discriminative_power"}


def test_the_seed_settles_everything(venire, folder):
    args = ("scales", folder / "judgments.tsv", "--split", "1", "--format", "csv", "-q", *QUICK)
    first, again, other = (venire(*args, "--rng", seed).out for seed in (1, 1, 2))
    assert first == again != other


def test_the_words_are_those_of_the_library():
    assert scales.WAYS == WAYS


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--split", "-1"], "--split"),
        (["--merge", "some"], "--merge"),
        (["--top", "1"], "--top"),
        (["-m", "nDCQ"], "nDCQ"),
        (["--preferences", "nowhere.tsv"], "nowhere.tsv"),
        (["-", "--preferences", "-"], "standard input (-) can be read only once"),
    ],
)
def test_bad_usage_ends_with_words(venire, qrels, flags, words):
    answer = venire("scales", qrels, *flags)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
