"""What a file is, what it holds, and what is wrong with it, as the readers find it.

The file is read as a command would read it.  Where a reader raises an error at a line, the error is kept, the line is
left out of a copy, and the copy is read again, so that all errors are found and none that a command would not raise.
What is odd but can be read is found in the warnings of the readers, in the text, and in the lines of runs.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import numpy as np

from venire.data.conditional import is_conditional
from venire.data.ids import Ids, as_text
from venire.data.judgments import Items, Judgments
from venire.data.runs import RunTable
from venire.errors import FormatError, VenireError, VenireWarning
from venire.io.duplicates import read_duplicates
from venire.io.judgments import read_judgments
from venire.io.lines import BOM, CHUNK, GZIP, ZSTD, chunks, opened, read_bytes
from venire.io.qrels import name_a_choice
from venire.io.run_sources import read_runs
from venire.io.scales import scale_file
from venire.io.scanning import read_facts
from venire.io.tables.columns import (
    HEAD,
    PARQUET,
    ROLES,
    header_names,
    header_start,
    looks_like_table,
    name_a_run,
    plain,
)
from venire.results import Note, counted, first_few
from venire.scan.fields import Fields, split
from venire.scan.lists import DOC, RANK, SCORE, TAG, TOPIC, repeated
from venire.scan.lookup import grouped
from venire.scan.numbers import decimals
from venire.scan.slices import Slices, changes, encode, hashes, padded
from venire.types import Bools, Floats, Ints

T = TypeVar("T")
Progress = Callable[[int], None]

RUN, RUN_TABLE, QRELS = "TREC run", "run table", "TREC qrels"
DUPLICATES, UNKNOWN = "duplicates", "unknown"
LONG, WIDE = "judgments table (long)", "judgments table (wide)"
FOREIGN = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z"}
UTF16 = (b"\xff\xfe", b"\xfe\xff")
TEXT_BYTES = bytes([9, 10, 11, 12, 13, *range(32, 256)])
FORMATS = "TREC qrels have 4 columns, runs 6; tables name their columns in a header"
MOST_ERRORS = 20
BY_SCORE = "lists are ordered by score, unless ordering by rank is asked for"


@dataclass(frozen=True)
class Problem:
    """Something to know about a file; ``line`` counts from 1, ``fatal``: the file cannot be read as it is."""

    what: str
    line: int | None = None
    hint: str | None = None
    fatal: bool = False


@dataclass(frozen=True)
class Inspection:
    """What was found about a file; ``facts`` can be written as JSON."""

    file: str
    kind: str
    facts: Mapping[str, Any]
    problems: tuple[Problem, ...]

    @property
    def readable(self) -> bool:
        """Whether no problem prevents the file from being read."""
        return not any(problem.fatal for problem in self.problems)


def inspect_file(
    path: Path, *, judgments: bool = False, reading: Mapping[str, Any] | None = None, progress: Progress | None = None
) -> Inspection:
    """Read one file and report what it is, what it holds and what is wrong with it.

    judgments: it is known to hold judgments.  reading: how judgments are read, as ``read_judgments`` takes it.
    Cost: O(bytes), times the number of errors; runs are read in parts, judgments as a whole.
    """
    facts: dict[str, Any] = {}
    how = dict(reading or {})
    try:
        with opened(path) as file:
            head = file.read(HEAD)
        with path.open("rb") as raw:
            facts["compression"] = compression(raw.read(8))
        kind = kind_of(head, path, judgments=judgments, stated=bool(how.get("columns")))
        odd = text_facts(path, facts, parquet=head.startswith(PARQUET))
        inspected = _read_as(kind, path, head, facts, how, progress or (lambda _: None))
    except VenireError as error:
        return Inspection(str(path), UNKNOWN, facts, (_problem(error),))
    lines = {problem.line for problem in inspected.problems if problem.fatal}
    problems = [*inspected.problems, *(each for each in odd if each.line is None or each.line not in lines)]
    in_order = sorted(problems, key=lambda each: (not each.fatal, each.line or 0))
    return replace(inspected, file=str(path), problems=tuple(in_order))


def compression(magic: bytes) -> str:
    """Return the name of the compression by a file's first bytes."""
    known = {GZIP: "gzip", ZSTD: "zstd", **FOREIGN}
    return next((name for start, name in known.items() if magic.startswith(start)), "none")


