"""venire sensitivity: how estimates of p(R|i) vary, and how many judgments they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import click

from venire.cli.disagreement import model, model_for
from venire.cli.inputs import judgments_argument, one_standard_input, read_labels, shared_options, some_runs_argument
from venire.cli.options import Command, Number, gathered, one_of, option, read_resource, resource_option, whole_number
from venire.cli.output import Output, Table, bar
from venire.results import known, known_count

if TYPE_CHECKING:
    from venire.disagreement.sensitivity import Sensitivity
    from venire.types import Floats

Records: TypeAlias = dict[str, list[dict[str, Any]]]
QUANTILES = ("q05", "q25", "median", "q75", "q95")


def all_records(found: Sensitivity) -> Records:
    """Everything that was found, as records; a list is empty where it was not asked for."""
    return {
        "quality": _quality(found),
        "topics": _topics(found),
        "judgments": _rounds(found),
        "needed": found.needed.records(),
        "subsets": _subsets(found),
        "influence": _influence(found),
    }


def _cells(found: Sensitivity) -> list[tuple[int, int, dict[str, Any]]]:
    """Every notion of relevance and label, the highest label first: their places, and a record to begin with."""
    scale, names = found.fit.scale, found.fit.relevant.names
    return [
        (row, level, {"relevant": name, "label": scale.labels[level]})
        for row, name in enumerate(names)
        for level in reversed(range(len(scale)))
    ]


def _known(values: Floats, *place: int) -> float | None:
    return known(values[place])


def _whole(values: Floats, *place: int) -> int | float | None:
    return known_count(values[place])


def _quality(found: Sensitivity) -> list[dict[str, Any]]:
    quality = found.quality
    if quality is None:
        return []
    return [
        {
            "lists": n + 1,
            **record,
            "p": _known(quality.p, n, row, level),
            "pairs": _whole(quality.pairs, n, row, level),
            "one_sided": None if quality.one_sided is None else _known(quality.one_sided, n, row, level),
        }
        for n in range(len(quality.p))
        for row, level, record in _cells(found)
    ]


def _subsets(found: Sensitivity) -> list[dict[str, Any]]:
    return [
        {
            "lists": subset.lists,
            "top": subset.top,
            **record,
            "p": _known(subset.p, row, level),
            "pairs": _whole(subset.pairs, row, level),
        }
        for subset in (found.quality.subsets if found.quality else ())
        for row, level, record in _cells(found)
    ]


def _topics(found: Sensitivity) -> list[dict[str, Any]]:
    topics = found.topics
    if topics is None:
        return []
    return [
        {
            **record,
            "p": _known(topics.p, row, level),
            **{name: _known(topics.quantiles, n, row, level) for n, name in enumerate(QUANTILES)},
        }
        for row, level, record in _cells(found)
    ]


def _influence(found: Sensitivity) -> list[dict[str, Any]]:
    """The topics that move p(R|i) most: what it would be without each of them."""
    topics = found.topics
    if topics is None:
        return []
    return [
        {
            **record,
            "topic": topics.topics[topic],
            "without": float(topics.p[row, level] - topics.influence[topic, row, level]),
            "influence": float(topics.influence[topic, row, level]),
            "pairs": _whole(topics.pairs, topic, level),
        }
        for row, level, record in _cells(found)
        for topic in topics.strongest(row, level)
    ]


def _rounds(found: Sensitivity) -> list[dict[str, Any]]:
    rounds = found.judgments
    if rounds is None:
        return []
    return [
        {
            "judgments": size,
            **record,
            "mean": _known(rounds.mean, n, row, level),
            "sd": _known(rounds.sd, n, row, level),
        }
        for n, size in enumerate(rounds.sizes.tolist())
        for row, level, record in _cells(found)
    ]


def sensitivity_table(records: Records, found: Sensitivity, against: tuple[str, ...]) -> Table:
    """Show one thing in full, or sum all up, a row per notion of relevance and label."""
    one = set(against)
    rows = records[against[0]] if len(one) == 1 and records[against[0]] else _summary(records, found)
    return Table.of(rows)


def _summary(records: Records, found: Sensitivity) -> list[dict[str, Any]]:
    """A row per notion of relevance and label: p, from the best list and from all, over topics, and what it takes."""
    from venire.kernels.shares import shares

    p = shares(found.fit.by_topic.sum(axis=0), found.fit.relevant.labels)
    rows = [{**record, "p": _known(p, row, level)} for row, level, record in _cells(found)]
    n = len(rows)
    chosen = [
        (records["quality"][:n], {"p": "best_list"}),
        (records["quality"][-n:], {"p": "all_lists"}),
        (records["topics"], {"q05": "q05", "q95": "q95"}),
        (records["needed"] if found.judgments else [], {"judgments": "judgments", "topics": "topics"}),
    ]
    for source, names in chosen:
        for row, record in zip(rows, source, strict=False):
            row |= {name: record[key] for key, name in names.items()}
    return rows


SENSITIVITY = "Sensitivity"
AGAINST = ("quality", "topics", "judgments")
EXAMPLES = """\b
Examples:
  venire sensitivity judgments.tsv
  venire sensitivity judgments.tsv runs --relevant all --plot sensitivity.svg
  venire sensitivity judgments.tsv --against quality --level HRel \\
      --resource "FW13-{resource}-{topic}-{rank}"
  venire sensitivity judgments.tsv --against judgments --deviation 0.05
