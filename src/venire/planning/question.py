"""A question about systems: which differences it is about, and when intervals decide it.

A pair, the best and the first K are decided where the intervals of all differences between one of the first systems and
those behind it exclude 0: an intersection-union test, which needs no adjustment for their number (Berger 1982,
doi:10.1080/00401706.1982.10487790).  Levels are decided where all intervals are short enough.  Systems whose results
count alike in every topic have the same score by any labels, so they count as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.planning.goals import LEVELS, PAIR, Goal
from venire.types import Bools, Floats, Ints

WITHIN = 0.03
"""Levels are decided where intervals are at most this far from the score."""


@dataclass(frozen=True, eq=False)
class Question:
    """A goal about some systems: the numbers of those it is about, how many come first, or that it is their levels."""

    members: Ints
    first: int
    within: float | None

    @classmethod
    def of(cls, goal: Goal, systems: Sequence[str], *, within: float = WITHIN) -> Question:
        """Find the systems of a goal."""
        everyone = np.arange(len(systems))
        if goal.kind == LEVELS:
            return cls(everyone, 0, within)
        if goal.kind == PAIR:
            return cls(np.array(goal.pair(systems)), 1, None)
        return cls(everyone, goal.first(len(systems)), None)

    def of_groups(self, groups: Sequence[Sequence[int]]) -> Question:
        """Ask about one system of each group of the same ones, unless all are; levels are those of all systems."""
        if self.within is not None or len(groups) < 2:
            return self
        kept = np.array([each[0] for each in groups])
        return replace(self, members=kept, first=min(self.first, len(kept) - 1))

    def order(self, value: Floats) -> Ints:
        """Return the systems it is about, the best first -> (member,)."""
        return self.members[np.argsort(-value[self.members], kind="stable")]

    def decided(self, values: Floats, covariance: Floats, reach: float) -> Bools:
        """Whether intervals of ``reach`` standard deviations decide it; values (draw, system) -> (draw,)."""
        if self.within is not None:
            return np.full(len(values), self.half_width(values, covariance, reach) <= self.within)
        values, deviation = values[:, self.members], reach * deviations(covariance)[np.ix_(self.members, self.members)]
        order = np.argsort(-values, axis=1, kind="stable")
        ranked, found = np.take_along_axis(values, order, axis=1), np.ones(len(values), dtype=np.bool_)
        for place in range(self.first):
            ahead = ranked[:, place, None] - ranked[:, place + 1 :]
            found &= (ahead > deviation[order[:, place, None], order[:, place + 1 :]] + 1e-12).all(axis=1)
        return found

    def half_width(self, value: Floats, covariance: Floats, reach: float) -> float:
        """Half-width of the widest interval of a score for levels, else the mean one of neighbours in the order."""
        if self.within is not None:
            return reach * float(np.sqrt(np.diagonal(covariance)[self.members]).max())
        order = self.order(value)[: self.first + 1]
        return reach * float(deviations(covariance)[order[:-1], order[1:]].mean())

    def doubts(self, value: Floats, covariance: Floats) -> Iterator[tuple[int, Floats]]:
        """Yield each of the first systems, with the probability that each other one is not behind it (system,)."""
        from scipy.special import ndtr

        order, deviation = self.order(value), deviations(covariance)
        for place in range(self.first):
            ahead, behind = int(order[place]), order[place + 1 :]
            sd = np.maximum(deviation[ahead, behind], 1e-12)
            doubt = np.zeros(len(value))
            doubt[behind] = np.maximum(ndtr(-(value[ahead] - value[behind]) / sd), 1e-6)
            yield ahead, doubt

    @property
    def what(self) -> str:
        """What the half-width in the forecast is about."""
        if self.within is not None:
            return "the least certain mean score"
        if len(self.members) == 2:
            return "the difference of the two systems"
        return "the difference of the first two systems" if self.first == 1 else "a difference of neighbours"


def same_rows(weights: Floats) -> list[list[int]]:
    """Group the systems whose weights on all items are the same, in the order of their first ones; (system, item).

    Examples
    --------
    >>> same_rows(np.array([[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]]))
    [[0, 2], [1]]
    """
    found: dict[bytes, list[int]] = {}
    for system, row in enumerate(weights):
        found.setdefault(row.tobytes(), []).append(system)
    return list(found.values())


def deviations(covariance: Floats) -> Floats:
    """Return the standard deviation of all differences -> (system, system)."""
    variance = np.diagonal(covariance)
    return np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, 0.0))


def reach_of(degrees: int, level: float) -> float:
    """Return how many standard deviations an interval of this level has on either side."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - level / 2))