def kind_of(head: bytes, path: Path, *, judgments: bool = False, stated: bool = False) -> str:
    """Return what a file is by its first bytes, decompressed, and its name; stated: columns of tables were stated."""
    if not head.strip() or head.startswith((*FOREIGN, *UTF16)):
        return UNKNOWN
    head = head.removeprefix(BOM)
    if looks_like_table(head, path.name):
        names = _parquet_names(path) if head.startswith(PARQUET) else header_names(head, path.name)
        return LONG if judgments or not _names_scores(names) else RUN_TABLE
    lines = head.splitlines()
    lines = lines[:-1] if len(head) >= HEAD - len(BOM) else lines
    rows = [line.split() for line in lines if line.strip() and not line.startswith(b"#")]
    columns = Counter(map(len, rows))
    if not judgments and 2 * columns[6] > len(rows):
        return RUN
    if stated and looks_like_table(head, path.name, stated=True):
        return LONG
    if judgments or 2 * columns[4] > len(rows):
        return QRELS
    return DUPLICATES if _look_like_groups(rows) else UNKNOWN


def _parquet_names(path: Path) -> list[str]:
    import polars as pl

    try:
        return list(pl.read_parquet_schema(path))
    except pl.exceptions.PolarsError as error:
        raise FormatError(path, None, f"cannot be read as Parquet ({error})") from None


def _names_scores(names: Iterable[str]) -> bool:
    """Return whether columns are those of runs, with scores or ranks, and not labels or assessors."""
    known = {plain(name) for name in names}
    judged = {name for role in ("label", "assessor") for name in ROLES[role][0]}
    return name_a_run(known) and known.isdisjoint(judged)


def _look_like_groups(rows: list[list[bytes]]) -> bool:
    """Return whether lines list documents: at least two each, names with digits in them, hardly any of them twice."""
    docs = [doc for row in rows for doc in (row[1:] if row[0].isdigit() else row)]
    with_digit = sum(any(48 <= byte <= 57 for byte in doc) for doc in docs)
    distinct = len(set(docs))
    several = all(len(row) > 1 for row in rows)
    return bool(docs) and several and with_digit > 0.9 * len(docs) and distinct > 0.9 * len(docs)


def _read_as(
    kind: str, path: Path, head: bytes, facts: dict[str, Any], how: dict[str, Any], progress: Progress
) -> Inspection:
    """Read a file of a kind; facts are added to those known."""
    if kind in (RUN, RUN_TABLE):
        return _inspect_run(kind, path, facts, progress)
    if kind in (LONG, QRELS):
        if kind == QRELS:
            lines = head.removeprefix(BOM) if len(head) < HEAD else head.rpartition(b"\n")[0]
            kind = UNKNOWN if name_a_choice(split(padded(lines + b"\n"), 4)) else QRELS
        read = reading_all(path, lambda file: judgment_facts(read_judgments(file, **how)))
        if kind == LONG and (read.result["wide"] if read.result else how.get("layout") in ("wide", "aspects")):
            kind = WIDE
        found = {} if read.errors or read.result is None else read.result["facts"]
        return Inspection("", kind, facts | found, read.problems())
    if kind == DUPLICATES:
        groups = read_duplicates(path)
        return Inspection("", kind, facts | {"groups": len(groups), "largest_group": max(map(len, groups))}, ())
    return Inspection("", UNKNOWN, facts, (_why_unknown(head, facts),))


