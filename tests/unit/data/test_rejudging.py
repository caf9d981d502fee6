"""Labels drawn anew: the right distribution, the same draws however they are divided."""

from __future__ import annotations

import numpy as np
import pytest

from venire.data.rejudging import Rejudging

MATRIX = np.array([[0.8, 0.15, 0.05], [0.3, 0.5, 0.2], [0.1, 0.2, 0.7]])


def rejudging(n_draws=200, n_items=300, matrix=MATRIX):
    rng = np.random.default_rng(1)
    old = rng.integers(-1, 3, n_items).astype(np.int32)
    topic = np.sort(rng.integers(0, 5, n_items)).astype(np.int32)
    return Rejudging(old, topic, lambda *_: matrix[None], range(n_draws), np.random.SeedSequence(7))


def test_new_labels_follow_the_matrix():
    judge = rejudging()
    labels = judge.labels(0, 200)
    assert (labels[:, judge.old < 0] == -1).all()
    for old in range(3):
        found = labels[:, judge.old == old]
        shares = np.array([(found == new).mean() for new in range(3)])
        assert shares == pytest.approx(MATRIX[old], abs=4 * np.sqrt(0.25 / found.size))


def test_draws_do_not_depend_on_how_they_are_divided():
    judge = rejudging()
    whole = judge.labels(0, 200)
    parts = np.concatenate([judge.part(first, first + 40).labels(0, 40) for first in range(0, 200, 40)])
    np.testing.assert_array_equal(whole, parts)
    np.testing.assert_array_equal(judge.labels(50, 60), whole[50:60])
    assert judge.part(50, 60).judges == judge.judges[50:60]


def test_a_topic_may_have_a_matrix_of_its_own():
    flipped = np.stack([np.eye(3), np.eye(3), np.eye(3)[::-1], np.eye(3), np.eye(3)])
    judge = rejudging()
    judge = Rejudging(judge.old, judge.topic, lambda *_: flipped, range(3), judge.seed)
    labels = judge.labels(0, 3)
    known = judge.old >= 0
    there = known & (judge.topic == 2)
    assert (labels[:, there] == 2 - judge.old[there]).all()
    assert (labels[:, known & ~there] == judge.old[known & ~there]).all()


def test_gains_are_those_of_the_new_labels():
    judge = rejudging(n_draws=4)
    values = np.array([0.0, 0.4, 1.0])
    gains, judged = judge.gains(values, 0, 4)
    labels = judge.labels(0, 4)
    np.testing.assert_array_equal(judged, labels >= 0)
    np.testing.assert_array_equal(gains[judged], values[labels[judged]])
    assert (gains[~judged] == 0).all()


def test_items_lean_to_labels_as_asked():
    """Shares of drawn labels are those of the matrix times the leaning; blocks of draws do not matter."""
    old, topic = np.array([0, 1, 1, -1], dtype=np.int32), np.zeros(4, dtype=np.int32)
    matrix = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]])
    leaning = np.array([[1.0, 1, 1], [0.5, 1, 2], [0, 0, 3], [1, 1, 1]])
    judge = Rejudging(old, topic, lambda *_: matrix[None], range(4000), np.random.SeedSequence(2), leaning)
    drawn = judge.labels(0, 4000)
    for item in range(3):
        expected = matrix[old[item]] * leaning[item] / (matrix[old[item]] * leaning[item]).sum()
        assert np.bincount(drawn[:, item], minlength=3) / 4000 == pytest.approx(expected, abs=0.035)
    assert (drawn[:, 3] == -1).all()
    assert (judge.part(100, 300).labels(50, 60) == drawn[150:160]).all()
