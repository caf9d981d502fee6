"""TREC qrels: topic, a second column, document, label; read and written.

The second column is ignored (one file is one assessor, named after the file), or names the assessor (trec_eval's
judgment groups), or the intent (diversity qrels).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from venire.data.ids import Category
from venire.data.judgments import Judgments
from venire.errors import AmbiguousLabels, FormatError, UnknownName
from venire.io.compression import written
from venire.io.declarations import declarations, declared_roles, header_scale, scale_beside
from venire.io.files import stem
from venire.io.lines import read_bytes, spaced_lines, split_columns, warn_of_comments
from venire.io.outputs import NewFiles
from venire.io.rows import Rows, rows_of_qrels
from venire.io.tables.columns import WAYS
from venire.scan.fields import Fields
from venire.scan.slices import equal

COLUMNS = "topic, 0, document, label"
TOPIC, SECOND, DOC, LABEL = range(4)
TIES = np.frombuffer(b"=?!", dtype=np.uint8)
SECOND_COLUMN = ("ignore", "assessor", "intent")


def read_qrels(path: Path, *, second_column: str = "ignore") -> Rows:
    """Read one qrels file.  O(bytes)."""
    if second_column not in SECOND_COLUMN:
        raise UnknownName("reading of the second column", second_column, SECOND_COLUMN)
    data = read_bytes(path)
    fields = split_columns(data, COLUMNS.split(", "), path)
    if len(fields.line) == 0:
        raise FormatError(path, None, "holds no judgments", hint=f"expected lines of {COLUMNS}")
    warn_of_comments(path, data, 4)
    if name_a_choice(fields):
        raise FormatError(path, None, "this looks like preferences, expected judgments", hint=WAYS["preferences"])
    columns = [Category.of_slices(fields.column(number)) for number in (TOPIC, DOC, LABEL)]
    second = {} if second_column == "ignore" else {second_column: Category.of_slices(fields.column(SECOND))}
    scale, line, named = header_scale(data, path) or scale_beside(path), fields.line + 1, "assessor" in second
    if not named:
        second["assessor"] = Category.constant(stem(path), len(line))
    rows = rows_of_qrels(str(path), columns, line, second=second, scale=scale)
    return replace(rows, named_after_file=not named, roles=declared_roles(data, path))


def add_qrels(files: NewFiles, judgments: Judgments, path: Path, *, second_column: str = "ignore") -> None:
    """Write qrels, compressed as the name says; the second column can hold the assessor or the intent."""
    _refuse_loss(judgments, second_column)
    names = {"topic": "topic", second_column: second_column, "document": "doc", "label": "label"}
    columns = {
        what: ["0"] * len(judgments) if name == "ignore" else judgments.column(name).texts()
        for what, name in names.items()
    }
    lines, header = spaced_lines(columns, path), declarations(files, judgments, path, comments=True)
    with written(path, files) as file:
        file.write(header + lines)


def name_a_choice(fields: Fields) -> bool:
    """Return whether every line ends with one of its middle columns: topic, document, document, preferred one."""
    if len(fields.line) == 0:
        return False
    label, first, second = (fields.column(n) for n in (LABEL, SECOND, DOC))
    if label.at(0) not in (first.at(0), second.at(0)):
        return False
    chosen = equal(label, second)
    if not chosen.any() and label.at(0).isdigit():
        return False
    tied = np.isin(label.end - label.start, 1) & np.isin(label.buffer[label.start], TIES)
    return bool((equal(label, first) | chosen | tied).all())


def _refuse_loss(judgments: Judgments, second_column: str) -> None:
    """Raise where qrels cannot hold what distinguishes the labels."""
    if second_column not in SECOND_COLUMN:
        raise UnknownName("reading of the second column", second_column, SECOND_COLUMN)
    if judgments.probability is not None:
        message = "the probabilities with which items were chosen do not fit into qrels"
        raise AmbiguousLabels(message, hint="write a table")
    kept = {"topic", second_column}
    for name in ("assessor", *judgments.facets):
        names = judgments.column(name).names
        if name not in kept and len(names) > 1:
            raise AmbiguousLabels(
                f"labels for {len(names)} different values of {name} do not fit into these qrels",
                hint=f"write the {name} to the second column, or choose one {name}"
                if name in SECOND_COLUMN
                else f"choose one {name}, or write a table",
            )