class ReadAll(NamedTuple):
    """What reading a file gave in the end, the errors on the way, and the warnings of the last reading."""

    result: Any
    errors: list[VenireError]
    warned: list[VenireWarning]

    def problems(self) -> tuple[Problem, ...]:
        """Return errors and warnings as problems; errors that differ in their line alone are one."""
        found: dict[str, Problem] = {}
        lines: dict[str, list[str]] = {}
        for problem in map(_problem, self.errors):
            found.setdefault(problem.what, problem)
            lines.setdefault(problem.what, []).append(f"{problem.line}")
        fatal = [
            replace(each, what=f"{what} (also on line {first_few(lines[what][1:], 5)})") if lines[what][1:] else each
            for what, each in found.items()
        ]
        if len(self.errors) == MOST_ERRORS:
            fatal.append(Problem("further errors are not listed", fatal=True))
        return (*fatal, *(Problem(each.what, each.line) for each in self.warned))


def reading_all(path: Path, read: Callable[[Path], T]) -> ReadAll:
    """Read a file, and after an error at a line read a copy without that line, until nothing is wrong."""
    errors: list[VenireError] = []
    with TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        copy = _Copy(path, Path(folder))
        while len(errors) < MOST_ERRORS:
            caught.clear()
            warnings.simplefilter("always")
            try:
                result = read(copy.path)
            except VenireError as error:
                errors.append(error)
                if not isinstance(error, FormatError) or error.line is None or not copy.leave_out(error.line):
                    break
            else:
                by_text = {str(each.message): each.message for each in caught}
                return ReadAll(result, errors, [each for each in by_text.values() if isinstance(each, VenireWarning)])
    return ReadAll(None, errors, [])


