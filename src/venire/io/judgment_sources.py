"""read_judgments: qrels, tables, frames and dictionaries into Judgments, whatever the format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from venire.data.ids import Category
from venire.data.judgments import Judgments, on_one_scale
from venire.data.rows import NOT_APPLICABLE, Rows, assemble
from venire.data.scale import Scale
from venire.errors import FormatError, UnknownName
from venire.io.file_kinds import refuse_other_kind
from venire.io.foreign import known_judgments, names_assessors, of_assessor
from venire.io.lines import opened
from venire.io.qrels import read_qrels
from venire.io.sources import expanded
from venire.io.table_formats import header_names, looks_like_table

JudgmentsLike = Judgments | str | Path | Mapping[str, Any] | Iterable[Any]


def read_judgments(
    source: JudgmentsLike,
    *,
    scale: Scale | str | None = None,
    wide: bool = False,
    wide_aspects: bool = False,
    second_column: str = "ignore",
    negative: str = "unjudged",
    repeats: str | None = None,
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
        label, with columns for topic, doc, label and perhaps assessor, intent, aspect, given, unit, task, time.
    scale : what the labels are, as in "Non<Rel<HRel"
        Without it: what the file's header or a TOML beside it declares, else the labels that occur, in numeric order;
        a note says so.
    wide, wide_aspects
        A table with one column per assessor, or per aspect; empty cells were not judged.
    second_column : what the second column of qrels is: "ignore", "assessor" or "intent"
    negative : grades below zero are "unjudged" (as in trec_eval) or the "lowest" label
    repeats : a second label by one assessor for one item is an "error" (qrels), or the "last" (tables) or "first"
        counts, by time if the table has one; rows that are identical in every column count once.  Notes and ``dropped``
        count what was left out.  "keep" keeps all, for ``consistency`` and ``anonymous()``
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
    form = {"wide": wide, "wide_aspects": wide_aspects, "columns": columns, "also": tuple(wanted)}
    parts = read_rows(source, second_column=second_column, **form)
    refuse_unknown_columns(wanted, parts)
    declared = Scale.parse(scale) if isinstance(scale, str) else scale
    judgments = assemble(
        parts, scale=declared, negative=negative, repeats=repeats, not_applicable=not_applicable, where=wanted
    )
    if "aspect" not in judgments.facets or declared is not None or any(part.scale is not None for part in parts):
        return judgments
    from venire.data.aspects import aspect_scales

    own = tuple(aspect_scales(judgments).items())
    return replace(judgments, scale=replace(judgments.scale, aspects=own)) if own else judgments


def read_also(labels: Judgments, source: JudgmentsLike) -> tuple[Judgments, Judgments]:
    """Read judgments on the scale of others; where that was inferred, both are put on the labels that occur in both."""
    others = read_judgments(source, scale=None if labels.scale.inferred else labels.scale)
    return on_one_scale(labels, others)


def read_rows(source: Any, *, second_column: str = "ignore", **form: Any) -> list[Rows]:
    """Read rows of one source or several, labels still as text; assessors of different files are told apart.

    form: how tables are laid out, as ``read_table`` takes it.
    """
    return _told_apart(list(_parts(source, second_column, form)))


def refuse_unknown_columns(names: Iterable[str], parts: Sequence[Rows]) -> None:
    """Raise where no source has a column by which rows are chosen."""
    for name in names:
        if not any(name in part.extra for part in parts):
            raise UnknownName("column", name, dict.fromkeys(each for part in parts for each in part.columns))


def _told_apart(parts: list[Rows]) -> list[Rows]:
    """Name assessors after folder and file where files of one name stand in several folders."""
    names = [part.assessor.names[0] if part.named_after_file else None for part in parts]
    twice = {name for name in names if name is not None and names.count(name) > 1}
    sources = [part.source for part, name in zip(parts, names, strict=True) if name in twice]
    for source in sources:
        if sources.count(source) > 1:
            raise FormatError(source, None, "is given twice", hint="name each file of judgments once")
    return [
        replace(part, assessor=Category.constant(f"{Path(part.source).parent.name}/{name}", len(part.line)))
        if name in twice
        else part
        for part, name in zip(parts, names, strict=True)
    ]


def _parts(source: Any, second_column: str, form: Mapping[str, Any]) -> Iterable[Rows]:
    source = known_judgments(source, second_column=second_column)
    if isinstance(source, Rows):
        yield source
    elif names_assessors(source):
        for name, each in source.items():
            yield from (of_assessor(name, part) for part in _parts(each, second_column, form))
    elif isinstance(source, Mapping):
        from venire.io.tables import rows_from_dict

        yield rows_from_dict(source)
    elif isinstance(source, (str, Path)):
        for path in expanded(source):
            yield _read_file(path, second_column, form)
    elif hasattr(source, "columns"):
        from venire.io.tables import rows_from_frame

        yield rows_from_frame(source, **form)
    else:
        for each in source:
            yield from _parts(each, second_column, form)


def _read_file(path: Path, second_column: str, form: Mapping[str, Any]) -> Rows:
    with opened(path) as file:
        head = file.read(1 << 16)
    stated = bool(form.get("columns"))
    if looks_like_table(head, path.name, stated=stated) or form.get("wide") or form.get("wide_aspects"):
        from venire.io.tables import read_table

        return read_table(path, **form)
    refuse_other_kind(header_names(head, path.name), "judgments", path)
    return read_qrels(path, second_column=second_column)
