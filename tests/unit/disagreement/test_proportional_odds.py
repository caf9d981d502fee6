"""Proportional odds: recovers what made the counts, and gives sensible rows where there are hardly any."""

from __future__ import annotations

import numpy as np
import pytest

from venire.disagreement.transitions import proportional_odds


def matrix(bounds, slope):
    level = slope * (np.arange(len(bounds) + 1) - len(bounds) / 2)
    upto = 1 / (1 + np.exp(-(np.array(bounds) - level[:, None])))
    return np.diff(np.pad(upto, [(0, 0), (1, 0)]), axis=1, append=1.0)


@pytest.mark.parametrize(("bounds", "slope"), [([0.0], 2.0), ([-1.0, 1.0], 1.5), ([-0.5, 0.3, 2.0], 0.8)])
def test_many_counts_give_the_matrix_that_made_them(bounds, slope):
    true = matrix(bounds, slope)
    rng = np.random.default_rng(1)
    counts = np.array([rng.multinomial(50_000, row) for row in true], dtype=np.float64)
    np.testing.assert_allclose(proportional_odds(counts), true, atol=0.01)


def test_few_counts_never_turn_the_order_round():
    counts = np.array([[3.0, 1.0, 2.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    found = proportional_odds(counts)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (np.diff(found @ np.arange(3)) > 0).all()


def test_no_counts_give_a_distribution():
    found = proportional_odds(np.zeros((4, 4)))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
