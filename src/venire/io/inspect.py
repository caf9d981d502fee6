"""What a file is, what it holds, and what is wrong with it, as the readers find it.

The file is read as a command would read it.  Where a reader raises an error at a line, the error is kept, the line is
left out of a copy, and the copy is read again, so that all errors are found and none that a command would not raise.
What is odd but can be read is found in the warnings of the readers, in the text, and in the lines of runs.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from venire.data.ids import Ids
from venire.data.judgments import Items, Judgments, is_conditional
from venire.data.runs import RunTable
from venire.errors import FormatError, VenireError, VenireWarning, reasons
from venire.io.compression import GZIP, ZSTD
from venire.io.declarations import DECLARED, scale_file
from venire.io.duplicates import read_duplicates
from venire.io.files import DATASET, opened, opened_raw
from venire.io.judgments import read_judgments
from venire.io.lines import BOM, read_bytes
from venire.io.plans import is_plan, read_plan
from venire.io.qrels import name_a_choice
from venire.io.runs import read_facts, read_runs, whole_run
from venire.io.sources.known import JUDGMENTS, RUNS, Source, first_keys, one_value, read_head, recognised
from venire.io.sources.nuggets import of_answers, read_nuggets
from venire.io.tables.columns import (
    BINARY,
    HEAD,
    ROLES,
    header_names,
    header_start,
    looks_like_table,
    name_a_run,
    plain,
)
from venire.io.texts import IDS, TEXTS as TEXT_KEYS, read_lines
from venire.results import counted, first_few
from venire.scan.fields import split
from venire.scan.slices import padded
from venire.types import Bools, Floats, Ints

Progress = Callable[[int], None]
T = TypeVar("T")

RUN, RUN_TABLE, QRELS = "TREC run", "run table", "TREC qrels"
DUPLICATES, PLAN, TEXTS, UNKNOWN = "duplicates", "plan", "texts", "unknown"
DATASETS, BEIR = "ir_datasets dataset", "qrels of BEIR or MTEB"
BEIR_COLUMNS = {"queryid", "corpusid", "score"}
USE = {
    JUDGMENTS: "judgments of any command",
    RUNS: "runs of any command",
    TEXTS: "texts of topics or of documents, for the report",
    "answers": "judgments and runs in one, of evaluate, compare and agreement",
}
"""What a file of another tool is for."""
LONG, WIDE = "judgments table (long)", "judgments table (wide)"
FOREIGN = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z"}
UTF16 = (b"\xff\xfe", b"\xfe\xff")
TEXT_BYTES = bytes([9, 10, 11, 12, 13, *range(32, 256)])
FORMATS = "TREC qrels have 4 columns, runs 6; tables name their columns in a header"
MOST_ERRORS = 20


@dataclass(frozen=True)
class Problem:
    """Something to know about a file; ``line`` counts from 1, ``fatal``: the file cannot be read as it is.

    ways: where the hint names several ways out, each of them.
    """

    what: str
    line: int | None = None
    hint: str | None = None
    fatal: bool = False
    ways: tuple[str, ...] = ()


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
    Cost: O(bytes), and a sort of the lines, times the number of errors.
    """
    facts: dict[str, Any] = {}
    how = dict(reading or {})
    try:
        if str(path).startswith(DATASET):
            return _inspect_dataset(path, facts, how)
        with opened(path) as file:
            head = read_head(file)
            data = head + file.read()
        with opened_raw(path) as raw:
            facts["compression"] = compression(raw.read(8))
        source = None if how.get("layout") else recognised(head, path.name)
        kind = kind_of(head, path, judgments=judgments, stated=bool(how.get("columns"))) if source is None else ""
        of_text, odd = (
            ({"bytes": len(data)}, [])
            if head.startswith(BINARY)
            else text_facts(data, is_json=source is not None or bool(one_value(head)))
        )
        facts |= of_text
        del data
        if source is not None:
            kind, problems = _inspect_source(source, path, facts, how, progress or (lambda _: None))
        elif kind == TEXTS:
            problems = _inspect_texts(path, facts)
        elif kind in (RUN, RUN_TABLE):
            problems = _inspect_run(path, facts, progress or (lambda _: None))
        elif kind in (LONG, QRELS, BEIR):
            kind, problems = _inspect_judgments(kind, path, facts, how)
        elif kind == PLAN:
            problems = _inspect_plan(path, facts)
        elif kind == DUPLICATES:
            groups = read_duplicates(path)
            facts |= {"groups": len(groups), "largest_group": max(map(len, groups))}
            problems = []
        else:
            problems = [_why_unknown(head, facts)]
    except VenireError as error:
        return Inspection(str(path), UNKNOWN, facts, (_problem(error),))
    if kind == QRELS and name_a_choice(split(padded(head.removeprefix(BOM).rpartition(b"\n")[0] + b"\n"), 4)):
        kind = UNKNOWN
    lines = {problem.line for problem in problems if problem.fatal}
    problems += [each for each in odd if each.line is None or each.line not in lines]
    in_order = sorted(problems, key=lambda each: (not each.fatal, each.line or 0))
    return Inspection(str(path), kind, facts, tuple(in_order))


