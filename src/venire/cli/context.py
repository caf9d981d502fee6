"""venire context: labels that documents get after other documents; how they are predicted, what they add."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from venire.cli.context_sweep import command as sweep
from venire.cli.labels import one_standard_input, read_labels, shared_options
from venire.cli.options import MODEL, PATH, file_place
from venire.cli.output import Output
from venire.cli.rendering import Cell, Table
from venire.cli.sections import Command, option, whole_number
from venire.results import known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from venire.context.validation import ConditionalValidation
    from venire.results import Estimate

SCORES = ("accuracy", "log_loss")
WAYS = (
    "isolation: P(label in condition | label in isolation), counted on the other folds; same: the label in isolation "
    "again, as probable as it was there; prior: the shares of labels in condition there"
)
EXAMPLES = """\b
Examples:
  venire context predict judgments.tsv
  venire context sweep judgments.tsv runs --preferences side-by-side.tsv
"""
PREDICT_EXAMPLES = """\b
Examples:
  venire context predict judgments.tsv
  venire context predict judgments.tsv --interactions --save model.json
  venire context predict judgments.tsv --features pairs.csv --folds 5
  venire context predict judgments.tsv --where aspect=overall --plot fit.svg
"""


@click.group("context", commands=[sweep], epilog=EXAMPLES)
def command() -> None:
    """Labels in condition: what documents get after another one, from JUDGMENTS with a column 'given'."""


@command.command(
    "predict", cls=Command, epilog=PREDICT_EXAMPLES, short_help="Predict labels in condition, and say how well."
)
@click.argument("judgments", type=PATH)
@option(
    "--interactions",
    section=MODEL,
    is_flag=True,
    help="Give each two labels a coefficient of their own, beside one for each label.",
)
@option(
    "--regularisation",
    section=MODEL,
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    metavar="X",
    help="Weight of the squares of the coefficients.",
)
@option(
    "--features",
    section=MODEL,
    type=PATH,
    metavar="FILE",
    help="Predict from these numbers too: a table with topic, doc, perhaps given, and a column for each.",
)
@whole_number("--folds", section=MODEL, least=2, default=10, help="Folds of topics, each predicted from the others.")
@whole_number("--splits", section=MODEL, least=1, default=20, help="How often a random tenth of the pairs is left out.")
@whole_number(*("--bootstrap", "n_draws"), section=MODEL, least=1, default=1000, help="How often topics are resampled.")
@option(
    *("--save", "saved"),
    section="Output",
    type=click.Path(),
    callback=file_place,
    metavar="MODEL.json",
    help="Save the predictor, fitted on all pairs.",
)
@shared_options(runs=False)
def predict(*, judgments: str, more: tuple[str, ...], out: Output, rng: int, **options: Any) -> None:
    """Predict labels in condition from labels in isolation, and say how well on topics that were left out.

    JUDGMENTS name in the column 'given' the document read just before; it is empty for labels in isolation.
    """
    from venire.context.model import fit_conditional_labels
    from venire.context.validation import validate_conditional_labels

    one_standard_input(judgments, *more, options["features"])
    labels = read_labels(judgments, more, reading=options["reading"], where=options["where"])
    form = {name: options[name] for name in ("features", "interactions", "regularisation")}
    how = {name: options[name] for name in ("folds", "splits", "n_draws")}
    found = validate_conditional_labels(labels, **form, **how, rng=rng)
    model = fit_conditional_labels(labels, **form, rng=rng)
    if out.format == "json":
        out.json(document(found))
    else:
        out.table("scores", score_table(found) if out.for_machines else words_table(found))
    if options["saved"] is not None:
        from venire.context.files import write_conditional_labels
        from venire.data.judgments import fingerprint

        write_conditional_labels(model, options["saved"], fingerprint=fingerprint(labels))
    if options["plot"] is not None:
        from venire.plots.context import plot_validation
        from venire.plots.style import write_figure

        write_figure(plot_validation(found), options["plot"])
    out.notes([found.sentence(), *remarks(found), *labels.notes, *found.notes, *found.warnings()])


def document(found: ConditionalValidation) -> dict[str, Any]:
    """Return what was found as a JSON object; null where a bin has no pair."""
    bins, split, labels = found.reliability, found.split, found.scale.labels
    return {
        "pairs": found.n_pairs,
        "topics": found.n_topics,
        "folds": found.n_folds,
        "interactions": found.setting.interactions,
        "regularisation": found.setting.regularisation,
        "scores": score_table(found).records(),
        "split": {
            "accuracy": split.accuracy,
            "sd": split.sd,
            "same": split.same,
            "pairs": split.n_pairs,
            "splits": split.n_splits,
        },
        "reliability": [
            {"low": low, "high": high, "pairs": n} | dict(zip(BIN, map(known, values), strict=True))
            for low, high, n, *values in zip(*(column.tolist() for column in bins), strict=True)
        ],
        "confusion": [
            {"label": label, "predicted": other, "pairs": int(found.confusion[row, column])}
            for row, label in enumerate(labels)
            for column, other in enumerate(labels)
        ],
        "warnings": found.warnings(),
    }


BIN = ("confidence", "share", "share_low", "share_high")


def score_table(found: ConditionalValidation) -> Table:
    """One row per method, all numbers; difference: the predictor's score less this one's."""
    ends = ("", "_low", "_high")
    differences = {each.method: each for each in found.differences}
    columns = ["method", *(f"{score}{end}" for score in SCORES for end in ends), "calibration_error", "calibrated"]
    columns += [f"{score}_difference{end}" for score in SCORES for end in ends]
    rows: list[list[Cell]] = []
    for each in found.scores:
        less = differences.get(each.method)
        row: list[Cell] = [each.method, *_three(each.accuracy), *_three(each.log_loss)]
        row += [each.calibration_error, each.calibrated]
        row += [*_three(less.accuracy), *_three(less.log_loss)] if less else [None] * 6
        rows.append(row)
    return Table(columns, rows)


def _three(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


def words_table(found: ConditionalValidation) -> Table:
    """One row per method, as people read it: scores, and the predictor's less this one's, with intervals."""
    differences = {each.method: each for each in found.differences}
    columns = ("method", "accuracy", "log loss", "calibration error", "accuracy difference", "log loss difference")
    rows: list[list[Cell]] = []
    for each in found.scores:
        less = differences.get(each.method)
        beside = [_interval(less.accuracy, sign="+"), _interval(less.log_loss, sign="+")] if less else ["", ""]
        error = f"{each.calibration_error:.3f} (right: {each.calibrated:.3f})"
        rows.append([each.method, _interval(each.accuracy), _interval(each.log_loss), error, *beside])
    return Table(columns, rows)


def _interval(estimate: Estimate, *, sign: str = "") -> str:
    value, low, high = (f"{number:{sign}.3f}" for number in _three(estimate))
    return f"{value} [{low}, {high}]"


def remarks(found: ConditionalValidation) -> Iterator[str]:
    """Say how the numbers were had."""
    split = found.split
    yield (
        f"on random tenths of the pairs, as in the paper: accuracy {split.accuracy:.3f} (sd {split.sd:.3f} over "
        f"{split.n_splits} splits of {split.n_pairs} pairs), the same as in isolation {split.same:.3f}"
    )
    how = found.scores[0].accuracy.method
    yield f"{found.n_folds} folds of topics; 95% intervals: {how}; differences: the predictor less the method"
    yield WAYS
