"""The picture of simulated users, and the interval of their mean over topics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from venire import evaluate_users
from venire.errors import UnknownName
from venire.plots.users import plot_user_scores


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(2)
    labels = {f"q{t}": {f"d{n}": int(rng.integers(3)) for n in range(8)} for t in range(12)}
    runs = {name: {f"q{t}": {f"d{n}": rng.random() for n in range(8)} for t in range(12)} for name in ("x", "y", "z")}
    gains = {"0": 0.0, "1": 0.4, "2": 0.9}
    return evaluate_users(labels, runs, ["nDCG@5", "P@3"], gains=gains, users=80)


def test_the_interval_over_topics_is_that_of_topics_drawn_one_by_one(found):
    low, high = found.over_topics(n_draws=4000, rng=1)
    rng, values = np.random.default_rng(9), found.topics.values
    means = np.array([values[:, rng.integers(12, size=12)].mean(axis=1) for _ in range(4000)])
    assert np.allclose([low, high], np.quantile(means, [0.025, 0.975], axis=0), atol=0.01)
    assert (low < found.mean.values).all()
    assert (found.mean.values < high).all()


def test_the_interval_over_few_topics_is_students():
    rng = np.random.default_rng(3)
    labels = {f"q{q}": {f"d{n}": int(rng.integers(2)) for n in range(8)} for q in range(4)}
    runs = {f"q{q}": {f"d{n}": rng.random() for n in range(8)} for q in range(4)}
    found = evaluate_users(labels, runs, "P@3", gains={"0": 0.1, "1": 0.7}, users=50)
    low, high = found.over_topics()
    values = found.topics.values[0, :, 0]
    expected = t.interval(0.95, 3, values.mean(), values.std(ddof=1) / 2)
    assert [low[0, 0], high[0, 0]] == pytest.approx(expected)


def test_systems_stand_best_first_by_the_measure_asked_for(found):
    axes = plot_user_scores(found, "P@3").axes[0]
    mean = dict(zip(found.users.names["system"], found.mean.values[:, 1], strict=True))
    assert [tick.get_text() for tick in axes.get_yticklabels()] == sorted(mean, key=mean.get, reverse=True)
    assert axes.get_xlabel() == "P@3 for a random user"
    assert len(axes.collections) == 2


def test_one_topic_has_no_interval_and_one_user_no_spread():
    alone = evaluate_users({"q": {"a": 1}}, {"q": {"a": 1.0}}, "P@1", gains={"0": 0, "1": 0.5}, users=1)
    assert len(plot_user_scores(alone).axes[0].collections) == 0


def test_a_measure_that_was_not_scored_is_refused(found):
    with pytest.raises(UnknownName, match="AP"):
        plot_user_scores(found, "AP")
