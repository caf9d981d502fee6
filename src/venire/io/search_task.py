"""The search task read as judgments: what a user opened and saved is relevant, what they opened and left is not.

Turpin and Scholer (2009), Sections 4.1 and 4.3.  Documents that a user did not open have no label by that user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.errors import FormatError, known_names
from venire.io.rows import assemble
from venire.io.tables.blocks import TableRows, frame_of
from venire.io.tables.rows import rows_from_frame
from venire.results import Note
from venire.types import Bools

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

COLUMNS = ("user", "topic", "doc", "opened", "saved")
WHERE = "clicks"
WORDS = {**dict.fromkeys(("1", "true", "yes"), 1), **dict.fromkeys(("0", "false", "no"), 0)}
FLAG_HINT = "write true or false, 1 or 0, yes or no"


def search_judgments(
    clicks: pl.DataFrame | pd.DataFrame | Mapping[str, Sequence[Any]],
    *,
    task: str = "search",
    duplicate_labels: str = "keep",
) -> Judgments:
    """Read what users of a search system opened and saved as judgments: 1 saved, 0 opened and not saved.

    clicks: a data frame, or columns by name: user, topic, doc, and opened and saved (true or false, 1 or 0, yes or no);
    other columns are not read.  ``saved`` may be empty where nothing was opened.  task: the value of the facet ``task``
    of these labels.  duplicate_labels: a user who opened a document several times for a topic gave as many labels
    ("keep"), or the "first" or "last" counts, or it is an "error".  Cost: O(rows log rows).

    Examples
    --------
    >>> clicks = {"user": ["ann", "ann", "ann"], "topic": [707, 707, 707], "doc": ["d1", "d2", "d3"],
    ...           "opened": [True, True, False], "saved": [True, False, False]}
    >>> search_judgments(clicks).to_polars().select("assessor", "doc", "label", "task").rows()
    [('ann', 'd1', '1', 'search'), ('ann', 'd2', '0', 'search')]
    """
    import polars as pl

    table = _table(clicks)
    opened, saved = _marks(table)
    if not opened.any():
        raise FormatError(WHERE, None, "no document was opened", hint="only documents that a user opened are judged")
    chosen = table.frame.filter(pl.Series(opened)).select(topic="topic", doc="doc", assessor="user")
    label = pl.Series("label", saved[opened].astype(np.int8))
    rows = rows_from_frame(chosen.with_columns(label, pl.lit(task).alias("task")), source=WHERE)
    unopened = int((~opened).sum())
    note = Note("unopened-documents", "{n:document} shown and not opened left out", n=unopened)
    rows = replace(rows, line=np.flatnonzero(opened) + 1, notes=(note,) if unopened else ())
    return assemble([rows], scale=Scale.parse("0<1"), duplicate_labels=duplicate_labels)


def _table(clicks: pl.DataFrame | pd.DataFrame | Mapping[str, Sequence[Any]]) -> TableRows:
    """Return the five columns as text; all rows have a user, a topic and a document."""
    import polars as pl

    rows = frame_of(clicks, WHERE)
    for name in COLUMNS:
        if name not in rows.frame.columns:
            hint = f"rename the column that is the {name}; {known_names(name, rows.frame.columns)}"
            raise FormatError(WHERE, None, f"there is no column {name!r}, expected {', '.join(COLUMNS)}", hint=hint)
    table = rows._replace(frame=pl.DataFrame([rows.texts(name).alias(name) for name in COLUMNS]))
    for name in COLUMNS[:3]:
        table.refuse(table.frame[name].is_null(), f"the {name} is empty", hint=f"every row needs its {name}")
    return table


def _marks(table: TableRows) -> tuple[Bools, Bools]:
    """Return whether each row was opened, and saved -> (row,) each."""
    opened, saved = _flags(table, "opened"), _flags(table, "saved")
    without = "a document counts as judged once it was opened; where saving needs no opening, set opened to true"
    for wrong, message, hint in (
        (opened < 0, "it is not stated whether the document was opened", FLAG_HINT),
        ((opened == 1) & (saved < 0), "it is not stated whether the document was saved", FLAG_HINT),
        ((opened == 0) & (saved == 1), "the document was saved and not opened", without),
    ):
        table.refuse(wrong, message, hint=hint)
    return opened == 1, saved == 1


def _flags(table: TableRows, name: str) -> NDArray[np.int8]:
    """Read a column of yes and no: 1, 0, and -1 where it is empty -> (row,)."""
    import polars as pl

    column = table.frame[name]
    word = column.str.strip_chars().str.to_lowercase()
    word = word.set(word == "", None)
    wrong = (~word.is_in(list(WORDS))).fill_null(False)
    table.refuse(wrong, lambda row: f"{name} is {column[row]!r}, expected yes or no", hint=FLAG_HINT)
    return word.replace_strict(WORDS, default=-1, return_dtype=pl.Int8).to_numpy()
