"""Gains as a user writes them: a formula's name, pairs ``Non=0,Rel=0.4``, or a file of two columns.

A file holds a label and its gain per line, separated by a tab, a comma or white space; ``#`` begins a comment line,
and the first line may be the header ``label gain``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from venire.data.gains import FORMULAS, Gains, mapping, parse_gains
from venire.data.ids import as_text
from venire.data.scale import Scale
from venire.errors import FormatError
from venire.io.lines import read_bytes
from venire.results import read_number

HEADER = ("label", "gain")


def read_gains(text: str) -> Callable[[Scale], Gains]:
    """Read gains: a formula's name first, then a file of this name, then pairs."""
    named = text in FORMULAS or text.startswith("binary:")
    if not named and Path(text).is_file():
        return mapping(read_gains_file(Path(text)), name=Path(text).name)
    return parse_gains(text)


def read_gains_file(path: Path) -> dict[str, float]:
    """Read a file of labels and their gains."""
    worth: dict[str, float] = {}
    for number, raw in enumerate(read_bytes(path).splitlines(), start=1):
        line = as_text(raw).strip()
        if not line or line.startswith("#"):
            continue
        label, gain = _two_columns(line, path, number)
        if not worth and (label.lower(), gain.lower()) == HEADER:
            continue
        if label in worth:
            raise FormatError(path, number, f"label {label!r} gets a second gain", hint="keep one of the lines")
        worth[label] = _gain(gain, path, number)
    if not worth:
        raise FormatError(path, None, "holds no gains", hint="expected lines of a label and its gain: Rel 0.4")
    return worth


def _two_columns(line: str, path: Path, number: int) -> tuple[str, str]:
    """Split at the last separator: tab before comma before white space."""
    separator = next((each for each in ("\t", ",") if each in line), None)
    label, *gain = (field.strip() for field in line.rsplit(separator, 1))
    if not label or len(gain) != 1 or not gain[0]:
        hint = "write the label, then the gain: Rel 0.4"
        raise FormatError(path, number, f"found {line[:60]!r}, expected a label and its gain", hint=hint)
    return label.strip('"'), gain[0]


def _gain(text: str, path: Path, number: int) -> float:
    try:
        gain = read_number(text)
    except ValueError:
        raise FormatError(
            path, number, f"gain {text!r} is not a number", hint="write the label first, then the gain"
        ) from None
    if not 0 <= gain < math.inf:
        raise FormatError(path, number, f"gain {text} is not a finite number from 0 on")
    return gain
