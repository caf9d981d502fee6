"""Tabular: rows, and a sentence on what they say; as a table for people, for polars, for pandas, for JSON.

Tables and results are frozen dataclasses with ``sentence()`` and ``records()``.  Those that are Tabular get from these
two, and from their ``notes`` and ``warnings`` where they have any, all that a notebook asks for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Records = list[dict[str, Any]]

MOST_ROWS = 10
MOST_NOTES = 5
LONGEST_TEXT = 60
FEW_COLUMNS = 3


class Tabular(ABC):
    """What has rows and can say in a sentence what they mean.

    Examples
    --------
    >>> from venire import Scale, linear
    >>> gains = linear(Scale.parse("Non<Rel"))
    >>> gains.to_dict()
    {'sentence': 'Gains linear: Non 0, Rel 1.', 'rows': [{'label': 'Non', 'gain': 0.0}, {'label': 'Rel', 'gain': 1.0}]}
    >>> gains.to_polars().columns
    ['label', 'gain']
    """

    @abstractmethod
    def sentence(self) -> str:
        """Say what is there in one sentence."""

    @abstractmethod
    def records(self) -> Records:
        """Return one dictionary per row, all with the same keys; None where nothing is known."""

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold of it: the sentence, the rows, and the notes if there are any."""
        notes = _notes(self)
        return {"sentence": self.sentence(), "rows": self.records()} | ({"notes": notes} if notes else {})

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a data frame."""
        import polars as pl

        return pl.DataFrame(self.records(), infer_schema_length=None)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a data frame; needs pandas and pyarrow (``pip install "venire[pandas]"``)."""
        return self.to_polars().to_pandas()

    def _first(self, most: int) -> tuple[Records, int]:
        """Rows to show, and how many there are; tables with very many need not make them all."""
        rows = self.records()
        return rows[:most], len(rows)

    def _repr_html_(self) -> str:
        rows, n_rows = self._first(MOST_ROWS)
        return as_html(self.sentence(), rows, n_rows=n_rows, notes=_notes(self))


def as_html(sentence: str, rows: Sequence[dict[str, Any]], *, n_rows: int, notes: Sequence[str] = ()) -> str:
    """Write a sentence, the first of n_rows rows and the first notes as HTML that takes its colours from the page."""
    parts = [f"<p>{escape(sentence)}</p>" if sentence else "", _table(rows)]
    if n_rows > len(rows):
        parts.append(f"<p>and {_more(n_rows - len(rows), 'row')}</p>")
    if notes:
        said = [escape(note) for note in notes[:MOST_NOTES]]
        said += [f"and {_more(len(notes) - MOST_NOTES, 'note')}"] if len(notes) > MOST_NOTES else []
        parts.append(f"<ul>{''.join(f'<li>{note}</li>' for note in said)}</ul>")
    return f'<div class="venire">{"".join(parts)}</div>'


def _table(rows: Sequence[dict[str, Any]]) -> str:
    """Write the columns that hold anything, numbers to the right; where there are many, a row takes one line."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = [name for name in names if any(row.get(name) is not None for row in rows)]
    if not columns:
        return ""
    cut = len(columns) > FEW_COLUMNS
    cell = {name: f' style="text-align:{"right" if _is_numeric(rows, name) else "left"}"' for name in columns}
    head = "".join(f'<th scope="col"{cell[name]}>{escape(name)}</th>' for name in columns)
    body = ("".join(f"<td{cell[name]}{_cell(shown(row.get(name)), cut=cut)}</td>" for name in columns) for row in rows)
    lines = "".join(f"<tr>{line}</tr>" for line in body)
    start = '<table style="white-space:nowrap">' if cut else "<table>"
    table = f"{start}<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<div style="overflow-x:auto" tabindex="0">{table}</div>'


def _cell(text: str, *, cut: bool) -> str:
    """Write the rest of a cell; where texts are cut, of a long one its beginning, and the whole if one points at it."""
    if not cut or len(text) <= LONGEST_TEXT:
        return f">{escape(text)}"
    return f' title="{escape(text)}">{escape(text[: LONGEST_TEXT - 1].rstrip())}…'


def shown(value: object) -> str:
    """Return a cell as people read it: four digits, thousands apart, a dash for nothing."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2g}" if 0 < abs(value) < 5e-5 else f"{value:.0f}" if abs(value) >= 1e6 else f"{value:,.4f}"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(map(shown, value)) if isinstance(value, list | tuple) else str(value)


def known(value: float) -> float | None:
    """Return a number for a record: None where it is not known."""
    return None if isnan(value) else float(value)


def _is_numeric(rows: Iterable[dict[str, Any]], name: str) -> bool:
    return all(isinstance(row.get(name), int | float | None) and not isinstance(row.get(name), bool) for row in rows)


def _notes(table: Tabular) -> list[str]:
    """What a table or result says to be careful about, as values or by a method."""
    words: list[str] = []
    for name in ("notes", "warnings"):
        found = getattr(table, name, ())
        words += found() if callable(found) else found
    return words


def _more(n: int, noun: str) -> str:
    return f"{n:,} more {noun}{'' if n == 1 else 's'}"
