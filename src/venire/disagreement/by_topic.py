r"""Topic groups: do kinds of topics disagree differently enough to be fitted apart?

Step 2 of the recipe of Demeester et al. (2015), Section 5.1, and Table 4.  For each notion of relevance the groups are
compared by

.. math:: X^2 = \sum_g \sum_i N_{gi} \frac{(p_{gi} - p_i)^2}{p_i (1 - p_i)}

and by how often topics dealt out to the groups at random differ as much: pairs of one topic are not independent, so
topics change places, not pairs.  The p-value counts the deal at hand among them, and so is never 0.

Topic influence: how much p(R|i) depends on the topics it was estimated from, and on which of them.

Demeester et al. (2015), Section 6.2 and Figure 2: topics are drawn anew with replacement, all pairs of a topic as often
as the topic is drawn, 300 times over.  Besides, every topic is left out once: by how much p(R|i) is higher with it than
without it is its influence.  Both come from counts of pairs by topic; nothing is fitted again.

Asymmetry: does it matter who of two assessors, or groups, is observed and who stands for users?

Demeester et al. (2015), Section 5.2.1: assessors differ in how much they find relevant, and then p(U1=R|U2=i) and
p(U2=R|U1=i) differ, while Eq. (5) averages them.  The interval of the difference is Student's, with the spread over
resampled topics (a topic's pairs in both directions stay together) and the topics that have the label, less one, as
degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.data.judgments import Judgments
from venire.data.relevance import RelevantSets
from venire.data.scale import Scale
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.errors import PairsError, SettingError
from venire.kernels.resampling import resampled_sums, topic_weights
from venire.kernels.shares import CONFIDENCE, sd_of_draws, shares
from venire.results import Records, Tabular, counted, known
from venire.types import Bools, Floats, Ints, RNGLike

N_DEALS = 1_999
KEEP_APART = 0.05


@dataclass(frozen=True, eq=False)
class GroupComparison(Tabular):
    """Fits of each group, and p_value (relevant,): how surprising their difference is if groups did not matter."""

    fits: Mapping[str, PredictedRelevanceFit]
    names: tuple[str, ...]
    statistic: Floats
    p_value: Floats

    @property
    def p_adjusted(self) -> Floats:
        """p-values times their number (Bonferroni), 1 at most -> (relevant,)."""
        return np.minimum(len(self.p_value) * self.p_value, 1.0)

    def sentence(self) -> str:
        """Say whether the groups should be kept apart."""
        groups = " and ".join(self.fits)
        n, p = len(self.p_value), float(self.p_adjusted.min())
        shown = f"p = {p:.2g}" + (f", adjusted for {n} thresholds" if n > 1 else "")
        if p <= KEEP_APART:
            return f"{groups} disagree differently ({shown}): fit them apart."
        return f"No significant difference between {groups} in how judges disagree ({shown}): one fit serves all."

    def records(self) -> Records:
        """Return one row per group, notion of relevance and label, the highest first."""
        return [{"group": group, **row} for group, fit in self.fits.items() for row in fit.records()]


def compare_groups(
    judgments: Judgments, group_of: Mapping[str, str], setting: PredictedRelevance, *, rng: RNGLike = 0
) -> GroupComparison:
    """Fit each group of topics, and test whether they differ; topics in no group are left out."""
    groups = tuple(dict.fromkeys(group_of.values()))
    if len(groups) < 2:
        found = f"all topics are in the group {groups[0]!r}" if groups else "no topic is in a group"
        raise PairsError(f"{found}, and there is nothing to compare", hint="name two groups or more")
    whole = setting.fit(judgments, rng=rng)
    code = np.array([groups.index(group_of[name]) if name in group_of else -1 for name in judgments.topics])
    there = (whole.by_topic.sum(axis=(1, 2)) > 0) & (code >= 0)
    for number, name in enumerate(groups):
        if not (there & (code == number)).any():
            hint = f"look at the file of groups; there are topics {', '.join(judgments.topics[:5])}"
            raise PairsError(f"no topic of group {name!r} has items judged twice", hint=hint)
    counts, labels = whole.by_topic[there], whole.relevant.labels
    found_here = _differences(counts, code[there][None], len(groups), labels)[0]
    deals = np.random.default_rng(rng).permuted(np.tile(code[there], (N_DEALS, 1)), axis=1)
    as_large = _differences(counts, deals, len(groups), labels) >= found_here * (1 - 1e-12)
    fits = {
        name: whole.setting.fit(_topics_of(judgments, code == number), rng=rng) for number, name in enumerate(groups)
    }
    return GroupComparison(fits, whole.relevant.names, found_here, (1 + as_large.sum(axis=0)) / (1 + N_DEALS))


def _topics_of(judgments: Judgments, chosen: Bools) -> Judgments:
    return judgments.take(chosen[judgments.items.topic[judgments.item]])


def _differences(counts: Floats, code: Ints, n_groups: int, relevant: Bools) -> Floats:
    """X^2 of every deal -> (deal, relevant); counts (topic, first, second), code (deal, topic), relevant (., label)."""
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


LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
N_DRAWS = 300


@dataclass(frozen=True, eq=False)
class TopicInfluence(Tabular):
    """p (relevant, label), its quantiles (5, relevant, label) over drawn topics, and what each topic does to it.

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
        """Numbers of the topics that move p(R|i) most, the strongest first."""
        moved = np.abs(self.influence[:, row, level])
        order: Ints = np.argsort(-np.nan_to_num(moved, nan=-1.0), kind="stable")[:most]
        return [int(topic) for topic in order if moved[topic] > 0]

    def sentence(self, row: int = 0) -> str:
        """Say which label depends most on its topics, and on which one."""
        width = self.quantiles[-1, row] - self.quantiles[0, row]
        level = int(np.nanargmax(width))
        name = f"p({self.relevant.names[row]}|{self.scale.labels[level]})"
        words = (
            f"With other topics {name} = {self.p[row, level]:.2f} would lie between "
            f"{self.quantiles[0, row, level]:.2f} and {self.quantiles[-1, row, level]:.2f} nine times in ten"
        )
        strongest = self.strongest(row, level, most=1)
        if not strongest:
            return f"{words}."
        topic = strongest[0]
        without = self.p[row, level] - self.influence[topic, row, level]
        return f"{words}; without topic {self.topics[topic]} it would be {without:.2f}."

    def records(self) -> Records:
        """Return one row per notion of relevance and label: p(R|i), and its quantiles over drawn topics."""
        names = [f"q{round(100 * level):02}" for level in LEVELS]
        return [
            {"relevant": relevant, "label": label, "p": known(self.p[row, level])}
            | {name: known(value) for name, value in zip(names, self.quantiles[:, row, level], strict=True)}
            for row, relevant in enumerate(self.relevant.names)
            for level, label in enumerate(self.scale.labels)
        ]


