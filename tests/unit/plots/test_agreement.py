from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from venire import read_judgments
from venire.agreement.confusion import confusions
from venire.agreement.profiles import profiles
from venire.errors import SettingError
from venire.io import read_grid
from venire.simulation import Synthetic, generate
from venire.simulation.assessors import parse_assessors

pytest.importorskip("matplotlib")

from venire.plots import agreement
from venire.plots.agreement import plot_confusion, plot_labels, plot_statistics
from venire.plots.quality import MOST_LINES, plot_power
from venire.plots.style import styled, write_figure
from venire.quality.power import DiscriminativePower, Power

GRID = "2 1 0 1\n2 2 0 0\n1 1 0 0"


def statistic(name, value, low=None, high=None, **more):
    return {"name": name, "level": "ordinal", "raters": "all", "value": value, "low": low, "high": high, **more}


def test_statistics_stand_at_their_values_with_their_intervals():
    records = [statistic("phi", -0.2, -0.4, 0.1), statistic("gwet_ac", None), statistic("raw_agreement", 0.7)]
    (axes,) = plot_statistics(records).axes
    points = [x for line in axes.lines if line.get_marker() == "o" for x in line.get_xdata()]
    assert points == [-0.2, 0.7]
    assert axes.collections[0].get_segments()[0][:, 0].tolist() == [-0.4, 0.1]
    assert len(axes.collections) == 1
    assert [text.get_text() for text in axes.get_yticklabels()] == ["phi, ordinal", "raw agreement, ordinal"]
    assert axes.get_xlim()[0] < -0.4


def test_groups_and_raters_are_named_and_many_rows_are_cut(monkeypatch):
    records = [statistic("cohen_kappa", 0.1, group=f"t{n}", raters="a,b") for n in range(5)]
    monkeypatch.setattr(agreement, "MOST", 3)
    (axes,) = plot_statistics(records).axes
    assert axes.get_yticklabels()[0].get_text() == "t0, cohen kappa, ordinal, a,b"
    assert len(axes.get_yticklabels()) == 3
    assert "(3 of 5 statistics)" in axes.get_xlabel()
    (axes,) = plot_statistics([*records, statistic("phi", 0.2)]).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["phi, ordinal"]


def test_nothing_known_is_nothing_to_plot():
    with pytest.raises(SettingError):
        plot_statistics([statistic("phi", None)])


def test_bars_are_shares_of_labels():
    found = profiles(read_grid(GRID))
    (axes,) = plot_labels(found).axes
    widths = np.array([bar.get_width() for bar in axes.patches]).reshape(3, 3).T
    np.testing.assert_allclose(widths, found.labels / 4)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["0", "1", "2"]


def test_bars_say_in_what_labels_differ():
    setting = Synthetic(n_topics=10, docs_per_topic=60, assessors=parse_assessors("4*careful, random"))
    (axes,) = plot_labels(profiles(generate(setting, rng=1).judgments)).axes
    assert [text.get_text() for text in axes.texts] == ["unrelated labels"]


def test_a_confusion_shows_counts_where_they_met():
    found = confusions(read_grid(GRID))
    (axes,) = plot_confusion(found, "U1", "U2").axes
    shown = {(text.get_position()[1], text.get_position()[0]): text.get_text() for text in axes.texts}
    assert shown == {(2, 2): "1", (1, 2): "1", (0, 0): "1", (1, 0): "1"}
    assert axes.get_ylabel() == "label by U1"
    assert "50% of 4 items" in axes.get_title(loc="left")
    with pytest.raises(SettingError):
        plot_confusion(confusions(read_grid("1 1 .\n1 . 0\n. 1 0")), "U2", "U2")


def test_shared_weights_and_many_labels():
    rows = [("1", "a", "U", 0), ("1", "a", "U", 1), ("1", "a", "V", 1)]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    (axes,) = plot_confusion(confusions(read_judgments(frame, duplicate_labels="keep")), "U", "V").axes
    assert {text.get_text() for text in axes.texts} == {"0.5"}
    scale = "<".join(map(str, range(30)))
    (axes,) = plot_confusion(confusions(read_grid("3 29\n4 0", scale=scale)), "U1", "U2").axes
    assert len(axes.texts) == 0


def test_names_are_no_mathematics(tmp_path):
    judgments = read_grid(GRID, assessors=["$a", "b$", "c" * 60])
    write_figure(plot_labels(profiles(judgments)), tmp_path / "1.svg")
    write_figure(plot_confusion(confusions(judgments), "$a", "b$"), tmp_path / "2.svg")
    for name in "12":
        text = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
        assert "$a" in text
        assert "b$" in text


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
