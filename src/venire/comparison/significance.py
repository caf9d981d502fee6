r"""Significance: which systems differ significantly over topics, by how much, and on which topics.

Every two systems are compared on the topics that both have, with one test and its adjusted p-values
(``comparison.tests``), and with effect sizes.  Only the topics are random here: that another judge might have labelled
otherwise is not part of these p-values.  Over n topics with differences of mean m and standard deviation s (n - 1):

    difference       m; Student's interval :math:`m \pm t_{n-1} s / \sqrt n`, and that of the studentised bootstrap
                     (Efron and Tibshirani 1993, Chapter 12), from :math:`m - t^*_{high} s / \sqrt n` to
                     :math:`m - t^*_{low} s / \sqrt n`
    standardised     :math:`g = J m / s`, Cohen's d of paired data with Hedges' (1981, doi:10.3102/10769986006002107)
                     correction :math:`J = \Gamma(\nu/2) / (\sqrt{\nu/2}\, \Gamma((\nu-1)/2))`, :math:`\nu = n - 1`.
                     The interval is for the population's mean over its standard deviation, by the noncentral t
    superiority      share of topics on which a is better, ties half: the probability that a beats b on a new topic.
                     Wilson's interval (1927, doi:10.1080/01621459.1927.10502953), if anything too wide with ties

A standardised difference measures how clear a difference is, not how much a user gains.  It is NaN where all
differences are the same, and 0 for two topics, where J is 0.  Limits of the difference are cut at its range where the
measure has one, such as [-1, 1] for nDCG.  A bootstrap interval is NaN where so many resamples have
no spread that it would be infinite: with four topics or fewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from venire.checks import need_at_least
from venire.comparison.tests import (
    WORDS,
    Adjust,
    PairedScores,
    PairedT,
    Pairs,
    PairTest,
    TukeyHSD,
    adjustment,
    paired_scores,
    unadjusted,
)
from venire.errors import SettingError
from venire.kernels.paired_tests import Differences, extreme_t
from venire.measures.names import range_of
from venire.measures.scores import Scores
from venire.randomness import topic_weights
from venire.results import Note, Tabular, counted
from venire.types import Bools, Floats, Ints, RNGLike

CONFIDENCE = 0.95
N_RESAMPLES = 2_000


@dataclass(frozen=True, eq=False)
class Effects:
    """Sizes of the difference and their intervals, all (pair,); NaN where not known."""

    delta: Floats
    low: Floats
    high: Floats
    boot_low: Floats
    boot_high: Floats
    effect: Floats
    effect_low: Floats
    effect_high: Floats
    superiority: Floats
    superiority_low: Floats
    superiority_high: Floats
    wins: Ints
    ties: Ints
    losses: Ints


_SIZES = tuple(field.name for field in fields(Effects) if field.name != "delta")


@dataclass(frozen=True, eq=False)
class SystemComparison(Tabular):
    """Compared pairs of systems: a, b (pair,) number ``systems``; n_topics, p_value, p_adjusted (pair,).

    ``effects.delta`` is the mean score of a minus that of b, on the topics both have.  ``test`` and ``adjust`` name the
    methods.
    """

    systems: tuple[str, ...]
    measure: str
    a: Ints
    b: Ints
    n_topics: Ints
    p_value: Floats
    p_adjusted: Floats
    effects: Effects
    test: str
    adjust: str
    confidence: float
    notes: tuple[Any, ...] = ()

    @property
    def delta(self) -> Floats:
        """Mean score of a minus that of b -> (pair,)."""
        return self.effects.delta

    @property
    def significant(self) -> Bools:
        """Pairs whose adjusted p-value is at most 1 - confidence -> (pair,)."""
        return self.p_adjusted <= 1 - self.confidence + 1e-12

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per pair; None where a value is not known."""
        columns: dict[str, list[Any]] = {
            "a": [self.systems[number] for number in self.a],
            "b": [self.systems[number] for number in self.b],
            "measure": [self.measure] * len(self.a),
            "topics": self.n_topics.tolist(),
            "delta": _known(self.delta),
            "p_value": _known(self.p_value),
            "p_adjusted": _known(self.p_adjusted),
        }
        columns |= {name: _known(getattr(self.effects, name)) for name in _SIZES}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def sentence(self) -> str:
        """Return how many pairs differ significantly, and the largest difference."""
        tested = ~np.isnan(self.p_adjusted)
        if not tested.any():
            return f"By {self.measure}, no two systems have enough topics in common to compare them."
        top = int(np.nanargmax(np.abs(self.delta)))
        better, worse = (self.systems[each[top]] for each in (self.a, self.b)[:: 1 if self.delta[top] > 0 else -1])
        n = int(self.significant.sum())
        pairs = f"{n:,} of {counted(int(tested.sum()), 'pair')} of systems {'differs' if n == 1 else 'differ'}"
        return (
            f"By {self.measure}, {pairs} significantly over topics ({self.how}); the largest difference is between "
            f"{better} and {worse}, {abs(self.delta[top]):.4f}."
        )

    @property
    def how(self) -> str:
        """Level, test and adjustment in words."""
        return f"level {1 - self.confidence:.3g}, {self.test}, {WORDS.get(self.adjust, self.adjust)}"


