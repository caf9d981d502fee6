r"""Preferences by several people: what they say together, how far they agree, and whether the left side has it easier.

*Settled*: one answer per pair.  The median of strengths, or the outcome that most chose (``majority``).  Where an even
number of choices has two middle ones, or two outcomes are equally frequent, the answer is split over both, half each:
between a tie and "left", the left one has 3/4.  (Chu et al. 2021, doi:10.1145/3459637.3482428, Section 5.1.1, take the
median; their published code splits.)

*Agreement*: with n choices on a pair, of which :math:`n_c` are c (left, tie, right),

.. math:: A_o = \frac1N \sum_{pairs} \sum_c \frac{n_c (n_c - 1)}{n - 1}, \qquad
          \alpha = 1 - \frac{1 - A_o}{1 - A_e}, \qquad A_e = \sum_c \frac{m_c (m_c - 1)}{M (M - 1)}

Krippendorff's alpha (2004), nominal.  Which document of a pair is written first is a matter of chance and must not
matter, so m counts every choice in both orientations (M = 2N): left and right are equally likely by construction.  Two
assessors are compared by Cohen's kappa (1960) with the same counting; how often each calls a tie is their own.

*Position*: the share of left among choices that are no ties.  It is a bias only if sides were drawn by lot.

An assessor who chose several times on a pair counts once, with the middle of their choices.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from venire.agreement.resampling import jackknife
from venire.data.ids import Category
from venire.data.preferences import Preferences
from venire.errors import UnknownName
from venire.kernels.resampling import FEW_TOPICS, resampled_sums, topic_weights
from venire.kernels.shares import CONFIDENCE, clustered_shares
from venire.results import Estimate, Records, Tabular, counted, known
from venire.types import Floats, Ints, RNGLike

WAYS = ("median", "majority")
TOPIC_DRAWS = 1000
TOPICS, PAIRS = "choices of a topic taken as alike", "pairs taken as independent"


@dataclass(frozen=True, eq=False)
class Settled(Tabular):
    """One answer per pair: table (a row per pair), the two middle strengths low and high, and n_choices, all (pair,).

    ``table.strength`` is the mean of low and high.
    """

    table: Preferences
    low: Floats
    high: Floats
    n_choices: Ints

    @property
    def left_share(self) -> Floats:
        """How far the left one is preferred -> (pair,): 1, 0, 1/2 for a tie; split where low and high differ."""
        return 0.5 + (np.sign(self.low) + np.sign(self.high)) / 4

    def sentence(self) -> str:
        """Say how many pairs have an answer, and of how many choices."""
        ties = int((self.table.strength == 0).sum())
        return (
            f"{counted(len(self.n_choices), 'pair')} settled by {counted(int(self.n_choices.sum()), 'choice')}, "
            f"{counted(ties, 'tie')} among them."
        )

    def records(self) -> Records:
        """Return one row per pair: the answer, the two middle strengths, and how many choices there were."""
        columns = (self.low.tolist(), self.high.tolist(), self.n_choices.tolist())
        rows = self.table.to_polars().drop("assessor").to_dicts()
        return [
            {**row, "low": low, "high": high, "choices": n} for row, low, high, n in zip(rows, *columns, strict=True)
        ]


@dataclass(frozen=True)
class TwoAssessors:
    """How two assessors agree on the n_pairs that both compared; None with a reason where nothing can be said."""

    a: str
    b: str
    n_pairs: int
    raw: float | None
    kappa: float | None
    reason: str | None = None


@dataclass(frozen=True)
class PreferenceAgreement(Tabular):
    """How far people agree on pairs: raw agreement, alpha, and by two assessors; None with a reason where undefined."""

    raw: Estimate | None
    alpha: Estimate | None
    n_pairs: int
    n_topics: int
    by_assessors: tuple[TwoAssessors, ...]
    reason: str | None = None

    def records(self) -> Records:
        """Return one row per two assessors who compared the same pairs."""
        return [asdict(each) for each in self.by_assessors]

    def sentence(self) -> str:
        """Say how often two people agree, and how far beyond chance."""
        if self.raw is None:
            return f"Nothing can be said on agreement: {self.reason}."
        beyond = (
            f"alpha is not defined ({self.reason})"
            if self.alpha is None
            else f"beyond chance: alpha {self.alpha.value:.2f}"
        )
        return (
            f"Two people who compare the same pair agree in {self.raw.value:.0%} of cases "
            f"({self.raw.low:.0%} to {self.raw.high:.0%}); {beyond} "
            f"({counted(self.n_pairs, 'pair')} with two choices or more, {counted(self.n_topics, 'topic')})."
        )


@dataclass(frozen=True)
class PositionBias(Tabular):
    """How often the left one is preferred among n choices that are no ties; by assessor as well."""

    left: Estimate | None
    n_left: int
    n_right: int
    n_ties: int
    by_assessor: tuple[dict[str, Any], ...]
    reason: str | None = None

    def records(self) -> Records:
        """Return one row per assessor."""
        return list(self.by_assessor)

    def sentence(self) -> str:
        """Say whether the left side is preferred more often than chance allows."""
        if self.left is None:
            return f"Nothing can be said on position: {self.reason}."
        share = f"the left one is preferred in {self.left.value:.0%} of {counted(self.n_left + self.n_right, 'choice')}"
        if not (self.n_left and self.n_right):
            return f"{share.capitalize()}: if the file writes the preferred one on one side, this tells of no bias."
        sure = self.left.low > 0.5 or self.left.high < 0.5
        meaning = "unlike 50%: a bias if sides were assigned at random" if sure else "not distinguished from 50%"
        return f"{share.capitalize()} ({self.left.low:.0%} to {self.left.high:.0%}), {meaning}."


def settled(preferences: Preferences, how: str = "median") -> Settled:
    """Combine the choices on each pair, whoever made them, into one.  O(n log n)."""
    if how not in WAYS:
        raise UnknownName("way to settle a pair", how, WAYS)
    found = _settled(preferences.oriented(), preferences.pairs()[0], how)
    return replace(found, table=replace(found.table, assessor=Category.constant(how, len(found.table))))


def preference_agreement(
    preferences: Preferences, *, n_draws: int = TOPIC_DRAWS, rng: RNGLike = 0
) -> PreferenceAgreement:
    """Measure how far people agree on the pairs that several of them compared.

    Where assessors are not known, ``preferences.anonymous()`` takes every choice for another person's.
    Cost: O(n log n), and for assessors two by two the sum of squares of the choices per pair.
    """
    once = per_assessor(preferences)
    pair, first = once.pairs()
    counts = np.bincount(pair * 3 + once.outcome + 1, minlength=3 * len(first)).reshape(-1, 3)
    several = counts.sum(axis=1) > 1
    if not several.any():
        alone = "no two assessors compared the same pair (if workers are not known: anonymous(), --anonymous)"
        return PreferenceAgreement(None, None, 0, 0, (), alone)
    topic = np.unique(once.topic[first[several]], return_inverse=True)[1]
    n_topics = int(topic.max()) + 1
    by_topic = n_topics > 1
    sums = _sums(counts[several], topic if by_topic else np.arange(len(topic)))
    alpha, reason = _alpha_estimate(sums, n_draws, rng, "topics" if by_topic else "pairs")
    return PreferenceAgreement(
        raw=share_estimate(sums[:, 0], sums[:, 1], TOPICS if by_topic else PAIRS),
        alpha=alpha,
        n_pairs=int(several.sum()),
        n_topics=n_topics,
        by_assessors=_two_by_two(once, pair, len(first)),
        reason=reason,
    )


def position_bias(preferences: Preferences) -> PositionBias:
    """Count how often the left one is preferred, over all and by assessor; ties are left out.  O(n)."""
    outcome = preferences.outcome
    n_left, n_right = int((outcome > 0).sum()), int((outcome < 0).sum())
    by_assessor = tuple(_sides_by_assessor(preferences))
    ties = len(outcome) - n_left - n_right
    if n_left + n_right == 0:
        return PositionBias(None, 0, 0, ties, by_assessor, "every choice is a tie, or there is none")
    hits, cases = (
        np.bincount(preferences.topic[rows], minlength=len(preferences.topics)).astype(np.float64)
        for rows in (outcome > 0, outcome != 0)
    )
    return PositionBias(share_estimate(hits, cases), n_left, n_right, ties, by_assessor)


def share_estimate(hits: Floats, cases: Floats, method: str = TOPICS) -> Estimate:
    """Estimate a share from hits and cases by topic, both (topic,)."""
    share, low, high = clustered_shares(hits, cases)
    return Estimate(float(share), float(low), float(high), CONFIDENCE, method)


def per_assessor(preferences: Preferences) -> Preferences:
    """Leave one choice per assessor and pair: the middle of theirs; rows are oriented alike.  O(n log n)."""
    pair = preferences.pairs()[0]
    _, cell = np.unique(pair * max(len(preferences.assessors), 1) + preferences.assessor.codes, return_inverse=True)
    return _settled(preferences.oriented(), cell, "median").table


def _settled(table: Preferences, group: Ints, how: str) -> Settled:
    """Settle oriented rows by group (row,), numbered from 0; the assessor is one of the group's."""
    order = np.lexsort((table.strength, group))
    n = np.bincount(group)
    start = np.cumsum(n) - n
    if how == "median":
        strength = table.strength[order]
        low, high = strength[start + (n - 1) // 2], strength[start + n // 2]
    else:
        low, high = _most_chosen(table, group, len(n))
    table = replace(table.take(order[start]), strength=(low + high) / 2)
    return Settled(table, low, high, n)


def _most_chosen(table: Preferences, group: Ints, n_groups: int) -> tuple[Floats, Floats]:
    """The lowest and the highest of the outcomes that most chose, both (group,)."""
    counts = np.bincount(group * 3 + table.outcome + 1, minlength=3 * n_groups).reshape(-1, 3)
    most = counts == counts.max(axis=1, keepdims=True)
    return most.argmax(axis=1) - 1.0, 1.0 - most[:, ::-1].argmax(axis=1)


def _sums(counts: Ints, topic: Ints) -> Floats:
    """Agreeing choices, choices, ties by topic, of pairs with several choices -> (topic, 3)."""
    n = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (n - 1)
    return np.stack([np.bincount(topic, weights=each) for each in (agreeing, n, counts[:, 1])], axis=1)


def _alpha(sums: Floats) -> Floats:
    """Krippendorff's alpha from sums (..., 3) -> (...); NaN where all agree by necessity."""
    agreeing, n, ties = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        sided = n - ties
        chance = (2 * ties * (2 * ties - 1) + 2 * sided * (sided - 1)) / (2 * n * (2 * n - 1))
        return np.where(chance < 1, 1 - (1 - agreeing / n) / (1 - chance), np.nan)


def _alpha_estimate(sums: Floats, n_draws: int, rng: RNGLike, what: str) -> tuple[Estimate | None, str | None]:
    """Alpha with the interval of resampled topics or pairs; or None and why: sums (topic or pair, 3)."""
    value = float(_alpha(sums.sum(axis=0)))
    if np.isnan(value):
        return None, "every choice is a tie"
    if len(sums) < 2:
        return None, "one pair is too few to tell agreement from chance"
    if what == "topics" and len(sums) < FEW_TOPICS:
        low, high = jackknife(np.array(value), _alpha(sums.sum(axis=0) - sums), len(sums))
        return Estimate(value, float(low), float(high), CONFIDENCE, f"jackknife over {len(sums)} topics"), None
    drawn = _alpha(resampled_sums(sums, topic_weights(len(sums), n_draws, np.random.default_rng(rng))))
    low, high = np.nanquantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(value, float(low), float(high), CONFIDENCE, f"bootstrap over {what}, n={n_draws}"), None


def _two_by_two(once: Preferences, pair: Ints, n_pairs: int) -> tuple[TwoAssessors, ...]:
    """Compare assessors two by two, by products of sparse matrices (assessor, pair), one per outcome."""
    from scipy.sparse import coo_array, triu

    shape = (len(once.assessors), n_pairs)
    of = [
        coo_array((np.ones(int(rows.sum())), (once.assessor.codes[rows], pair[rows])), shape=shape).tocsr()
        for rows in (once.outcome == outcome for outcome in (-1, 0, 1))
    ]
    whole = of[0] + of[1] + of[2]
    shared = triu(whole @ whole.T, k=1).tocoo()
    a, b = shared.coords
    agreed, ties = sum(each @ each.T for each in of), of[1] @ whole.T
    hits, tied_a, tied_b = (_cells(each, a, b) for each in (agreed, ties, ties.T))
    return tuple(
        _compared((once.assessors[i], once.assessors[j]), *numbers)
        for i, j, *numbers in zip(a.tolist(), b.tolist(), shared.data.tolist(), hits, tied_a, tied_b, strict=True)
    )


def _cells(matrix: Any, a: Ints, b: Ints) -> list[float]:
    found: list[float] = np.asarray(matrix.tocsr()[a, b]).ravel().tolist()
    return found


def _compared(names: tuple[str, str], n: float, agreed: float, tied_a: float, tied_b: float) -> TwoAssessors:
    """Raw agreement and kappa on n pairs; both orientations counted, left and right share what is no tie."""
    a, b = tied_a / n, tied_b / n
    chance = a * b + (1 - a) * (1 - b) / 2
    if chance == 1:
        return TwoAssessors(*names, int(n), agreed / n, None, "both call every pair a tie")
    return TwoAssessors(*names, int(n), agreed / n, (agreed / n - chance) / (1 - chance))


def _sides_by_assessor(preferences: Preferences) -> list[dict[str, Any]]:
    """Left, right, ties of each assessor, and the share of left with Wilson's interval."""
    n_assessors = len(preferences.assessors)
    cell = preferences.assessor.codes.astype(np.int64) * 3 + preferences.outcome + 1
    right, ties, left = np.bincount(cell, minlength=3 * n_assessors).reshape(-1, 3).T
    p, low, high = clustered_shares(left[None].astype(np.float64), (left + right)[None].astype(np.float64))
    names = ("assessor", "left", "right", "ties", "share", "low", "high")
    columns = (left.tolist(), right.tolist(), ties.tolist(), *([*map(known, each)] for each in (p, low, high)))
    return [dict(zip(names, row, strict=True)) for row in zip(preferences.assessors, *columns, strict=True)]
