"""Aspects: grades of a document on several aspects of relevance.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 4.1: an assessor grades a document on topicality, novelty,
freshness, authority and quality, besides overall relevance, in isolation and conditionally (``given`` another
document).  "N/A", not applicable, is a label of its own, not the same as no label.  Every aspect has its own scale.

``Aspects`` has a row per document, document read before, and assessor, and a column per aspect.  For scoring, N/A
counts as no judgment (readers leave it out, with a note).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from venire.data.ids import Category
from venire.data.judgments import FACETS, Items, Judgments
from venire.data.scale import NOT_APPLICABLE, Scale
from venire.errors import AmbiguousLabels, FormatError, ScaleError, UnknownName
from venire.results import Note, Records, Tabular, counted
from venire.types import Bools, Codes, Floats, Ints

ABSENT, NO_LABEL = -1, -2
"""Codes for an aspect that is not applicable, and for no label."""


@dataclass(frozen=True, eq=False, repr=False)
class Aspects(Tabular):
    """Grades by aspect: item, given, assessor (row,), sorted by item; grade (row, aspect), -1 N/A, -2 no label."""

    names: tuple[str, ...]
    scales: tuple[Scale, ...]
    items: Items
    item: Codes
    given: Category
    assessor: Category
    grade: Codes
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.item)

    @property
    def topic(self) -> Codes:
        """Topic of each row -> (row,) into ``items.topics``."""
        return self.items.topic[self.item]

    @property
    def is_conditional(self) -> Bools:
        """Whether another document was read before -> (row,)."""
        return np.array([bool(name) for name in self.given.names], dtype=np.bool_)[self.given.codes]

    def number_of(self, name: str) -> int:
        """Return the number of an aspect; raise if it is unknown."""
        if name not in self.names:
            raise UnknownName("aspect", name, self.names)
        return self.names.index(name)

    def scale_of(self, name: str) -> Scale:
        """Return the scale of an aspect."""
        return self.scales[self.number_of(name)]

    def grades(self, name: str) -> Codes:
        """Grades on one aspect -> (row,); -1 N/A, -2 no label."""
        return self.grade[:, self.number_of(name)]

    def take(self, rows: Ints | Bools) -> Aspects:
        """Choose rows; items keep their numbers."""
        return replace(
            self,
            item=self.item[rows],
            given=self.given.take(rows),
            assessor=self.assessor.take(rows),
            grade=self.grade[rows],
        )

    def complete(self, names: Iterable[str] | None = None) -> Bools:
        """Mark the rows with a grade, not N/A, on each of these aspects (default: all) -> (row,)."""
        columns = [self.number_of(name) for name in (self.names if names is None else names)]
        return np.asarray((self.grade[:, columns] >= 0).all(axis=1))

    def judgments(self, name: str) -> Judgments:
        """Return the grades on one aspect as judgments on its own scale, without N/A."""
        grade = self.grades(name)
        absent = int((grade == ABSENT).sum())
        note = Note("not-applicable", "{n:label} N/A for {aspect} taken as unjudged", n=absent, aspect=name)
        rows = grade >= 0
        facets = {"given": self.given.take(rows)} if self.is_conditional.any() else {}
        labels = Judgments(self.scale_of(name), self.items, self.item[rows], self.assessor.take(rows), grade[rows])
        return replace(labels, facets=facets, notes=(note,) if absent else ())

    def sentence(self) -> str:
        """Return the counts in one line."""
        absent, given = int((self.grade == ABSENT).sum()), int(self.is_conditional.sum())
        docs, topics = counted(len(np.unique(self.item)), "document"), counted(len(np.unique(self.topic)), "topic")
        return (
            f"{counted(int((self.grade != NO_LABEL).sum()), 'label')} on {counted(len(self.names), 'aspect')} "
            f"({', '.join(self.names)}) of {docs} of {topics}: {counted(len(self) - given, 'time')} in isolation, "
            f"{given:,} conditional; {absent:,} are {NOT_APPLICABLE}."
        )

    def records(self) -> Records:
        """Return one row per document that an assessor labelled, a column per aspect; None where there is no label."""
        of = {NO_LABEL: None, ABSENT: NOT_APPLICABLE}
        columns = {
            "topic": Category(self.topic, self.items.topics).texts(),
            "doc": Category(self.item, self.items.doc).texts(),
            "given": [name or None for name in self.given.texts()],
            "assessor": self.assessor.texts(),
        } | {
            name: [of[level] if level < 0 else scale.labels[level] for level in self.grades(name).tolist()]
            for name, scale in zip(self.names, self.scales, strict=True)
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _first(self, most: int) -> tuple[Records, int]:
        return self.take(np.arange(min(most, len(self)))).records(), len(self)

    def __repr__(self) -> str:
        return f"<Aspects: {self.sentence()}>"


def aspects_of(
    judgments: Judgments, *, scales: Mapping[str, Scale] | None = None, not_applicable: str = NOT_APPLICABLE
) -> Aspects:
    """Arrange judgments with a column ``aspect`` in one column per aspect.

    scales: that of each aspect; without it, the scale that reading inferred for the aspect, else that of all labels.
    not_applicable: the label, if the judgments' scale has it, that is no grade.  Cost: O(rows log rows).

    Examples
    --------
    >>> from venire import read_judgments
    >>> import polars as pl
    >>> table = pl.DataFrame({"topic": ["1", "1"], "doc": ["d", "e"], "rel": ["2", "1"], "trust": ["7", "0"]})
    >>> aspects_of(read_judgments(table, layout="aspects")).grade.tolist()
    [[1, 1], [0, 0]]
    """
    if "aspect" not in judgments.facets:
        raise UnknownName("column", "aspect", ["topic", "assessor", *judgments.facets])
    judgments.require_one(*(name for name in FACETS if name not in ("aspect", "given")))
    aspect = judgments.facets["aspect"]
    names = tuple(aspect.names)
    own = {**dict(judgments.scale.aspects), **(scales or {})}
    plain = _without(judgments.scale, not_applicable)
    own_scales = tuple(own.get(name, plain) for name in names)
    row, first = _numbered(judgments)
    _refuse_repeats(judgments, row, aspect)
    _refuse_off_scale(judgments, own_scales, not_applicable)
    table = np.array([each.levels_from(judgments.scale) for each in own_scales], dtype=np.int32)
    if not_applicable in judgments.scale.labels:
        table[:, judgments.scale.level_of(not_applicable)] = ABSENT
    grade: Codes = np.full((len(first), len(names)), NO_LABEL, dtype=np.int32)
    grade[row, aspect.codes] = table[aspect.codes, judgments.label]
    given = judgments.facets.get("given") or Category.constant("", len(judgments))
    item, assessor = judgments.item[first], judgments.assessor.take(first)
    return Aspects(names, own_scales, judgments.items, item, given.take(first), assessor, grade, judgments.notes)


def aspect_scales(judgments: Judgments) -> dict[str, Scale]:
    """Infer a scale for every aspect from its own labels; empty where all have the scale of the file.  O(rows)."""
    aspect = judgments.facets.get("aspect")
    if aspect is None or len(aspect.names) < 2:
        return {}
    n = len(judgments.scale)
    used = np.bincount(aspect.codes.astype(np.int64) * n + judgments.label, minlength=n * len(aspect.names))
    labels = [
        [label for label, count in zip(judgments.scale.labels, counts, strict=True) if count]
        for counts in used.reshape(-1, n).tolist()
    ]
    scales = {name: Scale.infer(some) for name, some in zip(aspect.names, labels, strict=True)}
    return {} if set(scales.values()) == {judgments.scale} else scales


def shares_of_top(scale: Scale, *, exponential: bool = False, reverse: bool = False) -> Floats:
    """Return the linear or exponential gain of each label as a share of that of the top label.

    reverse: the lowest label is the best.
    """
    steps, top = scale.steps(), float(scale.steps()[-1])
    steps = top - steps if reverse else steps
    return (np.exp2(steps) - 1) / max(np.exp2(top) - 1, 1.0) if exponential else steps / max(top, 1.0)


def _without(scale: Scale, label: str) -> Scale:
    if label not in scale.labels:
        return scale
    return replace(scale, labels=tuple(each for each in scale.labels if each != label))


def _numbered(judgments: Judgments) -> tuple[Ints, Ints]:
    """Number the rows of the table: item, document read before, and assessor; also the first row of each."""
    given = judgments.facets.get("given")
    number = judgments.item.astype(np.int64)
    if given is not None:
        number = np.unique(number * max(len(given.names), 1) + given.codes, return_inverse=True)[1]
    cell = number * max(len(judgments.assessor.names), 1) + judgments.assessor.codes
    _, first, row = np.unique(cell, return_index=True, return_inverse=True)
    return row, first


def _refuse_repeats(judgments: Judgments, row: Ints, aspect: Category) -> None:
    cell = row * len(aspect.names) + aspect.codes
    order = np.argsort(cell, kind="stable")
    again = order[1:][cell[order[1:]] == cell[order[:-1]]]
    if len(again):
        at = int(again.min())
        doc, name = judgments.items.doc[int(judgments.item[at])], aspect.names[int(aspect.codes[at])]
        message = f"document {doc!r} has several {name!r} labels by one assessor"
        raise AmbiguousLabels(message, hint="keep the first or the last of repeated labels when reading")


def _refuse_off_scale(judgments: Judgments, scales: Iterable[Scale], not_applicable: str) -> None:
    """Raise if an aspect's scale lacks one of its labels."""
    aspect = judgments.facets["aspect"]
    off = np.array([each.levels_from(judgments.scale) < 0 for each in scales])
    if not_applicable in judgments.scale.labels:
        off[:, judgments.scale.level_of(not_applicable)] = False
    rows = np.flatnonzero(off[aspect.codes, judgments.label])
    if len(rows):
        label, name = judgments.scale.labels[judgments.label[rows[0]]], aspect.names[int(aspect.codes[rows[0]])]
        raise ScaleError(f"label {label!r} is not on the scale of the aspect {name!r}", hint="state another scale")


def refuse_unknown_aspect(aspect: Category, known: Iterable[str], where: object, line: Ints | range) -> None:
    """Raise at the first row (with its line) whose aspect is not known."""
    names, expected = list(aspect.names), list(known)
    wrong = [code for code, name in enumerate(names) if name not in expected]
    rows = np.flatnonzero(np.isin(aspect.codes, wrong))
    if len(rows):
        name = names[int(aspect.codes[rows[0]])]
        listed = ", ".join(repr(each) for each in expected)
        raise FormatError(where, int(line[rows[0]]), f"there is no aspect {name!r}", hint=f"expected {listed}")
