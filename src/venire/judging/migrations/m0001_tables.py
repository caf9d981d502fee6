"""The first tables."""

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, Double, ForeignKey, Integer, Text, UniqueConstraint

revision, down_revision = "0001", None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "state",
        Column("id", Integer, primary_key=True),
        Column("study", Text, nullable=False),
        Column("revision", BigInteger, nullable=False),
        Column("paused", Boolean, nullable=False),
    )
    op.create_table(
        "version",
        Column("id", Integer, primary_key=True),
        Column("fingerprint", Text, nullable=False),
        Column("shown", Text, nullable=False),
        Column("at", Double, nullable=False),
    )
    op.create_table(
        "assessor",
        Column("id", Integer, primary_key=True),
        Column("name", Text, nullable=False, unique=True),
        Column("kind", Text, nullable=False),
        Column("revoked", Double),
        Column("erased", Double),
    )
    op.create_table(
        "token",
        Column("hash", Text, primary_key=True),
        Column("assessor", Integer, ForeignKey("assessor.id")),
        Column("made", Double, nullable=False),
        Column("used", Double),
    )
    op.create_table(
        "session",
        Column("hash", Text, primary_key=True),
        Column("assessor", Integer, ForeignKey("assessor.id")),
        Column("csrf", Text, nullable=False),
        Column("expires", Double, nullable=False),
    )
    op.create_table(
        "task",
        Column("id", Integer, primary_key=True),
        Column("key", Text, nullable=False, unique=True),
        Column("body", Text, nullable=False),
        Column("needed", Integer, nullable=False),
        Column("judge", Integer, ForeignKey("assessor.id")),
        Column("active", Boolean, nullable=False),
        Column("taken", Integer, nullable=False),
        Column("changed", BigInteger, nullable=False),
    )
    op.create_table(
        "answer",
        Column("id", Integer, primary_key=True),
        Column("key", Text, nullable=False),
        Column("root", Integer, ForeignKey("answer.id")),
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
    )
    op.create_table(
        "place",
        Column("task", Integer, ForeignKey("task.id"), primary_key=True, autoincrement=False),
        Column("assessor", Integer, ForeignKey("assessor.id"), primary_key=True, autoincrement=False),
        Column("repeat", Integer, primary_key=True, autoincrement=False),
        Column("person", Boolean, nullable=False),
        Column("swapped", Boolean, nullable=False),
        Column("turn", BigInteger, nullable=False),
        Column("expires", Double),
        Column("answer", Integer, ForeignKey("answer.id")),
        Column("status", Text),
    )
    op.create_table(
        "reply",
        Column("id", Integer, primary_key=True),
        Column("task", Integer, ForeignKey("task.id"), nullable=False),
        Column("assessor", Integer, ForeignKey("assessor.id"), nullable=False),
        Column("repeat", Integer, nullable=False),
        Column("at", Double, nullable=False),
        Column("text", Text, nullable=False),
        Column("machine", Text),
    )
    op.create_table(
        "event",
        Column("id", Integer, primary_key=True),
        Column("at", Double, nullable=False),
        Column("kind", Text, nullable=False),
        Column("assessor", Integer, ForeignKey("assessor.id")),
        Column("detail", Text, nullable=False),
    )
    op.create_index("ix_task_changed", "task", ["changed"])
    op.create_index("ix_answer_root", "answer", ["root"])
    op.create_index("answers_by_assessor", "answer", ["assessor", "id"])
    op.create_index("places_by_assessor", "place", ["assessor", "answer"])
