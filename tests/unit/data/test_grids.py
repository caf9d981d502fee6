from __future__ import annotations

import pytest

from venire import FormatError, Scale
from venire.io import read_grid


def test_a_line_per_assessor_and_a_column_per_document():
    labels = read_grid("2 1 .\n0 . 2", scale="0<1<2").to_polars().select("topic", "doc", "assessor", "label").rows()
    assert set(labels) == {
        ("1", "d1", "U1", "2"),
        ("1", "d2", "U1", "1"),
        ("1", "d1", "U2", "0"),
        ("1", "d3", "U2", "2"),
    }


def test_scales_and_names():
    found = read_grid("Rel Non\nKey Rel", scale=Scale.parse("Non<Rel<Key"), assessors=["one", "other"])
    assert found.assessors == ("one", "other")
    assert found.label.tolist() == [1, 2, 0, 1]  # by item, then assessor


@pytest.mark.parametrize(
    ("text", "names", "words"),
    [
        ("", (), "has no label"),
        (". .\n. .", (), "has no label"),
        ("1 2\n1", (), "the lines have 1 and 2 labels"),
        ("1 2\n1 2", ("one",), "found 2 lines of labels and 1 name of assessors"),
        ("Rel Non", (), "the order of the labels is not known"),
    ],
)
def test_what_is_no_grid(text, names, words):
    with pytest.raises(FormatError, match=words):
        read_grid(text, assessors=names)
