from __future__ import annotations

import numpy as np
import pytest

from venire import PredictedRelevance
from venire.disagreement.counting import count_relevant
from venire.disagreement.counting_resources import count_resources
from venire.errors import SettingError
from venire.simulation import Synthetic, generate

pytest.importorskip("matplotlib")

from venire.plots.disagreement import plot_counts
from venire.plots.style import write_figure


@pytest.fixture(scope="module")
def collection():
    return generate(Synthetic(n_topics=12, docs_per_topic=60, n_unjudged=0), rng=5)


def dots(axes) -> dict[str, list[float]]:
    """The positions of the dots of each series, from the highest system down."""
    return {line.get_label(): line.get_xdata()[::-1].tolist() for line in axes.lines if line.get_label()[0] != "_"}


def test_a_panel_shows_both_counts_highest_first(collection):
    counts = count_relevant(collection.judgments, collection.runs, pool="mean")
    figure = plot_counts(counts)
    (axes,) = figure.axes
    shown = dots(axes)
    assert shown["for a random user (prm)"] == [each["prm"] for each in counts.records()]
    assert shown["by the labels (binary)"] == [each["binary"] for each in counts.records()]
    assert [text.get_text() for text in axes.get_yticklabels()][::-1] == [each["system"] for each in counts.records()]


def test_bars_are_one_standard_error_each_way(collection):
    counts = count_relevant(collection.judgments, collection.runs, pool="mean")
    bars = plot_counts(counts).axes[0].collections[0].get_segments()[::-1]
    width = [float(bar[1][0] - bar[0][0]) for bar in bars]
    np.testing.assert_allclose(width, [2 * each["prm_se"] for each in counts.records()])


def test_a_panel_for_each_notion_and_assessor_up_to_a_limit(collection):
    setting = PredictedRelevance(relevant="all")
    counts = count_relevant(collection.judgments, collection.runs, setting, pool="mean")
    titles = [axes.get_title(loc="left") for axes in plot_counts(counts).axes]
    assert titles == ["relevant: 3", "relevant: 2 or higher", "relevant: 1 or higher"]
    one = count_relevant(collection.judgments, collection.runs, per="assessor")
    assert [axes.get_title(loc="left") for axes in plot_counts(one).axes][4] == "relevant: 3, strict1"
    with pytest.raises(SettingError, match="15 panels are too many"):
        plot_counts(count_relevant(collection.judgments, collection.runs, setting, per="assessor"))


def test_the_oracle_is_hollow_and_names_are_no_mathematics(collection, tmp_path):
    runs = {"$x$": {topic: {"d001": 1.0} for topic in collection.judgments.topics}}
    resource = r"(?P<resource>d\d{3})\d"
    counts = count_resources(collection.judgments, runs, resource=resource, pool="mean")
    figure = plot_counts(counts)
    assert [line.get_markerfacecolor() for line in figure.axes[0].lines].count("white") == 2
    write_figure(figure, tmp_path / "counts.svg")
    assert "$x$" in (tmp_path / "counts.svg").read_text(encoding="utf-8")
