r"""Predicted relevance: what one assessor's label tells about a random user.

Demeester et al. (2015), Information Retrieval Journal, doi:10.1007/s10791-015-9275-x.  Symbols, and where they live:

    i          the label that one assessor gave                      axis ``label``
    R          the labels with which a user is satisfied             axis ``relevant``
    p(R|i)     P(a random user is satisfied | i)     Eqs. (4), (5)   ``PredictedRelevanceFit.p``
    N_N, N_D   numerator and denominator of these                    ``hits``, ``pairs``

.. math:: p_{R|i} = \frac{N_{U_1=R,U_2=i} + N_{U_2=R,U_1=i}}{N_{U_2=i} + N_{U_1=i}} \qquad (5)

The User Disagreement Model uses the same pairs (``user_disagreement``).  Departures: items with more than two labels
count all ordered pairs of distinct assessors; a Dirichlet prior may keep p away from 0 and 1 where pairs are few;
intervals allow for dependent pairs of one item and items of one topic (``kernels.shares``).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from venire.data.gains import Gains
from venire.data.label_pairs import few_topics
from venire.data.scale import Relevant, RelevantSets, Scale, relevant_sets
from venire.disagreement.selection import safe_pairs
from venire.disagreement.user_disagreement import at_least as p_at_least, udm_weights
from venire.errors import FewPairsWarning, GainsError, PairsError, SettingError, UnknownName, Way
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.kernels.label_pairs import PairSums
from venire.kernels.shares import CONFIDENCE, FEW_PAIRS, Spread, leave_one_topic_out, n_topics_of, shares, spread_of
from venire.randomness import FEW_TOPICS
from venire.results import Estimate, Note, Records, Tabular, known, known_count
from venire.types import Floats, Ints, RNGLike

KEYS = ("p", "sd", "sd_items", "sd_topics", "low", "high", "hits", "pairs")
"""Columns of a fit."""
COUNTS = ("hits", "pairs", "judgments", "topics", "judgments_on_these_topics")
"""Columns of counts, which are whole numbers unless weighted."""


def label_rows(relevant: RelevantSets, scale: Scale, columns: Mapping[str, Floats]) -> Records:
    """Return one row per notion of relevance and label, the highest first; columns (relevant, label)."""
    return [
        {"relevant": name, "label": scale.labels[level]}
        | {key: (known_count if key in COUNTS else known)(each[row, level]) for key, each in columns.items()}
        for row, name in enumerate(relevant.names)
        for level in reversed(range(len(scale)))
    ]


@dataclass(frozen=True, kw_only=True)
class PredictedRelevance:
    '''P(a random user is satisfied | the label one assessor gave): a setting, to be fitted on judgments.

    Parameters
    ----------
    relevant : a label (on an ordered scale, from it upwards), several ("Key|HRel"), "all" thresholds; None: the top
    estimator : "paired" (Eq. 5), "one-sided" (Eq. 4), "labels" (any number of labels); None: as the labels allow
    observed, reference : names of the assessors whose label is observed, and of those who stand for users
    weight : every pair of labels has the same weight ("pair"), or every item ("item")
    prior : weight of each label in a Dirichlet prior; 0 gives the paper's ratio
    n_draws : how often topics are resampled

    Examples
    --------
    >>> from venire.io import read_grid
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

    def fit(self, judgments: JudgmentsLike, *, rank: Ints | None = None, rng: RNGLike = 0) -> PredictedRelevanceFit:
        """Count pairs of labels and estimate p(R|i) with its spread.  O(rows log rows + items x labels^2).

        rank : groups of items that runs rank alike -> (item,), such as their best rank; None: there are no runs.
        """
        judgments = as_judgments(judgments)
        sides = {"observed": self.observed, "reference": self.reference}
        pairs = safe_pairs(judgments, estimator=self.estimator, **sides, weight=self.weight, rank=rank)
        relevant = relevant_sets(pairs.scale, self.relevant)
        found = replace(self, estimator=pairs.estimator)
        return found.fit_sums(pairs.sums(relevant.labels), pairs.scale, pairs.topics, rng=rng)

    def fit_sums(
        self, sums: PairSums, scale: Scale, topics: tuple[str, ...], *, rng: RNGLike = 0
    ) -> PredictedRelevanceFit:
        """Estimate p(R|i) from pairs that were counted for the relevant labels of this setting (``pair_facts``)."""
        relevant = relevant_sets(scale, self.relevant)
        if not sums.by_topic.sum() > 0:
            raise PairsError(
                "no item has labels by two different assessors, so disagreement cannot be seen",
                hint=[
                    "have some items judged a second time",
                    Way("name other assessors", observed="NAME", reference="NAME"),
                ],
            )
        generator = np.random.default_rng(rng)
        spread = spread_of(sums, relevant.labels, prior=self.prior, n_draws=self.n_draws, rng=generator)
        return PredictedRelevanceFit(self, scale, relevant, spread, sums.by_topic, n_topics_of(sums), topics)


@dataclass(frozen=True, eq=False)
class PredictedRelevanceFit(Tabular):
    """Estimates of p(R|i), arrays (relevant, label); counts of pairs by topic (topic, first, second).

    topics: names of the topics; empty in a fit read from a file, which holds the sums only.
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
        """How the intervals were computed."""
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
        """Return the row of a notion of relevance; None stands for the first."""
        if relevant is None:
            return 0
        if relevant not in self.relevant.names:
            raise UnknownName("fitted notion of relevance", relevant, self.relevant.names)
        return self.relevant.names.index(relevant)

    def gains(self, relevant: str | None = None, *, at_least: tuple[int, int] = (1, 1)) -> Gains:
        """Gains for any measure: P(at least M of N random users are satisfied | i), at_least=(M, N) (Section 3.1.7)."""
        row, (m, n) = self.row_of(relevant), at_least
        self._warn_of_few(row)
        name = f"prm:{self.relevant.names[row]}" + ("" if at_least == (1, 1) else f":{m}/{n}")
        return Gains(self.scale, p_at_least(m, n, self.known(row)), name)

    def udm_gains(self, at_least: tuple[int, int], relevant: str | None = None, *, lowest: float | None = 0.0) -> Gains:
        """Gains of the User Disagreement Model for at least M of N users, at_least=(M, N).

        The lowest label has the gain ``lowest``, 0 as Demeester et al. (2014) propose in Section 3.3.2; None: as
        estimated.  That does not apply to labels without an order, or where the lowest label is relevant.
        """
        row, (m, n) = self.row_of(relevant), at_least
        self._warn_of_few(row)
        weights = udm_weights(m, n, self.known(row), self.relevant.labels[row])
        neglected = self.scale.ordered and not self.relevant.labels[row, 0]
        if lowest is not None and neglected:
            weights[0] = lowest
        name = "" if self.relevant.names[row] == self.scale.labels[-1] else f":{self.relevant.names[row]}"
        kept = ", lowest kept" if lowest is None and neglected else ""
        return Gains(self.scale, weights, f"udm:{m}/{n}{name}{kept}")

    def known(self, row: int) -> Floats:
        """p(R|i) with every label known -> (label,); a lowest label nobody judged twice counts as 0 (Section 5.2.2)."""
        p = self.p[row].copy()
        if np.isnan(p[0]) and self.scale.ordered:
            p[0] = 0.0
        if np.isnan(p).any():
            label = self.scale.labels[int(np.argmax(np.isnan(p)))]
            raise GainsError(
                f"no item with label {label!r} was judged a second time, so it has no gain",
                hint=["use a prior, such as 0.5", "merge the label with another", "judge some of its items twice"],
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

    def sentence(
        self, row: int = 0, *, judge: str = "one assessor", users: str = "another person", among: str = ""
    ) -> str:
        """Say p(R|i) for each label, largest first; judge gave the label, among: of which results."""
        p, labels, name = self.p[row], self.scale.labels, self.relevant.names[row]
        order = [n for n in reversed(range(len(labels))) if not np.isnan(p[n])]  # of equal ones the higher label first
        order.sort(key=lambda n: -round(100 * p[n]))
        shown = [f"{100 * p[n]:.0f}% for {labels[n]}" for n in order[:MOST_LABELS]]
        more = f" and less for {len(order) - MOST_LABELS} other labels" if len(order) > MOST_LABELS else ""
        higher = " or higher" if self._is_threshold(row) and name in labels[:-1] else ""
        return (
            f"Probability that {users} finds a result{among} relevant ({name}{higher}), by the label of {judge}: "
            f"{', '.join(shown)}{more}."
        )

    def records(self) -> Records:
        """Return one row per notion of relevance and label, the highest first; None where nothing is known."""
        return label_rows(self.relevant, self.scale, {key: getattr(self.spread, key) for key in KEYS})

    def __str__(self) -> str:
        """Return a table of text; estimates from few pairs are in brackets."""
        lines = [f"p(R|label), {self.setting.estimator}, 95% interval: {self.method}"]
        width, top = max(map(len, self.scale.labels)), len(self.scale) - 1
        for row, below in np.ndindex(self.p.shape):
            level = top - below
            lines += [] if below else [f"R = {self.relevant.names[row]}"]
            p, low, high = (each[row, level] for each in (self.p, self.spread.low, self.spread.high))
            n, interval = self.pairs[row, level], "(one topic)" if np.isnan(low) else f"[{low:.3f}, {high:.3f}]"
            text = f"({p:.3f} {interval})" if n < FEW_PAIRS else f"{p:.3f} {interval}"
            cell = f"{text}  ({self.hits[row, level]:g} of {n:g} pairs)" if n > 0 else "unknown (no pairs)"
            lines.append(f"  {self.scale.labels[level]:<{width}}  {cell}")
        return "\n".join(lines)

    @property
    def notes(self) -> tuple[Note | str, ...]:
        """What to be careful about, most important first."""
        labels = [note for row in range(len(self.relevant.names)) for note in self._not_distinguished(row)]
        return tuple(dict.fromkeys([*labels, *few_topics(self.n_topics), *self._few_pairs()]))

    def _not_distinguished(self, row: int) -> list[Note]:
        """Labels whose difference of p(R|i) is not significant, or in the wrong direction."""
        order, relevant = self._order(row), self.relevant.names[row]
        if len(order) < 2:
            return []

        def note(kind: str, text: str, found: Difference, **more: object) -> Note:
            ends = [f"{self.scale.labels[n]} ({self.p[row, n]:.2f})" for n in (found.lower, found.upper)]
            return Note(kind, "relevant {relevant}: " + text, relevant=relevant, lower=ends[0], upper=ends[1], **more)

        whole = difference(self, row, order[0], order[-1])
        if not whole.distinguished and not np.isnan(whole.low):
            text = "even {lower} and {upper} cannot be distinguished: their difference is not significant"
            few = self.n_topics < FEW_TOPICS
            text += ", with {n:topic} only" if few else ", so an evaluation with these labels is questionable"
            return [note("no-labels-distinguished", text, whole, **({"n": self.n_topics} if few else {}))]
        reversed_ = "{lower} is significantly above {upper}, a higher label"
        alike = "{lower} and {upper} cannot be distinguished: their difference is not significant"
        return [
            note("labels-reversed", reversed_, each) if each.high < 0 else note("labels-not-distinguished", alike, each)
            for each in differences(self, row)
            if each.high < 0 or each.low <= 0
        ]

    def _few_pairs(self) -> list[Note]:
        """Labels with few pairs, none, or those of one topic."""
        found, n_topics = [], (self.by_topic.sum(axis=2) > 0).sum(axis=0).tolist()
        for label, n, topics in zip(self.scale.labels, self.pairs[0].tolist(), n_topics, strict=True):
            if topics == 1 and len(self.by_topic) > 1 and self.n_topics > 1:
                text = "label {label} has pairs in one topic only: it has no interval, since other topics may differ"
                found.append(Note("one-topic", text, label=label))
            if n == 0:
                found.append(Note("no-pairs", "label {label} has no pairs, so its estimates are unknown", label=label))
            elif n < FEW_PAIRS:
                text = "label {label} has {n:.3g} pairs, fewer than {least}: its estimates are not reliable"
                found.append(Note("few-pairs", text, label=label, n=n, least=FEW_PAIRS))
        return found

    def _order(self, row: int) -> list[int]:
        """Labels with pairs, from the lowest threshold, or else from the lowest estimate."""
        p = self.p[row]
        present: list[int] = np.flatnonzero(~np.isnan(p)).tolist()
        return present if self._is_threshold(row) else sorted(present, key=lambda level: float(p[level]))

    def _is_threshold(self, row: int) -> bool:
        """Whether labels are relevant from one upwards, so that p(R|i) should rise with the label."""
        marked = self.relevant.labels[row]
        return self.scale.ordered and bool((marked[1:] >= marked[:-1]).all())


MOST_LABELS = 12
"""How many labels a sentence names."""


class Difference(NamedTuple):
    """p(R|upper) - p(R|lower) of two labels, and its 95 % interval; NaN where a label has no interval."""

    lower: int
    upper: int
    value: float
    low: float
    high: float

    @property
    def distinguished(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


def differences(fit: PredictedRelevanceFit, row: int = 0) -> list[Difference]:
    """Compare neighbouring labels, from the lowest on."""
    return [difference(fit, row, lower, upper) for lower, upper in pairwise(fit._order(row))]


def difference_records(fit: PredictedRelevanceFit) -> Records:
    """Return one row per notion of relevance and two neighbouring labels; None where there is no interval."""
    labels = fit.scale.labels
    return [
        {"relevant": name, "lower": labels[each.lower], "upper": labels[each.upper]}
        | {"difference": known(each.value), "low": known(each.low), "high": known(each.high)}
        for row, name in enumerate(fit.relevant.names)
        for each in differences(fit, row)
    ]


def difference(fit: PredictedRelevanceFit, row: int, lower: int, upper: int) -> Difference:
    r"""Return p(R|upper) - p(R|lower) with its interval, from those of both labels and what they have in common.

    Zou and Donner (2008), doi:10.1002/sim.3095: with d the difference and l, u the ends of either interval,

    .. math:: L = d - \sqrt{(p_2 - l_2)^2 + (u_1 - p_1)^2 - 2r(p_2 - l_2)(u_1 - p_1)}

    and likewise its upper end.  Both labels occur in the same topics, so their shares are correlated: r is the
    correlation of the shares when each topic is left out in turn.
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
    counts = fit.by_topic[fit.by_topic.sum(axis=(1, 2)) > 0]
    without = leave_one_topic_out(counts, fit.relevant.labels)[:, row][:, [one, other]]
    away = without - shares(counts.sum(axis=0), fit.relevant.labels)[row, [one, other]]
    (of_one, both), (_, of_other) = away.T @ away
    return float(both / np.sqrt(of_one * of_other)) if of_one * of_other > 0 else 0.0
