"""Arguments and options that commands on a study share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import click

from venire.cli import options as declare, places

if TYPE_CHECKING:
    from venire.judging.store import Store
    from venire.judging.study import Study
    from venire.judging.tasks import Task

DATABASE = "Database"

study_argument = click.argument("study", metavar="STUDY.toml", type=declare.PATH)

assessor_argument = click.argument("assessor", metavar="ASSESSOR")

database_option = declare.option(
    "--database",
    section=DATABASE,
    metavar="URL",
    help="SQLite file, or postgresql://...  [default: as the study states, or its name with .db]",
)


def database_and_output(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare --database, and how a result is shown that is not written to a file."""
    output = (declare.output_options(folder=True), declare.rng_option(used=False))
    return declare.in_order(function, [database_option, *output])


def read_apart(study: str, database: str | None) -> tuple[Study, tuple[Task, ...]]:
    """Read a study file; outputs that are files of the study, or its database, are refused."""
    from venire.judging.study_files import read_study

    read, tasks = read_study(study)
    refuse_own(read, database)
    return read, tasks


def refuse_own(study: Study, database: str | None, outputs: Iterable[places.Place] | None = None) -> None:
    """Refuse outputs of the running command, or those that are given, that are files of a study or its database."""
    from venire.judging.store import files_of

    places.refuse_overwriting(files_of(study, database), f"of the study {study.name}", outputs)


def opened(study: str, database: str | None, *, as_it_is: bool = False) -> AbstractContextManager[Store]:
    """Open the database of a study file; as_it_is: also if the scale or the guidelines were changed in the file."""
    from venire.judging.store import Store
    from venire.judging.study_files import read_study

    read, tasks = read_study(study)
    return Store.open(read, tasks, database, as_it_is=as_it_is)
