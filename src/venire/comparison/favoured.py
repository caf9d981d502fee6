r"""Favoured systems: does a judge overrate a system, compared with the others?

With :math:`E_{st}` the score of system s for topic t by the reference less that by the judge
(``comparison.judge_residuals``), and O the systems that s is compared with,

.. math:: D_{st} = E_{st} - \frac{1}{|O|} \sum_{o \in O} E_{ot}, \qquad \hat D_s = \frac1T \sum_t D_{st}

is by how much the reference's difference between s and the others is above the judge's.  The null hypothesis is that it
has a mean over topics of at most the ``margin`` in size: the judge may be lenient, but is so to all systems nearly
alike.  A negative value means that the judge favours the system.  The margin, .02 of the best possible score unless
stated, is there because no judge is equally lenient to all systems: over the 63 runs submitted to TREC Deep Learning
2021, the standard deviation of :math:`\hat D_s` of P@10 with all labels is .03 to .04, and without a margin a judge
seems to favour some of them, the more labels the more.  O are all other systems, without those of a declared family of
s; a family is compared with the systems outside it by the mean of its members.  A topic for which s has no list is left
out for s, and O are the systems with a list for the topic: otherwise leniency to all would count as favour, or as its
opposite, wherever lists are missing.

The prediction that the reference's score is compared with is thus the judge's own score, plus what the reference
deducts from all systems alike.  It is not the score predicted from each label: documents of better systems are more
often relevant than others with the same label, so that predictions by label are too close to each other (on TREC Deep
Learning 2021 with 23 language models as judges, the slope of the reference's P@10 on the judge's has the median 1.03,
that on the predicted P@10 is 1.4 to 2.6), and every judge would favour the weak systems.

Tests, shrinkage and the order of results are those of ``comparison.favour_statistics``.

When not to use it: if the judge favours most of the systems, the others appear disfavoured, since favour is a
difference; declare them as a family.  A judge that uses a narrow part of a graded scale reduces all differences, and
then weak systems are overrated; gains of 0 and 1 (P, ``binary``) suffer less from this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venire.checks import need_share
from venire.comparison.favour_statistics import (
    FEWEST_TOPICS,
    compared,
    contrasts,
    ranked_in_order,
    rankers,
    tested,
    with_lists,
)
from venire.comparison.judge_residuals import NEARLY_ALL, Residuals, TwoJudges, residuals_of, topics_used
from venire.data.assessors import last_labels
from venire.data.gains import GainsLike
from venire.disagreement.reference_labels import reference_names
from venire.errors import PairsError, SettingError, UnknownName
from venire.io.judgments import JudgmentsLike
from venire.io.runs import RunsLike
from venire.kernels.shares import CONFIDENCE
from venire.measures.evaluate import Case, as_list, labels_for
from venire.measures.scoring import MeasureLike, Plan, Scoring
from venire.randomness import seed_of, stream
from venire.results import Note, Records, Tabular, counted, known, listed
from venire.types import Bools, Codes, Floats, RNGLike

LEVEL, MARGIN = 0.05, 0.02
COLUMNS = ("residual", "low", "high", "p_adjusted")
"""The numbers of a system or family, by measure."""
SHORTEST_NAME = 3

Families = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Findings:
    """Residuals of systems, or of families: names (name,); all else (name, measure).

    difference is not shrunken; residual is, with the interval [low, high].
    """

    names: tuple[str, ...]
    difference: Floats
    residual: Floats
    low: Floats
    high: Floats
    p_adjusted: Floats

    @property
    def favoured(self) -> Bools:
        """Where the judge favours a system or family significantly -> (name, measure)."""
        return (self.p_adjusted < LEVEL) & (self.difference < 0)

    @property
    def found(self) -> tuple[str, ...]:
        """Names of those favoured by any measure, the most favoured by the first measure first."""
        order = np.argsort(self.difference[:, 0], kind="stable")
        return tuple(self.names[number] for number in order if self.favoured[number].any())

    def records(self, kind: str, measures: Sequence[str]) -> Records:
        """Return one row per name and measure; None where a value is not known."""
        columns = {name: getattr(self, name) for name in COLUMNS}
        return [
            {kind: name, "measure": measure, **{each: known(values[n, m]) for each, values in columns.items()}}
            for n, name in enumerate(self.names)
            for m, measure in enumerate(measures)
        ]


@dataclass(frozen=True, eq=False)
class FavouredSystems(Tabular):
    """Which systems, and declared families of systems, a judge overrates compared with the others.

    margin: the share of the best possible score that is not called favour; in_order (system,): in which share of pairs
    the result with the higher label by the judge is ranked first.  silent: systems that returned nothing.
    """

    judge: str
    reference: tuple[str, ...]
    measures: tuple[str, ...]
    by_system: Findings
    by_family: Findings
    in_order: Floats
    margin: float
    n_labels: int
    n_topics: int
    notes: tuple[Any, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return self.by_system.names

    @property
    def families(self) -> tuple[str, ...]:
        """Names of the declared families."""
        return self.by_family.names

    @property
    def found(self) -> tuple[str, ...]:
        """The systems that the judge favours significantly by any measure, the most favoured first."""
        return self.by_system.found

    @property
    def found_families(self) -> tuple[str, ...]:
        """The declared families that the judge favours significantly by any measure."""
        return self.by_family.found

    def of_judges(self, n_judges: int) -> FavouredSystems:
        """Adjust p-values further for how many judges are tested: all are multiplied by that number (Bonferroni)."""
        by_system, by_family = (
            replace(each, p_adjusted=np.minimum(each.p_adjusted * n_judges, 1.0))
            for each in (self.by_system, self.by_family)
        )
        return replace(self, by_system=by_system, by_family=by_family)

    def records(self) -> Records:
        """Return one row per system and measure: residual, its interval, and adjusted p; negative is favoured."""
        unknown = dict.fromkeys(COLUMNS)
        silent = [{"system": name, "measure": each, **unknown} for name in self.silent for each in self.measures]
        return [*self.by_system.records("system", self.measures), *silent]

    def family_records(self) -> Records:
        """Return one row per declared family and measure, as for systems."""
        return self.by_family.records("family", self.measures)

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON, with the rows of declared families if there are any."""
        return super().to_dict() | ({"families": self.family_records()} if self.families else {})

    def sentence(self) -> str:
        """Return whom the judge favours, and how much, or that it favours none significantly."""
        named = [*self._named(self.by_family, "the family "), *self._named(self.by_system, "")]
        if not named:
            return self._none()
        special = [str(note) for note in self.notes if getattr(note, "kind", "") in _IN_WORDS]
        return ". ".join([f"The judge {self.judge} favours {'; '.join(named)}", *special]) + "."

    def _named(self, findings: Findings, before: str) -> list[str]:
        """Put those favoured into words, each by the first measure that shows it."""
        words = []
        for name in findings.found:
            n = findings.names.index(name)
            m = int(findings.favoured[n].argmax())
            low, high = -findings.high[n, m], -findings.low[n, m]
            words.append(
                f"{before}{name}: compared with the other systems, its {self.measures[m]} is "
                f"{-findings.residual[n, m]:.3f} higher than by {listed(self.reference)} ({CONFIDENCE:.0%} interval "
                f"{low:.3f} to {high:.3f}, adjusted p = {findings.p_adjusted[n, m]:.3g})"
            )
        return words[:3] + ([f"and {len(words) - 3} more"] if len(words) > 3 else [])

    def _none(self) -> str:
        known_ones = np.where(np.isnan(self.by_system.p_adjusted), np.inf, self.by_system.difference)
        m = int(np.isfinite(known_ones).any(axis=0).argmax())
        lowest = int(np.argmin(known_ones[:, m]))
        residual, p = (each[lowest, m] for each in (self.by_system.residual, self.by_system.p_adjusted))
        evidence = f"{counted(self.n_labels, 'label')} by {listed(self.reference)} on {counted(self.n_topics, 'topic')}"
        return (
            f"By {listed(self.measures)}, the judge {self.judge} favours no system significantly beyond the margin of "
            f"{self.margin:g} ({evidence}; the lowest residual is {residual:+.3f}, of {self.systems[lowest]}, adjusted "
            f"p = {p:.3g})."
        )


