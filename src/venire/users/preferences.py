r"""Preferences of several people: consensus, agreement, position, and how often a higher label is preferred.

*Consensus*: one answer per pair, the median of strengths or the outcome that most chose (``majority``).  Where an even
number of choices has two middle ones, or two outcomes are equally frequent, the answer is split over both, half each:
between a tie and "left", the left one has 3/4.  (Chu et al. 2021, doi:10.1145/3459637.3482428, Section 5.1.1, take the
median; their published code splits.)

*Agreement*: with n choices on a pair, of which :math:`n_c` are c (left, tie, right),

.. math:: A_o = \frac1N \sum_{pairs} \sum_c \frac{n_c (n_c - 1)}{n - 1}, \qquad
          \alpha = 1 - \frac{1 - A_o}{1 - A_e}, \qquad A_e = \sum_c \frac{m_c (m_c - 1)}{M (M - 1)}

Krippendorff's alpha (2004), nominal.  Which document of a pair is written first is arbitrary, so m counts every choice
in both orientations (M = 2N): left and right are equally likely by construction.  Two assessors are compared by Cohen's
kappa (1960) with the same counting; the share of ties is each assessor's own.

*Position*: the share of left among choices that are not ties.  It is a bias only if sides were assigned at random.

An assessor who chose several times on a pair counts once, with the median of their choices.

*By label*: every choice between two documents that an assessor of the judgments labelled a and b is a sample of
p(a > b), the probability that a document labelled a is preferred to one labelled b.  Each assessor who labelled both
documents is a sample of their own (Chu et al. 2021, Eq. 10).  Both orientations are counted, a tie as one half of each:

.. math:: p(a > b) = \frac{n_{a \succ b} + n_{a \sim b} / 2}{n_{ab}}

so that p(a > b) + p(b > a) = 1 and p(a > a) = 1/2.  (As printed, Eq. 10 counts one orientation and need not add up.)
Intervals take choices of one topic as dependent (``kernels.shares``).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from venire.agreement.intervals import jackknife
from venire.data.ids import Category
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.data.scale import Scale
from venire.errors import PairsError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.preferences import PreferencesLike, read_preferences
from venire.kernels.paired_labels import by_person, middle_entries
from venire.kernels.shares import CONFIDENCE, clustered_shares
from venire.randomness import FEW_TOPICS, resampled_sums, topic_weights
from venire.results import Estimate, Records, Tabular, counted, known
from venire.types import Floats, Ints, RNGLike

WAYS = ("median", "majority")
TOPIC_DRAWS = 1000
TOPICS, PAIRS = "choices of a topic taken as alike", "pairs taken as independent"
ALONE = "no two assessors compared the same pair; if assessors are not known, take every choice as another person's"


@dataclass(frozen=True, eq=False)
class Consensus(Tabular):
    """One answer per pair: table (a row per pair), the two middle strengths low and high, and n_choices, all (pair,).

    ``table.strength`` is the mean of low and high.
    """

    table: Preferences
    low: Floats
    high: Floats
    n_choices: Ints

    @property
    def left_share(self) -> Floats:
        """Share of the left one -> (pair,): 1, 0, 1/2 for a tie; split where low and high differ."""
        return 0.5 + (np.sign(self.low) + np.sign(self.high)) / 4

    def sentence(self) -> str:
        """Return how many pairs have an answer, and of how many choices."""
        pairs, choices = counted(len(self.n_choices), "pair"), counted(int(self.n_choices.sum()), "choice")
        return f"Consensus on {pairs} from {choices}, {counted(int((self.table.strength == 0).sum()), 'tie')}."

    def records(self) -> Records:
        """Return one row per pair: the answer, the two middle strengths, and how many choices there were."""
        columns = (self.low.tolist(), self.high.tolist(), self.n_choices.tolist())
        rows = self.table.to_polars().drop("assessor").to_dicts()
        return [
            {**row, "low": low, "high": high, "choices": n} for row, low, high, n in zip(rows, *columns, strict=True)
        ]


@dataclass(frozen=True)
class TwoAssessors:
    """Agreement of two assessors on the n_pairs that both compared; None with a reason where undefined."""

    a: str
    b: str
    n_pairs: int
    raw: float | None
    kappa: float | None
    reason: str | None = None


@dataclass(frozen=True)
class PreferenceAgreement(Tabular):
    """Agreement on pairs: raw agreement, alpha, and by two assessors; None with a reason where undefined."""

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
        """Return raw agreement and alpha."""
        if self.raw is None:
            return f"Agreement on preferences is not known: {self.reason}."
        alpha = f"not defined ({self.reason})" if self.alpha is None else f"{self.alpha.value:.2f}"
        return (
            f"Two people who compare the same pair agree in {self.raw.value:.0%} [{self.raw.low:.0%}, "
            f"{self.raw.high:.0%}] of cases; Krippendorff's alpha is {alpha} ({counted(self.n_pairs, 'pair')} with two "
            f"choices or more, {counted(self.n_topics, 'topic')})."
        )


@dataclass(frozen=True)
class PositionBias(Tabular):
    """How often the left one is preferred among choices that are not ties; by assessor as well."""

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
        """Return the share of the left side, and whether it differs from one half."""
        if self.left is None:
            return f"The share of the left side is not known: {self.reason}."
        if not (self.n_left and self.n_right):
            return "All choices are on one side: if the file writes the preferred one first, this is not a bias."
        different = self.left.low > 0.5 or self.left.high < 0.5
        return (
            f"The left one is preferred in {self.left.value:.0%} [{self.left.low:.0%}, {self.left.high:.0%}] of "
            f"{counted(self.n_left + self.n_right, 'choice')}, "
            f"{'which differs' if different else 'which does not differ'} significantly from 50%."
        )


def consensus(preferences: PreferencesLike, how: str = "median") -> Consensus:
    """Combine the choices on each pair into one, by median or majority.  O(n log n)."""
    preferences = read_preferences(preferences)
    if how not in WAYS:
        raise UnknownName("way to combine choices", how, WAYS)
    found = _combined(preferences.oriented(), preferences.pairs()[0], how)
    return replace(found, table=replace(found.table, assessor=Category.constant(how, len(found.table))))


def preference_agreement(
    preferences: PreferencesLike, *, n_draws: int = TOPIC_DRAWS, rng: RNGLike = 0
) -> PreferenceAgreement:
    """Measure how far people agree on the pairs that several of them compared.

    Where assessors are not known, ``preferences.anonymous()`` takes every choice as another person's.
    Cost: O(n log n), and for two assessors at a time the sum of squares of the choices per pair.
    """
    preferences = read_preferences(preferences)
    once = per_assessor(preferences)
    pair, first = once.pairs()
    counts = np.bincount(pair * 3 + once.outcome + 1, minlength=3 * len(first)).reshape(-1, 3)
    several = counts.sum(axis=1) > 1
    if not several.any():
        return PreferenceAgreement(None, None, 0, 0, (), ALONE)
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


def position_bias(preferences: PreferencesLike) -> PositionBias:
    """Count how often the left one is preferred, over all and by assessor; ties are left out.  O(n)."""
    preferences = read_preferences(preferences)
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
    """Reduce to one choice per assessor and pair, the median of theirs; rows are oriented alike.  O(n log n)."""
    pair = preferences.pairs()[0]
    _, cell = np.unique(pair * max(len(preferences.assessors), 1) + preferences.assessor.codes, return_inverse=True)
    return _combined(preferences.oriented(), cell, "median").table


def _combined(table: Preferences, group: Ints, how: str) -> Consensus:
    """Combine oriented rows by group (row,), numbered from 0; the assessor is one of the group's."""
    order = np.lexsort((table.strength, group))
    n = np.bincount(group)
    start = np.cumsum(n) - n
    if how == "median":
        strength = table.strength[order]
        low, high = strength[start + (n - 1) // 2], strength[start + n // 2]
    else:
        counts = np.bincount(group * 3 + table.outcome + 1, minlength=3 * len(n)).reshape(-1, 3)
        most = counts == counts.max(axis=1, keepdims=True)
        low, high = most.argmax(axis=1) - 1.0, 1.0 - most[:, ::-1].argmax(axis=1)
    return Consensus(replace(table.take(order[start]), strength=(low + high) / 2), low, high, n)


def _sums(counts: Ints, topic: Ints) -> Floats:
    """Sum agreeing choices, choices and ties by topic, over pairs with several choices -> (topic, 3)."""
    n = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (n - 1)
    return np.stack([np.bincount(topic, weights=each) for each in (agreeing, n, counts[:, 1])], axis=1)


def _alpha(sums: Floats) -> Floats:
    """Return Krippendorff's alpha from sums (..., 3) -> (...); NaN where chance agreement is 1."""
    agreeing, n, ties = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        sided = n - ties
        chance = (2 * ties * (2 * ties - 1) + 2 * sided * (sided - 1)) / (2 * n * (2 * n - 1))
        return np.where(chance < 1, 1 - (1 - agreeing / n) / (1 - chance), np.nan)


def _alpha_estimate(sums: Floats, n_draws: int, rng: RNGLike, what: str) -> tuple[Estimate | None, str | None]:
    """Return alpha with its interval over topics or pairs, or None and why: sums (topic or pair, 3)."""
    value = float(_alpha(sums.sum(axis=0)))
    if np.isnan(value):
        return None, "every choice is a tie"
    if len(sums) < 2:
        return None, "one pair is too few for a chance correction"
    if what == "topics" and len(sums) < FEW_TOPICS:
        low, high = jackknife(np.array(value), _alpha(sums.sum(axis=0) - sums), len(sums))
        return Estimate(value, float(low), float(high), CONFIDENCE, f"jackknife over {len(sums)} topics"), None
    drawn = _alpha(resampled_sums(sums, topic_weights(len(sums), n_draws, np.random.default_rng(rng))))
    low, high = np.nanquantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(value, float(low), float(high), CONFIDENCE, f"bootstrap over {what}, n={n_draws}"), None


def _two_by_two(once: Preferences, pair: Ints, n_pairs: int) -> tuple[TwoAssessors, ...]:
    """Compare every two assessors, by products of sparse matrices (assessor, pair), one per outcome."""
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
    columns = (np.asarray(each.tocsr()[a, b]).ravel().tolist() for each in (agreed, ties, ties.T))
    return tuple(
        _compared((once.assessors[i], once.assessors[j]), *numbers)
        for i, j, *numbers in zip(a.tolist(), b.tolist(), shared.data.tolist(), *columns, strict=True)
    )


def _compared(names: tuple[str, str], n: float, agreed: float, tied_a: float, tied_b: float) -> TwoAssessors:
    """Return raw agreement and kappa on n pairs; both orientations count, left and right share what is not tied."""
    a, b = tied_a / n, tied_b / n
    chance = a * b + (1 - a) * (1 - b) / 2
    if chance == 1:
        return TwoAssessors(*names, int(n), agreed / n, None, "both call every pair a tie")
    return TwoAssessors(*names, int(n), agreed / n, (agreed / n - chance) / (1 - chance))


def _sides_by_assessor(preferences: Preferences) -> list[dict[str, Any]]:
    """Return left, right, ties of each assessor, and the share of left with Wilson's interval."""
    n_assessors = len(preferences.assessors)
    cell = preferences.assessor.codes.astype(np.int64) * 3 + preferences.outcome + 1
    right, ties, left = np.bincount(cell, minlength=3 * n_assessors).reshape(-1, 3).T
    p, low, high = clustered_shares(left[None].astype(np.float64), (left + right)[None].astype(np.float64))
    names = ("assessor", "left", "right", "ties", "share", "low", "high")
    columns = (left.tolist(), right.tolist(), ties.tolist(), *([*map(known, each)] for each in (p, low, high)))
    return [dict(zip(names, row, strict=True)) for row in zip(preferences.assessors, *columns, strict=True)]


@dataclass(frozen=True, eq=False)
class PreferencesByLabels(Tabular):
    """Preferences by label: counts (label_left, label_right, outcome: left, tie, right) in both orientations.

    p, low, high (label_left, label_right): probability that the left one is preferred, NaN where no choice was made.
    n_choices counts the choices that both labels were found for; n_unlabelled the others.
    """

    scale: Scale
    counts: Ints
    p: Floats
    low: Floats
    high: Floats
    n_choices: int
    n_unlabelled: int
    n_topics: int

    def told_apart(self, higher: int, lower: int) -> bool | None:
        """Return whether the higher label is preferred significantly more often than not; None where unknown."""
        low = self.low[higher, lower]
        return None if np.isnan(low) else bool(low > 0.5)

    def records(self) -> Records:
        """Return one row per pair of labels, lower label first; None where nothing is known, with a reason."""
        lower, higher = np.triu_indices(len(self.scale), 1)
        return [self._record(a, b) for a, b in zip(lower.tolist(), higher.tolist(), strict=True)]

    def sentence(self) -> str:
        """Return how often the higher of two neighbouring labels is preferred, with 95 % intervals."""
        steps = [self._record(level, level + 1) for level in range(len(self.scale) - 1)]
        shown = [
            f"{each['higher']} over {each['lower']} in {each['p']:.0%} [{each['low']:.0%}, {each['high']:.0%}]"
            for each in steps
            if each["p"] is not None
        ]
        choices, topics = counted(self.n_choices, "choice"), counted(self.n_topics, "topic")
        return f"Preference for the higher label, {choices} on {topics}: {', '.join(shown) or 'not known'}."

    def _record(self, lower: int, higher: int) -> dict[str, Any]:
        won, tied, lost = self.counts[higher, lower].tolist()
        p, low, high = (known(each[higher, lower]) for each in (self.p, self.low, self.high))
        return {
            "lower": self.scale.labels[lower],
            "higher": self.scale.labels[higher],
            "higher_preferred": won,
            "ties": tied,
            "lower_preferred": lost,
            "p": p,
            "low": low,
            "high": high,
            "told_apart": self.told_apart(higher, lower),
            "reason": "no choice is between documents with these labels" if p is None else None,
        }


def preferences_by_labels(preferences: PreferencesLike, judgments: JudgmentsLike) -> PreferencesByLabels:
    """Count choices by the labels of the two documents, and how often the higher label is preferred.

    A choice is counted once for every assessor who labelled both documents; of several labels that an assessor gave to
    a document the median counts, the lower of two.  When not to use this: labels and preferences by the same people at
    the same time, which are not independent.  Cost: O(choices x labels per document), and topics x labels^2 cells.
    """
    preferences = read_preferences(preferences)
    judgments = as_judgments(judgments)
    left, right = item_numbers(preferences, judgments)
    row = np.flatnonzero((left >= 0) & (right >= 0))
    entries = middle_entries(judgments.item, judgments.assessor.codes, judgments.label, len(judgments.items))
    found = by_person(entries, left[row].astype(np.int64), right[row].astype(np.int64))
    row = row[found.pair]
    if len(row) == 0:
        message = "no choice is between two documents that one assessor labelled"
        raise PairsError(message, hint="check that both files name topics and documents alike")
    n_topics, n_labels = len(preferences.topics), len(judgments.scale)
    outcome, topic = preferences.outcome[row], preferences.topic[row].astype(np.int64)
    here = ((topic * n_labels + found.a) * n_labels + found.b) * 3 + (1 - outcome)
    swapped = ((topic * n_labels + found.b) * n_labels + found.a) * 3 + (1 + outcome)
    by_topic = np.bincount(np.concatenate([here, swapped]), minlength=n_topics * n_labels**2 * 3)
    by_topic = by_topic.reshape(n_topics, n_labels, n_labels, 3)
    p, low, high = clustered_shares(by_topic[..., 0] + by_topic[..., 1] / 2, by_topic.sum(axis=-1).astype(np.float64))
    for each in (p, low, high):  # one half by definition
        np.fill_diagonal(each, 0.5)
    n_choices = len(np.unique(row))
    counts = n_choices, len(preferences) - n_choices, len(np.unique(topic))
    return PreferencesByLabels(judgments.scale, by_topic.sum(axis=0), p, low, high, *counts)


def item_numbers(preferences: Preferences, judgments: Judgments) -> tuple[Ints, Ints]:
    """Return the item numbers of the left and the right document of each choice, -1 for documents without judgment."""
    docs, numbers_of = preferences.docs.slices, judgments.items.numbers_of
    sides = preferences.left, preferences.right
    left, right = (numbers_of(preferences.topics, preferences.topic, docs.take(side)) for side in sides)
    return left, right
