"""venire disagreement: what one assessor's label says about other people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli.labels import read_labels, where_option
from venire.cli.options import (
    PATH,
    file_place,
    more_judgments,
    output_options,
    plot_option,
    reading,
    rng_option,
)
from venire.cli.output import Output
from venire.cli.rendering import Table
from venire.cli.sections import Command, gathered, one_of, option

if TYPE_CHECKING:
    from venire.data.judgments import Judgments
    from venire.models.predicted_relevance import PredictedRelevance

MODEL = "Model"
ESTIMATORS, WEIGHTS = ("paired", "one-sided", "labels"), ("pair", "item")
EXAMPLES = """\b
Examples:
  venire disagreement judgments.tsv
  venire disagreement judgments.tsv --relevant all --weights 1/3 --weights 2/3
  venire disagreement llm.qrels -j human.qrels --observed llm --save fit.json
  venire evaluate llm.qrels runs --gains fit.json -m P@10
"""

model = gathered(
    "model",
    {
        "relevant": option(
            "--relevant",
            section=MODEL,
            metavar="LABEL|all",
            help="Labels that mean a user is satisfied: from this one upwards, a set 'A|B', or all thresholds.  "
            "[default: the top label]",
        ),
        "estimator": one_of(
            "--estimator",
            choices=ESTIMATORS,
            section=MODEL,
            help="Which labels are paired: {}.  [default: as the labels allow]",
        ),
        "observed": option(
            "--observed",
            section=MODEL,
            multiple=True,
            metavar="NAME",
            help="An assessor whose label is observed; may be repeated.",
        ),
        "reference": option(
            "--reference",
            section=MODEL,
            multiple=True,
            metavar="NAME",
            help="An assessor who stands for users; may be repeated.",
        ),
        "weight": one_of(
            "--weight", choices=WEIGHTS, section=MODEL, default="pair", help="What counts once, each {} of labels."
        ),
        "prior": option(
            "--prior",
            section=MODEL,
            type=click.FloatRange(min=0),
            default=0.0,
            metavar="X",
            help="Weight of every label in a Dirichlet prior; 0 is the plain ratio.",
        ),
        "n_draws": option(
            *("--bootstrap", "n_draws"),
            section=MODEL,
            type=click.IntRange(min=0),
            default=300,
            metavar="N",
            help="How often topics are resampled.",
        ),
    },
)


@click.command("disagreement", cls=Command, epilog=EXAMPLES)
@click.argument("judgments", type=PATH)
@model
@option(
    "--at-least",
    section=MODEL,
    type=click.IntRange(min=2),
    metavar="K",
    help="Use only items with this many labels or more.",
)
@option(
    "--intents",
    section=MODEL,
    type=PATH,
    metavar="FILE",
    help="Use only the most probable intent of each topic: lines of topic, intent, probability.  [default: all]",
)
@option(
    "--anonymous",
    section=MODEL,
    is_flag=True,
    help="Take every label as another person's, also two by one assessor.",
)
@option(
    *("--weights", "shares"),
    section=MODEL,
    multiple=True,
    metavar="M/N",
    help="Weights of the User Disagreement Model, as in 1/3; may be repeated.",
)
@option(
    *("--groups", "group_file"),
    section=MODEL,
    type=PATH,
    metavar="FILE",
    help="Fit groups of topics apart, and test whether they differ: lines of topic and group.",
)
@option(
    *("--save", "saved"),
    section="Output",
    type=click.Path(),
    callback=file_place,
    metavar="FIT.json",
    help="Save the fit, for --gains of any command.",
)
@plot_option
@more_judgments
@where_option
@reading
@output_options()
@rng_option(used=True)
def command(*, judgments: str, more: tuple[str, ...], out: Output, rng: int, **options: Any) -> None:
    """Estimate what one assessor's label says about other people, from JUDGMENTS with several labels on an item.

    For each label, the probability that a random user finds the result relevant (Predicted Relevance Model), with its
    uncertainty; and, if asked, that at least M of N users do (User Disagreement Model).
    """
    from venire import PredictedRelevance
    from venire.cli.disagreement_tables import both_ways, counted_weights, parameter_table, udm_records
    from venire.models.diagnosis import sentence, warnings_of
    from venire.models.fit_files import parameters
    from venire.models.gain_names import read_share

    shares = [read_share(text) for text in options["shares"]]
    labels = read_labels(judgments, more, reading=options["reading"], where=options["where"])
    labels = _prepared(labels, at_least=options["at_least"], anonymous=options["anonymous"], intents=options["intents"])
    setting = PredictedRelevance(**options["model"])
    if options["group_file"] is not None:
        _refuse_beside_groups(options)
        _write_groups(out, labels, options["group_file"], setting, rng)
        return
    fit = setting.fit(labels, rng=rng)
    counted, said = counted_weights(labels, fit, shares)
    words, weights = warnings_of(fit), udm_records(fit, shares, counted)
    if out.format == "json":
        held = {"estimator": fit.setting.estimator, "parameters": parameters(fit), "udm": weights, "warnings": words}
        out.json(held | both_ways(labels, setting, rng))
    else:
        out.table("parameters", parameter_table(fit, weights, people=not out.for_machines))
    if options["saved"] is not None:
        from venire.data.fingerprints import fingerprint
        from venire.models.fit_files import write_fit

        write_fit(fit, options["saved"], fingerprint=fingerprint(labels))
    if options["plot"] is not None:
        from venire.plots.disagreement import plot_parameters
        from venire.plots.style import write_figure

        write_figure(plot_parameters(fit), options["plot"])
    method = f"estimator {fit.setting.estimator}; 95% intervals: {fit.method}"
    out.notes([sentence(fit), method, *said, *labels.notes, *words])


def _prepared(labels: Judgments, *, at_least: int | None, anonymous: bool, intents: str | None) -> Judgments:
    """Choose what is paired: spell intents out, keep items with many labels, forget who gave a label."""
    if intents is not None or "intent" in labels.facets:
        from venire.io.group_files import read_intent_probabilities
        from venire.models.intents import explicit_intents, top_intents

        labels = explicit_intents(labels)
        labels = labels if intents is None else top_intents(labels, read_intent_probabilities(Path(intents)))
    if at_least is not None:
        labels = labels.labelled(at_least=at_least)
    return labels.anonymous() if anonymous else labels


def _refuse_beside_groups(options: dict[str, Any]) -> None:
    """Refuse what is made of one fit where groups have one each."""
    for name, given in (("--weights", options["shares"]), ("--save", options["saved"]), ("--plot", options["plot"])):
        if given:
            raise click.UsageError(
                f"{name} is for one fit, and --groups makes one for each; choose with --where topic=..."
            )


def _write_groups(out: Output, labels: Judgments, path: str, setting: PredictedRelevance, rng: int) -> None:
    """Write the fits of groups of topics, one below the other, and whether they differ."""
    from venire.io.group_files import read_groups
    from venire.models.diagnosis import warnings_of
    from venire.models.fit_files import KEYS, parameters
    from venire.models.topic_groups import compare_groups

    compared = compare_groups(labels, read_groups(Path(path)), setting, rng=rng)
    records = [{"group": name, **record} for name, fit in compared.fits.items() for record in parameters(fit)]
    words = [f"{name}: {word}" for name, fit in compared.fits.items() for word in warnings_of(fit)]
    tests = [
        {"relevant": name, "statistic": float(statistic), "p_value": float(p)}
        for name, statistic, p in zip(compared.names, compared.statistic, compared.p_value, strict=True)
    ]
    table = Table(["group", *KEYS], [list(record.values()) for record in records])
    estimator = next(iter(compared.fits.values())).setting.estimator
    if out.format == "json":
        out.json({"estimator": estimator, "parameters": records, "udm": [], "warnings": words, "groups": tests})
    else:
        out.table("parameters", table)
    out.notes([compared.sentence(), *labels.notes, *words])
