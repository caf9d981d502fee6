"""PDP differences: do two label settings differ in what they tell of the order of documents?

Chu et al. (2021), Section 5.2.1, test the PDP of the same topics under two settings.  The p-value is that of a paired
test over topics; it takes both label-preference matrices as they are.  The interval also knows that these rest on
tests, where both settings were resampled on the same topics: the same topics and tests are drawn for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.analysis.pair_tests import PairedT, PairTest
from venire.analysis.pdp import PDP, interval_of
from venire.errors import SettingError
from venire.kernels.differences import differences_of
from venire.measures.paired_scores import PairedScores
from venire.tabular import Records, Tabular
from venire.types import Floats, Ints, RNGLike
from venire.words import counted


@dataclass(frozen=True, kw_only=True)
class PDPDifference(Tabular):
    """PDP of setting a less that of setting b on the topics of both; negative: a tells more.

    None where it is not known, with a ``reason``.
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

    def record(self) -> dict[str, Any]:
        """What JSON holds of it."""
        return {**self.__dict__, "meaning": self.sentence()}

    def records(self) -> Records:
        """Return one row: the difference, its interval and p-value."""
        return [{name: value for name, value in self.record().items() if name != "meaning"}]

    def sentence(self) -> str:
        """Say which setting tells more, and how sure that is."""
        if self.difference is None:
            return f"PDP@{self.k} of {self.a} and {self.b} in {self.mode} mode cannot be compared: {self.reason}."
        more, less = (self.a, self.b) if self.difference <= 0 else (self.b, self.a)
        chance = "" if self.p_value is None else f" (p = {self.p_value:.3g}, {self.test})"
        return (
            f"In {self.mode} mode {more} leaves {abs(self.difference):.3f} nats less of the order of {self.k} "
            f"documents open than {less}, over {counted(self.topics, 'topic')}{chance}."
        )


def compare_pdp(
    a: PDP,
    b: PDP,
    *,
    names: tuple[str, str] = ("a", "b"),
    test: PairTest | None = None,
    rng: RNGLike = 0,
) -> PDPDifference:
    """Test the difference of two PDPs over the topics they share; ``test`` is Student's by default.

    Compute both with the same lists, the same tests, the same number of draws and the same seed.
    """
    if a.k != b.k:
        raise SettingError(f"PDP@{a.k} and PDP@{b.k} differ in K", hint="take lists of the same length for both")
    here, there = _common(a, b)
    asked = test or PairedT()
    known: dict[str, Any] = {"mode": a.mode, "k": a.k, "a": names[0], "b": names[1], "topics": len(here)}
    if len(here) == 0:
        return PDPDifference(**known, reason=a.reason or b.reason or "they have no topic in common")
    values = np.array([a.values[here], b.values[there]])
    difference = values[0] - values[1]
    known |= {"difference": float(difference.mean()), "test": asked.words(len(here))}
    if len(here) < 2:
        return PDPDifference(**known, reason="one topic has no spread")
    shared = a.topics == b.topics and len(a.draws) == len(b.draws)
    low, high = interval_of(difference, a.draws - b.draws if shared else np.zeros(0))
    p = float(asked.p_values(_paired(values, names, len(here)), np.random.default_rng(rng))[0])
    return PDPDifference(**known, low=low, high=high, p_value=p)


def _common(a: PDP, b: PDP) -> tuple[Ints, Ints]:
    """Places of the topics of both."""
    place = {name: number for number, name in enumerate(b.topics)}
    both = [(number, place[name]) for number, name in enumerate(a.topics) if name in place]
    found = np.array(both, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _paired(values: Floats, names: tuple[str, str], n_topics: int) -> PairedScores:
    """Put two settings into the form that tests of pairs take; values (setting, topic)."""
    one, other = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    topics = tuple(map(str, range(n_topics)))
    return PairedScores(values, names, topics, "PDP", one, other, differences_of(values, one, other))
