r"""Coefficients of agreement with their intervals, by resampling items or topics.

A statistic is a function of weights (draw, unit), how often each unit is drawn.  Units are

    patterns     items whose labels are counted alike (``agreement.patterns``), drawn from a multinomial distribution
    topics       whole topics, each equally likely
    groups       items or topics, assigned at random to at most ``MOST_GROUPS`` groups, for statistics that depend on
                 who gave a label; with no more than that, each is its own group

Topics are drawn where two or more have pairs of labels, else items: disagreement depends on the topic.  Topics without
pairs are not drawn; where their labels count, for the agreement expected by chance, they count unchanged in every draw.
The interval is the expanded percentile interval of Hesterberg (2015, doi:10.1080/00031305.2015.1089789): percentiles of
the draws at :math:`\Phi(-t_{n-1} \sqrt{n / (n - 1)})` for n units with pairs of labels.  Draws in which the statistic
is undefined are left out.

With fewer than ten topics the bootstrap varies too little, and the jackknife is used instead: with the statistic
:math:`v_t` without topic t the interval is :math:`v \pm t_{T-1} s` with
:math:`s^2 = \frac{T-1}{T} \sum_t (v_t - v)^2`, limited to -1 and 1.  For a mean over topics that is Student's.

Mean over topics (Chu et al. 2021, Eq. 2, doi:10.1145/3459637.3482428): the mean of the statistic over the topics for
which it is defined, with the number of the others.  Its interval resamples topics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

import numpy as np

from venire.errors import PairsError, UnknownName
from venire.randomness import FEW_TOPICS, topic_weights
from venire.results import Estimate, Records, Tabular, counted, known
from venire.types import Codes, Floats, Ints, RNGLike

CONFIDENCE = 0.95
MOST_GROUPS = 512
BLOCK_CELLS = 1 << 21
"""How many cells (draw x unit) are held at a time."""
OVER = ("items", "topics")
ROUNDING = 1e-12
NOT_ASKED = "no interval was requested: that takes two draws or more"
NO_SPREAD = "there is no interval: it rests on one item or topic, or hardly any resample has a value"
ALL_EQUAL = "all resamples are equal, so the interval has no width"
KEYS = ("name", "level", "raters", "value", "low", "high", "n_items", "n_raters", "meaning", "reason")

Values = Callable[[Floats], Floats]
"""A statistic of weights (draw, unit) -> (draw,), NaN where it is undefined."""


class Options(TypedDict, total=False):
    """Keywords of every coefficient.

    over: pooled "items" (the default), or the mean over "topics".  resample: draw "items" or "topics"; None (the
    default): topics where two or more have pairs of labels, else items.  n_draws: 1000 by default.
    """

    over: str
    resample: str | None
    n_draws: int
    rng: RNGLike


class Resampling(NamedTuple):
    """How an interval is computed; fields as in ``Options``."""

    over: str = "items"
    resample: str | None = None
    n_draws: int = 1000
    rng: RNGLike = 0


class Source(NamedTuple):
    """What is drawn: whole (unit,), weights of the data; by_topic (topic, unit), of topics with pairs, may be sparse.

    draw: number of draws and generator -> weights (draw, unit).  n_units: how many items or topics with pairs of labels
    are drawn, which may be fewer than there are units.
    """

    whole: Floats
    by_topic: Any
    draw: Callable[[int, np.random.Generator], Floats]
    n_units: int
    name: str

    @property
    def few(self) -> bool:
        """Whether topics are drawn, and so few that the jackknife is used."""
        return self.name == "topics" and self.n_units < FEW_TOPICS

    def without(self) -> Floats:
        """Weights with each topic left out in turn -> (topic, unit)."""
        return self.whole - dense(self.by_topic)


class Found(NamedTuple):
    """A value and its interval; n_topics, n_undefined: topics in a mean over topics, and those without a value."""

    value: float
    low: float
    high: float
    method: str
    n_draws: int
    n_topics: int = 0
    n_undefined: int = 0


@dataclass(frozen=True)
class Coefficient(Tabular):
    """A statistic of agreement: value and interval are None where ``reason`` says why.

    level: distance of labels (nominal, ordinal, ...); raters: "all", two names, or "mean" over every two; n_items:
    items with labels by two assessors or more; n_topics, n_undefined: of a mean over topics, those in it and those
    without a value.
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
        """Return the fields of ``KEYS``."""
        return {key: getattr(self, key) for key in KEYS}

    def records(self) -> Records:
        """Return one row: the value, its interval, and what it rests on."""
        return [{name: value for name, value in self.record().items() if name != "meaning"}]

    def estimate(self) -> Estimate:
        """Return the value as an estimate; raise PairsError where it is undefined."""
        if self.value is None:
            raise PairsError(f"{self.name} is undefined: {self.reason}")
        low, high = (np.nan if end is None else end for end in (self.low, self.high))
        return Estimate(self.value, low, high, CONFIDENCE, self.method)

    def sentence(self) -> str:
        """Say what the value means."""
        return self.meaning


