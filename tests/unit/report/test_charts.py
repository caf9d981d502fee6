"""Charts of the page: marks are where the numbers are, texts are text, and nothing lies outside of the drawing."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from venire.planning.result import Expected, Plan
from venire.report.charts import FROM_TO, Layer, Line, Panel, Scale, heat_map, histogram, lines_chart, mixed, rows_chart
from venire.report.pictures import forecast_chart

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<b>&\"'\x1b"


def parsed(chart):
    return ET.fromstring(chart.svg("what it shows"))


def rows():
    layer = Layer("score", value=[0.2, np.nan, 0.6], low=[0.1, 0.2, 0.5], high=[0.3, 0.4, 0.7], texts=["a", "b", "c"])
    return rows_chart(
        ["one", "two", HOSTILE], [Panel([layer], "x", "title", limits=(0.0, 1.0))], beside=["", "note", ""]
    )


def lines():
    curves = [Line("up", [0, 1, 2], [0.0, 0.5, 1.0], number=0), Line(HOSTILE, [0, 1, 2], [1.0, 0.2, 0.1], number=1)]
    return lines_chart(curves, x_label="x", y_label="y", level=0.5, legend="names")


def bars():
    groups = [("all", np.array([0.1, 0.1, 0.9])), ("some", np.array([0.1]))]
    return histogram(groups, np.linspace(0, 1, 5), x_label="x", y_label="n", centre=0.5, between=(0.2, 0.8))


def cells():
    share = np.array([[np.nan, 0.9], [0.1, np.nan]])
    return heat_map(
        share, rows=["a", HOSTILE], columns=["a", "b"], colours=FROM_TO, texts=[["", "9"], ["1", ""]], key="P"
    )


@pytest.mark.parametrize("make", [rows, lines, bars, cells])
def test_a_chart_is_well_formed_named_and_within_its_size(make):
    found = parsed(make())
    assert found.get("aria-label") == "what it shows"
    width, height = (float(each) for each in found.get("viewBox").split()[2:])
    for each in found.iter():
        for name, most in (("x", width), ("cx", width), ("y", height), ("cy", height)):
            if each.get(name) is not None and each.get("transform") is None:
                assert 0 <= float(each.get(name)) <= most, each.attrib
    texts = "".join(found.itertext())
    assert make is bars or r"<b>&" in texts
    assert "\x1b" not in texts


def test_values_are_placed_along_the_axis_and_unknown_ones_are_not_drawn():
    found = parsed(rows())
    dots = list(found.iter(f"{SVG}circle"))
    key, *drawn = [float(each.get("cx")) for each in dots]
    assert len(drawn) == 2
    ticks = {
        each.text: float(each.get("x"))
        for each in found.iter(f"{SVG}text")
        if re.fullmatch(r"0\.[0-9]", each.text or "")
    }
    assert drawn == pytest.approx([ticks["0.2"], ticks["0.6"]], abs=0.11)
    assert key < drawn[0]


def test_cells_of_a_heat_map_have_the_colour_of_their_share():
    found = parsed(cells())
    colours = {
        each.get("stroke"): each.get("d") for each in found.iter(f"{SVG}path") if each.get("d", "").startswith("M")
    }
    assert colours[mixed(FROM_TO, 0.9)] == "M1 0.5h1"
    assert colours[mixed(FROM_TO, 0.1)] == "M0 1.5h1"


def test_stairs_show_every_step_within_the_frame():
    p = np.repeat([0.01, 0.02, 0.5], 5)
    line = Line("p", np.arange(1, 16) / 15, p, number=0, markers=False, steps=True, point=(0.6, 0.05))
    chart = lines_chart([line], x=Scale(0, 1, 0, 1), y=Scale(0, 0.1, 0, 1), y_ticks=[0, 0.05, 0.1])
    path = next(each.get("d") for each in parsed(chart).iter(f"{SVG}path") if "V" in each.get("d", ""))
    assert path.count("V") == 2  # from the first value along it, then up to the second; the third is above the frame


@pytest.mark.parametrize("share", ["", "differences that are significant"])
def test_a_forecast_has_its_budgets_on_a_logarithmic_axis(share):
    budgets = (25.0, 49.0, 50.0, 98.0, 100.0, 200.0, 400.0, 800.0)
    forecast = tuple(Expected(each, n / 10, 0.1) for n, each in enumerate(budgets))
    drawn = parsed(forecast_chart(Plan("topics", 100.0, (), forecast, "a difference", share=share)))
    texts = {each.text: float(each.get("x")) for each in drawn.iter(f"{SVG}text") if each.get("x")}
    steps = np.diff([texts[name] for name in ("25", "49", "100", "200", "400", "800")])
    assert np.allclose(steps / steps[-1], np.log2([49 / 25, 100 / 49, 2, 2, 2]), atol=0.02)
    assert not {"50", "98"} & set(texts)
    words = {each.text for each in drawn.iter(f"{SVG}text")}
    assert {"number of more topics", f"share of {share}" if share else "probability that it is decided"} <= words
