"""The verdict: can these judgments tell these systems apart, for whom, how sure is that, and what to do next."""

from __future__ import annotations

import numpy as np

from venire.analysis.judging_effort import double_judgments_needed, lowest_labels
from venire.analysis.verdicts import SOURCES
from venire.data.primary import PRIMARY
from venire.report.document import Chapter, Grid, Part, Words
from venire.report.evidence import Evidence, Missing, known

DEVIATION = 0.05
"""How far p(R|i) may be off before more double judgments are asked for."""


def chapter(evidence: Evidence) -> Chapter:
    """Write it."""
    found = evidence.verdict
    parts: list[Part] = [_sure(evidence), *_apart(evidence), *_limits(evidence), *_next(evidence)]
    return Chapter("verdict", "Verdict", found.sentence(), tuple(parts), {"verdict": found.record()})


def _sure(evidence: Evidence) -> Grid:
    found = evidence.verdict
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
    return Grid("verdict_sure", caption, ["what_changes", "p_first", "margin"], rows)


def _apart(evidence: Evidence) -> list[Part]:
    """Say how many pairs can be told apart, and which differences could be seen at all."""
    tested, plan = evidence.tested, evidence.plan
    if isinstance(tested, Missing) or isinstance(plan, Missing):
        return []
    return [Words(f"{tested.sentence()} {plan.sentence()}")]


def _limits(evidence: Evidence) -> list[Part]:
    """Say what cannot be concluded, and whose labels all this rests on."""
    words: list[Part] = []
    if evidence.several and evidence.question.assessor is None:
        whose = (
            "each topic with the labels of whoever judged most of it"
            if evidence.judge == PRIMARY
            else f"with the labels of {evidence.judge}, who judged the most"
        )
        words.append(
            Words(
                f"The runs are scored {whose}; the other labels serve as those of other judges and of users. "
                "--assessor chooses one."
            )
        )
    for missing, what in (
        (evidence.sources, "What another judge would change"),
        (evidence.users, "What a random user thinks"),
    ):
        if isinstance(missing, Missing):
            words.append(Words(missing.sentence(what), "warning"))
    if evidence.verdict.n_topics < 10:
        words.append(Words(f"{evidence.verdict.n_topics} topics are too few for intervals to be trusted.", "warning"))
    return words


def _next(evidence: Evidence) -> list[Part]:
    """Say what would help most: topics, or double judgments, and of which labels."""
    return [*_topics(evidence), *_double_judgments(evidence)]


def _topics(evidence: Evidence) -> list[Part]:
    """How many topics would tell the best system from the next."""
    found, plan = evidence.verdict, evidence.plan
    if found.winner is not None or found.second is None or isinstance(plan, Missing) or not found.lead > 0:
        return []
    pair = {found.best, found.second}
    names = [{plan.systems[a], plan.systems[b]} for a, b in zip(plan.a.tolist(), plan.b.tolist(), strict=True)]
    needed = float(plan.needed[names.index(pair)])
    if not np.isfinite(needed):
        return []
    text = f"judge about {int(np.ceil(needed)):,} topics in all to tell {found.best} from {found.second}"
    return [Words(f"{text} (80 % power, if the difference is as it seems).", "todo")]


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
    short = np.maximum(effort.judgments_on_these_topics[0] - effort.n_judgments, 0.0) * share
    more = np.ceil(np.nan_to_num(short, posinf=0.0)).astype(np.int64)
    stop = [Words(each.sentence()) for each in lowest_labels(fit)[:1] if each.negligible]
    if not more.any():
        text = f"There are enough double judgments to know what labels are worth to within {DEVIATION:g}"
        return [Words(f"{text} (standard deviation), as far as these topics allow."), *stop]
    listed = [f"{more[n]:,} of them labelled {fit.scale.labels[n]}" for n in reversed(range(len(more))) if more[n]]
    text = f"judge {more.sum():,} more results twice, {', '.join(listed)}, to know what labels are worth to within"
    return [Words(f"{text} {DEVIATION:g} (standard deviation, on these topics).", "todo"), *stop]
