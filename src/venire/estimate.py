"""Estimate: a number and how sure it is; the one form in which uncertain numbers pass through Venire."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

from venire.tabular import Records, Tabular, known


@dataclass(frozen=True)
class Estimate(Tabular):
    """A number and its uncertainty; ``level`` is the confidence level of [low, high], ``method`` says how it was had.

    Examples
    --------
    >>> print(Estimate(0.53, 0.41, 0.64, 0.95, "bootstrap over topics, n=300"))
    0.530 [0.410, 0.640] (95%, bootstrap over topics, n=300)
    """

    value: float
    low: float
    high: float
    level: float
    method: str

    def __str__(self) -> str:
        if isnan(self.low):
            return f"{self.value:.3f} ({self.level:.0%} interval: {self.method})"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}] ({self.level:.0%}, {self.method})"

    def sentence(self) -> str:
        """Say the value, its interval and how it was had."""
        return str(self)

    def records(self) -> Records:
        """Return one row: value, low, high, level, method."""
        numbers = {name: known(getattr(self, name)) for name in ("value", "low", "high", "level")}
        return [{**numbers, "method": self.method}]
