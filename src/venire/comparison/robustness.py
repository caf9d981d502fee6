r"""Robustness: does the order of systems depend on who judged, or on the gains of labels?

Demeester et al. (2015), doi:10.1007/s10791-015-9275-x: Section 7.2 and Table 6 correlate the rankings of systems by the
labels of different assessors, under the same gains (``between_assessors``); Section 7.3 and Table 7 those by different
gains, under the same labels (``between_gains``).  The paper does not say which variant of Kendall's tau it uses; the
default here is tau-b.

Two assessors are compared on the topics that both judged.  Systems whose mean scores differ by less than 1e-10 are
tied.  An interval is the value plus and minus Student's t times the standard deviation over resampled topics: it is for
the correlation on as many other topics.  The correlation over all possible topics is usually higher, since chance in
the topics reduces it, and resampling cannot estimate by how much.  (Percentiles of the resamples are not used: a
resample has fewer distinct topics, so they lie too low; in simulations they covered 79 to 100 per cent at a nominal 95,
this interval 93 to 97; with 3, 5, 9 and 10 topics 97 to 100.)  There is no interval for fewer than ten topics that give
the same value in every resample.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import isnan
from typing import Any

from venire.comparison.rank_agreement import (
    CONFIDENCE,
    Correlate,
    Correlator,
    RankCorrelation,
    Robustness,
    correlate_by,
    few_topics,
)
from venire.data.gains import Gains
from venire.data.judgments import Judgments
from venire.data.runs import Runs
from venire.disagreement.top_results import ManyGains, labels_of_fit, named_gains
from venire.errors import MissingTopicsWarning, PairsError, SettingError, UnjudgedWarning
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import RunsLike, scan
from venire.measures.evaluate import evaluate, labels_for
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike
from venire.randomness import copied, seed_of
from venire.results import Note
from venire.types import RNGLike

Measures = Sequence[MeasureLike] | MeasureLike


def between_assessors(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Measures = ("nDCG@10",),
    *,
    gains: ManyGains = None,
    relevant: str | None = None,
    correlation: str | Correlate = "tau-b",
    fit_on: JudgmentsLike | None = None,
    fit_to: str | None = None,
    n_draws: int = 300,
    rng: RNGLike = 0,
) -> Robustness:
    """Correlate the rankings of systems by each assessor's labels alone, for every pair of assessors.

    Parameters
    ----------
    judgments, runs, measures : as ``evaluate`` takes them
    gains : several, by name ("linear", "prm:Key", "udm:1/3"), as Gains, or {name: gains}; None: linear, exponential,
        binary, PRM and UDM gains
    relevant : without ``gains``, the label from which the last three take documents as relevant; None: the top label
    correlation : "tau-b", "tau-a", "tau-ap", "rbo", or a function of two arrays (..., system) -> (...)
    fit_on : judgments on which gains by a model are fitted; None: those given, as ``fit_to`` says
    fit_to : "returned": labels of results among the first 10 of some list; "pool": all; None: as in ``labels_to_fit``
    n_draws : number of resamples of topics; 0: no intervals

    Returns
    -------
    Robustness: for every measure and gains the mean over pairs of assessors, then each pair.

    Cost: O(pairs of assessors x draws x systems^2) per measure and gains.
    """
    fit_on = None if fit_on is None else as_judgments(fit_on)
    labels = labels_for(judgments, measures)
    if len(labels.assessors) < 2:
        raise PairsError(
            "one assessor judged, so rankings by different assessors cannot be compared",
            hint="add judgments by others, or compare gains (between_gains)",
        )
    correlate_by(correlation)
    sources = scan(runs, labels.items)
    chosen = partial(labels_of_fit, labels, sources, fit_on=fit_on, fit_to=fit_to)
    worths, notes = named_gains(labels, gains, relevant=relevant, chosen=chosen)
    rows: list[RankCorrelation] = []
    seed = seed_of(rng)
    for worth, scores in _scored(labels, sources, measures, worths, per="assessor"):
        notes += scores.notes
        by = Correlator.of(correlation, len(scores.names["topic"]), n_draws=n_draws, rng=copied(seed))
        for measure in scores.names["measure"]:
            found = by.every_two(scores.select(measure=measure).values, scores.names["assessor"])
            what = {"between": "assessors", "measure": measure, "gains": worth}
            rows += by.rows(found, **what, systems=len(scores.names["system"]))
    return _gathered(rows, notes, n_draws)


def between_gains(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Measures = ("nDCG@10",),
    *,
    gains: ManyGains = None,
    relevant: str | None = None,
    assessor: str | None = None,
    pool: str | None = None,
    correlation: str | Correlate = "tau-b",
    fit_on: JudgmentsLike | None = None,
    fit_to: str | None = None,
    n_draws: int = 300,
    rng: RNGLike = 0,
) -> Robustness:
    """Correlate the rankings of systems by different gains under the same labels, for every two of the gains.

    assessor, pool: whose labels; None: each assessor separately, and the mean over them.  The rest as in
    ``between_assessors``.
    """
    fit_on = None if fit_on is None else as_judgments(fit_on)
    labels = labels_for(judgments, measures)
    correlate_by(correlation)
    sources = scan(runs, labels.items)
    chosen = partial(labels_of_fit, labels, sources, fit_on=fit_on, fit_to=fit_to)
    worths, notes = named_gains(labels, gains, relevant=relevant, chosen=chosen)
    if len(worths) < 2:
        raise SettingError("rankings by different gains need two gains or more", hint="for example linear and udm:1/3")
    whose = {"assessor": assessor, "pool": pool, "per": None if assessor or pool else "assessor"}
    scored = dict(_scored(labels, sources, measures, worths, **whose))
    notes += [note for scores in scored.values() for note in scores.notes]
    some = next(iter(scored.values())).names
    by = Correlator.of(correlation, len(some["topic"]), n_draws=n_draws, rng=rng)
    rows: list[RankCorrelation] = []
    for one, other in combinations(scored, 2):
        for measure in some["measure"]:
            first, second = (scored[each].select(measure=measure) for each in (one, other))
            what = {"between": "gains", "measure": measure, "gains": one, "other_gains": other}
            found = by.each(first, second, alone=str(assessor or pool))
            rows += by.rows(found, **what, systems=len(some["system"]))
    return _gathered(rows, notes, n_draws)


def _scored(
    labels: Judgments, runs: Runs, measures: Measures, worths: Mapping[str, Gains], **whose: Any
) -> Iterator[tuple[str, Scores]]:
    """Score with each of the gains; warnings that depend on the runs alone are given once."""
    for number, (name, worth) in enumerate(worths.items()):
        with warnings.catch_warnings():
            for kind in (MissingTopicsWarning, UnjudgedWarning) if number else ():
                warnings.simplefilter("ignore", kind)
            scores = evaluate(labels, runs, measures, gains=worth, **whose)
        if len(scores.names["system"]) < 2:
            raise SettingError("there is one system, and so no ranking", hint="give the runs of two systems or more")
        yield name, scores


def _gathered(rows: Sequence[RankCorrelation], notes: Sequence[Any], n_draws: int) -> Robustness:
    """Keep the comparisons with topics in common, and note the others."""
    found = list(dict.fromkeys(notes))
    apart = len({(row.a, row.b) for row in rows if row.topics == 0})
    if apart:
        found.append(Note("no-common-topic", "{n:pair} of assessors without a topic in common omitted", n=apart))
    order = list(dict.fromkeys(row.measure for row in rows))
    kept = sorted((row for row in rows if row.topics > 0), key=lambda row: order.index(row.measure))
    if not kept:
        raise PairsError("no two assessors judged the same topic", hint="compare gains instead (between_gains)")
    undefined = sum(isnan(row.value) for row in kept)
    if undefined:
        found.append(
            Note("no-value", "{n:comparison} without a value: the scores of one side are all tied", n=undefined)
        )
    found += few_topics(kept) if n_draws else []
    method = f"{CONFIDENCE:.0%} intervals: bootstrap over topics, n={n_draws}" if n_draws else ""
    return Robustness(tuple(kept), tuple(found), method)
