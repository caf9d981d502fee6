"""Who is best, and how sure that is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from venire import Scores
from venire.comparison.verdict import first_places, same_scores, verdict
from venire.errors import SettingError


def scores(values) -> Scores:
    values = np.asarray(values, dtype=np.float64)
    names = {
        "system": tuple(f"s{n}" for n in range(len(values))),
        "topic": tuple(f"t{n}" for n in range(values.shape[1])),
        "measure": ("P@10",),
    }
    return Scores(values[..., None], ("system", "topic", "measure"), names)


def test_a_winner_is_ahead_of_every_other_system_by_more_than_chance():
    rng = np.random.default_rng(1)
    topic = rng.normal(size=30)
    values = topic + rng.normal(0, 0.3, (4, 30)) + np.array([0, 0.1, 1.0, 0.2])[:, None]
    found = verdict(scores(values))
    p = [ttest_rel(values[2], values[n]).pvalue for n in (0, 1, 3)]
    assert max(p) < 0.05
    assert (found.winner, found.rivals) == ("s2", ())
    assert found.p_next == pytest.approx(ttest_rel(values[2], values[int(found.second[1:])]).pvalue)
    assert found.lead == pytest.approx(np.sort(values.mean(axis=1))[-1] - np.sort(values.mean(axis=1))[-2])


def test_rivals_do_not_differ_significantly_from_the_best():
    rng = np.random.default_rng(2)
    values = rng.normal(0, 0.3, (5, 25)) + np.array([1.0, 0.98, 0.0, 0.97, -1])[:, None]
    found = verdict(scores(values))
    best = int(values.mean(axis=1).argmax())
    alike = [n for n in range(5) if n != best and ttest_rel(values[best], values[n]).pvalue > 0.05]
    assert set(found.rivals) == {f"s{n}" for n in alike}
    assert len(alike) == 2
    assert found.winner is None
    assert found.sentence().startswith("No winner can be named")


def test_equal_systems_have_no_winner_and_one_system_is_none():
    same = np.tile(np.linspace(0, 1, 12), (3, 1))
    found = verdict(scores(same))
    assert (found.winner, found.rivals, found.lead) == (None, ("s1", "s2"), 0.0)
    assert found.twins == ("s1", "s2")
    assert "s0 (0.500), s1 and s2" in found.sentence()
    alone = verdict(scores(same[:1]))
    assert alone.winner is None
    assert alone.record()["lead"] is None
    assert "P@10 is 0.500" in alone.sentence()


def test_first_places_and_margins_are_counted_over_draws():
    draws = np.array([[0.5, 0.4, 0.3], [0.5, 0.5, 0.1], [0.2, 0.6, 0.6], [0.9, 0.1, 0.2]])
    values = np.array([[0.9, 0.8, 0.9], [0.1, 0.2, 0.3], [0.1, 0.3, 0.2]])
    found = verdict(scores(values), draws={"judges": draws})
    assert found.best == "s0"
    assert found.p_first["judges"] == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    behind = [max(row[1:]) - row[0] for row in draws.tolist()]
    assert found.margin["judges"] == pytest.approx(np.quantile(behind, 0.95))
    assert "62% of simulated outcomes" in found.sentence()


def test_a_copy_of_a_system_changes_no_probability():
    """Three draws of four have s0 ahead; with copies of either system they still have."""
    draws = np.array([[0.5, 0.4], [0.6, 0.5], [0.2, 0.6], [0.9, 0.1]])
    values = np.array([[0.9, 0.8, 0.9], [0.1, 0.2, 0.3]])
    for copied in ([0, 1], [0, 0, 1], [0, 1, 1, 1], [0, 0, 0, 1, 1]):
        found = verdict(scores(values[copied]), draws={"judges": draws[:, copied]})
        assert found.p_first["judges"] == 0.75
        assert found.margin["judges"] == pytest.approx(np.quantile(draws[:, 1] - draws[:, 0], 0.95))
        assert first_places(draws[:, copied], same_scores(scores(values[copied]))).tolist() == [
            0.25 if n else 0.75 for n in copied
        ]
        assert len(found.twins) == copied.count(0) - 1


def test_systems_that_score_the_same_now_come_first_if_one_of_them_does():
    """By another judge the two differ: one of them is first in three draws of four, and shares one first place."""
    draws = np.array([[0.5, 0.1, 0.4], [0.1, 0.5, 0.4], [0.3, 0.2, 0.6], [0.4, 0.1, 0.4]])
    values = np.array([[0.9, 0.8, 0.9], [0.9, 0.8, 0.9], [0.1, 0.2, 0.3]])
    found = verdict(scores(values), draws={"judges": draws})
    assert found.p_first["judges"] == pytest.approx((1 + 1 + 0 + 0.5) / 4)
    assert "; one of s0 and s1 comes first in 62% of simulated outcomes" in found.sentence()


@pytest.mark.parametrize(("place", "words"), [(0, "over 99%"), (1, "under 1%")])
def test_nothing_is_certain_because_all_draws_say_it(place, words):
    draws = np.zeros((1000, 2))
    draws[:, place] = 1.0
    found = verdict(scores([[0.5, 0.6, 0.5, 0.6], [0.4, 0.5, 0.4, 0.4]]), draws={"judges": draws})
    assert (found.best, found.p_first["judges"]) == ("s0", 1.0 - place)
    assert f"{words} of simulated outcomes" in found.sentence()


def test_topics_that_a_system_lacks_are_left_out_of_its_mean():
    found = verdict(scores([[0.5, np.nan, 0.7, 0.6], [0.1, 0.9, 0.2, 0.1]]))
    assert found.mean.tolist() == pytest.approx([0.6, 0.325])


def test_no_score_at_all_is_said():
    with pytest.raises(SettingError, match="no system has a score"):
        verdict(scores(np.full((2, 3), np.nan)))


def test_a_winner_that_another_judge_would_rather_not_have_first_is_named_with_reserve():
    values = np.array([[0.9, 0.6, 0.8, 0.7, 0.5, 0.9], [0.5, 0.4, 0.7, 0.3, 0.2, 0.4]])
    scores = Scores(values, ("system", "topic"), {"system": ("new", "old"), "topic": tuple("123456")})
    draws = np.tile([[0.4, 0.6], [0.4, 0.6], [0.6, 0.4]], (10, 1))
    found = verdict(scores, draws={"judges": draws}, judge="llm")
    assert found.leader == "new"
    assert found.winner is None
    assert found.doubtful
    assert found.sentence().startswith("No winner can be named without reserve, because another judge would rather")
    assert "With the labels of llm, new is significantly better" in found.sentence()
    assert verdict(scores, draws={"judges": draws[:, ::-1]}).winner == "new"
