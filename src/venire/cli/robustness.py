"""venire robustness: dependence of the ranking of systems on assessors and gains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs
from venire.cli.options import Command, draws_option, gathered, given, one_of, option, show_option, whole_number
from venire.cli.output import Output, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from venire.comparison.rank_agreement import Robustness
    from venire.data.gains import GainsLike
    from venire.data.judgments import Judgments

COMPARISON = "Comparison"
BETWEEN, CORRELATIONS = ("assessors", "gains", "sets"), ("tau-b", "tau-a", "tau-ap", "rbo")
EXAMPLES = """\b
Examples:
  venire robustness judgments.tsv runs
  venire robustness judgments.tsv runs --gains binary:2 --gains prm:2
  venire robustness judgments.tsv runs --correlation tau-ap --plot tau.svg
  venire robustness judgments.tsv runs --between gains --pool median
  venire robustness judgments.tsv -m AP -m GAP -m "nDCG(dcg=zipf)"
"""

comparison = gathered(
    "comparison",
    {
        "between": one_of(
            "--between",
            choices=BETWEEN,
            section=COMPARISON,
            help="What is compared, {}: rankings of systems by two assessors or by two gains; or, without RUNS, two "
            "sets of judgments.  [default: assessors; gains if one assessor judged; sets without RUNS]",
        ),
        "correlation": one_of(
            "--correlation", choices=CORRELATIONS, section=COMPARISON, default="tau-b", help="Rank correlation: {}."
        ),
        "n_draws": draws_option(COMPARISON),
        "relevant": option(
            "--relevant",
            section=COMPARISON,
            metavar="LABEL",
            help="The lowest relevant label, for the default binary, PRM and UDM gains; between sets, for AP.  "
            "[default: the "
            "top label]",
        ),
        "n_items": whole_number(
            *("--common", "n_items"),
            section=COMPARISON,
            least=1,
            default=2,
            help="Between sets: the minimum number of common documents of two assessors on a topic.",
        ),
    },
)


@click.command("robustness", cls=Command, epilog=EXAMPLES)
@inputs.judgments_argument()
@inputs.some_runs_argument
@comparison
@inputs.measures_with(
    (), "A measure; may be repeated.  [default: nDCG@10; between sets AP, GAP, nDCG and nDCG(dcg=zipf)]"
)
@inputs.intents_option
@inputs.gain_names_option(
    more=".  [default: linear, exponential, and binary, prm and udm:1/3 at the top label, or at --relevant]"
)
@inputs.fit_on_option()
@inputs.assessor_option(help="Between gains: use the labels of one assessor.")
@inputs.pool_option(help="Between gains: pool the labels of an item: {}.")
@show_option("means", "pairs", help="The table that is written, {}: means over pairs of assessors, or every pair.")
@inputs.shared_options()
def command(*, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any) -> None:
    """Measure how the ranking of systems depends on the assessor or on the gains of labels.

    Between assessors: rank correlations of RUNS scored with the labels of two assessors, for several gains.  Between
    gains: rank correlations under the same labels.  Between sets, without RUNS: documents are ranked by the labels of
    one assessor and scored with the labels of another.
    """
    inputs.one_standard_input(judgments, *more, *runs, options["fit_on"], options["intent_file"])
    labels = inputs.read_labels([judgments, *more], options)
    between = _between(options["comparison"]["between"], runs, labels)
    _refuse_odd(between, runs, options)
    found = _of_sets(labels, options) if between == "sets" else _of_runs(between, labels, runs, options)
    out.finish(
        "robustness",
        lambda: _table(found, people=not out.for_machines, pairs=options["show"] == "pairs"),
        document={"robustness": found.records(), "notes": list(found.notes)},
        figure=("comparison", "plot_robustness", found),
        notes=[found.sentence(), *[found.method] * bool(found.method), *found.notes],
    )


def _between(asked: str | None, runs: tuple[str, ...], labels: Judgments) -> str:
    """Settle what is compared, and refuse what cannot be."""
    if asked in ("assessors", "gains") and not runs:
        raise click.UsageError(f"--between {asked} requires RUNS")
    if asked is not None:
        return asked
    if not runs:
        return "sets"
    return "assessors" if len(labels.assessors) > 1 else "gains"


def _refuse_odd(between: str, runs: tuple[str, ...], options: Mapping[str, Any]) -> None:
    """Refuse what would have no effect."""
    if between != "gains" and (options["assessor"] or options["pool"]):
        raise click.UsageError(
            "--assessor and --pool are for --between gains; choose labels with --where assessor=NAME"
        )
    if between == "sets" and runs:
        raise click.UsageError("--between sets takes no RUNS")
    if between == "sets" and (odd := given("correlation", "n_draws")):
        raise click.UsageError(f"{odd[0]} requires RUNS")
    if between == "sets" and (odd := given("fit_on")):
        raise click.UsageError(f"{odd[0]} requires RUNS: between sets, models are fitted on all other topics")
    if between != "sets" and given("n_items"):
        raise click.UsageError("--common is for --between sets, without RUNS; select topics with --where topic=NAME")
    if between != "sets" and options["comparison"]["relevant"] and options["gain_names"]:
        raise click.UsageError("--relevant is for the default gains: use --gains binary:LABEL")


def _of_runs(between: str, labels: Judgments, runs: tuple[str, ...], options: Mapping[str, Any]) -> Robustness:
    """Compare rankings of systems."""
    from venire import read_runs
    from venire.comparison.robustness import between_assessors, between_gains

    measures = inputs.checked_measures(options["measures"] or ["nDCG@10"])
    fit_on, chosen = options["fit_on"], {"reading": options["reading"], "where": options["where"]}
    how: dict[str, Any] = {
        "gains": _gains(labels, options),
        "relevant": options["comparison"]["relevant"],
        "fit_on": None if fit_on in (None, *inputs.FIT_TO) else inputs.read_others(fit_on, labels, **chosen),
        "fit_to": fit_on if fit_on in inputs.FIT_TO else None,
        "correlation": options["comparison"]["correlation"],
        "n_draws": options["comparison"]["n_draws"],
        "rng": options["rng"],
    }
    sources = read_runs(list(runs), **options["rules"])
    if between == "assessors":
        return between_assessors(labels, sources, measures, **how)
    return between_gains(labels, sources, measures, assessor=options["assessor"], pool=options["pool"], **how)


def _of_sets(labels: Judgments, options: Mapping[str, Any]) -> Robustness:
    """Compare sets of judgments; models are fitted on all other topics."""
    from venire.comparison.mutual_evaluation import MEASURES, mutual_evaluation

    measures = inputs.checked_measures(options["measures"] or MEASURES)
    asked = {name: options["comparison"][name] for name in ("relevant", "n_items")}
    return mutual_evaluation(labels, measures, gains=_gains(labels, options), **asked)


def _gains(labels: Judgments, options: Mapping[str, Any]) -> dict[str, GainsLike] | None:
    """Settle the gains that were named; those by a model stay names, and None means the usual ones."""
    from venire.data.gains import names_model

    if not options["gain_names"]:
        return None
    return {
        name: name if names_model(name) else inputs.resolve_gains(labels, options["reading"], gains=name, fit_on=None)
        for name in options["gain_names"]
    }


def _table(found: Robustness, *, people: bool, pairs: bool) -> Table:
    """Return the comparisons as a table; for people the means, without empty columns."""
    records = found.records() if pairs or not people else [row.record() for row in found.headline()]
    columns = list(records[0])
    if people:
        columns = [name for name in columns if name != "between" and any(each[name] is not None for each in records)]
    return Table.of(records, columns)
