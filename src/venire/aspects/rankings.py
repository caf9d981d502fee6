r"""Rankings by several aspects: which systems rise and fall when documents must be more than relevant.

The systems are scored with the grades on one aspect alone, and with gains from it and others together;
places are compared one by one, and the orders by Kendall's tau-b, with its interval over
resampled topics.  Scores themselves do not compare: other gains, other unit.

Gains from several aspects: one worth for a document that is relevant, but perhaps not to be trusted.

A document's grades on some aspects become one combined label, such as ``rel=2+trust=7``, on a scale without order, and
every combined label gets a gain.  With :math:`s_a` the grade on aspect a as a share of its top label and :math:`w_a`
its weight:

    sum        :math:`\sum_a w_a s_a / \sum_a w_a`     an aspect can make up for another
    minimum    :math:`\min_a s_a`                      the worst aspect decides
    product    :math:`\prod_a s_a^{w_a}`               a document that fails on one aspect is worth nothing
    prm, udm   P(users find every aspect satisfactory | combined label): the models of ``predicted_relevance`` on
               combined labels, as Demeester et al. (2014), Section 7, doi:10.1145/2556195.2556268, do for two units

The product with weights 1 is the gain of understandability-biased evaluation (Zuccon 2016,
doi:10.1007/978-3-319-30671-1_21).  All are within [0, 1], so that measures may read them as probabilities.  An aspect
that is N/A, or has no label, has no part in a document's sum, minimum or product: the others count for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from venire.io.runs import RunsLike, scan
from venire.measures.evaluate import as_list, evaluate
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike
from venire.results import Records, Tabular, counted
from venire.types import Bools, Floats, Ints, RNGLike

FORMULAS = ("sum", "minimum", "product")
MODELS = ("prm", "udm")
NO_LABEL_NAME = "none"


@dataclass(frozen=True, eq=False)
class CombinedAspects(Tabular):
    """Judgments with combined labels and the gains of these; ``evaluate(judgments, runs, gains=gains)`` takes both."""

    name: str
    judgments: Judgments
    gains: Gains
    aspects: tuple[str, ...]
    weights: tuple[float, ...]
    notes: tuple[str, ...] = ()

    def sentence(self) -> str:
        """Say what the gains are."""
        top = self.judgments.scale.labels[int(self.gains.values.argmax())]
        return (
            f"{self.name}: {counted(len(self.judgments.scale), 'combination')} of labels, worth "
            f"{self.gains.values.min():.2f} to {self.gains.values.max():.2f} ({top})."
        )

    def records(self) -> Records:
        """Return one row per combination of labels: what it is worth."""
        return self.gains.records()


def combine_aspects(
    aspects: Aspects,
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
    relevant : for models, the label from which on an aspect satisfies; without, its best label
    model : for models, how labels are paired; its ``relevant`` is passed over

    Examples
    --------
    >>> from venire import aspects_of, read_judgments
    >>> import polars as pl
    >>> table = pl.DataFrame({"topic": ["1", "1"], "doc": ["a", "b"], "rel": ["2", "1"], "trust": ["0", "4"]})
    >>> combine_aspects(aspects_of(read_judgments(table, layout="aspects")), {"rel": 1, "trust": 0.5}).gains
    Gains(rel + 0.5 trust: rel=1+trust=4 0.666667, rel=2+trust=0 0.666667)
    """
    weighed = _weighed(aspects, weights)
    turned = tuple(reverse)
    for name in (*turned, *(relevant or {})):
        aspects.number_of(name)
    columns = [aspects.number_of(name) for name in weighed]
    grade = aspects.grade[:, columns]
    rows = np.flatnonzero((grade >= 0).any(axis=1) & _graded(aspects, overall))
    made, patterns, notes = _labelled(aspects, tuple(weighed), grade, rows)
    name = _name(weighed, how, turned)
    if how in FORMULAS:
        shares = [shares_of_top(aspects.scale_of(a), exponential=exponential, reverse=a in turned) for a in weighed]
        gains = Gains(made.scale, _worth(patterns, shares, np.array([*weighed.values()]), how), name)
    else:
        satisfied = _satisfied(aspects, tuple(weighed), patterns, turned, relevant or {})
        gains = replace(_modelled(made, satisfied, how, model or PredictedRelevance(), rng), name=name)
    return CombinedAspects(name, made, gains, tuple(weighed), tuple(weighed.values()), notes)


def _weighed(aspects: Aspects, weights: Mapping[str, float] | Iterable[str] | None) -> dict[str, float]:
    """Settle the aspects that count and their weights, which are above 0."""
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


def _graded(aspects: Aspects, overall: str | None) -> Bools:
    if overall is None:
        return np.ones(len(aspects), dtype=np.bool_)
    return np.asarray(aspects.grades(overall) >= 0)


