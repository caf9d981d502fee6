"""Goals: what more judgments are to decide.  They are written as follows.

    pair:A,B     which of two systems is better
    best         which system is the best
    top:K        the order of the first K systems
    levels       the mean score of every system
    labels       what a label is worth, p(R|i)
    agreement    how far assessors agree
    topics       how many more topics the differences of systems need; of two systems: topics:A,B
    preferences  p(a > b): how often a document labelled a is preferred to one labelled b

The first four are about systems, and need runs; so does topics:A,B.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from venire.data.asked import FIRST, PREFERENCE, REFERENCE, SECOND
from venire.errors import SettingError, UnknownName
from venire.results import listed

PAIR, BEST, TOP, LEVELS = "pair", "best", "top", "levels"
LABELS, AGREEMENT, TOPICS, PREFERENCES = "labels", "agreement", "topics", "preferences"
OF_SYSTEMS = (PAIR, BEST, TOP, LEVELS)
GOALS = ("pair:A,B", BEST, "top:K", LEVELS, LABELS, AGREEMENT, TOPICS, PREFERENCES)


@dataclass(frozen=True)
class Goal:
    """A goal: its kind, and what it is about, as it was written."""

    kind: str
    about: str = ""

    @classmethod
    def parse(cls, text: str) -> Goal:
        """Read a goal.

        Examples
        --------
        >>> Goal.parse("top:5")
        Goal(kind='top', about='5')
        """
        kind, colon, about = text.partition(":")
        odd = kind != TOPICS and bool(colon) != (kind in (PAIR, TOP))
        if odd or kind not in {each.partition(":")[0] for each in GOALS}:
            raise UnknownName("goal", text, GOALS)
        if kind == TOP and not (about.isdecimal() and len(about) < 10 and int(about) >= 1):
            raise SettingError(f"goal {text!r}: expected a number of systems", hint="for example top:5")
        return cls(kind, about)

    def __str__(self) -> str:
        return f"{self.kind}:{self.about}" if self.about else self.kind

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of judgments that its plans ask for."""
        if self.kind in OF_SYSTEMS:
            return FIRST, REFERENCE
        return {TOPICS: (), PREFERENCES: (PREFERENCE,)}.get(self.kind, (SECOND,))

    def refuse_costs(self, kinds: Collection[str]) -> None:
        """Raise where costs are of other kinds of judgments alone; a list of all prices is fine."""
        if kinds and self.kinds and not set(kinds) & set(self.kinds):
            message = f"goal {str(self)!r} asks for no {listed(sorted(kinds))} judgments, and only their cost is given"
            raise SettingError(message, hint=f"give the cost of {listed(self.kinds)} judgments")

    def first(self, n_systems: int) -> int:
        """How many of the systems are to be in order: those of top:K, 1 of best."""
        asked = int(self.about) if self.kind == TOP else 1
        if n_systems < 2:
            raise SettingError(f"goal {str(self)!r} needs two systems or more, and there is one", hint="add runs")
        return min(asked, n_systems - 1)

    def pair(self, systems: Sequence[str]) -> tuple[int, int]:
        """Return the numbers of the two systems; their names may contain commas."""
        parts = self.about.split(",")
        names = [(",".join(parts[:n]), ",".join(parts[n:])) for n in range(1, len(parts))]
        if not names:
            raise SettingError(
                f"goal {str(self)!r}: expected two systems", hint=f"for example {self.kind}:{systems[0]},OTHER"
            )
        found = [(a, b) for a, b in names if a in systems and b in systems]
        for name in () if found else names[0]:
            if name not in systems:
                raise UnknownName("system", name, systems)
        if found[0][0] == found[0][1]:
            raise SettingError(f"goal {str(self)!r} names one system twice", hint="name two systems")
        return systems.index(found[0][0]), systems.index(found[0][1])
