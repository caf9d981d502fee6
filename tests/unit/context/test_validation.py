from __future__ import annotations

import numpy as np
import pytest

from context_pairs import drawn_in_context, no_context, redundancy
from venire.context.model import cross_fitted, fit_conditional_labels
from venire.context.pairs import labelled_pairs
from venire.context.validation import (
    baselines,
    calibrated_error,
    calibration_error,
    reliability,
    validate_conditional_labels,
)
from venire.errors import PairsError

LABELS = drawn_in_context(redundancy(), topics=40, rng=1)


@pytest.fixture(scope="module")
def found():
    return validate_conditional_labels(LABELS, folds=5, splits=4, n_draws=200, rng=3)


def test_scores_are_those_of_the_cross_fitted_predictions(found):
    learnt = labelled_pairs(LABELS)
    p = cross_fitted(LABELS, folds=5, rng=3).probabilities(learnt.pairs)
    own = found.score("predictor")
    right = p.argmax(axis=1) == learnt.outcome
    assert own.accuracy.value == pytest.approx(right.mean())
    assert own.log_loss.value == pytest.approx(-np.log(p[np.arange(len(p)), learnt.outcome]).mean())
    assert own.calibration_error == pytest.approx(calibration_error(p.max(axis=1), right))
    slow = np.zeros((3, 3), dtype=int)
    np.add.at(slow, (learnt.outcome, p.argmax(axis=1)), 1)
    np.testing.assert_array_equal(found.confusion, slow)
    same = found.score("same")
    assert same.accuracy.value == pytest.approx((learnt.pairs.label == learnt.outcome).mean())


def test_differences_are_the_predictor_less_a_method(found):
    own = found.score("predictor")
    assert [each.method for each in found.scores] == ["predictor", "interactions", "isolation", "same", "prior"]
    for each in found.scores[1:]:
        assert each.accuracy_difference.value == pytest.approx(own.accuracy.value - each.accuracy.value)
        assert each.log_loss_difference.value == pytest.approx(own.log_loss.value - each.log_loss.value)
        for estimate in (each.accuracy_difference, each.log_loss_difference, each.accuracy, each.log_loss):
            assert estimate.low <= estimate.value <= estimate.high
            assert estimate.method == "bootstrap over topics, n=200"


def test_where_context_matters_it_is_seen(found):
    assert found.score("isolation").log_loss_difference.high < 0
    assert (found.n_pairs, found.n_topics, found.n_folds) == (320, 40, 5)
    assert found.split.n_pairs == 32


def test_the_split_is_near_the_best_that_can_be(found):
    truth = redundancy()
    best = truth.max(axis=-1).mean()
    assert abs(found.split.accuracy - best) < 4 * np.sqrt(best * (1 - best) / (4 * 32))


def test_where_context_plays_no_role_none_is_claimed():
    claims = 0
    for seed in range(14):
        labels = drawn_in_context(no_context(), topics=20, docs=6, rng=seed)
        each = validate_conditional_labels(labels, folds=2, splits=1, n_draws=200, rng=seed)
        alone = each.score("isolation").log_loss_difference
        claims += alone.high < 0
    assert claims <= 2  # of 14 at 2.5 %: more happens once in 200 times


def test_interactions_that_matter_are_named():
    truth = np.zeros((2, 2, 2))
    truth[0, 0] = truth[1, 1] = 0.9, 0.1
    truth[0, 1] = truth[1, 0] = 0.1, 0.9
    labels = drawn_in_context(truth, topics=40, rng=2)
    plain = validate_conditional_labels(labels, folds=4, splits=1, n_draws=100)
    assert [(note.kind, note.fields["form"]) for note in plain.warnings()] == [("better-form", "interactions")]
    both = validate_conditional_labels(labels, folds=4, splits=1, n_draws=100, interactions=True)
    assert both.warnings() == []
    assert [each.method for each in both.scores][1] == "additive"
    assert both.score("predictor").log_loss.value == pytest.approx(plain.score("interactions").log_loss.value)


