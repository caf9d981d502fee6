from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import betabinom, binom

from venire.disagreement.user_disagreement import at_least, tail, udm_weights
from venire.errors import SettingError

P = np.array([0.0, 0.04, 0.27, 0.5, 0.93, 1.0])
TOP = np.array([False, False, False, False, False, True])
SHARES = [(m, n) for n in (1, 2, 3, 5, 10) for m in range(1, n + 1)]


@pytest.mark.parametrize("n", [1, 2, 3, 10, 100, 2000])
def test_independent_users_are_binomial(n):
    for m in {0, 1, 2, n // 2, n - 1, n, n + 1}:
        np.testing.assert_allclose(tail(m, n, P), binom.sf(m - 1, n, P), rtol=1e-8, atol=1e-13)


@pytest.mark.parametrize("rho", [0.01, 0.2, 0.7, 0.99])
@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_users_alike_within_an_item_are_beta_binomial(n, rho):
    p = P[1:-1]
    for m in range(n + 2):
        expected = betabinom.sf(m - 1, n, p * (1 - rho) / rho, (1 - p) * (1 - rho) / rho)
        np.testing.assert_allclose(tail(m, n, p, rho), expected, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0])
def test_what_is_certain_stays_certain(rho):
    for m in range(1, 6):
        assert tail(m, 5, np.array([0.0, 1.0]), rho).tolist() == [0.0, 1.0]
    assert tail(0, 5, P, rho).tolist() == [1.0] * len(P)


def test_users_who_are_all_alike_are_one_user():
    for m in (1, 2, 7):
        np.testing.assert_allclose(tail(m, 7, P, 1.0), P, rtol=1e-12)


def test_a_small_tail_is_not_lost_in_rounding():
    assert tail(12, 12, np.array([0.01])) == pytest.approx(1e-24)


def test_one_random_user_is_p_itself():
    assert at_least(1, 1, P).tolist() == P.tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_one_of_n_is_equation_3(n):
    expected = np.where(TOP, 1.0, 1 - (1 - P) ** (n - 1))
    found = udm_weights(1, n, P, TOP)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    assert found[-1] == 1


def test_at_least_two_puts_the_top_label_below_1():
    weights = udm_weights(2, 3, np.array([0.1, 0.53]), np.array([False, True]))
    assert weights == pytest.approx([0.1**2, 1 - 0.47**2])


@pytest.mark.parametrize(("m", "n"), SHARES)
def test_equations_4_and_5_count_the_assessor(m, n):
    others = np.array([[binom.pmf(k, n - 1, p) for k in range(n)] for p in P])
    enough = [[k + top >= m for k in range(n)] for top in TOP]
    np.testing.assert_allclose(udm_weights(m, n, P, TOP), (others * enough).sum(axis=1), atol=1e-13)


def test_published_weights():
    # Demeester et al. (2014), Tables 3 and 4: P(1/3) from p = .23, .15 and 5/36.
    assert udm_weights(1, 3, np.array([0.23, 0.15, 5 / 36]), np.zeros(3, dtype=bool)).round(2).tolist() == [
        0.41,
        0.28,
        0.26,
    ]


def test_users_alike_meet_less_often_that_one_of_them_is_satisfied():
    alike, independent = (udm_weights(1, 4, P[1:5], TOP[1:5], rho=rho) for rho in (0.3, 0.0))
    assert (alike < independent).all()


@pytest.mark.parametrize(("m", "n"), [(0, 3), (4, 3), (-1, 0)])
def test_other_shares_are_refused(m, n):
    for make in (lambda: at_least(m, n, P), lambda: udm_weights(m, n, P, TOP)):
        with pytest.raises(SettingError, match="1 <= M <= N"):
            make()


@pytest.mark.parametrize(("p", "rho"), [(1.1, 0), (-0.1, 0), (0.5, -0.1), (0.5, 1.5)])
def test_what_is_no_share_is_refused(p, rho):
    with pytest.raises(SettingError, match="from 0 to 1"):
        tail(1, 3, np.array([p]), rho)


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_what_is_unknown_stays_unknown(rho):
    for m, n in ((1, 1), (1, 3), (3, 3)):
        found = tail(m, n, np.array([np.nan, 0.5]), rho)
        assert np.isnan(found).tolist() == [True, False]
