"""What to judge next: the plan that fits the open question of a report, and what it is expected to decide.

Where a reference is declared and did not label all results that others labelled, the question is which system is best
by its labels, or which of two where no others are left.  Else it is what a label is worth to users, if second judgments
are needed for that; else how many more topics tell the best system from the next.  The first plan that asks for
judgments is shown.  It is the plan that ``venire.plan`` makes with the settings of the chapter.  Runs were scanned for
results that were judged; where some that count were not, they are scanned once more, for the plan.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from venire.data.asked import FIRST
from venire.data.assessors import last_labels
from venire.data.panel import judges_besides
from venire.errors import SettingError, VenireWarning
from venire.measures.names import parse_measure
from venire.measures.scoring import Scoring
from venire.planning.goals import BEST, LABELS, PAIR, TOPICS, Goal
from venire.planning.labels import plan_labels
from venire.planning.result import DECIDED, DECIDED_WITH, JUDGE, Expected, Plan, costs
from venire.planning.rounds import Past, plan_systems, planned, reading_depth
from venire.planning.systems import SystemsPlan
from venire.planning.topics import POWER, plan_more_topics
from venire.randomness import seed_of
from venire.report.document import Chapter, Grid, Part, Picture, Words
from venire.report.evidence import Evidence
from venire.report.headline import DEVIATION, advice, double_judgments, needed_topics
from venire.report.pictures import forecast_chart
from venire.report.question import Missing, Question, or_missing
from venire.results import counted, listed

BUDGET = 100
"""Judgments that a plan of a report has."""
WITHIN = 2 * DEVIATION
"""The half-width of p(R|i) that a plan is for: that of the recommended standard deviation."""
ANOTHER = "another assessor"
"""Who is asked where everybody who is known labelled everything."""
CARD_OF = {BEST: "judges", PAIR: "judges", LABELS: "users", TOPICS: "topics"}
"""The card that a plan belongs to, by the kind of its goal."""
BROKEN, ASKED_FOR, ENOUGH_TOPICS = ("names", "results"), ("second-assessor", "double-judgments"), "topics"
"""Recommendations after which nothing about systems is planned, and those that ask for second judgments and topics."""
UNPLANNED = "not planned"
NOTHING_OPEN = "no question is open that more judgments of these results would decide"
DECIDES_NOTHING = "more judgments of these results would not decide what is open"
NAMES_DOCUMENTS = "a plan names documents, and labels are for intents of documents"
MOST_SHOWN = 10


def next_judgments(evidence: Evidence) -> Plan | Missing:
    """Return the first plan that asks for judgments, or else one that needs none, or why there is no plan."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VenireWarning)  # other chapters have these warnings
        tried = []
        for make in _questions(evidence):
            found = or_missing(make)
            if isinstance(found, Plan) and found.state == JUDGE:
                return found
            tried.append(found)
    undecided = bool(evidence.facts.systems) and evidence.verdict.leader is None
    nothing = Missing(DECIDES_NOTHING if undecided else NOTHING_OPEN)
    return next((each for each in tried if isinstance(each, Plan)), next(iter(tried), nothing))


def _questions(evidence: Evidence) -> Iterator[Callable[[], Plan]]:
    """Yield the planners that fit, the most important question first."""
    said = advice(evidence) if evidence.facts.systems else double_judgments(evidence)
    wanted = {each.about for each in said if isinstance(each, Words) and each.kind == "todo"}
    if evidence.facts.systems and wanted.isdisjoint(BROKEN) and _reference_lacks(evidence):
        yield lambda: _plan_systems(evidence)
    if not wanted.isdisjoint(ASKED_FOR):
        yield lambda: _plan_labels(evidence)
    if ENOUGH_TOPICS in wanted:
        yield lambda: _plan_topics(evidence)


def _reference_lacks(evidence: Evidence) -> bool:
    """Whether a declared reference did not label all results that somebody labelled."""
    labels, facts = evidence.judged, evidence.facts
    several = len(facts.systems) > len(evidence.verdict.twins) + 1
    if not several or not labels.reference or not judges_besides(labels):
        return False
    known, labelled = (np.zeros(len(labels.items), dtype=np.bool_) for _ in range(2))
    known[labels.where(assessor=list(labels.reference)).item] = True
    labelled[labels.item] = True
    counted_ones = facts.item[facts.rank <= reading_depth(parse_measure(evidence.question.measure))]
    return bool((labelled & ~known)[counted_ones].any())