def compression(magic: bytes) -> str:
    """Return the name of the compression by a file's first bytes."""
    known = {GZIP: "gzip", ZSTD: "zstd", **FOREIGN}
    return next((name for start, name in known.items() if magic.startswith(start)), "none")


def kind_of(head: bytes, path: Path, *, judgments: bool = False, stated: bool = False) -> str:
    """Return what a file is by its first bytes, decompressed, and its name; stated: columns of tables were stated."""
    if not head.strip() or head.startswith((*FOREIGN, *UTF16)) or one_value(head):
        return UNKNOWN
    head = head.removeprefix(BOM)
    if looks_like_table(head, path.name):
        names = _parquet_names(path) if head.startswith(BINARY) else header_names(head, path.name)
        if is_plan(names) and not judgments:
            return PLAN
        if {plain(name) for name in names} == BEIR_COLUMNS:
            return BEIR
        if not judgments and _name_texts(names if head.startswith(BINARY) else first_keys(head)):
            return TEXTS
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
    from venire.io.tables.parquet import column_names

    with opened(path) as file:
        return column_names(path, file)


def _name_texts(names: Iterable[str]) -> bool:
    """Return whether keys or columns are those of texts: an id and a text, and nothing that is a label."""
    known = set(names)
    judged = {name for role in ("label", "assessor") for name in ROLES[role][0]}
    return bool(known & set(IDS)) and bool(known & set(TEXT_KEYS)) and judged.isdisjoint(map(plain, known))


def _names_scores(names: Iterable[str]) -> bool:
    """Return whether columns are those of runs, with scores or ranks, and not labels or assessors."""
    known = {plain(name) for name in names}
    judged = {name for role in ("label", "assessor") for name in ROLES[role][0]}
    return name_a_run(known) and known.isdisjoint(judged)


def _look_like_groups(rows: list[list[bytes]]) -> bool:
    """Return whether lines list documents: at least two each, names with digits in them, hardly any of them twice."""
    docs = [doc for row in rows for doc in (row[1:] if row[0].isdigit() else row)]
    with_digit = sum(any(48 <= byte <= 57 for byte in doc) for doc in docs)
    several = bool(docs) and all(len(row) > 1 for row in rows)
    return several and min(with_digit, len(set(docs))) > 0.9 * len(docs)


def _inspect_judgments(
    kind: str, path: Path, facts: dict[str, Any], reading: Mapping[str, Any]
) -> tuple[str, list[Problem]]:
    """Read judgments; facts are added where nothing is wrong."""
    wide = reading.get("layout") in ("wide", "aspects")

    def read(file: Path) -> Judgments:
        nonlocal wide
        judgments = read_judgments(file, **reading)
        wide = any(note.kind == "wide-table" for note in judgments.notes)
        if len(judgments) == 0:
            raise VenireError("holds no label that counts", hint=reasons(judgments.notes))
        return judgments

    judgments, problems = _by_second_column(path, reading) if kind == QRELS else (None, [])
    if judgments is None:
        judgments, problems = reading_all(path, read)
    if judgments is not None and not any(problem.fatal for problem in problems):
        facts |= judgment_facts(judgments)
    return WIDE if kind == LONG and wide else kind, problems


