"""Discriminative power against exhaustive enumeration and slow loops on the same resamples."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from venire import Scores, evaluate
from venire.comparison import PairedT, tests as pair_tests
from venire.comparison.tests import PairedBootstrap, TukeyHSD
from venire.errors import SettingError
from venire.kernels import paired_tests
from venire.kernels.paired_tests import differences_of, ranges_of
from venire.quality import power as own, power as required_differences
from venire.quality.label_scales import all_thresholds
from venire.quality.power import discriminative_power, power_of
from venire.randomness import topic_weights
from venire.simulation import Synthetic, generate

KEYS = ["measure", "labels", "test", "alpha", "share", "pairs"]
# Three systems on five topics, few enough to enumerate everything: 3,125 resamples, 7,776 permutations.
FIVE = np.array([[7, 3, 2, 6, 4], [5, 1, 0, 2, 4], [0, 0, 2, 1, 3]]) / 10


def scored(values: np.ndarray, **more: tuple[str, ...]) -> Scores:
    names = {
        "system": tuple(f"s{n}" for n in range(len(values))),
        "topic": tuple(f"t{n}" for n in range(values.shape[1])),
    }
    return Scores(np.asarray(values, dtype=np.float64), ("system", "topic", *more), {**names, **more})


def drawn(n_systems: int, n_topics: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.1, (n_systems, 1)) + rng.random((n_systems, n_topics))


def every_resample(n_topics: int) -> np.ndarray:
    chosen = np.array(list(product(range(n_topics), repeat=n_topics)))
    return (chosen[:, :, None] == np.arange(n_topics)).sum(axis=1).astype(np.float64)


def slow_t(z: np.ndarray) -> float:
    return float(z.mean() / z.std(ddof=1) * np.sqrt(len(z)))


def slow_asl(z: np.ndarray, weights: np.ndarray) -> tuple[float, list[tuple[float, float]]]:
    """ASL, and (|t|, |mean|) of every resample, the largest t first."""
    w = z - z.mean()
    resampled = [np.repeat(w, weight.astype(int)) for weight in weights]
    found = sorted(((abs(slow_t(each)), abs(each.mean())) for each in resampled), reverse=True)
    larger = sum(t >= abs(slow_t(z)) for t, _ in found)
    return (1 + larger) / (1 + len(weights)), found


def test_the_bootstrap_over_all_resamples_of_five_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts as enumerated in whole numbers; resamples without spread, unless all zero, have an infinite t."""
    every = every_resample(5)
    monkeypatch.setattr(pair_tests, "topic_weights", lambda *_: every)
    monkeypatch.setattr(own, "topic_weights", lambda *_: every)
    (row,) = power_of(scored(FIVE), test=PairedBootstrap(n=3125), alpha=0.1).rows
    assert np.round(row.p_value * 3126 - 1).tolist() == [30 + 2, 300 + 5, 1225 + 245]
    assert row.p_value == pytest.approx(np.array([33, 306, 1471]) / 3126, abs=1e-12)
    assert row.record()["share"] == pytest.approx(2 / 3)
    assert power_of(scored(FIVE), test=PairedBootstrap(n=3125)).records()[0]["share"] == pytest.approx(1 / 3)


def test_tukey_over_all_permutations_of_three_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    order = np.array(list(product(permutations(range(3)), repeat=5)))
    monkeypatch.setattr(paired_tests, "permuted_ranges", lambda values, *_: ranges_of(values.T, order))
    (row,) = power_of(scored(FIVE), test=TukeyHSD(n=7776)).rows
    assert np.round(row.p_value * 7777 - 1).tolist() == [3384, 264, 5640]
    assert row.record() | {"share": 1 / 3, "told_apart": 1, "pairs": 3} == row.record()
    ranges = ranges_of(FIVE.T, order)
    most = int(0.05 * 7777) - 1
    assert (ranges >= row.difference).sum() <= most < (ranges >= row.difference - 1e-6).sum()


