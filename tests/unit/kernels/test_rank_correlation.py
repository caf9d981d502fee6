"""Rank correlations against scipy, textbook loops, every order of ties, and published numbers."""

from itertools import pairwise, permutations
from math import isnan, sqrt
from statistics import mean

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import kendalltau, spearmanr

from venire.kernels import rank_correlation
from venire.kernels.rank_correlation import (
    kendall_tau,
    kendall_tau_matrix,
    rbo,
    rbo_matrix,
    resampled_rho,
    resampled_tau,
    spearman_of_counts,
    tau_ap,
    tau_ap_matrix,
)

KERNELS = [kendall_tau, lambda x, y: kendall_tau(x, y, variant="a"), tau_ap, rbo, lambda x, y: rbo(x, y, p=0.7)]


@st.composite
def pairs(draw, least=2, most=7, levels=4):
    n = draw(st.integers(least, most))
    scores = st.lists(st.integers(0, levels), min_size=n, max_size=n)
    return np.array(draw(scores), float), np.array(draw(scores), float)


def untied(least=2, most=7):
    return st.integers(least, most).flatmap(lambda n: st.tuples(*[st.permutations(range(n))] * 2))


def orders(scores):
    """Every ranking, best first, that the scores allow."""
    return [
        order for order in permutations(range(len(scores))) if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]


def as_scores(order):
    scores = np.zeros(len(order))
    scores[list(order)] = np.arange(len(order), 0, -1)
    return scores


@given(pairs())
def test_tau_b_is_that_of_scipy(both):
    x, y = both
    np.testing.assert_allclose(kendall_tau(x, y), kendalltau(x, y).statistic, atol=1e-12)


@given(pairs())
def test_tau_a_counts_pairs(both):
    x, y = both
    n = len(x)
    signs = [np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i in range(n) for j in range(i)]
    assert kendall_tau(x, y, variant="a") == pytest.approx(mean(signs))


def textbook_tau_ap(truth, order):
    """Yilmaz et al. (2008): walk down one ranking, count who is rightly above; no ties."""
    shares = [sum(truth.index(order[j]) < truth.index(order[i]) for j in range(i)) / i for i in range(1, len(order))]
    return 2 * mean(shares) - 1


@given(untied())
def test_tau_ap_without_ties_is_the_textbook_walk(both):
    truth, order = map(list, both)
    x, y = as_scores(truth), as_scores(order)
    one_way, other_way = textbook_tau_ap(truth, order), textbook_tau_ap(order, truth)
    assert tau_ap(x, y) == pytest.approx((one_way + other_way) / 2)


def slow_tau_ap_b(x, y):
    def walk(reference, other):
        shares = []
        for i in range(len(x)):
            above = [j for j in range(len(x)) if reference[j] > reference[i]]
            if above:
                shares.append(sum(other[j] > other[i] for j in above) / len(above))
        return 2 * mean(shares) - 1 if shares else float("nan")

    return (walk(x, y) + walk(y, x)) / 2


@given(pairs())
def test_tau_ap_b_leaves_the_top_group_out_and_walks_both_ways(both):
    np.testing.assert_allclose(tau_ap(*both), slow_tau_ap_b(*both), atol=1e-12)


def test_tau_ap_as_the_authors_of_its_ties_print_it():
    """The example of the R package ircor by Urbano and Marrero, and of its manual."""
    x = np.array([0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54])
    y = np.array([0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84])
    assert tau_ap(x, y.round(1)) == pytest.approx(0.3317019, abs=5e-8)
    assert tau_ap(x.round(1), y.round(1)) == pytest.approx(0.339418, abs=5e-7)
    x = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
    y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])
    assert kendall_tau(x, y) == pytest.approx(0.7777778, abs=5e-8)
    assert tau_ap(np.round(x * 5) / 5, np.round(y * 5) / 5) == pytest.approx(0.6269841, abs=5e-8)


def textbook_rbo(one, other, p):
    """Webber et al. (2010), extrapolated, for two rankings without ties."""
    n = len(one)
    overlap = [len(set(one[:d]) & set(other[:d])) for d in range(1, n + 1)]
    return overlap[-1] / n * p**n + (1 - p) / p * sum(x / d * p**d for d, x in enumerate(overlap, start=1))


@given(untied(), st.floats(0.05, 0.98))
def test_rbo_without_ties_is_the_textbook_sum(both, p):
    x, y = map(as_scores, both)
    assert rbo(x, y, p=p) == pytest.approx(textbook_rbo(*map(list, both), p))


@given(pairs(most=5, levels=2))
def test_rbo_b_divides_by_what_ties_leave_of_a_ranking(both):
    x, y = both
    n, p = len(x), 0.8

    def share(scores, i, d):
        return mean(i in order[:d] for order in orders(scores))

    slow = p**n
    for d in range(1, n + 1):
        one, other = ([share(scores, i, d) for i in range(n)] for scores in (x, y))
        norm = sqrt(sum(c * c for c in one) * sum(c * c for c in other))
        slow += (1 - p) * p ** (d - 1) * sum(a * b for a, b in zip(one, other, strict=True)) / norm
    assert rbo(x, y, p=p) == pytest.approx(slow)


