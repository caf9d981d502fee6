"""The order of tasks: every task once, in blocks by topic, related labels and repeats apart."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given, strategies as st

from venire.judging.orders import Turn, is_related, turns
from venire.judging.study import Order
from venire.judging.tasks import Task

TOPICS = st.sampled_from(["q1", "q2", "q3", "q4"])
DOCS = st.sampled_from([f"d{n}" for n in range(12)])
TASKS = st.one_of(
    st.builds(
        lambda t, d, v: Task(kind="label", topic=t, doc=d, view=v), TOPICS, DOCS, st.sampled_from(["page", "snippet"])
    ),
    st.builds(lambda t, d, g: Task(kind="conditional", topic=t, doc=d, given=g), TOPICS, DOCS, DOCS),
    st.builds(
        lambda t, d, g: Task(kind="aspects", topic=t, doc=d, given=g), TOPICS, DOCS, st.one_of(st.just(""), DOCS)
    ),
    st.builds(lambda t, d, o: Task(kind="preference", topic=t, doc=d, other=o), TOPICS, DOCS, DOCS),
)
LISTS = st.lists(TASKS, max_size=60, unique_by=lambda task: task.key)
ORDERS = st.builds(Order, seed=st.integers(0, 99), repeats=st.sampled_from([0, 0.1, 0.5]), apart=st.integers(0, 12))


@given(LISTS, ORDERS)
def test_every_task_comes_once_and_a_repeat_later(tasks, order):
    found = turns(tasks, "ann", order)
    assert sorted(turn.task for turn in found if not turn.repeat) == list(range(len(tasks)))
    again = [turn.task for turn in found if turn.repeat]
    assert len(again) == len(set(again)) <= round(order.repeats * len(tasks))
    for task in again:
        assert found.index(Turn(task, 1)) - found.index(Turn(task)) > order.apart


@given(LISTS, ORDERS)
def test_a_repeat_is_apart_from_every_related_label(tasks, order):
    found = turns(tasks, "ann", order)
    for at, turn in enumerate(found):
        near = [*found[max(at - order.apart, 0) : at], *found[at + 1 : at + 1 + order.apart]] if turn.repeat else []
        assert not any(is_related(tasks[turn.task], tasks[other.task]) for other in near)


@given(LISTS, st.integers(0, 99))
def test_topics_are_in_blocks_and_snippets_come_before_pages(tasks, seed):
    found = [tasks[turn.task] for turn in turns(tasks, "ann", Order(seed=seed))]
    labels = [task for task in found if task.kind != "preference"]
    snippets = [task.view == "snippet" for task in labels]
    assert snippets == sorted(snippets, reverse=True)
    order = {topic: n for n, topic in enumerate(dict.fromkeys(task.topic for task in found))}
    blocks = [topic for topic, _ in groupby(task.topic for task in found)]
    assert len(blocks) <= 5 * len(order), "one block of a topic in each of five passes"


@given(LISTS, st.data())
def test_tasks_that_are_added_change_nothing_for_the_others(tasks, data):
    some = data.draw(st.lists(st.sampled_from(tasks), unique_by=lambda task: task.key)) if tasks else []
    order = Order(seed=3)
    before = [some[turn.task].key for turn in turns(some, "ann", order)]
    kept = {task.key for task in some}
    assert [key for turn in turns(tasks, "ann", order) if (key := tasks[turn.task].key) in kept] == before


def both_kinds(n_topics: int, n_docs: int, view: str = "page", kinds=("label", "conditional")) -> list[Task]:
    """Each document in isolation and given the one before it, in a circle."""
    pages = [(f"q{t}", f"d{n}", f"d{(n + 1) % n_docs}") for t in range(n_topics) for n in range(n_docs)]
    alone = [Task(kind=kinds[0], topic=topic, doc=doc, view=view) for topic, doc, _ in pages]
    return alone + [Task(kind=kinds[1], topic=topic, doc=doc, given=given, view=view) for topic, doc, given in pages]


@pytest.mark.parametrize("view", ["page", "snippet"])
@pytest.mark.parametrize(("n_topics", "n_docs"), [(1, 5), (4, 3), (20, 5)])
@pytest.mark.parametrize("kinds", [("label", "conditional"), ("aspects", "aspects")])
def test_the_two_judgments_of_a_document_are_half_of_the_tasks_apart(n_topics, n_docs, view, kinds):
    tasks = both_kinds(n_topics, n_docs, view, kinds)
    place = {turn.task: at for at, turn in enumerate(turns(tasks, "ann", Order()))}
    half = len(tasks) // 2
    assert {abs(place[n] - place[n + half]) for n in range(half)} == {half}


def test_each_kind_comes_first_for_about_half_of_the_topics():
    tasks = both_kinds(200, 1)[:400]
    place = {turn.task: at for at, turn in enumerate(turns(tasks, "bob", Order()))}
    first = sum(place[n] < place[n + 200] for n in range(200))
    assert 70 < first < 130, "within four standard deviations"


def test_assessors_and_seeds_have_orders_of_their_own():
    tasks = both_kinds(5, 5)
    orders = [turns(tasks, name, Order(seed=seed)) for name in ("ann", "bob") for seed in (1, 2)]
    assert len({tuple(order) for order in orders}) == 4
    assert turns(tasks, "ann", Order(seed=1)) == orders[0]


def test_the_stated_share_comes_again_where_there_is_room():
    tasks = both_kinds(10, 10)
    found = turns(tasks, "ann", Order(repeats=0.1, apart=20))
    assert sum(turn.repeat for turn in found) == 20


def test_who_shares_a_long_order_with_others_sees_repeats_too():
    tasks = [Task(kind="label", topic=f"q{n % 50}", doc=f"d{n}") for n in range(3000)]
    start = turns(tasks, "ann", Order(repeats=0.1, apart=20))[:500]
    assert 25 < sum(turn.repeat for turn in start) < 70, "a tenth, but for those of the first tasks"
