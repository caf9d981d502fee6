"""Forecasts under another judge."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from venire import evaluate, read_judgments
from venire.comparison.forecast import forecast, resampled
from venire.comparison.judge_change import RankCounts
from venire.data.scale import Scale
from venire.disagreement.transitions import agreement_transitions, stated_transitions
from venire.errors import AmbiguousLabels


def labels(rows, scale="0<1"):
    topic, doc, who, label = zip(*rows, strict=True)
    return read_judgments(pl.DataFrame({"topic": topic, "doc": doc, "assessor": who, "label": label}), scale=scale)


def ranking(docs):
    return {doc: float(-place) for place, doc in enumerate(docs)}


def two_systems(n=5):
    """System a has n relevant documents, b as many of which two are relevant; none in common."""
    docs = {"a": [f"a{k}" for k in range(n)], "b": [f"b{k}" for k in range(n)]}
    rows = [("q", doc, "old", "1") for doc in docs["a"]]
    rows += [("q", doc, "old", str(int(place < 2))) for place, doc in enumerate(docs["b"])]
    return labels(rows), {name: {"q": ranking(some)} for name, some in docs.items()}


def test_a_new_judge_who_always_agrees_changes_nothing():
    judged, runs = two_systems()
    sure = stated_transitions(Scale.parse("0<1"), np.eye(2))
    found = forecast(judged, runs, "P@5", transitions=sure, judge_model="fixed", n_draws=20)
    changes = found.changes(*found.pairs())
    assert changes.stays.tolist() == [1.0]
    assert changes.flips.tolist() == changes.tie.tolist() == [0.0]
    np.testing.assert_allclose(found.draws, np.tile(found.mean, (20, 1)))


def test_draws_agree_with_the_exact_distribution():
    judged, runs = two_systems()
    found = forecast(
        judged,
        runs,
        "P@5",
        transitions=agreement_transitions(judged.scale, 0.8, 0.7),
        judge_model="fixed",
        n_draws=20_000,
    )
    changes = found.changes(*found.pairs())
    counts = RankCounts(c10=3, c11=2)
    ahead, level, behind = counts.chances(0.8, 0.7)
    error = 4 * np.sqrt(0.25 / 20_000)
    assert changes.delta[0] == pytest.approx(0.6)
    assert (changes.stays[0], changes.tie[0], changes.flips[0]) == pytest.approx((ahead, level, behind), abs=error)
    assert changes.expected[0] == pytest.approx(counts.expected(0.8, 0.7), abs=error)
    assert changes.sd[0] == pytest.approx(counts.variance(0.8, 0.7) ** 0.5, rel=0.03)
    assert changes.se[0] == pytest.approx(np.sqrt(ahead * (1 - ahead) / 20_000), rel=0.05)


def test_scores_now_are_those_of_evaluate_and_seeds_repeat():
    rng = np.random.default_rng(0)
    rows = [(f"q{t}", f"d{n}", who, str(rng.integers(0, 3))) for t in range(4) for n in range(8) for who in ("x", "y")]
    judged = labels(rows, "0<1<2")
    runs = {name: {f"q{t}": ranking(rng.permutation([f"d{n}" for n in range(8)])) for t in range(4)} for name in "abc"}
    one = forecast(judged, runs, "nDCG@5", assessor="x", new_judge="y", n_draws=50, rng=3)
    again = forecast(judged, runs, "nDCG@5", assessor="x", new_judge="y", n_draws=50, rng=3)
    np.testing.assert_array_equal(one.draws, again.draws)
    scores = evaluate(judged, runs, "nDCG@5", assessor="x")
    np.testing.assert_allclose(one.now, scores.values[:, :, 0])
    a, b = one.pairs("b")
    assert [one.systems[n] for n in a] == ["a", "c"]
    assert {one.systems[n] for n in b} == {"b"}


def test_whose_labels_count_must_be_said():
    rows = [("q", "d", "x", "1"), ("q", "d", "y", "0")]
    with pytest.raises(AmbiguousLabels, match="whose labels"):
        forecast(labels(rows), {"a": {"q": {"d": 1.0}}})


def test_a_level_pair_neither_stays_nor_flips():
    judged, runs = two_systems()
    runs["c"] = runs["a"]
    found = forecast(
        judged, runs, "P@5", transitions=agreement_transitions(judged.scale, 0.8, 0.7), judge_model="fixed", n_draws=50
    )
    place = [found.systems.index(name) for name in ("a", "c")]
    changes = found.changes(np.array(place[:1]), np.array(place[1:]))
    assert (changes.stays[0], changes.flips[0], changes.tie[0]) == (0, 0, 1)


def test_resampled_topics_spread_as_the_standard_error():
    now = np.random.default_rng(1).random((3, 40))
    drawn = resampled(now, 4000)
    np.testing.assert_allclose(drawn.mean(axis=0), now.mean(axis=1), atol=0.005)
    np.testing.assert_allclose(drawn.std(axis=0), now.std(axis=1) / np.sqrt(40), rtol=0.08)
