"""The systems: how they score for a random user, and how the order depends on what a label is worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from venire.comparison.forecast import TIE
from venire.disagreement.counting import Counts, count_relevant
from venire.kernels.rank_correlation import kendall_tau
from venire.plots.slope import plot_slope
from venire.plots.user_scores import plot_user_scores
from venire.report.document import Chapter, Grid, Part, Picture, Words
from venire.report.evidence import TOP, Evidence
from venire.report.question import Missing, or_missing
from venire.report.user_model import few_pairs_told
from venire.results import listed
from venire.types import Floats

Means = dict[str, Floats]
MANY_UNJUDGED = 0.2


def chapter(evidence: Evidence) -> Chapter:
    """Write it."""
    means = {name: scores.mean("topic").values[:, 0] for name, scores in evidence.scores.items()}
    systems = evidence.scores["linear"].names["system"]
    unjudged = evidence.unjudged
    parts: list[Part] = []
    if isinstance(evidence.users, Missing):
        parts.append(Words(evidence.users.sentence("What a random user would make of these systems"), "warning"))
    elif len(systems) > 1 and evidence.users.mean.values.max() > TIE:
        words = f"Mean {evidence.question.measure} of each system over users, with intervals, best first."
        caption = f"What systems score by {evidence.question.measure} for a random user, best first."
        parts.append(Picture("user_scores", caption, plot_user_scores(evidence.users), words))
    parts.append(_table(evidence, means))
    if any(np.ptp(each) > TIE for each in means.values()):
        words = f"Ranks of {len(systems)} systems under {', '.join(means)}; the systems that move most are in colour."
        caption = "Ranks by what a label is worth. Lines that cross are systems whose order depends on it."
        parts.append(Picture("slopes", caption, plot_slope(means, systems), words))
    return Chapter("systems", "The systems", _finding(evidence, means), (*parts, *_unjudged(systems, unjudged.share)))


def _finding(evidence: Evidence, means: Means) -> str:
    systems, measure = evidence.scores["linear"].names["system"], evidence.question.measure
    whose = f"with the labels of {evidence.judge}"
    if max(float(each.max()) for each in means.values()) <= 0:
        return f"All systems score 0 by {measure} {whose}, whatever labels are worth."
    if len(systems) == 1:
        return f"{systems[0]} scores {means['linear'][0]:.3f} by {measure} {whose}."
    if all(np.ptp(each) <= TIE for each in means.values()):
        return f"All {len(systems)} systems score the same by {measure} {whose}, whatever labels are worth."
    if isinstance(evidence.users, Missing):
        first = _first(systems, means["linear"])
        leads = "leads" if len(first) == 1 else "lead"
        start = f"{listed(first)} {leads} by {measure} {whose} ({means['linear'].max():.3f})"
    elif (mean := evidence.users.mean.values[:, 0]).max() <= TIE:
        start = f"For a random user all systems score 0 by {measure} {whose}"
    else:
        first = _first(systems, mean)
        have = "has" if len(first) == 1 else "have"
        start = f"For a random user {listed(first)} {have} the highest {measure}, {mean.max():.3f} on average, {whose}"
    return f"{start}{_order_changes(means)}."


def _first(systems: tuple[str, ...], mean: Floats) -> list[str]:
    """The systems with the highest mean; several where they are level."""
    return [systems[n] for n in np.flatnonzero(mean >= mean.max() - TIE).tolist()]


def _order_changes(means: Means) -> str:
    """Say how far the order depends on what labels are worth."""
    names, table = list(means), np.array(list(means.values()))
    if table.shape[1] < 3:
        return ""
    tau = kendall_tau(table[:, None], table[None])
    tau = np.where(np.isnan(tau), 1.0, tau)
    one, other = np.unravel_index(int(tau.argmin()), tau.shape)
    if tau[one, other] > 1 - 1e-9:
        return "; the order is the same whatever labels are worth"
    most = f"most between {names[one]} and {names[other]} (tau-b {tau.min():.2f})"
    return f"; the order depends on what labels are worth, {most}"


def _table(evidence: Evidence, means: Means) -> Grid:
    systems = evidence.scores["linear"].names["system"]
    columns: dict[str, Any] = {"system": systems}
    note = ""
    if not isinstance(evidence.users, Missing):
        by_topic = evidence.users.topics.values[:, :, 0]
        columns["random_user"] = by_topic.mean(axis=1)
        note = f" Random user: mean {evidence.question.measure} over simulated users"
        if by_topic.shape[1] > 1:
            columns["low"], columns["high"] = (each[:, 0] for each in evidence.users.over_topics())
            note += ", with its 95 % interval over topics"
        note += ". What satisfies them is drawn result by result; real people differ more, and may score higher."
    columns |= means
    counts = _counts(evidence)
    if not isinstance(counts, Missing):
        columns["expected_relevant"] = counts.mean[0, 0][[counts.systems.index(each) for each in systems]]
        note += f" Expected relevant: how many of the first {TOP} results satisfy a random user ({evidence.relevant})."
    columns[f"unjudged_of_{TOP}"] = evidence.unjudged.number
    order = np.argsort(-np.asarray(columns["random_user" if "random_user" in columns else "linear"]), kind="stable")
    rows = [[_plain(column[n]) for column in columns.values()] for n in order.tolist()]
    caption = f"{evidence.question.measure} of each system by what a label is worth, best first.{note}"
    return Grid("systems_scores", caption, list(columns), rows, shown=len(rows) if len(rows) <= 70 else 40)


def _counts(evidence: Evidence) -> Counts | Missing:
    """Expected numbers of relevant results for a random user."""
    fit = evidence.user_fit
    if isinstance(fit, Missing):
        return fit
    with few_pairs_told():
        return or_missing(lambda: count_relevant(evidence.labels, evidence.runs, fit, top=TOP, assessor=evidence.judge))


def _unjudged(systems: tuple[str, ...], share: Floats) -> list[Part]:
    """Warn of systems whose results were hardly judged."""
    many = np.flatnonzero(share > MANY_UNJUDGED)
    if len(many) == 0:
        return []
    worst = many[np.argsort(-share[many], kind="stable")][:3]
    named = ", ".join(f"{systems[n]} ({share[n]:.0%})" for n in worst.tolist())
    have, seem = ("have", "these systems may be better than they seem")
    if len(many) == 1:
        have, seem = ("has", "this system may be better than it seems")
    text = f"{len(many)} of {len(systems)} systems {have} over {MANY_UNJUDGED:.0%} of the first {TOP} results unjudged"
    return [Words(f"{text}: {named}. Unjudged results count as worthless, so {seem}.", "warning")]


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)
