"""read_aspects: tables of labels on several aspects into Aspects, with N/A.

A table has a column ``aspect``, or (wide by aspects) a column per aspect; which, is recognised.  Labels are read once,
on a scale without order that holds them all and N/A; each aspect then gets its own: as stated, as
declared for the file, or inferred.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from venire.data.aspects import Aspects, aspects_of, refuse_unknown_aspect
from venire.data.ids import Category, joined
from venire.data.judgments import Judgments
from venire.data.scale import NOT_APPLICABLE, Scale
from venire.errors import FormatError, ScaleError, UnknownName, known_names
from venire.io.judgments import JudgmentsLike, read_rows, refuse_unknown_columns
from venire.io.rows import Rows, assemble, inferred_scale, locate_row
from venire.types import Bools

ScaleLike = Scale | str
AspectsLike = Aspects | JudgmentsLike


def read_aspects(
    source: AspectsLike,
    *,
    names: Iterable[str] | None = None,
    scale: ScaleLike | None = None,
    scales: Mapping[str, ScaleLike] | None = None,
    layout: str | None = None,
    not_applicable: str = NOT_APPLICABLE,
    negative: str = "unjudged",
    duplicate_labels: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
) -> Aspects:
    """Read labels on several aspects.

    Parameters
    ----------
    source : as ``read_judgments`` takes it; judgments and aspects in memory are taken as they are
    names : the aspects that are expected; any other is an error that names its line
    scale, scales : that of all aspects, and that of some of them by name; else as the file declares, else inferred for
        each aspect from its labels
    not_applicable : the label that is no grade
    layout : "long" or "aspects" (a column per aspect); without it, a table of two further columns or more that has no
        column of aspects has a column per aspect
    negative, duplicate_labels, columns, where : as for ``read_judgments``
    """
    if isinstance(source, Aspects):
        return source
    if isinstance(source, Judgments):
        stated = {name: _as_scale(each) for name, each in (scales or {}).items()}
        return aspects_of(source, scales=stated, not_applicable=not_applicable)
    how: dict[str, Any] = {"layout": layout, "columns": columns, "negative": negative, "where": where}
    how |= {"duplicate_labels": duplicate_labels, "not_applicable": not_applicable}
    how |= {"names": names, "scale": scale, "scales": scales}
    labels, own = aspect_labels(source, **how)
    return aspects_of(labels, scales=own, not_applicable=not_applicable)


def aspect_labels(
    source: JudgmentsLike,
    *,
    names: Iterable[str] | None = None,
    scale: ScaleLike | None = None,
    scales: Mapping[str, ScaleLike] | None = None,
    not_applicable: str = NOT_APPLICABLE,
    negative: str = "unjudged",
    duplicate_labels: str | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    **reading: Any,
) -> tuple[Judgments, dict[str, Scale]]:
    """Read labels on one scale that contains all, also N/A; return them and the scale of each aspect."""
    parts = read_rows(source, also=tuple(where or ()), aspects=(), **reading)
    refuse_unknown_columns(where or (), parts)
    for part in parts:
        _refuse_unknown(part, names)
    own = _scales(parts, scale, scales or {}, not_applicable)
    every = dict.fromkeys([label for each in own.values() for label in each.labels] + [not_applicable])
    judgments = assemble(
        parts,
        scale=Scale(tuple(every), "nominal"),
        negative=negative,
        duplicate_labels=duplicate_labels,
        not_applicable=not_applicable,
        where=where,
    )
    _refuse_off_scale(parts, own, not_applicable)
    return judgments, own


def _refuse_unknown(part: Rows, names: Iterable[str] | None) -> None:
    aspect = part.facets.get("aspect")
    if aspect is None:
        message = "names no aspects: expected a column 'aspect'"
        raise FormatError(part.source, None, message, hint="if each aspect has a column, state the layout: aspects")
    if names is not None:
        refuse_unknown_aspect(aspect, names, part.source, part.line)


def _scales(
    parts: Sequence[Rows], scale: ScaleLike | None, scales: Mapping[str, ScaleLike], not_applicable: str
) -> dict[str, Scale]:
    """Return the scale of every aspect: stated by name, stated for all, declared by the files, or inferred."""
    aspect, label = joined([part.facets["aspect"] for part in parts]), joined([part.label for part in parts])
    for name in scales:
        if name not in list(aspect.names):
            raise UnknownName("aspect", name, aspect.names)
    declared = {part.scale: part.source for part in parts if part.scale is not None}
    if scale is None and len(declared) > 1:
        raise ScaleError(f"{' and '.join(declared.values())} declare different scales", hint="state the scale")
    of_all = _as_scale(scale) if scale is not None else next(iter(declared), None)
    found = {}
    for code, name in enumerate(aspect.names):
        stated = scales.get(name, of_all)
        some = stated if stated is not None else _inferred(label, aspect.codes == code, parts, not_applicable)
        found[name] = _graded(_as_scale(some), not_applicable)
    return found


def _inferred(label: Category, rows: Bools, parts: Sequence[Rows], not_applicable: str) -> Scale:
    """Infer a scale from the labels of some rows, without N/A."""
    names = list(label.names)
    used = np.unique(label.codes[rows])
    used = used[[names[code] != not_applicable for code in used.tolist()]]
    place = np.full(len(names), -1, dtype=np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    return inferred_scale(Category(np.where(rows, place[label.codes], np.int32(-1)), label.names.take(used)), parts)


def _refuse_off_scale(parts: Sequence[Rows], own: Mapping[str, Scale], not_applicable: str) -> None:
    """Raise at the first label that is on the scale of another aspect, but not on that of its own."""
    every = dict.fromkeys(label for scale in own.values() for label in scale.labels)
    aspect, label = joined([part.facets["aspect"] for part in parts]), joined([part.label for part in parts])
    texts = list(label.names)
    wrong = np.array(
        [[text in every and text not in own[name].labels for text in texts] for name in aspect.names], dtype=np.bool_
    )
    rows = np.flatnonzero(wrong[aspect.codes, label.codes])
    if len(rows):
        name, text = aspect.names[int(aspect.codes[rows[0]])], texts[int(label.codes[rows[0]])]
        hint = f"{known_names(text, own[name].labels)}; or {not_applicable!r}"
        message = f"label {text!r} is not on the scale of {name!r}, {own[name]}"
        raise FormatError(*locate_row(parts, int(rows[0])), message, hint=hint)


def _graded(scale: Scale, not_applicable: str) -> Scale:
    labels = tuple(label for label in scale.labels if label != not_applicable)
    return replace(scale, labels=labels)


def _as_scale(scale: ScaleLike) -> Scale:
    return Scale.parse(scale) if isinstance(scale, str) else scale
