"""The best order of documents: against every order, and what is said where not all were looked at."""

from itertools import permutations

import numpy as np
import pytest

from venire.measures.context.ideals import Orders, best_orders, best_walks, walks_from

K = 4


def problems(rng, n_problems, n_docs, *, first=False):
    """Utilities after every other document, from little redundancy to much; some problems have fewer documents."""
    alone = rng.integers(0, 4, (n_problems, n_docs)).astype(float)
    after = alone[:, None, :] * rng.random((n_problems, n_docs, n_docs)) ** rng.integers(0, 4, (n_problems, 1, 1))
    there = np.arange(n_docs) < rng.integers(0, n_docs + 1, (n_problems, 1))
    clash = np.broadcast_to(np.uint64(1) << np.arange(n_docs, dtype=np.uint64), there.shape)
    if not first:
        return Orders(alone, after, there, clash)
    unknown = rng.random(after.shape) < 0.4
    return Orders(alone, after, there, clash, rng.random(after.shape) * 3, unknown)


def slow(orders, problem, weights, *, stops=False):
    """Go through all orders."""
    docs = np.flatnonzero(orders.present[problem])
    best = 0.0
    for order in permutations(docs, min(len(docs), len(weights))):
        if any(orders.clash[problem, b] >> np.uint64(a) & np.uint64(1) for b in order for a in order if a != b):
            continue
        total, alive = 0.0, 1.0
        for rank, doc in enumerate(order):
            utility = orders.alone[problem, doc]
            if rank:
                utility = orders.after[problem, order[rank - 1], doc]
                if orders.unknown is not None and orders.unknown[problem, order[rank - 1], doc]:
                    utility = orders.first[problem, order[0], doc]
            total += alive * weights[rank] * utility
            alive *= 1 - utility if stops else 1
        best = max(best, total)
    return best


@pytest.mark.parametrize("first", [False, True])
def test_the_best_order_is_that_of_all_orders(first):
    orders = problems(np.random.default_rng(1), 40, 6, first=first)
    weights = 1 / np.log2(np.arange(2, K + 2))
    found = best_orders(orders, weights)
    np.testing.assert_allclose(found.value, [slow(orders, n, weights) for n in range(40)], atol=1e-10)
    np.testing.assert_allclose(found.bound, found.value, rtol=1e-9)


def test_a_user_who_stops():
    orders = problems(np.random.default_rng(2), 30, 6)
    orders = Orders(orders.alone / 4, orders.after / 4, orders.present, orders.clash)
    weights = 1 / np.arange(1, K + 1)
    found = best_orders(orders, weights, stops=True)
    np.testing.assert_allclose(found.value, [slow(orders, n, weights, stops=True) for n in range(30)], atol=1e-10)
    np.testing.assert_allclose(found.bound, found.value, rtol=1e-9)


def test_one_of_each_group_of_copies():
    orders = problems(np.random.default_rng(3), 20, 6)
    pairs = np.array([0b11, 0b11, 0b1100, 0b1100, 0b10000, 0b100000], dtype=np.uint64)
    orders = Orders(orders.alone, orders.after, np.ones_like(orders.present), np.tile(pairs, (20, 1)))
    weights = np.ones(K)
    orders_of_four = [slow(orders, n, weights) for n in range(20)]
    np.testing.assert_allclose(best_orders(orders, weights).value, orders_of_four, atol=1e-10)


def test_a_search_that_is_too_narrow_says_how_far_it_may_be_off():
    orders = problems(np.random.default_rng(4), 15, 7)
    weights = np.ones(5)
    true = np.array([slow(orders, n, weights) for n in range(15)])
    found = best_orders(orders, weights, wide=2)
    assert (found.value <= true + 1e-10).all()
    assert (found.bound >= true - 1e-10).all()
    tiny = best_orders(problems(np.random.default_rng(5), 4, 30), np.ones(10), wide=2)
    assert (tiny.bound > tiny.value * (1 + 1e-9)).any()


@pytest.mark.parametrize("stops", [False, True])
def test_no_order_is_worth_more_than_the_best_walk(stops):
    orders = problems(np.random.default_rng(8), 30, 6)
    orders = orders._replace(alone=orders.alone / 4, after=orders.after / 4)
    weights = 1 / np.arange(1, 5)
    rests = walks_from(orders.most_after(), weights, stops=stops)
    walks = best_walks(np.where(orders.present, orders.alone, 0.0), rests[0], weights, stops=stops)
    found = best_orders(orders, weights, stops=stops)
    assert (found.value <= walks + 1e-12).all()
    assert (found.value < walks - 1e-6).any(), "in a walk documents come back"
    np.testing.assert_allclose(found.value, found.bound)
