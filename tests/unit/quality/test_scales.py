from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from venire.agreement.phi import phi
from venire.agreement.table import table
from venire.comparison.tests import PairedBootstrap
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.data.scale import Scale
from venire.errors import SettingError, UnknownName
from venire.io.judgments import read_grid
from venire.quality.label_preferences import LabelPreferences
from venire.quality.label_scales import all_thresholds, scale_settings, threshold_labels
from venire.quality.lists import chosen_lists, top_of_runs
from venire.quality.pdp import PDPDifference, compare_pdp, pdp
from venire.quality.power import discriminative_power
from venire.quality.scales import MEANINGS, NOT_ACROSS_SCALES, ScaleComparison, ScaleValue, compare_scales
from venire.simulation.perceived import PerceivedRelevance, generate_perceived
from venire.simulation.systems import Systems, scattered

SETTING = PerceivedRelevance(
    n_topics=30, docs_per_topic=6, n_assessors=3, sigma=(0.1, 0.1), systems=Systems(quality=scattered(4))
)


@pytest.fixture(scope="module")
def collection():
    return generate_perceived(SETTING, rng=3)


@pytest.fixture(scope="module")
def compared(collection):
    return compare_scales(
        collection.judgments,
        collection.runs,
        ["nDCG@5", "P@5"],
        preferences=collection.preferences,
        split=[math.inf],
        sums=True,
        k=5,
        n_draws=40,
    )


def graded(n_labels: int) -> Judgments:
    return read_grid(" ".join(str(label) for label in range(n_labels)))


@pytest.mark.parametrize("n_labels", [2, 3, 4, 5])
def test_every_way_to_merge_neighbours_is_there_once(n_labels):
    settings, notes = scale_settings(graded(n_labels))
    assert notes == []
    merged = {tuple(each.label.tolist()) for each in settings.values()}
    steps = [np.cumsum((0, *step)).tolist() for step in product([0, 1], repeat=n_labels - 1)]
    assert merged == {tuple(level) for level in steps if level[-1] > 0}
    assert len(settings) == len(merged)
    assert all(len(each.scale) == max(each.label) + 1 for each in settings.values())


def test_settings_are_named_after_their_cuts():
    settings, _ = scale_settings(graded(4))
    assert list(settings) == [
        *("4", "4to2(>=1)", "4to2(>=2)", "4to2(>=3)"),
        *("4to3(>=1,>=2)", "4to3(>=1,>=3)", "4to3(>=2,>=3)"),
    ]
    assert settings["4to3(>=1,>=3)"].label.tolist() == [0, 1, 1, 2]
    for name, judgments in all_thresholds(graded(4)).items():
        assert settings[name].label.tolist() == judgments.label.tolist()


def test_fewer_settings_where_asked_or_where_labels_are_many():
    assert list(scale_settings(graded(4), merge="none")[0]) == ["4"]
    assert len(scale_settings(graded(4), merge="two")[0]) == 4
    settings, notes = scale_settings(graded(7))
    assert len(settings) == 7
    assert (notes[0].kind, notes[0].fields["ways"]) == ("many-labels", 62)
    with pytest.raises(UnknownName, match="there is no way to merge labels 'some'"):
        scale_settings(graded(3), merge="some")


def test_labels_without_an_order_stay_as_they_are():
    judgments = read_grid("a b c", scale="a|b|c")
    settings, notes = scale_settings(judgments, split=[1], sums=True)
    assert list(settings) == ["3"]
    assert notes[0].kind == "no-order"


def test_extensions_are_drawn_by_rng(collection):
    judgments = collection.judgments
    one, two, other = (
        scale_settings(judgments, merge="none", split=[1.0, 1.0, 2.0], rng=seed)[0] for seed in (1, 1, 2)
    )
    assert list(one) == ["4", "4to7(w=1)", "4to7(w=2)"]
    assert np.array_equal(one["4to7(w=1)"].label, two["4to7(w=1)"].label)
    assert not np.array_equal(one["4to7(w=1)"].label, other["4to7(w=1)"].label)


