"""Powers: pairs of systems told apart, by measure and label set, as rows that say what was tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.errors import SettingError
from venire.tabular import Records, Tabular
from venire.types import Bools, Floats
from venire.words import counted


@dataclass(frozen=True, eq=False, kw_only=True)
class Power(Tabular):
    """Pairs of systems tested by one measure with one set of labels.

    systems, the first and the second of each pair (pair,) by name; delta, p_value (pair,): difference of means and
    p-value, NaN where there is none.  ``difference`` is what is required for a p-value of alpha, None with a
    ``reason`` where that is not known; ``never`` is how many pairs differ on so few topics that none would be enough,
    which are left out of it.  ``method`` says the test in words.
    """

    measure: str
    labels: str
    test: str
    alpha: float
    pairs_of: tuple[tuple[str, str], ...]
    delta: Floats
    p_value: Floats
    topics: int
    difference: float | None
    reason: str | None
    method: str
    never: int = 0

    @property
    def pairs(self) -> int:
        """How many pairs of systems have a p-value."""
        return int((~np.isnan(self.p_value)).sum())

    @property
    def told_apart(self) -> Bools:
        """Pairs with a p-value of at most alpha -> (pair,)."""
        return self.p_value <= self.alpha + 1e-12

    @property
    def share(self) -> float | None:
        """Share of pairs that are told apart; None where no pair has a p-value."""
        return float(self.told_apart.sum() / self.pairs) if self.pairs else None

    def curve(self) -> tuple[Floats, Floats]:
        """Share of pairs up to each, and p-values in ascending order; both (pair,), without unknown ones."""
        p = np.sort(self.p_value[~np.isnan(self.p_value)])
        return np.arange(1, len(p) + 1) / max(len(p), 1), p

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object: null where nothing is known, and the reason."""
        return {
            "measure": self.measure,
            "labels": self.labels,
            "test": self.test,
            "alpha": self.alpha,
            "share": self.share,
            "pairs": self.pairs,
            "told_apart": int(self.told_apart.sum()),
            "difference": self.difference,
            "topics": self.topics,
            "reason": self.reason,
        }

    def records(self) -> Records:
        """Return one row."""
        return [self.record()]

    def what(self) -> str:
        """Say what was tested."""
        return f"{self.measure} with labels {self.labels}"

    def sentence(self) -> str:
        """Say it in one sentence."""
        if self.share is None:
            return f"By {self.measure} with labels {self.labels}, no pair of systems can be tested: {self.reason}."
        needed = "" if self.difference is None else f"; a difference of {self.difference:.4f} is required"
        return (
            f"By {self.measure} with labels {self.labels}, {int(self.told_apart.sum()):,} of "
            f"{counted(self.pairs, 'pair')} of systems ({self.share:.1%}) are told apart on "
            f"{counted(self.topics, 'topic')} (level {self.alpha:g}, {self.method}){needed}."
        )


@dataclass(frozen=True, eq=False)
class DiscriminativePower(Tabular):
    """Power by measure, test and label set; ``notes`` says what to be careful about."""

    rows: tuple[Power, ...]
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per measure, test and label set."""
        return [row.record() for row in self.rows]

    def of(self, measure: str, labels: str, test: str | None = None) -> Power:
        """Return the row of a measure and label set; the test may be left out where there is but one."""
        for row in self.rows:
            if (row.measure, row.labels) == (measure, labels) and test in (None, row.test):
                return row
        there = ", ".join(f"{row.measure} with labels {row.labels}" for row in self.rows[:4])
        raise SettingError(f"nothing was tested by {measure} with labels {labels}", hint=f"there are {there}")

    def sentence(self) -> str:
        """Say the main finding in one sentence: that of the first test, where there are several."""
        known = [row for row in self.rows if row.share is not None and row.test == self.rows[0].test]
        if len(known) < 2:
            return (known or self.rows)[0].sentence()
        most, least = max(known, key=_share), min(known, key=_share)
        if _share(most) == _share(least):
            return (
                f"All {len(known)} combinations of measure and labels tell the same share of pairs of systems apart, "
                f"{most.share:.1%} (level {most.alpha:g}, {most.method})."
            )
        whose, begin, by = "", "Most", (most.what(), least.what())
        if len({row.labels for row in known}) == 1:
            whose, begin, by = f"With labels {most.labels}, ", "most", (most.measure, least.measure)
        return (
            f"{whose}{begin} pairs of systems are told apart by {by[0]} ({most.share:.1%} of {most.pairs:,}), fewest "
            f"by {by[1]} ({least.share:.1%}), at level {most.alpha:g} ({most.method})."
        )

    def __str__(self) -> str:
        lines = [f"  {row.what()}, {row.test}: {'-' if row.share is None else f'{row.share:.4f}'}" for row in self.rows]
        return "\n".join([self.sentence(), *lines])


def _share(row: Power) -> float:
    return row.share if row.share is not None else float("nan")
