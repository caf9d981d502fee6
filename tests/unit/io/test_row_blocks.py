from __future__ import annotations

import io

import pytest

from venire.io import row_blocks as module
from venire.io.row_blocks import has_quotes, row_blocks

QUOTED = b'a,"1\n2",b\nc,d,e\n"f",g,"""h\n"\ni,j,k'


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_blocks_are_whole_rows_that_join_to_the_text(monkeypatch, size):
    monkeypatch.setattr(module, "BLOCK", size)
    rows = [b'a,"1\n2",b\n', b"c,d,e\n", b'"f",g,"""h\n"\n', b"i,j,k\n"]
    edges = {len(b"".join(rows[:n])) for n in range(5)}
    blocks = list(row_blocks(io.BytesIO(QUOTED), b"", separator=","))
    assert b"".join(blocks) == QUOTED + b"\n"
    ends = [len(b"".join(blocks[: n + 1])) for n in range(len(blocks))]
    assert set(ends) <= edges


def test_quotes_within_plain_fields_hold_no_rows_together(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 4)
    text = b'a,5"\nb,6\nc,7\n'
    assert not has_quotes(text, ",")
    assert len(list(row_blocks(io.BytesIO(text), b"", separator=","))) > 1


def test_json_lines_know_no_quotes(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 8)
    text = b'{"a":1}\n{"a":2}\n'
    assert list(row_blocks(io.BytesIO(text), b"", separator=None)) == [b'{"a":1}\n', b'{"a":2}\n']
