"""Frames and dictionaries, and how their names are encoded."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from venire.data.ids import Category
from venire.errors import FormatError
from venire.io.tables import blocks, cells
from venire.io.tables.columns import Form
from venire.io.tables.rows import rows_from_dict, rows_from_frame
from written_tables import rows


@pytest.mark.parametrize("as_frame", [pl.DataFrame, pd.DataFrame])
def test_frames_are_read_as_files_are(as_frame):
    frame = as_frame({"qid": ["1", "2"], "docid": [1, 2], "worker": ["x", "y"], "rel": [1.0, 0.0], "date": [1.5, None]})
    table = rows_from_frame(frame)
    assert rows(table) == [("1", "1", "x", "1", 1), ("2", "2", "y", "0", 2)]
    np.testing.assert_array_equal(table.time, [1.5, np.nan])
    assert (table.notes[0].kind, table.notes[0].fields["table"]) == ("columns", "frame")


@pytest.mark.parametrize("wide", [False, True])
def test_frames_are_left_as_they_were(wide):
    frame = pl.DataFrame({"topic": ["1", "2"], "doc": ["a", "b"], "label": ["1", " "], "unit": [None, ""]})
    before = frame.clone()
    if wide:
        rows_from_frame(frame, layout="wide")
    else:
        with pytest.raises(FormatError, match="frame:2: the label is empty"):
            rows_from_frame(frame)
    assert frame.equals(before)


@pytest.mark.parametrize("as_frame", [pl.DataFrame, pd.DataFrame])
def test_wide_frames_are_melted(as_frame, monkeypatch):
    frame = as_frame({"topic": ["1", "2"], "doc": ["a", "b"], "x": [1, None], "row": [None, 0]})
    expected = [("1", "a", "x", "1", 1), ("2", "b", "row", "0", 2)]
    assert rows(rows_from_frame(frame, layout="wide")) == expected
    monkeypatch.setattr(blocks, "CELLS", 1)
    assert rows(rows_from_frame(frame, layout="wide")) == expected


def test_columns_of_every_type_are_text():
    frame = pl.DataFrame(
        {
            "topic": pl.Series(["a", "b"], dtype=pl.Categorical),
            "doc": pl.Series(["x", "y"], dtype=pl.Enum(["y", "x"])),
            "label": pl.Series([1, 2], dtype=pl.Int8),
            "unit": [True, False],
            "time": pl.Series(["2013-05-31T12:00:00", None]).str.to_datetime(),
        }
    )
    table = rows_from_frame(frame)
    assert rows(table) == [("a", "x", "assessor", "1", 1), ("b", "y", "assessor", "2", 2)]
    assert table.facets["unit"].texts() == ["true", "false"]
    np.testing.assert_array_equal(table.time, [1370001600.0, np.nan])
    days = rows_from_frame(frame.with_columns(pl.col("time").dt.date()))
    np.testing.assert_array_equal(days.time, [1369958400.0, np.nan])


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt64, pl.Int128, pl.Float32, pl.Decimal(10, 2)])
def test_labels_are_numbers_of_every_type(kind):
    frame = pl.DataFrame({"qid": ["1", "1"], "docid": ["a", "b"], "rel": pl.Series([2, 0]).cast(kind)})
    assert [row[3] for row in rows(rows_from_frame(frame))] == ["2", "0"]


@pytest.mark.parametrize("labels", [[2, "0"], pd.arrays.SparseArray([2, 0])], ids=["mixed", "sparse"])
def test_a_column_of_pandas_that_cannot_be_read_is_named(labels):
    frame = pd.DataFrame({"qid": ["1", "1"], "docid": ["a", "b"], "rel": labels})
    with pytest.raises(
        FormatError, match=r"frame: column 'rel' of the pandas frame cannot be read \(.*\)\n.*into text"
    ):
        rows_from_frame(frame)


def test_two_columns_of_one_name_are_named():
    values = [["q1", "d1", 1, 2]]
    names = ["topic", "doc", "label", "label"]
    table = pa.table([pa.array([value]) for value in values[0]], names=names)
    for frame in (pd.DataFrame(values, columns=names), table, table.to_batches()[0]):
        with pytest.raises(FormatError, match=r"frame: 2 columns are called 'label'\n.*rename or remove"):
            rows_from_frame(frame)


def test_a_pandas_index_with_names_is_read_too():
    frame = pd.DataFrame({"topic": ["1"], "doc": ["a"], "label": [3]}).set_index(["topic", "doc"])
    assert rows(rows_from_frame(frame)) == [("1", "a", "assessor", "3", 1)]


def test_what_is_no_frame_is_refused():
    with pytest.raises(FormatError, match=r"found builtins.list, expected a data frame"):
        rows_from_frame([1, 2])
    with pytest.raises(FormatError, match="cannot be read"):
        rows_from_frame(pd.DataFrame({"topic": ["1", 2], "doc": ["a", "b"], "label": [0, 1]}, dtype=object))


def test_dictionaries_need_no_polars():
    table = rows_from_dict({"q2": {"b": 1, "a": 2.0}, "q1": {"b": "0"}, "q0": {}}, assessor="me")
    assert rows(table) == [("q2", "b", "me", "1", 1), ("q2", "a", "me", "2", 2), ("q1", "b", "me", "0", 3)]
    assert table.duplicate_labels == "error"
    assert list(table.topic.names) == ["q1", "q2"]
    code = "import sys; from venire.io.tables.rows import rows_from_dict as f; f({'q': {'d': 1}}); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "venire.io.tables" in loaded
    assert not {"polars", "pandas", "pyarrow"} & set(loaded)


@pytest.mark.parametrize("qrels", [{}, {"q": {}}, {1: {"d": 1}}, {"q": {2: 1}}, {"q": {"d": ""}}])
def test_dictionaries_of_something_else_are_refused(qrels):
    with pytest.raises(FormatError, match="expected"):
        rows_from_dict(qrels)


@pytest.mark.parametrize("label", [None, float("nan"), "", [1]])
def test_what_is_no_label_in_a_dictionary_is_named(label):
    message = rf"document 'd2' of topic 'q1' has the label '{re.escape(str(label))}', expected a number or a text"
    with pytest.raises(FormatError, match=message):
        rows_from_dict({"q0": {}, "q1": {"d1": 1, "d2": label}})


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20), min_size=1))
def test_names_are_encoded_as_category_does(texts):
    ours = cells.encoded(pl.Series("doc", texts), Form("here"), np.arange(len(texts)))
    theirs = Category.of(texts)
    assert ours.codes.tolist() == theirs.codes.tolist()
    assert list(ours.names) == list(theirs.names)
    assert ours.names.slices.buffer.tolist() == theirs.names.slices.buffer.tolist()