def coefficient(
    found: Found, *, name: str, meaning: str, reason: str, words: dict[str, str] | None = None, **fields: Any
) -> Coefficient:
    """Make a coefficient of a value with its interval.

    meaning: a template with ``{value}`` or ``{rest}`` (1 - value), and ``words``; reason: why the value is undefined,
    if it is.
    """
    value, low, high = (known(number) for number in found[:3])
    why = reason if value is None else why_no_interval(low, high, found.n_draws)
    text = f"{name} is undefined: {reason}."
    if value is not None:
        text = meaning.format(value=f"{value:.2f}", rest=f"{1 - value:.0%}", **words or {})
    if found.n_topics or found.n_undefined:
        without = f", undefined for {counted(found.n_undefined, 'topic')}" if found.n_undefined else ""
        text += f" It is the mean over {counted(found.n_topics, 'topic')}{without}."
    numbers: dict[str, Any] = {"n_topics": found.n_topics, "n_undefined": found.n_undefined, "method": found.method}
    return Coefficient(name=name, value=value, low=low, high=high, meaning=text, reason=why, **numbers, **fields)


def why_no_interval(low: float | None, high: float | None, n_draws: int) -> str | None:
    """Say why there is no interval, or one without width; None where there is one."""
    if low is None or high is None:
        return NOT_ASKED if n_draws < 2 else NO_SPREAD
    return ALL_EQUAL if high - low < ROUNDING else None


def chosen_units(units: str | None, n_topics: int) -> str:
    """Return whether items or topics are drawn."""
    if units not in (None, *OVER):
        raise UnknownName("unit of resampling", str(units), OVER)
    return units or ("topics" if n_topics > 1 else "items")


def group_source(n_groups: int, name: str, *, n_units: int, rest: bool = False) -> Source:
    """Draw groups, each equally likely; for a mean over topics, each group is one.

    n_units: items or topics with pairs; rest: one more unit after the groups is in every draw once.
    """
    from scipy.sparse import eye_array

    def draw(n_draws: int, rng: np.random.Generator) -> Floats:
        return np.pad(topic_weights(n_groups, n_draws, rng), ((0, 0), (0, int(rest))), constant_values=1.0)

    by_topic = eye_array(n_groups, n_groups + rest, format="csr")
    return Source(np.ones(n_groups + rest), by_topic, draw, min(n_units, n_groups), name)


def random_groups(n: int, rng: np.random.Generator) -> Codes:
    """Assign items or topics at random to groups of about equal size -> (n,); each is its own where they are few."""
    group = np.arange(n, dtype=np.int32) % MOST_GROUPS
    return group if n <= MOST_GROUPS else rng.permutation(group)


def estimated(values: Values, source: Source, asked: Resampling, *, within: tuple[float, float] | None = None) -> Found:
    """Compute a statistic and its interval; NaN for what is undefined.

    within: shift the draws so that their median is the value, and limit them to this range, for means over assessors
    who share few items.
    """
    if asked.over not in OVER:
        raise UnknownName("what the statistic is over", asked.over, OVER)
    rng = np.random.default_rng(asked.rng)
    if asked.over == "topics":
        return topic_mean(topic_values(values, source), asked.n_draws, rng)
    value = float(values(source.whole[None])[0])
    if source.few and asked.n_draws > 1:
        ends = jackknife(np.array(value), values(source.without()), source.n_units)
        low, high = np.clip(ends, *within or (-1.0, 1.0))
        return Found(value, float(low), float(high), f"jackknife over {source.n_units} topics", asked.n_draws)
    drawn = np.zeros(0)
    if not np.isnan(value) and source.n_units > 1:
        sizes = _block_sizes(asked.n_draws, max(len(source.whole), source.by_topic.shape[0]))
        drawn = _joined([values(source.draw(size, rng)) for size in sizes])
    if within:
        drawn = np.clip(drawn + value - middle(drawn), *within)
    low, high = percentiles(drawn, source.n_units)
    method = f"bootstrap over {source.name}, n={asked.n_draws}"
    return Found(value, float(low), float(high), method, asked.n_draws)


def middle(drawn: Floats) -> float:
    """Median of the draws that are not NaN."""
    known = drawn[~np.isnan(drawn)]
    return float(np.median(known)) if len(known) else np.nan


