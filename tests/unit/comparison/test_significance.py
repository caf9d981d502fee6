"""Comparing systems: adjustments, sizes of differences, records and words; the tests have a file of their own."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from venire import Scores
from venire.comparison.significance import bootstrap_interval, compare_systems, correction, effects_of, head_to_head
from venire.comparison.tests import PairedBootstrap, PairedT, SignFlip, TukeyHSD, Wilcoxon, benjamini_hochberg, holm
from venire.errors import MeasureError, SettingError, UnknownName
from venire.kernels.paired_tests import all_pairs, differences_of
from venire.randomness import topic_weights

P_VALUES = st.lists(st.floats(0, 1) | st.just(0.02) | st.just(float("nan")), min_size=1, max_size=12)


def scored(values: np.ndarray, *, measures: tuple[str, ...] | None = None) -> Scores:
    names = {"system": tuple("abcdefghij"[: len(values)]), "topic": tuple(f"t{n}" for n in range(values.shape[1]))}
    axes: tuple[str, ...] = ("system", "topic")
    if measures:
        names, axes = names | {"measure": measures}, (*axes, "measure")
    return Scores(np.asarray(values, dtype=np.float64), axes, names)


def random_values(n_systems: int = 5, n_topics: int = 25, *, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.beta(2, 2, size=(n_systems, n_topics)) + 0.1 * np.arange(n_systems)[:, None]


@given(p=P_VALUES)
def test_holm_is_the_textbook_loop(p: list[float]) -> None:
    known = sorted((value, place) for place, value in enumerate(p) if value == value)
    slow, highest = [float("nan")] * len(p), 0.0
    for step, (value, place) in enumerate(known):
        highest = max(highest, (len(known) - step) * value)
        slow[place] = min(1.0, highest)
    np.testing.assert_allclose(holm(np.array(p)), slow, rtol=1e-12)


@given(p=P_VALUES)
def test_benjamini_hochberg_is_that_of_scipy(p: list[float]) -> None:
    found, known = benjamini_hochberg(np.array(p)), ~np.isnan(p)
    assert np.isnan(found).tolist() == (~known).tolist()
    if known.any():
        np.testing.assert_allclose(found[known], stats.false_discovery_control(np.array(p)[known]), rtol=1e-12)


@pytest.mark.parametrize(("name", "adjust"), [("holm", holm), ("fdr_bh", benjamini_hochberg)])
def test_adjustments_are_those_of_statsmodels(name: str, adjust) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.random.default_rng(1).beta(0.3, 2, size=60)
    np.testing.assert_allclose(adjust(p), multitest.multipletests(p, method=name)[1], rtol=1e-12)


def test_student_intervals_are_those_of_scipy() -> None:
    values = random_values()
    values[1, :5] = np.nan
    found = compare_systems(scored(values), confidence=0.9).effects
    for pair, (a, b) in enumerate(zip(*all_pairs(5), strict=True)):
        difference = (values[a] - values[b])[~np.isnan(values[a] - values[b])]
        slow = stats.ttest_1samp(difference, 0.0).confidence_interval(0.9)
        assert found.delta[pair] == pytest.approx(difference.mean())
        assert (found.low[pair], found.high[pair]) == pytest.approx(tuple(slow))


@pytest.mark.parametrize(("measure", "most"), [("nDCG@10", 1.0), ("DCG@10", np.inf), ("own", np.inf)])
def test_limits_of_a_difference_are_cut_at_its_range(measure: str, most: float) -> None:
    values = np.array([[0.0, 1.0, 0.6], [0.0, 0.0, 0.5]])[..., None]
    found = compare_systems(scored(values, measures=(measure,)), confidence=0.99)
    half = stats.t.ppf(0.995, 2) * np.std([0, 1, 0.1], ddof=1) / np.sqrt(3)
    mean = 1.1 / 3
    assert found.effects.low.item() == pytest.approx(max(mean - half, -most))
    assert found.effects.high.item() == pytest.approx(min(mean + half, most))
    assert half > 1.4


def test_bootstrap_intervals_are_those_of_a_loop_on_the_same_resamples() -> None:
    values = random_values(3, 12)
    differences, weights = differences_of(values, *all_pairs(3)), topic_weights(12, 399, np.random.default_rng(2))
    low, high = bootstrap_interval(differences, weights)
    for pair, z in enumerate(differences.value.T):
        se = z.std(ddof=1) / np.sqrt(12)
        drawn = [np.repeat(z, weight.astype(int)) for weight in weights]
        t = np.sort([(each.mean() - z.mean()) / (each.std(ddof=1) / np.sqrt(12)) for each in drawn])
        assert (low[pair], high[pair]) == pytest.approx((z.mean() - t[-10] * se, z.mean() - t[9] * se))


def test_standardised_differences_have_the_intervals_of_the_noncentral_t() -> None:
    values = random_values(3, 15)
    found = compare_systems(scored(values)).effects
    for pair, (a, b) in enumerate(zip(*all_pairs(3), strict=True)):
        z = values[a] - values[b]
        d = z.mean() / z.std(ddof=1)
        assert found.effect[pair] == pytest.approx(d * (1 - 3 / (4 * 14 - 1)), rel=2e-4)
        ends = np.array([found.effect_low[pair], found.effect_high[pair]]) * np.sqrt(15)
        assert stats.nct.cdf(d * np.sqrt(15), 14, ends) == pytest.approx([0.975, 0.025], abs=1e-5)


def test_the_small_sample_correction_makes_the_standardised_difference_unbiased() -> None:
    """E[d] of six topics: by the mean of the noncentral t, which needs no simulation."""
    df, delta = 5, 0.7
    expected = stats.nct.mean(df, delta * np.sqrt(6)) / np.sqrt(6)
    assert correction(np.array([5.0]))[0] * expected == pytest.approx(delta)


def test_superiority_counts_ties_half_and_has_the_interval_of_wilson() -> None:
    values = np.array([[0.5, 0.4, 0.3, 0.9, 0.8, 0.1, 0.3], [0.4, 0.5, 0.2, 0.8, 0.7, 0.1, 0.3]])
    found = compare_systems(scored(values)).effects
    assert (found.wins[0], found.ties[0], found.losses[0]) == (4, 2, 1)
    assert found.superiority[0] == 5 / 7
    wilson = stats.binomtest(5, 7).proportion_ci(method="wilson")
    assert (found.superiority_low[0], found.superiority_high[0]) == pytest.approx(tuple(wilson))


def test_what_has_no_size_has_none() -> None:
    values = np.array([[0.3, 0.5, 0.7, 0.9], [0.2, 0.4, 0.6, 0.8], [0.3, 0.5, 0.7, 0.9]])
    found = compare_systems(scored(values), adjust=None)
    records = {(each["a"], each["b"]): each for each in found.records()}
    assert records["a", "b"]["effect"] is None
    assert records["a", "b"]["boot_low"] is None
    assert records["a", "c"]["p_value"] == 1
    assert records["a", "c"]["low"] == records["a", "c"]["high"] == 0
    assert records["a", "c"]["effect"] is None
    assert len(found.notes) == 2
    json.dumps(found.records(), allow_nan=False)


def test_two_topics_are_too_few_for_a_bootstrap_interval() -> None:
    found = effects_of(differences_of(np.array([[0.1, 0.5], [0.0, 0.2]]), *all_pairs(2)), rng=np.random.default_rng(0))
    assert np.isnan([found.boot_low[0], found.boot_high[0]]).all()
    assert found.low[0] < 0.2 < found.high[0]
    assert found.effect[0] == 0


def test_records_tell_all_of_every_pair() -> None:
    found = compare_systems(scored(random_values()), test=PairedT(), adjust="holm")
    assert len(found.records()) == 10
    assert list(found.records()[0])[:7] == ["a", "b", "measure", "topics", "delta", "p_value", "p_adjusted"]
    assert {"effect", "effect_low", "effect_high", "superiority", "low", "high"} < found.records()[0].keys()
    assert [(each["a"], each["b"]) for each in found.records()][:5] == [
        ("a", "b"), ("a", "c"), ("a", "d"), ("a", "e"), ("b", "c"),
    ]  # fmt: skip
    np.testing.assert_array_equal(found.p_adjusted, holm(found.p_value))
    assert found.significant.sum() == (found.p_adjusted <= 0.05).sum() > 0


def test_pairs_may_be_chosen() -> None:
    scores = scored(random_values(3))
    against = compare_systems(scores, pairs="b", test=PairedT())
    assert [(each["a"], each["b"]) for each in against.records()] == [("a", "b"), ("c", "b")]
    assert against.delta[0] < 0 < against.delta[1]
    one = compare_systems(scores, pairs=[("c", "b")], test=PairedT())
    assert one.p_value[0] == one.p_adjusted[0] == against.p_value[1]


def test_tukey_is_not_adjusted_twice() -> None:
    found = compare_systems(scored(random_values()), test=TukeyHSD(n=199), adjust="holm")
    assert found.p_adjusted.tolist() == found.p_value.tolist()
    assert found.adjust == "tukey"


@pytest.mark.parametrize(("n", "coarse"), [(99, True), (198, True), (199, False), (999, False)])
@pytest.mark.parametrize("test", [SignFlip, PairedBootstrap])
def test_too_few_draws_for_so_many_pairs_are_noted(test, n: int, coarse: bool) -> None:
    values = random_values(5) / 10 + np.arange(5)[:, None]
    found = compare_systems(scored(values), test=test(n=n))
    assert found.significant.any() != coarse
    assert [note.fields["more"] for note in found.notes] == ["200 draws or more"] * coarse
    assert not compare_systems(scored(values), test=test(n=n), adjust=None).notes


def test_too_few_topics_for_so_many_pairs_are_noted() -> None:
    values = random_values(5, 6) / 10 + np.arange(5)[:, None]
    for test in (SignFlip(n=99), Wilcoxon()):
        (note,) = compare_systems(scored(values), test=test).notes
        assert (note.kind, note.fields["more"]) == ("too-coarse", "more topics")


@pytest.mark.parametrize("test", [SignFlip(n=99), PairedBootstrap(n=99), TukeyHSD(n=99)], ids=repr)
def test_the_same_seed_gives_the_same_answer(test) -> None:
    scores = scored(random_values())
    first, again, other = (compare_systems(scores, test=test, rng=rng) for rng in (1, 1, 2))
    assert first.records() == again.records()
    assert first.p_value.tolist() != other.p_value.tolist()


def test_missing_topics_are_left_out_pair_by_pair() -> None:
    values = random_values(3, 12)
    values[0, 3], values[1, :11] = np.nan, np.nan
    found = compare_systems(scored(values), test=Wilcoxon())
    assert found.n_topics.tolist() == [1, 11, 1]
    assert np.isnan(found.p_value).tolist() == [True, False, True]
    assert found.p_adjusted[1] == found.p_value[1]
    assert found.records()[0]["p_value"] is None
    assert [(note.kind, note.fields["n"]) for note in found.notes] == [("pairs-lack-topics", 3), ("no-p-value", 2)]
    json.dumps(found.records(), allow_nan=False)


def test_topics_are_listed_by_difference() -> None:
    values = np.array([[0.5, 0.2, 0.3, np.nan, 0.9], [0.4, 0.5, 0.3, 0.1, 0.2]])
    found = head_to_head(scored(values), "a", "b")
    assert found.topics == ("t4", "t0", "t2", "t1")
    assert found.difference.tolist() == pytest.approx([0.7, 0.1, 0.0, -0.3])
    assert [each["outcome"] for each in found.records()] == ["win", "win", "tie", "loss"]
    assert (found.counts, found.missing) == ((2, 1, 1), ("t3",))
    assert "nan" not in found.sentence()
    assert head_to_head(scored(values), "b", "a").topics == ("t1", "t2", "t0", "t4")


def test_a_measure_must_be_named_where_there_are_several() -> None:
    values = np.stack([random_values(2), random_values(2, seed=1)], axis=2)
    scores = scored(values, measures=("P@5", "AP"))
    assert compare_systems(scores, "AP", test=PairedT()).delta[0] == pytest.approx(-np.diff(values[:, :, 1].mean(1))[0])
    with pytest.raises(MeasureError, match="there are 2 measures"):
        compare_systems(scores)
    with pytest.raises(UnknownName, match="there is no measure 'RR'"):
        compare_systems(scores, "RR")
    assert compare_systems(scored(values[:, :, :1], measures=("P@5",))).measure == "P@5"


@pytest.mark.parametrize(
    ("scores", "options", "words"),
    [
        (scored(random_values(1)), {}, "found 1 system \\(a\\), expected two or more"),
        (scored(random_values(2)).mean(), {}, "scores are by system, expected by system and topic"),
        (scored(random_values(2)), {"pairs": "x"}, "there is no system 'x'"),
        (scored(random_values(2)), {"pairs": [("a", "a")]}, "the pairs are"),
        (scored(random_values(2)), {"pairs": []}, "the pairs are"),
        (scored(random_values(2)), {"adjust": "sidak"}, "there is no adjustment 'sidak'"),
        (scored(random_values(2)), {"confidence": 95}, "the confidence is 95"),
        (scored(random_values(2)), {"n_resamples": 0}, "n_resamples is 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(scores: Scores, options: dict, words: str) -> None:
    with pytest.raises((SettingError, UnknownName), match=words):
        compare_systems(scores, **options)
