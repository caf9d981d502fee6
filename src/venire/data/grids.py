"""Grids: judgments as they stand in papers and tests, one line per assessor and one column per document."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venire.data.ids import Category
from venire.data.judgments import Judgments
from venire.data.rows import Rows, assemble
from venire.data.scale import Scale
from venire.errors import FormatError
from venire.results import counted


def read_grid(text: str, *, scale: Scale | str | None = None, assessors: Sequence[str] = ()) -> Judgments:
    """Read labels in lines, one per assessor, separated by blanks; a dot was not judged.

    Documents are called d1, d2, ..., all for the topic 1; assessors U1, U2, ... unless they are named.

    Examples
    --------
    >>> read_grid('''
    ...     2 1 . 0
    ...     2 2 1 0''')
    <Judgments: 7 labels on 4 items of 1 topic by 2 assessors, scale 0<1<2>
    """
    lines = [line.split() for line in text.splitlines() if line.strip()]
    widths = sorted({len(line) for line in lines})
    if len(widths) > 1:
        shown = " and ".join(map(str, widths))
        raise FormatError("grid", None, f"the lines have {shown} labels", hint="write a dot for no label")
    names = list(assessors) or [f"U{n}" for n in range(1, len(lines) + 1)]
    if len(names) != len(lines):
        found = f"{counted(len(lines), 'line')} of labels and {counted(len(names), 'name')} of assessors"
        raise FormatError("grid", None, f"found {found}", hint="name one assessor per line")
    cells = [
        (name, f"d{n}", label)
        for name, line in zip(names, lines, strict=True)
        for n, label in enumerate(line, start=1)
        if label != "."
    ]
    if not cells:
        raise FormatError("grid", None, "has no label", hint="write a line per assessor, with a label per document")
    who, doc, label = zip(*cells, strict=True)
    topic, line = Category.constant("1", len(cells)), np.arange(1, len(cells) + 1)
    rows = Rows("grid", topic, Category.of(doc), Category.of(who), Category.of(label), line)
    return assemble([rows], scale=Scale.parse(scale) if isinstance(scale, str) else scale)