def _inspect_source(
    source: Source, path: Path, facts: dict[str, Any], reading: Mapping[str, Any], progress: Progress
) -> tuple[str, list[Problem]]:
    """Read a file of another tool; facts are added where nothing is wrong."""
    title, holds = source.title, source.holds
    if source.name == "nuggets":
        return title, _inspect_nuggets(path, facts)
    if holds not in USE:
        found = source.lists(path)
        holds = JUDGMENTS if (found.score == np.floor(found.score)).all() else RUNS
        title = f"{title} ({'grades' if holds == JUDGMENTS else 'scores'})"
    facts["use"] = USE[holds]
    if holds == RUNS:
        return title, _inspect_run(path, facts, progress)
    return _inspect_judgments(title, path, facts, reading)


def _inspect_nuggets(path: Path, facts: dict[str, Any]) -> list[Problem]:
    """Read the assignments of nuggets; facts are added where nothing is wrong."""
    found, problems = reading_all(path, read_nuggets)
    if found is not None and not any(problem.fatal for problem in problems):
        facts["use"] = USE["answers" if of_answers(path) else JUDGMENTS]
        facts |= {"topics": found["topic"].n_unique(), "runs_or_passages": found["run"].n_unique()}
        facts |= {"nuggets": found.select("topic", "nugget").n_unique(), "labels": found.height}
    return problems


def _inspect_texts(path: Path, facts: dict[str, Any]) -> list[Problem]:
    """Read texts; facts are added where nothing is wrong."""
    found, problems = reading_all(path, lambda file: sum(1 for _ in read_lines(file)))
    if found is not None and not problems:
        facts |= {"use": USE[TEXTS], "texts": found}
    return problems


def _inspect_dataset(path: Path, facts: dict[str, Any], reading: Mapping[str, Any]) -> Inspection:
    """Read the qrels of a dataset, if it has any."""
    from venire.io.sources import irds

    has = irds.entities(path)
    uses = {"qrels": JUDGMENTS, "scoreddocs": RUNS, "queries": TEXTS}
    facts |= {"has": has, "use": "; ".join(USE[uses[name]] for name in uses if name in has)}
    try:
        if "qrels" in has:
            facts |= judgment_facts(read_judgments(path, **reading))
    except VenireError as error:
        return Inspection(str(path), DATASETS, facts, (_problem(error),))
    return Inspection(str(path), DATASETS, facts, ())


def _by_second_column(path: Path, reading: Mapping[str, Any]) -> tuple[Judgments | None, list[Problem]]:
    """Read qrels in which a document has several labels, with different second columns; None if there are none such."""
    if reading.get("second_column", "ignore") != "ignore" or reading.get("duplicate_labels") is not None:
        return None, []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VenireWarning)
            found = read_judgments(path, **{**reading, "second_column": "intent"})
    except VenireError:
        return None, []
    values = found.facets["intent"].names
    if len(values) < 2 or len(np.unique(found.item)) == len(found):
        return None, []
    what = f"the second column ({first_few(list(values), 5)}) distinguishes several labels of a document"
    hint = "if these are intents (diversity qrels), use measures by intent, or read the column as intents; if they are "
    return found, [Problem(what, hint=f"{hint}assessors, read it as assessors")]


def _inspect_plan(path: Path, facts: dict[str, Any]) -> list[Problem]:
    """Read a plan; facts are added where nothing is wrong."""
    found, problems = reading_all(path, read_plan)
    if found is not None and not problems:
        kinds = Counter(each.kind for each in found)
        facts |= {"judgments": len(found), "topics": len({each.topic for each in found})}
        facts |= {"judges": sorted({each.judge for each in found})}
        facts |= {f"{kind}_judgments": n for kind, n in kinds.items()}
    return problems


