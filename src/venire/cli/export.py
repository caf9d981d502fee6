"""venire export: judgments as other tools read them, with gains as whole numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs, options as declare, places
from venire.cli.output import Output, Table

if TYPE_CHECKING:
    from venire.io.exchange import ScaledQrels

# The words that the library knows; a test holds them together, so that no help has to load it.
TOOLS = ("trec", "ir_measures", "ranx", "groups")
EXAMPLES = """\b
Examples:
  venire export judgments.tsv --gains prm:2 --assessor ann -o prm.qrels
  trec_eval -m ndcg_cut.10 prm.qrels system.run
  venire export llm.qrels --gains fit.json --to ranx -o prm.json
  venire export judgments.tsv --pool mean --scale-by 100 -o mean.qrels
  venire export judgments.tsv --to groups -o groups.qrels
  trec_eval -R qrels_jg -m map_avgjg groups.qrels system.run
"""


@click.command("export", cls=declare.Command, epilog=EXAMPLES)
@inputs.judgments_argument()
@declare.one_of(
    *("--to", "tool"),
    choices=TOOLS,
    section=declare.OUTPUT,
    default="trec",
    help="The tool: {}.  trec writes qrels, also for pytrec_eval; groups are trec_eval's "
    "judgment groups, with the assessor in the second column.",
)
@declare.output_file(
    *("-o", "--output", "target"),
    required=True,
    callback=places.judgments_place,
    help="The file to write; for ranx, JSON if it ends in .json.",
)
@declare.whole_number(
    "--scale-by",
    section=declare.OUTPUT,
    least=1,
    help="Factor by which gains are multiplied to get whole numbers.  "
    "[default: 1 if all gains are whole numbers, else 1000]",
)
@inputs.worth_without_runs
@inputs.assessor_option(inputs.SCORING, "Write the labels of one assessor.")
@inputs.pool_option(choices=declare.ALL_POOLS)
@declare.more_judgments
@inputs.where_option
@declare.reading
@declare.output_options(folder=True)
@declare.rng_option(used=False)
def command(*, judgments: str, more: tuple[str, ...], tool: str, target: Path, out: Output, **options: Any) -> None:
    """Write JUDGMENTS for trec_eval, pytrec_eval, ir_measures or ranx.

    Each label is replaced by its gain, multiplied by a factor and rounded to a whole number; the factor does not
    change nDCG.  The output, and the file FILE.toml, state the factor and the relevance of each label.
    """
    from venire.data.panel import build_panel
    from venire.io.exchange import scaled_qrels, write_scaled_qrels

    inputs.one_standard_input(judgments, *more)
    whose = _whose(tool, options)
    labels = inputs.read_labels([judgments, *more], options)
    whose["pool"] = inputs.pool_for(labels, whose["pool"])
    gains = inputs.resolve_gains(labels, options["reading"], **options["worth"])
    form = {"scale_by": options["scale_by"], "groups": tool == "groups"}
    qrels = scaled_qrels(labels, gains, build_panel(labels, **whose), **form)
    beside = write_scaled_qrels(qrels, target, to=tool)
    out.table("labels", _labels(qrels), beside=_summary(qrels, tool, target, beside))
    also = [f"{beside} states the factor"] if beside else []
    out.notes([qrels.sentence(), *also, *qrels.notes, *labels.notes])


def _whose(tool: str, options: dict[str, Any]) -> dict[str, str | None]:
    """Return whose labels are written: in groups, those of every assessor or of one."""
    assessor, pool = options["assessor"], options["pool"]
    if tool == "groups" and pool is not None:
        raise click.UsageError("--to groups cannot be used with --pool")
    each = "assessor" if tool == "groups" and assessor is None else None
    return {"assessor": assessor, "per": each, "pool": pool}


def _labels(qrels: ScaledQrels) -> Table:
    """Return the relevance of each label, highest first."""
    from venire.io.exchange import as_whole

    gains = qrels.labels
    whole = as_whole(gains.values, qrels.scale_by).tolist()
    rows = list(zip(gains.scale.labels, gains.values.tolist(), whole, strict=True))
    return Table(("label", "gain", "relevance"), rows[::-1])


def _summary(qrels: ScaledQrels, tool: str, target: Path, beside: Path | None) -> dict[str, object]:
    return {
        "file": str(target),
        "beside": None if beside is None else str(beside),
        "to": tool,
        "gains": qrels.labels.name,
        "scale_by": qrels.scale_by,
        "rounding": qrels.rounding,
        "lines": len(qrels),
        "topics": qrels.n_topics,
        "groups": None if qrels.group is None else len(qrels.group.names),
        "largest": int(qrels.relevance.max()),
        "notes": [str(note) for note in qrels.notes],
    }
