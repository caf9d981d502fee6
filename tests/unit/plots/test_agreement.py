from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from venire import Synthetic, generate, read_grid, read_judgments
from venire.agreement.confusion import confusions
from venire.agreement.profiles import profiles
from venire.errors import SettingError
from venire.simulation.assessors import parse_assessors

pytest.importorskip("matplotlib")

from venire.plots import agreement
from venire.plots.agreement import plot_confusion, plot_labels, plot_statistics
from venire.plots.style import write_figure

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
    (axes,) = plot_confusion(confusions(read_judgments(frame, repeats="keep")), "U", "V").axes
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
