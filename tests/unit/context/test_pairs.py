from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from long_rows import judgments_of
from venire.context.pairs import labelled_pairs, resolve_labels
from venire.errors import AmbiguousLabels, PairsError

ROWS = [
    ("1", "a", "X", 2, ""),
    ("1", "a", "Y", 0, ""),
    ("1", "b", "Y", 1, ""),
    ("1", "c", "X", 0, ""),
    ("1", "c", "X", 2, ""),
    ("1", "c", "Y", 1, ""),
    ("1", "d", "X", 1, "a"),  # nobody labelled d in isolation
    ("1", "c", "X", 2, "a"),  # both by X; X said 0 and 2 of c: the lower median is 0
    ("1", "c", "X", 1, "b"),  # X gave b no label: the median of b is Y's 1
    ("1", "a", "Z", 1, "c"),  # Z gave none at all: medians of a (0, 2) and of c (0, 1, 2)
]


def of(rows, **how):
    return labelled_pairs(judgments_of(rows, **{"fifth": "given"} | how))


def test_labels_in_isolation_are_the_assessors_own_else_the_median():
    found = of(ROWS)
    held = zip(found.pairs.label, found.pairs.given_label, found.outcome, strict=True)
    assert sorted(tuple(map(int, each)) for each in held) == [(0, 1, 1), (0, 1, 1), (0, 2, 2)]
    assert (found.n_left_out, found.n_pooled) == (1, 3)
    assert [note.kind for note in found.notes()] == ["no-isolation-label", "median-label"]


def test_documents_of_one_name_in_two_topics_are_two():
    rows = [("1", "a", "X", 2, ""), ("1", "b", "X", 0, ""), ("2", "a", "X", 1, ""), ("2", "b", "X", 1, "")]
    found = of([*rows, ("2", "a", "X", 0, "b")])
    assert found.pairs.label.tolist() == [1]
    assert found.pairs.given_label.tolist() == [1]
    assert found.topics.tolist() == [1]


@pytest.mark.parametrize("ordered", [True, False])
def test_resolve_labels_are_those_of_a_slow_count(ordered):
    rng = np.random.default_rng(4)
    key, label = rng.integers(0, 9, 60), rng.integers(0, 4, 60).astype(np.int32)
    keys, settled = resolve_labels(key, label, ordered=ordered)
    assert keys.tolist() == sorted(set(key.tolist()))
    for each, found in zip(keys, settled, strict=True):
        own = sorted(label[key == each].tolist())
        counts = Counter(own)
        most = min(value for value in counts if counts[value] == max(counts.values()))
        assert found == (own[(len(own) - 1) // 2] if ordered else most)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (ROWS[:6], "no conditional label to learn from"),
        ([("1", "d", "X", 1, "a"), ("1", "a", "X", 1, "")], "none of 1 conditional label has labels in isolation"),
    ],
)
def test_what_cannot_be_learnt_from(rows, words):
    with pytest.raises(PairsError, match=words) as error:
        of(rows)
    assert error.value.hint


def test_labels_for_several_aspects_at_once():
    rows = [("1", "a", "X", 2, "trust"), ("1", "b", "X", 2, "topicality")]
    with pytest.raises(AmbiguousLabels, match="2 different values of aspect"):
        labelled_pairs(judgments_of(rows, fifth="aspect"))
