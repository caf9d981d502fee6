"""venire power: discriminative power of measures and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs
from venire.cli.options import Command, Number, draws_option, gathered, one_of, option
from venire.cli.output import Output, Table, bar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from venire.comparison.tests import PairTest
    from venire.data.gains import Gains
    from venire.data.judgments import Judgments
    from venire.data.runs import Runs
    from venire.quality.power import DiscriminativePower

TEST = "Test"
TESTS = ("bootstrap", "tukey")
EXAMPLES = """\b
Examples:
  venire power judgments.tsv runs --per assessor
  venire power judgments.tsv runs --pool median -m nDCG@10 -m AP -m RBP
  venire power qrels.txt runs --gains linear --gains exponential
  venire power qrels.txt runs --test tukey --draws 9999 --plot power.svg
"""

testing = gathered(
    "testing",
    {
        "tests": one_of(
            *("--test", "tests"),
            choices=TESTS,
            section=TEST,
            multiple=True,
            default=["bootstrap"],
            help="Significance test, {}: each pair separately, by resampling topics; or all pairs together, by "
            "permuting scores; may be repeated.",
        ),
        "alpha": option(
            "--alpha",
            section=TEST,
            type=Number(0, 1, min_open=True, max_open=True),
            default=0.05,
            metavar="P",
            help="Significance level.",
        ),
        "n_draws": draws_option(TEST, default=1000, least=1, help="Number of resamples or permutations."),
    },
)


@click.command("power", cls=Command, epilog=EXAMPLES)
@inputs.judgments_argument()
@inputs.runs_argument
@testing
@inputs.measures_option
@inputs.intents_option
@inputs.gain_names_option(default=["linear"], more=", to compare them.")
@inputs.fit_on_option()
@gathered("whose", inputs.WHOSE)
@inputs.topics_option
@inputs.shared_options()
def command(*, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any) -> None:
    """Compute discriminative power: the share of pairs of systems of RUNS that differ significantly (Sakai 2006).

    Measures, assessors and gains are compared with each other.  Higher power does not mean higher validity: labels can
    distinguish systems and be wrong.
    """
    from venire import read_runs
    from venire.quality.power import discriminative_power

    inputs.one_standard_input(judgments, *more, *runs, options["fit_on"], options["intent_file"])
    measures = inputs.checked_measures(options["measures"])
    labels = inputs.read_labels([judgments, *more], options)
    topics, notes = inputs.chosen_topics(options["topic_file"], labels)
    sources = inputs.scanned_for_fit(read_runs(list(runs), **options["rules"]), labels, options["gain_names"])
    with bar(sources.sources, quiet=out.quiet) as progress:
        found = discriminative_power(
            labels,
            sources,
            measures,
            test=_tests(options["testing"]),
            alpha=options["testing"]["alpha"],
            gains=_gains(labels, sources, options, notes),
            topics=topics,
            rng=options["rng"],
            progress=progress,
            **options["whose"],
        )
    out.finish(
        "power",
        lambda: _table(found, people=not out.for_machines),
        figure=("quality", "plot_power", found),
        notes=[found.sentence(), *found.notes, *notes],
    )


def _table(found: DiscriminativePower, *, people: bool) -> Table:
    """Lay the shares out; people see reasons only where there are any."""
    records = found.records()
    columns = [key for key in records[0] if not people or any(record[key] is not None for record in records)]
    return Table.of(records, columns)


def _tests(asked: Mapping[str, Any]) -> list[PairTest]:
    """Settle the tests that were named."""
    from venire.comparison.tests import PairedBootstrap, TukeyHSD

    known: dict[str, Callable[..., PairTest]] = {"bootstrap": PairedBootstrap, "tukey": TukeyHSD}
    return [known[name](n=asked["n_draws"]) for name in dict.fromkeys(asked["tests"])]


def _gains(labels: Judgments, runs: Runs, options: Mapping[str, Any], notes: list[str]) -> dict[str, Gains]:
    """Settle the gains that were named."""
    from venire.data.gains import names_model

    names, fit_on = dict.fromkeys(options["gain_names"]), options["fit_on"]
    if fit_on and not any(map(names_model, names)):
        raise click.UsageError(inputs.FIT_WHAT)
    how = {"labels": labels, "reading": options["reading"], "where": options["where"], "runs": runs, "notes": notes}
    return {
        name: inputs.resolve_gains(gains=name, fit_on=fit_on if names_model(name) else None, **how) for name in names
    }
