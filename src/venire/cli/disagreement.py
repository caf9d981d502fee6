"""venire disagreement: what one assessor's label says about other people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli.labels import keep_lowest_option, keeping_repeats, one_standard_input, read_labels, shared_options
from venire.cli.options import MODEL, OUTPUT, PATH, bootstrap_option, file_place, prior_option, relevant_option
from venire.cli.output import Output
from venire.cli.sections import Command, gathered, one_of, option, whole_number

if TYPE_CHECKING:
    from venire.data.judgments import Judgments
    from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
    from venire.disagreement.several_labels import ItemRelevance

ESTIMATORS, WEIGHTS = ("paired", "one-sided", "labels"), ("pair", "item")
POSTERIORS = ("same", "dawid-skene")
NAMED = {"shares": "weights", "saved": "save", "group_file": "groups"}
NOT_GROUPED = ("shares", "saved", "posterior", "plot")
NOT_COMBINED = ("at_least", "anonymous", "intents", "group_file", "saved", "posterior", "plot")
EXAMPLES = """\b
Examples:
  venire disagreement judgments.tsv
  venire disagreement judgments.tsv --relevant all --weights 1/3 --weights 2/3
  venire disagreement llm.qrels -j human.qrels --observed llm --save fit.json
  venire evaluate llm.qrels runs --gains fit.json -m P@10
  venire disagreement crowd.tsv --posterior items.tsv
  venire disagreement pages.tsv --combine snippets.tsv --weights 1/3
