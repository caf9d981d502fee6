"""Designs: what the papers say, and what a sample and an assignment have to be."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from venire.data.asked import Asked
from venire.judging.designs import (
    Item,
    by_topic,
    chance,
    first_ranks,
    fixed,
    given_previous,
    golbus,
    list_pairs,
    pooled,
    tasks_of,
    tasks_of_plan,
    with_second,
)
from venire.judging.tasks import Task


def lists(n_topics: int = 50, depth: int = 10, systems: tuple[str, ...] = ("a", "b")):
    """Lists whose documents are named by system and rank."""
    return {s: {f"q{t}": tuple(f"{s}{n}" for n in range(1, depth + 1)) for t in range(n_topics)} for s in systems}


@pytest.mark.parametrize("aspects", [True, False])
def test_golbus_asks_what_the_paper_says(aspects):
    tasks = golbus(lists(systems=("a",)), seed=1, view="page", n_people=3, aspects=aspects)
    by_query: dict[str, set[tuple[str, str]]] = {}
    for task in tasks:
        assert task.kind == ("aspects" if aspects else "conditional" if task.given else "label")
        by_query.setdefault(task.topic, set()).add((task.doc, task.given))
    always = {(f"a{n}", "") for n in range(1, 6)} | {(f"a{n}", "a1") for n in range(2, 6)}
    fifth = always | {(f"a{n}", "a5") for n in range(1, 5)}
    ten = always | {(f"a{n}", "") for n in range(6, 11)} | {(f"a{n}", "a6") for n in range(7, 11)}
    assert Counter(tuple(sorted(each)) for each in by_query.values()) == {
        tuple(sorted(fifth)): 30,
        tuple(sorted(ten)): 20,
    }


def test_golbus_compares_the_lists_of_two_systems_with_five_assessors():
    tasks = golbus(lists(3), seed=1, view="page", n_people=9, aspects=True)
    assert [(task.doc, task.other, task.needed) for task in tasks if task.kind == "lists"] == [("a", "b", 5)] * 3
    few = golbus(lists(3), seed=1, view="page", n_people=2, aspects=True)
    assert {task.needed for task in few if task.kind == "lists"} == {2}


def test_golbus_with_short_lists_asks_for_what_is_there():
    tasks = golbus(lists(5, depth=3, systems=("a",)), seed=1, view="page", n_people=1, aspects=False)
    assert {(task.doc, task.given) for task in tasks} == {
        ("a1", ""),
        ("a2", ""),
        ("a3", ""),
        ("a2", "a1"),
        ("a3", "a1"),
    }


def test_lists_are_pooled_paired_and_taken_in_order():
    runs = {"s": {"q1": {"a": 3.0, "b": 2.0, "c": 2.0}}, "t": {"q1": {"c": 1.0}, "q2": {"x": 1.0}}}
    found = first_ranks(runs, ["q1"], 2)
    assert found == {"s": {"q1": ("a", "c")}, "t": {"q1": ("c",)}}, (
        "ties by document, descending, as trec_eval has them"
    )
    assert list(pooled(found)) == [Item("q1", "a"), Item("q1", "c")]
    assert list(given_previous(found)) == [Item("q1", "c", given="a")]
    assert list(list_pairs(found)) == [Item("q1", "s", other="t")]


def test_a_plan_is_taken_as_it_is():
    asked = [
        Asked("q1", "d1", "ann", "reference", 0.25, "rank 1"),
        Asked("q1", "d1", "", "preference", 0.5, "close", "d2"),
    ]
    label, preference = tasks_of_plan(asked, view="page")
    assert (label.kind, label.judge, label.probability, label.reason) == ("label", "ann", 0.25, "reference: rank 1")
    assert (preference.kind, preference.doc, preference.other, preference.probability) == (
        "preference",
        "d1",
        "d2",
        0.5,
    )


def pool(sizes: list[int], needed: int = 1) -> list[Task]:
    items = [Item(f"q{t}", f"d{n}") for t, size in enumerate(sizes) for n in range(size)]
    return tasks_of(items, "label", view="page", needed=needed)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=20), st.floats(0.01, 1), st.integers(0, 99))
def test_second_labels_are_spread_over_the_topics(sizes, share, seed):
    tasks = pool(sizes)
    found = with_second(tasks, seed=seed, share=share)
    assert [replace(task, needed=1) for task in found] == tasks
    drawn = Counter(task.topic for task in found if task.needed == 2)
    for number, size in enumerate(sizes):
        assert abs(drawn[f"q{number}"] - share * size) < 1, "rounded up or down, whatever the topic"


def test_each_task_is_drawn_with_the_stated_probability():
    tasks, n = pool([3, 7]), 2_000
    drawn = Counter(
        task.key for seed in range(n) for task in with_second(tasks, seed=seed, share=0.2) if task.needed == 2
    )
    assert len(drawn) == 10
    assert all(abs(times / n - 0.2) < 4 * (0.2 * 0.8 / n) ** 0.5 for times in drawn.values())


def test_second_labels_come_from_what_the_evaluation_looks_at():
    tasks = pool([10])
    found = with_second(tasks, seed=1, share=1.0, among=[("q0", "d3"), ("q0", "d4"), ("q9", "d5")])
    assert [task.doc for task in found if task.needed == 2] == ["d3", "d4"]
    few = with_second(tasks, seed=1, share=1.0, per_topic=3)
    assert sum(task.needed == 2 for task in few) == 3


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=12),
    st.integers(2, 5),
    st.integers(1, 2),
    st.sampled_from(["topic", "item"]),
)
def test_a_fixed_assignment_is_balanced(sizes, n_people, needed, together):
    people = [f"p{n}" for n in range(n_people)]
    tasks = pool(sizes, needed)
    groups = {"together": by_topic} if together == "topic" else {}
    found = fixed(tasks, people, seed=1, **groups)
    load = Counter(dict.fromkeys(people, 0))
    load.update(task.judge for task in found)
    assert sum(load.values()) == needed * len(tasks)
    assert max(load.values()) - min(load.values()) <= (max(sizes) if together == "topic" else 1)
    by_item = Counter((task.topic, task.doc) for task in found)
    assert set(by_item.values()) == {needed}
    assert len({task.key for task in found}) == len(found), "nobody is asked the same twice"
    if together == "topic":
        judges = {topic: {task.judge for task in found if task.topic == topic} for topic in {t.topic for t in tasks}}
        assert all(len(names) == needed for names in judges.values())


@pytest.mark.parametrize("kinds", [("label", "conditional"), ("aspects", "aspects")])
def test_one_document_in_isolation_and_given_another_goes_to_the_same_person(kinds):
    alone = tasks_of([Item("q", f"d{n}") for n in range(9)], kinds[0], view="page")
    other = tasks_of([Item("q", f"d{n}", given="x") for n in range(9)], kinds[1], view="page")
    judge = {}
    for task in fixed(alone + other, ["ann", "bob", "cy"], seed=4):
        assert judge.setdefault(task.doc, task.judge) == task.judge


def test_tasks_that_are_added_leave_the_others_with_those_who_have_them():
    before, after = (fixed(pool([5, size]), ["ann", "bob", "cy"], seed=2) for size in (4, 9))
    assert after[: len(before)] == before


def test_chance_is_uniform():
    values = [chance(1, "x", n) for n in range(4_000)]
    assert abs(sum(values) / 4_000 - 0.5) < 4 * (1 / 12 / 4_000) ** 0.5
    assert 0 <= min(values) < max(values) < 1


def test_an_item_that_comes_twice_is_asked_once():
    assert len(tasks_of([Item("q", "d"), Item("q", "d")], "label", view="page")) == 1


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_none_or_all_are_drawn(share):
    assert {task.needed for task in with_second(pool([4, 5]), seed=1, share=share)} == {1 + int(share)}
