"""Directions with ties: each answer is counted on fingers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from user_directions import slow_kappa
from venire.kernels.directions import (
    at_places,
    directions,
    jaccard_of,
    modes,
    nearest_places,
    open_places,
    thresholds_at,
    tie_curves,
)


def slow_thresholds(difference: list[float]) -> list[float]:
    return sorted({0.0, *map(abs, difference)})


@given(
    difference=st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=9),
    seed=st.integers(0, 10**6),
)
def test_curves_are_agreement_at_every_threshold(difference: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    users = rng.integers(-1, 2, (2, len(difference)))
    weights = rng.integers(0, 3, (3, len(difference))).astype(np.float64)
    weights[:, 0] += 1
    curves = tie_curves(np.array([difference, difference[::-1]]), users, weights)
    for measure, values in enumerate((difference, difference[::-1])):
        places = np.flatnonzero(curves.open[measure])
        thresholds = thresholds_at(np.array([difference, difference[::-1]]), np.stack([places, places]))[measure]
        assert thresholds.tolist() == slow_thresholds(values)
        for draw, weight in enumerate(weights):
            rows = np.repeat(np.arange(len(values)), weight.astype(int)).tolist()
            for place, threshold in zip(places, thresholds, strict=True):
                mine = [0 if abs(values[r]) <= threshold else int(np.sign(values[r])) for r in rows]
                assert curves.ties[measure, draw, place] == pytest.approx(mine.count(0) / len(mine))
                for user in range(2):
                    theirs = users[user, rows].tolist()
                    same = sum(a == b for a, b in zip(mine, theirs, strict=True)) / len(mine)
                    assert curves.same[user, measure, draw, place] == pytest.approx(same)
                    kappa = curves.kappa[user, measure, draw, place]
                    assert kappa == pytest.approx(slow_kappa(mine, theirs), nan_ok=True)


def test_slight_strengths_are_ties() -> None:
    strength = np.array([-3.0, -1.0, 0.0, 0.5, 1.0, 1.5])
    assert directions(strength).tolist() == [-1, -1, 0, 1, 1, 1]
    assert directions(strength, 1.0).tolist() == [-1, 0, 0, 0, 0, 1]


def test_a_shared_mode_is_a_tie() -> None:
    direction = np.array([1, 1, -1, 0, 1, -1, 0, 0])
    group = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    found, shared = modes(direction, group, 4)
    assert found.tolist() == [1, 0, 0, 0]
    assert shared.tolist() == [False, True, False, True]


def test_zero_differences_are_tied_at_least() -> None:
    assert open_places(np.array([[0.0, 1.0, -1.0, 0.0, 2.0], [3.0, 1.0, 2.0, 5.0, 4.0]])).tolist() == [
        [False, False, True, False, True, True],
        [True, True, True, True, True, True],
    ]


def test_the_nearest_share_is_the_smaller_of_two() -> None:
    curves = tie_curves(np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([[0, 1, 1, -1]]), np.ones((1, 4)))
    for share, place in ((0.0, 0), (0.12, 0), (0.125, 0), (0.13, 1), (0.375, 1), (0.9, 4), (1.0, 4)):
        assert nearest_places(curves, np.array([[share]])).tolist() == [[[place]]]


@given(
    difference=st.lists(st.sampled_from([0.0, 0.5, -1.0, 2.0, -3.0]), min_size=1, max_size=9),
    seed=st.integers(0, 10**6),
)
def test_the_nearest_shares_are_as_tried_one_by_one(difference: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, (4, len(difference))).astype(np.float64)
    weights[:, 0] += 1
    both = np.array([difference, difference[::-1]])
    curves = tie_curves(both, np.zeros((1, len(difference)), dtype=np.int64), weights)
    shares = np.round(rng.random((4, 3)), 2)
    found = nearest_places(curves, shares)
    for measure, draw, number in np.ndindex(found.shape):
        open_ = np.flatnonzero(curves.open[measure])
        ties, share = curves.ties[measure, draw], shares[draw, number]
        assert found[measure, draw, number] == min(
            open_, key=lambda place: (round(abs(ties[place] - share), 12), place)
        )
    assert at_places(curves.ties, found)[1, 2, 0] == curves.ties[1, 2, found[1, 2, 0]]


def test_jaccard_is_that_of_sets_of_answers() -> None:
    mine, theirs = {(0, 1), (1, 0), (2, -1), (3, 1)}, {(0, 1), (1, 0), (2, 1), (3, -1)}
    assert jaccard_of(np.array([2 / 4])).tolist() == [len(mine & theirs) / len(mine | theirs)]
