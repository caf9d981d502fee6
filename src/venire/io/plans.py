"""Files of plans: judgments to collect, one a row, in blocks by topic.

A plan is a table with the columns ``topic, doc, judge, kind, probability, reason``, and ``other``, the second document,
where it has preference tests.  It is written as TSV with a header; .gz or .zst may end the file's name.  With one more
column, ``label``, it is a table of judgments: ``judge`` is read as the assessor, and ``probability`` as it is.  With
``preferred``, the choice of a preference test, it is one of preferences.

Reading is strict, since probabilities enter estimates: no other columns, no empty cells (but a preference test without
a judge, which anybody may take), probabilities in (0, 1].
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from venire.data.asked import KINDS, PREFERENCE, Asked
from venire.errors import FormatError, known_names
from venire.io.compression import written
from venire.io.outputs import NewFiles
from venire.io.tables.blocks import TableRows, read_frame
from venire.results import first_few
from venire.types import Bools

NAMES = Asked._fields
COLUMNS, OTHER = NAMES[:-1], NAMES[-1]
TEXTS = ("topic", "doc", "judge", "kind", "reason")
HINT = f"a plan has the columns {', '.join(COLUMNS)}, and {OTHER} for preference tests"


def read_plan(path: str | Path) -> tuple[Asked, ...]:
    """Read a plan from a file; one that asks for nothing has no rows.

    Cost: O(bytes), and a sort of the distinct names.
    """

    def choose(names: Sequence[str], line: int | None) -> tuple[Mapping[str, Any], None]:
        refuse_columns(names, path, line)
        return dict.fromkeys(names, "String"), None

    if Path(path).is_file() and not Path(path).stat().st_size:
        raise FormatError(path, 1, "found nothing, expected a plan", hint=HINT)
    rows = read_frame(Path(path), choose)
    refuse_columns(rows.frame.columns, path, None)
    if rows.frame.height == 0:
        return ()
    cells: dict[str, list[Any]] = {name: _texts(rows, name) for name in TEXTS}
    cells[OTHER] = _texts(rows, OTHER) if OTHER in rows.frame.columns else [""] * rows.frame.height
    cells["probability"] = _probabilities(rows)
    found = tuple(Asked(*row) for row in zip(*(cells[name] for name in NAMES), strict=True))
    _refuse_rows(found, rows)
    return found


def refuse_columns(names: Sequence[str], where: object, line: int | None) -> None:
    """Raise unless the columns are those of a plan."""
    if not is_plan(names):
        shown = first_few(list(names), 12) or "nothing"
        hint = "these are labels: name the plan that they were collected for" if "label" in names else HINT
        raise FormatError(where, line, f"found the columns {shown}, expected those of a plan", hint=hint)


def is_plan(names: Iterable[str]) -> bool:
    """Whether a table with these columns is a plan."""
    return set(names) - {OTHER} == set(COLUMNS)


def _texts(rows: TableRows, name: str) -> list[str]:
    """Return a column as text, "" where it is empty."""
    found = rows.encoded(rows.texts(name).fill_null("").alias(name))
    return list(found.texts())


def _probabilities(rows: TableRows) -> list[float]:
    hint = "a probability is above 0 and at most 1"
    empty = np.array([not each for each in _texts(rows, "probability")], dtype=np.bool_)
    rows.refuse(empty, "the probability is empty", hint=hint)
    value = rows.finite_numbers("probability", hint=hint)
    rows.refuse(~((value > 0) & (value <= 1)), lambda row: f"the probability is {value[row]:g}", hint=hint)
    return list(value.tolist())


def _refuse_rows(found: Sequence[Asked], rows: TableRows) -> None:
    """Raise at the first row that lacks something, is of no kind, or asks for what another asks for."""

    def marked(wrong: Iterable[bool]) -> Bools:
        return np.fromiter(wrong, dtype=np.bool_, count=len(found))

    for name in ("topic", "doc", "judge", "reason"):
        free = PREFERENCE if name == "judge" else ""
        empty = marked(not getattr(each, name) and each.kind != free for each in found)
        rows.refuse(empty, f"the {name} is empty", hint=HINT)
    rows.refuse(
        marked(each.kind not in KINDS for each in found),
        lambda row: f"there is no kind of judgment {found[row].kind!r}",
        hint=known_names("", KINDS),
    )
    rows.refuse(
        marked(bool(each.other) != (each.kind == PREFERENCE) or each.other == each.doc for each in found),
        lambda row: f"the other document of a {found[row].kind} judgment is {found[row].other!r}",
        hint=f"{PREFERENCE} tests have two documents, labels have one",
    )
    seen: set[tuple[str, ...]] = set()
    keys = [(each.topic, each.doc, each.judge, each.kind, each.other) for each in found]
    again = marked(key in seen or bool(seen.add(key)) for key in keys)  # type: ignore[func-returns-value]
    rows.refuse(again, lambda row: f"{found[row].doc!r} of topic {found[row].topic!r} is asked for twice", hint=HINT)


def plan_bytes(asked: Sequence[Asked], where: object = "plan") -> bytes:
    """Return a plan as TSV, with its header."""
    import polars as pl

    names = NAMES if any(each.other for each in asked) else COLUMNS
    file = io.BytesIO()
    try:
        cells = {name: [getattr(each, name) or None for each in asked] for name in names}
        columns = {name: pl.Series(name, cells[name], dtype=_type(name)) for name in names}
    except UnicodeEncodeError as error:
        message = f"{error.object!r} is not UTF-8, as all text in a table is"
        raise FormatError(where, None, message, hint="convert the names in judgments and runs to UTF-8") from None
    pl.DataFrame(columns).write_csv(file, separator="\t")
    return file.getvalue()


def _type(name: str) -> Any:
    import polars as pl

    return pl.Float64 if name == "probability" else pl.String


def write_plan(asked: Sequence[Asked], path: str | Path) -> None:
    """Write a plan as TSV, compressed as the name says; the file takes its place once it is complete.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_plan([Asked("q1", "d7", "ann", "reference", 0.25, "rank 1")], Path(folder) / "plan.tsv")
    ...     read_plan(Path(folder) / "plan.tsv")
    (Asked(topic='q1', doc='d7', judge='ann', kind='reference', probability=0.25, reason='rank 1', other=''),)
    """
    data = plan_bytes(asked, path)
    with NewFiles() as files, written(Path(path), files) as file:
        file.write(data)
