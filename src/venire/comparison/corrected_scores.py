"""Corrected scores: what a reference (people) would give to each system, from the labels of a judge on everything.

The labels that the reference gave are kept.  The gain of an item that it did not label is predicted in two steps: first
by a distribution over labels given those of the judge (``disagreement.reference_labels``); then the residuals of the
labelled items correct this level by topic and system (``comparison.residual_model``).  Scores follow from these gains
in closed form, or by draws of labels (``comparison.correction``).

Topics and lists are fixed: all scores are means over the topics that the judge labelled.  The uncertainty is about
labels that the reference did not give, and vanishes where all are given.  Members of a reference who labelled the same
item count with the mean of their gains (as ``pool="mean"``).  Intervals have Student's t, with as many degrees of
freedom as topics with labels of the reference, less one, but at least ``LEAST_DEGREES``: how far its labels deviate is
known from these topics.

When not to use it: the labels of the reference must be a sample of what the systems return, not those of its choice,
unless their inclusion probabilities are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from venire.comparison.correction import Scene as Scene
from venire.data.assessors import last_labels
from venire.data.gains import GainsLike
from venire.errors import SettingError, UnknownName
from venire.io.judgments import JudgmentsLike
from venire.io.runs import Progress, RunsLike
from venire.kernels.residual_effects import root
from venire.kernels.shares import CONFIDENCE
from venire.measures.evaluate import Case, as_list, labels_for
from venire.measures.scoring import MeasureLike, Plan, Scoring
from venire.randomness import seed_of
from venire.results import Estimate, Records, Tabular, counted, known as known_number, listed
from venire.types import Floats, RNGLike

TIE = 1e-12


@dataclass(frozen=True, eq=False)
class CorrectedScores(Tabular):
    """Scores that the reference would give: raw (by the judge), value, low and high, (system, measure).

    draws (draw, system, measure) are from their joint distribution, Student's t, whose scale is covariance (measure,
    system, system): the covariance of normal errors.
    n_labels: items that the reference labelled; model: which prediction was used; degrees: of freedom of Student's t;
    silent: systems that returned nothing, and have no scores.
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    raw: Floats
    value: Floats
    low: Floats
    high: Floats
    covariance: Floats
    draws: Floats
    judge: tuple[str, ...]
    reference: tuple[str, ...]
    n_labels: int
    model: str
    degrees: int
    notes: tuple[Any, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def method(self) -> str:
        """How the intervals were computed."""
        return f"mixed model of residuals, {counted(self.n_labels, 'label')} of {listed(self.reference)}"

    def estimate(self, system: str, measure: str | None = None) -> Estimate:
        """Return one system's score with its interval."""
        at = _place(self.systems, system, "system"), _place(self.measures, measure, "measure")
        return Estimate(float(self.value[at]), float(self.low[at]), float(self.high[at]), CONFIDENCE, self.method)

    def pairs(self, measure: str | None = None, of: Iterable[tuple[str, str]] | None = None) -> CorrectedPairs:
        """Return the differences of some pairs of systems, or all, by one measure, the first if none is named."""
        m = _place(self.measures, measure, "measure")
        a, b = (each.astype(np.int64) for each in np.triu_indices(len(self.systems), 1))
        if of is not None:
            sides = [[_place(self.systems, name, "system") for name in each] for each in zip(*of, strict=True)]
            a, b = (np.array(each, dtype=np.int64) for each in sides or ([], []))
        covariance = self.covariance[m]
        variance = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
        sd = np.sqrt(np.maximum(variance, 0.0))
        value = self.value[a, m] - self.value[b, m]
        raw = self.raw[a, m] - self.raw[b, m]
        first, second = (tuple(self.systems[n] for n in each) for each in (a, b))
        low, high = _interval(value, sd, self.degrees)
        return CorrectedPairs(first, second, self.measures[m], raw, value, low, high, _ahead(value, sd, self.degrees))

    def sentence(self) -> str:
        """Return the highest corrected score by the first measure, with its interval."""
        best = int(np.nanargmax(self.value[:, 0]))
        found, judge = self.estimate(self.systems[best]), listed(self.judge)
        among = f", the highest of {len(self.systems)} systems" if len(self.systems) > 1 else ""
        return (
            f"By the labels of {listed(self.reference)}, the mean {self.measures[0]} of {self.systems[best]} is "
            f"{found.value:.4f} ({CONFIDENCE:.0%} interval {found.low:.4f} to {found.high:.4f}; by {judge} alone "
            f"{self.raw[best, 0]:.4f}){among}."
        )

    def records(self) -> Records:
        """Return one row per system and measure: the score by the judge, the corrected one, and its interval."""
        numbers = {"raw": self.raw, "corrected": self.value, "low": self.low, "high": self.high}
        rows = [
            {"system": system, "measure": measure, **{name: known_number(each[n, m]) for name, each in numbers.items()}}
            for n, system in enumerate(self.systems)
            for m, measure in enumerate(self.measures)
        ]
        pairs = product(self.silent, self.measures)
        return [*rows, *({"system": name, "measure": each, **dict.fromkeys(numbers)} for name, each in pairs)]


@dataclass(frozen=True, eq=False)
class CorrectedPairs(Tabular):
    """Differences a - b by one measure, all (pair,): raw (by the judge), value, low, high, and P(a is ahead)."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    measure: str
    raw: Floats
    value: Floats
    low: Floats
    high: Floats
    p_a_ahead: Floats

    def sentence(self) -> str:
        """Say how many differences the intervals separate from 0, or what one of them is."""
        if len(self.a) == 1:
            value, low, high, raw = (float(each[0]) for each in (self.value, self.low, self.high, self.raw))
            return (
                f"By corrected {self.measure}, {self.a[0]} less {self.b[0]} is {value:.4f} ({CONFIDENCE:.0%} interval "
                f"{low:.4f} to {high:.4f}; by the judge alone {raw:.4f})."
            )
        apart = int(((self.low > 0) | (self.high < 0)).sum())
        return (
            f"By corrected {self.measure}, the {CONFIDENCE:.0%} interval of the difference excludes 0 for "
            f"{apart:,} of {counted(len(self.a), 'pair')} of systems."
        )

    def records(self) -> Records:
        """Return one row per pair."""
        columns = (self.raw, self.value, self.low, self.high, self.p_a_ahead)
        rows = zip(self.a, self.b, *(each.tolist() for each in columns), strict=True)
        names = ("raw", "corrected", "low", "high", "p_a_ahead")
        return [
            {"a": a, "b": b, "measure": self.measure, **dict(zip(names, map(known_number, numbers), strict=True))}
            for a, b, *numbers in rows
        ]


def corrected_scores(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("P@10",),
    *,
    judge: str | Sequence[str],
    reference: str | Sequence[str] | None = None,
    gains: GainsLike = "linear",
    n_draws: int = 1000,
    rng: RNGLike = 0,
    topics: Iterable[str] | None = None,
    progress: Progress | None = None,
) -> CorrectedScores:
    """Estimate the scores that a reference would give, from labels of a judge on everything and some of its own.

    Parameters
    ----------
    judgments, runs, measures, gains, topics : as in ``evaluate``
    judge : whose labels are on (nearly) everything; several are used together
    reference : the people whose labels count; None: those that the judgments declare
    n_draws : draws of the scores; measures that are not linear in the gains are estimated from a quarter as many draws
        of the missing labels

    Notes
    -----
    Measures that are given together share one prediction of labels, on what their lists hold.
    Cost: one scan; per measure O(items x systems^2), and for measures that are not linear in the gains draws x
    (items x systems + hits).

    Examples
    --------
    >>> from venire.simulation import Synthetic, generate
    >>> made = generate(Synthetic(n_topics=30), rng=7)
    >>> some = made.judgments.assessor.among("lenient1", "assessor") | (made.judgments.item % 10 == 0)
    >>> labels = made.judgments.take(some)
    >>> found = corrected_scores(labels, made.runs, "P(rel=2)@10", judge="lenient1", reference="careful1")
    >>> print(found.estimate("s01"))
    0.436 [0.363, 0.510] (95%, mixed model of residuals, 600 labels of careful1)
    """
    labels = last_labels(labels_for(judgments, measures))
    scoring = Scoring(gains=gains, topics=topics, per="assessor")
    plan = scoring.plan(as_list(measures), labels.scale)
    case = Case.of(labels, runs, scoring, progress=progress)
    return corrected_on(case, plan, judge=judge, reference=reference, n_draws=n_draws, rng=rng)


def corrected_on(
    case: Case,
    plan: Plan,
    *,
    judge: str | Sequence[str],
    reference: str | Sequence[str] | None = None,
    n_draws: int = 1000,
    rng: RNGLike = 0,
) -> CorrectedScores:
    """Estimate corrected scores where the runs are scanned; the assessor of the case does not matter.

    Options as in ``corrected_scores``.
    """
    return corrected_in(Scene.of(case, plan, judge=judge, reference=reference), n_draws=n_draws, rng=rng)


def corrected_in(scene: Scene, *, n_draws: int = 1000, rng: RNGLike = 0) -> CorrectedScores:
    """Estimate corrected scores where labels are predicted."""
    if n_draws < 2:
        raise SettingError(
            f"{counted(n_draws, 'draw')}: expected 2 or more", hint="1000 give an interval to two digits"
        )
    seed, parts, draws, plan = seed_of(rng), [], [], scene.plan
    for number in range(len(plan.names)):
        generator = np.random.default_rng(seed)
        part = scene.corrected(number, n_draws=n_draws, rng=generator)
        parts.append(part)
        draws.append(part.value + student_draws(part.covariance, scene.degrees, n_draws, rng=generator))
    value, lowest, highest = (
        np.stack([getattr(e, name) for e in parts], axis=1) for name in ("value", "lowest", "highest")
    )
    covariance = np.stack([each.covariance for each in parts])
    sd = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2).T, 0.0))
    low, high = _interval(value, sd, scene.degrees)
    return CorrectedScores(
        systems=scene.case.facts.systems,
        measures=plan.names,
        raw=scene.raw,
        value=value,
        low=np.maximum(low, lowest),
        high=np.minimum(high, highest),
        covariance=covariance,
        draws=np.stack(draws, axis=-1),
        judge=scene.judges,
        reference=scene.reference,
        n_labels=scene.labels.n_labels,
        model=scene.labels.model,
        degrees=scene.degrees,
        notes=scene.notes,
        silent=scene.case.facts.silent,
    )


def _interval(value: Floats, sd: Floats, degrees: int) -> tuple[Floats, Floats]:
    from scipy.special import stdtrit

    reach = float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) * sd
    return value - reach, value + reach


def _ahead(value: Floats, sd: Floats, degrees: int) -> Floats:
    """Probability that a variable with Student's t is above 0; 1/2 where it is 0 for certain."""
    from scipy.special import stdtr

    sure = np.where(np.abs(value) > TIE, np.sign(value), 0.0) / 2 + 0.5
    return np.where(sd > TIE, stdtr(degrees, value / np.where(sd > TIE, sd, 1.0)), sure)


def student_draws(covariance: Floats, degrees: int, n_draws: int, *, rng: np.random.Generator) -> Floats:
    """Draw from the multivariate Student's t with mean 0 and this scale -> (draw, variable).

    Normal variables, divided by the root of one chi-square variable per draw over its degrees of freedom (Kotz and
    Nadarajah 2004, doi:10.1017/CBO9780511550683, Section 1.1).
    """
    normal = rng.standard_normal((n_draws, len(covariance))) @ root(covariance).T
    return np.asarray(normal * np.sqrt(degrees / rng.chisquare(degrees, (n_draws, 1))))


def _place(names: tuple[str, ...], name: str | None, kind: str) -> int:
    if name is not None and name not in names:
        raise UnknownName(kind, name, names)
    return 0 if name is None else names.index(name)
