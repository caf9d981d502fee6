"""venire scales: comparison of label scales."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs, options as declare
from venire.cli.output import Cell, Output, Table

if TYPE_CHECKING:
    from venire.quality.scales import ScaleComparison

SETTINGS = "Settings"
WAYS, GAINS = ("all", "two", "none"), ("linear", "exponential")
SHORT = {
    "krippendorff_alpha": "alpha",
    "phi": "Phi",
    "discriminative_power": "DP",
    "pdp_individual": "PDP individual",
    "pdp_aggregate": "PDP aggregate",
}
EXAMPLES = """\b
Examples:
  venire scales judgments.tsv --preferences preferences.tsv
  venire scales judgments.tsv runs --preferences pairs.tsv -m nDCG@10 -m AP
  venire scales judgments.tsv runs --merge two --split 1 --split inf
  venire scales judgments.tsv --preferences pairs.tsv --plot scales.svg
"""

making = declare.gathered(
    "making",
    {
        "merge": declare.one_of(
            "--merge",
            choices=WAYS,
            section=SETTINGS,
            default="all",
            help="Labels that are merged, {}: all ways to fewer labels (to two, if there are more than 5 labels), or "
            "only to two labels.",
        ),
        "split": declare.option(
            "--split",
            section=SETTINGS,
            type=declare.Number(min=0, infinite=True),
            multiple=True,
            metavar="W",
            help="Split labels at random onto a scale with one more label between any two; the larger W, the less "
            "random; inf: not random.  May be repeated.",
        ),
        "sums": declare.flag(
            "--sums", section=SETTINGS, help="Replace the labels of an item by log2(S + 1) of their sum S."
        ),
    },
)
how = declare.gathered(
    "how",
    {
        "k": declare.order_length_option(inputs.SCORING),
        "choose": declare.choose_option(inputs.SCORING),
        "gains": declare.one_of(
            "--gains", choices=GAINS, section=inputs.SCORING, default="linear", help="Gains of labels: {}."
        ),
        "pool": inputs.pool_option(default="median"),
        "n_draws": declare.draws_option(
            inputs.SCORING,
            default=None,
            help="Number of bootstrap samples of topics; for PDP, the maximum number of jackknife groups.  [default: "
            "300, for PDP 30 to 200]",
        ),
    },
)


@click.command("scales", cls=declare.Command, epilog=EXAMPLES)
@inputs.judgments_argument()
@inputs.some_runs_argument
@declare.input_file(
    *("--preferences", "preference_files"),
    section=declare.JUDGMENTS,
    multiple=True,
    help="Preferences between documents, for PDP: topic, left, right, strength; may be repeated.",
)
@making
@inputs.measures_option
@inputs.intents_option
@how
@inputs.shared_options()
def command(*, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any) -> None:
    """Compare the label scale of JUDGMENTS with coarser and finer scales.

    For each scale: agreement of assessors (alpha, Phi), with RUNS the share of pairs of systems that differ
    significantly, and with preferences pairwise discriminative power (PDP, lower is better).  Agreement is not
    comparable between scales.
    """
    from venire import read_runs
    from venire.io.preferences import read_preferences
    from venire.quality.scales import compare_scales

    files = options["preference_files"]
    inputs.one_standard_input(judgments, *more, *runs, *files, options["intent_file"])
    measures = inputs.checked_measures(options["measures"])
    labels = inputs.read_labels([judgments, *more], options)
    preferences = read_preferences(list(files)) if files else None
    found = compare_scales(
        labels,
        read_runs(list(runs), **options["rules"]) if runs else None,
        measures,
        preferences=preferences,
        intervals=out.for_machines or out.plot is not None,
        rng=options["rng"],
        **options["making"],
        **options["how"],
    )
    tests = () if preferences is None else preferences.notes
    legend = [f"{SHORT[name]}: {words}" for name, words in found.meanings().items()]
    differences = [each.record() for each in found.differences]
    beside = {"differences": differences, "meanings": found.meanings(), "warnings": list(found.notes)}
    out.finish(
        "scales",
        lambda: Table.of(found.records()) if out.for_machines else _wide(found),
        document={"scales": found.records(), **beside},
        figure=("quality", "plot_scales", found),
        notes=[found.sentence(), *_differences(found), *legend, *found.notes, *labels.notes, *tests],
    )


def _differences(found: ScaleComparison) -> list[str]:
    """Return the difference in PDP between each setting and the original labels, a line per mode."""
    lines = {
        mode: [
            f"{each.a} {each.difference:+.3f} [{each.low:.3f}, {each.high:.3f}]"
            for each in found.differences
            if each.mode == mode and each.low is not None
        ]
        for mode in dict.fromkeys(each.mode for each in found.differences)
    }
    return [
        f"PDP {mode}, difference from {found.settings[0]} with the 95% interval: {', '.join(parts)}"
        for mode, parts in lines.items()
        if parts
    ]


def _wide(found: ScaleComparison) -> Table:
    """Lay the settings out one to a row, with a column for each statistic and measure."""
    columns = list(dict.fromkeys((each.statistic, each.measure) for each in found.values))
    columns.sort(key=lambda column: list(SHORT).index(column[0]))
    cells = {(each.setting, each.statistic, each.measure): each for each in found.values}
    labels = {each.setting: each.labels for each in found.values}
    rows: list[list[Cell]] = [
        [name, labels[name], *(cells[name, *column].value if (name, *column) in cells else None for column in columns)]
        for name in found.settings
    ]
    heads = [SHORT[statistic] + (f" {measure}" if measure else "") for statistic, measure in columns]
    return Table(["setting", "labels", *heads], rows)
