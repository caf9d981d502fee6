from __future__ import annotations

import numpy as np
import pytest

from venire.kernels.sequential import critical_values, levels_of, spent_by

FIVE = np.arange(1, 6) / 5


def test_critical_values_of_o_brien_and_fleming_are_those_published():
    """Lan and DeMets' version of O'Brien and Fleming, two-sided 5 %, five equal steps."""
    found = critical_values(FIVE.tolist(), spent_by(FIVE, 0.05).tolist())
    np.testing.assert_allclose(found, [4.8769, 3.3569, 2.6803, 2.2898, 2.0310], atol=2e-4)


def test_equal_critical_values_are_those_of_pocock():
    """Pocock (1977): 2.413 at each of five looks spends 5 %; so spending what it spends gives 2.413 back."""
    rng = np.random.default_rng(1)
    steps = rng.standard_normal((400_000, 5)).cumsum(axis=1) / np.sqrt(np.arange(1, 6))
    first = np.where((np.abs(steps) > 2.413).any(axis=1), (np.abs(steps) > 2.413).argmax(axis=1), 5)
    spent = [(first <= n).mean() for n in range(5)]
    assert spent[-1] == pytest.approx(0.05, abs=0.002)
    np.testing.assert_allclose(critical_values(FIVE.tolist(), spent), 2.413, atol=0.02)


@pytest.mark.parametrize("times", [[1.0], [0.3, 1.0], [0.1, 0.15, 0.9, 1.0]])
def test_the_whole_level_is_spent_over_all_looks(times):
    bounds = critical_values(times, spent_by(np.array(times), 0.05).tolist())
    rng = np.random.default_rng(2)
    path = (rng.standard_normal((400_000, len(times))) * np.sqrt(np.diff(times, prepend=0))).cumsum(axis=1)
    crossed = (np.abs(path) / np.sqrt(times) > bounds).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=0.0015)


def test_one_look_has_the_whole_level_and_more_looks_leave_less_for_the_last():
    assert levels_of([1.0], 0.05) == [pytest.approx(0.05)]
    assert levels_of([0.5, 1.0], 0.05)[-1] > levels_of([0.25, 0.5, 0.75, 1.0], 0.05)[-1]


def test_the_level_of_a_look_does_not_depend_on_those_that_follow():
    every = levels_of(FIVE.tolist(), 0.05)
    assert every[-1] == pytest.approx(0.0423, abs=1e-4)
    for n in range(1, 6):
        assert levels_of(FIVE.tolist()[:n], 0.05) == every[:n]
