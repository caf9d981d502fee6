from __future__ import annotations

import pytest

from venire.io.rows import Rows
from venire.io.tables.rows import read_table


@pytest.fixture
def read(tmp_path):
    """Write a text into a file of this name and read it."""

    def write_and_read(text: str | bytes, name: str = "judges.csv", **options) -> Rows:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_table(path, **options)

    return write_and_read
