from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from venire.comparison.correction import Scene
from venire.comparison.residual_model import (
    LEAST_SYSTEM,
    SYSTEM_SD,
    TOPIC_SD,
    Linearised,
    Thresholds,
    judge_rankers,
    rounded_to,
    system_deviation,
    topic_deviation,
    unexplained,
)
from venire.measures.evaluate import Case
from venire.measures.scoring import Scoring
from venire.simulation import Synthetic, generate

WHO = {"judge": "lenient1", "reference": "careful1"}


@pytest.fixture(scope="module")
def made():
    return generate(Synthetic(n_topics=14, docs_per_topic=150, n_unjudged=5), rng=3)


@pytest.fixture(scope="module")
def some(made):
    """All labels of the judges, and every fourth of the reference."""
    labels = made.judgments
    return labels.take(~labels.assessor.among("careful1", "assessor") | (labels.item % 4 == 0))


@pytest.mark.parametrize("gains", ["linear", "exponential"])
def test_drawn_gains_are_those_of_labels(made, some, gains):
    scoring = Scoring(per="assessor", gains=gains)
    plan = scoring.plan(["nDCG@10"], some.scale)
    model = Scene.of(Case.of(some, made.runs, scoring), plan, **WHO).model(0)
    drawn = model.label_draws()(50, np.random.default_rng(0))
    np.testing.assert_allclose(model.thresholds.levels, plan.worths[0].values)
    assert set(drawn.ravel().round(9)) == set(plan.worths[0].values)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_gains_between_those_of_labels_are_rounded_without_a_change_of_their_mean(scale):
    levels, sums = scale * np.array([0.0, 1.0, 3.0, 7.0]), scale * np.arange(8.0)
    found = rounded_to(levels, np.tile(sums, (20_000, 1)), np.random.default_rng(0))
    assert set(found.ravel()) == set(levels)
    np.testing.assert_allclose(found.mean(axis=0), sums, atol=0.06 * scale)
    np.testing.assert_array_equal(np.unique(found[:, [0, 1, 3, 7]], axis=0), levels[None])


def test_thresholds_are_sums_of_steps():
    rows, shares = np.array([[0.5, 0.3, 0.2]]), np.array([[0.0, 1.0, 0.0]])
    found = Thresholds.of(rows, shares, np.array([1.0, 2.0, 5.0]))
    np.testing.assert_allclose(found.steps, [0.25, 0.75])
    np.testing.assert_allclose(found.predicted, [[0.5, 0.2]])
    np.testing.assert_allclose(found.base + found.range * found.predicted @ found.steps, rows @ [1.0, 2.0, 5.0])
    np.testing.assert_allclose(found.range**2 * found.variance, rows @ [1.0, 4.0, 25.0] - (rows @ [1.0, 2.0, 5.0]) ** 2)
    step = 1e-6
    ahead = found.shifted(np.array([step])).predicted @ found.steps
    np.testing.assert_allclose(found.slope, (ahead - found.predicted @ found.steps) / step, rtol=1e-4)
    offset = found.offset_to(np.array([0.7]), np.zeros(1))
    np.testing.assert_allclose(found.shifted(offset).predicted @ found.steps, 0.7, atol=1e-6)


def test_systems_differ_less_the_more_the_judge_explains():
    weight, values = np.array([1.0, 1.0, 2.0]), np.array([0.0, 1.0])
    share = {"nothing": [0.5, 0.5, 0.5], "most": [0.3, 0.7, 0.5], "some": [0.2, 0.8, 0.5], "much": [0.05, 0.95, 0.9]}
    made = {
        name: Thresholds.of(np.column_stack([1 - np.array(p), p]), np.eye(2)[[0, 0, 0]], values)
        for name, p in share.items()
    }
    assert unexplained(made["nothing"], weight) == pytest.approx(1.0)
    assert unexplained(made["some"], weight) == pytest.approx((0.16 + 0.16 + 0.5) / 4 / 0.25)
    assert system_deviation(made["nothing"], weight) == pytest.approx(SYSTEM_SD)
    assert system_deviation(made["most"], weight) == pytest.approx(SYSTEM_SD * (0.92 - 0.7) / 0.3)
    assert system_deviation(made["much"], weight) == pytest.approx(SYSTEM_SD * LEAST_SYSTEM)
    assert unexplained(made["some"], np.zeros(3)) == 1.0


def found_between_topics(deviation, *, n_topics=200, n_items=20, known=1.0):
    """Deviation between topics by labels 0 and 1, whose probability of 1/2 topics change, to first order."""
    rng = np.random.default_rng(5)
    topic, n = np.repeat(np.arange(n_topics), n_items), n_topics * n_items
    gain = (rng.random(n) < 0.5 + 0.25 * deviation * rng.standard_normal(n_topics)[topic]).astype(float)
    thresholds = Thresholds.of(np.full((n, 2), 0.5), np.eye(2)[gain.astype(int)], np.array([0.0, 1.0]))
    some = rng.random(n) < known
    around = Linearised.at(thresholds, np.zeros(n)).of(some)
    return topic_deviation(around, gain[some], np.ones((n, 1))[some], topic=topic[some])


def test_the_deviation_between_topics_is_that_of_the_labels():
    found = [found_between_topics(deviation) for deviation in (0.0, 0.55, 0.9)]
    assert found[0] == pytest.approx(TOPIC_SD * np.exp(-2 / 3), rel=0.01)
    np.testing.assert_allclose(found[1:], [0.55, 0.9], rtol=0.15)


def test_few_labels_leave_the_deviation_between_topics_near_its_prior():
    assert found_between_topics(0.0, known=0.0) == TOPIC_SD
    few, some = (found_between_topics(0.0, n_topics=20, known=share) for share in (0.05, 0.3))
    assert some < few < TOPIC_SD


def test_the_deviation_between_topics_does_not_depend_on_how_labels_are_weighted(made, some):
    scoring = Scoring(per="assessor")
    scene = Scene.of(Case.of(some, made.runs, scoring), scoring.plan(["P@10"], some.scale), **WHO)
    weight = np.random.default_rng(0).choice([0.02, 1.0], size=len(scene.labels.weight))
    models = [replace(scene, labels=replace(scene.labels, weight=each)).model(0) for each in (weight**0, weight)]
    alike, apart = (np.median(each.effects.design.local[:, 0] / each.around.slope) for each in models)
    assert apart == pytest.approx(alike, rel=0.1)


def test_items_of_systems_that_rank_by_the_labels_of_the_judge():
    weights = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    np.testing.assert_allclose(judge_rankers(weights, np.array([1.0, 0.6])), [[0.5], [1.0], [0.0], [0.0]])
    np.testing.assert_allclose(judge_rankers(weights, np.array([0.9, 0.6])), [[0.25], [0.5], [0.0], [0.0]])
    assert judge_rankers(weights, np.array([0.8, 0.6])).shape == (4, 0)
