"""Shares and their variance against counting on fingers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from venire.kernels.shares import annotation_rounds, clustered_shares, shares, shares_and_pairs, variance_per_judgment

COUNTS = np.array([[40, 6, 1], [6, 10, 5], [1, 5, 8]], dtype=float)
RELEVANT = np.array([[False, False, True], [False, True, True]])


def test_shares_are_hits_over_pairs():
    p, n = shares_and_pairs(COUNTS, RELEVANT)
    assert p.tolist() == [[1 / 47, 5 / 21, 8 / 14], [7 / 47, 15 / 21, 13 / 14]]
    assert n.tolist() == [[47, 21, 14]] * 2


def test_a_label_without_pairs_has_no_share():
    p, n = shares_and_pairs(np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([[False, True]]))
    assert n.tolist() == [[2, 0]]
    assert p[0, 0] == 0
    assert np.isnan(p[0, 1])


def slow_variance(counts, p, relevant, label: int, *, mirrored: bool) -> float:
    """E(h - pn)^2 / (En)^2 over double judgments, one after the other."""
    total = int(counts.sum())
    square, mean = Fraction(0), Fraction(0)
    for a, b in product(range(len(counts)), repeat=2):
        chance = Fraction(int(counts[a, b]), total)
        pairs = [(a, b), (b, a)] if mirrored else [(a, b)]
        n = sum(first == label for first, _ in pairs)
        h = sum(first == label and bool(relevant[second]) for first, second in pairs)
        square += chance * (Fraction(h) - p * n) ** 2
        mean += chance * n
    return float(square / mean**2)


@st.composite
def symmetric_counts(draw) -> np.ndarray:
    n = draw(st.integers(2, 4))
    cells = draw(st.lists(st.integers(1, 30), min_size=n * n, max_size=n * n))
    table = np.array(cells, dtype=float).reshape(n, n)
    return table + table.T


@given(counts=symmetric_counts(), mirrored=st.booleans())
def test_the_variance_of_one_double_judgment(counts, mirrored):
    relevant = np.arange(len(counts)) >= len(counts) - 1
    p = shares(counts, relevant[None])
    found = variance_per_judgment(counts, p, relevant[None], mirrored=mirrored)[0]
    for label in range(len(counts)):
        row = counts[label]
        exact = Fraction(int(row[relevant].sum()), int(row.sum()))
        slow = slow_variance(counts, exact, relevant, label, mirrored=mirrored)
        assert found[label] == pytest.approx(slow, rel=1e-9)


def test_two_pairs_of_one_item_are_not_two():
    """About 1.2 times the printed standard deviation at p = .53, as both labels of an item enter."""
    q = np.array([[0.0, 0.47], [0.47, 0.53]])
    variance = variance_per_judgment(q, np.array([[1.0, 0.53]]), np.array([[False, True]]), mirrored=True)[0, 1]
    share = q[1].sum() / q.sum()
    assert np.sqrt(variance / (0.53 * 0.47 / (2 * share))) == pytest.approx(np.sqrt(1.47))


@pytest.mark.parametrize("mirrored", [False, True])
def test_rounds_grow(mirrored):
    sizes = np.array([1, 4, 50])
    counts = annotation_rounds(COUNTS, sizes, 30, mirrored=mirrored, rng=np.random.default_rng(1))
    assert counts.shape == (30, 3, 3, 3)
    assert (counts.sum(axis=(2, 3)) == sizes * (2 if mirrored else 1)).all()
    assert (np.diff(counts, axis=1) >= 0).all()
    assert len(np.unique(counts[:, -1].reshape(30, -1), axis=0)) > 20
    if mirrored:
        assert (counts == counts.swapaxes(-1, -2)).all()


def test_rounds_draw_what_is_there():
    one = np.zeros((2, 2))
    one[0, 1] = 7
    counts = annotation_rounds(one, np.array([5]), 3, mirrored=False, rng=np.random.default_rng(1))
    assert counts[:, 0].tolist() == [[[0, 5], [0, 0]]] * 3


def test_cases_of_their_own_have_wilsons_interval() -> None:
    """400 topics with a case each: the interval is nearly that of independent cases."""
    hits = np.zeros(400)
    hits[:120] = 1
    p, low, high = clustered_shares(hits, np.ones(400))
    wilson = stats.binomtest(120, 400).proportion_ci(0.95, "wilson")
    assert float(p) == 0.3
    assert float(low) == pytest.approx(wilson.low, abs=1e-3)
    assert float(high) == pytest.approx(wilson.high, abs=1e-3)


def test_one_topic_counts_as_one_case() -> None:
    p, low, high = clustered_shares(np.array([[10.0, 30.0]]), np.array([[10.0, 60.0]]))
    assert p.tolist() == [1.0, 0.5]
    assert high[0] == 1.0
    assert low[0] == pytest.approx(1 / (1 + 1.959964**2), abs=1e-6)
    assert low[1] == pytest.approx(1 - high[1])


def test_no_case_is_no_number() -> None:
    p, low, high = clustered_shares(np.zeros((3, 2)), np.array([[0.0, 1.0]] * 3))
    assert np.isnan([p[0], low[0], high[0]]).all()
    assert (p[1], low[1]) == (0.0, 0.0)


def test_interval_covers_where_topics_differ() -> None:
    """30 topics of 20 cases, whose chances differ (Beta(3, 2)): about 95 in 100 hold the truth, Wilson's do not."""
    rng = np.random.default_rng(1)
    chance = rng.beta(3, 2, size=(30, 2000))
    hits = rng.binomial(20, chance).astype(np.float64)
    p, low, high = clustered_shares(hits, np.full(hits.shape, 20.0))
    covered = ((low <= 0.6) & (high >= 0.6)).mean()
    assert 0.93 < covered < 0.97
    naive = 1.96 * np.sqrt(p * (1 - p) / 600)
    assert (np.abs(p - 0.6) < naive).mean() < 0.8


@pytest.mark.parametrize(("hits", "cases"), [(5, 11), (6, 11), (1, 2)])
def test_topics_all_alike_are_topics_still(hits: int, cases: int) -> None:
    """No spread, whether the sum of squares is 0 or what rounding left of it: as many cases, and topics less one."""
    sizes = np.array([1.0, 2.0, 3.0, 5.0])
    p, low, high = clustered_shares(hits * sizes, cases * sizes)
    freedom = 121 / 39 - 1
    t2 = stats.t.ppf(0.975, freedom) ** 2
    n, share = 11 * cases, hits / cases
    half = np.sqrt(t2 * (share * (1 - share) / n + t2 / (4 * n * n))) / (1 + t2 / n)
    assert p == pytest.approx(share)
    assert high - low == pytest.approx(2 * half)
