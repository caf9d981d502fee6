"""venire context: labels that documents get after other documents; how they are predicted, what they add."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs, options as declare
from venire.cli.output import Cell, Output, Table
from venire.results import known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from venire.context.validation import ConditionalValidation
    from venire.results import Estimate

SCORES = ("accuracy", "log_loss")
WAYS = (
    "isolation: P(conditional label | label in isolation), estimated on the other folds; same: the label in isolation, "
    "with its frequency there; prior: the distribution of conditional labels there"
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


@click.group("context", epilog=EXAMPLES)
def command() -> None:
    """Predict conditional labels, and choose their weight, from JUDGMENTS with a column 'given'."""


@command.command(
    "predict",
    cls=declare.Command,
    epilog=PREDICT_EXAMPLES,
    short_help="Predict conditional labels, and validate the predictions.",
)
@inputs.judgments_argument(several=True)
@declare.flag("--interactions", section=declare.MODEL, help="Include interactions of the two labels.")
@declare.number(
    "--regularisation",
    section=declare.MODEL,
    type=declare.Number(min=0, min_open=True),
    default=1.0,
    help="Weight of the L2 penalty.",
)
@inputs.features_option(declare.MODEL)
@declare.whole_number(
    "--folds", section=declare.MODEL, least=2, default=10, help="Number of folds of topics for cross-validation."
)
@declare.whole_number(
    "--splits",
    section=declare.MODEL,
    least=1,
    default=20,
    help="Number of random splits that hold out a tenth of the pairs.",
)
@declare.draws_option(declare.MODEL, default=1000, least=1)
@declare.output_file(
    *("--save", "saved"), section="Output", metavar="MODEL.json", help="Save the model, fitted on all pairs."
)
@inputs.shared_options(runs=False)
def predict(*, judgments: tuple[str, ...], out: Output, rng: int, **options: Any) -> None:
    """Predict conditional labels from labels in isolation, and validate the predictions on held-out topics.

    The column 'given' of JUDGMENTS names the document that was read before; it is empty for labels in isolation.
    """
    from venire.context.model import fit_conditional_labels
    from venire.context.validation import validate_conditional_labels

    inputs.one_standard_input(*judgments, options["features"])
    labels = inputs.read_labels(judgments, options)
    form = {name: options[name] for name in ("features", "interactions", "regularisation")}
    how = {name: options[name] for name in ("folds", "splits", "n_draws")}
    found = validate_conditional_labels(labels, **form, **how, rng=rng)
    model = fit_conditional_labels(labels, **form, rng=rng)
    if options["saved"] is not None:
        from venire.context.model import write_conditional_labels
        from venire.data.judgments import fingerprint

        write_conditional_labels(model, options["saved"], fingerprint=fingerprint(labels))
    out.finish(
        "scores",
        lambda: score_table(found) if out.for_machines else words_table(found),
        document=document(found),
        figure=("context", "plot_validation", found),
        notes=[found.sentence(), *remarks(found), *labels.notes, *found.notes, *found.warnings()],
    )


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
    """Return a row per method with all numbers; difference: the score of the model minus this one."""
    return Table.of(found.records())


def words_table(found: ConditionalValidation) -> Table:
    """Return a row per method: scores, and the score of the model minus this one, with intervals."""
    columns = ("method", "accuracy", "log loss", "calibration error", "accuracy difference", "log loss difference")
    rows: list[list[Cell]] = []
    for each in found.scores:
        differences = each.accuracy_difference, each.log_loss_difference
        beside = [_interval(less, sign="+") if less else "" for less in differences]
        error = f"{each.calibration_error:.3f} (if calibrated: {each.calibrated:.3f})"
        rows.append([each.method, _interval(each.accuracy), _interval(each.log_loss), error, *beside])
    return Table(columns, rows)


def _interval(estimate: Estimate, *, sign: str = "") -> str:
    value, low, high = (f"{number:{sign}.3f}" for number in (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def remarks(found: ConditionalValidation) -> Iterator[str]:
    """Describe how the numbers were computed."""
    split = found.split
    yield (
        f"on random tenths of the pairs, as in Golbus et al. (2014): accuracy {split.accuracy:.3f} (sd "
        f"{split.sd:.3f} over "
        f"{split.n_splits} splits of {split.n_pairs} pairs), of the label in isolation {split.same:.3f}"
    )
    how = found.scores[0].accuracy.method
    yield f"{found.n_folds} folds of topics; 95% intervals: {how}; differences: the model minus the method"
    yield WAYS


MEASURES = ("CG@5", "DCG@5", "ERR@5", "CCG@5")
ALPHAS = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"
GAINS = ("measure", "condition", "alpha", "kappa", "kappa_0", "gain", "low", "high", "p", "p_adjusted", "topics")
SWEEP_EXAMPLES = """\b
Examples:
  venire context sweep judgments.tsv runs --preferences side-by-side.tsv
  venire context sweep judgments.tsv runs --preferences pairs.tsv \\
      -m CCG@5 -m DCG@5 --alphas 0,0.25,0.5,0.75,1 --plot alphas.svg
  venire context sweep judgments.tsv runs --preferences pairs.tsv \\
      --predict fit --show ties --plot ties.svg
