"""Settled pairs, agreement and position: against slow counting, published packages, and known truth."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import median_high, median_low

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from venire.data.preferences import Preferences
from venire.errors import UnknownName
from venire.io.preferences import read_preferences
from venire.users.preferences import consensus, per_assessor, position_bias, preference_agreement


def drawn(
    seed: int, *, n: int = 400, n_assessors: int = 5, strengths: tuple[int, ...] = (-2, -1, 0, 1, 2)
) -> Preferences:
    """Choices at random on few documents, so that pairs come up often and either way round."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        left, right = rng.choice(4, 2, replace=False)
        topic, who = rng.integers(12), rng.integers(n_assessors)
        rows.append((f"t{topic}", f"d{left}", f"d{right}", int(rng.choice(strengths)), f"a{who}"))
    return Preferences.of(rows)


def by_pair(table: Preferences) -> dict[tuple[str, str, str], list[tuple[str, float]]]:
    """Choices of each pair, documents in order of their names: the obviously right grouping."""
    found = defaultdict(list)
    for topic, left, right, who, strength in table.to_polars().rows():
        low, high = sorted((left, right))
        found[topic, low, high].append((who, strength if left == low else -strength))
    return found


def test_the_consensus_is_the_median_of_each_pair() -> None:
    table = drawn(1)
    found = consensus(table)
    rows = found.table.to_polars().rows()
    expected = by_pair(table)
    assert len(rows) == len(expected)
    for row, low, high, n, share in zip(rows, found.low, found.high, found.n_choices, found.left_share, strict=True):
        strengths = [strength for _, strength in expected[row[0], row[1], row[2]]]
        assert (low, high, n) == (median_low(strengths), median_high(strengths), len(strengths))
        assert row[4] == (low + high) / 2
        assert share == np.mean([{-1: 0, 0: 0.5, 1: 1}[int(np.sign(each))] for each in (low, high)])


@pytest.mark.parametrize(
    ("strengths", "how", "share"),
    [
        ([1, -1], "median", 0.5),
        ([0, 2], "median", 0.75),
        ([-2, 0], "median", 0.25),
        ([1, 2], "median", 1.0),
        ([2, -1, -1], "median", 0.0),
        ([2, 0, 0], "majority", 0.5),
        ([2, 1, 0, 0], "majority", 0.75),
        ([1, -1], "majority", 0.5),
        ([1, 0, -1], "majority", 0.5),
        ([1, 0, 2], "majority", 1.0),
    ],
)
def test_an_even_middle_is_split(strengths: list[int], how: str, share: float) -> None:
    found = consensus(Preferences.of([("t", "a", "b", each, str(n)) for n, each in enumerate(strengths)]), how)
    assert found.left_share.tolist() == [share]
    assert found.table.assessors == (how,)


def test_there_are_two_ways_to_combine_choices() -> None:
    with pytest.raises(UnknownName, match="no way to combine choices 'mean'"):
        consensus(drawn(0), "mean")


def test_an_assessor_counts_once_per_pair() -> None:
    table = Preferences.of([("t", "a", "b", 1, "x"), ("t", "b", "a", -2, "x"), ("t", "a", "b", 0, "y")])
    once = per_assessor(table)
    assert sorted(once.to_polars().rows()) == [("t", "a", "b", "x", 1.5), ("t", "a", "b", "y", 0.0)]


@pytest.mark.parametrize("seed", range(3))
def test_alpha_is_krippendorffs_over_both_orientations(seed: int) -> None:
    krippendorff = pytest.importorskip("krippendorff")
    once = per_assessor(drawn(seed, n=150))
    units = [
        {who: np.sign(strength) * side for who, strength in choices}
        for choices in by_pair(once).values()
        for side in (1, -1)
    ]
    values = np.array([[unit.get(who, np.nan) for unit in units] for who in once.assessors])
    expected = krippendorff.alpha(reliability_data=values, level_of_measurement="nominal")
    found = preference_agreement(once)
    assert found.alpha is not None
    assert found.alpha.value == pytest.approx(expected, abs=1e-12)
    assert found.alpha.low < found.alpha.value < found.alpha.high


def test_two_assessors_are_compared_by_cohens_kappa() -> None:
    table = drawn(4, n=500, n_assessors=3)
    choices = [dict(each) for each in by_pair(per_assessor(table)).values()]
    found = {(each.a, each.b): each for each in preference_agreement(table).by_assessors}
    assert set(found) == {("a0", "a1"), ("a0", "a2"), ("a1", "a2")}
    for (a, b), each in found.items():
        shared = [(np.sign(choice[a]), np.sign(choice[b])) for choice in choices if a in choice and b in choice]
        first, second = (np.array(side).astype(int) for side in zip(*shared, strict=True))
        assert each.n_pairs == len(shared)
        assert each.raw == pytest.approx((first == second).mean())
        both = cohen_kappa_score([*first, *-first], [*second, *-second])
        assert each.kappa == pytest.approx(both, abs=1e-12)


