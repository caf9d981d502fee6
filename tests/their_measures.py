"""Measures of ir_measures by their names."""

from __future__ import annotations

from typing import Any

import pytest


def their_measure(name: str) -> Any:
    """Return a measure of ir_measures; the test is skipped where these cannot be read, as by 0.4.3 on Python 3.14."""
    import ir_measures

    try:
        return ir_measures.parse_measure(name)
    except AttributeError as error:
        pytest.skip(f"ir_measures reads no names on this Python: {error}")
