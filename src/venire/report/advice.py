"""Advice: what to do next, in more topics or in more double judgments, and of which labels."""

from __future__ import annotations

import numpy as np

from venire.disagreement.double_judgments import JudgingEffort, double_judgments_needed, lowest_labels
from venire.disagreement.predicted_relevance import PredictedRelevanceFit
from venire.kernels.resampling import FEW_TOPICS
from venire.report.document import Part, Words
from venire.report.evidence import Evidence
from venire.report.question import Missing, or_missing
from venire.report.user_model import UserModel
from venire.results import counted, listed
from venire.types import Bools, Ints

DEVIATION = 0.05
"""How far p(R|i) may be off before more double judgments are asked for."""
MOST_LABELS = 8
TOO_MANY = 10
"""So many times the topics are more than anybody will judge: two systems are then as good as equal."""
SURE = 0.95
"""A winner who stays first with less than this, by any source, is one for this judge on these topics only."""
_SPREAD = "standard deviation, on these topics"


def advice(evidence: Evidence) -> list[Part]:
    """Say what would help most: topics, or double judgments, and of which labels; or that the winner can be chosen."""
    if evidence.nothing_judged:
        return [Words("make judgments and runs name topics and documents alike, then report again.", "todo")]
    if evidence.only_label is not None:
        all_alike = f"as long as all labels are {evidence.only_label}, no system can be better than another"
        return [Words(f"judge more results: {all_alike}.", "todo")]
    told = [*_topics(evidence), *_double_judgments(evidence)]
    asked = any(isinstance(each, Words) and each.kind == "todo" for each in told)
    return told if asked else [*told, *_chosen(evidence)]


def _chosen(evidence: Evidence) -> list[Part]:
    """Say that the winner can be chosen, and for whom."""
    winner, p_first = evidence.verdict.winner, evidence.verdict.p_first
    if winner is None:
        return []
    if min(p_first.values(), default=0.0) >= SURE:
        return [Words(f"choose {winner}: to tell it from the others nothing more need be judged.", "todo")]
    text = f"choose {winner} if the labels of {evidence.judge} are those that count"
    return [Words(f"{text}: others may prefer another system, and more labels of theirs would tell.", "todo")]


def _topics(evidence: Evidence) -> list[Part]:
    """How many topics would tell the best system from the next."""
    found, plan = evidence.verdict, evidence.plan
    if found.n_topics == 1:
        return [Words(f"judge more topics, {FEW_TOPICS} or more: one says nothing of others.", "todo")]
    if found.closest is None or isinstance(plan, Missing) or found.mean.max() <= 0:
        return []
    pair = {found.best, found.closest}
    names = [{plan.systems[a], plan.systems[b]} for a, b in zip(plan.a.tolist(), plan.b.tolist(), strict=True)]
    needed = float(plan.needed[names.index(pair)])
    if not np.isfinite(needed):
        return []
    about, two = f"about {int(np.ceil(needed)):,} topics", f"{found.best} and {found.closest}"
    power = "(80 % power, if the difference is as it seems)"
    if needed > TOO_MANY * found.n_topics:
        return [Words(f"take {two} as equally good: to tell them apart would take {about} {power}.", "todo")]
    return [Words(f"judge {about} in all to tell {two} apart {power}.", "todo")]


def _double_judgments(evidence: Evidence) -> list[Part]:
    """How many more results to judge twice, and of which labels."""
    fit = evidence.user_fit
    if isinstance(fit, Missing):
        return [
            Words("have a second assessor judge some 300 results again, drawn from what the systems return.", "todo")
        ]
    effort = or_missing(lambda: double_judgments_needed(fit, DEVIATION))
    if isinstance(effort, Missing):
        return []
    more = _more_of_each(fit, effort)
    there = _judged_once(evidence.user_model)
    hopeless = (effort.floor[0] >= DEVIATION) | ((more > there) & (effort.n_topics > 1))
    more = np.where(hopeless, 0, np.minimum(more, there))
    stop: list[Part] = [Words(each.sentence()) for each in lowest_labels(fit)[:1] if each.negligible]
    stop = [*_more_topics(effort, hopeless), *stop]
    if not more.any():
        if effort.n_topics == 1 or hopeless.any():
            return stop
        return [Words(_enough(fit)), *stop]
    if (more > 0).sum() == 1:
        text = f"judge {more.sum():,} more results labelled {fit.scale.labels[int(more.argmax())]} twice, to know what"
        return [Words(f"{text} labels are worth to within {DEVIATION:g} ({_SPREAD}).", "todo"), *stop]
    each = [f"{more[n]:,} of them labelled {fit.scale.labels[n]}" for n in reversed(range(len(more))) if more[n]]
    if len(each) > MOST_LABELS:
        each = [*each[:MOST_LABELS], f"and so on for {len(each) - MOST_LABELS} lower labels"]
    text = f"judge {more.sum():,} more results twice, {', '.join(each)}, to know what labels are worth to within"
    return [Words(f"{text} {DEVIATION:g} ({_SPREAD}).", "todo"), *stop]


def _more_of_each(fit: PredictedRelevanceFit, effort: JudgingEffort) -> Ints:
    """How many more double judgments are needed, by first label -> (label,)."""
    share = fit.pairs[0] / max(float(fit.pairs[0].sum()), 1.0)
    needed = effort.judgments_on_these_topics if effort.n_topics > 1 else effort.judgments
    return np.ceil(np.nan_to_num(np.maximum(needed[0] - effort.n_judgments, 0.0) * share)).astype(np.int64)


def _judged_once(model: UserModel) -> Ints:
    """Results there are to judge a second time, by the label of the judge -> (label,)."""
    labels = model.judgments
    own = labels.assessor.codes == labels.assessors.index(model.observed)
    once = own & ~np.isin(labels.item, labels.item[~own])
    return np.bincount(labels.label[once], minlength=len(labels.scale))


def _enough(fit: PredictedRelevanceFit) -> str:
    """Say that there are double judgments enough, but for labels that have none."""
    unknown = [label for label, n in zip(fit.scale.labels, fit.pairs[0], strict=True) if n == 0]
    but = f"; nothing is known of {listed(unknown)}, which no item judged twice has" if unknown else ""
    which = "the other labels" if unknown else "labels"
    text = f"There are enough double judgments to know what {which} are worth to within {DEVIATION:g}"
    return f"{text} (standard deviation){but}."


def _more_topics(effort: JudgingEffort, labels: Bools) -> list[Part]:
    """Say for which labels no more judging of these topics helps, and how many topics would."""
    hopeless = np.flatnonzero(labels)[::-1].tolist()
    if not hopeless:
        return []
    worth = listed([effort.scale.labels[level] for level in hopeless], MOST_LABELS)
    needed = counted(int(effort.topics[0, hopeless].max()), "topic")
    text = f"judge about {needed} in all, as much of each as now, to know the worth of {worth} to within"
    why = "topics differ, so more labels on these alone will not do"
    return [Words(f"{text} {DEVIATION:g} (standard deviation): {why}.", "todo")]
