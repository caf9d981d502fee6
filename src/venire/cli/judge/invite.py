"""venire judge invite: the link by which an assessor joins."""

from __future__ import annotations

import click

from venire.cli import options as declare
from venire.cli.judge.arguments import assessor_argument, database_and_output, opened, study_argument
from venire.cli.output import Output, Table

EXAMPLES = """\b
Examples:
  venire judge invite demo.toml ann
  venire judge invite demo.toml ann --again
  venire judge invite demo.toml ann --address https://judge.example.org
"""


@click.command("invite", cls=declare.Command, epilog=EXAMPLES)
@study_argument
@assessor_argument
@declare.flag("--again", section="Invitation", help="For a second device, or for somebody whose access was revoked.")
@declare.option(
    "--address",
    section="Invitation",
    default="http://127.0.0.1:8765",
    metavar="URL",
    help="What assessors open, as given to venire judge serve.",
)
@database_and_output
def command(*, study: str, assessor: str, again: bool, address: str, database: str | None, out: Output) -> None:
    """Print the link by which ASSESSOR joins STUDY.toml.

    It can be used once; an earlier link that was not used becomes invalid.  The server need not be stopped.
    """
    with opened(study, database) as store:
        link = f"{address.rstrip('/')}/join/{store.invite(assessor, again=again)}"
    out.table("invitation", Table(("assessor", "link"), [(assessor, link)]))
    out.notes(["whoever has the link can join: hand it to them alone"])
