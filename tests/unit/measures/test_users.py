from __future__ import annotations

import numpy as np
import pytest

from venire.data.gains import gains_for
from venire.data.panel import build_panel
from venire.errors import AmbiguousLabels, GainsError, SettingError
from venire.io import read_grid
from venire.measures.random_users import RELEVANCE, Users

WORTH = {"0": 0.0, "1": 0.25, "2": 1.0}


def users(grid: str = "0 1 2 1 .", n: int = 20, *, seed: int = 5, worth: object = WORTH, **who: object) -> Users:
    labels = read_grid(grid)
    panel = build_panel(labels, **who)
    return Users.of(panel, gains_for(worth, labels.scale), n, seed=np.random.SeedSequence(seed))


def test_a_user_finds_the_same_relevant_whatever_the_block():
    everyone = users(n=20)
    whole = everyone.relevant(0, 20)
    apart = [everyone.part(first, first + 4).relevant(0, 4) for first in range(0, 20, 4)]
    np.testing.assert_array_equal(np.concatenate(apart), whole)
    np.testing.assert_array_equal(everyone.relevant(7, 9), whole[7:9])
    np.testing.assert_array_equal(everyone.part(5, 12).part(2, 4).relevant(0, 2), whole[7:9])
    np.testing.assert_array_equal(users(n=8).relevant(0, 8), whole[:8])


def test_a_user_s_stream_is_the_child_of_the_seed_with_their_number():
    everyone = users(n=3)
    children = np.random.SeedSequence(5).spawn(3)
    expected = [np.random.default_rng(child).random(everyone.n_items) < everyone.p for child in children]
    np.testing.assert_array_equal(everyone.relevant(0, 3), expected)


def test_relevance_is_drawn_with_the_gain_of_the_label():
    n = 4000
    share = users(n=n).relevant(0, n).mean(axis=0)
    assert share[0] == 0
    assert share[2] == 1
    error = (0.25 * 0.75 / n) ** 0.5
    np.testing.assert_allclose(share[[1, 3]], 0.25, atol=4 * error)


def test_users_differ_from_each_other_and_from_those_of_another_seed():
    one = users("2 " + "1 " * 200, n=2)
    assert (one.relevant(0, 1) != one.relevant(1, 2)).any()
    assert (one.relevant(0, 2) != users("2 " + "1 " * 200, n=2, seed=6).relevant(0, 2)).any()


def test_the_probability_of_a_pool_is_the_mean_over_its_labels():
    pooled = users("0 1 2\n2 1 2\n2 . .", pool="mean")
    np.testing.assert_allclose(pooled.p, [2 / 3, 0.25, 1.0])


def test_gains_are_worth_what_irrelevant_and_relevant_are_and_nobody_judges_what_was_not():
    everyone = users("0 1 2\n2 1 .", n=6, assessor="U2")
    gains, judged = everyone.gains(np.array([0.1, 0.7]), 1, 5)
    assert gains.shape == judged.shape == (4, 3)
    np.testing.assert_array_equal(judged, [[True, True, False]] * 4)
    np.testing.assert_array_equal(gains == 0.7, everyone.relevant(1, 5))
    assert set(np.unique(gains)) <= {0.1, 0.7}
    assert (gains[:, 2] == 0.1).all()


def test_users_have_numbers_for_names():
    assert users(n=3).judges == ("1", "2", "3")
    assert users(n=3).part(1, 3).judges == ("2", "3")
    assert RELEVANCE.unit


@pytest.mark.parametrize("worth", ["linear", "exponential", {"0": 0.0, "1": 0.5, "2": 1.5}])
def test_gains_that_are_no_probabilities_are_refused(worth):
    with pytest.raises(GainsError, match="probabilities"):
        users(worth=worth)


def test_nobody_and_several_judges_are_refused():
    with pytest.raises(SettingError, match="0 users"):
        users(n=0)
    with pytest.raises(AmbiguousLabels, match="labels of one judge"):
        users("0 1\n1 2", per="assessor")
