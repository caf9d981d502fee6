"""Texts of topics and documents, to be shown beside their ids.

Topics: a line per topic, with its id, a tab, and the text.  Documents: JSON lines with the id (``id``, ``doc``,
``docno``, ``doc_id``, ``docid``, ``pid`` or ``_id``) and the text (``text``, ``contents``, ``body`` or ``passage``),
perhaps with a ``title``; or lines as for topics.  A file of documents may be a whole corpus: it is read line by line,
and only the texts that are asked for are kept, cut to ``LONGEST`` characters, and together to ``MOST``.

A text is shown as text, whatever it holds.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from venire.data.ids import as_text
from venire.errors import FormatError
from venire.io.files import opened
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
        return {} if self.topics is None else _chosen(self.topics, wanted, LONGEST)

    def of_docs(self, wanted: Collection[str]) -> dict[str, str]:
        """Return the texts of documents by id, cut so that all of them together stay within the limit."""
        if self.docs is None:
            return {}
        return _chosen(self.docs, wanted, min(LONGEST, max(MOST // max(len(wanted), 1), 80)))


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
    for path in (found.topics, found.docs):
        if path is not None and next(_lines(path), None) is None:
            raise FormatError(path, None, "holds no text", hint=HINT)
    return found


def _chosen(path: Path, wanted: Collection[str], longest: int) -> dict[str, str]:
    """Return the first text of each wanted id."""
    names, found = frozenset(wanted), dict[str, str]()
    for name, text in _lines(path):
        if name in names:
            found.setdefault(name, f"{text[:longest].rstrip()}…" if len(text) > longest else text)
            if len(found) == len(names):
                break
    return found


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield id and text of every line."""
    for number, line in numbered_lines(path):
        yield _record(line, path, number) if line.lstrip().startswith("{") else _pair(line, path, number)


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
    name = next((held[key] for key in IDS if isinstance(held.get(key), str | int)), None)
    text = next((held[key] for key in TEXTS if isinstance(held.get(key), str)), None)
    if name is None or text is None:
        raise FormatError(path, number, f"found the keys {', '.join(held)[:80] or '(none)'}", hint=HINT)
    title = held.get("title")
    return str(name), f"{title}: {text}" if isinstance(title, str) and title else text
