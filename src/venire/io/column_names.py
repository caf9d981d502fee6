"""Which column of a table is what: by its name, whatever its case and its ``_``, ``-`` and spaces.

In the *long* form every row is one label.  In the *wide* form a row holds many: every column that is nothing else is an
assessor (or, if so asked, an aspect), and its cells are labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from venire.errors import FormatError, UnknownName, known_names
from venire.results import first_few

Groups: TypeAlias = tuple[tuple[str, ...], ...]
"""Names of a role, as plain() writes them; those of a later group count only where none of an earlier one is there."""
ROLES: Mapping[str, Groups] = {
    "topic": (("topic", "topicid", "qid", "queryid"), ("query", "q", "request")),
    "doc": (("doc", "docid", "docno", "documentid", "passageid"), ("document", "passage", "pid")),
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
}
"""Names of each role."""

NO_ASSESSORS = ("intent", "aspect", "given", "unit", "task", "time")
"""Names that, spelled exactly so, are no assessors in the wide form."""


class Form(NamedTuple):
    """How a table is laid out: what its columns of labels are, if it is wide; and its name in errors.

    named: the column of a role, where it was stated.  also: further columns that are read, under their own names.
    """

    where: object
    spread: str | None = None
    named: Mapping[str, str] = MappingProxyType({})
    also: tuple[str, ...] = ()


class Columns(NamedTuple):
    """The column of each role; the columns that hold labels, in the wide form; those that are not read."""

    roles: Mapping[str, str]
    spread: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def used(self) -> list[str]:
        """Return the columns that are read."""
        return list(dict.fromkeys([*self.roles.values(), *self.spread]))


def spread_of(wide: bool, wide_aspects: bool) -> str | None:
    """Return what the columns of labels are, in a table that is wide in this way."""
    if wide and wide_aspects:
        raise FormatError("table", None, "wide by assessors and wide by aspects exclude each other", hint="give one")
    return "assessor" if wide else "aspect" if wide_aspects else None


def find_columns(names: Sequence[str], form: Form, *, line: int | None = None) -> Columns:
    """Find the columns among these names, which stand on this line."""
    wanted = {None: list(ROLES), "assessor": ["topic", "doc"], "aspect": ["topic", "doc", "assessor"]}[form.spread]
    _refuse_stated(names, form, line)
    others = [name for name in names if name not in form.named.values()]
    found = {role: column_among(others, ROLES[role], f"the {role}", where=form.where, line=line) for role in wanted}
    roles = {role: name for role, name in (found | dict(form.named)).items() if name is not None}
    if not form.named:
        from venire.io.file_kinds import refuse_other_kind

        refuse_other_kind(names, "judgments", form.where, line)
    for role in ("topic", "doc", "label"):
        if role in wanted and role not in roles:
            raise _missing(role, names, form, line)
    if form.spread:
        roles |= {name: name for name in NO_ASSESSORS if name in others and name != form.spread and name not in roles}
    roles |= {name: name for name in form.also if name in names and name not in roles}
    rest = tuple(name for name in names if name not in roles.values())
    if not form.spread:
        return Columns(roles, (), rest)
    _refuse_spread(rest, form, line)
    return Columns(roles, rest)


def plain(name: str) -> str:
    """Return a name without case, ``_``, ``-`` and white space."""
    return "".join(name.casefold().replace("_", "").replace("-", "").split())


def described(columns: Columns, form: Form) -> str:
    """Say which column was taken for what: ``topic = qid, doc = docid, label = rel; not used: gold``."""
    text = ", ".join(f"{role} = {name}" for role, name in columns.roles.items())
    for what, names in ((f"{form.spread}s", columns.spread), ("not used", columns.unused)):
        if names:
            text += f"; {what}: {first_few(names, 6)}"
    return text


def column_among(
    names: Sequence[str], groups: Groups, what: str, *, where: object, line: int | None = None
) -> str | None:
    """Return the column that has one of these names, if any; two that fit alike could both be what is looked for."""
    for group in groups:
        fitting = [name for name in names if plain(name) in group]
        if len(fitting) > 1:
            raise FormatError(
                where,
                line,
                f"columns {fitting[0]!r} and {fitting[1]!r} could both be {what}",
                hint=f"say which with --column, or rename the one that is not, for instance {fitting[1]!r} to "
                f"'other {fitting[1]}'",
            )
        if fitting:
            return fitting[0]
    return None


def _missing(role: str, names: Sequence[str], form: Form, line: int | None) -> FormatError:
    known = ", ".join(name for group in ROLES[role] for name in group)
    hint = f"say which column is the {role}: --column {role}=NAME, columns={{{role!r}: NAME}}"
    if role == "label":
        hint += "; or, if each assessor has a column, read the table as wide (wide=True, --wide)"
    message = f"no column for the {role}: found {first_few(names, 12) or 'nothing'}; expected one of {known}"
    return FormatError(form.where, line, message, hint=hint)


def _refuse_stated(names: Sequence[str], form: Form, line: int | None) -> None:
    """Raise where a column that was stated is not there, or is stated for two roles."""
    for role, name in form.named.items():
        if role not in ROLES:
            raise UnknownName("column to be stated", role, ROLES)
        if name not in names:
            message = f"no column {name!r} for the {role}: found {first_few(names, 12) or 'nothing'}"
            raise FormatError(form.where, line, message, hint=known_names(name, names))
    if len(set(form.named.values())) < len(form.named):
        raise FormatError(form.where, line, "one column is stated to be two things", hint="state each column once")


def _refuse_spread(names: Sequence[str], form: Form, line: int | None) -> None:
    from venire.io.file_kinds import refuse_votes

    if form.spread == "assessor":
        refuse_votes(names, form.where, line)
    if not names:
        raise FormatError(
            form.where,
            line,
            f"no column holds labels: expected one for each {form.spread}, beside topic and doc",
            hint="read the table as long (without wide) if each row is one label",
        )
    if not all(name.strip() for name in names):
        raise FormatError(
            form.where,
            line,
            f"a column has no name, and in a wide table it would be an {form.spread}",
            hint="name it; or remove it, if it only numbers the rows",
        )
