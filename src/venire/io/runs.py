"""Runs: read_runs names sources and rules, ``scan`` finds the judged items in them, once, as a Scan.

``read_runs`` takes files, folders, patterns, data frames and dictionaries.  Files with the six columns of TREC are not
read before they are scanned.  A scan reads every source in parts.  A part holds whole lists.  In the usual file the
lines of a list are adjacent, and a part is a chunk of the file; a file in which they are not (topics interleaved) is
read again as a whole and its lines are regrouped.  In both cases ``scan_part``, a pure function, does the work; threads
process the parts of all sources.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from venire.data.ids import Category, Ids, as_bytes, as_text
from venire.data.judgments import Items
from venire.data.runs import (
    DUPLICATE_DOCS,
    ORDERS,
    SCORE_TYPES,
    SYSTEM_FROM,
    Facts,
    RunRules,
    Runs,
    RunTable,
    Scan,
    no_common_topic,
)
from venire.engine.local import map_partitions
from venire.errors import FormatError, TiedScoresWarning, UnknownName, Way
from venire.io.files import DATASET, opened, stem
from venire.io.foreign import as_id, known_runs, refuse_flat, refuse_other
from venire.io.lines import Chunk, chunks, last_line, line_fault, read_bytes, split_columns, warn_of_comments
from venire.io.paths import expanded_all, names_files
from venire.io.pipes import STDIN
from venire.io.sources.known import RUNS, read_head, source_of
from venire.io.tables.columns import is_run_table
from venire.kernels.ragged import offsets
from venire.results import first_few, read_number
from venire.scan.fields import Fault, split
from venire.scan.lists import DOC, RANK, SCORE, TAG, TOPIC, Lines, Rules, read_lines, single
from venire.scan.numbers import decimals
from venire.scan.scanner import Scanned, Scanner, Sought, make_scanner
from venire.scan.slices import encode, padded
from venire.types import Bools, Floats, Ints

RunsLike = Runs | str | Path | Mapping[str, Any] | Iterable[Any]
Progress = Callable[[int], None]
Source = Path | RunTable

COLUMNS = "topic, Q0, document, rank, score, tag"
KNOWN_RULES = {"order": ORDERS, "score_type": SCORE_TYPES, "duplicate_docs": DUPLICATE_DOCS, "system_from": SYSTEM_FROM}


def read_runs(
    source: RunsLike,
    *,
    order: str | None = None,
    score_type: str | None = None,
    duplicate_docs: str | None = None,
    system_from: str | None = None,
) -> Runs:
    """Name the runs to evaluate and the rules to read them by; files are scanned when they are needed.

    Parameters
    ----------
    source : path, folder, pattern ("runs/*.gz"), "-" for standard input, or several of these in a list
        TREC files of six columns (topic, Q0, document, rank, score, tag), plain, gz or zst, with one system or
        many; tables (CSV, TSV, Parquet, Arrow) with columns topic, doc, score or rank, and perhaps system.  Also a
        dictionary {topic: {doc: score}} (one system) or {system: {topic: {doc: score}}}; ScoredDoc rows of ir_measures,
        a Run of ranx; and such by the names of their systems, {system: source}.  Also predictions of MTEB and
        sentence-transformers, {topic: {doc: score}} as JSON, and "irds:ID" for the scored documents of a dataset of
        ir_datasets.  Runs that were read before keep their rules,
        except those given here.
    order, score_type, duplicate_docs, system_from
        See :class:`RunRules`, which has the defaults.

    Notes
    -----
    Each function that needs the ranks of judged documents reads the files.  To read them once for several functions,
    scan them first, ``scan(runs, judgments.items)``, and give the result in place of the runs.

    Examples
    --------
    >>> runs = read_runs({"q1": {"d1": 2.5, "d2": 1.0}})
    >>> runs
    <Runs: run (1 source)>
    >>> read_runs(runs) is runs, read_runs(runs, duplicate_docs="first").rules.duplicate_docs
    (True, 'first')
    """
    asked = {"order": order, "score_type": score_type, "duplicate_docs": duplicate_docs, "system_from": system_from}
    given = {name: value for name, value in asked.items() if value is not None}
    for name, value in given.items():
        if value not in KNOWN_RULES[name]:
            raise UnknownName("rule", value, KNOWN_RULES[name])
    if not isinstance(source, Runs):
        return Runs(tuple(_sources(source)), RunRules(**given))
    return Runs(source.sources, replace(source.rules, **given)) if given else source


def as_runs(source: RunsLike) -> Runs:
    """Return runs as they are, with the rules they were read by; read anything else by the default rules."""
    return source if isinstance(source, Runs) else read_runs(source)


def scan(runs: RunsLike, items: Items, *, progress: Progress | None = None) -> Scan:
    """Find the ranks of the items in the runs; a Scan for the same items is returned as it is.

    Runs that have no topic of the items are an error.  progress: called with the number of bytes just read.
    Cost: O(lines); memory: a few chunks, and the hits.
    """
    sources = as_runs(runs)
    if isinstance(sources, Scan) and sources.facts.items is items:
        return sources
    if items.intents is not None:
        found = scan(sources, items.intents.documents, progress=progress)
        return replace(found, facts=found.facts.by_intent(items, items.intents))
    facts = read_facts(sources, items, progress or (lambda _: None))
    if facts.unjudged_topics and not len(facts.topic):
        raise no_common_topic(facts.unjudged_topics, items.topics)
    return Scan(sources.sources, sources.rules, facts=facts)


def _sources(source: Any) -> Iterable[Source]:
    if names_files(source):
        yield from map(_of_file, expanded_all(source))
        return
    source = known_runs(source)
    if isinstance(source, RunTable):
        yield source
    elif isinstance(source, Mapping):
        yield _from_dict(source)
    elif hasattr(source, "columns"):
        from venire.io.run_tables import run_of_frame

        yield run_of_frame(source)
    else:
        refuse_other(source, "runs")
        for each in source:
            yield from _sources(each)


def _of_file(path: Path) -> Source:
    """Read a table, a dataset or a file of another tool; a file of six columns is read when it is scanned."""
    if str(path).startswith(DATASET):
        from venire.io.sources import irds

        return irds.lists(path)
    with opened(path) as file:
        head = read_head(file)
    if (source := source_of(head, path, RUNS)) is not None:
        table: RunTable = source.lists(path)
        return table
    if not is_run_table(head, path.name):
        return path
    from venire.io.run_tables import read_run_table

    return read_run_table(path)


def _from_dict(runs: Mapping[str, Any]) -> RunTable:
    """Read {topic: {doc: score}} or {system: {topic: {doc: score}}}."""
    refuse_flat(runs, "run", '{"51": {"d1": 2.5}}')
    nested = any(isinstance(each, Mapping) for lists in runs.values() for each in lists.values())
    systems = runs if nested else {"run": runs}
    for lists in systems.values():
        refuse_flat(lists, "run", '{"51": {"d1": 2.5}}')
    names = [as_id(system, "run") for system in systems]
    rows = [
        (number, as_id(topic, "run"), as_id(doc, "run"), _score(score, topic, doc))
        for number, topics in enumerate(systems.values())
        for topic, docs in topics.items()
        for doc, score in docs.items()
    ]
    system, topic, doc, score = zip(*rows, strict=True) if rows else ((), (), (), ())
    of_systems = Category(np.array(system, dtype=np.int32), Ids.of(names))
    name = names[0] if len(names) == 1 else "run"
    return RunTable(name, of_systems, Category.of(topic), Category.of(doc), np.array(score, dtype=np.float64))


def _score(score: Any, topic: object, doc: object) -> float:
    try:
        return read_number(score) if isinstance(score, str) else float(score)
    except (TypeError, ValueError):
        message = f"the score {score!r} of document {doc!r} for topic {topic!r} is not a finite number"
        raise FormatError("run", None, message) from None


class Target(NamedTuple):
    """The rules of a scan, and the scanner, which knows them and what is sought."""

    rules: Rules
    scanner: Scanner


class Part(NamedTuple):
    """Whole lists of one source, as lines or as columns."""

    source: Source
    content: Chunk | RunTable


Answer = tuple[Part, Scanned]


def read_facts(runs: Runs, items: Items, progress: Progress) -> Facts:
    """Scan all sources, also where they have no topic of the items."""
    sought, rules = Sought(items.topics.slices, items.topic, items.doc.slices), kernel_rules(runs.rules)
    target = Target(rules, make_scanner(sought, rules))
    home: dict[str, Source] = {}
    batches: list[Scanned] = []
    _keep_freed_memory()
    parts, stop = _parts(runs.sources, rules), target.scanner.stop
    with closing(map_partitions(lambda part: (part, scan_part(part, target)), parts, stop=stop)) as scanned:
        for source, answers in _by_source(runs.sources, scanned):
            if isinstance(source, RunTable) and runs.rules.system_from == "tag":
                _claim_systems(source, _in_order(source.system), home)
            whole = _whole(source, _checked(answers, target, progress), target)
            for batch in whole if runs.rules.system_from == "tag" else _named_after_file(source, whole):
                _claim_systems(source, batch.systems, home)
                batches.append(batch)
    _warn_of_ties(batches, runs.rules)
    return _facts(items, batches, tuple(home))


def scan_part(part: Part, target: Target) -> Scanned:
    """Scan whole lists: the pure function that threads, or a cluster, apply to parts."""
    if isinstance(part.content, RunTable):
        return target.scanner.scan_lines(table_lines(part.content, target.rules))
    return target.scanner.scan(part.content.data)


def kernel_rules(rules: RunRules) -> Rules:
    """Convert the rules of runs to the form that the kernel takes."""
    return Rules(
        by_rank=rules.order == "rank",
        single_precision=rules.score_type == "float32",
        keep_first=rules.duplicate_docs == "first",
    )


def table_lines(table: RunTable, rules: Rules) -> Lines:
    """Convert runs in memory to run lines, list by list."""
    order = np.lexsort((np.arange(len(table.score)), table.topic.codes, table.system.codes))
    columns = (table.topic, table.system, table.doc)
    topic, system, doc = (column.names.slices.take(column.codes[order]) for column in columns)
    return Lines(topic, system, doc, table_scores(table, rules)[order], order)


def table_scores(table: RunTable, rules: Rules) -> Floats:
    """Return what runs in memory are ordered by, descending: scores, or negated ranks."""
    what, values = ("rank", table.rank) if rules.by_rank else ("score", table.score)
    if values is None:
        hint = "order them by score; ranks are read from files, and from tables with a column rank"
        raise FormatError(table.name, None, "has no ranks to order documents by", hint=hint)
    if len(bad := np.flatnonzero(~np.isfinite(values))):
        message, hint = f"{what} {values[bad[0]]} is not a finite number", f"leave out documents that have no {what}"
        raise FormatError(table.name, _line_of(table, int(bad[0])), message, hint=hint)
    score = -values if rules.by_rank else values
    return single(score) if rules.single_precision else score


def lines_of(source: Source, rules: Rules) -> Lines:
    """Read all lines of a source; documents that a list has twice are not looked for."""
    if isinstance(source, RunTable):
        return table_lines(source, rules)
    data = read_bytes(source)
    fields = split_columns(data, COLUMNS.split(", "), source)
    lines, fault = read_lines(fields, rules)
    if fault is not None:
        raise run_fault(source, fault, Chunk(data), rules)
    if not len(lines.number):
        raise no_lines(source)
    return lines


def whole_run(path: Path, keep: Callable[[Category, Category], Bools] | None = None) -> RunTable:
    """Read a file of six columns whole; a rank or a score that is not a number is NaN.

    keep: which rows, by system and topic -> (row,).
    """
    fields = split_columns(read_bytes(path), COLUMNS.split(", "), path)
    if len(fields.line) == 0:
        raise no_lines(path)
    system, topic = (Category.of_slices(fields.column(column)) for column in (TAG, TOPIC))
    rows = np.arange(len(fields.line)) if keep is None else np.flatnonzero(keep(system, topic))
    doc, rank, score = (fields.column(column).take(rows) for column in (DOC, RANK, SCORE))
    lists = system.take(rows), topic.take(rows), Category.of_slices(doc)
    return RunTable(str(path), *lists, decimals(score)[0], decimals(rank)[0], fields.line[rows] + 1)


def file_name(source: Source) -> str:
    """Return the name that a source gives to its system: that of its file without endings."""
    path = Path(source.name) if isinstance(source, RunTable) else source
    return "stdin" if path == STDIN else stem(path)


def _parts(sources: Iterable[Source], rules: Rules) -> Iterator[Part]:
    """Cut all sources into parts of whole lists; scores in memory are checked first."""
    for source in sources:
        if isinstance(source, RunTable):
            table_scores(source, rules)
            yield Part(source, source)
        else:
            with opened(source) as file:
                yield from (Part(source, chunk) for chunk in chunks(file, source))


def _by_source(sources: Iterable[Source], answers: Iterator[Answer]) -> Iterator[tuple[Source, Iterator[Answer]]]:
    """Group answers by source; a source without any is empty, which is an error."""
    expected = iter(sources)
    for number, group in groupby(answers, key=lambda answer: id(answer[0].source)):
        source = next(expected)
        if id(source) != number:
            raise no_lines(source)
        yield source, group
    if (left := next(expected, None)) is not None:
        raise no_lines(left)


def _checked(answers: Iterator[Answer], target: Target, progress: Progress) -> Iterator[Scanned]:
    """Yield the batches of one source; raise their faults with the number of the line."""
    lines_before = 0
    for (source, content), batch in answers:
        if isinstance(content, RunTable):
            if batch.fault is not None:
                raise repeated_row_fault(content, batch.fault.line)
        else:
            if batch.fault is not None:
                raise run_fault(source, batch.fault, content, target.rules, lines_before=lines_before)
            if content.cut:
                refuse_cut_line(source, content, lines_before=lines_before)
            warn_of_comments(source, content.data, 6, lines_before=lines_before)
            progress(len(content.data))
        lines_before += batch.n_lines
        yield batch


def _whole(source: Source, batches: Iterator[Scanned], target: Target) -> list[Scanned]:
    """Return the batches of a source; where the lines of a list are not adjacent, one batch of its regrouped lines."""
    found: list[Scanned] = []
    seen: set[tuple[bytes, bytes]] = set()
    scattered = False
    for batch in batches:
        lists = list(zip(batch.systems, batch.topics, strict=True))
        scattered = scattered or len(set(lists)) < len(lists) or not seen.isdisjoint(lists)
        seen.update(lists)
        found.append(batch)
    if not seen:
        raise no_lines(source)
    return [_scan_regrouped(source, target)] if scattered else found


def _scan_regrouped(source: Source, target: Target) -> Scanned:
    """Scan a file after sorting its lines by list, systems as they appear.  Memory is linear in the file."""
    data = read_bytes(source) if isinstance(source, Path) else b""
    chunk = Chunk(data if data.endswith(b"\n") else data + b"\n")
    fields = split(padded(chunk.data), 6, longest_line=target.rules.longest_line)
    topic, _ = encode(fields.column(TOPIC))
    tag, first = encode(fields.column(TAG))
    together = np.lexsort((np.arange(len(topic)), topic, first[tag]))
    lines, fault = read_lines(fields.take(together), target.rules)
    batch = target.scanner.scan_lines(lines, fault)
    if batch.fault is not None:
        raise run_fault(_where(source), batch.fault, chunk, target.rules)
    return batch


def _named_after_file(source: Source, batches: list[Scanned]) -> list[Scanned]:
    """Give lists the name of their file, which may hold one system only."""
    tags = list(dict.fromkeys(as_text(tag) for batch in batches for tag in batch.systems))
    if len(tags) > 1:
        shown = first_few([repr(tag) for tag in tags], 3)
        message = f"holds {len(tags)} systems ({shown}), and a file can name only one"
        raise FormatError(_where(source), None, message, hint="name systems by their tags, or split the file")
    return [batch._replace(systems=[as_bytes(file_name(source))] * len(batch.topics)) for batch in batches]


def _claim_systems(source: Source, systems: list[bytes], home: dict[str, Source]) -> None:
    """Record the source of each system, in the order they appear; a system in two sources is an error."""
    for system in map(as_text, dict.fromkeys(systems)):
        if home.setdefault(system, source) is not source:
            hint = "give each run a tag of its own, name each file once, or name systems after their files"
            message = f"system {system!r} is in {_where(home[system])} too"
            raise FormatError(_where(source), None, message, hint=hint)


def _in_order(column: Category) -> list[bytes]:
    """Return the names of a column in the order they appear; those of no row last."""
    n_rows = len(column)
    first = np.full(len(column.names), n_rows)
    first[column.codes[::-1]] = np.arange(n_rows)[::-1]
    return column.names.slices.take(np.argsort(first, kind="stable")).to_bytes()


def _facts(items: Items, batches: Iterable[Scanned], systems: tuple[str, ...]) -> Facts:
    """Number the lists of judged topics over all batches, and join their hits."""
    number_of = {system: number for number, system in enumerate(systems)}
    lists: list[tuple[int, int, int]] = []
    hits: list[Ints] = [np.zeros((3, 0), dtype=np.int64)]
    unjudged: dict[str, None] = {}
    for batch in batches:
        known = np.flatnonzero(batch.topic >= 0)
        number = np.full(len(batch.topics), -1, dtype=np.int64)
        number[known] = len(lists) + np.arange(len(known))
        topics, depths = batch.topic.tolist(), batch.depth.tolist()
        lists += [(number_of[as_text(batch.systems[n])], topics[n], depths[n]) for n in known.tolist()]
        hits.append(np.stack([number[batch.hit_list], batch.rank, batch.item]))
        unjudged |= {as_text(batch.topics[n]): None for n in np.flatnonzero(batch.topic < 0)}
    system, topic, depth = np.ascontiguousarray(np.array(lists, dtype=np.int64).reshape(-1, 3).T)
    owner, *of_hits = np.concatenate(hits, axis=1)
    offset = offsets(np.bincount(owner, minlength=len(lists)))
    system, topic, rank, item = (each.astype(np.int32) for each in (system, topic, *of_hits))
    return Facts(items, systems, system, topic, depth, offset, rank, item, tuple(unjudged))


def _warn_of_ties(batches: Sequence[Scanned], rules: RunRules) -> None:
    """Warn of systems whose scores order nothing: all documents of each list tie."""
    if not any(np.any(each.level[each.depth > 1]) for each in batches):  # the usual case, and the quickest
        return
    lists = (zip(each.systems, each.depth.tolist(), each.level.tolist(), strict=True) for each in batches)
    if tied := tied_systems(each for batch in lists for each in batch):
        way = "; to use the rank column instead, order by rank" if rules.order == "score" else ""
        words = f"all {rules.order}s of {first_few(tied, 5)} tie, so documents are ordered by their ids, descending"
        warnings.warn(f"{words}{way}", TiedScoresWarning, stacklevel=4)


def tied_systems(lists: Iterable[tuple[bytes, int, int]]) -> list[str]:
    """Name the systems all of whose lists tie throughout; lists are (system, depth, whether all of it ties)."""
    ties: dict[bytes, bool] = {}
    for system, depth, level in lists:
        if depth > 1:
            ties[system] = ties.get(system, True) and bool(level)
    return [as_text(system) for system, always in ties.items() if always]


def run_fault(where: object, fault: Fault, chunk: Chunk, rules: Rules, *, lines_before: int = 0) -> FormatError:
    """Describe what a scan found wrong in a chunk."""
    line, text = lines_before + fault.line + 1, chunk.data.split(b"\n")[fault.line]
    if fault.kind in ("control", "long", "columns"):
        cut = chunk.cut and chunk.data.count(b"\n") == fault.line + 1
        return line_fault(where, line, text, fault, COLUMNS.split(", "), cut=cut)
    fields = [field.decode("utf-8", "replace") for field in text.split()]
    if fault.kind == "twice":
        return _ranked_twice(where, line, fields[DOC], fields[TOPIC])
    if fault.kind == "many":
        message = f"more than {rules.most_lines:,} lines in a row are for one topic"
        return FormatError(where, line, message, hint="split the file by system")
    found = fields[RANK if rules.by_rank else SCORE]
    message = f"{fault.kind} {found!r} is not a finite number, expected one in column {5 - rules.by_rank}"
    return FormatError(where, line, message, hint=f"the columns are {COLUMNS}")


def repeated_row_fault(table: RunTable, row: int) -> FormatError:
    """Describe a document that occurs twice in a list in memory."""
    doc, topic = (column.names[int(column.codes[row])] for column in (table.doc, table.topic))
    return _ranked_twice(table.name, _line_of(table, row), doc, topic)


def _ranked_twice(where: object, line: int, doc: str, topic: str) -> FormatError:
    hint = ["correct the run", Way("keep the first of repeated documents", duplicate_docs="first")]
    return FormatError(where, line, f"document {doc!r} is ranked twice for topic {topic!r}", hint=hint)


def refuse_cut_line(where: object, chunk: Chunk, *, lines_before: int = 0) -> None:
    """Raise where the last line has no line end and its tag is the beginning of the tag before: it was cut off."""
    start = chunk.data.rfind(b"\n", 0, -1) + 1
    last, before = chunk.data[start:].split(), (last_line(chunk.data, start) or chunk.before).split()
    if len(last) != 6 or len(before) != 6 or chunk.data.startswith(b"#", start):
        return
    tag, whole = (fields[TAG].decode("utf-8", "replace") for fields in (last, before))
    if last[TAG] != before[TAG] and before[TAG].startswith(last[TAG]):
        message = f"the last line ends in {tag!r} without a line end, the line before in {whole!r}"
        hint = "the file seems to have been cut off: fetch it again"
        raise FormatError(where, lines_before + chunk.data.count(b"\n"), message, hint=hint)


def no_lines(source: Source) -> FormatError:
    """Describe a source without run lines."""
    return FormatError(_where(source), None, "holds no run lines", hint=f"expected {COLUMNS}")


def _line_of(table: RunTable, row: int) -> int:
    return row + 1 if table.line is None else int(table.line[row])


def _where(source: Source) -> Path | str:
    return source if isinstance(source, Path) else source.name


def _keep_freed_memory() -> None:
    """Free one large array first, so that glibc's allocator keeps what is freed later.

    It returns freed memory to the system above a threshold, which grows to twice the largest block freed so far.
    Without this, the arrays of every batch would be allocated anew, page by page, at a third of the whole cost.
    """
    np.empty((32 << 20) - (1 << 13), dtype=np.uint8)
