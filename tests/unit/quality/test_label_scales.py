"""Scales against worked examples, and draws against the probabilities that are stated."""

from __future__ import annotations

from itertools import product
from math import floor, inf, log2

import numpy as np
import pytest
from hypothesis import given, strategies as st

from venire import Judgments, Scale, read_judgments
from venire.data.ids import Category
from venire.errors import AmbiguousLabels, ScaleError, SettingError
from venire.io import read_grid
from venire.quality.label_scales import (
    WEIGHTS,
    all_thresholds,
    log_sums,
    merge_labels,
    split_labels,
    split_probabilities,
    threshold_labels,
)

GRID = """
    0 1 2 3 3
    1 1 2 2 .
    0 0 3 3 2
"""


def grid(text: str = GRID) -> Judgments:
    return read_grid(text)


def many(label: int, n: int, *, n_labels: int = 4) -> Judgments:
    """The same label on many items of a scale."""
    scale = Scale(tuple(map(str, range(n_labels))))
    return read_judgments({"q": {f"d{item:06}": label for item in range(n)}}, scale=scale)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("1", [0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1]),
        ("2", [0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1]),
        ("3", [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0]),
    ],
)
def test_four_grades_to_two_at_each_cut(label: str, expected: list[int]) -> None:
    judgments = grid()
    order = np.lexsort((judgments.item, judgments.assessor.codes))
    found = threshold_labels(judgments, label)
    assert found.label[order].tolist() == expected
    assert str(found.scale) == "0<1"
    assert all_thresholds(judgments)[f"4to2(>={label})"].label.tolist() == found.label.tolist()
    assert found.items is judgments.items
    assert found.assessor is judgments.assessor


def test_all_cuts_are_named() -> None:
    assert list(all_thresholds(grid())) == ["4to2(>=1)", "4to2(>=2)", "4to2(>=3)"]
    assert list(all_thresholds(read_grid("a c", scale="a<b<c"))) == ["3to2(>=b)", "3to2(>=c)"]
    with pytest.raises(ScaleError, match="have no order"):
        all_thresholds(read_grid("a b", scale="a|b"))


def test_any_mapping_in_the_order_of_the_old_scale_or_a_stated_one() -> None:
    judgments = grid("0 1 2 3")
    found = merge_labels(judgments, {"3": "top", "0": "none", "1": "some", "2": "some"})
    assert (str(found.scale), found.label.tolist()) == ("none<some<top", [0, 1, 1, 2])
    middle = merge_labels(judgments, {"0": "out", "1": "in", "2": "in", "3": "out"}, scale="out<in")
    assert middle.label.tolist() == [0, 1, 1, 0]
    wider = merge_labels(judgments, {label: label for label in "0123"}, scale="0<1<2<3<4 : interval")
    assert (len(wider.scale), wider.scale.measurement) == (5, "interval")
    nominal = merge_labels(read_grid("a b c", scale="a|b|c"), {"a": "x", "b": "y", "c": "x"})
    assert (str(nominal.scale), nominal.label.tolist()) == ("x|y", [0, 1, 0])


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"0": "a", "1": "a", "2": "b"}, "no new label is given for '3'"),
        ({"0": "a", "1": "a", "2": "b", "3": "b", "4": "b"}, "'4' is not a label"),
        ({"0": "a", "1": "b", "2": "a", "3": "b"}, "'a' stands below and above 'b'"),
    ],
)
def test_mappings_that_do_not_fit_are_refused(mapping: dict[str, str], words: str) -> None:
    with pytest.raises(ScaleError, match=words):
        merge_labels(grid(), mapping)


@pytest.mark.parametrize("w", WEIGHTS[:-1])
def test_probabilities_of_extension_are_those_of_equation_16(w: float) -> None:
    found = split_probabilities(4, 7, w)
    for old, new in product(range(4), range(7)):
        slow = np.exp(-w * abs(2 * old - new)) / sum(np.exp(-w * abs(2 * old - g)) for g in range(7))
        assert found[old, new] == pytest.approx(slow, rel=1e-12)


def test_probabilities_of_extension_by_hand() -> None:
    """With w = ln 2 each step halves: 1, 1/2, 1/4 from the lowest of two grades on three."""
    np.testing.assert_allclose(split_probabilities(2, 3, np.log(2)), np.array([[4, 2, 1], [1, 2, 4]]) / 7)
    np.testing.assert_allclose(split_probabilities(3, 4, inf), [[1, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 1]])
    np.testing.assert_allclose(split_probabilities(4, 7, 0), np.full((4, 7), 1 / 7))
    np.testing.assert_allclose(split_probabilities(1, 3, 1.0).sum(), 1)
    np.testing.assert_allclose(split_probabilities(4, 7, 1e6), split_probabilities(4, 7, inf))


