from __future__ import annotations

import numpy as np
import pytest

from venire import read_grid

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes

from venire.plots.quality import plot_label_preferences, plot_pdp, plot_topic_pdp
from venire.plots.style import styled
from venire.quality.label_preferences import LabelPreferences
from venire.quality.pdp import pdp

P = np.array([[0.5, 0.2, 0.0], [0.8, 0.5, 0.3], [1.0, 0.7, 0.5]])
SHORT, LONG = ("0", "1", "2"), ("Not_relevant_at_all", "Somewhat_relevant", "Perfectly_relevant")


def measured(labels=SHORT):
    lines = [" ".join(labels[int(n)] for n in line) for line in ("0121", "0221", "1120")]
    judgments = read_grid("\n".join(lines), scale="<".join(labels))
    return [pdp(judgments, P, labels=LabelPreferences(mode=mode)) for mode in ("individual", "aggregate")]


def words_of(axes) -> list:
    legend, (low, high) = axes.get_legend(), axes.get_xlim()
    below = [text for text in axes.get_xticklabels() if low <= text.get_position()[0] <= high]
    named = [*below, *axes.get_yticklabels(), axes.xaxis.label, axes.yaxis.label]
    return [text for text in [*named, *(legend.get_texts() if legend else [])] if text.get_text()]


def outside(figure) -> list[str]:
    """Words that do not lie within the figure."""
    with styled():
        figure.draw_without_rendering()
    words = [text for axes in figure.findobj(Axes) for text in words_of(axes)]
    places = [text.get_window_extent() for text in words]
    inside = [figure.bbox.x0 <= each.x0 and each.x1 <= figure.bbox.x1 and each.y0 >= figure.bbox.y0 for each in places]
    assert len(words) > 10
    return [text.get_text() for text, there in zip(words, inside, strict=True) if not there]


@pytest.mark.parametrize("labels", [SHORT, LONG])
@pytest.mark.parametrize("n_modes", [1, 2])
def test_no_word_is_cut_off(labels, n_modes):
    assert outside(plot_pdp(measured(labels)[:n_modes])) == []


def test_long_labels_are_slanted_and_short_ones_are_not():
    for labels, degrees in ((SHORT, 0), (LONG, 45)):
        axes = plot_label_preferences(measured(labels)[0].labels).axes[0]
        assert {text.get_rotation() for text in axes.get_xticklabels()} == {degrees}
        assert [text.get_text() for text in axes.get_xticklabels()] == list(labels)


def test_cells_show_probabilities_readably():
    axes = plot_label_preferences(measured()[0].labels).axes[0]
    shown = {tuple(map(int, text.get_position())): (text.get_text(), text.get_color()) for text in axes.texts}
    assert shown[0, 2] == ("1.00", "white")
    assert shown[2, 0] == (".00", "white")
    assert shown[1, 2] == (".70", "#222222")
    assert shown[1, 0][0] == ".20"


def test_topics_stand_at_their_values():
    found = measured()
    axes = plot_topic_pdp(found).axes[0]
    assert [line.get_xdata().tolist() for line in axes.lines[::2][:2]] == [each.values.tolist() for each in found]
    assert "log 4!" in axes.get_legend().get_texts()[-1].get_text()
