r"""Resampling: how sure a statistic is, by drawing items or topics anew.

A statistic is a function of weights (draw, unit), how often each unit is drawn.  Units are

    patterns     items counted alike (``agreement.patterns``): a resample of items is a multinomial draw over patterns
    topics       whole topics, each equally likely
    groups       items, or topics, dealt into at most ``MOST_GROUPS`` groups at random, for statistics that look at who
                 gave a label; where there are no more than that, each is its own group

Topics are drawn where two or more have pairs of labels, else items: what people disagree on depends on the topic.
Topics without pairs are not drawn; where their labels count, for what is expected by chance, they count in every draw
as they are.  The interval is the expanded percentile interval of Hesterberg (2015,
doi:10.1080/00031305.2015.1089789): percentiles of the draws at :math:`\Phi(-t_{n-1} \sqrt{n / (n - 1)})`, which is as
much wider than the plain one as n units with pairs of labels ask for.  Draws in which the statistic is undefined are
left out.

Fewer than ten topics, drawn anew, vary too little.  Then each topic is left out in turn (the jackknife), and with the
statistic :math:`v_t` without topic t the interval is :math:`v \pm t_{T-1} s` with
:math:`s^2 = \frac{T-1}{T} \sum_t (v_t - v)^2`, cut off at -1 and 1.  Of a mean over topics that is Student's.

Mean over topics (Chu et al. 2021, Eq. 2, doi:10.1145/3459637.3482428): the statistic of every topic, and the
mean of those that are defined; how many are not is said.  Its interval draws topics.

Label patterns: judgments collapsed to what statistics of agreement need to know of an item.

An assessor counts once for an item: labels that one assessor repeated on an item are refused, as agreement with
oneself is not agreement between assessors (``consistency`` measures it).  ``judgments.anonymous()`` takes every label
as another person's; reading with ``repeats="first"`` or ``"last"`` keeps one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from venire.agreement.distance import Distance, label_values
from venire.agreement.patterns import Patterns, first_repeat, group_table, pattern_weights, patterns_of, weighted_pairs
from venire.data.judgments import Judgments
from venire.data.label_pairs import distinct_items, refuse_mixed
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, PairsError, UnknownName
from venire.kernels.resampling import FEW_TOPICS, topic_weights
from venire.types import Bools, Codes, Floats, Ints, RNGLike

LEVEL = 0.95
MOST_GROUPS = 512
BLOCK_CELLS = 1 << 21
"""How many cells (draw x unit) are held at a time."""
UNITS = ("items", "topics")
OVER = ("items", "topics")

Values = Callable[[Floats], Floats]
"""A statistic of weights (draw, unit) -> (draw,), NaN where it is undefined."""


class Resampling(NamedTuple):
    """How an interval is had: over: pooled "items" or the mean over "topics"; units: what is drawn, None to choose."""

    over: str = "items"
    units: str | None = None
    n_draws: int = 1000
    rng: RNGLike = 0


class Source(NamedTuple):
    """What is drawn: whole (unit,), weights of the data as they are; by_topic (topic, unit), topics with pairs only.

    draw: number of draws and generator -> weights (draw, unit).  by_topic may be sparse.  n_units: how many items or
    topics with pairs of labels are drawn, which may be fewer than there are units.
    """

    whole: Floats
    by_topic: Any
    draw: Callable[[int, np.random.Generator], Floats]
    n_units: int
    name: str

    @property
    def few(self) -> bool:
        """Whether topics are drawn, and so few that each is left out in turn instead."""
        return self.name == "topics" and self.n_units < FEW_TOPICS

    def without(self) -> Floats:
        """Weights with each topic left out in turn -> (topic, unit)."""
        return self.whole - dense(self.by_topic)


class Found(NamedTuple):
    """A value and its interval; n_topics, n_undefined: topics of a mean, and those that it leaves out."""

    value: float
    low: float
    high: float
    method: str
    n_topics: int = 0
    n_undefined: int = 0


def chosen_units(units: str | None, n_topics: int) -> str:
    """Whether items or topics are drawn."""
    if units not in (None, *UNITS):
        raise UnknownName("unit of resampling", str(units), UNITS)
    return units or ("topics" if n_topics > 1 else "items")


def pattern_source(n_items: Ints, by_topic: Any, paired: Bools, units: str | None) -> Source:
    """Draw patterns: n_items, paired (pattern,), by_topic (topic, pattern); paired: an item of it has two labels."""
    there = _rows(by_topic, np.asarray(by_topic @ paired.astype(np.float64)) > 0)
    if chosen_units(units, there.shape[0]) == "topics":
        rest = n_items - np.asarray(there.sum(axis=0)).ravel()
        return Source(n_items.astype(np.float64), there, _topic_draws(there, rest), there.shape[0], "topics")

    def draw(n_draws: int, rng: np.random.Generator) -> Floats:
        return pattern_weights(n_items, n_draws, rng)

    return Source(n_items.astype(np.float64), there, draw, int(n_items[paired].sum()), "items")


def _rows(table: Any, rows: Bools) -> Any:
    return table if rows.all() else table[np.flatnonzero(rows)]


def _topic_draws(by_topic: Any, rest: Floats) -> Callable[[int, np.random.Generator], Floats]:
    """Draw topics (topic, pattern); rest (pattern,): what the others hold."""

    def draw(n_draws: int, rng: np.random.Generator) -> Floats:
        return np.asarray(topic_weights(by_topic.shape[0], n_draws, rng) @ by_topic) + rest

    return draw


def group_source(n_groups: int, name: str, *, n_units: int, rest: bool = False) -> Source:
    """Draw groups, each equally likely; for a mean over topics, each group is one.

    n_units: items or topics with pairs; rest: one more unit comes after the groups, which is there once in every draw.
    """
    from scipy.sparse import eye_array

    def draw(n_draws: int, rng: np.random.Generator) -> Floats:
        return np.pad(topic_weights(n_groups, n_draws, rng), ((0, 0), (0, int(rest))), constant_values=1.0)

    by_topic = eye_array(n_groups, n_groups + rest, format="csr")
    return Source(np.ones(n_groups + rest), by_topic, draw, min(n_units, n_groups), name)


def dealt(n: int, rng: np.random.Generator) -> Codes:
    """Deal items or topics into groups of like size at random -> (n,); each is its own where they are few."""
    group = np.arange(n, dtype=np.int32) % MOST_GROUPS
    return group if n <= MOST_GROUPS else rng.permutation(group)


def estimated(values: Values, source: Source, asked: Resampling, *, within: tuple[float, float] | None = None) -> Found:
    """Compute a statistic and its interval; NaN for what is undefined.

    within: move the draws so that their median is the value, and cut them at these ends, for means over assessors who
    rarely meet.
    """
    if asked.over not in OVER:
        raise UnknownName("what the statistic is over", asked.over, OVER)
    rng = np.random.default_rng(asked.rng)
    if asked.over == "topics":
        return topic_mean(topic_values(values, source), asked.n_draws, rng)
    value = float(values(source.whole[None])[0])
    if source.few and asked.n_draws > 1:
        low, high = np.clip(
            jackknife(np.array(value), values(source.without()), source.n_units), *within or (-1.0, 1.0)
        )
        return Found(value, float(low), float(high), f"jackknife over {source.n_units} topics")
    drawn = all_draws(values, source, asked.n_draws, rng) if not np.isnan(value) else np.zeros(0)
    if within:
        drawn = np.clip(drawn + value - middle(drawn), *within)
    low, high = percentiles(drawn, source.n_units)
    return Found(value, float(low), float(high), f"bootstrap over {source.name}, n={asked.n_draws}")


def middle(drawn: Floats) -> float:
    """Median of the draws that are not NaN."""
    known = drawn[~np.isnan(drawn)]
    return float(np.median(known)) if len(known) else np.nan


def topic_values(values: Values, source: Source) -> Floats:
    """Compute a statistic for every topic that has pairs of labels -> (topic,); a block of topics at a time."""
    n_topics = source.by_topic.shape[0]
    step = max(1, BLOCK_CELLS // max(len(source.whole), 1))
    blocks = [values(dense(source.by_topic[begin : begin + step])) for begin in range(0, n_topics, step)]
    return np.concatenate(blocks) if blocks else np.zeros(0)


def dense(table: Any) -> Floats:
    """Return a matrix as an array."""
    return table if isinstance(table, np.ndarray) else np.asarray(table.toarray())


def all_draws(values: Values, source: Source, n_draws: int, rng: np.random.Generator) -> Floats:
    """Compute a statistic in every draw -> (draw,); a block of draws at a time."""
    if source.n_units < 2:
        return np.zeros(0)
    blocks = [
        values(source.draw(size, rng)) for size in _sizes(n_draws, max(len(source.whole), source.by_topic.shape[0]))
    ]
    return np.concatenate(blocks) if blocks else np.zeros(0)


def _sizes(n_draws: int, n_units: int) -> list[int]:
    """Cut draws into blocks that hold few enough cells."""
    step = max(1, BLOCK_CELLS // n_units)
    return [min(step, n_draws - begin) for begin in range(0, n_draws, step)]


def topic_mean(by_topic: Floats, n_draws: int, rng: np.random.Generator) -> Found:
    """Mean over the topics for which a statistic is defined; by_topic (topic,), NaN where it is not."""
    known = by_topic[~np.isnan(by_topic)]
    n, n_undefined = len(known), len(by_topic) - len(known)
    method = f"mean over topics, bootstrap over topics, n={n_draws}"
    if not n:
        return Found(np.nan, np.nan, np.nan, method, 0, n_undefined)
    if n < FEW_TOPICS and n_draws > 1:
        without = (known.sum() - known) / max(n - 1, 1)
        low, high = jackknife(known.mean(), without, n)
        return Found(float(known.mean()), float(low), float(high), "mean over topics, jackknife", n, n_undefined)
    blocks = [topic_weights(n, size, rng) @ known / n for size in _sizes(n_draws, n)]
    low, high = percentiles(np.concatenate(blocks) if blocks else np.zeros(0), n)
    return Found(float(known.mean()), float(low), float(high), method, n, n_undefined)


def jackknife(value: Floats, without: Floats, n_units: int | Ints) -> tuple[Floats, Floats]:
    """Student's interval of a statistic between -1 and 1, see ``student``."""
    low, high = student(value, without, n_units)
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


