"""What every result shares: rows with a sentence (Tabular), a number with its interval (Estimate), and notes (Note).

Results are frozen dataclasses with ``sentence()`` and ``records()``.  Those that are Tabular derive from these two, and
from their ``notes``, what a notebook, polars, pandas or JSON needs.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from math import isfinite, isnan
from string import Formatter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 item", "2,000 items"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return names in words, the first few of many: "a, b and c", "a, b and 7 more"; nothing for none."""
    shown = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most:,} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\udc80-\udc9f]")
"""C0 and C1 controls, among them those of terminals and their bytes alone; ends of lines; and changes of direction."""


def visible(text: str, *, keep: str = "") -> str:
    r"""Return a text with controls as escapes, such as ``\x1b``, so that a name cannot act; ``keep``: those to leave.

    Examples
    --------
    >>> visible(chr(27) + "[31mred") == r"\x1b[31mred"
    True
    """
    return CONTROLS.sub(lambda found: found[0] if found[0] in keep else _escaped(found[0]), text)


def _escaped(control: str) -> str:
    if "\udc80" <= control <= "\udc9f":  # a byte that is not UTF-8
        return f"\\x{ord(control) - 0xDC00:02x}"
    return control.encode("unicode_escape").decode("ascii")


def first_few(names: Sequence[str], most: int) -> str:
    """Return names as a list after a colon: "a, b, c", "a, b and 7 more"."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def read_number(text: str) -> float:
    """Parse a number as ``float`` does, except that digits with ``_`` are a ValueError."""
    if "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return float(text)


Records = list[dict[str, Any]]

MOST_ROWS = 10
MOST_NOTES = 5
LONGEST_TEXT = 60
FEW_COLUMNS = 3
NOISE = 1e-15
"""Values up to this are rounding errors of 0."""


class Note:
    """Something that a reader of a result must know: a kind, fields, and a template that puts the fields into words.

    Code and tests ask for ``kind`` and ``fields``; nobody searches the text.  ``str(note)`` renders it.  In
    the template, ``{n:topic}`` is a count with its noun and ``{names:list}`` a list of names; all else is as in
    ``str.format``.

    Examples
    --------
    >>> note = Note("few-topics", "the intervals rest on {n:topic} only: {names:list}", n=2, names=("7", "12"))
    >>> note.kind, note.fields["n"]
    ('few-topics', 2)
    >>> str(note)
    'the intervals rest on 2 topics only: 7 and 12'
    """

    __slots__ = ("fields", "kind", "template")

    def __init__(self, kind: str, template: str, **fields: Any) -> None:
        self.kind, self.template, self.fields = kind, template, fields

    def __str__(self) -> str:
        return _IN_WORDS.format(self.template, **self.fields)

    def __repr__(self) -> str:
        return f"Note({', '.join([repr(self.kind), *(f'{name}={value!r}' for name, value in self.fields.items())])})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Note) and (self.kind, self.fields) == (other.kind, other.fields)

    def __hash__(self) -> int:
        return hash((self.kind, *self.fields))


class _InWords(Formatter):
    """Formats fields of notes: ``list`` is a list of names, and a format of letters is the noun of a count."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "list" and not isinstance(value, int):
            return listed([str(each) for each in value])
        if len(format_spec) > 1 and format_spec.replace(" ", "").isalpha():
            return counted(value, format_spec)
        return str(super().format_field(value, format_spec))


_IN_WORDS = _InWords()


