r"""Dependence of p(R|i) on topics, groups of topics, and on who is observed.

Groups of topics: step 2 of the recipe of Demeester et al. (2015), Section 5.1, and Table 4.  For each notion of
relevance the groups are compared by

.. math:: X^2 = \sum_g \sum_i N_{gi} \frac{(p_{gi} - p_i)^2}{p_i (1 - p_i)}

and a permutation test: pairs of one topic are not independent, so topics are permuted, not pairs.  The p-value counts
the observed assignment among the permutations, so it is never 0.

Topic influence: Section 6.2 and Figure 2.  Topics are resampled with replacement 300 times, all pairs of a topic as
often as the topic is drawn; and each topic is left out once, which changes p(R|i) by its influence.  Both come from
counts of pairs by topic; nothing is fitted again.

Asymmetry: Section 5.2.1.  Assessors differ in how much they find relevant, and then p(U1=R|U2=i) and p(U2=R|U1=i)
differ, while Eq. (5) averages them.  The interval of the difference is Student's, with the standard deviation over
resampled topics (a topic's pairs in both directions stay together) and one degree of freedom less than the number of
topics that have the label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.data.scale import RelevantSets, Scale
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit, label_rows
from venire.errors import PairsError, SettingError
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.kernels.shares import CONFIDENCE, sd_of_draws, shares
from venire.randomness import resampled_sums, topic_weights
from venire.results import Records, Tabular, counted
from venire.types import Bools, Floats, Ints, RNGLike

N_PERMUTATIONS = 1_999
QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
N_DRAWS = 300


@dataclass(frozen=True, eq=False)
class GroupComparison(Tabular):
    """Fits of each group, statistic and p_value (relevant,) of the permutation test that groups do not matter."""

    fits: Mapping[str, PredictedRelevanceFit]
    names: tuple[str, ...]
    statistic: Floats
    p_value: Floats

    @property
    def p_adjusted(self) -> Floats:
        """p-values times their number (Bonferroni), 1 at most -> (relevant,)."""
        return np.minimum(len(self.p_value) * self.p_value, 1.0)

    def sentence(self) -> str:
        """Say the largest test statistic and the smallest p-value."""
        n, p = len(self.p_value), float(self.p_adjusted.min())
        adjusted = f" (Bonferroni, {n} notions of relevance)" if n > 1 else ""
        return (
            f"Permutation test of equal p(R|i) in {' and '.join(self.fits)}: p = {p:.2g}{adjusted}, largest X2 = "
            f"{self.statistic.max():.1f}."
        )

    def records(self) -> Records:
        """Return one row per group, notion of relevance and label, the highest first."""
        return [{"group": group, **row} for group, fit in self.fits.items() for row in fit.records()]


def compare_groups(
    judgments: JudgmentsLike, group_of: Mapping[str, str], setting: PredictedRelevance, *, rng: RNGLike = 0
) -> GroupComparison:
    """Fit each group of topics, and test whether p(R|i) differs; topics in no group are left out."""
    judgments = as_judgments(judgments)
    groups = tuple(dict.fromkeys(group_of.values()))
    if len(groups) < 2:
        found = f"all topics are in the group {groups[0]!r}" if groups else "no topic is in a group"
        raise PairsError(f"{found}, so groups cannot be compared", hint="name two groups or more")
    whole = setting.fit(judgments, rng=rng)
    code = np.array([groups.index(group_of[name]) if name in group_of else -1 for name in judgments.topics])
    present = (whole.by_topic.sum(axis=(1, 2)) > 0) & (code >= 0)
    for number, name in enumerate(groups):
        if not (present & (code == number)).any():
            hint = f"check the groups; there are topics {', '.join(judgments.topics[:5])}"
            raise PairsError(f"no topic of group {name!r} has items judged twice", hint=hint)
    counts, labels = whole.by_topic[present], whole.relevant.labels
    observed = _chi_squares(counts, code[present][None], len(groups), labels)[0]
    permuted = np.random.default_rng(rng).permuted(np.tile(code[present], (N_PERMUTATIONS, 1)), axis=1)
    as_large = _chi_squares(counts, permuted, len(groups), labels) >= observed * (1 - 1e-12)
    group = code[judgments.items.topic[judgments.item]]
    fits = {name: whole.setting.fit(judgments.take(group == number), rng=rng) for number, name in enumerate(groups)}
    return GroupComparison(fits, whole.relevant.names, observed, (1 + as_large.sum(axis=0)) / (1 + N_PERMUTATIONS))


def _chi_squares(counts: Floats, code: Ints, n_groups: int, relevant: Bools) -> Floats:
    """X^2 of assignments -> (assignment, relevant); counts (topic, first, second), code (assignment, topic)."""
    n = counts.sum(axis=2)
    h = np.einsum("tij,rj->tri", counts, relevant.astype(np.float64))
    whole, p = n.sum(axis=0), h.sum(axis=0) / np.maximum(n.sum(axis=0), 1e-300)
    scale = np.where((p > 0) & (p < 1) & (whole > 0), p * (1 - p), np.inf)
    total = np.zeros((len(code), len(relevant)))
    for group in range(n_groups):
        inside = (code == group).astype(np.float64)
        of_n = (inside @ n)[:, None]
        of_h = (inside @ h.reshape(len(h), -1)).reshape(len(code), *h.shape[1:])
        total += ((of_h - p * of_n) ** 2 / (np.where(of_n > 0, of_n, np.inf) * scale)).sum(axis=2)
    return total


@dataclass(frozen=True, eq=False)
class TopicInfluence(Tabular):
    """p (relevant, label), its quantiles (5, relevant, label) over resampled topics, and the influence of each topic.

    influence (topic, relevant, label): p with the topic less p without it, NaN where it alone has the label; pairs
    (topic, label); topics: those with pairs.
    """

    scale: Scale
    relevant: RelevantSets
    topics: tuple[str, ...]
    p: Floats
    quantiles: Floats
    influence: Floats
    pairs: Floats

    def strongest(self, row: int, level: int, *, most: int = 3) -> list[int]:
        """Numbers of the topics with the largest influence on p(R|i), the largest first."""
        moved = np.abs(self.influence[:, row, level])
        order: Ints = np.argsort(-np.nan_to_num(moved, nan=-1.0), kind="stable")[:most]
        return [int(topic) for topic in order if moved[topic] > 0]

    def sentence(self, row: int = 0) -> str:
        """Say the label with the widest quantile range, and its most influential topic."""
        level = int(np.nanargmax(self.quantiles[-1, row] - self.quantiles[0, row]))
        low, high, p = self.quantiles[0, row, level], self.quantiles[-1, row, level], self.p[row, level]
        without = [
            f"; without topic {self.topics[topic]} it is {p - self.influence[topic, row, level]:.2f}"
            for topic in self.strongest(row, level, most=1)
        ]
        return (
            f"p({self.relevant.names[row]}|{self.scale.labels[level]}) = {p:.2f} has a 90% bootstrap interval over "
            f"topics of {low:.2f} to {high:.2f}{''.join(without)}."
        )

    def records(self) -> Records:
        """Return one row per notion of relevance and label: p(R|i), and its quantiles over resampled topics."""
        columns = dict(zip(QUANTILES, self.quantiles, strict=True))
        return label_rows(self.relevant, self.scale, {"p": self.p, **columns})


def topic_influence(
    fit: PredictedRelevanceFit, topics: Sequence[str], *, n_draws: int = N_DRAWS, rng: RNGLike = 0
) -> TopicInfluence:
    """Resample topics, and leave each out once; topics: names, as in the judgments that were fitted.

    Cost: one product of (draw, topic) and (topic, label x label).
    """
    if len(topics) != len(fit.by_topic):
        raise SettingError(
            f"{counted(len(topics), 'name')} for the {counted(len(fit.by_topic), 'topic')} of the fit",
            hint="name the topics of the fitted judgments; a fit read from a file does not hold its topics",
        )
    present = np.flatnonzero(fit.by_topic.sum(axis=(1, 2)) > 0)
    if len(present) < 2 or n_draws < 2:
        raise PairsError(
            f"{counted(len(present), 'topic')} with items judged twice, and {counted(n_draws, 'draw')}: "
            "nothing varies over topics",
            hint="judge items of more topics twice, and draw more than once",
        )
    counts = fit.by_topic[present]
    p = shares(counts.sum(axis=0), fit.relevant.labels)
    without = shares(counts.sum(axis=0) - counts, fit.relevant.labels)
    weights = topic_weights(len(present), n_draws, np.random.default_rng(rng))
    drawn = shares(resampled_sums(counts, weights), fit.relevant.labels)
    quantiles = np.full((len(QUANTILES), *drawn.shape[1:]), np.nan)
    known = ~np.isnan(drawn).all(axis=0)
    quantiles[:, known] = np.nanquantile(drawn[:, known], list(QUANTILES.values()), axis=0)
    names = tuple(topics[int(topic)] for topic in present)
    return TopicInfluence(fit.scale, fit.relevant, names, p, quantiles, p - without, counts.sum(axis=2))


@dataclass(frozen=True, eq=False)
class Asymmetry(Tabular):
    """Both one-sided fits, and their difference (relevant, label) with its 95 % interval.

    NaN where a label has no pairs; the interval also where one topic has all of them.
    """

    forth: PredictedRelevanceFit
    back: PredictedRelevanceFit
    difference: Floats
    low: Floats
    high: Floats

    def sentence(self) -> str:
        """Say the largest difference whose interval excludes 0, or else the largest."""
        significant = (self.low > 0) | (self.high < 0)
        size = np.where(significant | ~significant.any(), np.abs(self.difference), -1.0)
        row, level = np.unravel_index(int(np.argmax(np.nan_to_num(size, nan=-1.0))), size.shape)
        first, second = (float(fit.p[row, level]) for fit in (self.forth, self.back))
        return (
            f"{int(significant.sum())} of {significant.size} differences between both directions have a 95% interval "
            f"without 0; p({self.forth.relevant.names[row]}|{self.forth.scale.labels[level]}) is {first:.2f} one way "
            f"and {second:.2f} the other (difference {self.low[row, level]:+.2f} to {self.high[row, level]:+.2f})."
        )

    def records(self) -> Records:
        """Return one row per notion of relevance and label, the highest first; None where nothing is known."""
        ps = {"observed_first": self.forth.p, "reference_first": self.back.p}
        columns = ps | {"difference": self.difference, "low": self.low, "high": self.high}
        return label_rows(self.forth.relevant, self.forth.scale, columns)


def asymmetry(
    judgments: JudgmentsLike,
    setting: PredictedRelevance,
    *,
    observed: Sequence[str],
    reference: Sequence[str],
    rng: RNGLike = 0,
) -> Asymmetry:
    """Fit one-sided in both directions, and compare; pairs of a topic stay together when topics are resampled."""
    judgments = as_judgments(judgments)
    one_sided = replace(setting, estimator="one-sided", prior=0.0)
    forth = replace(one_sided, observed=observed, reference=reference).fit(judgments, rng=rng)
    back = replace(one_sided, observed=reference, reference=observed).fit(judgments, rng=rng)
    half = _half_width(forth, back, n_draws=setting.n_draws, rng=np.random.default_rng(rng))
    difference = forth.p - back.p
    return Asymmetry(forth, back, difference, np.maximum(difference - half, -1), np.minimum(difference + half, 1))


def _half_width(
    forth: PredictedRelevanceFit, back: PredictedRelevanceFit, *, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Half the width of the interval -> (relevant, label): Student's t times the sd over resampled topics."""
    from scipy.special import stdtrit

    present = (forth.by_topic + back.by_topic).sum(axis=(1, 2)) > 0
    weights, labels = topic_weights(int(present.sum()), n_draws, rng), forth.relevant.labels
    one, other = (shares(resampled_sums(fit.by_topic[present], weights), labels) for fit in (forth, back))
    n_topics = ((forth.by_topic + back.by_topic).sum(axis=2) > 0).sum(axis=0)
    t = stdtrit(np.maximum(n_topics - 1, 1), (1 + CONFIDENCE) / 2) * np.sqrt(n_topics / np.maximum(n_topics - 1, 1))
    return np.where(n_topics > 1, t * sd_of_draws(one - other), np.nan)
