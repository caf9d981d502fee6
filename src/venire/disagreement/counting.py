r"""Counting relevant results: what a random user, one assessor, and M of N users find in a system's results.

With :math:`n_i` results labelled i, the labels R that satisfy a user, and :math:`p_{R|i}` the probability that a random
user is satisfied with a result labelled i:

    ``prm``      :math:`\sum_i n_i\, p_{R|i}`         Demeester et al. (2015), Eq. (2), doi:10.1007/s10791-015-9275-x
    ``binary``   :math:`\sum_{i \in R} n_i`           Eq. (1): the labels alone, as if nobody disagreed
    ``udm``      :math:`\sum_i n_i\, P^{(M/N)}_{R|i}` Section 3.4.1: for M/N = 1/2, results that the assessor or another
                                                      user finds relevant; Demeester et al. (2014), Eqs. (1)-(5)

Each is a cumulative gain, computed by ``evaluate``; all three come from one pass over the runs.  The mean is over
topics.  The standard error of ``binary`` is the standard deviation over topics (n - 1) divided by the root of their
number, as "the st. dev. of the mean" of Table 5; those of ``prm`` and ``udm`` hold the uncertainty of :math:`p_{R|i}`
too, by the jackknife over the topics of the counts and of the fit together (``disagreement.fit_errors``).

Table 5 counts over the results of a system's first resources instead of one list (``resources``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from venire.data.gains import Gains, gains_for
from venire.data.judgments import Judgments
from venire.disagreement.fit_errors import GainChanges, gain_changes, mean_error
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.disagreement.returned import labels_to_fit
from venire.disagreement.user_disagreement import udm_weights
from venire.errors import SettingError
from venire.io.judgment_sources import JudgmentsLike, read_judgments
from venire.io.runs import RunsLike, scan
from venire.kernels.rank_correlation import kendall_tau
from venire.measures.dcg import CG
from venire.measures.evaluate import evaluate
from venire.measures.measure import Worth
from venire.measures.scores import Scores
from venire.results import Tabular, counted, known
from venire.types import Floats, Ints, RNGLike

KINDS = ("prm", "binary", "udm")
COMPARED = (("prm", "binary"), ("prm", "udm"))
"""The kinds of count whose orders of systems are compared."""

DECIMALS = 10
"""Counts that differ less are equal: sums of the same gains in another order."""

Model = PredictedRelevance | PredictedRelevanceFit


@dataclass(frozen=True)
class Count(CG):
    """How many of the first k are relevant: a cumulative gain whose gains are its own."""

    gains: Gains | None = None
    name: str = "count"

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Gain of each label by the model, whatever gains others use."""
        return Worth((gains if self.gains is None else gains_for(self.gains, gains.scale)).values, unjudged)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class Counts(Tabular):
    """Expected numbers of relevant results: mean and se (kind, relevant, system), over n_topics (system,).

    The se of prm and udm holds the uncertainty of p(R|i); a 95 % interval is mean -+ t se, with n_topics - 1 degrees of
    freedom.

    tau (pair of kinds, relevant): Kendall's tau-b between the counts of systems, the oracle left out.  Where counts
    are per assessor, all arrays have a last axis for them.  ``scores`` holds the counts topic by topic.  If there is
    an oracle, it is the first of the systems.
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
    share: tuple[int, int] = (1, 2)
    among: str = "results"
    oracle: bool = False
    kinds: tuple[str, ...] = KINDS

    fitted_on: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of the counts."""
        return (self.fitted_on, *self.scores.notes) if self.fitted_on else self.scores.notes

    def records(self) -> list[dict[str, Any]]:
        """One record per notion of relevance and system, most relevant results first; None where nothing is known."""
        return [
            {"system": self.systems[system], "relevant": self.relevant[row], **self._of(who), **self._cells(place)}
            for row in range(len(self.relevant))
            for who in range(max(len(self.assessors), 1))
            for system in self.order(row, who).tolist()
            for place in [(row, system, *self._place(who))]
        ]

    def tau_records(self) -> list[dict[str, Any]]:
        """One record per notion of relevance and pair of counts; None where a count does not tell systems apart."""
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
        """Say the main finding in one sentence."""
        systems = [n for n in self.order().tolist() if n or not self.oracle]
        place = (0, systems[0], *self._place(0))
        prm, se, binary, binary_se = (float(each[kind, *place]) for kind in (0, 1) for each in (self.mean, self.se))
        tau = float(self.tau[(0, 0, *self._place(0))])
        agree = "" if np.isnan(tau) else f"; over systems the two counts agree with tau-b {tau:.2f}"
        best = f"{self.systems[systems[0]]}{f', the best of {len(systems)} systems,' if len(systems) > 1 else ''}"
        whose = f" (labels of {self.assessors[0]})" if self.assessors else ""
        return (
            f"Among {self.among} of {best} a random user finds {_shown(prm, se)} relevant ({self.relevant[0]}), where "
            f"the labels alone count {_shown(binary, binary_se)}{whose}{agree}."
        )

    def _place(self, assessor: int) -> tuple[int, ...]:
        return (assessor,) if self.assessors else ()

    def _of(self, assessor: int) -> dict[str, str]:
        return {"assessor": self.assessors[assessor]} if self.assessors else {}

    def _cells(self, place: tuple[int, ...]) -> dict[str, float | int | None]:
        cells: dict[str, float | int | None] = {}
        for kind, name in enumerate(self.kinds):
            cells |= {name: known(self.mean[(kind, *place)]), f"{name}_se": known(self.se[(kind, *place)])}
        return cells | {"topics": int(self.n_topics[place[1:]])}


