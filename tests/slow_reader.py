"""A run file read slowly and plainly, straight from docs/reference/formats.md; and what fast readers must agree on."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from venire import FormatError
from venire.data.facts import Facts
from venire.data.ids import as_text
from venire.data.judgments import Items
from venire.data.runs import RunRules, Runs
from venire.engine.local import map_partitions
from venire.io import scanning
from venire.io.lines import GZIP, ZSTD, chunks
from venire.kernels.scanner import Scanner, Sought, make_scanner

RULES = [
    RunRules(order=order, score_type=score_type, repeated=repeated, system_from=system_from)
    for order, score_type, repeated, system_from in product(
        ("score", "rank"), ("float64", "float32"), ("error", "first"), ("tag", "file")
    )
]

# ---- the slow reader ----------------------------------------------------------------------------------------------

WHITE = b" \t\r\v\f"
CONTROL = bytes(byte for byte in range(32) if byte not in WHITE)
NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")

ListName = tuple[str, str]  # system and topic


class Reading(NamedTuple):
    """What a file holds: the numbers of its bad lines (0: the file as a whole), and lists of documents, best first."""

    bad: set[int]
    lists: dict[ListName, list[bytes]]


def read_slowly(data: bytes, rules: RunRules, *, name: str) -> Reading:
    """Read a whole file that is named ``name``."""
    *lines, rest = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    bad: set[int] = set()
    scores: dict[ListName, dict[bytes, float]] = {}
    tags: list[bytes] = []
    for number, line in enumerate([*lines, rest] if rest else lines, start=1):
        fields = line.split()
        comment = line.startswith(b"#") or not fields
        score = None if comment or len(fields) != 6 else number_in(fields[3 if rules.order == "rank" else 4], rules)
        if any(byte in CONTROL for byte in line) or (score is None and not comment):
            bad.add(number)
        elif score is not None:
            tags.append(fields[5])
            system = as_text(fields[5]) if rules.system_from == "tag" else name
            docs = scores.setdefault((system, as_text(fields[0])), {})
            if fields[2] in docs and rules.repeated == "error":
                bad.add(number)
            docs.setdefault(fields[2], score)
    if rest.split() and not rest.startswith(b"#") and rules.system_from == "tag" and cut_off(tags[-2:]):
        bad.add(len(lines) + 1)
    return Reading(bad if bad or scores else {0}, {key: best_first(docs) for key, docs in scores.items()})


def number_in(text: bytes, rules: RunRules) -> float | None:
    """Read a finite number, the larger the better; None where there is none."""
    value = float(text) if NUMBER.fullmatch(text) else float("nan")
    if not abs(value) < float("inf"):
        return None
    value = -value if rules.order == "rank" else value
    return ctypes.c_float(value).value if rules.score_type == "float32" else value


def cut_off(tags: list[bytes]) -> bool:
    """Whether the last of two tags is only the beginning of the one before."""
    return len(set(tags)) == 2 and tags[0].startswith(tags[1])


def best_first(docs: dict[bytes, float]) -> list[bytes]:
    return sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True)


# ---- what the fast readers say, in the same form ------------------------------------------------------------------

Judged = dict[ListName, tuple[int, dict[str, int]]]  # depth, and the rank of each judged document
Answer = tuple[Judged, set[str], set[str]]  # of lists with a judged topic; all systems; topics nobody judged


def slow_answer(reading: Reading, judged: dict[bytes, list[bytes]]) -> Answer:
    known = {as_text(topic): docs for topic, docs in judged.items()}
    lists = {
        (system, topic): (
            len(docs),
            {as_text(doc): rank for rank, doc in enumerate(docs, start=1) if doc in known[topic]},
        )
        for (system, topic), docs in reading.lists.items()
        if topic in known
    }
    return lists, {system for system, _ in reading.lists}, {topic for _, topic in reading.lists} - known.keys()


def answer(facts: Facts) -> Answer:
    lists: Judged = {}
    docs, topics = list(facts.items.doc), list(facts.items.topics)
    for number, (system, topic, depth) in enumerate(zip(facts.system, facts.topic, facts.depth, strict=True)):
        hits = slice(facts.offset[number], facts.offset[number + 1])
        ranks = zip(facts.item[hits].tolist(), facts.rank[hits].tolist(), strict=True)
        assert facts.systems[system], topics[topic] not in lists
        lists[facts.systems[system], topics[topic]] = (int(depth), {docs[item]: rank for item, rank in ranks})
    return lists, set(facts.systems), set(facts.unjudged_topics)


@contextmanager
def reading_by(*, compiled: bool, chunk: int, workers: int | None = None) -> Iterator[None]:
    """Read files with one of the twins, in chunks of so many bytes, shared out among so many threads."""
    with (
        patch.object(scanning, "make_scanner", partial(make_scanner, compiled=compiled)),
        patch.object(scanning, "chunks", partial(chunks, size=chunk)),
        patch.object(scanning, "map_partitions", partial(map_partitions, workers=workers)),
    ):
        yield


def scanned(path: Path, items: Items, rules: RunRules) -> Facts | FormatError:
    try:
        return scanning.scan(Runs((path,), rules), items)
    except FormatError as error:
        return error


# ---- what must hold -----------------------------------------------------------------------------------------------


def twins(items: Items, rules: RunRules) -> tuple[Scanner, Scanner]:
    """Make the compiled scanner and the one in numpy."""
    sought = Sought(items.topics.slices, items.topic, items.doc.slices)
    one, other = (make_scanner(sought, scanning.kernel_rules(rules), compiled=compiled) for compiled in (True, False))
    return one, other


def assert_twins_agree(scanners: Sequence[Scanner], data: bytes, *, tagged: bool) -> None:
    """Scan bytes by both: the same fault, or the same of everything."""
    whole = data if not data or data.endswith(b"\n") else data + b"\n"
    ours, theirs = (scanner.scan(whole) for scanner in scanners)
    assert ours.fault == theirs.fault
    if ours.fault is None:
        for field, one, other in zip(ours._fields, ours, theirs, strict=True):
            assert np.array_equal(one, other) or (field == "systems" and not tagged), field


def assert_same_facts(one: Facts | FormatError, other: Facts | FormatError) -> None:
    """Compare what both twins made of a file: the same words, or the same of every fact."""
    assert type(one) is type(other), (one, other)
    if isinstance(one, FormatError) or isinstance(other, FormatError):
        assert str(one) == str(other)
        return
    assert (one.systems, one.unjudged_topics) == (other.systems, other.unjudged_topics)
    for column in ("system", "topic", "depth", "offset", "rank", "item"):
        assert np.array_equal(getattr(one, column), getattr(other, column)), column


def assert_right(found: Facts | FormatError, reading: Reading, judged: dict[bytes, list[bytes]]) -> None:
    """A bad line must be refused, and named; a file without any must be read as the slow reader does."""
    if isinstance(found, FormatError):
        assert (found.line or 0) in reading.bad, (str(found), reading.bad)
        return
    assert not reading.bad
    assert answer(found) == slow_answer(reading, judged)


def is_text(data: bytes) -> bool:
    """Whether a file is read as it stands, and not decompressed first."""
    return not data.startswith((GZIP, ZSTD))
