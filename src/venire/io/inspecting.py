"""What a file is, what it holds, and what is wrong with it: everything that can be seen, not only the first thing."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from venire.data.conditional import is_conditional
from venire.data.judgments import Judgments
from venire.errors import CommentWarning, FormatError, RepeatedLineWarning, VenireError
from venire.io.column_names import ROLES, plain
from venire.io.comments import comment_words, data_in_comments
from venire.io.duplicates import read_duplicates
from venire.io.judgment_sources import read_judgments
from venire.io.lines import BOM, GZIP, ZSTD, opened
from venire.io.qrels import COLUMNS
from venire.io.qrels_survey import preferences, repeated_labels
from venire.io.run_survey import survey_run, survey_table
from venire.io.run_tables import read_run_table
from venire.io.table_formats import header_names, name_a_run
from venire.io.tables import looks_like_table
from venire.io.text_survey import (
    Problem,
    TextFacts,
    described,
    misfits,
    problem_of,
    split_leniently,
    survey_text,
    text_problems,
)
from venire.results import counted

RUN, RUN_TABLE, QRELS = "TREC run", "run table", "TREC qrels"
DUPLICATES, UNKNOWN = "duplicates", "unknown"
LONG, WIDE = "judgments table (long)", "judgments table (wide)"
HEAD = 1 << 16
PARQUET = b"PAR1"
FOREIGN = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z"}
UTF16 = (b"\xff\xfe", b"\xfe\xff")
_TEXT_BYTES = bytes([9, 10, 11, 12, 13, *range(32, 256)])
FORMATS = "TREC qrels have 4 columns, runs 6; tables name their columns in a header"


@dataclass(frozen=True)
class Inspection:
    """What was found out about a file; ``facts`` can be written as JSON."""

    file: str
    kind: str
    facts: Mapping[str, Any]
    problems: tuple[Problem, ...]

    @property
    def readable(self) -> bool:
        """Whether nothing keeps the file from being read."""
        return not any(problem.fatal for problem in self.problems)


def inspect_file(
    path: Path,
    *,
    judgments: bool = False,
    reading: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Inspection:
    """Find out about one file.

    judgments: it is known to hold judgments.  reading: how judgments are read, as ``read_judgments`` takes it.
    Cost: O(bytes); runs are read in parts, judgments as a whole.
    """
    facts: dict[str, Any] = {}
    try:
        with opened(path) as file:
            head = file.read(HEAD)
        with path.open("rb") as raw:
            facts["compression"] = compression(raw.read(8))
        stated = bool((reading or {}).get("columns"))
        kind = kind_of(head, path.name, judgments=judgments, stated=stated)
        if kind == RUN:
            found = _of_run(path, head, facts, progress)
        else:
            found = _of_text(path, kind, facts, dict(reading or {}))
    except VenireError as error:
        return Inspection(str(path), UNKNOWN, facts, (problem_of(error),))
    in_order = sorted(found.problems, key=lambda each: (not each.fatal, each.line or 0))
    return replace(found, problems=tuple(in_order))


def compression(magic: bytes) -> str:
    """Name the compression by a file's first bytes."""
    known = {GZIP: "gzip", ZSTD: "zstd", **FOREIGN}
    return next((name for start, name in known.items() if magic.startswith(start)), "none")


def kind_of(head: bytes, name: str, *, judgments: bool = False, stated: bool = False) -> str:
    """Tell what a file is by its first bytes, decompressed, and its name; stated: somebody names columns of tables."""
    if not head.strip() or head.startswith((*FOREIGN, *UTF16)):
        return UNKNOWN
    if looks_like_table(head.removeprefix(BOM), name):
        return LONG if judgments or not _names_scores(header_names(head.removeprefix(BOM), name)) else RUN_TABLE
    lines = head.removeprefix(BOM).splitlines()
    lines = lines[:-1] if len(head) == HEAD else lines
    rows = [line.split() for line in lines if line.strip() and not line.startswith(b"#")]
    columns = Counter(map(len, rows))
    if not judgments and 2 * columns[6] > len(rows):
        return RUN
    if stated and looks_like_table(head, name, stated=True):
        return LONG
    if judgments or 2 * columns[4] > len(rows):
        return QRELS
    return DUPLICATES if _look_like_groups(rows) else UNKNOWN


def _names_scores(names: Iterable[str]) -> bool:
    """Tell runs from judgments by the names of the columns: runs have scores or ranks, neither labels nor assessors."""
    there = {plain(name) for name in names}
    judged = {name for role in ("label", "assessor") for name in ROLES[role][0]}
    return name_a_run(there) and there.isdisjoint(judged)


def _look_like_groups(rows: list[list[bytes]]) -> bool:
    """Tell whether lines list documents: at least two each, names with digits in them, hardly any of them twice."""
    docs = [doc for row in rows for doc in (row[1:] if row[0].isdigit() else row)]
    with_digit = sum(any(48 <= byte <= 57 for byte in doc) for doc in docs)
    distinct = len(set(docs))
    several = all(len(row) > 1 for row in rows)
    return bool(docs) and several and with_digit > 0.9 * len(docs) and distinct > 0.9 * len(docs)


def _of_run(path: Path, head: bytes, facts: dict[str, Any], progress: Callable[[int], None] | None) -> Inspection:
    survey = survey_run(path, progress=progress)
    facts |= described(survey.text, bom=head.startswith(BOM)) | dict(survey.facts)
    return Inspection(str(path), RUN, facts, tuple(survey.problems))


