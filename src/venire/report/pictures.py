"""Pictures of the chapters: charts of results, with the content of the plots in ``venire.plots``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from venire.agreement.confusion import Confusions
from venire.agreement.flags import habits
from venire.agreement.profiles import Profiles
from venire.comparison.stability import CONFIDENCE, Stability
from venire.data.scale import or_higher
from venire.disagreement.predicted_relevance import PredictedRelevanceFit
from venire.disagreement.user_disagreement import udm_weights
from venire.kernels.shares import FEW_PAIRS
from venire.measures.random_users import HIGH, LOW, UserScores
from venire.planning.result import DECIDED_WITH, Plan
from venire.plots.agreement import MOST, MOST_CELLS, statistic_name
from venire.plots.comparison import MOST_COLOURED, MOST_ENDS, ranks_by
from venire.plots.disagreement import some_labels
from venire.plots.planning import apart
from venire.plots.quality import APART, PANELS, WIDEST, scale_lines
from venire.plots.style import shown_of
from venire.plots.users import MOST_SYSTEMS
from venire.quality.power import DiscriminativePower
from venire.quality.scales import ScaleComparison, ScaleValue
from venire.report.charts import (
    BLUES,
    FROM_TO,
    INK,
    ROW,
    Chart,
    Layer,
    Line,
    Panel,
    Scale,
    heat_map,
    histogram,
    lines_chart,
    mixed,
    rows_chart,
)
from venire.types import Floats

PROBABILITIES = (-0.02, 1.02)
BAR = 99.0
"""The width of a line that fills its row."""
BUDGETS_APART = 0.11
"""Least distance of the numbers of two budgets, as a share of the axis."""
FITTING = 640
"""The width that a map of many systems may take."""


def statistics_chart(statistics: Sequence[Mapping[str, Any]]) -> Chart:
    """Draw statistics of agreement with their intervals; of too many, those of single pairs are omitted first."""
    known = [each for each in statistics if each["value"] is not None]
    together = [each for each in known if "," not in each["raters"]] if len(known) > MOST else known
    rows = (together or known)[:MOST]
    value, low, high = (np.array([each[key] for each in rows], dtype=float) for key in ("value", "low", "high"))
    lowest = float(np.nanmin([*value, *low]))
    label = f"agreement, at most 1; lines are 95% intervals{_some(len(rows), len(known), 'statistics')}"
    panel = Panel([Layer(value=value, low=low, high=high)], label, limits=(min(-0.03, lowest - 0.05), 1.03), zero=True)
    return rows_chart([statistic_name(each) for each in rows], [panel], longest=44)


def _some(shown: int, total: int, noun: str) -> str:
    return shown_of(shown, total, noun).replace("\n", " ")


def labels_chart(profiles: Profiles) -> Chart:
    """Draw the shares of labels of each assessor as a bar, with what distinguishes the assessor from the others."""
    n, names = min(len(profiles.assessors), MOST), profiles.scale.labels
    share = profiles.labels[:n] / np.maximum(profiles.n_labels[:n], 1)[:, None]
    ends = np.cumsum(share, axis=1)
    shades = [mixed(BLUES, 0.12 + 0.8 * level / max(len(names) - 1, 1)) for level in range(len(names))]
    layers = [
        Layer(name, low=ends[:, level] - share[:, level], high=ends[:, level], colour=shade, width=BAR, opacity=1.0)
        for level, (name, shade) in enumerate(zip(names, shades, strict=True))
    ]
    flags = habits(profiles)
    beside = [", ".join(habit.flag for habit in flags.get(row, ())) for row in range(n)]
    label = f"share of the assessor's labels{_some(n, len(profiles.assessors), 'assessors')}"
    return rows_chart(profiles.assessors[:n], [Panel(layers, label, limits=(0.0, 1.0))], beside=beside)


def workers_chart(profiles: Profiles, *, least: int) -> Chart:
    """Draw a histogram of kappa with the others, of assessors with ``least`` shared labels; those with flags apart."""
    kappa = np.where(profiles.n_shared >= least, profiles.kappa.value, np.nan)
    flagged = np.isin(np.arange(len(kappa)), list(habits(profiles)))
    known = ~np.isnan(kappa)
    groups = [("no notable difference", kappa[known & ~flagged]), ("differ notably", kappa[known & flagged])]
    limits = (np.floor(10 * kappa[known].min()) / 10 - 0.05, np.ceil(10 * kappa[known].max()) / 10 + 0.05)
    labels: dict[str, Any] = {"x_label": "kappa with the others", "y_label": "assessors"}
    return histogram(groups, np.linspace(-1, 1, 41), limits=(float(limits[0]), float(limits[1])), **labels)


def nearness_chart(profiles: Profiles) -> Chart:
    """Draw the kappa of each assessor with the reference, or with the others, and its interval, the highest first."""
    kappa = profiles.kappa
    order = np.argsort(-kappa.value, kind="stable")[: int((~np.isnan(kappa.value)).sum())]
    shown = order[:MOST]
    whom = "the reference" if profiles.reference else "the others"
    label = f"kappa with {whom}{_some(len(shown), len(order), 'assessors')}"
    layer = Layer(value=kappa.value[shown], low=kappa.low[shown], high=kappa.high[shown])
    return rows_chart([profiles.assessors[n] for n in shown.tolist()], [Panel([layer], label)])


def confusion_chart(confusions: Confusions, a: str, b: str) -> Chart:
    """Draw how often each combination of labels of two assessors occurs on the same items; darker is more."""
    counts = confusions.matrix(a, b)
    labels, few = confusions.scale.labels, len(counts) <= MOST_CELLS
    form = "{:,.0f}" if np.allclose(counts, counts.round(), rtol=0, atol=1e-9) else "{:,.1f}"
    texts = [[form.format(n) if n else "" for n in row] for row in counts[::-1].tolist()] if few else ()
    return heat_map(
        np.sqrt(counts[::-1] / counts.max()),
        rows=[*reversed(labels)] if few else (),
        columns=labels if few else (),
        cell=46 if few else max(2.0, 300 / len(counts)),
        texts=texts,
        x_label=f"label by {b}",
        y_label=f"label by {a}",
        title=f"equal in {np.trace(counts) / counts.sum():.0%} of {counts.sum():,.0f} items",
    )


def parameters_chart(fit: PredictedRelevanceFit) -> Chart:
    """Draw p(R|label) with its interval, a panel per notion of relevance; hollow where it rests on few pairs."""
    some = some_labels(len(fit.scale))[::-1]
    panels = []
    for row, name in enumerate(fit.relevant.names):
        p, low, high = (each[row, some] for each in (fit.p, fit.spread.low, fit.spread.high))
        texts = ["" if np.isnan(each) else f"{each:.2f}" for each in p.tolist()]
        layer = Layer(value=p, low=low, high=high, texts=texts, hollow=fit.pairs[row, some] < FEW_PAIRS)
        title = f"relevant: {or_higher(fit.scale, name)}"
        panels.append(Panel([layer], "p(R | label)", title, limits=(-0.02, 1.14), ticks=(0, 1)))
    return rows_chart([f"label {fit.scale.labels[level]}" for level in some], panels)


def weights_chart(fit: PredictedRelevanceFit, *, most: int = 6) -> Chart:
    """Draw UDM weights P(1/N) by N, a line per label."""
    n = np.arange(1, most + 1)
    weights = np.array([udm_weights(1, int(each), fit.p[0], fit.relevant.labels[0]) for each in n])
    lines = [
        Line(fit.scale.labels[level], n, weights[:, level], number=level)
        for level in reversed(some_labels(len(fit.scale)))
    ]
    labels: dict[str, Any] = {"x_label": "N users, including the assessor", "y_label": "P(one finds it relevant)"}
    return lines_chart(lines, y=Scale(*PROBABILITIES, 0, 1), x=Scale(0.9, most + 0.1, 0, 1), legend="label", **labels)


def user_scores_chart(found: UserScores) -> Chart:
    """Draw the mean score over random users, best first, with the 95% interval over topics and 90% of the users."""
    names, mean = found.users.names, found.mean.values[:, 0]
    order = np.argsort(-mean, kind="stable")[:MOST_SYSTEMS]
    layers = []
    if found.n_users > 1:
        low, high = (found.quantile(q)[order, 0] for q in (LOW, HIGH))
        layers.append(Layer("90% of users", low=low, high=high, colour=INK, width=1, opacity=0.8))
    if len(found.topics.names["topic"]) > 1:
        low, high = (each[order, 0] for each in found.over_topics())
        layers.append(Layer("95% interval over topics", low=low, high=high, width=5))
    layers.append(Layer("mean over users", value=mean[order], colour=INK))
    label = f"{names['measure'][0]} for a random user{_some(len(order), len(mean), 'systems')}"
    return rows_chart([names["system"][n] for n in order.tolist()], [Panel(layers, label)])


def slope_chart(means: Mapping[str, Floats], systems: Sequence[str]) -> Chart:
    """Draw the ranks of systems by several readings of the labels; those that move most in colour."""
    rank = ranks_by(means) + 1
    moved = rank.max(axis=0) - rank.min(axis=0)
    bold = [n for n in np.argsort(-moved, kind="stable")[:MOST_COLOURED].tolist() if moved[n] > 0]
    order = [*(n for n in range(len(systems)) if n not in bold), *bold]
    every = len(systems) <= MOST_ENDS
    lines = [
        Line(
            systems[n] if every or n in bold else "",
            np.arange(len(means)),
            rank[:, n],
            number=bold.index(n) if n in bold else None,
            ends=every or n in bold,
        )
        for n in order
    ]
    step = 1 if len(systems) <= 12 else 5 if len(systems) <= 40 else 10
    ticks = [1, *range(max(step, 2), len(systems) + 1, step)]
    height = min(max(80.0, ROW[1] * len(systems)), 700.0)
    how: dict[str, Any] = {"y_ticks": ticks, "y_label": "rank", "height": height}
    return lines_chart(lines, y=Scale(len(systems) + 0.6, 0.4, 0, 1), x_names=list(means), **how)


def stability_chart(found: Stability) -> Chart:
    """Draw the probability that each system is ahead of each other one under another judge, best first.

    Dots: pairs that are significant, yet fragile.
    """
    order, systems = found.by_score(), found.forecast.systems
    tied = np.maximum(1.0 - found.above - found.above.T, 0.0)
    ahead = (found.above + tied / 2)[np.ix_(order, order)]
    np.fill_diagonal(ahead, np.nan)
    place = np.argsort(order)
    fragile = np.flatnonzero(found.significant & found.fragile)
    a, b = (place[each[fragile]].tolist() for each in found.pairs)
    names = [systems[n] for n in order.tolist()]
    dots = "; dots: significant, yet fragile" if len(fragile) else ""
    return heat_map(
        ahead,
        rows=names if len(names) <= MOST_SYSTEMS else (),
        columns=names if len(names) <= MOST_SYSTEMS else (),
        colours=FROM_TO,
        cell=min(30.0, max(FITTING / max(len(names), 1), 1.0)),
        dots=[*zip(a, b, strict=True), *zip(b, a, strict=True)],
        title=f"{found.forecast.measure} under another judge",
        key=f"P(row is ahead of column){dots}",
        told=True,
    )


def ranks_chart(found: Stability) -> Chart:
    """Draw the ranks of each system under another judge, 95% of the draws, with a dot for its current rank."""
    order = found.by_score()
    n = len(order)
    bands = Layer(low=found.rank_low[order] - 0.3, high=found.rank_high[order] + 0.3, width=5)
    now = Layer(value=found.rank[order], colour=INK, size=3)
    step = next(each for each in (1, 5, 10, 20, 50, 10**9) if n <= 12 * each)
    label = f"rank by {found.forecast.measure}: now (dot), under another judge ({CONFIDENCE:.0%} of outcomes)"
    panel = Panel([bands, now], label, limits=(0.3, n + 0.7), ticks=sorted({1, *range(step, n + 1, step)}))
    return rows_chart([found.forecast.systems[each] for each in order.tolist()], [panel])


def tau_chart(found: Stability) -> Chart:
    """Draw Kendall's tau between the current order of systems and that under another judge, over draws."""
    tau, known = found.correlation(), found.tau[~np.isnan(found.tau)]
    edges = np.histogram_bin_edges(known, min(40, max(8, len(np.unique(known)))))
    note = f"mean {tau.value:.2f}, {tau.confidence:.0%} in [{tau.low:.2f}, {tau.high:.2f}]"
    labels: dict[str, Any] = {"x_label": "Kendall's tau with the current order", "y_label": "draws", "note": note}
    return histogram([("draws", known)], edges, centre=tau.value, between=(tau.low, tau.high), **labels)