def test_asls_are_those_of_a_loop_on_the_same_resamples() -> None:
    values = drawn(6, 20)
    (row,) = power_of(scored(values), test=PairedBootstrap(n=200), rng=3).rows
    weights = topic_weights(20, 200, np.random.default_rng(3))
    a, b = np.triu_indices(6, k=1)
    slow = [slow_asl(values[i] - values[j], weights) for i, j in zip(a, b, strict=True)]
    np.testing.assert_allclose(row.p_value, [asl for asl, _ in slow], rtol=1e-12)
    # Sakai: the mean of the resample with the (alpha B)-th largest t, the largest over pairs
    assert row.difference == pytest.approx(max(found[9][1] for _, found in slow))
    assert row.share == np.mean([asl <= 0.05 for asl, _ in slow])
    assert row.pairs_of[0] == ("s0", "s1")
    np.testing.assert_allclose(row.delta, values.mean(axis=1)[a] - values.mean(axis=1)[b], atol=1e-12)


@pytest.mark.parametrize("missing", [False, True])
def test_required_differences_in_blocks_and_with_missing_topics(missing: bool, monkeypatch) -> None:
    values = drawn(4, 12, seed=1)
    if missing:
        values[0, 0] = values[1, 3] = values[1, 4] = np.nan
    a, b = np.triu_indices(4, k=1)
    differences = differences_of(values, a, b)
    weights = topic_weights(12, 99, np.random.default_rng(0))
    slow = []
    for value, there in zip(differences.value.T, differences.present.T, strict=True):
        slow.append(slow_asl(value[there], weights[:, there])[1][4][1])
    found = required_differences.required_differences(differences, weights, 4)
    np.testing.assert_allclose(found, slow, rtol=1e-9)
    monkeypatch.setattr(required_differences, "BLOCK_CELLS", 1)
    np.testing.assert_allclose(required_differences.required_differences(differences, weights, 4), slow, rtol=1e-9)


def test_where_too_many_resamples_have_no_spread_no_difference_is_enough() -> None:
    differences = differences_of(np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]]), np.array([0]), np.array([1]))
    every = every_resample(3)
    assert required_differences.required_differences(differences, every, 2) == [np.inf]
    assert np.isfinite(required_differences.required_differences(differences, every, 3))
    alike = differences_of(np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([0]), np.array([1]))
    assert np.isnan(required_differences.required_differences(alike, every_resample(2), 0))


def test_pairs_that_differ_on_one_topic_are_left_out_of_the_difference() -> None:
    values = drawn(3, 20)
    values = np.vstack([values, values[0]])
    values[3, 0] += 0.5
    found = power_of(scored(values), test=PairedBootstrap(n=199))
    (row,), alone = found.rows, power_of(scored(values[:3]), test=PairedBootstrap(n=199)).rows[0]
    assert row.never == 1
    assert row.difference >= alone.difference
    assert next(note for note in found.notes if note.kind == "never-significant").fields["n"] == 1
    only = power_of(scored(values[[0, 3]]), test=PairedBootstrap(n=199)).rows[0]
    assert (only.difference, only.never) == (None, 0)
    assert only.reason.startswith("differences have no spread, or too little")
    same = power_of(scored(values[[0, 0]]), test=PairedBootstrap(n=199)).rows[0]
    assert (same.share, same.difference) == (0.0, None)


def test_the_curve_crosses_alpha_at_the_share() -> None:
    (row,) = power_of(scored(drawn(9, 30)), rng=1).rows
    share, p = row.curve()
    assert (np.diff(p) >= 0).all()
    assert len(p) == row.pairs == 36
    assert share[p <= 0.05].max() == row.share
    assert share[-1] == 1


def test_like_systems_are_told_apart_as_often_as_the_level_says() -> None:
    """Pairs of systems that are the same: near alpha of them by the bootstrap, hardly any by Tukey's test."""
    rng = np.random.default_rng(5)
    tests = [PairedBootstrap(n=199), TukeyHSD(n=199)]
    found = [power_of(scored(rng.random((6, 40))), test=tests, rng=n).rows for n in range(60)]
    bootstrap, tukey = (np.array([rows[n].share for rows in found]) for n in (0, 1))
    assert bootstrap.mean() == pytest.approx(0.05, abs=4 * bootstrap.std() / np.sqrt(60))
    assert (tukey > 0).mean() <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 60)
    assert tukey.mean() < bootstrap.mean()


