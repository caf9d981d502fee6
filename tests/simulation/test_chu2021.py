"""The generator of Chu et al. (2021), Section 4.1, keeps what it states; 40 tests per label pair are enough on it.

What the paper says of Figures 4, 5 and 6 is checked in ``tests/papers/chu2021_figures.py``.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, kstest, norm

from venire.data.preferences import Preferences
from venire.quality.label_preferences import LabelPreferences
from venire.quality.lists import top_of_pool
from venire.quality.pdp import pdp
from venire.simulation.perceived import PerceivedCollection, PerceivedRelevance, generate_perceived, graded

PAPER = PerceivedRelevance()
TRUSTED = 1e-3
"""A test of fit fails so often by chance, with another seed."""


def test_true_relevance_follows_the_beta_distribution_of_its_topic():
    collection = generate_perceived(replace(PAPER, n_assessors=1), rng=1)
    shape = np.repeat(collection.shape, 5, axis=0)
    assert kstest(beta.cdf(collection.relevance, shape[:, 0], shape[:, 1]), "uniform").pvalue > TRUSTED
    assert kstest((collection.shape.ravel() - 2) / 3, "uniform").pvalue > TRUSTED
    assert kstest(beta.cdf(collection.relevance, 3.5, 3.5), "uniform").pvalue < TRUSTED


@pytest.mark.parametrize("noise_per", ["annotation", "assessor"])
def test_noise_has_the_variance_of_equation_15(noise_per):
    setting = replace(PAPER, n_topics=4000, topics_per_batch=1, sigma=(0.02, 0.02), noise_per=noise_per)
    collection = generate_perceived(setting, rng=2)
    inside = (collection.relevance > 0.3) & (collection.relevance < 0.7)
    error = (collection.perceived - collection.relevance[:, None])[inside] / 0.02
    assert error.shape[0] > 8000
    assert abs(error.mean()) < 0.02
    assert abs(error.var() - (1 + math.sinh(1))) < 0.05


def test_annotations_are_independent_and_leanings_are_not():
    def alike(noise_per: str) -> float:
        """Correlation of an assessor's errors on two documents of a topic."""
        setting = replace(PAPER, n_topics=3000, topics_per_batch=1, sigma=(0.02, 0.02), noise_per=noise_per)
        collection = generate_perceived(setting, rng=3)
        error = (collection.perceived - collection.relevance[:, None]).reshape(3000, 5, 15)
        return float(np.corrcoef(error[:, 0].ravel(), error[:, 1].ravel())[0, 1])

    assert abs(alike("annotation")) < 0.02
    assert abs(alike("assessor") - 1 / (1 + math.sinh(1))) < 0.03


def test_labels_are_even_where_relevance_is():
    setting = replace(PAPER, shape=(1.0, 1.0), sigma=(0.0, 0.0), n_assessors=1)
    counts = np.bincount(generate_perceived(setting, rng=4).at(10).label, minlength=10)
    assert np.abs(counts - 5000).max() < 4 * math.sqrt(5000 * 0.9)


def test_assessors_resemble_each_other_more_the_better_they_judge():
    def of_two(sigma: float, n_grades: int) -> tuple[float, float]:
        """Correlation of the labels of two assessors, and the share of documents on which they agree."""
        setting = replace(PAPER, n_topics=400, n_assessors=2, sigma=(sigma, sigma))
        a, b = generate_perceived(setting, rng=5).at(n_grades).label.reshape(-1, 2).T
        return float(np.corrcoef(a, b)[0, 1]), float((a == b).mean())

    for n_grades in (2, 4, 16):
        correlations = [of_two(sigma, n_grades)[0] for sigma in (0.001, 0.05, 0.15, 0.3)]
        assert correlations == sorted(correlations, reverse=True)
        assert correlations[0] > 0.95
        assert correlations[-1] < 0.4
    agreement = [of_two(0.15, n_grades)[1] for n_grades in (2, 4, 8, 16)]
    assert agreement == sorted(agreement, reverse=True)


def test_noisy_preferences_err_as_often_as_their_noise_says():
    setting = replace(PAPER, n_topics=4000, n_assessors=1, preference_noise=0.1, tie_threshold=0.05)
    collection = generate_perceived(setting, rng=6)
    relevance, table = collection.relevance.reshape(-1, 5), collection.preferences
    gap = relevance[table.topic, table.left] - relevance[table.topic, table.right]
    sd = 0.1 * math.sqrt(2)
    for strength, p in ((1, norm.sf(0.05, gap, sd)), (-1, norm.cdf(-0.05, gap, sd))):
        surplus = (table.strength == strength).sum() - p.sum()
        assert abs(surplus) < 4 * math.sqrt((p * (1 - p)).sum())
    assert 0.05 < (table.strength == 0).mean() < 0.3


def judged(sigma: float, *, rng: int, n_topics: int = 80) -> PerceivedCollection:
    """One batch of topics, judged with this much noise."""
    setting = replace(PAPER, n_topics=n_topics, topics_per_batch=n_topics, sigma=(sigma, sigma))
    return generate_perceived(setting, rng=rng)


def pdp_of(collection: PerceivedCollection, n_grades: int, mode: str, asked: Preferences | None = None) -> float:
    labels = LabelPreferences(mode=mode, form="table")
    preferences = collection.preferences if asked is None else asked
    lists = top_of_pool(collection.at(n_grades), 5, choose="random")  # all five documents, tested or not
    value = pdp(collection.at(n_grades), preferences, labels=labels, lists=lists, n_draws=0).value
    assert value is not None
    return value


def asked_of(collection: PerceivedCollection, n_grades: int, per_pair: int, rng: np.random.Generator) -> Preferences:
    """Draw so many tuples for every pair of (median) labels, or as many as there are."""
    label = np.median(graded(collection.perceived, n_grades), axis=1).astype(int).reshape(-1, 5)
    table = collection.preferences
    a, b = label[table.topic, table.left], label[table.topic, table.right]
    shuffled = rng.permutation(len(table))
    cell = (np.minimum(a, b) * n_grades + np.maximum(a, b))[shuffled]
    order = np.argsort(cell, kind="stable")
    place = np.arange(len(cell)) - np.searchsorted(cell[order], cell[order])
    return table.take(np.sort(shuffled[order[place < per_pair]]))


def test_figure_6_forty_tests_per_label_pair_suffice_in_individual_mode():
    qualities = [judged(sigma, rng=1, n_topics=200) for sigma in (0.05, 0.15, 0.25)]

    def drawn(mode: str, per_pair: int) -> np.ndarray:
        """PDP under repeated choices of tests -> (repetition, quality)."""
        stream = np.random.default_rng(8)
        return np.array(
            [[pdp_of(each, 4, mode, asked_of(each, 4, per_pair, stream)) for each in qualities] for _ in range(10)]
        )

    few, enough, pooled = drawn("individual", 10), drawn("individual", 40), drawn("aggregate", 40)
    full = np.array([pdp_of(each, 4, "individual") for each in qualities])
    assert (enough.std(axis=0) < few.std(axis=0)).all()
    assert (enough.std(axis=0) < 0.01 * math.log(120)).all()
    assert np.abs(enough.mean(axis=0) - full).max() < 0.015 * math.log(120)
    assert (enough.max(axis=0)[:-1] < enough.min(axis=0)[1:]).all()
    assert (pooled.std(axis=0) > enough.std(axis=0)).all()
