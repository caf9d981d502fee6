"""How many topics: against statsmodels, against tables and by simulation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from venire import Scores, evaluate, read_judgments
from venire.errors import SettingError
from venire.planning.new_systems import QUALITY, RATIO, SPREAD, NewSystems, imagined_lists
from venire.planning.topics import (
    detectable_difference,
    plan_more_topics,
    plan_topics,
    power_of,
    predictive_power,
    topics_needed,
)


def scored(values: np.ndarray) -> Scores:
    names = {"system": tuple("abcde"[: len(values)]), "topic": tuple(f"t{n}" for n in range(values.shape[1]))}
    return Scores(values, ("system", "topic"), names)


@pytest.mark.parametrize(("size", "topics"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_small_medium_and_large_differences_need_the_usual_numbers(size: float, topics: int) -> None:
    """Cohen's small, medium and large: the usual numbers for the paired t-test, two-sided, level .05, power .8."""
    assert float(topics_needed(size, 1.0)) == topics


@pytest.mark.parametrize("alpha", [0.05, 0.001])
@pytest.mark.parametrize("size", [0.05, 0.3, 1.0])
def test_power_and_topics_are_those_of_statsmodels(size: float, alpha: float) -> None:
    solver = pytest.importorskip("statsmodels.stats.power").TTestPower()
    n = solver.solve_power(effect_size=size, alpha=alpha, power=0.8)
    assert float(topics_needed(size * 0.3, 0.3, alpha=alpha)) == np.ceil(n)
    assert float(power_of(size, 1.0, 10, alpha=alpha)) == pytest.approx(solver.power(size, 10, alpha), abs=1e-7)


@pytest.mark.parametrize("topics", [2, 5, 53, 1000])
@pytest.mark.parametrize("shift", [0.0, 1.0, 4.0, 20.0, 39.0, 200.0])
@pytest.mark.parametrize("alpha", [0.05, 1e-5])
def test_power_is_that_of_a_mean_over_its_deviation(topics: int, shift: float, alpha: float) -> None:
    """Integrated over the deviation s: the mean is beyond c s, on either side, with the chance of a normal."""
    df, c = topics - 1, stats.t.ppf(1 - alpha / 2, topics - 1)
    place = (np.arange(200_000) + 0.5) / 200_000
    deviation = np.sqrt(stats.chi2.ppf(place, df) / df)
    slow = (stats.norm.cdf(shift - c * deviation) + stats.norm.cdf(-shift - c * deviation)).mean()
    assert float(power_of(shift / np.sqrt(topics), 1.0, topics, alpha=alpha)) == pytest.approx(slow, abs=1e-5)


def test_the_least_number_of_topics_is_the_least() -> None:
    size = np.array([0.01, 0.1, 0.33, 0.7, 2.0, 10.0, 50.0])
    found = topics_needed(size, 1.0)
    assert (power_of(size, 1.0, found) >= 0.8).all()
    above = found > 2
    assert (power_of(size, 1.0, found - 1)[above] < 0.8).all()
    assert found[-1] == 2


def test_the_search_ends_at_the_least_number_however_far_from_the_normal_it_is() -> None:
    size, level = np.geomspace(0.08, 40.0, 60), 1e-6
    upto = np.arange(2, 8_000)
    enough = power_of(size[:, None], 1.0, upto, alpha=level) >= 0.8
    assert topics_needed(size, 1.0, alpha=level).tolist() == upto[enough.argmax(axis=1)].tolist()


def test_a_tiny_difference_needs_what_the_normal_says() -> None:
    assert float(topics_needed(1e-4, 1.0)) == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2 * 1e8)
    assert topics_needed(np.array([0.0, 0.1]), np.array([1.0, np.nan])).tolist() == pytest.approx(
        [np.inf, np.nan], nan_ok=True
    )


def test_the_detectable_difference_is_detected() -> None:
    sd, n = np.array([0.1, 0.3, 0.2, 0.2]), np.array([53, 20, 2, 1])
    found = detectable_difference(sd, n)
    assert power_of(found[:3], sd[:3], n[:3]) == pytest.approx([0.8] * 3, abs=1e-6)
    assert np.isnan(found[3])
    assert detectable_difference(sd[:1], n[:1], comparisons=1953)[0] > 1.5 * found[0]


def test_the_detectable_difference_is_found_eight_times_in_ten() -> None:
    rng = np.random.default_rng(5)
    least = float(detectable_difference(0.25, 30))
    drawn = rng.normal(least, 0.25, size=(4000, 30))
    found = int((stats.ttest_1samp(drawn, 0.0, axis=1).pvalue <= 0.05).sum())
    assert stats.binomtest(found, 4000, 0.8).pvalue > 1e-3


