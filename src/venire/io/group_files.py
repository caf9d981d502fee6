"""Facts about topics: groups (topic, group), and how probable their intents are (topic, intent, probability).

Columns are separated by tabs, commas or white space; ``#`` begins a comment line, and the first line may be a header.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from venire.data.ids import as_text
from venire.errors import FormatError
from venire.io.lines import read_bytes
from venire.results import read_number

GROUPS, INTENTS = ("topic", "group"), ("topic", "intent", "probability")


def read_groups(path: Path) -> dict[str, str]:
    """Read which group each topic belongs to."""
    groups: dict[str, str] = {}
    for number, (topic, group) in _lines(path, GROUPS):
        if groups.setdefault(topic, group) != group:
            raise FormatError(path, number, f"topic {topic!r} is in a second group", hint="keep one of the lines")
    return groups


def read_intent_probabilities(path: Path) -> dict[tuple[str, str], float]:
    """Read how probable each intent of each topic is."""
    found: dict[tuple[str, str], float] = {}
    for number, (topic, intent, text) in _lines(path, INTENTS):
        try:
            probability = read_number(text)
        except ValueError:
            raise FormatError(path, number, f"{text!r} is not a probability", hint="as in 51 2 0.3") from None
        if not 0 <= probability <= 1:
            raise FormatError(path, number, f"{text} is not a probability", hint="expected a number from 0 to 1")
        if found.setdefault((topic, intent), probability) != probability:
            message = f"intent {intent!r} of topic {topic!r} has a second probability"
            raise FormatError(path, number, message, hint="keep one of the lines")
    return found


def _lines(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of every line that has any; refuse a file without."""
    first, empty = True, True
    for number, raw in enumerate(read_bytes(path).splitlines(), start=1):
        line = as_text(raw).strip()
        if not line or line.startswith("#"):
            continue
        separator = next((each for each in ("\t", ",") if each in line), None)
        fields = [field.strip() for field in line.split(separator, len(columns) - 1)]
        if len(fields) != len(columns) or not all(fields):
            raise FormatError(path, number, f"found {line[:60]!r}, expected {', '.join(columns)}")
        header = first and tuple(field.lower() for field in fields) == columns
        first = False
        if not header:
            empty = False
            yield number, fields
    if empty:
        raise FormatError(path, None, "is empty", hint=f"expected lines of {', '.join(columns)}")
