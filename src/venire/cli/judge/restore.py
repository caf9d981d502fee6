"""venire judge restore: the database of a study from a copy."""

from __future__ import annotations

from pathlib import Path

import click

from venire.cli import options as declare
from venire.cli.judge.arguments import database_and_output, study_argument
from venire.cli.output import Output, Table

EXAMPLES = """\b
Examples:
  venire judge restore demo.toml demo-monday.db
  venire judge restore demo.toml demo-monday.db --lose-newer
"""


@click.command("restore", cls=declare.Command, epilog=EXAMPLES)
@study_argument
@click.argument("copy", metavar="COPY", type=declare.PATH)
@declare.flag("--lose-newer", section="Database", help="Replace a database that has seen more than the copy.")
@database_and_output
def command(*, study: str, copy: str, lose_newer: bool, database: str | None, out: Output) -> None:
    """Replace the database of STUDY.toml, a SQLite file, by COPY.

    The server has to be stopped.  What is replaced is copied first.
    """
    from venire.judging.backups import restore
    from venire.judging.store import address_of
    from venire.judging.study_files import read_study

    read, _ = read_study(study)
    address = address_of(read, database)
    kept = restore(address, Path(copy), study=read.name, lose_newer=lose_newer)
    out.table("restored", Table(("file", "replaced, copied to"), [(address, "" if kept is None else str(kept))]))
