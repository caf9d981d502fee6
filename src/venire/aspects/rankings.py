r"""Gains from several aspects, and rankings of systems by them.

The grades of a document on some aspects become one combined label, such as ``rel=2+trust=7``, on a scale without order,
and every combined label gets a gain.  With :math:`s_a` the grade on aspect a as a share of its top label and
:math:`w_a` its weight:

    sum        :math:`\sum_a w_a s_a / \sum_a w_a`     an aspect can compensate another
    minimum    :math:`\min_a s_a`                      the worst aspect decides
    product    :math:`\prod_a s_a^{w_a}`               a document that fails on one aspect has gain 0
    prm, udm   P(users find every aspect satisfactory | combined label): the models of ``predicted_relevance`` on
               combined labels, as Demeester et al. (2014), Section 7, doi:10.1145/2556195.2556268, do for two units

The product with weights 1 is the gain of understandability-biased evaluation (Zuccon 2016,
doi:10.1007/978-3-319-30671-1_21).  All are within [0, 1], so that measures may read them as probabilities.  An aspect
that is N/A, or has no label, is left out of a document's sum, minimum or product.

``aspect_rankings`` scores systems with the grades on one aspect, the base, and with gains from it and others together.
It compares ranks, and the orders by Kendall's tau-b with its interval over resampled topics.  Scores by different gains
are not comparable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from venire.comparison.rank_agreement import DIGITS, Correlator
from venire.data.aspects import ABSENT, Aspects, shares_of_top
from venire.data.gains import Gains
from venire.data.judgments import Judgments
from venire.data.scale import NOT_APPLICABLE, Scale
from venire.disagreement.combined_labels import JOIN
from venire.disagreement.gains import read_share
from venire.disagreement.predicted_relevance import PredictedRelevance
from venire.errors import AmbiguousLabels, SettingError, UnknownName
from venire.io.aspects import AspectsLike, read_aspects
from venire.io.runs import RunsLike, scan
from venire.measures.evaluate import as_list, evaluate
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike
from venire.results import Note, Records, Tabular, counted
from venire.types import Bools, Floats, Ints, RNGLike

FORMULAS = ("sum", "minimum", "product")
MODELS = ("prm", "udm")
NO_LABEL_NAME = "none"
Weights = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class CombinedAspects(Tabular):
    """Judgments with combined labels and the gains of these; ``evaluate(judgments, runs, gains=gains)`` takes both."""

    name: str
    judgments: Judgments
    gains: Gains
    aspects: tuple[str, ...]
    weights: tuple[float, ...]
    notes: tuple[Note, ...] = ()

    def sentence(self) -> str:
        """Return the range of the gains."""
        gains = self.gains.values
        labels = counted(len(self.judgments.scale), "combination")
        return f"{self.name}: {labels} of labels with gains from {gains.min():.2f} to {gains.max():.2f}."

    def records(self) -> Records:
        """Return one row per combination of labels: its gain."""
        return self.gains.records()


def combine_aspects(
    aspects: AspectsLike,
    weights: Mapping[str, float] | Iterable[str] | None = None,
    *,
    how: str = "sum",
    reverse: Iterable[str] = (),
    exponential: bool = False,
    overall: str | None = None,
    relevant: Mapping[str, str] | None = None,
    model: PredictedRelevance | None = None,
    rng: RNGLike = 0,
) -> CombinedAspects:
    """Make one label and one gain of a document's labels on several aspects.

    Parameters
    ----------
    aspects : labels by aspect
    weights : the aspects and their weights; names alone, or None for all aspects, are weights of 1
    how : "sum", "minimum", "product", or "prm", "prm:M/N", "udm:M/N" for models of disagreement
    reverse : aspects whose lowest label is the best
    exponential : grades count as 2^level - 1, not as the level, of the top label's
    overall : leave documents out that have no grade on this aspect
    relevant : for models, the lowest label that satisfies on an aspect; without, its best label
    model : for models, how labels are paired; its ``relevant`` is not used

    Examples
    --------
    >>> from venire import read_judgments
    >>> from venire.data import aspects_of
    >>> import polars as pl
    >>> table = pl.DataFrame({"topic": ["1", "1"], "doc": ["a", "b"], "rel": ["2", "1"], "trust": ["0", "4"]})
    >>> combine_aspects(aspects_of(read_judgments(table, layout="aspects")), {"rel": 1, "trust": 0.5}).gains
    Gains(rel + 0.5 trust: rel=1+trust=4 0.666667, rel=2+trust=0 0.666667)
    """
    aspects = read_aspects(aspects)
    weighted, reversed_ = _weighted(aspects, weights), tuple(reverse)
    for name in (*reversed_, *(relevant or {})):
        aspects.number_of(name)
    grade = aspects.grade[:, [aspects.number_of(name) for name in weighted]]
    counts = np.ones(len(aspects), dtype=np.bool_) if overall is None else aspects.grades(overall) >= 0
    made, patterns = _labelled(aspects, tuple(weighted), grade, np.flatnonzero((grade >= 0).any(axis=1) & counts))
    name = _name(weighted, how, reversed_)
    if how in FORMULAS:
        shares = [shares_of_top(aspects.scale_of(a), exponential=exponential, reverse=a in reversed_) for a in weighted]
        gains = Gains(made.scale, _gains(patterns, shares, np.array([*weighted.values()]), how), name)
    else:
        satisfied = _satisfied(aspects, tuple(weighted), patterns, reversed_, relevant or {})
        gains = replace(_modelled(made, satisfied, how, model or PredictedRelevance(), rng), name=name)
    notes: tuple[Any, ...] = made.notes
    return CombinedAspects(name, made, gains, tuple(weighted), tuple(weighted.values()), notes)


def _weighted(aspects: Aspects, weights: Mapping[str, float] | Iterable[str] | None) -> dict[str, float]:
    """Return the aspects that count and their weights, which are above 0."""
    named = aspects.names if weights is None else weights
    found = {str(name): float(weights[name]) if isinstance(weights, Mapping) else 1.0 for name in named}
    for name, weight in found.items():
        aspects.number_of(name)
        if not 0 <= weight < np.inf:
            raise SettingError(f"{name} has the weight {weight:g}, expected 0 or more", hint="as in rel=1,trust=0.5")
    found = {name: weight for name, weight in found.items() if weight > 0}
    if not found:
        raise SettingError("no aspect has a weight above 0", hint="as in rel=1,trust=0.5")
    return found


def _labelled(aspects: Aspects, names: tuple[str, ...], grade: Any, rows: Ints) -> tuple[Judgments, Ints]:
    """Give rows combined labels; also return the grades that each label combines (label, aspect)."""
    if not len(rows):
        raise AmbiguousLabels(f"no document has a grade on {' or '.join(names)}", hint="choose other aspects")
    patterns, label = np.unique(grade[rows], axis=0, return_inverse=True)
    texts = tuple(
        JOIN.join(f"{name}={_text(aspects.scale_of(name), level)}" for name, level in zip(names, pattern, strict=True))
        for pattern in patterns.tolist()
    )
    facets = {"given": aspects.given.take(rows)} if aspects.is_conditional[rows].any() else {}
    partly, left = int((grade[rows] < 0).any(axis=1).sum()), len(aspects) - len(rows)
    words = "{n:labelled document} without a grade that counts taken as unjudged"
    notes: list[Any] = [Note("no-grade", words, n=left)] * (left > 0)
    words = "{n:labelled document} without a grade on some aspect: the others count"
    notes += [Note("partial-grades", words, n=partly)] * (partly > 0)
    labels = label.reshape(-1).astype(np.int32)
    columns = aspects.items, aspects.item[rows], aspects.assessor.take(rows), labels
    return Judgments(Scale(texts, "nominal"), *columns, facets, None, tuple(notes)), patterns.astype(np.int64)


def _text(scale: Scale, level: int) -> str:
    return scale.labels[level] if level >= 0 else NOT_APPLICABLE if level == ABSENT else NO_LABEL_NAME


def _gains(patterns: Ints, shares: list[Floats], weights: Floats, how: str) -> Floats:
    """Return the gain of each combined label -> (label,); patterns (label, aspect), shares by aspect (level,)."""
    present = patterns >= 0
    share = np.stack([each[np.maximum(column, 0)] for each, column in zip(shares, patterns.T, strict=True)], axis=1)
    if how == "minimum":
        return np.where(present.any(axis=1), np.where(present, share, np.inf).min(axis=1), 0.0)
    if how == "product":
        return np.where(present.any(axis=1), np.where(present, share**weights, 1.0).prod(axis=1), 0.0)
    total = (present * weights).sum(axis=1)
    summed = (np.where(present, share, 0.0) * weights).sum(axis=1)
    return np.minimum(np.divide(summed, total, out=np.zeros(len(total)), where=total > 0), 1.0)


def _satisfied(
    aspects: Aspects, names: tuple[str, ...], patterns: Ints, reverse: tuple[str, ...], relevant: Mapping[str, str]
) -> Bools:
    """Return which combined labels satisfy on every aspect -> (label,); N/A does not."""
    marks = []
    for name, column in zip(names, patterns.T, strict=True):
        scale, turned = aspects.scale_of(name), name in reverse
        least = scale.level_of(relevant[name]) if name in relevant else 0 if turned else len(scale) - 1
        marks.append((column >= 0) & ((column <= least) if turned else (column >= least)))
    return np.logical_and.reduce(marks)


def _modelled(judgments: Judgments, satisfied: Bools, how: str, model: PredictedRelevance, rng: RNGLike) -> Gains:
    """Return gains by a model of disagreement, fitted on combined labels."""
    kind, _, share = how.partition(":")
    if kind not in MODELS:
        raise UnknownName("way to combine aspects", how, [*FORMULAS, "prm", "prm:M/N", "udm:M/N"])
    if not satisfied.any():
        message = "no document has labels that satisfy on every aspect"
        raise SettingError(message, hint="let lower labels satisfy, as in rel=1,trust=5")
    wanted = [label for label, good in zip(judgments.scale.labels, satisfied, strict=True) if good]
    fit = replace(model, relevant=wanted).fit(judgments, rng=rng)
    if kind == "prm":
        return fit.gains(at_least=read_share(share) if share else (1, 1))
    return fit.udm_gains(read_share(share or "1/3"))


def _name(weights: Mapping[str, float], how: str, reverse: tuple[str, ...]) -> str:
    """Return the name of gains: ``rel + 0.5 trust``, ``minimum of rel, trust``."""
    names = {name: f"{name} (reversed)" if name in reverse else name for name in weights}
    if len(weights) == 1 and how in FORMULAS:
        return next(iter(names.values()))
    form = {"sum": "{weight:g} {name}", "product": "{name}^{weight:g}"}.get(how, "{name}")
    parts = [
        names[name] if weight == 1 else form.format(name=names[name], weight=weight) for name, weight in weights.items()
    ]
    return " + ".join(parts) if how == "sum" else f"{how} of {', '.join(parts)}"


@dataclass(frozen=True)
class SystemPlace:
    """Rank of a system by one measure with some gains: mean score, rank, and number of places up from the base."""

    measure: str
    gains: str
    system: str
    score: float
    rank: int
    change: int


@dataclass(frozen=True)
class OrderAlike:
    """Rank correlation with the order of the base: tau-b and its interval over topics, None where undefined."""

    measure: str
    gains: str
    base: str
    tau: float | None
    low: float | None
    high: float | None
    topics: int
    moved: int
    largest: int
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class AspectRankings(Tabular):
    """Ranks of systems, by the base first; rank correlations with the base; scores by the name of gains."""

    base: str
    places: tuple[SystemPlace, ...]
    alike: tuple[OrderAlike, ...]
    scores: Mapping[str, Scores]
    notes: tuple[Note | str, ...] = ()

    def records(self) -> Records:
        """Return one row per measure, gains and system, best first."""
        return [asdict(each) for each in self.places]

    def tau_records(self) -> Records:
        """Return one row per measure and gains other than the base's."""
        return [asdict(each) for each in self.alike]

    def sentence(self) -> str:
        """Return how much the order changes, by the first measure."""
        shown = [
            f"with {each.gains} {counted(each.moved, 'system')} of another rank, by up to "
            f"{counted(each.largest, 'place')}" + ("" if each.tau is None else f" (tau {each.tau:.2f})")
            for each in self.alike
            if each.measure == self.alike[0].measure
        ]
        measure = self.alike[0].measure if self.alike else "any measure"
        return f"Ranks by {measure}, compared with {self.base} alone: {'; '.join(shown) or 'no other ranking'}."