def student(value: Floats, without: Floats, n_units: int | Ints) -> tuple[Floats, Floats]:
    """Student's interval of a statistic (...) of n units, by its values without each unit (unit, ...) -> low, high.

    Units that a statistic does not rest on may be among them.  NaN where it rests on fewer than two, or is undefined
    without one of them.
    """
    from scipy.special import stdtrit

    n = np.maximum(np.asarray(n_units, dtype=np.float64), 1.0)
    variance = (n - 1) / n * np.square(without - value).sum(axis=0)
    half = stdtrit(np.maximum(n - 1, 1.0), (1 + LEVEL) / 2) * np.where(n > 1, np.sqrt(variance), np.nan)
    return value - half, value + half


def percentiles(drawn: Floats, n_units: int | Ints) -> tuple[Floats, Floats]:
    """Expanded percentile interval of draws (draw, ...) from n units, one number or (...) -> low, high (...).

    NaN where there are fewer than two units, or than two draws that are not NaN.
    """
    nothing = np.full(drawn.shape[1:], np.nan)
    n = np.asarray(n_units, dtype=np.float64)
    if len(drawn) < 2 or not (n >= 2).any():
        return nothing, nothing
    from scipy.special import ndtr, stdtrit

    many = np.maximum(n, 2.0)
    tail = ndtr(stdtrit(many - 1, (1 - LEVEL) / 2) * np.sqrt(many / (many - 1)))
    ordered = np.sort(drawn, axis=0)  # NaN last
    last = (~np.isnan(drawn)).sum(axis=0) - 1
    ends = [_at(ordered, share * last) for share in (tail, 1 - tail)]
    known = (n >= 2) & (last >= 1)
    return np.where(known, ends[0], np.nan), np.where(known, ends[1], np.nan)