_IN_WORDS = ("self-preference", "judge-as-ranker")


def favoured_systems(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("P@10",),
    *,
    judge: str,
    reference: str | Sequence[str] | None = None,
    families: Families | None = None,
    gains: GainsLike = "linear",
    margin: float = MARGIN,
    rng: RNGLike = 0,
    topics: Iterable[str] | None = None,
) -> FavouredSystems:
    """Test whether a judge overrates systems, compared with the other systems.

    Parameters
    ----------
    judgments : with labels of the judge on (nearly) everything, and of the reference on all or some of it
    judge : the assessor whose labels are tested, such as a language model
    reference : the assessors whose labels count; None: those that the judgments declare.  Of several labels the mean
        gain counts
    families : name -> systems that are tested together, such as those built on the same language model
    margin : a difference up to this share of the best possible score is not called favour; 0 tests for any difference
    topics : which topics; None: all in which the reference labelled results that count

    Notes
    -----
    The residual is the score by the reference less that by the judge, compared with the other systems, and shrunken.
    Negative: the judge favours the system.  The labels of the reference may be a sample that was drawn independently
    of the labels; inclusion probabilities are used if the judgments state them, and estimated from the weight in the
    lists otherwise.  Cost: one scan, and O(hits) per measure.

    Examples
    --------
    >>> from venire.simulation import Synthetic, generate
    >>> made = generate(Synthetic(n_topics=30), rng=7)
    >>> found = favoured_systems(made.judgments, made.runs, "P@10", judge="lenient1", reference="careful1")
    >>> found.found
    ()
    """
    labels = last_labels(labels_for(judgments, measures))
    names = reference_names(labels, reference)
    kept = [judge, *(name for name in names if name != judge)]
    scoring = Scoring(per="assessor", gains=gains, topics=topics)
    case = Case.of(labels.where(assessor=kept), runs, scoring)
    plan = scoring.plan(as_list(measures), labels.scale)
    return favoured_on(case, plan, judge=judge, reference=names, families=families, margin=margin, rng=rng)


