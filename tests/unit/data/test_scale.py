"""Scales: read, inferred, refused."""

import numpy as np
import pytest

from venire import Scale
from venire.errors import ScaleError


@pytest.mark.parametrize(
    ("text", "labels", "measurement"),
    [
        ("Non<Rel<HRel<Key", ("Non", "Rel", "HRel", "Key"), "ordinal"),
        (" 0 < 1<3 <7 ", ("0", "1", "3", "7"), "ordinal"),
        ("0<1<2 : interval", ("0", "1", "2"), "interval"),
        ("news|wiki|other", ("news", "wiki", "other"), "nominal"),
        ("a:b<c:d", ("a:b", "c:d"), "ordinal"),
    ],
)
def test_a_scale_reads_from_text_and_back(text, labels, measurement):
    scale = Scale.parse(text)
    assert (scale.labels, scale.measurement) == (labels, measurement)
    assert Scale.parse(str(scale)) == scale


def test_a_scale_of_integers_has_those_that_occur():
    assert Scale.of_integers([10, 0, 3, 3]).labels == ("0", "3", "10")
    assert Scale.of_integers([0, 0]).labels == ("0", "1")
    assert Scale.of_integers([0, 3]).at_least(1).tolist() == [False, True]


def test_declared_levels_are_positions_not_numbers():
    scale = Scale.parse("0<1<3<7")
    assert [scale.level_of(label) for label in ("0", "1", "3", "7")] == [0, 1, 2, 3]
    np.testing.assert_array_equal(scale.numbers(), [0, 1, 3, 7])


def test_labels_from_one_upwards():
    np.testing.assert_array_equal(Scale.parse("a<b<c").at_least("b"), [False, True, True])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Scale.parse("a<b<a"), "occurs twice"),
        (lambda: Scale.parse("a<<b"), "none of them empty"),
        (lambda: Scale(("a", "b"), "rational"), "not a level of measurement"),
        (lambda: Scale.parse("a|b").at_least("a"), "have no order"),
        (lambda: Scale.parse("a<b").numbers(), "not all numbers"),
        (lambda: Scale.parse("Non<Rel").level_of("Rle"), "did you mean 'Rel'"),
        (lambda: Scale.of_integers(range(5000)), "5,000 different labels"),
        (lambda: Scale.from_table({"label": ["a"]}), "no scale found"),
        (lambda: Scale.from_table({"labels": [0, 1, float("nan")]}), "nan is not a label"),
        (lambda: Scale.from_table({"labels": [0, float("inf")]}), "inf is not a label"),
        (lambda: Scale.from_table({"labels": [False, True]}), "False is not a label"),
        (lambda: Scale.from_table({"labels": [0, [1, 2]]}), r"\[1, 2\] is not a label"),
    ],
)
def test_what_cannot_be_is_refused_in_words(make, message):
    with pytest.raises(ScaleError, match=message):
        make()


def test_a_scale_reads_from_a_table():
    assert Scale.from_table({"labels": [0, 1, 2], "measurement": "interval"}) == Scale(("0", "1", "2"), "interval")
    assert Scale.from_table({"scale": "a|b"}).measurement == "nominal"
