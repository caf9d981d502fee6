"""Coefficient: a statistic of agreement with its interval, and one sentence on what it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.agreement.resampling import LEVEL, Found
from venire.errors import PairsError
from venire.results import Estimate, Records, Tabular, counted, known

ROUNDING = 1e-12
DRAWN = ("bootstrap", "mean over topics, bootstrap")
NOT_ASKED = "no interval was asked for: that takes two draws or more"
NO_SPREAD = "there is no interval: it rests on one item or topic, or hardly any resample has a value"
KEYS = ("name", "level", "raters", "value", "low", "high", "n_items", "n_raters", "meaning", "reason")


@dataclass(frozen=True)
class Coefficient(Tabular):
    """A statistic of agreement: value and interval are None where ``reason`` says why.

    level: how far apart labels are (nominal, ordinal, ...); raters: "all", two names, or "mean" over every two;
    n_items: items with labels by two assessors or more; n_topics, n_undefined: of a mean over topics, those in it and
    those it leaves out.
    """

    name: str
    level: str
    raters: str
    value: float | None
    low: float | None
    high: float | None
    n_items: int
    n_raters: int
    meaning: str
    reason: str | None = None
    method: str = ""
    n_topics: int = 0
    n_undefined: int = 0

    def record(self) -> dict[str, Any]:
        """Return what goes into JSON."""
        return {key: getattr(self, key) for key in KEYS}

    def records(self) -> Records:
        """Return one row: the value, its interval, and what it rests on."""
        return [{name: value for name, value in self.record().items() if name != "meaning"}]

    def estimate(self) -> Estimate:
        """Return the value as an estimate; refuse where it is undefined."""
        if self.value is None:
            raise PairsError(f"{self.name} is undefined: {self.reason}")
        low, high = (np.nan if end is None else end for end in (self.low, self.high))
        return Estimate(self.value, low, high, LEVEL, self.method)

    def sentence(self) -> str:
        """Say what was found in one sentence."""
        return self.meaning if self.value is not None else f"{self.name} is undefined: {self.reason}."


def coefficient(found: Found, *, meaning: str, reason: str, **fields: Any) -> Coefficient:
    """Make a coefficient of what was found.

    meaning: a sentence with ``{value}`` and ``{rest}`` (1 - value) in it; reason: why the value is undefined, if it is.
    """
    value, low, high = (known(number) for number in found[:3])
    words, why = _plain(meaning), _why_no_interval(low, high, found.method)
    if value is None:
        why = reason
    else:
        words = meaning.format(value=f"{value:.2f}", rest=f"{1 - value:.0%}")
    if found.n_topics or found.n_undefined:
        words += f" It is the mean over {counted(found.n_topics, 'topic')}" + _left_out(found.n_undefined)
    numbers: dict[str, Any] = {"n_topics": found.n_topics, "n_undefined": found.n_undefined, "method": found.method}
    return Coefficient(value=value, low=low, high=high, meaning=words, reason=why, **numbers, **fields)


def n_draws_of(method: str) -> int:
    """How many draws an interval rests on, by the words of its method: "bootstrap over items, n=1000"."""
    n = method.rpartition("n=")[2]
    return int(n) if n.isdigit() else 0


def _plain(meaning: str) -> str:
    """Say what a statistic is where it has no value."""
    return meaning.rpartition(": ")[2].capitalize() if ": " in meaning else meaning.format(value="?", rest="?")


def _why_no_interval(low: float | None, high: float | None, method: str) -> str | None:
    """Say why there is no interval, or one without spread; None where nothing is amiss."""
    if low is None or high is None:
        return NOT_ASKED if method.startswith(DRAWN) and n_draws_of(method) < 2 else NO_SPREAD
    return "all resamples are alike, so the interval shows no spread" if high - low < ROUNDING else None


def _left_out(n_undefined: int) -> str:
    if not n_undefined:
        return "."
    return f"; for {counted(n_undefined, 'topic')} it is undefined."
