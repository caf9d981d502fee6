"""venire judge export: the answers of a study as judgments, preferences and qrels."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from venire.cli import options as declare, places
from venire.cli.judge.arguments import database_and_output, read_apart, refuse_own, study_argument
from venire.cli.output import Output, Table

if TYPE_CHECKING:
    from venire.judging.exports import Export

# The words that the library knows; a test holds them together, so that no help has to load it.
CONTENTS = ("labels", "aspects", "preferences", "lists")
ANSWERS = "Answers"
EXAMPLES = """\b
Examples:
  venire judge export demo.toml -o judgments.csv
  venire disagreement judgments.csv
  venire judge export demo.toml --of lists -o lists.tsv
  venire judge export demo.toml --repeats -o twice.parquet
  venire judge export demo.toml --qrels qrels
"""


@click.command("export", cls=declare.Command, epilog=EXAMPLES)
@study_argument
@declare.one_of(
    *("--of", "content"),
    choices=CONTENTS,
    section=ANSWERS,
    default="labels",
    help="What is written: {}.  labels are those in isolation and given another document; preferences are between "
    "documents, lists between result lists.",
)
@declare.flag(
    *("--all", "surplus"),
    section=ANSWERS,
    help="Include answers that came late and do not count; the column status marks them.",
)
@declare.flag(
    "--repeats",
    section=ANSWERS,
    help="Include answers to tasks that came again, for venire consistency; the column repeat marks them.",
)
@declare.output_file(
    *("-o", "--output", "target"),
    callback=places.judgments_place,
    help="The table: .csv, .tsv, .jsonl or .parquet; .gz or .zst may follow.",
)
@declare.output_file(
    *("--qrels", "folder"),
    callback=places.shared_folder_place,
    metavar="FOLDER",
    help="Labels in isolation as TREC qrels, a file for each assessor.",
)
@database_and_output
def command(
    *,
    study: str,
    content: str,
    surplus: bool,
    repeats: bool,
    target: Path | None,
    folder: Path | None,
    database: str | None,
    out: Output,
) -> None:
    """Write the answers to STUDY.toml as tables that all commands of venire read.

    Answers are in the order in which they were given.  The scale, the reference, machines and the hashes of their
    prompts are declared in the first lines, or in a file beside.
    """
    from venire.judging.exports import by_assessor, export, write_export, write_qrels
    from venire.judging.store import stored_answers

    if target is None and folder is None:
        raise click.UsageError("nothing is to be written: name a file (-o FILE) or a folder (--qrels FOLDER)")
    if folder is not None and content != "labels":
        raise click.UsageError("--qrels is for labels")
    read, tasks = read_apart(study, database)
    found = export(read, stored_answers(read, tasks, database, surplus=surplus), content, repeats=repeats)
    qrels = {} if folder is None else by_assessor(found, folder)
    refuse_own(read, database, [places.Place("--qrels", path) for path in qrels])
    if target is not None:
        write_export(found, target)
    write_qrels(qrels)
    beside = {"file": None if target is None else str(target), "qrels": [str(path) for path in qrels]}
    out.table("assessors", _assessors(found), beside=beside)
    out.notes(found.notes)


def _assessors(found: Export) -> Table:
    """Return how many rows each assessor has."""
    counts = Counter(found.frame["assessor"].to_list())
    return Table(("assessor", "rows"), sorted(counts.items()))
