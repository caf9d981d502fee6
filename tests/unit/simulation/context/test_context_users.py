from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from venire import evaluate
from venire.errors import SettingError
from venire.simulation.context.collection import ContextCollection, ContextSetting, generate_context
from venire.simulation.context.observations import sessions_of, strengths, utilities
from venire.simulation.context.setting import ClickModel, Engine

QUIET = ClickModel(sessions=0)
DRIVEN = ContextSetting(redundancy=0.8, context=1.0, design="neighbours", clicks=QUIET)


def modal(strength: np.ndarray, slight: int) -> list[int]:
    """Return the commonest direction of each topic, in the plainest way; a tie where two are."""
    found = []
    for row in strength:
        votes = Counter(0 if abs(each) <= slight else int(np.sign(each)) for each in row)
        top = [side for side, number in votes.items() if number == max(votes.values())]
        found.append(top[0] if len(top) == 1 else 0)
    return found


def strength_of(collection: ContextCollection) -> np.ndarray:
    return collection.preferences.strength.reshape(collection.setting.n_topics, -1)


class TestPreferences:
    @pytest.mark.parametrize(("weak", "strong"), [(0.91, 0.23), (0.5, 0.1), (1.0, 1.0), (0.0, 0.0)])
    def test_shares_of_modal_preferences_are_those_stated(self, weak, strong):
        collection = generate_context(ContextSetting(n_topics=200, weak=weak, strong=strong, clicks=QUIET), rng=1)
        found = [np.mean(np.array(modal(strength_of(collection), slight)) != 0) for slight in (0, 1)]
        assert found == pytest.approx([weak, strong], abs=1 / 200)
        assert set(np.unique(collection.preferences.strength)) <= {-2, -1, 0, 1, 2}

    def test_strengths_follow_the_thresholds(self):
        seen = np.random.default_rng(0).normal(size=(400, 5))
        strength, (slight, clear) = strengths(seen, 0.8, 0.3)
        assert 0 < slight < clear
        assert np.array_equal(strength == 0, np.abs(seen) <= slight)
        assert np.array_equal(np.abs(strength) == 2, np.abs(seen) > clear)
        assert np.array_equal(np.sign(strength), np.where(np.abs(seen) > slight, np.sign(seen), 0))

    def test_utility_is_a_mean_of_grades_by_hand(self):
        truth = generate_context(ContextSetting(n_topics=3, clicks=QUIET), rng=1).truth
        contents, lists = truth.contents, truth.lists
        found = utilities(contents, lists, 0.3, depth=4)
        for topic in range(3):
            for side in range(2):
                docs, total, weights = lists[topic, side, :4], 0.0, 0.0
                for rank, doc in enumerate(docs):
                    before = np.array([docs[rank - 1] if rank else -1])
                    after = contents.worth_given(np.array([topic]), np.array([doc]), before)[0]
                    weight = 1 / np.log2(rank + 2)
                    total += weight * (0.7 * contents.worth[topic, doc] + 0.3 * after)
                    weights += weight
                assert found[topic, side] == pytest.approx(total / weights)

    def test_preferences_follow_the_truth(self):
        sure = generate_context(ContextSetting(n_topics=200, preference_noise=0.0, weak=1.0, clicks=QUIET), rng=2)
        assert np.array_equal(np.sign(strength_of(sure)[:, 0]), np.sign(-np.diff(sure.truth.utility)[:, 0]))
        assert (np.ptp(strength_of(sure), axis=1) == 0).all()
        noisy = generate_context(ContextSetting(n_topics=400, preference_noise=0.2, clicks=QUIET), rng=2)
        truth = -np.diff(noisy.truth.utility)[:, 0]
        agree = (np.sign(strength_of(noisy)) == np.sign(truth)[:, None])[np.abs(truth) > 0.3].mean()
        assert 0.9 < agree < 1
        lost = generate_context(ContextSetting(n_topics=400, preference_noise=50.0, clicks=QUIET), rng=2)
        assert abs(np.corrcoef(strength_of(lost)[:, 0], -np.diff(lost.truth.utility)[:, 0])[0, 1]) < 0.15

    def test_context_decides_where_it_has_weight(self):
        engines = (Engine(6.0), Engine(6.0, diversity=2.0))
        for context, better in ((1.0, 1), (0.0, 0)):
            setting = ContextSetting(n_topics=400, redundancy=0.9, context=context, engines=engines, clicks=QUIET)
            truth = generate_context(setting, rng=3).truth
            gain = np.diff(truth.utility)[:, 0] * np.where(truth.engine == 0, 1, -1)
            assert ((gain > 0).mean() > 0.6) == bool(better)

    def test_measures_in_context_agree_better_where_redundancy_drives_users_and_not_where_it_does_not(self):
        names = ["CCG(alpha=0)@5", "CCG(alpha=1)@5"]
        gain = []
        for setting in (DRIVEN, replace(DRIVEN, context=0.0)):
            collection = generate_context(setting, rng=4)
            scores = evaluate(collection.judgments, collection.runs, names, pool="median")
            lead = scores.values[0] - scores.values[1]  # left less right -> (topic, measure)
            preferred = np.array(modal(strength_of(collection), 0))
            same = [(np.sign(each) == preferred)[preferred != 0].mean() for each in lead.T]
            gain.append(same[1] - same[0])
        assert gain[0] > 0.08
        assert gain[1] < 0


