"""Tests of pairs against scipy, exhaustive enumeration, published values and slow loops on the same draws."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
import scipy
from hypothesis import given, strategies as st
from scipy import stats

from venire import Scores
from venire.comparison import tests as pair_tests
from venire.comparison.tests import PairedBootstrap, PairedScores, PairedT, SignFlip, TukeyHSD, Wilcoxon, paired_scores
from venire.errors import SettingError
from venire.kernels import paired_tests
from venire.kernels.paired_tests import (
    all_signs,
    count_as_wide,
    count_t_as_large,
    differences_of,
    permuted_ranges,
    random_signs,
    ranges_of,
)
from venire.randomness import topic_weights

# Three systems on twenty topics, after Sakai's book on evaluation in Japanese (Table 5.1); the first five topics are
# few enough to enumerate everything.
SAKAI = (
    np.array(
        [
            [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
            [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
            [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
        ]
    )
    / 10
)
NEW_SCIPY = tuple(int(part) for part in scipy.__version__.split(".")[:2]) >= (1, 17)


def paired(values: np.ndarray) -> PairedScores:
    names = {
        "system": tuple(f"s{n}" for n in range(len(values))),
        "topic": tuple(f"t{n}" for n in range(values.shape[1])),
    }
    return paired_scores(Scores(np.asarray(values, dtype=np.float64), ("system", "topic"), names))


def p_of(test, values: np.ndarray, rng: int = 0) -> np.ndarray:
    return test.p_values(paired(values), np.random.default_rng(rng))


def two(differences) -> np.ndarray:
    """Two systems that differ by these."""
    return np.stack([np.asarray(differences, dtype=np.float64), np.zeros(len(differences))])


def columns(found: PairedScores) -> list[np.ndarray]:
    """The differences of every pair, without missing topics."""
    return [value[there] for value, there in zip(found.differences.value.T, found.differences.present.T, strict=True)]


def scores(n_systems: int, n_topics: int, *, seed: int, decimals: int = 15, missing: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = np.round(rng.beta(2, 2, size=(n_systems, n_topics)) + rng.random(n_topics), decimals)
    values[rng.random(values.shape) < missing] = np.nan
    return values


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_paired_t_is_that_of_scipy(missing: float) -> None:
    values = scores(6, 30, seed=1, missing=missing)
    slow = [stats.ttest_1samp(each, 0.0).pvalue for each in columns(paired(values))]
    np.testing.assert_allclose(p_of(PairedT(), values), slow, rtol=1e-9)


def test_paired_t_is_that_of_the_book() -> None:
    differences = paired(SAKAI).differences
    assert differences.mean[0] == pytest.approx(0.0750, abs=5e-5)
    assert differences.sd[0] ** 2 == pytest.approx(0.0251, abs=5e-5)
    assert differences.t[0] == pytest.approx(2.116, abs=5e-4)
    assert p_of(PairedT(), SAKAI)[0] == pytest.approx(0.048, abs=5e-4)


@pytest.mark.parametrize(
    ("n_topics", "decimals"),
    [(9, 15), (30, 15), (50, 15), (51, 15), (80, 15), (80, 1)],
    ids=["9", "30", "50", "51", "80", "80, ties and zeros"],
)
def test_wilcoxon_is_that_of_scipy(n_topics: int, decimals: int) -> None:
    values = scores(5, n_topics, seed=2, decimals=decimals)
    slow = [stats.wilcoxon(each).pvalue for each in columns(paired(values))]
    np.testing.assert_allclose(p_of(Wilcoxon(), values), slow, rtol=1e-9)


@pytest.mark.skipif(not NEW_SCIPY, reason="earlier versions of scipy are not exact with ties")
@pytest.mark.parametrize(("n_topics", "missing"), [(4, 0.0), (7, 0.0), (8, 0.15), (14, 0.0), (30, 0.15), (50, 0.0)])
def test_wilcoxon_is_that_of_scipy_with_ties(n_topics: int, missing: float) -> None:
    values = scores(4, n_topics, seed=3, decimals=1, missing=missing)
    found = paired(values)
    enough = [n for n, each in enumerate(columns(found)) if len(each) > 1 and each.any()]
    slow = [stats.wilcoxon(columns(found)[n]).pvalue for n in enough]
    np.testing.assert_allclose(p_of(Wilcoxon(), values)[enough], slow, rtol=1e-9)


def test_wilcoxon_is_exact_up_to_thirteen_topics_where_there_are_ties() -> None:
    z = np.array([3, 1, -2, 2, 5, 0, 4, -1, 2, 3, 3, 1, -2, 4])
    p = {n: p_of(Wilcoxon(), two(z[:n]))[0] for n in (13, 14)}
    kept = z[:13][z[:13] != 0]
    sums = (all_signs(len(kept)) > 0) @ stats.rankdata(np.abs(kept))
    seen = stats.rankdata(np.abs(kept))[kept > 0].sum()
    assert p[13] == pytest.approx(2 * (sums >= seen).mean())
    assert p[14] == pytest.approx(stats.wilcoxon(z[:14]).pvalue)


@given(differences=st.lists(st.integers(-4, 4), min_size=2, max_size=8))
def test_wilcoxon_counts_every_choice_of_signs(differences: list[int]) -> None:
    kept = np.array([each for each in differences if each])
    ranks = stats.rankdata(np.abs(kept))
    sums = np.array([ranks @ np.array(choice) for choice in product([0, 1], repeat=len(kept))])
    seen = ranks[kept > 0].sum()
    tails = (sums <= seen).mean(), (sums >= seen).mean()
    assert p_of(Wilcoxon(), two(differences))[0] == pytest.approx(min(1.0, 2 * min(tails)))


@given(differences=st.lists(st.integers(-5, 5), min_size=2, max_size=8))
def test_sign_flips_count_every_choice_of_signs(differences: list[int]) -> None:
    sums = [sum(np.array(choice) * differences) for choice in product([-1, 1], repeat=len(differences))]
    slow = np.mean([abs(each) >= abs(sum(differences)) for each in sums])
    assert p_of(SignFlip(n=256), two(np.array(differences) / 10))[0] == slow


def test_sign_flips_are_those_of_a_loop_on_the_same_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    values = scores(5, 20, seed=4, decimals=1, missing=0.1)
    drawn = random_signs(20, 499, np.random.default_rng(0))
    slow = []
    for each in np.round(paired(values).differences.value.T, 9):
        large = [abs(round(float(draw @ each), 9)) >= abs(round(each.sum(), 9)) for draw in drawn]
        slow.append((1 + sum(large)) / 500)
    assert p_of(SignFlip(n=499), values).tolist() == slow
    monkeypatch.setattr(paired_tests, "BLOCK_CELLS", 1000)
    assert p_of(SignFlip(n=499), values).tolist() == slow


def test_sign_flips_are_drawn_where_there_are_too_many() -> None:
    values = SAKAI[:2, :14]
    exact, drawn = p_of(SignFlip(n=2**14), values), p_of(SignFlip(n=2**14 - 1), values)
    assert exact[0] * 2**14 == round(exact[0] * 2**14)
    assert drawn[0] == pytest.approx(exact[0], abs=4 * np.sqrt(exact[0] / 2**14))
    assert drawn[0] != exact[0]
    assert SignFlip(n=2**14).words(14) == "sign-flip randomisation, all 16,384 signs"


def every_resample(n_topics: int) -> np.ndarray:
    drawn = np.array(list(product(range(n_topics), repeat=n_topics)))
    return (drawn[:, :, None] == np.arange(n_topics)).sum(axis=1).astype(np.float64)


@pytest.mark.parametrize(
    ("differences", "larger", "no_spread"),
    [
        ([2, 2, 2, 4, 0], 30, 2),
        ([7, 3, 0, 5, 1], 300, 5),
        ([5, 1, -2, 1, 1], 1225, 245),
        ([10, -5, 20, 15, -12], 1195, 5),
    ],
)
def test_the_bootstrap_counts_every_resample(differences: list[int], larger: int, no_spread: int) -> None:
    """Counted in integers over all 3,125 resamples; those without spread, unless all zero, have an infinite t."""
    found = paired(two(np.array(differences) / 10)).differences
    assert count_t_as_large(found, every_resample(5)).tolist() == [larger + no_spread]


def slow_t(values: np.ndarray) -> float:
    if len(values) < 2:
        return np.inf
    mean, sd = values.mean(), values.std(ddof=1)
    if sd < 1e-9:
        return 0.0 if abs(mean) < 1e-9 else np.inf
    return float(mean / sd * np.sqrt(len(values)))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_bootstrap_is_that_of_a_loop_on_the_same_resamples(missing: float, monkeypatch: pytest.MonkeyPatch) -> None:
    values = scores(4, 8, seed=5, decimals=1, missing=missing)
    weights = topic_weights(8, 300, np.random.default_rng(0)).astype(int)
    found, slow = paired(values).differences, []
    for value, there in zip(found.value.T, found.present.T, strict=True):
        shifted, t = np.where(there, value - value[there].mean(), np.nan), abs(slow_t(value[there]))
        drawn = (np.repeat(shifted, weight) for weight in weights)
        slow.append((1 + sum(abs(slow_t(each[~np.isnan(each)])) >= t - 1e-9 for each in drawn)) / 301)
    assert p_of(PairedBootstrap(n=300), values).tolist() == slow
    monkeypatch.setattr(paired_tests, "BLOCK_CELLS", 700)
    assert p_of(PairedBootstrap(n=300), values).tolist() == slow


@pytest.mark.parametrize("test", [SignFlip(n=501), PairedBootstrap(n=501)], ids=repr)
def test_draws_in_blocks_are_all_counted(test, monkeypatch: pytest.MonkeyPatch) -> None:
    values = scores(3, 25, seed=11)
    whole = p_of(test, values)
    monkeypatch.setattr(pair_tests, "BLOCK_DRAWS", 100)
    blocks = p_of(test, values)
    np.testing.assert_allclose(blocks, whole, atol=0.1)
    np.testing.assert_array_equal(blocks * 502, np.round(blocks * 502))
    assert (p_of(test, values[[0, 0]]) == 1).all()


@pytest.mark.parametrize(
    "test", [SignFlip(n=99), SignFlip(n=99_999), PairedBootstrap(n=99), TukeyHSD(n=99), Wilcoxon()], ids=repr
)
def test_the_finest_p_value_is_reached(test) -> None:
    values = np.stack([np.arange(1.0, 13.0), -np.arange(1.0, 13.0)]) + 1e3 * np.array([[1.0], [0.0]])
    assert p_of(test, values)[0] == test.finest(12)


def test_tukey_counts_every_permutation() -> None:
    """Counted over all 6^5 ways to deal out three systems' scores on five topics."""
    by_topic = SAKAI[:, :5].T
    order = np.array(list(product(permutations(range(3)), repeat=5)))
    delta = paired(SAKAI[:, :5]).differences.mean
    assert count_as_wide(ranges_of(by_topic, order), delta).tolist() == [3384, 264, 5640]


