"""Logs of every format, counted by the compiled scan, against rows that are read as columns and counted one by one."""

from __future__ import annotations

import csv
import json
from dataclasses import fields, is_dataclass

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from venire.data.ids import Ids
from venire.errors import FormatError
from venire.io import click_tally
from venire.io.clicks import counted_logs, read_clicks
from venire.io.tables import blocks
from venire.scan.codes import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled scan")
NAMES = ("session", "topic", "rank", "doc", "clicked", "dwell")
PLAIN = ["a", "b", "doc1", "a-document-with-a-long-name", "a-document-with-a-long-nam", "x" * 40, "007", "été"]
HOSTILE = ['say "hi"', '"', "two\nlines", "cr\r\nlf", "a,b", "a\tb", "back\\slash", "\U0001f600", "{}", " a "]
WITHOUT = st.sampled_from([(), ("rank",), ("dwell",), ("rank", "dwell")])
FORMS = ("plain.csv", "plain.tsv", "crlf.csv", "quoted.csv", "quoted.tsv", "ascii.jsonl", "spaced.jsonl", "frame")


def log_rows(docs):
    return st.tuples(
        st.sampled_from(["s1", "s2", "session-number-three"]),
        st.sampled_from(["1", "2", "10", "a topic"]),
        st.integers(1, 5).map(str) | st.just("70000"),
        st.sampled_from(docs),
        st.sampled_from("01"),
        st.sampled_from(["", "0", "29.9", "30", "30.0", "120.25", "0.1", "41.23456789012345", "30.000000000000004"]),
    )


def written(path, rows, *, without=(), order=range(6)):
    """Write a log in the format that the name of the file stands for."""
    keep = [n for n in order if NAMES[n] not in without]
    form, _, ending = path.name.partition(".")
    with path.open("w", encoding="utf-8", newline="") as file:
        if ending == "jsonl":
            style = {"ensure_ascii": form == "ascii", "separators": (" , ", " : ") if form == "spaced" else (",", ":")}
            for row in rows:
                file.write(json.dumps({NAMES[n]: json_value(n, row[n]) for n in keep}, **style) + "\n")
            return path
        end = "\r\n" if form == "crlf" else "\n"
        quoting = csv.QUOTE_ALL if form == "quoted" else csv.QUOTE_MINIMAL
        write = csv.writer(file, delimiter="\t" if ending == "tsv" else ",", lineterminator=end, quoting=quoting)
        write.writerows([row[n] for n in keep] for row in [NAMES, *rows])
    return path


def json_value(column, cell):
    if NAMES[column] == "dwell":
        return float(cell) if cell else None
    return int(cell) if NAMES[column] in ("rank", "clicked") else cell


def frame(rows, without=()):
    table = pl.DataFrame(rows, schema=list(NAMES), orient="row")
    numbers = pl.col("rank", "clicked").cast(pl.Int64), pl.col("dwell").cast(pl.Float64, strict=False)
    return table.with_columns(*numbers).drop(without)


def same(one, other):
    for each in fields(one):
        mine, theirs = getattr(one, each.name), getattr(other, each.name)
        if isinstance(mine, np.ndarray):
            np.testing.assert_array_equal(mine, theirs, err_msg=each.name)
        elif is_dataclass(mine) and not isinstance(mine, Ids):
            same(mine, theirs)
        else:
            assert mine == theirs, each.name


def one_by_one(source):
    return counted_logs(source, 30.0, None, compiled=False)


def columns_are_not_needed(*_):
    raise AssertionError("a block was not scanned")


@given(
    st.lists(log_rows(PLAIN), min_size=1, max_size=60)
    | st.lists(log_rows([*PLAIN, *HOSTILE]), min_size=1, max_size=20),
    WITHOUT,
    st.permutations(range(6)),
    st.sampled_from([80, 1 << 20]),
)
def test_a_log_says_the_same_in_all_formats(tmp_path_factory, rows, without, order, size):
    expected = one_by_one(frame(rows, without))
    for form in FORMS:
        with pytest.MonkeyPatch.context() as patch:
            if form == "frame":
                source = frame(rows, without)
                patch.setattr(blocks, "CELLS", size)
            else:
                source = written(tmp_path_factory.getbasetemp() / form, rows, without=without, order=order)
                patch.setattr(blocks, "BLOCK", size)
                patch.setattr(click_tally.Tally, "add", columns_are_not_needed)
            same(read_clicks(source), expected)


def outcome(path, *, compiled):
    try:
        return counted_logs(path, 30.0, None, compiled=compiled)
    except FormatError as error:
        return error.message, error.hint


@given(
    st.lists(log_rows([*PLAIN, *HOSTILE[:2]]), min_size=1, max_size=6),
    st.sampled_from(FORMS[:-1]),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 3),
    st.sampled_from(
        [
            "",
            '"',
            "\\",
            "\n",
            "\r",
            ",",
            "\t",
            "é",
            "x",
            "-",
            "0",
            "1.5",
            "+",
            " ",
            "e2",
            "{",
            "}",
            "[]",
            "\\u0041",
            "\0",
        ]
    ),
    st.sampled_from([80, 1 << 20]),
)
def test_a_damaged_log_is_read_as_any_other_or_has_the_same_error(tmp_path_factory, rows, form, place, cut, more, size):
    path = written(tmp_path_factory.getbasetemp() / form, rows)
    text = path.read_bytes()
    at = int(place * len(text))
    path.write_bytes(text[:at] + more.encode() + text[at + cut :])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", size)
        quick, slow = (outcome(path, compiled=compiled) for compiled in (True, False))
    if isinstance(quick, tuple):
        assert quick == slow
    else:
        same(quick, slow)


@pytest.mark.parametrize("last", ["d0", "d1"])
def test_long_pages_in_no_order(tmp_path, last):
    rows = [("s", "q", str(n * 7_919 % 100_000 + 1), f"d{n}", "1", "") for n in range(2_000)]
    path = written(tmp_path / "log.tsv", [*rows, ("s", "q", "1", last, "1", "31")])
    same(read_clicks(path), one_by_one(path))


def test_logs_of_several_formats_and_columns_are_counted_together(tmp_path):
    rows = [("s", "q", "1", f"d{n}", "1", "40") for n in range(3)]
    written(tmp_path / "a.tsv", rows)
    written(tmp_path / "b.jsonl", rows)
    same(read_clicks(tmp_path), one_by_one(tmp_path))
    assert read_clicks(tmp_path).sessions == 1
    written(tmp_path / "b.jsonl", rows, without=("rank", "dwell"))
    same(read_clicks(tmp_path), one_by_one(tmp_path))
    kinds = [note.kind for note in read_clicks([tmp_path, frame(rows)]).notes]
    assert kinds == ["unknown-dwell-times", "no-ranks", "scattered-sessions", "no-unclicked-results"]


def test_a_name_with_a_zero_byte_is_found_in_its_row():
    table = frame([("s", "q", "1", doc, "1", "") for doc in ("a", "b", "z\0", "c")])
    for compiled in (True, False):
        with pytest.raises(FormatError, match=r"clicks:3: doc 'z\\x00' has a zero byte"):
            counted_logs(table, 30.0, None, compiled=compiled)