class TestClicks:
    def test_the_log_shows_the_lists(self):
        collection = generate_context(ContextSetting(n_topics=10, clicks=ClickModel(sessions=6)), rng=1)
        clicks = collection.clicks
        assert clicks.columns == ["session", "topic", "rank", "doc", "clicked", "dwell"]
        assert clicks.height == 10 * 6 * 10
        assert clicks["session"].n_unique() == 60
        docs = collection.truth.docs
        for (topic,), rows in clicks.group_by("topic"):
            shown = {tuple(part["doc"]) for _, part in rows.group_by("session", maintain_order=True)}
            both = collection.truth.lists[int(topic) - 1]
            assert shown <= {tuple(docs[int(doc)] for doc in one) for one in both}
        assert (clicks["dwell"].is_null() == (clicks["clicked"] == 0)).all()

    def test_probabilities_are_those_of_the_model(self):
        share = np.broadcast_to(np.array([0.5, 0.2, 0.8]), (1, 1, 3))
        model = ClickModel(sessions=60_000, patience=0.7, attraction=(0.1, 0.9), dwell=(10.0, 60.0), spread=0.5)
        found = sessions_of(share, model, rng=np.random.default_rng(0))
        reach, expected = 1.0, []
        for value in (0.5, 0.2, 0.8):
            click = 0.1 + 0.8 * value
            expected.append(reach * click)
            reach *= 0.7 * (1 - click * value)
        assert found.clicked[0].mean(axis=0).tolist() == pytest.approx(expected, abs=0.01)
        first = found.dwell[0, :, 0][found.clicked[0, :, 0]]
        low, high = np.log(10), np.log(60)
        assert np.log(first).mean() == pytest.approx((low + high) / 2, abs=0.03)
        assert np.log(first).var() == pytest.approx(0.25 + (high - low) ** 2 / 4, rel=0.03)

    def test_nobody_goes_on_after_a_satisfying_click(self):
        model = ClickModel(sessions=500, patience=1.0, attraction=(0.0, 1.0), spread=0.0, dwell=(10.0, 60.0))
        found = sessions_of(np.full((1, 1, 10), 0.6), model, rng=np.random.default_rng(0))
        last = found.clicked[0].sum(axis=1)
        satisfied = found.dwell[0] == 60
        assert (satisfied.sum(axis=1) <= 1).all()
        ends = [row.nonzero()[0][-1] for row, n in zip(found.clicked[0], last, strict=True) if n]
        where = [row.argmax() for row, n in zip(satisfied, last, strict=True) if n and row.any()]
        assert len(where) > 450
        assert [end for end, row in zip(ends, satisfied[last > 0], strict=True) if row.any()] == where

    def test_better_documents_are_clicked_more_and_longer(self):
        collection = generate_context(ContextSetting(n_topics=300), rng=1)
        first = collection.clicks.filter(pl.col("rank") == 1)
        docs = {name: number for number, name in enumerate(collection.truth.docs)}
        worth = [collection.truth.contents.worth[int(t) - 1, docs[d]] for t, d in first.select("topic", "doc").rows()]
        assert np.corrcoef(worth, first["clicked"])[0, 1] > 0.1
        clicked = (first["clicked"] == 1).to_numpy()
        assert np.corrcoef(np.array(worth)[clicked], np.log(first["dwell"].drop_nulls()))[0, 1] > 0.1

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"patience": 2.0}, "patience is 2"),
            ({"attraction": (0.5, 1.2)}, "attraction goes from 0.5 to 1.2"),
            ({"dwell": (20.0, 10.0)}, "dwell goes from 20 to 10"),
            ({"sessions": -1}, "sessions is -1"),
        ],
    )
    def test_models_that_cannot_be(self, change, words):
        with pytest.raises(SettingError, match=words):
            ClickModel(**change)
