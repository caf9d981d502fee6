"""venire judge import: judgments that were made elsewhere, as answers of a study."""

# ruff: noqa: N999 - the command is called so

from __future__ import annotations

from pathlib import Path

import click

from venire.cli import options as declare
from venire.cli.judge.arguments import database_and_output, study_argument
from venire.cli.output import Output, Table

# The words that the library knows; a test holds them together, so that no help has to load it.
SOURCES = ("qrels", "label-studio", "argilla", "prodigy", "quepid", "rank-eval", "opensearch", "umbrela", "doccano")
VIEWS = ("page", "snippet")
LABELS = "Labels"
EXAMPLES = """\b
Examples:
  venire judge import demo.toml first.qrels --assessor ann
  venire judge import demo.toml project.json --from label-studio \\
    --assessor ann@example.org=ann --assessor 7=bob
  venire judge import demo.toml book.csv --from quepid
"""


def _names(ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Read NAME, or FROM=NAME, one or several."""
    names: dict[str, str] = {}
    for text in texts:
        before, equals, name = text.rpartition("=")
        if not name or (equals and not before) or before in names:
            raise click.BadParameter(f"{text!r} is not NAME or FROM=NAME, each once", ctx, parameter)
        names[before] = name
    return names


@click.command("import", cls=declare.Command, epilog=EXAMPLES)
@study_argument
@click.argument("file", metavar="FILE", type=declare.PATH)
@declare.one_of(
    *("--from", "source"),
    choices=SOURCES,
    section=LABELS,
    default="qrels",
    help="What FILE is: {}.  qrels stands for all judgments that venire reads; the others are exports of other tools.",
)
@declare.option(
    *("--assessor", "names"),
    section=LABELS,
    multiple=True,
    callback=_names,
    metavar="[FROM=]NAME",
    help="Who judged: an assessor of the study, or which one a name in FILE is; may be repeated.",
)
@declare.option(
    "--control",
    section=LABELS,
    default="",
    show_default=False,
    metavar="NAME",
    help="Which question of Label Studio or Argilla has the labels, where there are several.",
)
@declare.one_of(
    "--view", choices=VIEWS, section=LABELS, default="page", help="What was judged, if FILE does not tell: {}."
)
@database_and_output
def command(
    *,
    study: str,
    file: str,
    source: str,
    names: dict[str, str],
    control: str,
    view: str,
    database: str | None,
    out: Output,
) -> None:
    """Add the labels in FILE to STUDY.toml, as answers of its assessors.

    Labels of what the study does not ask for are stored, and exported, too.  What is there already is not added again;
    another label by the same assessor is an error.
    """
    from venire.judging.imports import import_labels, read_labels
    from venire.judging.study_files import read_study

    read, tasks = read_study(study)
    labels = read_labels(Path(file), source, scale=read.labels, control=control)
    found, notes = import_labels(read, tasks, labels, names=names, view=view, database=database)
    rows = [(each.assessor, each.added, each.known, each.surplus) for each in found]
    out.table("assessors", Table(("assessor", "added", "known", "surplus"), rows))
    out.notes(notes)