def test_a_plan_from_scores() -> None:
    rng = np.random.default_rng(0)
    values = rng.beta(2, 2, size=(3, 40))
    values[2] = values[1]
    values[0, 0] = np.nan
    plan = plan_topics(scored(values), difference=0.1)
    assert plan.n_topics.tolist() == [39, 39, 40]
    z = (values[0] - values[1])[1:]
    assert plan.sd[0] == pytest.approx(z.std(ddof=1))
    assert plan.detectable[0] == pytest.approx(float(detectable_difference(z.std(ddof=1), 39)))
    assert plan.needed[0] == float(topics_needed(0.1, z.std(ddof=1)))
    assert plan.detectable[2] == 0
    assert plan.needed[2] == 2
    assert plan.median_needed == np.median(plan.needed)
    assert plan.records()[0]["topics_needed"] == plan.needed[0]
    most = z.std(ddof=1) * np.sqrt((len(z) - 1) / stats.chi2.ppf(0.025, len(z) - 1))
    assert plan.needed_high[0] == plan.records()[0]["topics_needed_high"] == float(topics_needed(0.1, most))
    most = np.median(plan.needed_high)
    assert f"detects a difference of {plan.median_detectable:.4f} in score with power 0.8" in plan.sentence()
    assert f"a difference of 0.1 needs {plan.median_needed:.0f} topics (up to {most:.0f} " in plan.sentence()


def test_a_plan_for_what_the_pairs_show() -> None:
    values = np.random.default_rng(1).beta(2, 2, size=(2, 40))
    plan = plan_topics(scored(values), comparisons=3)
    assert plan.needed[0] == float(topics_needed(plan.delta[0], plan.sd[0], comparisons=3))
    assert "at level 0.0167 detects" in plan.sentence()
    assert f"the observed difference needs {plan.needed[0]:,.0f} topics" in plan.sentence()
    same = plan_topics(scored(np.stack([values[0], values[0]])))
    assert same.records()[0]["topics_needed"] is None
    assert "needs infinitely many topics" in same.sentence()
    json.dumps(same.records(), allow_nan=False)
    alone = plan_topics(scored(np.array([[0.1, np.nan], [0.2, 0.3]])))
    assert alone.sentence().startswith("No two systems have two topics or more in common")


def test_of_several_pairs_the_sentence_speaks_of_the_median_one() -> None:
    plan = plan_topics(scored(np.random.default_rng(1).beta(2, 2, size=(3, 40))))
    assert plan.median_needed == np.sort(plan.needed)[1]
    assert f"the observed difference needs {plan.median_needed:,.0f} topics" in plan.sentence()
    assert "for the median of 3 pairs" in plan.sentence()


@pytest.mark.parametrize("options", [{"alpha": 0}, {"power": 1}, {"power": 0.01}, {"comparisons": 0}])
def test_an_impossible_plan_is_refused(options: dict) -> None:
    with pytest.raises(SettingError, match="expected 0 < level < power < 1"):
        topics_needed(np.array([0.1]), np.array([1.0]), **options)


# --- more topics -------------------------------------------------------------------------------------------------


def two_systems(n_topics, gap):
    """Two systems that return ten documents per topic; a has more relevant ones, by topic in turn."""
    labels = {f"q{t}": {f"{'dx'[n % 2]}{n // 2}": 1 - n % 2 for n in range(20)} for t in range(n_topics)}
    found = {"a": lambda t: 4 + gap + t % 4, "b": lambda t: 4 + t % 3}
    runs = {
        name: {f"q{t}": {f"{'d' if n < number(t) else 'x'}{n}": 20.0 - n for n in range(10)} for t in range(n_topics)}
        for name, number in found.items()
    }
    return labels, runs


def test_predictive_power_is_the_share_of_later_tests_that_are_significant():
    """Posterior of mean and variance given the topics at hand, more topics drawn from it, t-test of all."""
    rng = np.random.default_rng(2)
    n, more, mean, sd, draws = 25, 40, 0.04, 0.15, 20_000
    variance = sd**2 * (n - 1) / rng.chisquare(n - 1, draws)
    true = rng.normal(mean, np.sqrt(variance / n))
    new = rng.normal(true[:, None], np.sqrt(variance)[:, None], (draws, more))
    total = (n * mean + new.sum(axis=1)) / (n + more)
    squares = (n - 1) * sd**2 + n * mean**2 + (new**2).sum(axis=1) - (n + more) * total**2
    t = total * np.sqrt(n + more) / np.sqrt(squares / (n + more - 1))
    share = (np.abs(t) >= stats.t(n + more - 1).ppf(0.975)).mean()
    assert predictive_power(mean, sd, n, more) == pytest.approx(share, abs=0.02)


