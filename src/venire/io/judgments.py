"""Judgments from any source and into any format: qrels, tables, frames and dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from venire.data.ids import Category
from venire.data.judgments import Judgments, on_one_scale
from venire.data.scale import NOT_APPLICABLE, Scale, is_number
from venire.errors import FormatError, UnknownName, reasons
from venire.io.files import DATASET, opened
from venire.io.foreign import known_judgments, names_assessors, of_assessor, refuse_flat, refuse_other
from venire.io.outputs import NewFiles
from venire.io.paths import expanded_all, names_files
from venire.io.qrels import add_qrels, read_qrels
from venire.io.rows import Rows, assemble, named
from venire.io.sources.known import JUDGMENTS, read_head, source_of
from venire.io.tables.columns import (
    JSON_LINES,
    SEPARATOR,
    doubtful_table,
    ending_of,
    header_names,
    looks_like_table,
    refuse_other_kind,
)
from venire.results import Note, counted

JudgmentsLike = Judgments | str | Path | Mapping[str, Any] | Iterable[Any]
JudgmentSets = JudgmentsLike | Mapping[str, Judgments]
MOST_RECOGNISED = 25
"""A table is taken for a wide one only if it has at most so many different labels, unless the scale is declared."""


def read_judgments(
    source: JudgmentsLike,
    *,
    scale: Scale | str | None = None,
    layout: str | None = None,
    aspects: Sequence[str] = (),
    second_column: str = "ignore",
    negative: str = "unjudged",
    duplicate_labels: str | None = None,
    not_applicable: str = NOT_APPLICABLE,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
) -> Judgments:
    """Read judgments, of one source or of several together.

    Parameters
    ----------
    source : path, folder, pattern, frame, {topic: {doc: label}}, Qrel rows of ir_measures, Qrels of ranx; or several
        of these in a list, or by the names of their assessors, {assessor: source}
        TREC qrels: one file is one assessor, named after the file.  CSV, TSV, JSONL and Parquet: long, one row per
        label, with columns for topic, doc, label and perhaps assessor, intent, aspect, given, unit, task, time,
        probability (of the item to be chosen for this label); or wide, with a column per assessor or aspect, where
        empty cells were not judged.  Header lines ``# reference: ann`` and ``# machines: gpt4,llama`` declare who is
        who (``Judgments.declare``).  Also exports of other tools, which are recognised (Label Studio, Argilla, Prodigy,
        doccano, Quepid, OpenSearch, UMBRELA), folders of BEIR and MTEB, and "irds:ID" for a dataset of ir_datasets.
    scale : what the labels are, as in "Non<Rel<HRel"
        Without it: what the file's header or a TOML beside it declares, else the labels that occur, in numeric order;
        a note says so.
    layout : "long", "wide" (a column per assessor) or "aspects" (a column per aspect)
        Without it, a table with a column of labels is long, and one without is wide if its further columns, two or
        more, hold labels; a note says so.
    aspects : aspects that are asked for; a table with a column for each of them, and none that names aspects, is wide
        by aspects
    second_column : what the second column of qrels is: "ignore", "assessor" or "intent"
    negative : grades below zero are "unjudged" (as in trec_eval) or the "lowest" label
    duplicate_labels : a second label by one assessor for one item is an "error" (qrels), or the "last" (tables) or
        "first" counts, by time if the table has one; rows that are identical in every column count once.  Notes and
        ``dropped`` count what was left out.  "keep" keeps all, for ``consistency`` and ``anonymous()``
    not_applicable : a label that is no judgment, unless the scale has it; a note says how many there are
    columns : which column of a table is what, as in {"label": "rating", "doc": "url"}, where names do not tell
    where : read only the rows with these values, by any column of a table, as in {"batch": "2"}; the scale is that of
        all rows.  ``Judgments.where`` chooses by topic, doc, assessor, label and facets afterwards

    Notes
    -----
    Where no scale is declared, labels of one aspect (``where(aspect="trust")``) are on a scale of their own, the labels
    that occur for that aspect.

    Examples
    --------
    >>> read_judgments({"q1": {"d1": 2, "d2": 0}})
    <Judgments: 2 labels on 2 items of 1 topic by 1 assessor, scale 0<2>
    """
    if isinstance(source, Judgments):
        return source
    wanted = {name: [each] if isinstance(each, str) else list(each) for name, each in (where or {}).items()}
    form = {"layout": layout, "columns": columns, "also": tuple(wanted), "aspects": tuple(aspects) or None}
    declared = Scale.parse(scale) if isinstance(scale, str) else scale

    def rows() -> list[Rows]:
        parts = read_rows(source, second_column=second_column, **form)
        refuse_unknown_columns(wanted, parts)
        _refuse_unread_columns(columns or {}, parts)
        for part in parts:
            _refuse_doubtful(part, declared or part.scale, not_applicable)
        return parts

    judgments = assemble(
        rows(),  # held by nobody else, so that memory is free as soon as a column is used
        scale=declared,
        negative=negative,
        duplicate_labels=duplicate_labels,
        not_applicable=not_applicable,
        where=wanted,
    )
    if "aspect" not in judgments.facets or declared is not None or not judgments.scale.inferred:
        return judgments
    from venire.data.aspects import aspect_scales

    own = tuple(aspect_scales(judgments).items())
    return replace(judgments, scale=replace(judgments.scale, aspects=own)) if own else judgments


def as_judgments(source: JudgmentsLike, *, scale: Scale | None = None) -> Judgments:
    """Return judgments as they are; read anything else with ``read_judgments``, on this scale if there is one."""
    return source if isinstance(source, Judgments) else read_judgments(source, scale=scale)


def as_judgment_sets(source: JudgmentSets) -> dict[str, Judgments]:
    """Return judgments by name as they are; read anything else with ``read_judgments``, as one set without a name."""
    if isinstance(source, Mapping) and source and all(isinstance(each, Judgments) for each in source.values()):
        return {str(name): each for name, each in source.items()}
    return {"": as_judgments(source)}


def read_also(labels: Judgments, source: JudgmentsLike) -> tuple[Judgments, Judgments]:
    """Read judgments on the scale of others; if that was inferred, both get the labels that occur in either."""
    others = as_judgments(source, scale=None if labels.scale.inferred else labels.scale)
    return on_one_scale(labels, others)


def read_rows(source: Any, *, second_column: str = "ignore", **form: Any) -> list[Rows]:
    """Read rows of one source or several, labels still as text; assessors of different files get different names.

    form: how tables are read, as ``read_table`` takes it.
    """
    stated = {name: value for name, value in form.items() if value is not None}
    parts = list(_parts(source, second_column, stated))
    if parts and not any(len(part.line) for part in parts):
        hint = reasons(note for part in parts for note in part.notes)
        raise FormatError(parts[0].source, None, "holds no labels", hint=hint)
    return _with_distinct_names([part if len(part.line) else _without_labels(part) for part in parts])


def _without_labels(part: Rows) -> Rows:
    """Note that a file of several has no labels; who is declared there has none either."""
    note = Note("no-labels", "{where} holds no labels", where=part.source)
    return replace(part, roles=(), notes=(note, *part.notes))


def refuse_unknown_columns(names: Iterable[str], parts: Sequence[Rows]) -> None:
    """Raise where no source has a column by which rows are chosen."""
    for name in names:
        if not any(name in part.extra for part in parts):
            raise UnknownName("column", name, dict.fromkeys(each for part in parts for each in part.columns))


def _refuse_unread_columns(stated: Mapping[str, str], parts: Sequence[Rows]) -> None:
    """Raise where a column was stated, and no source is a table or has keys that may be stated."""
    for role, name in stated.items():
        if parts and not any(name in part.columns for part in parts):
            hint = "columns are those of tables, or keys of records; read this without it"
            raise FormatError(parts[0].source, None, f"has no column {name!r} for the {role}", hint=hint)


def _with_distinct_names(parts: list[Rows]) -> list[Rows]:
    """Name assessors after folder and file where several folders have files of the same name."""
    names = [part.assessor.names[0] if part.named_after_file and len(part.line) else None for part in parts]
    twice = {name for name, times in Counter(names).items() if name is not None and times > 1}
    sources = Counter(part.source for part, name in zip(parts, names, strict=True) if name in twice)
    for source, times in sources.items():
        if times > 1:
            raise FormatError(source, None, "is given twice", hint="name each file of judgments once")
    return [
        named(part, f"{Path(part.source).parent.name}/{name}") if name in twice else part
        for part, name in zip(parts, names, strict=True)
    ]


def _parts(source: Any, second_column: str, form: Mapping[str, Any]) -> Iterable[Rows]:
    if names_files(source):
        for path in expanded_all(source):
            yield _read_file(path, second_column, form)
        return
    source = known_judgments(source, second_column=second_column)
    if isinstance(source, Rows):
        yield source
    elif names_assessors(source):
        for name, each in source.items():
            held = known_judgments(each, second_column=second_column)
            named_frame = {**form, "source": str(name)} if hasattr(held, "columns") else form
            yield from (of_assessor(name, part) for part in _parts(held, second_column, named_frame))
    elif isinstance(source, Mapping):
        from venire.io.tables.rows import rows_from_dict

        refuse_flat(source, "dict", '{"51": {"d1": 2}}')
        yield rows_from_dict(source)
    elif hasattr(source, "columns"):
        from venire.io.tables.rows import rows_from_frame

        yield rows_from_frame(source, **form)
    else:
        refuse_other(source, "judgments")
        for each in source:
            yield from _parts(each, second_column, form)


def _read_file(path: Path, second_column: str, form: Mapping[str, Any]) -> Rows:
    if str(path).startswith(DATASET):
        from venire.io.sources import irds

        return irds.rows(path)
    with opened(path) as file:
        head = read_head(file)
    if not form.get("layout") and (source := source_of(head, path, JUDGMENTS)) is not None:
        return source.rows(path, form.get("columns") or {})
    stated = bool(form.get("columns"))
    if looks_like_table(head, path.name, stated=stated) or form.get("layout"):
        from venire.io.tables.rows import read_table

        return read_table(path, **form)
    refuse_other_kind(header_names(head, path.name), "judgments", path)
    return read_qrels(path, second_column=second_column)


def _refuse_doubtful(part: Rows, scale: Scale | None, not_applicable: str) -> None:
    """Raise where a table that was taken for a wide one holds something else than labels."""
    if not part.recognised:
        return
    labels = [label for label in part.label.names if label != not_applicable]
    wrong = [label for label in labels if not is_number(label) and (scale is None or label not in scale.labels)]
    if wrong or (scale is None and len(labels) > MOST_RECOGNISED):
        raise doubtful_table(part.columns, wrong[0] if wrong else labels[-1], part.source)


def write_judgments(
    judgments: JudgmentsLike, path: str | Path, *, layout: str = "long", second_column: str = "ignore"
) -> None:
    """Write judgments; the format follows from the name: .csv, .tsv, .jsonl, .parquet, anything else is TREC qrels.

    The parameters are those of ``read_judgments``; reading the file back with them gives the same judgments.
    """
    with NewFiles() as files:
        add_judgments(files, as_judgments(judgments), Path(path), layout=layout, second_column=second_column)


def add_judgments(
    files: NewFiles, judgments: Judgments, path: Path, *, layout: str = "long", second_column: str = "ignore"
) -> None:
    """Write judgments among other new files."""
    if ending_of(path.name) in (*SEPARATOR, *JSON_LINES, ".parquet"):
        from venire.io.tables.write import add_table

        add_table(files, judgments, path, layout=layout)
    else:
        add_qrels(files, judgments, path, second_column=second_column)


def read_grid(text: str, *, scale: Scale | str | None = None, assessors: Sequence[str] = ()) -> Judgments:
    """Read labels as papers and tests print them: a line per assessor, a column per document, a dot if not judged.

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
