r"""Predicted relevance: what one assessor's label tells about a random user.

Demeester et al. (2015), Information Retrieval Journal, doi:10.1007/s10791-015-9275-x.  Symbols, and where they live:

    i          the label that one assessor gave                      axis ``label``
    R          the labels with which a user is satisfied             axis ``relevant``
    p(R|i)     P(a random user is satisfied | i)     Eqs. (4), (5)   ``PredictedRelevanceFit.p``
    N_N, N_D   numerator and denominator of these                    ``hits``, ``pairs``

.. math:: p_{R|i} = \frac{N_{U_1=R,U_2=i} + N_{U_2=R,U_1=i}}{N_{U_2=i} + N_{U_1=i}} \qquad (5)

The same pairs serve the User Disagreement Model (``user_disagreement``).  Departures: items with more than two labels
count all ordered pairs of distinct assessors; a Dirichlet prior may keep p off 0 and 1 where pairs are few; intervals
know that pairs of one item, and items of one topic, are not independent (``spread``).

Diagnosis: what a fit of disagreement means, in words.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from venire.data.gains import Gains
from venire.data.judgments import Judgments
from venire.data.label_pairs import Pairs, few_topics
from venire.data.relevance import Relevant, RelevantSets, relevant_sets
from venire.data.scale import Scale
from venire.disagreement.selection import safe_pairs
from venire.disagreement.user_disagreement import at_least, udm_weights
from venire.errors import FewPairsWarning, GainsError, PairsError, SettingError, UnknownName
from venire.kernels.resampling import FEW_TOPICS
from venire.kernels.shares import CONFIDENCE, FEW_PAIRS, Spread, leave_one_topic_out, n_topics_of, shares, spread_of
from venire.results import Estimate, Records, Tabular, known
from venire.types import Floats, Ints, RNGLike


@dataclass(frozen=True, kw_only=True)
class PredictedRelevance:
    '''P(a random user is satisfied | the label one assessor gave): a setting, to be fitted on judgments.

    Parameters
    ----------
    relevant : a label (on an ordered scale, from it upwards), several ("Key|HRel"), "all" thresholds; None: the top
    estimator : "paired" (Eq. 5), "one-sided" (Eq. 4), "labels" (any number of labels); None: as the labels allow
    observed, reference : names of the assessors whose label is observed, and of those who stand for users
    weight : every pair of labels counts once ("pair"), or every item ("item")
    prior : weight of each label in a Dirichlet prior; 0 gives the paper's ratio
    n_draws : how often topics are resampled

    Examples
    --------
    >>> from venire import read_grid
    >>> fit = PredictedRelevance(relevant="2").fit(read_grid("""
    ...     2 2 1 1
    ...     1 2 1 0"""))
    >>> fit.hits.tolist(), fit.pairs.tolist()
    ([[0.0, 1.0, 2.0]], [[1.0, 4.0, 3.0]])
    '''

    relevant: Relevant = None
    estimator: str | None = None
    observed: Sequence[str] = ()
    reference: Sequence[str] = ()
    weight: str = "pair"
    prior: float = 0.0
    n_draws: int = 300

    def __post_init__(self) -> None:
        if not 0 <= self.prior < np.inf:
            raise SettingError(f"prior={self.prior}: expected a number from 0 on", hint="0 gives the plain ratio")
        if self.n_draws < 0:
            raise SettingError(f"{self.n_draws} resamples: expected 0 or more")

    def fit(self, judgments: Judgments, *, rank: Ints | None = None, rng: RNGLike = 0) -> PredictedRelevanceFit:
        """Count pairs of labels and estimate p(R|i) with its spread.  O(rows log rows + items x labels^2).

        rank : numbers by which runs treat items alike -> (item,), such as their best rank; None: no runs are at hand.
        """
        pairs = safe_pairs(
            judgments,
            estimator=self.estimator,
            observed=self.observed,
            reference=self.reference,
            weight=self.weight,
            rank=rank,
        )
        return self.fit_pairs(pairs, rng=rng)

    def fit_pairs(self, pairs: Pairs, *, rng: RNGLike = 0) -> PredictedRelevanceFit:
        """Estimate from pairs at hand."""
        relevant = relevant_sets(pairs.scale, self.relevant)
        sums = pairs.sums(relevant.labels)
        if not sums.by_topic.sum() > 0:
            raise PairsError(
                "no item has labels by two different assessors, so disagreement cannot be seen",
                hint=["have some items judged a second time", "name another --observed and --reference"],
            )
        spread = spread_of(
            sums, relevant.labels, prior=self.prior, n_draws=self.n_draws, rng=np.random.default_rng(rng)
        )
        setting = replace(self, estimator=pairs.estimator)
        return PredictedRelevanceFit(
            setting, pairs.scale, relevant, spread, sums.by_topic, n_topics_of(sums), pairs.topics
        )


@dataclass(frozen=True, eq=False)
class PredictedRelevanceFit(Tabular):
    """Estimates of p(R|i), arrays (relevant, label); counts of pairs by topic (topic, first, second).

    topics: names of the topics; empty in a fit that was saved, which holds the sums alone.
    """

    setting: PredictedRelevance
    scale: Scale
    relevant: RelevantSets
    spread: Spread
    by_topic: Floats
    n_topics: int
    topics: tuple[str, ...] = ()

    @property
    def p(self) -> Floats:
        """P(R|i) -> (relevant, label); NaN where a label has no pairs."""
        return self.spread.p

    @property
    def hits(self) -> Floats:
        """Pairs whose second label is relevant -> (relevant, label)."""
        return self.spread.hits

    @property
    def pairs(self) -> Floats:
        """Pairs by their first label -> (relevant, label)."""
        return self.spread.pairs

    @property
    def method(self) -> str:
        """How the intervals were had."""
        if self.setting.prior > 0:
            return f"posterior, prior {self.setting.prior:g} per label"
        if self.n_topics < 2:
            return "none, as all pairs of labels are of one topic"
        if self.n_topics < FEW_TOPICS or self.setting.n_draws < 2:
            return f"jackknife over {self.n_topics} topics"
        return f"bootstrap over {self.n_topics} topics, n={self.setting.n_draws}"

    def estimate(self, label: object, relevant: str | None = None) -> Estimate:
        """p(R|i) of one label with its interval."""
        row, level = self.row_of(relevant), self.scale.level_of(label)
        value, low, high = (float(each[row, level]) for each in (self.p, self.spread.low, self.spread.high))
        return Estimate(value, low, high, CONFIDENCE, self.method)

    def row_of(self, relevant: str | None = None) -> int:
        """Which row answers for this notion of relevance; the first without a word on it."""
        if relevant is None:
            return 0
        if relevant not in self.relevant.names:
            raise UnknownName("fitted notion of relevance", relevant, self.relevant.names)
        return self.relevant.names.index(relevant)

    def gains(self, relevant: str | None = None, *, users: tuple[int, int] = (1, 1)) -> Gains:
        """Gains for any measure: P(at least M of N random users are satisfied | i), users=(M, N) (Section 3.1.7)."""
        row = self.row_of(relevant)
        self._warn_of_few(row)
        name = f"prm:{self.relevant.names[row]}" + ("" if users == (1, 1) else f":{users[0]}/{users[1]}")
        return Gains(self.scale, at_least(*users, self.known(row)), name)

    def udm_gains(self, at: tuple[int, int], relevant: str | None = None, *, lowest: float | None = 0.0) -> Gains:
        """Gains of the User Disagreement Model for M of N users, at=(M, N).

        The lowest label is worth nothing, as Demeester et al. (2014) propose in Section 3.3.2; lowest None: as
        estimated.  Labels without an order have no lowest one, and a lowest label that is relevant keeps its weight.
        """
        row = self.row_of(relevant)
        self._warn_of_few(row)
        weights = udm_weights(*at, self.known(row), self.relevant.labels[row])
        neglected = self.scale.ordered and not self.relevant.labels[row, 0]
        if lowest is not None and neglected:
            weights[0] = lowest
        name = "" if self.relevant.names[row] == self.scale.labels[-1] else f":{self.relevant.names[row]}"
        kept = ", lowest kept" if lowest is None and neglected else ""
        return Gains(self.scale, weights, f"udm:{at[0]}/{at[1]}{name}{kept}")

    def known(self, row: int) -> Floats:
        """p(R|i) with every label known -> (label,); a lowest label nobody judged twice counts as 0 (Section 5.2.2)."""
        p = self.p[row].copy()
        if np.isnan(p[0]) and self.scale.ordered:
            p[0] = 0.0
        if np.isnan(p).any():
            label = self.scale.labels[int(np.argmax(np.isnan(p)))]
            raise GainsError(
                f"no item with label {label!r} was judged a second time, so it has no gain",
                hint=["give a prior (--prior 0.5)", "merge the label with another", "judge some of its items twice"],
            )
        return p

    def _warn_of_few(self, row: int) -> None:
        few = [
            f"{label} ({n:.0f})"
            for label, n in zip(self.scale.labels, self.pairs[row], strict=True)
            if 0 < n < FEW_PAIRS and self.setting.prior == 0
        ]
        if few:
            message = f"gains rest on fewer than {FEW_PAIRS} pairs of labels for {', '.join(few)}"
            warnings.warn(message, FewPairsWarning, stacklevel=3)
        if self.scale.ordered and np.isnan(self.p[row, 0]):
            message = f"no item with the lowest label, {self.scale.labels[0]}, was judged twice; it counts as 0"
            warnings.warn(message, FewPairsWarning, stacklevel=3)

    def sentence(self, row: int = 0) -> str:
        """Say what each label tells about other people."""
        return sentence(self, row)

    def warnings(self) -> list[str]:
        """What to be careful about, most important first."""
        return warnings_of(self)

    def records(self) -> Records:
        """Return one row per notion of relevance and label, the highest first; None where nothing is known."""
        from venire.disagreement.files import parameters

        return parameters(self)

    def __str__(self) -> str:

        return "\n".join(table_lines(self))


MOST_LABELS = 11
"""How many labels a sentence names, beside the best."""


def warnings_of(fit: PredictedRelevanceFit) -> list[str]:
    """What to be careful about, most important first."""
    words: list[str] = []
    for row in range(len(fit.relevant.names)):
        words += _of_relevance(fit, row)
    return list(dict.fromkeys([*words, *map(str, few_topics(fit.n_topics)), *_of_counts(fit)]))


DIFFERENCE = {"difference": "value", "low": "low", "high": "high"}


class Difference(NamedTuple):
    """p(R|upper) - p(R|lower) of two labels, and its 95 % interval; NaN where a label has no interval."""

    lower: int
    upper: int
    value: float
    low: float
    high: float

    @property
    def distinguished(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


def _of_relevance(fit: PredictedRelevanceFit, row: int) -> list[str]:
    """What to be careful about for one notion of relevance."""
    order = _order(fit, row)
    shown = [f"{label} ({share:.2f})" for label, share in zip(fit.scale.labels, fit.p[row], strict=True)]
    where = f"relevant {fit.relevant.names[row]}:"
    if len(order) < 2:
        return []
    whole = difference(fit, row, order[0], order[-1])
    if not whole.distinguished and not np.isnan(whole.low):
        what = (
            f"which may be for want of topics: there are {fit.n_topics}"
            if fit.n_topics < FEW_TOPICS
            else "so an evaluation with these labels is questionable"
        )
        return [f"{where} even {shown[whole.lower]} and {shown[whole.upper]} cannot be distinguished, {what}"]
    words = []
    for each in differences(fit, row):
        if each.high < 0:
            words.append(f"{where} {shown[each.lower]} promises more than the higher label {shown[each.upper]}")
        elif each.low <= 0:
            words.append(f"{where} {shown[each.lower]} and {shown[each.upper]} cannot be distinguished")
    return words


def _order(fit: PredictedRelevanceFit, row: int) -> list[int]:
    """Labels with pairs, from the one that should promise least, or else from the one that does."""
    p = fit.p[row]
    there: list[int] = np.flatnonzero(~np.isnan(p)).tolist()
    return there if _is_threshold(fit, row) else sorted(there, key=lambda level: float(p[level]))


def differences(fit: PredictedRelevanceFit, row: int = 0) -> list[Difference]:
    """Compare neighbouring labels, from the lowest on."""
    return [difference(fit, row, lower, upper) for lower, upper in pairwise(_order(fit, row))]


def difference_records(fit: PredictedRelevanceFit) -> Records:
    """Return one row per notion of relevance and two neighbouring labels; None where there is no interval."""
    labels = fit.scale.labels
    return [
        {"relevant": name, "lower": labels[each.lower], "upper": labels[each.upper]}
        | {key: known(getattr(each, column)) for key, column in DIFFERENCE.items()}
        for row, name in enumerate(fit.relevant.names)
        for each in differences(fit, row)
    ]


def difference(fit: PredictedRelevanceFit, row: int, lower: int, upper: int) -> Difference:
    r"""Return p(R|upper) - p(R|lower) with its interval, from those of both labels and what they have in common.

    Zou and Donner (2008), doi:10.1002/sim.3095: with d the difference and l, u the ends of either interval,

    .. math:: L = d - \sqrt{(p_2 - l_2)^2 + (u_1 - p_1)^2 - 2r(p_2 - l_2)(u_1 - p_1)}

    and likewise its upper end.  Both labels occur in the same topics, so that both shares may be high by chance: r is
    the correlation of the shares when each topic is left out in turn.
    """
    p, low, high = (each[row, [lower, upper]] for each in (fit.p, fit.spread.low, fit.spread.high))
    below, above, r = p - low, high - p, _correlation(fit, row, lower, upper)
    down, up = (
        np.sqrt(np.maximum(one * one + other * other - 2 * r * one * other, 0.0))
        for one, other in ((below[1], above[0]), (above[1], below[0]))
    )
    value = float(p[1] - p[0])
    return Difference(lower, upper, value, float(value - down), float(value + up))


def _correlation(fit: PredictedRelevanceFit, row: int, one: int, other: int) -> float:
    """Correlation of two labels' shares over topics left out; 0 where a share does not depend on the topic."""
    there = fit.by_topic[fit.by_topic.sum(axis=(1, 2)) > 0]
    without = leave_one_topic_out(there, fit.relevant.labels)[:, row][:, [one, other]]
    away = without - shares(there.sum(axis=0), fit.relevant.labels)[row, [one, other]]
    (of_one, both), (_, of_other) = away.T @ away
    return float(both / np.sqrt(of_one * of_other)) if of_one * of_other > 0 else 0.0


