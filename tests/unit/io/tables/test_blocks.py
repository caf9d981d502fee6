from __future__ import annotations

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings, strategies as st

from venire.errors import FormatError
from venire.io.tables import blocks
from venire.io.tables.blocks import row_blocks, table_blocks
from venire.io.tables.delimited import has_quotes

HEADER = "topic,doc,label\n"


def ours(text: str) -> list[tuple[int, list[str]]] | None:
    """Line and fields of every row, or None if the text is refused."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "here.csv")
        path.write_bytes(text.encode())
        try:
            found = [rows for rows, _ in table_blocks(path, lambda names, _: (dict.fromkeys(names, "String"), None))]
        except FormatError:
            return None
    return [
        (line, [field or "" for field in row])
        for block in found
        for line, row in zip(block.line.tolist(), block.frame.rows(), strict=True)
    ]


def theirs(text: str) -> list[tuple[int, list[str]]] | None:
    """Read the same with the standard library; None if it is not strictly CSV with three fields in every row."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows, last = [], 0
    try:
        for row in reader:
            rows += [(last + 1, row)] if row else []
            last = reader.line_num
    except csv.Error:
        return None
    return rows[1:] if all(len(row) == 3 for _, row in rows) else None


@settings(max_examples=500)
@given(
    tokens=st.lists(st.sampled_from(["a", "b", ",", ",", '"', "\n", "\r\n", " ", "#", "é", 'a,"b",""\n', "1,2,3\n"]))
)
@example(tokens=['"', "\r\n", '"', ",", ",", "\n"])
def test_what_is_read_is_what_the_standard_library_reads(tokens):
    text = HEADER + "".join(tokens)
    found, expected = ours(text), theirs(text)
    stray = expected is not None and has_stray_quote(text)
    assert found == expected or (found is None and stray)


def has_stray_quote(text: str) -> bool:
    """Whether a quote stands in a field that is not quoted, while others are: plain there, and refused here."""
    return any(field in text for field in (',"', '\n"')) and any(
        '"' in field for _, row in theirs(text) or [] for field in row
    )


@settings(max_examples=300)
@given(
    rows=st.lists(st.lists(st.text("a,;\t\"'\n# é", max_size=4), min_size=3, max_size=3), min_size=1, max_size=20),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
    size=st.integers(24, 64),
)
def test_what_the_standard_library_writes_is_read_in_any_batches(rows, quoting, end, size):
    file = io.StringIO(newline="")
    csv.writer(file, quoting=quoting, lineterminator=end).writerows([["topic", "doc", "label"], *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", size)
        assert [row for _, row in ours(file.getvalue()) or []] == rows


QUOTED = b'a,"1\n2",b\nc,d,e\n"f",g,"""h\n"\ni,j,k'


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_blocks_are_whole_rows_that_join_to_the_text(monkeypatch, size):
    monkeypatch.setattr(blocks, "BLOCK", size)
    rows = [b'a,"1\n2",b\n', b"c,d,e\n", b'"f",g,"""h\n"\n', b"i,j,k\n"]
    edges = {len(b"".join(rows[:n])) for n in range(5)}
    found = list(row_blocks(io.BytesIO(QUOTED), b"", separator=","))
    assert b"".join(found) == QUOTED + b"\n"
    ends = [len(b"".join(found[: n + 1])) for n in range(len(found))]
    assert set(ends) <= edges


def test_quotes_within_plain_fields_hold_no_rows_together(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 4)
    text = b'a,5"\nb,6\nc,7\n'
    assert not has_quotes(text, ",")
    assert len(list(row_blocks(io.BytesIO(text), b"", separator=","))) > 1


def test_json_lines_know_no_quotes(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 8)
    text = b'{"a":1}\n{"a":2}\n'
    assert list(row_blocks(io.BytesIO(text), b"", separator=None)) == [b'{"a":1}\n', b'{"a":2}\n']
