"""The verdict: can these judgments tell these systems apart, for whom, how sure is that, and what to do next."""

from __future__ import annotations

import numpy as np

from venire.comparison.forecast import TIE
from venire.comparison.verdict import MOST_NAMES, SOURCES
from venire.data.assessors import PRIMARY, copy_notes
from venire.kernels.resampling import FEW_TOPICS
from venire.report.advice import advice
from venire.report.document import Chapter, Grid, Part, Words
from venire.report.evidence import TOP, Evidence
from venire.report.judge import coverage_but, judged_topics
from venire.report.question import Missing
from venire.results import counted, listed


def chapter(evidence: Evidence) -> Chapter:
    """Write it."""
    found = evidence.verdict
    parts: list[Part] = [*_sure(evidence), *_apart(evidence), *_limits(evidence), *advice(evidence)]
    headline = " ".join([found.sentence(), *_level(evidence), *_copied(evidence)])
    return Chapter("verdict", "Verdict", headline, tuple(parts), {"verdict": found.record()})


def _level(evidence: Evidence) -> list[str]:
    """Say who else might have scored the runs, where nothing tells them from the judge who was chosen."""
    if evidence.level_with:
        others, judge = listed(evidence.level_with, MOST_NAMES), evidence.judge
        as_well = f"{others} judged as much and {'agrees' if len(evidence.level_with) == 1 else 'agree'} as well"
        return [f"All this is by the labels of {judge}, which come first in the files; {as_well} (see --assessor)."]
    if evidence.level_topics:
        topics = counted(evidence.level_topics, "topic")
        return [f"On {topics}, two assessors judged as much and agree as well; whose labels come first counts there."]
    return []


def _copied(evidence: Evidence) -> list[str]:
    """Say that another judge is none, where one repeats the labels that score the runs."""
    return [f"{note}." for note in copy_notes(evidence.copies, evidence.judge)]


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
    tested, plan, found = evidence.tested, evidence.plan, evidence.verdict
    if isinstance(tested, Missing) or isinstance(plan, Missing) or found.n_topics < 2 or np.ptp(found.mean) <= TIE:
        return []
    highest = max(1.0, float(np.nanmax(evidence.scores["linear"].values)))
    if plan.median_detectable > highest:
        few = f"With {found.n_topics} topics a difference would have to be larger than any score to be found for sure."
        return [Words(f"{tested.sentence()} {few}")]
    return [Words(f"{tested.sentence()} {plan.sentence()}")]


def _limits(evidence: Evidence) -> list[Part]:
    """Say what cannot be concluded, and whose labels all this rests on."""
    words: list[Part] = [
        *_unmatched(evidence),
        *_all_alike(evidence),
        *_one_label(evidence),
        *_lists(evidence),
        *_whose(evidence),
    ]
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


def _whose(evidence: Evidence) -> list[Part]:
    """Say whose labels score the runs, where that was not chosen and others are there."""
    if len(evidence.question.judgments.assessors) == 1 or evidence.question.assessor is not None:
        return []
    if evidence.judge != PRIMARY:
        whose = f"with the labels of {evidence.judge}, {_why_them(evidence)}"
    else:
        whose = (
            "on each topic with the labels of whoever judged most of it, and for the rest of it with those of others"
        )
    named = evidence.question.reference
    users = f"; those of {listed(named)} also as those of users" if named else " and of users"
    others = f"; the other labels serve as those of other judges{users}" if evidence.several else ""
    return [Words(f"The runs are scored {whose}{others}. --assessor chooses one.")]


def _why_them(evidence: Evidence) -> str:
    """Say why the judge is the judge: they judged the most, agree most with the others, or come first in the files."""
    share, names = coverage_but(evidence.labels, evidence.question.reference), evidence.labels.assessors
    as_much = [name for name, n in zip(names, share, strict=True) if n >= share[names.index(evidence.judge)]]
    over = [name for name in as_much if name in evidence.useless and name != evidence.judge]
    passed = f", except {listed(over)}, whose labels tell nothing" if over else ""
    if evidence.level_with:
        return f"the first in the files of those who judged the most and agree most with others{passed}"
    alone = len(as_much) - len(over) == 1
    return (
        f"who judged the most{passed}"
        if alone
        else f"of those who judged the most{passed}, who agrees most with others"
    )


def _unmatched(evidence: Evidence) -> list[Part]:
    """Say that nothing of what the systems return was judged: the names may not be the same."""
    if not evidence.nothing_judged:
        return []
    text = f"None of the first {TOP} results of any system was judged, so nothing can be said of the systems: see that"
    return [Words(f"{text} judgments and runs have the same names of topics and documents.", "warning")]


def _all_alike(evidence: Evidence) -> list[Part]:
    """Say that labels which are all the same tell nothing of the systems."""
    label = evidence.only_label
    if label is None:
        return []
    text = f"All labels that score the runs are {label}: systems differ, if at all, in how much was judged."
    return [Words(text, "warning")]


def _one_label(evidence: Evidence) -> list[Part]:
    """Warn of a judge whose labels tell nothing, where there was no better one or they were chosen."""
    if evidence.judge not in evidence.useless:
        return []
    text = f"{evidence.judge}, whose labels score the runs, gives one label only: what follows rests on little"
    return [Words(f"{text}. --assessor chooses another.", "warning")]


def _lists(evidence: Evidence) -> list[Part]:
    """Say which topics have no lists, or no labels, and what becomes of them."""
    if evidence.nothing_judged:
        return []
    words, n_judged, facts = [], int(judged_topics(evidence.question.judgments).sum()), evidence.facts
    if evidence.left_out:
        named = listed(evidence.left_out)
        words.append(f"No system has a list for {len(evidence.left_out)} of {n_judged} judged topics: {named}.")
        words[-1] += f" {'It is' if len(evidence.left_out) == 1 else 'They are'} left out."
    scored = evidence.scores["linear"].names["topic"]
    inside = np.isin(np.array(facts.items.topics, dtype=object)[facts.topic], scored)
    missing = len(scored) - np.bincount(facts.system[inside], minlength=len(facts.systems))
    lacking = [f"{facts.systems[n]} for {missing[n]}" for n in np.argsort(-missing, kind="stable") if missing[n] > 0]
    if lacking:
        text = f"Some systems have no list for some of the {len(scored)} topics, which count as 0 there"
        words.append(f"{text}: {listed(lacking)}.")
    if facts.unjudged_topics:
        were = "was not judged, and is" if len(facts.unjudged_topics) == 1 else "were not judged, and are"
        words.append(f"{counted(len(facts.unjudged_topics), 'topic')} of the runs {were} left out.")
    return [Words(text, "warning") for text in words]


def _user(evidence: Evidence) -> str:
    """Say who a random user is, and what satisfies them."""
    people = ", ".join(evidence.question.reference)
    like = f"judges like {people} (--reference)" if people else "judges like one of the assessors"
    higher = "" if evidence.relevant == evidence.question.judgments.scale.labels[-1] else " or higher"
    return f"A random user {like}, and is satisfied by what they label {evidence.relevant}{higher} (--relevant)."
