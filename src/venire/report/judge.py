"""The judge: which labels score the runs, where nobody said whose; and on which topics.

One assessor does who judged nearly everything; of several, who judged the most, and of those the first by name.  Those
who give one label only are passed over while another is there: such labels distinguish no systems.  One who labels
differently from the others is not: the others may be wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from venire.agreement.habits import ONE_LABEL
from venire.agreement.profiles import Profiles
from venire.data.facts import Facts
from venire.data.judgments import Judgments
from venire.data.primary import coverage
from venire.types import Bools, Floats

NEARLY_ALL = 0.9
"""The share of items that one assessor must have judged to stand for all."""
NOTHING = (ONE_LABEL,)
"""Flags of assessors whose labels tell nothing, whoever is right."""


def coverage_but(judgments: Judgments, names: Sequence[str]) -> Floats:
    """Share of the judged items that each assessor judged, those who stand for users counting as none."""
    return np.where(np.isin(judgments.assessors, list(names)), 0.0, coverage(judgments))


def choose_judge(judgments: Judgments, users: Sequence[str], useless: Mapping[str, str]) -> str:
    """Name the assessor who judged the most, and whose labels tell something if such a one judged nearly all."""
    share, names = coverage_but(judgments, users), judgments.assessors
    useful = np.where(np.isin(names, list(useless)), 0.0, share)
    return names[int((useful if useful.max() >= NEARLY_ALL else share).argmax())]


def useless_assessors(profiles: Profiles) -> dict[str, str]:
    """Assessors whose labels tell nothing, with the word for it."""
    found = {each["assessor"]: [flag for flag in each["flags"] if flag in NOTHING] for each in profiles.records()}
    return {name: " and ".join(flags) for name, flags in found.items() if flags}


def judged_topics(judgments: Judgments) -> Bools:
    """Topics with a label -> (topic of the judgments,)."""
    return np.bincount(judgments.items.topic[judgments.item], minlength=len(judgments.topics)) > 0


def unanswered(judgments: Judgments, facts: Facts) -> tuple[str, ...]:
    """Judged topics that no system has a list for; none of them, where that is so of all."""
    judged, listed = judged_topics(judgments), np.zeros(len(judgments.topics), dtype=np.bool_)
    listed[facts.topic] = True
    if not (listed & judged).any():
        return ()
    return tuple(judgments.topics[n] for n in np.flatnonzero(judged & ~listed).tolist())


def without(judgments: Judgments, topics: Sequence[str]) -> Judgments:
    """Leave out the labels of these topics."""
    if not topics:
        return judgments
    topic = np.array(judgments.topics, dtype=object)[judgments.items.topic[judgments.item]]
    return judgments.take(~np.isin(topic, list(topics)))


class Unjudged(NamedTuple):
    """First results that the judge did not judge: how many of a list, on average, and their share; both (system,)."""

    number: Floats
    share: Floats


def unjudged_results(facts: Facts, labels: Judgments, top: int) -> Unjudged:
    """Count what was not judged among the first results of the lists that are there, of judged topics.  O(hits).

    A list that is shorter has fewer results to judge, and a missing one none; a system without any counts as unjudged.
    """
    judged = np.bincount(labels.item, minlength=len(labels.items)) > 0
    counted = np.append(0, np.cumsum(judged[facts.item] & (facts.rank <= top)))
    there = judged_topics(labels)[facts.topic]
    results = np.where(there, np.minimum(facts.depth, top), 0)
    missed = np.where(there, results - (counted[facts.offset[1:]] - counted[facts.offset[:-1]]), 0)
    n_lists, n_results, n_missed = (
        np.bincount(facts.system, each, minlength=len(facts.systems)) for each in (there, results, missed)
    )
    none = n_results == 0
    return Unjudged(n_missed / np.maximum(n_lists, 1), np.where(none, 1.0, n_missed / np.where(none, 1.0, n_results)))
