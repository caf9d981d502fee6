"""venire simulate: a collection whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli.options import OUTPUT, output_options, rng_option
from venire.cli.output import Output
from venire.cli.rendering import Table
from venire.cli.sections import Command, Decorator, option

if TYPE_CHECKING:
    from venire.analysis.synthetic import Collection

HOLDS = {
    "judgments.tsv": "topic, doc, assessor, label",
    "runs": "one TREC run per system",
    "truth/items.tsv": "the true label of every document, judged or not",
    "truth/assessors.tsv": "how each assessor confuses labels",
    "truth/systems.tsv": "quality of each system, and its true place",
    "truth/topics.tsv": "how hard each topic is to judge",
    "truth/setting.json": "what made the collection, and makes it again",
}

EXAMPLES = """\b
Examples:
  venire simulate -o demo
  venire simulate -o demo --assessors "3*careful, strict(shift=0.5), lazy"
  venire simulate -o trec --topics 250 --pattern "single(twice=0.2)" --rng 7
"""

_COLLECTION = "Collection"


def _count(name: str, parameter: str, default: int, words: str) -> Decorator:
    return option(
        *(name, parameter),
        section=_COLLECTION,
        type=click.IntRange(min=1),
        default=default,
        metavar="N",
        help=words,
    )


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
@_count("--topics", "n_topics", 50, "Topics.")
@_count("--docs", "docs_per_topic", 200, "Judged documents of each topic.")
@_count("--systems", "n_systems", 10, "Systems, each with a run.")
@option(
    "--assessors",
    section=_COLLECTION,
    default="2*careful, strict, lenient, lazy",
    metavar="KINDS",
    help="Who judges: careful, strict, lenient, lazy or random, with parameters if wanted.",
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
    help="The labels, lowest first.",
)
@output_options(folder=True)
def command(*, folder: Path, rng: int, n_systems: int, out: Output, **options: Any) -> None:
    """Make judgments and runs from a truth that is written down beside them.

    Assessors err in known ways, systems have a known order: what an evaluation finds can be held against it.
    """
    from venire.analysis.assessors import parse_assessors
    from venire.analysis.patterns import parse_pattern
    from venire.analysis.synthetic import Synthetic, generate
    from venire.analysis.synthetic_files import write_collection
    from venire.analysis.systems import Systems, scattered
    from venire.data.scale import Scale

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
    files = Table(("file", "holds"), [(str(folder / name), words) for name, words in HOLDS.items()])
    out.table("files", files, beside={"truth": truth_summary(collection)})
    if not out.quiet:
        sentence = collection.judgments.summary().sentence()
        click.echo(f"wrote {sentence}; {n_systems} systems; into {folder}", err=True)


def truth_summary(collection: Collection) -> dict[str, object]:
    """Return what is true of a collection, in short: the systems, best first, and who judged."""
    truth = collection.truth
    return {
        "scale": str(truth.scale),
        "topics": len(truth.topics),
        "assessors": list(truth.assessors),
        "systems_best_first": list(truth.order),
    }
