"""Tables of a study's database.

Answers are append-only: a change is a new row with the same root, and so is an undo (``value`` null).  What follows
from them is kept beside them, in the same transaction:

    place   who holds a task: by a lease (``expires``), or by an answer (``answer``, the last of its chain)
    task    ``taken``: answers by people that count; ``changed``: revision of the last change of its row
    state   ``revision``: grows with every write

Times are seconds since 1970.  JSON is text of ASCII characters, so that every database stores any string.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

HEAD = "0001"
"""The migration after which a database has these tables; a new one is made with them."""

Row: TypeAlias = Any
"""A row of a result; SQLAlchemy 2.0 and 2.1 type it differently."""

tables = MetaData()

migration = Table("alembic_version", tables, Column("version_num", String(32), primary_key=True))
"""The last migration; Alembic's own table."""
state = Table(
    "state",
    tables,
    Column("id", Integer, primary_key=True),
    Column("study", Text, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("paused", Boolean, nullable=False),
)
version = Table(
    "version",
    tables,
    Column("id", Integer, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("shown", Text, nullable=False),
    Column("at", Double, nullable=False),
)
assessor = Table(
    "assessor",
    tables,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("revoked", Double),
    Column("erased", Double),
)
token = Table(
    "token",
    tables,
    Column("hash", Text, primary_key=True),
    Column("assessor", Integer, ForeignKey("assessor.id")),
    Column("made", Double, nullable=False),
    Column("used", Double),
)
session = Table(
    "session",
    tables,
    Column("hash", Text, primary_key=True),
    Column("assessor", Integer, ForeignKey("assessor.id")),
    Column("csrf", Text, nullable=False),
    Column("expires", Double, nullable=False),
)
task = Table(
    "task",
    tables,
    Column("id", Integer, primary_key=True),
    Column("key", Text, nullable=False, unique=True),
    Column("body", Text, nullable=False),
    Column("needed", Integer, nullable=False),
    Column("judge", Integer, ForeignKey("assessor.id")),
    Column("active", Boolean, nullable=False),
    Column("taken", Integer, nullable=False),
    Column("changed", BigInteger, nullable=False, index=True),
)
answer = Table(
    "answer",
    tables,
    Column("id", Integer, primary_key=True),
    Column("key", Text, nullable=False),
    Column("root", Integer, ForeignKey("answer.id"), index=True),
    Column("task", Integer, ForeignKey("task.id"), nullable=False),
    Column("assessor", Integer, ForeignKey("assessor.id"), nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("value", Text),
    Column("status", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("received", Double, nullable=False),
    Column("seconds", Double),
    Column("comment", Text, nullable=False),
    Column("shown", Text, nullable=False),
    Column("swapped", Boolean, nullable=False),
    Column("replaces", Text, nullable=False),
    Column("machine", Text),
    Column("version", Integer, ForeignKey("version.id"), nullable=False),
    UniqueConstraint("assessor", "key"),
    Index("answers_by_assessor", "assessor", "id"),
)
place = Table(
    "place",
    tables,
    Column("task", Integer, ForeignKey("task.id"), primary_key=True, autoincrement=False),
    Column("assessor", Integer, ForeignKey("assessor.id"), primary_key=True, autoincrement=False),
    Column("repeat", Integer, primary_key=True, autoincrement=False),
    Column("person", Boolean, nullable=False),
    Column("swapped", Boolean, nullable=False),
    Column("turn", BigInteger, nullable=False),
    Column("expires", Double),
    Column("answer", Integer, ForeignKey("answer.id")),
    Column("status", Text),
    Index("places_by_assessor", "assessor", "answer"),
)
reply = Table(
    "reply",
    tables,
    Column("id", Integer, primary_key=True),
    Column("task", Integer, ForeignKey("task.id"), nullable=False),
    Column("assessor", Integer, ForeignKey("assessor.id"), nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("at", Double, nullable=False),
    Column("text", Text, nullable=False),
    Column("machine", Text),
)
event = Table(
    "event",
    tables,
    Column("id", Integer, primary_key=True),
    Column("at", Double, nullable=False),
    Column("kind", Text, nullable=False),
    Column("assessor", Integer, ForeignKey("assessor.id")),
    Column("detail", Text, nullable=False),
)