def test_random_permutations_are_those_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    values = scores(4, 6, seed=6, decimals=1)
    keys = np.random.default_rng(0).random((50, 6, 4))
    slow = []
    for draw in keys:
        means = np.mean([values[np.argsort(key), topic] for topic, key in enumerate(draw)], axis=0)
        slow.append(means.max() - means.min())
    np.testing.assert_allclose(permuted_ranges(values, 50, np.random.default_rng(0)), slow, atol=1e-12)
    monkeypatch.setattr(paired_tests, "RANGE_CELLS", 100)
    np.testing.assert_allclose(permuted_ranges(values, 50, np.random.default_rng(0)), slow, atol=1e-12)


def test_tukey_is_near_its_exact_value() -> None:
    exact = np.array([3384, 264, 5640]) / 7776
    found = p_of(TukeyHSD(n=9_999), SAKAI[:, :5])
    assert (np.abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / 9_999) + 1e-4).all()


def test_tukey_says_which_difference_would_do() -> None:
    values, test = scores(5, 12, seed=7), TukeyHSD(n=199)
    least = test.critical(paired(values), np.random.default_rng(3), alpha=0.05)
    ranges = permuted_ranges(values, 199, np.random.default_rng(3))
    assert (1 + count_as_wide(ranges, np.array([least, least * (1 - 1e-6)]))).tolist() == [10, 11]
    assert TukeyHSD(n=10).critical(paired(values), np.random.default_rng(0), alpha=0.05) == np.inf


