from __future__ import annotations

import numpy as np
import pytest

from venire.comparison.correction import Scene
from venire.comparison.score_effects import RIDGE, log_odds_of_scores, score_effects, system_rows
from venire.measures.evaluate import Case
from venire.measures.scoring import Scoring
from venire.simulation import Synthetic, generate


def logit(p):
    return np.log(p / (1 - p))


def effects_of(p, weights, odds):
    return score_effects(p, p * (1 - p), weights, labelled=np.ones_like(p, dtype=bool), score_odds=odds)


@pytest.fixture
def lists():
    """Weights of 6 systems that each return 40 of 120 items, and probabilities of the items."""
    rng = np.random.default_rng(4)
    weights = np.zeros((6, 120))
    for row in weights:
        row[rng.choice(120, 40, replace=False)] = 1 / 40
    return weights, rng.uniform(0.2, 0.8, 120)


def test_effects_give_systems_the_scores_of_the_judge(lists):
    """To first order, and but for the ridge: the change of all log-odds is nearly that from o' to o."""
    weights, p = lists
    odds = logit(weights @ p) + 0.02 * np.array([3.0, -1.0, 0.0, 2.0, -2.0, 1.0])
    by_judge, by_prediction = effects_of(p, weights, odds)
    moved = 1 / (1 + np.exp(-(logit(p) + by_judge - by_prediction)))
    change = logit(weights @ moved) - logit(weights @ p)
    wanted = (odds - odds.mean()) - (logit(weights @ p) - logit(weights @ p).mean())
    error = (change - change.mean()) - wanted
    assert np.abs(wanted).max() > 0.04
    np.testing.assert_allclose(error, 0.0, atol=0.25 * np.abs(wanted).max())
    np.testing.assert_allclose(change - change.mean(), wanted * (change @ wanted) / (wanted @ wanted), atol=0.008)


def test_effects_are_those_of_ridge_regression(lists):
    """Of all effects, those that minimise squared errors of the log-odds plus the ridge times their squared size."""
    weights, p = lists
    odds = np.linspace(-1.0, 1.0, 6)
    rows, mean = system_rows(weights), weights @ p
    change = np.array([[sum(w * q * (1 - q) * z) for z in rows.T] for w, q in zip(weights, [p] * 6, strict=True)])
    change /= (mean * (1 - mean))[:, None]
    change -= change.mean(axis=0)
    target = odds - odds.mean()
    padded = np.concatenate([change, np.sqrt(RIDGE) * np.eye(6)])
    of_systems = np.linalg.lstsq(padded, np.append(target, np.zeros(6)), rcond=None)[0]
    np.testing.assert_allclose(effects_of(p, weights, odds)[0], rows @ of_systems, atol=1e-10)


def test_scores_that_are_not_known_have_no_effect(lists):
    weights, p = lists
    odds = np.array([0.5, np.nan, -0.5, 0.0, np.nan, 0.3])
    some, _ = effects_of(p, weights, odds)
    assert np.isfinite(some).all()
    assert some.any()
    none, neither = effects_of(p, weights, np.full(6, np.nan))
    assert not none.any()
    assert not neither.any()
    one, _ = effects_of(p, weights[:1], odds[:1])
    np.testing.assert_allclose(one, 0.0, atol=1e-12)


def test_log_odds_of_scores_are_of_labelled_results():
    weights = np.array([[0.25, 0.25, 0.25, 0.25], [0.0, 0.0, 0.5, 0.5], [1.0, 0.0, 0.0, 0.0]])
    gain, labelled = np.array([1.0, 1.0, 0.0, 0.0]), np.array([False, True, True, True])
    found = log_odds_of_scores(weights, gain, labelled)
    np.testing.assert_allclose(found[:2], logit(np.array([1.5 / 4, 0.5 / 3])))
    assert np.isnan(found[2])


def test_results_of_systems_with_higher_scores_by_the_judge_are_expected_to_be_better():
    made = generate(Synthetic(n_topics=14, docs_per_topic=150, n_unjudged=5), rng=3)
    labels = made.judgments
    some = labels.take(~labels.assessor.among("careful1", "assessor") | (labels.item % 4 == 0))
    scoring = Scoring(per="assessor")
    case = Case.of(some, made.runs, scoring)
    scene = Scene.of(case, scoring.plan(["P@10"], some.scale), judge="lenient1", reference="careful1")
    model, odds = scene.models[0], scene.score_odds(scene.weights(0), scene.plan.worths[0].values)
    base = scene.labels.rows[model.item] @ (scene.plan.worths[0].values > 0)
    moved = model.thresholds.predicted @ model.thresholds.steps
    before, after = (model.weights @ each / model.weights.sum(axis=1) for each in (base, moved))
    slope = [np.polyfit(odds, logit(each), 1)[0] for each in (before, after)]
    assert slope[0] < 0.7 < slope[1] < 1.1
