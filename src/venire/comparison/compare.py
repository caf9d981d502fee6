"""compare: which systems differ, and would another judge change that?

Two questions for every pair of systems and measure: is the difference significant over topics (``significance``), and
does it remain under another judge (``forecast``, after Turpin and Scholer 2009, for any measure)?  Pairs that are
significant and yet fragile are reported first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np

from venire.comparison.by_judge import ScoresByJudge
from venire.comparison.contradictions import Contradictions
from venire.comparison.crowd import crowd_judge
from venire.comparison.favoured import FavouredSystems, favoured_on
from venire.comparison.forecast import DEFAULT_MODEL, FRAGILE, TIE, Changes, Forecast, JudgeSwap, one_judge
from venire.comparison.observed import SEEN, Observed, ObservedPairs
from venire.comparison.significance import SystemComparison, compare_systems
from venire.comparison.stability import DIGITS, Stability, stability
from venire.comparison.tests import PairedT, PairTest, SignFlip, numbered_pairs
from venire.data.assessors import copy_notes
from venire.data.gains import Gains, GainsLike, gains_for
from venire.data.intents import Probabilities
from venire.data.judgments import Judgments
from venire.data.panel import Pool, build_panel, current_assessor, current_note
from venire.data.scale import Scale
from venire.disagreement.transitions import ANY, Transitions, agreement_transitions
from venire.errors import AmbiguousLabels, SettingError, UnknownName, VenireError, Way
from venire.io.judgments import JudgmentsLike
from venire.io.runs import Progress, RunsLike
from venire.measures.evaluate import Case, Layout, as_list, labels_for
from venire.measures.scores import NOTHING, Scores
from venire.measures.scoring import MeasureLike, Plan, Scoring, score_facts
from venire.results import Note, Records, Tabular, counted, known, listed
from venire.types import Floats, RNGLike

FEW_PAIRS = 100
"""Up to how many pairs are tested by sign flips; adjusted p-values of more would need very many draws."""
NOT_COMPARED = "not compared"
"""The method of a pair of which a system returned nothing."""
OBSERVED = "observed"
"""The method of a pair for which the new judge labelled everything that counts."""
ONE_JUDGE_TEXT = "only {judge} judged, so whether another judge would agree is not known"
KEYS = (
    *("a", "b", "measure", "delta", "p_value", "p_adjusted", "expected_delta", "sd"),
    *("p_stays_ahead", "p_tie", "p_flips", "se", "p_stays_ahead_topics", "p_stays_ahead_both", "observed", "method"),
)


@dataclass(frozen=True, eq=False)
class MeasureComparison(Tabular):
    """Pairs of systems by one measure: tested over topics, forecast under another judge, and observed.

    observed: by the labels of the other judges alone; None if their labels are not used.
    """

    tested: SystemComparison
    forecast: Forecast
    changes: Changes
    observed: ObservedPairs | None = None

    @classmethod
    def of(
        cls, tested: SystemComparison, forecast: Forecast, observed: Observed | None = None, *, number: int = 0
    ) -> MeasureComparison:
        """Join a test, a forecast and observations of the same systems; number: that of the measure."""
        a, b = tested.a, tested.b
        changes = forecast.changes(a, b)
        seen = None if observed is None else observed.pairs(a, b, number=number, delta=changes.delta)
        return cls(tested, forecast, changes, seen)

    def records(self) -> list[dict[str, Any]]:
        """Return one record per pair."""
        found, (a, b) = self.changes, (self.tested.a, self.tested.b)
        other = (self.forecast.stays(source, a, b) for source in ("topics", "both"))
        values = (found.expected, found.sd, found.stays, found.tie, found.flips, found.se, *other)
        columns = dict(zip(KEYS[6:-2], values, strict=True))
        return [
            {key: tested[key] for key in KEYS[:6]}
            | {key: known(column[row]) for key, column in columns.items()}
            | {"observed": None if self.observed is None else self.observed.record(row), "method": self.method(row)}
            for row, tested in enumerate(self.tested.records())
        ]

    def method(self, pair: int) -> str:
        """Return how the probabilities of a pair were found: observed, drawn, or both; or that there is one judge."""
        transitions = self.forecast.transitions
        if transitions is None:
            return self.forecast.judge_model
        drawn = f"{counted(len(self.forecast.draws), 'draw')}, {self.forecast.judge_model}"
        if self.observed is None or not self.observed.judges[pair]:
            return drawn
        if len(transitions.new) == 1:
            return OBSERVED if self.observed.exact[pair] else drawn
        return f"{OBSERVED} and {drawn}"

    @cached_property
    def stability(self) -> Stability:
        """The order of all systems under other judges."""
        whole = len(self.tested.a) == len(self.forecast.systems) * (len(self.forecast.systems) - 1) // 2
        return stability(self.forecast, p_adjusted=self.tested.p_adjusted if whole else None)

    def systems(self) -> list[dict[str, Any]]:
        """Return one record per system, best first: its mean now, and its score and rank under other judges."""
        if self.forecast.transitions is None:
            return systems_now(self.forecast.systems, self.forecast.measure, self.forecast.mean)
        return [
            {"system": record.pop("system"), "measure": self.forecast.measure, **record}
            for record in self.stability.system_records()
        ]

    def tau(self) -> dict[str, float | None]:
        """Return Kendall's tau between the order of systems now and under other judges: mean and 95 % of the draws."""
        if len(self.forecast.systems) < 2 or self.forecast.transitions is None:
            return {"mean": None, "low": None, "high": None}
        found = self.stability.correlation()
        return {"mean": known(found.value), "low": known(found.low), "high": known(found.high)}

    def fragile(self) -> list[int]:
        """Return the pairs that are significant and yet fragile, the most fragile first."""
        chosen = np.flatnonzero(self.tested.significant & self.changes.fragile)
        order: list[int] = chosen[np.argsort(-self.changes.changed[chosen], kind="stable")].tolist()
        return order

    def sentence(self) -> str:
        """Return how many pairs are significant, and how many of these are fragile."""
        if len(self.tested.a) == 1:
            return self._of_one_pair()
        n_pairs, significant, changed = len(self.tested.a), int(self.tested.significant.sum()), self.changes.changed
        text = f"By {self.forecast.measure}, {significant:,} of {n_pairs:,} pairs of systems differ significantly over "
        if not significant or self.forecast.transitions is None:
            return f"{text}topics."
        worst = int(np.argmax(np.where(self.tested.significant, changed, -1.0)))
        a, b = self._names(worst)
        highest = (
            f" The highest probability is {changed[worst]:.0%}, for {a} and {b}." if changed[worst] >= 0.01 else ""
        )
        return (
            f"{text}topics; fragile (another judge would reverse or tie them with a probability over {FRAGILE:.0%}): "
            f"{len(self.fragile()):,} of these.{highest}"
        )

    def _of_one_pair(self) -> str:
        (a, b), measure = self._names(0), self.forecast.measure
        delta, p = float(self.changes.delta[0]), float(self.tested.p_adjusted[0])
        if abs(delta) <= TIE:
            return f"By {measure}, {a} and {b} score the same."
        ahead, behind = (a, b) if delta > 0 else (b, a)
        chance = "too few topics for a test" if np.isnan(p) else f"p = {p:.3g} over topics"
        text = f"By {measure}, {ahead} is ahead of {behind} by {abs(delta):.4f} ({chance})"
        if self.forecast.transitions is None:
            return f"{text}."
        return (
            f"{text}; under another judge it stays ahead with probability {self.changes.stays[0]:.2f} and falls behind "
            f"with probability {self.changes.flips[0]:.2f}."
        )

    def _names(self, pair: int) -> tuple[str, str]:
        return self.forecast.systems[int(self.tested.a[pair])], self.forecast.systems[int(self.tested.b[pair])]