def topic_values(values: Values, source: Source) -> Floats:
    """Compute a statistic for every topic that has pairs of labels -> (topic,); a block of topics at a time."""
    step = max(1, BLOCK_CELLS // max(len(source.whole), 1))
    starts = range(0, source.by_topic.shape[0], step)
    return _joined([values(dense(source.by_topic[begin : begin + step])) for begin in starts])


def dense(table: Any) -> Floats:
    """Return a matrix as an array."""
    return table if isinstance(table, np.ndarray) else np.asarray(table.toarray())


def in_blocks(values: Values, n_rows: int) -> Values:
    """Compute a statistic for some rows of weights at a time."""
    return lambda weights: _joined([values(weights[at : at + n_rows]) for at in range(0, len(weights), n_rows)])


def _joined(blocks: list[Floats]) -> Floats:
    return np.concatenate(blocks) if blocks else np.zeros(0)


def _block_sizes(n_draws: int, n_units: int) -> list[int]:
    """Divide draws into blocks of at most ``BLOCK_CELLS`` cells."""
    step = max(1, BLOCK_CELLS // n_units)
    return [min(step, n_draws - begin) for begin in range(0, n_draws, step)]


def topic_mean(by_topic: Floats, n_draws: int, rng: np.random.Generator) -> Found:
    """Mean over the topics for which a statistic is defined; by_topic (topic,), NaN where it is not."""
    known = by_topic[~np.isnan(by_topic)]
    n, n_undefined = len(known), len(by_topic) - len(known)
    method = f"mean over topics, bootstrap over topics, n={n_draws}"
    if not n:
        return Found(np.nan, np.nan, np.nan, method, n_draws, 0, n_undefined)
    if n < FEW_TOPICS and n_draws > 1:
        without, method = (known.sum() - known) / max(n - 1, 1), "mean over topics, jackknife"
        low, high = jackknife(known.mean(), without, n)
    else:
        drawn = _joined([topic_weights(n, size, rng) @ known / n for size in _block_sizes(n_draws, n)])
        low, high = percentiles(drawn, n)
    return Found(float(known.mean()), float(low), float(high), method, n_draws, n, n_undefined)


def jackknife(value: Floats, without: Floats, n_units: int | Ints) -> tuple[Floats, Floats]:
    """Student's interval of a statistic between -1 and 1, see ``student``."""
    low, high = student(value, without, n_units)
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


def student(value: Floats, without: Floats, n_units: int | Ints) -> tuple[Floats, Floats]:
    """Student's interval of a statistic (...) of n units, by its values without each unit (unit, ...) -> low, high.

    Units on which the statistic does not depend may be among them.  NaN where it depends on fewer than two, or is
    undefined without one of them.
    """
    from scipy.special import stdtrit

    n = np.maximum(np.asarray(n_units, dtype=np.float64), 1.0)
    variance = (n - 1) / n * np.square(without - value).sum(axis=0)
    half = stdtrit(np.maximum(n - 1, 1.0), (1 + CONFIDENCE) / 2) * np.where(n > 1, np.sqrt(variance), np.nan)
    return value - half, value + half


def percentiles(drawn: Floats, n_units: int | Ints) -> tuple[Floats, Floats]:
    """Expanded percentile interval of draws (draw, ...) from n units, one number or (...) -> low, high (...).

    NaN with fewer than two units, or fewer than two draws that are not NaN.
    """
    n = np.asarray(n_units, dtype=np.float64)
    if len(drawn) < 2 or not (n >= 2).any():
        nothing = np.full(drawn.shape[1:], np.nan)
        return nothing, nothing
    from scipy.special import ndtr, stdtrit

    many = np.maximum(n, 2.0)
    tail = ndtr(stdtrit(many - 1, (1 - CONFIDENCE) / 2) * np.sqrt(many / (many - 1)))
    ordered = np.sort(drawn, axis=0)  # NaN last
    last = (~np.isnan(drawn)).sum(axis=0) - 1
    low, high = (_interpolated(ordered, share * last) for share in (tail, 1 - tail))
    known = (n >= 2) & (last >= 1)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _interpolated(ordered: Floats, place: Floats) -> Floats:
    """Read ordered draws (draw, ...) at a place between them (...), by linear interpolation -> (...)."""
    place = np.maximum(place, 0.0)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, len(ordered) - 1)
    low, high = (np.take_along_axis(ordered, np.expand_dims(at, 0), axis=0)[0] for at in (below, above))
    part = place - below
    return np.where(part > 0, low + part * (high - low), low)
