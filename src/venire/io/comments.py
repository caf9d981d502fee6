"""Comments in qrels and runs: lines that begin with ``#``, as in trec_eval; those that look like data are warned of."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

from venire.errors import CommentWarning, FormatError
from venire.io.text_survey import Found

COMMENT = re.compile(rb"^#[^\n]*", re.MULTILINE)
NUMBER = re.compile(rb"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")


def data_in_comments(data: bytes, n_columns: int) -> Found | None:
    """Find comments with the columns of data: the first word is longer than ``#``, or the label or score a number."""
    if b"#" not in data or (not data.startswith(b"#") and b"\n#" not in data):  # one byte is found ten times faster
        return None
    found: list[re.Match[bytes]] = []
    for line in COMMENT.finditer(data):
        fields = line[0].split()
        if len(fields) == n_columns and (len(fields[0]) > 1 or NUMBER.fullmatch(fields[n_columns // 2 + 1])):
            found.append(line)
    if not found:
        return None
    return Found(data.count(b"\n", 0, found[0].start()), len(found), found[0][0].decode("utf-8", "replace").strip())


def comment_words(found: Found) -> str:
    """Say that a comment may be data."""
    return f"{found.detail[:60]!r} begins with '#', so it is a comment; it has the columns of data{found.such()}"


def warn_of_comments(where: object, data: bytes, n_columns: int, *, lines_before: int = 0) -> None:
    """Warn of the first comment that looks like data."""
    if found := data_in_comments(data, n_columns):
        message = f"{where}:{lines_before + found.line + 1}: {comment_words(found)}"
        warnings.warn(message, CommentWarning, stacklevel=4)


def refuse_comments(topics: Iterable[str], path: object) -> None:
    """Refuse to write topics whose lines would be comments to all who read them."""
    wrong = min((topic for topic in topics if topic.startswith("#")), default=None)
    if wrong is not None:
        message = f"topic {wrong!r} begins with '#': its lines would be comments in qrels"
        raise FormatError(path, None, message, hint="rename the topic, or keep the judgments in a table")