def compare_systems(
    scores: Scores,
    measure: str | None = None,
    *,
    test: PairTest | None = None,
    pairs: Pairs = None,
    adjust: str | Adjust | None = "holm",
    confidence: float = CONFIDENCE,
    n_resamples: int = N_RESAMPLES,
    rng: RNGLike = 0,
) -> SystemComparison:
    """Test pairs of systems for a difference in mean score, and measure its size.

    Parameters
    ----------
    scores : by system and topic, of one measure, or of several and ``measure`` names one
    test : ``PairedT()`` (the default), ``Wilcoxon()``, ``SignFlip(n)``, ``PairedBootstrap(n)`` or ``TukeyHSD(n)``
    pairs : None: every two systems; a name: every other system (a) against this baseline (b); or [(a, b), ...]
    adjust : "holm", "bh", None, or a function of p-values; those of TukeyHSD are already adjusted
    confidence : of the intervals; a pair is significant if its adjusted p-value is at most 1 - confidence
    n_resamples : for the bootstrap interval of the difference

    Notes
    -----
    Many pairs need many draws: adjusted by Holm for m pairs, no p-value of n draws can fall below m / (n + 1), and a
    note says where that excludes any finding.  TukeyHSD, and tests without draws, have no such bound.

    Cost: O(draws x topics x pairs) as matrix products; memory O(topics x pairs).

    Examples
    --------
    >>> from venire import Scores
    >>> from venire.comparison import SignFlip
    >>> values = np.array([[0.9, 0.6, 0.8, 0.7, 0.5, 0.9], [0.5, 0.4, 0.7, 0.3, 0.2, 0.4]])
    >>> names = {"system": ("new", "old"), "topic": tuple("123456")}
    >>> found = compare_systems(Scores(values, ("system", "topic"), names), test=SignFlip())
    >>> round(float(found.delta[0]), 4), float(found.p_value[0])
    (0.3167, 0.03125)
    """
    if not 0 < confidence < 1:
        raise SettingError(f"the confidence is {confidence:g}, expected a number between 0 and 1, such as 0.95")
    need_at_least(1, "n_resamples", n_resamples)
    paired = paired_scores(scores, measure, pairs=pairs)
    test = PairedT() if test is None else test
    for_test, for_effects = np.random.default_rng(rng).spawn(2)
    name, adjusted = ("tukey", unadjusted) if test.familywise else adjustment(adjust)
    p = test.p_values(paired, for_test)
    p_adjusted = adjusted(p)
    effects = effects_of(paired.differences, confidence=confidence, n_resamples=n_resamples, rng=for_effects)
    effects = within(effects, paired)
    n_topics = len(paired.topics)
    notes = (*_notes(paired, test), *_too_coarse(p, p_adjusted, test, n_topics=n_topics, alpha=1 - confidence))
    pairs_of = (paired.systems, paired.measure, paired.a, paired.b, paired.differences.n)
    return SystemComparison(*pairs_of, p, p_adjusted, effects, test.words(n_topics), name, confidence, notes)


