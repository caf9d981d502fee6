from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import lgamma, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from venire import SettingError, UnknownName, read_grid, read_judgments, read_runs
from venire.analysis.label_preferences import LabelPreferences
from venire.analysis.list_orders import orders_of
from venire.analysis.pair_tests import SignFlip
from venire.analysis.pdp import pdp
from venire.analysis.pdp_differences import compare_pdp
from venire.analysis.preference_signals import signals_of
from venire.analysis.top_lists import top_of_pool, top_of_runs
from venire.data.preferences import Preferences
from venire.errors import ScaleError
from venire.kernels.plackett_luce import entropy_of, scores_of
from venire.papers.chu2021 import (
    BELOW_FOUR,
    BELOW_SEVEN,
    FOUR_GRADES,
    SEVEN_GRADES,
    label_preferences,
)

SEVEN = read_grid(SEVEN_GRADES, scale="0<1<2<3<4<5<6")
FOUR = read_grid(FOUR_GRADES, scale="0<1<2<3")
EXACT = {
    ("4", "individual"): 4.217520864275402,
    ("4", "aggregate"): 4.164481543640699,
    ("7", "individual"): 4.02394212914733,
    ("7", "aggregate"): 3.8130610125848485,
}


def example(grades: str):
    return (FOUR, label_preferences(BELOW_FOUR)) if grades == "4" else (SEVEN, label_preferences(BELOW_SEVEN))


def collection(n_topics, *, grades=4, sigma=0.15, n_docs=5, n_assessors=3, n_tests=300, seed=0, perceive=1):
    """True relevance, noisy labels and noiseless tests, as in Section 4.1; the truth depends on the seed alone."""
    truth, noise = np.random.default_rng(seed), np.random.default_rng([seed, perceive])
    relevance = truth.beta(3, 3, size=(n_topics, n_docs))
    seen = relevance[..., None] + sigma * noise.normal(size=(n_topics, n_docs, n_assessors))
    labels = np.clip(np.floor(seen * grades), 0, grades - 1).astype(int)
    rows = [
        {"topic": f"t{t:04d}", "doc": f"d{d}", "assessor": f"u{u}", "label": int(labels[t, d, u])}
        for t, d, u in np.ndindex(labels.shape)
    ]
    frame = {key: [row[key] for row in rows] for key in rows[0]}
    return read_judgments(frame_of(frame), scale="<".join(map(str, range(grades)))), choices_on(
        relevance, n_tests, truth
    )


def frame_of(columns):
    import polars as pl

    return pl.DataFrame(columns)


def choices_on(relevance, n_tests, rng):
    """Preference tests on random pairs of documents, decided by their true relevance."""
    n_topics, n_docs = relevance.shape
    rows = []
    for _ in range(n_tests):
        t, (a, b) = rng.integers(n_topics), rng.choice(n_docs, 2, replace=False)
        rows.append((f"t{t:04d}", f"d{a}", f"d{b}", 1 if relevance[t, a] > relevance[t, b] else -1))
    return Preferences.of(rows)


@pytest.mark.parametrize(("grades", "mode"), EXACT)
def test_the_example_of_the_paper(grades, mode):
    judgments, p = example(grades)
    found = pdp(judgments, p, labels=LabelPreferences(mode=mode), k=5)
    assert found.value == pytest.approx(EXACT[grades, mode], abs=1e-9)
    assert found.share_of_max == pytest.approx(EXACT[grades, mode] / lgamma(6))
    assert (found.low, found.high, found.reason, found.warnings()) == (None, None, None, [])


def test_document_level_preferences_of_the_paper():
    judgments, p = example("7")
    lists = top_of_pool(judgments, 5, choose="random", rng=3)
    order = np.argsort(lists.item[0])
    matrix = orders_of(lists, LabelPreferences().paired(judgments)).preferences(p)[0][np.ix_(order, order)]
    np.testing.assert_allclose(matrix[0], [0.5, 0.7, 2.5 / 3, 0.3, 0.7], atol=1e-12)
    np.testing.assert_allclose(matrix[3], [0.7, 2.45 / 3, 2.6 / 3, 0.5, 2.45 / 3], atol=1e-12)
    np.testing.assert_allclose(matrix + matrix.T, 1.0)