def topic_influence(
    fit: PredictedRelevanceFit, topics: Sequence[str], *, n_draws: int = N_DRAWS, rng: RNGLike = 0
) -> TopicInfluence:
    """Draw topics anew, and leave each out once; topics: names, as in the judgments that were fitted.

    Cost: one product of (draw, topic) and (topic, label x label).
    """
    if len(topics) != len(fit.by_topic):
        raise SettingError(
            f"{counted(len(topics), 'name')} for the {counted(len(fit.by_topic), 'topic')} of the fit",
            hint="give those of the judgments it was made from; a fit that was saved no longer knows its topics",
        )
    there = np.flatnonzero(fit.by_topic.sum(axis=(1, 2)) > 0)
    if len(there) < 2 or n_draws < 2:
        raise PairsError(
            f"{counted(len(there), 'topic')} with items judged twice, and {counted(n_draws, 'draw')}: "
            "nothing varies over topics",
            hint="judge items of more topics twice, and draw more than once",
        )
    counts = fit.by_topic[there]
    p = shares(counts.sum(axis=0), fit.relevant.labels)
    without = shares(counts.sum(axis=0) - counts, fit.relevant.labels)
    weights = topic_weights(len(there), n_draws, np.random.default_rng(rng))
    drawn = shares(resampled_sums(counts, weights), fit.relevant.labels)
    return TopicInfluence(
        fit.scale,
        fit.relevant,
        tuple(topics[int(topic)] for topic in there),
        p,
        _quantiles(drawn),
        p - without,
        counts.sum(axis=2),
    )


