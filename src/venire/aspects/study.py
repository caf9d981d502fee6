"""A study of aspects: what several labels per document say, part by part, each computed when it is asked for.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.1.  The parts are coverage, distributions and changes
(``aspect_coverage``), correlations, clusters, predictive power, agreement per aspect; and, where there are runs, the
rankings by several aspects (``aspect_rankings``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from venire.agreement.table import table
from venire.aspects.cases import CHANGE, CONDITION, CONTEXTS, ISOLATION, Cases
from venire.aspects.correlations import AspectClusters, AspectCorrelations, aspect_clusters, aspect_correlations
from venire.aspects.coverage import (
    Changes,
    Coverage,
    Distributions,
    aspect_changes,
    aspect_coverage,
    aspect_distributions,
)
from venire.aspects.prediction import Prediction, aspect_prediction
from venire.aspects.rankings import AspectRankings
from venire.data.aspects import Aspects
from venire.results import Tabular
from venire.types import RNGLike

OVERALL = "overall"
PARTS = ("coverage", "distributions", "changes", "correlations", "prediction", "clusters", "agreement", "rankings")
STATISTICS = ("krippendorff_alpha", "cohen_kappa", "jaccard", "raw_agreement")


@dataclass(frozen=True, eq=False)
class AspectStudy(Tabular):
    """What can be asked of labels on aspects; ``overall`` names the one that stands for all, None: there is none."""

    cases: Cases
    splits: int = 5
    folds: int = 5
    n_clusters: int = 2
    rng: RNGLike = 0
    rankings: AspectRankings | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def aspects(self) -> Aspects:
        """The labels."""
        return self.cases.aspects

    @cached_property
    def coverage(self) -> Coverage:
        """How many documents get a grade (Table 1)."""
        return aspect_coverage(self.cases)

    @cached_property
    def distributions(self) -> Distributions:
        """Which labels they get (Figure 2)."""
        return aspect_distributions(self.cases)

    @cached_property
    def changes(self) -> Changes:
        """How far grades change in condition (Figure 3)."""
        return aspect_changes(self.cases)

    @cached_property
    def correlations(self) -> AspectCorrelations:
        """Rank correlations of grades and of changes (Tables 2 and 3)."""
        return aspect_correlations(self.cases)

    @cached_property
    def prediction(self) -> Prediction:
        """How often overall is known from other aspects."""
        return aspect_prediction(self.cases, splits=self.splits, folds=self.folds, rng=self.rng)

    @cached_property
    def clusters(self) -> tuple[AspectClusters, ...]:
        """Clusters by grades in isolation and in condition, and by changes."""
        return tuple(aspect_clusters(self.correlations, each, n_clusters=self.n_clusters) for each in CONTEXTS)

    @cached_property
    def agreement(self) -> tuple[dict[str, Any], ...]:
        """Statistics of agreement for each aspect, in isolation and in condition."""
        return tuple(row for context in (ISOLATION, CONDITION) for row in _agreement(self.cases, context, self.rng))

    def records(self, part: str | None = None) -> list[dict[str, Any]]:
        """One part as records, of which each is a JSON object; without a part, the summary."""
        if part is None:
            return self.summary()
        if part == "clusters":
            return [each.record() for each in self.clusters]
        if part == "agreement":
            return [dict(row) for row in self.agreement]
        if part == "rankings":
            return [] if self.rankings is None else self.rankings.records()
        found: list[dict[str, Any]] = getattr(self, part).records()
        return found

    def sentence(self) -> str:
        """Say what there is in one line."""
        return self.aspects.sentence()

    def sentences(self, part: str) -> list[str]:
        """Say a part in one sentence, or in one for each context that has something to say."""
        if part == "clusters":
            known = [each.sentence() for each in self.clusters if each.groups]
            return known or [self.clusters[0].sentence()]
        if part == "agreement":
            return [_said(self.agreement)]
        if part == "rankings":
            return [] if self.rankings is None else [self.rankings.sentence()]
        return [getattr(self, part).sentence()]

    def scales(self) -> list[dict[str, Any]]:
        """Say of each aspect which labels it has; one record each."""
        return [
            {"aspect": name, "scale": str(scale), "overall": name == self.cases.overall}
            for name, scale in zip(self.aspects.names, self.aspects.scales, strict=True)
        ]

    def summary(self) -> list[dict[str, Any]]:
        """One record per aspect: coverage both ways, rho with overall both ways, and how many grades change."""
        return [self._summed(name) for name in self.cases.names]

    def _summed(self, name: str) -> dict[str, Any]:
        overall = self.cases.overall
        other = name != overall and overall is not None
        changed = [row["share"] for row in self.changes.rows if row["aspect"] == name and row["size"] == 0]
        found: dict[str, Any] = {"aspect": name, "levels": len(self.aspects.scale_of(name))}
        for context in (ISOLATION, CONDITION):
            found[f"covered_{context}"] = None if name == overall else self.coverage.share(name, context)
        for context in CONTEXTS:
            rho = self.correlations.find(name, str(overall), context).rho.value if other else None
            found["rho_change" if context == CHANGE else f"rho_{context}"] = rho
        return {**found, "changed": 1 - changed[0] if changed else None}


def study_aspects(
    aspects: Aspects,
    *,
    overall: str | None = None,
    n_draws: int = 1000,
    splits: int = 5,
    folds: int = 5,
    n_clusters: int = 2,
    rankings: AspectRankings | None = None,
    rng: RNGLike = 0,
) -> AspectStudy:
    """Ask what labels on several aspects say.

    overall: the aspect that stands for all; without it, the one that is called "overall", if there is.
    n_draws: how often topics are resampled; splits, folds: for predictive power; n_clusters: groups of aspects.
    """
    if overall is None and OVERALL in aspects.names:
        overall = OVERALL
    if overall is not None:
        aspects.number_of(overall)
    cases = Cases.of(aspects, overall, n_draws=n_draws, rng=rng)
    notes = dict.fromkeys([*aspects.notes, *cases.notes, *(rankings.notes if rankings is not None else ())])
    settings: Mapping[str, Any] = {"splits": splits, "folds": folds, "n_clusters": n_clusters, "rng": rng}
    return AspectStudy(cases, rankings=rankings, notes=tuple(notes), **settings)


def _agreement(cases: Cases, context: str, rng: RNGLike) -> list[dict[str, Any]]:
    aspects = cases.aspects
    some = aspects.take(aspects.is_conditional == (context == CONDITION))
    if not len(some):
        return []
    return [
        {"context": context, "aspect": name, **row}
        for name in cases.names
        for row in table(some.judgments(name), names=STATISTICS, n_draws=300, rng=rng).records()
        if "," not in row["raters"]
    ]


def _said(rows: tuple[dict[str, Any], ...]) -> str:
    known = [row for row in rows if row["name"] == STATISTICS[0] and row["value"] is not None]
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for row in known:
        first.setdefault((row["context"], row["aspect"]), row)
    if not first:
        return f"Agreement per aspect is not known: {rows[0]['reason'] if rows else 'there are no labels'}."
    shown = ", ".join(f"{name} {row['value']:.2f} in {context}" for (context, name), row in first.items())
    return f"Agreement of assessors beyond chance (Krippendorff's alpha): {shown}."
