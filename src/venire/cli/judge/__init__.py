"""venire judge: a study in which people and language models judge, from its file to the export."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from venire.cli.groups import LazyGroup
from venire.errors import VenireError

SECTIONS = {
    "Study": {
        "init": "Write a small study that runs, to start from.",
        "serve": "Serve a study to its assessors and its organiser.",
        "ask": "Answer the tasks of a study with a language model.",
    },
    "Answers": {
        "export": "Write the answers as judgments, qrels or preferences.",
        "import": "Add judgments that were made elsewhere.",
    },
    "Assessors": {
        "invite": "Print the link by which an assessor joins.",
        "revoke": "End the access of an assessor.",
        "erase": "Remove the name and the comments of an assessor.",
    },
    "Database": {
        "backup": "Copy the database of a study while it is in use.",
        "restore": "Replace the database of a study by a copy.",
    },
}
EXAMPLES = """\b
Examples:
  venire judge init demo.toml
  venire judge serve demo.toml
  venire judge export demo.toml -o judgments.csv
"""


EXTRAS = {
    "judge": ("alembic", "httpx", "markdown_it", "nh3", "sqlalchemy", "starlette", "uvicorn"),
    "postgresql": ("psycopg",),
}
"""Extras of the package, and the modules that they install."""


@contextmanager
def named_extras() -> Iterator[None]:
    """Turn a module that is not installed into an error that names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        extra = next((extra for extra, modules in EXTRAS.items() if name in modules), None)
        if extra is None:
            raise
        message = f"venire judge needs {name}, which is not installed"
        raise VenireError(message, hint=f'install it: pip install "venire[{extra}]"') from error


class Commands(LazyGroup):
    """The commands on a study."""

    package = __name__
    sections = SECTIONS

    def invoke(self, ctx: click.Context) -> Any:
        """Run; a module that is not installed is an error that names the extra."""
        with named_extras():
            return super().invoke(ctx)


@click.group("judge", cls=Commands, epilog=EXAMPLES)
def command() -> None:
    """Collect judgments from people and language models, by a study file STUDY.toml."""
