"""venire pdp: pairwise discriminative power of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs, options as declare
from venire.cli.output import Output, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from venire.data.judgments import Judgments
    from venire.data.preferences import Preferences
    from venire.quality.lists import TopLists
    from venire.quality.pdp import PDP, PDPDifference

LISTS = "Lists"
MODES, FORMS, POOLS = ("individual", "aggregate", "both"), ("table", "bins", "logistic"), ("median", "majority")
KEYS = ("mode", "k", "value", "low", "high", "share_of_max", "topics")
LABEL_KEYS = ("mode", "a", "b", "p", "wins", "n")
EXAMPLES = """\b
Examples:
  venire pdp judgments.tsv preferences.tsv
  venire pdp judgments.tsv preferences.tsv runs --mode both --top 5
  venire pdp four-grades.tsv preferences.tsv --against seven-grades.tsv
  venire pdp magnitudes.tsv preferences.tsv --form logistic --plot pdp.svg
"""

model = declare.gathered(
    "model",
    {
        "pool": inputs.pool_option(
            declare.MODEL, choices=POOLS, default="median", help="Pooled label of a document in aggregate mode: {}."
        ),
        "signal": declare.one_of(
            "--signal",
            choices=POOLS,
            section=declare.MODEL,
            default="median",
            help="Aggregate of several choices between two documents: {}.",
        ),
        "form": declare.one_of(
            "--form",
            choices=FORMS,
            section=declare.MODEL,
            help="Model of preferences by label: {}.  [default: table; bins for more than 20 labels]",
        ),
        "n_bins": declare.whole_number(
            *("--bins", "n_bins"),
            section=declare.MODEL,
            least=2,
            default=7,
            help="Number of bins, with equal shares of labels.",
        ),
        "prior": declare.prior_option(declare.MODEL, "Wins added to each label of a pair."),
    },
)
listing = declare.gathered(
    "listing",
    {
        "k": declare.order_length_option(LISTS),
        "condensed": declare.flag(
            "--condensed",
            section=LISTS,
            help="Remove unjudged documents from runs.  [default: exclude lists with an unjudged document]",
        ),
        "choose": declare.choose_option(LISTS, "best"),
    },
)


@click.command("pdp", cls=declare.Command, epilog=EXAMPLES)
@inputs.judgments_argument()
@click.argument("preferences", type=declare.PATH)
@inputs.some_runs_argument
@declare.one_of(
    "--mode",
    choices=MODES,
    section=declare.MODEL,
    default="both",
    help="Labels that are used, {}: those of each assessor, pooled labels, or both.",
)
@model
@declare.draws_option(
    declare.MODEL,
    default=None,
    help="Maximum number of groups of topics for the jackknife; 0: no intervals.  [default: 200, fewer if there are "
    "many lists]",
)
@declare.input_file(
    "--against", section=declare.MODEL, help="Compare with these judgments of the same documents, on the same lists."
)
@listing
@declare.show_option(
    "pdp", "labels", help="The table that is written, {}: labels are the preferences between two labels."
)
@inputs.shared_options()
def command(*, judgments: str, preferences: str, more: tuple[str, ...], out: Output, **options: Any) -> None:
    """Compute pairwise discriminative power (PDP): how much of the ideal ranking JUDGMENTS leave undetermined.

    PREFERENCES between documents show how well labels predict which of two is better.  The value is the entropy of the
    ideal ranking of K documents in nats, lower is better: as a share of its maximum, log K!, 0 means that the labels
    determine the ranking, 1 that they do not inform it.  low and high are the 95% jackknife interval over topics.  With
    --against, one jackknife gives the interval and the p-value of the difference.
    """
    from venire.data.panel import in_isolation
    from venire.io.preferences import read_preferences
    from venire.quality.label_preferences import cycle_warnings

    runs = options["runs"]
    inputs.one_standard_input(judgments, preferences, options["against"], *more, *runs)
    labels, left_out = in_isolation(inputs.read_labels([judgments, *more], options))
    others = _others(options)
    tests = read_preferences(preferences)
    lists = _lists(labels, others, tests, runs, options)
    found = _measured(labels, tests, lists, options)
    again = [] if others is None else _measured(others, tests, lists, options)
    differences = _differences(found, again, (judgments, options["against"]))
    cycles = map(str, cycle_warnings(tests))
    words = list(dict.fromkeys([*_warnings(found), *_warnings(again, options["against"]), *cycles]))
    values = [each.record() for each in found]
    pairs = [{"mode": each.mode, **pair} for each in found for pair in each.labels.records()]
    compared = [each.record() for each in differences]
    sentences = [each.sentence() for each in (*found, *differences)]
    out.finish(
        options["show"],
        lambda: Table.of(pairs, LABEL_KEYS) if options["show"] == "labels" else Table.of(values, KEYS),
        document={"pdp": values, "labels": pairs, "differences": compared, "warnings": words},
        figure=("quality", "plot_pdp", found),
        notes=[*sentences, f"lists: {lists.words}", *left_out, *labels.notes, *tests.notes, *words],
    )


def _others(options: Mapping[str, Any]) -> Judgments | None:
    """Read the judgments to compare with, if any are named."""
    from venire.data.panel import in_isolation

    if options["against"] is None:
        return None
    return in_isolation(inputs.read_beside(options["against"], reading=options["reading"], where=options["where"]))[0]


def _lists(
    labels: Judgments, others: Judgments | None, tests: Preferences, runs: Sequence[str], options: Mapping[str, Any]
) -> TopLists:
    """Choose the documents whose order is asked for; both have labels of them."""
    from venire import read_runs
    from venire.quality.lists import chosen_lists

    given = read_runs(list(runs), **options["rules"]) if runs else None
    how = {name: options["listing"][name] for name in ("k", "choose", "condensed")}
    return chosen_lists(labels, tests, given, **how, also=others, rng=options["rng"])


def _measured(labels: Judgments, tests: Preferences, lists: TopLists, options: Mapping[str, Any]) -> list[PDP]:
    """Measure PDP in the modes that were asked for."""
    from venire.quality.label_preferences import LabelPreferences
    from venire.quality.pdp import pdp

    modes = MODES[:2] if options["mode"] == "both" else (options["mode"],)
    how = {"lists": lists, "n_draws": options["n_draws"], "rng": options["rng"]}
    return [pdp(labels, tests, labels=LabelPreferences(mode=mode, **options["model"]), **how) for mode in modes]


def _differences(found: Sequence[PDP], again: Sequence[PDP], names: tuple[str, str]) -> list[PDPDifference]:
    """Compare with other judgments, if there are any."""
    from venire.quality.pdp import compare_pdp

    return [compare_pdp(a, b, names=names) for a, b in zip(found[: len(again)], again, strict=True)]


def _warnings(found: Sequence[PDP], source: str | None = None) -> list[str]:
    """What to be careful about, by mode, and by file for those compared with."""
    name = "" if source is None else f"{source}, "
    return [f"{name}{each.mode}: {word}" for each in found for word in each.warnings()]
