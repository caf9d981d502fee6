from __future__ import annotations

import numpy as np
import pytest

from venire import PredictedRelevance, evaluate
from venire.comparison.corrected_scores import joint_weights, resampled_relevance, score_intervals
from venire.errors import MeasureError, SettingError, UnknownName
from venire.simulation import Synthetic, generate

MODEL = PredictedRelevance(relevant="2", observed=["lenient1"], reference=["careful1"])
LINEAR = ["P@10", "CG@20", "DCG@10", "RBP", "RBPResidual", "Judged@10"]


@pytest.fixture(scope="module")
def made():
    return generate(Synthetic(n_topics=14, docs_per_topic=150), rng=3)


def intervals(made, measures="P@10", **options):
    options = {"model": MODEL, "assessor": "lenient1", "n_draws": 40} | options
    return score_intervals(made.judgments, made.runs, measures, **options)


def test_the_score_is_that_of_the_gains_of_the_fit(made):
    found = intervals(made, LINEAR)
    gains = MODEL.fit(made.judgments).gains()
    expected = evaluate(made.judgments, made.runs, LINEAR, gains=gains, assessor="lenient1").mean()
    assert found.systems == expected.names["system"]
    np.testing.assert_allclose(found.value, expected.values, atol=1e-12)
    np.testing.assert_allclose(found.scores().values, expected.values, atol=1e-12)


def test_draws_fit_and_score_the_topics_drawn(made):
    """The slow way: count the pairs of the topics drawn, make gains of them, score topic by topic, average."""
    found = intervals(made, ["P@10", "DCG@10"], n_draws=6, rng=11)
    fit, topics = MODEL.fit(made.judgments), made.judgments.topics
    weights, _ = joint_weights(topics, fit, topics, n_draws=6, rng=np.random.default_rng(11))
    for draw, weight in enumerate(weights):
        counts = sum(times * by_topic for times, by_topic in zip(weight, fit.by_topic, strict=True))
        p = {label: counts[level, 2:].sum() / counts[level].sum() for level, label in enumerate(fit.scale.labels)}
        scores = evaluate(made.judgments, made.runs, ["P@10", "DCG@10"], gains=p, assessor="lenient1").values
        expected = (scores * weight[None, :, None]).sum(axis=1) / weight.sum()
        np.testing.assert_allclose(found.draws[draw], expected, atol=1e-12)


def test_the_interval_holds_the_middle_of_the_draws(made):
    found = intervals(made, n_draws=400)
    inside = (found.draws >= found.low) & (found.draws <= found.high)
    assert 0.94 <= inside.mean() <= 0.96
    assert (found.low < found.value).all()
    assert (found.value < found.high).all()
    estimate = found.estimate("s01", "P@10")
    assert (estimate.value, estimate.low) == (found.value[0, 0], found.low[0, 0])
    assert estimate.method == "bootstrap over 14 topics and their double judgments, n=400"


def test_the_same_seed_gives_the_same_interval(made):
    np.testing.assert_array_equal(intervals(made, rng=5).draws, intervals(made, rng=5).draws)
    assert (intervals(made, rng=5).draws != intervals(made, rng=6).draws).any()


def test_few_double_judgments_widen_the_interval(made):
    rng, labels = np.random.default_rng(0), made.judgments
    person = np.flatnonzero(labels.assessor.codes == labels.assessor.code_of("careful1", "assessor"))
    rest = np.flatnonzero(labels.assessor.codes != labels.assessor.code_of("careful1", "assessor"))
    few = labels.take(np.sort(np.append(rest, rng.choice(person, 60, replace=False))))
    with pytest.warns(match="fewer than 50 pairs"):
        scarce = intervals(made, n_draws=300, fit_on=few)
    plenty = intervals(made, n_draws=300)
    assert ((scarce.high - scarce.low) > (plenty.high - plenty.low)).all()


def test_topics_of_both_sides_are_drawn_together_and_others_apart(made):
    fit, topics = MODEL.fit(made.judgments), made.judgments.topics
    scored = [*topics[4:], "else", "where"]
    for_fit, for_scores = joint_weights(topics, fit, scored, n_draws=50, rng=0)
    np.testing.assert_array_equal(for_fit[:, 4:], for_scores[:, :-2])
    assert (for_fit[:, :4].sum(axis=1) == 4).all()
    assert (for_fit[:, 4:].sum(axis=1) == 10).all()
    assert (for_scores[:, -2:].sum(axis=1) == 2).all()
    assert len(np.unique(for_fit, axis=0)) == 50


def test_topics_without_double_judgments_are_never_drawn_for_the_fit(made):
    labels = made.judgments
    first = labels.items.topic[labels.item] == 0
    some = labels.take(~first | (labels.assessor.codes == labels.assessor.code_of("lenient1", "assessor")))
    for_fit, for_scores = joint_weights(labels.topics, MODEL.fit(some), labels.topics, n_draws=20, rng=0)
    assert (for_fit[:, 0] == 0).all()
    assert (for_scores[:, 0] == 1).all()


@pytest.mark.parametrize("prior", [0.0, 0.5, 5.0])
def test_all_topics_once_give_the_fit_itself_with_any_prior(made, prior):
    fit = PredictedRelevance(relevant="2", observed=["lenient1"], reference=["careful1"], prior=prior).fit(
        made.judgments
    )
    again = resampled_relevance(fit, fit.p[0], np.ones((1, 14)))
    np.testing.assert_allclose(again[0], fit.p[0], rtol=1e-12)


def test_a_draw_without_a_label_takes_the_share_of_all_topics(made):
    fit = MODEL.fit(made.judgments)
    none = resampled_relevance(fit, fit.p[0], np.zeros((1, 14)))
    np.testing.assert_array_equal(none[0], fit.p[0])


def test_topics_that_a_system_lacks_are_left_out_if_asked(made):
    topic, other = made.judgments.topics[:2]
    docs = [doc for doc, t in zip(made.judgments.items.doc, made.judgments.items.topic, strict=True) if t == 0][:10]
    run = {topic: {doc: float(-n) for n, doc in enumerate(docs)}}
    options = {"model": MODEL, "assessor": "lenient1", "n_draws": 50, "topics": [topic, other]}
    with pytest.warns(match="topics without a list"):
        zero = score_intervals(made.judgments, run, "P@10", **options)
    with pytest.warns(match="topics without a list"):
        skipped = score_intervals(made.judgments, run, "P@10", missing="skip", **options)
    assert skipped.value == pytest.approx(2 * zero.value)
    assert (skipped.low > zero.low).all()


def test_what_makes_no_sense_is_refused(made):
    with pytest.raises(MeasureError, match="not linear"):
        intervals(made, "nDCG@10")
    with pytest.raises(MeasureError, match="has a threshold"):
        intervals(made, "P(rel=2)@10")
    with pytest.raises(SettingError, match="1 draw: expected 2"):
        intervals(made, n_draws=1)
    with pytest.raises(UnknownName, match="no system 's99'"):
        intervals(made).estimate("s99")
    with pytest.raises(UnknownName, match="no measure 'AP'"):
        intervals(made).estimate("s01", "AP")
