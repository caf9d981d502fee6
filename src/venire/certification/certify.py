"""Certificate: what the labels of a judge, such as a language model, may be trusted with.

For each judge, from its labels on (nearly) everything and those of the reference on all or some of it: agreement
beside what people reach among themselves (``certification.agreement``), the alternative annotator test
(``certification.alt_test``), the order of systems (``certification.order``), systems that it favours
(``comparison.favoured``), the scores that the reference would give (``comparison.corrected_scores``), and a verdict for
each claim (``certification.claims``).

A judge whose labels are those of the reference is a copy (``data.assessors``): that is said, and it is ranked last.

When not to use it: the verdicts are about these systems and topics; for new systems, above all for ones that are built
with the judge, certify again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from venire.certification.agreement import reference_agreement, without_probes
from venire.certification.alt_test import alt_test
from venire.certification.binding import hash_of_labels, hash_of_lists
from venire.certification.certificate import Certificate, JudgeCertificate, Judged
from venire.certification.claims import (
    CLAIMS,
    NOT_ENOUGH,
    TIED,
    UNKNOWN,
    Claim,
    Criteria,
    Evidence,
    Limits,
    Sample,
    claims_of,
)
from venire.certification.order import OrderAgreement, order_agreement, significant_pairs
from venire.comparison.corrected_scores import CorrectedScores, Scene, corrected_in
from venire.comparison.crowd import crowd_judge
from venire.comparison.favoured import Families, checked_families, favoured_on
from venire.data.assessors import Copy, copies, copy_notes, last_labels, last_rows
from venire.data.gains import GainsLike
from venire.data.intents import Probabilities
from venire.data.judgments import Judgments, is_conditional
from venire.data.panel import Pool, judges_besides
from venire.data.runs import Runs
from venire.disagreement.reference_labels import reference_names
from venire.errors import PairsError, SettingError, UnknownName, VenireError
from venire.io.fingerprints import Input
from venire.io.judgments import JudgmentsLike
from venire.io.limits import refuse_crowd
from venire.io.runs import Progress, RunsLike, scan
from venire.kernels.shares import CONFIDENCE
from venire.measures.evaluate import Case, as_list, labels_for
from venire.measures.scoring import MeasureLike, Plan, Scoring
from venire.randomness import seed_of
from venire.results import Note
from venire.types import RNGLike

ALL = "all"
COMPLETE = 0.9
"""A judge must have labelled this share of what the lists hold for its scores to be certified."""
TOPIC_DRAWS = 50
"""Draws of missing labels for tests over topics."""


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
    intents: Probabilities | None = None,
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
    judgments, runs, measures, gains, topics, intents : as in ``evaluate``
    judges : names, or "all": the machines that the judgments declare, or else everybody but the reference
    reference : the people whose labels count; None: those that the judgments declare
    pool : how the labels of several people become one label, as in ``evaluate``, or "dawid-skene".  Pooled are the
        members of the reference, or, if nobody is the reference, all who are neither machines nor named as judges.  If
        a reference is stated and no judge is, neither by name nor as a machine, the others are pooled and certified
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
    cast = Cast.of(_alone(labels_for(judgments, measures, intents)), judges, reference, pool)
    every, names = cast.judgments, cast.judges
    scanned = scan(runs, every.items, progress=progress)
    for name in prompts or {}:
        if name not in names:
            raise UnknownName("judge", name, names)
    if families:
        checked_families(families, scanned.facts.systems)
    refuse_crowd(len(names), hint="name the judge")
    plain = last_labels(without_probes(every)[0])
    scoring = Scoring(per="assessor", gains=gains, topics=topics)
    asked = Certification(
        every=every,
        plain=plain,
        reference=cast.reference,
        scoring=scoring,
        plan=scoring.plan(as_list(measures), plain.scale),
        families=families or {},
        criteria=criteria or Criteria(),
        prompts={**every.prompts, **(prompts or {})},
        copies=copies(plain, {*names, *cast.reference}),
        n_draws=n_draws,
    )
    seeds = seed_of(rng).spawn(len(names))
    found = [asked.certificate(name, scanned, seed=seed) for name, seed in zip(names, seeds, strict=True)]
    bound = inputs or (Input("judgments", hash_of_labels(every)), Input("runs", hash_of_lists(scanned.facts)))
    settings = {"gains": str(gains) if isinstance(gains, str) else "given", "draws": n_draws}
    notes = (*cast.notes, *_items_note(every), *copy_notes(asked.copies), *every.notes)
    ranked = tuple(sorted(found, key=lambda each: each.nearness))
    return Certificate(cast.reference, asked.plan.names, ranked, tuple(bound), asked.criteria, settings, notes)


def _items_note(judgments: Judgments) -> tuple[Note, ...]:
    """Say what is counted where labels are for intents, or for nuggets."""
    text = "labels are for intents or nuggets: what counts as an item, or as a result, is a document for one of them"
    return () if judgments.items.intents is None else (Note("by-intent", text),)


def _alone(judgments: Judgments) -> Judgments:
    """Leave out labels that were given after another document."""
    after = is_conditional(judgments)
    return judgments.take(~after) if after.any() else judgments


class Cast(NamedTuple):
    """Who is who: the judgments, in which people may be pooled, the judges to certify, and the reference."""

    judgments: Judgments
    judges: tuple[str, ...]
    reference: tuple[str, ...]
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(
        cls,
        judgments: Judgments,
        judges: str | Sequence[str],
        reference: str | Sequence[str] | None,
        pool: str | Pool | None,
    ) -> Cast:
        """Resolve names; judges may be "all"."""
        named = [judges] if isinstance(judges, str) else list(dict.fromkeys(judges))
        named = [] if named == [ALL] else named
        stated = reference is not None or judgments.reference
        people = reference_names(judgments, reference) if pool is None or stated else ()
        for name in named:
            if name not in judgments.assessors:
                raise UnknownName("assessor", name, judgments.assessors)
            if name in people:
                message = f"{name!r} is the reference, and is not certified by itself"
                raise SettingError(message, hint="name another judge")
        if pool is not None:
            return cls._pooled(judgments, named, people, pool)
        return cls(judgments, _to_certify(judgments, named, people), people)

    @classmethod
    def _pooled(cls, judgments: Judgments, named: list[str], people: tuple[str, ...], pool: str | Pool) -> Cast:
        """Make one assessor of the reference, of everybody else if that is not stated, or of a crowd to certify."""
        others = [name for name in judgments.assessors if name not in {*people, *named, *judgments.machines}]
        if people and (named or judgments.machines or len(others) < 2):
            pooled, is_reference = list(people), True
        else:
            pooled, is_reference = others, not people
        if is_reference and len(pooled) == 1:
            text = "nobody is pooled: the reference is one person, {name}"
            note = Note("nobody-pooled", text, name=pooled[0])
            return cls(judgments, _to_certify(judgments, named, pooled), tuple(pooled), (note,))
        apart = [name for name in judgments.assessors if name not in pooled]
        crowd = crowd_judge(_once(judgments, pooled), pool, new_judge=apart, another=False)
        people = (crowd.name,) if is_reference else people
        return cls(crowd.judgments, _to_certify(crowd.judgments, named, people), people, crowd.notes)


def _once(judgments: Judgments, names: Sequence[str]) -> Judgments:
    """Keep the last label of these assessors for each item, and all labels of the others."""
    kept = ~np.isin(judgments.assessors, list(names))[judgments.assessor.codes]
    kept[last_rows(judgments)] = True
    return judgments.take(kept)


def _to_certify(judgments: Judgments, named: Sequence[str], reference: Sequence[str]) -> tuple[str, ...]:
    """Return the judges that are named, or else the machines, or else everybody but the reference."""
    names = named or judges_besides(judgments, reference)
    if not names:
        raise SettingError("nobody but the reference judged", hint="add the labels of the judge to certify")
    return tuple(names)


@dataclass(frozen=True, eq=False, kw_only=True)
class Certification:
    """What certificates of several judges share: all labels, the last ones without probes, and how they are scored."""

    every: Judgments
    plain: Judgments
    reference: tuple[str, ...]
    scoring: Scoring
    plan: Plan
    families: Families
    criteria: Criteria
    prompts: Mapping[str, str]
    copies: Sequence[Copy]
    n_draws: int

    def certificate(self, judge: str, runs: Runs, *, seed: np.random.SeedSequence) -> JudgeCertificate:
        """Certify one judge."""
        own = self.plain.where(assessor=[judge, *self.reference])
        case, people = Case.of(own, runs, self.scoring), self.people(judge)
        agreement = reference_agreement(self.every, judge, self.reference, people=people, rng=seed)
        tested = alt_test(self.plain, judge, people)
        found, share, notes = self.judged(judge, case, seed)
        claims = self.claims(found) if found else self.undecided(share, str(notes[0]))
        before = [*copy_notes(self.copies, judge), *_tied(judge, claims)]
        every_note = dict.fromkeys([*before, *agreement.notes, *tested.notes, *notes])
        return JudgeCertificate(
            judge=judge,
            reference=self.reference,
            share=share,
            agreement=agreement,
            alt_test=tested,
            scores=found,
            claims=claims,
            labels=hash_of_labels(own),
            prompt=self.prompts.get(judge),
            copy_of=self.copied_from(judge),
            notes=tuple(every_note),
        )

    def people(self, judge: str) -> tuple[str, ...]:
        """Return who is known to be a person, apart from the judge: the reference, and others that are declared."""
        return tuple(name for name in dict.fromkeys([*self.reference, *self.plain.people]) if name != judge)

    def copied_from(self, judge: str) -> tuple[str, ...]:
        """Return whose labels, of the reference, the judge's repeat, or the other way round."""
        pairs = [{each.first, each.second} for each in self.copies]
        return tuple(name for name in self.reference if {judge, name} in pairs)

    def judged(self, judge: str, case: Case, seed: np.random.SeedSequence) -> tuple[Judged | None, float, list[Any]]:
        """Score, correct and compare; return also how much the judge labelled, and notes."""
        share = self.share_labelled(judge, case)
        if share < COMPLETE:
            text = "{judge} labelled {share:.0%} of what the lists hold, too little for its scores to be certified"
            return None, share, [Note("judge-incomplete", text, judge=judge, share=share)]
        how: dict[str, Any] = {"judge": judge, "reference": self.reference}
        try:
            scene = Scene.of(case, self.plan, **how)
            corrected = corrected_in(scene, n_draws=self.n_draws, rng=seed)
        except PairsError as error:
            return None, share, [Note("not-certified", "{why}", why=error.message)]
        notes = [note for note in corrected.notes if note not in self.every.notes]
        try:
            favoured = favoured_on(case, self.plan, **how, families=self.families, rng=seed)
            notes += [note for note in favoured.notes if note not in self.every.notes]
        except VenireError as error:
            favoured = None
            notes.append(Note("favour-unknown", "whether systems are favoured is not known: {why}", why=error.message))
        several = len(corrected.systems) > 1
        order = [self.order(corrected, scene, n, seed) for n in range(len(self.plan.names))] if several else []
        return Judged(corrected, tuple(order), favoured, _sample(scene)), share, notes

    def share_labelled(self, judge: str, case: Case) -> float:
        """Return the share of the results in the lists, down to the measures' depth, that the judge labelled.

        Of results that anybody labelled, of the topics that are scored; 0 if there is none.
        """
        facts, labels = case.facts, self.plain
        counts = np.ones(len(facts.item), dtype=np.bool_) if self.plan.depth is None else facts.rank <= self.plan.depth
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

    def claims(self, found: Judged) -> tuple[Claim, ...]:
        """Decide the claims by all measures."""
        corrected = found.corrected
        return tuple(
            claim
            for n, measure in enumerate(self.plan.names)
            for claim in claims_of(
                Evidence(
                    measure,
                    corrected.systems,
                    corrected.raw[:, n],
                    limits_at(corrected, n, self.criteria.confidence),
                    corrected.draws[:, :, n],
                    found.order[n] if found.order else None,
                    found.sample,
                ),
                self.criteria,
            )
        )

    def undecided(self, share: float, why: str) -> tuple[Claim, ...]:
        """Return claims that cannot be decided, as the judge labelled too little, or for another reason."""
        detail = f"the judge labelled {share:.0%}" if share < COMPLETE else why
        return tuple(
            Claim(name, measure, NOT_ENOUGH, UNKNOWN, getattr(self.criteria, name), None, detail)
            for measure in self.plan.names
            for name in CLAIMS
        )


