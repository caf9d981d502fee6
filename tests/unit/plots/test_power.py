from __future__ import annotations

import numpy as np
import pytest

from venire import Scores
from venire.comparison.tests import PairedBootstrap, TukeyHSD
from venire.quality.power import power_of

pytest.importorskip("matplotlib")

from venire.plots.quality import MOST_LINES, plot_power


def scores(*measures: str, seed: int = 0) -> Scores:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 0.15, (5, 1, len(measures))) + rng.random((5, 20, len(measures)))
    names = {"system": tuple("abcde"), "topic": tuple(map(str, range(20))), "measure": measures}
    return Scores(values, ("system", "topic", "measure"), names)


def test_markers_stand_where_curves_cross_the_level():
    found = power_of({"x": scores("AP"), "y": scores("AP", seed=1)}, test=PairedBootstrap(n=99))
    (axes,) = plot_power(found).axes
    shown = {line.get_label(): line for line in axes.lines if line.get_marker() != "None"}
    for row in found.rows:
        line = shown[f"{row.labels}  {row.share:.0%}"]
        assert (float(line.get_xdata()[0]), float(line.get_ydata()[0])) == (row.share, 0.05)
    curves = [line for line in axes.lines if len(line.get_xdata()) == 1 + 10]
    assert sorted(tuple(line.get_ydata()[1:]) for line in curves) == sorted(tuple(row.curve()[1]) for row in found.rows)


def test_panels_per_measure_and_test_or_lines_per_measure():
    tests = [PairedBootstrap(n=99), TukeyHSD(n=99)]
    both = power_of({"x": scores("AP", "RR"), "y": scores("AP", "RR", seed=1)}, test=tests)
    titles = [axes.get_title(loc="left") for axes in plot_power(both).axes]
    assert titles == ["AP, paired bootstrap", "AP, Tukey HSD", "RR, paired bootstrap", "RR, Tukey HSD"]
    one = plot_power(power_of({"x": scores("AP", "RR")}, test=tests[0]))
    assert [axes.get_title(loc="left") for axes in one.axes] == ["labels x, paired bootstrap"]
    assert len(one.axes[0].get_legend().get_texts()) == 2


def test_a_name_looks_the_same_in_all_panels_and_the_many_are_grey():
    sets = {f"${n}": scores("AP", "RR", seed=n) for n in range(MOST_LINES + 3)}
    figure = plot_power(power_of(sets, test=PairedBootstrap(n=39)))
    looks = [
        {
            line.get_label().split()[0]: (line.get_color(), line.get_marker(), line.get_linestyle())
            for line in axes.lines
        }
        for axes in figure.axes
    ]
    named = [{name: look for name, look in each.items() if name.startswith("\\$")} for each in looks]
    assert named[0] == named[1]
    assert len(named[0]) == len(set(named[0].values())) == MOST_LINES
    assert figure.axes[0].get_legend().get_texts()[-1].get_text() == "3 more"