def count_relevant(
    judgments: JudgmentsLike,
    runs: RunsLike,
    model: Model | None = None,
    *,
    top: int | None = 10,
    share: tuple[int, int] = (1, 2),
    fit_to: str | None = None,
    rng: RNGLike = 0,
    **scoring: Any,
) -> Counts:
    '''Count the relevant results among the first of each system's lists, as a random user would find them.

    Parameters
    ----------
    judgments, runs : as ``evaluate`` takes them
    model : what disagreement is: a fit, or a setting to be fitted on the judgments; None: the top label is relevant
    top : how many results of each list count; None: the whole list
    share : M and N of the User Disagreement Model
    fit_to : what a setting is fitted on: labels of results that some system has among those counted ("returned"), or
        all ("pool"); None: the former where enough of them were judged twice, as in ``labels_to_fit``
    scoring : assessor, per, pool, unjudged, missing, duplicates and the rest, as ``evaluate`` takes them

    Notes
    -----
    A document that nobody judged counts as irrelevant.  When not to use this: where it matters at which rank a result
    stands (use ``evaluate`` with the same gains), or where the model was fitted on results unlike those counted.

    Examples
    --------
    >>> from venire import read_grid
    >>> judgments = read_grid("""
    ...     2 2 1 1 0 0
    ...     2 1 1 2 0 0""")
    >>> fit = PredictedRelevance(prior=0.1).fit(judgments)
    >>> counts = count_relevant(judgments, {"1": {"d1": 2.0, "d3": 1.0}}, fit, assessor="U1")
    >>> counts.records()[0]["binary"], round(counts.records()[0]["prm"], 2)
    (1.0, 0.98)
    '''
    labels, note = read_judgments(judgments), ""
    sources = scan(runs, labels.items, progress=scoring.get("progress"))
    if isinstance(model, PredictedRelevanceFit):
        fit = model
    else:
        asked = model or PredictedRelevance()
        chosen = labels_to_fit(labels, sources, fit_to=fit_to, top=top, model=asked)
        fit, note = chosen.fit(asked, rng=rng), chosen.note
    measures = measures_of(fit, top, share)
    scores = evaluate(labels, sources, measures, gains=measures[0].gains or "linear", **scoring)
    among = "the results" if top is None else f"the first {counted(top, 'result')}"
    return replace(counts_of(scores, fit, share, among=among), fitted_on=note)


