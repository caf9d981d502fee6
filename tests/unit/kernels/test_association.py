from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f

from venire.kernels.association import association


def dummies(*groups):
    return np.hstack([(each[:, None] == np.unique(each)).astype(float) for each in groups])


@pytest.mark.parametrize("n_topics", [30, 7])
def test_it_is_the_test_of_residuals_of_a_regression(n_topics):
    rng = np.random.default_rng(1)
    topic, rank = rng.integers(n_topics, size=300), rng.integers(8, size=300)
    x, z = rng.random((300, 2)), rng.random(300)
    base = dummies(topic, rank)
    free = [each - base @ np.linalg.lstsq(base, each, rcond=None)[0] for each in (x, z[:, None])]
    rows = free[0] * free[1]
    parts = dummies(topic).T @ rows if n_topics == 30 else rows
    n, u = len(parts), parts.sum(axis=0)
    q = u @ np.linalg.inv(parts.T @ parts) @ u
    expected = f.sf((n - 2) / 2 * q / (n - q), 2, n - 2)
    assert association(x, z, [topic, rank], topic) == pytest.approx(expected, rel=1e-4)


def test_a_number_that_goes_with_its_groups_tells_nothing():
    rng = np.random.default_rng(2)
    topic, rank = np.repeat(np.arange(30), 20), np.tile(np.arange(20), 30)
    label = (rng.random(600) < np.exp(-rank / 6)).astype(float)[:, None]
    assert association(label, (rank < 10).astype(float), [topic, rank], topic) == 1.0
    assert association(label, (rank < 10).astype(float), [topic], topic) < 1e-6


def test_a_number_that_goes_with_scores_is_found():
    rng = np.random.default_rng(3)
    topic = np.repeat(np.arange(30), 20)
    label = rng.integers(3, size=600)
    marks = (label[:, None] == [1, 2]).astype(float)
    assert association(marks, (label > 0).astype(float), [topic], topic) < 1e-12
    assert association(marks, rng.random(600), [topic], topic) > 0.01
