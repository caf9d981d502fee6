"""Scanning runs: every source once, part by part, into Facts.

A part holds whole lists.  In the usual file the lines of a list stand together, and a part is a chunk of the file; a
file in which they do not (topics interleaved) is read again as a whole and its lines are regrouped.  Either way the
same pure function, ``scan_part``, does the work; threads share the parts of all sources out among them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from venire.data.facts import Facts, gather_facts, no_common_topic
from venire.data.ids import as_bytes, as_text
from venire.data.judgments import Items
from venire.data.runs import RunRules, Runs, RunTable
from venire.engine.local import map_partitions
from venire.errors import FormatError, TiedScoresWarning
from venire.io.faults import COLUMNS, explained_fault, refuse_cut_line, repeated_row_fault, score_row_fault
from venire.io.lines import STDIN, Chunk, chunks, opened, read_bytes, stem, warn_of_comments
from venire.results import first_few
from venire.scan.fields import split
from venire.scan.lists import TAG, TOPIC, Lines, Rules, read_lines, single
from venire.scan.scanner import NumpyScanner, Scanned, Scanner, Sought, make_scanner
from venire.scan.slices import encode, padded
from venire.types import Codes, Floats, Ints

Progress = Callable[[int], None]


Source = Path | RunTable


class Target(NamedTuple):
    """What a scan looks for, the rules it goes by, and the scanner of bytes made of them."""

    sought: Sought
    rules: Rules
    scanner: Scanner


class Part(NamedTuple):
    """Whole lists of one source, as lines or as columns."""

    source: Source
    content: Chunk | RunTable


Answer = tuple[Part, Scanned]


def scan(runs: Runs, items: Items, *, progress: Progress | None = None) -> Facts:
    """Find where the items stand in the runs; a second call for the same items costs nothing.

    Runs on other topics alone are refused.  progress: called with the number of bytes just done.
    Cost: O(lines); memory: a few chunks, and the hits.
    """
    if id(items) not in runs.scanned:
        runs.scanned.clear()
        facts = read_facts(runs, items, progress or (lambda _: None))
        if facts.unjudged_topics and not len(facts.topic):
            raise no_common_topic(facts.unjudged_topics, items.topics)
        runs.scanned[id(items)] = facts
    return runs.scanned[id(items)]


def read_facts(runs: Runs, items: Items, progress: Progress) -> Facts:
    """Scan all sources, whatever their topics are."""
    sought, rules = Sought(items.topics.slices, items.topic, items.doc.slices), kernel_rules(runs.rules)
    target = Target(sought, rules, make_scanner(sought, rules))
    home: dict[str, Source] = {}
    batches: list[Scanned] = []
    _keep_freed_memory()
    with closing(map_partitions(lambda part: (part, scan_part(part, target)), _parts(runs.sources, rules))) as scanned:
        for source, answers in _by_source(runs.sources, scanned):
            whole = _whole(source, _checked(answers, target, progress), target)
            for batch in whole if runs.rules.system_from == "tag" else _named_after_file(source, whole):
                _claim_systems(source, batch.systems, home)
                batches.append(batch)
            if isinstance(source, RunTable) and runs.rules.system_from == "tag":
                _claim_systems(source, source.system.names.slices.to_bytes(), home)
    _warn_of_ties(batches, runs.rules)
    return _facts(items, batches, tuple(home))


def _warn_of_ties(batches: Iterable[Scanned], rules: RunRules) -> None:
    """Warn of systems whose scores say nothing: in no list is one document ahead of another."""
    lists = (zip(each.systems, each.depth.tolist(), each.level.tolist(), strict=True) for each in batches)
    if tied := tied_systems(each for batch in lists for each in batch):
        warnings.warn(tie_words(tied, rules.order), TiedScoresWarning, stacklevel=4)


def tied_systems(lists: Iterable[tuple[bytes, int, int]]) -> list[str]:
    """Return the systems in whose lists all documents tie; a list is its system, its depth, and whether they do."""
    ties: dict[bytes, bool] = {}
    for system, depth, level in lists:
        if depth > 1:
            ties[system] = ties.get(system, True) and bool(level)
    return [as_text(system) for system, all_tied in ties.items() if all_tied]


def tie_words(systems: Sequence[str], order: str) -> str:
    """Say that the scores, or ranks, of systems all tie, and what follows."""
    way = "; to go by the rank column: --order rank (order='rank')" if order == "score" else ""
    return f"all {order}s of {first_few(systems, 5)} tie, so documents are ordered by their ids, descending{way}"


def _facts(items: Items, batches: Iterable[Scanned], systems: tuple[str, ...]) -> Facts:
    """Number the lists of judged topics through all batches, and put their hits together."""
    lists: list[tuple[str, int, int]] = []
    hits: list[tuple[Ints, Codes, Codes]] = []
    unjudged: dict[str, None] = {}
    for batch in batches:
        known = np.flatnonzero(batch.topic >= 0)
        number = np.full(len(batch.topics), -1, dtype=np.int64)
        number[known] = len(lists) + np.arange(len(known))
        topic, depth = batch.topic.tolist(), batch.depth.tolist()
        lists += [(as_text(batch.systems[n]), topic[n], depth[n]) for n in known.tolist()]
        hits.append((number[batch.hit_list], batch.rank, batch.item))
        unjudged |= {as_text(batch.topics[n]): None for n in np.flatnonzero(batch.topic < 0)}
    return gather_facts(items, lists, hits, systems, tuple(unjudged))


def kernel_rules(rules: RunRules) -> Rules:
    """Put the rules of runs into the form the kernel takes."""
    return Rules(
        by_rank=rules.order == "rank",
        single_precision=rules.score_type == "float32",
        keep_first=rules.repeated == "first",
    )


def scan_part(part: Part, target: Target) -> Scanned:
    """Scan whole lists: the pure function that threads, or a cluster, apply to parts."""
    if isinstance(part.content, RunTable):
        return NumpyScanner.of(target.sought, target.rules).scan_lines(table_lines(part.content, target.rules))
    return target.scanner.scan(part.content.data)


def table_lines(table: RunTable, rules: Rules) -> Lines:
    """Put runs in memory into the form of run lines, list by list."""
    order = np.lexsort((np.arange(len(table.score)), table.topic.codes, table.system.codes))
    score = table_scores(table, rules)
    return Lines(
        table.topic.names.slices.take(table.topic.codes[order]),
        table.system.names.slices.take(table.system.codes[order]),
        table.doc.names.slices.take(table.doc.codes[order]),
        score[order],
        order,
    )


def table_scores(table: RunTable, rules: Rules) -> Floats:
    """What runs in memory are ordered by, descending: their scores, or their ranks below zero."""
    values = table.rank if rules.by_rank else table.score
    if values is None:
        raise FormatError(
            table.name,
            None,
            "has no ranks to order documents by",
            hint="order them by score; ranks are read from files, and from tables with a column rank",
        )
    if len(bad := np.flatnonzero(~np.isfinite(values))):
        raise score_row_fault(table, int(bad[0]), "rank" if rules.by_rank else "score", float(values[bad[0]]))
    score = -values if rules.by_rank else values
    return single(score) if rules.single_precision else score


def file_name(source: Source) -> str:
    """The name of a source as a system's: that of its file without endings."""
    path = Path(source.name) if isinstance(source, RunTable) else source
    return "stdin" if path == STDIN else stem(path)


