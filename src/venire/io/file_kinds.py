"""What a table is, by the names of its columns, where it is given as something else.

Judgments have a label, preferences two documents (left and right), click logs say what was clicked, runs have a score
and a rank or a system; votes that were counted have a column per label that says how often it was given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from venire.errors import FormatError
from venire.io.column_names import ROLES, plain

CLICKED = frozenset({"clicked", "click", "isclick", "isclicked", "wasclicked", "clicks", "clickflags"})
SIDES = (("left", "right"), ("leftdoc", "rightdoc"), ("docleft", "docright"), ("doca", "docb"), ("doc1", "doc2"))
RANKED = frozenset({"rank", "system", "run", "runid", "tag"})
LABELS = frozenset(ROLES["label"][0])
VOTES = re.compile(r"(^n?|[_\s-])(votes?|counts?)([_\s-]|$)|^(n|num|number)[_\s-]")
WAYS = {
    "preferences": "preferences are given with --preferences, read_preferences",
    "a click log": "click logs are read by venire clicks, read_clicks",
    "a run": "on the command line judgments come first, then runs",
    "judgments": "judgments come first on the command line, or after -j",
}


def kind_of_table(names: Sequence[str]) -> str | None:
    """Say what a table with these columns is, if that is plain: judgments, preferences, a click log or a run."""
    known = {plain(name) for name in names}
    if any(known.issuperset(two) for two in SIDES):
        return "preferences"
    if known & LABELS:
        return "judgments"
    if known & CLICKED:
        return "a click log"
    return "a run" if "score" in known and known & RANKED else None


def refuse_other_kind(names: Sequence[str], expected: str, where: object, line: int | None = None) -> None:
    """Raise where the columns of a table say that it is another kind of file than expected."""
    found = kind_of_table(names)
    if found not in (None, expected):
        message = f"this looks like {found} (columns {', '.join(names[:8])}), expected {expected}"
        raise FormatError(where, line, message, hint=WAYS[str(found)])


def refuse_votes(names: Sequence[str], where: object, line: int | None = None) -> None:
    """Raise where columns of a wide table that should be assessors are numbers of votes, by their names."""
    votes = [name for name in names if VOTES.search(name.casefold())]
    if votes:
        raise votes_fault(votes, where, line)


def votes_fault(names: Sequence[str], where: object, line: int | None = None) -> FormatError:
    """Word that columns hold how often a label was given, not labels."""
    message = (
        f"columns {', '.join(names[:8])} look like numbers of votes, expected a column of labels for each assessor"
    )
    return FormatError(where, line, message, hint="write a row per vote: topic, doc, assessor, label")
