"""plan_systems: what to judge next so that a question about systems is decided, in one round or several.

The design and the forecast are in ``planning.systems``; ``planning.plan`` chooses the planner of a goal.

**Rounds.**  A budget may be spent in batches, with a look at the goal after each.  The labels so far and the plans that
they came from are given back, and the next batch is planned with all labels.  The probability of a result in a round
is conditional on the past: of being drawn among those not labelled yet.  So each round estimates the same unknown
total, and the estimate weighs their labels together (Des Raj 1956, J. Am. Stat. Assoc. 51, 269-284).  Each round has
random numbers of its own: with those of the one before, what it draws would depend on what was drawn.
Looking after every batch would raise the error rate, so each look has a level of its own (``kernels.sequential``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from venire.data.asked import FIRST, REFERENCE, Asked
from venire.data.assessors import last_labels
from venire.data.gains import GainsLike
from venire.data.judgments import Judgments
from venire.data.panel import judges_besides
from venire.errors import SettingError, UnknownName, Way
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.pool import with_results
from venire.io.runs import Progress, RunsLike, as_runs
from venire.kernels.sequential import levels_of
from venire.measures.evaluate import Case
from venire.measures.measure import Measure
from venire.measures.scoring import MeasureLike, Scoring
from venire.planning.earlier import (
    earlier_rounds,
    n_drawn,
    of_these_files,
    past_notes,
    refuse_other_people,
    refuse_other_plans,
    refuse_too_little,
    unnamed_notes,
    with_probabilities,
)
from venire.planning.goals import OF_SYSTEMS, Goal
from venire.planning.question import WITHIN
from venire.planning.result import (
    ALL_ASKED,
    DECIDED,
    JUDGE,
    SPENT,
    UNDECIDABLE,
    Plan,
    check_within,
    costs,
    enough,
)
from venire.planning.systems import SystemsPlan, asked_rows
from venire.planning.time import expected_minutes
from venire.randomness import seed_of
from venire.results import Note, first_few, listed
from venire.types import RNGLike

LEVEL = 0.05
DEPTH = 100
"""How deep results are planned for a measure without a depth of its own."""


def plan_systems(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measure: MeasureLike = "nDCG@10",
    *,
    goal: str | Goal,
    budget: float,
    batch: float | None = None,
    after: Sequence[Plan | Iterable[Asked]] = (),
    reference: str | Sequence[str] | None = None,
    judge: str | Sequence[str] | None = None,
    gains: GainsLike = "linear",
    topics: Iterable[str] | None = None,
    cost: Mapping[str, float] | None = None,
    within: float = WITHIN,
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> Plan:
    """Choose results to label so that a question about systems is decided, and forecast whether it will be.

    Parameters
    ----------
    judgments, runs, measure, gains, topics : as in ``evaluate``
    goal : "pair:A,B", "best", "top:K" or "levels"
    budget : how much may be spent in all, in judgments unless kinds have costs
    batch : how much of it to spend now; None: all
    after : earlier plans of this budget, in their order, whose labels are among the judgments
    reference : the people whose labels count, who may have given none yet; None: those that the judgments declare, or
        the only assessor
    judge : whose labels are on (nearly) everything; None: the declared machines, or everybody except the reference
    cost : of each kind of judgment, 1 unless given
    within : levels are decided where their intervals are at most this far from the scores

    Examples
    --------
    >>> from venire.simulation import Synthetic, generate
    >>> made = generate(Synthetic(n_topics=30), rng=7)
    >>> labels = made.judgments.where(assessor="lenient1")
    >>> found = plan_systems(labels, made.runs, "P(rel=2)@10", goal="pair:s01,s02", budget=60, reference="expert")
    >>> len(found), found.asked[0].judge, sorted({each.kind for each in found.asked})
    (60, 'expert', ['first', 'reference'])
    """
    aim = goal if isinstance(goal, Goal) else Goal.parse(goal)
    if aim.kind not in OF_SYSTEMS:
        raise SettingError(f"goal {str(aim)!r} is not about systems", hint="it has a planner of its own")
    rounds, labels = earlier_rounds(after), last_labels(as_judgments(judgments))
    who = Roles.of(labels, reference, judge)
    refuse_other_plans(rounds, (FIRST, REFERENCE), who.people)
    refuse_other_people(rounds, labels, who.people)
    unnamed = unnamed_notes(labels, rounds, who.people)
    labels = with_probabilities(labels, after, who.people)
    scoring = Scoring(gains=gains, topics=topics, per="assessor")
    measured = scoring.plan([measure], labels.scale)
    check_within(within, below=np.inf)
    sources = as_runs(runs)
    labels = with_results(labels, sources, reading_depth(measured.measures[0]))
    rounds, elsewhere = of_these_files(rounds, labels)
    facts = Case.of(labels, sources, scoring, progress=progress).facts.by_name()
    price = costs(cost)
    found = SystemsPlan.of(
        labels,
        facts,
        measured,
        scoring,
        goal=aim,
        judges=who.judges,
        people=who.people,
        costs=price,
        within=within,
        seed=int(seed_of(rng).generate_state(1)[0]),
    )
    past = Past.of(found, rounds, price)
    plan = planned(found, aim, budget=float(budget), batch=batch, past=past, people=who.people)
    return replace(plan, notes=(*plan.notes, *elsewhere, *unnamed, *who.notes))


@dataclass(frozen=True)
class Roles:
    """Who is who: the people whose labels count, and the judges whose labels predict them."""

    people: tuple[str, ...]
    judges: tuple[str, ...]
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(cls, labels: Judgments, reference: str | Sequence[str] | None, judge: str | Sequence[str] | None) -> Roles:
        """Resolve names; a reference may be new, a judge must have labels."""
        people = _names(labels.reference if reference is None else reference)
        notes: tuple[Note, ...] = ()
        if not people:
            if len(labels.assessors) > 1:
                raise SettingError(
                    f"nothing says who is to judge, of {first_few(labels.assessors, 4)}",
                    hint=[Way("name the people whose labels count", reference="NAME"), "declare them in the file"],
                )
            people = labels.assessors
            text = "nobody is named as the reference, so the labels of {name}, the only assessor, are those that count"
            notes = (Note("only-assessor", text, name=first_few(people, 1)),)
        judges = judges_besides(labels, people) if judge is None else _names(judge)
        for name in judges:
            if name not in labels.assessors:
                raise UnknownName("assessor", name, labels.assessors)
        if set(judges) & set(people):
            raise SettingError(
                f"{first_few(sorted(set(judges) & set(people)), 3)} is judge and reference", hint="name others"
            )
        return cls(people, judges, notes)


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    found = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
    if "" in found:
        raise SettingError("an assessor has no name", hint="name the people and the judges, or leave them out")
    return found


def reading_depth(measure: Measure) -> int:
    """Return how many results of each list count."""
    return measure.k or DEPTH


@dataclass(frozen=True)
class Past:
    """What was done before: what labels of no plan would have cost, what each plan did, and how many are missing."""

    before: float
    spent: tuple[float, ...]
    missing: int

    @classmethod
    def of(cls, found: SystemsPlan, rounds: Sequence[Sequence[Asked]], price: Mapping[str, float]) -> Past:
        """Count which judgments of earlier plans have labels; a plan that nobody answered yet gives no look."""
        labels, items = found.scene.labels, found.facts.items
        topics = list(items.topics)
        known = np.flatnonzero(labels.known)
        given = {(topics[items.topic[n]], doc) for n, doc in zip(known, items.doc.take(known), strict=True)}
        spent = [[price[each.kind] for each in row if (each.topic, each.doc) in given] for row in rounds]
        n_asked = sum(map(len, rounds))
        done = sum(map(len, spent))
        return cls((len(given) - done) * price[REFERENCE], tuple(sum(each) for each in spent if each), n_asked - done)

    def times(self, budget: float, batch: float) -> list[float]:
        """Fractions of the information at all looks, those to come too, which end with the whole budget."""
        done = np.cumsum([0.0, *self.spent])
        left = max(budget - done[-1], 0.0)
        to_come = [min(done[-1] + n * batch, budget) for n in range(1, ceil(left / batch - 1e-9) + 1)]
        labels = self.before + np.array([*done, *to_come])
        return [float(each) for each in labels / max(self.before + budget, 1e-12) if each > 0]

    def levels(self, budget: float, batch: float) -> tuple[float, float]:
        """Levels of the present look, 0 if there are no labels to look at, and of the last one."""
        times, n_looks = self.times(budget, batch), len(self.spent) + (self.before > 0)
        levels = levels_of(times, LEVEL)
        return levels[:n_looks][-1] if n_looks else 0.0, levels[-1]


def planned(
    found: SystemsPlan, goal: Goal, *, budget: float, batch: float | None, past: Past, people: Sequence[str]
) -> Plan:
    """Look at the goal, stop if it is decided or nothing is left to do, and else draw the next batch."""
    refuse_too_little(found.candidates.least, budget=budget, batch=batch)
    size, left = budget if batch is None else float(batch), budget - sum(past.spent)
    notes = tuple(notes_of(found, past, left))
    level, last = past.levels(budget, size)
    state = state_of(found, level, left)
    if state != JUDGE:
        what, outcome = found.question.what, found.outcome(level)
        return Plan(str(goal), max(left, 0.0), (), (), what, state=state, notes=notes, outcome=outcome)
    candidates, judgments = found.candidates, found.scene.case.judgments
    probability = candidates.probabilities(min(size, left))
    drawn = np.flatnonzero(candidates.draw(probability, np.random.default_rng([found.seed, 1, n_drawn(judgments)])))
    forecast = tuple(found.expected(each, last) for each in found.budgets(left))
    asked = asked_rows(found, drawn, probability, people)
    total = float(candidates.cost.sum())
    if total < left:
        text = "the budget is more than the cost of all that can be asked, {total:,.9g}"
        notes = (*notes, Note(ALL_ASKED, text, total=total))
    price = float(candidates.cost[drawn].sum())
    if price > min(size, left) * (1 + 1e-9):
        text = "these judgments cost {cost:,.9g}, and by this design {budget:,.9g} on average"
        notes = (*notes, Note("plan-cost", text, cost=price, budget=float(probability @ candidates.cost)))
    minutes = expected_minutes(_of(judgments, people), len(asked))
    return Plan(str(goal), left, asked, forecast, found.question.what, enough(forecast), minutes=minutes, notes=notes)


def state_of(found: SystemsPlan, level: float, left: float) -> str:
    """What to do next: judge, or stop, since the goal is decided, the budget is spent, or nothing is left to judge."""
    if level > 0 and found.decided(level):
        return DECIDED
    if not len(found.candidates.item):
        return UNDECIDABLE
    return JUDGE if left >= found.candidates.least * (1 - 1e-9) else SPENT


def _of(labels: Judgments, people: Sequence[str]) -> Judgments:
    """Choose the labels of some people, who may have given none."""
    return labels.take(np.isin(np.array(labels.assessors, dtype=object), people)[labels.assessor.codes])


def notes_of(found: SystemsPlan, past: Past, left: float) -> list[Note]:
    """Say what the labels and topics are, what is spent and missing, and what the plan and the forecast are about."""
    scene, names = found.scene, found.scene.case.facts.systems
    notes = [
        note for note in scene.notes if note != scene.labels.note
    ]  # how labels are predicted is no choice of users
    notes += past_notes(sum(past.spent), left, past.missing)
    for group in found.same if found.question.within is None else ():
        if len(group) > 1:
            text = "{systems} return the same results, so that no label distinguishes them; they count as one"
            notes.append(Note("same-results", text, systems=listed([names[n] for n in group], 4)))
    if len(found.chosen) < len(found.facts.systems):
        text = "the forecast is computed for {n:system} of {total:,}"
        notes.append(Note("plan-systems", text, n=len(found.chosen), total=len(found.facts.systems)))
    return notes