class _Copy:
    """A copy of a file from which lines are left out, made with the first of them; scale files are copied, too."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self._source, self._folder = path, path, folder
        self._lines: list[bytes] = []

    def leave_out(self, line: int) -> bool:
        """Leave out a line; return whether something is left to be read: neither the header, nor a binary file."""
        if self.path == self._source:
            data = read_bytes(self._source)
            header = data.count(b"\n", 0, header_start(data)) + 1
            quoted = b'"' in data and not data.lstrip().startswith(b"{")  # rows may have several lines
            if looks_like_table(data[:HEAD], self.path.name) and (line <= header or quoted or PARQUET in data[:4]):
                return False
            self.path, self._lines = self._folder / self._source.name, data.split(b"\n")
            if (scale := scale_file(self._source)) is not None:
                (self._folder / scale.name).write_bytes(scale.read_bytes())
        if not self._lines[line - 1]:
            return False
        self._lines[line - 1] = b""
        self.path.write_bytes(b"\n".join(self._lines))
        return any(text and not text.startswith(b"#") for text in self._lines)


def _problem(error: VenireError) -> Problem:
    if isinstance(error, FormatError):
        return Problem(error.what, error.line, error.hint, fatal=True)
    return Problem(error.message, None, error.hint, fatal=True)


def judgment_facts(judgments: Judgments) -> dict[str, Any]:
    """Return the summary of judgments under names, and whether it was a wide table."""
    if len(judgments) == 0:
        raise VenireError("holds no label that counts", hint="; ".join(map(str, judgments.notes)) or None)
    summary = judgments.summary()
    labels = summary.scale.labels
    facts: dict[str, Any] = {
        "scale": str(summary.scale),
        "labels": summary.n_labels,
        "topics": summary.n_topics,
        "items": summary.n_items,
        "assessors": len(summary.labels),
        "labels_per_item": {str(k): count for k, count in summary.items_with.items()},
        "label_counts": {
            assessor: dict(zip(labels, counts.tolist(), strict=True)) for assessor, counts in summary.labels.items()
        },
    }
    questions = {name: column for name, column in judgments.facets.items() if name != "given"}
    facts |= {f"values_of_{name}": list(column.names) for name, column in questions.items()}
    if "given" in judgments.facets:
        facts["labels_in_condition"] = int(is_conditional(judgments).sum())
    facts |= dict(judgments.dropped) | {"notes": list(map(str, judgments.notes))}
    return {"facts": facts, "wide": any(isinstance(n, Note) and n.kind == "wide-table" for n in judgments.notes)}


def text_facts(path: Path, facts: dict[str, Any], *, parquet: bool) -> list[Problem]:
    """Count bytes, lines and line ends of a text into ``facts``; return what is odd about it."""
    count: Counter[str] = Counter()
    ascii_only, bom, last, invalid = True, False, b"\n", None
    with opened(path) as file:
        while data := file.read(CHUNK) + file.readline():
            bom = bom or (count["bytes"] == 0 and data.startswith(BOM))
            count["bytes"] += len(data)
            if parquet:
                continue
            data = data.removeprefix(BOM) if count["bytes"] == len(data) else data
            if invalid is None and not data.isascii():
                ascii_only = False
                try:
                    data.decode("utf-8")
                except UnicodeDecodeError as error:
                    invalid = count["lines"] + data.count(b"\n", 0, error.start) + 1
            count["lines"] += data.count(b"\n")
            count["comments"] += data.count(b"\n#") + data.startswith(b"#")
            count["empty"] += (b"\n" + data.replace(b"\r\n", b"\n")).replace(b"\n", b"\n\n").count(b"\n\n\n")
            count["crlf"] += data.count(b"\r\n")
            count["cr"] += data.count(b"\r")
            last = data[-1:]
    if parquet:
        facts["bytes"] = count["bytes"]
        return []
    cut = last != b"\n"
    n_lines = count["lines"] + cut
    facts |= {
        "bytes": count["bytes"] - len(BOM) * bom + cut,
        "lines": n_lines,
        "encoding": ("ASCII" if ascii_only else "UTF-8" if invalid is None else "not UTF-8")
        + " with byte order mark" * bom,
        "line_ends": "LF" if not count["crlf"] else "CRLF" if count["crlf"] == n_lines else "LF and CRLF",
        "comments": count["comments"],
        "empty_lines": count["empty"],
    }
    problems = []
    if invalid is not None:
        hint = "names are kept byte for byte; to have readable ones, convert it: iconv -f LATIN1 -t UTF-8"
        problems.append(Problem("is not UTF-8 from here on", invalid, hint))
    if count["crlf"] and count["crlf"] != n_lines:
        problems.append(Problem(f"{count['crlf']:,} of {n_lines:,} lines end in CRLF, the others in LF"))
    if count["cr"] > count["crlf"]:
        hint = "lines must end in LF or CRLF: convert them with tr '\\r' '\\n'"
        problems.append(Problem(f"{count['cr'] - count['crlf']:,} carriage returns do not end a line", hint=hint))
    if cut:
        problems.append(Problem("the last line has no line end", n_lines, "if the file was cut off, fetch it again"))
    return problems


def _why_unknown(head: bytes, facts: Mapping[str, Any]) -> Problem:
    """Return why a file is nothing that can be read."""
    foreign = compression(head[:8])
    if not head.strip():
        return Problem("is empty", fatal=True)
    if foreign != "none":
        hint = "unpack it, or compress it with gzip or zstd"
        return Problem(f"is compressed with {foreign}, which is not read", hint=hint, fatal=True)
    if head.startswith(UTF16):
        hint = "convert it: iconv -f UTF-16 -t UTF-8"
        return Problem("is UTF-16 text, expected UTF-8", hint=hint, fatal=True)
    control = head.translate(None, delete=TEXT_BYTES)
    if control:
        return Problem(f"is not text: found the control byte 0x{control[0]:02x}", hint=FORMATS, fatal=True)
    rows = [line.split() for line in head.splitlines() if not line.startswith(b"#")]
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    lines, columns = counted(facts["lines"], "line"), counted(usual, "column")
    return Problem(f"is neither judgments nor a run: most of its {lines} have {columns}", hint=FORMATS, fatal=True)


@dataclass
class Survey:
    """Counts over the lines of runs: lists (system, topic), their depths, lines in ties, and what is odd.

    odd: by kind, the first line, the number of lines, and what is on the first.  twice: the error of the reader where a
    list has a document twice.
    """

    lists: list[tuple[bytes, bytes]] = field(default_factory=list)
    depth: list[Ints] = field(default_factory=list)
    tied: Counter[str] = field(default_factory=Counter)
    odd: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    twice: FormatError | None = None

    def add(self, kind: str, line: Ints, detail: str = "") -> None:
        """Add the numbers of lines on which something is odd."""
        if len(line):
            first, count, text = self.odd.get(kind, (int(line.min()), 0, detail))
            self.odd[kind] = first, count + len(line), text

    def count(self, kind: str) -> int:
        """Return on how many lines something is odd."""
        return self.odd[kind][1] if kind in self.odd else 0


class Lines(NamedTuple):
    """Lines of whole lists, those of one list together: what is on them, and their numbers from 1; all (line,)."""

    topic: Slices
    tag: Slices
    doc: Slices
    rank: Floats
    score: Floats
    number: Ints


def _inspect_run(kind: str, path: Path, facts: dict[str, Any], progress: Progress) -> Inspection:
    """Read runs as commands do, and look at their lines; documents that a list has twice are one error."""
    nothing = Items(Ids.of([]), np.zeros(0, dtype=np.int32), Ids.of([]))

    def read(file: Path) -> Survey:
        runs = read_runs(file, repeated="first")
        read_facts(runs, nothing, progress if file == path else (lambda _: None))
        survey = survey_runs(runs.sources[0])
        if survey.count("twice"):
            try:
                read_facts(read_runs(file), nothing, lambda _: None)
            except FormatError as error:
                survey.twice = error
        return survey

    found = reading_all(path, read)
    survey: Survey | None = found.result
    if survey is None:
        return Inspection("", kind, facts, found.problems())
    return Inspection("", kind, facts | _run_facts(survey), (*found.problems(), *_odd_lines(survey)))


def survey_runs(source: Path | RunTable) -> Survey:
    """Count over the lines of runs that a reader accepts, in parts; a file with scattered lists is read whole."""
    survey = Survey()
    if isinstance(source, RunTable):
        _add_lines(survey, _table_lines(source))
        return survey
    before = 0
    with opened(source) as file:
        for chunk in chunks(file):
            fields = split(padded(chunk.data), 6)
            _add_lines(survey, _file_lines(fields, before, survey))
            before += fields.n_lines
    return survey if len(set(survey.lists)) == len(survey.lists) else _survey_scattered(source)


def _survey_scattered(path: Path) -> Survey:
    """Count over the lines of a file whose lists are scattered: bring the lines of a list together first."""
    survey, data = Survey(), read_bytes(path)
    fields = split(padded(data if data.endswith(b"\n") else data + b"\n"), 6)
    topic, tag = encode(fields.column(TOPIC))[0], encode(fields.column(TAG))[0]
    key = tag.astype(np.int64) * (int(topic.max(initial=0)) + 1) + topic
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    again = np.ones(len(begins), dtype=np.bool_)
    again[np.unique(key[begins], return_index=True)[1]] = False
    row = int(begins[np.argmax(again)])
    first = int(fields.line[row]) + 1, len(np.unique(key[begins[again]])), as_text(fields.column(TOPIC).at(row))
    _add_lines(survey, _file_lines(fields.take(np.argsort(key, kind="stable")), 0, survey))
    survey.odd["scattered"] = first
    return survey


def _file_lines(fields: Fields, before: int, survey: Survey) -> Lines:
    topic, tag, doc = (fields.column(column) for column in (TOPIC, TAG, DOC))
    rank, score = (decimals(fields.column(column))[0] for column in (RANK, SCORE))
    number = before + fields.line + 1
    if len(bad := np.flatnonzero(np.isnan(rank))):
        row = int(bad[np.argmin(number[bad])])
        survey.add("rank", number[bad], as_text(fields.column(RANK).at(row)))
    return Lines(topic, tag, doc, rank, score, number)


def _table_lines(table: RunTable) -> Lines:
    order = np.lexsort((np.arange(len(table.score)), table.topic.codes, table.system.codes))
    columns = (table.topic, table.system, table.doc)
    topic, tag, doc = (each.names.slices.take(each.codes[order]) for each in columns)
    rank = np.full(len(order), np.nan) if table.rank is None else table.rank[order]
    number = np.arange(1, len(order) + 1) if table.line is None else table.line
    return Lines(topic, tag, doc, rank, table.score[order], number[order])


def _add_lines(survey: Survey, lines: Lines) -> None:
    """Add the lists of some lines, ties, and where scores rise, ranks contradict scores, or documents are repeated."""
    begins = changes(lines.topic) | changes(lines.tag)
    first, owner = np.flatnonzero(begins), np.cumsum(begins) - 1
    survey.lists += zip(lines.tag.take(first).to_bytes(), lines.topic.take(first).to_bytes(), strict=True)
    survey.depth.append(np.diff(first, append=len(owner)))
    survey.add("twice", lines.number[repeated(lines.doc, grouped(hashes(lines.doc), owner), owner)])
    same = owner[1:] == owner[:-1]
    rises = (lines.score[1:] > lines.score[:-1]) & same
    survey.add("order", lines.number[1:][rises])
    order = np.arange(len(owner))
    if rises.any() or ((lines.rank[1:] < lines.rank[:-1]) & same).any():
        order = np.lexsort((lines.rank, -lines.score, owner))  # within ties, any ranks will do
        survey.add("contradiction", lines.number[order][1:][(np.diff(lines.rank[order]) < 0) & same])
    score = lines.score[order]
    with np.errstate(over="ignore"):
        for name, values in (("float64", score), ("float32", score.astype(np.float32))):
            survey.tied[name] += _members((values[1:] == values[:-1]) & same)


def _members(alike: Bools) -> int:
    """Count the members of runs of equal neighbours; alike (pair of neighbours,)."""
    return int((np.append(alike, False) | np.append(False, alike)).sum())


def _run_facts(survey: Survey) -> dict[str, Any]:
    depth = np.concatenate([np.zeros(0, dtype=np.int64), *survey.depth])
    n_rows = int(depth.sum())
    topics_of = Counter(system for system, _ in survey.lists)
    return {
        "rows": n_rows,
        "systems": [as_text(system) for system in sorted(topics_of)],
        "topics": len({topic for _, topic in survey.lists}),
        "topics_per_system": _range(np.array(list(topics_of.values()))),
        "depth": _range(depth),
        "tied_share": survey.tied["float64"] / max(n_rows, 1),
        "tied_share_float32": survey.tied["float32"] / max(n_rows, 1),
        "rising_scores": survey.count("order"),
        "contradicting_ranks": survey.count("contradiction"),
        "scattered_lists": survey.count("scattered"),
        "repeated_documents": survey.count("twice"),
    }


def _range(counts: Ints) -> dict[str, float]:
    if len(counts) == 0:
        return {}
    return {"min": int(counts.min()), "median": float(np.median(counts)), "max": int(counts.max())}


def _odd_lines(survey: Survey) -> Iterator[Problem]:
    """Yield what is odd about the lines of runs, and the error for documents that a list has twice."""
    words = {
        "rank": ("rank {!r} is not a number", "such lines", "ranks are read only where documents are ordered by rank"),
        "order": ("the score is higher than on the line before", "such lines", BY_SCORE),
        "contradiction": ("the rank column contradicts the scores", "such places", BY_SCORE),
        "scattered": (
            "the list of topic {!r} goes on after other lists",
            "scattered lists",
            "it is read as a whole, which takes memory; sort it by topic and tag",
        ),
    }
    for kind, (what, plural, hint) in words.items():
        if kind in survey.odd:
            line, count, detail = survey.odd[kind]
            yield Problem(what.format(detail) + _such(count, plural), line, hint)
    if survey.twice is not None:
        error = _problem(survey.twice)
        yield replace(error, what=error.what + _such(survey.count("twice"), "such lines"))


def _such(count: int, plural: str) -> str:
    return f" ({count:,} {plural})" if count > 1 else ""