def test_label_sets_share_resamples_whatever_else_is_tested() -> None:
    values = drawn(5, 25)
    both = power_of({"x": scored(values), "y": scored(values / 2)}, test=[PairedBootstrap(n=99), TukeyHSD(n=99)])
    assert [(row.labels, row.test) for row in both.rows] == [
        ("x", "bootstrap"),
        ("y", "bootstrap"),
        ("x", "tukey"),
        ("y", "tukey"),
    ]
    assert both.of("score", "x").p_value.tolist() == both.of("score", "y").p_value.tolist()
    half = both.of("score", "y").difference / both.of("score", "x").difference
    assert half == pytest.approx(0.5)
    alone = power_of(scored(values), test=TukeyHSD(n=99)).rows[0]
    assert alone.p_value.tolist() == both.of("score", "x", "tukey").p_value.tolist()
    again = power_of(scored(values), test=PairedBootstrap(n=99), rng=np.random.SeedSequence(0)).rows[0]
    assert again.p_value.tolist() == both.rows[0].p_value.tolist()


def test_the_sentence_has_the_largest_and_the_smallest_share() -> None:
    values = np.stack([drawn(6, 20), drawn(6, 20, seed=2) / 9], axis=-1)
    names = {"measure": ("AP", "RR")}
    found = power_of({"x": scored(values, **names)}, test=PairedBootstrap(n=99))
    most, least = sorted(found.rows, key=lambda row: -row.share)
    assert most.share > least.share
    words = f"from {least.share:.1%} by {least.what()} to {most.share:.1%} by {most.what()} (15 pairs, level 0.05"
    assert words in found.sentence()


def test_topics_that_an_assessor_did_not_judge_are_left_out() -> None:
    values = np.stack([drawn(4, 20), drawn(4, 20, seed=2)], axis=-1)
    values[:, 12:, 1] = np.nan
    found = power_of(scored(values, assessor=("A", "B")), test=[PairedBootstrap(n=199), TukeyHSD(n=199)])
    assert [(row.labels, row.topics) for row in found.rows] == [("A", 20), ("B", 12), ("A", 20), ("B", 12)]
    expected = power_of(scored(values[:, :12, 1]), test=PairedBootstrap(n=199)).rows[0]
    assert found.of("score", "B", "bootstrap").p_value.tolist() == expected.p_value.tolist()
    assert found.of("score", "B", "bootstrap").difference == expected.difference


def test_what_cannot_be_tested_has_a_reason_and_the_rest_goes_on() -> None:
    values = np.stack([drawn(3, 8), drawn(3, 8, seed=2)], axis=-1)
    values[:, 1:, 1] = np.nan
    found = power_of(scored(values, assessor=("A", "B")), test=PairedBootstrap(n=99))
    good, bad = found.records()
    assert good["share"] is not None
    assert good["reason"] is None
    assert (bad["share"], bad["pairs"], bad["difference"]) == (None, 0, None)
    assert bad["reason"] == "1 topic with scores, expected two or more"
    assert next(note for note in found.notes if note.kind == "untested").fields["labels"] == ["B"]
    assert found.sentence() == found.rows[0].sentence()
    assert "1 topic with scores" in found.rows[1].sentence()


def test_tukey_without_common_topics_is_said_and_not_raised() -> None:
    values = drawn(3, 6)
    values[0, :3] = values[1, 3:] = np.nan
    found = power_of(scored(values), test=[TukeyHSD(n=99), PairedBootstrap(n=99)])
    assert found.rows[0].share is None
    assert "0 of 6 topics have a score of every system" in found.rows[0].reason
    assert found.rows[1].pairs == 2
    note = next(note for note in found.notes if note.kind == "too-few-topics")
    assert (note.fields["n"], note.fields["pairs"]) == (1, 3)


def test_draws_too_few_for_the_level_are_told() -> None:
    found = power_of(scored(drawn(4, 30)), test=[PairedBootstrap(n=10), TukeyHSD(n=10)])
    assert {row.share for row in found.rows} == {0.0}
    assert found.rows[0].reason == "10 draws cannot give a p-value of 0.05, expected 19 or more"
    assert [note.kind for note in found.notes].count("too-few-draws") == 2
    assert power_of(scored(drawn(4, 30)), test=PairedBootstrap(n=19)).rows[0].difference is not None


