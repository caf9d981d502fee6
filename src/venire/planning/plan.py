"""plan: what to judge next, for any goal; each goal has its planner, and all give a ``Plan``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from venire.data.asked import KINDS, PREFERENCE, SECOND, Asked
from venire.data.gains import GainsLike
from venire.data.scale import Relevant
from venire.errors import SettingError, Way
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.preferences import PreferencesLike, read_preferences
from venire.io.runs import Progress, RunsLike, as_runs, scan
from venire.measures.scoring import MeasureLike
from venire.planning.agreement import plan_agreement
from venire.planning.batches import compared, in_batches, labelled
from venire.planning.earlier import with_probabilities
from venire.planning.goals import AGREEMENT, LABELS, LEVELS, OF_SYSTEMS, PREFERENCES, TOPICS, Goal
from venire.planning.labels import plan_labels
from venire.planning.preference_tests import plan_preferences
from venire.planning.result import Plan
from venire.planning.rounds import Roles, plan_systems
from venire.planning.topics import plan_more_topics
from venire.results import first_few
from venire.types import RNGLike

GOALS_WITH = {
    "batch": (*OF_SYSTEMS, LABELS, AGREEMENT, PREFERENCES),
    "after": (*OF_SYSTEMS, LABELS, AGREEMENT, PREFERENCES),
    "reference": (*OF_SYSTEMS, LABELS, AGREEMENT, TOPICS),
    "judge": OF_SYSTEMS,
    "preferences": (PREFERENCES,),
    "relevant": (LABELS,),
    "again": (LABELS,),
    "topics": (*OF_SYSTEMS, TOPICS),
    "cost": (*OF_SYSTEMS, LABELS, AGREEMENT, PREFERENCES),
    "within": (LEVELS, LABELS, AGREEMENT, TOPICS, PREFERENCES),
}
"""Which goals have a setting; runs, measure and gains are apart."""


def plan(
    judgments: JudgmentsLike,
    runs: RunsLike | None = None,
    measure: MeasureLike = "nDCG@10",
    *,
    goal: str | Goal,
    budget: float,
    batch: float | None = None,
    after: Sequence[Plan | Iterable[Asked]] | None = None,
    reference: str | Sequence[str] | None = None,
    judge: str | Sequence[str] | None = None,
    preferences: PreferencesLike | None = None,
    relevant: Relevant = None,
    again: bool = False,
    gains: GainsLike = "linear",
    topics: Iterable[str] | None = None,
    cost: Mapping[str, float] | None = None,
    within: float | None = None,
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> Plan:
    """Choose judgments to collect for a goal and a budget, and forecast what they will tell.

    Parameters
    ----------
    judgments, measure, gains, topics : as in ``evaluate``
    runs : as in ``evaluate``; required for "topics:A,B" and goals about systems.  For "labels" and "agreement", items
        are chosen from the first 10 results; None: from all that are labelled.  For "topics" without runs, the forecast
        is for systems that did not run yet
    goal : "pair:A,B", "best", "top:K", "levels", "labels", "agreement", "topics", "topics:A,B" or "preferences"
    budget : how much may be spent in all, in judgments unless kinds have costs; for "topics", how many may be added
    batch : how much of it to spend now; None: all
    after : earlier plans of this budget, in their order, whose labels are among the judgments, or whose choices are
        among the preferences
    reference : the people who are asked.  For goals about systems their labels count, and they may have given none yet;
        None: those that the judgments declare, or the only assessor.  For "topics", the assessor whose labels count
    judge : for goals about systems, whose labels are on (nearly) everything; None: the declared machines, or everybody
        except the reference
    preferences : for "preferences", choices that are known
    relevant : for "labels", the labels with which a user is satisfied; None: the top label
    again : for "labels", ask also about items with two labels or more
    cost : of each kind of judgment ("first", "second", "reference", "preference"), 1 unless given
    within : half-width of 95 % intervals that decides the goal; None: 0.03 for "levels", 0.05 for "labels",
        "agreement" and, without runs, "topics", 0.1 for "preferences"

    Notes
    -----
    When not to use this: to find as many relevant documents as possible, or to build a collection for systems that do
    not exist yet.  The results are chosen for one goal, and labels of others would be few.

    Examples
    --------
    >>> import venire
    >>> made = venire.simulation.generate(venire.simulation.Synthetic(n_topics=30), rng=7)
    >>> labels = made.judgments.where(assessor="lenient1")
    >>> found = venire.plan(labels, made.runs, "P(rel=2)@10", goal="pair:s01,s02", budget=60, reference="expert")
    >>> len(found), sorted({each.kind for each in found.asked}), max(each.probability for each in found.asked) < 1
    (60, ['first', 'reference'], True)
    """
    aim = goal if isinstance(goal, Goal) else Goal.parse(goal)
    named = {
        "batch": batch,
        "after": after or None,
        "reference": reference,
        "judge": judge,
        "preferences": preferences,
        "relevant": relevant,
        "again": again or None,
        "topics": topics,
        "cost": cost or None,
        "within": within,
    }
    settings: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    refuse_odd(aim, runs, settings)
    refuse_other_goals(aim, after or ())
    aim.refuse_costs([kind for kind in cost or () if kind in KINDS])
    if aim.kind in OF_SYSTEMS and runs is not None:
        more = {"gains": gains, "rng": rng, "progress": progress, **settings}
        return plan_systems(judgments, runs, measure, goal=aim, budget=budget, **more)
    if aim.kind == TOPICS:
        more = {"budget": budget, "measure": measure, "gains": gains, "rng": rng, **settings}
        return _more_topics(aim, judgments, runs, more)
    earlier, labels = settings.pop("after", ()), as_judgments(judgments)
    purse = {"budget": budget, "batch": settings.pop("batch", None), "cost": settings.pop("cost", None)}
    if aim.kind == PREFERENCES:
        known = settings.pop("preferences", None)
        choices = None if known is None else read_preferences(known)
        planner = partial(plan_preferences, labels, choices, rng=rng, **settings)
        return in_batches(planner, earlier, compared(choices), kind=PREFERENCE, **purse)
    labels, sources = with_probabilities(labels, earlier), None if runs is None else as_runs(runs)
    of_goal = plan_labels if aim.kind == LABELS else plan_agreement
    planner = partial(of_goal, labels, sources, judges=settings.pop("reference", None), rng=rng, **settings)
    given = labelled(labels, earlier, again=again) if earlier else ()
    return in_batches(planner, earlier, given, kind=SECOND, **purse)


def refuse_other_goals(goal: Goal, after: Sequence[Plan | Iterable[Asked]]) -> None:
    """Raise where an earlier plan is for another goal, whose looks are not looks at this one."""
    for number, each in enumerate(after, start=1):
        if isinstance(each, Plan) and each.goal != str(goal):
            message = f"earlier plan {number} is for the goal {each.goal!r}, and this one for {str(goal)!r}"
            raise SettingError(message, hint="keep the goal in all rounds, or begin a new budget with these labels")


def refuse_odd(goal: Goal, runs: RunsLike | None, settings: Mapping[str, Any]) -> None:
    """Raise where a goal lacks runs, or has no use for a setting that was given."""
    if (goal.kind in OF_SYSTEMS or goal.about) and runs is None:
        raise SettingError(f"goal {str(goal)!r} is about systems, and there are no runs", hint="name their runs")
    for name in settings:
        if goal.kind not in GOALS_WITH[name]:
            others = ", ".join(GOALS_WITH[name])
            raise SettingError(f"goal {str(goal)!r} has no {name}", hint=f"it is for the goals {others}")
    if goal.kind == PREFERENCES and runs is not None:
        raise SettingError("goal 'preferences' has no runs", hint="it is about labels: leave the runs out")


def _more_topics(goal: Goal, judgments: JudgmentsLike, runs: RunsLike | None, settings: dict[str, Any]) -> Plan:
    """Plan topics by the labels of one assessor."""
    labels = as_judgments(judgments)
    people = Roles.of(labels, settings.pop("reference", None), ()).people
    if len(people) > 1:
        message = f"goal {str(goal)!r} is planned by the labels of one assessor, not of {first_few(people, 4)}"
        raise SettingError(message, hint=[Way("name one", reference="NAME")])
    if runs is None:
        return plan_more_topics(labels, assessor=people[0], **settings)
    scanned = scan(as_runs(runs), labels.items)
    systems = scanned.facts.by_name().systems
    pair = None
    if goal.about:
        first, second = goal.pair(systems)
        pair = (systems[first], systems[second])
    return plan_more_topics(labels, scanned, pair=pair, assessor=people[0], **settings)
