from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from venire.io.click_logs import read_clicks
from venire.users.clicks import summarise_clicks
from venire.users.online_correlations import correlate_online

pytest.importorskip("matplotlib")

from venire.plots.users import plot_click_summary, plot_online_correlations


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
    assert list(ranks.lines[0].get_ydata()) == [each["click_rate"] for each in summary.ranks()]
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
