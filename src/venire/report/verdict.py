"""The verdict: can these judgments tell these systems apart, for whom, how sure is that, and what to do next."""

from __future__ import annotations

import numpy as np

from venire.analysis.judging_effort import JudgingEffort, double_judgments_needed, lowest_labels
from venire.analysis.verdicts import SOURCES
from venire.data.judgments import counted
from venire.data.primary import PRIMARY, coverage
from venire.models.spread import FEW_TOPICS
from venire.report.document import Chapter, Grid, Part, Words
from venire.report.evidence import TOP, Evidence, Missing, known

DEVIATION = 0.05
"""How far p(R|i) may be off before more double judgments are asked for."""
MOST_LABELS = 8
TOO_MANY = 10
"""So many times the topics are more than anybody will judge: two systems are then as good as equal."""


def chapter(evidence: Evidence) -> Chapter:
    """Write it."""
    found = evidence.verdict
    parts: list[Part] = [*_sure(evidence), *_apart(evidence), *_limits(evidence), *_next(evidence)]
    return Chapter("verdict", "Verdict", found.sentence(), tuple(parts), {"verdict": found.record()})


def _sure(evidence: Evidence) -> list[Part]:
    found = evidence.verdict
    if len(found.systems) == 1 or not found.p_first or found.mean.max() <= 0:
        return []
    rows = [
        [
            words.removeprefix("for ").removeprefix("on ").removeprefix("under "),
            found.p_first[source],
            found.margin[source],
        ]
        for source, words in SOURCES.items()
        if source in found.p_first
    ]
    caption = (
        f"How sure it is that {found.best} comes first, and by how much the truly best system may be ahead of it "
        "(95 %), by what might have been otherwise."
    )
    return [Grid("verdict_sure", caption, ["what_changes", "p_first", "margin"], rows)]


def _apart(evidence: Evidence) -> list[Part]:
    """Say how many pairs can be told apart, and which differences could be seen at all."""
    tested, plan = evidence.tested, evidence.plan
    if isinstance(tested, Missing) or isinstance(plan, Missing) or evidence.verdict.mean.max() <= 0:
        return []
    return [Words(f"{tested.sentence()} {plan.sentence()}")]


def _limits(evidence: Evidence) -> list[Part]:
    """Say what cannot be concluded, and whose labels all this rests on."""
    words: list[Part] = _unmatched(evidence)
    if evidence.several and evidence.question.assessor is None:
        whose = (
            "each topic with the labels of whoever judged most of it"
            if evidence.judge == PRIMARY
            else f"with the labels of {evidence.judge}, {_why_them(evidence)}"
        )
        words.append(
            Words(
                f"The runs are scored {whose}; the other labels serve as those of other judges and of users. "
                "--assessor chooses one."
            )
        )
    if not isinstance(evidence.users, Missing):
        words.append(Words(_user(evidence)))
    for missing, what in (
        (evidence.sources, "What another judge would change"),
        (evidence.users, "What a random user thinks"),
    ):
        if isinstance(missing, Missing):
            words.append(Words(missing.sentence(what), "warning"))
    n_topics = evidence.verdict.n_topics
    if n_topics == 1:
        words.append(Words("There is one topic only, so what other topics would change cannot be told.", "warning"))
    elif n_topics < FEW_TOPICS:
        words.append(Words(f"{n_topics} topics are too few for intervals to be trusted.", "warning"))
    return words


def _why_them(evidence: Evidence) -> str:
    """Say why the judge is the judge: they judged the most, or as much as others and come first by name."""
    share = coverage(evidence.labels)
    alone = int((share >= share[evidence.labels.assessors.index(evidence.judge)]).sum()) == 1
    return "who judged the most" if alone else "the first by name of those who judged the most"


def _unmatched(evidence: Evidence) -> list[Part]:
    """Say that nothing of what the systems return was judged: the names may not be the same."""
    if evidence.judged.max(initial=0) > 0:
        return []
    text = f"None of the first {TOP} results of any system was judged, so nothing can be said of the systems: see that"
    return [Words(f"{text} judgments and runs have the same names of topics and documents.", "warning")]


def _user(evidence: Evidence) -> str:
    """Say who a random user is, and what satisfies them."""
    people = ", ".join(evidence.question.reference)
    like = f"judges like {people} (--reference)" if people else "judges like one of the assessors"
    higher = "" if evidence.relevant == evidence.question.judgments.scale.labels[-1] else " or higher"
    return f"A random user {like}, and is satisfied by what they label {evidence.relevant}{higher} (--relevant)."


def _next(evidence: Evidence) -> list[Part]:
    """Say what would help most: topics, or double judgments, and of which labels."""
    return [*_topics(evidence), *_double_judgments(evidence)]


def _topics(evidence: Evidence) -> list[Part]:
    """How many topics would tell the best system from the next."""
    found, plan = evidence.verdict, evidence.plan
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
    effort = known(lambda: double_judgments_needed(fit, DEVIATION))
    if isinstance(effort, Missing):
        return []
    share = fit.pairs[0] / max(float(fit.pairs[0].sum()), 1.0)
    needed = effort.judgments_on_these_topics if effort.n_topics > 1 else effort.judgments
    more = np.ceil(np.nan_to_num(np.maximum(needed[0] - effort.n_judgments, 0.0) * share)).astype(np.int64)
    stop: list[Part] = [Words(each.sentence()) for each in lowest_labels(fit)[:1] if each.negligible]
    stop = [*_more_topics(effort), *stop]
    if not more.any():
        if effort.n_topics == 1 or (effort.floor[0] >= DEVIATION).any():
            return stop
        text = f"There are enough double judgments to know what labels are worth to within {DEVIATION:g}"
        return [Words(f"{text} (standard deviation)."), *stop]
    listed = [f"{more[n]:,} of them labelled {fit.scale.labels[n]}" for n in reversed(range(len(more))) if more[n]]
    if len(listed) > MOST_LABELS:
        listed = [*listed[:MOST_LABELS], f"and so on for {len(listed) - MOST_LABELS} lower labels"]
    text = f"judge {more.sum():,} more results twice, {', '.join(listed)}, to know what labels are worth to within"
    return [Words(f"{text} {DEVIATION:g} (standard deviation, on these topics).", "todo"), *stop]


def _more_topics(effort: JudgingEffort) -> list[Part]:
    """Say for which labels no more judging of these topics helps, and how many topics would."""
    hopeless = np.flatnonzero(effort.floor[0] >= DEVIATION)[::-1].tolist()
    if not hopeless:
        return []
    listed = ", ".join(effort.scale.labels[level] for level in hopeless)
    needed = counted(int(effort.topics[0, hopeless].max()), "topic")
    text = f"judge about {needed} in all, as much of each as now, to know the worth of {listed} to within"
    why = "topics differ, so more labels on these alone will not do"
    return [Words(f"{text} {DEVIATION:g} (standard deviation): {why}.", "todo")]
