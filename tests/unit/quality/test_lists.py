"""Lists of documents whose order is asked for: of runs, of the pool, and computed once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from preference_examples import collection
from venire import read_judgments, read_runs
from venire.data.preferences import Preferences
from venire.errors import ScaleError, SettingError, UnknownName
from venire.io import read_grid
from venire.kernels.ranking_entropy import entropy_of, scores_of_wins
from venire.quality.label_preferences import LabelPreferences
from venire.quality.lists import chosen_lists, orders_of, top_of_pool, top_of_runs
from venire.quality.pdp import pdp


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


def docs_of(lists):
    return [(each["topic"], sorted(each["docs"])) for each in lists.records()]


def test_lists_of_the_pool_are_drawn():
    judgments = read_grid("0 2 1 2 0\n0 2 2 2 1")
    assert top_of_pool(judgments, 3, choose="best").item.tolist() == [[1, 3, 2]]
    assert top_of_pool(judgments).k == 5
    assert sorted(top_of_pool(judgments, 5).item[0].tolist()) == [0, 1, 2, 3, 4]
    drawn = {tuple(top_of_pool(judgments, 2, rng=seed).item[0].tolist()) for seed in range(30)}
    assert len(drawn) > 5
    with pytest.raises(UnknownName):
        top_of_pool(judgments, 2, choose="worst")
    with pytest.raises(SettingError, match="1 document have no order"):
        top_of_pool(judgments, 1)


def test_documents_with_tests_are_taken_where_there_are_any():
    judgments = read_judgments({"1": dict.fromkeys("abcde", 1), "2": dict.fromkeys("abc", 0)}, scale="0<1")
    tests = Preferences.of([("1", "a", "b", 1), ("1", "b", "e", 1), ("2", "a", "x", 1), ("3", "a", "b", 1)])
    found = top_of_pool(judgments, 2, tests)
    assert [name for name, _ in docs_of(found)] == ["1"]
    assert set(docs_of(found)[0][1]) < {"a", "b", "e"}
    assert (found.left_out, found.words) == (1, "K documents with preference tests, drawn at random")
    assert docs_of(top_of_pool(judgments, 3, tests)) == [("1", ["a", "b", "e"])]
    assert len(top_of_pool(judgments, 4, tests)) == 0
    assert len(top_of_pool(judgments, 3, tests, choose="random")) == 2


def test_lists_do_not_depend_on_the_labels():
    """Only on which documents have labels, in both sets if two are compared."""
    one, tests = collection(12, n_docs=8, seed=3)
    other, _ = collection(12, n_docs=8, seed=3, perceive=2)
    for choose in ("tested", "random"):
        how = {"k": 4, "choose": choose, "rng": 5}
        lists = [docs_of(chosen_lists(a, tests, also=b, **how)) for a, b in ((one, other), (other, one))]
        assert lists[0] == lists[1] == docs_of(chosen_lists(one, tests, **how))
    fewer = other.where(topic=other.topics[:7])
    assert len(chosen_lists(one, tests, k=4, choose="random", also=fewer)) == 7


def test_lists_come_from_runs_if_there_are_any():
    judgments = read_judgments({"1": {"a": 2, "b": 1, "c": 0}}, scale="0<1<2")
    runs = read_runs({"1": {"c": 3.0, "a": 2.0, "b": 1.0}})
    tests = Preferences.of([("1", "a", "b", 1)])
    assert docs_of(chosen_lists(judgments, tests, runs, k=2)) == [("1", ["a", "c"])]
    assert docs_of(chosen_lists(judgments, tests, runs, k=2, choose="tested")) == [("1", ["a", "b"])]
    assert docs_of(chosen_lists(judgments, tests, k=2)) == [("1", ["a", "b"])]
    with pytest.raises(SettingError, match="no runs"):
        chosen_lists(judgments, tests, choose="runs")
    with pytest.raises(SettingError, match="favour the other set"):
        chosen_lists(judgments, tests, choose="best", also=judgments)


def test_labels_without_an_order_have_no_best():
    judgments = read_grid("a b c a c\nb b c a a", scale="a|b|c")
    with pytest.raises(ScaleError, match=r"a\|b\|c have no order"):
        top_of_pool(judgments, 3, choose="best")
    assert top_of_pool(judgments, 3).k == 3
    assert top_of_pool(judgments, 5, choose="best").words == "all documents of a topic"


def test_lists_are_found_again_among_other_judgments():
    one = read_judgments({"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 1, "b": 0}}, scale="0<1")
    other = read_judgments({"0": {"z": 1}, "1": {"c": 1, "a": 0}, "2": {"b": 0, "a": 1}}, scale="0<1")
    lists = top_of_pool(one, 2, choose="best")
    found = lists.among(other.items)
    named = [
        [(other.topics[t], other.items.doc[item]) for item in row]
        for t, row in zip(found.topic, found.item, strict=True)
    ]
    assert named == [[("1", "a"), ("1", "c")], [("2", "a"), ("2", "b")]]
    fewer = read_judgments({"1": {"c": 1}, "2": {"b": 0, "a": 1}}, scale="0<1")
    assert (len(lists.among(fewer.items)), lists.among(fewer.items).left_out) == (1, 1)
    unlabelled = other.take(other.item != 1)
    assert len(lists.among(unlabelled.items)) == 2
    assert docs_of(lists.labelled_in(unlabelled)) == [("2", ["a", "b"])]


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
        slow = entropy_of(scores_of_wins(orders.preferences(p).sum(axis=2) - 0.5)).value
        np.testing.assert_allclose(orders.pdp(p)[0], slow.mean(), atol=1e-9)
        np.testing.assert_allclose(orders.near(p).pdp(p)[0], slow.mean(), atol=1e-9)
        several = [orders.pdp(each)[0] for each in (p, 0.5 * p + 0.25, p.T)]
        np.testing.assert_allclose(orders.pdps([p, 0.5 * p + 0.25, p.T]), several, atol=1e-9)
        np.testing.assert_allclose(orders.near(0.5 * p + 0.25).pdp(p)[0], slow.mean(), atol=1e-9)
        np.testing.assert_allclose(slow, slow[orders.first][orders.kind], atol=1e-9)


def test_long_lists_are_drawn_with_a_standard_error():
    judgments = read_grid(" ".join(str(n % 3) for n in range(18)), scale="0<1<2")
    p = np.array([[0.5, 0.3, 0.1], [0.7, 0.5, 0.3], [0.9, 0.7, 0.5]])
    found = pdp(judgments, p, k=18)
    assert found.error[0] > 0
    assert found.warnings()[-1].kind == "drawn"
    assert 0.5 < found.share_of_max < 1
