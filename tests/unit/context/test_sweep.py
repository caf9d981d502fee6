"""The gain of context: what is chosen on earlier topics, and what is told where nothing can be."""

from __future__ import annotations

import numpy as np
import pytest

from user_directions import verdicts_of
from venire.context.sweep import ContextGain, _adjusted, checked_alphas, context_gains, sweep_context, without_alpha
from venire.errors import MeasureError, SettingError, UnknownName
from venire.simulation.context.collection import ContextSetting, generate_context
from venire.types import Floats
from venire.users.agreement import VIEWS
from venire.users.verdicts import UserVerdicts

ALPHAS = np.array([0.0, 0.5, 1.0])


def collection(n_topics: int, context: float, seed: int = 0) -> tuple[Floats, UserVerdicts]:
    """Scores with alpha, and users who value what comes of the context with this weight."""
    rng = np.random.default_rng(seed)
    alone, given = rng.normal(0, 1, (2, n_topics))
    verdicts = verdicts_of(1.5 * (alone + 2 * context * given), rng)
    return np.round(alone + 2 * ALPHAS[:, None] * given, 3), verdicts


def test_a_gain_is_found_where_there_is_one() -> None:
    weak, strong, both = context_gains(*(lambda d, v: (d, ALPHAS, v))(*collection(120, 1.0)))
    assert [each.condition for each in (weak, strong, both)] == ["weak", "strong", "simultaneous"]
    assert weak.found
    assert weak.alpha == 1.0
    assert weak.gain is not None
    assert weak.low is not None
    assert 0 < weak.low < weak.gain
    assert weak.gain == pytest.approx((weak.kappa or 0) - (weak.kappa_0 or 0))
    assert "context increases agreement" in weak.sentence()
    assert strong.used == pytest.approx(1.0, abs=0.1)


def test_no_use_of_context_is_no_gain() -> None:
    difference, verdicts = collection(60, 0.0)
    (same,) = context_gains(np.repeat(difference[:1], 3, axis=0), ALPHAS, verdicts, conditions=("weak",))
    assert (same.gain, same.used, same.alpha, same.p) == (0.0, 0.0, 0.0, pytest.approx(0.5))
    assert "does not significantly increase" in same.sentence()


def test_alpha_for_a_topic_is_chosen_on_other_topics_alone() -> None:
    """Alphas that are right on single topics: each topic's own would seem to gain, another's does not."""
    rng = np.random.default_rng(1)
    verdicts = verdicts_of(rng.normal(0, 3, 40), rng)
    difference = rng.normal(0, 1, (40, 40))
    difference[np.arange(1, 40), np.arange(1, 40)] = verdicts.directions[0, 1:] * 10.0
    (found,) = context_gains(difference, np.linspace(0, 1, 40), verdicts, conditions=("weak",))
    assert found.gain is not None
    assert abs(found.gain) < 0.25
    assert not found.found


def test_sentences_go_by_the_adjusted_p_value() -> None:
    """One of four measures gains a little: found alone, and not among four."""
    tested = [ContextGain("weak", 0.5, 40, 1.0, 0.3, 0.2, 0.1, 0.01, 0.19, p=p) for p in (0.03, 0.4, 0.5, 0.6)]
    assert tested[0].found
    adjusted = _adjusted(tested)
    assert [each.p_adjusted for each in adjusted] == pytest.approx([0.12, 1.0, 1.0, 1.0])
    assert not adjusted[0].found
    assert "does not significantly increase" in adjusted[0].sentence()
    assert "p = 0.12" in adjusted[0].sentence()
    assert _adjusted(tested[:1])[0].record()["p_adjusted"] == 0.03


def test_the_same_seed_gives_the_same() -> None:
    difference, verdicts = collection(40, 0.5)
    assert context_gains(difference, ALPHAS, verdicts, rng=7) == context_gains(difference, ALPHAS, verdicts, rng=7)


def test_few_topics_and_one_answer_have_reasons() -> None:
    few = context_gains(*(lambda d, v: (d, ALPHAS, v))(*collection(10, 1.0)))[0]
    assert (few.gain, few.p, few.found) == (None, None, False)
    assert few.reason == "10 topics are too few to choose alpha on some and test it on others"
    verdicts = verdicts_of(np.zeros(30), np.random.default_rng(0), noise=0.0)
    none = context_gains(np.zeros((3, 30)), ALPHAS, verdicts)[0]
    assert none.record()["reason"].startswith("users and measure give one and the same answer")
    assert "is not known" in none.sentence()


def test_bad_settings_are_refused() -> None:
    difference, verdicts = collection(20, 0.0)
    with pytest.raises(SettingError, match=r"alphas are 0\.5, 1"):
        context_gains(difference[:2], ALPHAS[1:], verdicts)
    with pytest.raises(UnknownName, match="condition 'week'"):
        context_gains(difference, ALPHAS, verdicts, conditions=("week",))
    with pytest.raises(MeasureError, match="takes no alpha"):
        without_alpha("P@5")
    with pytest.raises(MeasureError, match="states an alpha"):
        without_alpha("CCG(alpha=0.5)@5")
    with pytest.raises(SettingError, match="weights from 0 to 1"):
        checked_alphas([0.5, 1.5])
    with pytest.raises(SettingError, match="no alpha but 0"):
        checked_alphas([0])
    assert checked_alphas([1, 0.1, 0.5, 0.1]).tolist() == [0, 0.1, 0.5, 1]


def test_the_sweep_over_alpha_has_all_that_figures_show() -> None:
    setting = ContextSetting(n_topics=40, context=1.0, redundancy=0.9, design="neighbours")
    made = generate_context(setting, rng=2)
    found = sweep_context(
        made.judgments, made.runs, made.preferences, ["CCG@5", "DCG@5"], alphas=[0.5, 1], n_draws=40, pool="median"
    )
    records = found.records()
    assert len(records) == len(VIEWS) * 2 * 3
    first = records[0]
    assert (first["measure"], first["alpha"], first["difference"], first["difference_low"]) == ("CCG@5", 0.0, 0.0, 0.0)
    assert found.curve("kappa", 0, VIEWS[0])[0].tolist() == [each["kappa"] for each in records[:3]]
    gains = found.gain_records()
    assert [(each["measure"], each["condition"]) for each in gains[:3]] == [
        ("CCG@5", "weak"),
        ("CCG@5", "strong"),
        ("CCG@5", "simultaneous"),
    ]
    assert all(each["p_adjusted"] >= each["p"] for each in gains)
    assert found.tie_records()[0]["alpha"] == found.middle == 0.5
    assert found.sentences()[1].startswith("DCG@5: context")