def test_another_test_has_no_required_difference() -> None:
    (row,) = power_of(scored(drawn(4, 30)), test=PairedT()).rows
    assert (row.test, row.difference) == ("PairedT", None)
    assert row.reason == "this test has no required difference"


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0, float("nan")])
def test_alpha_is_a_level(alpha: float) -> None:
    with pytest.raises(SettingError, match="alpha is"):
        power_of(scored(drawn(3, 5)), alpha=alpha)


@pytest.fixture(scope="module")
def collection():
    return generate(Synthetic(n_topics=15, docs_per_topic=60, n_unjudged=0), rng=5)


QUICK = {"test": PairedBootstrap(n=99)}


def test_assessors_and_gains_side_by_side(collection) -> None:
    judgments, runs = collection.judgments, collection.runs
    gains = ["linear", "binary:2"]
    found = discriminative_power(judgments, runs, ["nDCG@10", "AP"], gains=gains, per="assessor", **QUICK)
    assert len(found.rows) == 2 * 2 * 5
    assert [row.labels for row in found.rows[:6]] == [
        *(f"{who}, linear" for who in judgments.assessors),
        f"{judgments.assessors[0]}, binary:2",
    ]
    assert all(list(record)[:6] == KEYS for record in found.records())
    scores = evaluate(judgments, runs, "AP", gains="binary:2", assessor="strict1")
    expected = power_of(scores, **QUICK).rows[0]
    assert found.of("AP", "strict1, binary:2").p_value.tolist() == expected.p_value.tolist()


def test_a_label_set_is_named_after_whose_labels_it_has(collection) -> None:
    judgments, runs = collection.judgments, collection.runs

    def names(**how):
        return [row.labels for row in discriminative_power(judgments, runs, **how, **QUICK).rows]

    assert names(pool="median") == ["median"]
    assert names(assessor="lazy1") == ["lazy1"]
    assert names(per="assessor") == list(judgments.assessors)
    assert names(pool="mean", gains={"a": "linear", "b": "exponential"}) == ["a", "b"]


def test_collapsed_scales_side_by_side(collection) -> None:
    judgments, runs = collection.judgments, collection.runs
    found = discriminative_power({"4": judgments, **all_thresholds(judgments)}, runs, pool="median", **QUICK)
    assert [row.labels for row in found.rows] == ["4", "4to2(>=1)", "4to2(>=2)", "4to2(>=3)"]
    assert found.notes[0].kind == "different-scales"
    binary = discriminative_power(judgments, runs, pool="median", gains=["binary:2"], **QUICK).rows[0]
    np.testing.assert_allclose(found.rows[2].delta, binary.delta, atol=1e-12)


def test_judgments_as_dictionaries_are_one_label_set() -> None:
    judgments = {f"q{n}": {"a": n % 2, "b": 1, "c": 0} for n in range(6)}
    up, down = {"a": 3.0, "b": 2.0, "c": 1.0}, {"c": 3.0, "b": 2.0, "a": 1.0}
    runs = {"x": dict.fromkeys(judgments, up), "y": dict.fromkeys(judgments, down)}
    found = discriminative_power(judgments, runs, ["RR"], **QUICK)
    assert found.rows[0].pairs == 1
    with pytest.raises(SettingError, match="nothing was tested by AP"):
        found.of("AP", "?")


def test_pairs_that_another_seed_may_move_are_counted():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(8, 25)) + np.linspace(0, 1, 8)[:, None]
    names = {"system": tuple("abcdefgh"), "topic": tuple(map(str, range(25)))}
    found = [power_of(Scores(values, ("system", "topic"), names), rng=seed) for seed in range(10)]
    close = int((np.abs(found[0].rows[0].p_value - 0.05) <= 2 * np.sqrt(0.05 * 0.95 / 1000)).sum())
    assert close > 0
    note = next(note for note in found[0].notes if note.kind == "near-level")
    assert (note.fields["n"], note.fields["pairs"], round(note.fields["error"], 3)) == (close, 28, 0.014)
    counts = [int(each.rows[0].told_apart.sum()) for each in found]
    assert 0 < max(counts) - min(counts) <= close
    sure = power_of(Scores(values[[0, 7]], ("system", "topic"), {**names, "system": ("a", "h")}))
    assert "near-level" not in [note.kind for note in sure.notes]
