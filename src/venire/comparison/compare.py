"""compare: which systems differ, and would another judge change that?

One call puts the two questions side by side for every pair of systems and measure: is the difference more than chance
in the topics (``significance``), and does it survive another judge (``forecasts``, after Turpin and Scholer 2009, for
any measure)?  Pairs that are significant and yet fragile are those that a paper would get wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venire.comparison.forecast import DEFAULT_FORM, FRAGILE, TIE, Changes, Forecast, forecast
from venire.comparison.significance import SystemComparison, compare_systems
from venire.comparison.stability import Stability, stability
from venire.comparison.tests import PairedT, PairTest, SignFlip
from venire.data.assessors import copies, copy_notes
from venire.data.gains import Gains, GainsLike, gains_for
from venire.data.judgments import Judgments
from venire.data.panel import current_assessor
from venire.data.scale import Scale
from venire.disagreement.transitions import ANY, agreement_transitions
from venire.errors import SettingError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import Progress, RunsLike, scan
from venire.measures.evaluate import as_list, evaluate
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike, as_measure
from venire.results import Tabular, counted, known
from venire.types import RNGLike

FEW_PAIRS = 100
KEYS = (
    *("a", "b", "measure", "delta", "p_value", "p_adjusted", "expected_delta", "sd"),
    *("p_stays_ahead", "p_tie", "p_flips", "se", "method"),
)


@dataclass(frozen=True, eq=False)
class MeasureComparison:
    """Pairs of systems by one measure: tested over topics, and forecast under another judge."""

    tested: SystemComparison
    forecast: Forecast
    changes: Changes

    def records(self) -> list[dict[str, Any]]:
        """Return one record per pair."""
        drawn = f"{counted(len(self.forecast.draws), 'draw')}, {self.forecast.form}"
        columns = {
            "expected_delta": self.changes.expected,
            "sd": self.changes.sd,
            "p_stays_ahead": self.changes.stays,
            "p_tie": self.changes.tie,
            "p_flips": self.changes.flips,
            "se": self.changes.se,
        }
        return [
            {key: tested[key] for key in KEYS[:6]}
            | {key: float(column[row]) for key, column in columns.items()}
            | {"method": drawn}
            for row, tested in enumerate(self.tested.records())
        ]

    @property
    def stability(self) -> Stability:
        """The order of all systems under other judges."""
        whole = len(self.tested.a) == len(self.forecast.systems) * (len(self.forecast.systems) - 1) // 2
        return stability(self.forecast, p_adjusted=self.tested.p_adjusted if whole else None)

    def systems(self) -> list[dict[str, Any]]:
        """Return one record per system, best first: its mean now, and its score and place under other judges."""
        return [
            {"system": record.pop("system"), "measure": self.forecast.measure, **record}
            for record in self.stability.system_records()
        ]

    def tau(self) -> dict[str, float | None]:
        """Kendall's tau between the order of systems now and under other judges: mean and 95 % of the draws."""
        if len(self.forecast.systems) < 2:
            return {"mean": None, "low": None, "high": None}
        found = self.stability.correlation()
        values = {"mean": found.value, "low": found.low, "high": found.high}
        return {name: known(value) for name, value in values.items()}

    def fragile(self) -> list[int]:
        """Pairs that are significant and yet may well be turned round, the most fragile first."""
        chosen = np.flatnonzero(self.tested.significant & self.changes.fragile)
        order: list[int] = chosen[np.argsort(-self.changes.flips[chosen], kind="stable")].tolist()
        return order

    def sentence(self) -> str:
        """Say the main finding in one sentence."""
        if len(self.tested.a) == 1:
            return _of_one_pair(self)
        n_pairs, fragile = len(self.tested.a), self.fragile()
        significant = int(self.tested.significant.sum())
        words = f"By {self.forecast.measure}, {significant:,} of {counted(n_pairs, 'pair')} of systems "
        words += f"{'differs' if significant == 1 else 'differ'} by more than chance in the topics explains"
        if not significant:
            return f"{words}."
        if not fragile:
            return f"{words}, and another judge would hardly turn any of these round."
        a, b = (self.forecast.systems[side[fragile[0]]] for side in (self.tested.a, self.tested.b))
        flips = self.changes.flips[fragile[0]]
        return (
            f"{words}; {len(fragile):,} of these are fragile (another judge turns them round with probability over "
            f"{FRAGILE:.0%}), first of all {a} and {b} ({flips:.0%})."
        )


