"""Quepid exports a book as CSV (query, docid, a column per judge) or JSON (``query_doc_pairs`` with ``judgements``).

Ratings of a case are CSV (query, docid, rating; or, detailed, Query Text, Doc ID and Rating among other columns), JSON
(``queries`` with ``query`` or ``query_text``, and ``ratings``), JSON for RRE (``queries`` with ``placeholders`` and
``relevant_documents``), or lines for learning to rank, ``2.0 qid:1 # DOC QUERY``.  A topic is the text of its query.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from venire.errors import FormatError
from venire.io.documents import read_json, read_text
from venire.io.files import opened
from venire.io.lines import BOM
from venire.io.sources.labels import Imported
from venire.io.sources.records import LIMIT, Columns, Record, is_name
from venire.io.tables.columns import HEAD, header_separator, plain
from venire.io.texts import numbered_lines
from venire.results import first_few

HINT = "export a book, or the ratings of a case, as CSV or JSON"
UNRATEABLE, LATER = "said to be unrateable", "put off by the judge"
ANONYMOUS = "Anonymous"
"""What Quepid calls judgements without a user."""
DETAILED = ("querytext", "docid", "rating")
"""Columns of the detailed export of a case, as plain() writes them."""
TO_RANK = re.compile(r"\s*(-?[\d.]+)\s+qid:(\S+)\s+#\s+(\S+)[ \t]*(.*?)\s*")
"""A line for learning to rank: rating, number of the query, document, query."""


def labels(path: Path, columns: Columns) -> Iterator[Imported]:  # noqa: ARG001 - the keys are fixed
    """Read a book or a case of Quepid: CSV, JSON, or lines for learning to rank."""
    with opened(path) as file:
        head = file.read(HEAD).removeprefix(BOM).lstrip()
    if head.startswith((b"{", b"[")):
        return _of_json(path)
    return _of_lines(path) if TO_RANK.match(head.decode("utf-8", "replace")) else _of_table(path)


def _of_lines(path: Path) -> Iterator[Imported]:
    """Read lines for learning to rank."""
    for number, text in numbered_lines(path):
        found = TO_RANK.fullmatch(text)
        if found is None:
            raise FormatError(path, number, f"found {text[:60]!r}", hint="expected RATING qid:NUMBER # DOC QUERY")
        rating, query, doc, words = found.groups()
        yield Imported(topic=words or query, doc=doc, label=rating, line=number)


def rows_of_csv(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV with their lines, the header first, without rows that are empty.

    A spreadsheet may have saved it with semicolons.
    """
    text = read_text(path, LIMIT)
    separator = header_separator(text.lstrip().partition("\n")[0].encode("utf-8", "replace"), ",")
    lines = csv.reader(StringIO(text, newline=""), delimiter=separator)
    width = 0
    try:
        for cells in lines:
            width = width or len(cells)
            if len(cells) > width:
                message = f"found {len(cells)} fields, expected {width} as in the header"
                raise FormatError(path, lines.line_num, message, hint=f"quote fields that contain {separator!r}")
            if cells:
                yield lines.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise FormatError(path, lines.line_num, f"is not CSV ({error})") from None


def _of_table(path: Path) -> Iterator[Imported]:
    """Read columns query, docid, and rating or one for each judge; a query without ratings may be alone on its line.

    Cells that begin with a sign have a space before.
    """
    rows = rows_of_csv(path)
    line, names = next(rows, (1, []))
    known = [plain(name) for name in names]
    judges: Mapping[int, str]
    if set(DETAILED) <= set(known):
        query, doc, rating = map(known.index, DETAILED)
        judges = {rating: ""}
    elif len(names) > 2 and known[:2] == ["query", "docid"]:
        query, doc = 0, 1
        judges = {2: ""} if known[2:] == ["rating"] else dict(enumerate(names[2:], start=2))
    else:
        message = f"found the columns {first_few(names, 8) or 'none'}, expected query, docid and ratings"
        raise FormatError(path, line, message, hint=HINT)
    if twins := [name for name in judges.values() if [*judges.values()].count(name) > 1]:
        hint = "rename one of them in the header, or export the book as JSON, which has e-mail addresses"
        raise FormatError(path, line, f"two judges are called {twins[0]!r}", hint=hint)
    for line, cells in rows:
        filled = [*cells, *[""] * (len(names) - len(cells))]
        for column, judge in judges.items():
            ratings = filled[column].split("|")  # of several without a name, in older versions
            for each, who in zip(ratings, _numbered(judge, len(ratings)), strict=True):
                if each and not filled[doc]:
                    raise FormatError(path, line, f"has the rating {each[:30]!r} without a document", hint=HINT)
                if each:
                    yield Imported(topic=filled[query], doc=filled[doc], label=each, assessor=who, line=line)


