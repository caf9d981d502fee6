"""Plan: what to judge next, with the probability of each choice, and what these judgments are expected to tell.

The kinds of judgments are those of ``data.asked``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from venire.data.asked import KINDS, Asked
from venire.errors import SettingError, UnknownName
from venire.planning.goals import TOPICS, Goal
from venire.results import Note, Records, Tabular, counted, known

JUDGE, DECIDED, SPENT, UNDECIDABLE = "judge", "decided", "budget", "not decidable"
"""What to do: judge what the plan lists, or stop, and why."""
STOPS = {
    DECIDED: "Goal {goal}: decided; no more {things} are needed.",
    SPENT: "Goal {goal}: the budget is spent, and the goal is not decided.",
    UNDECIDABLE: "Goal {goal}: nothing that counts is left to judge, and the goal is not decided.",
}
MORE_TOPICS = "Goal {goal}: more topics do not decide it."
SPENT_SO_FAR, ALL_ASKED = "plan-spent", "all-asked"
"""The kinds of notes on what earlier plans spent, and that a plan has all that can be asked."""
DECIDED_WITH = 0.8
"""A budget is enough where the goal is decided with this probability."""


class Expected(NamedTuple):
    """What a budget is expected to give: the probability that the goal is decided, and the half-width of intervals."""

    budget: float
    p_decided: float
    half_width: float


@dataclass(frozen=True, eq=False)
class Plan(Tabular):
    """What to judge next.

    budget: what may still be spent; asked: judgments to collect, in blocks by topic; forecast: by budget, ascending;
    what: the quantity whose intervals have that half-width; enough: the budget with which the goal is decided with
    probability ``DECIDED_WITH``, None where none is; state: one of ``JUDGE``, ``DECIDED``, ``SPENT``, ``UNDECIDABLE``;
    minutes: expected time of the assessors, None where no times are known; outcome: what the judgments so far tell,
    said where a plan stops; share: what ``p_decided`` is the expected share of, "" where it is a probability.
    """

    goal: str
    budget: float
    asked: tuple[Asked, ...]
    forecast: tuple[Expected, ...]
    what: str
    enough: float | None = None
    state: str = JUDGE
    minutes: float | None = None
    notes: tuple[Note, ...] = ()
    outcome: str = ""
    share: str = ""

    def __len__(self) -> int:
        return len(self.asked)

    def sentence(self) -> str:
        """Say what to collect, and what it is expected to tell."""
        if self.state != JUDGE:
            return f"{self._stop()} {self.outcome}".rstrip()
        kinds = Counter(each.kind for each in self.asked)
        listed = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items()))
        there = self.there
        collect = f": collect {counted(len(self.asked), 'judgment')} ({listed})" if listed else ""
        parts = [f"Goal {self.goal}{collect}."]
        if there is not None:
            given = f"a {self._budget} of {amount(there.budget)}"
            given = counted(round(there.budget), "more topic") if self.of_topics else given
            chance = f"the expected share of {self.share} is" if self.share else "the goal is decided with probability"
            parts.append(
                f"With {given} {chance} {there.p_decided:.2f}, and "
                f"the 95% interval of {self.what} has a half-width of {there.half_width:.3f}."
            )
        return " ".join([*parts, *self._enough()])

    @property
    def there(self) -> Expected | None:
        """The forecast for the budget, or for all that can be asked where that is less; None where there is none."""
        most = min(self.budget, self.forecast[-1].budget) if self.forecast else 0.0
        return min(self.forecast, key=lambda each: abs(each.budget - most), default=None)

    def enough_at(self) -> str:
        """Write the budget that is enough: "about 83", or "about 50 or less" where the forecast has no smaller one."""
        return f"about {amount(self.enough or 0.0)}{' or less' if self._least else ''}"

    @property
    def _least(self) -> bool:
        """Whether the smallest budget of the forecast is enough, so that less may be, too."""
        return self.enough is not None and self.enough != 1 and self.forecast[0].p_decided >= DECIDED_WITH

    @property
    def of_topics(self) -> bool:
        """Whether the budget is a number of topics."""
        return Goal.parse(self.goal).kind == TOPICS

    @property
    def _budget(self) -> str:
        """What a budget of the forecast is called: a further one if a part was spent by earlier plans."""
        return "further budget" if any(note.kind == SPENT_SO_FAR for note in self.notes) else "budget"

    def _stop(self) -> str:
        text = MORE_TOPICS if self.of_topics and self.state == UNDECIDABLE else STOPS[self.state]
        return text.format(goal=self.goal, things="topics" if self.of_topics else "judgments")

    def _enough(self) -> list[str]:
        if self.enough is None:
            return []
        if not self.of_topics:
            return [f"A {self._budget} of {self.enough_at()} decides it with probability {DECIDED_WITH:g} or more."]
        topics = f"{counted(round(self.enough), 'more topic')}{' or fewer' if self._least else ''}"
        return [
            f"With about {topics} it is {'' if self.share else 'decided with probability '}{DECIDED_WITH:g} or more."
        ]

    def records(self) -> Records:
        """Return one row per judgment to collect; preferences have the second document in ``other``."""
        names = Asked._fields if any(each.other for each in self.asked) else Asked._fields[:-1]
        return [dict(zip(names, each, strict=False)) for each in self.asked]

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON, with the forecast."""
        forecast = [
            {"budget": each.budget, "p_decided": known(each.p_decided), "half_width": known(each.half_width)}
            for each in self.forecast
        ]
        more = {"goal": self.goal, "state": self.state, "enough": self.enough, "minutes": self.minutes}
        return {**super().to_dict(), **more, "forecast": forecast}


