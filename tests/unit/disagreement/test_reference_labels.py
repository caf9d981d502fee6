from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from venire import read_judgments
from venire.disagreement.reference_labels import (
    LABELS,
    MATRIX,
    _odds_cost,
    estimated_inclusion,
    fit_proportional_odds,
    inclusion_weights,
    label_probabilities,
    matrix_rows,
    predict_labels,
    reference_names,
)
from venire.disagreement.transitions import UNSEEN, fit_transitions
from venire.errors import SettingError, UnknownName

N_TOPICS, N_DOCS = 20, 40


def judged(rng: np.random.Generator, *, noise: float, share: float = 0.5):
    """Labels 0 to 2 of two judges and of a person who sees the mean of what they see, on some items."""
    latent = rng.normal(size=(2, N_TOPICS * N_DOCS))
    seen = np.concatenate(
        [latent, latent.mean(axis=0, keepdims=True) * 2**0.5 + noise * rng.normal(size=latent.shape[1])]
    )
    label = (seen > -0.4).astype(int) + (seen > 0.6)
    topic, doc = (each.ravel() for each in np.indices((N_TOPICS, N_DOCS)))
    kept = rng.random(len(topic)) < share
    frames = [
        pl.DataFrame({"topic": topic.astype(str), "doc": doc.astype(str), "assessor": name, "label": each})
        for name, each in zip(("a", "b", "person"), label, strict=True)
    ]
    return read_judgments(pl.concat([*frames[:2], frames[2].filter(kept)]), scale="0<1<2")


def predicted(labels, judges, **options):
    one = np.ones(len(labels.items))
    return predict_labels(labels, judges, ["person"], **{"importance": one} | options)


def test_one_judge_has_the_rows_of_the_transition_matrix():
    labels = judged(np.random.default_rng(1), noise=1.0)
    found = predicted(labels, ["a"], importance=np.zeros(len(labels.items)))
    rows = matrix_rows(found.shares, found.group, ordered=True)
    known = fit_transitions(labels, "a", "person")
    np.testing.assert_allclose(rows[:3], known.matrix)
    assert found.used == MATRIX
    np.testing.assert_allclose(found.rows, rows[found.group])
    assert found.n_labels == int((found.shares.sum(axis=1) > 0).sum())


@pytest.mark.parametrize("ordered", [True, False])
def test_a_label_that_the_reference_has_not_given_yet_is_possible(ordered):
    """With n labels in a group and at most 20 items of a model, its probability is at least (1/3) / (n + 21)."""
    group = np.repeat(np.arange(4), 30)
    shares = np.zeros((len(group), 3))
    shares[:, 1] = 1.0
    rows = matrix_rows(shares, group, ordered=ordered)
    assert (rows[:, [0, 2]] >= UNSEEN / 3 / (30 + 21)).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)


def test_two_judges_that_know_more_together_are_used_together():
    labels = judged(np.random.default_rng(1), noise=0.3)
    found = predicted(labels, ["a", "b"])
    assert found.used == LABELS
    assert found.loss[found.used] < found.loss[MATRIX] - 0.02
    assert found.note.kind == "reference-model"
    assert found.note.fields["other_loss"] == found.loss[MATRIX]
    np.testing.assert_allclose(found.rows.sum(axis=1), 1.0)


def test_few_labels_leave_the_matrix_and_say_so():
    labels = judged(np.random.default_rng(1), noise=0.3, share=0.1)
    found = predicted(labels, ["a", "b"])
    assert (found.used, found.loss) == (MATRIX, {})
    assert "loss" not in found.note.fields


def test_a_prediction_does_not_use_the_labels_of_its_own_topic():
    labels = judged(np.random.default_rng(1), noise=0.3)
    found = predicted(labels, ["a", "b"])
    first = labels.items.topic[labels.item] == 0
    turned = labels.take(~(first & labels.assessor.among("person", "assessor")))
    swapped = replace(
        labels, label=np.where(first & labels.assessor.among("person", "assessor"), 2 - labels.label, labels.label)
    )
    again = predicted(swapped, ["a", "b"])
    own = labels.items.topic == 0
    np.testing.assert_allclose(again.rows[own], found.rows[own], atol=1e-9)
    assert len(turned) < len(labels)
    assert np.abs(again.rows[~own] - found.rows[~own]).max() > 1e-4


