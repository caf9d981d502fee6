"""Plans of preference tests: which pairs are asked, with which probability, and what they tell."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import binomtest

from venire import Preferences
from venire.data.asked import PREFERENCE
from venire.errors import PairsError, SettingError
from venire.io.judgments import as_judgments
from venire.planning import plan_preferences
from venire.planning.preference_tests import LabelTests
from venire.planning.result import DECIDED, UNDECIDABLE

LABELS = {f"q{t}": {f"d{n}": n % 3 for n in range(9)} for t in range(8)}


def pairs_of(asked):
    return [(each.topic, *sorted((each.doc, each.other))) for each in asked]


def choices(n_topics=8, per_topic=6):
    """d1 (label 1) against documents of label 0, the higher label preferred in two of three."""
    return Preferences.of(
        [
            (f"q{t}", "d1", f"d{3 * (n % 3)}", 1 if (n + t) % 3 else -1)
            for t in range(n_topics)
            for n in range(per_topic)
        ]
    )


def test_pairs_are_of_one_topic_and_different_labels():
    plan = plan_preferences(LABELS, budget=48)
    assert len(plan) == len(set(pairs_of(plan.asked))) == 48
    assert {each.kind for each in plan.asked} == {PREFERENCE}
    label = [(LABELS[each.topic][each.doc], LABELS[each.topic][each.other]) for each in plan.asked]
    assert Counter(tuple(sorted(each)) for each in label) == {(0, 1): 16, (0, 2): 16, (1, 2): 16}
    assert 10 < sum(a < b for a, b in label) < 38, "sides are random"
    assert set(Counter(each.topic for each in plan.asked).values()) == {6}


def test_known_pairs_are_not_asked_and_their_labels_less():
    known = choices()
    plan = plan_preferences(LABELS, known, budget=60)
    asked = {(f"q{t}", *sorted(("d1", f"d{n}"))) for t in range(8) for n in (0, 3, 6)}
    assert not asked & set(pairs_of(plan.asked))
    number = Counter(each.reason for each in plan.asked)
    assert number["1 against 0"] < number["2 against 0"]
    assert number["1 against 0"] > 0, "every pair of labels has a chance"


def test_tests_of_few_topics_count_as_few():
    """Of both pairs of labels there are 18 tests: 2 against 0 in two topics, 1 against 0 in six."""
    tests = [(t, b, a, t % 2 == (n == 0)) for t in (0, 1) for n, b in enumerate((2, 5, 8)) for a in (0, 3, 6)]
    tests += [(t, 1, a, (t + a) % 2) for t in range(2, 8) for a in (0, 3, 6)]
    known = Preferences.of([(f"q{t}", f"d{b}", f"d{a}", 1 if higher else -1) for t, b, a, higher in tests])
    asked = Counter(each.reason for each in plan_preferences(LABELS, known, budget=40).asked)
    assert asked["2 against 0"] > asked["1 against 0"] + 5
    effective = LabelTests.of(as_judgments(LABELS), known)._effective()
    assert (effective[2], effective[0] <= 18) == (0, True)
    assert 0 < effective[1] < effective[0] / 2


def test_all_pairs_but_the_known_ones_can_be_asked():
    plan = plan_preferences(LABELS, choices(), budget=1000)
    assert len(plan) == len(set(pairs_of(plan.asked))) == 8 * 27 - 24
    assert {each.probability for each in plan.asked} == {1.0}
    assert "all-asked" in {note.kind for note in plan.notes}


def test_pairs_are_drawn_as_often_as_their_probability_says():
    labels = {"q0": {f"d{n}": n % 2 for n in range(5)}, "q1": {f"d{n}": n % 3 for n in range(4)}}
    seen, stated, n = Counter(), {}, 800
    case = LabelTests.of(as_judgments(labels), Preferences.of([("q0", "d0", "d1", 1)]))
    for rng in np.random.default_rng(1).spawn(n):
        asked = case.asked(4, rng)
        pairs = pairs_of(asked)
        assert len(set(pairs)) == 4
        seen.update(pairs)
        stated |= dict(zip(pairs, (each.probability for each in asked), strict=True))
    assert sum(stated.values()) == pytest.approx(4)
    assert ("q0", "d0", "d1") not in stated
    for pair, chance in stated.items():
        assert binomtest(seen[pair], n, min(chance, 1.0)).pvalue > 1e-4


def test_a_forecast_without_any_preference_follows_equation_12():
    """With one test per topic and p(1 - p) at most 1/4, the half-width is near 1.96 sqrt(.21 / n) of a usual p."""
    labels = {f"q{t}": {f"d{n}": n % 2 for n in range(20)} for t in range(400)}
    plan = plan_preferences(labels, budget=400)
    half = next(each.half_width for each in plan.forecast if each.budget == 400)
    assert 0.03 < half <= 1.96 * np.sqrt(0.25 / 400) + 0.001


def test_states_say_when_to_stop():
    labels = {topic: {doc: min(level, 1) for doc, level in docs.items()} for topic, docs in LABELS.items()}
    every = Preferences.of(
        [(t, a, b, 1 if (i + j) % 3 else -1) for t, docs in labels.items() for i, a in enumerate(docs)
         for j, b in enumerate(docs) if docs[a] > docs[b]]
    )  # fmt: skip
    decided, not_decidable = (plan_preferences(labels, every, budget=10, within=each) for each in (0.3, 0.001))
    assert (decided.state, not_decidable.state) == (DECIDED, UNDECIDABLE)
    assert decided.outcome == not_decidable.outcome
    assert (
        0.001 < float(decided.outcome.removeprefix("The widest interval of p(a > b) has a half-width of ")[:-1]) < 0.3
    )


def test_one_topic_gives_no_interval():
    labels = {"q0": {f"d{n}": n % 3 for n in range(9)}, "q1": {"a": 0, "b": 0}}
    plan = plan_preferences(labels, budget=5)
    assert [note.kind for note in plan.notes] == ["one-topic"]
    assert {each.half_width for each in plan.forecast} == {0.5}
    assert "one-topic" not in {note.kind for note in plan_preferences(LABELS, budget=5).notes}


def test_labels_that_never_meet_are_named():
    labels = {"q0": {"a": 0, "b": 1}, "q1": {"a": 0, "b": 2}}
    note = next(note for note in plan_preferences(labels, budget=1).notes if note.kind == "never-together")
    assert note.fields["pairs"] == "1 and 2"


@pytest.mark.parametrize("setting", [{"budget": 0.2}, {"budget": 10, "within": 0}])
def test_settings_out_of_range_are_refused(setting):
    with pytest.raises(SettingError):
        plan_preferences(LABELS, cost={"preference": 0.5}, **setting)


def test_documents_with_one_label_cannot_be_compared():
    with pytest.raises(PairsError):
        plan_preferences({"q0": {"a": 1, "b": 1}, "q1": {"a": 0}}, budget=5)
