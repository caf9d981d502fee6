"""What is wrong with a run file, in words."""

from __future__ import annotations

from pathlib import Path

from venire.data.runs import RunTable
from venire.errors import FormatError
from venire.io.lines import Chunk, last_line
from venire.results import counted
from venire.scan.fields import Fault
from venire.scan.lists import DOC, RANK, SCORE, TAG, TOPIC, Rules

Where = Path | str
COLUMNS = "topic, Q0, document, rank, score, tag"


def explained_fault(where: Where, fault: Fault, chunk: Chunk, rules: Rules, *, lines_before: int = 0) -> FormatError:
    """Word what a scan found wrong in a chunk; rules say what was looked at."""
    line = lines_before + fault.line + 1
    text = chunk.data.split(b"\n")[fault.line]
    if fault.kind == "control":
        return control_fault(where, line, fault)
    if fault.kind == "columns":
        cut = chunk.cut and chunk.data.count(b"\n") == fault.line + 1
        return columns_fault(where, line, text, fault, f"6: {COLUMNS}", cut=cut)
    fields = [field.decode("utf-8", "replace") for field in text.split()]
    if fault.kind == "twice":
        return FormatError(
            where,
            line,
            f"document {fields[DOC]!r} is ranked twice for topic {fields[TOPIC]!r}",
            hint="keep the first with --repeated first, or correct the run",
        )
    found = fields[RANK if rules.by_rank else SCORE]
    return FormatError(
        where,
        line,
        f"{fault.kind} {found!r} is not a finite number, expected one in column {5 - rules.by_rank}",
        hint=f"the columns are {COLUMNS}",
    )


def repeated_row_fault(table: RunTable, row: int) -> FormatError:
    """Word a document that stands twice in a list in memory."""
    doc, topic = (column.names[int(column.codes[row])] for column in (table.doc, table.topic))
    return FormatError(
        table.name,
        row + 1 if table.line is None else int(table.line[row]),
        f"document {doc!r} is ranked twice for topic {topic!r}",
        hint='keep the first with repeated="first"',
    )


def score_row_fault(table: RunTable, row: int, what: str, value: float) -> FormatError:
    """Word a score or a rank in memory that is not a number."""
    return FormatError(
        table.name,
        row + 1 if table.line is None else int(table.line[row]),
        f"{what} {value} is not a finite number",
        hint=f"leave out documents that have no {what}",
    )


def control_fault(where: Where, line: int, fault: Fault) -> FormatError:
    """Word a byte that no text holds."""
    return FormatError(
        where,
        line,
        f"found the control byte 0x{fault.detail:02x}: this is not a text file",
        hint="compressed files must be gz or zst, and Parquet files end in .parquet",
    )


def columns_fault(
    where: Where, line: int, text: bytes, fault: Fault, expected: str, *, cut: bool = False
) -> FormatError:
    """Word a line with too few or too many columns."""
    shown = text[:60].decode("utf-8", "replace").strip()
    hint = "ids hold no white space, and fields are separated by spaces or tabs"
    if cut:
        hint = "the last line has no line end: the file may have been cut off"
    elif fault.detail + int(expected[0]) == 10:
        kind = "a run" if fault.detail == 6 else "judgments"
        hint = f"this looks like {kind}: on the command line judgments come first, then runs"
    return FormatError(
        where, line, f"found {counted(fault.detail, 'column')} in {shown!r}, expected {expected}", hint=hint
    )


def refuse_cut_line(where: Where, chunk: Chunk, *, lines_before: int = 0) -> None:
    """Refuse a last line without line end whose tag is the beginning of the tag before: it was cut off."""
    start = chunk.data.rfind(b"\n", 0, -1) + 1
    last, before = chunk.data[start:].split(), (last_line(chunk.data, start) or chunk.before).split()
    if len(last) == len(before) == 6 and not chunk.data.startswith(b"#", start):
        tag, whole = last[TAG], before[TAG]
        if whole != tag and whole.startswith(tag):
            line = lines_before + chunk.data.count(b"\n")
            raise FormatError(
                where,
                line,
                f"the last line ends in {tag.decode('utf-8', 'replace')!r} without a line end, the line before "
                f"in {whole.decode('utf-8', 'replace')!r}",
                hint="the file seems to have been cut off: fetch it again",
            )
