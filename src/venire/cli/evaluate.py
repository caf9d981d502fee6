"""venire evaluate: scores of runs."""

from __future__ import annotations

from typing import Any

import click

from venire.cli.labels import (
    SCORING,
    chosen_topics,
    read_labels,
    settled_gains,
    topics_option,
    where_option,
    worth,
)
from venire.cli.options import (
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

EXAMPLES = """\b
Examples:
  venire evaluate qrels.txt runs
  venire evaluate judgments.tsv runs --pool median -m nDCG@10 -m AP
  venire evaluate judgments.tsv runs --per assessor --format csv -o scores.csv
  zcat run.gz | venire evaluate qrels.txt - -m "P(rel=2)@5" --per-topic
"""

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
@worth
@scoring
@topics_option
@option("--per-topic", section=SCORING, is_flag=True, help="Show every topic, not only the means.")
@option(
    *("--duplicates", "duplicate_file"),
    section=SCORING,
    type=PATH,
    metavar="FILE",
    help="Lines of documents that are copies: only the first in a list has a gain.",
)
@more_judgments
@where_option
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
    from venire import evaluate, parse_measure, read_duplicates, read_runs

    measures, scoring, copies = options["measures"], options["scoring"], options["duplicate_file"]
    for name in measures:
        parse_measure(name)
    if [judgments, *more, *runs].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    labels = read_labels(judgments, more, reading=options["reading"], where=options["where"])
    topics, notes = chosen_topics(options["topic_file"], labels)
    sources = read_runs(list(runs), **options["rules"])
    with bar(sources.sources, quiet=out.quiet) as progress:
        scores = evaluate(
            labels,
            sources,
            list(dict.fromkeys(measures)),
            gains=settled_gains(labels, options["reading"], **options["worth"]),
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
