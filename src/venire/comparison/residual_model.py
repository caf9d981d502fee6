r"""The residuals of a prediction of labels, as effects of topics and systems: a mixed model for gains.

``disagreement.reference_labels`` predicts a distribution over the labels that the reference gives to an item, from
those of the judge.  The residuals of the labelled items correct this level by topic and system.  Gains are divided by
their range here, and are a sum of steps of height h; the prediction has the probability p of each step, so that their
mean is m.  An effect d adds to the log-odds of all steps, as in proportional odds; to first order

.. math:: y_i = m_i + s_i d_i + e_i, \qquad s_i = \sum_c h_c\, p_{ic} (1 - p_{ic}), \qquad
          d_i = f_i^\top\beta + \tau_t + z_i^\top v + z_i^\top u_t

so that labels without uncertainty stay as they are.  The effects are

    f    intercept, group (the label of the judge), whether no list has the item; the scores of systems by the judge
         (``score_effects``); for measures that count all relevant items, such as AP, also the logarithm of the weight
         of the item in all lists (for others it makes the order of systems worse); and, if there are systems that rank
         by the labels of the judge (``judge_rankers``), their share of its weight
    tau  the topic
    v    the systems: z has the weights of the item in the lists of each system, centred over items, of unit length
    u    systems within the topic

with normal priors (``kernels.residual_effects``), of mean 0 except that of the scores: the prediction is moved by the
effects that give systems the scores by the judge, in log-odds, and f has these effects, for a judge by whom systems
differ more or less than by people.  The deviations, below, are weakly informative.

That of tau is estimated from the labels.  The variance of a gain is given by its prediction, so the more of it topics
explain, the less is left as noise: too small a deviation between topics makes the noise, and with it the intervals of
differences between systems, too large.  In the model without systems, the likelihood L of the known residuals is
compared for nine deviations around ``TOPIC_SD``, with a prior weight P, and tau has their geometric mean

.. math:: \log \hat\sigma_\tau = \sum_k \log \sigma_k \, \frac{P_k L(\sigma_k)}{\sum_j P_j L(\sigma_j)}

(empirical Bayes: Laird and Ware 1982, doi:10.2307/2529876; a prior keeps it off 0 where topics are few: Chung et al.
2013, doi:10.1007/s11336-013-9328-2).  Before the first label it is ``TOPIC_SD``, and few labels change it little.  That
it is an estimate is what the t distribution of the intervals is for, whose degrees of freedom are those of topics.
The centre is that of other judges and references: the deviation of highest likelihood was .75 to 1.26 with a geometric
mean of .91 for NIST by workers and workers by NIST on TREC 2010 Relevance Feedback, and for four language models by
each other on TREC Deep Learning 2021 (``bench/topic_spread.py``).  The prior is wider than these, from a half to twice
the centre, since they are two collections only; for NIST by language models on the latter it is about 1.2.

That of v depends on the judge.  Systems differ in the residuals by what they know of relevance and the judge does not,
so less for a judge that explains more of the labels of the reference.  With w the weight of an item in all lists and
:math:`\bar p` the weighted mean of p, the share of the variance that the prediction leaves unexplained is

.. math:: \ell = \frac{\sum_i w_i s_i}{\sum_i w_i \, \sum_c h_c\, \bar p_c (1 - \bar p_c)}

and the deviation is ``SYSTEM_SD`` where it is 1 and falls linearly with it, to no less than ``LEAST_SYSTEM`` of it.
What the scores by the judge say is in the prediction; what is left differs less between judges.  The deviations of v
and of the effect of the scores are known up to a common factor, over which effects are averaged by their likelihood:
it is large for the few judges whose scores have nothing to do with those by people.  With 100 labels for the best of 4
to 16 systems, 95 % intervals of differences cover .98 over 36 language models on TREC Deep Learning 2021
(``bench/plan.py``, leads).  A system that re-ranks by the labels of the judge is returned for its errors too, which
nothing else can tell from few labels, so its effect has a wider prior.  Other deviations were chosen on two judges
(``bench/corrected.py``, ``bench/favoured.py``).

The noise e has the variance of the gain that the effects leave.  The expansion is repeated around the effects that all
topics share (as in penalised quasi-likelihood; Breslow and Clayton 1993, doi:10.1080/01621459.1993.10594284).

Sums of gains have their mean and covariance in closed form.  For anything else effects are drawn from their posterior,
with further effects k of topic and step, since people differ in how often they give the highest label, and labels are
drawn given these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from venire.comparison.score_effects import score_effects, system_rows
from venire.disagreement.reference_labels import ReferenceLabels
from venire.kernels.residual_effects import Design, Effects, fit_effects, log_likelihood
from venire.types import Bools, Floats, Ints

INTERCEPT_SD, OUTSIDE_SD, GROUP_SD, WEIGHT_SD = 1.2, 1.2, 0.4, 0.6
"""Prior deviations in log-odds: of all items, of those in no list, of a group, and per unit of log weight."""
SCORE_SLOPE, SCORE_SLOPE_SD = 1.0, 0.3
"""Mean and deviation of the slope of the log-odds of scores by people on those by the judge (``score_effects``)."""
TOPIC_SD, SYSTEM_SD, TOPIC_SYSTEM_SD, THRESHOLD_SD = 0.9, 0.6, 0.55, 2.0
"""Prior deviations in log-odds: between topics, systems, systems within a topic, and thresholds within a topic."""
TOPIC_SDS, TOPIC_SDS_PRIOR = (TOPIC_SD * np.exp(np.arange(-4, 5) / 6), np.exp(-((np.arange(-4, 5) / 2) ** 2) / 2))
"""Deviations between topics that are compared, and their weights: the logarithm is normal with deviation 1/3."""
ALL_EXPLAINED, LEAST_SYSTEM = 0.7, 0.5
"""Share left unexplained at which systems would differ by noise alone: the labels of people are no more predictable.
The least deviation, as a share of ``SYSTEM_SD``: a judge that predicts well may still favour a system."""
SYSTEM_FACTORS = {0.5: 0.25, 0.75: 0.25, 1.0: 0.2, 1.4: 0.15, 2.0: 0.15}
"""By what the deviations of systems and of the slope of scores may be multiplied, and how probable that is before
labels."""
RANKER_SD, USUAL_ORDER = 1.2, 0.8
"""Prior deviation of the effect of a system that ranks wholly by the labels of the judge; a system that has no more
than this share of its results in their order has none of it."""
LEAST_SHARE = 0.02
"""Least probability of a step for the variance of an item: no label of a judge is taken as certain."""
RAREST = 0.002
"""No label is predicted with a lower probability."""
N_EXPANSIONS = 2
"""How often gains are expanded: around the prediction, then around what the shared effects make of it."""
ATTENUATION, LEAST_LEFT = 0.346, 0.3
"""What a variance of log-odds takes from their effect on a mean (``label_draws``), and the least that is left."""
SMALLEST = 1e-9


@dataclass(frozen=True, eq=False)
class ResidualModel:
    """The mixed model for one measure, on the items that are scored, with their numbers, item (item,).

    residual (item,): gain less the prediction, where it is known
    weights (system, item): what the gains add to the score; around: where gains are linear in the effects
    """

    effects: Effects
    residual: Floats
    thresholds: Thresholds
    around: Linearised
    weights: Floats
    item: Ints

    @classmethod
    def of(
        cls,
        labels: ReferenceLabels,
        values: Floats,
        *,
        item: Ints,
        start: Ints,
        weights: Floats,
        features: Floats,
        score_odds: Floats,
    ) -> ResidualModel:
        """Build the design, and condition on the labels of the reference.

        values (label,): gains; item: those that are scored, start (topic + 1,): where each topic has its first one;
        weights (system, item) and features (item, feature) of all items; score_odds (system,): as in ``score_effects``
        """
        thresholds = Thresholds.of(labels.rows[item], labels.shares[item], values)
        weights, gain = weights[:, item], thresholds.known @ thresholds.steps
        predicted, labelled = thresholds.predicted @ thresholds.steps, labels.group[item] < labels.rows.shape[1]
        of_judge = {"labelled": labelled, "score_odds": score_odds}
        by_judge, by_prediction = score_effects(predicted, thresholds.slope, weights, **of_judge)
        features = np.column_stack([features[item], SCORE_SLOPE_SD * by_judge])
        known = labels.known[item]
        weight = np.where(known, labels.weight[item], 1.0)
        systems, deviation = system_rows(weights), system_deviation(thresholds, weights.sum(axis=0))
        shared = np.concatenate([features, deviation * systems], axis=1)
        thresholds = thresholds.shifted(SCORE_SLOPE * by_judge - by_prediction)
        topic = np.repeat(np.arange(len(start) - 1), np.diff(start))
        offset = np.zeros(len(item))
        for _ in range(N_EXPANSIONS):
            around = Linearised.at(thresholds, offset)
            topic_sd = topic_deviation(around.of(known), gain[known], features[known], topic=topic[known])
            noise = around.noise(topic_sd**2 + deviation**2 + TOPIC_SYSTEM_SD**2)
            slope = around.slope[:, None]
            local = np.concatenate([np.full((len(item), 1), topic_sd), TOPIC_SYSTEM_SD * systems], axis=1)
            design = Design(slope * shared, slope * local, noise / weight, known, start)
            effects = fit_effects(design, gain - around.mean, n_scaled=len(weights) + 1, factors=SYSTEM_FACTORS)
            offset = shared @ effects.mean
        return cls(effects, gain - around.mean, thresholds, around, weights, item)

    def expected_covariance(self, more: Bools) -> Floats:
        """Return the covariance of weighted sums to expect once the reference has labelled more items (item,)."""
        design = replace(self.effects.design, known=self.known | more)
        found = fit_effects(design, None, n_scaled=len(self.weights) + 1, factors=self.effects.factors)
        return np.asarray(self.thresholds.range**2 * found.weighted(self.weights)[1])

    def deviation(self) -> Floats:
        """Return the standard deviation of the gain of each item as it is predicted, 0 for known ones -> (item,)."""
        variance = np.where(self.known, 0.0, self.effects.variance() + self.effects.design.noise)
        return np.asarray(self.thresholds.range * np.sqrt(variance))

    @property
    def known(self) -> Bools:
        """Whether the reference labelled the item -> (item,)."""
        return self.effects.design.known

    def weighted_sums(self) -> Part:
        """Return the scores of a measure that is linear in the gains, in closed form."""
        shift, covariance = self.effects.weighted(self.weights)
        base, width = self.thresholds.base, self.thresholds.range
        gain = self.thresholds.known @ self.thresholds.steps
        level, lowest, highest = (
            base * self.weights.sum(axis=1) + width * (self.weights @ np.where(self.known, gain, other))
            for other in (self.around.mean, 0.0, 1.0)
        )
        return Part(np.clip(level + width * shift, lowest, highest), width**2 * covariance, lowest, highest)

    def label_draws(self) -> Callable[[int, np.random.Generator], Floats]:
        """Return the function that draws labels which the reference did not give -> gains of all items (draw, item).

        Effects d and thresholds k change the log-odds of a step to a (o + d) + k, enlarged by a so that the mean over
        draws stays the predicted probability: the mean of a logistic function of a normal variable with variance v is
        nearly that of its mean divided by sqrt(1 + .346 v) (Zeger, Liang and Albert 1988, doi:10.2307/2531734).
        Drawn thresholds can put a higher step before a lower one; if the sum of the steps is then the gain of no label,
        it is rounded to the next lower or higher one at random, so that its mean stays the same.
        """
        unknown, parts = np.flatnonzero(~self.known), self.thresholds
        slope = self.around.slope[unknown]
        within, spread = self.topic_thresholds()
        topic = np.repeat(np.arange(len(within)), np.diff(self.effects.design.start))[unknown]
        left = 1 - ATTENUATION * self.effects.variance()[unknown] / slope**2
        enlarged = np.sqrt((1 + ATTENUATION * spread**2)[topic] / np.maximum(left, LEAST_LEFT)[:, None])
        odds = enlarged * (parts.odds + self.draw_offset()[:, None])[unknown] + within[topic]
        fixed = parts.base + parts.range * (parts.known @ parts.steps)

        def draw(n_draws: int, rng: np.random.Generator) -> Floats:
            shift = self.effects.draw(n_draws, rng)[:, unknown] / slope
            noise = rng.logistic(size=shift.shape)
            found, gain = np.tile(fixed, (n_draws, 1)), np.full(shift.shape, parts.base)
            for step, height in enumerate((parts.range * parts.steps).tolist()):
                drawn = spread[:, step] * rng.standard_normal((n_draws, len(spread)))
                gain += height * (enlarged[:, step] * shift + drawn[:, topic] + odds[:, step] > noise)
            found[:, unknown] = rounded_to(parts.levels, gain, rng)
            return found

        return draw

    def draw_offset(self) -> Floats:
        """Return what centres drawn log-odds of items on their mean by the linear model, less the mean effects."""
        effect = self.effects.expected()
        centre = effect / self.around.slope
        mean = np.clip(self.around.mean + effect, RAREST, 1 - RAREST)
        return self.thresholds.offset_to(mean, centre) - centre

    def topic_thresholds(self) -> tuple[Floats, Floats]:
        """Return mean and deviation of the log-odds of each step within a topic, besides the effects; (topic, step).

        Three Newton steps to the mode of a logistic model, with the curvature there (Laplace's approximation).
        """
        design, parts = self.effects.design, self.thresholds
        n_topics, n_steps = len(design.start) - 1, len(parts.steps)
        mode, precision = np.zeros((n_topics, n_steps)), np.full((n_topics, n_steps), THRESHOLD_SD**-2)
        if n_steps < 2:
            return mode, np.zeros_like(mode)
        known = np.flatnonzero(design.known)
        topic = np.repeat(np.arange(n_topics), np.diff(design.start))[known]
        centre = self.draw_offset() + self.effects.expected() / self.around.slope
        odds = parts.odds[known] + centre[known, None]
        odds *= np.sqrt(1 + ATTENUATION * THRESHOLD_SD**2)
        for _ in range(3):
            p = 1 / (1 + np.exp(-(odds + mode[topic])))
            gradient, precision = -mode * THRESHOLD_SD**-2, np.full_like(mode, THRESHOLD_SD**-2)
            np.add.at(gradient, topic, parts.known[known] - p)
            np.add.at(precision, topic, p * (1 - p))
            mode = mode + gradient / precision
        return mode, 1 / np.sqrt(precision)


@dataclass(frozen=True, eq=False)
class Part:
    """Corrected scores by one measure: value, the lowest and highest possible, (system,), and their covariance."""

    value: Floats
    covariance: Floats
    lowest: Floats
    highest: Floats


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Gains as sums of steps: an item has the steps up to its gain; gains are divided by their range.

    predicted, known (item, step): probability of each step, and the share of the reference that gave it
    steps (step,): their heights, which sum to 1; base and range: of the gains as they are
    """

    predicted: Floats
    known: Floats
    steps: Floats
    base: float
    range: float

    @classmethod
    def of(cls, rows: Floats, shares: Floats, values: Floats) -> Thresholds:
        """Sum distributions over labels from the top; rows and shares (item, label), values (label,)."""
        levels = np.unique(values)
        range_of = float(levels[-1] - levels[0]) or 1.0
        above = (values[:, None] >= levels[1:]).astype(np.float64)
        return cls(rows @ above, shares @ above, np.diff(levels) / range_of, float(levels[0]), range_of)

    @property
    def levels(self) -> Floats:
        """The gains as they are, by number of steps -> (step + 1,)."""
        return np.asarray(self.base + self.range * np.append(0.0, self.steps.cumsum()))

    @property
    def odds(self) -> Floats:
        """Log-odds of each step -> (item, step)."""
        p = np.clip(self.predicted, RAREST, 1 - RAREST)
        return np.asarray(np.log(p / (1 - p)))

    def offset_to(self, mean: Floats, start: Floats) -> Floats:
        """Return what to add to the log-odds of all steps so that gains have this mean; all (item,)."""
        for _ in range(5):
            there = self.shifted(start)
            slope = np.maximum(there.slope, SMALLEST)
            start = start + np.clip((mean - there.predicted @ self.steps) / slope, -2.0, 2.0)
        return start

    def shifted(self, offset: Floats) -> Thresholds:
        """Add to the log-odds of all steps of an item; offset (item,)."""
        return replace(self, predicted=1 / (1 + np.exp(-(self.odds + offset[:, None]))))

    @property
    def slope(self) -> Floats:
        """Change of the mean per unit of log-odds of all steps -> (item,)."""
        p = np.clip(self.predicted, LEAST_SHARE, 1 - LEAST_SHARE)
        return np.asarray((p * (1 - p)) @ self.steps)

    @property
    def variance(self) -> Floats:
        """Variance of the gain -> (item,)."""
        p = np.clip(self.predicted, LEAST_SHARE, 1 - LEAST_SHARE)
        covariance = np.minimum(p[:, :, None], p[:, None, :]) - p[:, :, None] * p[:, None, :]
        return np.asarray(np.einsum("icd,c,d->i", covariance, self.steps, self.steps))


@dataclass(frozen=True, eq=False)
class Linearised:
    """Gains around log-odds that are shifted: mean at no effects, slope per log-odds, and variance, all (item,)."""

    mean: Floats
    slope: Floats
    variance: Floats

    @classmethod
    def at(cls, thresholds: Thresholds, offset: Floats) -> Linearised:
        """Expand to first order around an offset (item,)."""
        there = thresholds.shifted(offset)
        slope, variance = np.maximum(there.slope, SMALLEST), np.maximum(there.variance, SMALLEST)
        return cls(there.predicted @ there.steps - slope * offset, slope, variance)

    def of(self, chosen: Bools) -> Linearised:
        """Keep the chosen items."""
        return Linearised(self.mean[chosen], self.slope[chosen], self.variance[chosen])

    def noise(self, explained: float) -> Floats:
        """Return the variance that effects leave, which explain so much in log-odds -> (item,)."""
        return np.maximum(self.variance - self.slope**2 * explained, self.variance / 4)


def topic_deviation(around: Linearised, gain: Floats, features: Floats, *, topic: Ints) -> float:
    """Return the deviation between topics: the geometric mean of ``TOPIC_SDS`` by their posterior probabilities.

    All of labelled items; see ``topic_likelihoods``
    """
    if not len(gain):
        return TOPIC_SD
    found = topic_likelihoods(around, gain, features, topic=topic, deviations=TOPIC_SDS)
    share = TOPIC_SDS_PRIOR * np.exp(found - found.max())
    return float(np.exp(share @ np.log(TOPIC_SDS) / share.sum()))


def topic_likelihoods(around: Linearised, gain: Floats, features: Floats, *, topic: Ints, deviations: Floats) -> Floats:
    """Return the log likelihood of gains for each deviation between topics, in the model without systems.

    What topics do not explain is noise, of all items alike: divided by weights, that of items with small ones would be
    larger than any residual, and the deviation too large.  gain and topic (in order) (item,), features (item, feature)
    """
    shared, residual = around.slope[:, None] * features, gain - around.mean
    each = ((sd * around.slope, around.noise(sd**2)) for sd in deviations.tolist())
    return np.array([log_likelihood(shared, local, noise, residual, topic) for local, noise in each])


def system_deviation(thresholds: Thresholds, weight: Floats) -> float:
    """Return the prior deviation between systems, by what the prediction leaves unexplained; weight (item,)."""
    left = (unexplained(thresholds, weight) - ALL_EXPLAINED) / (1 - ALL_EXPLAINED)
    return SYSTEM_SD * float(np.clip(left, LEAST_SYSTEM, 1.0))


def unexplained(thresholds: Thresholds, weight: Floats) -> float:
    """Return the share of the variance of steps that the prediction leaves, 1 if it says nothing; weight (item,)."""
    total = weight.sum() or 1.0
    mean = weight @ thresholds.predicted / total
    overall = float((mean * (1 - mean)) @ thresholds.steps)
    return float(weight @ thresholds.slope) / total / overall if overall > 0 else 1.0


def rounded_to(levels: Floats, gain: Floats, rng: np.random.Generator) -> Floats:
    """Round gains that are not among the levels (ascending) up or down at random, so that their mean stays the same.

    Examples
    --------
    >>> found = rounded_to(np.array([0.0, 1.0, 3.0, 7.0]), np.repeat([3.0, 4.0], 8000), np.random.default_rng(1))
    >>> [np.unique(each).tolist() for each in (found[:8000], found[8000:])], round(float(found[8000:].mean()), 1)
    ([[3.0], [3.0, 7.0]], 4.0)
    """
    small = SMALLEST * (levels[-1] - levels[0])
    below = np.clip(np.searchsorted(levels, gain + small, side="right") - 1, 0, None)
    found = levels[below]
    between = gain - found > 2 * small
    low, high = found[between], levels[below[between] + 1]
    found[between] = np.where(rng.random(len(low)) * (high - low) < gain[between] - low, high, low)
    return np.asarray(found)


def judge_rankers(weights: Floats, in_order: Floats) -> Floats:
    """Return the share of an item's weight that is in lists of systems that rank by the judge's labels -> (item, 0..1).

    weights (system, item); in_order (system,): the share of pairs of results with different labels by the judge that
    are in their order (``comparison.favoured``).  A system counts by how far it is above ``USUAL_ORDER``, 1 at most.
    No column if no system is above.
    """
    ranker = np.clip((in_order - USUAL_ORDER) / (1 - USUAL_ORDER), 0.0, 1.0)
    total = weights.sum(axis=0)
    share = ranker @ weights / np.where(total > 0, total, 1.0)
    return share[:, None] if ranker.any() else share[:, None][:, :0]


def item_features(weights: Floats, group: Ints) -> Floats:
    """Return the features f of the items, times the prior deviations of their effects -> (item, feature).

    weights (system, item), group (item,)
    """
    groups = np.eye(int(group.max(initial=0)) + 1)[group]
    columns = [
        np.full((len(group), 1), INTERCEPT_SD),
        OUTSIDE_SD * ~(weights.sum(axis=0) > 0)[:, None],
        GROUP_SD * groups,
    ]
    return np.concatenate(columns, axis=1)


def log_weights(weights: Floats) -> Floats:
    """Return the logarithm of the weight of items in all lists, less its mean, 0 for items in no list -> (item,)."""
    total = weights.sum(axis=0)
    found = np.log(np.where(total > 0, total, 1.0))
    return np.where(total > 0, found - np.average(found, weights=total + 1e-300), 0.0)
