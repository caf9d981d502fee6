"""venire aspects: what several labels per document say, and how systems rank by several of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs
from venire.cli.options import Command, draws_option, gathered, one_of, option, prior_option, whole_number
from venire.cli.output import Cell, Output, Table
from venire.results import read_number

if TYPE_CHECKING:
    from venire.aspects.rankings import AspectRankings
    from venire.aspects.study import AspectStudy
    from venire.data.aspects import Aspects

PARTS = ("coverage", "distributions", "changes", "correlations", "prediction", "clusters", "agreement", "rankings")
DRAWN = {"krippendorff_alpha": "alpha", "cohen_kappa": "kappa"}
"""What a plot of agreement shows, by short names."""
TOGETHER = {"coverage": ("aspect", "all of them"), "prediction": ("aspects", "none: the commonest label")}
"""Names in tables for records of no single aspect."""


def document(study: AspectStudy) -> dict[str, object]:
    """Everything, for JSON."""
    parts = {part: study.records(part) for part in PARTS}
    tau = [] if study.rankings is None else study.rankings.tau_records()
    said = {part: study.sentences(part) for part in PARTS}
    beside = {"tau": tau, "answers": [words for each in said.values() for words in each]}
    return {"aspects": study.scales(), **parts, **beside, "warnings": list(study.notes)}


def part_table(study: AspectStudy, show: str, *, people: bool) -> Table:
    """Lay one part out; people see reasons only where there are any."""
    if show == "rankings" and people and study.rankings is not None:
        return _ranks(study.rankings)
    records = study.summary() if show == "summary" else _flat(study, show)
    if people and show in TOGETHER:
        key, words = TOGETHER[show]
        records = [{**row, key: row[key] or words} for row in records]
    if not records:
        return Table(["reason"], [[words] for words in study.sentences(show)])
    columns = [key for key in records[0] if not people or any(row[key] is not None for row in records)]
    if people and show == "agreement":
        columns = [key for key in columns if key != "meaning"]
    return Table(columns, [[_cell(row[key]) for key in columns] for row in records])


def _ranks(found: AspectRankings) -> Table:
    """Lay ranks out, a row per measure and system: the rank by each gains, and how many places up or down that is."""
    names = list(dict.fromkeys(each.gains for each in found.places))
    rank = {(each.measure, each.system, each.gains): each for each in found.places}
    rows: list[list[Cell]] = []
    for each in found.places:
        if each.gains == found.base:
            others = [rank[each.measure, each.system, name] for name in names[1:]]
            moved = [f"{other.rank} ({other.change:+d})" if other.change else str(other.rank) for other in others]
            rows.append([each.measure, each.system, each.score, each.rank, *moved])
    return Table(["measure", "system", "score", *(f"rank by {name}" for name in names)], rows)


def _flat(study: AspectStudy, show: str) -> list[dict[str, Any]]:
    """Records of a part, clusters merge by merge."""
    if show != "clusters":
        return study.records(show)
    return [{"context": each["context"], **merge} for each in study.records(show) for merge in each["merges"]]


def _cell(value: Any) -> Any:
    return " + ".join(value) if isinstance(value, list) else value


def figure_of(study: AspectStudy, show: str) -> tuple[Any, ...]:
    """Return what is drawn for a table: for a summary, the correlations."""
    from venire.plots.aspects import PLOTS

    if show == "rankings":
        return "aspects", "plot_rankings", study.rankings
    if show == "agreement":
        return "agreement", "plot_statistics", _first_statistics(study)
    return "aspects", PLOTS.get(show, PLOTS["correlations"]).__name__, study


def _first_statistics(study: AspectStudy) -> list[dict[str, Any]]:
    """Krippendorff's alpha and Cohen's kappa of every aspect, each on the first level that it is on."""
    first: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in study.agreement:
        if row["name"] in DRAWN:
            first.setdefault((row["context"], row["aspect"], row["name"]), row)
    return [
        {**row, "name": DRAWN[row["name"]], "group": f"{row['aspect']} in {row['context']}", "raters": "all"}
        for row in first.values()
    ]


ASPECTS, COMBINING = "Aspects", "Several aspects"
SHOWN = ("summary", *PARTS)
EXAMPLES = """\b
Examples:
  venire aspects labels.tsv --overall overall
  venire aspects labels.tsv --scale "bad<fair<good" --show correlations
  venire aspects aspects.tsv --overall rel --plot aspects.svg
  venire aspects aspects.tsv runs --overall rel \\
      --weights rel=1,trust=0.5 -m nDCG@10 -m "RBP(p=0.8)"
