"""Run files read slowly and plainly, straight from docs/reference/formats.md; and what fast readers must agree on."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from venire import FormatError, read_judgments
from venire.data.ids import as_text
from venire.data.judgments import Items
from venire.data.runs import DUPLICATE_DOCS, ORDERS, SCORE_TYPES, SYSTEM_FROM, Facts, RunRules, Runs
from venire.engine.local import map_partitions
from venire.io import runs as run_files
from venire.io.compression import GZIP, ZSTD
from venire.io.lines import BOM, chunks
from venire.scan.scanner import Scanned, Scanner, Sought, make_scanner

RULES = [
    RunRules(order=order, score_type=score_type, duplicate_docs=duplicate_docs, system_from=system_from)
    for order, score_type, duplicate_docs, system_from in product(ORDERS, SCORE_TYPES, DUPLICATE_DOCS, SYSTEM_FROM)
]

# ---- the slow reader ----------------------------------------------------------------------------------------------

WHITE = b" \t\r\v\f"
CONTROL = bytes(byte for byte in range(32) if byte not in WHITE)
NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")

ListName = tuple[str, str]  # system and topic


class Reading(NamedTuple):
    """What a file holds: the numbers of its bad lines (0: the file as a whole), and lists of documents, best first."""

    bad: set[int]
    lists: dict[ListName, list[str]]


def read_slowly(data: bytes, rules: RunRules) -> Reading:
    """Read a whole file, systems named by their tags."""
    *lines, rest = data.removeprefix(BOM).split(b"\n")
    bad: set[int] = set()
    scores: dict[ListName, dict[bytes, float]] = {}
    tags: list[bytes] = []
    for number, line in enumerate([*lines, rest] if rest else lines, start=1):
        fields = [] if line.startswith(b"#") else line.split()
        score = number_in(fields[3 if rules.order == "rank" else 4], rules) if len(fields) == 6 else None
        if line.translate(None, CONTROL) != line or (fields and score is None):
            bad.add(number)
        elif fields and score is not None:
            tags.append(fields[5])
            docs = scores.setdefault((as_text(fields[5]), as_text(fields[0])), {})
            if fields[2] in docs and rules.duplicate_docs == "error":
                bad.add(number)
            docs.setdefault(fields[2], score)
    if rest.split() and not rest.startswith(b"#") and cut_off(tags[-2:]):
        bad.add(len(lines) + 1)
    return Reading(bad if bad or scores else {0}, {name: best_first(docs) for name, docs in scores.items()})


def named(reading: Reading, rules: RunRules, name: str) -> Reading:
    """Name the system after its file, where the rules say so; a file of several systems is bad then."""
    if rules.system_from == "tag":
        return reading
    several = len({tag for tag, _ in reading.lists}) > 1
    lists = {(name, topic): docs for (_, topic), docs in reading.lists.items()}
    return Reading(reading.bad | {0} if several else reading.bad, lists)


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


def best_first(docs: dict[bytes, float]) -> list[str]:
    return [as_text(doc) for doc in sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True)]


def is_text(data: bytes) -> bool:
    """Whether a file is read as it stands, and not decompressed first."""
    return not data.startswith((GZIP, ZSTD))


# ---- what is looked for, and answers in one form ------------------------------------------------------------------

Ranks = dict[ListName, tuple[int, dict[str, int]]]  # depth of each list, and the ranks of its judged documents


class Known(NamedTuple):
    """What is judged: the items, the document of each, and the documents of each topic."""

    items: Items
    docs: list[str]
    judged: dict[str, set[str]]

    @classmethod
    def of(cls, judged: Mapping[bytes, Sequence[bytes]]) -> Known:
        names = {as_text(topic): {as_text(doc) for doc in docs} for topic, docs in judged.items()}
        items = read_judgments({topic: dict.fromkeys(docs, 1) for topic, docs in names.items()}).items
        return cls(items, list(items.doc), names)


def slow_ranks(reading: Reading, known: Known) -> Ranks:
    nobody: set[str] = set()
    return {
        (system, topic): (
            len(docs),
            {doc: rank for rank, doc in enumerate(docs, start=1) if doc in known.judged.get(topic, nobody)},
        )
        for (system, topic), docs in reading.lists.items()
    }


def ranks(names: Sequence[ListName], found: Scanned | Facts, owner: np.ndarray, known: Known) -> Ranks:
    """Put lists of these names and the hits in them, owner (hit,) the number of the list, into the same form."""
    answer: Ranks = {name: (depth, {}) for name, depth in zip(names, found.depth.tolist(), strict=True)}
    assert len(answer) == len(names)
    for number, rank, item in zip(owner.tolist(), found.rank.tolist(), found.item.tolist(), strict=True):
        answer[names[number]][1][known.docs[item]] = rank
    return answer


# ---- fast readers -------------------------------------------------------------------------------------------------


def twins(known: Known, rules: RunRules) -> tuple[Scanner, Scanner]:
    """Make the compiled scanner and the one in numpy."""
    sought = Sought(known.items.topics.slices, known.items.topic, known.items.doc.slices)
    one, other = (make_scanner(sought, run_files.kernel_rules(rules), compiled=compiled) for compiled in (True, False))
    return one, other


def scannable(data: bytes) -> bytes:
    """Return what a scanner gets of a small file: no byte order mark, and a line end behind the last line."""
    text = data.removeprefix(BOM)
    return text if not text or text.endswith(b"\n") else text + b"\n"


@contextmanager
def reading_by(*, compiled: bool, chunk: int, workers: int | None = None) -> Iterator[None]:
    """Read files with one of the twins, in chunks of so many bytes, shared out among so many threads."""
    with (
        patch.object(run_files, "make_scanner", partial(make_scanner, compiled=compiled)),
        patch.object(run_files, "chunks", partial(chunks, size=chunk)),
        patch.object(run_files, "map_partitions", partial(map_partitions, workers=workers)),
    ):
        yield


def facts_of(path: Path, known: Known, rules: RunRules) -> Facts | FormatError:
    try:
        return run_files.read_facts(Runs((path,), rules), known.items, lambda _: None)
    except FormatError as error:
        return error


# ---- what must hold -----------------------------------------------------------------------------------------------


def assert_twins_agree(one: Scanned, other: Scanned) -> None:
    """Compare what both twins scanned: the same fault, or the same of everything."""
    assert one.fault == other.fault
    if one.fault is None:
        for field, ours, theirs in zip(one._fields, one, other, strict=True):
            assert np.array_equal(ours, theirs), field


def assert_same_facts(one: Facts | FormatError, other: Facts | FormatError) -> None:
    """Compare what both twins made of a file: the same words, or the same facts."""
    if isinstance(one, FormatError) or isinstance(other, FormatError):
        assert str(one) == str(other)
        return
    assert (one.systems, one.unjudged_topics) == (other.systems, other.unjudged_topics)
    for column in ("system", "topic", "depth", "offset", "rank", "item"):
        assert np.array_equal(getattr(one, column), getattr(other, column)), column


def assert_right(found: Facts | FormatError, reading: Reading, known: Known) -> None:
    """Refuse a file with a bad line, and name one; read any other as the slow reader does."""
    if isinstance(found, FormatError):
        assert (found.line or 0) in reading.bad, (str(found), reading.bad)
        return
    assert not reading.bad, "a bad line was passed over"
    topics = list(found.items.topics)
    lists = zip(found.system.tolist(), found.topic.tolist(), strict=True)
    names = [(found.systems[system], topics[topic]) for system, topic in lists]
    expected = slow_ranks(reading, known)
    judged = {name: answer for name, answer in expected.items() if name[1] in known.judged}
    assert ranks(names, found, np.repeat(np.arange(len(names)), found.n_hits), known) == judged
    assert set(found.systems) == {system for system, _ in expected}
    assert set(found.unjudged_topics) == {topic for _, topic in expected} - known.judged.keys()


def assert_scan_right(found: Scanned, reading: Reading, known: Known) -> None:
    """Hold one scan of bytes against the slow reader; scattered lists are left to the reader of whole files."""
    if found.fault is not None:
        assert found.fault.line + 1 in reading.bad, (found.fault, reading.bad)
        return
    names = list(zip(map(as_text, found.systems), map(as_text, found.topics), strict=True))
    if len(set(names)) == len(names):
        assert reading.bad <= {0, found.n_lines}  # no lists at all, or a last line cut off: a scan cannot know
        assert ranks(names, found, found.hit_list, known) == slow_ranks(reading, known)
