"""venire simulate: a collection whose truth is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from venire.cli.options import OUTPUT, output_options, rng_option
from venire.cli.output import Output
from venire.cli.rendering import Table
from venire.cli.sections import Command, Decorator, gathered, one_of, option

if TYPE_CHECKING:
    from venire.analysis.perceived_collections import PerceivedCollection
    from venire.analysis.perceived_relevance import PerceivedRelevance
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
PERCEIVED_HOLDS = {
    "judgments.tsv": "topic, doc, assessor, label",
    "preferences.tsv": "topic, left, right, assessor, strength (positive: left is better)",
    "runs": "one TREC run per system",
    "truth/items.tsv": "the true relevance of every document, and its grade",
    "truth/assessors.tsv": "how much each assessor errs",
    "truth/systems.tsv": "quality of each system, and its true place",
    "truth/topics.tsv": "batch and shape of each topic",
    "truth/setting.json": "what made the collection, and makes it again",
}
RECIPES = ("levels", "chu2021")
NOISE_PER = ("annotation", "assessor")
OF_LEVELS = ("pattern", "scale")
SHARED = ("n_topics", "docs_per_topic", "n_systems", "assessors")

EXAMPLES = """\b
Examples:
  venire simulate -o demo
  venire simulate -o demo --assessors "3*careful, strict(shift=0.5), lazy"
  venire simulate -o trec --topics 250 --pattern "single(twice=0.2)" --rng 7
  venire simulate -o pdp --recipe chu2021 --topics 300 --grades 7
  venire simulate -o pdp --recipe chu2021 --sigma 0.05 0.05 --systems 10
