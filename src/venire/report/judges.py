"""Judges side by side: how far they agree, in one statistic, beside what people reach among themselves.

The statistic is Krippendorff's alpha on the level of the scale, since it takes any number of judges and missing labels.
It is read beside the alpha of the people, if several are declared.  If not, there is a published value: assessors of
web results reached a mean kappa of .412 (Golbus et al. 2014, doi:10.1145/2566486.2568015), which is beside the same
mean kappa here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from venire.agreement.alpha import alpha
from venire.data.judgments import is_conditional
from venire.report.evidence import Evidence
from venire.report.favour import favour_note, finders, tested
from venire.report.headline import contradictions_in_words, equal_judges
from venire.report.question import Missing, or_missing
from venire.results import known, listed

OPPOSED = "find significant differences between systems in opposite directions"
PUBLISHED = 0.41
"""Mean kappa of two assessors in Golbus et al. (2014)."""


@dataclass(frozen=True)
class JudgesPanel:
    """Agreement of all judges (None: not known), that of people alone, its reading, and what else is found."""

    alpha: float | None
    low: float | None
    high: float | None
    level: str
    people: float | None
    reading: str
    findings: tuple[str, ...]

    def content(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def judges_panel(evidence: Evidence) -> JudgesPanel:
    """Compare the judges."""
    found = None if isinstance(evidence.agreement, Missing) else _statistic(evidence, "krippendorff_alpha")
    findings = (*_contradicting(evidence), *_favouring(evidence), *equal_judges(evidence))
    if found is None or found["value"] is None:
        why = evidence.agreement.reason if isinstance(evidence.agreement, Missing) else "no item was judged twice"
        return JudgesPanel(None, None, None, "", None, f"How far judges agree is not known: {why}.", findings)
    people = _people(evidence)
    reading = _reading(evidence, float(found["value"]), people)
    return JudgesPanel(found["value"], found["low"], found["high"], found["level"], people, reading, findings)


def _statistic(evidence: Evidence, name: str, level: str = "") -> dict[str, Any] | None:
    """Return the first record of a statistic of all judges, on the level of the scale or on another."""
    found = [] if isinstance(evidence.agreement, Missing) else evidence.agreement
    return next(
        (each for each in found if each["name"] == name and "," not in each["raters"] and level in ("", each["level"])),
        None,
    )


def _people(evidence: Evidence) -> float | None:
    """Return the alpha of the declared people, if there are several besides other judges."""
    labels = evidence.question.judgments
    people = [name for name in evidence.judgments.people if name in labels.assessors]
    if len(people) < 2:
        return None
    own = labels.take(~is_conditional(labels)).where(assessor=people)
    found = or_missing(lambda: alpha(own, rng=evidence.question.rng))
    return None if isinstance(found, Missing) or found.value is None else known(found.value)


def _reading(evidence: Evidence, value: float, people: float | None) -> str:
    """Say how to read agreement: beside that of people, here or elsewhere."""
    names = evidence.judgments.people
    if people is not None and len(names) == len(evidence.judgments.assessors):
        return "All of them are people: this is what people reach among themselves here."
    if people is not None:
        less = "less than" if value < people - 0.01 else "more than" if value > people + 0.01 else "as much as"
        return (
            f"People ({listed(names)}) reach {people:.2f} among themselves: with the machines judges agree {less} that."
        )
    who = "Nothing declares who is a person" if not names else f"{listed(names)} is the only person declared"
    kappa = _statistic(evidence, "cohen_kappa", "nominal") or _statistic(evidence, "cohen_kappa")
    text = f"{who}, so what people reach among themselves is not known here"
    if kappa is None or kappa["value"] is None:
        return f"{text}."
    elsewhere = f"elsewhere two people reached a kappa of {PUBLISHED:g} (Golbus et al. 2014)"
    return f"{text}; {elsewhere}, and two judges here {kappa['value']:.2f}."


def _contradicting(evidence: Evidence) -> list[str]:
    """Say where judges contradict each other."""
    found = evidence.contradictions
    if found.found:
        return contradictions_in_words(evidence)
    if found.n_judges > 1 and len(evidence.facts.systems) > 1:
        return [f"No two of {found.n_judges} judges {OPPOSED}."]
    return []


def _favouring(evidence: Evidence) -> list[str]:
    """Say which systems judges favour, if a reference is declared."""
    note = favour_note(finders(evidence))
    if note is not None:
        return [f"{note}."]
    names = [each.judge for each in tested(evidence)]
    if not names:
        return []
    verb = "favours" if len(names) == 1 else "favour"
    return [f"Compared with {listed(evidence.judgments.reference)}, {listed(names)} {verb} no system significantly."]
