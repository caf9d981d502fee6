"""A study of labels on several aspects: its parts, each computed when it is asked for.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.1.  Coverage (Table 1): the share of documents with a
grade, not N/A, on an aspect, and on all of them (complete).  Distributions (Figure 2): of labels on complete documents
and on all; N/A is a label on the latter.  Changes (Figure 3): how often g(d|c) - g(d) has each size.  Documents count
whose overall label is a grade, once for every assessor (``labels``).  Departure: intervals over topics, where the paper
has none.  The other parts are correlations, clusters, predictive power, agreement per aspect; and, with runs, the
rankings by several aspects (``aspects.rankings``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from venire.agreement.table import table
from venire.aspects.cases import CHANGE, CONDITION, CONTEXTS, ISOLATION, Cases
from venire.aspects.correlations import AspectClusters, AspectCorrelations, aspect_clusters, aspect_correlations
from venire.aspects.prediction import Prediction, aspect_prediction
from venire.aspects.rankings import AspectRankings
from venire.data.aspects import ABSENT, NO_LABEL, Aspects
from venire.data.scale import NOT_APPLICABLE
from venire.io.aspects import AspectsLike, read_aspects
from venire.results import Note, Records, Tabular, counted
from venire.types import Bools, Ints, RNGLike

OVERALL = "overall"
COMPLETE, ALL = "complete", "all"
STATISTICS = ("krippendorff_alpha", "cohen_kappa", "jaccard", "raw_agreement")


@dataclass(frozen=True)
class _Rows(Tabular):
    rows: tuple[dict[str, Any], ...]

    def records(self) -> Records:
        """Return the rows."""
        return [dict(row) for row in self.rows]


@dataclass(frozen=True)
class Coverage(_Rows):
    """Coverage of aspects, one row per context and aspect; aspect None: of all of them together."""

    def share(self, aspect: str | None, context: str = ISOLATION) -> float | None:
        """Return the share of documents that have a grade on an aspect, or, for None, on all."""
        return next(row["share"] for row in self.rows if (row["aspect"], row["context"]) == (aspect, context))

    def sentence(self) -> str:
        """Return the share of documents with a grade on all aspects."""
        known = [row for row in self.rows if row["aspect"] is None and row["share"] is not None]
        shown = " and ".join(f"{row['share']:.1%} in {row['context']}" for row in known)
        return f"Documents with a grade, not {NOT_APPLICABLE}, on every aspect: {shown or 'unknown'}."


def aspect_coverage(cases: Cases) -> Coverage:
    """Count how many documents have a grade on each aspect, and on all (Table 1)."""
    names = (*cases.others, None)
    return Coverage(tuple(_covered(cases, context, name) for context in (ISOLATION, CONDITION) for name in names))


def _covered(cases: Cases, context: str, name: str | None) -> dict[str, Any]:
    rows, aspects = cases.rows(context), cases.aspects
    columns = [aspects.number_of(each) for each in (cases.others if name is None else (name,))]
    grade = aspects.grade[rows][:, columns]
    hits: Bools = np.asarray((grade >= 0).all(axis=1))
    found = cases.share(rows, hits, cases.nothing(context) or "there is no document")
    missing = (grade == NO_LABEL).any(axis=1)
    return {
        "context": context,
        "aspect": name,
        "labels": len(rows),
        "covered": int(hits.sum()),
        "not_applicable": int(((grade == ABSENT).any(axis=1) & ~missing).sum()),
        "missing": int(missing.sum()),
        **dict(zip(("share", "low", "high", "reason"), found, strict=True)),
    }


@dataclass(frozen=True)
class Distributions(_Rows):
    """Labels of each aspect, one row per context, sort of documents (complete or all), aspect and label."""

    def sentence(self) -> str:
        """Return the most frequent label of each aspect in isolation."""
        rows = [row for row in self.rows if row["documents"] == ALL and row["context"] == ISOLATION and row["count"]]
        by_name = {name: [row for row in rows if row["aspect"] == name] for name in (row["aspect"] for row in rows)}
        most = {name: max(some, key=lambda row: row["share"]) for name, some in by_name.items()}
        shown = ", ".join(f"{row['label']} for {name} ({row['share']:.0%})" for name, row in most.items())
        return f"Most frequent labels in isolation: {shown or 'none'}."


def aspect_distributions(cases: Cases) -> Distributions:
    """Count labels on documents that have a grade on every aspect, and on all documents (Figure 2)."""
    whole = cases.aspects.complete(cases.others)
    rows = [
        row
        for context in (ISOLATION, CONDITION)
        for documents in (COMPLETE, ALL)
        for name in cases.names
        for row in _labels(cases, name, context, documents, whole)
    ]
    return Distributions(tuple(rows))


def _labels(cases: Cases, name: str, context: str, documents: str, whole: Bools) -> list[dict[str, Any]]:
    rows = cases.rows(context)
    rows = rows[whole[rows]] if documents == COMPLETE else rows
    grade, labels = cases.aspects.grades(name)[rows], [NOT_APPLICABLE, *cases.aspects.scale_of(name).labels]
    counts = np.bincount(grade[grade > NO_LABEL] + 1, minlength=len(labels)).tolist()
    n = sum(counts)
    some = range(len(labels) if documents == ALL else len(labels) - 1)
    places = [(place + 1) % len(labels) for place in some]
    return [
        {
            "context": context,
            "documents": documents,
            "aspect": name,
            "label": labels[place],
            "count": counts[place],
            "share": counts[place] / n if n else None,
            "reason": None if n else cases.nothing(context) or "no document has a grade on every aspect",
        }
        for place in places
    ]


@dataclass(frozen=True)
class Changes(_Rows):
    """Changes of grades from isolation to condition, one row per aspect and size."""

    reason: str | None = None
    overall: str | None = None

    def sentence(self) -> str:
        """Return the shares of overall grades by size of change; without overall, of grades of all aspects."""
        if self.reason is not None:
            return f"Changes are not known: {self.reason}."
        overall = [row for row in self.rows if row["aspect"] == self.overall]
        sizes = [(row["size"], row["count"]) for row in overall or self.rows]
        n = sum(count for _, count in sizes)
        same, one = (sum(count for each, count in sizes if each == size) / n for size in (0, 1))
        what = counted(n, "grade") + (f" for {self.overall}" if overall else "")
        return (
            f"Of {what} given in isolation and after another document {same:.0%} are equal, {one:.0%} differ by one, "
            f"{1 - same - one:.0%} by more."
        )


def aspect_changes(cases: Cases) -> Changes:
    """Count how often grades change by each size between isolation and condition (Figure 3)."""
    reason = cases.nothing(CHANGE)
    if reason is not None:
        return Changes((), reason)
    rows = [row for name in cases.names for row in _sizes(cases, name)]
    return Changes(tuple(rows), None if rows else "no aspect has a grade both ways", cases.overall)


def _sizes(cases: Cases, name: str) -> Records:
    grade = cases.aspects.grades(name).astype(np.int64)
    both = (grade[cases.before] >= 0) & (grade[cases.after] >= 0)
    rows: Ints = cases.after[both]
    change = grade[rows] - grade[cases.before[both]]
    found = []
    for size in range(int(np.abs(change).max(initial=-1)) + 1):
        hits = np.abs(change) == size
        share = cases.share(rows, hits, "no grade both ways")
        counts = (int((hits & some).sum()) for some in (hits, change > 0, change < 0))
        row = {"aspect": name, "size": size, **dict(zip(("count", "raised", "lowered"), counts, strict=True))}
        found.append({**row, "labels": len(rows), **dict(zip(("share", "low", "high"), share[:3], strict=True))})
    return found


@dataclass(frozen=True, eq=False)
class AspectStudy(Tabular):
    """Study of labels on aspects; ``cases.overall`` names the one that stands for all, None: there is none."""

    cases: Cases
    splits: int = 5
    folds: int = 5
    n_clusters: int = 2
    rng: RNGLike = 0
    rankings: AspectRankings | None = None
    notes: tuple[Note | str, ...] = field(default=())

    @property
    def aspects(self) -> Aspects:
        """The labels."""
        return self.cases.aspects

    @cached_property
    def coverage(self) -> Coverage:
        """Share of documents with a grade (Table 1)."""
        return aspect_coverage(self.cases)

    @cached_property
    def distributions(self) -> Distributions:
        """Labels of each aspect (Figure 2)."""
        return aspect_distributions(self.cases)

    @cached_property
    def changes(self) -> Changes:
        """Changes of grades after another document (Figure 3)."""
        return aspect_changes(self.cases)

    @cached_property
    def correlations(self) -> AspectCorrelations:
        """Rank correlations of grades and of changes (Tables 2 and 3)."""
        return aspect_correlations(self.cases)

    @cached_property
    def prediction(self) -> Prediction:
        """Accuracy of overall predicted from other aspects."""
        return aspect_prediction(self.cases, splits=self.splits, folds=self.folds, rng=self.rng)

    @cached_property
    def clusters(self) -> tuple[AspectClusters, ...]:
        """Clusters by grades in isolation, by conditional grades, and by changes."""
        return tuple(aspect_clusters(self.correlations, each, n_clusters=self.n_clusters) for each in CONTEXTS)

    @cached_property
    def agreement(self) -> tuple[dict[str, Any], ...]:
        """Statistics of agreement for each aspect, of labels in isolation and of conditional labels."""
        return tuple(row for context in (ISOLATION, CONDITION) for row in _agreement(self.cases, context, self.rng))

    def records(self, part: str | None = None) -> Records:
        """Return the rows of one part; without a part, the summary."""
        if part is None:
            return self.summary()
        if part == "clusters":
            return [each.record() for each in self.clusters]
        if part == "agreement":
            return [dict(row) for row in self.agreement]
        found = getattr(self, part)
        return [] if found is None else list(found.records())

    def sentence(self) -> str:
        """Return what labels there are."""
        return self.aspects.sentence()

    def sentences(self, part: str) -> list[str]:
        """Return the sentence of a part, for clusters one for each context that has any."""
        if part == "clusters":
            known = [each.sentence() for each in self.clusters if each.groups]
            return known or [self.clusters[0].sentence()]
        if part == "agreement":
            alphas = [row for row in self.agreement if row["name"] == STATISTICS[0] and row["value"] is not None]
            if not alphas:
                reason = self.agreement[0]["reason"] if self.agreement else "there are no labels"
                return [f"Agreement per aspect is not known: {reason}."]
            first = {(row["context"], row["aspect"]): row["value"] for row in reversed(alphas)}
            shown = [f"{name} {value:.2f} in {context}" for (context, name), value in reversed(first.items())]
            return [f"Agreement of assessors (Krippendorff's alpha): {', '.join(shown)}."]
        found = getattr(self, part)
        return [] if found is None else [found.sentence()]

    def scales(self) -> Records:
        """Return the labels of each aspect."""
        return [
            {"aspect": name, "scale": str(scale), "overall": name == self.cases.overall}
            for name, scale in zip(self.aspects.names, self.aspects.scales, strict=True)
        ]

    def summary(self) -> Records:
        """Return one row per aspect: coverage and rho with overall in each context, and the share that changes."""
        overall, rows = self.cases.overall, []
        same = {row["aspect"]: row["share"] for row in self.changes.rows if row["size"] == 0}
        for name in self.cases.names:
            found: dict[str, Any] = {"aspect": name, "levels": len(self.aspects.scale_of(name))}
            for context in (ISOLATION, CONDITION):
                found[f"covered_{context}"] = None if name == overall else self.coverage.share(name, context)
            for context in CONTEXTS:
                other = overall is not None and name != overall
                rho = self.correlations.find(name, str(overall), context).rho.value if other else None
                found[f"rho_{context}"] = rho
            rows.append({**found, "changed": 1 - same[name] if name in same else None})
        return rows


def study_aspects(
    aspects: AspectsLike,
    *,
    overall: str | None = None,
    n_draws: int = 1000,
    splits: int = 5,
    folds: int = 5,
    n_clusters: int = 2,
    rankings: AspectRankings | None = None,
    rng: RNGLike = 0,
) -> AspectStudy:
    """Study labels on several aspects.

    overall: the aspect that stands for all; None: the one that is called "overall", if there is one.
    n_draws: number of resamples of topics; splits, folds: for predictive power; n_clusters: groups of aspects.
    """
    aspects = read_aspects(aspects)
    if overall is None and OVERALL in aspects.names:
        overall = OVERALL
    if overall is not None:
        aspects.number_of(overall)
    cases = Cases.of(aspects, overall, n_draws=n_draws, rng=rng)
    notes: dict[Any, None] = dict.fromkeys([*aspects.notes, *cases.notes, *(rankings.notes if rankings else ())])
    return AspectStudy(cases, splits, folds, n_clusters, rng, rankings, tuple(notes))


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
