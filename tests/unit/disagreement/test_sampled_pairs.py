"""Pairs of labels where items were chosen by their first label, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from long_rows import judgments_of
from venire import PredictedRelevance
from venire.disagreement.sampled_pairs import asked_later, exposures_of, first_labels

FIRST = {"0": 60, "1": 30, "2": 10}


def chosen(second, chance, rounds=1):
    """A labels 100 items of two topics; B those of ``second``: {(first, second): how many}, in turn in each round.

    chance: by first label, in the first round; twice as much in the second, and so on
    """
    rows, p = [], []
    for label, n in FIRST.items():
        for doc in range(n):
            rows.append((doc % 2, f"{label}-{doc}", "A", label))
            p.append(np.nan)
    taken = dict.fromkeys(FIRST, 0)
    for (first, other), n in second.items():
        for doc in range(taken[first], taken[first] + n):
            rows.append((doc % 2, f"{first}-{doc}", "B", other))
            p.append(chance[first] * (1 + doc % rounds))
        taken[first] += n
    labels = judgments_of(rows)
    stated = {tuple(map(str, row[:3])): each for row, each in zip(rows, p, strict=True)}
    order = labels.to_polars().select("topic", "doc", "assessor").rows()
    return replace(labels, probability=np.array([stated[row] for row in order]))


SECOND = {("0", "0"): 4, ("0", "2"): 2, ("1", "1"): 3, ("1", "2"): 3, ("2", "2"): 5, ("2", "0"): 1}
CHANCE = {"0": 0.1, "1": 0.2, "2": 0.6}


def test_weights_by_hand():
    """m = 6 of 60, 6 of 30, 6 of 10 items: m / q = 10, 20, 60, and so the exposures."""
    labels = chosen(SECOND, CHANCE)
    first = first_labels(labels, asked_later(labels))
    assert (first.items.tolist(), first.again.tolist(), first.unplanned) == ([60, 30, 10], [6, 6, 6], 0)
    exposure = exposures_of(first.again, first.items / 100, 0.0)
    assert exposure.tolist() == [[20, 30, 70], [30, 40, 80], [70, 80, 120]]
    fit = PredictedRelevance(relevant="2").fit(labels)
    pairs = np.array([[8, 0, 3], [0, 6, 3], [3, 3, 10]])
    weighted = pairs / exposure
    np.testing.assert_allclose(fit.p[0], weighted[:, 2] / weighted.sum(axis=1))
    assert (fit.pairs[0] <= pairs.sum(axis=1) + 1e-9).all(), "the effective number of pairs"


def test_equal_probabilities_are_equation_5():
    labels = chosen({("0", "0"): 6, ("1", "2"): 3, ("2", "2"): 1}, dict.fromkeys(FIRST, 0.1))
    assert asked_later(labels) is None
    plain = PredictedRelevance().fit(replace(labels, probability=None))
    np.testing.assert_array_equal(PredictedRelevance().fit(labels).p, plain.p)


@pytest.mark.parametrize("number", [2, 3])
def test_rounds_that_drew_from_all_labels_alike_are_equation_5(number):
    second = {("0", "0"): 24, ("1", "1"): 12, ("1", "2"): 6, ("2", "2"): 6}
    labels = chosen(second, dict.fromkeys(FIRST, 0.1), rounds=number)
    assert len(np.unique(labels.probability[~np.isnan(labels.probability)])) == number
    assert asked_later(labels) is None


@pytest.mark.parametrize(
    ("second", "chance"),
    [
        ({("0", "0"): 6, ("1", "1"): 30, ("2", "2"): 10}, {"0": 0.1, "1": 1, "2": 1}),
        ({("0", "0"): 60, ("1", "1"): 3, ("2", "2"): 10}, {"0": 1, "1": 0.1, "2": 1}),
        ({("1", "1"): 3, ("2", "2"): 10}, {"0": 0.001, "1": 0.1, "2": 1}),
        ({("0", "0"): 1, ("1", "2"): 1, ("2", "2"): 1}, {"0": 0.02, "1": 0.03, "2": 0.1}),
        ({("0", "0"): 1, ("2", "2"): 1}, {"0": 0.02, "1": 0.03, "2": 0.1}),
    ],
    ids=["all of two labels", "all of two others", "all of one label", "one of each label", "two in all"],
)
def test_labels_asked_for_by_the_first_label_are_recognised(second, chance):
    labels = chosen(second, chance)
    np.testing.assert_array_equal(asked_later(labels), ~np.isnan(labels.probability))


def test_several_rounds_that_drew_by_the_first_label_are_recognised():
    assert asked_later(chosen(SECOND, {"0": 0.1, "1": 0.15, "2": 0.4}, rounds=2)) is not None


def test_a_label_that_was_left_out_has_no_pairs():
    second = {("1", "1"): 8, ("1", "0"): 7, ("2", "2"): 4, ("2", "0"): 1}
    fit = PredictedRelevance().fit(chosen(second, dict.fromkeys(FIRST, 0.5)))
    assert fit.pairs[0, 0] == 0
    assert np.isnan(fit.p[0, 0])
    assert fit.p[0, 1] == pytest.approx(0)


def test_labels_of_machines_are_not_exchangeable():
    assert asked_later(chosen(SECOND, CHANCE).declare(machines="A")) is None


def test_named_assessors_are_one_sided():
    fit = PredictedRelevance(relevant="2", observed=["A"]).fit(chosen(SECOND, CHANCE))
    np.testing.assert_allclose(fit.p[0], [2 / 6, 3 / 6, 5 / 6])
