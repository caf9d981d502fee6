"""A report on judgments without runs: agreement, what a label is worth, who differs, and what to judge twice."""

from __future__ import annotations

from venire.agreement.flags import FlaggedProfiles
from venire.data.assessors import nothing_declared
from venire.report.assessors import differing_sentence, pool_parts
from venire.report.document import Chapter, Part, Words
from venire.report.evidence import Evidence
from venire.report.headline import double_judgments
from venire.report.labels import judgments_finding, worth_finding
from venire.report.question import Missing
from venire.results import Note


def summary_chapter(evidence: Evidence) -> Chapter:
    """Write the first chapter: how well assessors agree, what a label is worth, and what to do next."""
    fit, found = evidence.user_fit, evidence.profiles
    if isinstance(fit, Missing):
        worth = fit.sentence("What a label is worth to a user")
    else:
        worth = worth_finding(evidence, fit)
    parts: list[Part] = pool_parts(evidence)
    if not isinstance(found, Missing):
        parts.append(Words(differing_sentence(FlaggedProfiles(found)), about="differ"))
    parts += [Words(_sentence(note), about=note.kind) for note in nothing_declared(evidence.judgments)]
    text = "No runs were given, so no systems are compared."
    parts += [*double_judgments(evidence), Words(text, about="no-runs")]
    return Chapter("summary", "Summary", f"{judgments_finding(evidence)} {worth}", tuple(parts))


def _sentence(note: Note) -> str:
    text = str(note)
    return f"{text[:1].upper()}{text[1:]}."