def _is_threshold(fit: PredictedRelevanceFit, row: int) -> bool:
    """Whether labels are relevant from one upwards, so that higher ones should promise more."""
    marked = fit.relevant.labels[row]
    return fit.scale.ordered and bool((marked[1:] >= marked[:-1]).all())


def _of_counts(fit: PredictedRelevanceFit) -> list[str]:
    """Labels with few pairs, or none."""
    words = []
    n_topics = (fit.by_topic.sum(axis=2) > 0).sum(axis=0)
    for label, n, topics in zip(fit.scale.labels, fit.pairs[0], n_topics, strict=True):
        if topics == 1 and len(fit.by_topic) > 1 and fit.n_topics > 1:
            words.append(
                f"label {label} has pairs in one topic only: it has no interval, since other topics may differ"
            )
        if n == 0:
            words.append(f"label {label} has no pairs, so nothing is known of it")
        elif n < FEW_PAIRS:
            pairs = f"{n:.3g} pair{'' if n == 1 else 's'}"
            words.append(f"label {label} has {pairs}, fewer than {FEW_PAIRS}: its numbers are not reliable")
    return words


def sentence(fit: PredictedRelevanceFit, row: int = 0) -> str:
    """Say the main finding in one sentence."""
    p, labels = fit.p[row], fit.scale.labels
    told = [n for n in reversed(range(len(labels))) if not np.isnan(p[n])]  # of equal ones the higher label first
    best, *rest = sorted(told, key=lambda n: -round(100 * p[n]))
    others = "".join(f"; where {labels[n]}, {100 * p[n]:.0f}%" for n in rest[:MOST_LABELS])
    if len(rest) > MOST_LABELS:
        others += f"; where one of {len(rest) - MOST_LABELS} other labels, no more"
    return (
        f"Where one assessor says {labels[best]}, {100 * p[best]:.0f}% of other people find the result relevant "
        f"({_meaning(fit, row)}){others}."
    )


