"""venire judge init: a small study that runs, to start from."""

from __future__ import annotations

from pathlib import Path

import click

from venire.cli import options as declare, places
from venire.cli.output import Output, Table

EXAMPLES = """\b
Examples:
  venire judge init demo/study.toml
  venire judge serve demo/study.toml
"""


@click.command("init", cls=declare.Command, epilog=EXAMPLES)
@click.argument("study", metavar="STUDY.toml", type=click.Path(), callback=places.study_place)
@declare.output_options(folder=True)
@declare.rng_option(used=False)
def command(*, study: Path, out: Output) -> None:
    """Write STUDY.toml, with comments, and sample topics, documents and guidelines beside it.

    The study has a task of each kind and runs as it is.  The folder is made if it is not there; files that are there
    are never overwritten.
    """
    from venire.judging.samples import write_sample

    files = write_sample(study)
    out.table("files", Table(("file",), [(str(each),) for each in files]))
    out.notes([f"start it: venire judge serve {study}"])
