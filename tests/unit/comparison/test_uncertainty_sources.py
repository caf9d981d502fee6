"""Topics, judges and both, against collections whose topics and judges are known to vary as they do."""

from __future__ import annotations

import numpy as np
import pytest

from two_judges import judged, lists, table
from venire import read_judgments
from venire.comparison.forecast import TIE, JudgeSwap, forecast, other_topics, sources
from venire.comparison.uncertainty import DRAWN, uncertainty_sources
from venire.disagreement.transitions import agreement_transitions
from venire.errors import SettingError, UnknownName
from venire.randomness import between_samples
from venire.simulation import Synthetic, generate

K, N_TOPICS = 5, 25
A0, A1 = 0.8, 0.7


@pytest.fixture(scope="module")
def collection():
    return generate(Synthetic(n_topics=10, docs_per_topic=40, n_unjudged=0), rng=5)


@pytest.fixture(scope="module")
def found(collection):
    return uncertainty_sources(
        JudgeSwap.of(collection.judgments, collection.runs, "P@5", assessor="careful1"), n_draws=300
    )


def test_judges_are_those_of_the_forecast(collection, found):
    same = forecast(
        collection.judgments, collection.runs, "P@5", assessor="careful1", n_draws=300, judge_model="hierarchical"
    )
    np.testing.assert_allclose(found.draws["judges"], same.draws)
    np.testing.assert_allclose(found.mean, same.mean)


def test_sources_by_hand():
    now, expected = np.array([[0.2, 0.8], [0.4, 0.4]]), np.array([[0.3, 0.7], [0.5, 0.1]])
    judges, weights = np.array([[0.45, 0.35]]), np.array([[2.0, 0.0]])
    drawn = sources(now, judges, expected, weights=weights)
    c = np.sqrt(2 * 2 / (2 - 1))
    np.testing.assert_allclose(drawn["topics"], [[0.5 + c * (0.2 - 0.8) / 2, 0.4]])
    np.testing.assert_allclose(drawn["both"], [[0.45 + c * (0.3 - 0.7) / 2, 0.35 + c * (0.5 - 0.1) / 2]])


def test_other_topics_vary_as_the_difference_of_two_sample_means():
    """Closed form: twice the variance of a mean, around the means now."""
    now = np.random.default_rng(1).random((3, 12))
    drawn = other_topics(now, 40_000)
    np.testing.assert_allclose(drawn.mean(axis=0), now.mean(axis=1), atol=0.005)
    np.testing.assert_allclose(drawn.var(axis=0), 2 * now.var(axis=1, ddof=1) / 12, rtol=0.04)
    assert (np.ptp(other_topics(now[:, :1], 5), axis=0) == 0).all()


def test_other_topics_vary_as_new_topics_do():
    """The mean over new topics differs from that over these by as much as the draws say."""
    rng = np.random.default_rng(2)
    population = rng.beta(0.6, 0.9, size=100_000)
    samples = rng.choice(population, size=(2, 2000, 12))
    true = np.diff(samples.mean(axis=2), axis=0).std()
    stated = np.sqrt(np.mean([other_topics(each[None], 200, rng=rng).var() for each in samples[0]]))
    assert stated == pytest.approx(true, rel=0.05)


def test_records_and_sentence(found):
    a, b = found.systems[:2]
    records = found.records([(a, b)])
    assert [each["source"] for each in records] == list(DRAWN)
    both = found.difference("both", a, b)
    assert records[2]["p_ahead"] == found.p_beats(a, b) == (both > TIE).mean()
    assert records[2]["sd"] == pytest.approx(both.std(ddof=1))
    assert records[2]["low"] < both.mean() < records[2]["high"]
    assert len(found.records()) == 3 * len(found.systems) * (len(found.systems) - 1) // 2
    with pytest.raises(UnknownName, match="system 'nobody'"):
        found.p_beats("nobody", b)
    with pytest.raises(UnknownName, match="source"):
        found.p_beats(a, b, source="weather")


