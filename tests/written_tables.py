"""Tables of judgments written out in a test, what is read from them, and how they are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from venire.errors import FormatError
from venire.io.rows import Rows

LONG = "qid,docid,worker,rel\n1,a,w1,2\n1,b,w2,0\n01,a,w1,1\n"
LONG_ROWS = [("1", "a", "w1", "2", 2), ("1", "b", "w2", "0", 3), ("01", "a", "w1", "1", 4)]


def rows(table: Rows) -> list[tuple[str | int, ...]]:
    """Topic, doc, assessor, label and line of every row."""
    columns = [each.texts() for each in (table.topic, table.doc, table.assessor, table.label)]
    return list(zip(*columns, map(int, table.line), strict=True))


def refusal(read: Callable[..., Rows], text: str | bytes, name: str = "judges.csv", **options: object) -> str:
    """The words with which a table is refused, from the file's name on."""
    with pytest.raises(FormatError) as caught:
        read(text, name, **options)
    return str(caught.value).partition(name)[2]
