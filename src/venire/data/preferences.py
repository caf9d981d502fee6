"""Preferences: pairs of documents (or of whole result lists) that somebody judged side by side.

A row is one choice: topic, the document shown on the left, the one on the right, who chose, and how strongly.  The
sign has one meaning everywhere: **positive: the left one is better**, negative: the right one, 0: a tie.  (Chu et al.
2021, doi:10.1145/3459637.3482428, use this sign in Section 3.4.2 and the opposite one in Section 5.1.1.)  The range is
free: -1..1, -2..2, -4..4 or any real numbers.  Nothing is pooled: two choices on one pair are two rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from venire.data.ids import Category, Ids, joined, numbered_within
from venire.errors import SettingError
from venire.results import Note, Records, Tabular, counted
from venire.types import Bools, Codes, Floats, Ints

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Origin:
    """Where rows were read: the file of each, and its line from 1, both (row,)."""

    source: Category
    line: Ints

    def take(self, rows: Ints | Bools) -> Origin:
        """Choose rows."""
        return Origin(self.source.take(rows), self.line[rows])


@dataclass(frozen=True, eq=False, repr=False)
class Preferences(Tabular):
    """Pairs of documents judged side by side, all (row,): strength > 0: left is better, 0: a tie.

    ``topic`` is into ``topics``; ``left`` and ``right`` are into ``docs``.  ``origin`` is where rows were read, for
    errors found later; None where they were not read from a file.
    """

    topics: Ids
    docs: Ids
    topic: Codes
    left: Codes
    right: Codes
    assessor: Category
    strength: Floats
    notes: tuple[Note, ...] = ()
    origin: Origin | None = None

    @classmethod
    def of(cls, rows: Iterable[Sequence[object]]) -> Preferences:
        """Make a table of rows (topic, left, right, strength) or (topic, left, right, strength, assessor).

        Examples
        --------
        >>> Preferences.of([("t1", "d1", "d2", 1, "ann"), ("t1", "d2", "d3", 0, "bob")])
        <Preferences: 2 choices (1 tie) on 2 pairs of 1 topic by 2 assessors>
        """
        full = [tuple(row) if len(row) > 4 else (*row, "unknown") for row in rows]
        columns: list[tuple[object, ...]] = list(zip(*full, strict=True)) or [()] * 5
        topic, left, right, assessor = (Category.of(map(str, columns[n])) for n in (0, 1, 2, 4))
        return from_columns((topic, left, right), np.array(columns[3], dtype=np.float64), assessor)

    def __len__(self) -> int:
        return len(self.strength)

    @property
    def assessors(self) -> tuple[str, ...]:
        """Names of the assessors."""
        return tuple(self.assessor.names)

    @property
    def outcome(self) -> Codes:
        """Which one was preferred -> (row,): 1 the left one, 0 neither, -1 the right one."""
        return np.sign(self.strength).astype(np.int32)

    def place(self, row: int) -> tuple[str, int]:
        """Where a row was read: the name of its file or table, and the line, from 1."""
        if self.origin is None:
            return "preferences", row + 1
        source = self.origin.source
        return source.names[int(source.codes[row])], int(self.origin.line[row])

    def take(self, rows: Ints | Bools) -> Preferences:
        """Choose rows; topics and documents keep their numbers."""
        return replace(
            self,
            topic=self.topic[rows],
            left=self.left[rows],
            right=self.right[rows],
            assessor=self.assessor.take(rows),
            strength=self.strength[rows],
            origin=None if self.origin is None else self.origin.take(rows),
        )

    def where(
        self, *, topic: str | Iterable[str] | None = None, assessor: str | Iterable[str] | None = None
    ) -> Preferences:
        """Choose the rows with these names: ``where(topic=["t1", "t2"], assessor="ann")``."""
        rows = np.ones(len(self), dtype=np.bool_)
        if topic is not None:
            rows &= Category(self.topic, self.topics).among(topic, "topic")
        if assessor is not None:
            rows &= self.assessor.among(assessor, "assessor")
        return self.take(rows)

    def oriented(self) -> Preferences:
        """Exchange sides where needed so that ``left`` < ``right`` as numbers into ``docs``: a pair has one form."""
        turn = self.left > self.right
        return replace(
            self,
            left=np.minimum(self.left, self.right),
            right=np.maximum(self.left, self.right),
            strength=np.where(turn, 0.0 - self.strength, self.strength),
        )

    def anonymous(self) -> Preferences:
        """Take every choice as that of a different person: assessors are 1, 2, ... for the choices on a pair.

        For crowds whose workers are not known.
        """
        return replace(self, assessor=numbered_within(self.pairs()[0]))

    def pairs(self) -> tuple[Ints, Ints]:
        """Number the distinct pairs, whichever way round -> pair (row,), and the first row of each pair (pair,).

        Pairs are numbered by topic, then by their documents.  O(n log n).
        """
        n_docs = max(len(self.docs), 1)
        low = np.minimum(self.left, self.right).astype(np.int64)
        high = np.maximum(self.left, self.right).astype(np.int64)
        _, within = np.unique(low * n_docs + high, return_inverse=True)
        n_within = int(within.max(initial=-1)) + 1
        key = self.topic.astype(np.int64) * max(n_within, 1) + within
        _, first, pair = np.unique(key, return_index=True, return_inverse=True)
        return pair.astype(np.int64), first.astype(np.int64)

    def sentence(self) -> str:
        """Return a summary in one line."""
        n_ties = int((self.strength == 0).sum())
        n_topics, n_pairs = len(np.unique(self.topic)), len(self.pairs()[1])
        return (
            f"{counted(len(self), 'choice')} ({counted(n_ties, 'tie')}) on {counted(n_pairs, 'pair')} of "
            f"{counted(n_topics, 'topic')} by {counted(len(self.assessor.names), 'assessor')}"
        )

    def to_polars(self) -> pl.DataFrame:
        """Return the long table, names as text; ``strength`` is left-positive."""
        import polars as pl

        return pl.DataFrame(
            {
                "topic": Category(self.topic, self.topics).texts(),
                "left": Category(self.left, self.docs).texts(),
                "right": Category(self.right, self.docs).texts(),
                "assessor": self.assessor.texts(),
                "strength": self.strength,
            }
        )

    def records(self) -> Records:
        """Return one row per choice, names as text."""
        return self.to_polars().to_dicts()

    def _first(self, most: int) -> tuple[Records, int]:
        return self.take(np.arange(min(most, len(self)))).records(), len(self)

    def __repr__(self) -> str:
        return f"<Preferences: {self.sentence()}>"


def from_columns(
    names: tuple[Category, Category, Category],
    strength: Floats,
    assessor: Category | None = None,
    *,
    notes: tuple[Note, ...] = (),
    origin: Origin | None = None,
) -> Preferences:
    """Make a table of columns: names (topic, left, right), strength (row,) left-positive, who (None: unknown).

    Left and right come under one set of document names.
    """
    topic, left, right = names
    docs = joined([left, right])
    table = Preferences(
        topics=topic.names,
        docs=docs.names,
        topic=topic.codes,
        left=docs.codes[: len(left)],
        right=docs.codes[len(left) :],
        assessor=assessor or Category.constant("unknown", len(topic)),
        strength=np.asarray(strength, dtype=np.float64),
        notes=notes,
        origin=origin,
    )
    _check(table)
    return table


def joined_preferences(parts: Sequence[Preferences]) -> Preferences:
    """Concatenate tables over one set of topics, documents and assessors; each note is kept once.

    Rows that were not read from a file count as lines of "preferences".
    """
    if not parts:
        return Preferences.of([])
    topic = joined([Category(part.topic, part.topics) for part in parts])
    docs = joined([Category(side, part.docs) for part in parts for side in (part.left, part.right)])
    unread = (Origin(Category.constant("preferences", len(part)), np.arange(1, len(part) + 1)) for part in parts)
    origins = [part.origin or default for part, default in zip(parts, unread, strict=True)]
    sides = np.split(docs.codes, np.cumsum([len(part) for part in parts for _ in range(2)])[:-1])
    return Preferences(
        topics=topic.names,
        docs=docs.names,
        topic=topic.codes,
        left=np.concatenate(sides[::2]),
        right=np.concatenate(sides[1::2]),
        assessor=joined([part.assessor for part in parts]),
        strength=np.concatenate([part.strength for part in parts]),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        origin=Origin(joined([each.source for each in origins]), np.concatenate([each.line for each in origins])),
    )


def _check(table: Preferences) -> None:
    """Raise where a document is compared with itself, or a strength is not a number."""
    same, odd = table.left == table.right, ~np.isfinite(table.strength)
    if same.any():
        row = int(np.argmax(same))
        message = f"row {row + 1} compares {table.docs[int(table.left[row])]!r} with itself"
        raise SettingError(message, hint="a preference is between two different documents: leave such rows out")
    if odd.any():
        message = f"row {int(np.argmax(odd)) + 1} has strength {table.strength[np.argmax(odd)]}, which is not a number"
        raise SettingError(message, hint="positive: left is better; 0: a tie; leave out what was not judged")
