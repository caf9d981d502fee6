"""Texts of topics and documents, to be shown beside their ids.

Topics: a line per topic, with its id, a tab, and the text.  Documents: JSON lines with the id (``id``, ``doc``,
``docno``, ``doc_id``, ``docid``, ``pid`` or ``_id``) and the text (``text``, ``contents``, ``body`` or ``passage``),
perhaps with a ``title``; or lines as for topics.  Either may be a Parquet or Arrow file with these columns, a folder
with queries and a corpus as BEIR and Hugging Face lay them out, or a dataset of ir_datasets (``irds:ID``).  A file of
documents may be a whole corpus: it is read line by line, and only the texts that are asked for are kept, cut to
``LONGEST`` characters, and together to ``MOST``.

A text is shown as text, whatever it holds.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from venire.data.ids import as_text
from venire.errors import FormatError
from venire.io.files import DATASET, opened
from venire.io.limits import current, over
from venire.io.lines import BOM

LONGEST, MOST = 400, 1_000_000
"""Characters of one text, and of all texts of documents, that are kept."""
IDS = ("id", "doc", "docno", "doc_id", "docid", "pid", "_id")
TEXTS = ("text", "contents", "body", "passage")
HINT = 'expected an id, a tab and the text, or JSON such as {"id": "d1", "text": "..."}'


@dataclass(frozen=True)
class Texts:
    """Files of texts of topics and of documents, either of which may be missing."""

    topics: Path | None = None
    docs: Path | None = None

    def of_topics(self, wanted: Collection[str]) -> dict[str, str]:
        """Return the texts of topics by id."""
        return {} if self.topics is None else _chosen(_texts(self.topics, "queries", wanted), wanted, LONGEST)

    def of_docs(self, wanted: Collection[str]) -> dict[str, str]:
        """Return the texts of documents by id, cut so that all of them together stay within the limit."""
        if self.docs is None:
            return {}
        found = _texts(self.docs, "corpus", wanted)
        return _chosen(found, wanted, min(LONGEST, max(MOST // max(len(wanted), 1), 80)))


def read_texts(*, topics: str | Path | None = None, docs: str | Path | None = None) -> Texts | None:
    """Name the files of texts, and check that they can be read; None if there is none.

    Examples
    --------
    >>> read_texts() is None
    True
    """
    if topics is None and docs is None:
        return None
    found = Texts(None if topics is None else Path(topics), None if docs is None else Path(docs))
    for path, part in ((found.topics, "queries"), (found.docs, "corpus")):
        is_dataset = str(path).startswith(DATASET) and part == "corpus"
        if path is not None and not is_dataset and next(_texts(path, part, ()), None) is None:
            raise FormatError(path, None, "holds no text", hint=HINT)
    return found


def topic_ids(path: Path) -> list[str]:
    """Return the ids of topics of a dataset, a folder or JSON lines; of other files what each line has before a tab."""
    if str(path).startswith(DATASET) or path.is_dir():
        return [name for name, _ in _texts(path, "queries", ())]
    from venire.io.documents import read_small

    data = read_small(path)
    if data.lstrip().startswith(b"{"):
        return [name for name, _ in read_lines(path)]
    return [line.partition("\t")[0].strip() for line in as_text(data).splitlines()]


def _texts(path: Path, part: str, wanted: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield id and text of queries or of a corpus: of a file, a folder or a dataset."""
    if str(path).startswith(DATASET):
        from venire.io.sources import irds

        return irds.topic_texts(path) if part == "queries" else irds.doc_texts(path, wanted)
    if not path.is_dir():
        return read_lines(path)
    from venire.io.sources.folders import collection_files

    return (each for file in collection_files(path, part) for each in read_lines(file))


def _chosen(texts: Iterator[tuple[str, str]], wanted: Collection[str], longest: int) -> dict[str, str]:
    """Return the first text of each wanted id."""
    names, found = frozenset(wanted), dict[str, str]()
    for name, text in texts:
        if name in names:
            found.setdefault(name, f"{text[:longest].rstrip()}…" if len(text) > longest else text)
            if len(found) == len(names):
                break
    return found


def read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield id and text of every line, or row of Parquet or Arrow."""
    with opened(path) as file:
        head = file.read(8)
    if head.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")):
        yield from _rows(path)
        return
    for number, line in numbered_lines(path):
        yield _record(line, path, number) if line.lstrip().startswith("{") else _pair(line, path, number)


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    """Yield id and text of every row of a table, block by block."""
    from venire.io.tables.blocks import table_blocks

    def choose(names: Sequence[str], line: int | None) -> tuple[Mapping[str, Any], None]:
        found = [next((name for name in known if name in names), None) for known in (IDS, TEXTS, ("title",))]
        if None in found[:2]:
            raise FormatError(path, line, f"found the columns {', '.join(names)[:80]}", hint=HINT)
        return {name: None for name in found if name is not None}, None

    for rows, _ in table_blocks(path, choose):
        columns = {name: rows.texts(name).fill_null("").to_list() for name in rows.frame.columns}
        for number, *row in zip(rows.line.tolist(), *columns.values(), strict=True):
            yield _joined(dict(zip(columns, row, strict=True)), path, number)


def numbered_lines(path: Path, *, hint: str = "") -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not blank, with their numbers; hint: what to do about one that is too long."""
    most = current().line_length
    with opened(path) as file:
        for number in count(1):
            raw = file.readline(most + 1)
            if not raw:
                return
            if len(raw) > most:
                raise over("line_length", path, number, f"a line of more than {most:,} bytes", hint=hint)
            line = as_text(raw.removeprefix(BOM) if number == 1 else raw).strip("\r\n")
            if line.strip():
                yield number, line


def _pair(line: str, path: Path, number: int) -> tuple[str, str]:
    name, tab, text = line.partition("\t")
    if not tab or not name:
        raise FormatError(path, number, f"found {line[:60]!r}", hint=HINT)
    return name, text.strip()


def _record(line: str, path: Path, number: int) -> tuple[str, str]:
    try:
        held: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise FormatError(path, number, f"found {line[:60]!r}, which is not JSON", hint=HINT) from None
    return _joined(held, path, number)


def _joined(held: Mapping[str, Any], path: Path, number: int) -> tuple[str, str]:
    """Return the id, and the title and the text as one."""
    name = next((held[key] for key in IDS if isinstance(held.get(key), str | int)), None)
    text = next((held[key] for key in TEXTS if isinstance(held.get(key), str)), None)
    if name is None or text is None:
        raise FormatError(path, number, f"found the keys {', '.join(held)[:80] or '(none)'}", hint=HINT)
    title = held.get("title")
    return str(name), f"{title}: {text}" if isinstance(title, str) and title else text
