"""venire judge backup: a copy of the database of a study."""

from __future__ import annotations

from pathlib import Path

import click

from venire.cli import options as declare
from venire.cli.judge.arguments import database_and_output, read_apart, study_argument
from venire.cli.output import Output, Table

EXAMPLES = """\b
Examples:
  venire judge backup demo.toml
  venire judge backup demo.toml -o demo-monday.db
"""


@click.command("backup", cls=declare.Command, epilog=EXAMPLES)
@study_argument
@declare.output_file(
    *("-o", "--output", "target"), help="The copy.  [default: the database's name, backup and the time]"
)
@database_and_output
def command(*, study: str, target: Path | None, database: str | None, out: Output) -> None:
    """Copy the database of STUDY.toml, a SQLite file, while it is in use.

    The copy is complete, or it is not there.  PostgreSQL has programs of its own for this (pg_dump).
    """
    from venire.judging.backups import backup
    from venire.judging.store import address_of

    read, _ = read_apart(study, database)
    path = backup(address_of(read, database), target)
    out.table("backup", Table(("file", "bytes"), [(str(path), path.stat().st_size)]))