"""

_COLLECTION, _PERCEIVED = "Collection", "Recipe chu2021"


def _count(name: str, parameter: str, default: int, words: str, *, section: str = _COLLECTION) -> Decorator:
    return option(
        *(name, parameter),
        section=section,
        type=click.IntRange(min=1),
        default=default,
        metavar="N",
        help=words,
    )


def _range(name: str, default: tuple[float, float], words: str) -> Decorator:
    return option(name, section=_PERCEIVED, type=float, nargs=2, default=default, metavar="LOW HIGH", help=words)


def _amount(name: str, parameter: str, words: str) -> Decorator:
    return option(
        name, parameter, section=_PERCEIVED, type=click.FloatRange(min=0), default=0.0, metavar="X", help=words
    )


perceived = gathered(
    "perceived",
    {
        "n_grades": option(
            *("--grades", "n_grades"),
            section=_PERCEIVED,
            type=click.IntRange(min=2),
            default=4,
            metavar="N",
            help="Grades into which perceived relevance is cut.",
        ),
        "topics_per_batch": _count(
            *("--batch", "topics_per_batch", 100, "Topics that have the same assessors."), section=_PERCEIVED
        ),
        "shape": _range("--shape", (2.0, 5.0), "Range of the parameters of each topic's Beta distribution."),
        "sigma": _range("--sigma", (0.001, 0.3), "Range of the assessors' noise; a low one is good judging."),
        "spread": _range("--spread", (-0.5, 0.5), "Range of w, by which noise varies over annotations."),
        "unlike": option(
            "--unlike", section=_PERCEIVED, is_flag=True, help="Give each assessor of a batch noise of their own."
        ),
        "noise_per": one_of(
            "--noise-per",
            choices=NOISE_PER,
            section=_PERCEIVED,
            default="annotation",
            help="What the first noise is drawn for, {}; an assessor then leans one way throughout.",
        ),
        "preference_noise": _amount(
            "--preference-noise", "preference_noise", "Noise of whoever compares two documents."
        ),
        "tie_threshold": _amount("--tie", "tie_threshold", "Documents that differ by this or less are a tie."),
        "preference_assessors": _count(
            *("--comparers", "preference_assessors", 1, "Who compare documents side by side."), section=_PERCEIVED
        ),
        "pairs_per_topic": option(
            *("--pairs", "pairs_per_topic"),
            section=_PERCEIVED,
            type=click.IntRange(min=1),
            metavar="N",
            help="Pairs of each topic that are compared.  [default: all]",
        ),
    },
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
@one_of(
    "--recipe",
    choices=RECIPES,
    section=_COLLECTION,
    default="levels",
    help="How labels come about, {}: true levels that assessors confuse, or true relevance in [0, 1] that they see "
    "through noise (Chu et al. 2021), with preferences.",
)
@_count("--topics", "n_topics", 50, "Topics; by recipe chu2021 10000.")
@_count("--docs", "docs_per_topic", 200, "Judged documents of each topic; by recipe chu2021 5.")
@_count("--systems", "n_systems", 10, "Systems, each with a run; by recipe chu2021 none.")
@option(
    "--assessors",
    section=_COLLECTION,
    default="2*careful, strict, lenient, lazy",
    metavar="KINDS",
    help="Who judges: careful, strict, lenient, lazy or random, with parameters if wanted; by recipe chu2021 a number "
    "for each batch, 15.",
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
@perceived
@output_options(folder=True)
def command(*, recipe: str, **options: Any) -> None:
    """Make judgments and runs from a truth that is written down beside them.

    Assessors err in known ways, systems have a known order: what an evaluation finds can be held against it.
    """
    given = _given()
    if recipe == "chu2021":
        _refuse(given & set(OF_LEVELS), "is not for --recipe chu2021; it has --grades, and everyone judges")
        _perceived(given, **options)
        return
    parameters = {each.name for each in command.params if getattr(each, "section", "") == _PERCEIVED}
    _refuse(given & parameters, "is for --recipe chu2021")
    _levels(**options)


def _levels(*, folder: Path, rng: int, n_systems: int, out: Output, **options: Any) -> None:
    """Make a collection of true levels."""
    from venire.analysis.assessors import parse_assessors
    from venire.analysis.patterns import parse_pattern
    from venire.analysis.perceived_files import remove_preferences
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
    remove_preferences(folder)
    write_collection(collection, folder)
    out.table("files", _files(folder, HOLDS), beside={"truth": truth_summary(collection)})
    if not out.quiet:
        sentence = collection.judgments.summary().sentence()
        click.echo(f"wrote {sentence}; {n_systems} systems; into {folder}", err=True)


def _perceived(given: set[str], *, folder: Path, rng: int, out: Output, **options: Any) -> None:
    """Make a collection of perceived relevance."""
    from venire.analysis.perceived_collections import generate_perceived
    from venire.analysis.perceived_files import write_perceived

    setting = perceived_setting({name: options[name] for name in SHARED if name in given}, options["perceived"])
    collection = generate_perceived(setting, rng=rng)
    write_perceived(collection, folder)
    held = {name: words for name, words in PERCEIVED_HOLDS.items() if name != "runs" or collection.runs.sources}
    out.table("files", _files(folder, held), beside={"truth": perceived_summary(collection)})
    if not out.quiet:
        click.echo(f"wrote {collection.sentence()}; into {folder}", err=True)


def perceived_setting(shared: Mapping[str, Any], own: Mapping[str, Any]) -> PerceivedRelevance:
    """Settle what was asked for; what was not said is as in the paper."""
    from venire.analysis.perceived_relevance import PerceivedRelevance
    from venire.analysis.systems import Systems, scattered

    said: dict[str, Any] = {name: value for name, value in own.items() if name != "unlike"}
    said |= {name: shared[name] for name in ("n_topics", "docs_per_topic") if name in shared}
    if "assessors" in shared:
        said["n_assessors"] = _number(shared["assessors"])
    if "n_systems" in shared:
        said["systems"] = Systems(quality=scattered(shared["n_systems"]))
    return PerceivedRelevance(**said, alike=not own["unlike"])


def _number(text: str) -> int:
    if not (text.strip().isascii() and text.strip().isdigit()):
        raise click.BadParameter(f"{text!r} is no number, as --recipe chu2021 takes", param_hint="--assessors")
    return int(text)


def _given() -> set[str]:
    """Name the parameters that were said, not left to their defaults."""
    context = click.get_current_context()
    return {name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT}


def _refuse(names: Iterable[str], words: str) -> None:
    """Refuse options that belong to another recipe."""
    for parameter in command.params:
        if parameter.name in names:
            raise click.UsageError(f"{parameter.opts[0]} {words}")


def _files(folder: Path, held: Mapping[str, str]) -> Table:
    return Table(("file", "holds"), [(str(folder / name), words) for name, words in held.items()])


def truth_summary(collection: Collection) -> dict[str, object]:
    """Return what is true of a collection, in short: the systems, best first, and who judged."""
    truth = collection.truth
    return {
        "scale": str(truth.scale),
        "topics": len(truth.topics),
        "assessors": list(truth.assessors),
        "systems_best_first": list(truth.order),
    }


def perceived_summary(collection: PerceivedCollection) -> dict[str, object]:
    """Return what is true of a collection, in short: the systems, best first, and how well each batch was judged."""
    return {
        "scale": str(collection.judgments.scale),
        "topics": len(collection.batch),
        "sigma_of_batches": collection.sigma.mean(axis=1).tolist(),
        "systems_best_first": list(collection.systems_best_first),
    }
