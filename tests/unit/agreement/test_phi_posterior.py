from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import gamma

from venire.agreement import phi_posterior
from venire.agreement.intervals import NOT_ASKED
from venire.agreement.phi import phi
from venire.agreement.phi_posterior import COVER, Posterior, Ratings, distinct_sets, likelihood, posterior_of
from venire.io import read_grid


def drawn_sets(n_items: int, n_labels: int, seed: int):
    """Sets of ratings of items that have as many labels each, and of some that have one less."""
    rng = np.random.default_rng(seed)
    n = np.full(n_items, n_labels)
    n[::3] -= 1
    item = np.repeat(np.arange(n_items), n)
    place = np.clip(rng.random(n_items)[item] + 0.2 * rng.standard_normal(len(item)), 0, 1).round(1)
    place = place[np.lexsort((place, item))]
    ratings = Ratings(place, np.cumsum(n) - n, n, np.zeros(n_items, dtype=np.int32), n_labels, np.ones(n_items))
    return distinct_sets(ratings, n_labels)


@pytest.mark.parametrize(("low", "high", "size"), [(-15.0, 16.0, 3101), (0.5, 2.4, 201), (2.0, 2.05, 201)])
@pytest.mark.parametrize("n_labels", [3, 15])
def test_interpolated_likelihoods_are_those_of_every_point(low, high, size, n_labels):
    sets, grid = drawn_sets(60, n_labels, 1), np.linspace(low, high, size)
    some = np.arange(0, size, 37)
    direct = likelihood(sets.n, sets.ones, sets.zeros, np.exp(grid[some])).integrals
    found = sets.likelihood(grid)
    np.testing.assert_allclose(found.integrals[:, some], direct, rtol=1e-11, atol=1e-11)
    assert found.rho.tolist() == np.exp(grid).tolist()


def test_a_short_grid_is_computed_as_it_is():
    sets, grid = drawn_sets(20, 3, 2), np.linspace(0, 3, 7)
    direct = likelihood(sets.n, sets.ones, sets.zeros, np.exp(grid)).integrals
    assert sets.likelihood(grid).integrals.tolist() == direct.tolist()


@pytest.mark.parametrize("n_items", [2, 40, 5000])
def test_the_posterior_is_followed_to_where_nothing_is_left(n_items):
    found = posterior_of(drawn_sets(n_items, 4, 3))
    inside = found.log > -25
    assert inside.sum() > 60
    assert not inside[[0, -1]].any()
    assert (np.diff(found.log_rho) > 0).all()


@pytest.mark.parametrize(("n_items", "n_labels"), [(2, 4), (300, 3), (3000, 25)])
def test_the_posterior_is_located_on_few_points_as_on_all(n_items, n_labels, monkeypatch):
    sets = drawn_sets(n_items, n_labels, 4)
    found = posterior_of(sets)
    monkeypatch.setattr(phi_posterior, "SCOUTS", phi_posterior.NODES)
    assert found.mean == pytest.approx(posterior_of(sets).mean, rel=1e-9)


def test_where_it_is_located_badly_it_is_located_again(monkeypatch):
    sets = drawn_sets(500, 4, 5)
    right, located = posterior_of(sets), phi_posterior._located
    beside = {phi_posterior.SCOUTS: (0.0, 0.5)}
    monkeypatch.setattr(phi_posterior, "_located", lambda sets, n: beside.get(n) or located(sets, n))
    assert posterior_of(sets).mean == pytest.approx(right.mean, rel=1e-9)


def test_the_densest_region_is_that_of_a_known_law():
    law = gamma(9.0, scale=2.0)
    log_rho = np.linspace(-1, 6, 201)
    log = law.logpdf(np.exp(log_rho)) + log_rho
    low, high = Posterior(log_rho, log - log.max()).densest()
    assert law.cdf(high) - law.cdf(low) == pytest.approx(COVER, abs=1e-4)
    assert law.pdf(low) == pytest.approx(law.pdf(high), rel=1e-3)
    mode = 16.0
    other = brentq(lambda x: law.pdf(x) - law.pdf(low), mode, 100)
    assert high == pytest.approx(other, rel=1e-4)


def test_without_an_interval_the_reason_is_told():
    labels = read_grid("0 1 2 2\n1 1 2 0\n0 1 2 1")
    for asked in ({"interval": "items"}, {"over": "topics"}):
        none = phi(labels, n_draws=0, **asked)
        assert none.value is not None
        assert (none.low, none.high) == (None, None)
        assert none.reason == NOT_ASKED
    assert "one item or topic" in phi(labels, over="topics").reason
    assert phi(labels).reason is None


def test_chance_may_be_left_out():
    labels = read_grid("0 1 2 2\n1 1 2 0\n0 1 2 1")
    assert phi(labels, chance=False).chance is None
    assert phi(labels, chance=False).value == phi(labels).value
