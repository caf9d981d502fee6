"""Preferences between labels: counted, binned, smoothed and pooled."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from preference_examples import FOUR, SEVEN, collection, frame_of
from venire import read_judgments
from venire.data.preferences import Preferences
from venire.errors import ScaleError, SettingError, UnknownName
from venire.io import read_grid
from venire.quality.label_preferences import LabelPreferences, count_cycles, cycle_warnings, signals_of
from venire.quality.pdp import pdp
from venire.results import Note


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
    never, seldom = fit.warnings()
    assert (never.kind, never.fields["pairs"]) == ("never-compared", ["2 vs 0", "2 vs 1"])
    assert (seldom.kind, seldom.fields["n"], seldom.fields["few"]) == ("seldom-compared", 1, 40)
    prior = LabelPreferences(prior=1.0).fit(read_grid("0 1 2\n0 1 2"), Preferences.of([("1", "d2", "d1", 1)]))
    assert prior.p[1, 0] == pytest.approx(3 / 4)


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


def test_higher_labels_that_lose_are_warned_of():
    judgments, tests = collection(30, n_tests=300, sigma=0.05)
    turned = replace(tests, strength=-tests.strength)
    for mode in ("individual", "aggregate"):
        setting = LabelPreferences(mode=mode)
        assert setting.fit(judgments, tests).reversals() == []
        assert setting.fit(judgments, turned).reversals()[0].kind == "reversed-preferences"
        assert setting.fit(judgments, turned.take(np.arange(3))).reversals() == []
    rows = [(f"t{n:04d}", "d0", "d1", 1 if n < 20 else -1) for n in range(30)]
    labels = {f"t{n:04d}": {"d0": 1 if n < 20 else 2, "d1": 0 if n < 20 else 1} for n in range(30)}
    found = LabelPreferences().fit(read_judgments(labels, scale="0<1<2"), Preferences.of(rows))
    assert found.reversals() == [Note("higher-label-loses", "", pairs=["2 against 1 (wins 0%)"])]


@pytest.mark.parametrize("seed", range(4))
def test_cycles_are_those_counted_one_by_one(seed):
    rng = np.random.default_rng(seed)
    docs, rows, cycles, triples = [f"d{n}" for n in range(9)], [], 0, 0
    for topic in ("t1", "t2", "t3"):
        sign = {pair: int(rng.choice([-1, 0, 1], p=[0.4, 0.2, 0.4])) for pair in combinations(docs, 2)}
        sign = {pair: each for pair, each in sign.items() if rng.random() < 0.7}
        rows += [(topic, b, a, -s) if rng.random() < 0.5 else (topic, a, b, s) for (a, b), s in sign.items()]
        for a, b, c in combinations(docs, 3):
            signs = [sign.get(pair, 0) for pair in ((a, b), (b, c), (a, c))]
            triples += 0 not in signs
            cycles += signs in ([1, 1, -1], [-1, -1, 1])
    assert count_cycles(Preferences.of(rows)) == (cycles, triples)


def test_an_order_has_no_cycles():
    docs = [f"d{n}" for n in range(25)]
    assert count_cycles(Preferences.of([("t", a, b, 1) for a, b in combinations(docs, 2)])) == (0, 25 * 24 * 23 // 6)
    assert cycle_warnings(Preferences.of([])) == []
    round_and_round = Preferences.of([("t", "a", "b", 1), ("t", "b", "c", 1), ("t", "c", "a", 1)])
    assert [note.kind for note in cycle_warnings(round_and_round)] == ["cycles"]
