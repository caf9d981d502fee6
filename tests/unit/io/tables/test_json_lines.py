"""JSON lines and Parquet: what is read, and what is refused."""

from __future__ import annotations

import io

import polars as pl
import pytest

from venire.io.tables import blocks
from written_tables import LONG, LONG_ROWS, refusal, rows

GOOD = '{"topic": 1, "doc": 2, "label": 0}\n'


def test_json_lines_hold_numbers_or_text_and_empty_lines_are_counted(read):
    text = (
        '{"qid": 1, "docid": "a", "worker": "w1", "rel": 2.0}\n\n'
        '{"qid": "1", "docid": "b", "worker": "w2", "rel": 0}\r\n\r\n'
        '{"rel": 1, "qid": "01", "docid": "a", "worker": "w1", "more": {"deep": [1]}}'
    )
    expected = [(*row[:4], line) for row, line in zip(LONG_ROWS, (1, 3, 5), strict=True)]
    assert rows(read(text, "judges.jsonl")) == expected
    assert rows(read("\n" + text, "judges")) == [(*row[:4], row[4] + 1) for row in expected]


def test_parquet_numbers_become_their_digits_and_lines_are_rows(read):
    file = io.BytesIO()
    frame = pl.DataFrame({"qid": [9007199254740993, 7], "docid": ["01", "1.0"], "rel": [2.0, 0.5], "more": [[1], [2]]})
    frame.write_parquet(file)
    table = read(file.getvalue(), "judges.parquet")
    assert rows(table) == [("9007199254740993", "01", "judges", "2", 1), ("7", "1.0", "judges", "0.5", 2)]
    assert rows(read(file.getvalue(), "misnamed.csv"))[0][:2] == ("9007199254740993", "01")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"topic": 1, "doc": 2, "label": 0}\n{"topic": 1,\n', ":2: '{\"topic\": 1,' is not JSON"),
        ('{"topic": 1, "doc": 2, "label": 0}\n\n[1]\n', ":3: found '[1]', expected an object"),
        ('{"topic": 1, "doc": [2], "label": 0}\n', "column 'doc' holds List"),
        ('{"topic": 1, "doc": "\\u0000", "label": 0}\n', ":1: doc '\\x00' has a zero byte"),
        ('{"topic": 1, "doc": 1e17, "label": 0}\n', ":1: 1e+17 in column 'doc' may have lost its last digits"),
        ('{"topic": 1, "doc": 2, "label": null}\n', ":1: the label is empty"),
        (GOOD * 4 + GOOD.replace("0}", "9" * 400 + "}") + GOOD, ":5: the lines from here on cannot be read (Inv"),
    ],
)
def test_what_is_wrong_with_json_lines_is_said(read, text, said):
    assert said in refusal(read, text, "judges.jsonl")


def test_json_lines_may_not_change_their_names_midway(read, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 10)
    text = '{"topic": 1, "doc": 2, "label": 0}\n{"topic": 1, "docid": 2, "label": 0}\n'
    assert ":2: from here on 'docid' is the doc, but before it was 'doc'" in refusal(read, text, "judges.jsonl")


def test_damaged_parquet_is_refused(read):
    assert "cannot be read as Parquet" in refusal(read, b"PAR1 and nothing else", "judges.parquet")
    assert "is neither Parquet nor Arrow" in refusal(read, LONG, "judges.parquet")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"topic":"1","doc":"a","label":1,"label":2}\n', 1),
        ('{"topic":"1","doc":"a","label":1}\n\n{"topic":"1","doc":"b","label":1,"time":3, "time" : null}\n', 3),
    ],
)
def test_a_key_that_stands_twice_is_refused_with_its_line(read, text, line):
    assert refusal(read, text, "judges.jsonl").startswith(f":{line}: the object has the key")


def test_keys_that_are_values_too_are_no_trouble(read):
    text = '{"topic":"label","doc":"topic","label":1,"note":null}\n{"topic":"1","doc":"b","label":0,"note":{"doc":1}}\n'
    assert read(text, "judges.jsonl").doc.texts() == ["topic", "b"]