def effects_of(
    differences: Differences, *, confidence: float = 0.95, n_resamples: int = N_RESAMPLES, rng: np.random.Generator
) -> Effects:
    """Measure how large differences are.  Cost: O(resamples x topics x pairs), as matrix products."""
    from scipy.special import stdtrit

    wins = (differences.value > 0).sum(axis=0)
    losses = (differences.value < 0).sum(axis=0)
    ties = differences.n - wins - losses
    weights = topic_weights(len(differences.value), n_resamples, rng)
    half = stdtrit(np.maximum(differences.n - 1.0, 1), (1 + confidence) / 2) * differences.sd / _root(differences)
    return Effects(
        *(differences.mean, differences.mean - half, differences.mean + half),
        *bootstrap_interval(differences, weights, confidence=confidence),
        *standardised(differences, confidence=confidence),
        *superiority(wins + ties / 2, differences.n, confidence=confidence),
        *(wins, ties, losses),
    )


def within(effects: Effects, paired: PairedScores) -> Effects:
    """Cut the limits of differences at the range of the measure, or of the scores where they exceed it."""
    lowest, highest = range_of(paired.measure)
    ends = np.append(paired.values, [lowest, highest])
    most = float(np.nanmax(ends) - np.nanmin(ends))
    cut = {name: np.clip(getattr(effects, name), -most, most) for name in ("low", "high", "boot_low", "boot_high")}
    return replace(effects, **cut)


