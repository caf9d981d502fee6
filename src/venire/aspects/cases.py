"""Cases for the analysis of aspects: which rows count, in isolation and in condition, and topics drawn anew.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.1: documents whose overall label is N/A are left out
("primarily spam"), but for predictive power.  A document in condition meets its own label in isolation where the same
assessor gave both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from venire.comparison.rank_agreement import interval, resampled_sd
from venire.data.aspects import Aspects
from venire.kernels.resampling import topic_weights
from venire.results import counted
from venire.types import Bools, Floats, Ints, RNGLike

ISOLATION, CONDITION, CHANGE = CONTEXTS = ("isolation", "condition", "change")
NO_CONDITION = "no label was given in condition: there is no column 'given' that names a document"
NO_ISOLATION = "no label was given in isolation"
TOO_FEW = "no interval: fewer than two topics or draws of them, or the same value in all draws of fewer than ten topics"


class Interval(NamedTuple):
    """A value with its 95 % interval over topics; None where that cannot be said, with the reason."""

    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class Cases:
    """Rows that count, by what they are: in isolation, in condition; and the rows of documents that have both.

    isolation, condition (row,): among the rows of ``aspects``; before, after (pair,): the same document by the same
    assessor in isolation and in condition.  weights (1 + draw, topic): topics as they are, then drawn anew.
    """

    aspects: Aspects
    overall: str | None
    isolation: Ints
    condition: Ints
    before: Ints
    after: Ints
    weights: Floats
    notes: tuple[str, ...]

    @classmethod
    def of(cls, aspects: Aspects, overall: str | None = None, *, n_draws: int = 1000, rng: RNGLike = 0) -> Cases:
        """Choose the rows whose overall label is a grade, match those in condition, and draw topics."""
        valid = np.ones(len(aspects), dtype=np.bool_) if overall is None else aspects.grades(overall) >= 0
        is_conditional = aspects.is_conditional
        before, after = _matched(aspects, valid, is_conditional)
        present = np.unique(aspects.topic)
        drawn = topic_weights(len(present), n_draws, np.random.default_rng(rng))
        weights = np.zeros((n_draws + 1, len(aspects.items.topics)))
        weights[0, present], weights[1:, present] = 1.0, drawn
        return cls(
            aspects,
            overall,
            np.flatnonzero(valid & ~is_conditional),
            np.flatnonzero(valid & is_conditional),
            before,
            after,
            weights,
            tuple(_notes(overall, valid, is_conditional, len(after))),
        )

    @property
    def others(self) -> tuple[str, ...]:
        """The aspects beside overall."""
        return tuple(name for name in self.aspects.names if name != self.overall)

    @property
    def names(self) -> tuple[str, ...]:
        """Overall, if there is one, then the others."""
        return self.others if self.overall is None else (self.overall, *self.others)

    def rows(self, context: str) -> Ints:
        """Rows in isolation or in condition."""
        return self.isolation if context == ISOLATION else self.condition

    def nothing(self, context: str) -> str | None:
        """Say why there is nothing in this context, if so."""
        if context == CHANGE:
            if len(self.after):
                return None
            return NO_CONDITION if not len(self.condition) else "no assessor labelled a document both ways"
        return None if len(self.rows(context)) else NO_ISOLATION if context == ISOLATION else NO_CONDITION

    def interval(self, draws: Floats, rows: Ints, reason: str, *, lowest: float = -1.0) -> Interval:
        """Sum up a value of rows (as it is, then per draw): NaN is unknown, for the reason given.

        The interval is Student's, from the standard deviation over draws of topics.
        """
        value = float(draws[0])
        if np.isnan(value):
            return Interval(None, None, None, reason)
        n_topics = len(np.unique(self.aspects.topic[rows]))
        low, high = interval(value, resampled_sd(draws[1:], n_topics), n_topics, lowest=lowest)
        return Interval(value, None, None, TOO_FEW) if np.isnan(low) else Interval(value, low, high)

    def share(self, rows: Ints, hits: Bools, reason: str) -> Interval:
        """Share of rows that are marked, over draws of topics; hits (row,) of these rows."""
        topic, n = self.aspects.topic[rows], self.weights.shape[1]
        whole = self.weights @ np.bincount(topic, minlength=n)
        part = self.weights @ np.bincount(topic[hits], minlength=n)
        draws = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
        return self.interval(draws, rows, reason, lowest=0.0)


def _matched(aspects: Aspects, valid: Bools, is_conditional: Bools) -> tuple[Ints, Ints]:
    """Rows in isolation and in condition of the same document by the same assessor, both valid."""
    cell = aspects.item.astype(np.int64) * max(len(aspects.assessor.names), 1) + aspects.assessor.codes
    alone, after = np.flatnonzero(valid & ~is_conditional), np.flatnonzero(valid & is_conditional)
    alone = alone[np.argsort(cell[alone], kind="stable")]
    place = np.searchsorted(cell[alone], cell[after])
    there = place < len(alone)
    there[there] = cell[alone[place[there]]] == cell[after[there]]
    return alone[place[there]], after[there]


def _notes(overall: str | None, valid: Bools, is_conditional: Bools, n_matched: int) -> list[str]:
    left, given = int((~valid).sum()), int((valid & is_conditional).sum())
    notes = []
    if left:
        are = "is" if left == 1 else "are"
        notes.append(
            f"{counted(left, 'labelled document')} without a grade for {overall!r} (N/A or none) {are} left out, but "
            "for predictive power"
        )
    if n_matched < given:
        notes.append(
            f"{given - n_matched:,} of {counted(given, 'label')} in condition have none in isolation by the same "
            "assessor, so no change is seen"
        )
    return notes
