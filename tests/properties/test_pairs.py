"""Pairs of labels counted from histograms are those of a loop over all ordered pairs of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, example, given, strategies as st

from long_rows import judgments_of
from venire.data.label_pairs import WEIGHTS, Pairs, pair_up
from venire.errors import PairsError
from venire.kernels import label_pairs as counts
from venire.kernels.label_pairs import PairSums, histogram

LABELS = ("0", "1", "2", "3")
SCALE = "<".join(LABELS)
RELEVANT = np.array([[False, False, False, True], [False, True, True, True], [True, False, True, False]])
Row = tuple[str, str, str, str]


class Counted(NamedTuple):
    """What a slow count finds: pairs by topic, and by item (item, first, second)."""

    by_topic: dict[str, np.ndarray]
    by_item: np.ndarray


def rows(*, most: int = 30, assessors: str = "ABCD", docs: str = "abcd") -> st.SearchStrategy[list[Row]]:
    row = st.tuples(*(st.sampled_from(names) for names in ("12", docs, assessors, LABELS)))
    return st.lists(row, min_size=1, max_size=most)


def sides() -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from("ABCD"), max_size=3, unique=True)


def slowly(labels: Sequence[Row], counted: Callable[[str, str], bool] | None, *, weight: str) -> Counted:
    """Count ordered pairs of rows on one item by distinct assessors, which may be (first assessor, second assessor)."""
    by_topic = {topic: np.zeros((len(LABELS),) * 2) for topic, *_ in labels}
    by_item = []
    for item in sorted({row[:2] for row in labels}):
        found = np.zeros((len(LABELS),) * 2)
        for (_, _, one, first), (_, _, other, second) in permutations([row for row in labels if row[:2] == item], 2):
            if one != other and (counted is None or counted(one, other)):
                found[int(first), int(second)] += 1
        if weight == "item" and found.any():
            found /= found.sum()
        by_topic[item[0]] += found
        by_item.append(found)
    return Counted(by_topic, np.array(by_item))


def assert_same(pairs: Pairs, slow: Counted) -> None:
    sums = pairs.sums(RELEVANT)
    for topic, found in zip(pairs.topics, sums.by_topic, strict=True):
        np.testing.assert_allclose(found, slow.by_topic[topic], atol=1e-12)
    assert_same_moments(sums, slow.by_item)


def assert_same_moments(sums: PairSums, by_item: np.ndarray) -> None:
    n = by_item.sum(axis=2)
    h = np.stack([by_item[:, :, marked].sum(axis=2) for marked in RELEVANT])
    np.testing.assert_allclose(sums.square, (n**2).sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(sums.cross, (h * n).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(sums.hits, (h**2).sum(axis=1), atol=1e-12)
    np.testing.assert_array_equal(sums.n_items, (n > 0).sum(axis=0))


@given(labels=rows(), weight=st.sampled_from(WEIGHTS))
@example(labels=[("1", "a", "A", "0"), ("1", "a", "A", "3"), ("1", "a", "A", "3"), ("1", "a", "B", "2")], weight="item")
def test_all_labels(labels, weight):
    pairs = pair_up(judgments_of(labels, SCALE), estimator="labels", weight=weight)
    assert_same(pairs, slowly(labels, None, weight=weight))


@given(labels=rows(), observed=sides(), reference=sides(), weight=st.sampled_from(WEIGHTS))
@example([("1", "a", "A", "0"), ("1", "a", "B", "1"), ("1", "a", "B", "3")], ["A", "B"], ["B"], "pair")
def test_one_sided(labels, observed, reference, weight):
    first, second = both_sides(labels, observed, reference)
    pairs = pair_up(
        judgments_of(labels, SCALE), estimator="one-sided", observed=observed, reference=reference, weight=weight
    )
    assert_same(pairs, slowly(labels, lambda one, other: one in first and other in second, weight=weight))


@given(labels=rows(), observed=sides(), reference=sides(), weight=st.sampled_from(WEIGHTS))
@example([("1", "a", "A", "0"), ("1", "a", "B", "1"), ("1", "a", "C", "3")], ["A", "B"], ["A", "B", "C"], "pair")
@example([("1", "a", "A", "0"), ("1", "a", "B", "1"), ("1", "a", "B", "3")], ["A", "B"], ["A", "B"], "pair")
def test_paired_between_named_sides_counts_an_ordered_pair_once(labels, observed, reference, weight):
    first, second = both_sides(labels, observed, reference)
    pairs = pair_up(
        judgments_of(labels, SCALE), estimator="paired", observed=observed, reference=reference, weight=weight
    )

    def counted(one: str, other: str) -> bool:
        return (one in first and other in second) or (one in second and other in first)

    assert_same(pairs, slowly(labels, counted, weight=weight))


@given(labels=rows(assessors="AB"), weight=st.sampled_from(WEIGHTS))
def test_paired_is_labels_where_two_assessors_judged(labels, weight):
    judgments = judgments_of(labels, SCALE)
    one, other = (pair_up(judgments, estimator=name, weight=weight).sums(RELEVANT) for name in ("paired", "labels"))
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@given(labels=st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=20))
def test_equation_5_is_labels_where_items_have_two_labels(labels):
    judgments = judgments_of(
        [("1", f"d{n}", who, pair[who == "B"]) for n, pair in enumerate(labels) for who in "AB"], SCALE
    )
    found = pair_up(judgments, estimator="labels").sums(RELEVANT).by_topic[0]
    for i, label in enumerate(LABELS):
        by_first, by_second = ([pair for pair in labels if pair[side] == label] for side in (0, 1))
        assert found[i].sum() == len(by_first) + len(by_second)
        relevant = sum(pair[1] == "3" for pair in by_first) + sum(pair[0] == "3" for pair in by_second)
        assert found[i, 3] == relevant


@given(labels=st.lists(st.lists(st.sampled_from(LABELS), min_size=2, max_size=6), min_size=1, max_size=8))
def test_weight_by_item_is_one_over_k_times_k_less_one_for_each_pair(labels):
    judgments = judgments_of(
        [("1", f"d{n}", w, label) for n, each in enumerate(labels) for w, label in enumerate(each)], SCALE
    )
    expected = np.zeros((len(LABELS),) * 2)
    for each in labels:
        for one, other in permutations(each, 2):
            expected[int(one), int(other)] += 1 / (len(each) * (len(each) - 1))
    found = pair_up(judgments, estimator="labels", weight="item").sums(RELEVANT).by_topic[0]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(labels=rows(most=60, docs="abcdefghij"), estimator=st.sampled_from(("labels", "paired")), step=st.integers(1, 7))
def test_blocks_of_items_do_not_matter(labels, estimator, step):
    judgments, named = judgments_of(labels, SCALE), {} if estimator == "labels" else {"observed": ["A", "B"]}
    assume(not named or ({"A", "B"} <= {row[2] for row in labels} and {"C", "D"} & {row[2] for row in labels}))
    pairs = pair_up(judgments, estimator=estimator, **named)
    whole = pairs.sums(RELEVANT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "BLOCK_CELLS", step * len(LABELS) ** 2)
        for mine, theirs in zip(pairs.sums(RELEVANT), whole, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-12)


@given(topic=st.lists(st.integers(0, 3), min_size=1, max_size=12), rng=st.integers(0, 99))
def test_items_of_a_topic_need_not_stand_together(topic, rng):
    item = np.arange(len(topic), dtype=np.int32).repeat(2)
    label = np.random.default_rng(rng).integers(0, 4, len(item)).astype(np.int32)
    every = histogram(item, label, (len(topic), 4))
    none = np.zeros(0, dtype=np.int64)
    side = counts.Sides(every, every, every, none, np.zeros((0, 4), dtype=np.int64))
    found = counts.pair_sums(side, np.array(topic, dtype=np.int32), 4, RELEVANT).by_topic
    expected = np.zeros((4, 4, 4))
    for number, (one, other) in enumerate(label.reshape(-1, 2)):
        expected[topic[number], one, other] += 1
        expected[topic[number], other, one] += 1
    np.testing.assert_array_equal(found, expected)


def both_sides(labels: Sequence[Row], observed: Sequence[str], reference: Sequence[str]) -> tuple[set[str], set[str]]:
    """Settle sides as the documentation says; leave out what is refused."""
    everyone = {row[2] for row in labels}
    assume(observed or reference)
    assume(everyone.issuperset({*observed, *reference}))
    first, second = set(observed) or everyone - set(reference), set(reference) or everyone - set(observed)
    if not (first and second) or len(first | second) == 1:
        named = {"observed": observed, "reference": reference}
        with pytest.raises(PairsError):
            pair_up(judgments_of(labels, SCALE), estimator="one-sided", **named)
        assume(False)
    return first, second
