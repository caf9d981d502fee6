r"""By how much a judge's scores differ from those of the reference, topic by topic, from some labels of the reference.

For a measure that is linear in the gains, with :math:`w_{si}` the weight of item i in the list of system s, the score
by the reference less that by the judge is

.. math:: E_{st} = \sum_{i \in t} w_{si}\, e_i, \qquad e_i = g_i^\text{reference} - g_i^\text{judge}

The judge labelled (nearly) everything, the reference a sample.  With :math:`\delta_i` = 1 for the items of the sample,
which item i entered with probability :math:`\pi_i`, the difference estimator of survey sampling (Särndal, Swensson and
Wretman 1992, Model Assisted Survey Sampling, doi:10.1007/978-1-4612-4378-6, Section 6.3) replaces every error by

.. math:: z_i = \mu_i + \frac{\delta_i}{\pi_i} (e_i - \mu_i)

which has the mean :math:`e_i` over samples, if :math:`\mu_i` does not depend on whether i is in the sample; here
:math:`\mu_i` is the mean error of the other items with the same label by the judge, plus an effect of the topic, both
shrunken.  If the reference labelled everything,
:math:`z_i = e_i`.

Labels that were drawn in several rounds have the probabilities of their rounds, each of which estimates the whole sum,
so that their sum is several times too large.  A sample cannot stand for more than there is: where the sum of
:math:`w_{si}\, \delta_i / \pi_i` is above that of :math:`w_{si}`, over all lists or over those of a system, by more
than ``MOST_ERRORS`` times its standard deviation in a single sample, the second summand of :math:`z_i` is divided by
their ratio for each system (Hajek's estimator; Särndal et al., Section 5.7).

Inclusion probabilities that the judgments do not state are estimated.  Items are assumed to have entered the sample
depending on their weight over all lists, and at a rate of the topic's own:

.. math:: \pi_i = 1 - \exp(-f_t\, h_c), \qquad h_c = -\ln(1 - \text{share labelled of class } c)

with up to ten classes c of items of similar weight.  :math:`f_t` is such that the probabilities of a topic sum to the
number of its labelled items, shrunken towards the number expected without it by as much as topics differ by chance (as
James and Stein 1961 do: the factor of the deviations is 1 - (T - 1) / X2, with X2 the sum of their squares over their
variances).  In topics that were labelled completely the probability is 1.

Where the reference labelled all results that count, the scores themselves are compared, for every measure.  Otherwise a
measure that is not linear in the gains is replaced by one that is: each rank has the weight that a single relevant
document has there (for nDCG the discount, for AP and ERR 1 / rank), divided by the sum of these weights, and gains are
divided by the largest.  Its unit is a mean gain, weighted by rank, between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.data.panel import Panel
from venire.errors import MeasureError, PairsError, SettingError, UnknownName
from venire.measures.evaluate import Case
from venire.measures.intents import item_shares
from venire.measures.measure import Measure, Ranked
from venire.measures.scoring import Plan, score_facts
from venire.results import listed
from venire.types import Bools, Codes, Floats, Ints

CLASSES, LABELS_PER_CLASS = 10, 20
"""Classes of items by weight for inclusion probabilities: at most so many, each for so many labels."""
LABEL_PRIOR, TOPIC_PRIOR = 2.0, 3.0
"""Labels with the mean error of all items that are added to those of each label, and of each topic."""
NEARLY_ALL = 0.95
"""A judge who labelled less of the results, by weight, is compared on those it labelled."""
HALVINGS = 60
MOST_ERRORS = 2.0
"""Standard deviations by which a single sample may seem to stand for more than there is."""


@dataclass(frozen=True, eq=False)
class TwoJudges:
    """The labels of one judge, and the mean gain of those of the reference, as two judges of a panel."""

    panel: Panel
    judge: int
    reference: tuple[int, ...]

    @classmethod
    def of(cls, panel: Panel, judge: str, reference: Sequence[str]) -> TwoJudges:
        """Find the names in a panel of single assessors."""
        for name in (judge, *reference):
            if name not in panel.judges:
                raise UnknownName("assessor", name, map(str, panel.judges))
        if judge in reference or not reference:
            message = f"the judge {judge!r} is part of the reference" if reference else "no reference is named"
            raise SettingError(message, hint="name an assessor other than the judge, whose labels count, as reference")
        return cls(panel, panel.judges.index(judge), tuple(map(panel.judges.index, reference)))

    @property
    def judges(self) -> tuple[str, str]:
        """The judge, then the reference."""
        return str(self.panel.judges[self.judge]), listed([str(self.panel.judges[n]) for n in self.reference])

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return self.panel.n_items

    @property
    def unmixed(self) -> bool:
        """Whether every gain is the value of one label: not if it is a mean over the reference."""
        return len(self.reference) == 1 and self.panel.unmixed

    @property
    def labels(self) -> Codes:
        """Label of every item by the judge, -1 where it has none -> (item,)."""
        return self.panel.labels(self.judge, self.judge + 1)[0]

    def gains(self, values: Floats, first: int, last: int) -> tuple[Floats, Bools]:
        """Gain of every item, and whether it was judged, by the judge and by the reference; both (judge, item)."""
        own, seen = self.panel.gains(values, self.judge, self.judge + 1)
        each = [self.panel.gains(values, number, number + 1) for number in self.reference]
        count = sum(judged.astype(np.float64) for _, judged in each)
        mean = sum(np.where(judged, gain, 0.0) for gain, judged in each) / np.maximum(count, 1.0)
        return np.concatenate([own, mean])[first:last], np.concatenate([seen, count > 0])[first:last]


@dataclass(frozen=True, eq=False)
class Residuals:
    """Score by the reference less that by the judge, values (topic, system), on the scale of the measure.

    best: the score of a perfect list; exact: the reference labelled all that counts; linear: the measure is linear in
    the gains, or exact; n_labels: how many labelled items the values rest on; stated: whether all inclusion
    probabilities were given; judge_share: the share of the results with any label, by weight, that the judge labelled.
    All values are NaN if n_labels is 0: no result that counts has the labels that are needed.
    """

    values: Floats
    best: float
    exact: bool
    linear: bool
    n_labels: int
    stated: bool
    judge_share: float


@dataclass(frozen=True, eq=False)
class Hits:
    """Items in the lists of the topics that are used: system, topic (numbers among those used), rank, item (hit,)."""

    system: Codes
    topic: Ints
    rank: Codes
    item: Codes

    @classmethod
    def of(cls, case: Case, used: Ints) -> Hits:
        """Take the lists of these topics; a copy of a document higher up in its list is left out."""
        facts = case.facts
        number = np.full(len(facts.items.topics), -1)
        number[used] = np.arange(len(used))
        of_list = np.repeat(np.arange(len(facts.depth)), facts.n_hits)
        kept = number[facts.topic[of_list]] >= 0
        if case.group is not None:
            _, first = np.unique(of_list * (case.group.max() + 1) + case.group[facts.item], return_index=True)
            kept &= np.isin(np.arange(len(kept)), first)
        lists = of_list[kept]
        return cls(facts.system[lists], number[facts.topic[lists]], facts.rank[kept], facts.item[kept])

    def sums(self, of_hit: Floats, n_topics: int, n_systems: int) -> Floats:
        """Sum values of hits -> (topic, system)."""
        cell = self.topic * n_systems + self.system
        total = np.bincount(cell, weights=of_hit, minlength=n_topics * n_systems).astype(np.float64, copy=False)
        return total.reshape(n_topics, n_systems)


def topics_used(case: Case, judges: TwoJudges, plan: Plan) -> Ints:
    """Return the topics in which the reference labelled a result that counts; raise if there is none."""
    facts, wanted = case.facts, case.scoring.topics
    _, judged = judges.gains(plan.worths[0].values, 1, 2)
    counted = judged[0, facts.item] & (facts.rank <= (plan.depth or facts.depth.max(initial=1)))
    seen = np.zeros(len(facts.items.topics), dtype=np.bool_)
    seen[facts.items.topic[facts.item[counted]]] = True
    if wanted is not None:
        seen &= np.isin(np.array(facts.items.topics), list(wanted))
    if not seen.any():
        raise PairsError(
            f"the reference ({judges.judges[1]}) labelled none of the results that count, so nothing tells how its "
            f"scores differ from those by {judges.judges[0]}",
            hint="let the reference label some of the first results, best drawn in proportion to their weight in lists",
        )
    return np.flatnonzero(seen)


def residuals_of(case: Case, plan: Plan, judges: TwoJudges, *, used: Ints) -> list[Residuals]:
    """Estimate, for each measure, by how much the reference's scores differ from the judge's in these topics.

    Results that the judge did not label count as unjudged, as in its scores; if they have more than 5 % of the weight,
    they are left out of the comparison.  Cost: O(hits) per measure.
    """
    hits, stated = Hits.of(case, used), stated_probabilities(case, judges)
    each = (plan.only([number]) for number in range(len(plan.measures)))
    return [_residuals(case, one, judges, hits=hits, used=used, stated=stated) for one in each]


def _residuals(case: Case, plan: Plan, judges: TwoJudges, *, hits: Hits, used: Ints, stated: Floats) -> Residuals:
    """Estimate the residuals of a plan with one measure."""
    worth = plan.worths[0]
    weights, linear = rank_weights(plan.measures[0], int(case.facts.depth.max(initial=1)))
    weight = np.append(weights, 0.0)[np.minimum(hits.rank, len(weights) + 1) - 1]
    weight *= item_shares(case.facts.items, plan.measures[0])[hits.item]
    gains, judged = judges.gains(worth.values, 0, 2)
    frame = _in_lists(hits, weight, judged[0] | judged[1])
    share = _share(weight, judged[0, hits.item], frame[hits.item])
    frame &= judged[0] | (share >= NEARLY_ALL)
    top, n_labels = float(worth.values.max(initial=0.0)) or 1.0, int((judged[1] & frame).sum())
    best = float(weights.sum()) * top if linear else 1.0
    if not n_labels:
        unknown = np.full((len(used), len(case.facts.systems)), np.nan)
        return Residuals(unknown, best, exact=False, linear=True, n_labels=0, stated=True, judge_share=share)
    if share >= NEARLY_ALL and not (frame & ~judged[1]).any():
        values = _exact(case, plan, judges, used=used)
        return Residuals(values, best, exact=True, linear=True, n_labels=n_labels, stated=True, judge_share=share)
    _refuse_condensed(plan)
    error = gains[1] - np.where(judged[0], gains[0], worth.unjudged)
    sample = Sample.of(hits, weight, frame, labelled=judged[1], topic=_topic_of(case, used), stated=stated)
    of_items = sample.errors(error[sample.item] / (1.0 if linear else top), judges.labels[sample.item])
    expected, correction = (_placed(each, sample.item, judges.n_items)[hits.item] for each in of_items)
    size = len(used), len(case.facts.systems)
    values = hits.sums(weight * expected, *size)
    values += hits.sums(weight * correction, *size) / sample.excess(hits, weight, size[1], stated=stated)
    known = sample.labelled.all() or not np.isnan(stated[sample.item[sample.labelled]]).any()
    return Residuals(values, best, exact=False, linear=linear, n_labels=n_labels, stated=bool(known), judge_share=share)


def _refuse_condensed(plan: Plan) -> None:
    if plan.condensed:
        raise MeasureError(
            "condensed lists need all labels of the reference: their ranks depend on who labelled what",
            hint="leave unjudged documents where they are (the default)",
        )


def _in_lists(hits: Hits, weight: Floats, judged: Bools) -> Bools:
    """Mark the items with a label and a weight in some list -> (item,)."""
    present = np.zeros(len(judged), dtype=np.bool_)
    present[hits.item[weight > 0]] = True
    return present & judged


def _share(weight: Floats, judged: Bools, frame: Bools) -> float:
    """Share of the weight of the items in the frame that is on judged ones; all (hit,)."""
    return float(weight[judged & frame].sum() / max(weight[frame].sum(), 1e-300))


def _topic_of(case: Case, used: Ints) -> Ints:
    """Number the topic of each item among those used, -1 for others -> (item,)."""
    number = np.full(len(case.facts.items.topics), -1)
    number[used] = np.arange(len(used))
    return number[case.facts.items.topic]


def _exact(case: Case, plan: Plan, judges: TwoJudges, *, used: Ints) -> Floats:
    """Score with all labels of both, and subtract -> (topic, system); a missing list has no difference."""
    scores = score_facts(case.facts, judges, plan, group=case.group)[:, 0]
    table = np.zeros((len(case.facts.items.topics), len(case.facts.systems)))
    table[case.facts.topic, case.facts.system] = scores[1] - scores[0]
    return table[used]


def rank_weights(measure: Measure, depth: int) -> tuple[Floats, bool]:
    """Return what a gain of 1 at each rank adds to the score, (rank,), and whether the measure is linear in the gains.

    For other measures it is the score of a list with a single relevant document at that rank, scaled to sum to 1.

    Examples
    --------
    >>> from venire import parse_measure
    >>> rank_weights(parse_measure("P@2"), 4)
    (array([0.5, 0.5]), True)
    >>> weights, linear = rank_weights(parse_measure("AP"), 3)
    >>> weights.round(3).tolist(), linear
    ([0.545, 0.273, 0.182], False)
    """
    own, n = measure.resolved(depth), depth if measure.k is None else min(measure.k, depth)
    zero, falling = np.zeros((1, n)), np.linspace(1.0, 0.0, n + 1)[None, :-1]
    scores = own(_ranking(own, np.concatenate([np.eye(n), falling, zero])))[:, 0]
    weights, mixed, empty = scores[:n], scores[n], scores[n + 1]
    if empty != 0 or not (weights > 0).any() or not np.isfinite(weights).all():
        raise MeasureError(
            f"{measure} is no sum of gains, so the reference's labels do not correct it", hint="use P@10"
        )
    linear = not own.normalised and bool(np.isclose(falling[0] @ weights, mixed, rtol=1e-9, atol=1e-12))
    return (weights, True) if linear else (weights / weights.sum(), False)


def _ranking(measure: Measure, gains: Floats) -> Ranked:
    """Rank gains (judge, rank) for a topic with one relevant document."""
    rank, depth = np.arange(1, gains.shape[1] + 1)[None], np.array([gains.shape[1]])
    judged = np.ones((len(gains), 1, gains.shape[1]), dtype=np.bool_)
    ranked = Ranked(gains[:, None, :], rank, judged, depth)
    if not measure.normalised:
        return ranked
    ideal = measure.ideal_of(replace(ranked, gains=np.eye(1, gains.shape[1])[:, None, :], judged=judged[:1]))
    return ranked if ideal is None else replace(ranked, ideal=np.repeat(ideal, len(gains), axis=0))


def stated_probabilities(case: Case, judges: TwoJudges) -> Floats:
    """Return the probability that the reference labels an item, NaN where it is not stated -> (item,)."""
    found, rows = np.full(judges.n_items, np.nan), case.judgments.probability
    if rows is not None:
        names = [str(judges.panel.judges[number]) for number in judges.reference]
        of_reference = case.judgments.column("assessor").among(names, "assessor")
        found[case.judgments.item[of_reference]] = rows[of_reference]
    return found


@dataclass(frozen=True, eq=False)
class Sample:
    """The items that count (``item``, numbers): topic, labelled, and probability of being labelled (item,)."""

    item: Ints
    topic: Ints
    weight: Floats
    labelled: Bools
    probability: Floats

    @classmethod
    def of(cls, hits: Hits, weight: Floats, frame: Bools, *, labelled: Bools, topic: Ints, stated: Floats) -> Sample:
        """Describe the sample of labelled items; weight (hit,), frame, labelled, topic and stated by item."""
        item = np.flatnonzero(frame)
        total = np.bincount(hits.item, weights=weight, minlength=len(frame))[item].astype(np.float64)
        guess = inclusion_probabilities(total, labelled[item], topic[item])
        return cls(item, topic[item], total, labelled[item], np.where(np.isnan(stated[item]), guess, stated[item]))

    def errors(self, error: Floats, label: Codes) -> tuple[Floats, Floats]:
        """Return the two summands of the judge's error on every item -> both (item,).

        error (item,), used where labelled; label (item,) by the judge
        """
        expected = self._expected(error, label)
        correction = (error - expected) / np.where(self.labelled, self.probability, 1.0)
        return expected, np.where(self.labelled, correction, 0.0)

    def excess(self, hits: Hits, weight: Floats, n_systems: int, *, stated: Floats) -> Floats:
        """Return how many times as much as there is the labels stand for, 1 in a single sample -> (system,).

        weight (hit,); stated (item,): probabilities that are estimated are of a single sample
        """
        if np.isnan(stated[self.item[self.labelled]]).all():
            return np.ones(n_systems)
        inverse = np.where(self.labelled, 1 / self.probability, 0.0)
        n_items = len(stated)
        inside, times = (_placed(each, self.item, n_items)[hits.item] for each in (np.ones(len(self.item)), inverse))
        there, sampled, variance = (
            np.bincount(hits.system, each, minlength=n_systems)
            for each in (weight * inside, weight * times, weight**2 * times * np.maximum(times - 1, 0.0))
        )
        error = np.sqrt((self.weight**2 * inverse * np.maximum(inverse - 1, 0.0)).sum())
        everywhere = sampled.sum() - there.sum() > MOST_ERRORS * error
        beyond = everywhere | (sampled - there > MOST_ERRORS * np.sqrt(variance))
        return np.where(beyond, np.maximum(sampled / np.where(there > 0, there, 1.0), 1.0), 1.0)

    def _expected(self, error: Floats, label: Codes) -> Floats:
        """Mean error of other items by label and topic, shrunken; items count by their weight in lists -> (item,)."""
        counts = np.where(self.labelled, self.weight / self.probability, 0.0)
        counts *= self.labelled.sum() / counts.sum()
        whole = float((counts * error).sum() / counts.sum())
        by_label = whole + _shrunken(error - whole, counts, group=label + 1, prior=LABEL_PRIOR)
        return by_label + _shrunken(error - by_label, counts, group=self.topic, prior=TOPIC_PRIOR)


def _placed(values: Floats, item: Ints, n_items: int) -> Floats:
    """Return values of some items, 0 for the others -> (item,)."""
    found = np.zeros(n_items)
    found[item] = values
    return found


def _shrunken(values: Floats, counts: Floats, *, group: Ints | Codes, prior: float) -> Floats:
    """Mean of the other items of each item's group, with ``prior`` further items of value 0 -> (item,)."""
    total = np.bincount(group, weights=counts * values)[group] - counts * values
    return total / (np.bincount(group, weights=counts)[group] - counts + prior)