def _meaning(fit: PredictedRelevanceFit, row: int) -> str:
    """What is relevant, in words: one label below the top stands for those above it too."""
    name = fit.relevant.names[row]
    return f"{name} or higher" if _is_threshold(fit, row) and name in fit.scale.labels[:-1] else name


def table_lines(fit: PredictedRelevanceFit) -> list[str]:
    """The fit as a small table of text; numbers that rest on few pairs stand in brackets."""
    lines = [f"p(R|label), {fit.setting.estimator}, 95% interval: {fit.method}"]
    width = max(map(len, fit.scale.labels))
    for row, name in enumerate(fit.relevant.names):
        lines.append(f"R = {name}")
        for level in reversed(range(len(fit.scale))):
            lines.append(f"  {fit.scale.labels[level]:<{width}}  {_cell(fit, row, level)}")
    return lines


def _cell(fit: PredictedRelevanceFit, row: int, level: int) -> str:
    n, p = fit.pairs[row, level], fit.p[row, level]
    if np.isnan(p):
        return "unknown (no pairs)"
    low, high = fit.spread.low[row, level], fit.spread.high[row, level]
    text = f"{p:.3f} (one topic)" if np.isnan(low) else f"{p:.3f} [{low:.3f}, {high:.3f}]"
    return f"{f'({text})' if n < FEW_PAIRS else text}  ({fit.hits[row, level]:g} of {n:g} pairs)"
