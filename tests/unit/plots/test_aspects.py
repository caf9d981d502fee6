from __future__ import annotations

import io

import polars as pl
import pytest

from aspect_examples import WIDE
from venire.aspects.study import study_aspects
from venire.errors import SettingError
from venire.io.aspects import read_aspects
from venire.plots.aspects import (
    PLOTS,
    plot_changes,
    plot_correlations,
    plot_coverage,
    plot_distributions,
    plot_prediction,
)


@pytest.fixture(scope="module")
def study():
    frame = pl.read_csv(io.StringIO(WIDE), separator="\t", infer_schema=False)
    return study_aspects(read_aspects(frame), n_draws=20, splits=1)


def texts(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def test_coverage_names_every_aspect_and_all_of_them(study):
    axes = plot_coverage(study).axes[0]
    assert texts(axes) == ["nov", "top", "all of them"]
    assert list(axes.lines[0].get_xdata()) == [0.75, 1, 0.75]


def test_labels_fill_their_bars(study):
    grid = plot_distributions(study).axes
    assert [axes.get_title(loc="left") for axes in grid[:2]] == [
        "in isolation: every aspect graded",
        "conditional: every aspect graded",
    ]
    by_row: dict[float, float] = {}
    for bar in grid[2].patches:
        row = round(bar.get_y() + bar.get_height() / 2)
        by_row[row] = by_row.get(row, 0) + bar.get_width()
    assert by_row == pytest.approx({0: 1, 1: 1, 2: 1})


def test_changes_have_a_bar_for_every_size(study):
    axes = plot_changes(study).axes[0]
    assert sorted(bar.get_height() for bar in axes.patches) == [0, 0, 1, 1, 1]


def test_heat_map_shows_the_numbers(study):
    figure = plot_correlations(study)
    shown = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert "-1.00" in shown


def test_power_ends_with_the_most_frequent_label_and_what_is_not_known_is_refused(study):
    assert "(the most frequent label)" in texts(plot_prediction(study).axes[0])
    frame = pl.DataFrame({"topic": ["1"], "doc": ["a"], "overall": ["0"], "x": ["1"]})
    nothing = study_aspects(read_aspects(frame), n_draws=2)
    for part in ("changes", "correlations", "prediction"):
        with pytest.raises(SettingError, match="cannot be plotted"):
            PLOTS[part](nothing)
