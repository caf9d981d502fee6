"""Logs counted by the compiled scan, against the reader of logs of any kind."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given, strategies as st

from venire.data.ids import Ids
from venire.io import click_scan, clicks
from venire.io.tables import blocks
from venire.scan.codes import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled scan")
NAMES = ("session", "topic", "rank", "doc", "clicked", "dwell")
DOCS = st.sampled_from(["a", "b", "doc1", "a-document-with-a-long-name", "a-document-with-a-long-nam", "x" * 40])
ROW = st.tuples(
    st.sampled_from(["s1", "s2", "session-number-three"]),
    st.sampled_from(["1", "2", "10", "a topic"]),
    st.integers(1, 5).map(str),
    DOCS,
    st.sampled_from("01"),
    st.sampled_from(["", "0", "29.9", "30", "30.0", "120.25", "0.1", "00012"]),
)
ODD_CELLS = st.sampled_from(['"1"', "", "é", "x", "-", "true", "1.5", "+1", " 1", "1e2", "-3", "70000", "\r"])


def written(path, rows, without, separator, order):
    keep = [n for n in order if NAMES[n] not in without]
    lines = [NAMES, *rows]
    path.write_text(
        "".join(separator.join(line[n] for n in keep) + "\n" for line in lines), encoding="utf-8", newline=""
    )
    return path


def same(one, other):
    for each in fields(one):
        mine, theirs = getattr(one, each.name), getattr(other, each.name)
        if isinstance(mine, np.ndarray):
            np.testing.assert_array_equal(mine, theirs, err_msg=each.name)
        elif is_dataclass(mine) and not isinstance(mine, Ids):
            same(mine, theirs)
        else:
            assert mine == theirs, each.name


@given(
    st.lists(ROW, min_size=1, max_size=60),
    st.sampled_from([(), ("rank",), ("dwell",), ("rank", "dwell")]),
    st.sampled_from("\t,"),
    st.permutations(range(6)),
    st.sampled_from([40, 1 << 20]),
)
def test_counts_are_those_of_any_log(tmp_path_factory, rows, without, separator, order, size):
    path = written(tmp_path_factory.getbasetemp() / "log.csv", rows, without, separator, order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", size)
        quick = clicks._counted(path, 30.0, None)
    assert quick is not None
    same(quick, clicks._read_any(path, 30.0, None))


@given(st.lists(ROW, min_size=1, max_size=6), st.integers(0, 5), st.integers(0, 5), ODD_CELLS)
def test_an_odd_cell_is_left_to_the_other_reader(tmp_path_factory, rows, row, place, cell):
    cells = list(rows[row % len(rows)])
    cells[place] = cell
    rows[row % len(rows)] = tuple(cells)
    path = written(tmp_path_factory.getbasetemp() / "odd.csv", rows, (), "\t", range(6))
    quick = clicks._counted(path, 30.0, None)
    if quick is not None:
        same(quick, clicks._read_any(path, 30.0, None))


def test_pages_that_are_long_and_in_no_order_are_left_to_the_other_reader(tmp_path):
    rows = [("s", "q", str(n % 7 + 1), f"d{n}", "1", "") for n in range(2_000)]
    path = written(tmp_path / "log.tsv", rows, (), "\t", range(6))
    assert clicks._counted(path, 30.0, None) is None
    again = [*[("s", "q", "1", f"d{n}", "1", "") for n in range(2_000)], ("s", "q", "1", "d0", "1", "")]
    path = written(tmp_path / "log.tsv", again, (), "\t", range(6))
    assert clicks._counted(path, 30.0, None) is None
    assert clicks.read_clicks(path).impressions.sum() == 2_000


def test_files_with_the_same_columns_are_counted_together(tmp_path):
    rows = [("s", "q", "1", f"d{n}", "1", "40") for n in range(3)]
    written(tmp_path / "a.tsv", rows, (), "\t", range(6))
    written(tmp_path / "b.tsv", rows, (), "\t", range(6))
    same(clicks._counted(tmp_path, 30.0, None), clicks._read_any(tmp_path, 30.0, None))
    written(tmp_path / "b.tsv", rows, ("rank",), "\t", range(6))
    assert clicks._counted(tmp_path, 30.0, None) is None


def test_without_a_compiler_nothing_is_counted_here(tmp_path, monkeypatch):
    path = written(tmp_path / "a.tsv", [("s", "q", "1", "d", "1", "40")], (), "\t", range(6))
    monkeypatch.setattr(click_scan, "COMPILED", False)
    assert clicks._counted(path, 30.0, None) is None
