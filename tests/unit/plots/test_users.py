from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import t

from venire import evaluate_users
from venire.context.sweep import ContextSweep, sweep_context
from venire.errors import UnknownName
from venire.io.clicks import read_clicks
from venire.plots.users import plot_user_scores
from venire.simulation.context.collection import ContextSetting, generate_context
from venire.users.agreement import VIEWS, choose_measure
from venire.users.clicks import summarise_clicks
from venire.users.online_correlations import correlate_online

pytest.importorskip("matplotlib")

from venire.plots.context import plot_alphas, plot_ties
from venire.plots.users import plot_choice, plot_click_summary, plot_online_correlations


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(0)
    flags = (rng.random((30, 3)) < 0.4).astype(int)
    return read_clicks(
        {
            "topic": [f"q{n % 10}" for n in range(30)],
            "docs": ["a b c"] * 30,
            "clicks": [" ".join(map(str, each)) for each in flags],
        }
    )


def labels() -> dict[str, dict[str, int]]:
    return {f"q{t}": {doc: (t * t + n * t) % 4 for n, doc in enumerate("abc")} for t in range(10)}


def test_rates_by_rank_and_topics_in_order(log):
    summary = summarise_clicks(log)
    ranks, topics = plot_click_summary(summary).axes
    assert list(ranks.lines[0].get_ydata()) == [each["click_rate"] for each in summary.records()]
    assert topics.lines[0].get_xdata()[1:].tolist() == sorted(summary.rates)
    assert topics.lines[1].get_xdata()[0] == summary.mean_ctr.value


def test_a_panel_for_each_online_measure_and_coefficient(log):
    found = correlate_online(labels(), log, ["CG@3", "AP"], n_draws=20)
    figure = plot_online_correlations(found)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[:2] == ["CTR: Kendall's tau", "CTR: Spearman's rho"]
    assert len(titles) == 6
    dots = next(line for line in figure.axes[0].lines if line.get_marker() == "o")
    assert dots.get_xdata().tolist() == [row.value for row in found.rows[:6:3]]


def test_lines_over_alpha(log):
    rows = [(topic, doc, label, "") for topic, docs in labels().items() for doc, label in docs.items()]
    rows += [(topic, "b", 2, "a") for topic in labels()]
    given = pl.DataFrame(rows, schema=["topic", "doc", "label", "given"], orient="row")
    found = correlate_online(given, log, ["CG@3", "AP"], alphas=[0.0, 0.5, 1.0], n_draws=20)
    figure = plot_online_correlations(found)
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert list(lines["CG@3"].get_xdata()) == [0.0, 0.5, 1.0]
    assert len(set(lines["AP"].get_ydata())) == 1, "it takes no alpha: a level line"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["CG@3", "AP"]


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(2)
    labels = {f"q{t}": {f"d{n}": int(rng.integers(3)) for n in range(8)} for t in range(12)}
    runs = {name: {f"q{t}": {f"d{n}": rng.random() for n in range(8)} for t in range(12)} for name in ("x", "y", "z")}
    gains = {"0": 0.0, "1": 0.4, "2": 0.9}
    return evaluate_users(labels, runs, ["nDCG@5", "P@3"], gains=gains, users=80)


def test_the_interval_over_topics_is_near_that_of_topics_drawn_one_by_one(found):
    low, high = found.over_topics()
    rng, values = np.random.default_rng(9), found.topics.values
    means = np.array([values[:, rng.integers(12, size=12)].mean(axis=1) for _ in range(4000)])
    drawn = np.diff(np.quantile(means, [0.025, 0.975], axis=0), axis=0)[0]
    wider = t.ppf(0.975, 11) / 1.96 * np.sqrt(12 / 11)
    assert np.allclose((high - low) / drawn, wider, rtol=0.05)
    assert (low < found.mean.values).all()
    assert (found.mean.values < high).all()


def test_the_interval_over_topics_is_students():
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


MADE = generate_context(ContextSetting(n_topics=25, design="neighbours"), rng=1)
TITLES = ["weak", "strong", "simultaneous, weak", "simultaneous, strong"]


@pytest.fixture(scope="module")
def sweep() -> ContextSweep:
    read = (MADE.judgments, MADE.runs, MADE.preferences)
    return sweep_context(*read, ["CCG@5", "CG@5"], alphas=[0.5, 1], n_draws=20, pool="median")


def test_lines_by_alpha_and_dashes_at_0(sweep: ContextSweep) -> None:
    axes = plot_alphas(sweep).axes
    assert [each.get_title(loc="left") for each in axes[:4]] == TITLES
    lines = {line.get_label(): line for line in axes[1].lines}
    assert lines["CG@5"].get_ydata().tolist() == sweep.curve("kappa", 1, VIEWS[1])[0].tolist()
    dashed = [line.get_ydata()[0] for line in axes[1].lines if line.get_linestyle() == "--"]
    assert dashed == [sweep.curve("kappa", number, VIEWS[1])[0, 0] for number in (0, 1)]
    assert len(axes[0].collections) == 2


def test_the_share_of_ties_goes_from_0_to_1(sweep: ContextSweep) -> None:
    axes = plot_ties(sweep).axes
    assert [each.get_title(loc="left") for each in axes] == [
        f"{name}, {strength}" for strength in ("weak", "strong") for name in ("Cohen's kappa", "Jaccard coefficient")
    ]
    line = axes[3].lines[0]
    assert (line.get_xdata()[0], line.get_xdata()[-1]) == (0, 1)
    assert line.get_ydata().tolist() == sweep.ties.jaccard[0, 1, 0].tolist()


def test_the_best_is_above() -> None:
    found = choose_measure(MADE.judgments, MADE.runs, MADE.preferences, ["nDCG@5", "P@1"], n_draws=20, pool="median")
    axes = plot_choice(found).axes
    assert [each.get_title(loc="left") for each in axes] == TITLES
    ranked = [each["measure"] for each in found.records()[:2]]
    assert [text.get_text() for text in axes[0].get_yticklabels()] == ranked
