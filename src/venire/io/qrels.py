"""TREC qrels: topic, a second column, document, label; read and written.

The second column is ignored (one file is one assessor, named after the file), or names the assessor (trec_eval's
judgment groups), or the intent (diversity qrels).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from venire.data.ids import Category, as_bytes
from venire.data.judgments import Judgments
from venire.data.rows import Rows, inferred_scale
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, FormatError, UnknownName, VenireError
from venire.io.faults import columns_fault, control_fault
from venire.io.lines import read_bytes
from venire.io.naming import stem
from venire.kernels.fields import Fields, split
from venire.kernels.slices import padded

COLUMNS = "topic, 0, document, label"
TOPIC, SECOND, DOC, LABEL = range(4)
SECOND_COLUMN = ("ignore", "assessor", "intent")


def read_qrels(path: Path, *, second_column: str = "ignore") -> Rows:
    """Read one qrels file.  O(bytes)."""
    if second_column not in SECOND_COLUMN:
        raise UnknownName("reading of the second column", second_column, SECOND_COLUMN)
    data = read_bytes(path)
    fields = split(padded(data if data.endswith(b"\n") else data + b"\n"), 4)
    _refuse(path, fields, data)
    second = fields.column(SECOND)
    named = second_column == "assessor"
    assessor = Category.of_slices(second) if named else Category.constant(stem(path), len(fields.line))
    return Rows(
        source=str(path),
        topic=Category.of_slices(fields.column(TOPIC)),
        doc=Category.of_slices(fields.column(DOC)),
        assessor=assessor,
        label=Category.of_slices(fields.column(LABEL)),
        line=fields.line + 1,
        facets={"intent": Category.of_slices(second)} if second_column == "intent" else {},
        scale=header_scale(data),
        repeats="error",
    )


def header_scale(data: bytes) -> Scale | None:
    """Find ``# scale: Non<Rel<HRel`` among the comment lines that a text begins with."""
    for line in data[: 1 << 16].splitlines():
        if not line.startswith(b"#"):
            return None
        key, _, value = line.lstrip(b"# ").partition(b":")
        if key.strip().lower() == b"scale":
            return Scale.parse(value.decode("utf-8", "replace").strip())
    return None


def write_qrels(judgments: Judgments, path: Path, *, second_column: str = "ignore") -> None:
    """Write qrels; several assessors or intents need the second column to tell them apart."""
    assessors, intent = judgments.assessor, judgments.facets.get("intent")
    if second_column != "assessor" and len(assessors.names) > 1:
        raise AmbiguousLabels(
            f"{len(assessors.names)} assessors do not fit into one qrels file",
            hint='write them as judgment groups (second_column="assessor"), or choose one with where(assessor=...)',
        )
    if second_column == "intent" and intent is None:
        raise UnknownName("column", "intent", ["topic", "assessor", *judgments.facets])
    second = {"assessor": assessors.texts, "intent": intent.texts if intent else assessors.texts}
    middle: Sequence[str] = second[second_column]() if second_column in second else ["0"] * len(judgments)
    docs = Category(judgments.item, judgments.items.doc).texts()
    rows = zip(judgments.column("topic").texts(), middle, docs, judgments.label.tolist(), strict=True)
    labels = judgments.scale.labels
    text = "".join(f"{topic} {each} {doc} {labels[level]}\n" for topic, each, doc, level in rows)
    header = "" if judgments.scale == _inferred(judgments) else f"# scale: {judgments.scale}\n"
    path.write_bytes(as_bytes(header + text))


def _inferred(judgments: Judgments) -> Scale | None:
    """Return the scale that a reader would infer from the labels that occur, if it could."""
    used = [judgments.scale.labels[level] for level in np.unique(judgments.label).tolist()]
    try:
        return inferred_scale(Category.of(used))
    except (VenireError, IndexError):
        return None


def _refuse(path: Path, fields: Fields, data: bytes) -> None:
    """Raise what splitting found wrong."""
    fault = fields.fault
    if fault is not None and fault.kind == "control":
        raise control_fault(path, fault.line + 1, fault)
    if fault is not None:
        raise columns_fault(path, fault.line + 1, data.split(b"\n")[fault.line], fault, f"4: {COLUMNS}")
    if len(fields.line) == 0:
        raise FormatError(path, None, "holds no judgments", hint=f"expected lines of {COLUMNS}")
