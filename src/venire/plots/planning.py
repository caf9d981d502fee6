"""Plot of a plan: what each budget is expected to give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from venire.planning.result import DECIDED_WITH, Plan
from venire.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@style.styled()
def plot_forecast(plan: Plan) -> Figure:
    """Plot the forecast of a plan by budget: the probability that the goal is decided, and the half-width."""
    figure = style.new_figure(7.0, 4.6)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    figure.suptitle(style.short_name(f"Goal {plan.goal}", 80), x=0.01, ha="left")
    if not plan.forecast:
        for axes in (upper, lower):
            style.hide_axes(axes)
        upper.text(0, 0.5, plan.sentence(), wrap=True)
        return figure
    budget = [each.budget for each in plan.forecast]
    upper.plot(budget, [each.p_decided for each in plan.forecast], "-", **style.look(0))
    upper.set_ylabel("probability\nthat it is decided")
    style.unit_axis(upper)
    upper.axhline(DECIDED_WITH, color=style.GREY, linewidth=0.8, linestyle=":")
    lower.plot(budget, [each.half_width for each in plan.forecast], "-", **style.look(1))
    lower.set_ylabel("half-width of the\n95% interval")
    lower.set_ylim(bottom=0)
    lower.set_xlabel(f"budget; the interval is that of {plan.what}")
    for axes in (upper, lower):
        axes.axvline(plan.budget, color=style.INK, linewidth=1, linestyle="--")
    _name_budgets(upper, plan)
    return figure


def _name_budgets(axes: Axes, plan: Plan) -> None:
    """Write which budget was given, and which is enough."""
    axes.set_xscale("log")
    ticks = [each.budget for each in plan.forecast]
    axes.set_xticks(ticks, [f"{each:,.0f}" for each in ticks])
    axes.minorticks_off()
    words = f"the budget: {plan.budget:,.4g}"
    if plan.enough is not None:
        axes.plot([plan.enough], [DECIDED_WITH], "*", color=style.GREEN, markersize=12, zorder=3)
        words += f"; enough at about {plan.enough:,.0f} (star)"
    axes.set_title(words)
