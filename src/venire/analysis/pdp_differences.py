"""PDP differences: do two label settings differ in what they tell of the order of documents?

Both are measured on the same lists, with the same preference tests.  The interval and the p-value of the difference are
those of one jackknife over topics, each left out of both settings with its tests, so that both matrices of label
preferences are estimated anew.  (A test over topics that takes the matrices as known, as in Section 5.2.1 of Chu et al.
2021, finds a difference between exchangeable label sets 15 to 70 times in 100 at a level of 5 %.)  Interval, p-value
and sentence always agree: the p-value is below .05 exactly where the interval leaves 0 out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from venire.analysis.pdp import LEVEL, PDP
from venire.errors import SettingError
from venire.tabular import Records, Tabular
from venire.words import counted


@dataclass(frozen=True, kw_only=True)
class PDPDifference(Tabular):
    """PDP of setting a less that of setting b on the same lists; negative: a tells more.

    None where it is not known, with a ``reason``.  Of several comparisons low, high and p_value hold for all together.
    """

    mode: str
    k: int
    a: str
    b: str
    topics: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    test: str = ""
    reason: str | None = None

    @property
    def significant(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    def record(self) -> dict[str, Any]:
        """What JSON holds of it."""
        return {**self.__dict__, "meaning": self.sentence()}

    def records(self) -> Records:
        """Return one row: the difference, its interval and p-value."""
        return [{name: value for name, value in self.record().items() if name != "meaning"}]

    def sentence(self) -> str:
        """Say which setting tells more, and whether that is significant."""
        if self.difference is None:
            return f"PDP@{self.k} of {self.a} and {self.b} in {self.mode} mode cannot be compared: {self.reason}."
        more, less = (self.a, self.b) if self.difference <= 0 else (self.b, self.a)
        what = (
            f"{more} leaves {abs(self.difference):.3f} nats less of the order of {self.k} documents open than {less} "
            f"on {counted(self.topics, 'topic')}"
        )
        if self.low is None or self.high is None or self.p_value is None:
            return f"In {self.mode} mode {what}; there is no interval: {self.reason}."
        least, most = sorted((abs(self.low), abs(self.high))) if self.significant else (self.low, self.high)
        chance = "p < .0001" if self.p_value < 1e-4 else f"p = {self.p_value:.3g}"
        shown = f"(95% confidence interval {least:.3f} to {most:.3f}, {chance}, {self.test})"
        if self.significant:
            return f"In {self.mode} mode {what} {shown}."
        return (
            f"In {self.mode} mode {self.a} and {self.b} do not differ significantly: the difference is "
            f"{self.difference:+.3f} nats on {counted(self.topics, 'topic')} {shown}."
        )


def compare_pdp(a: PDP, b: PDP, *, names: tuple[str, str] = ("a", "b"), n_comparisons: int = 1) -> PDPDifference:
    """Compare two PDPs of the same lists, each computed with the same tests, ``n_draws`` and seed.

    n_comparisons: how many such comparisons are looked at together; interval and p-value are adjusted (Bonferroni).
    """
    if a.k != b.k:
        raise SettingError(f"PDP@{a.k} and PDP@{b.k} differ in K", hint="take lists of the same length for both")
    known: dict[str, Any] = {"mode": a.mode, "k": a.k, "a": names[0], "b": names[1], "topics": len(a.topics)}
    if a.value is None or b.value is None:
        return PDPDifference(**known, reason=a.reason or b.reason)
    if a.lists.records() != b.lists.records():
        hint = "lists.labelled_in(judgments) has those whose documents all have labels; take them for both"
        raise SettingError("the two PDPs are of different lists", hint=hint)
    known["difference"] = a.value - b.value
    if a.jackknife is None or b.jackknife is None:
        return PDPDifference(**known, reason="no topics were left out in turn (n_draws is 0)")
    found = a.jackknife.minus(b.jackknife)
    interval = found.interval(LEVEL, n_comparisons)
    if interval is None:
        return PDPDifference(**known, reason="all tests, or all lists, are of one topic")
    several = f", Bonferroni for {n_comparisons} comparisons" if n_comparisons > 1 else ""
    known |= {"difference": found.value, "low": interval[0], "high": interval[1]}
    return PDPDifference(**known, p_value=found.p_value(n_comparisons), test=f"{found.words()}{several}")