class Tabular(ABC):
    """A result with rows, a sentence that summarises them, and a picture.

    Examples
    --------
    >>> from venire import Scale, linear
    >>> gains = linear(Scale.parse("Non<Rel"))
    >>> gains.to_dict()["rows"]
    [{'label': 'Non', 'gain': 0.0}, {'label': 'Rel', 'gain': 1.0}]
    >>> gains.to_dict()["sentence"]
    'Gains linear: 0 for Non, 1 for Rel.'
    >>> gains.to_polars().columns
    ['label', 'gain']
    """

    @abstractmethod
    def sentence(self) -> str:
        """Return the main finding in one sentence."""

    @abstractmethod
    def records(self) -> Records:
        """Return one dictionary per row, all with the same keys; None for unknown values."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Give a subclass this ``__repr__``, since ``dataclass`` would write one with all its arrays."""
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):
            cls.__repr__ = Tabular.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return visible(f"<{type(self).__name__}: {self.sentence()}>", keep="\n")

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON: the sentence, the rows, and the notes if there are any."""
        sentence = self.sentence()
        notes = _notes(self, sentence)
        return {"sentence": sentence, "rows": self.records()} | ({"notes": notes} if notes else {})

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a data frame.

        A column without any value has the type of its values: text for those in ``TEXTS``, else numbers.
        """
        import polars as pl

        frame = pl.DataFrame(self.records(), infer_schema_length=None)
        unknown = [name for name, kind in frame.schema.items() if kind == pl.Null and name != "observed"]
        kinds = {
            name: pl.String if name in TEXTS else pl.Boolean if name in ANSWERS else pl.Float64 for name in unknown
        }
        return frame.cast(kinds)  # type: ignore[arg-type]

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a data frame; needs pandas and pyarrow (``pip install "venire[pandas]"``)."""
        try:
            return self.to_polars().to_pandas()
        except ModuleNotFoundError as error:
            raise ImportError(f'to_pandas needs {error.name}: pip install "venire[pandas]"') from error

    def _first(self, most: int) -> tuple[Records, int]:
        """Rows to show, and their total number; large tables need not make them all."""
        rows = self.records()
        return rows[:most], len(rows)

    def plot(self, **options: Any) -> Figure:
        """Plot it: by the plot made for such results (``venire.plots``), whose options it takes, or else its rows.

        A notebook shows the figure; ``figure.savefig("plot.svg")`` writes it.
        """
        figure: Figure = _plots().draw_result(self, **options)
        return figure

    def _repr_html_(self) -> str:
        rows, n_rows = self._first(MOST_ROWS)
        sentence = self.sentence()
        picture = _plots().picture_of(self, sentence)
        return as_html(sentence, rows, n_rows=n_rows, notes=_notes(self, sentence), picture=picture)


def _plots() -> Any:
    """Return the module that draws results; it is in a higher layer, and needed only where something is drawn."""
    return import_module("venire.plots.results")


def as_html(
    sentence: str, rows: Sequence[dict[str, Any]], *, n_rows: int, notes: Sequence[str] = (), picture: str = ""
) -> str:
    """Write a sentence, the first of n_rows rows and the first notes as HTML that takes its colours from the page.

    picture: an element that is shown below the sentence.
    """
    parts = [f"<p>{escape(_closed(sentence))}</p>" if sentence else "", picture, _table(rows)]
    if n_rows > len(rows):
        parts.append(f"<p>and {counted(n_rows - len(rows), 'more row')}</p>")
    if notes:
        shown_notes = [escape(note) for note in notes[:MOST_NOTES]]
        shown_notes += [f"and {counted(len(notes) - MOST_NOTES, 'more note')}"] if len(notes) > MOST_NOTES else []
        parts.append(f"<ul>{''.join(f'<li>{note}</li>' for note in shown_notes)}</ul>")
    return f'<div class="venire">{"".join(parts)}</div>'


def _table(rows: Sequence[dict[str, Any]]) -> str:
    """Write the columns that are not empty, numbers right-aligned; with many columns, a row takes one line."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = [name for name in names if any(row.get(name) is not None for row in rows)]
    if not columns:
        return ""
    cut = len(columns) > FEW_COLUMNS
    cell = {name: f' style="text-align:{"right" if _is_numeric(rows, name) else "left"}"' for name in columns}
    head = "".join(f'<th scope="col"{cell[name]}>{escape(name)}</th>' for name in columns)
    text = {name: _format_of(rows, name) for name in columns}
    body = (
        "".join(f"<td{cell[name]}{_cell(text[name](row.get(name)), cut=cut)}</td>" for name in columns) for row in rows
    )
    lines = "".join(f"<tr>{line}</tr>" for line in body)
    start = '<table style="white-space:nowrap">' if cut else "<table>"
    table = f"{start}<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<div style="overflow-x:auto" tabindex="0">{table}</div>'


def _cell(text: str, *, cut: bool) -> str:
    """Write the rest of a cell; long texts are cut, with the whole text as a tooltip."""
    if not cut or len(text) <= LONGEST_TEXT:
        return f">{escape(text)}"
    return f' title="{escape(text)}">{escape(text[: LONGEST_TEXT - 1].rstrip())}…'