def test_tukey_needs_topics_that_all_systems_have() -> None:
    values = SAKAI.copy()
    values[2, 5:] = np.nan
    np.testing.assert_array_equal(p_of(TukeyHSD(n=99), values), p_of(TukeyHSD(n=99), SAKAI[:, :5]))
    values[1, :4] = np.nan
    with pytest.raises(SettingError, match=r"1 of 20 topics have a score of every system.*'s2' has 5"):
        p_of(TukeyHSD(n=99), values)


ALL = [PairedT(), Wilcoxon(), SignFlip(n=999), PairedBootstrap(n=999), TukeyHSD(n=999)]


@pytest.mark.parametrize("test", ALL, ids=repr)
def test_p_is_never_zero_and_one_for_the_same_system(test) -> None:
    values = scores(1, 60, seed=8)[[0, 0, 0]] + np.array([[0.0], [0.0], [5.0]]) + np.eye(3, 60) * 1e-3
    values[1] = values[0]
    p = p_of(test, values)
    assert p[0] == 1
    assert ((p[1:] > 0) & (p[1:] < 0.01)).all()


@pytest.mark.parametrize("test", ALL[:4], ids=repr)
def test_a_constant_difference_is_no_proof(test) -> None:
    """0.1 on each of four topics has no spread; by signs alone it happens one time in eight."""
    values = np.array([[0.3, 0.5, 0.7, 0.9], [0.2, 0.4, 0.6, 0.8]])
    assert paired(values).differences.sd.tolist() == [0.0]
    assert p_of(test, values)[0] == 0.125