def test_proportional_odds_recover_their_parameters():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(20_000, 2))
    truth = np.array([-1.0, np.log(1.5), np.log(0.7), 0.8, -0.5])
    chances = label_probabilities(truth, x, 4)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    label = (rng.random((len(x), 1)) > chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
    found = fit_proportional_odds(x, np.eye(4)[label], np.ones(len(x)), penalty=1.0)
    np.testing.assert_allclose(found, truth, atol=0.05)


def test_the_gradient_is_that_of_the_cost():
    rng = np.random.default_rng(5)
    x, weighted = rng.normal(size=(30, 2)), rng.dirichlet(np.ones(4), 30)
    at = rng.normal(size=5)
    gradient = _odds_cost(at, x, weighted, 2.0, 3)[1]
    for n, step in enumerate(np.eye(5) * 1e-4):
        ahead, behind = (_odds_cost(at + sign * step, x, weighted, 2.0, 3)[0] for sign in (1, -1))
        assert gradient[n] == pytest.approx((ahead - behind) / 2e-4, abs=1e-4)


def test_inclusion_is_estimated_from_the_weights_of_what_was_labelled():
    rng = np.random.default_rng(7)
    weight = rng.pareto(1.0, 5000) + 1
    pool = rng.random(5000) < 0.1
    lists = rng.random(5000) < 1 - np.exp(-0.02 * weight)
    np.testing.assert_allclose(estimated_inclusion(pool, weight), 0.1, atol=0.03)
    found = estimated_inclusion(lists, weight)
    assert np.abs(found - (1 - np.exp(-0.02 * weight))).max() < 0.1
    assert (estimated_inclusion(np.ones(4, dtype=bool), np.ones(4)) == 1).all()


def test_given_probabilities_weigh_labels():
    labels = judged(np.random.default_rng(1), noise=0.5)
    people = labels.where(assessor="person")
    known = np.bincount(people.item, minlength=len(labels.items)) > 0
    importance = np.ones(len(known))
    weight, note = inclusion_weights(replace(people, probability=np.full(len(people), 0.5)), known, importance)
    assert note.kind == "inclusion-weights"
    np.testing.assert_allclose(weight, known)
    chance = np.where(people.item % 2 == 0, 0.2, 0.8)
    weight, note = inclusion_weights(replace(people, probability=chance), known, importance)
    even = known & (np.arange(len(known)) % 2 == 0)
    assert weight[even].max() / weight[known & ~even].max() == pytest.approx(np.sqrt((0.82 / 0.2) / (0.22 / 0.8)))
    assert note.fields["effective"] == pytest.approx(weight.sum())
    assert weight.sum() < known.sum()


def test_probabilities_that_are_given_for_some_labels_are_used_for_these():
    labels = judged(np.random.default_rng(1), noise=0.5)
    people = labels.where(assessor="person")
    known = np.bincount(people.item, minlength=len(labels.items)) > 0
    importance = np.random.default_rng(2).uniform(1, 3, len(known))
    stated = np.where(people.item % 2 == 0, np.nan, 0.01)
    weight, note = inclusion_weights(replace(people, probability=stated), known, importance)
    chance = np.where(np.arange(len(known)) % 2 == 0, estimated_inclusion(known, importance), 0.01)
    expected = np.sqrt(importance * (1.02 - chance) / chance)[known]
    np.testing.assert_allclose(weight[known] / weight.sum(), expected / expected.sum())
    assert (note.kind, note.fields["given"], note.fields["n"]) == (
        "inclusion-estimated",
        int((people.item % 2 == 1).sum()),
        int(known.sum()),
    )
    assert f"given for {note.fields['given']} of {note.fields['n']} labels" in str(note)
    none, plain = inclusion_weights(replace(people, probability=np.full(len(people), np.nan)), known, importance)
    without, same = inclusion_weights(people, known, importance)
    np.testing.assert_array_equal(none, without)
    assert plain == same
    assert plain.fields["given"] == 0


def test_the_reference_is_named_or_declared():
    labels = judged(np.random.default_rng(1), noise=0.5)
    assert reference_names(labels, "person") == ("person",)
    assert reference_names(labels.declare(reference="person"), None) == ("person",)
    with pytest.raises(SettingError):
        reference_names(labels, None)
    with pytest.raises(UnknownName):
        reference_names(labels, ["person", "nobody"])


def test_before_the_first_label_the_prediction_is_that_of_the_priors():
    labels = judged(np.random.default_rng(1), noise=0.5)
    alone = labels.take(~labels.assessor.among("person", "assessor"))
    found = predicted(alone, ["a"])
    assert found.used == "matrix"
    assert not found.known.any()
    assert [note.kind for note in found.notes] == ["no-labels-yet"]
    np.testing.assert_allclose(found.rows.sum(axis=1), 1.0)
    mean = [found.rows[found.group == label][0] @ np.arange(found.rows.shape[1]) for label in range(3)]
    assert mean == sorted(mean)
    assert mean[0] < mean[-1]


def test_without_a_judge_items_share_one_distribution():
    labels = judged(np.random.default_rng(1), noise=0.5)
    person = labels.take(labels.assessor.among("person", "assessor") & (labels.item % 3 > 0))
    found = predicted(person, [])
    assert (found.group == found.rows.shape[1]).all()
    assert found.known.any()
    if found.used == "matrix":
        assert len(np.unique(found.rows, axis=0)) == 1
