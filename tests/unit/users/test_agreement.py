"""Measures against users: conditions, baseline, sweeps and ranks, each against a slow way."""

from __future__ import annotations

import numpy as np
import pytest

from user_directions import slow_answers, slow_kappa, verdicts_of
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.errors import SettingError
from venire.io.judgments import read_judgments
from venire.randomness import topic_weights
from venire.types import Floats
from venire.users.agreement import (
    VIEWS,
    against_best,
    agreement_with_users,
    choose_measure,
    conditioned,
    limits,
    tie_sweep,
)
from venire.users.verdicts import UserVerdicts


@pytest.fixture(scope="module")
def cases() -> tuple[Floats, UserVerdicts]:
    rng = np.random.default_rng(3)
    utility = rng.normal(0, 1.5, 40)
    verdicts = verdicts_of(utility, rng)
    return np.round(utility + rng.normal(0, [[0.5], [1.0], [3.0]], (3, 40)), 1), verdicts


def slow_at(difference: list[float], users: list[list[int]], share: float) -> tuple[float, list[float]]:
    """Threshold and both kappas of one measure at a share of ties, by trying every threshold."""
    found = []
    for threshold in sorted({0.0, *map(abs, difference)}):
        mine = slow_answers(difference, threshold)
        kappas = np.nan_to_num([slow_kappa(mine, each) for each in users]).tolist()
        found.append((round(abs(mine.count(0) / len(mine) - share), 12), threshold, kappas))
    return min(found)[1:]


def slow_share(difference: list[list[float]], users: list[list[int]], condition: str) -> float:
    """The share of ties of a condition."""
    if condition != "simultaneous":
        return users[("weak", "strong").index(condition)].count(0) / len(users[0])
    sums = [sum(sum(slow_at(each, users, n / 40)[1]) for each in difference) for n in range(41)]
    return max(range(41), key=lambda n: (round(sums[n], 9), -n)) / 40


def test_conditions_are_as_tried_one_by_one(cases: tuple[Floats, UserVerdicts]) -> None:
    difference, verdicts = cases
    weights = topic_weights(40, 3, np.random.default_rng(0))
    found = conditioned(difference, verdicts.directions, np.concatenate([np.ones((1, 40)), weights]))
    for draw, weight in enumerate([np.ones(40), *weights]):
        rows = np.repeat(np.arange(40), weight.astype(int))
        users, drawn = verdicts.directions[:, rows].tolist(), difference[:, rows].tolist()
        for number, condition in enumerate(("weak", "strong", "simultaneous")):
            share = slow_share(drawn, users, condition)
            for measure, values in enumerate(drawn):
                threshold, kappas = slow_at(values, users, share)
                assert found.kappa[number, :, measure, draw] == pytest.approx(kappas)
                mine = slow_answers(values, threshold)
                assert found.ties[number, measure, draw] == pytest.approx(mine.count(0) / 40)
                same = sum(a == b for a, b in zip(mine, users[0], strict=True)) / 40
                assert found.jaccard[number, 0, measure, draw] == pytest.approx(same / (2 - same))
    answers = np.where(np.abs(difference) <= found.threshold[0, :, 0, None], 0, np.sign(difference))
    assert (answers == 0).mean(axis=1) == pytest.approx(found.ties[0, :, 0])


def test_records_have_intervals_and_the_baseline_ties(cases: tuple[Floats, UserVerdicts]) -> None:
    found = agreement_with_users(*cases, n_draws=200)
    record = found.record(0, VIEWS[0])
    assert list(record)[:3] == ["condition", "preference", "share_of_ties"]
    assert record["low"] < record["kappa"] < record["high"]
    assert record["jaccard_low"] < record["jaccard"] < record["jaccard_high"]
    weak, strong = found.baseline()
    share = float(cases[1].ties[1])
    assert (strong["kappa"], strong["jaccard"]) == (0.0, pytest.approx(share / (2 - share)))
    always = agreement_with_users(np.zeros((1, 40)), cases[1], n_draws=0).record(0, VIEWS[1])
    assert (always["kappa"], always["jaccard"]) == (0.0, pytest.approx(strong["jaccard"]))
    assert (always["low"], always["share_of_ties"], always["threshold"]) == (None, 1.0, 0.0)
    assert weak["jaccard"] < strong["jaccard"]


def test_the_same_seed_gives_the_same(cases: tuple[Floats, UserVerdicts]) -> None:
    one, other = (agreement_with_users(*cases, n_draws=50, rng=4).record(1, VIEWS[2]) for _ in range(2))
    assert one == other


def test_kappa_without_meaning_has_a_reason() -> None:
    verdicts = verdicts_of(np.zeros(12), np.random.default_rng(0), noise=0.0)
    found = agreement_with_users(np.zeros((1, 12)), verdicts, n_draws=20)
    record = found.record(0, VIEWS[0])
    assert (record["kappa"], record["low"]) == (None, None)
    assert record["reason"] == "users and measure give one and the same answer"
    assert found.baseline()[0] == {"preference": "weak", "kappa": None, "jaccard": 1.0}
    assert np.isnan(found.p_values(VIEWS[0])[0]).all()
    assert (found.notes()[-1].kind, found.notes()[-1].fields["n"]) == ("few-topics", 12)


