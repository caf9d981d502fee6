"""Plots of plans show the forecast as it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

import venire
from planned_files import write_files
from venire.planning.result import DECIDED, Expected, Plan
from venire.plots.planning import plot_forecast

BUDGETS = (12.0, 25.0, 28.0, 50.0, 100.0, 135.0, 10_297.0)
FORECAST = tuple(Expected(each, 0.9 + 0.01 * n, 0.1) for n, each in enumerate(BUDGETS))


def test_a_forecast_by_budget(tmp_path):
    files = write_files(tmp_path)
    found = venire.plan(*files, "P@5", goal="pair:good,poor", budget=30, reference="ann", gains="binary:2")
    upper, lower = plot_forecast(found).axes
    assert upper.lines[0].get_ydata().tolist() == [each.p_decided for each in found.forecast]
    assert lower.lines[0].get_ydata().tolist() == [each.half_width for each in found.forecast]
    assert upper.get_title(loc="left") == f"the budget: 30; enough at about {found.enough:,.0f} (star)"
    assert plot_forecast(replace(found, enough=None)).axes[0].get_title(loc="left") == "the budget: 30"


@pytest.mark.parametrize("forecast", [(), FORECAST])
def test_a_plan_that_stops_says_so_in_its_plot(forecast):
    found = Plan("best", 0.0, (), forecast, "a difference", state=DECIDED)
    (axes,) = plot_forecast(found).axes
    assert found.sentence() in [each.get_text() for each in axes.texts]


def test_the_star_is_on_the_curve_where_the_first_budget_is_enough():
    upper, _ = plot_forecast(Plan("best", 28.0, (), FORECAST, "a difference", 12.0)).axes
    *_, star = upper.lines
    assert (star.get_xdata().tolist(), star.get_ydata().tolist()) == ([12.0], [0.9])
    assert upper.get_title(loc="left") == "the budget: 28; enough at about 12 or less (star)"


def test_numbers_of_budgets_do_not_overlap():
    figure = plot_forecast(Plan("topics:a,b", 28.0, (), FORECAST, "a difference", 12.0))
    figure.draw_without_rendering()
    axes = figure.axes[1]
    assert axes.get_xlabel().startswith("number of more topics; ")
    boxes = [each.get_window_extent() for each in axes.get_xticklabels()]
    assert [each.get_text() for each in axes.get_xticklabels()] == ["12", "28", "50", "100", "10,297"]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_a_long_name_of_the_interval_stays_within_the_picture():
    what = "the mean difference of two systems in nDCG@10 (exponential)"
    figure = plot_forecast(Plan("topics", 28.0, (), FORECAST, what, 12.0))
    figure.draw_without_rendering()
    box = figure.axes[1].xaxis.label.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


def test_an_expected_share_is_not_called_a_probability():
    upper, _ = plot_forecast(Plan("topics", 28.0, (), FORECAST, "a difference", 12.0, share="differences")).axes
    assert upper.get_ylabel() == "expected share of\ndifferences"