def slow_preferences(judgments, rows, mode):
    """Eqs. (10) and (11) in dictionaries: both orientations, ties as halves, even medians shared by two labels."""
    labels = {}
    for item, who, label in zip(
        judgments.item.tolist(), judgments.assessor.codes.tolist(), judgments.label.tolist(), strict=True
    ):
        doc = judgments.topics[judgments.items.topic[item]], judgments.items.doc[item]
        labels.setdefault(doc, {})[who] = label
    wins = np.zeros((len(judgments.scale),) * 2)
    for topic, left, right, strength in rows:
        a, b = labels.get((topic, left), {}), labels.get((topic, right), {})
        won = (1 + np.sign(strength)) / 2
        if mode == "individual":
            seen = [(a[who], b[who], 1.0) for who in a if who in b]
        else:
            middle = [[sorted(each.values())[(len(each) - n) // 2] for n in (1, 0)] for each in (a, b) if each]
            seen = [(x, y, 0.25) for x in middle[0] for y in middle[1]] if len(middle) == 2 else []
        for x, y, weight in seen:
            wins[x, y] += won * weight
            wins[y, x] += (1 - won) * weight
    return wins


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), mode=st.sampled_from(["individual", "aggregate"]))
def test_label_preferences_match_counting_on_fingers(seed, mode):
    rng = np.random.default_rng(seed)
    cells = [(t, d, u, int(rng.integers(4))) for t in "pq" for d in "abcde" for u in "xyzw" if rng.random() < 0.7]
    topic, doc, assessor, label = zip(*cells, strict=True)
    frame = frame_of({"topic": topic, "doc": doc, "assessor": assessor, "label": label})
    judgments = read_judgments(frame, scale="0<1<2<3")
    every = [(t, *pair) for t in "pq" for pair in combinations("abcdef", 2)]
    rows = [
        (t, *(pair if rng.random() < 0.5 else pair[::-1]), int(rng.integers(-2, 3)))
        for t, *pair in (every[n] for n in rng.choice(len(every), 15, replace=False))
    ]
    fit = LabelPreferences(mode=mode).fit(judgments, Preferences.of(rows))
    slow = slow_preferences(judgments, rows, mode)
    np.testing.assert_allclose(fit.wins, slow, atol=1e-12)
    met = slow + slow.T
    np.testing.assert_allclose(fit.p, np.where(met > 0, slow / np.where(met > 0, met, 1), 0.5), atol=1e-12)
    np.testing.assert_allclose(fit.p + fit.p.T, 1.0)


def test_choices_on_one_pair_are_one_test():
    rows = [("1", "d1", "d2", 2, "a"), ("1", "d2", "d1", 1, "b"), ("1", "d1", "d2", 1, "c"), ("1", "d1", "d3", 0, "a")]
    found = signals_of(SEVEN, Preferences.of(rows))
    assert dict(zip(found.second.tolist(), found.won.tolist(), strict=True)) == {1: 1.0, 2: 0.5}
    even = signals_of(SEVEN, Preferences.of([("1", "d1", "d2", 2, "a"), ("1", "d1", "d2", -1, "b")]))
    assert even.won.tolist() == [0.5]
    assert signals_of(SEVEN, Preferences.of([("9", "d1", "d2", 1), ("1", "d1", "x", 1)])).n == 2


def test_labels_that_never_met_are_named_and_half():
    fit = LabelPreferences().fit(read_grid("0 1 2\n0 1 2"), Preferences.of([("1", "d2", "d1", 1)]))
    np.testing.assert_allclose(fit.p, [[0.5, 0, 0.5], [1, 0.5, 0.5], [0.5, 0.5, 0.5]])
    assert "never met in a test, so nothing is known (p = 1/2): 2 and 0, 2 and 1" in fit.warnings()[0]
    assert "1 pair of labels met less than 40 times" in fit.warnings()[1]
    prior = LabelPreferences(prior=1.0).fit(read_grid("0 1 2\n0 1 2"), Preferences.of([("1", "d2", "d1", 1)]))
    assert prior.p[1, 0] == pytest.approx(3 / 4)


def test_a_label_preferred_always_gives_a_finite_pdp():
    tests = Preferences.of([("1", f"d{a}", f"d{b}", b - a) for a, b in combinations(range(1, 6), 2)])
    found = pdp(read_grid("4 3 2 1 0", scale="0<1<2<3<4"), tests, k=5)
    assert found.value == pytest.approx(0.7677770527696863, abs=1e-9)
    assert found.labels.p[4, 0] == 1.0


def test_documents_that_nobody_labelled_both_are_half():
    judgments = read_grid("1 0 .\n. . 1")
    found = pdp(judgments, np.array([[0.5, 0.1], [0.9, 0.5]]), k=3)
    assert found.n_unknown == 2
    assert "2 pairs of documents that no assessor labelled both" in found.warnings()[-1]
    assert 0 < found.value < log(6)


@pytest.mark.parametrize(
    ("judgments", "tests", "k", "reason"),
    [
        (SEVEN, [], 5, "there are no preference tests"),
        (SEVEN, [("9", "d1", "d2", 1)], 5, "in none of 1 preference test are both documents labelled"),
        (SEVEN, [("1", "d1", "d2", 1)], 6, "no list has 6 judged documents"),
        (read_grid("1 .\n. 0"), [("1", "d1", "d2", 1)], 2, "no assessor labelled both documents of a preference test"),
    ],
)
def test_no_value_has_a_reason(judgments, tests, k, reason):
    found = pdp(judgments, Preferences.of(tests), k=k)
    assert (found.value, found.share_of_max, found.estimate(), found.reason) == (None, None, None, reason)
    assert found.record()["value"] is None
    assert reason in found.sentence()


def test_lists_are_those_of_runs_where_all_was_judged():
    judgments = read_judgments({"1": {"a": 2, "b": 1, "c": 0}, "2": {"a": 1, "b": 0}}, scale="0<1<2")
    runs = read_runs({"1": {"c": 3.0, "a": 2.0, "x": 1.5, "b": 1.0}, "2": {"x": 2.0, "a": 1.0, "b": 0.5}})
    found = top_of_runs(judgments, runs, 2)
    assert [[judgments.items.doc[item] for item in row] for row in found.item.tolist()] == [["c", "a"]]
    assert found.left_out == 1
    condensed = top_of_runs(judgments, runs, 2, condensed=True)
    assert [[judgments.items.doc[item] for item in row] for row in condensed.item.tolist()] == [["c", "a"], ["a", "b"]]
    assert top_of_runs(judgments, runs, 3, condensed=True).item.shape == (1, 3)
    assert top_of_runs(judgments, runs).k == 2


def test_lists_of_the_pool_hold_the_best_or_any():
    judgments = read_grid("0 2 1 2 0\n0 2 2 2 1")
    assert top_of_pool(judgments, 3).item.tolist() == [[1, 3, 2]]
    assert top_of_pool(judgments).k == 5
    assert sorted(top_of_pool(judgments, 5, choose="random").item[0].tolist()) == [0, 1, 2, 3, 4]
    drawn = {tuple(top_of_pool(judgments, 2, choose="random", rng=seed).item[0].tolist()) for seed in range(30)}
    assert len(drawn) > 5
    with pytest.raises(UnknownName):
        top_of_pool(judgments, 2, choose="worst")
    with pytest.raises(SettingError, match="1 document have no order"):
        top_of_pool(judgments, 1)


def test_lists_are_found_again_among_other_judgments():
    one = read_judgments({"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 1, "b": 0}}, scale="0<1")
    other = read_judgments({"0": {"z": 1}, "1": {"c": 1, "a": 0}, "2": {"b": 0, "a": 1}}, scale="0<1")
    lists = top_of_pool(one, 2).among(other.items)
    named = [
        [(other.topics[t], other.items.doc[item]) for item in row]
        for t, row in zip(lists.topic, lists.item, strict=True)
    ]
    assert named == [[("1", "a"), ("1", "c")], [("2", "a"), ("2", "b")]]
    fewer = read_judgments({"1": {"c": 1}, "2": {"b": 0, "a": 1}}, scale="0<1")
    assert (len(top_of_pool(one, 2).among(fewer.items)), top_of_pool(one, 2).among(fewer.items).left_out) == (1, 1)


def test_runs_with_the_same_lists_change_nothing():
    judgments, tests = collection(20)
    lists = top_of_pool(judgments, 5)
    scores = {topic: {f"d{n}": float(-n) for n in range(5)} for topic in judgments.topics}
    reverse = {topic: {f"d{n}": float(n) for n in range(5)} for topic in judgments.topics}
    once, twice = pdp(judgments, tests, lists=lists, n_draws=0), None
    runs = read_runs({"up": scores, "down": reverse})
    twice = pdp(judgments, tests, lists=top_of_runs(judgments, runs, 5), n_draws=0)
    assert len(twice.lists) == 40
    np.testing.assert_allclose(twice.values, once.values, atol=1e-9)


def test_better_assessors_and_more_grades_lower_pdp():
    values = {
        (sigma, grades): pdp(*collection(150, sigma=sigma, grades=grades, n_tests=2500), n_draws=0).value
        for sigma in (0.05, 0.15, 0.3)
        for grades in (2, 4, 7)
    }
    for grades in (2, 4, 7):
        assert values[0.05, grades] < values[0.15, grades] < values[0.3, grades] <= lgamma(6)
    assert values[0.05, 2] > values[0.05, 4] > values[0.05, 7]


def test_the_interval_covers_what_many_topics_give():
    truth = pdp(*collection(1000, n_tests=8_000, seed=99), n_draws=0).value
    hits = 0
    for seed in range(40):
        found = pdp(*collection(30, n_tests=250, seed=seed), n_draws=40, rng=seed)
        hits += found.low <= truth <= found.high
    assert hits >= 32


def test_the_same_seed_gives_the_same_interval():
    judgments, tests = collection(15)
    one, again, other = (pdp(judgments, tests, n_draws=30, rng=seed) for seed in (1, 1, 2))
    assert (one.low, one.high) == (again.low, again.high) != (other.low, other.high)
    assert "bootstrap over topics with their tests, n=30" in str(one.estimate())
    assert one.low < one.value < one.high <= one.most


def test_tests_on_few_topics_are_drawn_singly():
    judgments, tests = collection(30, n_tests=600)
    few = tests.where(topic=["t0000", "t0001", "t0002"])
    found = pdp(judgments, few.take(np.arange(12)), labels=LabelPreferences(mode="aggregate"), n_draws=30)
    assert "bootstrap over topics and tests" in found.method
    assert any("the tests are few" in word for word in found.warnings())


def test_many_tests_need_no_warning():
    judgments, tests = collection(30, n_tests=1500)
    found = pdp(judgments, tests, labels=LabelPreferences(mode="aggregate"), n_draws=40)
    assert not any("the tests are few" in word for word in found.warnings())


def test_two_settings_are_compared_on_the_same_topics():
    good, tests = collection(40, sigma=0.05, n_tests=800)
    poor, _ = collection(40, sigma=0.3, perceive=2)
    lists = top_of_pool(good, 5)
    a, b = (pdp(labels, tests, lists=lists, n_draws=40) for labels in (good, poor))
    found = compare_pdp(a, b, names=("good", "poor"))
    assert found.difference == pytest.approx(a.value - b.value)
    assert found.low < found.difference < found.high < 0
    assert found.p_value < 1e-6
    assert found.sentence().startswith("In individual mode good leaves")
    assert compare_pdp(a, b, test=SignFlip(999)).p_value == pytest.approx(0.001)
    same = compare_pdp(a, a)
    assert (same.difference, same.low, same.high, same.p_value) == (0.0, 0.0, 0.0, 1.0)


def test_what_cannot_be_compared_says_so():
    judgments, tests = collection(12)
    one = pdp(judgments, tests, k=3, n_draws=0)
    with pytest.raises(SettingError, match="PDP@3 and PDP@4 differ in K"):
        compare_pdp(one, pdp(judgments, tests, k=4, n_draws=0))
    nothing = compare_pdp(one, pdp(judgments, Preferences.of([]), k=3))
    assert (nothing.difference, nothing.reason) == (None, "there are no preference tests")
    assert "cannot be compared" in nothing.sentence()


def test_stretching_the_scale_changes_nothing():
    """Section 5.2.3: labels 0, 1, 2, 3 as 0, 2, 4, 6 of seven grades have the same PDP."""
    judgments, tests = collection(20)
    frame = judgments.to_polars()
    stretched = frame.with_columns(label=(frame["label"].cast(int) * 2).cast(str))
    for mode in ("individual", "aggregate"):
        labels = LabelPreferences(mode=mode)
        one = pdp(judgments, tests, labels=labels, n_draws=0).value
        other = read_judgments(stretched, scale="0<1<2<3<4<5<6")
        assert pdp(other, tests, labels=labels, k=5, n_draws=0).value == pytest.approx(one, abs=1e-9)


def test_many_labels_are_binned_or_smoothed():
    judgments, tests = collection(60, grades=100, sigma=0.05, n_tests=1200)
    binned = LabelPreferences().fit(judgments, tests)
    assert (binned.form, len(set(binned.group.tolist())), len(binned.records())) == ("bins", 7, 21)
    assert (np.diff(binned.group) >= 0).all()
    share = np.bincount(binned.group[judgments.label]) / len(judgments)
    assert share.min() > 0.08
    smooth = LabelPreferences(form="logistic").fit(judgments, tests)
    np.testing.assert_allclose(smooth.p + smooth.p.T, 1.0)
    assert (np.diff(smooth.p[50]) < 0).all()
    assert smooth.warnings() == []
    assert len(smooth.records()) == 66
    coarse = pdp(*collection(60, grades=2, sigma=0.05, n_tests=1200), n_draws=0).value
    for form in ("bins", "logistic"):
        assert pdp(judgments, tests, labels=LabelPreferences(form=form), n_draws=0).value < coarse


def test_the_logistic_slope_is_that_of_maximum_likelihood():
    from scipy.optimize import minimize_scalar

    judgments, tests = collection(40, grades=5, n_tests=400)
    fit = LabelPreferences(form="logistic").fit(judgments, tests)
    apart = np.arange(5)[:, None] - np.arange(5)

    def loss(slope):
        return (fit.wins * np.log1p(np.exp(-slope * apart))).sum()

    assert np.log(fit.p[1, 0] / fit.p[0, 1]) == pytest.approx(minimize_scalar(loss).x, abs=1e-5)
    certain = LabelPreferences(form="logistic").fit(read_grid("1 0"), Preferences.of([("1", "d1", "d2", 1)]))
    assert 0.99 < certain.p[1, 0] <= 1.0


def test_a_ratio_scale_is_taken_by_its_logarithms():
    judgments = read_grid("1 10 100 1000", scale="1<10<100<1000 : ratio")
    tests = Preferences.of([("1", "d4", "d1", 1), ("1", "d3", "d2", 1), ("1", "d1", "d2", 1), ("1", "d2", "d1", -1)])
    p = LabelPreferences(form="logistic").fit(judgments, tests).p
    assert p[1, 0] == pytest.approx(p[3, 2])
    assert p[1, 0] == pytest.approx(p[2, 1])


def test_labels_without_order_are_pooled_by_majority():
    judgments = read_grid("a b b\na b a\nb b b", scale="a|b")
    tests = Preferences.of([("1", "d2", "d1", 1), ("1", "d2", "d3", 0)])
    with pytest.raises(ScaleError, match="no median"):
        LabelPreferences(mode="aggregate").fit(judgments, tests)
    assert LabelPreferences(mode="aggregate", pool="majority").fit(judgments, tests).p[1, 0] == 1.0


def test_settings_that_cannot_be():
    for bad in ({"mode": "mean"}, {"pool": "max"}, {"signal": "first"}, {"form": "spline"}):
        with pytest.raises(UnknownName):
            LabelPreferences(**bad)
    with pytest.raises(SettingError):
        LabelPreferences(n_bins=1)
    with pytest.raises(SettingError, match=r"\(2, 2\) for 4 labels"):
        pdp(FOUR, np.full((2, 2), 0.5))
    with pytest.raises(SettingError, match="other than 1"):
        pdp(FOUR, np.full((4, 4), 0.7))


def test_long_lists_are_drawn_with_a_standard_error():
    judgments = read_grid(" ".join(str(n % 3) for n in range(18)), scale="0<1<2")
    p = np.array([[0.5, 0.3, 0.1], [0.7, 0.5, 0.3], [0.9, 0.7, 0.5]])
    found = pdp(judgments, p, k=18)
    assert found.error[0] > 0
    assert "drawn, not exact" in found.warnings()[-1]
    assert 0.5 < found.share_of_max < 1


@pytest.mark.parametrize("mode", ["individual", "aggregate"])
def test_lists_that_are_alike_are_computed_once_and_to_the_same_value(mode):
    rng = np.random.default_rng(5)
    table = [[f"{label}" if rng.random() < 0.9 else "." for label in row] for row in rng.integers(0, 3, (3, 12))]
    judgments = read_grid("\n".join(" ".join(row) for row in table), scale="0<1<2")
    lists = replace(
        top_of_pool(judgments, 4, choose="random"),
        item=np.array([rng.permutation(12)[:4] for _ in range(60)]),
        topic=np.zeros(60, dtype=np.int64),
    )
    orders = orders_of(lists, LabelPreferences(mode=mode).paired(judgments))
    assert len(orders.first) < 60
    for p in (np.array([[0.5, 0.3, 0.0], [0.7, 0.5, 0.2], [1.0, 0.8, 0.5]]), np.full((3, 3), 0.5)):
        slow = entropy_of(scores_of(orders.preferences(p))).value
        np.testing.assert_allclose(orders.pdp(p)[0], slow.mean(), atol=1e-9)
        np.testing.assert_allclose(orders.near(p).pdp(p)[0], slow.mean(), atol=1e-9)
        np.testing.assert_allclose(orders.near(0.5 * p + 0.25).pdp(p)[0], slow.mean(), atol=1e-9)
        np.testing.assert_allclose(slow, slow[orders.first][orders.kind], atol=1e-9)


@pytest.mark.parametrize("form", [None, "logistic"])
def test_magnitudes_without_end_tell_as_much_as_their_steps(form):
    rng = np.random.default_rng(2)
    truth = rng.random((40, 6))
    tests = choices_on(truth, 1200, rng)
    cells = [(t, d, u) for t in range(40) for d in range(6) for u in range(3)]
    noisy = [truth[t, d] + 0.1 * rng.normal() for t, d, _ in cells]
    names = {"topic": [f"t{t:04d}" for t, _, _ in cells], "doc": [f"d{d}" for _, d, _ in cells]}
    who = {"assessor": [f"a{u}" for _, _, u in cells]}

    def value(labels, n):
        scale = "<".join(dict.fromkeys(str(x) for x in sorted(labels)))
        judgments = read_judgments(frame_of({**names, **who, "label": [str(x) for x in labels]}), scale=scale)
        assert len(judgments.scale) > n
        return pdp(judgments, tests, labels=LabelPreferences(form=form), k=5, n_draws=0)

    magnitudes = value([round(float(np.exp(3 * x)), 6) for x in noisy], 600)
    assert len(magnitudes.labels.p) == 200
    assert magnitudes.share_of_max < 0.8
    if form is None:
        steps = value([int(100 * x) for x in noisy], 100)
        assert magnitudes.value == pytest.approx(steps.value, abs=0.1)
