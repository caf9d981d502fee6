"""venire simulate: a collection whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from venire.cli.options import OUTPUT, output_options, rng_option
from venire.cli.output import Output
from venire.cli.recipes import (
    CONTEXT_HOLDS,
    HOLDS,
    PERCEIVED_HOLDS,
    RECIPES,
    SECTION,
    context_setting,
    context_summary,
    count,
    in_context,
    perceived,
    perceived_setting,
    perceived_summary,
    truth_summary,
)
from venire.cli.rendering import Table
from venire.cli.sections import Command, one_of, option

SHARED = ("n_topics", "docs_per_topic", "n_systems", "assessors", "scale")
NOT_FOR = {
    "chu2021": (("pattern", "scale"), "it has --grades, and everyone judges"),
    "golbus2014": (("pattern", "n_systems"), "it has two systems, and a design of its own"),
}
"""Options of the collection that a recipe does not take, and why."""

EXAMPLES = """\b
Examples:
  venire simulate -o demo
  venire simulate -o demo --assessors "3*careful, strict(shift=0.5), lazy"
  venire simulate -o trec --topics 250 --pattern "single(twice=0.2)" --rng 7
  venire simulate -o pdp --recipe chu2021 --topics 300 --grades 7
  venire simulate -o pdp --recipe chu2021 --sigma 0.05 0.05 --systems 10
  venire simulate -o serps --recipe golbus2014 --redundancy 0.8 --context 1
  venire simulate -o serps --recipe golbus2014 --topics 200 --aspects
"""

_COLLECTION = "Collection"


@click.command("simulate", cls=Command, epilog=EXAMPLES)
@option(
    *("-o", "--output", "folder"),
    section=OUTPUT,
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder to write: new, empty, or one that holds an earlier simulation.",
)
@rng_option(used=True)
@one_of(
    "--recipe",
    choices=RECIPES,
    section=_COLLECTION,
    default="levels",
    help="How labels come about, {}: true levels that assessors confuse; true relevance in [0, 1] that they see "
    "through noise, with preferences (Chu et al. 2021); or documents judged alone and after another, with two systems "
    "that users compare and click on (Golbus et al. 2014).",
)
@count(
    *("--topics", "n_topics", 50, "Topics; by recipe chu2021 10000, golbus2014 457."),
    section=_COLLECTION,
)
@count(
    *("--docs", "docs_per_topic", 200, "Judged documents of each topic; by recipe chu2021 5, golbus2014 20 to rank."),
    section=_COLLECTION,
)
@count(
    *("--systems", "n_systems", 10, "Systems, each with a run; by recipe chu2021 none, golbus2014 2."),
    section=_COLLECTION,
)
@option(
    "--assessors",
    section=_COLLECTION,
    default="2*careful, strict, lenient, lazy",
    metavar="KINDS",
    help="Who judges: careful, strict, lenient, lazy or random, with parameters if wanted; by recipe chu2021 a number "
    "for each batch, 15; by golbus2014 a number, 20.",
)
@option(
    "--pattern",
    section=_COLLECTION,
    default="everyone",
    metavar="WHO",
    help="Who judges what: everyone, single(twice=0.2), atrandom(k=3), main(share=0.2), again.",
)
@option(
    "--scale",
    section=_COLLECTION,
    default="0<1<2<3",
    metavar="LABELS",
    help="The labels, lowest first; by recipe golbus2014 bad to perfect.",
)
@perceived
@in_context
@output_options(folder=True)
def command(*, recipe: str, **options: Any) -> None:
    """Make judgments and runs from a truth that is written down beside them.

    Assessors err in known ways, systems have a known order: what an evaluation finds can be held against it.
    """
    said = _said()
    _refuse_others(recipe, said)
    shared = {name: options[name] for name in SHARED if name in said}
    make: Mapping[str, Callable[..., None]] = {"levels": _levels, "chu2021": _perceived, "golbus2014": _in_context}
    make[recipe](shared=shared, **options)


def _levels(*, folder: Path, rng: int, out: Output, n_systems: int, **options: Any) -> None:
    """Make a collection of true levels."""
    from venire.data.scale import Scale
    from venire.results import counted
    from venire.simulation.assessors import parse_assessors
    from venire.simulation.assignments import parse_pattern
    from venire.simulation.folders import write_collection
    from venire.simulation.levels import Synthetic, generate
    from venire.simulation.systems import Systems, scattered

    setting = Synthetic(
        n_topics=options["n_topics"],
        docs_per_topic=options["docs_per_topic"],
        scale=Scale.parse(options["scale"]),
        assessors=parse_assessors(options["assessors"]),
        pattern=parse_pattern(options["pattern"]),
        systems=Systems(quality=scattered(n_systems)),
    )
    collection = generate(setting, rng=rng)
    write_collection(collection, folder)
    words = f"{collection.judgments.summary().sentence()}; {counted(n_systems, 'system')}"
    _say(out, folder, HOLDS, truth_summary(collection), words)


def _perceived(*, shared: Mapping[str, Any], folder: Path, rng: int, out: Output, **options: Any) -> None:
    """Make a collection of perceived relevance."""
    from venire.simulation.folders import write_perceived
    from venire.simulation.perceived import generate_perceived

    collection = generate_perceived(perceived_setting(shared, options["perceived"]), rng=rng)
    write_perceived(collection, folder)
    held = {name: words for name, words in PERCEIVED_HOLDS.items() if name != "runs" or collection.runs.sources}
    _say(out, folder, held, perceived_summary(collection), collection.sentence())


def _in_context(*, shared: Mapping[str, Any], folder: Path, rng: int, out: Output, **options: Any) -> None:
    """Make a collection of labels in context."""
    from venire.simulation.context.collection import generate_context
    from venire.simulation.folders import write_context

    collection = generate_context(context_setting(shared, options["in_context"]), rng=rng)
    write_context(collection, folder)
    absent = {"clicks.tsv"} if not collection.setting.clicks.sessions else set()
    absent |= {"aspects.tsv"} if collection.aspects is None else set()
    held = {name: words for name, words in CONTEXT_HOLDS.items() if name not in absent}
    _say(out, folder, held, context_summary(collection), collection.sentence())


def _say(out: Output, folder: Path, held: Mapping[str, str], truth: Mapping[str, object], words: str) -> None:
    """Say what was written, and what is true of it."""
    table = Table(("file", "holds"), [(str(folder / name), what) for name, what in held.items()])
    out.table("files", table, beside={"truth": truth})
    if not out.quiet:
        click.echo(f"wrote {words}; into {folder}", err=True)


def _said() -> set[str]:
    """Name the parameters that were said, not left to their defaults."""
    context = click.get_current_context()
    return {name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT}


def _refuse_others(recipe: str, said: set[str]) -> None:
    """Refuse options that belong to another recipe."""
    for other, section in SECTION.items():
        own = {each.name for each in command.params if getattr(each, "section", "") == section}
        if other != recipe:
            _refuse(said & own, f"is for --recipe {other}")
    names, why = NOT_FOR.get(recipe, ((), ""))
    _refuse(said & set(names), f"is not for --recipe {recipe}; {why}")


def _refuse(names: Iterable[str | None], words: str) -> None:
    for parameter in command.params:
        if parameter.name in names:
            raise click.UsageError(f"{parameter.opts[0]} {words}")
