r"""Agreement needed: how far another judge must agree with the current one for a system to stay ahead.

Turpin and Scholer (2009), Sections 3.1 to 3.3, on the lists of real systems.  Another judge agrees with irrelevant
labels with probability a0 and with relevant ones with probability a1, document by document.  The agreement that a pair
of systems needs is the least a = a0 = a1, from 1/2 on, at which the better one is strictly ahead with probability .95;
``contour`` has the probability for every a0 and a1.

For P@n the probability is exact (``judge_change.OwnDocuments``).  For other measures it is the share of draws of such a
judge, at ``RATES`` between 1/2 and 1, with the same random numbers at each; between two of these it is interpolated.
Labels are merged to two, relevant being those with a gain.

A winner is compared with each other system separately: the probability that it stays ahead of all at once is lower.

When not to use this: where another judge labelled some documents, whose labels tell more than two rates do
(``compare``).  The model knows no documents that are harder than others, and no systems that a judge favours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venire.comparison.compare import NOT_COMPARED, as_binary, binary_names, some_to_test
from venire.comparison.crowd import crowd_judge
from venire.comparison.forecast import TIE, JudgeSwap
from venire.comparison.judge_change import CONFIDENCE, OwnDocuments, min_agreement
from venire.data.gains import GainsLike, gains_for
from venire.data.judgments import Judgments
from venire.data.panel import Pool, build_panel, current_assessor, current_note, one_label_each
from venire.data.runs import Facts
from venire.data.scale import Scale
from venire.disagreement.transitions import agreement_transitions
from venire.errors import AmbiguousLabels, UnknownName
from venire.io.judgments import JudgmentsLike
from venire.io.runs import Progress, RunsLike
from venire.kernels.ragged import offsets
from venire.measures.evaluate import Case, Layout, as_list, labels_for
from venire.measures.measure import Worth
from venire.measures.precision import P
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike, Plan, Scoring, score_facts
from venire.randomness import seed_of
from venire.results import Records, Tabular, counted, known
from venire.types import Bools, Floats, Ints, RNGLike

RATES = np.linspace(0.5, 1.0, 11)
"""Rates of agreement at which other judges are drawn."""
STEPS, DRAWN_STEPS, CONTOUR_DRAWS = 41, 11, 100
"""Steps of each rate in a contour, exact and by draws, and the most draws at each place of it."""
NONE = float("nan")

TwoSystems = tuple[Ints, Ints]
"""Numbers of the first and of the second system of each pair."""


@dataclass(frozen=True, eq=False)
class PairNeeded:
    """What two systems need, of which a is ahead by delta, unless they are level.

    needed, not_behind : agreement at which a is strictly ahead, and not behind, with confidence; NaN where level
    normal : at which a is not behind by the normal approximation, 1.96 standard deviations as in the paper; NaN where
        the probability is drawn
    documents : those that only one of both returns, for P@n
    """

    a: str
    b: str
    measure: str
    delta: float
    needed: float
    not_behind: float
    normal: float
    method: str
    documents: OwnDocuments | None = None

    def record(self) -> dict[str, Any]:
        """Return it under names."""
        numbers = {name: known(getattr(self, name)) for name in ("delta", "needed", "not_behind", "normal")}
        fields = ("relevant_a", "irrelevant_a", "relevant_b", "irrelevant_b", "places")
        counts = {name: getattr(self.documents, name, None) for name in fields}
        return {"a": self.a, "b": self.b, "measure": self.measure, **numbers, "method": self.method, **counts}


@dataclass(frozen=True, eq=False)
class Contour(Tabular):
    """Probability that a stays strictly ahead of b, by agreement: rates (step,), chance (a0 step, a1 step)."""

    a: str
    b: str
    measure: str
    rates: Floats
    chance: Floats
    method: str

    def sentence(self) -> str:
        """Say for how many rates the order is safe."""
        safe = float((self.chance >= CONFIDENCE).mean())
        return (
            f"By {self.measure}, {self.a} stays ahead of {self.b} with a probability of {CONFIDENCE:.0%} at {safe:.0%} "
            "of all pairs of rates."
        )

    def records(self) -> Records:
        """Return one row per a0 and a1."""
        return [
            {"a0": float(self.rates[row]), "a1": float(self.rates[column]), "p_stays_ahead": float(chance)}
            for (row, column), chance in np.ndenumerate(self.chance)
        ]

    def document(self) -> dict[str, Any]:
        """Return it for JSON: the rates, and a row of probabilities for each a0."""
        names = {"a": self.a, "b": self.b, "measure": self.measure, "method": self.method}
        return {**names, "rates": self.rates.tolist(), "p_stays_ahead": self.chance.tolist()}


@dataclass(frozen=True, eq=False)
class AgreementNeeded(Tabular):
    """Pairs of systems by measure; means (system,) by measure; judge: whose labels another judge is to agree with.

    relevant (label,) by measure: which labels are relevant.  swap: the judge whose labels are drawn, for measures other
    than P.  untested: pairs of which a system returned nothing.
    """

    pairs: tuple[PairNeeded, ...]
    systems: tuple[str, ...]
    means: dict[str, Floats]
    relevant: dict[str, Bools]
    judge: str
    swap: JudgeSwap | None
    n_draws: int
    seed: int
    notes: tuple[Any, ...] = ()
    untested: tuple[tuple[str, str], ...] = ()

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(self.means)

    def winner(self, measure: str | None = None) -> dict[str, Any]:
        """Return the system with the highest mean, its nearest rival, and the agreement that it needs against all."""
        name = self._measure(measure)
        best = self.systems[int(np.argmax(self.means[name]))]
        rivals = [each for each in self.pairs if each.measure == name and best in (each.a, each.b)]
        nearest = max(rivals, key=lambda each: np.inf if np.isnan(each.needed) else each.needed, default=None)
        needed = None if nearest is None else known(nearest.needed)
        rival = None if nearest is None else nearest.b if nearest.a == best else nearest.a
        return {"system": best, "measure": name, "rival": rival, "needed": needed}

    def pair(self, a: str, b: str, measure: str | None = None) -> PairNeeded:
        """Return one pair, whichever is ahead."""
        name = self._measure(measure)
        for each in self.pairs:
            if each.measure == name and {each.a, each.b} == {a, b}:
                return each
        raise UnknownName("pair of systems", f"{a}, {b}", (f"{each.a}, {each.b}" for each in self.pairs))

    def contour(self, a: str, b: str, measure: str | None = None) -> Contour:
        """Return the probability that the better of two systems stays ahead, by a0 and a1 (Figure 1)."""
        pair = self.pair(a, b, measure)
        rates = np.linspace(0, 1, DRAWN_STEPS if pair.documents is None else STEPS)
        chance = np.empty((len(rates), len(rates)))
        stays = self._stays(pair, min(self.n_draws, CONTOUR_DRAWS))
        for row, column in np.ndindex(chance.shape):
            chance[row, column] = stays(float(rates[row]), float(rates[column]))
        return Contour(pair.a, pair.b, pair.measure, rates, chance, pair.method)

    def stays_ahead(self, pair: PairNeeded, a0: float, a1: float) -> float:
        """Return the probability that a stays strictly ahead with a judge who has these rates of agreement."""
        return self._stays(pair, self.n_draws)(a0, a1)

    def relevant_labels(self, judgments: Judgments, measure: str | None = None) -> Judgments:
        """Merge labels to two, 0 and 1, as the measure does."""
        marked = self.relevant[self._measure(measure)]
        return replace(judgments, scale=Scale(("0", "1")), label=marked[judgments.label].astype(np.int32))

    def _stays(self, pair: PairNeeded, n_draws: int) -> Callable[[float, float], float]:
        """Return the function of a0 and a1 that gives that probability."""
        own, swap = pair.documents, self.swap
        if own is not None:
            return lambda a0, a1: own.chances(a0, a1)[0]
        if swap is None:
            raise AmbiguousLabels("nothing can be drawn", hint="compute the agreement needed again")
        two = _of_systems(swap.only(swap.plan.names.index(pair.measure)), (pair.a, pair.b))
        which = tuple(np.array([two.systems.index(name)]) for name in (pair.a, pair.b))
        return lambda a0, a1: float(_drawn_at(two, (a0, a1), (which[0], which[1]), n_draws, self.seed)[0][0, 0])

    def _measure(self, measure: str | None) -> str:
        if measure is not None and measure not in self.measures:
            raise UnknownName("measure", measure, self.measures)
        return measure or self.measures[0]

    def records(self) -> Records:
        """Return one row per pair and measure; needed is None where both score the same, or one returned nothing."""
        unknown = (np.nan,) * 4
        untested = [PairNeeded(a, b, name, *unknown, NOT_COMPARED) for name in self.measures for a, b in self.untested]
        return [each.record() for each in (*self.pairs, *untested)]

    def sentence(self) -> str:
        """Return what the winner by the first measure needs, or what the one pair needs."""
        first = [each for each in self.pairs if each.measure == self.measures[0]]
        if not first:
            return "There is one system only."
        best = self.winner()
        name, rival, needed = best["system"], best["rival"], best["needed"]
        if len(first) > 1 and rival is not None:
            rival = f"each other system ({rival} is the nearest)"
        if rival is None or len(first) == 1:
            name, rival, needed = first[0].a, first[0].b, known(first[0].needed)
        if needed is None:
            return f"By {first[0].measure}, {name} is not ahead of {rival}."
        return (
            f"By {first[0].measure}, {name} stays ahead of {rival} with a probability of {CONFIDENCE:.0%} if another "
            f"judge agrees with at least {needed:.1%} of the labels of {self.judge}, relevant and irrelevant alike."
        )


def agreement_needed(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("P@10",),
    *,
    gains: GainsLike = "linear",
    assessor: str | None = None,
    pool: str | Pool | None = None,
    baseline: str | None = None,
    candidate: str | None = None,
    n_draws: int = 500,
    topics: Iterable[str] | None = None,
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> AgreementNeeded:
    """Compute how far another judge must agree for the better of two systems to stay ahead, for pairs of systems.

    Parameters are those of ``compare``; no second judge is needed.  Cost: for P@n a few milliseconds per pair; for
    other measures that of ``compare`` with 11 times as many draws.

    Examples
    --------
    >>> labels = {str(t): {"a": 1, "b": 1, "c": 0, "d": 0} for t in range(5)}
    >>> runs = {"x": {str(t): {"a": 2.0, "b": 1.0} for t in range(5)},
    ...         "y": {str(t): {"c": 2.0, "d": 1.0} for t in range(5)}}
    >>> round(agreement_needed(labels, runs, "P@2").pair("x", "y").needed, 3)  # 10 relevant places against none
    0.698
    """
    if pool is not None and assessor is not None:
        raise AmbiguousLabels("assessor and pool exclude each other", hint="give one of them")
    labels = labels_for(judgments, measures)
    crowd = None if pool is None else crowd_judge(labels, pool, another=False)
    labels, assessor = (labels, assessor) if crowd is None else (crowd.judgments, crowd.name)
    judge = current_assessor(labels, assessor)
    notes = () if crowd is None else crowd.notes
    if assessor is None and len(labels.assessors) > 1:
        notes = (*notes, current_note(labels, judge))
    scoring = Scoring(assessor=judge, gains=gains_for(gains, labels.scale), topics=topics)
    plan = scoring.plan(as_list(measures), labels.scale)
    case = Case.of(labels, runs, scoring, progress=progress)
    systems, silent = case.facts.systems, case.facts.silent
    asked, untested = some_to_test(systems, silent, baseline, candidate)
    two = _numbers(systems, asked)
    exact = [n for n, each in enumerate(plan.measures) if isinstance(each, P) and _is_binary(plan.worths[n])]
    others = [n for n in range(len(plan.measures)) if n not in exact]
    seed = int(seed_of(rng).generate_state(1)[0])
    found = AgreementNeeded((), systems, {}, {}, judge, None, n_draws, seed, notes, untested)
    found = _with_exact(found, case, plan.only(exact), two) if exact else found
    return _with_drawn(found, case, plan.only(others), two) if others else found


def _is_binary(worth: Worth) -> bool:
    """Return whether each label is relevant or not, and unjudged documents are not."""
    return bool(np.isin(worth.values, (0.0, 1.0)).all()) and worth.unjudged == 0


def _numbers(systems: Sequence[str], pairs: str | list[tuple[str, str]] | None) -> TwoSystems:
    """Return the numbers of the systems of each pair: all pairs, all with a baseline, or one."""
    if pairs is None:
        first, second = np.triu_indices(len(systems), 1)
        return first.astype(np.int64), second.astype(np.int64)
    if isinstance(pairs, str):
        pairs = [(name, pairs) for name in systems if name != pairs]
    first, second = (np.array([systems.index(pair[side]) for pair in pairs], dtype=np.int64) for side in (0, 1))
    return first, second


def _with_exact(found: AgreementNeeded, case: Case, plan: Plan, two: TwoSystems) -> AgreementNeeded:
    """Add measures of the family P@n."""
    layout = Layout.of(case, plan)
    scores = layout.scores(score_facts(case.facts, case.panel, plan), case.scoring, plan)
    label, pairs = one_label_each(case.panel), []
    for number, (name, measure) in enumerate(zip(plan.names, plan.measures, strict=True)):
        relevant = plan.worths[number].values[label] * (label >= 0)
        counts = own_documents(case.facts, layout.chosen, relevant, label >= 0, int(measure.k or 1))
        for first, second in zip(*(side.tolist() for side in two), strict=True):
            pairs.append(_exact_pair(case.facts.systems, (first, second), name, counts))
    return _extended(found, scores, pairs, [each.values > 0 for each in plan.worths])


@dataclass(frozen=True, eq=False)
class SharedDocuments:
    """Judged documents of systems, and those that two of them share: relevant, irrelevant (system, system)."""

    relevant: Ints
    irrelevant: Ints
    places: int

    def of(self, a: int, b: int) -> OwnDocuments:
        """Return the documents that only one of two systems returns."""
        relevant_a, relevant_b = (int(self.relevant[one, one] - self.relevant[a, b]) for one in (a, b))
        irrelevant_a, irrelevant_b = (int(self.irrelevant[one, one] - self.irrelevant[a, b]) for one in (a, b))
        return OwnDocuments(relevant_a, irrelevant_a, relevant_b, irrelevant_b, self.places)


def own_documents(facts: Facts, topics: Ints, relevant: Floats, judged: Any, k: int) -> SharedDocuments:
    """Count the judged documents that systems return among their first k, and share; relevant, judged (item,).

    Cost: O(hits + pairs of systems that return the same document), by sparse products.
    """
    from scipy.sparse import csr_array

    hit = (facts.rank <= k) & judged[facts.item] & np.repeat(np.isin(facts.topic, topics), facts.n_hits)
    system, item = np.repeat(facts.system, facts.n_hits)[hit], facts.item[hit]
    tables = []
    for which in (relevant[item] > 0, relevant[item] == 0):
        shape = (len(facts.systems), len(facts.items))
        some = csr_array((np.ones(int(which.sum()), dtype=np.int64), (system[which], item[which])), shape=shape)
        tables.append(np.asarray((some @ some.T).todense(), dtype=np.int64))
    return SharedDocuments(tables[0], tables[1], k * len(topics))


def _exact_pair(systems: Sequence[str], two: tuple[int, int], measure: str, counts: SharedDocuments) -> PairNeeded:
    """Compute what one pair needs; the system that is ahead comes first."""
    own = counts.of(*two)
    if own.delta < 0:
        two, own = (two[1], two[0]), own.reversed
    rules = {"needed": "exact, strictly", "not_behind": "exact", "normal": "two-sided"}
    about: dict[str, Any] = {"measure": measure, "delta": own.delta, "method": "exact", "documents": own}
    about |= {name: min_agreement(own, rule) if own.delta > 0 else NONE for name, rule in rules.items()}
    return PairNeeded(systems[two[0]], systems[two[1]], **about)


def _with_drawn(found: AgreementNeeded, case: Case, plan: Plan, two: TwoSystems) -> AgreementNeeded:
    """Add measures for which other judges are drawn."""
    worth = gains_for(case.scoring.gains, case.judgments.scale)
    labels, gains, note = as_binary(case.judgments, worth)
    scoring = replace(case.scoring, gains=gains)
    names = binary_names(plan, worth)
    binary = replace(scoring.plan(plan.measures, labels.scale), names=names)
    merged = Case(labels, build_panel(labels, assessor=case.scoring.assessor), case.facts, scoring)
    swap = JudgeSwap.on(merged, binary, transitions=agreement_transitions(labels.scale, 1.0, 1.0))
    curves = [_drawn_at(swap, (a, a), two, found.n_draws, found.seed) for a in RATES.tolist()]
    method = f"{counted(found.n_draws, 'draw')} at each of {len(RATES)} rates"
    pairs = []
    for number, name in enumerate(names):
        mean = np.nanmean(swap.scores.values[:, :, number], axis=1)
        for pair, (first, second) in enumerate(zip(*(side.tolist() for side in two), strict=True)):
            delta = float(mean[first] - mean[second])
            a, b = (first, second) if delta >= 0 else (second, first)
            needed, not_behind = (
                NONE if abs(delta) <= TIE else _crossing(np.array([curve[kind][number, pair] for curve in curves]))
                for kind in (0, 1)
            )
            about = (name, abs(delta), needed, not_behind, NONE, method)
            pairs.append(PairNeeded(swap.systems[a], swap.systems[b], *about))
    found = replace(found, swap=swap, notes=(*found.notes, *[note] * bool(note)))
    return _extended(found, swap.scores, pairs, [worth.values > 0] * len(names))


def _drawn_at(
    swap: JudgeSwap, rates: tuple[float, float], two: TwoSystems, n_draws: int, seed: int
) -> tuple[Floats, Floats]:
    """Share of draws in which the better of each pair is strictly ahead, and not behind -> (measure, pair) each."""
    judge = replace(swap, transitions=agreement_transitions(swap.case.judgments.scale, *rates))
    changes = [each.changes(*two) for each in judge.forecasts(judge_model="fixed", n_draws=n_draws, rng=seed)]
    return np.stack([each.stays for each in changes]), np.stack([1 - each.flips for each in changes])


def _crossing(chance: Floats) -> float:
    """Return the rate from which on the chance (rate,) is at least the confidence, by interpolation."""
    below = np.flatnonzero(chance < CONFIDENCE)
    if not len(below):
        return float(RATES[0])
    last = int(below[-1])
    if last + 1 == len(RATES):
        return 1.0
    part = (CONFIDENCE - chance[last]) / (chance[last + 1] - chance[last])
    return float(RATES[last] + part * (RATES[last + 1] - RATES[last]))


def _of_systems(swap: JudgeSwap, names: Sequence[str]) -> JudgeSwap:
    """Keep the lists of some systems."""
    facts = swap.case.facts
    number = np.full(len(facts.systems), -1, dtype=np.int32)
    kept = [facts.systems.index(name) for name in names]
    number[kept] = np.arange(len(kept), dtype=np.int32)
    lists = number[facts.system] >= 0
    hits = np.repeat(lists, facts.n_hits)
    some = replace(
        facts,
        systems=tuple(names),
        system=number[facts.system[lists]],
        topic=facts.topic[lists],
        depth=facts.depth[lists],
        offset=offsets(facts.n_hits[lists]),
        rank=facts.rank[hits],
        item=facts.item[hits],
    )
    scores = replace(swap.scores, values=swap.scores.values[kept], names={**swap.scores.names, "system": tuple(names)})
    case = replace(swap.case, facts=some)
    return replace(swap, case=case, layout=replace(swap.layout, lists=case.lists(swap.plan)), scores=scores)


def _extended(
    found: AgreementNeeded, scores: Scores, pairs: list[PairNeeded], relevant: Sequence[Bools]
) -> AgreementNeeded:
    """Add pairs, means, what is relevant, and notes."""
    marked = {**found.relevant, **dict(zip(scores.names["measure"], relevant, strict=True))}
    means = {name: scores.mean("topic").values[:, n] for n, name in enumerate(scores.names["measure"])}
    means, notes = {**found.means, **means}, tuple(dict.fromkeys([*found.notes, *scores.notes]))
    return replace(found, pairs=(*found.pairs, *pairs), means=means, relevant=marked, notes=notes)
