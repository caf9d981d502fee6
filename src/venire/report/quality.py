"""The chapter on quality: discriminative power by measure, PDP with preferences, and coarser scales."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from venire.data.preferences import Preferences
from venire.plots.quality import plot_pdp
from venire.quality.label_preferences import LabelPreferences, cycle_warnings
from venire.quality.lists import TopLists, top_of_pool, top_of_runs
from venire.quality.pdp import PDP, pdp
from venire.quality.power import DiscriminativePower, Power
from venire.quality.scales import ScaleComparison, ScaleValue, compare_scales
from venire.report.document import Chapter, Grid, Part, Picture, Words, warning
from venire.report.evidence import N_MERGED, Evidence
from venire.report.pictures import power_chart, scales_chart
from venire.report.question import Missing, or_missing
from venire.results import Note, counted, listed

TITLE = "Quality of the judgments"
MODES = ("individual", "aggregate")
HIGHEST = 4
"""Curves of p-values are drawn up to this multiple of the level."""
UNADJUSTED = "not adjusted for the number of pairs"


def chapter(evidence: Evidence) -> Chapter:
    """Write the chapter."""
    power, scales = evidence.power, or_missing(lambda: _scales(evidence))
    finding = power.sentence("Discriminative power") if isinstance(power, Missing) else _finding(power)
    parts = [*_powers(power), *_preferences(evidence), *_collapsed(scales, left_out=bool(evidence.left_out))]
    return Chapter("quality", TITLE, finding, tuple(parts))


def _finding(power: DiscriminativePower) -> str:
    """Name the measures by which most and fewest pairs of systems differ significantly."""
    tested = [row for row in power.rows if row.share is not None]
    if not tested:
        return f"No pair of systems can be tested, by any measure: {power.rows[0].reason}."
    most, least = max(tested, key=_share), min(tested, key=_share)
    pairs, how = counted(most.pairs, "pair"), f"at level {most.alpha:g} ({most.method}; {UNADJUSTED})"
    if most.pairs == 1:
        which = listed([row.measure for row in tested if row.share]) or "none"
        return f"The two systems differ significantly by {which} (of {len(tested)} measures), {how}."
    if _share(most) == _share(least):
        which = f"each of {len(tested)} measures"
        return f"{_share(most):.0%} of the {pairs} of systems differ significantly by {which}, {how}."
    return (
        f"Of the {pairs} of systems, most differ significantly by {most.measure} ({_share(most):.0%}), fewest by "
        f"{least.measure} ({_share(least):.0%}), {how}."
    )


def _share(row: Power) -> float:
    return row.share or 0.0


def _powers(power: DiscriminativePower | Missing) -> list[Part]:
    """Show a table, and the curves if some p-value is small enough."""
    if isinstance(power, Missing) or not any(row.pairs for row in power.rows):
        return []
    keys = ("measure", "labels", "test", "alpha", "share", "pairs", "topics", "difference")
    rows = [{key: record[key] for key in keys if key in record} for record in power.records()]
    words = "p-values of the pairs of systems in ascending order, with a line per measure."
    caption = (
        f"Discriminative power: share of pairs of systems that differ significantly by each measure; {UNADJUSTED}."
    )
    parts: list[Part] = [Grid.of("discriminative_power", caption, rows)]
    if any((row.p_value < HIGHEST * row.alpha).any() for row in power.rows):
        curves = "ASL curves: the lower a curve, the more pairs differ significantly."
        parts.insert(0, Picture("power", curves, power_chart(power), words))
    return parts


def _preferences(evidence: Evidence) -> list[Part]:
    """Compute PDP in both modes, if documents were judged side by side."""
    preferences = evidence.question.preferences
    if preferences is None or evidence.compares_systems:
        return []
    if evidence.question.by_intent:
        why_not = Missing("documents were preferred, and labels are of documents for intents")
        return [Words(why_not.sentence("PDP"), "warning", "no-pdp")]
    lists = _lists(evidence, preferences)
    found = [or_missing(lambda mode=mode: _pdp(evidence, preferences, lists, mode)) for mode in MODES]  # type: ignore[misc]
    known = [each for each in found if isinstance(each, PDP) and each.value is not None]
    why = [
        each.sentence("PDP") if isinstance(each, Missing) else each.sentence() for each in found if each not in known
    ]
    missing = [Words(text, "warning", "no-pdp") for text in why][:1]
    if not known:
        return [*missing]
    words = "PDP by mode, with intervals."
    caption = "Pairwise discriminative power: entropy of the order of documents given their labels; lower is better."
    return [
        Words(f"{known[0].sentence()} Lists: {lists.words}."),
        Picture("pdp", caption, plot_pdp(known), words),
        Grid.of("pdp_values", caption, [each.record() for each in known]),
        *missing,
        *map(warning, (*known[0].labels.reversals(), *cycle_warnings(preferences))),
    ]


def _lists(evidence: Evidence, preferences: Preferences) -> TopLists:
    """Return the documents to order: the top of the runs or, if no run is judged that far, those with tests."""
    question = evidence.question
    of_runs = top_of_runs(question.judgments, evidence.runs)
    return of_runs if len(of_runs) else top_of_pool(question.judgments, None, preferences, rng=question.rng)


def _pdp(evidence: Evidence, preferences: Preferences, lists: TopLists, mode: str) -> PDP:
    question, labels = evidence.question, LabelPreferences(mode=mode)
    return pdp(question.judgments, preferences, labels=labels, lists=lists, rng=question.rng)


def _scales(evidence: Evidence) -> ScaleComparison | Missing:
    """Compare the labels as they are with merged labels: by the systems, and by preferences."""
    found, question = evidence.scales, evidence.question
    if isinstance(found, Missing):
        return found
    values = [_same_interval(evidence, each) if each.setting == found.settings[0] else each for each in found.values]
    if question.preferences is None or evidence.compares_systems or question.by_intent:
        return ScaleComparison(tuple(values), found.notes)
    how: dict[str, Any] = {"preferences": question.preferences, "lists": _lists(evidence, question.preferences)}
    preferred = compare_scales(question.judgments, agreement=False, n_draws=N_MERGED, rng=question.rng, **how)
    ordered = [each for name in found.settings for each in (*values, *preferred.values) if each.setting == name]
    notes = tuple(dict.fromkeys([*found.notes, *preferred.notes]))
    return ScaleComparison(tuple(ordered), notes, preferred.differences)


def _same_interval(evidence: Evidence, value: ScaleValue) -> ScaleValue:
    """Give agreement of the labels as they are the interval that the chapter on the judgments has."""
    for each in [] if isinstance(evidence.agreement, Missing) else evidence.agreement:
        same = each["name"] == value.statistic and each["level"] == "ordinal" and each["raters"] == "all"
        if same and each["value"] == value.value:
            return replace(value, low=each["low"], high=each["high"])
    return value


def _collapsed(scales: ScaleComparison | Missing, *, left_out: bool) -> list[Part]:
    if isinstance(scales, Missing):
        return [Words(scales.sentence("The effect of merging labels"), "warning")]
    keys = ("setting", "labels", "statistic", "value", "low", "high")
    rows = [{key: record[key] for key in keys} for record in scales.records() if record["value"] is not None]
    if len(scales.settings) < 2:
        return [Words("There are too few labels to merge any.", about="few-labels")]
    if not rows:
        why = Missing("no item was judged twice, and no systems were compared")
        return [Words(why.sentence("The effect of merging labels"))]
    return [
        *_settings(scales),
        Grid.of("collapsed_labels", f"{_basis(scales)}{scales.sentence()}{_how(left_out)}", rows),
        *_differences(scales),
        *map(warning, scales.notes[:1]),
    ]


def _differences(scales: ScaleComparison) -> list[Part]:
    """Show PDP of merged labels minus that of the labels as they are."""
    keys = ("mode", "setting", "difference", "low", "high", "p_value")
    known = [{"setting": each.a, **each.record()} for each in scales.differences if each.difference is not None]
    if not known:
        return []
    caption = (
        "PDP of each setting minus that of the labels as they are; positive: the order is less certain. Intervals and "
        f"p-values are simultaneous for all settings of a mode ({known[0]['test']})."
    )
    return [Grid.of("pdp_differences", caption, [{key: each[key] for key in keys} for each in known])]


def _settings(scales: ScaleComparison) -> list[Part]:
    """Plot the settings, without discriminative power if it is 0 for all."""
    if not any(scales.of("discriminative_power").values()):
        kept = tuple(each for each in scales.values if each.statistic != "discriminative_power")
        scales = replace(scales, values=kept)
    if all(each.value is None for each in scales.values):
        return []
    caption = "Quality of the labels as they are and of merged labels, by setting."
    words = "Agreement, discriminative power and PDP, where known, for the labels as they are and merged."
    return [Picture("scales", caption, scales_chart(scales), words)]


def _basis(scales: ScaleComparison) -> str:
    """Say how discriminative power is computed: from the labels of all assessors."""
    methods = [note.fields for note in scales.notes if isinstance(note, Note) and note.kind == "power-method"]
    text = "Here the labels of all assessors are pooled by {pool} (gains {gains}, {test}; {not_adjusted}). "
    return "".join(text.format(**how, not_adjusted=UNADJUSTED) for how in methods)


def _how(left_out: bool) -> str:
    """Explain the names of settings, and which topics count."""
    merged = " (A setting such as 4to2(>=1) merges four labels into two: those from 1 upwards, and the others.)"
    return f"{merged} Topics for which no system has a list are omitted." if left_out else merged
