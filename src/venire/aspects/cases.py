"""Cases for the analysis of aspects: labels in isolation, conditional labels, and resampled topics.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.1: documents whose overall label is N/A are left out
("primarily spam"), except for predictive power.  A conditional label is matched with the label in isolation that the
same assessor gave to the document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from venire.comparison.rank_agreement import interval, resampled_sd
from venire.data.aspects import Aspects
from venire.randomness import topic_weights
from venire.results import Note
from venire.types import Bools, Floats, Ints, RNGLike

ISOLATION, CONDITION, CHANGE = CONTEXTS = ("isolation", "condition", "change")
NO_CONDITION = "there is no conditional label: no column 'given' names a document"
NO_ISOLATION = "there is no label in isolation"
TOO_FEW = "no interval: fewer than two topics or draws of them, or the same value in all draws of fewer than ten topics"


class Interval(NamedTuple):
    """A value with its 95 % interval over topics; None where it is not known, with the reason."""

    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class Cases:
    """Rows that count, in isolation and conditional; and the rows of documents that have both.

    isolation, condition (row,): among the rows of ``aspects``; before, after (pair,): the same document by the same
    assessor in isolation and given another.  weights (1 + draw, topic): topics as they are, then resampled.
    """

    aspects: Aspects
    overall: str | None
    isolation: Ints
    condition: Ints
    before: Ints
    after: Ints
    weights: Floats
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, aspects: Aspects, overall: str | None = None, *, n_draws: int = 1000, rng: RNGLike = 0) -> Cases:
        """Choose the rows whose overall label is a grade, match conditional ones, and resample topics."""
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
        """The aspects other than overall."""
        return tuple(name for name in self.aspects.names if name != self.overall)

    @property
    def names(self) -> tuple[str, ...]:
        """Overall, if there is one, then the others."""
        return self.others if self.overall is None else (self.overall, *self.others)

    def rows(self, context: str) -> Ints:
        """Return the rows of labels in isolation, or of conditional labels."""
        return self.isolation if context == ISOLATION else self.condition

    def nothing(self, context: str) -> str | None:
        """Return why there is no row in this context, or None."""
        if context == CHANGE:
            if len(self.after):
                return None
            return NO_CONDITION if not len(self.condition) else "no assessor labelled a document both ways"
        return None if len(self.rows(context)) else NO_ISOLATION if context == ISOLATION else NO_CONDITION

    def interval(self, draws: Floats, rows: Ints, reason: str, *, lowest: float = -1.0) -> Interval:
        """Return the interval of a value of rows (as it is, then per draw): NaN is unknown, for the reason given.

        The interval is Student's, from the standard deviation over draws of topics.
        """
        value = float(draws[0])
        if np.isnan(value):
            return Interval(None, None, None, reason)
        n_topics = len(np.unique(self.aspects.topic[rows]))
        low, high = interval(value, resampled_sd(draws[1:], n_topics), n_topics, lowest=lowest)
        return Interval(value, None, None, TOO_FEW) if np.isnan(low) else Interval(value, low, high)

    def share(self, rows: Ints, hits: Bools, reason: str) -> Interval:
        """Return the share of rows that are marked, with its interval over topics; hits (row,) of these rows."""
        topic, n = self.aspects.topic[rows], self.weights.shape[1]
        whole = self.weights @ np.bincount(topic, minlength=n)
        part = self.weights @ np.bincount(topic[hits], minlength=n)
        draws = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
        return self.interval(draws, rows, reason, lowest=0.0)


def _matched(aspects: Aspects, valid: Bools, is_conditional: Bools) -> tuple[Ints, Ints]:
    """Return rows in isolation and conditional ones of the same document by the same assessor, both valid."""
    cell = aspects.item.astype(np.int64) * max(len(aspects.assessor.names), 1) + aspects.assessor.codes
    alone, after = np.flatnonzero(valid & ~is_conditional), np.flatnonzero(valid & is_conditional)
    alone = alone[np.argsort(cell[alone], kind="stable")]
    place = np.searchsorted(cell[alone], cell[after])
    present = place < len(alone)
    present[present] = cell[alone[place[present]]] == cell[after[present]]
    return alone[place[present]], after[present]


def _notes(overall: str | None, valid: Bools, is_conditional: Bools, n_matched: int) -> list[Note]:
    n, given = int((~valid).sum()), int((valid & is_conditional).sum())
    words = "{n:labelled document} without a grade for {overall!r} (N/A or none) left out, except for predictive power"
    notes = [Note("no-overall-grade", words, n=n, overall=overall)] * (n > 0)
    words = "{n:,} of {labels:conditional label} have none in isolation by the same assessor: no change is computed"
    return notes + [Note("unmatched-labels", words, n=given - n_matched, labels=given)] * (n_matched < given)
