"""venire judge erase: an assessor's name and comments, or all of their answers, removed for good."""

from __future__ import annotations

import click

from venire.cli import options as declare
from venire.cli.judge.arguments import assessor_argument, database_and_output, opened, study_argument
from venire.cli.output import Output, Table

EXAMPLES = """\b
Examples:
  venire judge erase demo.toml ann
  venire judge erase demo.toml ann --answers
"""


@click.command("erase", cls=declare.Command, epilog=EXAMPLES)
@study_argument
@assessor_argument
@declare.flag("--answers", section="Answers", help="Remove the answers too; others judge them anew.")
@database_and_output
def command(*, study: str, assessor: str, answers: bool, database: str | None, out: Output) -> None:
    """Remove the name, the access and the comments of ASSESSOR from the database of STUDY.toml, for good.

    The answers stay under another name, unless --answers is given.  The study file and copies of the database are not
    changed.
    """
    with opened(study, database, as_it_is=True) as store:
        name = store.erase(assessor, answers=answers)
        kept = sum(each.assessor == name for each in store.stored(surplus=True))
    out.table("erased", Table(("now called", "answers kept"), [(name, kept)]))
    out.notes(["remove the name from the study file too, and old copies of the database"])
