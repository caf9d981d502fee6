"""venire judge revoke: the end of an assessor's access."""

from __future__ import annotations

import click

from venire.cli import options as declare
from venire.cli.judge.arguments import assessor_argument, database_and_output, opened, study_argument
from venire.cli.output import Output, Table

EXAMPLES = """\b
Examples:
  venire judge revoke demo.toml ann
  venire judge invite demo.toml ann --again
"""


@click.command("revoke", cls=declare.Command, epilog=EXAMPLES)
@study_argument
@assessor_argument
@database_and_output
def command(*, study: str, assessor: str, database: str | None, out: Output) -> None:
    """End the access of ASSESSOR to STUDY.toml at once, on all devices.

    Answers that were given stay; those that arrive from now on are refused.
    """
    with opened(study, database, as_it_is=True) as store:
        store.revoke(assessor)
        kept = sum(each.assessor == assessor for each in store.stored(surplus=True))
    out.table("revoked", Table(("assessor", "answers kept"), [(assessor, kept)]))
