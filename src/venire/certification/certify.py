"""Certificate: what the labels of a judge, such as a language model, may be trusted with.

For each judge, from its labels on (nearly) everything and those of the reference on all or some of it: agreement
beside what people reach among themselves (``certification.agreement``), the alternative annotator test
(``certification.alt_test``), the order of systems (``certification.order``), systems that it favours
(``comparison.favoured``), the scores that the reference would give (``comparison.corrected_scores``), and a verdict for
each claim (``certification.claims``).

Judges are ranked by how near they are to the reference: by tau of the first measure, then by alpha.

When not to use it: the verdicts are about these systems and topics; for new systems, above all for ones that are built
with the judge, certify again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from venire.certification.agreement import ReferenceAgreement, last_labels, reference_agreement, without_probes
from venire.certification.alt_test import AltTest, alt_test
from venire.certification.binding import Input, hash_of_labels, hash_of_lists
from venire.certification.claims import (
    CLAIMS,
    FAIL,
    NOT_ENOUGH,
    PASS,
    UNKNOWN,
    Claim,
    Criteria,
    Limits,
    Sample,
    claims_of,
)
from venire.certification.order import Interval, OrderAgreement, order_agreement, significant_pairs
from venire.comparison.corrected_scores import CorrectedScores, Scene, corrected_on
from venire.comparison.crowd import crowd_judge
from venire.comparison.favoured import Families, FavouredSystems, favoured_on
from venire.data.gains import GainsLike
from venire.data.judgments import Judgments, is_conditional
from venire.data.panel import Pool
from venire.errors import PairsError, SettingError, UnknownName, VenireError, Way
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import Progress, RunsLike, scan
from venire.kernels.shares import CONFIDENCE
from venire.measures.evaluate import Case, as_list
from venire.measures.scoring import MeasureLike, Plan, Scoring
from venire.randomness import seed_of
from venire.results import Note, Records, Tabular, counted, first_few, known, listed
from venire.types import RNGLike

ALL = "all"
COMPLETE = 0.9
"""A judge must have labelled this share of what the lists hold for its scores to be certified."""
TOPIC_DRAWS = 50
"""Draws of missing labels for tests over topics."""


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
    the reference.
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
    notes: tuple[Any, ...] = ()

    @property
    def tau(self) -> float:
        """Tau of the first measure; NaN if it is not known."""
        return self.scores.order[0].tau.value if self.scores and self.scores.order else np.nan

    @property
    def nearness(self) -> tuple[float, float]:
        """What judges are ranked by, lowest first: tau of the first measure, then alpha, both negative."""
        found = self.agreement.found
        alpha = np.nan if found is None or found.alpha.value is None else found.alpha.value
        tau, alpha = (np.inf if np.isnan(each) else -each for each in (self.tau, alpha))
        return float(tau), float(alpha)

    def verdict(self, claim: str, measure: str | None = None) -> Claim | None:
        """Return a claim by a measure, the first if none is named; None where it does not apply."""
        chosen = (each for each in self.claims if each.claim == claim and measure in (None, each.measure))
        return next(chosen, None)

    def sentence(self) -> str:
        """Say what the judge may be trusted with: claims that pass by every measure, fail by one, or are open."""
        verdicts = {name: {each.verdict for each in self.claims if each.claim == name} for name in CLAIMS}
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
        return f"{self.judge} {'; '.join(parts)}." if passed or failed else f"{self.judge}: {parts[0]}."

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
        names = first_few([each.judge for each in self.judges], 5)
        return f"Nearest to {listed(self.reference)} first: {names}. {self.judges[0].sentence()}"

    def records(self) -> Records:
        """Return one row per judge, claim and measure."""
        return [{"judge": each.judge, **row} for each in self.judges for row in each.records()]

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
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


def certify(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("nDCG@10",),
    *,
    judges: str | Sequence[str] = ALL,
    reference: str | Sequence[str] | None = None,
    pool: str | Pool | None = None,
    families: Families | None = None,
    gains: GainsLike = "linear",
    topics: Iterable[str] | None = None,
    criteria: Criteria | None = None,
    prompts: Mapping[str, str] | None = None,
    inputs: Sequence[Input] | None = None,
    n_draws: int = 500,
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> Certificate:
    """Certify what the labels of judges may be trusted with.

    Parameters
    ----------
    judgments, runs, measures, gains, topics : as in ``evaluate``
    judges : names, or "all": the machines that the judgments declare, or else everybody but the reference
    reference : the people whose labels count; None: those that the judgments declare
    pool : how the labels of a crowd become one label, as in ``evaluate``, or "dawid-skene".  The crowd is everybody who
        is neither the reference, nor a machine, nor a named judge; it is the reference if there is no other
    families : name -> systems that are tested together for favour
    criteria : what the claims require
    prompts : judge -> hash of its prompt; of others, those that the judgments state
    inputs : names and hashes that the certificate is bound to; None: those of the labels and lists
    n_draws : draws of the labels that the reference did not give

    Notes
    -----
    Labels of one assessor for one item: the last counts, and all of them tell how repeatable it is.  Cost: that of
    ``corrected_scores`` and ``favoured_systems`` for each judge; one scan of the runs.

    Examples
    --------
    >>> from venire.simulation import Synthetic, generate
    >>> made = generate(Synthetic(n_topics=30), rng=7)
    >>> found = certify(made.judgments, made.runs, "P@10", judges="lenient1", reference="careful1")
    >>> [(each.claim, each.verdict) for each in found.judges[0].claims]
    [('levels', 'FAIL'), ('order', 'FAIL'), ('top', 'FAIL'), ('pairs', 'PASS')]
    """
    every = _alone(as_judgments(judgments))
    if pool is not None:
        every, judges, reference = pooled(every, pool, judges=judges, reference=reference)
    people = reference_of(every, reference)
    names = judges_of(every, judges, people)
    plain = last_labels(without_probes(every)[0])
    scanned = scan(runs, every.items, progress=progress)
    asked = Certification(
        every, plain, people, Scoring(per="assessor", gains=gains, topics=topics), criteria or Criteria(), n_draws
    )
    plan = asked.scoring.plan(as_list(measures), plain.scale)
    seeds, stated = seed_of(rng).spawn(len(names)), {**every.prompts, **(prompts or {})}
    found = [
        asked.certificate(name, scanned, plan, families=families, prompt=stated.get(name), seed=seed)
        for name, seed in zip(names, seeds, strict=True)
    ]
    bound = inputs or (Input("judgments", hash_of_labels(every)), Input("runs", hash_of_lists(scanned.facts)))
    ranked = tuple(sorted(found, key=lambda each: each.nearness))
    settings = {"gains": str(gains) if isinstance(gains, str) else "given", "draws": n_draws}
    return Certificate(people, plan.names, ranked, tuple(bound), asked.criteria, settings, every.notes)


def _alone(judgments: Judgments) -> Judgments:
    """Leave out labels that were given after another document."""
    after = is_conditional(judgments)
    return judgments.take(~after) if after.any() else judgments


def reference_of(judgments: Judgments, reference: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the reference: those given, or those that the judgments declare."""
    names = judgments.reference if reference is None else (reference,) if isinstance(reference, str) else reference
    if not names:
        shown = first_few(judgments.assessors, 4)
        raise SettingError(
            f"nothing says whose labels are the reference, of {shown}",
            hint=[Way("name the people whose labels count", reference="NAME"), "declare them in the file"],
        )
    for name in names:
        if name not in judgments.assessors:
            raise UnknownName("assessor", name, judgments.assessors)
    return tuple(dict.fromkeys(names))


