"""Tests hold their level and intervals cover, on simulated collections; with another seed, fails 1 time in 1000."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from venire import Scores
from venire.comparison.significance import effects_of
from venire.comparison.tests import (
    PairedBootstrap,
    PairedScores,
    PairedT,
    SignFlip,
    TukeyHSD,
    Wilcoxon,
    holm,
    paired_scores,
)
from venire.kernels.paired_tests import differences_of

N_COLLECTIONS = 2_000
N_TOPICS = 30


def collection(rng: np.random.Generator, n_systems: int, n_topics: int = N_TOPICS) -> PairedScores:
    """Systems that are all the same: scores depend on the topic, and on chance."""
    hard = rng.beta(2, 2, size=n_topics)
    values = rng.beta(1 + 4 * hard, 5 - 4 * hard, size=(n_systems, n_topics))
    names = {"system": tuple(map(str, range(n_systems))), "topic": tuple(map(str, range(n_topics)))}
    return paired_scores(Scores(values, ("system", "topic"), names))


def is_near(found: int, n: int, share: float) -> bool:
    return binomtest(found, n, share).pvalue > 1e-3


@pytest.mark.parametrize(
    "test", [PairedT(), Wilcoxon(), SignFlip(n=999), PairedBootstrap(n=999)], ids=lambda test: type(test).__name__
)
def test_the_same_systems_differ_one_time_in_twenty(test) -> None:
    streams = np.random.default_rng(11).spawn(N_COLLECTIONS)
    p = np.array([test.p_values(collection(rng, 2), rng)[0] for rng in streams])
    assert is_near(int((p <= 0.05).sum()), N_COLLECTIONS, 0.05)
    assert is_near(int((p <= 0.5).sum()), N_COLLECTIONS, 0.5)


def test_tukey_finds_any_of_the_same_systems_different_one_time_in_twenty() -> None:
    streams = np.random.default_rng(12).spawn(N_COLLECTIONS)
    p = np.array([TukeyHSD(n=399).p_values(collection(rng, 5), rng).min() for rng in streams])
    assert is_near(int((p <= 0.05).sum()), N_COLLECTIONS, 0.05)


def test_holm_holds_the_level_of_all_pairs_together_where_no_adjustment_does_not() -> None:
    streams = np.random.default_rng(13).spawn(N_COLLECTIONS)
    p = np.array([PairedT().p_values(collection(rng, 5), rng) for rng in streams])
    assert (p.min(axis=1) <= 0.05).mean() > 0.2
    adjusted = np.array([holm(each).min() for each in p])
    assert binomtest(int((adjusted <= 0.05).sum()), N_COLLECTIONS, 0.05, alternative="greater").pvalue > 1e-3


@pytest.mark.parametrize(("delta", "sd"), [(0.1, 0.25), (0.0, 0.1), (-0.4, 0.3)])
def test_intervals_cover(delta: float, sd: float) -> None:
    """2,000 collections of two systems each, stacked; a wins a new topic with the probability of a positive normal."""
    rng = np.random.default_rng(14)
    values = np.concatenate([rng.normal(delta, sd, size=(N_COLLECTIONS, N_TOPICS)), np.zeros((1, N_TOPICS))])
    differences = differences_of(values, np.arange(N_COLLECTIONS), np.full(N_COLLECTIONS, N_COLLECTIONS))
    found = effects_of(differences, n_resamples=1_999, rng=rng)

    def covered(low: np.ndarray, high: np.ndarray, truth: float) -> int:
        return int(((low <= truth) & (truth <= high)).sum())

    assert is_near(covered(found.low, found.high, delta), N_COLLECTIONS, 0.95)
    assert is_near(covered(found.effect_low, found.effect_high, delta / sd), N_COLLECTIONS, 0.95)
    assert found.effect.mean() == pytest.approx(delta / sd, abs=4 * found.effect.std() / np.sqrt(N_COLLECTIONS))
    boot = covered(found.boot_low, found.boot_high, delta) / N_COLLECTIONS
    assert 0.93 < boot < 0.97
    won = covered(found.superiority_low, found.superiority_high, float(norm.cdf(delta / sd))) / N_COLLECTIONS
    assert 0.93 < won < 0.985


def test_the_bootstrap_interval_leans_as_skewed_differences_do() -> None:
    """Where a few topics differ a lot, Student's interval misses above more often than below; the bootstrap's less."""
    rng = np.random.default_rng(15)
    drawn = rng.exponential(0.1, size=(N_COLLECTIONS, N_TOPICS))
    values = np.concatenate([drawn, np.zeros((1, N_TOPICS))])
    differences = differences_of(values, np.arange(N_COLLECTIONS), np.full(N_COLLECTIONS, N_COLLECTIONS))
    found = effects_of(differences, n_resamples=1_999, rng=rng)
    too_low, too_high = (found.high < 0.1).mean(), (found.low > 0.1).mean()
    assert too_low > 3 * too_high
    leaning = (found.boot_high < 0.1).mean(), (found.boot_low > 0.1).mean()
    assert sum(leaning) < too_low + too_high
    assert leaning[0] < too_low / 1.5
