"""Second judgments: who is asked for what, with which probability."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from long_rows import judgments_of
from venire.agreement import alpha
from venire.agreement.alpha import alpha_values
from venire.agreement.distance import DISTANCES
from venire.agreement.patterns import label_patterns
from venire.data.asked import SECOND
from venire.errors import SettingError
from venire.io.judgments import as_judgments
from venire.planning import minutes_per_label, plan_agreement, plan_labels
from venire.planning.agreement import patterns_of_two
from venire.planning.allocation import neyman
from venire.planning.alpha_forecast import (
    ALIKE,
    CORRELATION as OF_CONTRIBUTIONS,
    AlphaForecast,
    Scene,
    contributions,
    label_correlation,
    people_in_a_topic,
)
from venire.planning.labels import LabelPairs
from venire.planning.result import DECIDED, UNDECIDABLE, Expected, enough
from venire.planning.second_judgments import candidates
from venire.planning.shares import CORRELATION, P_GRID, Prior, budgets, correlations_like, posterior

GOALS = {"labels": plan_labels, "agreement": plan_agreement}
SHARE = (20, 14, 6)


def judged_once(n_topics=10, twice=0, who=("ann", "bob")):
    """40 items per topic, by one person each; the first ones of each label by both."""
    rows = []
    for topic in range(n_topics):
        for label, n in enumerate(SHARE):
            for doc in range(n):
                first = who[(doc + topic) % len(who)]
                rows.append((topic, f"{label}-{doc}", first, label))
                if doc < twice:
                    second = who[(doc + topic + 1) % len(who)]
                    rows.append((topic, f"{label}-{doc}", second, (label + (doc + topic) % 3 // 2) % 3))
    return judgments_of(rows)


def owners(labels):
    table = labels.to_polars()
    return {(row["topic"], row["doc"]): row["assessor"] for row in table.to_dicts()}


@pytest.mark.parametrize("goal", GOALS)
def test_items_go_to_another_person_in_blocks_by_topic(goal):
    labels = judged_once()
    plan = GOALS[goal](labels, budget=60)
    owner = owners(labels)
    assert len(plan) == len({(each.topic, each.doc) for each in plan.asked}) == 60
    assert {each.kind for each in plan.asked} == {SECOND}
    assert all(each.judge and each.judge != owner[each.topic, each.doc] for each in plan.asked)
    topics = [each.topic for each in plan.asked]
    assert topics == sorted(topics, key=topics.index)
    assert max(Counter(topics).values()) <= 9


def test_every_label_is_asked_though_the_top_one_is_rare():
    labels = judged_once()
    plan = plan_labels(labels, budget=60)
    assert Counter(each.doc[0] for each in plan.asked) == {"0": 20, "1": 20, "2": 20}
    chance = {each.doc[0]: each.probability for each in plan.asked}
    assert chance == pytest.approx({str(level): 20 / (10 * n) for level, n in enumerate(SHARE)})


def test_agreement_is_from_equal_probabilities():
    plan = plan_agreement(judged_once(), budget=60)
    assert {each.probability for each in plan.asked} == {60 / 400}


@pytest.mark.parametrize("goal", GOALS)
def test_what_was_judged_twice_is_not_asked_again(goal):
    plan = GOALS[goal](judged_once(twice=3), budget=60)
    assert min(int(each.doc[2:]) for each in plan.asked) == 3
    both = plan_labels(judged_once(twice=3), budget=60, again=True, judges=["cat", "ann"])
    assert min(int(each.doc[2:]) for each in both.asked) < 3


@pytest.mark.parametrize("goal", GOALS)
def test_a_budget_beyond_what_can_be_asked_asks_all_and_says_so(goal):
    plan = GOALS[goal](judged_once(n_topics=2), budget=500)
    assert len(plan) == 80
    assert {each.probability for each in plan.asked} == {1.0}
    note = next(note for note in plan.notes if note.kind == "all-asked")
    assert (note.fields["n"], note.fields["available"]) == (500, 80)


@pytest.mark.parametrize("goal", GOALS)
def test_a_budget_is_in_the_unit_of_costs(goal):
    assert len(GOALS[goal](judged_once(), budget=60, cost={"second": 2.0})) == 30
    with pytest.raises(SettingError, match="budget of 1"):
        GOALS[goal](judged_once(), budget=1, cost={"second": 2.0})


@pytest.mark.parametrize("goal", GOALS)
def test_nobody_to_ask_is_an_error_with_a_way_out(goal):
    labels = judged_once(who=("ann",))
    with pytest.raises(SettingError) as error:
        GOALS[goal](labels, budget=60)
    assert error.value.ways[0].settings == {"judges": "NAME"}
    assert {each.judge for each in GOALS[goal](labels, budget=60, judges=["ann", "cat"]).asked} == {"cat"}


def test_items_that_the_one_judge_labelled_are_left_out_with_a_note():
    labels = judged_once()
    plan = plan_labels(labels, budget=60, judges="ann")
    owner = owners(labels)
    assert {owner[each.topic, each.doc] for each in plan.asked} == {"bob"}
    assert next(note for note in plan.notes if note.kind == "no-other-judge").fields["n"] == 200


def test_machines_are_not_asked_and_their_labels_are_not_first():
    rows = [(t, f"d{n}", who, n % 3) for t in range(4) for n in range(30) for who in ("llm", "ann", "bob")]
    kept = [row for row in rows if row[2] == "llm" or (int(row[1][1:]) < 10 and row[2] == "ann")]
    kept += [(9, "x", "bob", 1)]
    labels = judgments_of(kept).declare(machines="llm")
    plan = plan_agreement(labels, budget=100)
    assert {each.judge for each in plan.asked} == {"ann", "bob"}
    assert len(plan) == 41


def test_with_runs_items_are_top_results():
    labels = judged_once()
    runs = {"run": {str(t): {f"{n % 3}-{n // 3}": 50.0 - n for n in range(15)} for t in range(10)}}
    plan = plan_labels(labels, runs, budget=30)
    first = {f"{n % 3}-{n // 3}" for n in range(10)}
    assert {each.doc for each in plan.asked} <= first


def test_the_lowest_label_is_left_out_once_it_is_negligible():
    rows = []
    for topic in range(40):
        for n in range(30):
            who = ["ann", "bob"] if (n + topic) % 2 else ["bob", "ann"]
            label = 2 if n < 3 else 1 if n < 6 else 0
            rows.append((topic, f"d{n}", who[0], label))
            if n % 2 == 0:
                rows.append((topic, f"d{n}", who[1], 3 - label if n < 6 and (topic + n // 2) % 3 == 0 else label))
    plan = plan_labels(judgments_of(rows), budget=40, within=0.01)
    assert "lowest-label-negligible" in {note.kind for note in plan.notes}
    assert not any(each.reason.endswith("0") for each in plan.asked)


def test_more_second_judgments_narrow_the_forecast():
    plan = plan_labels(judged_once(twice=2), budget=100)
    budget, p, half = zip(*plan.forecast, strict=True)
    assert {50, 100, 200} <= set(budget)
    assert list(budget) == sorted(budget)
    assert half[-1] < half[0]
    assert p[-1] >= p[0]


@pytest.mark.parametrize("goal", GOALS)
def test_states_say_when_to_stop(goal):
    labels = judged_once(twice=20)
    assert GOALS[goal](labels, budget=10, within=0.45).state == DECIDED
    assert GOALS[goal](labels, budget=10, within=0.001).state == UNDECIDABLE
    assert len(GOALS[goal](labels, budget=10, within=0.45)) == 0


@pytest.mark.parametrize("within", [0.45, 0.001])
def test_a_plan_for_agreement_that_stops_gives_alpha(within):
    labels = judged_once(twice=20)
    known = alpha(labels, resample="topics")
    sentence = plan_agreement(labels, budget=10, within=within).sentence()
    half = (known.high - known.low) / 2
    assert sentence.endswith(f" Alpha is {known.value:.3f}, and its 95% interval has a half-width of {half:.3f}.")


def test_nothing_is_forecast_of_one_topic_in_which_all_have_two_labels():
    plan = plan_agreement(
        judgments_of([(1, f"d{n}", who, n % 3) for n in range(9) for who in ("ann", "bob")]), budget=5
    )
    assert (plan.state, plan.notes) == (UNDECIDABLE, ())
    assert plan.outcome == "Alpha has no interval: it takes items of two topics or more with two labels."


@pytest.mark.parametrize("goal", GOALS)
def test_the_same_seed_gives_the_same_plan(goal):
    one, same, other = (GOALS[goal](judged_once(), budget=30, rng=seed).asked for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize("setting", [{"budget": 0}, {"budget": float("nan")}, {"budget": 30, "within": 0.7}])
@pytest.mark.parametrize("goal", GOALS)
def test_settings_out_of_range_are_refused(goal, setting):
    with pytest.raises(SettingError):
        GOALS[goal](judged_once(), **setting)


def test_minutes_are_the_median_gap_of_one_person_without_breaks():
    """Ann: 30, 30, 90 s and a break; bob: 60, 90 s, saved together once; an unknown time counts for nothing."""
    times = {"ann": [0, 30, 60, 150, 5000], "bob": [10, 10, 70, 160, np.nan]}
    rows = [(1, f"{who}{n}", who, 1) for who in times for n in range(5)]
    labels = judgments_of(rows)
    given = {f"{who}{n}": time for who, each in times.items() for n, time in enumerate(each)}
    timed = replace(labels, time=np.array([given[doc] for doc in labels.column("doc").texts()], dtype=float))
    assert minutes_per_label(timed) == 1.0
    assert minutes_per_label(labels) is None
    assert plan_agreement(timed, budget=4).minutes == 4.0


def test_neyman_against_all_allocations():
    """The least sum of variances over every division of 12 cases."""
    deviation, have, most = np.array([0.5, 0.3, 0.45]), np.array([2.0, 1.0, 6.0]), np.array([5.0, 9.0, 9.0])
    found = neyman(deviation, have, most, 12)
    assert found.sum() == pytest.approx(12)

    def cost(cases):
        return float((deviation**2 / (have + cases)).sum())

    grid = np.arange(0, 12.25, 0.25)
    splits = [np.array([a, b, 12 - a - b]) for a in grid for b in grid if a + b <= 12]
    best = min(cost(each) for each in splits if (each <= most).all())
    assert cost(found) <= best + 1e-9
    np.testing.assert_allclose(neyman(deviation, have, most, 99), most)


def test_the_posterior_finds_the_share_and_how_far_topics_differ():
    rng = np.random.default_rng(4)
    for correlation in (0.02, 0.4):
        spread = 1 / correlation - 1
        p = rng.beta(0.3 * spread, 0.7 * spread, 300)
        weight = posterior(rng.binomial(20, p).astype(float), np.full(300, 20.0), Prior.vague())
        assert (weight.sum(axis=1) @ P_GRID) == pytest.approx(0.3, abs=0.06)
        assert (weight.sum(axis=0) @ CORRELATION) == pytest.approx(correlation, rel=0.35)


def test_a_prior_has_its_mean_and_variance():
    for mean, weight in ((0.5, 3.0), (0.2, 4.0), (0.7, 10.0)):
        found = np.exp(Prior.around(mean, weight, np.zeros(1)).p)
        found /= found.sum()
        assert found @ P_GRID == pytest.approx(mean, abs=1e-3)
        assert found @ (P_GRID - mean) ** 2 == pytest.approx(mean * (1 - mean) / (weight + 1), rel=0.01)


def test_topics_differ_in_one_share_about_as_in_another():
    times = np.array([0.5, 1.0, 2.0])
    for known in np.eye(len(CORRELATION))[[4, 6, 9]]:
        found = np.exp(correlations_like(known, times, 0.5))
        assert found.sum(axis=1) == pytest.approx(1)
        middle = np.exp(found @ np.log(CORRELATION))
        assert middle == pytest.approx(times * (known @ CORRELATION), rel=0.15)
        assert (found * np.log(CORRELATION / middle[:, None]) ** 2).sum(axis=1) ** 0.5 == pytest.approx(0.5, abs=0.1)


def test_the_correlation_of_a_share_is_learnt_from_topics():
    rng = np.random.default_rng(6)
    for correlation in (0.02, 0.1, 0.4):
        spread = 1 / correlation - 1
        hits = rng.binomial(200, rng.beta(0.4 * spread, 0.6 * spread, 400)).astype(float)
        found = posterior(hits, np.full(400, 200.0), Prior.vague()).sum(axis=0)
        assert found @ CORRELATION == pytest.approx(correlation, rel=0.3)


def test_topics_with_one_case_or_a_part_of_one_say_nothing_of_the_correlation():
    nothing = posterior(np.zeros(3), np.zeros(3), Prior.vague()).sum(axis=0)
    for cases in (0.25, 0.5, 1.0):
        hits = cases * (np.arange(200) < 80)
        found = posterior(hits, np.full(200, cases), Prior.vague()).sum(axis=0)
        assert found == pytest.approx(nothing, abs=1e-9)
    assert nothing @ CORRELATION == pytest.approx(0.11, abs=0.03)


def test_enough_is_none_where_it_is_never_reached():
    assert enough([Expected(10, 0.1, 0.3), Expected(20, 0.5, 0.2)]) is None
    assert enough([Expected(10, 0.9, 0.3)]) == 10
    assert enough([Expected(10, 0.0, 0.3), Expected(1000, 0.7, 0.2)], most=100) is None
    assert enough([]) is None


def test_labels_may_be_given_in_any_form():
    table = judged_once().to_polars()
    assert plan_labels(table, budget=20).asked == plan_labels(as_judgments(table), budget=20).asked


def test_one_topic_gives_no_interval_whatever_the_budget():
    plan = plan_labels(judged_once(n_topics=1), budget=10)
    assert {each.half_width for each in plan.forecast} == {0.5}
    assert plan.enough is None


def test_topics_are_expected_to_differ_more_in_rare_labels_and_in_shares_far_from_0_and_1():
    case = LabelPairs.of(candidates(judged_once(), None, "cat"), None)
    share, priors = case.share, case._priors()
    for prior in priors:
        mean = np.exp(prior.correlation) @ CORRELATION
        assert mean[30] > 1.2 * mean[3]
    middle = [float(np.exp(prior.correlation[30]) @ CORRELATION) for prior in priors]
    assert np.argsort(middle).tolist() == np.argsort(-share).tolist()


@pytest.mark.parametrize(("budget", "most"), [(100, 150), (100, 201), (100, 220), (100, 255.5), (100, 5000), (3, 9)])
def test_budgets_end_with_all_that_can_be_asked(budget, most):
    found = budgets(budget, most)
    assert found == sorted(set(found))
    assert {budget / 2, budget, 2 * budget} <= {*found}
    assert found[-1] == max(most, 2 * budget)


def test_what_buys_everything_is_enough_where_everything_is():
    assert enough([Expected(100, 0.7, 0.1), Expected(400, 0.9, 0.05)], most=240) == pytest.approx(155, abs=1)
    assert enough([Expected(100, 0.7, 0.1), Expected(400, 0.79, 0.05)], most=240) is None


def forecast_of(labels, **settings):
    """Half-widths of 1 and of 300 second judgments, and the one at present."""
    case = LabelPairs.of(candidates(labels, None, settings.get("judges")), settings.get("relevant"))
    one, many = np.median(case.half_widths([1, 300], np.random.default_rng(0)), axis=1)
    return one, many, case.half_width()


def test_labels_that_nobody_gave_leave_a_forecast():
    rows = judged_once(twice=2, n_topics=20).to_polars()
    one, many, now = forecast_of(as_judgments(rows, scale="0<1<2<3<4<5"))
    assert one == pytest.approx(now, rel=0.3)
    assert many <= one


def test_labels_of_which_every_item_was_judged_twice_leave_a_forecast():
    table = judged_once(twice=2, n_topics=20).to_polars()
    top = table.filter(table["doc"].str.starts_with("2-"))
    twice = top.filter(~top["doc"].is_in(["2-0", "2-1"])).with_columns(assessor=pl.lit("cat"))
    one, many, now = forecast_of(as_judgments(pl.concat([table, twice])), judges=["dan"])
    assert one == pytest.approx(now, rel=0.3)
    assert many < 1.5 * now


def test_categories_have_no_neighbours():
    table = judged_once(n_topics=20).to_polars()
    found = {
        forecast_of(as_judgments(table, scale=scale), relevant="2")[1].round(2) for scale in ("0|1|2", "0|2|1", "2|0|1")
    }
    assert max(found) - min(found) <= 0.011


def test_the_interval_of_alpha_is_expected_to_end_at_its_range():
    forecast = plan_agreement(judged_once(n_topics=2), budget=8).forecast
    assert max(each.half_width for each in forecast) == 1.0
    assert forecast[0].p_decided < 0.01


def test_before_the_first_pair_the_half_width_of_alpha_is_not_certain():
    labels = judged_once(n_topics=40)
    first = plan_agreement(labels, budget=200)
    half_width = first.there.half_width
    decided = [
        plan_agreement(labels, budget=200, within=half_width * times).there.p_decided for times in (0.9, 1.0, 1.1)
    ]
    assert decided[1] == pytest.approx(0.5, abs=0.03)
    assert 0.1 < decided[0] < 0.4
    assert 0.6 < decided[2] < 0.9
    assert [note.kind for note in first.notes] == ["no-interval-yet"]


def forecast_of_alpha(labels) -> AlphaForecast:
    found = candidates(labels, None, "cat")
    return AlphaForecast.of(found, patterns_of_two(found))


@pytest.mark.parametrize(("scale", "rel"), [("0|1|2", 1e-6), ("0<1<2 : interval", 1e-6), ("0<1<2", 0.1)])
def test_contributions_are_the_derivative_of_alpha(scale, rel):
    """Of ordinal distances, which change with the labels, a small part of it is left out."""
    table = label_patterns(as_judgments(judged_once(twice=8).to_polars(), scale=scale).labelled(at_least=2))
    values = alpha_values(table, DISTANCES[table.scale.measurement])
    weight, step = table.patterns.n_items.astype(float), 1e-4
    n = weight.sum()
    moved = (values(weight + step * np.eye(len(weight))) - values(weight[None])) / step * n

    share = table.marginals(weight[None])[0] / (2 * n)
    distance = table.distances(DISTANCES[table.scale.measurement])
    distance = distance / (share @ distance @ share)
    observed = table.pair_means(distance)
    to_random = table.table @ (distance @ share) / 2
    found = contributions(observed, to_random, float(weight @ observed) / n)
    finite = (2 * n - 1) / (2 * n) * found
    spread = np.sqrt(weight @ moved**2 / n)
    assert finite == pytest.approx(moved, abs=max(rel, 2 / n) * spread)


def test_pairs_of_labels_are_those_of_two_normal_variables():
    """Against the distribution function of two variables; people have the shares of labels that they gave."""
    from scipy.special import ndtri
    from scipy.stats import multivariate_normal

    own, weight = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]), np.array([0.5, 0.5])
    scene = Scene(1 - np.eye(3), np.full(3, 2 / 3), own, weight)
    ends = [np.array([-9.0, *ndtri(np.cumsum(each)[:2]), 9.0]) for each in own]
    for alike in (0.0, 0.4, 0.9):
        both = multivariate_normal([0, 0], [[1, alike], [alike, 1]])
        below = np.array([[both.cdf([a, b]) for b in ends[1]] for a in ends[0]])
        cells = np.diff(np.diff(below, axis=0), axis=1)
        assert scene.pairs(alike, True) == pytest.approx((cells + cells.T) / 2, abs=2e-3)


def test_without_further_labels_the_forecast_is_the_present_half_width():
    for labels in (judged_once(twice=4, n_topics=6), judged_once(twice=4, n_topics=30)):
        now = alpha(labels, resample="topics")
        half_width, _ = forecast_of_alpha(labels).half_widths([0.0], np.random.default_rng(0))[0]
        assert np.ptp(half_width) == 0
        assert half_width[0] == pytest.approx((now.high - now.low) / 2, rel=0.12)


def test_what_topics_have_in_common_is_learnt_from_many_pairs_only():
    """Contributions of pairs that topics have in common widen the interval; few pairs a topic hardly tell of them."""
    rng = np.random.default_rng(2)
    means = []
    for n_items, spread in ((2, 0.0), (80, 0.0), (80, 0.7)):
        rows = []
        for topic in range(30):
            same = np.clip(0.6 + spread * rng.normal(), 0, 1)
            for n in range(n_items):
                first = rng.integers(3)
                second = first if rng.random() < same else rng.integers(3)
                rows += [(topic, f"d{n}", "ann", int(first)), (topic, f"d{n}", "bob", int(second))]
        means.append(float(forecast_of_alpha(judgments_of(rows)).chance.sum(axis=0) @ OF_CONTRIBUTIONS))
    few, alike, apart = means
    assert alike < 0.03 < few < apart


def test_labels_of_topics_tell_of_alpha_before_there_are_pairs():
    """People who agree on items agree on which topics have high labels."""
    rng = np.random.default_rng(3)
    found = []
    for spread in (0.2, 2.0):
        rows = []
        for topic in range(40):
            share = 1 / (1 + np.exp(-spread * rng.normal()))
            rows += [(topic, f"d{n}", "ann" if n % 2 else "bob", int(rng.random() < share)) for n in range(40)]
        labels = judgments_of(rows)
        found.append((label_correlation(labels), forecast_of_alpha(labels).mean))
    assert found[0][0] < 0.05 < 0.2 < found[1][0]
    assert found[0][1] < 0.15 < 0.5 < found[1][1]


def test_the_correlation_of_labels_against_an_analysis_of_variance():
    rng = np.random.default_rng(5)
    labels = [rng.integers(4, size=25) + rng.integers(2) for _ in range(60)]
    rows = [(str(t), f"d{n}", "ann", int(label)) for t, each in enumerate(labels) for n, label in enumerate(each)]
    table = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    found = label_correlation(as_judgments(table, scale="0<1<2<3<4 : interval"))
    within = np.mean([each.var(ddof=1) for each in labels])
    every = np.concatenate(labels).var(ddof=1)
    error = 2 * (0.9 * (1 + 24 * 0.1)) ** 2 / (25 * 24 * 59)
    weight = 0.05**2 / (0.05**2 + error)
    assert found == pytest.approx(weight * (1 - within / every) + (1 - weight) * 0.1, abs=1e-9)


def test_people_in_a_topic_are_counted_by_how_much_they_labelled():
    one = [(1, f"d{n}", "ann", 0) for n in range(9)] + [(2, f"d{n}", "bob", n % 2) for n in range(9)]
    three = [(t, f"d{n}", "abc"[n % 3], n % 2) for t in range(2) for n in range(9)]
    mixed = [(1, f"d{n}", "a" if n < 6 else "bcd"[n % 3], n % 2) for n in range(9)]
    assert [people_in_a_topic(judgments_of(rows)) for rows in (one, three, mixed)] == pytest.approx([2, 3, 27 / 13])


def test_pairs_of_people_who_use_labels_differently_agree_less():
    """A strict and a lenient judge of the same topics, and two alike; whoever is alone in a topic may be either."""
    rng = np.random.default_rng(6)
    shares = {"ann": [0.8, 0.1, 0.1], "bob": [0.1, 0.1, 0.8]}
    most = []
    for alone in (False, True):
        rows = []
        for topic in range(20):
            for n in range(40):
                name = ("ann", "bob")[(topic if alone else n) % 2]
                rows.append((topic, f"d{n}", name, int(rng.choice(3, p=shares[name]))))
        most.append(forecast_of_alpha(judgments_of(rows)).alpha[len(ALIKE) // 2])
    assert most[0] < most[1] - 0.15


@pytest.mark.parametrize("n_topics", [1, 2, 3])
@pytest.mark.parametrize("scale", ["0<1<2", "0|1|2", "0<1<2 : interval"])
@pytest.mark.parametrize("twice", [0, 1, 5])
def test_few_topics_and_tiny_budgets_have_a_forecast(n_topics, scale, twice):
    table = judged_once(n_topics=n_topics, twice=twice).to_polars()
    for budget in (1, 5):
        forecast = plan_agreement(as_judgments(table, scale=scale), budget=budget).forecast
        numbers = np.array([(each.p_decided, each.half_width) for each in forecast])
        assert np.isfinite(numbers).all()
        assert ((numbers >= 0) & (numbers <= 1)).all()
        if n_topics == 1:
            assert (numbers == [0, 1]).all()


def test_nothing_is_forecast_where_there_is_one_label_only():
    forecast = plan_agreement(
        judgments_of([(t, f"d{n}", "ab"[n % 2], 1) for t in range(5) for n in range(9)]), budget=9
    )
    assert {(each.p_decided, each.half_width) for each in forecast.forecast} == {(0.0, 1.0)}


def test_perfect_agreement_so_far_is_expected_to_last():
    rows = [(t, f"d{n}", who, (n + t) % 3) for t in range(20) for n in range(20) for who in ("ann", "bob")]
    more = [(t, f"e{n}", "ann", (n + t) % 3) for t in range(20) for n in range(20)]
    plan = plan_agreement(judgments_of(rows + more), budget=200)
    assert plan.there.p_decided > 0.95
    assert "about 1.0" in str(plan.notes[0]) or "about 0.9" in str(plan.notes[0])
