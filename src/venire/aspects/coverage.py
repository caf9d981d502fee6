"""Coverage of aspects: how many documents get a grade, which grades they get, and how far these change in condition.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.1.  Coverage (Table 1): the share of documents with a
grade, not N/A, on an aspect, and on all of them (complete).  Distributions (Figure 2): of labels on complete documents
and on all; N/A is a label on the latter.  Changes (Figure 3): how often g(d|c) - g(d) has each size.  Documents count
whose overall label is a grade, once for every assessor (``labels``).  Departure: intervals over topics, where the paper
has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.aspects.cases import CHANGE, CONDITION, ISOLATION, Cases
from venire.data.aspects import ABSENT, NO_LABEL
from venire.data.scale import NOT_APPLICABLE
from venire.results import Tabular, counted
from venire.types import Bools, Ints

COMPLETE, ALL = "complete", "all"


@dataclass(frozen=True)
class Coverage(Tabular):
    """Coverage of aspects, one record each; aspect None: of all of them together."""

    rows: tuple[dict[str, Any], ...]

    def records(self) -> list[dict[str, Any]]:
        """One record per context and aspect."""
        return [dict(row) for row in self.rows]

    def share(self, aspect: str | None, context: str = ISOLATION) -> float | None:
        """Share of documents that have a grade on an aspect, or, for None, on all."""
        return next(row["share"] for row in self.rows if (row["aspect"], row["context"]) == (aspect, context))

    def sentence(self) -> str:
        """Say how many documents are graded on all aspects."""
        shown = [f"{row['share']:.1%} in {row['context']}" for row in self.rows if _said(row)]
        return f"Documents with a grade, not {NOT_APPLICABLE}, on every aspect: {' and '.join(shown) or 'unknown'}."


def _said(row: dict[str, Any]) -> bool:
    return row["aspect"] is None and row["share"] is not None


def aspect_coverage(cases: Cases) -> Coverage:
    """Count how many documents have a grade on each aspect, and on all (Table 1)."""
    names: list[str | None] = [*cases.others, None]
    return Coverage(tuple(_covered(cases, context, name) for context in (ISOLATION, CONDITION) for name in names))


def _covered(cases: Cases, context: str, name: str | None) -> dict[str, Any]:
    rows, aspects = cases.rows(context), cases.aspects
    columns = [aspects.number_of(each) for each in (cases.others if name is None else (name,))]
    grade = aspects.grade[rows][:, columns]
    hits: Bools = np.asarray((grade >= 0).all(axis=1))
    found = cases.share(rows, hits, cases.nothing(context) or "no document counts")
    missing = (grade == NO_LABEL).any(axis=1)
    return {
        "context": context,
        "aspect": name,
        "labels": len(rows),
        "covered": int(hits.sum()),
        "not_applicable": int(((grade == ABSENT).any(axis=1) & ~missing).sum()),
        "missing": int(missing.sum()),
        "share": found.value,
        "low": found.low,
        "high": found.high,
        "reason": found.reason,
    }


@dataclass(frozen=True)
class Distributions(Tabular):
    """Labels of each aspect, one record per label, on complete documents and on all."""

    rows: tuple[dict[str, Any], ...]

    def records(self) -> list[dict[str, Any]]:
        """One record per context, sort of documents, aspect and label."""
        return [dict(row) for row in self.rows]

    def sentence(self) -> str:
        """Say which label each aspect gets most often in isolation."""
        most: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            if row["documents"] == ALL and row["context"] == ISOLATION and row["share"] is not None:
                best = most.get(row["aspect"])
                most[row["aspect"]] = row if best is None or row["share"] > best["share"] else best
        shown = ", ".join(f"{row['label']} for {name} ({row['share']:.0%})" for name, row in most.items())
        return f"Labels given most often in isolation: {shown or 'none'}."


def aspect_distributions(cases: Cases) -> Distributions:
    """Count labels on documents that have a grade on every aspect, and on all documents (Figure 2)."""
    aspects = cases.aspects
    whole = aspects.complete(cases.others)
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
class Changes(Tabular):
    """How far grades change from isolation to condition, one record per aspect and size."""

    rows: tuple[dict[str, Any], ...]
    reason: str | None = None
    overall: str | None = None

    def records(self) -> list[dict[str, Any]]:
        """One record per aspect and size of change."""
        return [dict(row) for row in self.rows]

    def sentence(self) -> str:
        """Say how many overall grades stay, change by one, and by more; without overall, grades of all aspects."""
        if self.reason is not None:
            return f"Changes are not known: {self.reason}."
        overall = [row for row in self.rows if row["aspect"] == self.overall]
        sizes = [(row["size"], row["count"]) for row in overall or self.rows]
        n = sum(count for _, count in sizes)
        stay, one = (sum(count for each, count in sizes if each == size) / n for size in (0, 1))
        what = counted(n, "grade") + (f" for {self.overall}" if overall else "")
        return f"Of {what} given both ways {stay:.0%} stay, {one:.0%} change by one, {1 - stay - one:.0%} by more."


def aspect_changes(cases: Cases) -> Changes:
    """Count how often grades change by each size between isolation and condition (Figure 3)."""
    reason = cases.nothing(CHANGE)
    if reason is not None:
        return Changes((), reason)
    rows = [row for name in cases.names for row in _sizes(cases, name)]
    return Changes(tuple(rows), None if rows else "no aspect has a grade both ways", cases.overall)


def _sizes(cases: Cases, name: str) -> list[dict[str, Any]]:
    grade = cases.aspects.grades(name).astype(np.int64)
    both = (grade[cases.before] >= 0) & (grade[cases.after] >= 0)
    rows: Ints = cases.after[both]
    change = grade[rows] - grade[cases.before[both]]
    found = []
    for size in range(int(np.abs(change).max(initial=-1)) + 1):
        hits = np.abs(change) == size
        share = cases.share(rows, hits, "no grade both ways")
        found.append(
            {
                "aspect": name,
                "size": size,
                "count": int(hits.sum()),
                "raised": int((hits & (change > 0)).sum()),
                "lowered": int((hits & (change < 0)).sum()),
                "labels": len(rows),
                "share": share.value,
                "low": share.low,
                "high": share.high,
            }
        )
    return found