@given(n_old=st.integers(1, 8), more=st.integers(0, 12), w=st.floats(0, 50) | st.just(inf))
def test_extension_is_a_distribution_that_turns_round_with_the_scale(n_old: int, more: int, w: float) -> None:
    found = split_probabilities(n_old, n_old + more, w)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    if n_old > 1:
        np.testing.assert_allclose(found, found[::-1, ::-1], atol=1e-9)
    means = found @ np.arange(n_old + more)
    assert (np.diff(means) >= -1e-9).all()


@pytest.mark.parametrize("w", WEIGHTS)
@pytest.mark.parametrize("label", [0, 2, 3])
def test_drawn_labels_have_the_stated_probabilities(w: float, label: int) -> None:
    n = 20_000
    found = split_labels(many(label, n), w=w, rng=3)
    assert len(found.scale) == 7
    share = np.bincount(found.label, minlength=7) / n
    p = split_probabilities(4, 7, w)[label]
    assert (np.abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / n) + 1e-12).all()


def test_labels_are_drawn_each_on_its_own_and_again_by_the_same_seed() -> None:
    judgments = grid()
    one, again, other = (split_labels(judgments, w=0.5, rng=seed).label.tolist() for seed in (1, 1, 2))
    assert one == again != other
    mixed = split_labels(read_judgments({"q": {f"d{n:05}": n % 4 for n in range(8_000)}}), w=1.0)
    parity = np.arange(8_000) % 4
    for label in range(4):
        share = np.bincount(mixed.label[parity == label], minlength=7) / 2_000
        np.testing.assert_allclose(share, split_probabilities(4, 7, 1.0)[label], atol=0.05)


def test_nothing_is_left_to_chance_with_an_infinite_weight() -> None:
    judgments = grid()
    found = split_labels(judgments, w=inf)
    assert found.label.tolist() == (2 * judgments.label).tolist()
    assert str(found.scale) == "0<1<2<3<4<5<6"
    assert split_labels(judgments, 10, w=inf).label.tolist() == (3 * judgments.label).tolist()
    assert split_labels(judgments, 4, w=inf).label.tolist() == judgments.label.tolist()
    assert found.items is judgments.items


def test_what_cannot_be_extended_is_said() -> None:
    with pytest.raises(SettingError, match="4 labels cannot be split into 3"):
        split_labels(grid(), 3, w=1.0)
    with pytest.raises(SettingError, match="w is -1"):
        split_labels(grid(), w=-1.0)
    with pytest.raises(SettingError, match="w is nan"):
        split_labels(grid(), w=float("nan"))
    with pytest.raises(SettingError, match="5000 labels is too long"):
        split_labels(grid(), 5000, w=1.0)
    with pytest.raises(ScaleError, match="have no order"):
        split_labels(read_grid("a b", scale="a|b"), w=1.0)


def test_sums_of_eight_assessors_become_five_grades() -> None:
    """WWW-3: eight assessors and labels 0..2, so S goes up to 16 and grades up to log2(17) = 4."""
    sums = list(range(17))
    lines = [" ".join(str(min(2, max(0, total - 2 * who))) for total in sums) for who in range(8)]
    found = log_sums(read_grid("\n".join(lines), scale="0<1<2"))
    by_item = {found.items.doc[item]: label for item, label in zip(found.item, found.label.tolist(), strict=True)}
    assert [by_item[f"d{total + 1}"] for total in sums] == [floor(log2(total + 1)) for total in sums]
    assert [by_item[f"d{total + 1}"] for total in (0, 1, 2, 3, 6, 7, 14, 15, 16)] == [0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert str(found.scale) == "0<1<2<3<4"
    assert found.assessors == ("log2(S+1)",)
    assert found.notes == ()


def test_sums_over_unequal_numbers_of_labels_are_noted() -> None:
    found = log_sums(grid())
    assert found.label.tolist() == [1, 1, 3, 3, 2]
    assert (found.notes[-1].kind, found.notes[-1].fields) == ("uneven-labels", {"least": 2, "most": 3})
    assert len(found) == 5


def test_labels_may_add_what_they_say_and_repeated_ones_add_their_mean() -> None:
    judgments = read_grid("0 10\n10 10", scale="0<10")
    assert log_sums(judgments).label.tolist() == [1, 1]
    assert log_sums(judgments, values="raw").label.tolist() == [3, 4]
    rows = {"topic": ["q"] * 3, "doc": ["d"] * 3, "assessor": ["A", "A", "B"], "label": ["3", "1", "1"]}
    import polars as pl

    twice = read_judgments(pl.DataFrame(rows), scale="0<1<2<3", duplicate_labels="keep")
    assert log_sums(twice).label.tolist() == [2]


def test_items_that_nobody_judged_get_no_label() -> None:
    judgments = grid().where(assessor="U2")
    found = log_sums(judgments)
    assert len(found) == 4
    assert found.items is judgments.items


def test_labels_of_several_aspects_are_not_added_up() -> None:
    from dataclasses import replace

    judgments = grid("0 1\n1 1")
    aspects = replace(judgments, facets={"aspect": Category.of(["trust", "topic", "trust", "topic"])})
    with pytest.raises(AmbiguousLabels, match="aspect"):
        log_sums(aspects)
