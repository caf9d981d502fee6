"""venire sensitivity: what p(R|i) depends on, and how much judging it takes."""

from __future__ import annotations

from typing import Any

import click

from venire.cli.disagreement import model
from venire.cli.labels import one_standard_input, read_labels, shared_options
from venire.cli.options import PATH, read_resource, resource_option
from venire.cli.output import Output
from venire.cli.progress import bar
from venire.cli.sections import Command, gathered, one_of, option, whole_number
from venire.cli.sensitivity_tables import all_records, sensitivity_table

SENSITIVITY = "Sensitivity"
AGAINST = ("quality", "topics", "judgments")
EXAMPLES = """\b
Examples:
  venire sensitivity judgments.tsv
  venire sensitivity judgments.tsv runs --relevant all --plot sensitivity.svg
  venire sensitivity judgments.tsv --against quality --level HRel \\
      --resource "FW13-{resource}-{topic}-{rank}"
  venire sensitivity judgments.tsv --against judgments --deviation 0.05
"""

lists = gathered(
    "lists",
    {
        "resource": resource_option(
            SENSITIVITY,
            begin="Lists are those of resources: where the resource, and perhaps the rank, stand",
            end="  [default: lists are those of RUNS]",
        ),
        "by": option(
            *("--lists-by", "by"),
            section=SENSITIVITY,
            multiple=True,
            metavar="NAME",
            help="An assessor whose labels order the lists; may be repeated.  [default: --observed, else --reference, "
            "else who gave most labels]",
        ),
        "level": option(
            "--level",
            section=SENSITIVITY,
            metavar="LABEL",
            help="The best lists have most results with this label or higher.  [default: upper half of the scale]",
        ),
        "top": whole_number(
            *("--top", "top"),
            section=SENSITIVITY,
            least=1,
            default=10,
            metavar="K",
            help="How many results of each list count.",
        ),
    },
)


@click.command("sensitivity", cls=Command, epilog=EXAMPLES)
@click.argument("judgments", type=PATH)
@click.argument("runs", nargs=-1, type=PATH)
@one_of(
    "--against",
    choices=AGAINST,
    section=SENSITIVITY,
    multiple=True,
    help="What to vary: {}; may be repeated.  [default: all that can be]",
)
@lists
@option(
    "--deviation",
    section=SENSITIVITY,
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    default=0.02,
    metavar="D",
    help="The standard deviation to plan double judgments for.",
)
@model
@shared_options()
def command(*, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any) -> None:
    """Ask what the disagreement of JUDGMENTS depends on: the quality of the results, the topics, or chance.

    For each label, the probability that a random user finds the result relevant: from the best lists of results alone
    and from more and more of them (quality; lists come from RUNS or --resource), from other topics (topics), from fewer
    double judgments (judgments); and how many double judgments, or topics, are needed.  The table sums this up; with
    one --against it shows that in full, and --format json everything.
    """
    from venire import PredictedRelevance, read_runs
    from venire.data.intents import explicit_intents
    from venire.disagreement.sensitivity import ListOrder, sensitivity

    one_standard_input(judgments, *more, *runs)
    labels = read_labels(judgments, more, reading=options["reading"], where=options["where"])
    if "intent" in labels.facets:
        labels = explicit_intents(labels)
    sources, order = read_runs(list(runs), **options["rules"]) if runs else None, options["lists"]
    with bar(sources.sources if sources else (), quiet=out.quiet) as progress:
        found = sensitivity(
            labels,
            sources,
            PredictedRelevance(**options["model"]),
            against=options["against"],
            lists=ListOrder(**order | {"resource": order["resource"] and read_resource(order["resource"])}),
            deviation=options["deviation"],
            rng=options["rng"],
            progress=progress,
        )
    records = all_records(found)
    if out.format == "json":
        out.json({**records, "answers": found.answers(), "warnings": [*map(str, found.notes)]})
    else:
        out.table("sensitivity", sensitivity_table(records, found, options["against"]))
    if options["plot"] is not None:
        from venire.plots.disagreement import plot_sensitivity
        from venire.plots.style import write_figure

        write_figure(plot_sensitivity(found), options["plot"])
    out.notes([*found.answers(), *labels.notes, *map(str, found.notes)])