def test_raw_agreement_weighs_every_choice_alike() -> None:
    table = drawn(5)
    agreeing = n = 0.0
    for choices in by_pair(per_assessor(table)).values():
        signs = [np.sign(strength) for _, strength in choices]
        if len(signs) > 1:
            others = [sum(a == b for m, b in enumerate(signs) if m != k) for k, a in enumerate(signs)]
            agreeing += sum(others) / (len(signs) - 1)
            n += len(signs)
    raw = preference_agreement(table).raw
    assert raw is not None
    assert raw.value == pytest.approx(agreeing / n)
    assert raw.low < raw.value < raw.high


def test_tossed_coins_agree_by_chance_and_likes_agree_wholly() -> None:
    coins = preference_agreement(drawn(6, n=4000, strengths=(-1, 1)))
    assert coins.alpha is not None
    assert abs(coins.alpha.value) < 0.08
    rows = [(f"t{n}", "a", "b", (-1) ** n, who) for n in range(20) for who in "xy"]
    same = preference_agreement(Preferences.of(rows))
    assert same.alpha is not None
    assert same.alpha.value == 1


def test_few_topics_are_left_out_in_turn() -> None:
    table = drawn(6, n=600)
    few = table.take(np.isin(table.topic, range(5)))
    alpha = preference_agreement(few).alpha
    assert alpha is not None
    assert alpha.method == "jackknife over 5 topics"
    without = [preference_agreement(few.take(few.topic != topic)).alpha for topic in range(5)]
    sd = np.sqrt(4 / 5 * sum((each.value - alpha.value) ** 2 for each in without if each))
    assert alpha.high - alpha.value == pytest.approx(2.7764451 * sd)


def test_what_cannot_be_said_has_a_reason() -> None:
    alone = preference_agreement(Preferences.of([("t", "a", "b", 1, "x"), ("t", "a", "c", 1, "y")]))
    assert alone.raw is None
    assert "no two assessors compared the same pair" in alone.sentence()
    ties = preference_agreement(Preferences.of([("t", d, "b", 0, who) for d in "ac" for who in "xy"]))
    assert ties.alpha is None
    assert "not defined (every choice is a tie)" in ties.sentence()
    assert ties.by_assessors[0].kappa is None
    assert ties.by_assessors[0].reason == "both call every pair a tie"
    one = preference_agreement(Preferences.of([("t", "a", "b", 1, "x"), ("t", "a", "b", -1, "y")]))
    assert one.alpha is None
    assert one.raw is not None
    assert one.raw.value == 0


def test_position_counts_sides_and_says_what_it_means() -> None:
    rng = np.random.default_rng(3)
    sides = np.where(rng.random(2000) < 0.6, 1, -1)
    rows = [(f"t{n % 40}", f"d{n}", "e", int(side), "x" if n % 2 else "y") for n, side in enumerate(sides)]
    found = position_bias(Preferences.of([*rows, ("t0", "a", "b", 0, "x")]))
    assert found.left is not None
    assert (found.n_left, found.n_ties) == (int((sides > 0).sum()), 1)
    assert found.left.value == pytest.approx((sides > 0).mean())
    assert found.left.low > 0.5
    assert "differs significantly from 50%" in found.sentence()
    assert sum(each["left"] for each in found.by_assessor) == found.n_left
    assert all(each["low"] < each["share"] < each["high"] for each in found.by_assessor)


def test_position_of_nothing_and_of_winners_written_first() -> None:
    assert "every choice is a tie" in position_bias(Preferences.of([("t", "a", "b", 0)])).sentence()
    always = position_bias(Preferences.of([("t", "a", "b", 1), ("t", "c", "b", 2)]))
    assert "this is not a bias" in always.sentence()


def test_crowd_and_authors_agree_somewhat(data_dir: Path) -> None:
    """1,469 pairs were compared by the crowd and by the authors."""
    table = read_preferences([data_dir / "cast19_prefs" / f"prefs_{who}.txt.gz" for who in ("crowd", "local")])
    (found,) = preference_agreement(table).by_assessors
    assert found.n_pairs == 1469
    assert found.raw == pytest.approx(0.5902, abs=1e-4)
    assert found.kappa == pytest.approx(0.2355, abs=1e-4)


def test_a_crowd_without_names_agrees_a_little(data_dir: Path) -> None:
    table = read_preferences(data_dir / "dl21_full" / "prefs_crowd.txt.gz")
    assert preference_agreement(table).raw is None
    found = preference_agreement(table.anonymous())
    assert found.n_pairs == 1486
    assert found.alpha is not None
    assert 0.05 < found.alpha.low < found.alpha.high < 0.13
