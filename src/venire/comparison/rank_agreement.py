"""Rank agreement: correlations of two rankings of systems, or of two sets of judgments, with intervals over topics.

Two rankings are compared on the topics that both have.  Systems whose means differ by less than 1e-10 are tied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from venire.errors import UnknownName
from venire.kernels.rank_correlation import kendall_tau, kendall_tau_matrix, rbo, rbo_matrix, tau_ap, tau_ap_matrix
from venire.measures.scores import Scores
from venire.randomness import FEW_TOPICS, topic_weights
from venire.results import Note, Tabular, counted
from venire.types import Bools, Floats, RNGLike

Correlate = Callable[[Floats, Floats], Floats]
CORRELATIONS: dict[str, Correlate] = {
    "tau-b": kendall_tau,
    "tau-a": partial(kendall_tau, variant="a"),
    "tau-ap": tau_ap,
    "rbo": rbo,
}
MATRICES: dict[str, Callable[[Floats], Floats]] = {
    "tau-b": kendall_tau_matrix,
    "tau-a": partial(kendall_tau_matrix, variant="a"),
    "tau-ap": tau_ap_matrix,
    "rbo": rbo_matrix,
}
"""The same for every two of many rankings at once: (..., ranking, system) -> (..., ranking, ranking)."""
CONFIDENCE = 0.95
STEADY = 1e-12
"""Standard deviations up to this are rounding errors of zero."""
DIGITS = 10


@dataclass(frozen=True, kw_only=True)
class RankCorrelation:
    """One correlation of two rankings; None where something does not apply, NaN where a number is not known.

    between: what differs ("assessors", "gains", "sets"); a, b: whose labels, both None for the mean over all.  Between
    sets, a is the reference and b ranks the documents.  value, its interval [low, high] and its sd over resampled
    topics; between sets, the mean over topics, its interval, and the sd over topics.
    """

    between: str
    measure: str
    gains: str
    other_gains: str | None = None
    a: str | None = None
    b: str | None = None
    correlation: str | None = None
    value: float
    low: float
    high: float
    systems: int | None = None
    topics: int
    sd: float

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object: null where a value is not known."""
        return {key: None if value != value else value for key, value in asdict(self).items()}

    def what(self) -> str:
        """Return the gains that were compared."""
        return self.gains if self.other_gains is None else f"{self.gains} and {self.other_gains}"


@dataclass(frozen=True)
class Robustness(Tabular):
    """Comparisons of one kind: the means first, then each."""

    rows: tuple[RankCorrelation, ...]
    notes: tuple[Any, ...] = ()
    method: str = ""

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per comparison."""
        return [row.record() for row in self.rows]

    def headline(self) -> tuple[RankCorrelation, ...]:
        """Return the means over all pairs of assessors, or over all assessors; if there is only one, that one."""
        return tuple(row for row in self.rows if row.a is None and row.b is None) or self.rows

    def sentence(self) -> str:
        """Return the highest and the lowest mean."""
        known = [row for row in self.headline() if not isnan(row.value)]
        if not known:
            return "No comparison has a value."
        if known[0].between == "sets":
            return _of_sets(known)
        measure = known[0].measure
        known = [row for row in known if row.measure == measure]
        most, least = max(known, key=_value), min(known, key=_value)
        text = f"By {measure}, rankings of {counted(most.systems or 0, 'system')} by different {most.between} have a "
        text += f"{most.correlation} of {most.value:.2f}"
        if most.value == least.value:
            return f"{text} ({most.what() if most is least else 'all gains'})."
        return f"{text} with {most.what()} (highest) and of {least.value:.2f} with {least.what()} (lowest)."


def correlate_by(correlation: str | Correlate) -> tuple[str, Correlate]:
    """Resolve a correlation, by name or as a function of two arrays (..., system), with its name."""
    if not isinstance(correlation, str):
        return str(getattr(correlation, "__name__", "custom")), correlation
    if correlation not in CORRELATIONS:
        raise UnknownName("rank correlation", correlation, CORRELATIONS)
    return correlation, CORRELATIONS[correlation]


def interval(
    value: float, sd: float, n_topics: int, *, lowest: float = -1.0, highest: float = 1.0
) -> tuple[float, float]:
    """Return Student's interval from the standard deviation over resampled topics, clipped to these ends.

    NaN for one topic, and for fewer than ten topics that give the same value in every resample.
    """
    if n_topics < 2 or isnan(sd) or (sd <= STEADY and n_topics < FEW_TOPICS):
        return np.nan, np.nan
    half = student(n_topics) * sd
    return max(value - half, lowest), min(value + half, highest)


def student(n_topics: int) -> float:
    """Return the quantile of Student's t for two-sided limits from this many topics."""
    from scipy.special import stdtrit

    return float(stdtrit(n_topics - 1, 1 - (1 - CONFIDENCE) / 2))


def resampled_sd(draws: Floats, n_topics: int) -> float:
    """Return the standard deviation over resampled topics, NaN draws omitted; NaN with fewer than two of each."""
    known = draws[~np.isnan(draws)]
    return float(known.std() * np.sqrt(n_topics / (n_topics - 1))) if len(known) > 1 and n_topics > 1 else np.nan


def few_topics(rows: Sequence[RankCorrelation]) -> list[Note]:
    """Note that intervals rest on few topics, and that some are missing for that reason."""
    fewest = min((row.topics for row in rows if not isnan(row.value)), default=FEW_TOPICS)
    if fewest >= FEW_TOPICS:
        return []
    text = "some intervals rest on {n:topic} only"
    missing = any(isnan(row.low) and not isnan(row.sd) for row in rows)
    text += "; there is none where every resample of so few topics has the same value" if missing else ""
    return [Note("few-topics", text, n=fewest, missing=missing)]


def _value(row: RankCorrelation) -> float:
    return row.value


def _of_sets(rows: Sequence[RankCorrelation]) -> str:
    """Return the lowest and the highest score of one set of judgments under another."""
    ends = [f"{each.measure} {each.value:.2f} with {each.gains} gains" for each in sorted(rows, key=_value)]
    text = f"Documents ranked by one assessor's labels and judged by another's score {ends[0]}"
    return f"{text} on average." if len(ends) == 1 else f"{text} (lowest mean) to {ends[-1]} (highest mean)."


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
        """Draw topics once, so that every comparison uses the same draws."""
        drawn = topic_weights(n_topics, n_draws, np.random.default_rng(rng))
        return cls(*correlate_by(correlation), np.concatenate([np.ones((1, n_topics)), drawn]))

    def every_two(self, values: Floats, who: Sequence[str]) -> Iterator[Correlated]:
        """Correlate every two assessors; values (system, topic, assessor).

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
        """Correlate two rankings by the same labels for each assessor; alone: the name if there is no assessor axis."""
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
        """Return means over all topics and per draw: (topic, ...) -> (1 + draw, ...); NaN where none is drawn."""
        weights = self.weights if chosen is None else self.weights[:, chosen]
        with np.errstate(invalid="ignore"):
            weights = weights / weights.sum(axis=1, keepdims=True)
        return np.round(weights @ (by_topic if chosen is None else by_topic[chosen]), DIGITS)

    def rows(self, found: Iterable[Correlated], **what: Any) -> list[RankCorrelation]:
        """Return a row per comparison, preceded by one of their mean if there are several."""
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
