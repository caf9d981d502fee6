"""Slices: a hash that depends on a seed, slices of any length, and ids that were chosen to be slow."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, strategies as st

import colliding_ids
from venire.scan import slices
from venire.scan.lists import Rules
from venire.scan.lookup import build_index
from venire.scan.scanner import COMPILED, Sought, make_scanner
from venire.scan.slices import LONG, bytewise_order, changes, compact, encode, equal, from_bytes, hashes, heads, words

LENGTHS = [0, 1, 7, 8, 9, 16, LONG - 1, LONG, LONG + 1, LONG + 7, LONG + 8, LONG + 9, 3 * LONG, 5_000]
texts = st.builds(
    lambda letter, length, last: (letter * length)[: max(0, length - len(last))] + last,
    st.sampled_from([b"a", b"ab", b"\xff"]),
    st.sampled_from(LENGTHS),
    st.sampled_from([b"", b"b", b"c", b"\x80" * 9]),
)


@given(st.lists(texts, max_size=12))
def test_slices_of_any_length_are_as_their_bytes(values):
    found = from_bytes(values)
    assert compact(found).to_bytes() == values
    assert [values[n] for n in bytewise_order(found)] == sorted(values)
    assert changes(found).tolist() == [n == 0 or values[n] != values[n - 1] for n in range(len(values))]
    assert equal(found, from_bytes(values[::-1])).tolist() == [
        a == b for a, b in zip(values, values[::-1], strict=True)
    ]
    codes, first = encode(found)
    assert [values[place] for place in first] == sorted(set(values))
    assert [sorted(set(values))[code] for code in codes] == values


@given(st.lists(texts, min_size=1, max_size=12))
def test_a_hash_does_not_depend_on_other_slices(values):
    together = hashes(from_bytes(values)).tolist()
    assert together == [int(hashes(from_bytes([value]))[0]) for value in values]
    assert len(set(together)) == len(set(values))


@pytest.mark.parametrize("value", [b"a", b"id-0001", b"12345678", b"a long id of many bytes", b"x" * 2_000])
def test_a_hash_depends_on_the_seed(monkeypatch, value):
    found = set()
    for seed in (0, 1, 2, (1 << 64) - 1):
        monkeypatch.setattr(slices, "SEED", seed)
        found.add(int(hashes(from_bytes([value]))[0]))
    assert len(found) == 4


def test_a_hash_is_nh_of_the_words(monkeypatch):
    """By hand, with integers of Python: the length, then the words."""
    monkeypatch.setattr(slices, "SEED", 5)
    value, mask = b"a document" * 100, (1 << 64) - 1
    padded = value + bytes(-len(value) % 8)
    numbers = [len(value), *(int.from_bytes(padded[n : n + 8], "little") for n in range(0, len(padded), 8))]
    total = 0
    for n, number in enumerate(numbers):
        key = (5 + (n + 1) * 0x9E3779B97F4A7C15) & mask
        key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 & mask
        key = (key ^ key >> 27) * 0x94D049BB133111EB & mask
        key ^= key >> 31
        a, b = key & 0xFFFFFFFF, key >> 32
        total += ((number & 0xFFFFFFFF) + a) * ((number >> 32) + b) - a * b
    total &= mask
    total = (total ^ total >> 32) * 0x9E3779B97F4A7C15 & mask
    assert int(hashes(from_bytes([value]))[0]) == total ^ total >> 32


def test_each_process_has_a_seed_of_its_own():
    command = [sys.executable, "-c", "from venire.scan.slices import SEED; print(SEED)"]
    same = {**os.environ, "PYTHONHASHSEED": "0"}
    seeds = {subprocess.run(command, capture_output=True, env=same, check=True).stdout for _ in range(3)}
    assert len(seeds) == 3


@pytest.mark.parametrize("ids", [colliding_ids.in_numpy(20_000), colliding_ids.paired(14)], ids=["solved", "paired"])
def test_ids_chosen_to_collide_do_not(ids):
    """They shared one hash, and were compared one after the other; a chance collision would make 2."""
    index = build_index(np.zeros(len(ids), dtype=np.int32), from_bytes(ids))
    assert index.most_alike <= 2


@pytest.mark.parametrize("compiled", [True, False] if COMPILED else [False])
def test_no_result_depends_on_the_seed(monkeypatch, compiled):
    rng = np.random.default_rng(3)
    docs = [b"doc-%05d" % number for number in rng.permutation(2_000)]
    known = Sought(from_bytes([b"1", b"2"]), np.repeat(np.arange(2, dtype=np.int32), 500), from_bytes(docs[:1_000]))
    scores = rng.integers(0, 50, (3, 2_000)).tolist()
    lines = [
        b"%d Q0 %b 1 %d s\n" % (n + 1, doc, score) for n in range(3) for doc, score in zip(docs, scores[n], strict=True)
    ]
    found = []
    for seed in (0, 1, 0x9E3779B97F4A7C15, (1 << 64) - 1):
        monkeypatch.setattr(slices, "SEED", seed)
        found.append(make_scanner(known, Rules(), compiled=compiled).scan(b"".join(lines)))
    for other in found[1:]:
        for name, one, two in zip(other._fields, found[0], other, strict=True):
            np.testing.assert_array_equal(one, two, err_msg=name)
    assert len(found[0].item) == 1_000


def test_one_long_id_does_not_cost_as_much_as_all_ids_that_long():
    """A word of each was kept for every eight bytes of the longest: 2 GB here."""
    short = [b"doc-%04d" % number for number in range(2_000)]
    ids = from_bytes([*short, b"x" * (1 << 20)])
    assert len(list(words(heads(ids)[0]))) == LONG // 8
    tracemalloc.start()
    codes, first = encode(ids)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50 << 20
    assert codes.tolist() == list(range(2_001))
    assert first.tolist() == codes.tolist()