def _at(ordered: Floats, place: Floats) -> Floats:
    """Read ordered draws (draw, ...) at a place between them (...), by linear interpolation -> (...)."""
    place = np.maximum(place, 0.0)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, len(ordered) - 1)
    low, high = (np.take_along_axis(ordered, np.expand_dims(at, 0), axis=0)[0] for at in (below, above))
    part = place - below
    return np.where(part > 0, low + part * (high - low), low)


NO_PAIRS = "no item has labels by two assessors"
ONE_LABEL = "all labels that can be compared are the same, so there is no disagreement to expect"


@dataclass(frozen=True, eq=False)
class LabelPatterns:
    """Items by pattern of labels: item (row,), topic, pattern (item,); values (label,); table (pattern, label)."""

    scale: Scale
    item: Codes
    topic: Codes
    pattern: Ints
    patterns: Patterns
    table: Any
    size: Ints
    n_topics: int
    n_raters: int

    @property
    def values(self) -> Floats:
        """Labels as numbers -> (label,)."""
        return label_values(self.scale)

    @property
    def paired(self) -> Bools:
        """Whether items of a pattern have two labels or more -> (pattern,)."""
        return self.size >= 2

    @property
    def n_items(self) -> int:
        """How many items have two labels or more."""
        return int(self.patterns.n_items[self.paired].sum())

    @cached_property
    def occurring(self) -> Bools:
        """Which labels were given at all -> (label,)."""
        return np.bincount(self.patterns.label, minlength=len(self.scale)) > 0

    @cached_property
    def by_topic(self) -> Any:
        """How many items of each pattern each topic has -> (topic, pattern)."""
        return group_table(self.topic, self.pattern, (self.n_topics, len(self.size)))

    def source(self, units: str | None) -> Source:
        """Tell what is drawn anew."""
        return pattern_source(self.patterns.n_items, self.by_topic, self.paired, units)

    def distances(self, distance: Distance) -> Floats:
        """Distances of labels that do not depend on how often they are given -> (label, label)."""
        return distance(self.values, self.marginals(self.patterns.n_items[None].astype(np.float64))[0])

    def marginals(self, weights: Floats) -> Floats:
        """How often labels are given, on items with two or more: weights (draw, pattern) -> (draw, label)."""
        return np.asarray((weights * self.paired) @ self.table)

    def pair_means(self, distances: Floats) -> Floats:
        """Mean distance of two labels of an item -> (pattern,); 0 where it has one."""
        size = self.size.astype(np.float64)
        return weighted_pairs(self.table, distances) / np.where(self.paired, size * (size - 1), 1.0) * self.paired

    def why_undefined(self) -> str:
        """Say why nothing can be said."""
        return NO_PAIRS if not self.paired.any() else ONE_LABEL


