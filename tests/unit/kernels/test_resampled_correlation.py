from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from venire.kernels import resampled_correlation
from venire.kernels.correlation import kendall_tau
from venire.kernels.resampled_correlation import resampled_rho, resampled_tau

THEIRS = {resampled_tau: kendalltau, resampled_rho: spearmanr}


def vectors(seed: int, *, n_topics: int = 23) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two and three vectors with ties, and draws with topics left out and taken twice."""
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(0, 6, (n, n_topics)).astype(float) for n in (2, 3))
    return x, y, rng.integers(0, 4, (5, n_topics)).astype(float)


@pytest.mark.parametrize("correlate", THEIRS, ids=lambda each: each.__name__)
def test_weights_are_copies_of_topics(correlate):
    x, y, weights = vectors(3)
    found = correlate(x, y, weights)
    assert found.shape == (5, 2, 3)
    for draw, first, second in np.ndindex(found.shape):
        times = weights[draw].astype(int)
        theirs = THEIRS[correlate](np.repeat(x[first], times), np.repeat(y[second], times)).statistic
        assert found[draw, first, second] == pytest.approx(theirs, abs=1e-12)


def test_without_weights_it_is_the_plain_coefficient():
    x, y, _ = vectors(5)
    found = resampled_tau(x, y, np.ones((1, 23)))[0]
    np.testing.assert_allclose(found, kendall_tau(x[:, None], y[None]), atol=1e-12)


def test_blocks_make_no_difference(monkeypatch):
    x, y, weights = vectors(7)
    whole = resampled_tau(x, y, weights)
    monkeypatch.setattr(resampled_correlation, "BLOCK_CELLS", 1)
    np.testing.assert_array_equal(resampled_tau(x, y, weights), whole)


@pytest.mark.parametrize("correlate", THEIRS, ids=lambda each: each.__name__)
def test_what_is_all_tied_has_no_correlation(correlate):
    x, y = np.ones((1, 4)), np.arange(4.0)[None]
    assert np.isnan(correlate(x, y, np.ones((1, 4)))).all()
    assert np.isnan(correlate(y, y, np.array([[0.0, 3.0, 0.0, 0.0]]))).all(), "one topic, drawn three times"
