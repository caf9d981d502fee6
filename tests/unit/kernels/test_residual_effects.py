from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from venire.kernels.residual_effects import Design, fit_effects, log_likelihood, root

SIZES, N_SHARED, N_LOCAL = (7, 5, 9, 4), 3, 2


@pytest.fixture
def case():
    rng = np.random.default_rng(3)
    n = sum(SIZES)
    start = np.concatenate([[0], np.cumsum(SIZES)])
    known = rng.random(n) < 0.5
    known[start[1] : start[2]] = False
    shared, local = rng.normal(size=(n, N_SHARED)), rng.normal(size=(n, N_LOCAL))
    return Design(shared, local, rng.uniform(0.5, 2, n), known, start), rng.normal(size=n), rng.normal(size=(3, n))


def conditioned(design: Design, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The slow way: the covariance of all items, conditioned on those known -> mean and covariance of the others.

    Twice: of the effects alone, and with the noise.
    """
    topic = np.repeat(np.arange(len(SIZES)), SIZES)
    effects = design.shared @ design.shared.T + (design.local @ design.local.T) * (topic[:, None] == topic)
    whole = effects + np.diag(design.noise)
    known, other = np.flatnonzero(design.known), np.arange(len(topic))
    weight = np.linalg.solve(whole[np.ix_(known, known)], effects[np.ix_(known, other)]).T
    return weight @ residual[known], effects - weight @ effects[np.ix_(known, other)]


def test_the_posterior_is_that_of_conditioning_a_normal_distribution(case):
    design, residual, _ = case
    effects = fit_effects(design, residual)
    mean, covariance = conditioned(design, residual)
    np.testing.assert_allclose(effects.expected(), mean, atol=1e-10)
    np.testing.assert_allclose(effects.variance(), np.diag(covariance), atol=1e-10)


def test_weighted_sums_are_over_the_unknown_residuals(case):
    design, residual, weights = case
    mean, covariance = conditioned(design, residual)
    covariance = covariance + np.diag(design.noise)
    weights_of = np.where(design.known, 0.0, weights)
    found = fit_effects(design, residual).weighted(weights)
    np.testing.assert_allclose(found[0], weights_of @ mean, atol=1e-10)
    np.testing.assert_allclose(found[1], weights_of @ covariance @ weights_of.T, atol=1e-10)


def test_draws_have_the_mean_and_covariance_of_the_effects(case):
    design, residual, _ = case
    draws = fit_effects(design, residual).draw(40_000, np.random.default_rng(1))
    mean, covariance = conditioned(design, residual)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.05)
    np.testing.assert_allclose(np.cov(draws, rowvar=False), covariance, atol=0.12)


def test_without_known_residuals_the_prior_remains(case):
    design, residual, _ = case
    nothing = Design(design.shared, design.local, design.noise, np.zeros_like(design.known), design.start)
    effects = fit_effects(nothing, residual)
    assert (effects.expected() == 0).all()
    prior = (design.shared**2).sum(axis=1) + (design.local**2).sum(axis=1)
    np.testing.assert_allclose(effects.variance(), prior)


def test_effects_are_averaged_over_factors_by_how_probable_they_make_the_residuals(case):
    """The last effect has a prior deviation of .1, 1 or 5: mean and covariance of the mixture, the slow way."""
    design, residual, _ = case
    topic, known = np.repeat(np.arange(len(SIZES)), SIZES), np.flatnonzero(design.known)
    means, covariances, evidence = [], [], []
    for factor in (0.1, 1.0, 5.0):
        given = Design(design.shared * [1, 1, factor], design.local, design.noise, design.known, design.start)
        effects = given.shared @ given.shared.T + (given.local @ given.local.T) * (topic[:, None] == topic)
        whole = (effects + np.diag(given.noise))[np.ix_(known, known)]
        evidence.append(multivariate_normal(cov=whole).logpdf(residual[known]))
        mean, covariance = conditioned(given, residual)
        means.append(mean)
        covariances.append(covariance)
    share = np.array([0.5, 0.2, 0.3]) * np.exp(evidence)
    share /= share.sum()
    found = fit_effects(design, residual, n_scaled=1, factors={0.1: 0.5, 1.0: 0.2, 5.0: 0.3})
    np.testing.assert_allclose(found.expected(), share @ np.array(means), atol=1e-10)
    deviation = np.array(means) - share @ np.array(means)
    variance = share @ (np.array([np.diag(each) for each in covariances]) + deviation**2)
    np.testing.assert_allclose(found.variance(), variance, atol=1e-10)
    assert 0.01 < share.min() < share.max() < 0.9
    np.testing.assert_allclose(list(found.factors.values()), share)


def test_residuals_that_are_not_known_yet_leave_means_and_factors(case):
    """The covariance is the mean of those that factors have, which no residual changes."""
    design, residual, _ = case
    factors = {0.1: 0.5, 1.0: 0.2, 5.0: 0.3}
    found = fit_effects(design, None, n_scaled=1, factors=factors)
    alone = [fit_effects(design, residual, n_scaled=1, factors={factor: 1.0}).covariance for factor in factors]
    np.testing.assert_allclose(found.covariance, np.average(alone, axis=0, weights=list(factors.values())))
    assert found.factors == pytest.approx(factors)
    assert not found.mean.any()


def test_log_likelihood_is_that_of_a_normal_distribution(case):
    design, residual, _ = case
    topic, local = np.repeat(np.arange(len(SIZES)), SIZES), design.local[:, 0]
    effects = design.shared @ design.shared.T + np.outer(local, local) * (topic[:, None] == topic)
    expected = multivariate_normal(cov=effects + np.diag(design.noise)).logpdf(residual)
    assert log_likelihood(design.shared, local, design.noise, residual, topic) == pytest.approx(expected)


def test_root_of_a_singular_covariance():
    covariance = np.array([[1.0, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(root(covariance) @ root(covariance).T, covariance, atol=1e-12)
