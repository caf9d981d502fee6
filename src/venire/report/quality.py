"""Quality of the judgments: what they can tell apart, by measure, with preferences, and on coarser scales."""

from __future__ import annotations

from typing import Any

from venire.analysis.discriminative_power import discriminative_power
from venire.analysis.label_preferences import LabelPreferences
from venire.analysis.pdp import PDP, pdp
from venire.analysis.powers import DiscriminativePower
from venire.analysis.scale_comparison import ScaleComparison, compare_scales
from venire.data.preferences import Preferences
from venire.plots.pdp import plot_pdp
from venire.plots.power import plot_power
from venire.plots.scales import plot_scales
from venire.report.document import Chapter, Grid, Part, Picture, Words, careful
from venire.report.evidence import Evidence, Missing, known
from venire.report.users import compares_systems

TITLE = "Quality of the judgments"
MEASURES = ("nDCG@10", "P@10", "AP", "RBP(p=0.8)", "ERR@10")
MODES = ("individual", "aggregate")
N_DRAWS = 100
"""Resamples for each interval of collapsed labels."""


def chapter(evidence: Evidence) -> Chapter:
    """Write it."""
    power, scales = known(lambda: _power(evidence)), known(lambda: _scales(evidence))
    finding = power.sentence("How many systems are told apart") if isinstance(power, Missing) else power.sentence()
    parts = [*_powers(power), *_preferences(evidence), *_collapsed(scales)]
    return Chapter("quality", TITLE, finding, tuple(parts))


def _power(evidence: Evidence) -> DiscriminativePower:
    question = evidence.question
    measures = list(dict.fromkeys([question.measure, *MEASURES]))
    return discriminative_power(evidence.labels, question.runs, measures, assessor=evidence.judge, rng=question.rng)


def _powers(power: DiscriminativePower | Missing) -> list[Part]:
    if isinstance(power, Missing):
        return []
    keys = ("measure", "labels", "test", "alpha", "share", "pairs", "topics", "difference")
    rows = [{key: record.get(key) for key in keys if key in record} for record in power.records()]
    words = "Share of pairs of systems told apart by significance level, a line per measure."
    caption = "Discriminative power: share of pairs of systems that each measure tells apart on these topics."
    return [
        Picture("power", "ASL curves: the lower a curve, the more pairs are told apart.", plot_power(power), words),
        Grid.of("discriminative_power", caption, rows),
    ]


def _preferences(evidence: Evidence) -> list[Part]:
    """PDP in both modes, where documents were judged side by side."""
    preferences = evidence.question.preferences
    if preferences is None or compares_systems(evidence, preferences):
        return []
    found = [known(lambda mode=mode: _pdp(evidence, preferences, mode)) for mode in MODES]  # type: ignore[misc]
    there = [each for each in found if isinstance(each, PDP)]
    missing = [Words(each.sentence("PDP"), "warning") for each in found if isinstance(each, Missing)][:1]
    if not there:
        return [*missing]
    words = "Uncertainty of the order of documents, with intervals, by mode."
    caption = (
        "Pairwise discriminative power: how uncertain the order of documents is, given their labels; lower is better."
    )
    return [
        Words(there[0].sentence()),
        Picture("pdp", caption, plot_pdp(there), words),
        Grid.of("pdp_values", caption, [each.record() for each in there]),
        *missing,
    ]


def _pdp(evidence: Evidence, preferences: Preferences, mode: str) -> PDP:
    question = evidence.question
    return pdp(question.judgments, preferences, labels=LabelPreferences(mode=mode), n_draws=300, rng=question.rng)


def _scales(evidence: Evidence) -> ScaleComparison:
    """Labels as they are and collapsed: by what the systems show, and by preferences on the best of the pool."""
    question = evidence.question
    how: dict[str, Any] = {"n_draws": N_DRAWS, "rng": question.rng}
    found = compare_scales(question.judgments, question.runs, [question.measure], **how)
    if question.preferences is None or compares_systems(evidence, question.preferences):
        return found
    preferred = compare_scales(question.judgments, preferences=question.preferences, **how)
    there = [each for each in preferred.values if each.statistic.startswith("pdp")]
    values = [each for name in found.settings for each in (*found.values, *there) if each.setting == name]
    return ScaleComparison(tuple(values), tuple(dict.fromkeys([*found.notes, *preferred.notes])))


def _collapsed(scales: ScaleComparison | Missing) -> list[Part]:
    if isinstance(scales, Missing):
        return [Words(scales.sentence("What collapsing labels would do"), "warning")]
    keys = ("setting", "labels", "statistic", "value", "low", "high")
    rows = [{key: record[key] for key in keys} for record in scales.records() if record["value"] is not None]
    if not rows:
        return [Words("Nothing was judged twice and no two systems compared, so labels cannot be collapsed to effect.")]
    words = "Agreement, discriminative power and PDP, where known, for the labels as they are and collapsed."
    return [
        Picture(
            "scales",
            "What collapsing labels does to agreement and to what can be told apart.",
            plot_scales(scales),
            words,
        ),
        Grid.of("collapsed_labels", f"{scales.sentence()}{_how(scales)}", rows),
        *[careful(note) for note in scales.notes[:1]],
    ]


def _how(scales: ScaleComparison) -> str:
    """Say what names of settings mean, and whose labels tell systems apart here: all assessors' together."""
    told = [f" D{note[1:]}." for note in scales.notes if note.startswith("discriminative power:")]
    merged = " (A setting such as 4to2(>=1) merges four labels into two, those from 1 upwards into one.)"
    return "".join([merged, *told])
