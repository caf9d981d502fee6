"""venire evaluate: scores of runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli.options import (
    MISSING,
    PATH,
    POOLS,
    Command,
    gathered,
    more_judgments,
    one_of,
    option,
    output_options,
    reading,
    rng_option,
    run_rules,
)
from venire.cli.output import Output
from venire.cli.progress import bar
from venire.cli.rendering import Cell, Table, numbers
from venire.errors import FormatError, known_names

if TYPE_CHECKING:
    from venire.data.judgments import Judgments
    from venire.measures.scores import Scores

LONG = ("system", "measure", "topic", "assessor", "value")
ALL = "all"

EXAMPLES = """\b
Examples:
  venire evaluate qrels.txt runs
  venire evaluate judgments.tsv runs --pool median -m nDCG@10 -m AP
  venire evaluate judgments.tsv "runs/*.gz" --per assessor --format csv -o scores.csv
  zcat run.gz | venire evaluate qrels.txt - -m "P(rel=2)@5" --per-topic
"""

_SCORING = "Scoring"
scoring = gathered(
    "scoring",
    {
        "assessor": option("--assessor", section=_SCORING, metavar="NAME", help="Score with one assessor."),
        "per": one_of("--per", choices=("assessor",), section=_SCORING, help="Score with each assessor apart."),
        "pool": one_of("--pool", choices=POOLS, section=_SCORING, help="Pool the labels of each item."),
        "unjudged": option(
            "--unjudged",
            section=_SCORING,
            metavar="GAIN",
            default="0",
            help="Gain of documents nobody judged; condensed takes them out of the lists.",
        ),
        "missing": one_of(
            "--missing",
            choices=MISSING,
            section=_SCORING,
            default="zero",
            help="Topics that a system has no list for.",
        ),
    },
)


@click.command("evaluate", cls=Command, epilog=EXAMPLES)
@click.argument("judgments", type=PATH)
@click.argument("runs", nargs=-1, required=True, type=PATH)
@option(
    *("-m", "--measure", "measures"),
    section=_SCORING,
    multiple=True,
    default=["nDCG@10"],
    metavar="NAME",
    help='A measure, such as AP or "RBP(p=0.8)"; may be repeated.',
)
@option(
    "--gains",
    section=_SCORING,
    default="linear",
    metavar="GAINS",
    help="What labels are worth: linear, exponential, raw, binary:LABEL, pairs Non=0,Rel=0.4, or a file.",
)
@scoring
@option(
    *("--topics", "topic_file"),
    section=_SCORING,
    type=PATH,
    metavar="FILE",
    help="Score only the topics in this file, one per line.  [default: all judged]",
)
@option("--per-topic", section=_SCORING, is_flag=True, help="Show every topic, not only the means.")
@option(
    *("--duplicates", "duplicate_file"),
    section=_SCORING,
    type=PATH,
    metavar="FILE",
    help="Lines of documents that are copies: only the first in a list has a gain.",
)
@more_judgments
@option(
    "--where",
    section="Judgments",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Use only these labels, for instance aspect=trust; may be repeated.",
)
@reading
@run_rules
@output_options()
@rng_option(used=False)
def command(
    *,
    judgments: str,
    runs: tuple[str, ...],
    more: tuple[str, ...],
    measures: tuple[str, ...],
    out: Output,
    **options: Any,
) -> None:
    """Score RUNS against JUDGMENTS.

    JUDGMENTS are TREC qrels or a table (CSV, TSV, JSONL, Parquet).  RUNS are TREC run files, folders, patterns, or
    - for standard input; plain, gz or zst.  Where several assessors judged, say whose labels count: --assessor,
    --per assessor or --pool.
    """
    from venire import evaluate, parse_measure, read_duplicates, read_judgments, read_runs
    from venire.data.gains import gains_for
    from venire.io.gains_files import read_gains

    asked = list(dict.fromkeys(measures))
    for name in asked:
        parse_measure(name)
    copies, scoring = options["duplicate_file"], options["scoring"]
    _refuse_two_stdins(judgments, *more, *runs)
    labels = chosen_labels(read_judgments([judgments, *more], **options["reading"]), options["where"])
    sources = read_runs(list(runs), **options["rules"])
    topics, notes = chosen_topics(options["topic_file"], labels)
    with bar(sources.sources, quiet=out.quiet) as progress:
        scores = evaluate(
            labels,
            sources,
            asked,
            gains=gains_for(read_gains(options["gains"]), labels.scale),
            topics=topics,
            duplicates=read_duplicates(copies) if copies else None,
            progress=progress,
            **scoring,
        )
    assessor = None if scoring["pool"] else labels.assessors[0]
    table = laid_out(scores, scoring["assessor"] or assessor, per_topic=options["per_topic"], long=out.long)
    if out.format == "json":
        out.json({"scores": table.records()})
    else:
        out.table(table)
    out.notes([*scores.notes, *notes])


def laid_out(scores: Scores, assessor: str | None, *, per_topic: bool, long: bool) -> Table:
    """Lay scores out for machines, a row per value, or for people, measures across.

    ``assessor`` names whose labels they are, where that is no axis.
    """
    values = [scores.values] * per_topic + [scores.mean("topic").values[:, None]]
    topics = [*scores.names["topic"] * per_topic, ALL]
    axes = {"topic": per_topic, "assessor": "assessor" in scores.axes}
    assessors: Sequence[str | None] = scores.names["assessor"] if axes["assessor"] else [assessor]
    measures = scores.names["measure"]
    shape = (len(scores.names["system"]), len(topics), len(measures), len(assessors))
    cells = _joined(values).reshape(shape).transpose(0, 1, 3, 2).reshape(-1, len(measures)).tolist()
    places = ((s, t, a) for s in scores.names["system"] for t in topics for a in assessors)
    rows = zip(places, map(numbers, cells), strict=True)
    if long:
        return Table(
            LONG,
            [
                (system, measure, topic, assessor, value)
                for (system, topic, assessor), row in rows
                for measure, value in zip(measures, row, strict=True)
            ],
        )
    kept = [True, *axes.values()]
    columns = [name for name, keep in zip(("system", *axes), kept, strict=True) if keep]
    return Table([*columns, *measures], [_row(place, kept, row) for place, row in rows])


def _row(place: Iterable[Cell], kept: Iterable[bool], values: Iterable[Cell]) -> list[Cell]:
    return [*(name for name, keep in zip(place, kept, strict=True) if keep), *values]


def _joined(parts: Sequence[Any]) -> Any:
    import numpy as np

    return np.concatenate(parts, axis=1)


def chosen_labels(judgments: Judgments, where: Iterable[str]) -> Judgments:
    """Choose labels by ``COLUMN=VALUE``; several values of one column are alternatives."""
    wanted: dict[str, list[str]] = {}
    for text in where:
        column, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r} is not COLUMN=VALUE, as in aspect=trust", param_hint="--where")
        judgments.column(column)
        wanted.setdefault(column, []).append(value)
    return judgments.where(**wanted) if wanted else judgments


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
    return topics, [f"{len(unknown):,} topics of {path} were not judged: {listed}"] if unknown else []


def _refuse_two_stdins(*sources: str) -> None:
    if sources.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
