"""What is wrong with qrels: lines that do not fit, documents judged twice, files that are something else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from venire.data.ids import as_text
from venire.io.file_kinds import WAYS
from venire.io.qrels import DOC, LABEL, SECOND, TOPIC, name_a_choice
from venire.io.text_survey import Problem
from venire.scan.fields import Fields
from venire.scan.slices import encode


def preferences(fields: Fields) -> list[Problem]:
    """Say so if every line names one of its two middle columns as the last."""
    if not name_a_choice(fields):
        return []
    what = "the last column always repeats the second or third: these seem to be preferences, not judgments"
    return [Problem(what, int(fields.line[0]) + 1, WAYS["preferences"], fatal=True)]


def repeated_labels(fields: Fields, reading: Mapping[str, Any]) -> list[Problem]:
    """Find documents that are judged twice for a topic, with the same label or with another."""
    named = [TOPIC, DOC, *[SECOND] * (reading.get("second_column", "ignore") != "ignore")]
    key = np.zeros(len(fields.line), dtype=np.int64)
    for column in named:
        code = encode(fields.column(column))[0]
        key = np.unique(key * (int(code.max()) + 1) + code, return_inverse=True)[1]
    label = encode(fields.column(LABEL))[0]
    order = np.argsort(key, kind="stable")
    again = np.append(False, key[order[1:]] == key[order[:-1]])
    other = again & np.append(False, label[order[1:]] != label[order[:-1]])
    problems = []
    for rows, words in ((other, "gets another label than before"), (again & ~other, "gets the same label again")):
        if rows.any():
            row = int(order[rows].min())
            doc, topic = (as_text(fields.column(n).at(row)) for n in (DOC, TOPIC))
            more = f" ({rows.sum():,} such lines)" if rows.sum() > 1 else ""
            what = f"document {doc!r} {words} for topic {topic!r}{more}"
            problems.append(Problem(what, int(fields.line[row]) + 1, *_way_out(rows is other, reading)))
    return problems


def _way_out(differs: bool, reading: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Return the hint for repeated labels, and whether they keep the file from being read."""
    if reading.get("repeats") not in (None, "error"):
        return None, False
    hint = "keep both with --repeats keep, or one of them with --repeats first (or last)"
    return (hint, True) if differs else ("the repetition is ignored", False)
