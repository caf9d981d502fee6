"""Certificates of judges: what was found of each, the verdicts in words, as a table and as JSON.

Judges are ranked by how near they are to the reference: by tau of the first measure, then by alpha.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from venire.certification.agreement import ReferenceAgreement
from venire.certification.alt_test import AltTest
from venire.certification.binding import KIND
from venire.certification.claims import CLAIMS, FAIL, NOT_ENOUGH, PASS, TIED, UNKNOWN, Claim, Criteria, Sample
from venire.certification.order import OrderAgreement
from venire.comparison.corrected_scores import CorrectedScores
from venire.comparison.favoured import FavouredSystems
from venire.io.documents import header
from venire.io.fingerprints import Input
from venire.results import Records, Tabular, counted, first_few, known, listed


@dataclass(frozen=True, eq=False)
class Judged:
    """What follows from the scores of one judge: corrected scores, order by measure, favoured systems, labels."""

    corrected: CorrectedScores
    order: tuple[OrderAgreement, ...]
    favoured: FavouredSystems | None
    sample: Sample


@dataclass(frozen=True, eq=False)
class JudgeCertificate(Tabular):
    """The certificate of one judge.

    share: how much of what the lists hold it labelled.  scores: None if that is too little, or if it shares
    no item with the reference; prompt: the hash of its prompt, if known; labels: the hash of its labels and those of
    the reference; copy_of: those of the reference whose labels are the same.
    """

    judge: str
    reference: tuple[str, ...]
    share: float
    agreement: ReferenceAgreement
    alt_test: AltTest
    scores: Judged | None
    claims: tuple[Claim, ...]
    labels: str
    prompt: str | None = None
    copy_of: tuple[str, ...] = ()
    notes: tuple[Any, ...] = ()

    @property
    def tau(self) -> float:
        """Tau of the first measure; NaN if it is not known."""
        return self.scores.order[0].tau.value if self.scores and self.scores.order else np.nan

    @property
    def nearness(self) -> tuple[bool, float, float]:
        """What judges are ranked by, lowest first: copies last, tau of the first measure, then alpha, both negative."""
        found = self.agreement.found
        alpha = np.nan if found is None or found.alpha.value is None else found.alpha.value
        tau, alpha = (np.inf if np.isnan(each) else -each for each in (self.tau, alpha))
        return bool(self.copy_of), float(tau), float(alpha)

    def verdict(self, claim: str, measure: str | None = None) -> Claim | None:
        """Return a claim by a measure, the first if none is named; None where it does not apply."""
        chosen = (each for each in self.claims if each.claim == claim and measure in (None, each.measure))
        return next(chosen, None)

    def sentence(self) -> str:
        """Say what the judge may be trusted with: claims that pass by every measure, fail by one, or are open.

        Without claims on orders where the judge and the reference tie all systems.
        """
        said = [each for each in self.claims if each.detail != TIED]
        verdicts = {name: {each.verdict for each in said if each.claim == name} for name in CLAIMS}
        worst = {
            name: next(each for each in (FAIL, NOT_ENOUGH, PASS) if each in v) for name, v in verdicts.items() if v
        }
        passed, failed, open_ = (
            [self._name(name, verdict) for name, found in worst.items() if found == verdict]
            for verdict in (PASS, FAIL, NOT_ENOUGH)
        )
        parts = [f"may be trusted with {listed(passed)}"] if passed else []
        parts += (
            [f"{'' if passed else 'may '}not {'' if passed else 'be trusted '}with {listed(failed)}"] if failed else []
        )
        if open_:
            what = listed(open_) if passed or failed else "any claim"
            parts.append(f"there are not enough labels to tell about {what}")
        text = f"{self.judge} {'; '.join(parts)}." if passed or failed else f"{self.judge}: {parts[0]}."
        if not self.copy_of:
            return text
        return f"{self.judge} is a copy of {listed(self.copy_of)}, not an independent judge. {text}"

    def _name(self, claim: str, verdict: str) -> str:
        """Name a claim in words, with the measures that have this verdict if others have another.

        Of pairs that pass by every measure, the differences from which on they are safe.
        """
        every = [each for each in self.claims if each.claim == claim]
        held = [each for each in every if each.verdict == verdict]
        if claim == "pairs" and verdict == PASS:
            return listed([each.safe() for each in held])
        return _NAMES[claim] + (f" by {listed([each.measure for each in held])}" if len(held) < len(every) else "")

    def records(self) -> Records:
        """Return one row per claim and measure."""
        return [each.record() for each in self.claims]

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        found = self.scores
        orders = [each.record() for each in found.order] if found else []
        empty = dict.fromkeys(("measure", "tau", "tau_ap", "kept", "lost", "reversed", "false"))
        corrected = found.corrected if found else None
        return {
            "judge": self.judge,
            "prompt": self.prompt,
            "copy_of": list(self.copy_of),
            "labels_sha256": self.labels,
            "share_labelled": known(self.share),
            "agreement": self.agreement.record(),
            "order": {**(orders[0] if orders else empty), "by_measure": orders},
            "alt_test": self.alt_test.record(),
            "scores": corrected.records() if corrected else [],
            "pairs": _pairs(corrected) if corrected else [],
            "favoured": found.favoured.records() if found and found.favoured else [],
            "favoured_families": found.favoured.family_records() if found and found.favoured else [],
            "claims": self.records(),
            "labels": found.sample.labelled if found else None,
            "results": found.sample.results if found else None,
            "labels_to_halve_intervals": found.sample.to_halve if found else None,
            "model": corrected.model if corrected else None,
            "sentence": self.sentence(),
            "notes": [str(note) for note in self.notes],
        }


_NAMES = {
    "levels": "levels of scores",
    "order": "the order of all systems",
    "top": "the order of the first systems",
    "pairs": "pairs that differ enough",
}


def _pairs(corrected: CorrectedScores) -> Records:
    if len(corrected.systems) < 2:
        return []
    return [row for measure in corrected.measures for row in corrected.pairs(measure).records()]


@dataclass(frozen=True, eq=False)
class Certificate(Tabular):
    """Certificates of judges, the nearest to the reference first, and the inputs that they are bound to."""

    reference: tuple[str, ...]
    measures: tuple[str, ...]
    judges: tuple[JudgeCertificate, ...]
    inputs: tuple[Input, ...]
    criteria: Criteria
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Any, ...] = ()

    def sentence(self) -> str:
        """Say what the nearest judge may be trusted with."""
        if len(self.judges) == 1:
            return self.judges[0].sentence()
        ranked = [each.judge for each in self.judges if not each.copy_of]
        repeated = [each.judge for each in self.judges if each.copy_of]
        parts = [f"Nearest to {listed(self.reference)} first: {first_few(ranked, 5)}."] if ranked else []
        if repeated:
            copied = dict.fromkeys(name for each in self.judges for name in each.copy_of)
            parts.append(f"Copies of {listed(list(copied))}, not independent judges: {first_few(repeated, 5)}.")
        return " ".join([*parts, self.judges[0].sentence()])

    def records(self) -> Records:
        """Return one row per judge, claim and measure."""
        return [{"judge": each.judge, **row} for each in self.judges for row in each.records()]

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            **header(KIND),
            "reference": list(self.reference),
            "measures": list(self.measures),
            "judges": [each.record() for each in self.judges],
            "inputs": [each._asdict() for each in self.inputs],
            "criteria": asdict(self.criteria),
            "settings": dict(self.settings),
            "notes": [str(note) for note in self.notes],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return self.record()


def ranked_table(certificate: Certificate) -> Records:
    """Return one row per judge and measure: agreement, tau with its interval, verdicts, and for pairs x and the share.

    safe_pairs is the share of pairs of systems that differ by more than x.
    """
    rows = []
    for each in certificate.judges:
        found = each.agreement.found
        for number, measure in enumerate(certificate.measures):
            order = each.scores.order[number] if each.scores and each.scores.order else None
            tau = order.tau if order else UNKNOWN
            pairs = each.verdict("pairs", measure)
            rows.append(
                {
                    "judge": each.judge,
                    "measure": measure,
                    "alpha": found.alpha.value if found else None,
                    "tau": known(tau.value),
                    "tau_low": known(tau.low),
                    "tau_high": known(tau.high),
                    **{name: _verdict(each, name, measure) for name in CLAIMS},
                    "x": known(pairs.found.value) if pairs else None,
                    "safe_pairs": known(pairs.share) if pairs else None,
                }
            )
    return rows


def _verdict(judge: JudgeCertificate, name: str, measure: str) -> str | None:
    found = judge.verdict(name, measure)
    return found.verdict if found else None


def summary(certificate: Certificate) -> str:
    """Say for how many judges each claim passes."""
    n = len(certificate.judges)
    passed = [
        f"{_NAMES[name]} {sum(_verdict(each, name, certificate.measures[0]) == PASS for each in certificate.judges)}"
        for name in CLAIMS
    ]
    return f"Of {counted(n, 'judge')}, by {certificate.measures[0]}, pass: {', '.join(passed)}."