def test_one_topic_says_nothing_of_other_topics(collection):
    topic = str(collection.judgments.topics[0])
    swap = JudgeSwap.of(collection.judgments, collection.runs, "P@5", assessor="careful1", topics=[topic])
    found = uncertainty_sources(swap, n_draws=30)
    assert set(found.draws) == {"judges"}
    a, b = found.systems[:2]
    topics, judges, both = found.records([(a, b)])
    assert list(topics) == list(judges) == list(both)
    assert [each["p_ahead"] is None for each in (topics, judges, both)] == [True, False, True]
    assert topics["delta"] == judges["delta"]
    with pytest.raises(SettingError, match="one topic"):
        found.p_beats(a, b)
    assert "with one topic, the effect of other topics is not known" in found.sentence(a, b)
    assert "on other topics with" not in found.sentence(a, b)
    (pooled,) = swap.forecasts(judge_model="pooled", n_draws=30)
    assert np.isnan(pooled.stays("both", np.array([0]), np.array([1]))).all()
    assert swap.weight_of_topics() == 0


def test_one_system_or_a_tie_of_all_is_not_said_to_beat_itself():
    run = lists()["C"]
    for runs, words in (({"C": run}, "one system only, C"), ({"C": run, "same": run}, "all 2 systems")):
        swap = JudgeSwap.of(judged(table()), runs, "P(rel=2)@5", assessor="expert")
        sentence = uncertainty_sources(swap, n_draws=10).sentence()
        assert words in sentence
        assert "beats" not in sentence


def new_topics(rng, n):
    """Old labels of K documents by A and K by B, for topics that are easier for one or the other: (topic, 2, K)."""
    chance = rng.beta(1.5, 1.5, size=(n, 2, 1))
    return (rng.random((n, 2, K)) < chance).astype(int)


def judged_anew(rng, old):
    agrees = rng.random(old.shape) < np.where(old == 1, A1, A0)
    return np.where(agrees, old, 1 - old)


def true_sd(rng):
    """Spread of P@K of A less that of B, from the population itself.

    Over new topics and new labels, around what is expected of these topics, which are a sample too.
    """
    gaps = np.diff(judged_anew(rng, new_topics(rng, 400_000)).mean(axis=2), axis=1)
    expected = np.diff(np.where(new_topics(rng, 400_000) == 1, A1, 1 - A0).mean(axis=2), axis=1)
    return float(np.sqrt((gaps.var() + expected.var()) / N_TOPICS))


def estimated(rng):
    """Both, and naive nesting (topics resampled and widened within each draw of a judge), from one sample of topics."""
    old = new_topics(rng, N_TOPICS)
    labels = {
        f"t{t}": {f"{side}{d}": int(old[t, s, d]) for s, side in enumerate("ab") for d in range(K)}
        for t in range(N_TOPICS)
    }
    runs = {side: {f"t{t}": {f"{side}{d}": float(-d) for d in range(K)} for t in range(N_TOPICS)} for side in "ab"}
    judged = read_judgments(labels, scale="0<1")
    known = agreement_transitions(judged.scale, A0, A1)
    both = uncertainty_sources(
        JudgeSwap.of(judged, runs, f"P@{K}", transitions=known), judge_model="fixed", n_draws=400, rng=1
    )
    drawn = np.stack([judged_anew(rng, old) for _ in range(400)]).mean(axis=3)
    topics = rng.integers(N_TOPICS, size=(400, N_TOPICS))
    nested = np.take_along_axis(drawn, topics[:, :, None], axis=1).mean(axis=1)
    nested = drawn.mean(axis=1) + between_samples(N_TOPICS) * (nested - drawn.mean(axis=1))
    return both.difference("both", "a", "b").std(), np.diff(nested, axis=1).std()


def test_both_spreads_as_new_topics_and_new_labels_do_and_naive_nesting_too_widely():
    rng = np.random.default_rng(6)
    ratios = np.array([estimated(rng) for _ in range(40)]).mean(axis=0) / true_sd(rng)
    assert ratios[0] == pytest.approx(1.0, abs=0.06)
    assert 1.12 < ratios[1] < 1.4
