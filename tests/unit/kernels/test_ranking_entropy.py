from __future__ import annotations

from itertools import permutations
from math import factorial, log

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from venire.kernels import ranking_entropy
from venire.kernels.ranking_entropy import CLIP, clipped, entropy_of, most_entropy, scores_of_wins

FIGURE_1 = {
    "7grade_individual": (
        [
            [0.5, 0.7, 2.5 / 3, 0.3, 0.7],
            [0.3, 0.5, 2.15 / 3, 0.55 / 3, 0.5],
            [0.5 / 3, 0.85 / 3, 0.5, 0.4 / 3, 0.85 / 3],
            [0.7, 2.45 / 3, 2.6 / 3, 0.5, 2.45 / 3],
            [0.3, 0.5, 2.15 / 3, 0.55 / 3, 0.5],
        ],
        [0.4903581406, -0.2815282257, -1.1112767966, 1.1839751074, -0.2815282257],
        5.529131459859913,
        4.02394212914733,
    ),
    "7grade_aggregate": (
        [
            [0.5, 0.5, 0.85, 0.2, 0.5],
            [0.5, 0.5, 0.85, 0.2, 0.5],
            [0.15, 0.15, 0.5, 0.1, 0.15],
            [0.8, 0.8, 0.9, 0.5, 0.8],
            [0.5, 0.5, 0.85, 0.2, 0.5],
        ],
        [0.0650220546, 0.0650220546, -1.5491976466, 1.3541314827, 0.0650220546],
        5.1976594391326145,
        3.8130610125848485,
    ),
}
"""Section 3.5 of Chu et al. (2021): document-level preferences, centred scores, loss of Eq. (5), exact PDP."""


def loss(preferences: np.ndarray, scores: np.ndarray) -> float:
    """Eq. (5), as printed."""
    chance = 1 / (1 + np.exp(scores[None, :] - scores[:, None]))
    return -sum(preferences[i, j] * log(chance[i, j]) for i in range(len(scores)) for j in range(len(scores)) if i != j)


def scores_of(preferences: np.ndarray, clip: float = CLIP) -> np.ndarray:
    """Scores (topic, K) of preferences (topic, K, K) with p_ij + p_ji = 1."""
    return scores_of_wins(clipped(preferences, clip).sum(axis=2) - 0.5)


def brute_force(scores: np.ndarray) -> float:
    """Eq. (3), over all K! rankings."""
    total = 0.0
    for order in permutations(range(len(scores))):
        worth = np.exp(scores[list(order)])
        p = np.prod([worth[n] / worth[n:].sum() for n in range(len(worth))])
        total -= p * log(p) if p > 0 else 0.0
    return total


def antisymmetric(upper: np.ndarray) -> np.ndarray:
    """Preferences (topic, K, K) with p_ij + p_ji = 1, from what stands above the diagonal."""
    above = np.triu(upper, 1)
    below = np.tril(1 - upper.transpose(0, 2, 1), -1)
    return above + below + np.eye(upper.shape[1]) / 2


@pytest.mark.parametrize("case", FIGURE_1)
def test_the_example_of_the_paper(case):
    preferences, scores, least, pdp = FIGURE_1[case]
    found = scores_of(np.array([preferences]))
    np.testing.assert_allclose(found[0], scores, atol=1e-9)
    assert loss(np.array(preferences), found[0]) == pytest.approx(least, abs=1e-9)
    assert entropy_of(found).value[0] == pytest.approx(pdp, abs=1e-9)


@pytest.mark.parametrize(
    ("scores", "entropy"),
    [([0, 0, 0], 1.791759469228055), ([0, 1, 2], 1.361524609826641), ([0.5, -1, 2, 0], 2.2650741724619916)],
)
def test_known_entropies(scores, entropy):
    assert entropy_of(np.array([scores], dtype=np.float64)).value[0] == pytest.approx(entropy, abs=1e-12)


def test_a_total_order_is_clipped_to_finite_scores():
    certain = np.triu(np.ones((1, 5, 5)), 1) + np.eye(5) / 2
    scores = scores_of(certain)
    np.testing.assert_allclose(scores[0], [6.1004736, 2.85886706, 0, -2.85886706, -6.1004736], atol=1e-7)
    assert entropy_of(scores).value[0] == pytest.approx(0.7677770527696863, abs=1e-9)
    tighter = entropy_of(scores_of(certain, 1e-9)).value[0]
    assert 0 < tighter < 1e-3


@pytest.mark.parametrize(("k", "most"), [(5, 4.787491742782046), (10, 15.104412573075514)])
def test_nothing_known_is_log_k_factorial(k, most):
    assert entropy_of(scores_of(np.full((2, k, k), 0.5))).value == pytest.approx([most, most])
    assert most_entropy(k) == pytest.approx(most)


