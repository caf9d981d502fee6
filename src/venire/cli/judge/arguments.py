"""Arguments and options that commands on a study share."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import click

from venire.cli import options as declare

if TYPE_CHECKING:
    from venire.judging.store import Store

DATABASE = "Database"

study_argument = click.argument("study", metavar="STUDY.toml", type=declare.PATH)

assessor_argument = click.argument("assessor", metavar="ASSESSOR")

database_option = declare.option(
    "--database",
    section=DATABASE,
    metavar="URL",
    help="SQLite file, or postgresql://...  [default: as the study states, or its name with .db]",
)


def opened(study: str, database: str | None) -> AbstractContextManager[Store]:
    """Open the database of a study file."""
    from venire.judging.store import Store
    from venire.judging.study_files import read_study

    read, tasks = read_study(study)
    return Store.open(read, tasks, database)