def _labelled(
    aspects: Aspects, names: tuple[str, ...], grade: Any, rows: Ints
) -> tuple[Judgments, Ints, tuple[str, ...]]:
    """Give rows combined labels; also the grades that each label combines (label, aspect), and what there is to say."""
    if not len(rows):
        raise AmbiguousLabels(f"no document has a grade on {' or '.join(names)}", hint="choose other aspects")
    patterns, label = np.unique(grade[rows], axis=0, return_inverse=True)
    texts = tuple(
        JOIN.join(f"{name}={_text(aspects.scale_of(name), level)}" for name, level in zip(names, pattern, strict=True))
        for pattern in patterns.tolist()
    )
    facets = {"given": aspects.given.take(rows)} if aspects.is_conditional[rows].any() else {}
    partly, left = int((grade[rows] < 0).any(axis=1).sum()), len(aspects) - len(rows)
    notes = []
    if left:
        notes.append(f"{counted(left, 'labelled document')} without a grade that counts taken as unjudged")
    if partly:
        notes.append(f"{counted(partly, 'labelled document')} without a grade on some aspect: the others count for it")
    made = Judgments(
        Scale(texts, "nominal"),
        aspects.items,
        aspects.item[rows],
        aspects.assessor.take(rows),
        label.reshape(-1).astype(np.int32),
        facets,
        None,
        tuple(notes),
    )
    return made, patterns.astype(np.int64), tuple(notes)


def _text(scale: Scale, level: int) -> str:
    return scale.labels[level] if level >= 0 else NOT_APPLICABLE if level == ABSENT else NO_LABEL_NAME


def _worth(patterns: Ints, shares: list[Floats], weights: Floats, how: str) -> Floats:
    """Gain of each combined label -> (label,); patterns (label, aspect), shares by aspect (level,)."""
    there = patterns >= 0
    worth = np.stack([each[np.maximum(column, 0)] for each, column in zip(shares, patterns.T, strict=True)], axis=1)
    if how == "minimum":
        return np.where(there.any(axis=1), np.where(there, worth, np.inf).min(axis=1), 0.0)
    if how == "product":
        return np.where(there.any(axis=1), np.where(there, worth**weights, 1.0).prod(axis=1), 0.0)
    total = (there * weights).sum(axis=1)
    summed = (np.where(there, worth, 0.0) * weights).sum(axis=1)
    return np.minimum(np.divide(summed, total, out=np.zeros(len(total)), where=total > 0), 1.0)


def _satisfied(
    aspects: Aspects, names: tuple[str, ...], patterns: Ints, reverse: tuple[str, ...], relevant: Mapping[str, str]
) -> Bools:
    """Which combined labels satisfy on every aspect -> (label,); an aspect that is N/A does not."""
    marks = []
    for name, column in zip(names, patterns.T, strict=True):
        scale, turned = aspects.scale_of(name), name in reverse
        least = scale.level_of(relevant[name]) if name in relevant else 0 if turned else len(scale) - 1
        marks.append((column >= 0) & ((column <= least) if turned else (column >= least)))
    return np.logical_and.reduce(marks)


def _modelled(judgments: Judgments, satisfied: Bools, how: str, model: PredictedRelevance, rng: RNGLike) -> Gains:
    """Gains by a model of disagreement, fitted on combined labels."""
    kind, _, share = how.partition(":")
    if kind not in MODELS:
        raise UnknownName("way to combine aspects", how, [*FORMULAS, "prm", "prm:M/N", "udm:M/N"])
    if not satisfied.any():
        raise SettingError(
            "no document has labels that satisfy on every aspect", hint="lower what satisfies: --relevant rel=1,trust=5"
        )
    wanted = [label for label, good in zip(judgments.scale.labels, satisfied, strict=True) if good]
    fit = replace(model, relevant=wanted).fit(judgments, rng=rng)
    if kind == "prm":
        return fit.gains(at_least=read_share(share) if share else (1, 1))
    return fit.udm_gains(read_share(share or "1/3"))


def _name(weights: Mapping[str, float], how: str, reverse: tuple[str, ...]) -> str:
    """Name gains after what they are made of: ``rel + 0.5 trust``, ``minimum of rel, trust``."""
    turned = {name: f"{name} (reversed)" if name in reverse else name for name in weights}
    if len(weights) == 1 and how in FORMULAS:
        return next(iter(turned.values()))
    if how == "sum":
        return " + ".join(
            turned[name] if weight == 1 else f"{weight:g} {turned[name]}" for name, weight in weights.items()
        )
    powers = [
        turned[name] if weight == 1 or how != "product" else f"{turned[name]}^{weight:g}"
        for name, weight in weights.items()
    ]
    return f"{how} of {', '.join(powers)}"


Weights = Mapping[str, float]


