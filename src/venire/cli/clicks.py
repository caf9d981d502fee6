"""venire clicks: counts of a click log, and its correlation with offline measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs, options as declare, places
from venire.cli.output import Output, Table

if TYPE_CHECKING:
    from venire.data.clicks import Clicks

CLICKS = "Clicks"
RANK_KEYS = ("rank", "impressions", "clicks", "satisfied", "click_rate", "satisfied_rate")
KEYS = ("system", "measure", "alpha", "online", "correlation", "value", "low", "high", "topics")
MORE_KEYS = (*KEYS[:-1], "gain", "gain_low", "gain_high", "topics")
EXAMPLES = """\b
Examples:
  venire clicks log.tsv.gz
  venire clicks log.parquet --save-labels clicks.qrels --plot ranks.svg
  venire clicks log.csv -j qrels.txt -m nDCG@5 -m ERR@5
  venire clicks log.csv run.txt -j given.tsv -m CCG@5 \\
      --alphas 0,0.25,0.5,0.75,1 --plot alphas.svg
"""

scoring = declare.gathered("scoring", {"assessor": inputs.assessor_option(), "pool": inputs.pool_option()})


@click.command("clicks", cls=declare.Command, epilog=EXAMPLES)
@click.argument("log_file", metavar="LOG", type=declare.PATH)
@inputs.some_runs_argument
@declare.number(
    "--dwell", section=CLICKS, default=30.0, metavar="S", help="Minimum dwell time of a satisfied click, in seconds."
)
@declare.whole_number(
    "--top",
    section=CLICKS,
    least=1,
    default=5,
    metavar="K",
    help="Number of documents of a list that online measures use.",
)
@declare.output_file(
    "--save-labels",
    section=CLICKS,
    callback=places.judgments_place,
    help="Save click labels as judgments: 0 not clicked, 1 clicked, 2 satisfied.",
)
@declare.input_file(
    *("-j", "--judgments", "judgments"),
    section="Judgments",
    multiple=True,
    help="Judgments for the measures that are correlated with clicks; may be repeated.",
)
@inputs.measures_with(["nDCG@5"], 'An offline measure, such as ERR@5 or "CCG(alpha=0.5)@5"; may be repeated.')
@inputs.alphas_option("Weights of conditional labels, for measures with alpha.")
@inputs.worth
@scoring
@declare.draws_option(inputs.SCORING)
@inputs.topics_option
@inputs.in_context
@declare.plot_option
@inputs.where_option
@declare.reading
@declare.run_rules
@declare.output_options()
@declare.rng_option(used=True)
def command(*, log_file: str, out: Output, **options: Any) -> None:
    """Count the clicks of LOG, and correlate them with measures if judgments are given.

    LOG is a table (CSV, TSV, JSONL, Parquet; gz or zst) with a row per result that was shown: session, topic, doc,
    clicked, optionally rank and dwell; or a row per session: topic, docs, clicks.  Without judgments: clicks by rank.
    With judgments (-j): the correlation over topics between each measure and clicks.  Measures score RUNS, or
    without RUNS, for each topic, the list that was shown most often.
    """
    from venire.io.clicks import read_clicks

    alphas = inputs.weights_of(options["alphas"])
    measures = inputs.checked_measures(options["measures"])
    inputs.one_standard_input(log_file, *options["judgments"], *options["runs"])
    if not options["judgments"]:
        _refuse_alone(options)
    clicks = read_clicks(log_file, dwell=options["dwell"])
    if options["save_labels"] is not None:
        from venire.io.judgments import write_judgments

        write_judgments(clicks.labels(), options["save_labels"])
    write = _write_correlations if options["judgments"] else _write_summary
    write(out, clicks, {**options, "measures": measures, "alphas": alphas})


def _refuse_alone(options: dict[str, Any]) -> None:
    for name, given in (("RUNS", options["runs"]), ("--alphas", options["alphas"])):
        if given:
            raise click.UsageError(f"{name} can only be used with judgments (-j FILE)")


def _write_summary(out: Output, clicks: Clicks, _: dict[str, Any]) -> None:
    """Write the counts by rank."""
    from venire.users.clicks import summarise_clicks

    summary = summarise_clicks(clicks)
    ranks = summary.records()
    out.finish(
        "ranks",
        lambda: Table.of(ranks, RANK_KEYS),
        document={"summary": summary.record(), "ranks": ranks, "notes": [str(note) for note in clicks.notes]},
        figure=("users", "plot_click_summary", summary),
        notes=[summary.sentence(), *clicks.notes],
    )


def _write_correlations(out: Output, clicks: Clicks, options: dict[str, Any]) -> None:
    """Write the correlations of offline measures with clicks."""
    from venire import read_runs
    from venire.users.clicks import Online
    from venire.users.online_correlations import correlate_online

    labels = inputs.read_labels(options["judgments"], options)
    topics, notes = inputs.chosen_topics(options["topic_file"], labels)
    runs = read_runs(list(options["runs"]), **options["rules"]) if options["runs"] else None
    found = correlate_online(
        labels,
        clicks,
        options["measures"],
        runs=runs,
        gains=inputs.resolve_gains(labels, options["reading"], **options["worth"], runs=runs, notes=notes),
        alphas=options["alphas"],
        online=Online(top=options["top"]),
        n_draws=options["n_draws"],
        rng=options["rng"],
        topics=topics,
        context=inputs.context_for(labels, **options["in_context"]),
        **options["scoring"],
    )
    records = found.records()
    shown = records if out.for_machines else [row.record() for row in found.headline()]
    out.finish(
        "correlations",
        lambda: Table.of(shown, MORE_KEYS if options["alphas"] else KEYS),
        document={"correlations": records, "method": found.method, "notes": [str(note) for note in found.notes]},
        figure=("users", "plot_online_correlations", found),
        notes=[found.sentence(), found.method, *notes, *found.notes],
    )