def _plan_systems(evidence: Evidence) -> Plan:
    """Choose results that the reference is to label."""
    question, everyone = _of_documents(evidence.question), last_labels(evidence.judged)
    people, judges, goal = everyone.reference, _predicting(evidence), _open_question(evidence)
    if _some_unjudged(evidence):
        how: dict[str, Any] = {"goal": goal, "reference": people, "judge": judges, "rng": question.rng}
        return plan_systems(everyone, question.runs, question.measure, budget=BUDGET, **how)
    labels, scoring, price = everyone.where(assessor=[*judges, *people]), Scoring(per="assessor"), costs(None)
    found = SystemsPlan.of(
        labels,
        evidence.facts.by_name(),
        scoring.plan([question.measure], labels.scale),
        scoring,
        goal=goal,
        judges=judges,
        people=people,
        costs=price,
        seed=int(seed_of(question.rng).generate_state(1)[0]),
    )
    return planned(found, goal, budget=BUDGET, batch=None, past=Past.of(found, (), price), people=people)


def _of_documents(question: Question) -> Question:
    """Return the question; raise where the labels are for intents, since a plan names documents."""
    if question.by_intent:
        raise SettingError(NAMES_DOCUMENTS)
    return question


def _some_unjudged(evidence: Evidence) -> bool:
    """Whether nobody labelled some result that counts, of a topic that was judged."""
    facts, depth = evidence.facts, reading_depth(parse_measure(evidence.question.measure))
    every = np.ones(len(facts.items), dtype=np.bool_)
    return int(np.minimum(facts.depth, depth).sum()) > int(facts.documents(every, depth=depth).sum())


def _predicting(evidence: Evidence) -> tuple[str, ...]:
    """Return whose labels predict those of the reference: of the judge that is tested first, or of all others."""
    return tuple(evidence.judges_to_test[:1] or judges_besides(last_labels(evidence.judged)))


def settings_of(evidence: Evidence, plan: Plan) -> dict[str, Any]:
    """Return the settings with which ``venire plan`` makes the plan of a report, besides goal and budget."""
    kind, labels, seed = Goal.parse(plan.goal).kind, evidence.judgments, {"rng": evidence.question.rng}
    if kind == LABELS:
        new = [ANOTHER] if any(each.judge == ANOTHER for each in plan.asked) else []
        people = {"machine": list(labels.machines), "reference": new}
        return {**people, "relevant": evidence.relevant, "within": WITHIN, **seed}
    scored = {"measure": evidence.question.measure, **seed}
    if kind == TOPICS:
        one = [evidence.judge] if evidence.judge in labels.assessors else []  # else a pool of several
        return {"reference": one, **scored}
    return {"reference": list(labels.reference), "judge": list(_predicting(evidence)), **scored}


def _open_question(evidence: Evidence) -> Goal:
    """Return the goal about systems: the best of all, or of two where the best has one rival."""
    found = evidence.verdict
    one = len(found.rivals) - len(found.twins) == 1
    return Goal(PAIR, f"{found.best},{found.closest}") if one else Goal(BEST)


def _plan_labels(evidence: Evidence) -> Plan:
    """Choose results to be judged a second time, by those who are known, or else by somebody else."""
    _of_documents(evidence.question)
    labels, runs = evidence.judgments, evidence.runs if evidence.facts.systems else None
    people = labels.where(assessor=list(labels.people)) if labels.people else labels

    def plan(judges: str | None) -> Plan:
        how: dict[str, Any] = {"relevant": evidence.relevant, "within": WITHIN, "rng": evidence.question.rng}
        return plan_labels(people, runs, budget=BUDGET, judges=judges, **how)

    known = or_missing(lambda: plan(None))
    return plan(ANOTHER) if isinstance(known, Missing) else known


def _plan_topics(evidence: Evidence) -> Plan:
    """Forecast what as many topics as are recommended tell about the best system and the next."""
    found = evidence.verdict
    pair, more = (found.best, str(found.closest)), max(int(np.ceil(needed_topics(evidence))) - found.n_topics, 1)
    how: dict[str, Any] = {"measure": evidence.question.measure, "assessor": evidence.judge}
    return plan_more_topics(evidence.labels, evidence.runs, budget=more, pair=pair, **how)


def step(evidence: Evidence, plan: Plan | Missing) -> dict[str, str]:
    """Return what to collect, in one sentence, by the card that it belongs to; empty if nothing is to be collected."""
    if isinstance(plan, Missing) or plan.state != JUDGE:
        return {}
    return {CARD_OF[Goal.parse(plan.goal).kind]: f"{_collect(evidence, plan)}: {_chance(evidence, plan)}"}


def _collect(evidence: Evidence, plan: Plan) -> str:
    """Say what to collect, and how much."""
    kind, n = Goal.parse(plan.goal).kind, len(plan.asked)
    if kind == TOPICS:
        return f"Judge {counted(int(plan.budget), 'more topic')}"
    if kind == LABELS:
        return f"Have {counted(n, 'result')} judged a second time"
    unjudged, whose = sum(each.kind == FIRST for each in plan.asked), " that others labelled"
    if unjudged:
        whose = f", {unjudged:,} of them not judged by {listed(_predicting(evidence))}"
    return f"Have {listed(evidence.judgments.reference)} label {counted(n, 'result')}{whose}"


