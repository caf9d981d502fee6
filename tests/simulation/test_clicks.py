"""Click probabilities that are known are found again, and intervals cover; with another seed, fails 1 time in 1000."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.stats import binomtest

from venire.io.clicks import read_clicks
from venire.kernels.rank_correlation import resampled_rho, resampled_tau
from venire.randomness import topic_weights
from venire.users.clicks import summarise_clicks
from venire.users.online_correlations import estimated

N_DOCS = 4


def log(satisfied: np.ndarray, n_sessions: int, rng: np.random.Generator) -> pl.DataFrame:
    """A log whose clicks satisfy with these probabilities (topic, doc), and happen half as often again at most."""
    n_topics = len(satisfied)
    topic, session, doc = (each.ravel() for each in np.indices((n_topics, n_sessions, N_DOCS)))
    draw = rng.random(len(topic))
    p = satisfied[topic, doc]
    clicked = draw < np.minimum(1.5 * p, 1)
    return pl.DataFrame(
        {
            "session": topic * n_sessions + session,
            "topic": topic,
            "doc": topic * N_DOCS + doc,
            "clicked": clicked.astype(np.int8),
            "dwell": np.where(draw < p, 30 + 50 * rng.random(len(topic)), 29.9 * rng.random(len(topic))),
        }
    )


def test_known_probabilities_are_found_again():
    rng = np.random.default_rng(1)
    truth = rng.beta(1, 3, (60, N_DOCS))
    clicks = read_clicks(log(truth, 400, rng))
    place = np.array([int(doc) for doc in clicks.items.doc])
    hits = truth.ravel()[place]
    p = [binomtest(int(k), 400, h).pvalue for k, h in zip(clicks.satisfied, hits, strict=True)]
    assert 0.3 < np.mean(np.array(p) > 0.5) < 0.8
    assert min(p) > 1e-3 / len(p)
    clicked = np.minimum(1.5 * hits, 1)
    assert abs((clicks.clicks / 400 - clicked).mean()) < 4 * np.sqrt((clicked * (1 - clicked) / 400).mean() / len(hits))


def test_the_interval_of_the_mean_covers_that_of_all_topics():
    n, covered = 80, 0
    for rng in np.random.default_rng(2).spawn(n):
        summary = summarise_clicks(read_clicks(log(rng.beta(1, 3, (25, N_DOCS)), 8, rng)))
        covered += summary.mean_ctr.low <= 0.25 <= summary.mean_ctr.high
    assert binomtest(covered, n, 0.95).pvalue > 1e-3


def test_intervals_of_correlations_cover():
    n, n_topics, r = 300, 40, 0.5
    truth = {resampled_tau: 2 / np.pi * np.arcsin(r), resampled_rho: 6 / np.pi * np.arcsin(r / 2)}
    covered = dict.fromkeys(truth, 0)
    for rng in np.random.default_rng(3).spawn(n):
        x, y = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], n_topics).T
        weights = np.concatenate([np.ones((1, n_topics)), topic_weights(n_topics, 100, rng)])
        for correlate, true in truth.items():
            draws = correlate(x[None], y[None], weights)[:, 0, 0]
            _, low, high = estimated(draws, n_topics, "kendall" if correlate is resampled_tau else "spearman")
            covered[correlate] += low <= true <= high
    for correlate, hits in covered.items():
        assert binomtest(hits, n, 0.95).pvalue > 1e-3, (correlate.__name__, hits / n)