def reading_all(path: Path, read: Callable[[Path], T]) -> tuple[T | None, list[Problem]]:
    """Read a file, and after an error at a line read a copy without that line, until nothing is wrong.

    Returns what the last reading gave, and the problems: all errors, and the warnings of the last reading.
    """
    errors: list[VenireError] = []
    with TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        copy = _Copy(path, Path(folder))
        while len(errors) < MOST_ERRORS:
            caught.clear()
            warnings.simplefilter("always")
            try:
                result = read(copy.path)
            except VenireError as error:
                elsewhere = isinstance(error, FormatError) and str(error.where) != str(copy.path)
                errors.append(VenireError(error.message, hint=error.ways or error.hint) if elsewhere else error)
                line = None if elsewhere else getattr(error, "line", None)
                if line is None or not copy.leave_out(line):
                    break
            else:
                by_text = {str(each.message): each.message for each in caught}
                warned = [each for each in by_text.values() if isinstance(each, VenireWarning)]
                return result, [*_errors(errors), *(Problem(each.what, each.line) for each in warned)]
    return None, _errors(errors)


def _errors(errors: Sequence[VenireError]) -> list[Problem]:
    """Return errors as problems; those that differ in their line alone are one."""
    by_text: dict[str, list[Problem]] = {}
    for problem in map(_problem, errors):
        by_text.setdefault(problem.what, []).append(problem)
    fatal = [
        replace(one, what=f"{one.what} (also on line {first_few([f'{each.line}' for each in more], 5)})")
        if more
        else one
        for one, *more in by_text.values()
    ]
    return [*fatal, Problem("further errors are not listed", fatal=True)] if len(errors) == MOST_ERRORS else fatal


