"""The chapter on what new judgments changed, compared with a report on the earlier ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venire.comparison.forecast import TIE
from venire.comparison.verdict import Verdict
from venire.data.judgments import Judgments
from venire.kernels.rank_correlation import kendall_tau
from venire.report.document import Chapter, Grid, Part, Words, warning
from venire.report.evidence import Evidence
from venire.report.question import Missing, or_missing
from venire.results import counted

CHANGES_TITLE = "What the new judgments changed"


def changes_chapter(evidence: Evidence) -> Chapter | None:
    """Write the chapter on what changed, if there are earlier judgments."""
    question = evidence.question
    if question.before is None:
        return None
    if _same(question.judgments, question.before):
        return Chapter("changes", CHANGES_TITLE, "The judgments are the same as before, so nothing changed.")
    who = evidence.judge if evidence.judge in question.before.assessors else None
    like_now = replace(question, assessor=who, relevant=evidence.relevant)
    earlier = Evidence(replace(like_now, judgments=question.before, before=None, preferences=None, clicks=None))
    then = or_missing(lambda: earlier.verdict)
    if isinstance(then, Missing):
        return Chapter("changes", CHANGES_TITLE, then.sentence("The verdict before"))
    now = evidence.verdict
    more = len(question.judgments) - len(question.before)
    added = f"{counted(abs(more), 'label')} {'more' if more > 0 else 'fewer'} than" if more else "as many labels as"
    winner = {
        (True, True): "there is a winner, as before",
        (True, False): "there is no winner any more",
        (False, True): "there is a winner now",
        (False, False): "there is still no winner",
    }[then.winner is not None, now.winner is not None]
    finding = f"With {added} before, {_best_systems(then, now)}, and {winner}."
    parts: list[Part] = [
        Words(f"Before: {then.sentence()}"),
        *_other_judge(earlier, evidence),
        *_other_topics(earlier, evidence),
        _systems_then_and_now(earlier, evidence),
        *_labels_then_and_now(earlier, evidence),
    ]
    return Chapter("changes", CHANGES_TITLE, finding, tuple(parts))


def _same(now: Judgments, before: Judgments) -> bool:
    """Whether two sets of judgments hold the same labels, in any order."""
    if len(now) != len(before):
        return False
    ours, theirs = (frame.sort(frame.columns) for frame in (now.to_polars(), before.to_polars()))
    return ours.equals(theirs)


def _best_systems(then: Verdict, now: Verdict) -> str:
    """Name the system with the highest score, before and now; systems with equal scores have none."""
    equal = [np.ptp(each.mean) <= TIE for each in (then, now)]
    if len(now.systems) == 1:
        return f"the score of {now.best} changes from {then.mean[0]:.3f} to {now.mean[0]:.3f}"
    if all(equal):
        return "all systems still score the same"
    if equal[0]:
        return f"{now.best} has the highest score (before: all systems scored the same)"
    if equal[1]:
        return f"all systems score the same (before: {then.best} had the highest score)"
    if then.best == now.best:
        return f"{now.best} still has the highest score"
    return f"{now.best} has the highest score (before: {then.best})"


def _other_judge(earlier: Evidence, evidence: Evidence) -> list[Part]:
    """Warn that another assessor's labels scored the runs before."""
    if earlier.judge == evidence.judge:
        return []
    text = f"The runs were scored with the labels of {earlier.judge} before, and of {evidence.judge} now"
    return [warning(f"{text}: scores may have changed for that reason", about="other-judge")]


def _other_topics(earlier: Evidence, evidence: Evidence) -> list[Part]:
    """Warn that scores on other topics are not comparable."""
    then, now = (set(each.scores["linear"].names["topic"]) for each in (earlier, evidence))
    if then == now:
        return []
    text = f"There were {counted(len(then), 'topic')} before, and there are {len(now)} now ({len(then & now)} in both)"
    return [warning(f"{text}: scores may have changed for that reason", about="other-topics")]


def _systems_then_and_now(earlier: Evidence, evidence: Evidence) -> Grid:
    both = [each.scores["linear"].mean("topic") for each in (earlier, evidence)]
    before, systems = (each.names["system"] for each in both)
    systems = tuple(name for name in systems if name in before)  # others returned nothing for the topics before
    then, now = (each.values[[each.names["system"].index(name) for name in systems], 0] for each in both)
    ranks = [np.argsort(np.argsort(-each, kind="stable"), kind="stable") + 1 for each in (then, now)]
    rows = [
        [systems[n], float(then[n]), float(now[n]), float(now[n] - then[n]), int(ranks[0][n]), int(ranks[1][n])]
        for n in np.argsort(-now, kind="stable").tolist()
    ]
    tau = float(kendall_tau(then, now)) if len(systems) > 1 else np.nan
    alike = "" if np.isnan(tau) else f" Kendall's tau-b of the two orders is {tau:.2f}."
    caption = f"{evidence.question.measure} of each system, before and now.{alike}"
    return Grid("changes_systems", caption, ["system", "before", "now", "change", "rank_before", "rank_now"], rows)


def _labels_then_and_now(earlier: Evidence, evidence: Evidence) -> list[Part]:
    then, now = earlier.user_fit, evidence.user_fit
    if isinstance(now, Missing):
        return []
    rows = []
    for level in reversed(range(len(now.scale))):
        before = None if isinstance(then, Missing) else float(then.p[0, level])
        low, high = (float(each[0, level]) for each in (now.spread.low, now.spread.high))
        rows.append([now.scale.labels[level], before, float(now.p[0, level]), low, high])
    caption = f"p({evidence.relevant}|label), the probability that a random user finds it relevant, before and now."
    return [Grid("changes_labels", caption, ["label", "before", "now", "low", "high"], rows)]
