"""venire context sweep: which weight of labels in condition do users agree with?"""

from __future__ import annotations

from typing import Any

import click

from venire.cli.contexts import alphas_option, context_for, in_context, weights_of
from venire.cli.labels import (
    SCORING,
    checked_measures,
    compared_scoring,
    measures_with,
    one_standard_input,
    read_labels,
    scanned_for_fit,
    settled_gains,
    shared_options,
    worth,
)
from venire.cli.options import PATH, bootstrap_option
from venire.cli.output import Output
from venire.cli.rendering import Table
from venire.cli.sections import Command, gathered, one_of, option

SHOWN = ("alphas", "ties")
MEASURES = ("CG@5", "DCG@5", "ERR@5", "CCG@5")
ALPHAS = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"
GAINS = ("measure", "condition", "alpha", "kappa", "kappa_0", "gain", "low", "high", "p", "p_adjusted", "topics")
EXAMPLES = """\b
Examples:
  venire context sweep judgments.tsv runs --preferences side-by-side.tsv
  venire context sweep judgments.tsv runs --preferences pairs.tsv \\
      -m CCG@5 -m DCG@5 --alphas 0,0.25,0.5,0.75,1 --plot alphas.svg
  venire context sweep judgments.tsv runs --preferences pairs.tsv \\
      --predict --draw ties --plot ties.svg
"""

sweeping = gathered(
    "sweeping",
    {
        "files": option(
            *("--preferences", "files"),
            section="Preferences",
            multiple=True,
            required=True,
            type=PATH,
            metavar="FILE",
            help="Choices between result lists: topic, left, right (names of systems), assessor, strength; may be "
            "repeated.",
        ),
        "slight": option(
            "--slight",
            section="Preferences",
            type=click.FloatRange(min=0),
            metavar="S",
            help="Strengths up to S are slight: ties in strong preference.  [default: 1 where strengths go further]",
        ),
        "alphas": alphas_option("Weights of labels in condition; 0 is always among them.", default=ALPHAS),
    },
)


@click.command(
    "sweep",
    cls=Command,
    epilog=EXAMPLES,
    short_help="Ask which weight of labels in condition users agree with.",
)
@click.argument("judgments", type=PATH)
@click.argument("runs", nargs=-1, required=True, type=PATH)
@sweeping
@measures_with(MEASURES, "A measure that takes alpha, without it; may be repeated.")
@worth
@compared_scoring
@bootstrap_option(SCORING, default=1000)
@in_context
@one_of("--draw", choices=SHOWN, section="Output", default="alphas", help="What --plot draws agreement against: {}.")
@shared_options()
def command(*, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any) -> None:
    """Ask which weight alpha of labels in condition brings measures nearest to users.

    Users compared the result lists of RUNS side by side.  The table tests the gain: kappa with alpha chosen on other
    topics, less kappa with alpha 0, one-sided.  CSV has the agreement for every alpha; JSON both, and the sweep over
    the share of ties.
    """
    from venire import read_runs
    from venire.context.sweep import sweep_context
    from venire.io.preferences import read_preferences

    asked = options["sweeping"]
    one_standard_input(judgments, *more, *runs, *asked["files"])
    measures, alphas = checked_measures(options["measures"]), weights_of(asked["alphas"])
    labels = read_labels(judgments, more, reading=options["reading"], where=options["where"])
    sources = scanned_for_fit(read_runs(list(runs), **options["rules"]), labels, [options["worth"]["gains"]])
    notes = list[str]()
    found = sweep_context(
        labels,
        sources,
        read_preferences(list(asked["files"])),
        measures,
        alphas=alphas,
        slight=asked["slight"],
        gains=settled_gains(labels, options["reading"], **options["worth"], runs=sources, notes=notes),
        n_draws=options["n_draws"],
        rng=options["rng"],
        context=context_for(labels, **options["in_context"]),
        **options["scoring"],
    )
    gains = found.gain_records()
    if out.format == "json":
        beside = {"users": found.cases.verdicts.records(), "baseline": found.agreement.baseline()}
        sweeps = {"gains": gains, "sweep": found.records(), "ties": found.tie_records()}
        out.json({**sweeps, **beside, "warnings": list(found.notes)})
    else:
        records = found.records() if out.for_machines else gains
        keys = tuple(records[0]) if out.for_machines else GAINS
        out.table("gains", Table(keys, [[each[key] for key in keys] for each in records]))
    if options["plot"] is not None:
        from venire.plots.context import plot_alphas, plot_ties
        from venire.plots.style import write_figure

        write_figure((plot_alphas if options["draw"] == "alphas" else plot_ties)(found), options["plot"])
    out.notes([*found.sentences(), found.cases.verdicts.sentence(), *notes, *found.notes])