def amount(budget: float) -> str:
    """Write a budget: a large one as a whole number.

    Examples
    --------
    >>> amount(7.5), amount(200.0), amount(1234567.5)
    ('7.5', '200', '1,234,568')
    """
    return f"{budget:,.0f}" if budget >= 1000 else f"{budget:g}"


def rounded(budget: float) -> str:
    """Write a budget of a forecast: from 10 on as a whole number, others with two digits.

    Examples
    --------
    >>> rounded(0.25), rounded(7.25), rounded(1234.5)
    ('0.25', '7.2', '1,234')
    """
    return f"{budget:,.0f}" if budget >= 10 else f"{budget:.2g}"


def enough(forecast: Sequence[Expected], most: float = np.inf) -> float | None:
    """Return the budget, at most ``most``, that decides the goal with probability ``DECIDED_WITH``; None if none does.

    Between two budgets of the forecast it is interpolated on a logarithmic scale.  Budgets above ``most`` buy no more.

    Examples
    --------
    >>> enough([Expected(50, 0.4, 0.1), Expected(100, 0.7, 0.08), Expected(200, 0.9, 0.05)])
    141.0
    """
    p = np.maximum.accumulate([each.p_decided for each in forecast])
    if not len(p) or p[-1] < DECIDED_WITH:
        return None
    at = int(np.argmax(p >= DECIDED_WITH))
    sizes = [min(float(each.budget), most) for each in forecast]
    size = sizes[at]
    if at and p[at] > p[at - 1]:
        share = (DECIDED_WITH - p[at - 1]) / (p[at] - p[at - 1])
        size = sizes[at - 1] * (size / sizes[at - 1]) ** share
    return float(np.round(size)) if size >= 1 else float(f"{size:.2g}")


def check_within(within: float, *, below: float = 0.5) -> None:
    """Refuse a half-width that decides nothing, or all; no interval of a share has one of 0.5 or more."""
    if not 0 < within < below:
        most = "" if below == np.inf else f" and below {below:g}"
        raise SettingError(f"a half-width of {within:g}", hint=f"expected a number above 0{most}, such as 0.05")


def costs(given: Mapping[str, float] | None) -> dict[str, float]:
    """Return the cost of each kind of judgment, 1 unless given.

    Examples
    --------
    >>> costs({"preference": 0.5})
    {'first': 1.0, 'second': 1.0, 'reference': 1.0, 'preference': 0.5}
    """
    for kind, cost in (given or {}).items():
        if kind not in KINDS:
            raise UnknownName("kind of judgment", kind, KINDS)
        if not 0 < cost < float("inf"):
            raise SettingError(f"{kind} judgments cost {cost:g}", hint="expected a number above 0")
    return {kind: float((given or {}).get(kind, 1.0)) for kind in KINDS}
