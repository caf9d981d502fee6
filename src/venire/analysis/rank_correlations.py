"""Rank correlations of systems' mean scores, with their spread over resampled topics, as rows of a comparison.

Two rankings are compared on the topics that both have.  Systems whose means differ by less than 1e-10 are tied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from venire.analysis.likeness import (
    CORRELATIONS,
    MATRICES,
    Correlate,
    RankCorrelation,
    correlate_by,
    interval,
    resampled_sd,
)
from venire.kernels.resample import topic_weights
from venire.measures.scores import Scores
from venire.types import Bools, Floats, RNGLike

DIGITS = 10


class Correlated(NamedTuple):
    """One comparison: whose labels, the number of topics, and the correlation as it is and per draw (1 + draw,)."""

    a: str | None
    b: str | None
    n_topics: int
    draws: Floats


@dataclass(frozen=True, eq=False)
class Correlator:
    """A correlation by name, and topics as they are and resampled: weights (1 + draw, topic)."""

    name: str
    correlate: Correlate
    weights: Floats

    @classmethod
    def of(cls, correlation: str | Correlate, n_topics: int, *, n_draws: int, rng: RNGLike) -> Correlator:
        """Draw topics once; every comparison then uses the same draws."""
        drawn = topic_weights(n_topics, n_draws, np.random.default_rng(rng))
        return cls(*correlate_by(correlation), np.concatenate([np.ones((1, n_topics)), drawn]))

    def every_two(self, values: Floats, who: Sequence[str]) -> Iterator[Correlated]:
        """Correlate every two assessors; values (system, topic, assessor).  At once, if all judged the same topics.

        Cost: O(draws x assessors^2 x systems^2).
        """
        pairs = list(combinations(range(len(who)), 2))
        if np.isnan(values).any() or self.correlate is not CORRELATIONS.get(self.name):
            for i, j in pairs:
                yield self.two(values[..., i], values[..., j], a=who[i], b=who[j])
            return
        means = self.means(values.transpose(1, 2, 0).reshape(values.shape[1], -1))
        matrix = MATRICES[self.name](means.reshape(len(means), len(who), len(values)))
        for i, j in pairs:
            yield Correlated(who[i], who[j], values.shape[1], matrix[:, i, j])

    def each(self, first: Scores, second: Scores, *, alone: str) -> Iterator[Correlated]:
        """Correlate two rankings by the same labels, assessor by assessor; alone: their name where there is one."""
        if "assessor" not in first.axes:
            yield self.two(first.values, second.values, a=alone)
            return
        for number, name in enumerate(first.names["assessor"]):
            yield self.two(first.values[..., number], second.values[..., number], a=name)

    def two(self, first: Floats, second: Floats, *, a: str | None = None, b: str | None = None) -> Correlated:
        """Correlate two rankings on the topics that both have; first, second (system, topic)."""
        both = np.logical_not(np.isnan(first + second).any(axis=0))
        draws = self.correlate(self.means(first.T, both), self.means(second.T, both))
        return Correlated(a, b, int(both.sum()), draws)

    def means(self, by_topic: Floats, chosen: Bools | None = None) -> Floats:
        """Means over topics, as they are and per draw: (topic, ...) -> (1 + draw, ...); NaN where none is drawn."""
        weights = self.weights if chosen is None else self.weights[:, chosen]
        with np.errstate(invalid="ignore"):
            weights = weights / weights.sum(axis=1, keepdims=True)
        return np.round(weights @ (by_topic if chosen is None else by_topic[chosen]), DIGITS)

    def rows(self, found: Iterable[Correlated], **what: Any) -> list[RankCorrelation]:
        """Make a row of each comparison that has topics, and ahead of them one of their mean if there are several."""
        sums, counts = np.zeros((2, len(self.weights)))
        rows, topics = [], 0
        for each in found:
            known = ~np.isnan(each.draws)
            sums[known] += each.draws[known]
            counts += known
            topics = max(topics, each.n_topics)
            rows.append(self._row(each, **what))
        if len(rows) < 2:
            return rows
        mean = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
        return [self._row(Correlated(None, None, topics, mean), **what), *rows]

    def _row(self, found: Correlated, **what: Any) -> RankCorrelation:
        value, n = float(found.draws[0]), found.n_topics
        sd = resampled_sd(found.draws[1:], n)
        low, high = interval(value, sd, n, lowest=0.0 if self.name == "rbo" else -1.0)
        what |= {"correlation": self.name, "a": found.a, "b": found.b}
        return RankCorrelation(value=value, low=low, high=high, sd=sd, topics=n, **what)