def favoured_on(
    case: Case,
    plan: Plan,
    *,
    judge: str,
    reference: str | Sequence[str] | None = None,
    families: Families | None = None,
    margin: float = MARGIN,
    rng: RNGLike = 0,
) -> FavouredSystems:
    """Test whether a judge overrates systems, for a case whose panel has every assessor (``per="assessor"``).

    The form for many judges: the case is built once, with one scan of the runs.
    """
    need_share("the margin", margin)
    names = reference_names(case.judgments, reference)
    judges, systems = TwoJudges.of(case.panel, judge, names), case.facts.systems
    families = checked_families(without_silent(families or {}, case.facts.silent), systems)
    used = topics_used(case, judges, plan)
    residuals = residuals_of(case, plan, judges, used=used)
    present = with_lists(case.facts, used)
    _need_evidence(residuals, judges, present)
    seed = seed_of(rng)
    parts = [
        [tested(compared(each.values, matrix, present), margin * each.best, stream(seed, n)) for each in residuals]
        for n, matrix in enumerate(contrasts(systems, families))
    ]
    of_systems, of_families = (
        Findings(tuple(each), *np.moveaxis(np.array(part), 0, -1))
        for each, part in zip((systems, families), parts, strict=True)
    )
    own, theirs = _labels_of_both(judges)
    order = ranked_in_order(case.facts, own, used)
    alike = rankers(case.facts, own, theirs, used=used)
    notes = [
        *_missing(residuals, plan, judges, present),
        *_notes(residuals, plan, judges, n_topics=len(used)),
        *_self_preference(judge, of_families),
        *_rankers(systems, order, alike, judges),
    ]
    n_labels = max(each.n_labels for each in residuals)
    about = (of_systems, of_families, order, margin, n_labels, len(used), tuple(notes))
    return FavouredSystems(judge, names, plan.names, *about, case.facts.silent)


def without_silent(families: Families, silent: Sequence[str]) -> Families:
    """Leave out members that returned nothing, and families of which all did."""
    held = {name: [each for each in members if each not in silent] for name, members in families.items()}
    return {name: members for name, members in held.items() if members or not families[name]}


