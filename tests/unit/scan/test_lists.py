from __future__ import annotations

import numpy as np
import pytest

from venire.scan.lists import Lines, first_lines
from venire.scan.slices import from_bytes


@pytest.mark.parametrize("keep_first", [False, True])
def test_first_lines_are_the_first_results_of_each_list(keep_first):
    """By sorting every list: scattered lines, ties, and with ``keep_first`` documents that a list has twice."""
    rng = np.random.default_rng(4)
    rows = [(f"q{t}", f"s{s}", f"d{d}") for t in range(3) for s in range(2) for d in range(9)]
    rows = [rows[n] for n in rng.permutation(len(rows))]
    rows += rows[:12] if keep_first else []
    score = rng.integers(4, size=len(rows)).astype(float)
    topic, system, doc = (from_bytes(each.encode() for each in column) for column in zip(*rows, strict=True))
    found = first_lines(Lines(topic, system, doc, score, np.arange(len(rows))), 4, keep_first=keep_first)
    lists = {}
    for n, (t, s, d) in enumerate(rows):
        lists.setdefault((s, t), {}).setdefault(d, n)
    expected = []
    for _, docs in sorted(lists.items()):
        best = sorted(docs, key=lambda d: (score[docs[d]], d), reverse=True)
        expected += [docs[d] for d in best[:4]]
    assert found.tolist() == expected


def test_first_lines_of_no_lines():
    nothing = from_bytes([])
    assert len(first_lines(Lines(nothing, nothing, nothing, np.zeros(0), np.zeros(0, dtype=int)), 4)) == 0
