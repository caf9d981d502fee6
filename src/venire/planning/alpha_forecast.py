r"""Half-widths of Krippendorff's alpha that further double judgments are expected to give.

With :math:`\delta` the distance of two labels, :math:`D_o` its mean over double judgments and :math:`D_e` that over two
labels drawn at random, :math:`\alpha = 1 - D_o / D_e`.  To first order it changes with a double judgment u by its
contribution over their number,

.. math:: \psi_u = -\frac{\delta_u - D_o}{D_e} + \frac{D_o}{D_e} \, \frac{2 (e_u - D_e)}{D_e}

where :math:`e_u` is the mean distance of its two labels to one drawn at random.  An item with k labels counts as k/2
double judgments.  The half-width of the interval over T topics is :math:`t_{T-1} \sqrt{T \sum_t S_t^2 / (T - 1)} / m`,
with :math:`S_t` the sum of the contributions of a topic and m the number of double judgments.

Contributions of a topic are alike: theirs is :math:`u_t` on average, with the variance :math:`\rho \sigma^2`, and they
vary around that by :math:`(1 - \rho) \sigma^2`, both taken as normal.  Alpha, :math:`\sigma` and :math:`\rho` have a
posterior given the present double judgments, and a forecast draws them, :math:`u_t` given the present contributions of
the topic, further ones, and then the half-width, as the interval will be computed (Gelman et al. 2013, Bayesian Data
Analysis, Section 5.3).  So it knows that the half-width is an estimate, and that present topics stay the same.

Single contributions are not normal, with a kurtosis of :math:`\kappa`.  That adds
:math:`n (\kappa - 3) \sigma^4 / (4 (E \sum_t S_t^2)^2)` to the variance of the logarithm of the half-width for n
further ones, and :math:`(\kappa - 1) / n` to that of the logarithm of :math:`\sigma^2` as estimated from n.  The sample
is spread over labels and topics: where f items of a label are expected in a topic, it has f rounded up or down, with a
variance of r (1 - r) in place of f, r being the fraction of f.  So the part of :math:`\sigma^2` that first labels
explain varies less within topics; present double judgments are taken to be spread like that, too.

Before there are double judgments, the labels tell what to expect:

    sigma, kappa  Two labels of an item, on an ordered scale, are those of two normal variables with some correlation,
                  cut where each of two people has the shares of labels that the person has; categories are the same
                  with some probability, and else drawn at random.  So there are pairs of labels for every alpha.
                  Shares of labels of a person are relative to those of the same topics, and to 20 labels of everybody.
                  At the alpha of all double judgments, :math:`\log \sigma` differs from theirs by .07 (half a of judges
                  as below), as that of 227 double judgments would; the expected pairs weigh as much as ``PRIOR``.
    alpha         People who agree on items agree on which topics have high labels.  With i the intra-class correlation
                  of labels in topics (alpha of topics as items), alpha has a Beta distribution with the mean
                  :math:`1 / (1 + (.132 / i)^{3.3})` and the weight 8, within the range of these pairs of labels.
                  i is estimated with a variance by Donner (1986, International Statistical Review 54, 67-82), and is
                  .1 with a standard deviation of .05 before.
    rho           Topics differ by who labels them: with k people in a topic (the inverse of the probability that two of
                  its labels are by the same person, at least 2), :math:`\rho` is log-normal around
                  :math:`.08 (2 / k)^{.8}`, with a standard deviation of the logarithm of .5.

The constants are those of highest marginal likelihood (``bench/plan_agreement.py``): those of alpha for pairs of half a
of 24 judges of TREC Deep Learning 2021 (by half b .123, 2.8 and 21, by all .124, 3.2 and 8.6), those of rho for pairs
of all judges and collections drawn from the crowd labels of TREC 2010 Relevance Feedback (.079, .79 and .51; by half a
of judges and topics .080, .76 and .40, by half b .075, .93 and .50).

Cost: O(draws x topics) per budget, and once O(people x labels^2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from venire.agreement.distance import DISTANCES, label_values
from venire.agreement.patterns import LabelPatterns, group_table
from venire.data.judgments import Judgments
from venire.planning.result import Expected
from venire.planning.second_judgments import Candidates
from venire.types import Floats, Ints

N_DRAWS, FEWEST_DRAWS, MOST_CELLS = 1000, 100, 2_000_000
"""Draws of a forecast, fewer where draws x topics would be more cells than that."""
ALIKE = np.append(np.linspace(0, 0.95, 20), [0.98, 0.995])
"""Correlations of two normal variables, or probabilities of the same category."""
CORRELATION = np.array([0.001, 0.003, 0.006, *np.arange(0.01, 0.1, 0.01), *np.geomspace(0.1, 0.65, 10)])
"""Intra-class correlations of contributions in topics."""
MIDDLE, STEEP, WEIGHT = 0.132, 3.3, 8.0
"""Correlation of labels in topics where alpha is .5 on average, the power of it in the odds, and the weight."""
PRIOR, FEW = 200.0, 20.0
"""Double judgments that the expected pairs of labels weigh, and labels of a person that those of all weigh."""
USUAL, USUAL_SPREAD = 0.1, 0.05
"""Correlation of labels in topics, mean and standard deviation."""
OF_TWO, PEOPLE, LOG_SPREAD = 0.08, 0.8, 0.5
"""Correlation of contributions with two people in a topic, the power of their number, and its logarithmic spread."""
RESAMPLING, MOST_SPREAD = 0.03, 1.0
"""Standard deviation of the logarithm of a half-width that is due to a bootstrap with 1,000 draws; the largest one."""
MOST_PEOPLE = 100
"""People whose own shares of labels count; fewer where there are many labels."""
QUANTILES = (np.arange(200) + 0.5) / 200
WIDEST, FAR = 1.0, 1e300
"""Largest half-width, as intervals end at -1 and 1; and where there is no interval before it is limited to that."""


def _own_shares(labels: Judgments, share: Floats) -> tuple[Floats, Floats]:
    """Shares of labels of each person, and weights -> (person, label), (person,); people with the most labels.

    The share of all labels, times how often a person gave a label over how often it occurs on the same topics.
    """
    who, topic, n_labels = labels.assessor.codes, labels.items.topic[labels.item], len(labels.scale)
    in_topic = counts_by_topic(labels)
    in_topic /= np.maximum(in_topic.sum(axis=1, keepdims=True), 1.0)
    number = np.bincount(who)
    most = int(np.clip(MOST_CELLS * 100 // (len(QUANTILES) * n_labels**2), 2, MOST_PEOPLE))
    people = np.argsort(-number, kind="stable")[:most]
    people = people[number[people] > 0]
    if len(people) < 2:
        return np.stack([share, share]), np.full(2, 0.5)
    given, expected = (
        np.stack([np.bincount(who, of_level)[people] for of_level in each], axis=1)
        for each in ((labels.label == level for level in range(n_labels)), (part[topic] for part in in_topic.T))
    )
    own = share * (given + FEW * share) / (expected + FEW * share)
    return own / own.sum(axis=1, keepdims=True), number[people] / number[people].sum()


class Usual(NamedTuple):
    """Alpha, mean square and mean fourth power of contributions (place,), and of_label (place, label).

    of_label: square of the mean contribution of items with this first label, over the mean square of all.
    """

    alpha: Floats
    square: Floats
    fourth: Floats
    of_label: Floats


class Scene(NamedTuple):
    """Distances of labels over the mean one (label, label), and their means (label,): what pairs of labels come to.

    own (person, label): shares of labels of each person; weight (person,): share of the labels that the person gave.
    """

    distance: Floats
    to_random: Floats
    own: Floats
    weight: Floats

    @classmethod
    def of(cls, labels: Judgments, paired: Floats) -> Scene:
        """Take the labels of double judgments, how often each was given (label,), and of all labels as a prior."""
        every = np.bincount(labels.label, minlength=len(labels.scale)) + 1 / len(labels.scale)
        share = paired / 2 + PRIOR * every / every.sum()
        share /= share.sum()
        distance = DISTANCES[labels.scale.measurement](label_values(labels.scale), share)
        distance = distance / max(float(share @ distance @ share), 1e-300)
        return cls(distance, distance @ share, *_own_shares(labels, share))

    def pairs(self, alike: float, ordered: bool) -> Floats:
        """Probabilities of two labels of an item -> (label, label)."""
        from scipy.special import ndtr, ndtri

        if not ordered:
            share = self.weight @ self.own
            return alike * np.diag(share) + (1 - alike) * np.outer(share, share)
        ends = ndtri(np.cumsum(self.own, axis=1)[:, None, :-1].clip(1e-12, 1 - 1e-12))
        below = ndtr((ends - np.sqrt(alike) * ndtri(QUANTILES)[:, None]) / np.sqrt(1 - alike))
        given = np.diff(below, axis=2, prepend=0.0, append=1.0) * self.weight[:, None, None]
        every, each = given.sum(axis=0), given.reshape(-1, given.shape[2])
        pairs = every.T @ every - each.T @ each  # of two people, not of one and the same
        return np.asarray(np.maximum(pairs, 1e-300) / pairs.sum())

    def usual(self, ordered: bool) -> Usual:
        """Contributions by ``ALIKE``."""
        found = []
        for alike in ALIKE.tolist():
            pairs = self.pairs(alike, ordered)
            mean = float((pairs * self.distance).sum())
            each = contributions(self.distance, (self.to_random[:, None] + self.to_random) / 2, mean)
            square, of_label = (pairs * each**2).sum(), (pairs * each).sum(axis=1) / pairs.sum(axis=1)
            found.append((1 - mean, square, (pairs * each**4).sum(), of_label**2 / max(square, 1e-12)))
        return Usual(*(np.array(each) for each in zip(*found, strict=True)))


def contributions(distance: Floats, to_random: Floats, mean: float) -> Floats:
    """Contributions of double judgments, by their distances and the mean distance, all over that of random labels."""
    return mean - distance + 2 * mean * (to_random - 1)


@dataclass(frozen=True, eq=False)
class AlphaForecast:
    """What is known of the contributions to alpha: present ones by topic, and the posterior of what they are like.

    number, total (topic,): double judgments, and the sum of their contributions; population (topic, label): items to
    ask; alpha, variance, kurtosis (place,), of_label (place, label) as in ``Usual``; chance (place, correlation);
    known: double judgments that variance and kurtosis rest on.
    """

    number: Floats
    total: Floats
    population: Ints
    alpha: Floats
    variance: Floats
    kurtosis: Floats
    of_label: Floats
    chance: Floats
    known: float

    @classmethod
    def of(cls, found: Candidates, table: LabelPatterns | None) -> AlphaForecast:
        """Estimate all from the present labels; table: None where there are no double judgments."""
        labels, population = found.labels, found.by_topic()
        n_topics = len(labels.items.topics)
        if len(np.unique(labels.label)) < 2:  # nothing to disagree on, so that alpha is undefined
            table, population = None, np.zeros_like(population)
        times = np.zeros(0) if table is None else table.patterns.n_items * table.paired * table.size / 2
        paired = np.zeros(1) if table is None else table.marginals(table.patterns.n_items[None].astype(np.float64))[0]
        scene, m = Scene.of(labels, paired), float(times.sum())
        alpha, square, fourth, of_label = scene.usual(labels.scale.ordered)
        number = total = np.zeros(n_topics)
        apart = 1.0
        if table is not None:
            distance = table.pair_means(scene.distance)
            apart = float(times @ distance) / m
            each = contributions(distance, np.asarray(table.table @ scene.to_random) / table.size, apart)
            items = group_table(table.topic, table.pattern, (n_topics, len(times)), table.times)
            weight = table.paired * table.size / 2
            number, total = np.asarray(items @ weight), np.asarray(items @ (weight * each))
            square, fourth = (
                (times @ each**power + PRIOR * prior) / (m + PRIOR) for power, prior in ((2, square), (4, fourth))
            )
        variance = np.maximum(square, 1e-12)
        even = _even(m * population / max(population.sum(), 1), of_label)
        log = _prior(labels, alpha) + _likelihood(number, total - number * total.sum() / max(m, 1.0), variance, even)
        if m:
            alike = (1 - CORRELATION) / m + CORRELATION * (number**2).sum() / m**2
            spread = variance[:, None] * alike
            log = log - (np.log(spread) + (1 - apart - alpha[:, None]) ** 2 / spread) / 2
        chance = np.exp(log - log.max())
        moments = alpha, variance, np.maximum(fourth / variance**2, 1.0)
        return cls(number, total, population, *moments, of_label, chance / chance.sum(), m + PRIOR)

    @property
    def mean(self) -> float:
        """Expected alpha."""
        return float(self.alpha @ self.chance.sum(axis=1))

    def expected(
        self, sizes: Sequence[float], more: Sequence[float], within: float, rng: np.random.Generator
    ) -> tuple[Expected, ...]:
        """Forecast by budget: sizes, and the numbers of further double judgments that these buy."""
        from scipy.special import ndtr

        found = []
        for size, (half_width, spread) in zip(sizes, self.half_widths(more, rng), strict=True):
            p = ndtr(np.log(within / half_width) / spread).mean()
            found.append(Expected(float(size), float(p), float(min(np.median(half_width), WIDEST))))
        return tuple(found)

    def half_widths(self, more: Sequence[float], rng: np.random.Generator) -> list[tuple[Floats, Floats]]:
        """Draw half-widths, and the spread of the logarithm of each by what is not normal, both (draw,), by number."""
        used = (self.number > 0) | (self.population.sum(axis=1) > 0)
        if not used.any():
            return [(np.full(1, FAR), np.ones(1))] * len(more)
        number, total = self.number[used, None], self.total[used, None]
        share = self.population[used] / max(self.population.sum(), 1)
        n_draws = int(np.clip(MOST_CELLS // len(number), FEWEST_DRAWS, N_DRAWS))
        place, level = np.divmod(rng.choice(self.chance.size, n_draws, p=self.chance.ravel()), len(CORRELATION))
        kurtosis, rho = self.kurtosis[place], CORRELATION[level]
        unknown = np.minimum(np.sqrt((kurtosis - 1) / self.known), MOST_SPREAD)
        variance = self.variance[place] * np.exp(unknown * rng.normal(size=n_draws))
        apart = 1 - rho + rho * number
        of_topic = rho * total / apart
        of_topic += np.sqrt(rho * (1 - rho) * variance / apart) * rng.normal(size=of_topic.shape)
        within_topic = np.sqrt((1 - rho) * variance) * rng.normal(size=of_topic.shape)
        start = rng.random(n_draws)
        found = []
        for n in more:
            new = np.diff(np.floor(n * np.cumsum(share.sum(axis=1))[:, None] + start), axis=0, prepend=0.0)
            uneven = 1 - _even(n * share, self.of_label)[:, place]
            sums = total + new * of_topic + np.sqrt(new * uneven) * within_topic
            number_then = number + new
            expected = np.maximum((number_then * (1 - rho + rho * number_then)).sum(axis=0), 1.0)
            tails = np.sqrt(new.sum(axis=0) * np.maximum(kurtosis - 3, 0.0)) / (2 * expected)
            found.append((_half_width(sums, number_then), np.hypot(RESAMPLING, np.minimum(tails, MOST_SPREAD))))
        return found


def _even(cells: Floats, of_label: Floats) -> Floats:
    """Part of the variance within topics that an even sample leaves out: cells (topic, label) -> (topic, place)."""
    rest = cells % 1
    even = (cells - rest * (1 - rest)) / np.maximum(cells.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(even @ of_label.T).clip(0, 1)


def _half_width(total: Floats, number: Floats) -> Floats:
    """Half-width by the jackknife over topics: total, number (topic, draw) -> (draw,)."""
    from scipy.special import stdtrit

    m, n_topics = np.maximum(number.sum(axis=0), 1.0), (number > 0).sum(axis=0)
    squares = np.square(total - number * total.sum(axis=0) / m).sum(axis=0)
    degrees = np.maximum(n_topics - 1, 1)
    half_width = stdtrit(degrees, 0.975) * np.sqrt((degrees + 1) / degrees * squares) / m
    return np.where(n_topics > 1, np.maximum(half_width, 1e-12), FAR)


def _likelihood(number: Floats, total: Floats, variance: Floats, even: Floats) -> Floats:
    """Logarithm of the likelihood of the sums of topics (topic,), which add up to 0 -> (place, correlation).

    even (topic, place): as in ``_even``.
    """
    some = number > 0
    n, n_topics = number[some, None, None], int(some.sum())
    spread = variance[:, None] * n * ((1 - CORRELATION) * (1 - even[some, :, None]) + CORRELATION * n)
    log = (np.log(spread) + np.square(total[some, None, None]) / spread).sum(axis=0)
    return np.asarray(-log / 2 * (1 - 1 / max(n_topics, 1)))


def _prior(labels: Judgments, alpha: Floats) -> Floats:
    """Logarithm of the prior of alpha and of the correlation of contributions -> (place, correlation)."""
    mean = 1 / (1 + (MIDDLE / label_correlation(labels)) ** STEEP)
    alpha = alpha.clip(0.002, 0.998)
    width = np.maximum(np.gradient(alpha), 1e-9)
    of_alpha = (WEIGHT * mean - 1) * np.log(alpha) + (WEIGHT * (1 - mean) - 1) * np.log(1 - alpha) + np.log(width)
    middle = OF_TWO * (2 / people_in_a_topic(labels)) ** PEOPLE
    log = np.log(CORRELATION)
    of_correlation = np.log(np.gradient(log)) - np.square((log - np.log(middle)) / LOG_SPREAD) / 2
    return np.asarray(of_alpha[:, None] + of_correlation)


def counts_by_topic(labels: Judgments) -> Floats:
    """Count labels -> (topic, label)."""
    shape = len(labels.items.topics), len(labels.scale)
    cell = labels.items.topic[labels.item].astype(np.int64) * shape[1] + labels.label
    return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def label_correlation(labels: Judgments) -> float:
    """Intra-class correlation of labels in topics, by the distances of alpha, weighted with the usual one."""
    counts = counts_by_topic(labels)
    counts = counts[counts.sum(axis=1) > 1]
    n = counts.sum(axis=1)
    if len(n) < 2:
        return USUAL
    all_labels = counts.sum(axis=0)
    distance = DISTANCES[labels.scale.measurement](label_values(labels.scale), all_labels)
    expected = float(all_labels @ distance @ all_labels) / (n.sum() - 1)
    observed = float((((counts @ distance) * counts).sum(axis=1) / (n - 1)).sum())
    if expected <= 0:
        return USUAL
    size = float((n**2).sum() / n.sum())
    error = 2 * ((1 - USUAL) * (1 + (size - 1) * USUAL)) ** 2 / (size * (size - 1) * (len(n) - 1))
    weight = USUAL_SPREAD**2 / (USUAL_SPREAD**2 + error)
    return float(np.clip(weight * (1 - observed / expected) + (1 - weight) * USUAL, 0.005, 0.995))


def people_in_a_topic(labels: Judgments) -> float:
    """Effective number of people who labelled a topic, on average over labels; at least 2, as two will."""
    n_people = len(labels.assessor.names)
    cell = labels.items.topic[labels.item].astype(np.int64) * n_people + labels.assessor.codes
    cells, given = np.unique(cell, return_counts=True)
    topic = cells // max(n_people, 1)
    in_topic = np.bincount(topic, given)
    same = float((np.bincount(topic, given.astype(np.float64) ** 2) / np.maximum(in_topic, 1.0)).sum())
    return max(float(in_topic.sum()) / max(same, 1.0), 2.0)