def judges_of(judgments: Judgments, judges: str | Sequence[str], reference: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the judges to certify."""
    names = [judges] if isinstance(judges, str) else list(judges)
    if names == [ALL]:
        names = [name for name in judgments.machines or judgments.assessors if name not in reference]
    for name in names:
        if name not in judgments.assessors:
            raise UnknownName("assessor", name, judgments.assessors)
        if name in reference:
            raise SettingError(f"{name!r} is the reference, and is not certified by itself", hint="name another judge")
    if not names:
        raise SettingError("nobody but the reference judged", hint="add the labels of the judge to certify")
    return tuple(dict.fromkeys(names))


def pooled(
    judgments: Judgments, pool: str | Pool, *, judges: str | Sequence[str], reference: str | Sequence[str] | None
) -> tuple[Judgments, str | Sequence[str], Sequence[str]]:
    """Make one assessor of a crowd: a judge to certify, or the reference if there is no other.

    Returns the judgments, the judges and the reference.
    """
    people = judgments.reference if reference is None else (reference,) if isinstance(reference, str) else reference
    named = [judges] if isinstance(judges, str) else list(judges)
    apart = dict.fromkeys([*people, *judgments.machines, *(name for name in named if name != ALL)])
    crowd = crowd_judge(judgments, pool, new_judge=tuple(apart), another=False)
    if not people:
        return crowd.judgments, judges, (crowd.name,)
    return crowd.judgments, judges if named == [ALL] else [*named, crowd.name], people


@dataclass(frozen=True, eq=False)
class Certification:
    """What certificates of several judges share: all labels, the last ones without probes, and how they are scored."""

    every: Judgments
    plain: Judgments
    reference: tuple[str, ...]
    scoring: Scoring
    criteria: Criteria
    n_draws: int

    def certificate(
        self,
        judge: str,
        runs: RunsLike,
        plan: Plan,
        *,
        families: Families | None,
        prompt: str | None,
        seed: np.random.SeedSequence,
    ) -> JudgeCertificate:
        """Certify one judge."""
        own = self.plain.where(assessor=[judge, *self.reference])
        case, people = Case.of(own, runs, self.scoring), self.people(judge)
        agreement = reference_agreement(self.every, judge, self.reference, people=people, rng=seed)
        tested = alt_test(self.plain, judge, people)
        found, share, notes = self.judged(judge, case, plan, families=families, seed=seed)
        claims = self.claims(found, plan) if found else _undecided(plan, self.criteria, share, str(notes[0]))
        every_note = dict.fromkeys([*agreement.notes, *tested.notes, *notes])
        about = (agreement, tested, found, claims, hash_of_labels(own), prompt, tuple(every_note))
        return JudgeCertificate(judge, self.reference, share, *about)

    def people(self, judge: str) -> tuple[str, ...]:
        """Return who is known to be a person, apart from the judge: the reference, and others that are declared."""
        return tuple(name for name in dict.fromkeys([*self.reference, *self.plain.people]) if name != judge)

    def judged(
        self, judge: str, case: Case, plan: Plan, *, families: Families | None, seed: np.random.SeedSequence
    ) -> tuple[Judged | None, float, list[Any]]:
        """Score, correct and compare; return also how much the judge labelled, and notes."""
        share = self.share_labelled(judge, case, plan)
        if share < COMPLETE:
            text = "{judge} labelled {share:.0%} of what the lists hold, too little for its scores to be certified"
            return None, share, [Note("judge-incomplete", text, judge=judge, share=share)]
        how: dict[str, Any] = {"judge": judge, "reference": self.reference}
        try:
            scene = Scene.of(case, plan, **how)
            corrected = corrected_on(case, plan, **how, n_draws=self.n_draws, rng=seed)
        except PairsError as error:
            return None, share, [Note("not-certified", "{why}", why=error.message)]
        notes = [note for note in corrected.notes if note not in self.every.notes]
        try:
            favoured = favoured_on(case, plan, **how, families=families, rng=seed)
            notes += [note for note in favoured.notes if note not in self.every.notes]
        except VenireError as error:
            favoured = None
            notes.append(Note("favour-unknown", "whether systems are favoured is not known: {why}", why=error.message))
        order = [self.order(corrected, scene, number, seed) for number in range(len(plan.names))]
        several = len(corrected.systems) > 1
        return Judged(corrected, tuple(order) if several else (), favoured, _sample(scene)), share, notes

    def share_labelled(self, judge: str, case: Case, plan: Plan) -> float:
        """Return the share of the results in the lists, down to the measures' depth, that the judge labelled.

        Of results that anybody labelled, of the topics that are scored; 0 if there is none.
        """
        facts, labels = case.facts, self.plain
        counts = np.ones(len(facts.item), dtype=np.bool_) if plan.depth is None else facts.rank <= plan.depth
        if self.scoring.topics is not None:
            wanted = set(self.scoring.topics)
            scored = np.array([name in wanted for name in labels.topics], dtype=np.bool_)
            counts &= scored[labels.items.topic[facts.item]]
        hits = facts.item[counts]
        anybody, own = np.zeros((2, len(labels.items)), dtype=np.bool_)
        anybody[labels.item] = True
        own[labels.item[labels.assessor.codes == labels.assessors.index(judge)]] = True
        return float(own[hits].sum() / max(int(anybody[hits].sum()), 1))

    def order(
        self, corrected: CorrectedScores, scene: Scene, number: int, seed: np.random.SeedSequence
    ) -> OrderAgreement:
        """Compare the order of the judge with that of the reference, by one measure."""
        scores = scene.by_topic(number, n_draws=TOPIC_DRAWS, rng=np.random.default_rng(seed))
        pairs = significant_pairs(*scores, confidence=self.criteria.confidence)
        return order_agreement(
            corrected.raw[:, number],
            corrected.value[:, number],
            corrected.draws[:, :, number],
            systems=corrected.systems,
            judge=scene.judges[0],
            measure=corrected.measures[number],
            n_top=self.criteria.n_top,
            confidence=self.criteria.confidence,
            pairs=pairs,
        )

    def claims(self, found: Judged, plan: Plan) -> tuple[Claim, ...]:
        """Decide the claims by all measures."""
        corrected = found.corrected
        return tuple(
            claim
            for n, measure in enumerate(plan.names)
            for claim in claims_of(
                corrected.raw[:, n],
                limits_at(corrected, n, self.criteria.confidence),
                corrected.draws[:, :, n],
                found.order[n] if found.order else None,
                systems=corrected.systems,
                measure=measure,
                criteria=self.criteria,
                sample=found.sample,
            )
        )


def limits_at(corrected: CorrectedScores, number: int, confidence: float) -> Limits:
    """Return corrected scores by one measure with limits at this confidence.

    Those of corrected scores are at 95 %; each end moves in proportion to the quantiles of Student's t.
    """
    from scipy.special import stdtrit

    wanted, stated = (stdtrit(corrected.degrees, (1 + each) / 2) for each in (confidence, CONFIDENCE))
    factor = float(wanted / stated)
    value, low, high = (each[:, number] for each in (corrected.value, corrected.low, corrected.high))
    return Limits(value, value - factor * (value - low), value + factor * (high - value))


def _undecided(plan: Plan, criteria: Criteria, share: float, why: str) -> tuple[Claim, ...]:
    """Return claims that cannot be decided, as the judge labelled too little, or for another reason."""
    detail = f"the judge labelled {share:.0%}" if share < COMPLETE else why
    return tuple(
        Claim(name, measure, NOT_ENOUGH, UNKNOWN, getattr(criteria, name), None, detail)
        for measure in plan.names
        for name in CLAIMS
    )


def _sample(scene: Scene) -> Sample:
    """Return how many of the results that count the reference labelled, and how many there are."""
    weights = [scene.weights(number).sum(axis=0) for number in range(len(scene.plan.names))]
    counts = (np.sum(weights, axis=0) > 0) & scene.scored
    return Sample(int((counts & scene.labels.known).sum()), int(counts.sum()))


def ranked_table(certificate: Certificate) -> Records:
    """Return one row per judge and measure: agreement, tau with its interval, verdicts, and for pairs x and the share.

    safe_pairs is the share of pairs of systems that differ by more than x.
    """
    rows = []
    for each in certificate.judges:
        found = each.agreement.found
        for number, measure in enumerate(certificate.measures):
            order = each.scores.order[number] if each.scores and each.scores.order else None
            tau = order.tau if order else Interval(np.nan, np.nan, np.nan)
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
