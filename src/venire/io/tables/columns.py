"""Headers of tables: which column is what, which layout a table has, and whether a file is a table at all.

Columns are known by their names, whatever their case and their ``_``, ``-`` and spaces.  In the *long* layout every row
is one label.  In the *wide* layouts a row holds several: every column that is nothing else is an assessor (``"wide"``)
or an aspect (``"aspects"``), and its cells are labels.

The layout is recognised where it is not stated.  A table with a column of labels is long.  One without is wide, if it
has two further columns or more and none of them is known to be something else.  Only where aspects are asked for, a
table can be wide by aspects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from venire.errors import FormatError, UnknownName, known_names
from venire.io.lines import BOM
from venire.results import first_few

Groups: TypeAlias = tuple[tuple[str, ...], ...]
"""Names of a role, as plain() writes them; those of a later group count only where none of an earlier one occurs."""
ROLES: Mapping[str, Groups] = {
    "topic": (("topic", "topicid", "qid", "queryid"), ("query", "q", "request")),
    "doc": (("doc", "docid", "docno", "documentid", "passageid", "corpusid"), ("document", "passage", "pid")),
    "assessor": (
        ("assessor", "assessorid", "worker", "workerid", "rater", "raterid", "annotator", "annotatorid", "judge"),
        ("user", "userid"),
    ),
    "label": (("label", "grade", "rel", "relevance", "rating", "judgment", "judgement"), ("score",)),
    "intent": (("intent", "intentid", "subtopic", "subtopicid"),),
    "aspect": (("aspect", "dimension"),),
    "given": (("given", "givendoc", "previous"), ("context",)),
    "unit": (("unit",),),
    "task": (("task",),),
    "time": (("time", "timestamp"), ("date",)),
    "probability": (("probability", "inclusionprobability"),),
}
"""Names of each role."""
RUN_ROLES: Mapping[str, Groups] = {
    "topic": ROLES["topic"],
    "doc": (("docno",), *ROLES["doc"]),
    "rank": (("rank", "position"),),
    "score": (("score",), ("sim", "similarity")),
    "system": (("system",), ("tag", "run", "runid", "runtag"), ("name",)),
}
"""Names of the columns of a run that is a table."""
CHOICES: Mapping[str, Groups] = {
    "strength": (("strength", "strengthleft", "leftbetter"), ("score", "rating")),
    "strength_right": (("strengthright", "rightbetter"),),
    "preferred": (("preferred", "preferreddoc", "winner"), ("preference", "choice")),
}
"""Names of the columns of a choice between two documents."""
LAYOUTS: Mapping[str, str | None] = {"long": None, "wide": "assessor", "aspects": "aspect"}
"""Layouts of tables: what each column of labels stands for."""
OWN_COLUMNS = ("intent", "aspect", "given", "unit", "task", "time", "probability")
"""Names that, spelled exactly so, are no assessors in a wide table."""
NO_LABELS = frozenset(
    {
        *("batch", "certainty", "comment", "confidence", "dwell", "duration", "gold", "id", "index", "length"),
        *("number", "position", "rank", "row", "seconds", "session", "sim", "similarity", "source", "system"),
        *("tag", "text", "title", "url", "weight"),
    }
)
"""Names of columns that hold no labels, though perhaps numbers: a table with one of them is not taken for wide."""
GENERIC = frozenset({"label", "grade", "rating", "judgment", "judgement", "score"})
"""Names of columns of labels that do not name an aspect."""

CLICKED = frozenset({"clicked", "click", "isclick", "isclicked", "wasclicked", "clicks", "clickflags"})
SIDES = (("left", "right"), ("leftdoc", "rightdoc"), ("docleft", "docright"), ("doca", "docb"), ("doc1", "doc2"))
RANKED = frozenset({"rank", "system", "run", "runid", "tag"})
PLANNED = frozenset({"judge", "kind", "probability", "reason"})
CHOSEN = frozenset(name for groups in CHOICES.values() for group in groups for name in group)
VOTES = re.compile(r"(^n?|[_\s-])(votes?|counts?)([_\s-]|$)|^(n|num|number)[_\s-]")
WAYS = {
    "preferences": "give it as preferences (read_preferences)",
    "a click log": "read it as a click log (read_clicks)",
    "a run": "judgments come first, then runs",
    "judgments": "give it as judgments",
    "a plan": "it says what to judge: give it with one more column, {answer}",
}
"""What to do with a table that is of another kind than expected."""

PARQUET = b"PAR1"
BINARY = (PARQUET, b"ARROW1", b"\xff\xff\xff\xff")
"""First bytes of tables that are no text: Parquet, an Arrow file (Feather), an Arrow stream."""
BINARY_ENDINGS = (".parquet", ".arrow", ".feather", ".ipc")
SEPARATOR = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
SEPARATORS = ("\t", ",", ";")
HEAD = 1 << 16


class Form(NamedTuple):
    """How a table is to be read, and its name in errors.

    layout: one of LAYOUTS, or None to recognise it.  columns: the column of a role, where it was stated.  also: further
    columns that are read, under their own names.  aspects: those that are asked for, () if any will do.
    """

    where: object
    layout: str | None = None
    columns: Mapping[str, str] = MappingProxyType({})
    also: tuple[str, ...] = ()
    aspects: tuple[str, ...] | None = None


class Columns(NamedTuple):
    """The column of each role; the columns of labels of a wide table; columns that are not read; the layout.

    recognised: nobody stated that the table is wide.
    """

    roles: Mapping[str, str]
    spread: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    layout: str = "long"
    recognised: bool = False

    def used(self) -> list[str]:
        """Return the columns that are read."""
        return list(dict.fromkeys([*self.roles.values(), *self.spread]))


def find_columns(names: Sequence[str], form: Form, *, line: int | None = None) -> Columns:
    """Find the columns among the names of a header, which is on this line."""
    _refuse_stated(names, form, line)
    layout = form.layout or _recognised(names, form)
    wanted = {"long": tuple(ROLES), "wide": ("topic", "doc"), "aspects": ("topic", "doc", "assessor")}[layout]
    others = [name for name in names if name not in form.columns.values()]
    roles = find_roles(others, {role: ROLES[role] for role in wanted}, where=form.where, line=line) | dict(form.columns)
    if not form.columns:
        refuse_other_kind(names, "judgments", form.where, line)
    for role in ("topic", "doc", "label"):
        if role in wanted and role not in roles:
            more = "; or, if each assessor or aspect has a column, state the layout: wide, or aspects"
            hint = f"state which column is the {role}{more * (role == 'label')}"
            raise missing_role(role, ROLES, names, where=form.where, line=line, hint=hint)
    spread = LAYOUTS[layout]
    if spread:
        roles |= {name: name for name in OWN_COLUMNS if name in others and name != spread and name not in roles}
    roles |= {name: name for name in form.also if name in names and name not in roles}
    rest = tuple(name for name in names if name not in roles.values())
    if not spread:
        return Columns(roles, (), rest)
    _refuse_spread(rest, spread, form.where, line)
    return Columns(roles, rest, (), layout, recognised=form.layout is None and layout == "wide")


def _recognised(names: Sequence[str], form: Form) -> str:
    """Recognise the layout of a table by the names of its columns; "long" where it is none of the others."""
    known = {role: set(all_names(groups)) for role, groups in ROLES.items()}
    free = [name for name in names if name not in (*form.columns.values(), *form.also, *OWN_COLUMNS)]
    further = {plain(name) for name in free} - known["topic"] - known["doc"]
    if form.aspects is not None and "aspect" not in form.columns and known["aspect"].isdisjoint(map(plain, names)):
        asked, graded = set(form.aspects), further - known["assessor"]
        others = NO_LABELS | GENERIC | known["intent"] | known["given"] | known["time"] | known["probability"]
        recognised = "label" not in form.columns and len(graded) > 1 and graded.isdisjoint(others)
        if asked <= set(names) if asked else recognised:
            return "aspects"
    if "label" in form.columns or further & known["label"]:
        return "long"
    others = NO_LABELS.union(*(known[role] for role in ROLES if role not in ("topic", "doc")))
    return "wide" if len(further) > 1 and further.isdisjoint(others) else "long"


def plain(name: str) -> str:
    """Return a name without case, ``_``, ``-`` and white space."""
    return "".join(name.casefold().replace("_", "").replace("-", "").split())


def all_names(groups: Groups) -> list[str]:
    """Return the names of all groups."""
    return [name for group in groups for name in group]


def column_among(
    names: Sequence[str], groups: Groups, what: str, *, where: object, line: int | None = None
) -> str | None:
    """Return the column that has one of these names, if any; two that fit equally well are an error."""
    for group in groups:
        fitting = [name for name in names if plain(name) in group]
        if len(fitting) > 1:
            raise FormatError(
                where,
                line,
                f"columns {fitting[0]!r} and {fitting[1]!r} could both be {what}",
                hint=f"state which column is {what}, or rename the other, for instance {fitting[1]!r} to "
                f"'other {fitting[1]}'",
            )
        if fitting:
            return fitting[0]
    return None


def find_roles(
    names: Sequence[str], known: Mapping[str, Groups], *, where: object, line: int | None = None
) -> dict[str, str]:
    """Find the column of each role -> {role: name}, without roles that have none."""
    found = {role: column_among(names, known[role], f"the {role}", where=where, line=line) for role in known}
    return {role: name for role, name in found.items() if name is not None}


def missing_role(
    role: str, known: Mapping[str, Groups], names: Sequence[str], *, where: object, line: int | None, hint: str
) -> FormatError:
    """Return the error for a table without a column of this role."""
    expected = ", ".join(all_names(known[role]))
    message = f"no column for the {role}: found {first_few(names, 12) or 'nothing'}; expected one of {expected}"
    return FormatError(where, line, message, hint=hint)


def kind_of_table(names: Sequence[str]) -> str | None:
    """Return what a table with these columns is, if it is clear: judgments, a plan, preferences, clicks or a run."""
    known = {plain(name) for name in names}
    if any(known.issuperset(two) for two in SIDES):
        return "preferences"
    if known.intersection(ROLES["label"][0]):
        return "judgments"
    if known.issuperset(PLANNED):
        return "preferences" if "other" in known and not known.isdisjoint(CHOSEN) else "a plan"
    if known & CLICKED:
        return "a click log"
    return "a run" if "score" in known and known & RANKED else None


def refuse_other_kind(names: Sequence[str], expected: str, where: object, line: int | None = None) -> None:
    """Raise where the columns of a table show that it is another kind of file than expected."""
    found = kind_of_table(names)
    if found not in (None, expected):
        message = f"this looks like {found} (columns {', '.join(names[:8])}), expected {expected}"
        answer = "preferred" if expected == "preferences" else "label"
        raise FormatError(where, line, message, hint=WAYS[str(found)].format(answer=answer))


def votes_fault(names: Sequence[str], where: object, line: int | None = None) -> FormatError:
    """Return the error for columns that count how often a label was given."""
    message = f"columns {', '.join(names[:8])} look like numbers of votes, expected a column of labels per assessor"
    return FormatError(where, line, message, hint="write a row per vote: topic, doc, assessor, label")


def doubtful_table(names: Sequence[str], label: str, where: object) -> FormatError:
    """Return the error for a table without a column of labels whose other columns hold something else than labels."""
    message = (
        f"no column for the label: found {first_few(names, 12)}; and it is not read as a table with a column of "
        f"labels per assessor, since {label!r} does not look like a label"
    )
    hint = "state which column is the label; or, if each assessor has a column, state the layout wide, and the scale"
    return FormatError(where, None, message, hint=hint)


def _refuse_stated(names: Sequence[str], form: Form, line: int | None) -> None:
    """Raise where the layout is unknown, or a stated column does not exist or is stated for two roles."""
    if form.layout is not None and form.layout not in LAYOUTS:
        raise UnknownName("layout", form.layout, LAYOUTS)
    for role, name in form.columns.items():
        if role not in ROLES:
            raise UnknownName("column to be stated", role, ROLES)
        if name not in names:
            message = f"no column {name!r} for the {role}: found {first_few(names, 12) or 'nothing'}"
            raise FormatError(form.where, line, message, hint=known_names(name, names))
    if len(set(form.columns.values())) < len(form.columns):
        raise FormatError(form.where, line, "one column is stated to be two things", hint="state each column once")


def _refuse_spread(names: Sequence[str], spread: str, where: object, line: int | None) -> None:
    """Raise where the columns of a wide table are not columns of labels, by their names."""
    votes = [name for name in names if VOTES.search(name.casefold())]
    if votes and spread == "assessor":
        raise votes_fault(votes, where, line)
    if not names:
        message = f"no column holds labels: expected one for each {spread}, besides topic and doc"
        raise FormatError(where, line, message, hint="read the table as long if each row is one label")
    if not all(name.strip() for name in names):
        message = f"a column has no name, and in a wide table it would be an {spread}"
        raise FormatError(where, line, message, hint="name it; or remove it, if it only numbers the rows")


def ending_of(name: str) -> str:
    """Return the last ending of a file's name, in lower case, without that of compression."""
    return Path(name.lower().removesuffix(".gz").removesuffix(".zst")).suffix


