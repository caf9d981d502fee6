"""Files that a study names: topics, documents, items to judge, and pairs."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import category

from venire.errors import FormatError
from venire.io.files import DATASET, opened
from venire.io.preferences import NAMES as SIDES
from venire.io.qrels import read_qrels
from venire.io.tables.blocks import TableRows, read_frame
from venire.io.tables.columns import HEAD, ROLES, Groups, find_roles, looks_like_table
from venire.io.texts import IDS, TEXTS, numbered_lines
from venire.judging.designs import Item
from venire.judging.study import HTML, IMAGE, TEXT, Document, Topic
from venire.results import first_few

TOPIC_COLUMNS: Mapping[str, Groups] = {
    "topic": ROLES["topic"][:1],
    "query": (("query", "title", "text"),),
    "description": (("description", "desc"),),
    "narrative": (("narrative", "narr"),),
}
ITEM_COLUMNS: Mapping[str, Groups] = {
    "topic": ROLES["topic"],
    "doc": (*ROLES["doc"], *SIDES["left"]),
    "other": (("other",), *SIDES["right"]),
    "given": ROLES["given"],
    "probability": ROLES["probability"],
}
PAGES = {
    **dict.fromkeys((".html", ".htm"), HTML),
    **dict.fromkeys((".txt", ".md"), TEXT),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp"), IMAGE),
}
"""What a page is, by the ending of its file."""
RECORD = 'expected JSON such as {"doc": "d1", "title": "...", "snippet": "...", "text": "..."}, or html or file'


def refuse_id(name: str, where: object, line: int | None, what: str) -> None:
    """Raise where an id is empty, or has characters that no file or database holds."""
    if not name.strip() or any(category(each) in ("Cc", "Cs") for each in name):
        message = f"the {what} is {name!r}, expected text without control characters"
        raise FormatError(where, line, message, hint="give it another id")


class _Columns(NamedTuple):
    """Rows of a table, and the columns of the roles that it has."""

    rows: TableRows
    roles: Mapping[str, str]

    def texts(self, role: str) -> list[str]:
        """Return a column as text, "" where it is empty, or not there."""
        if role not in self.roles or not self.rows.frame.height:
            return [""] * self.rows.frame.height
        return list(self.rows.texts(self.roles[role]).fill_null("").to_list())


def _columns(path: Path, known: Mapping[str, Groups], needed: Sequence[str]) -> _Columns:
    """Read the columns of these roles."""
    roles: dict[str, str] = {}

    def choose(names: Sequence[str], line: int | None) -> tuple[Mapping[str, Any], None]:
        roles.clear()
        roles.update(find_roles(names, known, where=path, line=line))
        for role in needed:
            if role not in roles:
                found = first_few(list(names), 12) or "nothing"
                hint = f"the first line names the columns: {', '.join(known)}"
                raise FormatError(path, line, f"no column for the {role}: found {found}", hint=hint)
        return dict.fromkeys(roles.values(), "String"), None

    return _Columns(read_frame(path, choose), roles)


def read_topics(path: Path) -> dict[str, Topic]:
    """Read topics from a table, whose columns that are no part of a topic are not read, or from a dataset."""
    found: dict[str, Topic] = {}
    if str(path).startswith(DATASET):
        from venire.io.sources import irds

        for each in irds.topics(path):
            add_topic(found, Topic(*map(_clean, each)), path, None)
        return found
    table = _columns(path, TOPIC_COLUMNS, ("topic", "query"))
    for line, *cells in zip(table.rows.line.tolist(), *map(table.texts, TOPIC_COLUMNS), strict=True):
        add_topic(found, Topic(*cells), path, line)
    return found


def add_topic(topics: dict[str, Topic], topic: Topic, path: Path, line: int | None) -> None:
    """Add a topic, unless another one has its id."""
    refuse_id(topic.topic, path, line, "topic")
    if topic.topic in topics:
        raise FormatError(path, line, f"topic {topic.topic!r} comes twice", hint="give each topic an id of its own")
    topics[topic.topic] = topic


def read_items(path: Path, *, needed: Sequence[str] = ("doc",)) -> list[Item]:
    """Read items from a table, or from qrels, whose labels are not read; needed: the columns besides the topic."""
    if str(path).startswith(DATASET):
        from venire.io.sources import irds

        judged = irds.rows(path)
        pairs = dict.fromkeys(zip(judged.topic.texts(), judged.doc.texts(), strict=True))
        return [Item(topic, doc) for topic, doc in pairs]
    with opened(path) as file:
        head = file.read(HEAD)
    if needed == ("doc",) and not looks_like_table(head, path.name):
        qrels = read_qrels(path)
        cells = zip(qrels.topic.texts(), qrels.doc.texts(), map(int, qrels.line), strict=True)
        return [Item(topic, doc, line=line) for topic, doc, line in cells]
    table = _columns(path, ITEM_COLUMNS, ("topic", *needed))
    texts = map(table.texts, ("topic", "doc", "given", "other"))
    return [Item(*cells) for cells in zip(*texts, _probabilities(table), table.rows.line.tolist(), strict=True)]


def _probabilities(table: _Columns) -> list[float | None]:
    """Return probabilities, None where a cell is empty."""
    rows = table.rows
    if "probability" not in table.roles or not rows.frame.height:
        return [None] * rows.frame.height
    hint = "a probability is above 0 and at most 1"
    value = rows.finite_numbers(table.roles["probability"], hint=hint)
    rows.refuse((value <= 0) | (value > 1), lambda row: f"the probability is {value[row]:g}", hint=hint)
    return [None if isnan(each) else each for each in value.tolist()]


def read_documents(
    wanted: Collection[str], *, file: Path | None, folder: Path | None, root: Path
) -> dict[str, Document]:
    """Return the documents that are wanted, from JSON lines or a dataset, and from a folder of pages, not read here.

    root: the folder that files may not leave.  Cost: O(bytes) of the JSON lines, and a look for each file.
    """
    found: dict[str, Document] = {}
    if str(file).startswith(DATASET):
        found, file = _of_dataset(file, wanted), None
    for line, record in _records(file) if file is not None else ():
        doc = _id(record, file, line)
        if doc in wanted:
            refuse_id(doc, file, line, "document")
            if doc in found:
                hint = "give each document an id of its own"
                raise FormatError(file, line, f"document {doc!r} comes twice", hint=hint)
            found[doc] = _document(doc, record, root, (file, line))
    for doc in sorted(wanted) if folder is not None else ():
        page = None if folder is None else _page_in(folder, doc, root)
        if page is not None:
            before = found.get(doc, Document(doc))
            if before.file is not None and before.file.samefile(page):
                continue
            if before.content is not None or before.file is not None:
                message = f"document {doc!r} has a page here and another one in {folder}"
                raise FormatError(file, None, message, hint="keep one of them")
            found[doc] = replace(before, kind=PAGES[page.suffix.lower()], file=page)
    return found


def _of_dataset(path: Path | None, wanted: Collection[str]) -> dict[str, Document]:
    """Read documents of a dataset of ir_datasets; their pages are text."""
    from venire.io.sources import irds

    made = irds.documents(Path(str(path)), sorted(wanted))
    return {doc: Document(doc, _clean(title), content=_clean(text)) for doc, title, text in made}


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line and the object of each line of JSON."""
    for number, text in numbered_lines(path, hint='put the page into a file of its own ("file": "d1.html")'):
        yield number, _object(text.strip(), path, number)


