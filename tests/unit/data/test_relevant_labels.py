from __future__ import annotations

import pytest

from venire import Scale
from venire.data.scale import relevant_sets
from venire.errors import ScaleError

FOUR, NONE = Scale.parse("Non<Rel<HRel<Key"), Scale.parse("news|wiki|other")


def marked(scale: Scale, relevant=None) -> dict[str, set[str]]:
    sets = relevant_sets(scale, relevant)
    return {
        name: {label for label, mark in zip(scale.labels, row, strict=True) if mark}
        for name, row in zip(sets.names, sets.labels, strict=True)
    }


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        (None, {"Key": {"Key"}}),
        ("HRel", {"HRel": {"HRel", "Key"}}),
        ("Rel|Key", {"Rel|Key": {"Rel", "Key"}}),
        ("Rel | Key", {"Rel | Key": {"Rel", "Key"}}),
        (["HRel"], {"HRel": {"HRel"}}),
        (("Rel", "HRel"), {"Rel|HRel": {"Rel", "HRel"}}),
        ("all", {"Key": {"Key"}, "HRel": {"HRel", "Key"}, "Rel": {"Rel", "HRel", "Key"}}),
    ],
)
def test_on_an_ordered_scale(relevant, expected):
    assert marked(FOUR, relevant) == expected


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        ("wiki", {"wiki": {"wiki"}}),
        ("wiki|news", {"wiki|news": {"wiki", "news"}}),
        ("all", {"news": {"news"}, "wiki": {"wiki"}, "other": {"other"}}),
    ],
)
def test_on_categories_a_label_stands_for_itself(relevant, expected):
    assert marked(NONE, relevant) == expected


def test_thresholds_come_highest_first():
    assert relevant_sets(FOUR, "all").names == ("Key", "HRel", "Rel")


def test_a_label_called_all_or_with_a_bar_in_it_is_a_label():
    assert marked(Scale(("none", "some", "all")), "all") == {"all": {"all"}}
    assert marked(Scale(("none", "a|b", "c")), "a|b") == {"a|b": {"a|b", "c"}}


def test_numbers_in_a_list_are_labels():
    assert marked(Scale.parse("0<1<2"), [1, 2]) == {"1|2": {"1", "2"}}


@pytest.mark.parametrize(
    ("scale", "relevant", "words"),
    [
        (FOUR, "Non", "makes every label"),
        (FOUR, [], "makes no label"),
        (FOUR, "Kay", "'Kay' is not a label"),
        (FOUR, "Key|", "'' is not a label"),
        (NONE, None, "no order, so none is the top one"),
        (Scale(("only",)), None, "only one label"),
    ],
)
def test_what_says_nothing_is_refused(scale, relevant, words):
    with pytest.raises(ScaleError, match=words):
        relevant_sets(scale, relevant)
