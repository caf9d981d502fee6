"""Arguments and options that commands on a study share."""

from __future__ import annotations

import click

from venire.cli import options as declare

DATABASE = "Database"

study_argument = click.argument("study", metavar="STUDY.toml", type=declare.PATH)

database_option = declare.option(
    "--database",
    section=DATABASE,
    metavar="URL",
    help="SQLite file, or postgresql://...  [default: as the study states, or its name with .db]",
)
