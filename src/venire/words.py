"""Words: numbers with their nouns, names one after another, as sentences write them; and numbers read from text."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 item", "2,000 items"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return names in words, the first few of many: "a, b and c", "a, b and 7 more"; nothing for none."""
    shown = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most:,} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def first_few(names: Sequence[str], most: int) -> str:
    """Return names as a list after a colon has them: "a, b, c", "a, b and 7 more"."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def read_number(text: str) -> float:
    """Read a number as ``float`` does, but for digits that ``_`` parts, which are none in a file; else ValueError."""
    if "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return float(text)