def power_chart(found: DiscriminativePower) -> Chart:
    """Draw curves of p-values, a line per measure; the marker is the share of significant pairs."""
    rows = sorted((row for row in found.rows if row.pairs), key=lambda row: -(row.share or 0.0))
    alpha = rows[0].alpha
    top = min(1.0, 4 * alpha)
    lines = []
    for number, row in enumerate(rows):
        share, p = row.curve()
        x, y = np.append(0.0, share), np.append(p[:1], p)
        name, point = f"{row.measure}  {row.share or 0.0:.0%}", (row.share or 0.0, alpha)
        lines.append(Line(name, x, y, number=number, markers=False, steps=True, point=point))
    labels: dict[str, Any] = {"x_label": "share of pairs of systems, smallest p-value first", "y_label": "p-value"}
    ticks = np.linspace(0, top, 5).tolist()
    axes: dict[str, Any] = {"x": Scale(*PROBABILITIES, 0, 1), "y": Scale(0, top, 0, 1), "y_ticks": ticks}
    return lines_chart(lines, **axes, level=alpha, legend=f"significant at {alpha:g}", **labels)


def forecast_chart(plan: Plan) -> Chart:
    """Draw the probability that a goal is decided, or the expected share, over the logarithm of the budget."""
    budgets = [each.budget for each in plan.forecast]
    line = Line("", np.log(budgets), [each.p_decided for each in plan.forecast], number=0)
    ticks = [(float(np.log(each)), f"{each:,.0f}") for each in apart(budgets, plan.budget, share=BUDGETS_APART)]
    first, last = np.log(budgets[0]), np.log(budgets[-1])
    room = BUDGETS_APART / 2 * max(last - first, 1)
    axes: dict[str, Any] = {"x": Scale(first - room, last + room, 0, 1), "y": Scale(*PROBABILITIES, 0, 1)}
    labels: dict[str, Any] = {
        "x_ticks": ticks,
        "y_ticks": [0, 0.2, 0.4, 0.6, 0.8, 1.0],
        "x_label": "number of more topics" if plan.of_topics else "budget",
        "y_label": f"share of {plan.share}" if plan.share else "probability that it is decided",
    }
    return lines_chart([line], **axes, **labels, level=DECIDED_WITH)


def scales_chart(found: ScaleComparison) -> Chart:
    """Draw values with intervals, a row per setting, in a panel each for agreement, power and PDP where available."""
    settings = found.settings
    panels = []
    for title, names in PANELS.items():
        lines = {name: values for name, values in scale_lines(found, names).items() if _any_known(values)}
        layers = []
        for number, (name, values) in enumerate(lines.items()):
            shift = min(APART * len(lines), WIDEST) * (number / (len(lines) - 1) - 0.5) if len(lines) > 1 else 0.0
            by = {each.setting: each for each in values}
            cells = [[getattr(by.get(each), key, None) for each in settings] for key in ("value", "low", "high")]
            value, low, high = np.array(cells, dtype=np.float64)
            layers.append(Layer(name, number, value, low, high, shift=shift, size=3.2))
        if layers:
            heading, _, about = title.partition("\n")
            panels.append(Panel(layers, about.strip("()"), heading))
    return rows_chart(settings, panels)


def _any_known(values: Sequence[ScaleValue]) -> bool:
    return any(each.value is not None for each in values)
