"""What new judgments changed: the verdict, the systems, and what labels are worth, before and now."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venire.comparison.forecast import TIE
from venire.comparison.verdict import Verdict
from venire.data.judgments import Judgments
from venire.kernels.rank_correlation import kendall_tau
from venire.report.document import Chapter, Grid, Part, Words
from venire.report.evidence import Evidence
from venire.report.question import Missing, or_missing
from venire.results import counted
from venire.types import Floats

TITLE = "What the new judgments changed"


def chapter(evidence: Evidence) -> Chapter | None:
    """Write it, if there are earlier judgments."""
    question = evidence.question
    if question.before is None:
        return None
    like_now = replace(question, assessor=_who(evidence), relevant=evidence.relevant)
    earlier = Evidence(replace(like_now, judgments=question.before, before=None, preferences=None, clicks=None))
    if _same(question.judgments, question.before):
        return Chapter("changes", TITLE, "The judgments are the same as before, so nothing changed.")
    then = or_missing(lambda: earlier.verdict)
    if isinstance(then, Missing):
        return Chapter("changes", TITLE, then.sentence("What it was like before"))
    now = evidence.verdict
    more = len(question.judgments) - len(question.before)
    added = f"{counted(more, 'label')} more than" if more > 0 else f"{counted(-more, 'label')} fewer than"
    added = added if more else "as many labels as"
    named = {
        (True, True): "a winner is named as before",
        (True, False): "no winner can be named any more",
        (False, True): "now a winner can be named",
        (False, False): "still no winner can be named",
    }[then.winner is not None, now.winner is not None]
    finding = f"With {added} before, {_leads(then, now)}, and {named}."
    parts: list[Part] = [
        Words(f"Before: {then.sentence()}"),
        *_other_judge(earlier, evidence),
        *_other_topics(earlier, evidence),
        *_systems(earlier, evidence),
        *_labels(earlier, evidence),
    ]
    return Chapter("changes", TITLE, finding, tuple(parts))


def _same(now: Judgments, before: Judgments) -> bool:
    """Whether two sets of judgments hold the same labels, in whatever order."""
    if len(now) != len(before):
        return False
    ours, theirs = (frame.sort(frame.columns) for frame in (now.to_polars(), before.to_polars()))
    return ours.equals(theirs)


def _leads(then: Verdict, now: Verdict) -> str:
    """Say who leads now, and whether somebody else did; systems that are level have no leader."""
    level = [np.ptp(each.mean) <= TIE for each in (then, now)]
    if len(now.systems) == 1:
        return f"{now.best} scores {now.mean[0]:.3f} where it scored {then.mean[0]:.3f}"
    if all(level):
        return "all systems score the same still"
    if level[0]:
        return f"{now.best} leads where all systems scored the same"
    if level[1]:
        return f"all systems score the same where {then.best} led"
    return "the same system leads" if then.best == now.best else f"{now.best} leads in place of {then.best}"


def _other_judge(earlier: Evidence, evidence: Evidence) -> list[Part]:
    """Warn that the labels of somebody else scored the runs."""
    if earlier.judge == evidence.judge:
        return []
    text = f"Before, the labels of {earlier.judge} scored the runs, and now those of {evidence.judge}"
    return [Words(f"{text}: scores may have changed because the judge did.", "warning")]


def _other_topics(earlier: Evidence, evidence: Evidence) -> list[Part]:
    """Warn that scores on other topics do not compare."""
    then, now = (set(each.scores["linear"].names["topic"]) for each in (earlier, evidence))
    if then == now:
        return []
    shared = len(then & now)
    text = (
        f"Of {counted(len(then), 'topic')} before and {len(now)} now, {shared} {'is' if shared == 1 else 'are'} in both"
    )
    return [Words(f"{text}: scores may have changed because topics did.", "warning")]


def _who(evidence: Evidence) -> str | None:
    """The same judge as now, if they judged before."""
    before = evidence.question.before
    return evidence.judge if before is not None and evidence.judge in before.assessors else None


def _systems(earlier: Evidence, evidence: Evidence) -> list[Part]:
    then, now = (_means(each) for each in (earlier, evidence))
    ranks = [np.argsort(np.argsort(-each, kind="stable"), kind="stable") + 1 for each in (then, now)]
    systems = evidence.scores["linear"].names["system"]
    rows = [
        [systems[n], float(then[n]), float(now[n]), float(now[n] - then[n]), int(ranks[0][n]), int(ranks[1][n])]
        for n in np.argsort(-now, kind="stable").tolist()
    ]
    tau = float(kendall_tau(then, now)) if len(systems) > 1 else np.nan
    alike = "" if np.isnan(tau) else f" The two orders have tau-b {tau:.2f}."
    caption = f"{evidence.question.measure} of each system, before and now.{alike}"
    return [Grid("changes_systems", caption, ["system", "before", "now", "change", "rank_before", "rank_now"], rows)]


def _means(evidence: Evidence) -> Floats:
    return evidence.scores["linear"].mean("topic").values[:, 0]


def _labels(earlier: Evidence, evidence: Evidence) -> list[Part]:
    then, now = earlier.user_fit, evidence.user_fit
    if isinstance(now, Missing):
        return []
    rows = []
    for level in reversed(range(len(now.scale))):
        before = None if isinstance(then, Missing) else float(then.p[0, level])
        low, high = (float(each[0, level]) for each in (now.spread.low, now.spread.high))
        rows.append([now.scale.labels[level], before, float(now.p[0, level]), low, high])
    caption = f"Probability that a random user is satisfied ({evidence.relevant}), by label, before and now."
    return [Grid("changes_labels", caption, ["label", "before", "now", "low", "high"], rows)]
