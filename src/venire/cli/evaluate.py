"""venire evaluate: scores of runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli.options import (
    JUDGMENTS,
    PATH,
    POOLS,
    more_judgments,
    output_options,
    reading,
    rng_option,
    run_rules,
)
from venire.cli.output import Output
from venire.cli.progress import bar
from venire.cli.score_tables import long_table, wide_table
from venire.cli.sections import Command, gathered, one_of, option
from venire.errors import FormatError, VenireError, known_names

if TYPE_CHECKING:
    from venire.data.judgments import Judgments

EXAMPLES = """\b
Examples:
  venire evaluate qrels.txt runs
  venire evaluate judgments.tsv runs --pool median -m nDCG@10 -m AP
  venire evaluate judgments.tsv runs --per assessor --format csv -o scores.csv
  zcat run.gz | venire evaluate qrels.txt - -m "P(rel=2)@5" --per-topic
"""

SCORING = "Scoring"
MISSING = ("zero", "skip")

scoring = gathered(
    "scoring",
    {
        "assessor": option(
            "--assessor", section=SCORING, metavar="NAME", help="Score with the labels of one assessor."
        ),
        "per": option(
            "--per",
            section=SCORING,
            type=click.Choice(["assessor"]),
            metavar="assessor",
            help="Score with the labels of each assessor apart.",
        ),
        "pool": one_of("--pool", choices=POOLS, section=SCORING, help="Pool the labels of each item: {}."),
        "unjudged": option(
            "--unjudged",
            section=SCORING,
            metavar="GAIN",
            default="0",
            help="Gain of documents nobody judged, or condensed: they are taken out of the lists.",
        ),
        "missing": one_of(
            "--missing",
            choices=MISSING,
            section=SCORING,
            default="zero",
            help="Topics that a system has no list for: {}.",
        ),
    },
)


@click.command("evaluate", cls=Command, epilog=EXAMPLES)
@click.argument("judgments", type=PATH)
@click.argument("runs", nargs=-1, required=True, type=PATH)
@option(
    *("-m", "--measure", "measures"),
    section=SCORING,
    multiple=True,
    default=["nDCG@10"],
    metavar="NAME",
    help='A measure, such as AP or "RBP(p=0.8)"; may be repeated.',
)
@option(
    "--gains",
    section=SCORING,
    default="linear",
    metavar="GAINS",
    help="What labels are worth: linear, exponential, raw, binary:LABEL, pairs Non=0,Rel=0.4, or a file.",
)
@scoring
@option(
    *("--topics", "topic_file"),
    section=SCORING,
    type=PATH,
    metavar="FILE",
    help="Score only the topics in this file, one per line.  [default: all that were judged]",
)
@option("--per-topic", section=SCORING, is_flag=True, help="Show every topic, not only the means.")
@option(
    *("--duplicates", "duplicate_file"),
    section=SCORING,
    type=PATH,
    metavar="FILE",
    help="Lines of documents that are copies: only the first in a list has a gain.",
)
@more_judgments
@option(
    "--where",
    section=JUDGMENTS,
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Use only these labels, such as aspect=trust; may be repeated.",
)
@reading
@run_rules
@output_options()
@rng_option(used=False)
def command(*, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any) -> None:
    """Score RUNS against JUDGMENTS.

    JUDGMENTS are TREC qrels or a table (CSV, TSV, JSONL, Parquet).  RUNS are TREC run files, folders, patterns, or
    - for standard input.  All may be gz or zst.  Where several assessors judged, say whose labels count:
    --assessor, --per assessor or --pool.
    """
    from venire import evaluate, parse_measure, read_duplicates, read_judgments, read_runs
    from venire.data.gains import gains_for
    from venire.io.gains_files import read_gains

    measures, scoring, copies = options["measures"], options["scoring"], options["duplicate_file"]
    for name in measures:
        parse_measure(name)
    if [judgments, *more, *runs].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    labels = chosen_labels(read_judgments([judgments, *more], **options["reading"]), options["where"])
    topics, notes = chosen_topics(options["topic_file"], labels)
    sources = read_runs(list(runs), **options["rules"])
    with bar(sources.sources, quiet=out.quiet) as progress:
        scores = evaluate(
            labels,
            sources,
            list(dict.fromkeys(measures)),
            gains=gains_for(read_gains(options["gains"]), labels.scale),
            topics=topics,
            duplicates=read_duplicates(copies) if copies else None,
            progress=progress,
            **scoring,
        )
    per_topic = options["per_topic"]
    if out.for_machines:
        assessor = None if scoring["pool"] else scoring["assessor"] or labels.assessors[0]
        out.table("scores", long_table(scores, assessor, per_topic=per_topic))
    else:
        out.table("scores", wide_table(scores, per_topic=per_topic))
    out.notes([*scores.notes, *notes])


def chosen_labels(judgments: Judgments, where: Iterable[str]) -> Judgments:
    """Choose labels by ``COLUMN=VALUE``; several values of one column are alternatives."""
    wanted: dict[str, list[str]] = {}
    for text in where:
        column, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r} is not COLUMN=VALUE, as in aspect=trust", param_hint="--where")
        judgments.column(column)
        wanted.setdefault(column, []).append(value)
    chosen = judgments.where(**wanted) if wanted else judgments
    if len(chosen) == 0:
        raise VenireError("no label is left to score with", hint="; ".join(chosen.notes) or "look at --where")
    return chosen


def chosen_topics(path: str | None, judgments: Judgments) -> tuple[list[str] | None, list[str]]:
    """Read the topics to score, what stands ahead of a tab on each line, and note those that nobody judged."""
    from venire.data.ids import as_text
    from venire.io.lines import read_bytes

    if path is None:
        return None, []
    lines = as_text(read_bytes(Path(path))).splitlines()
    topics = [line.partition("\t")[0].strip() for line in lines if not line.startswith("#")]
    topics = [topic for topic in dict.fromkeys(topics) if topic]
    known = set(judgments.topics)
    unknown = [topic for topic in topics if topic not in known]
    if len(unknown) == len(topics):
        hint = known_names(unknown[0], judgments.topics) if unknown else "expected one topic per line"
        raise FormatError(path, None, "names no topic that was judged", hint=hint)
    listed = ", ".join(unknown[:5]) + ", ..." * (len(unknown) > 5)
    judged = [topic for topic in topics if topic in known]
    return judged, [f"topics of {path} that were not judged: {listed}"] if unknown else []
