"""Intervals of correlations over a handful of topics cover what is known to be true; correct ones fail 1 in 1000."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, rankdata

from venire.aspects.cases import Cases
from venire.aspects.correlations import aspect_correlations
from venire.comparison.rank_agreement import CORRELATIONS, Correlator
from venire.io.aspects import read_aspects
from venire.kernels.rank_correlation import resampled_rho, resampled_tau
from venire.randomness import topic_weights
from venire.users.online_correlations import estimated

N_DRAWS = 100


def least(n: int, share: float = 0.93) -> float:
    """The coverage that n collections show except 1 time in 1000, if this is the true one."""
    return float(binom.ppf(1e-3, n, share)) / n


@pytest.mark.parametrize("n_topics", [3, 5, 9, 10])
@pytest.mark.parametrize("r", [0.0, 0.8, 0.99])
def test_correlations_with_clicks(collections, figure, n_topics, r):
    n, rng = collections(60), np.random.default_rng(n_topics)
    truth = {"kendall": 2 / np.pi * np.arcsin(r), "spearman": 6 / np.pi * np.arcsin(r / 2)}
    covered = dict.fromkeys(truth, 0)
    for _ in range(n):
        x, y = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], n_topics).T[:, None]
        weights = np.concatenate([np.ones((1, n_topics)), topic_weights(n_topics, N_DRAWS, rng)])
        for name, correlate in (("kendall", resampled_tau), ("spearman", resampled_rho)):
            _, low, high = estimated(correlate(x, y, weights)[:, 0, 0], n_topics, name)
            covered[name] += low <= truth[name] <= high
            assert -1 <= low < high <= 1
    for name, hits in covered.items():
        figure(f"coverage of {name}, {n_topics} topics, r {r:g}", hits / n)
        assert hits / n >= least(n)


@pytest.mark.parametrize("n_topics", [3, 5, 9, 10])
@pytest.mark.parametrize("n_systems", [3, 10])
def test_correlations_of_rankings(collections, figure, n_topics, n_systems):
    """The truth is the mean over many samples of as many topics; an interval that is not given is not wrong."""
    n, rng = collections(60), np.random.default_rng(n_topics)
    centre = rng.normal(size=n_systems)

    def sample(size):
        shared = rng.normal(size=(size, 1, n_topics, n_systems))
        return centre + shared + 0.7 * rng.normal(size=(size, 2, n_topics, n_systems))

    means = sample(2000).mean(axis=2)
    truth = CORRELATIONS["tau-b"](means[:, 0], means[:, 1]).mean()
    by = Correlator.of("tau-b", n_topics, n_draws=N_DRAWS, rng=1)
    found = [by.rows([by.two(a.T, b.T)], between="assessors", measure="m", gains="g")[0] for a, b in sample(n)]
    wrong = np.mean([not (np.isnan(row.low) or row.low <= truth <= row.high) for row in found])
    figure(f"coverage, {n_topics} topics, {n_systems} systems", 1 - wrong)
    figure("without interval", np.mean([np.isnan(row.low) for row in found]))
    assert 1 - wrong >= least(n)


def graded(rng, n_topics, *, n_docs=10, r=0.9):
    """Grades 0 to 3 of two aspects (aspect, doc), part of which is the topic's."""
    topic, own = rng.normal(size=(2, n_topics)), rng.normal(size=(2, n_topics, n_docs))
    one, other = (np.sqrt(0.5) * (topic[..., None] + own)).reshape(2, -1)
    both = np.stack([one, r * one + np.sqrt(1 - r**2) * other])
    return np.digitize(0.8 * both + 0.6 * rng.normal(size=both.shape), [-0.7, 0.0, 0.7])


@pytest.mark.parametrize("n_topics", [3, 5, 9, 20])
def test_correlations_of_aspects(collections, figure, n_topics):
    n, rng = collections(40), np.random.default_rng(n_topics)
    truth = np.corrcoef(*(rankdata(each) for each in graded(rng, 20_000)))[0, 1]
    covered = 0
    for seed in range(n):
        one, other = graded(rng, n_topics).astype(str)
        topic = [str(row * n_topics // len(one)) for row in range(len(one))]
        table = pl.DataFrame(
            {"topic": topic, "doc": [f"d{row}" for row in range(len(one))], "one": one, "other": other}
        )
        cases = Cases.of(read_aspects(table), n_draws=N_DRAWS, rng=seed)
        rho = aspect_correlations(cases).find("one", "other").rho
        covered += rho.low <= truth <= rho.high
    figure(f"coverage, {n_topics} topics", covered / n)
    assert covered / n >= least(n)
