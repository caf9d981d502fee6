"""Plots of many assessors, long names and empty panels stay readable."""

from __future__ import annotations

import numpy as np
import pytest

from venire import read_grid

pytest.importorskip("matplotlib")

from venire.agreement.confusion import confusions
from venire.agreement.profiles import profiles
from venire.plots.agreement import plot_confusion, plot_labels
from venire.plots.quality import MOST_LINES, plot_power
from venire.plots.style import styled
from venire.quality.power import DiscriminativePower, Power


def drawn(figure) -> None:
    """Lay a figure out, so that places of words are known."""
    with styled():
        figure.draw_without_rendering()


def power(labels: str, share: float, measure: str = "AP") -> Power:
    p = np.where(np.arange(100) < 100 * share, 0.01, 0.5)
    pairs = tuple(("a", f"b{n}") for n in range(100))
    known = {"test": "bootstrap", "alpha": 0.05, "topics": 9, "difference": 0.1, "reason": None, "method": "m"}
    return Power(measure=measure, labels=labels, pairs_of=pairs, delta=np.zeros(100), p_value=p, **known)


def test_of_many_lines_the_best_and_the_worst_are_named():
    rows = [power(f"judge{n:02d}", 0.9 - n / 50) for n in range(37)]
    (axes,) = plot_power(DiscriminativePower(tuple(rows))).axes
    words = [text.get_text().split()[0] for text in axes.get_legend().get_texts()]
    half = MOST_LINES // 2
    assert words[:-1] == [f"judge{n:02d}" for n in [*range(half), *range(37 - half, 37)]]
    assert axes.get_legend().get_texts()[-1].get_text() == "23 more"


def test_a_panel_above_an_empty_one_has_its_numbers():
    rows = [power(f"judge{n}", 0.5, measure) for measure in ("AP", "P@5", "RBP") for n in range(2)]
    figure = plot_power(DiscriminativePower(tuple(rows)))
    drawn(figure)
    numbered = [any(text.get_visible() and text.get_text() for text in axes.get_xticklabels()) for axes in figure.axes]
    assert numbered[:3] == [False, True, True]


def test_names_that_differ_at_their_ends_stay_apart():
    names = [f"a-worker-of-a-very-large-platform-{n}" for n in (1, 2)]
    (axes,) = plot_labels(profiles(read_grid("0 1 1\n1 1 0", assessors=names))).axes
    assert len({text.get_text() for text in axes.get_yticklabels()}) == 2


def test_the_legend_of_long_labels_lies_within_the_figure():
    scale = "Not relevant at all<Somewhat relevant<Highly relevant<Perfectly relevant"
    rows = ["Not_relevant_at_all Somewhat_relevant", "Perfectly_relevant Highly_relevant"]
    judgments = read_grid("\n".join(rows), scale=scale.replace(" ", "_"))
    figure = plot_labels(profiles(judgments))
    drawn(figure)
    legend = figure.axes[0].get_legend().get_window_extent()
    assert legend.x1 <= figure.bbox.x1
    assert legend.y1 <= figure.bbox.y1


def test_many_labels_have_no_edges():
    scale = "<".join(map(str, range(40)))
    (axes,) = plot_labels(profiles(read_grid("0 17 39\n5 20 38", scale=scale))).axes
    assert {bar.get_linewidth() for bar in axes.patches} == {0.0}
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["0", "39"]


def test_counts_are_dark_on_light_and_light_on_dark():
    grid = "0 0 0 0 0 0 0 0 0 1\n0 0 0 0 0 0 0 0 0 1"
    (axes,) = plot_confusion(confusions(read_grid(grid)), "U1", "U2").axes
    assert {text.get_text(): text.get_color() for text in axes.texts} == {"9": "white", "1": "#222222"}
