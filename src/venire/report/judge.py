"""The judge: which labels score the runs, where nobody said whose; and on which topics.

One assessor does who judged nearly everything; of several, who judged the most, and of those the first by name.  Those
whose labels tell nothing (always one label, or at random) are passed over while another is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from venire.agreement.profiles import Profiles
from venire.data.facts import Facts
from venire.data.judgments import Judgments
from venire.data.primary import coverage
from venire.types import Bools, Floats

NEARLY_ALL = 0.9
"""The share of items that one assessor must have judged to stand for all."""
NOTHING = ("one label", "random")
"""Habits of assessors whose labels tell nothing."""


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
