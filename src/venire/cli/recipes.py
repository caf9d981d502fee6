"""Recipes of venire simulate: the options of each, the setting they make, and the files it writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from venire.cli.sections import Decorator, gathered, one_of, option

if TYPE_CHECKING:
    from venire.simulation.context.collection import ContextCollection
    from venire.simulation.context.setting import ContextSetting
    from venire.simulation.levels import Collection
    from venire.simulation.perceived import PerceivedCollection
    from venire.simulation.perceived_truth import PerceivedRelevance

RECIPES = ("levels", "chu2021", "golbus2014")
SECTION = {name: f"Recipe {name}" for name in RECIPES[1:]}
NOISE_PER = ("annotation", "assessor")
DESIGNS = ("paper", "neighbours")
LABELLED = ("both", "left")

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
CONTEXT_HOLDS = {
    "judgments.tsv": "topic, doc, assessor, label, given (the document read before)",
    "preferences.tsv": "topic, left, right, assessor, strength (positive: left is better)",
    "clicks.tsv": "session, topic, rank, doc, clicked, dwell",
    "aspects.tsv": "topic, doc, given, assessor, aspect, label",
    "runs": "the two systems, left and right",
    "truth/items.tsv": "what every document is worth, and the facets it covers",
    "truth/pairs.tsv": "what documents are worth after another",
    "truth/assessors.tsv": "who judged which topic",
    "truth/systems.tsv": "what each system is worth to users, and its place",
    "truth/topics.tsv": "engines, design and true worth of both lists",
    "truth/setting.json": "what made the collection, and makes it again",
}
"""Files of each recipe, with what they hold."""


def count(name: str, parameter: str, default: int, words: str, *, section: str, least: int = 1) -> Decorator:
    """Declare an option that takes a whole number."""
    kind = click.IntRange(min=least)
    return option(name, parameter, section=section, type=kind, default=default, metavar="N", help=words)


def _ends(name: str, default: tuple[float, float], words: str, *, recipe: str, metavar: str = "LOW HIGH") -> Decorator:
    section = SECTION[recipe]
    return option(name, section=section, type=float, nargs=2, default=default, metavar=metavar, help=words)


def _amount(
    name: str, parameter: str, default: float, words: str, *, recipe: str, most: float | None = None
) -> Decorator:
    return option(
        *(name, parameter),
        section=SECTION[recipe],
        type=click.FloatRange(min=0, max=most),
        default=default,
        metavar="X",
        help=words,
    )


perceived = gathered(
    "perceived",
    {
        "n_grades": count(
            *("--grades", "n_grades", 4, "Grades into which perceived relevance is cut."),
            section=SECTION["chu2021"],
            least=2,
        ),
        "topics_per_batch": count(
            *("--batch", "topics_per_batch", 100, "Topics that have the same assessors."), section=SECTION["chu2021"]
        ),
        "shape": _ends(
            "--shape", (2.0, 5.0), "Range of the parameters of each topic's Beta distribution.", recipe="chu2021"
        ),
        "sigma": _ends(
            "--sigma", (0.001, 0.3), "Range of the assessors' noise; a low one is good judging.", recipe="chu2021"
        ),
        "spread": _ends(
            "--spread", (-0.5, 0.5), "Range of w, by which noise varies over annotations.", recipe="chu2021"
        ),
        "unlike": option(
            "--unlike",
            section=SECTION["chu2021"],
            is_flag=True,
            help="Give each assessor of a batch noise of their own.",
        ),
        "noise_per": one_of(
            "--noise-per",
            choices=NOISE_PER,
            section=SECTION["chu2021"],
            default="annotation",
            help="What the first noise is drawn for, {}; an assessor then leans one way throughout.",
        ),
        "preference_noise": _amount(
            "--preference-noise",
            "preference_noise",
            0.0,
            "Noise of whoever compares two documents.",
            recipe="chu2021",
        ),
        "tie_threshold": _amount(
            "--tie", "tie_threshold", 0.0, "Documents that differ by this or less are a tie.", recipe="chu2021"
        ),
        "preference_assessors": count(
            *("--comparers", "preference_assessors", 1, "Who compare documents side by side."),
            section=SECTION["chu2021"],
        ),
        "pairs_per_topic": option(
            *("--pairs", "pairs_per_topic"),
            section=SECTION["chu2021"],
            type=click.IntRange(min=1),
            metavar="N",
            help="Pairs of each topic that are compared.  [default: all]",
        ),
    },
)

_OURS = "golbus2014"
in_context = gathered(
    "in_context",
    {
        "redundancy": _amount(
            "--redundancy",
            "redundancy",
            0.6,
            "Share of its worth that a document loses if all of it was in the one before; 0 to 1.",
            recipe=_OURS,
            most=1,
        ),
        "complementarity": _amount(
            "--complementarity",
            "complementarity",
            0.4,
            "Share of its worth that it wins if it has all that the one before left open.",
            recipe=_OURS,
        ),
        "context": _amount(
            "--context",
            "context",
            0.5,
            "True alpha: weight of worth in condition in what users prefer, 0 to 1.",
            recipe=_OURS,
            most=1,
        ),
        "disagreement": _amount(
            "--disagreement",
            "disagreement",
            0.35,
            "How far assessors' opinions of a document differ, in grades.",
            recipe=_OURS,
        ),
        "noise": _amount("--noise", "noise", 0.05, "Error of a single label, in grades.", recipe=_OURS),
        "quality": _ends(
            "--quality", (6.0, 5.0), "How well each of both engines ranks.", recipe=_OURS, metavar="ONE OTHER"
        ),
        "diversity": _ends(
            "--diversity", (0.0, 1.5), "How much each avoids to repeat itself.", recipe=_OURS, metavar="ONE OTHER"
        ),
        "design": one_of(
            "--design",
            choices=DESIGNS,
            section=SECTION[_OURS],
            default="paper",
            help="What is judged in condition, {}: as in Section 3.2, or each document given the one above.",
        ),
        "labelled": one_of(
            "--labelled", choices=LABELLED, section=SECTION[_OURS], default="both", help="Whose results are judged, {}."
        ),
        "judged_again": _amount(
            "--again", "judged_again", 0.0, "Share of topics that a second assessor judges.", recipe=_OURS, most=1
        ),
        "n_users": count("--users", "n_users", 5, "Users who compare the two lists.", section=SECTION[_OURS]),
        "user_noise": _amount("--user-noise", "user_noise", 0.1, "How much they err, in grades.", recipe=_OURS),
        "weak": _amount(
            "--weak", "weak", 0.91, "Share of topics on which most users prefer one list.", recipe=_OURS, most=1
        ),
        "strong": _amount(
            "--strong", "strong", 0.23, "Share of topics on which most do so strongly.", recipe=_OURS, most=1
        ),
        "sessions": count(
            "--sessions", "sessions", 40, "Click sessions of each topic.", section=SECTION[_OURS], least=0
        ),
        "aspects": option(
            "--aspects", section=SECTION[_OURS], is_flag=True, help="Label five aspects besides, N/A among the labels."
        ),
    },
)


def perceived_setting(shared: Mapping[str, Any], own: Mapping[str, Any]) -> PerceivedRelevance:
    """Settle what was asked for; what was not said is as in the paper."""
    from venire.simulation.perceived_truth import PerceivedRelevance
    from venire.simulation.systems import Systems, scattered

    said: dict[str, Any] = {name: value for name, value in own.items() if name != "unlike"}
    said |= {name: shared[name] for name in ("n_topics", "docs_per_topic") if name in shared}
    if "assessors" in shared:
        said["n_assessors"] = _number(shared["assessors"], "chu2021")
    if "n_systems" in shared:
        said["systems"] = Systems(quality=scattered(shared["n_systems"]))
    return PerceivedRelevance(**said, alike=not own["unlike"])


def context_setting(shared: Mapping[str, Any], own: Mapping[str, Any]) -> ContextSetting:
    """Settle what was asked for; what was not said is as in the library."""
    from venire.data.scale import Scale
    from venire.simulation.context.aspects import AspectModel
    from venire.simulation.context.setting import ContextSetting
    from venire.simulation.context.truth import Engine
    from venire.simulation.context.users import ClickModel

    made = {"quality", "diversity", "user_noise", "sessions", "aspects"}
    said: dict[str, Any] = {name: value for name, value in own.items() if name not in made}
    said |= {name: shared[name] for name in ("n_topics", "docs_per_topic") if name in shared}
    if "assessors" in shared:
        said["n_assessors"] = _number(shared["assessors"], "golbus2014")
    if "scale" in shared:
        said["scale"] = Scale.parse(shared["scale"])
    one, other = (Engine(*each) for each in zip(own["quality"], own["diversity"], strict=True))
    return ContextSetting(
        **said,
        engines=(one, other),
        preference_noise=own["user_noise"],
        clicks=ClickModel(sessions=own["sessions"]),
        aspects=AspectModel() if own["aspects"] else None,
    )


def _number(text: str, recipe: str) -> int:
    if not (text.strip().isascii() and text.strip().isdigit()):
        raise click.BadParameter(f"{text!r} is no number, as --recipe {recipe} takes", param_hint="--assessors")
    return int(text)


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


def context_summary(collection: ContextCollection) -> dict[str, object]:
    """Return what is true of a collection, in short: what context does to documents, and what it is to users."""
    setting, utility = collection.setting, collection.truth.utility
    return {
        "scale": str(setting.scale),
        "topics": setting.n_topics,
        "redundancy": setting.redundancy,
        "complementarity": setting.complementarity,
        "context": setting.context,
        "left_better": float((utility[:, 0] > utility[:, 1]).mean()),
    }