def shown(value: object, *, noise: float = NOISE) -> str:
    """Format a cell: four digits, thousands separated, a dash for nothing; values up to ``noise`` are 0."""
    if not isinstance(value, float) and hasattr(value, "tolist"):
        return shown(value.tolist(), noise=noise)
    if value is None or (isinstance(value, list | tuple) and not value) or (isinstance(value, float) and isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        value = value if abs(value) > noise else 0.0
        small = 0 < abs(value) < 5e-5
        return f"{value:.2g}" if small else f"{value:,.0f}" if abs(value) >= 1e6 else f"{value:,.4f}"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(shown(each, noise=noise) for each in value) if isinstance(value, list | tuple) else str(value)


def _format_of(rows: Iterable[dict[str, Any]], name: str) -> Callable[[object], str]:
    """Return the format of a column: counts held as floats, such as 116.0, without decimals; p-values as they are."""
    floats = [row[name] for row in rows if isinstance(row.get(name), float) and isfinite(row[name])]
    counts = all(value.is_integer() for value in floats) and any(not 0 <= value <= 1 for value in floats)
    noise = 0.0 if name == "p" or name.startswith("p_") or name.endswith("_p") else NOISE
    return lambda value: shown(
        int(value) if counts and isinstance(value, float) and isfinite(value) else value, noise=noise
    )


def _closed(sentence: str) -> str:
    """Return a sentence with a full stop, if it has no end."""
    return sentence if sentence[-1:] in ".!?:" else f"{sentence}."


def known(value: float) -> float | None:
    """Return a number for a record: None where it is unknown."""
    return None if isnan(value) else float(value)


def known_count(value: float) -> float | int | None:
    """Return a count for a record: a whole number, unless it is weighted; None where it is unknown."""
    return int(value) if isfinite(value) and value == int(value) else known(value)


def finite(value: Any) -> Any:
    """Return data that JSON can hold: numbers that are not finite are None, at any depth."""
    if isinstance(value, Mapping):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


TEXTS = frozenset(
    ("a", "aspect", "assessor", "b", "given", "intent", "level", "measure", "other_gains", "pool", "reason", "relevant")
)
"""Columns of text all of whose values may be unknown."""
ANSWERS = frozenset(("significant", "told_apart", "passed"))
"""Columns of yes and no all of whose values may be unknown."""
NO_VALUES = re.compile(r"(sd|se|p_value|p_adjusted|needed)(_.*)?|.*_(sd|se|low|high)|low|high")
"""Columns of numbers that describe another number."""


def interval_columns(rows: Records, value: str | None = None) -> tuple[str | None, str | None, str | None]:
    """Return the column of rows that holds their main number, and those of its limits, None where there are none.

    It is the one with an interval: ``x`` with ``x_low`` and ``x_high``, or the number before ``low`` and ``high``;
    otherwise the first number that is no count, or the first number.

    Examples
    --------
    >>> interval_columns([{"name": "alpha", "n": 9, "value": 0.5, "sd": 0.1, "low": 0.3, "high": 0.7}])
    ('value', 'low', 'high')
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    numeric = [name for name in columns if any(_is_number(row.get(name)) for row in rows) and _is_numeric(rows, name)]
    chosen = [name for name in numeric if not NO_VALUES.fullmatch(name)] if value is None else [value]
    if "low" in columns and "high" in columns and "low" in numeric:
        before = [name for name in chosen if columns.index(name) < columns.index("low")]
        if before and value in (None, before[-1]):
            return ("value" if "value" in before else before[-1]), "low", "high"
    for name in chosen:
        if f"{name}_low" in numeric and f"{name}_high" in numeric:
            return name, f"{name}_low", f"{name}_high"
    chosen = [name for name in chosen if any(isinstance(row.get(name), float) for row in rows)] or chosen or numeric
    return (chosen[0] if chosen else None), None, None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_numeric(rows: Iterable[dict[str, Any]], name: str) -> bool:
    return all(isinstance(row.get(name), int | float | None) and not isinstance(row.get(name), bool) for row in rows)


def _notes(table: Tabular, sentence: str) -> list[str]:
    """Notes and warnings of a result, from attributes or methods, except its sentence."""
    found: list[object] = []
    for name in ("notes", "warnings"):
        some = getattr(table, name, ())
        found += some() if callable(some) else some
    return [text for text in map(str, found) if text != sentence]


@dataclass(frozen=True)
class Estimate(Tabular):
    """A number and its uncertainty: [low, high] is an interval of the given ``confidence``, computed by ``method``.

    Examples
    --------
    >>> print(Estimate(0.53, 0.41, 0.64, 0.95, "bootstrap over topics, n=300"))
    0.530 [0.410, 0.640] (95%, bootstrap over topics, n=300)
    """

    value: float
    low: float
    high: float
    confidence: float
    method: str

    def __str__(self) -> str:
        if isnan(self.low):
            return f"{self.value:.3f} ({self.confidence:.0%} interval: {self.method})"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}] ({self.confidence:.0%}, {self.method})"

    def sentence(self) -> str:
        """Return the value, its interval and method."""
        return str(self)

    def records(self) -> Records:
        """Return one row: value, low, high, confidence, method."""
        numbers = {name: known(getattr(self, name)) for name in ("value", "low", "high", "confidence")}
        return [{**numbers, "method": self.method}]


def limits_of(name: str, found: Estimate | None) -> dict[str, float | None]:
    """Return an estimate as fields of a record, such as alpha, alpha_low and alpha_high; None for no estimate."""
    values = (None, None, None) if found is None else (found.value, found.low, found.high)
    return dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))