"""

sweeping = declare.gathered(
    "sweeping",
    {
        "files": declare.input_file(
            *("--preferences", "files"),
            section="Preferences",
            multiple=True,
            required=True,
            help="Choices between result lists: topic, left, right (names of systems), assessor, strength; may be "
            "repeated.",
        ),
        "slight": declare.slight_option,
        "alphas": inputs.alphas_option("Weights of conditional labels; 0 is always included.", default=ALPHAS),
    },
)


@command.command(
    "sweep",
    cls=declare.Command,
    epilog=SWEEP_EXAMPLES,
    short_help="Find the weight of conditional labels that agrees best with users.",
)
@inputs.judgments_argument()
@inputs.runs_argument
@sweeping
@inputs.measures_with(MEASURES, "A measure that takes alpha, without its alpha; may be repeated.")
@inputs.worth
@inputs.compared_scoring
@declare.draws_option(inputs.SCORING, default=1000)
@inputs.in_context
@declare.show_option("alphas", "ties", help="The variable of --plot, {}: the weight alpha, or the share of ties.")
@inputs.shared_options()
def sweep(*, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any) -> None:
    """Find the weight alpha of conditional labels with which measures agree best with users.

    Users compared the result lists of RUNS side by side.  The table has a one-sided test of the gain: kappa with alpha
    chosen on other topics, minus kappa with alpha 0.  CSV has the agreement for every alpha; JSON has both, and the
    agreement by the share of ties.
    """
    from venire import read_runs
    from venire.context.sweep import sweep_context
    from venire.io.preferences import read_preferences

    asked = options["sweeping"]
    inputs.one_standard_input(judgments, *more, *runs, *asked["files"])
    measures, alphas = inputs.checked_measures(options["measures"]), inputs.weights_of(asked["alphas"])
    labels = inputs.read_labels([judgments, *more], options)
    sources = inputs.scanned_for_fit(read_runs(list(runs), **options["rules"]), labels, [options["worth"]["gains"]])
    notes = list[str]()
    found = sweep_context(
        labels,
        sources,
        read_preferences(list(asked["files"])),
        measures,
        alphas=alphas,
        slight=asked["slight"],
        gains=inputs.resolve_gains(labels, options["reading"], **options["worth"], runs=sources, notes=notes),
        n_draws=options["n_draws"],
        rng=options["rng"],
        context=inputs.context_for(labels, **options["in_context"]),
        **options["scoring"],
    )
    gains = found.gain_records()
    out.finish(
        "gains",
        lambda: Table.of(found.records()) if out.for_machines else Table.of(gains, GAINS),
        document={
            **{"gains": gains, "sweep": found.records(), "ties": found.tie_records()},
            **{"users": found.cases.verdicts.records(), "baseline": found.agreement.baseline()},
            "warnings": list(found.notes),
        },
        figure=("context", f"plot_{options['show']}", found),
        notes=[*found.sentences(), found.cases.verdicts.sentence(), *notes, *found.notes],
    )