def test_few_topics_are_told():
    labels = drawn_in_context(no_context(), topics=4, rng=0)
    found = validate_conditional_labels(labels, folds=4, splits=1, n_draws=50)
    assert [(note.kind, note.fields["n"]) for note in found.warnings()] == [("few-topics", 4)]
    with pytest.raises(PairsError, match="known for 4 topics, too few for 10 folds") as error:
        validate_conditional_labels(labels)
    assert "4 folds" in error.value.hint


def test_the_same_seed_gives_the_same(found):
    again = validate_conditional_labels(LABELS, folds=5, splits=4, n_draws=200, rng=3)
    assert again.scores == found.scores
    assert again.split == found.split


def test_baselines_are_those_counted_slowly():
    learnt = labelled_pairs(LABELS)
    seen, held = learnt.take(np.arange(250)), learnt.take(np.arange(250, 320))
    guesses = baselines(seen, held, 3)
    prior = np.array([(np.sum(seen.outcome == k) + 1) / 253 for k in range(3)])
    stays = (np.sum(seen.outcome == seen.pairs.label) + 1) / 252
    for row, label in enumerate(held.pairs.label):
        own = seen.outcome[seen.pairs.label == label]
        rows = [(np.sum(own == k) + prior[k]) / (len(own) + 1) for k in range(3)]
        same = [stays if k == label else (1 - stays) * prior[k] / (1 - prior[label]) for k in range(3)]
        for name, expected in (("isolation", rows), ("same", same), ("prior", prior)):
            np.testing.assert_allclose(guesses[name].p[row], expected, atol=1e-12)
            assert guesses[name].label[row] == (label if name == "same" else np.argmax(expected))
    np.testing.assert_allclose(guesses["same"].confidence, stays)


class TestCalibration:
    def test_the_error_is_that_of_a_slow_count(self):
        rng = np.random.default_rng(2)
        confidence = np.append(rng.random(200), [0.0, 1.0, 0.3])
        hit = rng.random(203) < 0.6
        slow = 0.0
        for n in range(10):
            here = (confidence >= n / 10) & ((confidence < (n + 1) / 10) | (n == 9))
            slow += abs(hit[here].mean() - confidence[here].mean()) * here.sum() / 203 if here.any() else 0
        assert calibration_error(confidence, hit) == pytest.approx(slow)

    def test_confidence_that_is_right_has_the_error_to_expect(self):
        rng = np.random.default_rng(3)
        confidence = rng.uniform(0.4, 1, 400)
        errors = [calibration_error(confidence, rng.random(400) < confidence) for _ in range(300)]
        expected = calibrated_error(confidence, rng)
        assert expected == pytest.approx(np.mean(errors), abs=4 * np.std(errors) * np.sqrt(1 / 300 + 1 / 100))
        assert calibration_error(confidence, rng.random(400) < confidence - 0.3) > 3 * expected

    def test_bins(self):
        confidence = np.array([0.55, 0.58, 0.95, 1.0])
        held = reliability(confidence, np.array([True, False, True, True]), np.array([0, 1, 1, 2], dtype=np.int32))
        assert held.n_cases.tolist() == [0, 0, 0, 0, 0, 2, 0, 0, 0, 2]
        assert held.share[[5, 9]].tolist() == [0.5, 1.0]
        assert held.confidence[[5, 9]].tolist() == pytest.approx([0.565, 0.975])
        assert np.isnan(held.share[0])
        assert (held.share_low[[5, 9]] <= held.share[[5, 9]]).all()


def test_intervals_hold_the_accuracy_on_new_topics():
    truth = redundancy()
    hits = 0
    for seed in range(12):
        labels = drawn_in_context(truth, topics=24, docs=6, rng=100 + seed)
        found = validate_conditional_labels(labels, folds=2, splits=1, n_draws=200, rng=seed)
        model = fit_conditional_labels(labels)
        said = model.at_mean().argmax(axis=-1)
        expected = np.take_along_axis(truth, said[..., None], axis=-1).mean()
        hits += found.scores[0].accuracy.low <= expected <= found.scores[0].accuracy.high
    assert hits >= 9  # of 12 at 95 %: fewer happens once in 500 times