def test_more_topics_decide_sooner_and_enough_is_where_they_do():
    plan = plan_more_topics(*two_systems(12, 0), budget=20, measure="P@10", pair=("a", "b"))
    assert (plan.state, len(plan), plan.goal) == ("judge", 0, "topics:a,b")
    assert plan.sentence().startswith("Goal topics:a,b. With 20 more topics the goal is decided ")
    assert f"With about {plan.enough:.0f} more topics it is decided with probability 0.8 or more." in plan.sentence()
    budget, p, half = zip(*plan.forecast, strict=True)
    assert {10, 20, 40} <= set(budget)
    assert list(p) == sorted(p)
    assert list(half) == sorted(half, reverse=True)
    assert plan.enough is not None
    seen = plan_topics(evaluate(*two_systems(12, 0), "P@10"), pairs=[("a", "b")])
    assert predictive_power(seen.delta, seen.sd, 12, plan.enough)[0] == pytest.approx(0.8, abs=0.02)


def test_a_clear_difference_needs_no_more_topics():
    plan = plan_more_topics(*two_systems(12, 3), budget=20, measure="P@10", pair=("a", "b"))
    assert plan.state == "decided"
    low, high = stats.ttest_rel(*evaluate(*two_systems(12, 3), "P@10").values[:, :, 0]).confidence_interval()
    ahead = f"{'a is ahead of b' if high > 0 else 'b is ahead of a'} by {abs(low + high) / 2:.4f}"
    near, far = sorted(map(abs, (low, high)))
    words = f"Goal topics:a,b: decided; no more topics are needed. {ahead} (95% interval {near:.4f} to {far:.4f})."
    assert plan.sentence() == words


@pytest.mark.parametrize("pair", [None, ("a", "c")])
def test_more_topics_do_not_decide_between_systems_with_the_same_scores(pair):
    labels, runs = two_systems(12, 0)
    plan = plan_more_topics(labels, {"a": runs["a"], "c": runs["a"]}, budget=20, measure="P@10", pair=pair)
    assert (plan.state, plan.forecast, plan.enough) == ("not decidable", (), None)
    assert plan.sentence().endswith("more topics do not decide it. The systems have the same score on every topic.")


def test_differences_of_nothing_are_never_significant():
    assert predictive_power(0.0, 0.0, 10, np.array([0, 5, 50])).tolist() == [0, 0, 0]
    assert power_of(0.0, 0.0, 20) == 0
    assert predictive_power(0.1, 0.0, 10, 5) == power_of(0.1, 0.0, 20) == 1


def test_numbers_of_topics_are_whole():
    for runs in (two_systems(12, 0)[1], None):
        plan = plan_more_topics(two_systems(12, 0)[0], runs, budget=5, measure="P@10")
        budgets = [each.budget for each in plan.forecast]
        assert budgets == sorted({round(each) for each in budgets})


def test_of_several_pairs_the_share_that_is_significant_counts():
    labels, runs = two_systems(12, 0)
    runs["c"] = {topic: dict(docs) for topic, docs in runs["a"].items()}
    plan = plan_more_topics(labels, runs, budget=20, measure="P@10")
    assert [(note.kind, note.fields["n"]) for note in plan.notes] == [
        ("topics-at-hand", 12),
        ("share-of-pairs", 2),
        ("same-scores", 1),
    ], "a and c are the same"
    alone = plan_more_topics(*two_systems(12, 0), budget=20, measure="P@10", pair=("a", "b"))
    assert plan.forecast == alone.forecast
    assert "With 20 more topics the expected share of differences that are significant is " in plan.sentence()


@pytest.mark.parametrize("budget", [0, 5.5, float("nan"), float("inf")])
def test_other_than_a_whole_number_of_topics_is_refused(budget):
    with pytest.raises(SettingError):
        plan_more_topics(*two_systems(12, 0), budget=budget)


def test_one_topic_says_nothing_of_others():
    labels, runs = two_systems(1, 2)
    with pytest.raises(SettingError, match="two topics or more in common"):
        plan_more_topics(labels, runs, budget=5, measure="P@10")


# --- more topics before there are runs ---------------------------------------------------------------------------


def random_labels(n_topics, n_docs=40, share=0.4):
    rng = np.random.default_rng(n_topics)
    return {f"q{t}": {f"d{n}": int(rng.random() < share) for n in range(n_docs)} for t in range(n_topics)}