def test_every_number_is_that_of_its_own_function(compared, collection):
    settings, _ = scale_settings(collection.judgments)
    name = "4to2(>=2)"
    labels = settings[name]
    found = {(each.statistic, each.measure): each for each in compared.values if each.setting == name}
    assert {each.labels for each in found.values()} == {2}
    (alpha,) = table(labels, measurement="ordinal", names=["krippendorff_alpha"], n_draws=0).records()
    assert found["krippendorff_alpha", None].value == alpha["value"]
    assert found["phi", None].value == phi(labels).value
    lists = top_of_runs(collection.judgments, collection.runs, 5)
    for mode in ("individual", "aggregate"):
        one = pdp(labels, collection.preferences, labels=LabelPreferences(mode=mode), lists=lists, n_draws=0)
        assert found[f"pdp_{mode}", None].value == pytest.approx(one.value, abs=1e-12)
        assert found[f"pdp_{mode}", None].low < one.value < found[f"pdp_{mode}", None].high
    power = discriminative_power(
        labels, collection.runs, ["nDCG@5", "P@5"], pool="median", test=PairedBootstrap(n=1000), rng=0
    )
    for row in power.rows:
        assert found["discriminative_power", row.measure].value == row.share


def test_a_finer_scale_that_says_the_same_has_the_same_pdp(compared):
    for statistic in ("pdp_individual", "pdp_aggregate", "krippendorff_alpha"):
        values = compared.of(statistic)
        assert values["4to7(w=inf)"] == pytest.approx(values["4"], abs=1e-12)


def test_merging_labels_leaves_more_of_the_order_open(compared):
    values = compared.of("pdp_individual")
    assert all(values["4"] < value for name, value in values.items() if "to2" in name)
    assert values["4to3(>=1,>=3)"] < values["4to2(>=1)"]


def test_what_cannot_be_said_has_a_reason(compared):
    unknown = {(each.setting, each.statistic): each.reason for each in compared.values if each.value is None}
    summed = compared.settings[-1]
    assert summed.endswith("(logS)")
    assert set(unknown) == {(summed, "krippendorff_alpha"), (summed, "phi"), (summed, "pdp_individual")}
    assert all(unknown.values())
    assert (summed, "pdp_aggregate") not in unknown


def test_settings_stand_together_and_the_warning_comes_first(compared):
    assert compared.notes[0] == NOT_ACROSS_SCALES
    order = [each.setting for each in compared.values]
    assert order == sorted(order, key=compared.settings.index)
    assert list(compared.meanings()) == list(MEANINGS)
    assert compared.sentence().startswith("PDP of the labels as they are is ")
    keys = ["setting", "labels", "statistic", "measure", "value", "low", "high", "reason"]
    assert [list(record) for record in compared.records()] == [keys] * len(compared.values)


def test_without_preferences_or_runs_nothing_is_called_best(collection):
    bare = compare_scales(collection.judgments, merge="two", n_draws=0)
    assert {each.statistic for each in bare.values} == {"krippendorff_alpha", "phi"}
    assert "needs preferences" in bare.sentence()
    scored = compare_scales(collection.judgments, collection.runs, ["nDCG@5"], merge="two", n_draws=40)
    shares = scored.of("discriminative_power", "nDCG@5")
    assert list(shares) == list(scored.settings)
    assert f"at most {max(shares.values()):.1%} (" in scored.sentence()


def test_tests_of_systems_do_not_hang_on_the_resamples_for_intervals(collection):
    shares = [
        compare_scales(collection.judgments, collection.runs, ["nDCG@5"], n_draws=n, agreement=False, rng=2).of(
            "discriminative_power"
        )
        for n in (None, 0, 7, 40)
    ]
    assert shares.count(shares[0]) == 4
    expected = discriminative_power(
        scale_settings(collection.judgments)[0],
        collection.runs,
        ["nDCG@5"],
        pool="median",
        test=PairedBootstrap(n=1000),
        rng=2,
    )
    assert list(shares[0].values()) == [row.share for row in expected.rows]


def test_agreement_may_be_left_out(compared, collection):
    how = {"preferences": collection.preferences, "split": [math.inf], "sums": True, "k": 5, "n_draws": 40}
    found = compare_scales(collection.judgments, agreement=False, **how)
    assert {each.statistic for each in found.values} == {"pdp_individual", "pdp_aggregate"}
    assert NOT_ACROSS_SCALES not in found.notes
    assert found.settings == compared.settings
    with pytest.raises(SettingError, match="nothing to compare"):
        compare_scales(collection.judgments, agreement=False)