@dataclass(frozen=True, eq=False)
class Comparison(Tabular):
    """Comparisons by measure, the scores under the judge at hand, and what to say about them."""

    by_measure: tuple[MeasureComparison, ...]
    scores: Scores
    gains: Gains
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return one record per pair and measure."""
        return [record for each in self.by_measure for record in each.records()]

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self) -> str:
        """Say the main finding of the first measure in one sentence."""
        return self.by_measure[0].sentence()


def _of_one_pair(one: MeasureComparison) -> str:
    a, b = (one.forecast.systems[int(side[0])] for side in (one.tested.a, one.tested.b))
    delta, p = float(one.changes.delta[0]), float(one.tested.p_adjusted[0])
    if abs(delta) <= TIE:
        return f"By {one.forecast.measure}, {a} and {b} score the same."
    ahead, behind = (a, b) if delta > 0 else (b, a)
    chance = "too few topics for a test" if np.isnan(p) else f"p = {p:.3g} over topics"
    return (
        f"By {one.forecast.measure}, {ahead} is ahead of {behind} by {abs(delta):.4f} ({chance}), and "
        f"another judge keeps it ahead with probability {one.changes.stays[0]:.2f} (turns it round: "
        f"{one.changes.flips[0]:.2f})."
    )


def compare(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("nDCG@10",),
    *,
    gains: GainsLike = "linear",
    assessor: str | None = None,
    new_judge: str = ANY,
    judge: str = DEFAULT_FORM,
    agreement: tuple[float, float] | None = None,
    baseline: str | None = None,
    candidate: str | None = None,
    n_draws: int = 2000,
    topics: Iterable[str] | None = None,
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare systems over topics, and forecast what another judge would make of them.

    Parameters
    ----------
    assessor : whose labels score the runs; needed where several judged
    new_judge : the judge to forecast, by name, or "any": a random other assessor
    judge : how labels that the new judge did not give are drawn: "hierarchical" (the default), "fixed", "assessors", or
        "pooled", which draws other topics half of the time
    agreement : stated rates a0, a1, in place of what the labels give; the judge is then fixed, and labels are reduced
        to two: a measure that reads more from them is named so, as in "nDCG@10 (binary:1)"
    baseline, candidate : compare with one system, or one system with another; without, all pairs

    Notes
    -----
    Cost: that of ``evaluate`` once, and draws x (items + hits) per measure.
    """
    labels = as_judgments(judgments)
    old = current_assessor(labels, assessor)
    worth = gains_for(gains, labels.scale)
    transitions, notes, asked = None, [], as_list(measures)
    shown = [name if isinstance(name, str) else str(as_measure(name)) for name in asked]
    if agreement is not None:
        if new_judge != ANY or judge not in (DEFAULT_FORM, "fixed"):
            besides = new_judge if new_judge != ANY else judge
            raise SettingError(
                f"agreement rates are stated, so the judge is known, and not to be {besides!r} as well",
                hint="leave --agreement out, or --judge and --new-judge",
            )
        shown = [_binary_name(name, measure, worth) for name, measure in zip(shown, asked, strict=True)]
        labels, worth, note = reduced(labels, worth)
        transitions, notes = agreement_transitions(labels.scale, *agreement), [note] if note else []
    sources = scan(runs, labels.items, progress=progress)
    wanted = None if topics is None else list(topics)
    scores = evaluate(labels, sources, asked, gains=worth, assessor=old, topics=wanted)
    scores = replace(scores, names={**scores.names, "measure": tuple(shown)})
    pairs = _asked_pairs(scores.names["system"], baseline, candidate)
    found = []
    for name, measure in zip(shown, asked, strict=True):
        tested = compare_systems(scores, name, test=_test_for(scores, pairs), pairs=pairs, rng=rng)
        how: dict[str, Any] = {
            "assessor": old,
            "transitions": transitions,
            "gains": worth,
            "topics": wanted,
            "rng": rng,
        }
        form = judge if transitions is None else "fixed"
        forecasts = forecast(labels, sources, measure, new_judge=new_judge, form=form, n_draws=n_draws, **how)
        changes = forecasts.changes(tested.a, tested.b)
        found.append(MeasureComparison(tested, replace(forecasts, measure=name), changes))
    if transitions is None:
        notes = list(map(str, copy_notes(copies(labels, None if new_judge == ANY else {old, new_judge}))))
    said = [*notes, *scores.notes, *(note for each in found for note in each.tested.notes)]
    said.append(f"p-values over topics: {found[0].tested.test}; adjusted: {found[0].tested.adjust}")
    return Comparison(tuple(found), scores, worth, tuple(dict.fromkeys(said)))


def reduced(judgments: Judgments, gains: Gains) -> tuple[Judgments, Gains, str | None]:
    """Reduce labels to two, for agreement rates: relevant are those that have a gain."""
    scale = judgments.scale
    if len(scale) == 2:
        return judgments, gains, None
    relevant = gains.values > 0
    if relevant.all() or not relevant.any():
        raise SettingError(f"{gains!r} do not tell relevant labels from others", hint="use --gains binary:LABEL")
    two = Scale(("0", "1"))
    names = ", ".join(label for label, marked in zip(scale.labels, relevant, strict=True) if marked)
    label = relevant[judgments.label].astype(np.int32)
    note = f"agreement rates are for two labels: {names} count as relevant, the others do not"
    return replace(judgments, scale=two, label=label), gains_for("linear", two), note


def _binary_name(name: str, measure: MeasureLike, gains: Gains) -> str:
    """Name of a measure of labels that are reduced to two; its own where it reads no more than two from them."""
    relevant = gains.values > 0
    if len(relevant) == 2 or np.array_equal(as_measure(measure).worth(gains, 0.0).values, relevant):
        return name
    first = int(relevant.argmax())
    return f"{name} (binary:{gains.scale.labels[first]})" if relevant[first:].all() else f"{name} (binary)"


def _test_for(scores: Scores, pairs: object) -> PairTest:
    """Flip signs for few pairs; for many, where adjusted p-values would need very many draws, Student's t."""
    n_systems = len(scores.names["system"])
    n_pairs = len(pairs) if isinstance(pairs, list) else n_systems - 1 if pairs else n_systems * (n_systems - 1) // 2
    return SignFlip() if n_pairs <= FEW_PAIRS else PairedT()


def _asked_pairs(
    systems: Sequence[str], baseline: str | None, candidate: str | None
) -> str | list[tuple[str, str]] | None:
    """Which pairs are compared: all, all with a baseline, or a candidate with it; names must be there."""
    for name in (baseline, candidate):
        if name is not None and name not in systems:
            raise UnknownName("system", name, systems)
    if candidate is None:
        return baseline
    if baseline is None:
        raise SettingError("a candidate needs a baseline to be compared with", hint="name it with --baseline")
    return [(candidate, baseline)]