def checked_families(families: Families, systems: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Check that families are sets of some, not all, of the systems."""
    checked = {name: tuple(dict.fromkeys(members)) for name, members in families.items()}
    for name, members in checked.items():
        for member in members:
            if member not in systems:
                raise UnknownName("system", member, systems)
        if not 0 < len(members) < len(systems):
            what = "no system" if not members else "all systems"
            raise SettingError(
                f"the family {name!r} has {what}, and is compared with the others", hint="name some of the systems"
            )
    if len(systems) < 2:
        raise SettingError("favour is a difference between systems, and there is one", hint="add the runs of others")
    return checked


def _need_evidence(residuals: Sequence[Residuals], judges: TwoJudges, present: Bools) -> None:
    """Refuse if no measure has labels by both, or no topic has lists of two systems."""
    judge, reference = judges.judges
    if not any(each.n_labels for each in residuals):
        raise PairsError(
            f"no result that counts is labelled by {judge} and by {reference}, so favour is not known",
            hint="let both label some of the same first results",
        )
    if present.sum(axis=1).max() < 2:
        raise PairsError(
            f"no topic with labels by {reference} has lists of two systems, so nothing can be compared",
            hint="add runs of other systems on the same topics",
        )


def _labels_of_both(judges: TwoJudges) -> Iterator[Codes]:
    """Label of every item by the judge, then the highest of the reference; -1 where there is none -> (item,)."""
    yield judges.labels
    yield np.max([judges.panel.labels(n, n + 1)[0] for n in judges.reference], axis=0)


def _notes(residuals: Sequence[Residuals], plan: Plan, judges: TwoJudges, *, n_topics: int) -> Iterator[Note]:
    """Yield what the residuals rest on, and what limits them."""
    replaced = [name for name, each in zip(plan.names, residuals, strict=True) if not each.linear]
    if replaced:
        text = (
            "{measures:list}: not linear in the gains, and {reference} labelled only a part of the results, so favour "
            "is tested on the mean gain with the weights of ranks that a single relevant document has"
        )
        yield Note("linearised", text, measures=tuple(replaced), reference=judges.judges[1])
    if not all(each.stated for each in residuals):
        text = (
            "no inclusion probabilities are stated: the {n:label} of {reference} are taken for a sample that depends "
            "on the topic and on the weight of documents in the lists only"
        )
        n = max(each.n_labels for each in residuals)
        yield Note("assumed-sample", text, n=n, reference=judges.judges[1])
    share = min(each.judge_share for each in residuals)
    if share < NEARLY_ALL:
        text = "{judge} labelled {share:.0%} of the results that count, by weight, and only these are compared"
        yield Note("judge-incomplete", text, judge=judges.judges[0], share=share)
    finest = 2.0 ** (1 - n_topics)
    if finest >= LEVEL:
        text = "labels by {reference} on {n:topic} only: no adjusted p can be below {finest:.2g}"
        yield Note("few-topics", text, n=n_topics, finest=finest, reference=judges.judges[1])


def _missing(residuals: Sequence[Residuals], plan: Plan, judges: TwoJudges, present: Bools) -> Iterator[Note]:
    """Yield which measures have no labels, and how many lists are missing."""
    judge, reference = judges.judges
    for name, each in zip(plan.names, residuals, strict=True):
        if not each.n_labels:
            text = "{measure}: no result that counts is labelled by {judge} and by {reference}, so favour is not known"
            yield Note("no-common-labels", text, measure=name, judge=judge, reference=reference)
    n = int((~present).sum())
    if n:
        text = (
            "{n:list} of {cells:,} {verb} missing: for a system without a list the topic is left out, and a system "
            "with lists for fewer than {fewest} of more topics is not tested"
        )
        fields = {"cells": present.size, "verb": "is" if n == 1 else "are", "fewest": FEWEST_TOPICS}
        yield Note("missing-lists", text, n=n, **fields)


def _self_preference(judge: str, families: Findings) -> Iterator[Note]:
    """Yield the favoured families that are named like the judge."""
    for name in families.found:
        one, other = ("".join(filter(str.isalnum, each.casefold())) for each in (name, judge))
        if min(len(one), len(other)) >= SHORTEST_NAME and (one in other or other in one):
            text = "Self-preference: {judge} favours the systems of its own family, {family}"
            yield Note("self-preference", text, judge=judge, family=name)


def _rankers(systems: Sequence[str], order: Floats, alike: Bools, judges: TwoJudges) -> Iterator[Note]:
    """Yield the systems that rank as the judge labels."""
    for number in np.flatnonzero(alike).tolist():
        others = np.delete(order, number)
        text = (
            "{system} ranks as {judge} labels: of two results with different labels by {judge}, the higher is first in "
            "{share:.0%} of pairs ({others:.0%} for the other systems), so {judge} assesses its own ranking"
        )
        usual = float(np.nanmean(others)) if not np.isnan(others).all() else float("nan")
        fields = {"system": systems[number], "share": float(order[number]), "others": usual}
        yield Note("judge-as-ranker", text, judge=judges.judges[0], **fields)