def label_patterns(judgments: Judgments | LabelPatterns) -> LabelPatterns:
    """Collapse judgments to label patterns; several statistics can share them.

    Cost: O(rows log rows); memory linear in rows and items.
    """
    if isinstance(judgments, LabelPatterns):
        return judgments
    refuse_mixed(judgments)
    if len(judgments) == 0:
        raise PairsError("there is no label to compare", hint="; ".join(map(str, judgments.notes)) or None)
    item, topic = distinct_items(judgments)
    refuse_repeats(judgments, item)
    patterns, pattern = patterns_of(item, judgments.label, (len(topic), len(judgments.scale)))
    table, size = patterns.table(), patterns.size
    gave = np.zeros(len(judgments.assessor.names), dtype=np.bool_)
    gave[judgments.assessor.codes] = True
    n_topics = len(judgments.items.topics)
    return LabelPatterns(judgments.scale, item, topic, pattern, patterns, table, size, n_topics, int(gave.sum()))


def refuse_repeats(judgments: Judgments, item: Codes) -> None:
    """Refuse several labels by one assessor for an item; item (row,)."""
    found = first_repeat(item, judgments.assessor.codes)
    if found is None:
        return
    row = int(np.argmax(item == found[0]))
    doc, topic = judgments.items.doc[judgments.item[row]], judgments.column("topic").codes[row]
    raise AmbiguousLabels(
        f"assessor {judgments.assessors[found[1]]!r} gave several labels for document {doc!r} of topic "
        f"{judgments.topics[topic]!r}, and agreement is between assessors",
        hint="keep one of them (repeats='last', on the command line --repeats last), take every label as another "
        "person's with anonymous(), or measure agreement with oneself (venire consistency)",
    )
