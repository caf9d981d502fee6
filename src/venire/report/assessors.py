"""Many assessors: workers of a crowd as a distribution with those who differ, and judges by nearness to the reference.

*Pooled labels.*  Of a crowd, the label of an item is by a stated rule: the label that most workers gave, the lowest of
equally frequent ones (majority); their median; or the most probable class by Dawid and Skene's model (1979,
doi:10.2307/2346806).

*Nearness.*  Judges are ranked by Cohen's kappa of their labels with those of the reference on shared items, which is
known for a judge of a sample, too; Kendall's tau of the order of systems is shown beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from venire.agreement.flags import FEWEST, FlaggedProfiles
from venire.agreement.profiles import Profiles
from venire.comparison.by_judge import ENOUGH
from venire.data.assessors import by_content
from venire.kernels.rank_correlation import kendall_tau
from venire.report.document import Grid, Part, Picture, Words
from venire.report.evidence import Evidence
from venire.report.pictures import nearness_chart, workers_chart
from venire.report.question import Missing
from venire.results import Records, counted, known, listed
from venire.types import Floats, Ints

MANY = 25
"""With more assessors than this, their distribution is shown in place of a bar for each."""
LEAST_JUDGES = 2
"""Fewest judges besides the reference that are ranked."""
LEVELS = {"least": 0.0, "5%": 0.05, "25%": 0.25, "median": 0.5, "75%": 0.75, "95%": 0.95, "most": 1.0}
BINS, MOST_NAMED = 20, 5
WHAT = {
    "n_labels": "labels given",
    "agreement": "agreement",
    "kappa": "kappa",
    "leniency": "leniency",
    "entropy": "entropy",
}
RULES = {
    "majority": "the label that most of them gave it, the lowest of equally frequent ones",
    "median": "the median of their labels",
    "dawid-skene": "the most probable class by Dawid and Skene's model of their errors",
}


def pool_parts(evidence: Evidence) -> list[Part]:
    """State the rule by which labels are pooled, if they are."""
    if evidence.crowd is None or evidence.pool is None:
        return []
    n = counted(len(evidence.workers.assessors), "assessor")
    text = f"The labels of {n} are pooled by {evidence.pool}: the label of an item is {RULES[evidence.pool]}."
    asked = "" if evidence.question.pool else " Nobody judged half of the items, so no single assessor is the judge."
    apart = [name for name in evidence.crowd.judgments.assessors if name != evidence.judge]
    kept = f" The labels of {listed(apart)} are not pooled." if apart else ""
    return [Words(f"{text}{asked}{kept}", about="pooled")]


def pool_record(evidence: Evidence) -> dict[str, Any] | None:
    """Return the rule of the pool, its name as a judge, and how many are pooled; None if nothing is."""
    if evidence.crowd is None:
        return None
    own = evidence.crowd.judgments.where(assessor=evidence.judge)
    return {
        "rule": evidence.pool,
        "judge": evidence.judge,
        "n_assessors": len(evidence.workers.assessors),
        "n_labels": len(evidence.workers),
        "n_items": len(own),
        "labels": dict(zip(own.scale.labels, np.bincount(own.label, minlength=len(own.scale)).tolist(), strict=True)),
    }


def worker_parts(found: FlaggedProfiles) -> list[Part]:
    """Show the distribution of the numbers of workers: quantiles as a table, kappa as a histogram."""
    record = worker_record(found)
    caption = (
        f"Distribution over {counted(record['n'], 'assessor')}; agreement, kappa and leniency are of the "
        f"{record['n_compared']:,} who share {FEWEST} labels or more with others."
    )
    rows = [_in_whole_labels(row) if row["what"] == WHAT["n_labels"] else row for row in record["quantiles"]]
    parts: list[Part] = [Grid.of("workers", caption, rows)]
    if not record["histogram"]:
        return parts
    others = listed(found.profiles.reference) or "the others"
    words = f"A histogram of the kappa of assessors with {others}; those who differ notably are in another colour."
    caption = f"Kappa of each assessor with {others}; in another colour: assessors who differ notably."
    return [Picture("workers_kappa", caption, workers_chart(found.profiles, least=FEWEST), words), *parts]


def _in_whole_labels(row: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value) if isinstance(value, float) else value for name, value in row.items()}


def worker_record(found: FlaggedProfiles) -> dict[str, Any]:
    """Return the distribution of workers for JSON: quantiles, a histogram of kappa, and those who differ."""
    profiles, columns = found.profiles, found.profiles.columns()
    enough = profiles.n_shared >= FEWEST
    rows = []
    for name, words in WHAT.items():
        values = columns[name] if name in ("n_labels", "entropy") else columns[name][enough]
        values = values[~np.isnan(values)]
        cuts = np.quantile(values, list(LEVELS.values())).tolist() if len(values) else [None] * len(LEVELS)
        rows.append({"what": words, **dict(zip(LEVELS, cuts, strict=True))})
    return {
        "n": len(profiles.assessors),
        "n_compared": int(enough.sum()),
        "quantiles": rows,
        "histogram": _histogram(profiles, found),
        "outliers": _outliers(found),
    }


def _histogram(profiles: Profiles, found: FlaggedProfiles) -> Records:
    """Count assessors by kappa, in bins of a tenth."""
    kappa = np.where(profiles.n_shared >= FEWEST, profiles.kappa.value, np.nan)
    flagged = np.isin(np.arange(len(kappa)), list(found.habits))
    if np.isnan(kappa).all():
        return []
    edges = np.linspace(-1.0, 1.0, BINS + 1)
    every, differ = (np.histogram(kappa[chosen & ~np.isnan(kappa)], edges)[0] for chosen in (True | flagged, flagged))
    rows = zip(edges[:-1].round(2).tolist(), edges[1:].round(2).tolist(), every.tolist(), differ.tolist(), strict=True)
    return [dict(zip(("low", "high", "assessors", "differ"), row, strict=True)) for row in rows if row[2]]


def _outliers(found: FlaggedProfiles) -> Records:
    """Return who differs, the least agreement first."""
    rows = [row for row in found.records() if row["flags"]]
    rows.sort(key=lambda row: 0.0 if row["kappa"] is None else row["kappa"])
    return [{key: row[key] for key in ("assessor", "flags", "n_labels", "kappa", "leniency")} for row in rows]


def differing_sentence(found: FlaggedProfiles) -> str:
    """Say how many differ, and name those who agree least."""
    rows, others = _outliers(found), listed(found.profiles.reference) or "the others"
    n = counted(len(found.profiles.assessors) - len(found.profiles.reference), "assessor")
    if not rows:
        return f"None of {n} differs notably from {others}."
    named = [f"{row['assessor']} ({', '.join(row['flags'])})" for row in rows[:MOST_NAMED]]
    least = f": {listed(named)}" if len(rows) <= MOST_NAMED else f"; least agree {listed(named)}"
    differ = "differs" if len(rows) == 1 else "differ"
    return f"{len(rows):,} of {n} {differ} notably from {others}{least}."


def nearness_records(evidence: Evidence) -> Records:
    """Rank the judges besides the reference by kappa with it; none without a reference, or with one judge only."""
    profiles = evidence.profiles
    if isinstance(profiles, Missing) or not profiles.reference:
        return []
    judges = [name for name in by_content(evidence.question.judgments) if name not in profiles.reference]
    number = {name: n for n, name in enumerate(profiles.assessors)}
    kappa, tau = profiles.kappa, _taus(evidence)
    judges = [name for name in judges if not np.isnan(kappa.value[number[name]])]
    if len(judges) < LEAST_JUDGES:
        return []
    judges.sort(key=lambda name: -round(float(kappa.value[number[name]]), 9))
    return [
        {
            "rank": 1 + place,
            "judge": name,
            **{what: known(each[number[name]]) for what, each in _columns(profiles).items()},
            "items": int(profiles.n_shared[number[name]]),
            "tau": tau.get(name),
        }
        for place, name in enumerate(judges)
    ]


def _columns(profiles: Profiles) -> dict[str, Floats | Ints]:
    return {
        "kappa": profiles.kappa.value,
        "low": profiles.kappa.low,
        "high": profiles.kappa.high,
        "agreement": profiles.agreement.value,
        "leniency": profiles.leniency.value,
    }


def _taus(evidence: Evidence) -> dict[str, float | None]:
    """Return Kendall's tau of the order of systems with that by the reference, of judges who labelled nearly all."""
    if len(evidence.facts.systems) < 3:
        return {}
    scores = evidence.by_judge
    people = [n for n, name in enumerate(scores.judges) if name in scores.reference and scores.share[n, 0] >= ENOUGH]
    if not people:
        return {}
    order = np.round(scores.mean[people, :, 0].mean(axis=0), 9)
    whole = [n for n in range(len(scores.judges)) if scores.share[n, 0] >= ENOUGH]
    return {scores.judges[n]: known(float(kendall_tau(np.round(scores.mean[n, :, 0], 9), order))) for n in whole}


def nearness_parts(evidence: Evidence) -> list[Part]:
    """Show judges from the nearest to the reference to the farthest."""
    rows, profiles = nearness_records(evidence), evidence.profiles
    if not rows or isinstance(profiles, Missing):
        return []
    people = listed(evidence.judgments.reference)
    first, last = rows[0], rows[-1]
    text = f"Of {counted(len(rows), 'judge')}, {first['judge']} is nearest to {people} (kappa {first['kappa']:.2f})"
    text = f"{text}, {last['judge']} farthest ({last['kappa']:.2f})."
    caption = f"Judges by nearness to {people}: kappa on shared items with its 95% confidence interval."
    unseen: tuple[str, ...] = ("tau",)
    if any(row["tau"] is not None for row in rows):
        caption, unseen = f"{caption} Tau: of the order of systems with that by the reference.", ()
    words = f"Kappa of each judge with {people}, with intervals, the nearest first."
    return [
        Words(text, about="nearness"),
        Picture("nearness", f"Kappa of each judge with {people}, the nearest first.", nearness_chart(profiles), words),
        Grid.of("judges_by_nearness", caption, rows, shown=12, unseen=unseen),
    ]
