"""Significance: which systems differ by more than chance in the topics, and by how much.

Every two systems are compared on the topics that both have, with one test (``comparison.tests``), its p-values
adjusted for their number (``comparison.tests``), and with the size of the difference (``comparison.effects``).
Topics are the only chance here: that another judge might have labelled otherwise is not part of these p-values.

Head to head: on which topics one system beats another, and by how much.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from venire.checks import need_at_least
from venire.comparison.effects import N_RESAMPLES, Effects, effects_of
from venire.comparison.tests import WORDS, Adjust, PairedT, PairTest, TukeyHSD, adjustment, unadjusted
from venire.errors import SettingError
from venire.measures.paired_scores import PairedScores, Pairs, paired_scores
from venire.measures.scores import Scores
from venire.results import Tabular, counted
from venire.types import Bools, Floats, Ints, RNGLike

LEVEL = 0.95
_SIZES = tuple(field.name for field in fields(Effects) if field.name != "delta")


@dataclass(frozen=True, eq=False)
class SystemComparison(Tabular):
    """Pairs of systems compared: a, b (pair,) number ``systems``; n_topics, p_value, p_adjusted (pair,).

    ``effects.delta`` is the mean score of a less that of b, on the topics both have.  ``test`` and ``adjust`` say how;
    ``notes`` what to be careful about.
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
    level: float
    notes: tuple[str, ...] = ()

    @property
    def delta(self) -> Floats:
        """Mean score of a less that of b -> (pair,)."""
        return self.effects.delta

    @property
    def significant(self) -> Bools:
        """Pairs whose adjusted p-value is at most 1 - level -> (pair,)."""
        return self.p_adjusted <= 1 - self.level + 1e-12

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per pair; None where nothing is known."""
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
        """Say the main finding in one sentence."""
        return self._of_one_pair() if len(self.a) == 1 else self._of_many_pairs()

    def __str__(self) -> str:
        return "\n".join([self.sentence(), *self.notes])

    def _of_one_pair(self) -> str:
        p, delta = float(self.p_adjusted[0]), float(self.delta[0])
        a, b = self._names(0)
        if np.isnan(p):
            return f"{a} and {b} have {counted(int(self.n_topics[0]), 'topic')} in common: too few to compare them."
        found = f"{100 * self.level:g}% interval {self.effects.low[0]:+.4f} to {self.effects.high[0]:+.4f}"
        verdict = "more than" if self.significant[0] else "no more than"
        return (
            f"By {self.measure} over {counted(int(self.n_topics[0]), 'topic')}, {a} differs from {b} by {delta:+.4f} "
            f"({found}), {verdict} chance in the topics explains (p = {_shown(p)}, {self.test})."
        )

    def _of_many_pairs(self) -> str:
        known = ~np.isnan(self.p_adjusted)
        if not known.any():
            return f"By {self.measure}, no two systems have enough topics in common to compare them."
        top = int(np.nanargmax(np.abs(self.delta)))
        better, worse = self._names(top)[:: 1 if self.delta[top] > 0 else -1]
        how = self.test if self.adjust == "tukey" else f"{self.test}; {WORDS.get(self.adjust, self.adjust)}"
        n = int(self.significant.sum())
        pairs = f"{n:,} of {counted(int(known.sum()), 'pair')} of systems {'differs' if n == 1 else 'differ'}"
        return (
            f"By {self.measure}, {pairs} by more than chance in the topics explains (level {1 - self.level:.3g}, "
            f"{how}); the largest difference is that of {better} over {worse}, {abs(self.delta[top]):.4f}."
        )

    def _names(self, pair: int) -> tuple[str, str]:
        return self.systems[self.a[pair]], self.systems[self.b[pair]]


def compare_systems(
    scores: Scores,
    measure: str | None = None,
    *,
    test: PairTest | None = None,
    pairs: Pairs = None,
    adjust: str | Adjust | None = "holm",
    level: float = LEVEL,
    n_resamples: int = N_RESAMPLES,
    rng: RNGLike = 0,
) -> SystemComparison:
    """Test pairs of systems for a difference in mean score, and say how large it is.

    Parameters
    ----------
    scores : by system and topic, of one measure, or of several and ``measure`` names one
    test : ``PairedT()`` (the default), ``Wilcoxon()``, ``SignFlip(n)``, ``PairedBootstrap(n)`` or ``TukeyHSD(n)``
    pairs : None: every two systems; a name: every other system (a) against this baseline (b); or [(a, b), ...]
    adjust : "holm", "bh", None, or a function of p-values; TukeyHSD has adjusted its own, and none is applied to them
    level : of the intervals; a pair is significant where its adjusted p-value is at most 1 - level
    n_resamples : for the bootstrap interval of the difference

    Notes
    -----
    Many pairs need many draws: adjusted by Holm for m pairs, no p-value of n draws can fall below m / (n + 1), and a
    note says where that hides all findings.  TukeyHSD, and tests that draw nothing, have no such bound.

    Cost: O(draws x topics x pairs) as matrix products; memory O(topics x pairs).

    Examples
    --------
    >>> from venire import Scores, SignFlip
    >>> values = np.array([[0.9, 0.6, 0.8, 0.7, 0.5, 0.9], [0.5, 0.4, 0.7, 0.3, 0.2, 0.4]])
    >>> names = {"system": ("new", "old"), "topic": tuple("123456")}
    >>> found = compare_systems(Scores(values, ("system", "topic"), names), test=SignFlip())
    >>> round(float(found.delta[0]), 4), float(found.p_value[0])
    (0.3167, 0.03125)
    """
    if not 0 < level < 1:
        raise SettingError(f"the level is {level:g}, expected a share between 0 and 1, as 0.95")
    need_at_least(1, "n_resamples", n_resamples)
    paired = paired_scores(scores, measure, pairs=pairs)
    test = PairedT() if test is None else test
    for_test, for_effects = np.random.default_rng(rng).spawn(2)
    name, adjusted = ("tukey", unadjusted) if test.familywise else adjustment(adjust)
    p = test.p_values(paired, for_test)
    p_adjusted = adjusted(p)
    effects = effects_of(paired.differences, level=level, n_resamples=n_resamples, rng=for_effects)
    return SystemComparison(
        paired.systems,
        paired.measure,
        paired.a,
        paired.b,
        paired.differences.n,
        p,
        p_adjusted,
        effects,
        test.words(len(paired.topics)),
        name,
        level,
        (*_notes(paired, test), *_too_coarse(p, p_adjusted, test, n_topics=len(paired.topics), alpha=1 - level)),
    )


def _notes(paired: PairedScores, test: PairTest) -> list[str]:
    """What to be careful about."""
    differences, words = paired.differences, []
    n_topics = len(paired.topics)
    lacking = int((differences.n < n_topics).sum())
    if lacking:
        words.append(f"{counted(lacking, 'pair')} lack some of the {n_topics} topics, and are compared on the others")
    few = int((differences.n < 2).sum())
    if few:
        words.append(f"{counted(few, 'pair')} have fewer than two topics in common, so no p-value")
    same = int(((differences.sd == 0) & (differences.mean == 0)).sum())
    if same:
        words.append(
            f"{counted(same, 'pair')} have the same scores on every topic: p is 1, and no effect size is known"
        )
    constant = int(((differences.sd == 0) & (differences.mean != 0)).sum())
    if constant:
        words.append(
            f"{counted(constant, 'pair')} differ by the same on every topic: there is no spread to measure an effect by"
        )
    if isinstance(test, TukeyHSD) and lacking:
        words.append(f"Tukey's test is over the {int(test.complete(paired).sum())} topics that every system has")
    return words


def _too_coarse(p: Floats, p_adjusted: Floats, test: PairTest, *, n_topics: int, alpha: float) -> list[str]:
    """Whether even the smallest p-value that the test can give is lost in the adjustment."""
    finest = test.finest(n_topics)
    smallest = p <= finest * (1 + 1e-9)
    n = int((~np.isnan(p)).sum())
    if not smallest.any() or p_adjusted[smallest].min() <= alpha:
        return []
    more = "more topics" if finest == 2.0 ** (1 - n_topics) else f"{n / alpha:,.0f} draws or more"
    return [
        f"the smallest p-value that this test can give is {finest:.2g}, and adjusted for {counted(n, 'pair')} it is "
        f"{p_adjusted[smallest].min():.2g}: nothing can be found at level {alpha:.3g}; with {more}, fewer pairs or "
        "another test it could"
    ]


def _known(values: Floats | Ints) -> list[float | None]:
    """Numbers as JSON has them, None for NaN."""
    return [None if value != value else value for value in values.tolist()]


def _shown(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


@dataclass(frozen=True, eq=False)
class HeadToHead(Tabular):
    """Topics that both systems have, the largest gain of a first; score_a, score_b, difference (topic,).

    ``missing`` are the topics that one of them lacks.
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
        """How many topics a wins, ties and loses."""
        wins, losses = int((self.difference > 0).sum()), int((self.difference < 0).sum())
        return wins, len(self.topics) - wins - losses, losses

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per topic, in order."""
        outcome = np.array(["loss", "tie", "win"])[np.sign(self.difference).astype(np.int64) + 1].tolist()
        rows = zip(
            self.topics, self.score_a.tolist(), self.score_b.tolist(), self.difference.tolist(), outcome, strict=True
        )
        return [dict(zip(("topic", "score_a", "score_b", "difference", "outcome"), row, strict=True)) for row in rows]

    def sentence(self) -> str:
        """Say who wins on how many topics, and where most."""
        if not self.topics:
            return f"{self.a} and {self.b} have no topic in common."
        wins, ties, losses = self.counts
        words = f"By {self.measure}, {self.a} beats {self.b} on {wins} of {counted(len(self.topics), 'topic')}"
        words += f", loses on {losses} and ties on {ties}"
        if wins:
            words += f"; it gains most on topic {self.topics[0]} ({self.difference[0]:+.4f})"
        if losses:
            words += f"; it loses most on topic {self.topics[-1]} ({self.difference[-1]:+.4f})"
        return f"{words}."


def head_to_head(scores: Scores, a: str, b: str, *, measure: str | None = None) -> HeadToHead:
    """List the topics of two systems by the difference of their scores, the largest gain of a first.

    Ties keep the order of the topics.  A difference below the twelfth digit of the scores is a tie.
    """
    paired = paired_scores(scores, measure, pairs=[(a, b)])
    there, difference = paired.differences.present[:, 0], paired.differences.value[:, 0]
    order = np.flatnonzero(there)[np.argsort(-difference[there], kind="stable")]
    one, other = paired.values[paired.a[0]], paired.values[paired.b[0]]
    return HeadToHead(
        a,
        b,
        paired.measure,
        tuple(paired.topics[topic] for topic in order),
        one[order],
        other[order],
        difference[order],
        tuple(paired.topics[topic] for topic in np.flatnonzero(~there)),
    )
