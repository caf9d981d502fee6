"""Groups of duplicate documents, read from a file with a group per line.

The format is that of TREC FedWeb 2013: the documents of a line, separated by white space, are near-duplicates; a first
column that is a number (a distance) is ignored unless it is a judged document.  Groups that share a document are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from venire.data.ids import as_text
from venire.data.judgments import Items
from venire.errors import FormatError
from venire.io.documents import read_small
from venire.types import Ints

Duplicates = Sequence[Sequence[str]]


def read_duplicates(path: str | Path) -> Duplicates:
    """Read groups of duplicate documents."""
    groups = [as_text(line).split() for line in read_small(Path(path)).splitlines() if not line.startswith(b"#")]
    groups = [group for group in groups if group]
    if not groups:
        raise FormatError(path, None, "names no documents", hint="expected lines of duplicate documents")
    return groups


def groups_of(duplicates: Duplicates, items: Items) -> Ints:
    """Number items so that duplicates of one topic share a number, that of the first of them -> (item,)."""
    known = set(items.doc)
    leader = _leaders([group[1:] if group[0].isdigit() and group[0] not in known else group for group in duplicates])
    first: dict[tuple[int, str], int] = {}
    topics = items.topic.tolist()
    return np.array([first.setdefault((topics[n], leader(doc)), n) for n, doc in enumerate(items.doc)], dtype=np.int64)


def _leaders(groups: Iterable[Sequence[str]]) -> Callable[[str], str]:
    """Merge groups that share a document; return a function from a document to the first of its group."""
    parent: dict[str, str] = {}

    def leader(doc: str) -> str:
        while (above := parent.get(doc, doc)) != doc:
            parent[doc] = parent.get(above, above)
            doc = above
        return doc

    for group in groups:
        for doc in group[1:]:
            parent[leader(doc)] = leader(group[0])
    return leader
