"""All statistics of agreement as records."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from agreement_examples import K12, crowd
from venire import read_grid
from venire.agreement import table as module
from venire.agreement.coefficient import KEYS
from venire.agreement.table import FUNCTIONS, statistics
from venire.errors import UnknownName


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
    records = statistics(read_grid(K12), level=level, names=names, n_draws=0)
    assert [each["level"] for each in records] == levels + weights


def test_degenerate_input_does_not_hold_up_the_others() -> None:
    records = statistics(read_grid("1 1 1\n1 1 1"), n_draws=20)
    assert found(records, "raw_agreement", "nominal")["value"] == 1.0
    for name in ("krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac"):
        assert found(records, name, "nominal")["value"] is None
        assert "the same" in found(records, name, "nominal")["reason"]
    unordered = statistics(read_grid("a b\na a", scale="a|b"), level="ordinal", n_draws=20)
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
    for asked in ({"names": ["kapa"]}, {"level": "ordnal"}, {"over": "topic"}, {"resample": "docs"}):
        with pytest.raises(UnknownName):
            statistics(read_grid("1 0\n1 1"), **asked)