def test_the_sweep_over_ties_starts_flat_and_ends_at_the_baseline(cases: tuple[Floats, UserVerdicts]) -> None:
    difference, verdicts = np.where(np.abs(cases[0]) < 0.7, 0.0, cases[0]), cases[1]
    found = tie_sweep(difference, verdicts, n_draws=50)
    least = (difference == 0).mean(axis=1)
    for measure in range(3):
        flat = found.shares <= least[measure]
        assert found.ties[measure, flat] == pytest.approx(least[measure])
        assert np.ptp(found.kappa[0, :, measure, flat], axis=0) == pytest.approx([0, 0])
    assert found.kappa[0, :, :, -1] == pytest.approx(np.zeros((2, 3)))
    share = verdicts.ties[1]
    assert found.jaccard[0, 1, :, -1] == pytest.approx(np.full(3, share / (2 - share)))
    assert (found.kappa[1] <= found.kappa[2]).all()
    record = found.records([{"measure": name} for name in "abc"])[0]
    assert list(record)[:4] == ["measure", "preference", "share", "share_of_ties"]
    assert np.isnan(tie_sweep(difference, verdicts, n_draws=0).kappa[1:]).all()


def test_topics_are_drawn_with_all_their_cases() -> None:
    rng = np.random.default_rng(1)
    rows = [(f"{t:02d}", "a", side, 2 - t % 3, "u") for t in range(25) for side in ("b", "c")]
    from venire.users.verdicts import user_verdicts

    verdicts = user_verdicts(Preferences.of(rows))
    assert (len(verdicts), verdicts.n_topics) == (50, 25)
    difference = np.repeat(rng.normal(0.5, 1, (1, 25)), 2, axis=1)
    single = [(topic, a, b, s, u) for topic, a, b, s, u in rows if b == "b"]
    twice = agreement_with_users(difference, verdicts, n_draws=100)
    once = agreement_with_users(difference[:, ::2], user_verdicts(Preferences.of(single)), n_draws=100)
    assert twice.record(0, VIEWS[0]) == pytest.approx(once.record(0, VIEWS[0]))


def test_the_best_and_its_equals_have_p_1() -> None:
    rng = np.random.default_rng(0)
    drawn = np.array([0.5, 0.5, 0.1])[:, None] + np.stack([np.zeros(400), np.zeros(400), rng.normal(0, 0.1, 400)])
    p, adjusted = against_best(np.array([0.5, 0.5, 0.1]), drawn)
    assert p[:2].tolist() == adjusted[:2].tolist() == [1.0, 1.0]
    expected = (1 + (np.abs(drawn[2] - 0.1) >= 0.4).sum()) / 401
    assert p[2] == pytest.approx(expected)
    assert adjusted[2] >= p[2]
    assert np.isnan(against_best(np.array([0.5, 0.4]), None)[0]).all()
    assert limits(np.array([np.nan, np.nan, 1.0])) == (None, None)


def test_differences_must_be_numbers(cases: tuple[Floats, UserVerdicts]) -> None:
    with pytest.raises(SettingError, match="no NaN"):
        agreement_with_users(np.full((1, 40), np.nan), cases[1])


def small(n_topics: int = 24) -> tuple[Judgments, dict[str, dict[str, dict[str, float]]], Preferences]:
    """Two systems; users prefer the one whose first document is better."""
    rng = np.random.default_rng(2)
    judged, runs, rows = {}, {"x": {}, "y": {}}, []
    for topic in map(str, range(n_topics)):
        labels = rng.integers(0, 3, 6)
        judged[topic] = {f"d{n}": int(label) for n, label in enumerate(labels)}
        firsts = {}
        for system in runs:
            order = rng.permutation(6)
            runs[system][topic] = {f"d{n}": -float(place) for place, n in enumerate(order.tolist())}
            firsts[system] = int(labels[order[0]])
        rows += [(topic, "x", "y", firsts["x"] - firsts["y"], user) for user in "ab"]
    return read_judgments(judged), runs, Preferences.of(rows)


def test_the_measure_that_looks_where_users_look_is_first() -> None:
    judgments, runs, preferences = small()
    found = choose_measure(
        judgments, runs, preferences, ["CG@1", "CG@6", "P@2"], gains=["linear", "binary:2"], n_draws=100
    )
    records = found.records()
    assert [each["rank"] for each in records] == list(range(1, 7)) * 4
    assert (records[0]["measure"], records[0]["gains"], records[0]["kappa"]) == ("CG@1", "linear", 1.0)
    worst = next(each for each in records if each["measure"] == "CG@6")
    assert worst["kappa"] == 0.0
    assert worst["p_adjusted"] < 0.05
    assert found.sentence().startswith("CG@1 with linear gains agrees best with users: kappa 1.00 [1.00, 1.00] (weak")
    assert "p" in choose_measure(judgments, runs, preferences, "CG@1", n_draws=0).records()[0]