def _tied(judge: str, claims: Sequence[Claim]) -> list[Note]:
    """Say by which measures the verdicts on orders mean nothing."""
    names = tuple(each.measure for each in claims if each.claim == "order" and each.detail == TIED)
    text = (
        "by {measures:list}, {judge} and the reference tie all systems: there is no order that could be right or wrong"
    )
    return [Note("all-tied", text, measures=names, judge=judge)] * bool(names)


def limits_at(corrected: CorrectedScores, number: int, confidence: float) -> Limits:
    """Return corrected scores by one measure with limits at this confidence.

    Those of corrected scores are at 95 %; each end moves in proportion to the quantiles of Student's t.
    """
    from scipy.special import stdtrit

    wanted, stated = (stdtrit(corrected.degrees, (1 + each) / 2) for each in (confidence, CONFIDENCE))
    factor = float(wanted / stated)
    value, low, high = (each[:, number] for each in (corrected.value, corrected.low, corrected.high))
    return Limits(value, value - factor * (value - low), value + factor * (high - value))


def _sample(scene: Scene) -> Sample:
    """Return how many of the results that count the reference labelled, and how many there are."""
    weights = [scene.weights(number).sum(axis=0) for number in range(len(scene.plan.names))]
    counts = (np.sum(weights, axis=0) > 0) & scene.scored
    return Sample(int((counts & scene.labels.known).sum()), int(counts.sum()))