def _numbered(name: str, n: int) -> list[str]:
    """Name several people alike, with numbers."""
    return [name, *(f"{name} {number}".lstrip() for number in range(2, n + 1))]


def _of_json(path: Path) -> Iterator[Imported]:
    """Read pairs with judgements (a book), or queries with ratings (a case)."""
    held = read_json(path, hint=HINT, limit=LIMIT)
    pairs = held.get("query_doc_pairs") if isinstance(held, dict) else None
    queries = held.get("queries") if isinstance(held, dict) else None
    if not isinstance(pairs, list) and not isinstance(queries, list):
        raise FormatError(path, None, "has neither query_doc_pairs nor queries, as Quepid exports", hint=HINT)
    for number, pair in enumerate(pairs if isinstance(pairs, list) else (), start=1):
        yield from _judged(Record(path, {}, number), pair)
    for number, query in enumerate(queries if isinstance(queries, list) else (), start=1):
        record = Record(path, {}, number)
        for rating in _ratings(record, query):
            yield from _rated(record, query, rating, rating)


def _judged(record: Record, pair: Any) -> Iterator[Imported]:
    """Yield the judgements of a pair in a book; several without a user are by several people."""
    listed = _objects(record, pair, "judgements")
    nameless = iter(_numbered(ANONYMOUS, len(listed)))
    for each in listed:
        who = next((each[key] for key in ("user_email", "user_id") if each.get(key) is not None), None)
        yield from _rated(record, pair, pair, {**each, "user_email": next(nameless) if who is None else who})


def _objects(record: Record, holder: Any, key: str) -> list[dict[str, Any]]:
    """Return the objects in a list that a pair or a query holds, if it does."""
    found = (holder.get(key) or []) if isinstance(holder, dict) else None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise record.fault(f"is no object with a list of {key}, as Quepid exports", hint=HINT)
    return found


def _ratings(record: Record, query: Any) -> list[dict[str, Any]]:
    """Return the ratings of a query in a case: a list, or values by document; for RRE, also documents by value."""
    key = "relevant_documents" if isinstance(query, dict) and "ratings" not in query else "ratings"
    held = query.get(key) if isinstance(query, dict) else None
    if not isinstance(held, dict):
        return _objects(record, query, key)
    pairs = []
    for key, value in held.items():
        if isinstance(value, list):
            pairs += [(doc, key) for doc in value]
        else:
            pairs.append((key, value.get("gain") if isinstance(value, dict) else value))
    return [{"doc_id": doc, "rating": rating} for doc, rating in pairs]


def _rated(record: Record, query: Any, doc: Any, rating: Any) -> Iterator[Imported]:
    """Yield a rating of a document; one that is empty, or says that it cannot be rated, has no label."""
    no = UNRATEABLE if rating.get("unrateable") else LATER if rating.get("judge_later") else ""
    if rating.get("rating") is None and not no:
        return
    places = query.get("placeholders")
    text = places.get("$query") if isinstance(places, dict) else query.get("query_text", query.get("query"))
    names = text, doc.get("doc_id") if isinstance(doc, dict) else None
    if not all(map(is_name, names)):
        raise record.fault("has a rating without query_text and doc_id", hint=HINT)
    who, why = rating.get("user_email"), rating.get("explanation")
    yield Imported(
        topic=str(names[0]).strip(),
        doc=str(names[1]),
        label="" if no else record.value(rating["rating"]),
        assessor="" if who is None else str(who),
        comment=why if isinstance(why, str) else "",
        left_out=no,
        line=record.place,
    )
