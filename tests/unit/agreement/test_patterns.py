"""Patterns: distinct histograms of labels with numbers of items."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from venire.agreement import patterns as kernel
from venire.agreement.patterns import Patterns, first_repeat, group_table, pattern_weights, patterns_of, weighted_pairs


def rows(n_items: int, n_labels: int, most: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Labels in no order; some items have none."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(n_items), rng.integers(0, most + 1, n_items)).astype(np.int32)
    order = rng.permutation(len(item))
    return item[order], rng.integers(0, n_labels, len(item)).astype(np.int32)


def histograms(found: Patterns) -> list[tuple[tuple[int, int], ...]]:
    """Labels and their counts of every pattern."""
    return [
        tuple(zip(found.label[a:b].tolist(), found.times[a:b].tolist(), strict=True))
        for a, b in zip(found.start[:-1], found.start[1:], strict=True)
    ]


def counted_on_fingers(item: np.ndarray, label: np.ndarray, n_items: int) -> list[tuple[tuple[int, int], ...]]:
    of: list[Counter[int]] = [Counter() for _ in range(n_items)]
    for one, other in zip(item.tolist(), label.tolist(), strict=True):
        of[one][other] += 1
    return [tuple(sorted(each.items())) for each in of]


@pytest.mark.parametrize(
    ("n_items", "n_labels", "most"),
    [(300, 3, 4), (300, 2, 60), (200, 12, 3), (150, 40, 5), (60, 300, 30), (40, 1000, 12), (5, 2, 0), (1, 5, 9)],
)
def test_patterns_are_the_distinct_histograms(n_items: int, n_labels: int, most: int) -> None:
    item, label = rows(n_items, n_labels, most)
    found, pattern = patterns_of(item, label, (n_items, n_labels))
    expected = counted_on_fingers(item, label, n_items)
    kinds = histograms(found)
    assert len(set(kinds)) == len(kinds)
    assert [kinds[each] if each >= 0 else () for each in pattern.tolist()] == expected
    assert Counter(dict(zip(kinds, found.n_items.tolist(), strict=True))) == Counter(filter(None, expected))
    assert found.size.tolist() == [sum(times for _, times in kind) for kind in kinds]


def test_one_item_with_many_more_labels_than_usual_is_not_mistaken_for_others() -> None:
    """Digits in the base of usual items overflow: 12 labels 0 look like one label 1."""
    item = np.repeat(np.arange(101), [1] * 100 + [12]).astype(np.int32)
    label = np.where(np.arange(len(item)) < 100, 1, 0).astype(np.int32)
    found, pattern = patterns_of(item, label, (101, 2))
    assert sorted(histograms(found)) == [((0, 12),), ((1, 1),)]
    assert pattern[100] != pattern[0]


def test_renumbering_keeps_items_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    item, label = rows(80, 50, 9, seed=3)
    monkeypatch.setattr(kernel, "LARGEST", 80 * 60 * 60)
    found, pattern = patterns_of(item, label, (80, 50))
    kinds = histograms(found)
    assert [kinds[each] if each >= 0 else () for each in pattern.tolist()] == counted_on_fingers(item, label, 80)


@pytest.mark.parametrize("dense_cells", [0, 1 << 21])
def test_tables_and_weighted_pairs(dense_cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "DENSE_CELLS", dense_cells)
    item, label = rows(90, 6, 5, seed=1)
    found, pattern = patterns_of(item, label, (90, 6))
    table = found.table()
    assert isinstance(table, np.ndarray) == bool(dense_cells)
    dense = table if dense_cells else table.toarray()
    counts = np.zeros((90, 6))
    np.add.at(counts, (item, label), 1)
    there = pattern >= 0
    np.testing.assert_array_equal(dense[pattern[there]], counts[there])
    weight = np.random.default_rng(2).random((6, 6))
    slow = [sum(row[i] * row[j] * weight[i, j] for i in range(6) for j in range(6)) for row in dense]
    np.testing.assert_allclose(weighted_pairs(table, weight), slow)
    group = np.arange(90) % 7
    by_group = group_table(group, pattern, (7, len(found.n_items)))
    whole = by_group if dense_cells else by_group.toarray()
    assert whole.sum(axis=0).tolist() == found.n_items.tolist()
    for one in range(7):
        times = np.bincount(pattern[(group == one) & there], minlength=len(found.n_items))
        np.testing.assert_array_equal(whole[one], times)


@pytest.mark.parametrize("n_items", [[500, 300, 200], [3, 1, 2]])
def test_draws_are_multinomial(n_items: list[int]) -> None:
    size = np.array(n_items)
    drawn = pattern_weights(size, 20_000, np.random.default_rng(5))
    n = size.sum()
    assert (drawn.sum(axis=1) == n).all()
    share = size / n
    np.testing.assert_allclose(drawn.mean(axis=0), size, atol=5 * np.sqrt(n / 20_000))
    np.testing.assert_allclose(np.cov(drawn.T), n * (np.diag(share) - np.outer(share, share)), atol=0.06 * n)


def test_repeats_are_found() -> None:
    item, who = np.array([3, 1, 3, 2], dtype=np.int32), np.array([0, 5, 1, 5], dtype=np.int32)
    assert first_repeat(item, who) is None
    assert first_repeat(np.append(item, np.int32(1)), np.append(who, np.int32(5))) == (1, 5)
    far = np.array([2**24, 2**24], dtype=np.int32)
    assert first_repeat(far, np.array([999, 999], dtype=np.int32)) == (2**24, 999)
    assert first_repeat(far[:0], who[:0]) is None
