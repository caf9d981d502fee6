"""Tables into Rows: batches of columns become text, wide tables are melted, names are encoded.

A wide table is melted batch by batch, so that memory is linear in the number of labels, not of cells.

Ids are the text as written.  Ahead of the header of a CSV or TSV there may be lines that begin with ``#``, and they may
declare the scale, ``# scale: Non<Rel<HRel``, and who judged; so may a TOML file beside any table (``io.declarations``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from venire.data.ids import Category, is_id
from venire.data.judgments import FACETS
from venire.errors import FormatError
from venire.io.declarations import declared_roles, header_scale, scale_beside
from venire.io.files import opened, stem
from venire.io.lines import BOM
from venire.io.rows import Rows, joined_column
from venire.io.tables.blocks import TableRows, as_polars, frame_blocks, table_blocks
from venire.io.tables.cells import encoded, probabilities, seconds, texts
from venire.io.tables.columns import HEAD, LAYOUTS, Columns, Form, find_columns, votes_fault
from venire.io.tables.long_table import NUMBERS, LongTable, empty_cell, hash_of_rest
from venire.results import Note, first_few
from venire.types import Floats, Ints, Words

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

FEWEST_VOTES = 4


class Part(NamedTuple):
    """A batch as text, one column per role; of a wide table also its cells: row, assessor or aspect, label."""

    frame: pl.DataFrame
    line: Ints
    cells: pl.DataFrame | None = None
    rest: Words | None = None


def read_table(path: Path, **reading: Any) -> Rows:
    """Read one table; text formats may be gz or zst.

    Parameters are layout, columns, also and aspects.

    layout: "long", "wide" (a column per assessor) or "aspects" (a column per aspect); None recognises it.
    columns: which column is what, as in {"label": "rating"}, where names do not tell.  also: names of further
    columns that are read, into ``Rows.extra``.  aspects: those that are asked for, () for any: a table without a column
    of aspects, but with a column for each of these, is wide by aspects.
    A table without assessors has one, named after the file.  ``Rows.line`` is the line, and the row in Parquet.
    The scale is that of the header, else that of the file beside.
    Cost: O(bytes), plus a sort of the distinct names.

    When not to use this: qrels have no header, and are read by ``read_qrels``.
    """
    with opened(path) as file:
        head = file.read(HEAD).removeprefix(BOM)
    scale, roles = header_scale(head, path), declared_roles(head, path)
    form = Form(path, **reading)

    def choose(names: Sequence[str], line: int | None) -> tuple[Mapping[str, Any], Columns]:
        """Find the columns; of Parquet, those without a role are not read."""
        nonlocal form
        columns = find_columns(names, form, line=line)
        form = form._replace(layout=columns.layout)
        return dict.fromkeys(names if line is not None else columns.used(), "String"), columns

    rows = rows_of(table_blocks(path, choose), form, name=path.name, assessor=stem(path))
    return replace(rows, scale=scale or scale_beside(path), roles=roles)


def rows_from_frame(frame: pl.DataFrame | pd.DataFrame, *, source: str = "frame", **reading: Any) -> Rows:
    """Read a data frame of polars or pandas as ``read_table`` reads a file; ``Rows.line`` counts its rows from 1."""
    form, table = Form(source, **reading), as_polars(frame, source)
    columns = find_columns(table.columns, form)
    blocks = ((rows, columns) for rows in frame_blocks(table, source))
    return rows_of(blocks, form, name=source, assessor="assessor")


def rows_from_dict(
    qrels: Mapping[str, Mapping[str, int | float | str]], *, source: str = "dict", assessor: str = "assessor"
) -> Rows:
    """Read a dictionary of dictionaries, topic -> document -> label, as pytrec_eval takes them.

    Examples
    --------
    >>> rows = rows_from_dict({"51": {"d1": 2, "d2": 0}})
    >>> rows.doc.texts(), rows.label.texts()
    (['d1', 'd2'], ['2', '0'])
    """
    topics = list(qrels)
    docs = [doc for each in qrels.values() for doc in each]
    labels = [_label(label) for each in qrels.values() for label in each.values()]
    _refuse_dict([*topics, *docs] if docs else [], source)
    if not all(map(is_id, labels)):
        pairs = ((topic, doc, label) for topic, each in qrels.items() for doc, label in each.items())
        topic, doc, label = next(pair for pair, text in zip(pairs, labels, strict=True) if not is_id(text))
        message = f"document {doc!r} of topic {topic!r} has the label {_written(label)}, expected a number or a text"
        raise FormatError(source, None, message, hint="leave out documents that were not judged")
    n_docs = [len(each) for each in qrels.values()]
    return Rows(
        source=source,
        topic=Category.of(topics).take(np.repeat(np.arange(len(topics)), n_docs)),
        doc=Category.of(docs),
        assessor=Category.constant(assessor, len(docs)),
        label=Category.of(labels),
        line=np.arange(1, len(docs) + 1),
        duplicate_labels="error",
    )


def rows_of(blocks: Iterable[tuple[TableRows, Columns]], form: Form, *, name: str, assessor: str) -> Rows:
    """Make Rows of blocks.

    name: that of the table, for notes.  assessor: that of a table that names none.
    """
    parts, columns, long = [], Columns({}), LongTable()
    for rows, found in blocks:
        columns = _merged(columns, found, rows)
        if LAYOUTS[found.layout] is None:
            long.add(rows, found)
        else:
            parts.append(_part(rows, found))
    if long.n_rows:
        named, line, numbers, rest = long.columns(form)
    else:
        table = _joined(parts, form)
        parts.clear()
        _refuse_empty(table, form)
        _refuse_votes(table, columns, form)
        rest = table.rest
        named, line, numbers = _encoded(table, form)
    own = "assessor" in named
    if not own:
        named["assessor"] = Category.constant(assessor, len(line))
    renamed = columns.unused or not own or any(role != name for role, name in columns.roles.items())
    return Rows(
        source=str(form.where),
        topic=named["topic"],
        doc=named["doc"],
        assessor=named["assessor"],
        label=named["label"],
        line=line,
        facets={facet: named[facet] for facet in FACETS if facet in named},
        time=numbers.get("time"),
        probability=numbers.get("probability"),
        rest=rest,
        extra={name: named[name] for name in form.also if name in named},
        duplicate_labels="last",
        notes=(_note(columns, name, None if own else assessor),) if renamed or columns.spread else (),
        columns=tuple(dict.fromkeys([*columns.used(), *columns.unused])),
        recognised=columns.recognised,
    )


def _note(columns: Columns, name: str, assessor: str | None) -> Note:
    """Note which column was taken for what: ``topic = qid, doc = docid, label = rel; not used: gold``."""
    roles = ", ".join(f"{role} = {column}" for role, column in columns.roles.items())
    one = "" if assessor is None else f"; one assessor, {assessor!r}"
    if columns.spread:
        return Note(
            "wide-table",
            "{table} is read as a wide table, a column per {spread}: {roles}; {spread}s: {shown}{one}",
            table=name,
            spread=LAYOUTS[columns.layout],
            names=columns.spread,
            recognised=columns.recognised,
            roles=roles,
            shown=first_few(columns.spread, 6),
            one=one,
        )
    roles += f"; not used: {first_few(columns.unused, 6)}" if columns.unused else ""
    return Note("columns", "{table}: {roles}{one}", table=name, roles=roles, unused=columns.unused, one=one)


def _encoded(table: Part, form: Form) -> tuple[dict[str, Category], Ints, dict[str, Floats]]:
    """Encode the column of each role, and repeat the rows of a wide table for its cells; also lines and numbers."""
    frame, line, cells, _ = table
    there = [name for name in NUMBERS if name in frame.columns]
    numbers = {name: frame.drop_in_place(name).fill_null(np.nan).to_numpy() for name in there}
    named = {role: encoded(frame.drop_in_place(role), form.where, line) for role in list(frame.columns)}
    if cells is None:
        return named, line, numbers
    row = cells.drop_in_place("row").to_numpy()
    named = {role: Category(column.codes[row], column.names) for role, column in named.items()}
    line, numbers = line[row], {name: column[row] for name, column in numbers.items()}
    return named | {role: encoded(cells[role], form.where, line) for role in cells.columns}, line, numbers


def _merged(known: Columns, found: Columns, rows: TableRows) -> Columns:
    """Add the columns of a block to those known, with which they must agree."""
    for role, name in found.roles.items():
        before = known.roles.get(role, name)
        if before != name:
            message = f"from here on {name!r} is the {role}, but before it was {before!r}"
            raise FormatError(rows.where, int(rows.line[0]), message, hint="use one name for the column")
    return Columns(
        {**known.roles, **found.roles},
        tuple(dict.fromkeys(known.spread + found.spread)),
        tuple(dict.fromkeys(known.unused + found.unused)),
        found.layout,
        recognised=known.recognised or found.recognised,
    )


def _part(rows: TableRows, columns: Columns) -> Part:
    """Turn a block into text, and melt the columns that hold labels.

    Of the columns that are not read only a hash of each row is kept, to find identical rows.
    """
    import polars as pl

    read = {"time": seconds, "probability": probabilities, "label": _labels}
    found = [
        read.get(role, texts)(rows.frame[name], rows.where, rows.line).alias(role)
        for role, name in columns.roles.items()
    ]
    cells = _melted(rows, columns) if columns.spread else None
    return Part(pl.DataFrame(found), rows.line, cells, hash_of_rest(rows, columns))


def _labels(column: pl.Series, where: object, line: Ints) -> pl.Series:
    """Return the text of each label, without white space around it."""
    label = texts(column, where, line).str.strip_chars()
    return label.set(label == "", None)


def _melted(rows: TableRows, columns: Columns) -> pl.DataFrame:
    """Return the filled cells of the columns that hold labels, row by row: assessor or aspect, label, row."""
    import polars as pl

    cells = [rows.frame[name] for name in columns.spread]
    cells = [each if each.dtype == pl.String else texts(each, rows.where, rows.line) for each in cells]
    filled = pl.DataFrame(cells).select(pl.all().is_not_null()).to_numpy()
    name, row = np.nonzero(filled.T)
    label = pl.concat([each.alias("label") for each in cells]).drop_nulls()
    spread = pl.Series(LAYOUTS[columns.layout] or "", columns.spread).gather(name)
    melted = pl.DataFrame([spread, _labels(label, rows.where, rows.line), pl.Series("row", row)])
    return melted.drop_nulls("label").sort("row", maintain_order=True)


def _joined(parts: Sequence[Part], form: Form) -> Part:
    """Concatenate parts; rows of a wide table that have no label are dropped."""
    import polars as pl

    cells, before = [], 0
    for part in parts:
        if part.cells is not None:
            cells.append(part.cells.with_columns(pl.col("row") + before))
        before += len(part.line)
    if not parts or (cells and not any(map(len, cells))):
        raise FormatError(form.where, None, "holds no judgments", hint="expected rows under the header")
    frame = pl.concat([part.frame for part in parts], how="diagonal")
    may_be_empty = [name for name in (*FACETS, *form.also) if name in frame.columns]
    frame = frame.with_columns(pl.col(may_be_empty).fill_null("")) if may_be_empty else frame
    line = np.concatenate([part.line for part in parts])
    if not cells:
        return Part(frame, line, rest=joined_column(parts, "rest", np.uint64(0)))
    joined = pl.concat(cells)
    row = joined["row"].to_numpy()
    judged = np.bincount(row, minlength=len(line)) > 0
    place = pl.Series("row", (np.cumsum(judged) - 1)[row])
    return Part(frame.filter(pl.Series(judged)), line[judged], joined.with_columns(place))


def _label(label: float | str) -> str:
    """Return a label as text, whole numbers without a fraction; what has no text is empty, which is refused."""
    if isinstance(label, str):
        return label
    try:
        number = float(label)
        return "" if np.isnan(number) else str(int(label)) if number.is_integer() else str(number)
    except (TypeError, ValueError, OverflowError):  # no number, or one of more digits than Python writes
        return ""


def _written(label: object) -> str:
    """Return the beginning of a label that is none, for a message."""
    try:
        return repr(str(label)[:60])
    except ValueError:
        return "(a number of too many digits)"


def _refuse_dict(texts: Sequence[Any], source: str) -> None:
    """Raise unless there are judgments, and each topic and document is a text that is not empty."""
    wrong = [text for text in texts if not isinstance(text, str) or not is_id(text)]
    hint = 'expected {"51": {"d1": 2}}'
    if wrong:
        raise FormatError(
            source, None, f"found {repr(wrong[0])[:60]}, expected text for topics and documents", hint=hint
        )
    if not texts:
        raise FormatError(source, None, "holds no judgments", hint=hint)


def _refuse_votes(table: Part, columns: Columns, form: Form) -> None:
    """Raise where columns that should be assessors are named for labels and count how often each was given.

    Numbers of votes fill every cell, and the sum of a row is the same in all rows.
    """
    if table.cells is None or columns.layout != "wide" or not all(name.isdigit() for name in columns.spread):
        return
    shape, whole = (len(table.line), len(columns.spread)), table.cells["label"].str.contains(r"^\d+$").all()
    if shape[0] < FEWEST_VOTES or len(table.cells) != shape[0] * shape[1] or not whole:
        return
    votes = np.bincount(table.cells["row"].to_numpy(), table.cells["label"].cast(float).to_numpy())
    if (votes == votes[0]).all() and votes[0] > 1:
        raise votes_fault(columns.spread, form.where)


def _refuse_empty(table: Part, form: Form) -> None:
    """Raise at the first row without topic, document, assessor or label."""
    empty = {
        int(table.frame[role].is_null().arg_max() or 0): role
        for role in ("label", "assessor", "doc", "topic")
        if role in table.frame.columns and table.frame[role].null_count()
    }
    if empty:
        raise empty_cell(empty, table.line, form)
