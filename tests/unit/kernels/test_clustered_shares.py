"""Shares of clustered cases: Wilson's interval where cases are independent, coverage where topics differ."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from venire.kernels.clustered_shares import clustered_shares


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
