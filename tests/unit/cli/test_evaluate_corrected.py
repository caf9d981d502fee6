"""venire evaluate --corrected: scores that the reference would give."""

from __future__ import annotations

import polars as pl
import pytest

from certified_judges import frame, judged, write_files
from json_results import loaded
from venire.comparison import corrected_scores

MEASURES = ["-m", "P(rel=1)@10", "-m", "nDCG@10"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The people labelled a half."""
    return write_files(tmp_path_factory.mktemp("corrected"), frame(labelled=0.5))


def test_rows_are_those_of_evaluate_and_the_raw_score(venire, files):
    answer = venire(
        *("evaluate", *files, "--assessor", "strong", "--reference", "ann", "--corrected", *MEASURES),
        *("--format", "json", "--scale", "0<1<2"),
    )
    assert answer.code == 0, answer.err
    rows = loaded(answer.out)["scores"]
    assert {tuple(row) for row in rows} == {("system", "measure", "topic", "assessor", "value", "low", "high", "raw")}
    found = corrected_scores(
        judged(frame(labelled=0.5)), files[1], ["P(rel=1)@10", "nDCG@10"], judge="strong", reference="ann"
    )
    for row, expected in zip(rows, found.records(), strict=True):
        assert (row["system"], row["measure"]) == (expected["system"], expected["measure"])
        assert row["value"] == pytest.approx(expected["corrected"])
        assert {key: row[key] for key in ("low", "high", "raw")} == pytest.approx(
            {key: expected[key] for key in ("low", "high", "raw")}
        )
    assert all(row["low"] < row["value"] < row["high"] for row in rows)
    assert "labels that were not given" in answer.err


def test_the_table_has_intervals_for_one_measure_and_raw_scores_for_several(venire, files):
    asked = ("evaluate", *files, "--assessor", "strong", "--reference", "ann", "--corrected", "--scale", "0<1<2", "-q")
    assert venire(*asked).out.splitlines()[0].split() == ["system", "nDCG@10", "low", "high", "raw"]
    head = venire(*asked, *MEASURES).out.splitlines()[0]
    assert head.split() == ["system", "P(rel=1)@10", "nDCG@10", "P(rel=1)@10", "raw", "nDCG@10", "raw"]


def test_the_judge_is_the_only_other_one_and_the_reference_may_be_declared_in_the_file(venire, files, tmp_path):
    rows = frame(labelled=0.5)
    two = rows.filter(rows["assessor"].is_in(["ann", "weak"])).write_csv(separator="\t")
    (tmp_path / "two.tsv").write_text(f"# reference: ann\n{two}", encoding="utf-8")
    answer = venire("evaluate", tmp_path / "two.tsv", files[1], "--corrected", "--format", "json")
    assert {row["assessor"] for row in loaded(answer.out)["scores"]} == {"weak"}


def corrected_rows(venire, folder, chance, *more):
    """Differences of venire compare, where labels 0 of ann have this probability, and the others 0.5."""
    mine = pl.when(pl.col("label") == "0").then(chance).otherwise(0.5)
    table = frame(labelled=0.5).with_columns(pl.when(pl.col("assessor") == "ann").then(mine).alias("probability"))
    command = ("compare", *write_files(folder, table), "--assessor", "strong", "--reference", "ann", "--corrected")
    answer = venire(*command, "-m", "P(rel=1)@10", "--scale", "0<1<2", "--format", "json", *more)
    assert answer.code == 0, answer.err
    return loaded(answer.out)["corrected"]


def test_compare_has_corrected_differences(venire, tmp_path):
    every = corrected_rows(venire, tmp_path, 0.5)
    found = corrected_scores(
        judged(frame(labelled=0.5)), str(tmp_path / "runs"), "P(rel=1)@10", judge="strong", reference="ann"
    )
    assert [(row["a"], row["b"]) for row in every] == [(row["a"], row["b"]) for row in found.pairs().records()]
    (turned,) = corrected_rows(venire, tmp_path, 0.5, "--baseline", "best", "--candidate", "poor")
    (pair,) = (row for row in every if {row["a"], row["b"]} == {"best", "poor"})
    assert (turned["a"], turned["b"]) == ("poor", "best")
    assert turned["low"] == pytest.approx(-pair["high"] if pair["a"] == "best" else pair["low"])
    assert len(corrected_rows(venire, tmp_path, 0.5, "--baseline", "best")) == 3
    assert [row["corrected"] for row in corrected_rows(venire, tmp_path, 0.05)] != [row["corrected"] for row in every]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--assessor", "strong", "--corrected"], "--reference NAME"),
        (["--reference", "ann", "--corrected"], "--assessor NAME"),
        (["--reference", "ann", "--assessor", "strong"], "use it with --corrected"),
        (["--reference", "ann", "--corrected", "--pool", "mean"], "--pool cannot be used with --corrected"),
        (["--reference", "ann", "--corrected", "--per-topic"], "--per-topic cannot be used with --corrected"),
        (["--reference", "ann", "--assessor", "ann", "--corrected"], "name another reference"),
        (["--reference", "nobody", "--assessor", "ann", "--corrected"], "'nobody'"),
    ],
)
def test_mistakes_have_a_way_out(venire, files, options, says):
    answer = venire("evaluate", *files, *options)
    assert answer.code == 2
    assert says in answer.err