@dataclass(frozen=True)
class SystemPlace:
    """Where a system stands by one measure with some gains: mean score, rank, and how many places up from the base."""

    measure: str
    gains: str
    system: str
    score: float
    rank: int
    change: int


@dataclass(frozen=True)
class OrderAlike:
    """How alike the order is to that of the base: tau-b and its interval over topics, None where it is not defined."""

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
    """Places of systems, by the base first; how alike the orders are; scores by the name of gains."""

    base: str
    places: tuple[SystemPlace, ...]
    alike: tuple[OrderAlike, ...]
    scores: Mapping[str, Scores]
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """One record per measure, gains and system, best first."""
        return [dict(vars(each)) for each in self.places]

    def tau_records(self) -> list[dict[str, Any]]:
        """One record per measure and gains other than the base's."""
        return [dict(vars(each)) for each in self.alike]

    def sentence(self) -> str:
        """Say how much the order changes, for the first measure."""
        if not self.alike:
            return "There is nothing to compare: one ranking alone."
        first = [each for each in self.alike if each.measure == self.alike[0].measure]
        shown = "; ".join(
            f"with {each.gains} {counted(each.moved, 'system')} move, by up to {counted(each.largest, 'place')}"
            + ("" if each.tau is None else f" (tau {each.tau:.2f}{_between(each)})")
            for each in first
        )
        return f"By {first[0].measure}, compared with {self.base} alone: {shown}."


def _between(found: OrderAlike) -> str:
    return "" if found.low is None else f" [{found.low:.2f}, {found.high:.2f}]"


def aspect_rankings(
    aspects: Aspects,
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
    aspects, runs, measures : what is scored
    base : the aspect that the others are compared with, such as "rel"; documents without a grade on it are unjudged
    combinations : weights of aspects, one mapping per ranking; without, the base with each other aspect, and with all
    how, reverse, combining : how aspects are combined, and which are reversed; more for ``combine_aspects``
    scoring : assessor, pool, topics, unjudged and missing, as ``evaluate`` takes them
    """
    if scoring.get("per") is not None:
        raise SettingError("systems are ranked by one judge", hint="choose with assessor=, or pool labels with pool=")
    aspects.number_of(base)
    chosen = list(combinations) if combinations is not None else _usual(aspects, base)
    settings = {"reverse": tuple(reverse), "overall": base, "rng": rng, **(combining or {})}
    made = [combine_aspects(aspects, [base], reverse=[name for name in settings["reverse"] if name == base])]
    made += [combine_aspects(aspects, each, how=how, **settings) for each in chosen]
    made = list({each.name: each for each in made}.values())
    sources = scan(runs, made[0].judgments.items)
    scores = {each.name: _scored(each, sources, as_list(measures), scoring) for each in made}
    return _ranked(made[0].name, scores, made, n_draws=n_draws, rng=rng)


def _usual(aspects: Aspects, base: str) -> list[Weights]:
    others = [name for name in aspects.names if name != base]
    found: list[Weights] = [{base: 1.0, name: 1.0} for name in others]
    return found + ([dict.fromkeys([base, *others], 1.0)] if len(others) > 1 else [])


def _scored(made: CombinedAspects, runs: RunsLike, measures: list[MeasureLike], scoring: Mapping[str, Any]) -> Scores:
    return evaluate(made.judgments, runs, measures, gains=made.gains, **scoring)


def _ranked(
    base: str, scores: Mapping[str, Scores], made: list[CombinedAspects], *, n_draws: int, rng: RNGLike
) -> AspectRankings:
    first = scores[base]
    places, alike = [], []
    for number, measure in enumerate(first.names["measure"]):
        values = {name: each.values[:, :, number] for name, each in scores.items()}
        ranks = {name: _ranks(each) for name, each in values.items()}
        for name, each in values.items():
            places += _places(measure, name, first.names["system"], each, ranks[name], ranks[base])
            if name != base:
                alike.append(_alike((measure, name, base), values, ranks, n_draws=n_draws, rng=rng))
    notes = dict.fromkeys(note for each in made for note in (*each.notes, *scores[each.name].notes))
    return AspectRankings(base, tuple(places), tuple(alike), scores, tuple(notes))


def _means(values: Floats) -> Floats:
    """Means over topics that have a score -> (system,)."""
    there = ~np.isnan(values)
    n = there.sum(axis=1)
    return np.round(np.divide(np.where(there, values, 0).sum(axis=1), n, out=np.zeros(len(n)), where=n > 0), DIGITS)


def _ranks(values: Floats) -> Ints:
    """Rank by mean over topics, 1 for the best; equal means share the better rank.  values (system, topic)."""
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
    return OrderAlike(
        measure,
        name,
        base,
        row["value"],
        row["low"],
        row["high"],
        found.n_topics,
        int((moved > 0).sum()),
        int(moved.max(initial=0)),
        reason,
    )
