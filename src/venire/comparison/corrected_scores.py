r"""Scores for a random user, with intervals, from the labels of one judge and double judgments of some of them.

A measure m that is linear in the gains is a sum over labels: with :math:`c_{sti}` what the results labelled i add to
the score of system s for topic t, and p(R|i) as in ``disagreement.predicted_relevance``,

.. math:: m_s = \frac1T \sum_t \sum_i p(R|i)\, c_{sti}

is the mean score over random users (Demeester et al. 2015, doi:10.1007/s10791-015-9275-x, Section 3.2).  Two things
make it uncertain: the topics, and the double judgments that p(R|i) is estimated from, which differ between topics too.
Both are resampled together: topics are drawn with replacement, with their labels (Efron 1979,
doi:10.1214/aos/1176344552), and p(R|i) and :math:`m_s` are computed from those drawn; topics that serve only one of the
two are drawn separately. The interval is that of the percentiles.

When not to use it: p(R|i) is one number for a label.  If a judge's labels mean something else for one system than for
the others, as when they favour systems built like the judge, the interval does not account for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.data.panel import Panel
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.errors import MeasureError, SettingError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments, read_also
from venire.io.runs import RunsLike
from venire.kernels.shares import CONFIDENCE
from venire.measures.evaluate import Case, Layout, as_list
from venire.measures.random_users import plan_for_users
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike, Plan, Scoring, score_facts
from venire.randomness import resampled_sums, topic_weights
from venire.results import Estimate, Records, Tabular, counted, known
from venire.types import Bools, Floats, RNGLike


@dataclass(frozen=True, eq=False)
class PredictedScores(Tabular):
    """Scores for a random user: value, low and high (system, measure); draws (draw, system, measure)."""

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    draws: Floats
    fit: PredictedRelevanceFit
    n_topics: int
    notes: tuple[Any, ...] = ()

    @property
    def method(self) -> str:
        """How the intervals were computed."""
        return f"bootstrap over {self.n_topics} topics and their double judgments, n={len(self.draws)}"

    def estimate(self, system: str, measure: str | None = None) -> Estimate:
        """Return one system's score with its interval."""
        at = self._place(system, measure)
        return Estimate(float(self.value[at]), float(self.low[at]), float(self.high[at]), CONFIDENCE, self.method)

    def scores(self) -> Scores:
        """Return the scores without their intervals -> (system, measure)."""
        return Scores(self.value, ("system", "measure"), {"system": self.systems, "measure": self.measures}, self.notes)

    def sentence(self) -> str:
        """Return the highest score for a random user by the first measure, with its interval."""
        best = int(np.nanargmax(self.value[:, 0]))
        found = self.estimate(self.systems[best])
        among = f", the highest of {len(self.systems)} systems" if len(self.systems) > 1 else ""
        return (
            f"For a random user, the mean {self.measures[0]} of {self.systems[best]} is {found.value:.4f} "
            f"({CONFIDENCE:.0%} interval {found.low:.4f} to {found.high:.4f}){among}."
        )

    def records(self) -> Records:
        """Return one row per system and measure: value and interval, None where a value is not known."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        return [
            {"system": system, "measure": measure, **{name: known(each[n, m]) for name, each in numbers.items()}}
            for n, system in enumerate(self.systems)
            for m, measure in enumerate(self.measures)
        ]

    def _place(self, system: str, measure: str | None) -> tuple[int, int]:
        for kind, name, names in (("system", system, self.systems), ("measure", measure, self.measures)):
            if name is not None and name not in names:
                raise UnknownName(kind, name, names)
        return self.systems.index(system), 0 if measure is None else self.measures.index(measure)


def score_intervals(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("P@10",),
    *,
    model: PredictedRelevance,
    fit_on: JudgmentsLike | None = None,
    n_draws: int = 1000,
    rng: RNGLike = 0,
    **scoring: Any,
) -> PredictedScores:
    """Score runs for a random user, with 95 % intervals over topics and double judgments.

    Parameters
    ----------
    judgments, runs : as ``evaluate`` takes them
    measures : linear in the gains, such as P@10, DCG@10, RBP
    model : how p(R|i) is estimated; of several notions of relevance the first counts
    fit_on : judgments with labels of two people or more on an item; None: those given
    scoring : assessor, pool, topics, unjudged (0 or "condensed"), missing, duplicates, as in ``evaluate``

    Notes
    -----
    Cost: one scan, one scoring per label, and draws x topics x systems x labels products.

    Examples
    --------
    >>> from venire import PredictedRelevance
    >>> from venire.simulation import Synthetic, generate
    >>> made = generate(Synthetic(n_topics=30), rng=7)
    >>> model = PredictedRelevance(relevant="2", observed=["lenient1"], reference=["careful1"])
    >>> found = score_intervals(made.judgments, made.runs, "P@10", assessor="lenient1", model=model)
    >>> print(found.estimate("s01"))
    0.324 [0.254, 0.400] (95%, bootstrap over 30 topics and their double judgments, n=1000)
    """
    if n_draws < 2:
        raise SettingError(
            f"{counted(n_draws, 'draw')}: expected 2 or more", hint="1000 give an interval to two digits"
        )
    asked = Scoring(**scoring)
    labels = as_judgments(judgments)
    plan = _linear(plan_for_users(as_list(measures), asked.unjudged))
    labels, judged_twice = (labels, labels) if fit_on is None else read_also(labels, fit_on)
    fit = model.fit(judged_twice)
    p = fit.gains().values
    case = Case.of(labels, runs, asked)
    layout = Layout.of(case, plan)
    added = layout.place(score_facts(case.facts, Shares.of(case.panel, len(p)), plan, group=case.group))
    weights = joint_weights(judged_twice.topics, fit, layout.topics, n_draws=n_draws, rng=np.random.default_rng(rng))
    value = _scores(added, np.ones((1, len(layout.topics))), p[None])[0]
    draws = _scores(added, weights[1], resampled_relevance(fit, p, weights[0]))
    low, high = _percentiles(draws)
    n_topics = len(layout.topics)
    return PredictedScores(case.facts.systems, plan.names, value, low, high, draws, fit, n_topics, layout.notes)


@dataclass(frozen=True, eq=False)
class Shares:
    """A judge per label, for whom only that label has a gain; and one for whom none has.

    weight (label + 1, item), judged (item,).
    """

    weight: Floats
    judged: Bools

    @classmethod
    def of(cls, panel: Panel, n_labels: int) -> Shares:
        """Separate the labels of one judge, or of a pool."""
        cell = panel.label.astype(np.int64) * panel.n_items + panel.item
        weight = np.bincount(cell, weights=panel.weight, minlength=(n_labels + 1) * panel.n_items)
        judged = np.zeros(panel.n_items, dtype=np.bool_)
        judged[panel.item] = True
        return cls(weight.astype(np.float64, copy=False).reshape(n_labels + 1, panel.n_items), judged)

    @property
    def judges(self) -> tuple[str, ...]:
        """Numbers of the labels, and one more."""
        return tuple(map(str, range(len(self.weight))))

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.judged)

    def gains(self, values: Floats, first: int, last: int) -> tuple[Floats, Bools]:
        """Gain of every item, and whether it was judged; both (label, item).  values (2,): of 0 and of 1."""
        weight = values[0] + (values[1] - values[0]) * self.weight[first:last]
        return weight, np.broadcast_to(self.judged, weight.shape)


def joint_weights(
    pair_topics: Sequence[str], fit: PredictedRelevanceFit, scored: Sequence[str], *, n_draws: int, rng: RNGLike
) -> tuple[Floats, Floats]:
    """Draw topics -> their frequencies for the fit (draw, topic of its judgments) and the scores (draw, scored topic).

    Topics that serve both are drawn once for both; the others separately, so that each keeps its number of topics.
    """
    has_pairs = fit.by_topic.sum(axis=(1, 2)) > 0
    paired = [name for name, has in zip(pair_topics, has_pairs, strict=True) if has]
    place = {name: n for n, name in enumerate(dict.fromkeys([*paired, *scored]))}
    side = np.zeros(len(place), dtype=np.int64)
    side[[place[name] for name in paired]] += 1
    side[[place[name] for name in scored]] += 2
    generator, drawn = np.random.default_rng(rng), np.zeros((n_draws, len(place)))
    for stratum in (1, 2, 3):
        members = np.flatnonzero(side == stratum)
        if len(members):
            drawn[:, members] = topic_weights(len(members), n_draws, generator)
    for_fit = np.zeros((n_draws, len(pair_topics)))
    for_fit[:, has_pairs] = drawn[:, [place[name] for name in paired]]
    return for_fit, drawn[:, [place[name] for name in scored]]


def resampled_relevance(fit: PredictedRelevanceFit, p: Floats, weights: Floats, *, row: int = 0) -> Floats:
    """Return p(R|i) from the topics of every draw -> (draw, label); p (label,) where a draw has no pair of the label.

    A prior shrinks every share towards its own mean by as much as it does for all topics together.
    """
    counts = resampled_sums(fit.by_topic, weights)
    relevant = fit.relevant.labels[row]
    pairs, hits = counts.sum(axis=2), counts[:, :, relevant].sum(axis=2)
    middle = relevant.mean()
    whole = np.divide(fit.hits[row], fit.pairs[row], out=np.full(len(p), middle), where=fit.pairs[row] > 0)
    away = np.abs(whole - middle) > 1e-12
    kept = np.divide(p - middle, whole - middle, out=np.ones(len(p)), where=away)
    shares = middle + kept * (np.divide(hits, pairs, out=np.zeros_like(hits), where=pairs > 0) - middle)
    return np.clip(np.where(pairs > 0, shares, p), 0.0, 1.0)


def _scores(added: Floats, weights: Floats, p: Floats) -> Floats:
    """Return means over drawn topics of what the labels add; added (system, topic, measure, label + 1) -> (draw, ...).

    weights (draw, topic), p (draw, label).  The last of ``added`` is the score without any gain.
    """
    present = ~np.isnan(added[..., -1])
    rest = np.where(present, added[..., -1], 0.0)
    total = resampled_sums(np.moveaxis(rest, 1, 0), weights)
    for label in range(added.shape[-1] - 1):
        part = np.where(present, added[..., label] - rest, 0.0)
        total += p[:, label, None, None] * resampled_sums(np.moveaxis(part, 1, 0), weights)
    n_topics = resampled_sums(np.moveaxis(present, 1, 0).astype(np.float64), weights)
    return np.divide(total, n_topics, out=np.full_like(total, np.nan), where=n_topics > 0)


def _percentiles(draws: Floats) -> Floats:
    """Return the interval -> (2, system, measure); draws without a list of the system are ignored."""
    without = np.isnan(draws).all(axis=0)
    bounds = np.nanquantile(np.where(without, 0.0, draws), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return np.where(without, np.nan, bounds)


def _linear(plan: Plan) -> Plan:
    """Reject measures that are not linear in the gains."""
    for each in plan.measures:
        if each.mean_over_users != "always":
            raise MeasureError(
                f"{each} is not linear in the gains, so its mean over users is not a sum over labels",
                hint="use P@10, DCG@10 or RBP; evaluate_users gives the mean over users of any measure",
            )
    return plan
