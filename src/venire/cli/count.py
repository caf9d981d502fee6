"""venire count: the expected number of relevant results for a random user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs
from venire.cli.disagreement import model, model_for
from venire.cli.evaluate import scoring
from venire.cli.options import MODEL, Command, gathered, option, read_resource, resource_option, whole_number
from venire.cli.output import Output, Table, bar, collect_warnings
from venire.errors import FewPairsWarning

if TYPE_CHECKING:
    from venire.data.judgments import Judgments
    from venire.disagreement.counting import Counts

COUNTING = "Counting"
MOST_DIGITS = 18
EXAMPLES = """\b
Examples:
  venire count judgments.tsv runs --assessor main
  venire count judgments.tsv runs --assessor main --observed main --top 5
  venire count qrels.txt runs --fit-on double.tsv --relevant all --top 20
  venire count qrels.txt engines --fit-on double.tsv --resources 3 \\
      --resource "FW13-{resource}-{topic}-{rank}"
"""


def _go_together(values: Mapping[str, Any]) -> None:
    if (values["resources"] is None) != (values["resource"] is None):
        raise click.UsageError("--resources and --resource go together: give both or neither")
    if values["resources"] is not None and values["top"] is not None:
        raise click.UsageError("--top is for lists of documents; with --resources all results of a resource count")
    if values["fit_on"] == "returned" and values["resources"] is not None:
        raise click.UsageError("--fit-on returned is for lists of documents; with --resources runs rank resources")


counting = gathered(
    "counting",
    {
        "top": option(
            "--top", section=COUNTING, metavar="K|all", help="Number of results of each list.  [default: 10]"
        ),
        "share": option(
            *("--weights", "share"),
            section=COUNTING,
            metavar="M/N",
            default="1/2",
            help="The User Disagreement Model is for M of N users.",
        ),
        "resources": whole_number(
            "--resources",
            section=COUNTING,
            least=1,
            help="Runs rank resources: count the results of the first N, and those of an oracle.",
        ),
        "resource": resource_option(COUNTING),
    },
    seen=["fit_on"],
    check=_go_together,
)


@click.command("count", cls=Command, epilog=EXAMPLES)
@inputs.judgments_argument()
@inputs.runs_argument
@counting
@model
@inputs.fit_on_option(MODEL, top="K (--top)")
@scoring
@inputs.shared_options()
def command(*, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any) -> None:
    """Estimate how many results of RUNS a random user finds relevant.

    Three means over topics, with standard errors that include the uncertainty of the model: the expected number for a
    random user (prm), the number for M of N users (udm), and the number of relevant labels (binary).  The model of
    disagreement is fitted on the labels of all assessors; --fit-on selects them.  If several assessors judged, use
    --assessor, --per assessor or --pool to select whose labels are counted.
    """
    from venire import read_runs
    from venire.io.runs import scan

    inputs.one_standard_input(judgments, *more, *runs, options["fit_on"])
    labels = inputs.read_labels([judgments, *more], options)
    sources = read_runs(list(runs), **options["rules"])
    with bar(sources.sources, quiet=out.quiet) as progress, collect_warnings(but=(FewPairsWarning,)) as warned:
        if options["counting"]["resources"] is None:
            sources = scan(sources, labels.items, progress=progress)
        counts = _counted(labels, sources, options=options, progress=progress)
    words = [*map(str, counts.fit.notes), *warned]
    records, taus = counts.records(), counts.tau_records()
    out.finish(
        "counts",
        lambda: Table.of(records),
        document={"counts": records, "tau": taus, "warnings": words},
        figure=("disagreement", "plot_counts", counts),
        notes=[counts.sentence(), *_agreement(taus), *counts.notes, *counts.fit.notes],
    )


def _counted(labels: Judgments, sources: Any, *, options: Mapping[str, Any], progress: Any) -> Counts:
    """Fit the model, and count among the first results of each list, or among those of the first resources."""
    from venire.disagreement.counting import count_relevant
    from venire.disagreement.counting_resources import FITTED_ON_POOL, count_resources
    from venire.disagreement.gains import read_share

    asked, scoring = options["counting"], dict(options["scoring"])
    share, top, model = read_share(asked["share"]), _read_top(asked["top"]), model_for(labels, options["model"])
    resources = asked["resources"] is not None
    if resources and scoring.pop("unjudged") != "0":
        raise click.UsageError("--unjudged cannot be used with --resources: all counted results were judged")
    how = {name: options[name] for name in ("fit_on", "where")}
    first = {} if resources else {"top": top, "model": model, "progress": progress}
    chosen = inputs.labels_for_fit(labels, options["reading"], runs=None if resources else sources, **how, **first)
    labels = labels.on_scale(chosen.judgments.scale)
    more = {**scoring, "at_least": share, "rng": options["rng"], "progress": progress}
    fit = chosen.fit(model, rng=options["rng"])
    if not resources:
        return replace(count_relevant(labels, sources, fit, top=top, **more), fitted_on=chosen.note)
    resource = read_resource(asked["resource"])
    found = count_resources(labels, sources, fit, resource=resource, top=asked["resources"], **more)
    return replace(found, fitted_on=FITTED_ON_POOL if options["fit_on"] in (None, "pool") else None)


def _read_top(text: str | None) -> int | None:
    if text is None or text == "all":
        return 10 if text is None else None
    if not text.isdecimal() or len(text) > MOST_DIGITS or int(text) < 1:
        raise click.BadParameter(f"{text!r} is not a number from 1 on, or all", param_hint="--top")
    return int(text)


def _agreement(taus: list[dict[str, Any]]) -> list[str]:
    """Return the rank correlation between counts."""
    return [
        f"tau-b between {each['a']} and {each['b']}, relevant {each['relevant']}"
        f"{', by ' + each['assessor'] if 'assessor' in each else ''}: "
        + ("undefined, since a count is the same for all systems" if each["tau"] is None else f"{each['tau']:.2f}")
        for each in taus[:12]
    ]