def _quantiles(drawn: Floats) -> Floats:
    """Quantiles over the draws in which a label was there: drawn (draw, relevant, label) -> (5, relevant, label)."""
    found = np.full((len(LEVELS), *drawn.shape[1:]), np.nan)
    known = ~np.isnan(drawn).all(axis=0)
    found[:, known] = np.nanquantile(drawn[:, known], LEVELS, axis=0)
    return found


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
        """Say whether it matters who is observed, and for which label most."""
        notable = (self.low > 0) | (self.high < 0)
        if not notable.any():
            return "It makes no notable difference who of the two is observed."
        row, level = np.unravel_index(int(np.argmax(np.where(notable, np.abs(self.difference), -1.0))), notable.shape)
        first, second = (float(fit.p[row, level]) for fit in (self.forth, self.back))
        return (
            f"It matters who is observed: p({self.forth.relevant.names[row]}|{self.forth.scale.labels[level]}) is "
            f"{first:.2f} one way and {second:.2f} the other (difference {self.low[row, level]:+.2f} to "
            f"{self.high[row, level]:+.2f})."
        )

    def records(self) -> Records:
        """Return one row per notion of relevance and label, the highest first; None where nothing is known."""
        columns = {
            "observed_first": self.forth.p,
            "reference_first": self.back.p,
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
        }
        return [
            {"relevant": name, "label": label, **{key: known(each[row, level]) for key, each in columns.items()}}
            for row, name in enumerate(self.forth.relevant.names)
            for level, label in reversed(list(enumerate(self.forth.scale.labels)))
        ]


def asymmetry(
    judgments: Judgments,
    setting: PredictedRelevance,
    *,
    observed: Sequence[str],
    reference: Sequence[str],
    rng: RNGLike = 0,
) -> Asymmetry:
    """Fit one-sided in both directions, and compare; pairs of a topic stay together when topics are resampled."""
    one_sided = replace(setting, estimator="one-sided", prior=0.0)
    forth = replace(one_sided, observed=observed, reference=reference).fit(judgments, rng=rng)
    back = replace(one_sided, observed=reference, reference=observed).fit(judgments, rng=rng)
    half = _half_width(forth, back, n_draws=setting.n_draws, rng=np.random.default_rng(rng))
    difference = forth.p - back.p
    return Asymmetry(forth, back, difference, np.maximum(difference - half, -1), np.minimum(difference + half, 1))


def _half_width(
    forth: PredictedRelevanceFit, back: PredictedRelevanceFit, *, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Half the width of the interval -> (relevant, label): Student's t times the spread over resampled topics."""
    from scipy.special import stdtrit

    there = (forth.by_topic + back.by_topic).sum(axis=(1, 2)) > 0
    weights, labels = topic_weights(int(there.sum()), n_draws, rng), forth.relevant.labels
    one, other = (shares(resampled_sums(fit.by_topic[there], weights), labels) for fit in (forth, back))
    n_topics = ((forth.by_topic + back.by_topic).sum(axis=2) > 0).sum(axis=0)
    t = stdtrit(np.maximum(n_topics - 1, 1), (1 + CONFIDENCE) / 2) * np.sqrt(n_topics / np.maximum(n_topics - 1, 1))
    return np.where(n_topics > 1, t * sd_of_draws(one - other), np.nan)
