"""Favoured systems in the report: does a judge overrate a system, compared with the reference?

Only where a reference is declared.  The judge who scores the runs is tested or, if that is the reference itself, the
declared machines, or without them all other assessors (``Evidence.judges_to_test``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from venire.comparison.favoured import MARGIN, FavouredSystems
from venire.report.document import Grid, Part, Words, warning
from venire.report.evidence import Evidence
from venire.report.question import Missing
from venire.results import Note, Records, listed

MOST_SHOWN = 3


def tested(evidence: Evidence) -> list[FavouredSystems]:
    """Return the results of the judges that could be tested."""
    return [each for each in evidence.favoured.values() if not isinstance(each, Missing)]


def finders(evidence: Evidence) -> list[FavouredSystems]:
    """Return the results of the judges who favour a system, or a declared family of systems."""
    return [each for each in tested(evidence) if each.found or each.found_families]


def favour_note(found: Sequence[FavouredSystems]) -> Note | None:
    """Say in one sentence whom the first of these judges favours, and who else favours systems; None for nobody."""
    if not found:
        return None
    first, others = found[0], tuple(each.judge for each in found[1:])
    family = first.found_families[0] if first.found_families else None
    findings = first.by_system if family is None else first.by_family
    name = first.found[0] if family is None else family
    number = findings.names.index(name)
    text = "{judge} favours {whom}: compared with the other systems, the {measure} of {name} is {more:.3f} higher by "
    text += "{judge} than by {reference} (adjusted p = {p:.2g})"
    text += f"; {{others:list}} also favour{'s' if len(others) == 1 else ''} systems" if others else ""
    return Note(
        "favoured-system",
        text,
        judge=first.judge,
        systems=first.found,
        family=family,
        whom=listed(first.found, MOST_SHOWN) if family is None else _family(first, family),
        name=name if family is None else "these",
        measure=first.measures[0],
        more=-float(findings.residual[number, 0]),
        p=float(findings.p_adjusted[number, 0]),
        reference=listed(first.reference),
        others=others,
    )


def _family(found: FavouredSystems, family: str) -> str:
    """Name a family of systems in words: that of the judge itself, or another."""
    own = any(note.kind == "self-preference" and note.fields["family"] == family for note in found.notes)
    return f"the systems of {'its own' if own else 'the'} family {family}"


def favour_records(evidence: Evidence) -> Records:
    """Return one row per judge and system, or family, that it favours; negative residuals are favour."""
    rows: Records = []
    for each in finders(evidence):
        families = [row for row in each.family_records() if row["family"] in each.found_families]
        rows += [{"judge": each.judge, **row} for row in families]
        rows += [{"judge": each.judge, **row} for row in each.records() if row["system"] in each.found]
    return rows


def favour_parts(evidence: Evidence) -> list[Part]:
    """Show residuals by judge and system where one is favoured, and say who favours none or could not be tested."""
    found, parts = finders(evidence), list[Part]()
    if found:
        parts += [_residuals(found), *_explained(found)]
    elif names := [each.judge for each in tested(evidence)]:
        who = f"{listed(names)} favour{'s' if len(names) == 1 else ''} no system significantly"
        parts.append(Words(f"Compared with {listed(evidence.judgments.reference)}, {who}.", about="no-favour"))
    for judge, missing in evidence.favoured.items():
        if isinstance(missing, Missing):
            text = missing.sentence(f"Whether {judge} favours systems")
            parts.append(Words(text, "warning", about="favour-unknown"))
    if evidence.question.families and not evidence.favoured:
        text = "No judge other than the reference labelled nearly all results, so families are not tested for favour"
        parts.append(warning(text, about="favour-unknown"))
    return parts


def _residuals(found: Sequence[FavouredSystems]) -> Grid:
    """Return the table of residuals of the judges who favour systems, the most favoured first."""
    rows = [
        {"judge": each.judge, "system": row.get("system") or f"family {row['family']}"}
        | {key: row[key] for key in ("residual", "low", "high", "p_adjusted")}
        for each in found
        for row in sorted([*each.family_records(), *each.records()], key=_residual)
    ]
    caption = (
        f"{found[0].measures[0]} by {listed(found[0].reference)} less that by the judge, compared with the other "
        "systems, with 95% intervals; negative: the judge favours the system. P-values are adjusted for the systems "
        f"and the judges tested, and are for differences beyond {MARGIN:g} of the best possible score."
    )
    return Grid.of("favoured", caption, rows, shown=10)


def _residual(row: dict[str, Any]) -> float:
    """Return the residual of a row; systems without one come last."""
    return float("inf") if row["residual"] is None else float(row["residual"])


def _explained(found: Sequence[FavouredSystems]) -> list[Part]:
    """Return what the residuals rest on, and which systems rank as a judge labels."""
    kinds = ("linearised", "assumed-sample", "judge-as-ranker")
    notes = dict.fromkeys(note for each in found for note in each.notes if note.kind in kinds)
    return [Words(f"{str(note)[:1].upper()}{str(note)[1:]}.", about=note.kind) for note in notes]
