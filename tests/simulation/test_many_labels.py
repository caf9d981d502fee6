"""Items whose share of users who find them relevant is known: what labels, few and many, say about it."""

from __future__ import annotations

import numpy as np
import pytest

from labelled_items import correlations, labelled
from venire import PredictedRelevance
from venire.disagreement.dawid_skene import DawidSkene
from venire.disagreement.many_labels import observed_weights
from venire.disagreement.several_labels import credibility, independent, posterior


@pytest.fixture(scope="module")
def items() -> np.ndarray:
    """Return 20,000 items with 10 labels each: relevant to a share of users that is Beta(0.6, 1.4)."""
    rng = np.random.default_rng(8)
    return (rng.random((20_000, 10)) < rng.beta(0.6, 1.4, size=(20_000, 1))).astype(int)


def test_the_correlation_is_that_of_the_beta_distribution(items: np.ndarray) -> None:
    """Given a label the share is Beta with one more count, and a Beta(a, b) has the correlation 1 / (a + b + 1)."""
    found = correlations(labelled(items.tolist(), scale="0<1"))
    assert found.p == pytest.approx([0.6 / 3, 1.6 / 3], abs=0.01)
    assert found.rho == pytest.approx([1 / 4, 1 / 4], abs=0.015)


def test_independent_users_overstate_and_correlated_ones_are_right(items: np.ndarray) -> None:
    seen = observed_weights(labelled(items.tolist(), scale="0<1"), [(1, n) for n in (3, 5, 10)])
    given_none = np.array([1 - np.prod([(2.4 + x) / (3 + x) for x in range(n - 1)]) for _, n in seen.shares])
    off = (seen.predicted - seen.observed)[:, 0]
    assert (off > 10 * seen.sd[:, 0]).all()
    assert off[2] > 0.2
    assert (np.abs(seen.observed[:, 0] - given_none) < 4 * seen.sd[:, 0]).all()
    assert (np.abs(seen.correlated[:, 0] - given_none) < 4 * seen.sd[:, 0]).all()


@pytest.fixture(scope="module")
def mixture() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three classes of items that users label in their own ways: labels (item, 8), and what Bayes makes of the first 6.

    Also what one more user says of each item.
    """
    rng = np.random.default_rng(4)
    frequent, says = np.array([0.5, 0.3, 0.2]), np.array([[0.8, 0.15, 0.05], [0.3, 0.5, 0.2], [0.1, 0.3, 0.6]])
    classes = rng.choice(3, size=8000, p=frequent)
    labels = (rng.random((8000, 7, 1)) > says[classes].cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    chances = frequent * says.T[labels[:, :6]].prod(axis=1)
    return labels[:, :6], (chances / chances.sum(axis=1, keepdims=True)) @ says[:, 2], labels[:, 6] == 2


def log_loss(p: np.ndarray, relevant: np.ndarray) -> float:
    p = np.clip(p, 1e-9, 1 - 1e-9)
    return float(-np.where(relevant, np.log(p), np.log(1 - p)).mean())


def calibration(p: np.ndarray, relevant: np.ndarray) -> float:
    """Mean distance between what is promised and what comes, over ten groups of items."""
    groups = np.array_split(np.argsort(p), 10)
    return float(np.mean([abs(p[group].mean() - relevant[group].mean()) for group in groups]))


def test_credibility_is_better_calibrated_than_naive_bayes(
    mixture: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    labels, truth, relevant = mixture
    judgments = labelled(labels.tolist())
    fit = PredictedRelevance().fit(judgments)
    linear, naive = (posterior(judgments, fit, rule=rule).probability for rule in (credibility, independent))
    assert np.mean((linear - truth) ** 2) < np.mean((naive - truth) ** 2) / 5
    assert calibration(linear, relevant) < calibration(naive, relevant) / 2
    assert log_loss(linear, relevant) < log_loss(naive, relevant) - 0.1
    assert log_loss(linear, relevant) < log_loss(truth, relevant) + 0.03


def test_latent_classes_find_the_posterior_of_their_own_model(
    mixture: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    labels, truth, relevant = mixture
    found = DawidSkene().fit(labelled(labels.tolist())).relevance().probability
    assert np.abs(found - truth).mean() < 0.02
    assert calibration(found, relevant) < 0.02


def test_latent_classes_know_good_assessors_from_bad() -> None:
    rng = np.random.default_rng(6)
    right = np.array([0.95, 0.9, 0.6, 0.5, 0.4, 0.35])
    classes = rng.choice(3, size=3000, p=[0.5, 0.3, 0.2])
    noise = (classes[:, None] + rng.integers(1, 3, size=(3000, 6))) % 3
    labels = np.where(rng.random((3000, 6)) < right, classes[:, None], noise)
    labels[rng.random(labels.shape) < 0.3] = -1
    fit = DawidSkene().fit(labelled(labels.tolist()))
    assert fit.converged
    assert np.abs(fit.skill - right).max() < 0.04
    assert np.abs(np.einsum("acc->ac", fit.confusion) - right[:, None]).max() < 0.08
    assert (np.nanargmax(np.nan_to_num(fit.posterior), axis=1) == classes).mean() > 0.9


def test_single_labels_promise_what_pairs_say_on_average() -> None:
    """An item with one label: weighed by who gave it, but over all assessors p(R|i) holds."""
    rng = np.random.default_rng(2)
    n, right = 16_000, np.linspace(0.45, 0.95, 30)
    classes = rng.choice(2, size=n, p=[0.6, 0.4])
    labels = np.where(rng.random((n, 30)) < right, classes[:, None], 1 - classes[:, None])
    alone = np.arange(n) >= n // 2
    turn = rng.permuted(np.tile(np.arange(30), (n, 1)), axis=1)
    labels[turn >= np.where(alone, 1, 5)[:, None]] = -1
    judgments = labelled(labels.tolist(), scale="0<1")
    found = DawidSkene().fit(judgments).relevance().probability
    p = PredictedRelevance().fit(judgments.take(~alone[judgments.item])).p[0]
    for label in range(2):
        given = alone & (labels.max(axis=1) == label)
        assert found[given].mean() == pytest.approx(p[label], abs=0.02)
        assert np.ptp(found[given]) > 0.1