"""

model = gathered(
    "model",
    {
        "relevant": relevant_option,
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
        "prior": prior_option(MODEL, "Weight of every label in a Dirichlet prior; 0 is the plain ratio."),
        "n_draws": bootstrap_option(MODEL),
    },
)


@click.command("disagreement", cls=Command, epilog=EXAMPLES)
@click.argument("judgments", type=PATH)
@model
@whole_number("--at-least", section=MODEL, least=2, metavar="K", help="Use only items with this many labels or more.")
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
@keep_lowest_option(MODEL)
@option(
    *("--groups", "group_file"),
    section=MODEL,
    type=PATH,
    metavar="FILE",
    help="Fit groups of topics apart, and test whether they differ: lines of topic and group.",
)
@option(
    *("--combine", "units"),
    section=MODEL,
    metavar="FILE|unit",
    help="Weigh labels of snippets and pages together, as in Sure+Key: JUDGMENTS are of pages, this file of their "
    "snippets, with --scale if that has its labels; or both are in JUDGMENTS, and the column unit says which.",
)
@option(
    *("--save", "saved"),
    section=OUTPUT,
    type=click.Path(),
    callback=file_place,
    metavar="FIT.json",
    help="Save the fit, for --gains of any command.",
)
@option(
    "--posterior",
    section=OUTPUT,
    type=click.Path(),
    callback=file_place,
    metavar="FILE.tsv",
    help="Write for every item how probable it is that a random user finds it relevant, given all its labels.",
)
@one_of(
    "--posterior-model",
    choices=POSTERIORS,
    section=OUTPUT,
    default="same",
    help="How assessors are taken for that, {}: all alike, or each with errors of their own.",
)
@shared_options(runs=False)
def command(*, judgments: str, more: tuple[str, ...], out: Output, rng: int, **options: Any) -> None:
    """Estimate what one assessor's label says about other people, from JUDGMENTS with several labels on an item.

    For each label, the probability that a random user finds the result relevant (Predicted Relevance Model), with its
    uncertainty; and, if asked, that at least M of N users do (User Disagreement Model).
    """
    from venire import PredictedRelevance
    from venire.cli.disagreement_tables import (
        asymmetry_words,
        both_ways,
        counted_weights,
        neglected_words,
        parameter_table,
        udm_records,
        write_groups,
    )
    from venire.disagreement.files import parameters
    from venire.disagreement.gains import read_share
    from venire.disagreement.predicted_relevance import difference_records, sentence, warnings_of

    shares = [read_share(text) for text in options["shares"]]
    if options["keep_lowest"] and not shares and options["units"] is None:
        raise click.UsageError("--keep-lowest is for weights of the User Disagreement Model: --weights M/N")
    one_standard_input(judgments, *more, options["units"], options["group_file"])
    reading = keeping_repeats(options["reading"]) if options["anonymous"] else options["reading"]
    labels = read_labels(judgments, more, reading=reading, where=options["where"])
    setting = PredictedRelevance(**options["model"])
    if options["units"] is not None:
        _refuse_beside("--combine", options, *NOT_COMBINED)
        _write_combined(out, labels, options, setting, shares, rng)
        return
    labels = _prepared(labels, at_least=options["at_least"], anonymous=options["anonymous"], intents=options["intents"])
    if options["group_file"] is not None:
        _refuse_beside("--groups", options, *NOT_GROUPED)
        write_groups(out, labels, options["group_file"], setting, rng)
        return
    fit = setting.fit(labels, rng=rng)
    counted, said = counted_weights(labels, fit, shares)
    words, weights = warnings_of(fit), udm_records(fit, shares, counted, keep=options["keep_lowest"])
    both = {} if out.quiet and out.format != "json" else both_ways(labels, setting, rng)
    items, of_items = _posteriors(labels, fit, options)
    if out.format == "json":
        held = {"estimator": fit.setting.estimator, "parameters": parameters(fit), "udm": weights, "warnings": words}
        held["differences"] = difference_records(fit)
        out.json(held | both)
    else:
        out.table("parameters", parameter_table(fit, weights, people=not out.for_machines))
    if options["saved"] is not None:
        from venire.data.judgments import fingerprint
        from venire.disagreement.files import write_fit

        write_fit(fit, options["saved"], fingerprint=fingerprint(labels))
    if items:
        from venire.cli.item_posteriors import write_posteriors

        write_posteriors(labels, items, options["posterior"])
    if options["plot"] is not None:
        from venire.plots.disagreement import plot_parameters
        from venire.plots.style import write_figure

        write_figure(plot_parameters(fit), options["plot"])
    method = f"estimator {fit.setting.estimator}; 95% intervals: {fit.method}"
    said += [*neglected_words(weights), *asymmetry_words(both, setting), *of_items]
    out.notes([sentence(fit), method, *said, *labels.notes, *words])


def _prepared(labels: Judgments, *, at_least: int | None, anonymous: bool, intents: str | None) -> Judgments:
    """Choose what is paired: spell intents out, keep items with many labels, forget who gave a label."""
    if intents is not None or "intent" in labels.facets:
        from venire.data.intents import explicit_intents, top_intents
        from venire.io.group_files import read_intent_probabilities

        labels = explicit_intents(labels)
        labels = labels if intents is None else top_intents(labels, read_intent_probabilities(Path(intents)))
    if at_least is not None:
        labels = labels.labelled(at_least=at_least)
    return labels.anonymous() if anonymous else labels


def _refuse_beside(flag: str, options: dict[str, Any], *names: str) -> None:
    """Refuse what is made of one fit beside an option that makes several, or another one."""
    for name in names:
        if options[name]:
            told = f"--{NAMED.get(name, name).replace('_', '-')}"
            raise click.UsageError(f"{told} is for one fit of the labels as they are, and {flag} makes others")


def _posteriors(
    labels: Judgments, fit: PredictedRelevanceFit, options: dict[str, Any]
) -> tuple[list[ItemRelevance], list[str]]:
    """Probabilities of items, if they are asked for, and what to say about them."""
    if options["posterior"] is None:
        return [], []
    from venire.cli.item_posteriors import item_posteriors

    return item_posteriors(labels, fit, options["posterior_model"])


def _write_combined(
    out: Output,
    labels: Judgments,
    options: dict[str, Any],
    setting: PredictedRelevance,
    shares: list[tuple[int, int]],
    rng: int,
) -> None:
    """Write the weights of snippet and page labels taken together."""
    from venire.cli.combined_levels import combined_tables, two_units, write_combined

    units = two_units(labels, options["units"], reading=options["reading"], where=options["where"])
    lowest = None if options["keep_lowest"] else 0.0
    found = combined_tables(*units, setting, shares=shares, lowest=lowest, rng=rng)
    write_combined(out, found)
    out.notes([*(each.sentence() for each in found), *found[0].combined.judgments.notes])
