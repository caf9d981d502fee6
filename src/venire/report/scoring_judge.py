"""The judge: whose labels score the runs if nobody is named, and on which topics.

If a reference or machines are declared, it is one of the reference, or else of the people, or else of the machines: the
first of these groups who judged nearly all results.  Among them, or among all if nothing is declared, it is the
assessor who judged nearly all items; of several, who judged most, and of these who agrees most with others (kappa).
Who judged at least 99% as many items as the busiest assessor counts as having judged as many: a few missing labels
must not decide.
Assessors who give one label only are passed over if there is another, since such labels distinguish no systems.  Those
who label differently from the others are not: the others may be wrong.  Of assessors with equal rank, one is taken by a
hash of the labels, and the report names the others in its first finding.  Names and the order of rows have no
influence.

Of a crowd, in which many people judged a small part each, no single one is the judge: their labels are pooled.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from venire.agreement.flags import ONE_LABEL, habits
from venire.agreement.profiles import Profiles
from venire.data.assessors import by_content, coverage
from venire.data.judgments import Judgments, is_conditional
from venire.data.runs import Facts
from venire.types import Bools, Floats

NEARLY_ALL = 0.9
"""The share of items that an assessor must have judged to score the runs alone."""
CROWD, PART, DEEP = 20, 0.5, 2.0
"""A crowd: so many people, none of whom judged this part of the items, with so many labels per item on average."""
AS_MANY = 0.99
"""Who judged at least this share of what the busiest assessor judged counts as having judged as much."""
DIGITS = 9
"""Coverage and kappa are compared after rounding to this many digits."""


def coverage_but(judgments: Judgments, names: Sequence[str]) -> Floats:
    """Return the share of the judged items that each assessor judged; 0 for the named ones."""
    return np.where(np.isin(judgments.assessors, list(names)), 0.0, coverage(judgments))


def levelled(share: Floats) -> Floats:
    """Return coverage, with that of the busiest assessor for all who judged nearly as much.

    Examples
    --------
    >>> levelled(np.array([0.999, 1.0, 0.5])).tolist()
    [1.0, 1.0, 0.5]
    """
    most = share.max(initial=0.0)
    return np.where(share >= AS_MANY * most, most, share)


def is_crowd(judgments: Judgments) -> bool:
    """Whether many people judged, each a small part, and items have several labels."""
    apart = {*judgments.reference, *judgments.machines}
    person = np.array([name not in apart for name in judgments.assessors], dtype=np.bool_)
    labels = judgments.item[person[judgments.assessor.codes] & ~is_conditional(judgments)]
    few = coverage(judgments)[person].max(initial=0.0) < PART
    return bool(person.sum() >= CROWD and few and len(labels) >= DEEP * len(np.unique(labels)))


def share_of_results(judgments: Judgments, facts: Facts, names: Sequence[str], depth: int | None) -> float:
    """Return the share of the judged results of some system, down to a depth, that the named assessors labelled."""
    within = facts.rank > 0 if depth is None else facts.rank <= depth
    returned, judged, own = (np.zeros(len(judgments.items), dtype=np.bool_) for _ in range(3))
    returned[facts.item[within]] = True
    judged[judgments.item] = True
    own[judgments.item[np.isin(judgments.assessors, list(names))[judgments.assessor.codes]]] = True
    results = returned & judged
    return float(own[results].mean()) if results.any() else float(own[judged].mean())


@dataclass(frozen=True, eq=False)
class Ranking:
    """Assessors in order of preference; standing (assessor, 2): coverage and kappa, in the order of names."""

    names: tuple[str, ...]
    standing: Floats

    @classmethod
    def of(cls, judgments: Judgments, users: Sequence[str], profiles: Profiles | None) -> Ranking:
        """Rank by the share of items judged, then by kappa with the others, then by a hash of the labels."""
        kappas = {} if profiles is None else dict(zip(profiles.assessors, profiles.kappa.value.tolist(), strict=True))
        kappa = np.nan_to_num([kappas.get(name, np.nan) for name in judgments.assessors], nan=-1.0)
        standing = np.round(np.stack([levelled(coverage_but(judgments, users)), kappa], axis=1), DIGITS)
        place = {name: number for number, name in enumerate(by_content(judgments))}
        content = np.array([place[name] for name in judgments.assessors])
        order = np.lexsort((content, -standing[:, 1], -standing[:, 0]))
        return cls(tuple(judgments.assessors[n] for n in order.tolist()), standing[order])

    def choose(self, useless: Collection[str]) -> str:
        """Return the first who judged nearly all items and gives more than one label, or else the first."""
        useful = (n for n, name in enumerate(self.names) if name not in useless and self.standing[n, 0] >= NEARLY_ALL)
        return self.names[next(useful, 0)]

    def equals(self, name: str, useless: Collection[str]) -> tuple[str, ...]:
        """Return the others with the same coverage and kappa."""
        same = (self.standing == self.standing[self.names.index(name)]).all(axis=1)
        return tuple(
            other
            for other, equal in zip(self.names, same.tolist(), strict=True)
            if equal and other != name and (other in useless) == (name in useless)
        )


def level_topics(judgments: Judgments, ranking: Ranking) -> int:
    """Count topics of which two assessors of equal standing judged most, as many items each.  O(rows)."""
    place_of = {name: number for number, name in enumerate(ranking.names)}
    place = np.array([place_of[name] for name in judgments.assessors])
    topic, n_assessors = judgments.items.topic[judgments.item].astype(np.int64), len(place)
    cell, load = np.unique(topic * n_assessors + place[judgments.assessor.codes], return_counts=True)
    topic, who = np.divmod(cell, n_assessors)
    load = np.where(ranking.standing[who, 0] > 0, load, 0)
    order = np.lexsort((who, -load, topic))
    topic, load, standing = topic[order], load[order], ranking.standing[who[order]]
    first = np.append(True, topic[1:] != topic[:-1])[:-1]
    level = first & (topic[1:] == topic[:-1]) & (load[1:] == load[:-1]) & (standing[1:] == standing[:-1]).all(axis=1)
    return int(level.sum())


def useless_assessors(profiles: Profiles) -> frozenset[str]:
    """Return the assessors who give one label only, which distinguishes no systems."""
    found = habits(profiles).items()
    return frozenset(profiles.assessors[n] for n, some in found if any(each.flag == ONE_LABEL for each in some))


def judged_topics(judgments: Judgments) -> Bools:
    """Return which topics have a label -> (topic of the judgments,)."""
    return np.bincount(judgments.items.topic[judgments.item], minlength=len(judgments.topics)) > 0


def unanswered(judgments: Judgments, facts: Facts) -> tuple[str, ...]:
    """Return judged topics without a list by any system; none, if that holds for all."""
    judged, listed = judged_topics(judgments), np.zeros(len(judgments.topics), dtype=np.bool_)
    listed[facts.topic] = True
    if not (listed & judged).any():
        return ()
    return tuple(judgments.topics[n] for n in np.flatnonzero(judged & ~listed).tolist())


def without(judgments: Judgments, topics: Sequence[str]) -> Judgments:
    """Omit the labels of these topics."""
    if not topics:
        return judgments
    topic = np.array(judgments.topics, dtype=object)[judgments.items.topic[judgments.item]]
    return judgments.take(~np.isin(topic, list(topics)))


class Unjudged(NamedTuple):
    """First results without a label: their mean number per list, and their share; both (system,)."""

    number: Floats
    share: Floats


def unjudged_results(facts: Facts, labels: Judgments, top: int) -> Unjudged:
    """Count what was not judged among the first results of the lists of judged topics.  O(hits).

    Shorter lists have fewer results, and missing lists none; a system without results counts as unjudged.
    """
    judged = np.bincount(labels.item, minlength=len(labels.items)) > 0
    answered = judged_topics(labels)[facts.topic]
    results = np.where(answered, np.minimum(facts.depth, top), 0)
    missed = np.where(answered, results - facts.documents(judged, depth=top), 0)
    n_lists, n_results, n_missed = (
        np.bincount(facts.system, each, minlength=len(facts.systems)) for each in (answered, results, missed)
    )
    none = n_results == 0
    return Unjudged(n_missed / np.maximum(n_lists, 1), np.where(none, 1.0, n_missed / np.where(none, 1.0, n_results)))
