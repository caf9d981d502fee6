"""Scanning runs: every source once, batch by batch, into Facts.

Batches hold whole lists.  In the usual file the lines of a list stand together, and a batch is a chunk of the file; a
file in which they do not (topics interleaved) is read again as a whole and its lines are regrouped.  Either way the
same pure function does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from venire.data.facts import Facts, gather_facts
from venire.data.ids import as_text
from venire.data.judgments import Items
from venire.data.runs import RunRules, Runs, RunTable
from venire.engine.local import map_partitions
from venire.errors import FormatError
from venire.io.faults import explained_fault, refuse_cut_line
from venire.io.lines import STDIN, Chunk, chunks, opened, read_bytes
from venire.io.naming import stem
from venire.kernels.fields import Fault, split
from venire.kernels.lookup import Index, build_index
from venire.kernels.scan import TAG, TOPIC, Lines, Located, Rules, locate, read_lines
from venire.kernels.slices import encode, padded
from venire.types import Codes, Ints

Progress = Callable[[int], None]


class Batch(NamedTuple):
    """What a batch of whole lists comes to; ``systems`` and ``topics`` name its lists."""

    located: Located
    systems: list[bytes]
    topics: list[bytes]
    fault: Fault | None


class Target(NamedTuple):
    """What a scan looks for, and the rules it goes by."""

    topics: Index
    items: Index
    rules: Rules


def scan(runs: Runs, items: Items, *, progress: Progress | None = None) -> Facts:
    """Find where the items stand in the runs; a second call for the same items costs nothing.

    progress: called with the number of bytes just done.  Cost: O(lines); memory: a few chunks, and the hits.
    """
    if id(items) not in runs.scanned:
        runs.scanned.clear()
        runs.scanned[id(items)] = _scan(runs, items, progress or (lambda _: None))
    return runs.scanned[id(items)]


def _scan(runs: Runs, items: Items, progress: Progress) -> Facts:
    target = Target(
        build_index(np.zeros(len(items.topics), dtype=np.int32), items.topics.slices),
        build_index(items.topic, items.doc.slices),
        kernel_rules(runs.rules),
    )
    lists: list[tuple[str, int, int]] = []
    hits: list[tuple[Ints, Ints, Codes]] = []
    unjudged: dict[str, None] = {}
    home: dict[str, str] = {}
    for source in runs.sources:
        names: set[str] = set()
        for batch in _batches(source, target, progress):
            known = np.flatnonzero(batch.located.topic >= 0)
            number = np.full(len(batch.topics), -1, dtype=np.int64)
            number[known] = len(lists) + np.arange(len(known))
            lists += [
                (as_text(batch.systems[n]), int(batch.located.topic[n]), int(batch.located.depth[n])) for n in known
            ]
            hits.append((number[batch.located.hit_list], batch.located.rank, batch.located.item))
            unjudged |= {as_text(batch.topics[n]): None for n in np.flatnonzero(batch.located.topic < 0)}
            names |= {as_text(system) for system in batch.systems}
        _refuse_shared_tags(source, names, home)
    return gather_facts(items, lists, hits, tuple(home), tuple(unjudged))


def kernel_rules(rules: RunRules) -> Rules:
    """Put the rules of runs into the form the kernel takes."""
    return Rules(
        by_rank=rules.order == "rank",
        single_precision=rules.score_type == "float32",
        keep_first=rules.repeated == "first",
        tagged=rules.system_from == "tag",
    )


def _batches(source: Path | RunTable, target: Target, progress: Progress) -> Iterator[Batch]:
    """Scan one source, in batches whose lists are whole."""
    if isinstance(source, RunTable):
        yield _scan_table(source, target)
        return
    data = read_bytes(source) if source == STDIN else None
    batches: list[Batch] = []
    seen: set[tuple[bytes, bytes]] = set()
    for batch in _scan_chunks(source, data, target, progress):
        lists = list(zip(batch.systems, batch.topics, strict=True))
        if len(set(lists)) < len(lists) or not seen.isdisjoint(lists):
            yield _scan_regrouped(source, data, target)
            return
        seen.update(lists)
        batches.append(batch)
    if not batches:
        raise FormatError(source, None, "holds no run lines", hint="expected topic, Q0, document, rank, score, tag")
    yield from batches


def _scan_chunks(path: Path, data: bytes | None, target: Target, progress: Progress) -> Iterator[Batch]:
    """Scan a file chunk by chunk."""

    def scanned(chunk: Chunk) -> tuple[Chunk, Batch]:
        return chunk, scan_batch(chunk.data, target, default_system(path))

    with opened(path, data) as file:
        for chunk, batch in map_partitions(scanned, chunks(file)):
            if batch.fault is not None:
                raise explained_fault(path, batch.fault, chunk, target.rules)
            if chunk.cut and target.rules.tagged:
                refuse_cut_line(path, chunk)
            progress(len(chunk.data))
            if batch.topics:
                yield batch


def default_system(path: Path) -> bytes:
    """Name the system of a file whose tags are not used."""
    return b"stdin" if path == STDIN else stem(path).encode("utf-8", "surrogateescape")


def scan_batch(data: bytes, target: Target, system: bytes) -> Batch:
    """Scan the lines of whole lists: the pure function that threads, or a cluster, apply to partitions."""
    lines, fault = read_lines(split(padded(data), 6), target.rules)
    return _located(lines, fault, target, system)


def _located(lines: Lines, fault: Fault | None, target: Target, system: bytes) -> Batch:
    located = locate(lines, target.topics, target.items, target.rules)
    topics = lines.topic.take(located.first).to_bytes()
    systems = [system] * len(topics) if lines.system is None else lines.system.take(located.first).to_bytes()
    return Batch(located, systems, topics, min((f for f in (fault, located.fault) if f), default=None))


def _scan_regrouped(path: Path, data: bytes | None, target: Target) -> Batch:
    """Scan a file whose lists are scattered: bring their lines together first.  Memory is linear in the file."""
    data = read_bytes(path) if data is None else data
    data = data if data.endswith(b"\n") else data + b"\n"
    fields = split(padded(data), 6)
    topic, _ = encode(fields.column(TOPIC))
    tag = encode(fields.column(TAG))[0] if target.rules.tagged else np.zeros_like(topic)
    together = np.lexsort((np.arange(len(topic)), topic, tag))
    lines, fault = read_lines(fields.take(together), target.rules)
    batch = _located(lines, fault, target, default_system(path))
    if batch.fault is not None:
        raise explained_fault(path, batch.fault, Chunk(data, 0), target.rules)
    return batch


def _scan_table(table: RunTable, target: Target) -> Batch:
    """Scan runs in memory."""
    bad = np.flatnonzero(~np.isfinite(table.score))
    if len(bad):
        raise FormatError(
            table.name,
            int(bad[0]) + 1,
            f"score {table.score[bad[0]]} is not a finite number",
            hint="leave out documents that have no score",
        )
    order = np.lexsort((np.arange(len(table.score)), table.topic.codes, table.system.codes))
    score = table.score.astype(np.float32).astype(np.float64) if target.rules.single_precision else table.score
    lines = Lines(
        table.topic.names.slices.take(table.topic.codes[order]),
        table.system.names.slices.take(table.system.codes[order]),
        table.doc.names.slices.take(table.doc.codes[order]),
        score[order],
        order,
    )
    batch = _located(lines, None, target, b"")
    if batch.fault is not None:
        row = batch.fault.detail
        doc, topic = as_text(lines.doc.at(row)), as_text(lines.topic.at(row))
        raise FormatError(
            table.name,
            batch.fault.line + 1,
            f"document {doc!r} is ranked twice for topic {topic!r}",
            hint='keep the first with repeated="first"',
        )
    return batch


def _refuse_shared_tags(source: Path | RunTable, names: set[str], home: dict[str, str]) -> None:
    """Note where each system comes from; one that two files claim is an error."""
    for system in sorted(names):
        if system in home:
            raise FormatError(
                source if isinstance(source, Path) else source.name,
                None,
                f"system {system!r} is in {home[system]} too",
                hint="name systems after their files with --system-from file, or give each run its own tag",
            )
        home[system] = str(source if isinstance(source, Path) else source.name)