def _of_text(path: Path, kind: str, facts: dict[str, Any], reading: dict[str, Any]) -> Inspection:
    """Look at anything that is not a run: the text first, then what it holds."""
    with opened(path) as file:
        data = file.read()
    if kind == LONG and data.startswith(PARQUET):
        return _of_parquet(path, facts | {"bytes": len(data)}, reading)
    cut = bool(data) and not data.endswith(b"\n")
    whole = data.removeprefix(BOM) + b"\n" * cut
    text = survey_text(whole)
    facts |= described(text, bom=data.startswith(BOM))
    problems = text_problems(text, cut=cut)
    if kind == RUN_TABLE:
        return _of_run_table(path, facts, problems)
    if kind == LONG:
        return _of_table(path, facts, problems, reading)
    if kind == QRELS:
        return _of_qrels(path, whole, facts, problems, reading)
    if kind == DUPLICATES:
        groups = read_duplicates(path)
        facts |= {"groups": len(groups), "largest_group": max(map(len, groups))}
        return Inspection(str(path), kind, facts, tuple(problems))
    return Inspection(str(path), UNKNOWN, facts, (_why_unknown(data, text), *problems))


def _why_unknown(data: bytes, text: TextFacts) -> Problem:
    """Say why a file is nothing that can be read."""
    foreign = compression(data[:8])
    if not data.strip():
        return Problem("is empty", fatal=True)
    if foreign != "none":
        hint = "unpack it, or compress it with gzip or zstd"
        return Problem(f"is compressed with {foreign}, which is not read", hint=hint, fatal=True)
    if data.startswith(UTF16):
        hint = "convert it: iconv -f UTF-16 -t UTF-8"
        return Problem("is UTF-16 text, expected UTF-8", hint=hint, fatal=True)
    control = data[:HEAD].translate(None, delete=_TEXT_BYTES)
    if control:
        return Problem(f"is not text: found the control byte 0x{control[0]:02x}", hint=FORMATS, fatal=True)
    rows = [line.split() for line in data[:HEAD].splitlines() if not line.startswith(b"#")]
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    what = (
        f"is neither judgments nor a run: most of its {counted(text.n_lines, 'line')} have {counted(usual, 'column')}"
    )
    return Problem(what, hint=FORMATS, fatal=True)


def _of_parquet(path: Path, facts: dict[str, Any], reading: dict[str, Any]) -> Inspection:
    """Look at runs or judgments, by the names of the columns."""
    import polars as pl

    try:
        names = pl.read_parquet_schema(path)
    except pl.exceptions.PolarsError as error:
        raise FormatError(path, None, f"cannot be read as Parquet ({error})") from None
    return _of_run_table(path, facts, []) if _names_scores(names) else _of_table(path, facts, [], reading)


def _of_run_table(path: Path, facts: dict[str, Any], problems: list[Problem]) -> Inspection:
    try:
        survey = survey_table(read_run_table(path))
    except VenireError as error:
        return Inspection(str(path), RUN_TABLE, facts, (problem_of(error), *problems))
    return Inspection(str(path), RUN_TABLE, facts | dict(survey.facts), (*survey.problems, *problems))


def _of_table(path: Path, facts: dict[str, Any], problems: list[Problem], reading: dict[str, Any]) -> Inspection:
    """Read a table of judgments; one that is not long may be wide."""
    asked = reading.get("wide") or reading.get("wide_aspects")
    try:
        facts |= judgment_facts(read_judgments(path, **reading))
        return Inspection(str(path), WIDE if asked else LONG, facts, tuple(problems))
    except VenireError as error:
        wrong = problem_of(error)
    if not asked:
        try:
            facts |= judgment_facts(read_judgments(path, **{**reading, "wide": True}))
            hint = "read it with --wide (a column per assessor) or --wide-aspects (a column per aspect)"
            problems.insert(0, Problem("has no column of labels: it is taken as wide", wrong.line, hint))
            return Inspection(str(path), WIDE, facts, tuple(problems))
        except VenireError:
            pass
    problems = [each for each in problems if each.line is None or each.line != wrong.line]
    return Inspection(str(path), WIDE if asked else LONG, facts, (wrong, *problems))


def _of_qrels(
    path: Path, data: bytes, facts: dict[str, Any], problems: list[Problem], reading: dict[str, Any]
) -> Inspection:
    fields, found = split_leniently(data, 4)
    reading |= {"wide": False, "wide_aspects": False}
    wrong = misfits(found, f"4: {COLUMNS}")
    if odd := data_in_comments(data, 4):
        wrong.append(Problem(comment_words(odd), odd.line + 1, "rename the topic if it is data"))
    if len(fields.line) and (other := preferences(fields)):
        return Inspection(str(path), UNKNOWN, facts, (*other, *wrong, *problems))
    if len(fields.line):
        wrong += repeated_labels(fields, reading)
    if not any(problem.fatal for problem in wrong):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RepeatedLineWarning)
                warnings.simplefilter("ignore", CommentWarning)
                facts |= judgment_facts(read_judgments(path, **reading))
        except VenireError as error:
            wrong.append(problem_of(error))
    return Inspection(str(path), QRELS, facts, (*wrong, *problems))


def judgment_facts(judgments: Judgments) -> dict[str, Any]:
    """Return the summary of judgments under names."""
    if len(judgments) == 0:
        raise VenireError("holds no label that counts", hint="; ".join(judgments.notes) or None)
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
    return facts | dict(judgments.dropped) | {"notes": list(judgments.notes)}
