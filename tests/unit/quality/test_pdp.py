"""Preference-based label discriminative power: values, intervals, and what has none."""

from __future__ import annotations

from itertools import combinations
from math import lgamma, log

import numpy as np
import pytest

from preference_examples import SEVEN, choices_on, collection, example, frame_of
from venire import read_judgments
from venire.data.preferences import Preferences
from venire.errors import SettingError
from venire.io import read_grid
from venire.quality.label_preferences import LabelPreferences
from venire.quality.lists import orders_of, top_of_pool
from venire.quality.pdp import compare_pdp, pdp

EXACT = {
    ("4", "individual"): 4.217520864275402,
    ("4", "aggregate"): 4.164481543640699,
    ("7", "individual"): 4.02394212914733,
    ("7", "aggregate"): 3.8130610125848485,
}


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


def test_a_label_preferred_always_gives_a_finite_pdp():
    tests = Preferences.of([("1", f"d{a}", f"d{b}", b - a) for a, b in combinations(range(1, 6), 2)])
    found = pdp(read_grid("4 3 2 1 0", scale="0<1<2<3<4"), tests, k=5)
    assert found.value == pytest.approx(0.7677770527696863, abs=1e-9)
    assert found.labels.p[4, 0] == 1.0


def test_documents_that_nobody_labelled_both_are_half():
    judgments = read_grid("1 0 .\n. . 1")
    found = pdp(judgments, np.array([[0.5, 0.1], [0.9, 0.5]]), k=3)
    assert found.n_unknown == 2
    assert (found.warnings()[-1].kind, found.warnings()[-1].fields["n"]) == ("unpaired-documents", 2)
    assert 0 < found.value < log(6)


@pytest.mark.parametrize(
    ("judgments", "tests", "k", "reason"),
    [
        (SEVEN, [], 5, "there are no preference tests"),
        (SEVEN, [("9", "d1", "d2", 1)], 5, "both documents are labelled in none of the preference tests (1)"),
        (SEVEN, [("1", "d1", "d2", 1)], 6, "no list has 6 judged documents"),
        (read_grid("1 .\n. 0"), [("1", "d1", "d2", 1)], 2, "no assessor labelled both documents of a preference test"),
    ],
)
def test_no_value_has_a_reason(judgments, tests, k, reason):
    found = pdp(judgments, Preferences.of(tests), k=k)
    assert (found.value, found.share_of_max, found.estimate(), found.reason) == (None, None, None, reason)
    assert found.record()["value"] is None
    assert reason in found.sentence()


def test_better_assessors_and_more_grades_lower_pdp():
    values = {
        (sigma, grades): pdp(*collection(150, sigma=sigma, grades=grades, n_tests=2500), n_draws=0).value
        for sigma in (0.05, 0.15, 0.3)
        for grades in (2, 4, 7)
    }
    for grades in (2, 4, 7):
        assert values[0.05, grades] < values[0.15, grades] < values[0.3, grades] <= lgamma(6)
    assert values[0.05, 2] > values[0.05, 4] > values[0.05, 7]


def test_topics_are_left_out_one_by_one_or_in_groups_by_seed():
    judgments, tests = collection(15)
    lists = top_of_pool(judgments, 5)
    one, other = (pdp(judgments, tests, lists=lists, rng=seed) for seed in (1, 2))
    assert (one.low, one.high) == (other.low, other.high)
    assert one.method == "jackknife over 15 topics with their tests"
    assert one.low < one.value < one.high <= one.most
    one, again, other = (pdp(judgments, tests, lists=lists, n_draws=6, rng=seed) for seed in (1, 1, 2))
    assert (one.low, one.high) == (again.low, again.high) != (other.low, other.high)
    assert one.method == "jackknife over 6 groups of topics with their tests"


def test_the_jackknife_leaves_out_lists_and_tests_of_a_topic():
    judgments, tests = collection(12)
    lists = top_of_pool(judgments, 5)
    found = pdp(judgments, tests, lists=lists)
    slow = []
    for topic in judgments.topics:
        others = [name for name in judgments.topics if name != topic]
        slow.append(pdp(judgments.where(topic=others), tests.where(topic=others), lists=lists, n_draws=0).value)
    np.testing.assert_allclose(found.jackknife.without, slow, atol=1e-9)
    error, freedom = found.jackknife.spread()
    assert error == pytest.approx(np.sqrt(11 / 12 * ((slow - np.mean(slow)) ** 2).sum()))
    assert freedom == pytest.approx(11)
    assert found.jackknife.bias == pytest.approx(11 * (np.mean(slow) - found.value))


