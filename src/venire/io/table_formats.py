"""Which format a table has, by its name and its first bytes; and what is a table at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from venire.io.column_names import ROLES, Groups, plain
from venire.io.lines import BOM, opened

PARQUET = b"PAR1"
SEPARATOR = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
SEPARATORS = ("\t", ",", ";")
HEAD = 1 << 16
RUN_ROLES: Mapping[str, Groups] = {
    "topic": ROLES["topic"],
    "doc": (("docno",), *ROLES["doc"]),
    "rank": (("rank", "position"),),
    "score": (("score",), ("sim", "similarity")),
    "system": (("system",), ("tag", "run", "runid", "runtag"), ("name",)),
}
"""Columns of a run that is a table, and the names they go by."""


def ending_of(name: str) -> str:
    """Return a name's last ending, lower case, but for that of compression."""
    return Path(name.lower().removesuffix(".gz").removesuffix(".zst")).suffix


def looks_like_table(head: bytes, name: str, *, stated: bool = False) -> bool:
    r"""Tell a table from TREC qrels by the first bytes, decompressed, and the file's name.

    A table is Parquet or JSON objects, or its name says so or ends in .csv, or its header names a topic and a document.
    stated: somebody says which column is what, so that a first line that does not end in a number is a header.

    Examples
    --------
    >>> looks_like_table(b"qid\tdocid\trel\n", "judges.tsv"), looks_like_table(b"51\t0\td1\t1\n", "qrels.tsv")
    (True, False)
    """
    head, ending = head.removeprefix(BOM), ending_of(name)
    if head.startswith(PARQUET) or head.lstrip().startswith(b"{") or ending in (".csv", ".parquet", *JSON_LINES):
        return True
    fields = header_names(head, name)
    if stated and not fields[-1].rpartition(" ")[2].lstrip("+-").isdigit():
        return True
    names = {plain(field) for field in fields}
    return all(names & {each for group in ROLES[role] for each in group} for role in ("topic", "doc"))


def is_run_table(path: Path) -> bool:
    """Whether a file holds runs as a table: it is Parquet, or CSV by its name, or its header names what runs have."""
    with opened(path) as file:
        head = file.read(HEAD).removeprefix(BOM)
    names, ending = header_names(head, path.name), ending_of(path.name)
    if head.startswith(PARQUET) or ending == ".parquet":
        return True
    return len(names) > 1 and (ending == ".csv" or name_a_run(names))


def name_a_run(names: Iterable[str]) -> bool:
    """Whether columns are those of a run: a topic, a document, and a score or a rank."""
    there = {plain(name) for name in names}
    topic, doc, rank, score, _ = (
        bool(there & {each for group in groups for each in group}) for groups in RUN_ROLES.values()
    )
    return topic and doc and (rank or score)


def header_names(head: bytes, name: str) -> list[str]:
    """Return the fields of the first line that is neither a comment nor empty: names of columns, if it is a header."""
    head = head.removeprefix(BOM)
    header = head[header_start(head) :].partition(b"\n")[0]
    fields = header.decode("utf-8", "replace").split(header_separator(header, SEPARATOR.get(ending_of(name), "")))
    return [field.strip('" \r') for field in fields]


def header_start(data: bytes) -> int:
    """Return where the first line begins that is neither a comment nor empty."""
    start = 0
    while (end := data.find(b"\n", start) + 1) > 0:
        line = data[start:end].strip()
        if line and not line.startswith(b"#"):
            return start
        start = end
    return start


def header_separator(header: bytes, preferred: str = "") -> str:
    """Return the preferred separator if the header has it, else the first of tab, comma and semicolon that it has."""
    return next((each for each in (preferred, *SEPARATORS) if each and each.encode() in header), ",")
