"""The picture of a result: the plot that was made for its class, or else its rows, or the distribution of a column.

``Tabular.plot`` and the HTML that notebooks show use it, so that every result has a picture:

- ``PLOTS``: results with a plot of their own;
- ``COUNTED``: tables of items, of which the values of one column are counted;
- ``PARTS``: results that are drawn by a part of them;
- all others: one row each, the number that has an interval (``results.interval_columns``), or that of ``VALUES``; rows
  are those of the table, or of ``ROWS``.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.errors import SettingError, UnknownName, VenireError
from venire.measures.scores import Scores
from venire.plots import style
from venire.plots.svg import svg_element
from venire.results import Records, Tabular, counted, interval_columns, visible

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

PLOTS: Mapping[str, str] = {
    **{"Confusions": "agreement.plot_confusion", "Consistency": "agreement.plot_consistency"},
    **{"DirectedAgreement": "agreement.plot_agreement", "AgreementDifferences": "agreement.plot_differences"},
    **{"Profiles": "agreement.plot_labels", "AspectStudy": "aspects.plot_correlations"},
    **{"AspectRankings": "aspects.plot_rankings", "CorrectedScores": "certification.plot_corrected"},
    **{"Contour": "comparison.plot_agreement_needed", "Forecast": "comparison.plot_ranks"},
    **{"Robustness": "comparison.plot_robustness", "Stability": "comparison.plot_stability"},
    **{"ConditionalLabels": "context.plot_context_effect", "ConditionalValidation": "context.plot_validation"},
    **{"ContextSweep": "context.plot_alphas", "Counts": "disagreement.plot_counts"},
    **{"AnnotationRounds": "disagreement.plot_sensitivity", "QualitySensitivity": "disagreement.plot_sensitivity"},
    **{"Sensitivity": "disagreement.plot_sensitivity", "TopicInfluence": "disagreement.plot_sensitivity"},
    **{"ManyLabels": "disagreement.plot_many_labels", "Sampled": "disagreement.plot_sampled"},
    **{"PredictedRelevanceFit": "disagreement.plot_parameters", "Plan": "planning.plot_forecast"},
    **{"DiscriminativePower": "quality.plot_power", "LabelPreferencesFit": "quality.plot_label_preferences"},
    **{"PDP": "quality.plot_pdp", "ScaleComparison": "quality.plot_scales"},
    **{"ClickSummary": "users.plot_click_summary", "MeasureChoice": "users.plot_choice"},
    **{"OnlineCorrelations": "users.plot_online_correlations", "PreferenceSummary": "users.plot_people"},
    **{"PreferencesByLabels": "users.plot_preferences_by_labels", "UserScores": "users.plot_user_scores"},
}
"""Plots by the class of the result: module and function."""
COUNTED: Mapping[str, str] = {
    **{"Judgments": "label", "Preferences": "strength", "Consensus": "strength", "Clicks": "clicks"},
    **{"ItemRelevance": "probability", "ScaledQrels": "relevance", "PairsToAsk": "topic", "CombinedAspects": "gain"},
}
"""Columns whose values are counted, of tables with a row per item."""
PARTS: Mapping[str, Callable[[Any], Tabular]] = {
    "Collection": lambda made: made.judgments,
    "PerceivedCollection": lambda made: made.judgments,
    "Comparison": lambda found: found.by_measure[0] if found.by_measure else found.by_judge,
    "CrossFitted": lambda found: found.whole,
    "MeasureComparison": lambda found: found.tested if found.forecast.transitions is None else found.stability,
}
"""Results that are drawn by one of their parts."""
VALUES: Mapping[str, str] = {
    **{
        "AgreementNeeded": "needed",
        "AltTest": "machine_wins",
        "HeadToHead": "difference",
        "JudgingEffort": "judgments",
    },
    **{"Power": "share", "PreferenceAgreement": "kappa", "TopicPlan": "topics_needed", "UserVerdicts": "share_of_ties"},
    **{"CombinedTable": "p", "Runs": "lines", "Scan": "lines"},
}
"""The number that is drawn of each row, where it is not the first one."""
ROWS: Mapping[str, Callable[[Any], Records]] = {
    "Aspects": lambda held: [{"aspect": name, "labels": int((held.grades(name) >= 0).sum())} for name in held.names],
    **dict.fromkeys(("Certificate", "JudgeCertificate", "Claim"), lambda found: claim_rows(found)),
    "OrderAgreement": lambda found: [row for row in found.records() if row["number"] not in found.pairs],
    "Report": lambda report: [] if report.front is None else report.front.content()["leaderboard"],
    "Scores": lambda scores: mean_rows(scores),
    "TopLists": lambda lists: [{"topic": row["topic"], "documents": len(row["docs"])} for row in lists.records()],
}
"""Rows that are drawn in place of those of the table."""
THEME = {style.INK: "currentColor", "#000000": "currentColor"}
MOST_ROWS, MOST_BARS, MOST_FRACTIONS = 30, 40, 12
WIDE = 100
"""Ratio of the largest to the smallest of whole numbers from which their axis is logarithmic."""
LARGEST_SVG = 300_000
"""Characters; a larger drawing is shown as pixels."""
MOST_NAMES = 4
"""Columns that name a row."""
NO_NAMES = ("detail", "meaning", "method", "reason", "test")
"""Columns of texts that do not name a row."""


def draw_result(result: Tabular, **options: Any) -> Figure:
    """Plot a result; options are those of its plot, if it has one of its own."""
    kind = type(result).__name__
    if kind in PARTS:
        return draw_result(PARTS[kind](result), **options)
    if kind not in PLOTS:
        return draw_values(result, COUNTED[kind], **options) if kind in COUNTED else draw_rows(result, **options)
    module, _, function = PLOTS[kind].partition(".")
    plot = getattr(import_module(f"venire.plots.{module}"), function)
    figure: Figure = plot([result], **options) if kind == "PDP" else plot(result, **options)
    return figure


@style.styled()
def draw_rows(result: Tabular, *, value: str | None = None) -> Figure:
    """Plot the rows of a result: a number of each, by default the one that has an interval, with the interval."""
    kind = type(result).__name__
    rows, n_rows = _first_rows(ROWS[kind](result)) if kind in ROWS else result._first(MOST_ROWS)
    if value is not None and rows and value not in rows[0]:
        raise UnknownName("column", value, rows[0])
    value, *limits = interval_columns(rows, value or VALUES.get(kind))
    known = [row for row in rows if value is not None and isinstance(row.get(value), int | float)]
    if value is None or not known:
        raise SettingError(f"{kind}: there is no number to plot in {counted(n_rows, 'row')}")
    numbers = [[row[name] for row in known] if name else [np.nan] * len(known) for name in (value, *limits)]
    figure, axes = style.one_panel(7.0, 1.0 + 0.24 * max(len(known), 3))
    style.draw_intervals(axes, np.arange(len(known)), *numbers, markersize=6)
    left, right = axes.get_xlim()
    whole = all(float(each).is_integer() for each in numbers[0])
    if whole and limits[0] is None:
        style.whole_ticks(axes.xaxis)
    if whole and 0 < min(numbers[0]) * WIDE <= max(numbers[0]):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
    elif left < 0 < right:
        axes.axvline(0, color=style.GREY, linewidth=1)
    style.name_rows(axes, _row_names(known, drawn=(value, *limits)), longest=48)
    more = style.shown_of(len(known), n_rows, "rows")
    axes.set_xlabel(value.replace("_", " ") + (", with its interval" if limits[0] else "") + more)
    return figure


def _first_rows(rows: Records) -> tuple[Records, int]:
    return rows[:MOST_ROWS], len(rows)


def mean_rows(scores: Scores) -> Records:
    """Return the mean over topics of every system and measure, with its interval; other axes as they are."""
    if "topic" not in scores.axes:
        return scores.records()
    scores = scores.complete()
    mean = scores.mean()
    low, high = (each.values.ravel().tolist() for each in scores.interval())
    return [{**row, "low": a, "high": b} for row, a, b in zip(mean.records(), low, high, strict=True)]


def claim_rows(found: Tabular) -> Records:
    """Return the rows of claims, without the limits beside x, a difference of scores: they are those of a share."""
    unknown = {"low": np.nan, "high": np.nan}
    return [{**row, **unknown} if row.get("claim") == "pairs" else row for row in found.records()]


def _row_names(rows: Records, drawn: Sequence[str | None]) -> list[str]:
    """Name rows by texts that differ; where these are the same for some rows, by lists and whole numbers too."""
    texts = [name for name in rows[0] if name not in NO_NAMES and _all_are(rows, name, str | None)]
    lists = [name for name in rows[0] if _all_are(rows, name, list | tuple)]
    whole = [name for name in rows[0] if name not in drawn and _all_are(rows, name, int)]
    named = _differing(rows, texts) if len(rows) > 1 else texts[:MOST_NAMES]
    for name in _differing(rows, lists) + _differing(rows, whole):
        if len({str([row[each] for each in named]) for row in rows}) < len(rows):
            named.append(name)
    alone = len(rows) == 1
    return [
        " ".join(_word(row[name]) for name in named).strip() or ("" if alone else str(n + 1))
        for n, row in enumerate(rows)
    ]


def _all_are(rows: Records, name: str, kind: Any) -> bool:
    return all(isinstance(row[name], kind) for row in rows)


def _differing(rows: Records, names: Sequence[str]) -> list[str]:
    return [name for name in names if len({str(row[name]) for row in rows}) > 1][:MOST_NAMES]


def _word(cell: str | int | Sequence[str] | None) -> str:
    if cell is None:
        return ""
    return str(cell) if isinstance(cell, str | int) else "+".join(map(str, cell)) or "none"


@style.styled()
def draw_values(result: Tabular, column: str) -> Figure:
    """Plot how often each value of a column occurs; a histogram where it holds many different numbers."""
    held = result.to_polars()[column]
    if not len(held):
        raise SettingError(f"{type(result).__name__}: there are no rows to plot")
    counts = held.value_counts(sort=True, name="rows")
    figure, axes = style.one_panel(6.0, 3.2)
    if held.dtype.is_numeric() and len(counts) > (MOST_FRACTIONS if held.dtype.is_float() else MOST_BARS):
        axes.hist(held.to_numpy(), bins=MOST_BARS, color=style.BLUE, alpha=0.75)
    else:
        shown = _in_order(counts, column, result) if len(counts) <= MOST_BARS else counts.head(MOST_BARS)
        axes.bar(range(len(shown)), shown["rows"].to_list(), color=style.BLUE, alpha=0.75)
        style.name_columns(axes, [f"{each:g}" if isinstance(each, float) else str(each) for each in shown[column]])
        column += style.shown_of(len(shown), len(counts), "values")
    axes.set(xlabel=column, ylabel="rows")
    style.whole_ticks(axes.yaxis)
    axes.grid(axis="x", visible=False)
    return figure


def _in_order(counts: pl.DataFrame, column: str, result: Tabular) -> pl.DataFrame:
    """Sort values; labels as on their scale, from the lowest."""
    labels = list(getattr(getattr(result, "scale", None), "labels", ()))
    place = [labels.index(each) if each in labels else n for n, each in enumerate(counts[column])]
    return counts[np.argsort(place)] if labels else counts.sort(column)


def picture_of(result: Tabular, words: str) -> str:
    """Draw a result as an element of a page, in the ink of the page; nothing where there is nothing to draw.

    words: what a reader hears who does not see the picture.
    """
    try:
        figure = draw_result(result)
    except VenireError:
        return ""
    name = f"venire-{sha256(repr((type(result).__name__, words)).encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"
    drawn = svg_element(figure, words, name=name, theme=THEME, font="inherit")
    if len(drawn) > LARGEST_SVG:
        pixels = b64encode(style.as_png(figure)).decode()
        return f'<img alt="{escape(visible(words))}" src="data:image/png;base64,{pixels}">'
    return drawn.replace("<svg", '<svg style="max-width:100%;height:auto"', 1)