def _object(text: str, path: Path, line: int) -> dict[str, Any]:
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        held = None
    if not isinstance(held, dict):
        raise FormatError(path, line, f"found {text[:60]!r}, which is no JSON object", hint=RECORD)
    return held


def _id(record: Mapping[str, Any], path: Path | None, line: int) -> str:
    name = next((record[key] for key in IDS if isinstance(record.get(key), str | int)), None)
    if name is None or isinstance(name, bool):
        raise FormatError(path, line, f"no id: found the keys {', '.join(record)[:80] or '(none)'}", hint=RECORD)
    return str(name)


def _document(doc: str, record: Mapping[str, Any], root: Path, where: tuple[Path | None, int]) -> Document:
    """Make a document of its record: title, snippet, and its page as text, as HTML or in a file."""
    texts = {key: record[key] for key in ("title", "snippet", "html", "file", *TEXTS) if record.get(key) is not None}
    for key, text in texts.items():
        if not isinstance(text, str):
            raise FormatError(*where, f"{key} of document {doc!r} is no text", hint=RECORD)
    pages = [key for key in ("html", "file", *TEXTS) if key in texts]
    if len(pages) > 1:
        raise FormatError(*where, f"document {doc!r} has {pages[0]} and {pages[1]}", hint="give it one page")
    begun = Document(doc, _clean(texts.get("title", "")), _clean(texts.get("snippet", "")))
    if not pages:
        return begun
    if pages == ["file"]:
        page = inside(root, root / texts["file"], where)
        if page.suffix.lower() not in PAGES:
            message = f"file {texts['file']!r} of document {doc!r} has the ending {page.suffix!r}"
            raise FormatError(*where, message, hint=f"expected one of {', '.join(PAGES)}")
        return replace(begun, kind=PAGES[page.suffix.lower()], file=page)
    return replace(begun, kind=HTML if pages == ["html"] else TEXT, content=_clean(texts[pages[0]]))


def _clean(text: str) -> str:
    """Replace what is no valid text: bytes that are not UTF-8, and halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _page_in(folder: Path, doc: str, root: Path) -> Path | None:
    """Return the file of a document's page in a folder, None if there is none."""
    there = [folder / f"{doc}{ending}" for ending in PAGES]
    found = [path for path in there if _is_file(path)]
    if len(found) > 1:
        message = f"{found[0].name} and {found[1].name} are both pages of document {doc!r}"
        raise FormatError(folder, None, message, hint="keep one of them")
    return inside(root, found[0], (folder, None)) if found else None


def inside(root: Path, path: Path, where: tuple[Path | None, int | None]) -> Path:
    """Return a path that stays in the study's folder, through links too; raise otherwise, or where there is no file."""
    if not _is_file(path):
        raise FormatError(*where, f"there is no file {path.name!r}", hint="paths are relative to the study file")
    if not path.resolve().is_relative_to(root.resolve()):
        message = f"{path.name!r} is not in the folder of the study"
        raise FormatError(*where, message, hint="copy the page into the folder: links and .. may not leave it")
    return path


def folder_inside(root: Path, name: str) -> Path | None:
    """Return a folder that stays in the study's folder, through links too; None if there is none."""
    path = root / name
    there = os.path.isdir(path)  # noqa: PTH112 - which does not raise
    return path if there and path.resolve().is_relative_to(root.resolve()) else None


def _is_file(path: Path) -> bool:
    """Return whether this is a file; a name that no system takes is none."""
    return os.path.isfile(path)  # noqa: PTH113 - which does not raise
