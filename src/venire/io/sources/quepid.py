"""Quepid exports a book as CSV (query, docid, a column per judge) or JSON (``query_doc_pairs`` with ``judgements``).

Ratings of a case are CSV (query, docid, rating) or JSON (``queries`` with ``query`` or ``query_text``, and
``ratings``).  A topic is the text of its query.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from venire.errors import FormatError
from venire.io.documents import read_json, read_text
from venire.io.files import opened
from venire.io.lines import BOM
from venire.io.sources.labels import Imported
from venire.io.sources.records import LIMIT, Columns, Record, is_name
from venire.io.tables.columns import HEAD, plain
from venire.results import first_few

UNRATEABLE = "said to be unrateable"


def labels(path: Path, columns: Columns) -> Iterator[Imported]:  # noqa: ARG001 - the keys are fixed
    """Read a book or a case of Quepid, CSV or JSON."""
    with opened(path) as file:
        head = file.read(HEAD).removeprefix(BOM)
    return _of_json(path) if head.lstrip().startswith((b"{", b"[")) else _of_table(path)


def _of_table(path: Path) -> Iterator[Imported]:
    """Read columns query, docid, and rating or one for each judge; a query without ratings may be alone on its line.

    Cells that begin with a sign have a space before.
    """
    lines = csv.reader(StringIO(read_text(path, LIMIT), newline=""))
    try:
        names = next((row for row in lines if row), [])
        if len(names) < 3 or [plain(name) for name in names[:2]] != ["query", "docid"]:
            hint = "export a book, or the ratings of a case, as CSV"
            message = f"found the columns {first_few(names, 8) or 'none'}, expected query, docid and ratings"
            raise FormatError(path, max(lines.line_num, 1), message, hint=hint)
        one = [plain(name) for name in names[2:]] == ["rating"]
        for query, *cells in (row for row in lines if row):
            doc, *ratings = (cell.strip() for cell in cells or [""])
            if len(ratings) > len(names) - 2:
                message = f"found {len(cells) + 1} fields, expected {len(names)} as in the header"
                raise FormatError(path, lines.line_num, message, hint="quote fields that contain a comma")
            for judge, rating in zip(names[2:], ratings, strict=False):
                if doc and rating:
                    who = "" if one else judge.strip()
                    yield Imported(topic=query.strip(), doc=doc, label=rating, assessor=who, line=lines.line_num)
    except csv.Error as error:
        raise FormatError(path, lines.line_num, f"is not CSV ({error})") from None


def _of_json(path: Path) -> Iterator[Imported]:
    """Read pairs with judgements (a book), or queries with ratings (a case)."""
    held = read_json(path, limit=LIMIT)
    pairs = held.get("query_doc_pairs") if isinstance(held, dict) else None
    queries = held.get("queries") if isinstance(held, dict) else None
    if not isinstance(pairs, list) and not isinstance(queries, list):
        hint = "export a book or a case as JSON"
        raise FormatError(path, None, "has neither query_doc_pairs nor queries, as Quepid exports", hint=hint)
    for number, pair in enumerate(pairs if isinstance(pairs, list) else (), start=1):
        yield from _rated(Record(path, {}, number), pair, pair, _listed(pair, "judgements"))
    for number, query in enumerate(queries if isinstance(queries, list) else (), start=1):
        ratings = query.get("ratings") if isinstance(query, dict) else None
        if isinstance(ratings, dict):
            ratings = [{"doc_id": doc, "rating": rating} for doc, rating in ratings.items()]
        for rating in ratings if isinstance(ratings, list) else ():
            yield from _rated(Record(path, {}, number), query, rating, [rating])


def _listed(pair: Any, key: str) -> list[Any]:
    found = pair.get(key) if isinstance(pair, dict) else None
    return found if isinstance(found, list) else []


def _rated(record: Record, query: Any, doc: Any, ratings: Iterable[Any]) -> Iterator[Imported]:
    """Yield the ratings of one document; those that are empty, or say that it cannot be rated, have no label."""
    for rating in ratings:
        if not isinstance(rating, dict) or (rating.get("rating") is None and not rating.get("unrateable")):
            continue
        names = query.get("query_text", query.get("query")), doc.get("doc_id") if isinstance(doc, dict) else None
        if not all(map(is_name, names)):
            raise record.fault("has a rating without query_text and doc_id")
        who, why, no = rating.get("user_email"), rating.get("explanation"), rating.get("unrateable")
        yield Imported(
            topic=str(names[0]).strip(),
            doc=str(names[1]),
            label="" if no else record.value(rating["rating"]),
            assessor="" if who is None else str(who),
            comment=why if isinstance(why, str) else "",
            left_out=UNRATEABLE if no else "",
        )
