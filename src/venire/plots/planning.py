"""Plot of a plan: what each budget is expected to give."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from textwrap import fill
from typing import TYPE_CHECKING

from venire.planning.result import DECIDED_WITH, JUDGE, Plan, amount, rounded
from venire.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TICKS_APART = 0.07
"""Least distance of two numbers of the axis, as a share of its length."""


@style.styled()
def plot_forecast(plan: Plan) -> Figure:
    """Plot the forecast of a plan by budget: the probability that the goal is decided, and the half-width."""
    if not plan.forecast or plan.state != JUDGE:
        return _stopped(plan)
    figure = style.new_figure(7.0, 4.6)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    figure.suptitle(style.short_name(f"Goal {plan.goal}", 80), x=0.01, ha="left")
    budget = [each.budget for each in plan.forecast]
    upper.plot(budget, [each.p_decided for each in plan.forecast], "-", **style.look(0))
    upper.set_ylabel(f"expected share of\n{plan.share}" if plan.share else "probability\nthat it is decided")
    style.unit_axis(upper)
    upper.axhline(DECIDED_WITH, color=style.GREY, linewidth=0.8, linestyle=":")
    lower.plot(budget, [each.half_width for each in plan.forecast], "-", **style.look(1))
    lower.set_ylabel("half-width of the\n95% interval")
    lower.set_ylim(bottom=0)
    budgets = "number of more topics" if plan.of_topics else "budget"
    lower.set_xlabel(fill(f"{budgets}; the interval is that of {plan.what}", 70))
    for axes in (upper, lower):
        axes.axvline(min(plan.budget, budget[-1]), color=style.INK, linewidth=1, linestyle="--")
    _name_budgets(upper, plan)
    return figure


def _stopped(plan: Plan) -> Figure:
    """Write why a plan asks for nothing."""
    figure = style.new_figure(7.0, 1.2)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.text(0, 0.5, fill(plan.sentence(), 90), va="center")
    return figure


def _name_budgets(axes: Axes, plan: Plan) -> None:
    """Write which budget was given, and which is enough."""
    axes.set_xscale("log")
    ticks = apart([each.budget for each in plan.forecast], plan.budget)
    axes.set_xticks(ticks, [rounded(each) for each in ticks])
    axes.minorticks_off()
    words = f"the budget: {amount(plan.budget)}"
    if plan.enough is not None:
        first = plan.forecast[0]
        least = first.p_decided >= DECIDED_WITH
        place = (first.budget, first.p_decided) if least else (plan.enough, DECIDED_WITH)
        axes.plot(*([each] for each in place), "*", color=style.GREEN, markersize=12, zorder=3)
        words += f"; enough at {plan.enough_at()} (star)"
    axes.set_title(words)


def apart(budgets: Sequence[float], given: float, *, share: float = TICKS_APART) -> list[float]:
    """Choose budgets whose numbers do not overlap on a logarithmic axis: that given, the ends, and what has room."""
    least = share * log(budgets[-1] / budgets[0])
    found: list[float] = []
    for each in (min(budgets, key=lambda each: abs(each - given)), budgets[-1], *budgets):
        if all(abs(log(each / other)) >= least for other in found):
            found.append(each)
    return sorted(found)