def _parts(sources: Iterable[Source], rules: Rules) -> Iterator[Part]:
    """Cut all sources into parts of whole lists; scores in memory are looked at first."""
    for source in sources:
        if isinstance(source, RunTable):
            table_scores(source, rules)
            yield Part(source, source)
        else:
            with opened(source) as file:
                yield from (Part(source, chunk) for chunk in chunks(file))


def _by_source(sources: Iterable[Source], answers: Iterator[Answer]) -> Iterator[tuple[Source, Iterator[Answer]]]:
    """Hand out answers source by source; a source without any is empty, and refused."""
    expected = iter(sources)
    for number, group in groupby(answers, key=lambda answer: id(answer[0].source)):
        source = next(expected)
        if id(source) != number:
            break
        yield source, group
    else:
        if (left := next(expected, None)) is None:
            return
        source = left
    raise FormatError(_where(source), None, "holds no run lines", hint=f"expected {COLUMNS}")


def _checked(answers: Iterator[Answer], target: Target, progress: Progress) -> Iterator[Scanned]:
    """Raise what is wrong in the batches of one source, with the number of the line."""
    lines_before = 0
    for part, batch in answers:
        content = part.content
        if isinstance(content, RunTable):
            if batch.fault is not None:
                raise repeated_row_fault(content, batch.fault.line)
        else:
            if batch.fault is not None:
                where = _where(part.source)
                raise explained_fault(where, batch.fault, content, target.rules, lines_before=lines_before)
            if content.cut:
                refuse_cut_line(_where(part.source), content, lines_before=lines_before)
            warn_of_comments(_where(part.source), content.data, 6, lines_before=lines_before)
            progress(len(content.data))
        lines_before += batch.n_lines
        yield batch