"""

lists = gathered(
    "lists",
    {
        "resource": resource_option(
            SENSITIVITY,
            begin="Lists are those of resources: position of the resource, and optionally of the rank,",
            end="  [default: lists are those of RUNS]",
        ),
        "by": option(
            *("--lists-by", "by"),
            section=SENSITIVITY,
            multiple=True,
            metavar="NAME",
            help="An assessor whose labels order the lists; may be repeated.  [default: --observed, else "
            "--reference, else the "
            "assessor with most labels]",
        ),
        "level": option(
            "--level",
            section=SENSITIVITY,
            metavar="LABEL",
            help="Lists are ordered by the number of results with this label or higher.  [default: the upper half of "
            "the scale]",
        ),
        "top": whole_number(
            *("--top", "top"),
            section=SENSITIVITY,
            least=1,
            default=10,
            metavar="K",
            help="Number of results of each list.",
        ),
    },
)


@click.command("sensitivity", cls=Command, epilog=EXAMPLES)
@judgments_argument()
@some_runs_argument
@one_of(
    "--against",
    choices=AGAINST,
    section=SENSITIVITY,
    multiple=True,
    help="What is varied: {}; may be repeated.  [default: all that is possible]",
)
@lists
@option(
    "--deviation",
    section=SENSITIVITY,
    type=Number(min=0, max=1, min_open=True, max_open=True),
    default=0.02,
    metavar="D",
    help="Target standard deviation for the number of double judgments.",
)
@model
@shared_options()
def command(*, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any) -> None:
    """Analyse how estimates of disagreement depend on the quality of results, the topics and the number of judgments.

    For each label, the probability that a random user finds the result relevant: estimated on the best lists only and
    on more and more lists (quality; lists are those of RUNS or --resource), on other topics (topics), and on fewer
    double judgments (judgments); and how many double judgments, or topics, are needed.  The table is a summary; with
    one --against it has the details, and JSON has all.
    """
    from venire import read_runs
    from venire.data.intents import explicit_intents
    from venire.disagreement.sensitivity import ListOrder, sensitivity

    one_standard_input(judgments, *more, *runs)
    labels = read_labels([judgments, *more], options)
    if "intent" in labels.facets:
        labels = explicit_intents(labels)
    sources, order = read_runs(list(runs), **options["rules"]) if runs else None, options["lists"]
    with bar(sources.sources if sources else (), quiet=out.quiet) as progress:
        found = sensitivity(
            labels,
            sources,
            model_for(labels, options["model"]),
            against=options["against"],
            lists=ListOrder(**order | {"resource": order["resource"] and read_resource(order["resource"])}),
            deviation=options["deviation"],
            rng=options["rng"],
            progress=progress,
        )
    records = all_records(found)
    out.finish(
        "sensitivity",
        lambda: sensitivity_table(records, found, options["against"]),
        document={**records, "answers": found.answers(), "warnings": [*map(str, found.notes)]},
        figure=("disagreement", "plot_sensitivity", found),
        notes=[*found.answers(), *labels.notes, *found.notes],
    )
