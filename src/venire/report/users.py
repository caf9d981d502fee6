"""The chapter on users: preferences, conditional labels, clicks and aspects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.aspects.study import AspectStudy, study_aspects
from venire.context.sweep import sweep_context
from venire.data.aspects import Aspects
from venire.data.clicks import Clicks
from venire.data.judgments import is_conditional
from venire.data.preferences import Preferences
from venire.plots.aspects import plot_changes, plot_correlations, plot_coverage
from venire.plots.context import plot_alphas
from venire.plots.users import plot_choice, plot_click_summary, plot_online_correlations, plot_preferences_by_labels
from venire.report.document import Chapter, Grid, Part, Picture, Words
from venire.report.evidence import Evidence, measures_beside
from venire.report.question import Missing, or_missing
from venire.results import Records, Tabular, counted
from venire.users.agreement import choose_measure
from venire.users.clicks import summarise_clicks
from venire.users.online_correlations import correlate_online
from venire.users.preferences import preferences_by_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURES = ("CG@5", "DCG@5", "ERR@5", "P@5", "CCG@5")
IN_CONTEXT = ("CG@5", "DCG@5", "CCG@5")
LEAST_TOPICS = 3
AGREE = "Agreement of measures and gains with the preferences of users between result lists."
Finding = tuple[str, list[Part]]
"""A sentence, and the parts that support it."""


def chapter(evidence: Evidence) -> Chapter | None:
    """Write the chapter, if there are such labels or files."""
    found = [each for write in (_preferred, _in_context, _clicked, _aspects) for each in write(evidence)]
    if not found:
        return None
    finding = " ".join(sentence for sentence, _ in found)
    return Chapter("users", "Context, aspects, users", finding, tuple(part for _, parts in found for part in parts))


def _or_why(what: str, write: Callable[[], Finding]) -> list[Finding]:
    """Write, or say why that is not possible."""
    found = or_missing(write)
    return [(found.sentence(what), [])] if isinstance(found, Missing) else [found]


def _shown(found: Tabular, figure: Figure, name: str, texts: tuple[str, str]) -> list[Part]:
    """Return a result as picture and table; texts: the caption of both, and the description of the picture."""
    caption, words = texts
    return [Picture(name, caption, figure, words), Grid.of(f"{name}_table", caption, _filled(found.records()))]


def _filled(records: Records) -> Records:
    """Omit columns without values."""
    keys = [key for key in records[0] if any(each[key] is not None for each in records)] if records else []
    return [{key: each[key] for key in keys} for each in records]


def _preferred(evidence: Evidence) -> list[Finding]:
    preferences = evidence.question.preferences
    if preferences is None:
        return []
    if evidence.compares_systems:
        return _or_why("Agreement of measures with users", lambda: _measures(evidence, preferences))
    return _or_why("Preferences by label", lambda: _labels(evidence, preferences))


def _measures(evidence: Evidence, preferences: Preferences) -> Finding:
    question = evidence.question
    beside = measures_beside(question.measure) if question.by_intent else MEASURES
    measures = list(dict.fromkeys([question.measure, *beside]))
    how: dict[str, Any] = {"n_draws": 300, "rng": question.rng, "assessor": evidence.judge}
    found = choose_measure(evidence.labels, evidence.runs, preferences, measures, gains=dict(evidence.gains), **how)
    if not any((each["kappa"] or 0.0) > 0 for each in found.records()):
        return _no_better(preferences), [Grid.of("measures_and_users_table", AGREE, _filled(found.records()))]
    words = "Cohen's kappa between measures and users, with intervals, best first."
    return found.sentence(), _shown(found, plot_choice(found), "measures_and_users", (AGREE, words))


def _no_better(preferences: Preferences) -> str:
    """Say that no measure agrees with users, and a possible reason."""
    sides = np.unique(np.sign(preferences.outcome[~np.isnan(preferences.outcome)]))
    why = "; every preference is for the same side" if len(sides) == 1 else ""
    n = counted(len(preferences.outcome), "preference")
    return f"With {n} between lists, no measure agrees with users more than by chance (kappa at most 0){why}."


def _labels(evidence: Evidence, preferences: Preferences) -> Finding:
    labels = evidence.everyone.where(assessor=evidence.judge)
    found = preferences_by_labels(preferences, labels.take(~is_conditional(labels)))
    words = "A matrix by pair of labels: how often the document with the higher label is preferred."
    caption = "How often users prefer the document with the higher label, by pair of labels."
    return found.sentence(), _shown(found, plot_preferences_by_labels(found), "labels_told_apart", (caption, words))


def _in_context(evidence: Evidence) -> list[Finding]:
    """Say whether conditional labels improve agreement with users."""
    labels, preferences = evidence.question.judgments, evidence.question.preferences
    n = int(is_conditional(labels).sum())
    if n == 0:
        return []
    if preferences is None or not evidence.compares_systems:
        text = "To compare them with users, add preferences between result lists."
        return [(f"{counted(n, 'label')} {'is' if n == 1 else 'are'} conditional on another document.", [Words(text)])]
    return _or_why("The effect of conditional labels", lambda: _swept(evidence, preferences))


def _swept(evidence: Evidence, preferences: Preferences) -> Finding:
    how: dict[str, Any] = {"n_draws": 200, "rng": evidence.question.rng, "assessor": evidence.judge}
    found = sweep_context(evidence.labels, evidence.runs, preferences, IN_CONTEXT, **how)
    words = "Agreement with users by the weight of conditional labels, with a line per measure."
    caption = "Agreement with users by the weight alpha of conditional labels."
    return found.sentences()[0], [Picture("context_sweep", caption, plot_alphas(found), words)]


def _clicked(evidence: Evidence) -> list[Finding]:
    clicks = evidence.question.clicks
    if clicks is None:
        return []
    summary = summarise_clicks(clicks)
    words = "Click-through rates by rank and by topic."
    parts: list[Part] = [Picture("clicks", "Summary of the click log.", plot_click_summary(summary), words)]
    return [
        (summary.sentence(), parts),
        *_or_why("Correlation of measures with clicks", lambda: _online(evidence, clicks)),
    ]


def _online(evidence: Evidence, clicks: Clicks) -> Finding:
    question = evidence.question
    beside = () if question.by_intent else ("nDCG@5", "CG@5")
    measures = list(dict.fromkeys([question.measure, *beside]))
    found = correlate_online(evidence.everyone, clicks, measures, assessor=evidence.judge, rng=question.rng)
    if all(np.isnan(row.value) for row in found.rows):
        n_topics = max(row.topics for row in found.rows)
        few = f"{counted(n_topics, 'judged topic')} with clicks, expected {LEAST_TOPICS} or more"
        reason = few if n_topics < LEAST_TOPICS else "measures or clicks are the same for all topics"
        return Missing(reason).sentence("Correlation of measures with clicks"), []
    words = "Rank correlations over topics between measures and clicks, with intervals."
    caption = "Correlations over topics between measures and clicks."
    return found.sentence(), _shown(found, plot_online_correlations(found), "measures_and_clicks", (caption, words))


def _aspects(evidence: Evidence) -> list[Finding]:
    aspects = evidence.question.aspects
    if aspects is None:
        return []
    how: dict[str, Any] = {"overall": _scoring_aspect(evidence, aspects), "n_draws": 300, "rng": evidence.question.rng}
    return _or_why("The study of aspects", lambda: _studied(study_aspects(aspects, **how)))


def _scoring_aspect(evidence: Evidence, aspects: Aspects) -> str | None:
    """Return the aspect that scores the runs, with which the others are compared; None if there is no single one."""
    column = evidence.question.judgments.facets.get("aspect")
    names = [] if column is None else [column.names[code] for code in np.unique(column.codes).tolist()]
    return names[0] if len(names) == 1 and names[0] in aspects.names else None


def _studied(study: AspectStudy) -> Finding:
    parts: list[Part] = [
        Picture("aspect_coverage", study.coverage.sentence(), plot_coverage(study), "Share of documents by aspect."),
        Picture(
            "aspect_correlations", study.correlations.sentence(), plot_correlations(study), "Correlations of aspects."
        ),
        Grid.of("aspects", "Spearman correlations between aspects.", study.correlations.records()),
    ]
    changed = or_missing(lambda: plot_changes(study))
    if not isinstance(changed, Missing):
        parts.insert(1, Picture("aspect_changes", study.changes.sentence(), changed, "Changes of grade by size."))
    return study.correlations.sentence(), parts
