"""What new judgments changed: the verdict, the systems, and what labels are worth, before and now."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from venire.data.judgments import counted
from venire.kernels.correlation import kendall_tau
from venire.report.document import Chapter, Grid, Part, Words
from venire.report.evidence import Evidence, Missing, known
from venire.types import Floats


def chapter(evidence: Evidence) -> Chapter | None:
    """Write it, if there are earlier judgments."""
    question = evidence.question
    if question.before is None:
        return None
    earlier = Evidence(
        replace(
            question, judgments=question.before, assessor=_who(evidence), before=None, preferences=None, clicks=None
        )
    )
    then = known(lambda: earlier.verdict)
    if isinstance(then, Missing):
        return Chapter("changes", "What the new judgments changed", then.sentence("What it was like before"))
    now = evidence.verdict
    more = len(question.judgments) - len(question.before)
    added = f"{counted(more, 'label')} more" if more >= 0 else f"{counted(-more, 'label')} fewer"
    same = "the same system leads" if then.best == now.best else f"{now.best} leads in place of {then.best}"
    named = {
        (True, True): "a winner is named as before",
        (True, False): "no winner can be named any more",
        (False, True): "now a winner can be named",
        (False, False): "still no winner can be named",
    }[then.winner is not None, now.winner is not None]
    finding = f"With {added} than before, {same}, and {named}."
    parts: list[Part] = [Words(f"Before: {then.sentence()}"), *_systems(earlier, evidence), *_labels(earlier, evidence)]
    return Chapter("changes", "What the new judgments changed", finding, tuple(parts))


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
