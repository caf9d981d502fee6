"""Plots of plans show the forecast as it is."""

from __future__ import annotations

from dataclasses import replace

import venire
from planned_files import write_files
from venire.planning.result import DECIDED, Plan
from venire.plots.planning import plot_forecast


def test_a_forecast_by_budget(tmp_path):
    files = write_files(tmp_path)
    found = venire.plan(*files, "P@5", goal="pair:good,poor", budget=30, reference="ann", gains="binary:2")
    upper, lower = plot_forecast(found).axes
    assert upper.lines[0].get_ydata().tolist() == [each.p_decided for each in found.forecast]
    assert lower.lines[0].get_ydata().tolist() == [each.half_width for each in found.forecast]
    assert upper.get_title(loc="left") == f"the budget: 30; enough at about {found.enough:,.0f} (star)"
    assert plot_forecast(replace(found, enough=None)).axes[0].get_title(loc="left") == "the budget: 30"


def test_a_plan_that_stops_says_so_in_its_plot():
    found = Plan("best", 0.0, (), (), "a difference", state=DECIDED)
    assert found.sentence() in [each.get_text() for each in plot_forecast(found).axes[0].texts]