class _Copy:
    """A copy of a file from which lines are left out, made with the first of them; scale files are copied, too."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self._source, self._folder = path, path, folder
        self._lines: list[bytes] = []

    def leave_out(self, line: int) -> bool:
        """Leave out a line; return whether something is left to be read: no header, no binary file, no JSON value."""
        if self.path == self._source:
            data = read_bytes(self._source)
            if one_value(data[:HEAD]):
                return False
            header = data.count(b"\n", 0, header_start(data)) + 1
            quoted = b'"' in data and not data.lstrip().startswith(b"{")  # rows may have several lines
            if looks_like_table(data[:HEAD], self.path.name) and (line <= header or quoted or data.startswith(BINARY)):
                return False
            self.path, self._lines = self._folder / self._source.name, data.split(b"\n")
            if (scale := scale_file(self._source)) is not None:
                (self._folder / scale.name).write_bytes(scale.read_bytes())
        if line > len(self._lines) or not self._lines[line - 1]:
            return False
        self._lines[line - 1] = b""
        self.path.write_bytes(b"\n".join(self._lines))
        return any(text and not text.startswith(b"#") for text in self._lines)


def _problem(error: VenireError) -> Problem:
    if isinstance(error, FormatError):
        return Problem(error.what, error.line, error.hint, fatal=True, ways=error.ways)
    return Problem(error.message, None, error.hint, fatal=True, ways=error.ways)


def judgment_facts(judgments: Judgments) -> dict[str, Any]:
    """Return the summary of judgments under names."""
    summary = judgments.summary()
    labels = summary.scale.labels
    facts: dict[str, Any] = {
        "scale": str(summary.scale),
        "labels": summary.n_labels,
        "topics": summary.n_topics,
        "items": summary.n_items,
        "assessors": len(summary.labels),
        **{kind: list(getattr(judgments, kind)) for kind in DECLARED if getattr(judgments, kind)},
        "labels_per_item": {str(k): count for k, count in summary.items_with.items()},
        "label_counts": {
            assessor: dict(zip(labels, counts.tolist(), strict=True)) for assessor, counts in summary.labels.items()
        },
    }
    questions = {name: column for name, column in judgments.facets.items() if name != "given"}
    facts |= {f"values_of_{name}": list(column.names) for name, column in questions.items()}
    if "given" in judgments.facets:
        facts["labels_in_condition"] = int(is_conditional(judgments).sum())
    return facts | dict(judgments.dropped) | {"notes": list(judgments.notes)}


def text_facts(data: bytes, *, is_json: bool = False) -> tuple[dict[str, Any], list[Problem]]:
    """Count bytes, lines and line ends of a text; also return what is odd about it.

    is_json: a last line without line end is not odd.
    """
    bom, cut = data.startswith(BOM), bool(data) and not data.endswith(b"\n")
    data = data.removeprefix(BOM) + b"\n" * cut
    n_lines, n_crlf = data.count(b"\n"), data.count(b"\r\n")
    n_cr, invalid = data.count(b"\r") - n_crlf, None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        invalid = data.count(b"\n", 0, error.start) + 1
    encoding = "not UTF-8" if invalid is not None else "ASCII" if data.isascii() else "UTF-8"
    facts = {
        "bytes": len(data),
        "lines": n_lines,
        "encoding": encoding + " with byte order mark" * bom,
        "line_ends": "LF" if not n_crlf else "CRLF" if n_crlf == n_lines else "LF and CRLF",
        "comments": data.count(b"\n#") + data.startswith(b"#"),
        "empty_lines": data.replace(b"\r\n", b"\n").split(b"\n")[:-1].count(b""),
    }
    odd = []
    if invalid is not None:
        hint = "names are kept byte for byte; to have readable ones, convert it: iconv -f LATIN1 -t UTF-8"
        odd.append(Problem("is not UTF-8 from here on", invalid, hint))
    if n_crlf not in (0, n_lines):
        odd.append(Problem(f"{n_crlf:,} of {n_lines:,} lines end in CRLF, the others in LF"))
    if n_cr:
        hint = "lines must end in LF or CRLF: convert them with tr '\\r' '\\n'"
        odd.append(Problem(f"{n_cr:,} carriage returns do not end a line", hint=hint))
    if cut and not is_json:
        odd.append(Problem("the last line has no line end", n_lines, "if the file was cut off, fetch it again"))
    return facts, odd


def _why_unknown(head: bytes, facts: Mapping[str, Any]) -> Problem:
    """Return why a file is nothing that can be read."""
    foreign, control = compression(head[:8]), head.translate(None, delete=TEXT_BYTES)
    rows = [line.split() for line in head.splitlines() if line.strip() and not line.startswith(b"#")]
    if not rows:
        return Problem("has no lines but comments" if head.strip() else "is empty", fatal=True)
    if foreign != "none":
        what, hint = f"is compressed with {foreign}, which is not read", "unpack it, or compress it with gzip or zstd"
    elif head.startswith(UTF16):
        what, hint = "is UTF-16 text, expected UTF-8", "convert it: iconv -f UTF-16 -t UTF-8"
    elif value := one_value(head):
        what = f"is a JSON {value} of another kind than those that are read"
        hint = "write it as a table, such as one JSON object per line"
    elif control:
        what, hint = f"is not text: found the control byte 0x{control[0]:02x}", FORMATS
    else:
        usual = counted(Counter(map(len, rows)).most_common(1)[0][0], "column")
        lines = counted(facts["lines"], "line")
        what, hint = f"is neither judgments nor a run: most of its {lines} have {usual}", FORMATS
    return Problem(what, hint=hint, fatal=True)


def _inspect_run(path: Path, facts: dict[str, Any], progress: Progress) -> list[Problem]:
    """Read runs as commands do, and look at their lines; documents that a list has twice are one error."""
    nothing = Items(Ids.of([]), np.zeros(0, dtype=np.int32), Ids.of([]))

    def read(file: Path) -> tuple[dict[str, Any], list[Problem]]:
        runs = read_runs(file, duplicate_docs="first")
        read_facts(runs, nothing, progress if file == path else (lambda _: None))
        found, odd = survey_run(runs.sources[0])
        if found["repeated_documents"]:
            try:
                read_facts(read_runs(file), nothing, lambda _: None)
            except FormatError as error:
                twice = _problem(error)
                odd.append(replace(twice, what=twice.what + _such(found["repeated_documents"], "such lines")))
        return found, odd

    result, problems = reading_all(path, read)
    found, odd = result or ({}, [])
    facts |= found
    return [*problems, *odd]


def survey_run(source: Path | RunTable) -> tuple[dict[str, Any], list[Problem]]:
    """Count what the lines of a run that a reader accepts come to, and find what is odd about them.

    Cost: O(n log n) in the lines; memory: linear in them.
    """
    table = source if isinstance(source, RunTable) else whole_run(source)
    n_rows, n_topics = len(table.score), len(table.topic.names)
    key = table.system.codes.astype(np.int64) * n_topics + table.topic.codes
    order = np.argsort(key, kind="stable")
    list_key, owner, depth = np.unique(key[order], return_inverse=True, return_counts=True)
    doc, score, line = table.doc.codes[order], table.score[order], _lines(table)[order]
    rank = np.full(n_rows, np.nan) if table.rank is None else table.rank[order]
    same = owner[1:] == owner[:-1]
    rises = (score[1:] > score[:-1]) & same & (table.line is not None)  # without lines, documents have no order
    again = np.ones(n_rows, dtype=np.bool_)
    again[np.unique(owner * len(table.doc.names) + doc, return_index=True)[1]] = False
    best = np.lexsort((rank, -score, owner))  # within ties, any ranks will do
    falls = (np.diff(rank[best]) < 0) & same
    goes_on = np.append(True, key[1:] != key[:-1])
    goes_on[np.unique(key, return_index=True)[1]] = False
    with np.errstate(over="ignore"):
        tied = [_n_tied(each, same) for each in (score[best], score[best].astype(np.float32))]
    n_scattered = 0 if isinstance(source, RunTable) else len(np.unique(key[goes_on]))
    facts = {
        "rows": n_rows,
        "systems": list(table.system.names),
        "topics": n_topics,
        "topics_per_system": _range(np.bincount(list_key // n_topics)),
        "depth": _range(depth),
        "tied_share": tied[0] / n_rows,
        "tied_share_float32": tied[1] / n_rows,
        "rising_scores": int(rises.sum()),
        "contradicting_ranks": int(falls.sum()),
        "scattered_lists": n_scattered,
        "repeated_documents": int(again.sum()),
    }
    no_number = line[np.isnan(rank) & (table.rank is not None)]
    by_score = "lists are ordered by score, unless ordering by rank is asked for"
    odd = (
        ("the rank is not a number", no_number, "such lines", "ranks are read only to order documents by them"),
        ("the score is higher than on the line before", line[1:][rises], "such lines", by_score),
        ("the rank column contradicts the scores", line[best][1:][falls], "such places", by_score),
    )
    problems = [
        Problem(what + _such(len(found), plural), int(found.min()), hint)
        for what, found, plural, hint in odd
        if len(found)
    ]
    if n_scattered:
        row = int(np.argmax(goes_on))
        topic = table.topic.names[int(table.topic.codes[row])]
        what = f"the list of topic {topic!r} goes on after other lists" + _such(n_scattered, "scattered lists")
        hint = "it is read as a whole, which takes memory; sort it by topic and tag"
        problems.append(Problem(what, int(_lines(table)[row]), hint))
    return facts, problems


def _lines(table: RunTable) -> Ints:
    return np.arange(1, len(table.score) + 1) if table.line is None else table.line


def _n_tied(values: Floats | NDArray[np.float32], same: Bools) -> int:
    """Count the lines whose score another line of their list has, too; values in order; same (pair of neighbours,)."""
    alike = (values[1:] == values[:-1]) & same
    return int((np.append(alike, False) | np.append(False, alike)).sum())


def _range(counts: Ints) -> dict[str, float]:
    return {"min": int(counts.min()), "median": float(np.median(counts)), "max": int(counts.max())}


def _such(count: int, plural: str) -> str:
    return f" ({count:,} {plural})" if count > 1 else ""