def _whole(source: Source, batches: Iterator[Scanned], target: Target) -> list[Scanned]:
    """Return the batches of a source; where a list stands in several places, of its regrouped lines."""
    found: list[Scanned] = []
    seen: set[tuple[bytes, bytes]] = set()
    scattered = False
    for batch in batches:
        lists = list(zip(batch.systems, batch.topics, strict=True))
        scattered = scattered or len(set(lists)) < len(lists) or not seen.isdisjoint(lists)
        seen.update(lists)
        found.append(batch)
    if not seen:
        raise FormatError(_where(source), None, "holds no run lines", hint=f"expected {COLUMNS}")
    return [_scan_regrouped(source, target)] if scattered else found


def _named_after_file(source: Source, batches: list[Scanned]) -> list[Scanned]:
    """Give lists the name of their file; it must hold one system alone."""
    tags = list(dict.fromkeys(tag for batch in batches for tag in batch.systems))
    if len(tags) > 1:
        shown = ", ".join(repr(as_text(tag)) for tag in tags[:3])
        raise FormatError(
            _where(source),
            None,
            f"holds {len(tags)} systems ({shown}{', ...' if len(tags) > 3 else ''}), and a file can name only one",
            hint="name systems by their tags (--system-from tag), or split the file",
        )
    return [batch._replace(systems=[as_bytes(file_name(source))] * len(batch.topics)) for batch in batches]


def _scan_regrouped(source: Source, target: Target) -> Scanned:
    """Scan a file whose lists are scattered: bring their lines together first.  Memory is linear in the file."""
    data = read_bytes(source) if isinstance(source, Path) else b""
    chunk = Chunk(data if data.endswith(b"\n") else data + b"\n")
    fields = split(padded(chunk.data), 6)
    topic, _ = encode(fields.column(TOPIC))
    tag, _ = encode(fields.column(TAG))
    together = np.lexsort((np.arange(len(topic)), topic, tag))
    lines, fault = read_lines(fields.take(together), target.rules)
    batch = NumpyScanner.of(target.sought, target.rules).scan_lines(lines, fault)
    if batch.fault is not None:
        raise explained_fault(_where(source), batch.fault, chunk, target.rules)
    return batch


def _claim_systems(source: Source, systems: list[bytes], home: dict[str, Source]) -> None:
    """Note where each system comes from, in the order they appear; one that two sources claim is an error."""
    for system in map(as_text, dict.fromkeys(systems)):
        if home.setdefault(system, source) is not source:
            raise FormatError(
                _where(source),
                None,
                f"system {system!r} is in {_where(home[system])} too",
                hint="give each run a tag of its own, name each file once, or name systems after their files with "
                "--system-from file",
            )


def _where(source: Source) -> Path | str:
    return source if isinstance(source, Path) else source.name


def _keep_freed_memory() -> None:
    """Let go of one large array first, and the allocator of glibc keeps what is freed later.

    It hands freed memory back to the system above a threshold, which grows to twice the largest block freed so far;
    without this, the arrays of every batch would be fetched anew, page by page, at a third of the whole cost.
    """
    np.empty((32 << 20) - (1 << 13), dtype=np.uint8)