"""

reading_aspects = gathered(
    "aspect_reading",
    {
        "scales": option(
            "--aspect-scale",
            "scales",
            section=ASPECTS,
            multiple=True,
            metavar="NAME=LABELS",
            help='The labels of one aspect, as in trust="low<high"; may be repeated.  [default: as --scale says, '
            "else from its own labels]",
        ),
        "not_applicable": option(
            "--not-applicable",
            section=ASPECTS,
            default="N/A",
            metavar="LABEL",
            help="The label of an aspect that does not apply.",
        ),
    },
)
asking = gathered(
    "asking",
    {
        "overall": option(
            "--overall",
            section=ASPECTS,
            metavar="NAME",
            help="The aspect of overall relevance.  [default: overall, if it exists]",
        ),
        "splits": whole_number(
            "--splits",
            section=ASPECTS,
            least=1,
            default=5,
            help="Number of random tenths held out for predictive power.",
        ),
        "folds": whole_number(
            "--folds", section=ASPECTS, least=2, default=5, help="Number of folds of topics for predictive power."
        ),
        "n_draws": draws_option(ASPECTS, default=1000),
    },
)
combining = gathered(
    "combining",
    {
        "how": option(
            *("--combine", "how"),
            section=COMBINING,
            default="sum",
            metavar="WORD",
            help="How aspects become one gain: sum, minimum, product, or by a model of disagreement: prm, prm:M/N or "
            "udm:M/N.",
        ),
        "weights": option(
            "--weights",
            section=COMBINING,
            multiple=True,
            metavar="NAME=W,...",
            help="Aspects and their weights, as in rel=1,trust=0.5; may be repeated.  [default: overall with each "
            "other aspect, and with all]",
        ),
        "reverse": option(
            "--reverse",
            section=COMBINING,
            multiple=True,
            metavar="NAME",
            help="An aspect whose lowest label is the best; may be repeated.",
        ),
        "relevant": option(
            "--relevant",
            section=COMBINING,
            metavar="NAME=LABEL,...",
            help="For models: the label from which on each aspect satisfies.  [default: its best label]",
        ),
        "prior": prior_option(
            COMBINING, "For models: weight of each combined label before any pair of labels is seen."
        ),
        "gains": one_of(
            "--gains",
            choices=("linear", "exponential"),
            section=COMBINING,
            default="linear",
            help="Gains of grades: {}.",
        ),
    },
)


@click.command("aspects", cls=Command, epilog=EXAMPLES)
@inputs.judgments_argument()
@inputs.some_runs_argument
@one_of(
    "--show",
    choices=SHOWN,
    section=ASPECTS,
    help="The table and the plot, {}; JSON has all.  [default: rankings with RUNS, else summary]",
)
@asking
@reading_aspects
@combining
@inputs.measures_option
@gathered("whose", {name: inputs.WHOSE[name] for name in ("assessor", "pool")})
@inputs.shared_options()
def command(*, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any) -> None:
    """Analyse JUDGMENTS on several aspects of relevance, with a column that names the aspect.

    Coverage of each aspect, for labels in isolation and conditional labels; correlations between aspects and with the
    overall label; prediction of the overall label.  With RUNS: rankings of systems by several aspects together.  N/A is
    a separate label; documents whose overall label is N/A are excluded, except in prediction.
    """
    from venire.aspects.study import study_aspects

    inputs.one_standard_input(judgments, *more, *runs)
    measures = inputs.checked_measures(options["measures"])
    aspects = _read([judgments, *more], options)
    asked = options["asking"]
    overall = asked["overall"] or ("overall" if "overall" in aspects.names else None)
    ranked = _rankings(aspects, runs, measures, overall, options) if runs else None
    study = study_aspects(aspects, rankings=ranked, rng=options["rng"], **{**asked, "overall": overall})
    show = options["show"] or ("rankings" if runs else "summary")
    if show == "rankings" and ranked is None:
        raise click.UsageError("--show rankings needs RUNS")
    parts = [part for part in PARTS if out.format == "json" or part in _said(show)]
    out.finish(
        show,
        lambda: part_table(study, show, people=not out.for_machines),
        document=document(study),
        figure=figure_of(study, show) if out.plot else (),
        notes=[study.aspects.sentence(), *(words for part in parts for words in study.sentences(part)), *study.notes],
    )


def _read(sources: list[str], options: dict[str, Any]) -> Aspects:
    """Read labels by aspect, and choose among them."""
    from venire.data.aspects import aspects_of
    from venire.io.aspects import aspect_labels

    given, asked = options["reading"], options["aspect_reading"]
    if given["second_column"] != "ignore":
        raise click.UsageError("--second-column is for qrels: here each row, or each column, is for an aspect")
    labels, scales = aspect_labels(
        sources,
        scale=given["scale"],
        scales=dict(_pair(text, "--aspect-scale") for text in asked["scales"]),
        not_applicable=asked["not_applicable"],
        where=inputs.by_own_columns(options["where"]),
        **{key: given[key] for key in ("duplicate_labels", "layout", "columns")},
    )
    chosen = inputs.chosen_labels(labels, options["where"])
    return aspects_of(chosen, scales=scales, not_applicable=asked["not_applicable"])


def _rankings(
    aspects: Aspects, runs: Iterable[str], measures: list[str], overall: str | None, options: dict[str, Any]
) -> AspectRankings:
    """Rank the systems by overall alone and by several aspects."""
    from venire import PredictedRelevance, read_runs
    from venire.aspects.rankings import aspect_rankings

    asked = options["combining"]
    if overall is None:
        known = ", ".join(aspects.names)
        raise click.UsageError(f"name the aspect that others are compared with: --overall NAME, one of {known}")
    weights = [_weights(text) for text in asked["weights"]]
    relevant = dict(_pair(text, "--relevant") for text in (asked["relevant"] or "").split(",") if text)
    return aspect_rankings(
        aspects,
        read_runs(list(runs), **options["rules"]),
        measures,
        base=overall,
        combinations=weights or None,
        how=asked["how"],
        reverse=asked["reverse"],
        n_draws=options["asking"]["n_draws"],
        rng=options["rng"],
        combining={
            "exponential": asked["gains"] == "exponential",
            "relevant": relevant,
            "model": PredictedRelevance(prior=asked["prior"]),
        },
        **options["whose"],
    )


def _weights(text: str) -> dict[str, float]:
    found = {}
    for pair in text.split(","):
        name, value = _pair(pair, "--weights")
        try:
            found[name] = read_number(value)
        except ValueError:
            message = f"{pair!r}: {value!r} is not a number, as in rel=1,trust=0.5"
            raise click.BadParameter(message, param_hint="--weights") from None
    return found


def _pair(text: str, of: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint=of)
    return name.strip(), value.strip()


def _said(show: str) -> tuple[str, ...]:
    """Parts whose sentences go with a table."""
    return ("coverage", "correlations", "changes") if show == "summary" else (show,)
