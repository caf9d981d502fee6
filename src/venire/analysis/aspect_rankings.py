"""Rankings by several aspects: which systems rise and fall when documents must be more than relevant.

The systems are scored with the grades on one aspect alone, and with gains from it and others together
(``models.aspect_gains``); places are compared one by one, and the orders by Kendall's tau-b, with its interval over
resampled topics.  Scores themselves do not compare: other gains, other unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.analysis.rank_correlations import DIGITS, Correlator
from venire.data.aspects import Aspects
from venire.errors import SettingError
from venire.io.run_sources import RunsLike, as_runs
from venire.measures.evaluate import evaluate, several
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike
from venire.models.aspect_gains import CombinedAspects, combine_aspects
from venire.tabular import Tabular
from venire.types import Floats, Ints, RNGLike
from venire.words import counted

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
    sources = as_runs(runs)
    scores = {each.name: _scored(each, sources, several(measures), scoring) for each in made}
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
