"""Files that go with judgments: gains of labels, groups of topics, probabilities of intents, features of documents.

A line has a label and its gain, or topic and group, or topic, intent and probability, separated by tabs, commas or
white space; ``#`` begins a comment line, and the first line may be a header.  Features are a table, as
``venire.context.pairs`` describes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from venire.data.gains import FORMULAS, Gains, mapping, parse_gains
from venire.data.ids import Category, as_text
from venire.data.scale import Scale
from venire.errors import FormatError
from venire.io.documents import read_small
from venire.io.files import is_readable
from venire.io.tables.blocks import frame_of, read_frame
from venire.results import read_number
from venire.types import Floats, Ints

GAINS, GROUPS, INTENTS = ("label", "gain"), ("topic", "group"), ("topic", "intent", "probability")
NAMES = ("topic", "doc", "given")
HINT = "a table of features has the columns topic, doc, perhaps given, and numbers"


def read_gains(text: str) -> Callable[[Scale], Gains]:
    """Read gains as a user writes them: the name of a formula, a file, or pairs ``Non=0,Rel=0.4``."""
    named = text in FORMULAS or text.startswith("binary:")
    if not named and is_readable(Path(text)):
        return mapping(read_gains_file(Path(text)), name=Path(text).name)
    return parse_gains(text)


def read_gains_file(path: Path) -> dict[str, float]:
    """Read a file of labels and their gains."""
    gains: dict[str, float] = {}
    for number, (label, text) in _lines(path, GAINS, last=True):
        label = label.strip('"')
        if label in gains:
            raise FormatError(path, number, f"label {label!r} gets a second gain", hint="keep one of the lines")
        gains[label] = _number(text, path, number, "gain", math.inf)
    return gains


def read_groups(path: Path) -> dict[str, str]:
    """Read the group of each topic."""
    groups: dict[str, str] = {}
    for number, (topic, group) in _lines(path, GROUPS):
        if groups.setdefault(topic, group) != group:
            raise FormatError(path, number, f"topic {topic!r} is in a second group", hint="keep one of the lines")
    return groups


def read_intent_probabilities(path: Path) -> dict[tuple[str, str], float]:
    """Read the probability of each intent of each topic."""
    found: dict[tuple[str, str], float] = {}
    for number, (topic, intent, text) in _lines(path, INTENTS):
        probability = _number(text, path, number, "probability", 1)
        if found.setdefault((topic, intent), probability) != probability:
            message = f"intent {intent!r} of topic {topic!r} has a second probability"
            raise FormatError(path, number, message, hint="keep one of the lines")
    return found


def _number(text: str, path: Path, line: int, what: str, most: float) -> float:
    """Read a finite number from 0 to a limit."""
    try:
        number = read_number(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most or math.isinf(number):
        expected = "a finite number from 0 on" if math.isinf(most) else f"a number from 0 to {most}"
        raise FormatError(path, line, f"{what} {text!r} is not {expected}", hint=f"write the {what} last")
    return number


def _lines(path: Path, columns: tuple[str, ...], *, last: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of every line with data; raise if there is none.

    last: the last column is what follows the last separator, else it is the rest of the line.
    """
    first, empty = True, True
    for number, raw in enumerate(read_small(path).splitlines(), start=1):
        line = as_text(raw).strip()
        if not line or line.startswith("#"):
            continue
        separator = next((each for each in ("\t", ",") if each in line), None)
        split = line.rsplit if last else line.split
        fields = [field.strip() for field in split(separator, len(columns) - 1)]
        if len(fields) != len(columns) or not all(fields):
            raise FormatError(path, number, f"found {line[:60]!r}, expected {', '.join(columns)}")
        header = first and tuple(field.lower() for field in fields) == columns
        first = False
        if not header:
            empty = False
            yield number, fields
    if empty:
        raise FormatError(path, None, "is empty", hint=f"expected lines of {', '.join(columns)}")


class FeatureRows(NamedTuple):
    """Features as read: topic, doc and perhaps given (row,), the names of the numbers, and values (row, column).

    line (row,) and where are for errors.
    """

    named: Mapping[str, Category]
    columns: tuple[str, ...]
    values: Floats
    line: Ints
    where: object


def read_features(source: Any) -> FeatureRows:
    """Read features from a file, a frame of polars or pandas, or columns by name; lines of a frame count its rows."""
    rows = read_frame(Path(source)) if isinstance(source, (str, Path)) else frame_of(source, "features")
    frame, line, where = rows
    columns = tuple(name for name in frame.columns if name not in NAMES)
    if not {"topic", "doc"} <= set(frame.columns) or not columns:
        raise FormatError(where, None, f"found the columns {', '.join(frame.columns) or '(none)'}", hint=HINT)
    if frame.height == 0:
        raise FormatError(where, None, "holds no features", hint=HINT)
    cells = {name: rows.texts(name).fill_null("") for name in NAMES if name in frame.columns}
    named = {name: rows.encoded(cell.alias(name)) for name, cell in cells.items()}
    hint = "features are finite numbers; a cell may be empty"
    values = np.column_stack([rows.finite_numbers(name, hint=hint) for name in columns])
    return FeatureRows(named, columns, values, line, where)
