"""Likeness: how alike two rankings of systems are, or two sets of judgments, as rows that say what was compared.

Rank correlations of systems' mean scores, with their spread over resampled topics, as rows of a comparison.

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
from venire.kernels.resampling import FEW_TOPICS, topic_weights
from venire.measures.scores import Scores
from venire.results import Tabular, counted
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
LEVEL = 0.95
STEADY = 1e-12
"""Standard deviations up to this are rounding errors of zero."""


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
        """Return it as a JSON object: null where nothing is known."""
        return {
            key: None if isinstance(value, float) and isnan(value) else value for key, value in asdict(self).items()
        }

    def what(self) -> str:
        """Say what was compared, without who."""
        return self.gains if self.other_gains is None else f"{self.gains} and {self.other_gains}"


@dataclass(frozen=True)
class Robustness(Tabular):
    """Comparisons of one sort: the means first, then each; ``notes`` says what was left out and why."""

    rows: tuple[RankCorrelation, ...]
    notes: tuple[str, ...] = ()
    method: str = ""

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per comparison."""
        return [row.record() for row in self.rows]

    def headline(self) -> tuple[RankCorrelation, ...]:
        """The means over all pairs of assessors, or over all assessors; where there is but one, that one."""
        return tuple(row for row in self.rows if row.a is None and row.b is None) or self.rows

    def sentence(self) -> str:
        """Say the main finding in one sentence."""
        known = [row for row in self.headline() if not isnan(row.value)]
        if not known:
            return "Nothing could be compared."
        if known[0].between == "sets":
            return _of_sets(known)
        measure = known[0].measure
        known = [row for row in known if row.measure == measure]
        most, least = max(known, key=_value), min(known, key=_value)
        who = "different assessors rank" if most.between == "assessors" else "different gains rank"
        systems = counted(most.systems or 0, "system")
        if most.value == least.value and len(known) > 1:
            return f"By {measure}, {who} {systems} equally alike throughout ({most.correlation} {most.value:.2f})."
        if most is least:
            return f"By {measure}, {who} {systems} with a {most.correlation} of {most.value:.2f} ({most.what()})."
        return (
            f"By {measure}, {who} {systems} most alike with {most.what()} ({most.correlation} {most.value:.2f}), "
            f"least with {least.what()} ({least.value:.2f})."
        )

    def __str__(self) -> str:
        return "\n".join([self.sentence(), *(_line(row) for row in self.headline())])


def correlate_by(correlation: str | Correlate) -> tuple[str, Correlate]:
    """Settle a correlation, by name or as a function of two arrays (..., system), with its name."""
    if not isinstance(correlation, str):
        return str(getattr(correlation, "__name__", "own")), correlation
    if correlation not in CORRELATIONS:
        raise UnknownName("rank correlation", correlation, CORRELATIONS)
    return correlation, CORRELATIONS[correlation]


def interval(
    value: float, sd: float, n_topics: int, *, lowest: float = -1.0, highest: float = 1.0
) -> tuple[float, float]:
    """Student's interval around a value from its standard deviation over resampled topics, within these ends.

    NaN for one topic, and for fewer than ten of which every resample gives the same value: that they do not vary says
    little of other topics.
    """
    if n_topics < 2 or isnan(sd) or (sd <= STEADY and n_topics < FEW_TOPICS):
        return np.nan, np.nan
    half = student(n_topics) * sd
    return max(value - half, lowest), min(value + half, highest)


def student(n_topics: int) -> float:
    """Return the quantile of Student's t for two-sided limits from this many topics."""
    from scipy.special import stdtrit

    return float(stdtrit(n_topics - 1, 1 - (1 - LEVEL) / 2))


def resampled_sd(draws: Floats, n_topics: int) -> float:
    """Standard deviation over resampled topics, NaN draws left out; NaN where there are not two of each."""
    known = draws[~np.isnan(draws)]
    return float(known.std() * np.sqrt(n_topics / (n_topics - 1))) if len(known) > 1 and n_topics > 1 else np.nan


def few_topics(rows: Sequence[RankCorrelation]) -> list[str]:
    """Say that intervals rest on few topics, and why some are missing."""
    fewest = min((row.topics for row in rows if not isnan(row.value)), default=FEW_TOPICS)
    if fewest >= FEW_TOPICS:
        return []
    note = f"intervals rest on {counted(fewest, 'topic')} where there are fewest"
    missing = any(isnan(row.low) and not isnan(row.sd) for row in rows)
    return [f"{note}; none is given where every resample of so few topics has the same value" if missing else note]


def _value(row: RankCorrelation) -> float:
    return row.value


def _of_sets(rows: Sequence[RankCorrelation]) -> str:
    """Say how well one set of judgments does by another."""
    most, least = max(rows, key=_value), min(rows, key=_value)
    told = f"Ranked by one assessor's labels and judged by another's, documents reach {_score(least)}"
    return f"{told}." if most is least else f"{told}, {_score(most)}; beyond that, systems cannot be told apart."


def _score(row: RankCorrelation) -> str:
    return f"{row.measure} {row.value:.2f} with {row.gains} gains"


def _line(row: RankCorrelation) -> str:
    around = "" if isnan(row.low) or isnan(row.high) else f" [{row.low:.3f}, {row.high:.3f}]"
    return f"  {row.measure}  {row.what()}: {row.value:.3f}{around}"


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
