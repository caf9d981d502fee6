from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given, settings, strategies as st

from venire.kernels.paired_labels import (
    by_person,
    count_wins,
    every_two,
    mean_preference,
    middle_entries,
    pooled_entries,
)

N_ITEMS, N_LABELS = 6, 4
ROWS = st.lists(st.tuples(st.integers(0, N_ITEMS - 1), st.integers(0, 3), st.integers(0, N_LABELS - 1)), max_size=40)
PAIRS = st.lists(st.tuples(st.integers(0, N_ITEMS - 1), st.integers(0, N_ITEMS - 1)), max_size=12)


def columns(rows, width=3):
    return [np.array([row[n] for row in rows], dtype=np.int32) for n in range(width)]


def own_labels(rows):
    """The middle label of each person for each item, the lower of two."""
    given_by = defaultdict(list)
    for item, who, label in rows:
        given_by[item, who].append(label)
    return {key: sorted(labels)[(len(labels) - 1) // 2] for key, labels in given_by.items()}


@settings(deadline=None)
@given(rows=ROWS, pairs=PAIRS)
def test_labels_by_the_same_person(rows, pairs):
    labels = own_labels(rows)
    slow = [
        (number, labels[a, who], labels[b, who])
        for number, (a, b) in enumerate(pairs)
        for who in range(4)
        if (a, who) in labels and (b, who) in labels
    ]
    first, second = (column.astype(np.int64) for column in columns(pairs, 2))
    found = by_person(middle_entries(*columns(rows), N_ITEMS), first, second)
    assert list(zip(found.pair.tolist(), found.a.tolist(), found.b.tolist(), strict=True)) == slow


@settings(deadline=None)
@given(rows=ROWS, pairs=PAIRS)
def test_every_two_pooled_labels(rows, pairs):
    counts = np.zeros((N_ITEMS, N_LABELS))
    for item, _, label in rows:
        counts[item, label] += 1
    judged = np.flatnonzero(counts.sum(axis=1))
    weights = counts[judged] / counts[judged].sum(axis=1, keepdims=True)
    entries = pooled_entries(weights, judged, N_ITEMS)
    first, second = (column.astype(np.int64) for column in columns(pairs, 2))
    found = every_two(entries, first, second)
    p = np.random.default_rng(0).random((N_LABELS, N_LABELS))
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    slow = [share[a] @ p @ share[b] if counts[a].any() and counts[b].any() else np.nan for a, b in pairs]
    np.testing.assert_allclose(mean_preference(found, p, len(pairs)), slow, atol=1e-12)


@settings(deadline=None)
@given(rows=ROWS, pairs=PAIRS, seed=st.integers(0, 1000))
def test_wins_are_counted_in_both_orientations(rows, pairs, seed):
    rng = np.random.default_rng(seed)
    won, weight = rng.choice([0.0, 0.5, 1.0], len(pairs)), rng.integers(0, 3, len(pairs)).astype(float)
    labels, slow = own_labels(rows), np.zeros((N_LABELS, N_LABELS))
    for (a, b), share, times in zip(pairs, won, weight, strict=True):
        for who in range(4):
            if (a, who) in labels and (b, who) in labels:
                slow[labels[a, who], labels[b, who]] += times * share
                slow[labels[b, who], labels[a, who]] += times * (1 - share)
    first, second = (column.astype(np.int64) for column in columns(pairs, 2))
    found = by_person(middle_entries(*columns(rows), N_ITEMS), first, second)
    np.testing.assert_allclose(count_wins(found, won, weight, N_LABELS), slow)