def ranked_by_hand(labels, n_systems, rng):
    """Runs of systems that rank documents as ``planning.new_systems`` says, document by document."""
    deviation = np.std([label for docs in labels.values() for label in docs.values()])
    runs = {}
    for system in range(n_systems):
        runs[f"s{system}"] = found = {}
        for topic, docs in labels.items():
            quality = rng.normal(*QUALITY)
            found[topic] = {doc: quality * label / deviation + rng.normal() for doc, label in docs.items()}
    return runs


@pytest.mark.parametrize("measure", ["nDCG@10", "P@5", "AP", "DCG@10"])
def test_systems_are_imagined_as_the_model_says(measure):
    labels = random_labels(30)
    new = NewSystems.of(read_judgments(labels), measure, rng=np.random.default_rng(1))
    runs = ranked_by_hand(labels, 30, np.random.default_rng(2))
    scores = evaluate(labels, runs, measure).values[:, :, 0]
    a, b = np.triu_indices(len(scores), 1)
    by_hand = np.sqrt(((scores[a] - scores[b]) ** 2).mean())
    assert new.sd == pytest.approx(RATIO * by_hand, rel=0.07)
    assert (new.measure, new.n_topics) == (measure, 30)


def test_lists_have_the_labelled_documents_of_their_topic_once_and_no_more_than_count():
    labels = read_judgments({"q1": {f"d{n}": n % 3 for n in range(150)}, "q2": {"a": 1, "b": 0}})
    facts = imagined_lists(labels, 3, np.random.default_rng(0))
    assert facts.depth.tolist() == [100, 2] * 3
    for number, topic in enumerate(facts.topic):
        own = facts.item[facts.offset[number] : facts.offset[number + 1]]
        assert (labels.items.topic[own] == topic).all()
        assert len(set(own.tolist())) == len(own) == facts.depth[number]
        assert facts.rank[facts.offset[number] : facts.offset[number + 1]].tolist() == [*range(1, len(own) + 1)]


def test_without_runs_the_forecast_is_that_of_a_half_width():
    labels = random_labels(20)
    plan = plan_more_topics(labels, budget=40, measure="P@10", within=0.04)
    new = NewSystems.of(read_judgments(labels), "P@10", rng=np.random.default_rng(0))
    there = next(each for each in plan.forecast if each.budget == 40)
    assert there.half_width == pytest.approx(stats.t(59).ppf(0.975) * new.sd / np.sqrt(60))
    assert (plan.state, len(plan), plan.goal) == ("judge", 0, "topics")
    at_hand, no_runs = plan.notes
    assert (at_hand.kind, at_hand.fields["n"], no_runs.kind) == ("topics-at-hand", 20, "no-runs")
    spread = stats.lognorm(SPREAD, scale=new.sd)
    assert [no_runs.fields[name] for name in ("low", "sd", "high")] == pytest.approx(
        spread.ppf([0.25, 0.5, 0.75]), rel=1e-3
    )
    by_default, wider = (plan_more_topics(labels, budget=40, measure="P@10", within=each) for each in (None, 0.05))
    assert by_default.forecast == wider.forecast
    assert wider.enough < plan.enough


def test_without_runs_many_topics_at_hand_are_enough():
    plan = plan_more_topics(random_labels(300, 20), budget=10, measure="P@10", within=0.1)
    assert plan.state == "decided"
    assert "With the 300 topics at hand a half-width of 0.1 is expected with probability" in plan.sentence()


@pytest.mark.parametrize(
    ("labels", "how", "what"),
    [
        (random_labels(5), {"pair": ("a", "b")}, "without runs"),
        (random_labels(5), {"within": 0}, "a half-width of 0"),
        (random_labels(5, share=1.1), {}, "by these labels nDCG@10 of any two systems is the same"),
    ],
)
def test_what_labels_alone_do_not_tell_is_refused(labels, how, what):
    with pytest.raises(SettingError, match=what):
        plan_more_topics(labels, budget=5, **how)


def test_with_runs_significance_decides_and_no_half_width():
    with pytest.raises(SettingError, match="differences are significant"):
        plan_more_topics(*two_systems(12, 0), budget=5, within=0.1)


def test_intervals_are_those_of_95_percent_whatever_the_level_of_the_tests():
    one, many = (plan_more_topics(*two_systems(12, 0), budget=5, comparisons=n) for n in (1, 50))
    assert [each.half_width for each in one.forecast] == [each.half_width for each in many.forecast]
    assert one.forecast[0].p_decided > many.forecast[0].p_decided
