"""The seam between analyses and engines: parts of topics in, small facts out.

A *part* has all rows of some topics, or a stated split of a topic.  A *job* is a pure function from a part to *facts*,
together with the function that merges facts.  An *engine* applies a job to all parts, wherever they are, and merges
what comes back.  An analysis takes facts and does not know which engine made them.

Merging is associative and commutative, and the result does not depend on how rows were divided: whole numbers are
added, which is exact, and a floating-point number belongs to one part only; it is placed, never added.  Sums of
floating-point numbers are computed after merging, in the order of names.

Facts that leave a process are bytes without code (``pack``): arrays, names and notes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from io import BytesIO
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from venire.results import Note

Part = TypeVar("Part", contravariant=True)
Fact = TypeVar("Fact")
AnyPart = TypeVar("AnyPart")


class Job(Protocol[Part, Fact]):
    """A pure function of parts, and how its facts are merged.

    together: by table, the columns whose values divide its rows: rows that agree in them are in one part.  A table
    with fewer columns than another is repeated in each split of the other's.
    """

    together: ClassVar[Mapping[str, tuple[str, ...]]]

    def facts(self, part: Part) -> Fact:
        """Compute the facts of one part."""

    def merged(self, facts: Sequence[Fact]) -> Fact:
        """Merge facts; those of one part are returned as they are."""


class Engine(Protocol):
    """What applies a job to parts."""

    def run(self, job: Job[AnyPart, Fact], parts: Iterable[AnyPart]) -> Fact:
        """Return the merged facts of all parts, of which there is at least one."""


def united(names: Iterable[Sequence[Any]], order: Any = sorted) -> tuple[Any, ...]:
    """Unite names of several facts: as they are where all facts have the same, else each once, in a stated order."""
    distinct = dict.fromkeys(map(tuple, names))
    first = next(iter(distinct))
    return first if len(distinct) == 1 else tuple(order({name for each in distinct for name in each}))


def places(names: Sequence[Any], among: Sequence[Any]) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the place of each name among others -> (name,)."""
    place = {name: number for number, name in enumerate(among)}
    return np.array([place[name] for name in names], dtype=np.int32)


def added_notes(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Add up the counts ``n`` of notes that are the same but for it; others are kept once."""
    found: dict[str, Note] = {}
    for note in notes:
        rest = {name: value for name, value in note.fields.items() if name != "n"}
        before = found.get(key := f"{note.kind} {rest}")
        n = {"n": note.fields["n"] + (before.fields["n"] if before else 0)} if "n" in note.fields else {}
        found[key] = Note(note.kind, note.template, **(note.fields | n))
    return tuple(found.values())


def pack(facts: Any) -> bytes:
    """Write facts, a dataclass of arrays, names and notes, as bytes; ``unpack`` reads them."""
    arrays: dict[str, Any] = {}
    words: dict[str, Any] = {}
    for each in fields(facts):
        value = getattr(facts, each.name)
        if isinstance(value, np.ndarray):
            arrays[each.name] = value
        else:
            words[each.name] = [
                [part.kind, part.template, part.fields] if isinstance(part, Note) else part for part in value
            ]
    file = BytesIO()
    np.savez(file, **arrays)  # numpy before 2.2 takes allow_pickle for an array
    text = json.dumps(words).encode("ascii")
    return len(text).to_bytes(8, "little") + text + file.getvalue()


def unpack(kind: type[Fact], data: bytes) -> Fact:
    """Read facts of a kind from bytes of ``pack``."""
    length = int.from_bytes(data[:8], "little")
    words = json.loads(data[8 : 8 + length])
    with np.load(BytesIO(data[8 + length :]), allow_pickle=False) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    for name, value in words.items():
        notes = name == "notes"
        found[name] = tuple(Note(one, text, **more) for one, text, more in value) if notes else tuple(value)
    return kind(**found)
