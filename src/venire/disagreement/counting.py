r"""Counting relevant results: what a random user, one assessor, and M of N users find in a system's results.

With :math:`n_i` results labelled i, the labels R that satisfy a user, and :math:`p_{R|i}` the probability that a random
user is satisfied with a result labelled i:

    ``prm``      :math:`\sum_i n_i\, p_{R|i}`         Demeester et al. (2015), Eq. (2), doi:10.1007/s10791-015-9275-x
    ``binary``   :math:`\sum_{i \in R} n_i`           Eq. (1): the labels alone, as if nobody disagreed
    ``udm``      :math:`\sum_i n_i\, P^{(M/N)}_{R|i}` Section 3.4.1: for M/N = 1/2, results that the assessor or another
                                                      user finds relevant; Demeester et al. (2014), Eqs. (1)-(5)

Each is a cumulative gain, computed by ``evaluate`` in one pass over the runs.  The mean is over topics.  The standard
error of ``binary`` is "the st. dev. of the mean" of Table 5.  That of ``prm`` and ``udm`` includes the uncertainty of
:math:`p_{R|i}`: a number :math:`\theta = \sum_i w_i g_i(p)` with weights w and gains g(p) has two sources of error, the
topics over which w was counted and those from which p was estimated, often the same.  With :math:`a_t` the change of
the mean over T topics if topic t is left out, and :math:`b_t` that if t is left out of the fit (on U topics),

.. math:: s^2 = \sum_t \left(\sqrt{\tfrac{T-1}{T}}\, a_t + \sqrt{\tfrac{U-1}{U}}\, b_t\right)^2

is the jackknife (Efron and Stein 1981, doi:10.1214/aos/1176345462) of both together, topics being matched by name.
Where p is 0 or 1, or one topic has all pairs of a label, leaving topics out shows no variation.  There the half-width
of the 95 % interval of p, divided by 1.96, is an error of its own; also for every label where the topics of a fit are
not known (one read from a file).

Table 5 counts over the results of a system's first resources instead of one list (``counting_resources``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from venire.data.gains import Gains, gains_for
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.disagreement.top_results import labels_to_fit
from venire.disagreement.user_disagreement import udm_weights
from venire.errors import SettingError
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import RunsLike, scan
from venire.kernels.rank_correlation import kendall_tau
from venire.kernels.shares import Z95, shares
from venire.measures.dcg import CG
from venire.measures.evaluate import evaluate
from venire.measures.measure import Worth
from venire.measures.scores import Scores
from venire.results import Note, Tabular, counted, known
from venire.types import Floats, Ints, RNGLike

KINDS = ("prm", "binary", "udm")
COMPARED = (("prm", "binary"), ("prm", "udm"))
"""Kinds of count whose rankings of systems are compared."""

DECIMALS = 10
"""Counts that are equal to this many decimals are tied."""

Model = PredictedRelevance | PredictedRelevanceFit


@dataclass(frozen=True)
class Count(CG):
    """How many of the first k are relevant: a cumulative gain with its own gains."""

    gains: Gains | None = None
    name: str = "count"

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Gain of each label by the model, whatever gains other measures use."""
        return Worth((gains if self.gains is None else gains_for(self.gains, gains.scale)).values, unjudged)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class Counts(Tabular):
    """Expected numbers of relevant results: mean and se (kind, relevant, system), over n_topics (system,).

    A 95 % interval is mean -+ t se, with n_topics - 1 degrees of freedom.  tau (pair of kinds, relevant): Kendall's
    tau-b between the counts of systems, without the oracle.  Where counts are per assessor, all arrays have a last axis
    for them.  ``scores`` holds the counts by topic.  An oracle is the first of the systems.
    """

    relevant: tuple[str, ...]
    systems: tuple[str, ...]
    assessors: tuple[str, ...]
    mean: Floats
    se: Floats
    n_topics: Ints
    tau: Floats
    scores: Scores
    fit: PredictedRelevanceFit
    at_least: tuple[int, int] = (1, 2)
    among: str = "results"
    oracle: bool = False
    fitted_on: Note | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said of systems that returned nothing."""
        return self.scores.warnings

    @property
    def notes(self) -> tuple[Note | str, ...]:
        """What the model was fitted on, and the notes of the scores."""
        return (*([] if self.fitted_on is None else [self.fitted_on]), *self.scores.notes)

    def records(self) -> list[dict[str, Any]]:
        """Return one row per notion of relevance and system, most relevant results first; None where unknown."""
        nothing = dict.fromkeys(name for kind in KINDS for name in (kind, f"{kind}_se")) | {"topics": 0}
        return [
            {"system": name, "relevant": self.relevant[row], **self._of(who), **cells}
            for row in range(len(self.relevant))
            for who in range(max(len(self.assessors), 1))
            for name, cells in (
                *((self.systems[n], self._cells((row, n, *self._place(who)))) for n in self.order(row, who).tolist()),
                *((name, nothing) for name in self.scores.silent),
            )
        ]

    def tau_records(self) -> list[dict[str, Any]]:
        """Return one row per notion of relevance and pair of counts; None where all systems tie in a count."""
        return [
            {"relevant": name, **self._of(who), "a": a, "b": b, "tau": known(self.tau[(pair, row, *self._place(who))])}
            for row, name in enumerate(self.relevant)
            for who in range(max(len(self.assessors), 1))
            for pair, (a, b) in enumerate(COMPARED)
        ]

    def order(self, row: int = 0, assessor: int = 0) -> Ints:
        """Numbers of the systems by their PRM count, highest first; the oracle ahead of all."""
        mean = self.mean[0, row][:, assessor] if self.assessors else self.mean[0, row]
        ranked = np.argsort(-np.where(np.isnan(mean), -1.0, mean.round(DECIMALS)), kind="stable")
        return np.append(0, ranked[ranked != 0]) if self.oracle else ranked

    def sentence(self) -> str:
        """Say the counts of the system with the highest, and tau-b between them over systems."""
        best = next(n for n in self.order().tolist() if n or not self.oracle)
        prm, binary = (
            f"{self.mean[(kind, 0, best, *self._place(0))]:.2f} ± {self.se[(kind, 0, best, *self._place(0))]:.2f}"
            for kind in (0, 1)
        )
        whose = f" (labels of {self.assessors[0]})" if self.assessors else ""
        return (
            f"Among {self.among} of {self.systems[best]}, the best of {len(self.systems) - self.oracle} systems, a "
            f"random user finds {prm} relevant ({self.relevant[0]}), by the labels alone {binary}{whose}; tau-b "
            f"between both counts over systems is {float(self.tau[(0, 0, *self._place(0))]):.2f}."
        )

    def _place(self, assessor: int) -> tuple[int, ...]:
        return (assessor,) if self.assessors else ()

    def _of(self, assessor: int) -> dict[str, str]:
        return {"assessor": self.assessors[assessor]} if self.assessors else {}

    def _cells(self, place: tuple[int, ...]) -> dict[str, float | int | None]:
        cells: dict[str, float | int | None] = {}
        for kind, name in enumerate(KINDS):
            cells |= {name: known(self.mean[(kind, *place)]), f"{name}_se": known(self.se[(kind, *place)])}
        return cells | {"topics": int(self.n_topics[place[1:]])}


def count_relevant(
    judgments: JudgmentsLike,
    runs: RunsLike,
    model: Model | None = None,
    *,
    top: int | None = 10,
    at_least: tuple[int, int] = (1, 2),
    fit_to: str | None = None,
    rng: RNGLike = 0,
    **scoring: Any,
) -> Counts:
    '''Count the relevant results among the first of each system's lists, as a random user would find them.

    Parameters
    ----------
    judgments, runs : as ``evaluate`` takes them
    model : a fit, or a setting to be fitted on the judgments; None: the top label is relevant
    top : how many results of each list count; None: the whole list
    at_least : M and N of the User Disagreement Model
    fit_to : as in ``labels_to_fit``
    scoring : assessor, per, pool, unjudged, missing, duplicates and the rest, as ``evaluate`` takes them

    Notes
    -----
    A document that nobody judged counts as irrelevant.  When not to use this: where the rank of a result matters (use
    ``evaluate`` with the same gains), or where the model was fitted on results unlike those counted.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> judgments = read_grid("""
    ...     2 2 1 1 0 0
    ...     2 1 1 2 0 0""")
    >>> fit = PredictedRelevance(prior=0.1).fit(judgments)
    >>> counts = count_relevant(judgments, {"1": {"d1": 2.0, "d3": 1.0}}, fit, assessor="U1")
    >>> counts.records()[0]["binary"], round(counts.records()[0]["prm"], 2)
    (1.0, 0.98)
    '''
    labels, note = as_judgments(judgments), None
    sources = scan(runs, labels.items, progress=scoring.get("progress"))
    if isinstance(model, PredictedRelevanceFit):
        fit = model
    else:
        asked = model or PredictedRelevance()
        chosen = labels_to_fit(labels, sources, fit_to=fit_to, top=top, model=asked)
        fit, note = chosen.fit(asked, rng=rng), chosen.note
    measures = measures_of(fit, top, at_least)
    scores = evaluate(labels, sources, measures, gains=measures[0].gains or "linear", **scoring)
    among = "the results" if top is None else f"the first {counted(top, 'result')}"
    return replace(counts_of(scores, fit, at_least, among=among), fitted_on=note)


def measures_of(fit: PredictedRelevanceFit, top: int | None, at_least: tuple[int, int]) -> list[Count]:
    """The three counts for every notion of relevance, kind by kind; then how many results have each label."""
    if top is not None and top < 1:
        raise SettingError(f"the first {top} results count, expected 1 or more", hint="None counts whole lists")
    names = fit.relevant.names
    binary = [Gains(fit.scale, marked.astype(np.float64), "binary") for marked in fit.relevant.labels]
    gains = [[fit.gains(name) for name in names], binary, [fit.udm_gains(at_least, name) for name in names]]
    each_label = [Gains(fit.scale, row, f"label:{fit.scale.labels[n]}") for n, row in enumerate(np.eye(len(fit.scale)))]
    kinds = [
        Count(top, each, f"{kind}:{name}")
        for kind, row in zip(KINDS, gains, strict=True)
        for each, name in zip(row, names, strict=True)
    ]
    return kinds + [Count(top, each, each.name) for each in each_label]


def counts_of(
    scores: Scores, fit: PredictedRelevanceFit, at_least: tuple[int, int], *, among: str, oracle: Floats | None = None
) -> Counts:
    """Summarise counts by topic: means, standard errors, and tau between the kinds.

    scores: of ``measures_of``, (system, topic, measure) and perhaps assessor.  oracle: where the first system is one,
    its mean number of results with each label by each count, perhaps by assessor -> ([assessor,] count, label).
    """
    per = scores.names["assessor"] if "assessor" in scores.axes else ()
    n_kinds = len(KINDS) * len(fit.relevant.names)
    values = np.moveaxis(scores.values, (1, 2), (0, 1))
    counts, labelled = values[:, :n_kinds], np.moveaxis(_mean(values[:, n_kinds:]), 0, -1)
    shape = (len(KINDS), len(fit.relevant.names), len(scores.names["system"]), *([len(per)] if per else []))
    means = _mean(counts).reshape(shape)
    errors = []
    for number, changes in enumerate(_changes(fit, at_least)):
        if oracle is not None:
            labelled[0] = oracle[..., number, :]
        errors.append(mean_error(counts[:, number], scores.names["topic"], labelled, changes))
    ranked = np.moveaxis(means if oracle is None else means[:, :, 1:], 2, -1).round(DECIMALS)
    taus = [kendall_tau(ranked[KINDS.index(a)], ranked[KINDS.index(b)], variant="b") for a, b in COMPARED]
    names = {**scores.names, "measure": scores.names["measure"][:n_kinds]}
    return Counts(
        relevant=fit.relevant.names,
        systems=scores.names["system"],
        assessors=per,
        mean=means,
        se=np.stack(errors).reshape(shape),
        n_topics=(~np.isnan(scores.values[:, :, 0])).sum(axis=1),
        tau=np.stack(taus),
        scores=replace(scores, values=scores.values[:, :, :n_kinds], names=names),
        fit=fit,
        at_least=at_least,
        among=among,
        oracle=oracle is not None,
    )


def _changes(fit: PredictedRelevanceFit, at_least: tuple[int, int]) -> Iterator[GainChanges | None]:
    """How the gains of each count change with the topics of the fit, kind by kind; None where they do not."""
    rows = range(len(fit.relevant.names))
    yield from (gain_changes(fit, row, lambda p: p) for row in rows)
    yield from (None for _ in rows)
    yield from (gain_changes(fit, row, partial(_udm, fit, row, at_least)) for row in rows)


def _udm(fit: PredictedRelevanceFit, row: int, at_least: tuple[int, int], p: Floats) -> Floats:
    """Weights of the User Disagreement Model as a function of p, the lowest label counting 0 as in ``udm_gains``."""
    weights = udm_weights(*at_least, p, fit.relevant.labels[row])
    if fit.scale.ordered and not fit.relevant.labels[row, 0]:
        weights[..., 0] = 0.0
    return weights


def _mean(values: Floats) -> Floats:
    """Mean over the first axis of what is not NaN; NaN where nothing is."""
    n = (~np.isnan(values)).sum(axis=0)
    return np.where(n > 0, np.nansum(values, axis=0) / np.maximum(n, 1), np.nan)


class GainChanges(NamedTuple):
    """How gains change with the topics of a fit: left_out (topic, label), as b above; alone (label,), where b is 0."""

    topics: tuple[str, ...]
    left_out: Floats
    alone: Floats


def gain_changes(fit: PredictedRelevanceFit, row: int, gains: Callable[[Floats], Floats]) -> GainChanges:
    """Compute how gains, a function of p(R|i) (..., label) -> (..., label), change with the topics of the fit."""
    p, away = fit.known(row), _left_out(fit, row)
    unseen = ~(away != 0).any(axis=0)
    own = np.where(unseen, (fit.spread.high - fit.spread.low)[row] / (2 * Z95), 0.0)
    inward = np.nan_to_num(own) * np.where(p > 0.5, -1.0, 1.0)
    moved, alone = (gains(np.clip(p + by, 0.0, 1.0)) - gains(p) for by in (away, inward))
    return GainChanges(fit.topics[: len(away)], moved, alone)


def _left_out(fit: PredictedRelevanceFit, row: int) -> Floats:
    """Change of p(R|i) without each topic, times the root of (U - 1) / U -> (topic, label); 0 where unknown."""
    if len(fit.topics) != len(fit.by_topic):
        return np.zeros((0, len(fit.scale)))
    relevant, total = fit.relevant.labels[row : row + 1], fit.by_topic.sum(axis=0)
    away = shares(total - fit.by_topic, relevant)[:, 0] - shares(total, relevant)[0]
    n = np.maximum((fit.by_topic.sum(axis=2) > 0).sum(axis=0), 1)
    alone = np.isnan(away).any(axis=0)
    return np.where(alone, 0.0, away) * np.sqrt((n - 1) / n)


def mean_error(values: Floats, topics: tuple[str, ...], weights: Floats, changes: GainChanges | None = None) -> Floats:
    """Standard error of means over topics, that of estimated gains included; NaN with fewer than two topics.

    values (topic, ...): scores by topic, NaN where there is none; weights (..., label): the mean number of each label.
    """
    n = (~np.isnan(values)).sum(axis=0)
    mean = np.nansum(values, axis=0) / np.maximum(n, 1)
    away = np.nan_to_num((mean - values) / np.sqrt(np.maximum(n * (n - 1), 1)))
    if changes is None:
        square = (away**2).sum(axis=0)
    else:
        place = {name: number for number, name in enumerate(topics)}
        fitted = np.moveaxis(weights @ changes.left_out.T, -1, 0)
        known = np.array([place.get(name, -1) for name in changes.topics], dtype=np.int64)
        away[known[known >= 0]] += fitted[known >= 0]
        square = (away**2).sum(axis=0) + (fitted[known < 0] ** 2).sum(axis=0)
        square += ((weights * changes.alone) ** 2).sum(axis=-1)
    return np.where(n > 1, np.sqrt(square), np.nan)
