"""Labels for a command: which files, which of their rows, which topics; and the gains of the labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli.options import JUDGMENTS, PATH
from venire.cli.sections import gathered, option
from venire.errors import FormatError, GainsError, VenireError, known_names

if TYPE_CHECKING:
    from venire.data.gains import Gains
    from venire.data.judgments import Judgments

SCORING = "Scoring"

where_option = option(
    "--where",
    section=JUDGMENTS,
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Use only these labels, such as aspect=trust; may be repeated.",
)
measures_option = option(
    *("-m", "--measure", "measures"),
    section=SCORING,
    multiple=True,
    default=["nDCG@10"],
    metavar="NAME",
    help='A measure, such as AP or "RBP(p=0.8)"; may be repeated.',
)
topics_option = option(
    *("--topics", "topic_file"),
    section=SCORING,
    type=PATH,
    metavar="FILE",
    help="Score only the topics in this file, one per line.  [default: all that were judged]",
)
worth = gathered(
    "worth",
    {
        "gains": option(
            "--gains",
            section=SCORING,
            default="linear",
            metavar="GAINS",
            help="What labels are worth: linear, exponential, raw, binary:LABEL, pairs Non=0,Rel=0.4, a file; or by a "
            "model of disagreement, prm:LABEL or udm:M/N, or a fit that was saved.",
        ),
        "fit_on": option(
            "--fit-on",
            section=SCORING,
            type=PATH,
            metavar="FILE",
            help="Fit the model on these judgments.  [default: on the judgments given]",
        ),
    },
)


def read_labels(
    judgments: str, more: Iterable[str], *, reading: Mapping[str, Any], where: Iterable[str] = ()
) -> Judgments:
    """Read judgments from the files a command was given, and choose among their labels."""
    from venire import read_judgments

    return chosen_labels(read_judgments([judgments, *more], **reading), where)


def chosen_labels(judgments: Judgments, where: Iterable[str]) -> Judgments:
    """Choose labels by ``COLUMN=VALUE``; several values of one column are alternatives."""
    wanted: dict[str, list[str]] = {}
    for text in where:
        column, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r} is not COLUMN=VALUE, as in aspect=trust", param_hint="--where")
        judgments.column(column)
        wanted.setdefault(column, []).append(value)
    chosen = judgments.where(**wanted) if wanted else judgments
    if len(chosen) == 0:
        raise VenireError("no label is left to score with", hint="; ".join(chosen.notes) or "look at --where")
    return chosen


def chosen_topics(path: str | None, judgments: Judgments) -> tuple[list[str] | None, list[str]]:
    """Read the topics to score, what stands ahead of a tab on each line, and note those that nobody judged."""
    from venire.data.ids import as_text
    from venire.io.lines import read_bytes

    if path is None:
        return None, []
    lines = as_text(read_bytes(Path(path))).splitlines()
    topics = [line.partition("\t")[0].strip() for line in lines if not line.startswith("#")]
    topics = [topic for topic in dict.fromkeys(topics) if topic]
    known = set(judgments.topics)
    unknown = [topic for topic in topics if topic not in known]
    if len(unknown) == len(topics):
        hint = known_names(unknown[0], judgments.topics) if unknown else "expected one topic per line"
        raise FormatError(path, None, "names no topic that was judged", hint=hint)
    listed = ", ".join(unknown[:5]) + ", ..." * (len(unknown) > 5)
    judged = [topic for topic in topics if topic in known]
    return judged, [f"topics of {path} that were not judged: {listed}"] if unknown else []


def settled_gains(labels: Judgments, reading: Mapping[str, Any], *, gains: str, fit_on: str | None) -> Gains:
    """Settle gains for labels: by formula, pairs or file, or fitted by a model on these or other judgments."""
    from venire import read_judgments
    from venire.data.gains import gains_for
    from venire.io.gains_files import read_gains

    if gains.partition(":")[0] in ("prm", "udm"):
        from venire.models.gain_names import fitted_gains

        others = labels if fit_on is None else read_judgments(fit_on, **{"scale": labels.scale, **_given(reading)})
        return gains_for(fitted_gains(gains, others), labels.scale)
    if fit_on is not None:
        raise click.UsageError("--fit-on is for gains by a model: --gains prm:LABEL or --gains udm:M/N")
    if Path(gains).suffix.lower() == ".json" and Path(gains).is_file():
        from venire.models.fit_files import read_fit

        fit = read_fit(Path(gains))
        if len(fit.relevant.names) > 1:
            found = ", ".join(fit.relevant.names)
            hint = "make it again with one of them: venire disagreement --relevant LABEL --save FIT.json"
            raise GainsError(f"{gains} was fitted for several notions of relevance ({found})", hint=hint)
        return gains_for(fit.gains(), labels.scale)
    return gains_for(read_gains(gains), labels.scale)


def _given(reading: Mapping[str, Any]) -> dict[str, Any]:
    """What was said about reading judgments, without what was not."""
    return {name: value for name, value in reading.items() if value is not None}