def test_given_label_preferences_have_students_interval():
    judgments, _ = collection(12, grades=2)
    found = pdp(judgments, np.array([[0.5, 0.2], [0.8, 0.5]]), k=5)
    error, freedom = found.jackknife.spread()
    assert error == pytest.approx(found.values.std(ddof=1) / np.sqrt(12))
    assert freedom == pytest.approx(11)


def test_tests_on_few_topics_make_a_wide_interval_and_on_one_none():
    judgments, tests = collection(30, n_tests=600)
    lists = top_of_pool(judgments, 5)
    few, one = (tests.where(topic=[f"t{n:04d}" for n in range(n_topics)]) for n_topics in (3, 1))
    labels = LabelPreferences(mode="aggregate")
    found = pdp(judgments, few.take(np.arange(12)), lists=lists, labels=labels)
    assert 2 < found.jackknife.spread()[1] < 5
    assert "bias" in [note.kind for note in found.warnings()]
    alone = pdp(judgments, one, lists=lists, labels=labels)
    assert alone.value is not None
    assert (alone.low, alone.high, alone.method) == (None, None, "no interval")


def test_many_tests_need_no_warning():
    judgments, tests = collection(30, n_tests=1500)
    found = pdp(judgments, tests, labels=LabelPreferences(mode="aggregate"), n_draws=40)
    assert "bias" not in [note.kind for note in found.warnings()]


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


def test_two_settings_are_compared_on_the_same_topics():
    good, tests = collection(40, sigma=0.05, n_tests=800)
    poor, _ = collection(40, sigma=0.3, perceive=2)
    lists = top_of_pool(good, 5)
    a, b = (pdp(labels, tests, lists=lists) for labels in (good, poor))
    found = compare_pdp(a, b, names=("good", "poor"))
    assert found.difference == pytest.approx(a.value - b.value)
    assert found.low < found.difference < found.high < 0
    assert found.p_value < 1e-6
    assert found.significant
    assert "nats on 40 topics, significant (95% confidence interval -" in found.sentence()
    same = compare_pdp(a, a)
    assert (same.difference, same.low, same.high, same.p_value) == (0.0, 0.0, 0.0, 1.0)
    assert not same.significant


@pytest.mark.parametrize("n_comparisons", [1, 6])
def test_interval_p_value_and_words_agree(n_comparisons):
    for perceive in range(2, 14):
        one, tests = collection(15, sigma=0.1, n_tests=100)
        other, _ = collection(15, sigma=0.2, perceive=perceive)
        lists = top_of_pool(one, 5)
        a, b = (pdp(labels, tests, lists=lists) for labels in (one, other))
        found = compare_pdp(a, b, n_comparisons=n_comparisons)
        assert found.significant == (found.p_value < 0.05) == (not found.low <= 0 <= found.high)
        assert (", not significant (" in found.sentence()) == (not found.significant)
        alone = compare_pdp(a, b)
        assert found.p_value == pytest.approx(min(1, n_comparisons * alone.p_value))
        assert found.low <= alone.low < alone.high <= found.high


def test_the_jackknife_of_a_difference_knows_topics_that_one_setting_has_no_labels_of():
    judgments, tests = collection(20)
    fewer = judgments.where(topic=judgments.topics[:15])
    lists = top_of_pool(judgments, 5).labelled_in(fewer)
    a, b = (pdp(labels, tests, lists=lists) for labels in (judgments, fewer))
    assert (a.topics, len(a.jackknife.group), len(b.jackknife.group)) == (b.topics, 20, 15)
    found = a.jackknife.minus(b.jackknife)
    assert len(found.group) == 20
    np.testing.assert_allclose(found.without[15:], a.jackknife.without[15:] - b.value)
    with pytest.raises(SettingError, match="of different lists"):
        compare_pdp(pdp(judgments, tests, k=5, n_draws=0), b)


def test_what_cannot_be_compared_says_so():
    judgments, tests = collection(12)
    one = pdp(judgments, tests, k=3, n_draws=0)
    with pytest.raises(SettingError, match="PDP@3 and PDP@4 differ in K"):
        compare_pdp(one, pdp(judgments, tests, k=4, n_draws=0))
    nothing = compare_pdp(one, pdp(judgments, Preferences.of([]), k=3))
    assert (nothing.difference, nothing.reason) == (None, "there are no preference tests")
    assert "is not known: there are no preference tests" in nothing.sentence()
    plain = compare_pdp(one, one)
    assert (plain.difference, plain.low, plain.p_value) == (0.0, None, None)
    assert "without an interval" in plain.sentence()