def aspect_rankings(
    aspects: AspectsLike,
    runs: RunsLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("nDCG@10",),
    *,
    base: str,
    combinations: Iterable[Weights] | None = None,
    how: str = "sum",
    reverse: Iterable[str] = (),
    n_draws: int = 1000,
    rng: RNGLike = 0,
    combining: Mapping[str, Any] | None = None,
    **scoring: Any,
) -> AspectRankings:
    """Rank systems by one aspect alone and by several together.

    Parameters
    ----------
    aspects, runs, measures : labels by aspect, and what is scored
    base : the aspect that the others are compared with, such as "rel"; documents without a grade on it are unjudged
    combinations : weights of aspects, one mapping per ranking; without, the base with each other aspect, and with all
    how, reverse, combining : how aspects are combined, and which are reversed; more for ``combine_aspects``
    scoring : assessor, pool, topics, unjudged and missing, as ``evaluate`` takes them
    """
    aspects = read_aspects(aspects)
    if scoring.get("per") is not None:
        raise SettingError("systems are ranked by one judge", hint="choose an assessor, or pool labels")
    aspects.number_of(base)
    chosen = list(combinations) if combinations is not None else _usual(aspects, base)
    settings = {"reverse": tuple(reverse), "overall": base, "rng": rng, **(combining or {})}
    made = [combine_aspects(aspects, [base], reverse=[name for name in settings["reverse"] if name == base])]
    made += [combine_aspects(aspects, each, how=how, **settings) for each in chosen]
    by_name = {each.name: each for each in made}
    sources = scan(runs, made[0].judgments.items)
    scores = {
        name: evaluate(each.judgments, sources, as_list(measures), gains=each.gains, **scoring)
        for name, each in by_name.items()
    }
    own, first = made[0].name, scores[made[0].name]
    places, alike = [], []
    for number, measure in enumerate(first.names["measure"]):
        values = {name: each.values[:, :, number] for name, each in scores.items()}
        ranks = {name: _ranks(each) for name, each in values.items()}
        for name, each in values.items():
            places += _places(measure, name, first.names["system"], each, ranks[name], ranks[own])
            if name != own:
                alike.append(_alike((measure, name, own), values, ranks, n_draws=n_draws, rng=rng))
    notes: dict[Any, None] = dict.fromkeys(
        note for name, each in by_name.items() for note in (*each.notes, *scores[name].notes)
    )
    return AspectRankings(own, tuple(places), tuple(alike), scores, tuple(notes))


