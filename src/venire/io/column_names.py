"""Which column of a table is what: by its name, whatever its case and its ``_``, ``-`` and spaces.

In the *long* form every row is one label.  In the *wide* form a row holds many: every column that is not something else is
an assessor (or, if so asked, an aspect), and its cells are labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from venire.errors import FormatError

ROLES: Mapping[str, tuple[tuple[str, ...], ...]] = {
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
"""Names of each role; those of a later group count only where none of an earlier one is there."""

REQUIRED = ("topic", "doc", "label")
EXACT = ("intent", "aspect", "given", "unit", "task", "time")
"""Names that are no assessors in the wide form, spelled exactly so."""


class Columns(NamedTuple):
    """The column of each role; the columns that hold labels (wide form); the columns that are not read."""

    roles: Mapping[str, str]
    spread: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def used(self) -> list[str]:
        """Return the columns that are read."""
        return [*self.roles.values(), *self.spread]


class Form(NamedTuple):
    """How a table is laid out: ``spread`` is what its columns of labels are, if it is wide; and its name in errors."""

    where: object
    spread: str | None = None

    def columns(self, names: Sequence[str], line: int | None = None) -> Columns:
        """Find the columns among these names, which stand on this line."""
        missing = [role for role in REQUIRED if role != "label" or not self.spread]
        try:
            roles = self._roles(names)
        except LookupError as error:
            role, one, other = error.args
            raise FormatError(
                self.where,
                line,
                f"columns {one!r} and {other!r} could both be the {role}",
                hint=f"rename the one that is not, for instance {other!r} to 'other_{other}'",
            ) from None
        for role in missing:
            if role not in roles:
                raise self._missing(role, names, line)
        rest = tuple(name for name in names if name not in roles.values())
        if not self.spread:
            return Columns(roles, (), rest)
        self._refuse_spread(rest, line)
        return Columns(roles, rest)

    def _roles(self, names: Sequence[str]) -> dict[str, str]:
        if not self.spread:
            return {role: name for role in ROLES if (name := _of_role(role, names)) is not None}
        by_name = ("topic", "doc") + (("assessor",) if self.spread == "aspect" else ())
        roles = {role: name for role in by_name if (name := _of_role(role, names)) is not None}
        return roles | {name: name for name in EXACT if name in names and name != self.spread}

    def _missing(self, role: str, names: Sequence[str], line: int | None) -> FormatError:
        known = ", ".join(name for group in ROLES[role] for name in group)
        found = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
        hint = f"rename the column that is the {role} to {role!r}"
        if role == "label":
            hint += "; or, if each assessor has a column, read the table as wide (wide=True, --wide)"
        return FormatError(
            self.where, line, f"no column for the {role}: found {found}; expected one of {known}", hint=hint
        )

    def _refuse_spread(self, names: Sequence[str], line: int | None) -> None:
        if not names:
            raise FormatError(
                self.where,
                line,
                f"no column holds labels: expected one for each {self.spread} beside topic and doc",
                hint="read the table as long (without wide) if each row is one label",
            )
        if not all(name.strip() for name in names):
            raise FormatError(
                self.where,
                line,
                f"a column has no name, and in a wide table it would be an {self.spread}",
                hint="remove it, if it only numbers the rows, or name it",
            )


def _of_role(role: str, names: Sequence[str]) -> str | None:
    """Return the column of a role, if any; a LookupError names two that fit equally well."""
    for group in ROLES[role]:
        fitting = [name for name in names if plain(name) in group]
        if len(fitting) > 1:
            raise LookupError(role, *fitting[:2])
        if fitting:
            return fitting[0]
    return None


def plain(name: str) -> str:
    """Return a name without case, ``_``, ``-`` and white space."""
    return "".join(name.casefold().replace("_", "").replace("-", "").split())


def described(columns: Columns, form: Form) -> str:
    """Say which column was taken for what: ``topic = qid, doc = docid, label = rel; not used: gold``."""
    text = ", ".join(f"{role} = {name}" for role, name in columns.roles.items())
    for what, names in ((f"{form.spread}s", columns.spread), ("not used", columns.unused)):
        if names:
            text += f"; {what}: " + ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return text
