"""The alternative annotator test, against the authors' definition written out item by item."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import false_discovery_control, ttest_1samp

from venire import VenireError, read_judgments
from venire.certification import alt_test
from venire.certification.alt_test import _freedom, p_below


def judged(labels, topic=lambda item: f"q{item % 8}", scale=None):
    """labels {assessor: {item: label}} -> judgments."""
    rows = [(topic(item), f"d{item}", who, str(label)) for who, own in labels.items() for item, label in own.items()]
    return read_judgments(pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row"), scale=scale)


def worked_example():
    """On 20 items all agree; on 12 a alone differs; on 8 the machine alone does."""
    same = dict.fromkeys(range(40), 1)
    differ = dict.fromkeys(range(20, 32), 0), dict.fromkeys(range(32, 40), 0)
    return judged({"a": same | differ[0], "b": same, "c": same, "llm": same | differ[1]}, scale="0<1")


def test_worked_example():
    found = alt_test(worked_example(), "llm", ["a", "b", "c"], epsilons=[0.2], clustered=False)
    assert found.machine_wins.tolist() == [32 / 40] * 3
    assert found.person_wins.tolist() == [28 / 40, 1.0, 1.0]
    # a: mean d = (8 - 12) / 40 = -.1, variance (20 - 40 x .01) / 39, t = -.3 / .11209 = -2.676; b and c: t = 0
    assert found.p[0] == pytest.approx([0.005413, 0.5, 0.5], abs=1e-6)
    assert found.adjusted[0] == pytest.approx([0.005413 * 3 * 11 / 6, 0.5 * 11 / 6 * 3 / 3, 0.5 * 11 / 6], abs=1e-5)
    assert found.winning_rate.tolist() == [pytest.approx(1 / 3)]
    assert not found.passed[0]
    assert found.advantage == pytest.approx(0.8)


def by_definition(labels, machine, epsilon, *, rmse):
    """Winning rate and average advantage probability, as the paper defines them, one item after the other."""

    def score(label, others):
        if rmse:
            return -np.sqrt(np.mean([(label - other) ** 2 for other in others]))
        return np.mean([label == other for other in others])

    p_values, advantages = [], []
    for person, own in labels.items():
        differences, wins = [], []
        for item, label in own.items():
            others = [each[item] for name, each in labels.items() if name != person and item in each]
            if others and item in machine:
                by_machine, by_person = score(machine[item], others), score(label, others)
                wins.append(by_machine >= by_person)
                differences.append(int(by_person >= by_machine) - int(by_machine >= by_person))
        if len(wins) >= 30:
            p_values.append(ttest_1samp(differences, epsilon, alternative="less").pvalue)
            advantages.append(np.mean(wins))
    rejected = false_discovery_control(p_values, method="by") <= 0.05
    return p_values, np.mean(rejected), np.mean(advantages)


@pytest.mark.parametrize("rmse", [True, False])
def test_without_clustering_it_is_the_published_test(rmse):
    rng = np.random.default_rng(4)
    truth = rng.integers(4, size=150)

    def noisy(share, present):
        own = np.where(rng.random(150) < share, rng.integers(4, size=150), truth)
        return {item: int(own[item]) for item in range(150) if rng.random() < present}

    people = {name: noisy(share, 0.7) for name, share in zip("abcd", (0.2, 0.5, 0.6, 0.7), strict=True)}
    machine = noisy(0.25, 0.95)
    judgments = judged(people | {"llm": machine}, scale="0<1<2<3")
    for epsilon in (0.1, 0.15, 0.2):
        found = alt_test(
            judgments, "llm", "abcd", epsilons=[epsilon], clustered=False, alignment="rmse" if rmse else "accuracy"
        )
        p, rate, advantage = by_definition(people, machine, epsilon, rmse=rmse)
        assert found.p[0] == pytest.approx(p)
        assert found.winning_rate[0] == rate
        assert found.advantage == pytest.approx(advantage)


def test_labels_without_an_order_are_equal_or_not():
    people = {name: dict.fromkeys(range(40), "cat") for name in "abc"}
    judgments = judged(people | {"llm": dict.fromkeys(range(40), "dog")}, scale="cat|dog")
    found = alt_test(judgments, "llm", "abc")
    assert found.alignment == "accuracy"
    assert found.machine_wins.tolist() == [0.0] * 3
    assert found.winning_rate.tolist() == [0.0] * 3


def test_topics_that_are_alike_within_weaken_the_evidence():
    d = np.repeat([-1.0, 0, 0, 1, 0, -1], 20)
    group = np.repeat(np.arange(6), 20)
    assert p_below(d, np.arange(120), 0.2, skewness=False) < 1e-5
    assert p_below(d, group, 0.2) > 0.05


def agreeing(share_wrong, *, who="llm", seed=0):
    """Three people and a judge who agree in full, but for one of them who differs on a share of 30 topics x 5 items."""
    rng = np.random.default_rng(seed)
    truth = {item: int(label) for item, label in enumerate(rng.integers(2, size=150))}
    own = {item: label if rng.random() >= share_wrong else 1 - label for item, label in truth.items()}
    people = {"a": truth, "b": truth, "c": truth, "llm": truth}
    return judged(people | {who: own}, lambda item: f"q{item // 5}", scale="0<1")


@pytest.mark.parametrize("share", [0.5, 0.7, 0.8, 0.9, 0.95])
def test_a_judge_that_is_nearly_always_wrong_does_not_pass(share):
    found = alt_test(agreeing(share), "llm", ["a", "b", "c"])
    assert found.machine_wins[0] == pytest.approx(1 - share, abs=0.1)
    assert found.p.min() > 0.99
    assert not found.passed.any()


@pytest.mark.parametrize("share", [0.5, 0.7, 0.8, 0.9, 0.95])
def test_a_judge_may_replace_a_person_who_is_nearly_always_wrong(share):
    found = alt_test(agreeing(share, who="c"), "llm", ["a", "b", "c"])
    assert found.p[:, 2].max() < 1e-3


@pytest.mark.parametrize(
    "shares", [(0.9, 0.1, 0.0), (0.0, 0.1, 0.9), (0.1, 0.9, 0.0), (0.0, 0.9, 0.1), (0.3, 0.3, 0.4)]
)
def test_p_falls_as_epsilon_rises(shares):
    d = np.random.default_rng(3).choice([1.0, 0.0, -1.0], size=150, p=shares)
    group = np.repeat(np.arange(30), 5)
    p = [p_below(d, group, epsilon) for epsilon in np.linspace(-1.5, 1.5, 61)]
    assert (np.diff(p) <= 1e-15).all()
    assert p[0] > 0.99
    assert p[-1] < 0.01


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("n_topics", [2, 3, 40])
def test_degrees_of_freedom_are_those_of_the_matrix(power, n_topics):
    n = np.random.default_rng(n_topics).integers(1, 30, n_topics).astype(float)
    residuals = (np.eye(n_topics) - (n / n.sum())[:, None]) / np.sqrt(1 - n / n.sum())[:, None]
    a = residuals @ np.diag(n**power) @ residuals.T
    assert _freedom(n, n**power) == pytest.approx(np.trace(a) ** 2 / np.trace(a @ a))
    equal = np.full(n_topics, 5.0)
    assert _freedom(equal, equal**power) == pytest.approx(n_topics - 1)


def test_two_people_are_too_few_and_it_says_so():
    labels = {"a": dict.fromkeys(range(40), 1), "b": dict.fromkeys(range(40), 1), "llm": dict.fromkeys(range(40), 0)}
    found = alt_test(judged(labels), "llm", ["a", "b"])
    assert not found.complete
    assert (found.notes[0].kind, found.notes[0].fields["needed"], found.notes[0].fields["found"]) == (
        *("alt-test-few-people", 3, 2),
    )
    held = found.record()
    assert held["missing"]
    assert [each["winning_rate"] for each in held["results"]] == [None] * 3
    assert [each["passed"] for each in held["results"]] == [None] * 3


def test_people_with_few_items_are_left_out():
    labels = {name: dict.fromkeys(range(40), 1) for name in ("a", "b", "c", "llm")} | {"d": dict.fromkeys(range(9), 1)}
    found = alt_test(judged(labels), "llm", ["a", "b", "c", "d"])
    assert found.tested.tolist() == [True, True, True, False]
    assert [note.kind for note in found.notes] == ["alt-test-left-out", "alt-test-few-topics"]
    assert found.record()["results"][0]["annotators"][3]["p_value"] is None


def test_one_topic_cannot_be_clustered():
    labels = {name: dict.fromkeys(range(40), 1) for name in ("a", "b", "c", "llm")}
    assert not alt_test(judged(labels, lambda _: "q1"), "llm", "abc").complete
    assert alt_test(judged(labels, lambda _: "q1"), "llm", "abc", clustered=False).complete


def test_unknown_names():
    with pytest.raises(VenireError, match="assessor 'x'"):
        alt_test(worked_example(), "x", ["a", "b", "c"])
    with pytest.raises(VenireError, match="alignment"):
        alt_test(worked_example(), "llm", ["a", "b", "c"], alignment="tau")
