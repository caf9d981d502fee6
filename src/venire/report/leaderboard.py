"""The leaderboard: a row per system, best first, with its score, its interval, the scores by every judge, and groups.

The score is that of the judge who scores the runs; the interval is Student's, over topics.  P(best) is the share of
draws in which a system comes first, of other topics and another judge together, or of other topics alone if nothing is
known of other judges.  Systems with the same score on every topic count as one, and a first place shared by k
different systems counts 1/k (``comparison.verdict``).

Systems of a group do not differ significantly (``comparison.groups``); groups are those of the systems that are shown
at first, and a system further down has the ranks between which others do not differ from it.  The best system, and
those with its score on every topic, are compared with the others by the test of the verdict, which needs no adjustment,
and other pairs by p-values that are adjusted for all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from venire.comparison.by_judge import SHOWN as ENOUGH
from venire.comparison.forecast import TIE
from venire.comparison.groups import groups
from venire.comparison.verdict import first_places, same_scores
from venire.report.evidence import Evidence
from venire.report.question import Missing
from venire.results import Records, known
from venire.types import Bools, Floats, Ints

MOST_DOTS = 60
"""How many judges have a dot: with more, the first ones; people come before machines."""
ALL_SHOWN, SHOWN = 12, 10
"""With more systems than the first number, the second number of rows is shown at first."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Judge:
    """Whose labels score systems: the name, and the kind that was declared (reference, person, machine, or nothing)."""

    name: str
    kind: str = ""


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Systems, best first: score, low, high, p_best (system,); by_judge (judge, system).

    different (system, system): who differs significantly; member (group, system): of the systems that are shown at
    first.  source: what p_best was drawn from; scorer: the judge who gives the scores; crowd: whether another judge is
    another crowd; same (system,): groups of systems that have the same score on every topic, and count as one; silent:
    systems that returned nothing, which have no score.
    """

    measure: str
    systems: tuple[str, ...]
    score: Floats
    low: Floats
    high: Floats
    p_best: Floats
    source: str
    judges: tuple[Judge, ...]
    by_judge: Floats
    different: Bools
    member: Bools
    scorer: str
    same: Ints
    crowd: bool = False
    silent: tuple[str, ...] = ()

    @property
    def twins(self) -> bool:
        """Whether some systems have the same score on every topic."""
        return len(np.unique(self.same)) < len(self.systems)

    @cached_property
    def reversed(self) -> Bools:
        """Whether a judge has a system ahead of the best one and its twins; in their rows, whether any.

        -> (judge, system)
        """
        best = self.same == self.same[0]
        top = np.nan_to_num(self.by_judge[:, best], nan=-np.inf).max(axis=1, keepdims=True)
        ahead = np.isfinite(top) & (np.nan_to_num(self.by_judge, nan=-np.inf) > top + TIE)
        ahead[:, best] = ahead.any(axis=1, keepdims=True) & np.isfinite(self.by_judge[:, best])
        return ahead

    def alike(self, system: int) -> tuple[int, int]:
        """Return the first and the last rank of the systems that do not differ significantly from a system."""
        ranks = np.flatnonzero(~self.different[system]) + 1
        return int(ranks[0]), int(ranks[-1])

    def letters(self, system: int) -> str:
        """Return the groups of a system as letters; none for a system that is not shown at first."""
        shown = system < self.member.shape[1]
        return "".join(LETTERS[n] for n in np.flatnonzero(self.member[:, system])[: len(LETTERS)]) if shown else ""

    @property
    def n_shown(self) -> int:
        """How many systems are shown at first."""
        return self.member.shape[1]

    def records(self) -> Records:
        """Return one row per system."""
        unknown = dict.fromkeys(("score", "low", "high", "p_best"))
        no_scores = {"groups": "", "by_judge": {each.name: None for each in self.judges}, "reversed_by": []}
        rows = [
            {
                "system": system,
                "score": known(self.score[n]),
                "low": known(self.low[n]),
                "high": known(self.high[n]),
                "p_best": known(self.p_best[n]),
                "groups": self.letters(n),
                "by_judge": {each.name: known(self.by_judge[j, n]) for j, each in enumerate(self.judges)},
                "reversed_by": [each.name for j, each in enumerate(self.judges) if self.reversed[j, n]],
            }
            for n, system in enumerate(self.systems)
        ]
        return [*rows, *({"system": system, **unknown, **no_scores} for system in self.silent)]


def leaderboard(evidence: Evidence) -> Leaderboard:
    """Rank the systems."""
    scores = evidence.scores["linear"]
    mean = np.nan_to_num(evidence.verdict.mean, neginf=np.nan)
    order = np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable")
    first = order if len(order) <= ALL_SHOWN else order[:SHOWN]
    low, high = (each.values[:, 0] for each in scores.interval())
    p_best, source = _first_places(evidence)
    found, different = evidence.by_judge, different_systems(evidence)
    kept = [j for j, share in enumerate(found.share[:, 0]) if share >= ENOUGH][:MOST_DOTS]
    place = [found.systems.index(scores.names["system"][n]) for n in order.tolist()]
    return Leaderboard(
        evidence.question.measure,
        tuple(scores.names["system"][n] for n in order.tolist()),
        mean[order],
        low[order],
        high[order],
        p_best[order],
        source,
        tuple(Judge(found.judges[j], kind_of(evidence, found.judges[j])) for j in kept),
        found.mean[:, :, 0][np.ix_(kept, place)],
        different[np.ix_(order, order)],
        groups(different[np.ix_(first, first)]),
        evidence.judge,
        same_scores(scores)[order],
        evidence.another_crowd,
        scores.silent,
    )


def kind_of(evidence: Evidence, judge: str) -> str:
    """Return what was declared of a judge: reference, person or machine; nothing if nothing was."""
    labels = evidence.judgments
    if judge in labels.reference:
        return "reference"
    return "machine" if judge in labels.machines else "person" if judge in labels.people else ""


def _first_places(evidence: Evidence) -> tuple[Floats, str]:
    """Return the share of draws in which each system comes first, and what is drawn; NaN if nothing can be."""
    source = next((name for name in ("both", "topics", "judges") if name in evidence.draws), "")
    if not source:
        return np.full(len(evidence.verdict.systems), np.nan), source
    return first_places(evidence.draws[source], same_scores(evidence.scores["linear"])), source


def different_systems(evidence: Evidence) -> Bools:
    """Return which systems differ significantly -> (system, system)."""
    verdict, tested = evidence.verdict, evidence.tested
    n, names = len(verdict.systems), np.array(verdict.systems, dtype=object)
    found = np.zeros((n, n), dtype=np.bool_)
    if not isinstance(tested, Missing) and verdict.n_topics > 1:
        place: Ints = np.array([verdict.systems.index(name) for name in tested.systems])
        found[place[tested.a], place[tested.b]] = tested.significant
        found |= found.T
    rival: Any = np.isin(names, [*verdict.rivals, verdict.best])
    best: Any = np.isin(names, [verdict.best, *verdict.twins])
    found[best], found[:, best] = ~rival, ~rival[:, None]
    return found