def inclusion_probabilities(weight: Floats, labelled: Bools, topic: Ints) -> Floats:
    """Estimate the probability with which each item was labelled, from its weight and topic; all (item,).

    Examples
    --------
    >>> labelled = np.array([True, True, False, False] * 2 + [True] * 4)
    >>> inclusion_probabilities(np.ones(12), labelled, np.repeat([0, 1, 2], 4)).round(2).tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0]
    """
    count, size = np.bincount(topic, weights=labelled), np.bincount(topic)
    whole = count == size
    some = ~whole[topic]
    hazard = -np.log1p(-_labelled_shares(weight, labelled, some))
    chance = np.where(some, -np.expm1(-hazard), 0.0)
    mean, variance = np.bincount(topic, weights=chance), np.bincount(topic, weights=chance * (1 - chance))
    squares = float(((count - mean)[~whole] ** 2 / np.maximum(variance[~whole], 1e-12)).sum())
    kept = max(0.0, 1.0 - max(int((~whole).sum()) - 1, 0) / max(squares, 1e-12))
    factor = _topic_factors(hazard, topic, mean + kept * (count - mean))
    return np.where(some, -np.expm1(-factor[topic] * hazard), 1.0)


def _labelled_shares(weight: Floats, labelled: Bools, some: Bools) -> Floats:
    """Share of labelled items among those of similar weight, from the items of some topics; all (item,)."""
    if not some.any():
        return np.full(len(weight), 0.5)
    n_classes = int(np.clip(labelled[some].sum() // LABELS_PER_CLASS, 1, CLASSES))
    edges = np.unique(np.quantile(weight[some], np.arange(1, n_classes) / n_classes))
    group = np.searchsorted(edges, weight, side="right")
    n_items = np.maximum(np.bincount(group[some], minlength=len(edges) + 1), 1)
    share = np.bincount(group[some], weights=labelled[some], minlength=len(edges) + 1) / n_items
    return np.clip(share, 0.5 / n_items, 1 - 1e-9)[group]


def _topic_factors(hazard: Floats, topic: Ints, target: Floats) -> Floats:
    """Find factors of the hazards by bisection, so that probabilities of a topic sum to its target -> (topic,)."""
    low, high = np.full(len(target), -30.0), np.full(len(target), 30.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        short = np.bincount(topic, weights=-np.expm1(-np.exp(middle)[topic] * hazard)) < target
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.exp(high)
