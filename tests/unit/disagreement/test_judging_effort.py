"""What p(R|i) takes: topics left out, double judgments needed, rounds of annotation; against slow refits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from long_rows import double
from sensitivity_labels import ALL, SETTING, judgments_of, rows_by
from venire import PredictedRelevance
from venire.data.label_pairs import pair_up
from venire.disagreement.by_topic import topic_influence
from venire.disagreement.double_judgments import (
    available,
    default_sizes,
    double_judgments_needed,
    lowest_labels,
    simulate_rounds,
)
from venire.disagreement.files import read_fit, write_fit
from venire.errors import PairsError, SettingError
from venire.io import read_grid
from venire.kernels.shares import annotation_rounds, shares, variance_per_judgment, wilson
from venire.simulation.levels import generate


@pytest.fixture(scope="module")
def collection():
    return generate(SETTING, rng=3)


def test_leaving_a_topic_out_is_fitting_without_it(collection):
    judgments = collection.judgments
    fit = ALL.fit(judgments)
    found = topic_influence(fit, judgments.topics, rng=5)
    np.testing.assert_array_equal(found.p, fit.p)
    names = judgments.column("topic").texts()
    for number in (0, 7):
        without = ALL.fit(judgments.take(np.array([name != found.topics[number] for name in names])))
        np.testing.assert_allclose(found.influence[number], fit.p - without.p, atol=1e-15)
    strongest = found.strongest(0, 3)
    moved = np.abs(found.influence[:, 0, 3])
    assert moved[strongest].tolist() == np.sort(moved)[::-1][:3].tolist()
    assert f"without topic {found.topics[strongest[0]]}" in found.sentence()


def test_topics_are_drawn_whole(collection):
    fit = ALL.fit(collection.judgments)
    found = topic_influence(fit, collection.judgments.topics, n_draws=4_000, rng=5)
    assert (np.diff(found.quantiles, axis=0) >= 0).all()
    wide = (found.quantiles[4] - found.quantiles[0]) / (2 * 1.6449)
    np.testing.assert_allclose(wide[1:], fit.spread.sd_topics[1:], rtol=0.25)
    again = topic_influence(fit, collection.judgments.topics, n_draws=4_000, rng=5)
    np.testing.assert_array_equal(found.quantiles, again.quantiles)


def test_labels_and_topics_that_are_not_there():
    labels = {"1": {"a": 2}, "2": {"a": 0}}
    judgments = judgments_of(rows_by(labels, "x") + rows_by(labels, "y"))
    fit = PredictedRelevance(relevant="2").fit(judgments)
    found = topic_influence(fit, judgments.topics)
    assert np.isnan(found.quantiles[:, 0, 1]).all()
    assert np.isnan(found.influence[0, 0, 2])
    assert "without" not in found.sentence()
    with pytest.raises(SettingError, match="3 names"):
        topic_influence(fit, ("1", "2", "3"))
    one = read_grid("1 0 1\n1 1 0")
    with pytest.raises(PairsError, match="nothing varies over topics"):
        topic_influence(PredictedRelevance().fit(one), one.topics)


def test_the_variance_is_that_clustered_by_item(collection):
    """On double judgments the closed form is the sum over items, but for the n / (n - 1) of a sample."""
    judgments = collection.judgments.where(assessor=["careful1", "strict1"])
    fit = PredictedRelevance(relevant="all", estimator="labels").fit(judgments)
    needed = double_judgments_needed(fit, 0.02)
    n_of_label = pair_up(judgments, estimator="labels").sums(fit.relevant.labels).n_items
    of_items = fit.spread.sd_items * np.sqrt((n_of_label - 1) / n_of_label)
    known = replace(fit, spread=fit.spread._replace(low=fit.p, high=fit.p))
    inside = (fit.p > 0) & (fit.p < 1)
    exact = np.sqrt(double_judgments_needed(known, 0.02).variance / available(fit))
    np.testing.assert_allclose(exact[inside], of_items[inside], rtol=1e-9)
    assert (np.sqrt(needed.variance / available(fit)) >= exact)[inside].all()
    assert inside.sum() >= 9
    assert available(fit) == 288


def test_one_sided_needs_the_printed_number():
    fit = PredictedRelevance(observed=["U1"]).fit(read_grid("1 1 1 1 0 0 0 0\n1 1 1 0 0 0 0 1"))
    needed = double_judgments_needed(fit, 0.05)
    assert needed.judgments.tolist() == [[200, 200]]  # 3 of 4 may be 1 of 2
    assert double_judgments_needed(fit, 0.2).judgments.tolist() == [[100, 100]]  # 50 pairs of each label
    assert np.isnan(needed.topics).all()
    assert len(needed.sentences()) == 1
    with pytest.raises(SettingError, match="between 0 and 1"):
        double_judgments_needed(fit, 1.0)


def test_less_is_never_asked_for_where_less_is_known():
    """0, 1 and 2 hits of two pairs, beside 40 of 80."""
    setting, rest = PredictedRelevance(observed=["A"]), ((0, 0, 3), (0, 1, 1))
    few = ((1, 0, 2),), ((1, 0, 1), (1, 1, 1)), ((1, 1, 2),)
    numbers = [
        double_judgments_needed(setting.fit(double(*pairs, *rest, scale="0<1", topics=2))).judgments[0, 1]
        for pairs in few
    ]
    many = setting.fit(double((1, 0, 40), (1, 1, 40), (0, 0, 120), (0, 1, 40), scale="0<1", topics=2))
    assert min(numbers) >= 0.9 * max(numbers)
    assert min(numbers) >= 0.9 * double_judgments_needed(many).judgments[0, 1]


def test_the_largest_variance_is_that_of_a_slow_search(collection):
    fit = ALL.fit(collection.judgments)
    found = double_judgments_needed(fit).variance
    grid = fit.spread.low + np.linspace(0, 1, 2001)[:, None, None] * (fit.spread.high - fit.spread.low)
    slow = [variance_per_judgment(fit.by_topic.sum(axis=0), p, fit.relevant.labels, mirrored=True) for p in grid]
    np.testing.assert_allclose(found, np.max(slow, axis=0), rtol=1e-5)


def test_a_share_of_all_is_planned_with_the_end_of_its_interval():
    fit = PredictedRelevance(observed=["A"]).fit(double((1, 1, 4), (0, 0, 1), (0, 1, 1), scale="0<1", topics=2))
    low = max(fit.spread.low[0, 1], 0.5)
    assert double_judgments_needed(fit).variance[0, 1] == pytest.approx(low * (1 - low) / (4 / 6))


def test_a_share_of_all_in_one_topic_is_planned_with_the_interval_over_its_items():
    fit = PredictedRelevance(observed=["A"]).fit(double((1, 1, 4), (0, 0, 1), (0, 1, 1), scale="0<1"))
    low = max(float(wilson(np.array(1.0), 4)[0]), 0.5)
    assert double_judgments_needed(fit).variance[0, 1] == pytest.approx(low * (1 - low) / (4 / 6))


def test_a_share_of_nothing_is_planned_with_the_end_of_its_interval():
    fit = PredictedRelevance(relevant="2", observed=["A"]).fit(double((2, 2, 1), (2, 1, 1), (1, 1, 4), topics=2))
    needed = double_judgments_needed(fit, 0.02)
    high = fit.spread.high[0, 1]
    assert 0 < high < 1
    assert needed.variance[0, 1] == pytest.approx(min(high, 0.5) * (1 - min(high, 0.5)) / (4 / 6))
    assert np.isnan(needed.judgments[0, 0])
    assert "for 0" not in needed.sentences()[0]


def test_topics_that_differ_cannot_be_outdone():
    """Two kinds of topics: all agree, or all disagree; ever so many double judgments leave that."""
    agreed = {str(topic): {f"d{n}": 1 for n in range(50)} for topic in range(20)}
    other = {topic: {doc: int(topic) % 2 for doc in docs} for topic, docs in agreed.items()}
    fit = PredictedRelevance(observed=["a"]).fit(judgments_of(rows_by(agreed, "a") + rows_by(other, "b"), "0<1"), rng=1)
    needed = double_judgments_needed(fit, 0.05)
    square = fit.spread.sd_topics[0, 1] ** 2 * 20 / 19
    assert square == pytest.approx(0.25 / 19, rel=0.2)
    assert needed.floor[0, 1] == pytest.approx(np.sqrt(square - 0.25 / 999))
    assert np.isnan(needed.judgments_on_these_topics[0, 1])
    assert needed.judgments[0, 1] == 100
    width = (fit.spread.high - fit.spread.low)[0, 1] / (2 * 1.959964)
    assert needed.topics[0, 1] == np.ceil(20 * max(square, width**2) / 0.05**2)
    assert "judge more topics: " in needed.sentences()[1]
    rough = double_judgments_needed(fit, 0.3)
    assert rough.judgments_on_these_topics[0, 1] == 50
    assert "differences between these 20 topics" in rough.sentences()[1]


def test_a_saved_fit_still_knows_what_is_needed(collection, tmp_path):
    fit = ALL.fit(collection.judgments)
    write_fit(fit, tmp_path / "fit.json", fingerprint="x")
    needed, again = double_judgments_needed(fit), double_judgments_needed(read_fit(tmp_path / "fit.json"))
    np.testing.assert_array_equal(needed.judgments, again.judgments)
    np.testing.assert_array_equal(needed.topics, again.topics)


def test_the_lowest_label_is_neglected_below_two_in_a_hundred():
    often = double((0, 0, 896), (0, 1, 4), (1, 1, 100), scale="0<1", topics=20)
    (lowest,) = lowest_labels(PredictedRelevance(observed=["A"]).fit(often))
    assert lowest.p == pytest.approx(4 / 900)
    assert lowest.high < 0.02
    assert lowest.negligible
    assert lowest.saved == pytest.approx(0.9)
    assert lowest.part == pytest.approx(4 / 104)
    assert "saves 90% of the double judgments, leaves out 4%" in lowest.sentence()
    for topics in (1, 5):
        rarely = double((0, 0, 90), (1, 1, 10), scale="0<1", topics=topics)
        (lowest,) = lowest_labels(PredictedRelevance(observed=["A"]).fit(rarely))
        assert lowest.p == 0
        assert not lowest.negligible
        assert "again: the upper limit" in lowest.sentence()
    unknown = read_grid("1 2 0 .\n1 2 . 0")
    (lowest,) = lowest_labels(PredictedRelevance().fit(unknown))
    assert not lowest.negligible
    assert not lowest.negligible
    assert lowest_labels(PredictedRelevance(relevant="b").fit(read_grid("a b a\na b b", scale="a|b"))) == []


def test_sizes_go_up_to_what_is_there():
    assert default_sizes(3) == [3]
    assert default_sizes(1_100)[-3:] == [500, 700, 1_100]
    with pytest.raises(PairsError):
        default_sizes(0)


def test_rounds_settle(collection):
    fit = ALL.fit(collection.judgments)
    rounds = simulate_rounds(fit, rng=2)
    assert rounds.sizes[-1] == available(fit)
    assert rounds.mean.shape == rounds.sd.shape == (len(rounds.sizes), 3, 4)
    np.testing.assert_allclose(rounds.mean[-1], fit.p, atol=0.02)
    assert (rounds.sd[-1] < rounds.sd[0])[~np.isnan(rounds.sd[0])].all()
    np.testing.assert_array_equal(rounds.sd, simulate_rounds(fit, rng=2).sd)
    assert rounds.sentence().startswith("p(3|")
    assert simulate_rounds(fit, sizes=[20, 5]).sizes.tolist() == [5, 20]
    for sizes, n_rounds in (([0, 5], 50), ([], 50), ([5], 1)):
        with pytest.raises(SettingError):
            simulate_rounds(fit, sizes=sizes, n_rounds=n_rounds)


def test_moments_are_of_the_rounds_in_which_a_label_was_seen():
    judgments = read_grid(" ".join(["0"] * 60 + ["1"]) + "\n" + " ".join(["0"] * 60 + ["1"]))
    rounds = simulate_rounds(PredictedRelevance(estimator="labels").fit(judgments), sizes=[1, 5_000], n_rounds=20)
    assert np.isnan(rounds.mean[0, 0, 1])
    assert rounds.mean[1, 0, 1] == 1
    assert rounds.sd[1, 0, 1] == 0


def test_moments_over_rounds_are_those_of_numpy(collection):
    fit = ALL.fit(collection.judgments)
    counts = annotation_rounds(
        fit.by_topic.sum(axis=0), np.array([900]), 7, mirrored=True, rng=np.random.default_rng(6)
    )
    p = shares(counts[:, 0], fit.relevant.labels)
    rounds = simulate_rounds(fit, sizes=[900], n_rounds=7, rng=6)
    assert not np.isnan(p).any()
    np.testing.assert_allclose(rounds.mean[0], p.mean(axis=0))
    np.testing.assert_allclose(rounds.sd[0], p.std(axis=0, ddof=1))
