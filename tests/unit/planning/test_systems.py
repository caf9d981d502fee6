from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planned_studies import N_TOPICS, TOP, Study
from venire.errors import SettingError, UnknownName
from venire.kernels.sampling import systematic
from venire.planning.candidates import Candidates
from venire.planning.earlier import own_draws
from venire.planning.goals import Goal
from venire.planning.question import Question, deviations, same_rows
from venire.planning.result import DECIDED, JUDGE, SPENT, UNDECIDABLE, costs
from venire.planning.rounds import Past, plan_systems, state_of

SYSTEMS = ("s0", "s1", "s2", "s3")


@pytest.fixture(scope="module")
def study():
    return Study.simulate(np.random.default_rng(3), equal=False)


def question(goal, n=4):
    return Question.of(Goal.parse(goal), SYSTEMS[:n])


def slow_decided(order, first, covariance, reach):
    """Every one of the first systems is ahead of every later one by more than its interval."""
    ranked = sorted(range(len(order)), key=lambda n: -order[n])
    for place in range(first):
        for later in ranked[place + 1 :]:
            ahead = ranked[place]
            variance = covariance[ahead, ahead] + covariance[later, later] - 2 * covariance[ahead, later]
            if order[ahead] - order[later] <= reach * np.sqrt(variance):
                return False
    return True


@pytest.mark.parametrize(("goal", "first"), [("best", 1), ("top:2", 2), ("top:9", 3)])
def test_decided_is_what_its_definition_says(goal, first):
    rng = np.random.default_rng(1)
    values, root = rng.normal(size=(300, 4)), rng.normal(size=(4, 4)) / 3
    covariance = root @ root.T
    found = question(goal).decided(values, covariance, 1.5)
    assert found.tolist() == [slow_decided(row, first, covariance, 1.5) for row in values]
    assert 0 < found.mean() < 1


def test_a_pair_is_decided_by_its_own_interval():
    values, covariance = np.array([[0.0, 9.0, 1.0, 9.0], [0.0, 9.0, 0.1, 9.0]]), np.eye(4) * 0.02
    assert question("pair:s0,s2").decided(values, covariance, 2.0).tolist() == [True, False]


def test_levels_are_decided_where_intervals_are_short():
    asked = Question.of(Goal.parse("levels"), SYSTEMS, within=0.1)
    covariance = np.diag([0.001, 0.001, 0.001, 0.002])
    assert asked.decided(np.zeros((1, 4)), covariance, 2.0).tolist() == [True]
    assert asked.decided(np.zeros((1, 4)), covariance, 2.5).tolist() == [False]
    assert asked.half_width(np.zeros(4), covariance, 2.0) == pytest.approx(2 * np.sqrt(0.002))


def test_deviations_are_those_of_draws():
    root = np.random.default_rng(2).normal(size=(3, 3))
    draws = np.random.default_rng(3).normal(size=(200_000, 3)) @ root.T
    np.testing.assert_allclose(deviations(root @ root.T)[0, 2], (draws[:, 0] - draws[:, 2]).std(), rtol=0.01)


def test_only_results_of_the_two_systems_are_asked_for_in_proportion_to_their_spread(study):
    found = study.plan("pair:s0,s1", study.nothing)
    owner = np.repeat(study.facts.system, study.facts.n_hits)[np.argsort(study.facts.item)]
    assert set(owner[found.candidates.item].tolist()) == {0, 1}
    assert len(found.candidates.item) == 2 * N_TOPICS * TOP
    probability = found.candidates.probabilities(40.0)
    assert probability.sum() == pytest.approx(40)
    model = found.scene.models[0]
    spread = model.deviation()[np.searchsorted(model.item, found.candidates.item)]
    np.testing.assert_allclose(probability / spread, (probability / spread)[0])


@pytest.mark.parametrize("goal", ["pair:s0,s1", "levels"])
def test_samples_estimate_totals_without_bias(study, goal):
    found = study.plan(goal, study.nothing).candidates
    value = found.size * np.random.default_rng(5).normal(1, 2, len(found.size))
    chance = found.probabilities(40.0)
    drawn = np.array([found.draw(chance, np.random.default_rng(seed)) for seed in range(300)])
    total = (drawn * value / chance).sum(axis=1)
    assert abs(total.mean() - value.sum()) < 3 * total.std() / np.sqrt(len(total))
    assert set(drawn.sum(axis=1).tolist()) == {40}


def test_what_is_labelled_is_not_asked_again_and_nothing_is_left_in_the_end(study):
    probability = study.nothing
    probability[::2] = 0.5
    found = study.plan("pair:s0,s1", probability)
    assert not np.isin(found.candidates.item, np.flatnonzero(~np.isnan(probability))).any()
    everything = study.plan("pair:s0,s1", np.ones(len(probability)))
    assert len(everything.candidates.item) == 0
    np.testing.assert_allclose(everything.now.value, study.truth)


def test_systems_with_the_same_results_are_one_of_a_question():
    question = Question.of(Goal.parse("top:3"), ["a", "b", "c", "d"])
    assert same_rows(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])) == [[0, 2], [1]]
    apart = question.of_groups([[0, 2], [1], [3]])
    assert (apart.members.tolist(), apart.first) == ([0, 1, 3], 2)
    assert question.of_groups([[0, 1, 2, 3]]) is question
    levels = Question.of(Goal.parse("levels"), ["a", "b"])
    assert levels.of_groups([[0, 1]]) is levels


def test_cheap_judgments_are_drawn_more_often():
    size, cost = np.ones(40), np.repeat([1.0, 4.0], 20)
    found = Candidates(np.arange(40), size, cost, np.arange(40) % 5)
    probability = found.probabilities(30.0)
    np.testing.assert_allclose(probability[0] / probability[-1], 2.0)
    assert 30 - 4 < probability @ cost <= 30
    for seed in range(50):
        drawn = found.draw(probability, np.random.default_rng(seed))
        assert abs(drawn @ cost - probability @ cost) <= 4, "a sample costs about what is expected"