@dataclass(frozen=True, eq=False)
class Comparison(Tabular):
    """Comparisons by measure, what is scored, and the scores by the labels of the current judge.

    by_measure: empty if no pair is tested, since a system returned nothing of each that was asked for.
    swap: the judge swap that forecasts are computed from; None if there is one judge.  untested: the pairs that were
    asked for of which a system returned nothing (``Scores.silent``); all their numbers are None.
    """

    by_measure: tuple[MeasureComparison, ...]
    case: Case
    plan: Plan
    scores: Scores
    swap: JudgeSwap | None
    notes: tuple[Any, ...] = ()
    untested: tuple[tuple[str, str], ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said of systems that returned nothing."""
        return self.scores.warnings

    @cached_property
    def by_judge(self) -> ScoresByJudge:
        """The scores by the labels of every judge; the current one is first of those whose role is not declared."""
        return ScoresByJudge.on(self.case, self.plan, first=self.case.scoring.assessor)

    @cached_property
    def contradictions(self) -> Contradictions:
        """The pairs on which judges contradict each other."""
        return self.by_judge.contradictions(pairs=self.pairs)

    @cached_property
    def favoured(self) -> FavouredSystems | None:
        """The systems that the current judge favours, compared with the new judge; None where that is not known.

        It is known if the new judge is one assessor who labelled some of the results.
        """
        if self.swap is None or self.swap.given is None:
            return None
        case, new = self.case, self.swap.transitions.new
        old = case.scoring.assessor
        if len(new) != 1 or old not in case.judgments.assessors:
            return None
        both = case.judgments.where(assessor=[old, *new])
        scoring = replace(case.scoring, assessor=None, per="assessor")
        case = Case(both, build_panel(both, per="assessor"), case.facts, scoring)
        try:
            return favoured_on(case, self.plan, judge=old, reference=new)
        except VenireError:  # too few topics, systems or labels of both
            return None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names of the systems that are compared."""
        if not self.by_measure:
            return []
        tested = self.by_measure[0].tested
        return [(tested.systems[a], tested.systems[b]) for a, b in zip(tested.a, tested.b, strict=True)]

    def records(self) -> list[dict[str, Any]]:
        """Return one record per pair and measure; of pairs that were not tested after those that were."""
        nothing = dict.fromkeys(KEYS[3:-1]) | {"method": NOT_COMPARED}
        return [
            record
            for measure, tested in zip_longest(self.scores.names["measure"], self.by_measure)
            for record in (
                *(tested.records() if tested else ()),
                *({"a": a, "b": b, "measure": measure, **nothing} for a, b in self.untested),
            )
        ]

    def systems(self) -> list[dict[str, Any]]:
        """Return one record per system and measure, best first: its mean now, and its score and rank by others."""
        unknown = dict.fromkeys(("mean", "low", "high", "rank", "rank_low", "rank_high"))
        means = self.scores.mean().values.T
        return [
            record
            for measure, mean, tested in zip_longest(self.scores.names["measure"], means, self.by_measure)
            for record in (
                *(tested.systems() if tested else systems_now(self.scores.names["system"], measure, mean)),
                *({"system": name, "measure": measure, **unknown} for name in self.scores.silent),
            )
        ]

    def tau(self) -> dict[str, float | None]:
        """Return Kendall's tau of the first measure."""
        return self.by_measure[0].tau() if self.by_measure else dict.fromkeys(("mean", "low", "high"))

    def _first(self, most: int) -> tuple[Records, int]:
        rows = self.records()
        return [flattened(record) for record in rows[:most]], len(rows)

    def sentence(self) -> str:
        """Return the sentence of the first measure."""
        if not self.by_measure:
            return f"Nothing is compared: {listed(self.scores.silent)} {NOTHING}."
        return self.by_measure[0].sentence()


def systems_now(systems: Sequence[str], measure: str, mean: Floats) -> list[dict[str, Any]]:
    """Return one record per system, best first, where nothing is known of other judges: mean (system,), and rank."""
    digits = np.round(mean, DIGITS)
    rank = 1 + (digits[None, :] > digits[:, None]).sum(axis=1)
    unknown = dict.fromkeys(("low", "high"))
    return [
        {"system": systems[n], "measure": measure, "mean": float(mean[n]), **unknown}
        | {"rank": int(rank[n]), "rank_low": None, "rank_high": None}
        for n in np.argsort(-digits, kind="stable").tolist()
    ]


def flattened(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a pair with the values under "observed" as columns of their own."""
    seen = record["observed"] or {}
    rest = {key: value for key, value in record.items() if key not in ("observed", "method")}
    return rest | {f"observed_{key}": seen.get(key) for key in SEEN} | {"method": record["method"]}


def compare(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("nDCG@10",),
    *,
    gains: GainsLike = "linear",
    assessor: str | None = None,
    pool: str | Pool | None = None,
    new_judge: str | None = None,
    judge_model: str = DEFAULT_MODEL,
    agreement: tuple[float, float] | None = None,
    baseline: str | None = None,
    candidate: str | None = None,
    n_draws: int = 2000,
    topics: Iterable[str] | None = None,
    intents: Probabilities | None = None,
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare systems over topics, and forecast the comparison under another judge.

    With the labels of one assessor, and no agreement rates, nothing is known of another judge: systems are compared
    over topics alone, and probabilities under another judge are None.

    Parameters
    ----------
    assessor : whose labels score the runs.  None: the only assessor besides ``new_judge``; where a reference is
        declared, the one machine, or the only other assessor
    pool : pool the labels of a crowd in place of one assessor: a rule as in ``evaluate``, or "dawid-skene"
    new_judge : the judge to forecast, by name, or "any": a random other assessor; with a pool, the declared reference,
        else another crowd (``comparison.crowd``).  None: the declared reference if that is one assessor and another one
        than the current judge, else "any"
    judge_model : how labels that the new judge did not give are drawn: "hierarchical" (the default), "fixed",
        "assessors", or "pooled", which mixes "hierarchical" with a bootstrap over topics (``comparison.forecast``)
    agreement : stated rates a0, a1 of agreement with irrelevant and with relevant labels, in place of those estimated
        from the labels; the judge is then fixed, and labels are binary: measures whose scores change by that are
        renamed, as in "nDCG@10 (binary:1)"
    baseline, candidate : compare with one system, or one system with another; without, all pairs.  Of two systems, the
        one that is not the candidate is the baseline
    intents : the probability of each intent, for measures by intent, as in ``evaluate``

    Notes
    -----
    The judgments are read once, and the runs scanned once, for all measures.  Cost: that of ``evaluate``, and
    draws x (items + hits) per measure.
    """
    labels = labels_for(judgments, measures, intents)
    if pool is not None and assessor is not None:
        raise AmbiguousLabels("assessor and pool exclude each other", hint="give one of them")
    another: dict[str, Any] = {"new_judge": new_judge or ANY, "another": agreement is None, "rng": rng}
    crowd = None if pool is None else crowd_judge(labels, pool, **another)
    labels, assessor = (labels, assessor) if crowd is None else (crowd.judgments, crowd.name)
    worth, old = gains_for(gains, labels.scale), current_assessor(labels, assessor, new_judge=new_judge)
    scoring = Scoring(assessor=old, gains=worth, topics=topics)
    transitions: Transitions | None = None if crowd is None else crowd.transitions
    notes: list[Any] = [] if crowd is None else [*crowd.notes]
    if assessor is None and len(labels.assessors) > 1:
        notes.append(current_note(labels, old))
    if new_judge is None:
        new_judge, said = (ANY, []) if agreement is not None else reference_judge(labels, old)
        notes += said
    panel = None if crowd is None else crowd.panel
    plan = scoring.plan(as_list(measures), labels.scale)
    plan.require_fit(labels.items)
    if agreement is not None:
        if new_judge != ANY or judge_model not in (DEFAULT_MODEL, "fixed"):
            besides = new_judge if new_judge != ANY else judge_model
            raise SettingError(
                f"agreement rates are stated, so the judge is known, and cannot be {besides!r}",
                hint="omit the agreement rates, or the new judge and the judge model",
            )
        judge_model, names = "fixed", binary_names(plan, worth)
        panel = panel and replace(panel, label=(worth.values > 0)[panel.label].astype(np.int32))
        labels, worth, note = as_binary(labels, worth)
        scoring = replace(scoring, gains=worth)
        plan = replace(scoring.plan(plan.measures, labels.scale), names=names)
        transitions, notes = agreement_transitions(labels.scale, *agreement), [*notes, *[note] * bool(note)]
    case = Case.of(labels, runs, scoring, progress=progress)
    pairs, untested = pairs_to_test(case.facts.systems, case.facts.silent, baseline, candidate)
    case = case if panel is None else replace(case, panel=panel)
    if pairs == []:
        scores = _scores_of(case, plan)[1]
        return Comparison((), case, plan, scores, None, tuple(dict.fromkeys([*notes, *scores.notes])), untested)
    swap, observed = None, None
    if transitions is None and len(labels.assessors) == 1 and new_judge == ANY:
        layout, scores = _scores_of(case, plan)
        forecasts = one_judge(layout, scores, n_draws=n_draws, rng=rng)
        notes.append(Note("one-judge", ONE_JUDGE_TEXT, judge=old))
    else:
        swap = JudgeSwap.on(case, plan, new_judge=new_judge, transitions=transitions)
        scores, observed = swap.scores, swap.observed
        forecasts = swap.forecasts(judge_model=judge_model, n_draws=n_draws, rng=rng)
        notes += [*copy_notes(swap.copies), *swap.notes]
    test = _test_for(len(case.facts.systems), pairs)
    tests = [compare_systems(scores, each.measure, test=test, pairs=pairs, rng=rng) for each in forecasts]
    found = tuple(
        MeasureComparison.of(tested, each, observed, number=number)
        for number, (tested, each) in enumerate(zip(tests, forecasts, strict=True))
    )
    tested = found[0].tested
    how = Note("p-values", "p-values over topics: {test}; adjusted: {adjust}", test=tested.test, adjust=tested.adjust)
    notes = [*notes, *scores.notes, *(note for each in found for note in each.tested.notes), how]
    return Comparison(found, case, plan, scores, swap, tuple(dict.fromkeys(notes)), untested)


def _scores_of(case: Case, plan: Plan) -> tuple[Layout, Scores]:
    """Score a case by the labels of its one judge."""
    layout = Layout.of(case, plan)
    return layout, layout.scores(score_facts(case.facts, case.panel, plan), case.scoring, plan)


def reference_judge(judgments: Judgments, old: str) -> tuple[str, list[Note]]:
    """Return the other judge where none is named: the declared reference if it is one other assessor, else any."""
    names = judgments.reference
    if len(names) != 1 or names[0] == old:
        return ANY, []
    return names[0], [Note("reference-judge", "the other judge is the declared reference, {judge}", judge=names[0])]


def as_binary(judgments: Judgments, gains: Gains) -> tuple[Judgments, Gains, Note | None]:
    """Merge labels to two, for agreement rates: those with a gain are relevant."""
    scale = judgments.scale
    if len(scale) == 2:
        return judgments, gains, None
    relevant = gains.values > 0
    if relevant.all() or not relevant.any():
        raise SettingError(f"{gains!r} do not separate relevant labels from others", hint="use gains binary:LABEL")
    two = Scale(("0", "1"))
    names = tuple(label for label, marked in zip(scale.labels, relevant, strict=True) if marked)
    label = relevant[judgments.label].astype(np.int32)
    text = "agreement rates are for two labels: {labels:list} count as relevant, the others do not"
    note = Note("binary-labels", text, labels=names)
    return replace(judgments, scale=two, label=label), gains_for("linear", two), note


def binary_names(plan: Plan, gains: Gains) -> tuple[str, ...]:
    """Name measures of binary labels: "nDCG@10 (binary:1)" where the scores differ from those of all labels."""
    relevant = gains.values > 0
    first = int(relevant.argmax())
    ending = f"(binary:{gains.scale.labels[first]})" if relevant[first:].all() else "(binary)"
    same = [len(relevant) == 2 or np.array_equal(each.values, relevant) for each in plan.worths]
    return tuple(name if kept else f"{name} {ending}" for name, kept in zip(plan.names, same, strict=True))


def _test_for(n_systems: int, pairs: str | list[tuple[str, str]] | None) -> PairTest:
    """Choose sign flips for few pairs, and Student's t for many."""
    n_pairs = len(pairs) if isinstance(pairs, list) else n_systems - 1 if pairs else n_systems * (n_systems - 1) // 2
    return SignFlip() if n_pairs <= FEW_PAIRS else PairedT()


def pairs_to_test(
    systems: Sequence[str], silent: Sequence[str], baseline: str | None, candidate: str | None
) -> tuple[str | list[tuple[str, str]] | None, tuple[tuple[str, str], ...]]:
    """Return the requested pairs, and apart from them those of a system that returned nothing, and is ``silent``."""
    every = (*systems, *silent)
    wanted = requested_pairs(every, baseline, candidate)
    if not silent:
        return wanted, ()
    sides = (side.tolist() for side in numbered_pairs(every, wanted))
    named = [(every[a], every[b]) for a, b in zip(*sides, strict=True)]
    gone = set(silent)
    return [each for each in named if gone.isdisjoint(each)], tuple(each for each in named if not gone.isdisjoint(each))


def some_to_test(
    systems: Sequence[str], silent: Sequence[str], baseline: str | None, candidate: str | None
) -> tuple[str | list[tuple[str, str]] | None, tuple[tuple[str, str], ...]]:
    """Return the pairs of ``pairs_to_test``, and raise if each of them has a system that returned nothing."""
    pairs, untested = pairs_to_test(systems, silent, baseline, candidate)
    if pairs == []:
        message = f"{listed(silent)} {NOTHING}, so there is no pair of systems to compare"
        raise SettingError(message, hint="compare systems with results for these topics")
    return pairs, untested


def requested_pairs(
    systems: Sequence[str], baseline: str | None, candidate: str | None
) -> str | list[tuple[str, str]] | None:
    """Return which pairs are compared: all (None), all with a baseline, or a candidate with it.

    Of two systems, the one that is not the candidate is the baseline.
    """
    for name in (baseline, candidate):
        if name is not None and name not in systems:
            raise UnknownName("system", name, systems)
    if candidate is None or len(systems) < 2:
        return baseline
    if baseline is None and len(systems) == 2:
        baseline = next(name for name in systems if name != candidate)
    if baseline is None:
        message = f"{candidate!r} can be compared with {len(systems) - 1} other systems, and no baseline was named"
        raise SettingError(message, hint=[Way("name the baseline", baseline="SYSTEM")])
    if candidate == baseline:
        raise SettingError(f"{candidate!r} is both candidate and baseline", hint="name two systems")
    return [(candidate, baseline)]
