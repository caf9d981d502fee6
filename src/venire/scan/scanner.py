"""Scanners: from whole lists, as bytes or in columns, to the ranks of judged items.

There are two with identical results: one compiled (``native/lists.c``), where the package was built with a C compiler,
and one in numpy.  Both are pure functions of their input, release the interpreter lock while they work, and are
compared with each other in the tests.  Ids are hashed with a seed that is drawn for each process; results do not depend
on it.

A signal, such as that of Ctrl-C, is handled while the main thread scans.  A scan in another thread ends soon after
``stop``.  The compiled scanner looks for both at least every 8 MiB.  The other handles signals between operations on
whole arrays, and looks for ``stop`` between its steps, so a list of many millions of documents delays it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import NamedTuple, Protocol

import numpy as np

from venire.scan import slices
from venire.scan.fields import Fault, split
from venire.scan.lists import Lines, Rules, locate, read_lines
from venire.scan.lookup import Index, build_index
from venire.scan.slices import Slices, padded
from venire.types import Codes

try:
    from venire.scan import _scan
except ImportError:
    COMPILED = False
else:
    COMPILED = True


class Scanned(NamedTuple):
    """The result of scanning whole lists.

    topics, systems: their names (list,).  topic (its number, -1 unknown), depth, level (list,): whether it has two
    documents or more, all with the same score.  hit_list, rank (from 1), item (hit,), list by list and by rank.  The
    number of lines, and the first fault, at which scanning stopped.
    """

    topics: list[bytes]
    systems: list[bytes]
    topic: Codes
    depth: Codes
    level: Codes
    hit_list: Codes
    rank: Codes
    item: Codes
    n_lines: int
    fault: Fault | None


class Sought(NamedTuple):
    """What a scan looks for: names of topics (topic,), and items: their topic's number and document (item,)."""

    topics: Slices
    item_topic: Codes
    docs: Slices


class Scanner(Protocol):
    """A pure function of lists, which threads can share."""

    def scan(self, data: bytes) -> Scanned:
        """Scan whole lists; data is empty or ends in a line end."""

    def scan_lines(self, lines: Lines, fault: Fault | None = None) -> Scanned:
        """Scan parsed lines of whole lists, up to a fault; their scores are as the rules ask for."""

    def stop(self) -> None:
        """End the scans of all threads soon, for good; each raises RuntimeError."""


def make_scanner(sought: Sought, rules: Rules, *, compiled: bool = COMPILED) -> Scanner:
    """Make the compiled scanner where there is one, or a given one of the two."""
    return CompiledScanner.of(sought, rules) if compiled else NumpyScanner.of(sought, rules)


@dataclass(frozen=True)
class NumpyScanner:
    """The scanner that needs no compiler."""

    topics: Index
    items: Index
    rules: Rules
    stopped: Event = field(default_factory=Event)

    @classmethod
    def of(cls, sought: Sought, rules: Rules) -> NumpyScanner:
        """Index what is sought."""
        no_group = np.zeros(len(sought.topics.start), dtype=np.int32)
        return cls(build_index(no_group, sought.topics), build_index(sought.item_topic, sought.docs), rules.checked())

    def scan(self, data: bytes) -> Scanned:
        """Scan whole lists."""
        if data and not data.endswith(b"\n"):
            raise ValueError("the last line has no line end")
        self._go_on()
        fields = split(padded(data), 6, longest_line=self.rules.longest_line)
        self._go_on()
        lines, fault = read_lines(fields, self.rules)
        self._go_on()
        return self.scan_lines(lines, fault)._replace(n_lines=fields.n_lines)

    def stop(self) -> None:
        """End the scans of all threads soon."""
        self.stopped.set()

    def _go_on(self) -> None:
        if self.stopped.is_set():
            raise RuntimeError("the scan was stopped")

    def scan_lines(self, lines: Lines, fault: Fault | None = None) -> Scanned:
        """Scan parsed lines of whole lists, up to a fault."""
        located = locate(lines, self.topics, self.items, self.rules, go_on=self._go_on)
        topics = lines.topic.take(located.first).to_bytes()
        systems = lines.system.take(located.first).to_bytes()
        numbers = located.depth, located.level, located.hit_list, located.rank
        depth, level, hit_list, rank = (each.astype(np.int32) for each in numbers)
        found = located.topic, depth, level, hit_list, rank, located.item
        return Scanned(topics, systems, *found, len(lines.score), _first(fault, located.fault))


@dataclass(frozen=True)
class CompiledScanner:
    """The scanner in C."""

    twin: _scan.Scanner

    @classmethod
    def of(cls, sought: Sought, rules: Rules) -> CompiledScanner:
        """Index what is sought."""
        (topics, topic_start, topic_end), item_topic, (docs, doc_start, doc_end) = sought
        arrays = topics, topic_start, topic_end, item_topic, docs, doc_start, doc_end
        return cls(_scan.Scanner(*arrays, *rules, slices.SEED))

    def scan(self, data: bytes) -> Scanned:
        """Scan whole lists."""
        return _scanned(self.twin.scan(data))

    def scan_lines(self, lines: Lines, fault: Fault | None = None) -> Scanned:
        """Scan parsed lines of whole lists, up to a fault."""
        topic, system, doc = (_contiguous(each) for each in (lines.topic, lines.system, lines.doc))
        found = _scanned(self.twin.scan_rows(*topic, *system, *doc, np.ascontiguousarray(lines.score)))
        twice = found.fault and found.fault._replace(line=int(lines.number[found.fault.line]))
        return found._replace(fault=_first(fault, twice))

    def stop(self) -> None:
        """End the scans of all threads soon."""
        self.twin.stop()


def _scanned(found: _scan.Found) -> Scanned:
    topics, systems, topic, depth, level, hit_list, rank, item, n_lines, fault = found
    numbers = _codes(topic), _codes(depth), _codes(level), _codes(hit_list), _codes(rank), _codes(item)
    return Scanned(topics, systems, *numbers, n_lines, Fault(*fault) if fault else None)


def _contiguous(each: Slices) -> Slices:
    return Slices(each.buffer, np.ascontiguousarray(each.start), np.ascontiguousarray(each.end))


def _codes(data: bytes) -> Codes:
    return np.frombuffer(data, dtype=np.int32)


def _first(*faults: Fault | None) -> Fault | None:
    return min((each for each in faults if each), key=lambda each: each.line, default=None)
