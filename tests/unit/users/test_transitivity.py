"""Transitivity: triples counted by products equal triples counted one by one."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from venire.data.preferences import Preferences
from venire.io.preferences import read_preferences
from venire.users.transitivity import transitivity


def counted_slowly(better: dict[tuple[str, str], int], docs: list[str]) -> tuple[int, int, int, int]:
    """Triples, those without ties, cycles, broken ties: a triple is in order if some ranking with ties has it."""
    triples = strict = cycles = broken = 0
    for a, b, c in combinations(docs, 3):
        if not all(pair in better for pair in ((a, b), (b, c), (a, c))):
            continue
        signs = better[a, b], better[b, c], better[a, c]
        levels = [(x, y, z) for x in range(3) for y in range(3) for z in range(3)]
        ordered = any((np.sign(x - y), np.sign(y - z), np.sign(x - z)) == signs for x, y, z in levels)
        triples += 1
        strict += 0 not in signs
        cycles += not ordered and 0 not in signs
        broken += not ordered and 0 in signs
    return triples, strict, cycles, broken


@pytest.mark.parametrize("seed", range(4))
def test_products_count_as_one_would(seed: int) -> None:
    rng = np.random.default_rng(seed)
    docs = [f"d{n}" for n in range(9)]
    rows, expected = [], np.zeros((2, 4), dtype=int)
    for n, who in enumerate(("x", "y")):
        for topic in ("t1", "t2", "t3"):
            better = {}
            for a, b in combinations(docs, 2):
                if rng.random() < 0.7:
                    sign = better[a, b] = int(rng.choice([-1, 0, 1], p=[0.4, 0.2, 0.4]))
                    rows.append((topic, b, a, -sign, who) if rng.random() < 0.5 else (topic, a, b, sign, who))
            expected[n] += counted_slowly(better, docs)
    found = transitivity(Preferences.of(rows))
    for each, numbers in zip((*found.by_assessor, found.within), (*expected, expected.sum(axis=0)), strict=True):
        assert [each.n_triples, each.n_strict, each.n_cycles, each.n_broken_ties] == numbers.tolist()
        assert each.share is not None
        assert each.share.value == pytest.approx(numbers[2:].sum() / numbers[0])
    assert [record["who"] for record in found.records()] == ["median", "within assessors", "x", "y"]


def test_an_order_has_no_cycles_and_coins_have_a_quarter() -> None:
    docs = [f"d{n}" for n in range(25)]
    rng = np.random.default_rng(0)
    in_order = [("t", a, b, 1, "x") for a, b in combinations(docs, 2)]
    by_coin = [(f"t{n}", a, b, int(rng.choice([-1, 1])), "x") for n in range(12) for a, b in combinations(docs, 2)]
    share = transitivity(Preferences.of(in_order)).consensus.share
    assert share is not None
    assert share.value == 0
    coins = transitivity(Preferences.of(by_coin))
    assert coins.consensus.share is not None
    assert coins.consensus.share.value == pytest.approx(0.25, abs=0.01)
    assert coins.consensus.n_triples == 12 * 25 * 24 * 23 // 6


def test_together_they_may_be_in_circles_though_each_is_not() -> None:
    """Condorcet's paradox."""
    orders = {"x": "abc", "y": "bca", "z": "cab"}
    rows = [("t", a, b, 1, who) for who, order in orders.items() for a, b in combinations(order, 2)]
    found = transitivity(Preferences.of(rows))
    assert [each.n_cycles for each in found.by_assessor] == [0, 0, 0]
    assert (found.consensus.n_triples, found.consensus.n_cycles) == (1, 1)
    assert (found.within.n_triples, found.within.n_cycles) == (3, 0)


def test_without_triples_there_is_a_reason() -> None:
    for rows in ([("t", "a", "b", 1, "x")], []):
        found = transitivity(Preferences.of(rows))
        assert found.consensus.share is None
        assert "no three documents" in found.sentence()
        assert found.records()[0]["intransitive"] is None


def test_a_machine_has_fewer_cycles_than_a_crowd(data_dir: Path) -> None:
    crowd, machine = (
        transitivity(read_preferences(data_dir / "dl21_full" / f"prefs_{name}.txt.gz")).consensus
        for name in ("crowd", "gpt4o_same_pairs")
    )
    assert (crowd.n_triples, crowd.n_strict, crowd.n_cycles) == (11413, 9335, 1618)
    assert (machine.n_triples, machine.n_strict, machine.n_cycles) == (9258, 4111, 10)