@pytest.mark.parametrize("kernel", KERNELS)
@given(st.data())
def test_leading_axes_broadcast_and_blocks_do_not_show(kernel, data):
    n = data.draw(st.integers(2, 6))
    draws = np.array(data.draw(st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=6, max_size=6)))
    one = draws[0].astype(float)
    x = draws.reshape(3, 2, n)
    together = kernel(x, one)
    assert together.shape == (3, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_correlation, "BLOCK_CELLS", 1)
        alone = np.array([[kernel(vector, one) for vector in row] for row in x])
        np.testing.assert_array_equal(kernel(x, one), together)
    np.testing.assert_array_equal(alone, together)


@given(pairs())
def test_the_b_variants_are_symmetric_and_one_for_a_ranking_with_itself(both):
    x, y = both
    for kernel in (kendall_tau, tau_ap, rbo):
        np.testing.assert_allclose(kernel(x, y), kernel(y, x), atol=1e-12)
        assert isnan(kernel(x, x)) or kernel(x, x) == pytest.approx(1)
        np.testing.assert_allclose(kernel(np.exp(x), 3 * y - 1), kernel(x, y), atol=1e-12)


def test_where_a_correlation_is_not_defined_there_is_none():
    x, tied = np.array([1.0, 2.0, 3.0]), np.ones(3)
    assert isnan(kendall_tau(x, tied))
    assert isnan(tau_ap(tied, x))
    assert kendall_tau(x, tied, variant="a") == 0
    for kernel in KERNELS:
        assert isnan(kernel(np.array([1.0, np.nan, 3.0]), x))
        assert isnan(kernel(np.ones(1), np.ones(1)))
        assert np.isnan(kernel(np.ones((2, 0)), np.ones(0))).tolist() == [True, True]


def test_the_top_weighs_more():
    x = np.arange(10.0, 0, -1)
    top, bottom = x.copy(), x.copy()
    top[[0, 1]], bottom[[8, 9]] = top[[1, 0]], bottom[[9, 8]]
    assert kendall_tau(x, top) == kendall_tau(x, bottom)
    assert tau_ap(x, top) < tau_ap(x, bottom)
    assert rbo(x, top) < rbo(x, bottom)


@pytest.mark.parametrize(
    ("matrix", "pair"),
    [
        (kendall_tau_matrix, kendall_tau),
        (lambda x: kendall_tau_matrix(x, variant="a"), lambda x, y: kendall_tau(x, y, variant="a")),
        (tau_ap_matrix, tau_ap),
        (rbo_matrix, rbo),
        (lambda x: rbo_matrix(x, p=0.5), lambda x, y: rbo(x, y, p=0.5)),
    ],
)
@given(st.data())
def test_a_matrix_of_correlations_has_those_of_every_two(matrix, pair, data):
    n = data.draw(st.integers(1, 5))
    score = st.integers(0, 3) | st.just(float("nan"))
    scores = data.draw(st.lists(st.lists(score, min_size=n, max_size=n), min_size=6, max_size=6))
    x = np.array(scores, float).reshape(2, 3, n)
    expected = pair(x[:, :, None], x[:, None, :])
    np.testing.assert_allclose(matrix(x), expected, rtol=1e-12, atol=1e-12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_correlation, "BLOCK_CELLS", 1)
        np.testing.assert_allclose(matrix(x), expected, rtol=1e-12, atol=1e-12)


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
    monkeypatch.setattr(rank_correlation, "BLOCK_CELLS", 1)
    np.testing.assert_array_equal(resampled_tau(x, y, weights), whole)


@pytest.mark.parametrize("correlate", THEIRS, ids=lambda each: each.__name__)
def test_what_is_all_tied_has_no_correlation(correlate):
    x, y = np.ones((1, 4)), np.arange(4.0)[None]
    assert np.isnan(correlate(x, y, np.ones((1, 4)))).all()
    assert np.isnan(correlate(y, y, np.array([[0.0, 3.0, 0.0, 0.0]]))).all(), "one topic, drawn three times"


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=40))
def test_rho_is_scipys(pairs):
    a, b = np.array(pairs).T
    counts = np.zeros((5, 4))
    np.add.at(counts, (a, b), 1)
    found = spearman_of_counts(counts)
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert np.isnan(found)
    else:
        assert np.isclose(found, spearmanr(a, b).statistic, atol=1e-12)


def test_leading_axes_are_free_and_empty_grades_do_not_matter():
    counts = np.random.default_rng(0).integers(0, 5, size=(3, 2, 4, 4)).astype(np.float64)
    counts[..., 2, :] = 0
    found = spearman_of_counts(counts)
    assert found.shape == (3, 2)
    for place in np.ndindex(3, 2):
        a, b = np.nonzero(np.ones((4, 4)))
        n = counts[place].ravel().astype(int)
        assert np.isclose(found[place], spearmanr(np.repeat(a, n), np.repeat(b, n)).statistic)