@pytest.mark.parametrize("test", ALL[:4], ids=repr)
def test_two_topics_are_needed(test) -> None:
    values = np.array([[0.3, np.nan, 0.9], [0.1, 0.4, np.nan], [0.5, 0.6, 0.1]])
    assert np.isnan(p_of(test, values)).tolist() == [True, False, False]


@pytest.mark.parametrize("test", ALL, ids=repr)
def test_the_order_of_a_pair_does_not_matter(test) -> None:
    values = scores(2, 25, seed=9, decimals=2)
    np.testing.assert_allclose(p_of(test, values[::-1]), p_of(test, values), atol=0.05)
    if not hasattr(test, "n"):
        np.testing.assert_allclose(p_of(test, values[::-1]), p_of(test, values), rtol=1e-12)


def test_scale_does_not_matter() -> None:
    values = scores(4, 25, seed=10, decimals=2)
    for test in ALL:
        np.testing.assert_allclose(p_of(test, values * 1e6), p_of(test, values))
        np.testing.assert_allclose(p_of(test, values * 1e-7), p_of(test, values))


@pytest.mark.parametrize("test", [SignFlip, PairedBootstrap, TukeyHSD])
def test_nothing_comes_of_no_draws(test) -> None:
    with pytest.raises(SettingError, match="is 0, expected 1 or more"):
        test(n=0)


def test_differences_without_any_topic_in_common() -> None:
    values = np.array([[0.3, np.nan], [np.nan, 0.4]])
    found = differences_of(values, np.array([0]), np.array([1]))
    assert found.n.tolist() == [0]
    assert np.isnan(found.mean).all()
    assert np.isnan(found.sd).all()