def fitted(judgments: Judgments, model: Model | None, *, rng: RNGLike = 0) -> PredictedRelevanceFit:
    """Fit a model on judgments, if it is not fitted yet."""
    if isinstance(model, PredictedRelevanceFit):
        return model
    return (model or PredictedRelevance()).fit(judgments, rng=rng)


def measures_of(fit: PredictedRelevanceFit, top: int | None, share: tuple[int, int]) -> list[Count]:
    """The three counts for every notion of relevance, kind by kind; then how many results have each label."""
    if top is not None and top < 1:
        raise SettingError(f"the first {top} results count, expected 1 or more", hint="None counts whole lists")
    names = fit.relevant.names
    binary = [Gains(fit.scale, marked.astype(np.float64), "binary") for marked in fit.relevant.labels]
    gains = [[fit.gains(name) for name in names], binary, [fit.udm_gains(share, name) for name in names]]
    each_label = [Gains(fit.scale, row, f"label:{fit.scale.labels[n]}") for n, row in enumerate(np.eye(len(fit.scale)))]
    kinds = [
        Count(top, each, f"{kind}:{name}")
        for kind, row in zip(KINDS, gains, strict=True)
        for each, name in zip(row, names, strict=True)
    ]
    return kinds + [Count(top, each, each.name) for each in each_label]


def counts_of(
    scores: Scores, fit: PredictedRelevanceFit, share: tuple[int, int], *, among: str, oracle: Floats | None = None
) -> Counts:
    """Summarise counts by topic: means, standard errors, and how alike the kinds order the systems.

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
    for number, changes in enumerate(_changes(fit, share)):
        if oracle is not None:
            labelled[0] = oracle[..., number, :]
        errors.append(mean_error(counts[:, number], scores.names["topic"], labelled, changes))
    names = {**scores.names, "measure": scores.names["measure"][:n_kinds]}
    return Counts(
        relevant=fit.relevant.names,
        systems=scores.names["system"],
        assessors=per,
        mean=means,
        se=np.stack(errors).reshape(shape),
        n_topics=(~np.isnan(scores.values[:, :, 0])).sum(axis=1),
        tau=_taus(means if oracle is None else means[:, :, 1:]),
        scores=replace(scores, values=scores.values[:, :, :n_kinds], names=names),
        fit=fit,
        share=share,
        among=among,
        oracle=oracle is not None,
    )


def _changes(fit: PredictedRelevanceFit, share: tuple[int, int]) -> Iterator[GainChanges | None]:
    """How the gains of each count move with the topics of the fit, kind by kind; None where they do not."""
    rows = range(len(fit.relevant.names))
    yield from (gain_changes(fit, row, lambda p: p) for row in rows)
    yield from (None for _ in rows)
    yield from (gain_changes(fit, row, partial(_udm, fit, row, share)) for row in rows)


def _udm(fit: PredictedRelevanceFit, row: int, share: tuple[int, int], p: Floats) -> Floats:
    """Weights of the User Disagreement Model as a function of p, the lowest label counting 0 as in ``udm_gains``."""
    weights = udm_weights(*share, p, fit.relevant.labels[row])
    if fit.scale.ordered and not fit.relevant.labels[row, 0]:
        weights[..., 0] = 0.0
    return weights


def _mean(values: Floats) -> Floats:
    """Mean over the first axis of what is not NaN; NaN where nothing is."""
    n = (~np.isnan(values)).sum(axis=0)
    return np.where(n > 0, np.nansum(values, axis=0) / np.maximum(n, 1), np.nan)


def _taus(mean: Floats) -> Floats:
    """Kendall's tau-b over systems, mean (kind, relevant, system, ...) -> (pair, relevant, ...); NaN if all tie."""
    values = np.moveaxis(mean, 2, -1).round(DECIMALS)
    return np.stack([kendall_tau(values[KINDS.index(a)], values[KINDS.index(b)], variant="b") for a, b in COMPARED])


def _shown(mean: float, se: float) -> str:
    return f"{mean:.2f}" if np.isnan(se) else f"{mean:.2f} ± {se:.2f}"
