"""venire.plan: every goal reaches its planner, and refuses what it has no use for."""

from __future__ import annotations

import importlib

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


@pytest.mark.parametrize("goal", ["labels", "agreement", "preferences"])
def test_a_batch_is_forecast_for_the_whole_budget_and_computed_once(goal, monkeypatch):
    planner, calls = getattr(module := importlib.import_module("venire.planning.plan"), f"plan_{goal}"), []
    monkeypatch.setattr(module, f"plan_{goal}", lambda *more, **how: calls.append(how) or planner(*more, **how))
    who = {} if goal == "preferences" else {"reference": "zoe"}
    whole, batch = (venire.plan(LABELS, goal=goal, budget=20, batch=batch, **who) for batch in (None, 6))
    assert (len(whole), len(batch), len(calls)) == (20, 6, 2)
    assert (batch.forecast, batch.enough, batch.budget) == (whole.forecast, whole.enough, 20)
    if goal == "agreement":
        assert {each.probability for each in batch.asked} == {6 / 72}


@pytest.mark.parametrize("goal", ["best", "levels", "labels", "agreement", "preferences"])
@pytest.mark.parametrize("setting", ["budget", "batch"])
@pytest.mark.parametrize("value", [float("inf"), float("nan"), 0.0, -3.0])
def test_amounts_that_are_none_are_refused(files, goal, setting, value):
    of_systems = goal in OF_SYSTEMS
    how = (
        {"budget": 20, setting: value, "reference": "ann"} if goal != "preferences" else {"budget": 20, setting: value}
    )
    with pytest.raises(SettingError, match=f"a {setting} of {value:g}") as error:
        venire.plan(*(files if of_systems else (LABELS,)), goal=goal, **how)
    assert error.value.hint == "expected a number above 0"


@pytest.mark.parametrize("goal", ["levels", "labels", "agreement", "preferences", "topics"])
@pytest.mark.parametrize("within", [0.0, -1.0, float("nan"), float("inf")])
def test_half_widths_that_decide_nothing_are_refused(files, goal, within):
    given = (*files,) if goal == "levels" else (LABELS,)
    who = {"reference": "ann"} if goal == "levels" else {}
    with pytest.raises(SettingError, match=f"a half-width of {within:g}"):
        venire.plan(*given, goal=goal, budget=20, within=within, **who)


@pytest.mark.parametrize("who", [{"reference": ["ann", ""]}, {"reference": ""}, {"reference": "ann", "judge": ""}])
def test_people_and_judges_have_names(files, who):
    with pytest.raises(SettingError, match="an assessor has no name"):
        venire.plan(*files, goal="best", budget=20, **who)