def test_what_is_not_known_counts_as_one_half():
    unknown = np.full((1, 3, 3), np.nan)
    np.testing.assert_allclose(scores_of(unknown), 0.0, atol=1e-12)
    unknown[0, 0, 1], unknown[0, 1, 0] = 1.0, 0.0
    assert np.isfinite(scores_of(unknown)).all()
    assert clipped(np.array([np.nan, 0.0, 1.0, 0.3])).tolist() == [0.5, 0.01, 0.99, 0.3]


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), k=st.integers(1, 6), spread=st.sampled_from([0.1, 1.0, 5.0, 40.0]))
def test_entropy_is_that_of_all_rankings(seed, k, spread):
    scores = spread * np.random.default_rng(seed).normal(size=(3, k))
    found = entropy_of(scores)
    np.testing.assert_allclose(found.value, [brute_force(each) for each in scores], atol=1e-9)
    assert not found.error.any()
    assert (found.value <= log(factorial(k)) + 1e-12).all()
    np.testing.assert_allclose(entropy_of(scores + 700).value, found.value, atol=1e-9)


def test_scores_so_far_apart_that_their_worth_underflows():
    twins = np.array([[0.0, -5000.0, -5000.0, -90000.0]])
    assert entropy_of(twins).value[0] == pytest.approx(log(2))


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32), k=st.integers(2, 7))
def test_scores_are_where_the_loss_is_least(seed, k):
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    preferences = clipped(antisymmetric(rng.beta(0.3, 0.3, size=(1, k, k))))
    found = scores_of(preferences)[0]
    assert abs(found.sum()) < 1e-9
    best = minimize(lambda scores: loss(preferences[0], scores), np.zeros(k), method="BFGS")
    assert loss(preferences[0], found) <= best.fun + 1e-9
    expected = 1 / (1 + np.exp(found[None, :] - found[:, None]))
    np.testing.assert_allclose((expected - preferences[0]).sum(axis=1), 0.0, atol=1e-9)


def test_rounded_sums_of_wins_hardly_change_scores():
    wins = clipped(antisymmetric(np.random.default_rng(1).random((50, 6, 6)))).sum(axis=2) - 0.5
    np.testing.assert_allclose(scores_of_wins(np.round(wins, 10)), scores_of_wins(wins), atol=1e-8)


def test_blocks_change_nothing(monkeypatch):
    preferences = antisymmetric(np.random.default_rng(2).random((37, 5, 5)))
    whole = entropy_of(scores_of(preferences)).value
    monkeypatch.setattr(ranking_entropy, "BLOCK_CELLS", 100)
    np.testing.assert_allclose(entropy_of(scores_of(preferences)).value, whole, atol=1e-12)


def test_drawn_entropies_agree_with_exact_ones_within_their_errors(monkeypatch):
    scores = 1.5 * np.random.default_rng(3).normal(size=(40, 8))
    exact = entropy_of(scores).value
    monkeypatch.setattr(ranking_entropy, "MOST_EXACT", 7)
    drawn = entropy_of(scores, n_draws=400, rng=np.random.default_rng(4))
    off = (drawn.value - exact) / drawn.error
    assert np.abs(off).max() < 5
    assert 0.6 < off.std() < 1.5
    assert abs(off.mean()) < 0.6


def test_drawing_choices_varies_less_than_drawing_rankings(monkeypatch):
    """The paper's estimator has the spread of -log p; ours must beat it by far at the same number of rankings."""
    scores = np.array([[2.0, 1.0, 0.0, -1.0, -2.0]])
    orders = np.exp(scores[0])[np.array(list(permutations(range(5))))]
    log_p = (np.log(orders) - np.log(np.cumsum(orders[:, ::-1], axis=1)[:, ::-1])).sum(axis=1)
    p = np.exp(log_p)
    spread = np.sqrt((p * (log_p - (p * log_p).sum()) ** 2).sum() / 1000)
    monkeypatch.setattr(ranking_entropy, "MOST_EXACT", 2)
    assert entropy_of(scores, n_draws=1000).error[0] < spread / 2


def test_beyond_fifteen_documents_there_is_a_standard_error():
    found = entropy_of(np.zeros((1, 30)))
    assert found.value[0] == pytest.approx(most_entropy(30))
    assert found.error[0] == pytest.approx(0.0, abs=1e-9)
    varied = entropy_of(np.random.default_rng(5).normal(size=(2, 30)), rng=np.random.default_rng(6))
    assert (varied.error > 0).all()
    assert (varied.value < most_entropy(30)).all()
    assert np.isfinite(entropy_of(1000 * np.random.default_rng(7).normal(size=(1, 40))).value).all()


def test_no_topics_and_single_documents():
    assert scores_of(np.zeros((0, 4, 4))).shape == (0, 4)
    assert entropy_of(np.zeros((0, 4))).value.shape == (0,)
    assert entropy_of(scores_of(np.full((2, 1, 1), 0.5))).value.tolist() == [0.0, 0.0]