def looks_like_table(head: bytes, name: str, *, stated: bool = False) -> bool:
    r"""Return whether a file is a table rather than TREC qrels, by its first bytes, decompressed, and its name.

    A table is Parquet, Arrow or JSON objects, or its name says so or ends in .csv, or its header names a topic and a
    document.
    stated: columns were stated, so that a first line that does not end in a number is a header.

    Examples
    --------
    >>> looks_like_table(b"qid\tdocid\trel\n", "judges.tsv"), looks_like_table(b"51\t0\td1\t1\n", "qrels.tsv")
    (True, False)
    """
    head, ending = head.removeprefix(BOM), ending_of(name)
    if head.startswith(BINARY) or head.lstrip().startswith(b"{") or ending in (".csv", *BINARY_ENDINGS, *JSON_LINES):
        return True
    fields = header_names(head, name)
    if stated and not fields[-1].rpartition(" ")[2].lstrip("+-").isdigit():
        return True
    names = {plain(field) for field in fields}
    return all(names & set(all_names(ROLES[role])) for role in ("topic", "doc"))


def is_run_table(head: bytes, name: str) -> bool:
    """Return whether a file holds runs as a table: Parquet, Arrow, CSV by its name, or a header with such columns."""
    head = head.removeprefix(BOM)
    names, ending = header_names(head, name), ending_of(name)
    if head.startswith(BINARY) or ending in BINARY_ENDINGS:
        return True
    return len(names) > 1 and (ending == ".csv" or name_a_run(names))


def name_a_run(names: Iterable[str]) -> bool:
    """Return whether columns are those of a run: a topic, a document, and a score or a rank."""
    known = {plain(name) for name in names}
    topic, doc, rank, score, _ = (bool(known.intersection(all_names(groups))) for groups in RUN_ROLES.values())
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
