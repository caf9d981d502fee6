"""The verdict: can these judgments tell these systems apart, for whom, how sure is that, and what to do next."""

from __future__ import annotations

import numpy as np

from venire.analysis.judging_effort import double_judgments_needed, lowest_labels
from venire.analysis.verdicts import SOURCES
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
    tested = evidence.tested
    if isinstance(tested, Missing) or len(tested.a) == 0:
        return []
    plan = evidence.plan
    return [Words(f"{tested.sentence()} {plan.sentence()}")]


def _limits(evidence: Evidence) -> list[Part]:
    """Say what cannot be concluded, and whose labels all this rests on."""
    words: list[Part] = []
    if evidence.several and evidence.question.assessor is None:
        words.append(
            Words(
                f"The runs are scored with the labels of {evidence.judge}, who judged the most; the other assessors "
                "serve as other judges and as users. --assessor chooses another."
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
    words: list[Part] = []
    found, plan = evidence.verdict, evidence.plan
    if found.winner is None and found.second is not None and found.lead > 0:
        pair = {found.best, found.second}
        needed = [
            n for a, b, n in zip(plan.a, plan.b, plan.needed, strict=True) if {plan.systems[a], plan.systems[b]} == pair
        ]
        if needed and np.isfinite(needed[0]):
            n = int(np.ceil(needed[0]))
            words.append(
                Words(
                    f"judge about {n:,} topics in all to tell {found.best} from {found.second} (80 % power for the "
                    "difference seen).",
                    "todo",
                )
            )
    words += _double_judgments(evidence)
    return words


def _double_judgments(evidence: Evidence) -> list[Part]:
    fit = evidence.user_fit
    if isinstance(fit, Missing):
        return [
            Words("have a second assessor judge some 300 results again, drawn from what the systems return.", "todo")
        ]
    effort = known(lambda: double_judgments_needed(fit, DEVIATION))
    if isinstance(effort, Missing):
        return []
    said: list[Part] = [Words(text[:1].lower() + text[1:], "todo") for text in effort.sentences()[:2]]
    return [*said, *[Words(each.sentence()) for each in lowest_labels(fit)[:1] if each.negligible]]
