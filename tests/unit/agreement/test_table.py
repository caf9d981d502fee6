"""All statistics of agreement as records."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from agreement_examples import K12, crowd
from venire import read_judgments
from venire.agreement import table as module
from venire.agreement.intervals import KEYS, NO_SPREAD, NOT_ASKED
from venire.agreement.table import FUNCTIONS, table
from venire.errors import UnknownName
from venire.io import read_grid


def statistics(*args, **options) -> list[dict]:
    return table(*args, **options).records()


def found(records: list[dict], name: str, level: str, raters: str = "all") -> dict:
    (one,) = [each for each in records if (each["name"], each["level"], each["raters"]) == (name, level, raters)]
    return one


def test_every_statistic_is_there() -> None:
    records = statistics(read_grid(K12))
    assert {each["name"] for each in records} == set(FUNCTIONS)
    assert all(tuple(each) == KEYS for each in records)
    assert found(records, "krippendorff_alpha", "ordinal")["value"] == pytest.approx(0.8153875037548814)
    assert found(records, "fleiss_kappa", "nominal")["value"] == pytest.approx(0.76117, abs=5e-6)
    assert found(records, "cohen_kappa", "quadratic", "U1,U2")["n_items"] == 9
    assert found(records, "gwet_ac", "nominal")["value"] == pytest.approx(0.77544, abs=5e-6)
    assert found(records, "raw_agreement", "nominal")["value"] == pytest.approx(9 / 11)
    assert found(records, "jaccard", "3", "mean")["n_items"] == 11
    for each in records:
        assert each["meaning"].endswith(".")
        assert "{" not in each["meaning"]
        assert each["low"] <= each["value"] <= each["high"] + 1e-12
    json.dumps(records, allow_nan=False)


def test_the_scales_own_level_comes_first() -> None:
    records = statistics(read_grid(K12, scale="1<2<3<4<5 : interval"), names=["krippendorff_alpha"], n_draws=0)
    assert [each["level"] for each in records] == ["interval", "ordinal", "nominal"]
    assert [each["level"] for each in statistics(read_grid("a b\na a", scale="a|b"), names=["cohen_kappa"])] == [
        "nominal",
        "nominal",
    ]


@pytest.mark.parametrize(
    ("level", "levels", "weights"),
    [
        ("nominal", ["nominal"], ["nominal"]),
        ("ratio", ["ratio"], ["nominal", "linear", "quadratic"]),
        ("linear", [], ["linear"]),
    ],
)
def test_a_level_can_be_asked_for(level: str, levels: list[str], weights: list[str]) -> None:
    names = ["krippendorff_alpha", "fleiss_kappa"]
    records = statistics(read_grid(K12), measurement=level, names=names, n_draws=0)
    assert [each["level"] for each in records] == levels + weights


def test_degenerate_input_does_not_hold_up_the_others() -> None:
    records = statistics(read_grid("1 1 1\n1 1 1"), n_draws=20)
    assert found(records, "raw_agreement", "nominal")["value"] == 1.0
    for name in ("krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac"):
        assert found(records, name, "nominal")["value"] is None
        assert "the same" in found(records, name, "nominal")["reason"]
    unordered = statistics(read_grid("a b\na a", scale="a|b"), measurement="ordinal", n_draws=20)
    assert "no order" in found(unordered, "krippendorff_alpha", "ordinal")["reason"]
    assert found(unordered, "fleiss_kappa", "nominal")["value"] is not None
    judgments = read_grid("1 0 1\n1 1 0")
    twice = replace(judgments, assessor=replace(judgments.assessor, codes=np.zeros(6, dtype=np.int32)))
    names = [name for name in FUNCTIONS if name != "phi"]  # which takes the mean of repeated labels
    assert all("several labels" in each["reason"] for each in statistics(twice, names=names))
    json.dumps(records + unordered, allow_nan=False)


def test_over_topics_and_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    judgments, _ = crowd()
    records = statistics(judgments, over="topics", n_draws=50)
    assert all("mean over" in each["meaning"] for each in records if each["raters"] in ("all", "mean"))
    monkeypatch.setattr(module, "MOST_PAIRS", 3)
    few = statistics(judgments, names=["cohen_kappa"], n_draws=10)
    assert [each["raters"] for each in few] == ["mean"] * 3


def test_wrong_names_are_refused() -> None:
    for asked in ({"names": ["kapa"]}, {"measurement": "ordnal"}, {"over": "topic"}, {"resample": "docs"}):
        with pytest.raises(UnknownName):
            statistics(read_grid("1 0\n1 1"), **asked)


GRID = "2 1 0 1 2 0\n2 2 0 0 2 1\n1 1 0 0 2 0"


@pytest.mark.parametrize("over", ["items", "topics"])
def test_an_interval_that_was_not_requested_is_not_blamed_on_the_data(over: str) -> None:
    records = statistics(read_grid(GRID), over=over, n_draws=0)
    assert {each["name"] for each in records} == set(FUNCTIONS)
    without = [each for each in records if each["low"] is None]
    assert len(without) >= len(records) - 1  # phi has the interval of its posterior
    assert {each["reason"] for each in without} == {NOT_ASKED}
    assert all(each["value"] is not None for each in records)


def test_an_interval_that_rests_on_one_topic_says_so() -> None:
    (record,) = statistics(read_grid(GRID), names=["raw_agreement"], over="topics", n_draws=50)
    assert (record["low"], record["reason"]) == (None, NO_SPREAD)


def test_labels_repeated_by_an_assessor_are_the_reason() -> None:
    rows = [("1", "a", "U", 0), ("1", "a", "U", 2), ("1", "a", "V", 2), ("1", "b", "U", 1), ("1", "b", "V", 0)]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    records = statistics(read_judgments(frame, duplicate_labels="keep"), n_draws=20)
    empty = [each for each in records if each["value"] is None]
    assert {each["name"] for each in empty} == set(FUNCTIONS) - {"phi"}
    assert all("assessor 'U' gave several labels for document 'a'" in each["reason"] for each in empty)
    again = statistics(read_judgments(frame), n_draws=20)
    assert all(each["value"] is not None for each in again if each["name"] != "jaccard")


def test_a_table_shows_what_the_first_coefficient_means() -> None:
    shown = table(read_grid(GRID), names=["phi", "raw_agreement"], n_draws=20)
    assert shown.sentence() == shown.coefficients[0].meaning
