"""Tests, contrasts and shrinkage of favour."""

from __future__ import annotations

from itertools import product

import numpy as np

from venire.comparison.favour_statistics import adjusted_p, contrasts, shrunken


def test_members_of_a_family_are_compared_with_the_systems_outside_it():
    each, together = contrasts(["a", "b", "c", "d"], {"ab": ["a", "b"]})
    np.testing.assert_allclose(each[:, 0], [1, 0, -0.5, -0.5])
    np.testing.assert_allclose(each[:, 3], [-1 / 3, -1 / 3, -1 / 3, 1])
    np.testing.assert_allclose(together[:, 0], [0.5, 0.5, -0.5, -0.5])
    np.testing.assert_allclose(contrasts(["a", "b"], {})[0], [[1, -1], [-1, 1]])
    covered, _ = contrasts(["a", "b", "c"], {"ab": ["a", "b"], "ac": ["a", "c"]})
    np.testing.assert_allclose(covered.sum(axis=0), 0)


def test_adjusted_p_values_the_slow_way():
    differences = np.random.default_rng(1).normal([0.8, 0.0, -0.3], size=(7, 3))
    largest = []

    def t_of(values):
        return np.abs(values.mean(axis=0) / (values.std(axis=0, ddof=1) / np.sqrt(7)))

    for signs in product([1, -1], repeat=7):
        largest.append(t_of(differences * np.array(signs)[:, None]).max())
    expected = [np.mean(np.array(largest) >= t - 1e-9) for t in t_of(differences)]
    np.testing.assert_allclose(adjusted_p(differences, np.random.default_rng(0)), expected)


def test_adjusted_p_values_with_missing_topics_keep_the_level():
    rng, n_false = np.random.default_rng(4), 0
    for _ in range(200):
        values = rng.normal(size=(14, 5))
        values[rng.random((14, 5)) < 0.4] = np.nan
        n_false += bool(np.nanmin(adjusted_p(values, rng), initial=1.0) < 0.05)
    assert n_false <= 20


def test_shrinkage_depends_on_how_far_systems_differ():
    error = np.full(10, 0.05)
    alike, apart = np.random.default_rng(0).normal(0, [[0.01], [0.5]], (2, 10))
    assert (np.abs(shrunken(alike, error)[0]) < 0.8 * np.abs(alike)).all()
    assert (np.abs(shrunken(apart, error)[0]) > 0.9 * np.abs(apart)).all()
    assert (shrunken(alike, error)[1] > 0).all()
    np.testing.assert_array_equal(shrunken(alike, np.zeros(10))[0], alike)