def bootstrap_interval(differences: Differences, weights: Floats, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Interval of the mean difference from resampled topics: weights (draw, topic) -> low, high, both (pair,).

    Each end is missing (NaN) where it would be infinite.
    """
    low, high = extreme_t(differences, weights, tail=(1 - confidence) / 2)
    ends = np.stack([differences.mean - high * _se(differences), differences.mean - low * _se(differences)])
    ends[:, ~np.isfinite(ends).all(axis=0)] = np.nan
    return ends[0], ends[1]


def standardised(differences: Differences, *, confidence: float = 0.95) -> tuple[Floats, Floats, Floats]:
    """Standardised difference, corrected for few topics, and its interval -> three of (pair,)."""
    from scipy.special import nctdtrinc

    root, spread = _root(differences), np.flatnonzero(~differences.without_spread)
    t, df, tail = differences.t[spread], (differences.n[spread] - 1).astype(np.float64), (1 - confidence) / 2
    found = np.full((3, len(root)), np.nan)
    found[:, spread] = correction(df) * t, nctdtrinc(df, 1 - tail, t), nctdtrinc(df, tail, t)
    effect, low, high = found / root
    return effect, low, high


def correction(df: Floats) -> Floats:
    """Hedges' factor J, by which a standardised difference of few topics is too large; df (...) -> (...).

    Examples
    --------
    >>> correction(np.array([1.0, 9.0, 52.0])).round(4).tolist()
    [0.0, 0.9139, 0.9855]
    """
    from scipy.special import gammaln

    half = np.maximum(df, 2) / 2
    return np.where(df < 2, 0.0, np.exp(gammaln(half) - gammaln(half - 0.5) - np.log(half) / 2))


def superiority(won: Floats, n: Ints, *, confidence: float = 0.95) -> tuple[Floats, Floats, Floats]:
    """Share of topics won, and Wilson's interval; NaN without topics: won, n (pair,) -> three of (pair,)."""
    from scipy.special import ndtri

    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    topics = np.where(n > 0, n, np.nan)
    share = won / topics
    centre = (share + z2 / (2 * topics)) / (1 + z2 / topics)
    half = np.sqrt(z2 * (share * (1 - share) / topics + z2 / (4 * topics**2))) / (1 + z2 / topics)
    return share, np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def _root(differences: Differences) -> Floats:
    return np.sqrt(np.maximum(differences.n, 1))


def _se(differences: Differences) -> Floats:
    """Standard error of the mean difference; NaN where differences are alike -> (pair,)."""
    return np.where(differences.without_spread, np.nan, differences.sd) / _root(differences)


def _notes(paired: PairedScores, test: PairTest) -> Iterator[Note]:
    """Yield what limits the comparison of these pairs."""
    differences, n_topics = paired.differences, len(paired.topics)
    same = differences.sd == 0
    lacking = int((differences.n < n_topics).sum())
    counts = (
        ("pairs-lack-topics", "{n:pair} compared on fewer than all {topics} topics, those in common", lacking),
        ("no-p-value", "no p-value for {n:pair} with fewer than two topics in common", (differences.n < 2).sum()),
        (
            "equal-scores",
            "equal scores on every topic for {n:pair}: p is 1, and the effect size is undefined",
            (same & (differences.mean == 0)).sum(),
        ),
        (
            "constant-difference",
            "the same difference on every topic for {n:pair}: the effect size is undefined",
            (same & (differences.mean != 0)).sum(),
        ),
    )
    yield from (Note(kind, text, n=int(n), topics=n_topics) for kind, text, n in counts if n)
    if isinstance(test, TukeyHSD) and lacking:
        complete = int(test.complete(paired).sum())
        yield Note("complete-topics", "Tukey's test is over the {n:topic} that every system has", n=complete)


def _too_coarse(p: Floats, p_adjusted: Floats, test: PairTest, *, n_topics: int, alpha: float) -> list[Note]:
    """Note that even the smallest possible p-value is not significant after the adjustment."""
    finest = test.finest(n_topics)
    smallest = p <= finest * (1 + 1e-9)
    n = int((~np.isnan(p)).sum())
    if not smallest.any() or p_adjusted[smallest].min() <= alpha:
        return []
    more = "more topics" if finest == 2.0 ** (1 - n_topics) else f"{n / alpha:,.0f} draws or more"
    text = (
        "the smallest possible p-value of this test is {finest:.2g}, and adjusted for {n:pair} it is {adjusted:.2g}: "
        "no difference can be significant at level {alpha:.3g}; use {more}, fewer pairs or another test"
    )
    adjusted = float(p_adjusted[smallest].min())
    return [Note("too-coarse", text, finest=finest, n=n, adjusted=adjusted, alpha=alpha, more=more)]


def _known(values: Floats | Ints) -> list[float | None]:
    """Return numbers for JSON, None for NaN."""
    return [None if value != value else value for value in values.tolist()]


@dataclass(frozen=True, eq=False)
class HeadToHead(Tabular):
    """Topics that both systems have, the largest gain of a first; score_a, score_b, difference (topic,).

    ``missing`` are the topics without a score of one of them.
    """

    a: str
    b: str
    measure: str
    topics: tuple[str, ...]
    score_a: Floats
    score_b: Floats
    difference: Floats
    missing: tuple[str, ...] = ()

    @property
    def counts(self) -> tuple[int, int, int]:
        """Return how many topics a wins, ties and loses."""
        wins, losses = int((self.difference > 0).sum()), int((self.difference < 0).sum())
        return wins, len(self.topics) - wins - losses, losses

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per topic, in order."""
        outcome = np.array(["loss", "tie", "win"])[np.sign(self.difference).astype(np.int64) + 1]
        columns = (np.array(self.topics), self.score_a, self.score_b, self.difference, outcome)
        rows = zip(*(each.tolist() for each in columns), strict=True)
        return [dict(zip(("topic", "score_a", "score_b", "difference", "outcome"), row, strict=True)) for row in rows]

    def sentence(self) -> str:
        """Return on how many topics each system is better, and the largest differences."""
        if not self.topics:
            return f"{self.a} and {self.b} have no topic in common."
        wins, ties, losses = self.counts
        return (
            f"By {self.measure}, {self.a} beats {self.b} on {wins} of {counted(len(self.topics), 'topic')}, loses on "
            f"{losses} and ties on {ties}; the difference ranges from {self.difference[-1]:+.4f} (topic "
            f"{self.topics[-1]}) to {self.difference[0]:+.4f} (topic {self.topics[0]})."
        )


def head_to_head(scores: Scores, a: str, b: str, *, measure: str | None = None) -> HeadToHead:
    """List the topics of two systems by the difference of their scores, the largest gain of a first.

    Ties keep the order of the topics.  A difference below the twelfth digit of the scores is a tie.
    """
    paired = paired_scores(scores, measure, pairs=[(a, b)])
    present, difference = paired.differences.present[:, 0], paired.differences.value[:, 0]
    order = np.flatnonzero(present)[np.argsort(-difference[present], kind="stable")]
    one, other = paired.values[paired.a[0]], paired.values[paired.b[0]]
    topics, missing = (tuple(paired.topics[topic] for topic in each) for each in (order, np.flatnonzero(~present)))
    return HeadToHead(a, b, paired.measure, topics, one[order], other[order], difference[order], missing)