def _chance(evidence: Evidence, plan: Plan) -> str:
    """Say what these judgments tell and, in a second sentence, how many are needed for the goal."""
    there, last = plan.there or plan.forecast[-1], plan.forecast[-1]
    if Goal.parse(plan.goal).kind == TOPICS:
        told = f"a significant difference {_subject(evidence, plan)} is then found with probability"
        return f"{told} {_p(there.p_decided)}, or {_p(POWER)} if the observed difference is the true one."
    told, goal = f"this decides {_subject(evidence, plan)} with probability {_p(there.p_decided)}", "To decide it"
    if plan.goal == LABELS:
        told = f"what a label is worth to users is then known to within {there.half_width:.2f}"
        goal = f"To know it to within {WITHIN:g}"
    rest = last.budget > there.budget or plan.goal == LABELS
    if not rest or (plan.enough is not None and plan.enough <= there.budget):
        return f"{told}."
    if plan.enough is None:
        return f"{told}. {goal}, even all {last.budget:,.0f} are too few (probability {_p(last.p_decided)})."
    return f"{told}. {goal} with probability {_p(DECIDED_WITH)}, about {plan.enough:,.0f} are needed."


def _p(p: float) -> str:
    """Format a probability, never as 0 or 1."""
    return "below .01" if p < 0.01 else "above .99" if p > 0.99 else f"{p:.2f}".lstrip("0")


def _subject(evidence: Evidence, plan: Plan) -> str:
    """Say what is to be decided."""
    goal = Goal.parse(plan.goal)
    if goal.kind == LABELS:
        return f"what a label is worth to users to within {WITHIN:g}"
    if goal.kind == BEST:
        return "which system is best on these topics"
    two = f"{evidence.verdict.best} and {evidence.verdict.closest}"
    return f"between {two}{' on these topics' if goal.kind == PAIR else ''}"


def plan_chapter(evidence: Evidence, plan: Plan | Missing) -> Chapter:
    """Write the chapter: what to collect, the forecast, and the judgments one by one."""
    title = "What to judge next"
    if isinstance(plan, Missing):
        numbers: dict[str, Any] = {
            "goal": None,
            "state": UNPLANNED,
            "enough": None,
            "minutes": None,
            "rows": [],
            "forecast": [],
        }
        return Chapter("plan", title, f"Nothing is planned: {plan.reason}.", (), numbers)
    finding = next(iter(step(evidence, plan).values()), None) or _stopped(evidence, plan)
    parts: list[Part] = [*_forecast(plan), *_judgments(plan)]
    parts += [Words(f"{str(note)[:1].upper()}{str(note)[1:]}.", about=note.kind) for note in plan.notes]
    return Chapter("plan", title, finding, tuple(parts), plan.to_dict(), settings_of(evidence, plan))


def _stopped(evidence: Evidence, plan: Plan) -> str:
    """Say why no judgments are to be collected."""
    if plan.state == DECIDED and plan.goal == LABELS:
        return f"No second judgments are planned: with either of two labels first, p(R|label) is known to {WITHIN:g}."
    if plan.state == DECIDED:
        return f"No more judgments are needed: the labels so far decide {_subject(evidence, plan)}."
    return f"More labels do not help: all results have them, and that does not decide {_subject(evidence, plan)}."


def _forecast(plan: Plan) -> list[Part]:
    """Show the forecast by budget."""
    if not plan.forecast or plan.state != JUDGE:
        return []
    caption = f"What budgets are expected to give: the half-width is that of the 95% interval of {plan.what}."
    rows = [[round(each.budget), each.p_decided, each.half_width] for each in plan.forecast]
    budgets = "number of more topics" if plan.of_topics else "budget"
    about = f"Probability that the goal is decided, by {budgets}; the dotted line is at {DECIDED_WITH:g}."
    ends = (f"{each.p_decided:.2f} with {each.budget:,.0f}" for each in (plan.forecast[0], plan.forecast[-1]))
    chart = Picture("plan_chart", about, forecast_chart(plan), f"From {' to '.join(ends)}.")
    return [chart, Grid("plan_forecast", caption, Expected._fields, rows)]


def _judgments(plan: Plan) -> list[Part]:
    """List the judgments to collect."""
    n = counted(len(plan.asked), "judgment")
    caption = (
        f"What to judge next: {n}, drawn at random with these probabilities, which estimates need with the labels."
    )
    return [Grid.of("plan_judgments", caption, plan.records(), shown=MOST_SHOWN)] if plan.asked else []
