"""venire.plan: every goal reaches its planner, and refuses what it has no use for."""

from __future__ import annotations

import pytest

import venire
from planned_files import write_files
from venire import planning
from venire.errors import SettingError, UnknownName
from venire.planning.goals import GOALS, OF_SYSTEMS, Goal
from venire.planning.plan import GOALS_WITH

LABELS = {f"q{t}": {f"d{n}": (n + t) % 3 for n in range(9)} for t in range(8)}


@pytest.fixture
def files(tmp_path):
    return write_files(tmp_path)


def test_every_goal_has_its_settings():
    assert {kind for each in GOALS_WITH.values() for kind in each} == {
        Goal.parse(each.replace("K", "3")).kind for each in GOALS
    }


@pytest.mark.parametrize(("text", "found"), [("topics", ("topics", "")), ("topics:a,b", ("topics", "a,b"))])
def test_topics_may_name_two_systems(text, found):
    goal = Goal.parse(text)
    assert ((goal.kind, goal.about), str(goal)) == (found, text)
    with pytest.raises(UnknownName):
        Goal.parse("labels:2")


@pytest.mark.parametrize("goal", ["pair:good,poor", "best", "top:2", "levels", "topics:good,poor"])
def test_runs_are_required(goal):
    with pytest.raises(SettingError, match="is about systems, and there are no runs"):
        venire.plan(LABELS, goal=goal, budget=9)


def test_other_goals_give_what_their_planners_give():
    labels = venire.read_judgments(LABELS)
    for goal, planner in (("labels", planning.plan_labels), ("agreement", planning.plan_agreement)):
        found = venire.plan(labels, goal=goal, budget=20, within=0.2, reference="zoe", rng=3)
        assert found.to_dict() == planner(labels, budget=20, within=0.2, judges="zoe", rng=3).to_dict()
    found = venire.plan(labels, goal="preferences", budget=20, cost={"preference": 2.0})
    assert found.to_dict() == planning.plan_preferences(labels, budget=20, cost={"preference": 2.0}).to_dict()


@pytest.mark.parametrize("goal", OF_SYSTEMS)
def test_goals_about_systems_give_what_their_planner_gives(files, goal):
    goal = {"pair": "pair:good,poor", "top": "top:2"}.get(goal, goal)
    how = {"goal": goal, "budget": 20, "batch": 10, "reference": "ann", "gains": "binary:2", "rng": 2}
    assert venire.plan(*files, "P@5", **how).asked == planning.plan_systems(*files, "P@5", **how).asked


def test_a_setting_of_another_goal_names_the_goals_that_have_it():
    with pytest.raises(SettingError, match="goal 'agreement' has no judge") as error:
        venire.plan(LABELS, goal="agreement", budget=9, judge="ann")
    assert error.value.hint == "it is for the goals pair, best, top, levels"


def test_plans_for_another_goal_are_refused(files):
    how = {"budget": 20, "batch": 10, "reference": "ann", "gains": "binary:2"}
    first = venire.plan(*files, "P@5", goal="best", **how)
    assert venire.plan(*files, "P@5", goal="best", after=[first], **how).asked == first.asked
    with pytest.raises(SettingError, match="earlier plan 1 is for the goal 'best', and this one for 'levels'"):
        venire.plan(*files, "P@5", goal="levels", after=[first], **how)