def test_settings_are_compared_with_the_labels_as_they_are(compared, collection):
    settings, _ = scale_settings(collection.judgments, split=[math.inf], sums=True)
    lists = top_of_runs(collection.judgments, collection.runs, 5)
    own, other = (pdp(settings[name], collection.preferences, lists=lists, n_draws=40) for name in ("4", "4to2(>=2)"))
    expected = compare_pdp(other, own, names=("4to2(>=2)", "4"), n_comparisons=7)
    found = {(each.mode, each.a): each for each in compared.differences}
    assert found["individual", "4to2(>=2)"] == expected
    assert {each.b for each in compared.differences} == {"4"}
    assert len(found) == 7 + 8
    same = found["aggregate", "4to7(w=inf)"]
    assert (same.difference, same.low, same.high, same.p_value) == (pytest.approx(0, abs=1e-9), 0, 0, 1)


def test_the_sentence_follows_the_intervals():
    values = tuple(ScaleValue(name, 4, "pdp_individual", None, 1.0) for name in "abcd")
    how = {"mode": "individual", "k": 5, "b": "a", "topics": 9, "test": "jackknife"}
    ends = {"b": (0.5, 0.1, 0.9), "c": (-0.5, -0.9, -0.1), "d": (0.5, -0.1, 1.1)}
    differences = [
        PDPDifference(a=name, difference=mean, low=low, high=high, p_value=0.5, **how)
        for name, (mean, low, high) in ends.items()
    ]
    sentence = ScaleComparison(values, (), tuple(differences)).sentence()
    assert "more uncertain: b; significantly less uncertain: c; not significantly different: d (jackknife)" in sentence
    bare = tuple(replace(each, low=None, high=None, p_value=None) for each in differences)
    assert "without an interval: b +0.500, c -0.500 and d +0.500" in ScaleComparison(values, (), bare).sentence()


@pytest.mark.parametrize("choose", ["tested", "random", "runs"])
def test_documents_are_chosen_as_asked(collection, choose):
    how = {"preferences": collection.preferences, "k": 5, "n_draws": 0, "agreement": False, "merge": "none"}
    found = compare_scales(collection.judgments, collection.runs, choose=choose, rng=4, **how)
    lists = chosen_lists(
        collection.judgments, collection.preferences, collection.runs, k=5, choose=choose, rng=np.random.SeedSequence(4)
    )
    expected = pdp(collection.judgments, collection.preferences, lists=lists, n_draws=0).value
    assert found.of("pdp_individual")["4"] == pytest.approx(expected, abs=1e-12)
    assert compare_scales(collection.judgments, lists=lists, **how).of("pdp_individual")["4"] == pytest.approx(expected)


def test_preferences_on_other_documents_give_reasons_and_the_rest_goes_on(collection):
    foreign = Preferences.of([("1", "x", "y", 1), ("nowhere", "d0001", "d0002", 1)])
    found = compare_scales(collection.judgments, preferences=foreign, merge="none", n_draws=0)
    reasons = {each.statistic: each.reason for each in found.values}
    assert "both documents are labelled in none of the preference tests (2)" in reasons["pdp_individual"]
    assert reasons["krippendorff_alpha"] is None
    assert found.of("pdp_individual") == {}


def test_documents_are_drawn_where_labels_have_no_order(collection):
    judgments = replace(collection.judgments, scale=Scale.parse("0|1|2|3"))
    found = compare_scales(judgments, preferences=collection.preferences, k=3, n_draws=0, agreement=False)
    assert next(note for note in found.notes if note.kind == "pdp-lists").fields["k"] == 3
    assert found.of("pdp_individual")["4"] > 0


def test_one_setting_alone_keeps_its_name(collection):
    found = compare_scales(
        threshold_labels(collection.judgments, "2"), collection.runs, ["P@5"], merge="all", n_draws=40
    )
    assert found.settings == ("2",)
    assert list(found.of("discriminative_power")) == ["2"]


def test_without_intervals_the_values_are_the_same(compared, collection):
    how = {"preferences": collection.preferences, "split": [math.inf], "sums": True, "k": 5, "n_draws": 40}
    found = compare_scales(collection.judgments, collection.runs, ["nDCG@5", "P@5"], intervals=False, **how)
    assert [(each.setting, each.statistic, each.value) for each in found.values] == [
        (each.setting, each.statistic, each.value) for each in compared.values
    ]
    alphas = [each for each in found.values if each.statistic == "krippendorff_alpha" and each.value is not None]
    assert [each.low is not None for each in alphas] == [True, *[False] * (len(alphas) - 1)]
    assert found.differences == compared.differences
    assert found.notes == compared.notes