def _usual(aspects: Aspects, base: str) -> list[Weights]:
    others = [name for name in aspects.names if name != base]
    found: list[Weights] = [{base: 1.0, name: 1.0} for name in others]
    return found + ([dict.fromkeys([base, *others], 1.0)] if len(others) > 1 else [])


def _means(values: Floats) -> Floats:
    """Return means over topics that have a score -> (system,)."""
    present = ~np.isnan(values)
    n = present.sum(axis=1)
    return np.round(np.divide(np.where(present, values, 0).sum(axis=1), n, out=np.zeros(len(n)), where=n > 0), DIGITS)


def _ranks(values: Floats) -> Ints:
    """Return ranks by mean over topics, 1 for the best; equal means share the better rank.  values (system, topic)."""
    means = _means(values)
    return 1 + np.searchsorted(np.sort(-means), -means, side="left")


def _places(
    measure: str, gains: str, systems: tuple[str, ...], values: Floats, rank: Ints, base: Ints
) -> list[SystemPlace]:
    means = _means(values).tolist()
    order = np.lexsort((np.arange(len(rank)), rank)).tolist()
    return [SystemPlace(measure, gains, systems[n], means[n], int(rank[n]), int(base[n] - rank[n])) for n in order]


def _alike(
    what: tuple[str, str, str], values: Mapping[str, Floats], ranks: Mapping[str, Ints], *, n_draws: int, rng: RNGLike
) -> OrderAlike:
    measure, name, base = what
    correlator = Correlator.of("tau-b", values[base].shape[1], n_draws=n_draws, rng=rng)
    found = correlator.two(values[base], values[name])
    row = correlator.rows([found], between="gains", measure=measure, gains=base, other_gains=name)[0].record()
    moved = np.abs(ranks[name] - ranks[base])
    reason = None if row["value"] is not None else "fewer than two systems, or all of them tied"
    numbers = found.n_topics, int((moved > 0).sum()), int(moved.max(initial=0))
    return OrderAlike(measure, name, base, row["value"], row["low"], row["high"], *numbers, reason)