def test_more_labels_are_expected_to_tell_more(study):
    found = study.plan("pair:s0,s1", study.nothing)
    forecast = [found.expected(budget, 0.05) for budget in (20.0, 80.0, 160.0)]
    widths = [each.half_width for each in forecast]
    assert widths == sorted(widths, reverse=True)
    everything = found.expected(1e6, 0.05)
    assert everything.half_width == 0
    assert everything.p_decided == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("goal", ["best", "top:2", "levels"])
def test_other_goals_ask_about_all_their_systems(study, goal):
    found = study.plan(goal, study.nothing)
    assert len(found.candidates.item) > 2 * N_TOPICS * TOP
    assert 0 <= found.expected(100.0, 0.05).p_decided <= 1


def test_states(study):
    nothing, everything = study.plan("pair:s0,s1", study.nothing), study.plan("pair:s0,s1", np.ones(4 * N_TOPICS * TOP))
    assert state_of(nothing, 0.0, 100.0) == JUDGE
    assert state_of(nothing, 0.05, 0.0) == SPENT
    assert state_of(everything, 0.05, 0.0) == DECIDED
    equal = Study.simulate(np.random.default_rng(1), equal=True)
    same = equal.plan("pair:s0,s1", np.ones(4 * N_TOPICS * TOP))
    assert state_of(same, 0.05, 0.0) == UNDECIDABLE


def test_looks_end_with_the_whole_budget():
    past = Past(0, (25.0, 25.0), 0)
    np.testing.assert_allclose(past.times(100, 30), [0.25, 0.5, 0.8, 1.0])
    np.testing.assert_allclose(Past(50, (), 0).times(50, 50), [0.5, 1.0])
    assert Past(0, (), 0).levels(100, 100) == (0.0, pytest.approx(0.05))


def test_goals_name_systems_that_exist():
    assert Goal.parse("pair:a,b,c").pair(["a", "b,c"]) == (0, 1)
    with pytest.raises(UnknownName):
        Goal.parse("pair:a,x").pair(["a", "b"])
    with pytest.raises(SettingError):
        Goal.parse("pair:a,a").pair(["a", "b"])
    with pytest.raises(UnknownName):
        Goal.parse("best:a")
    with pytest.raises(SettingError):
        Goal.parse("top:0")


def test_rounds_draw_independently():
    """With the random numbers of the first round, the second would draw with other probabilities than it states."""
    topic, n_seeds, wrong = np.repeat([0, 1], 4), 6000, []
    for same in (False, True):
        n_sets, hits = {}, {}
        for seed in range(n_seeds):
            first = systematic(np.full(8, 0.25), topic, own_draws(seed, 0))
            left = np.flatnonzero(~first)
            second = left[systematic(np.full(6, 1 / 3), topic[left], own_draws(seed, 0 if same else 2))]
            n_sets[first.tobytes()] = n_sets.get(first.tobytes(), 0) + 1
            for item in second.tolist():
                hits[first.tobytes(), item] = hits.get((first.tobytes(), item), 0) + 1
        away = [
            hits.get((drawn, item), 0) / n - 1 / 3
            for drawn, n in n_sets.items()
            for item in range(8)
            if not np.frombuffer(drawn, dtype=bool)[item]
        ]
        error = np.sqrt(2 / 9 / (n_seeds / len(n_sets)))
        wrong.append(np.std(away) / error)
    assert wrong[0] < 1.3 < 2 < wrong[1]


@pytest.mark.filterwarnings("ignore::venire.errors.EqualLabelsWarning")
@pytest.mark.parametrize("measure", ["nDCG@5", "P(rel=1)@5"])
def test_results_count_before_the_judge_gave_any_of_them_a_gain(study, measure):
    labels = study.judgments.where(assessor="judge")
    without_gain = replace(labels, label=np.zeros_like(labels.label))
    found = plan_systems(without_gain, study.runs, measure, goal="pair:s0,s1", budget=20, reference="person")
    assert (found.state, len(found)) == (JUDGE, 20)
    widths = [each.half_width for each in found.forecast]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 0 == widths[-1]


def test_labels_of_no_plan_count_as_much_as_they_would_have_cost(study):
    probability = study.nothing
    probability[:50] = 0.5
    found = study.plan("pair:s0,s1", probability)
    for price in (0.1, 1.0, 10.0):
        past = Past.of(found, [], costs({"reference": price}))
        np.testing.assert_allclose(past.times(50 * price, 25 * price), [0.5, 0.75, 1.0])


def test_levels_are_forecast_by_the_spread_of_half_widths(study):
    """A half-width that is an estimate with some degrees of freedom, by a judge who differs from the usual one."""
    rng, degrees = np.random.default_rng(0), N_TOPICS - 1
    known = study.nothing
    known[:50] = 0.5
    for probability, of_judge in ((study.nothing, 0.3), (known, 0.11)):
        found = study.plan("levels", probability)
        there = found.expected(200.0, 0.05)
        chance = np.sqrt(rng.chisquare(degrees, 100_000) / degrees)
        later = there.half_width * chance * np.exp(of_judge * rng.standard_normal(len(chance)))
        for times in (0.7, 0.9, 1.0, 1.1, 1.4):
            asked = replace(found, question=replace(found.question, within=times * there.half_width))
            decided = (later <= times * there.half_width).mean()
            assert asked.expected(200.0, 0.05).p_decided == pytest.approx(decided, abs=0.05)
        assert found.expected(1e6, 0.05) == (1e6, 1.0, 0.0)
