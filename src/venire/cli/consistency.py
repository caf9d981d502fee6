"""venire consistency: agreement of assessors with themselves and with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from venire.cli.inputs import judgments_argument, keeping_repeats, read_labels, shared_options
from venire.cli.options import MODEL, Command, draws_option, flag, input_file, one_of, relevant_option, show_option
from venire.cli.output import Output, Table

if TYPE_CHECKING:
    from venire.agreement.overlap import Overlap
    from venire.data.judgments import Judgments
    from venire.io.duplicates import Duplicates

WEIGHTS = ("pair", "page")
KEYS = ("relevant", "label", "who", "p", "sd", "low", "high", "hits", "pairs")
OVERLAP_KEYS = ("relevant", "a", "b", "jaccard", "precision", "recall", "items")
EXAMPLES = """\b
Examples:
  venire consistency judgments.tsv
  venire consistency judgments.tsv --relevant all --show overlap
  venire consistency qrels.txt --duplicates duplicates.txt --plot self.svg
"""


@click.command("consistency", cls=Command, epilog=EXAMPLES)
@judgments_argument(several=True)
@input_file("--duplicates", section=MODEL, help="Duplicate documents: each line lists copies of one page.")
@relevant_option
@one_of(
    "--weight",
    choices=WEIGHTS,
    section=MODEL,
    default="pair",
    help="Unit of weight, {}: every pair of labels or every page counts once.",
)
@flag(
    "--same-pages", section=MODEL, help="Use only pages that one assessor judged twice and another assessor judged too."
)
@draws_option(MODEL, default=1000, help="Number of draws of single judgments, one per assessor and page.")
@show_option(
    "consistency", "overlap", help="The table that is written, {}: the overlap is that of sets of relevant items."
)
@shared_options(runs=False)
def command(*, judgments: tuple[str, ...], out: Output, rng: int, **options: Any) -> None:
    """Compare the agreement of assessors with themselves and with each other.

    JUDGMENTS have several labels of a page.  For each label: the probability that a second judgment of the page is
    relevant, by the same assessor (self) and by another (cross); sd is the standard deviation over draws of single
    judgments, low and high are the 95% confidence interval over topics.  For each pair of assessors: the overlap of
    their sets of relevant results.  All labels of an assessor are kept, unless --duplicate-labels states another rule.
    """
    from venire.agreement.consistency import consistency
    from venire.io.duplicates import read_duplicates

    labels = read_labels(judgments, keeping_repeats(options))
    copies = None if options["duplicates"] is None else read_duplicates(options["duplicates"])
    chosen = {key: options[key] for key in ("relevant", "weight", "same_pages", "n_draws")}
    found = consistency(labels, copies, rng=rng, **chosen)
    sets = None if found.cross.n_pages == 0 else _overlap(labels, copies, options["relevant"])
    records = found.records()
    pairs = [] if sets is None else [{key: each[key] for key in OVERLAP_KEYS} for each in sets.records()]
    words = [*map(str, found.notes)]
    overlap = options["show"] == "overlap"
    out.finish(
        options["show"],
        lambda: Table.of(pairs, OVERLAP_KEYS) if overlap else _table(records, people=not out.for_machines),
        document={"consistency": records, "overlap": pairs, "warnings": words},
        figure=("agreement", "plot_consistency", found),
        notes=[found.sentence(), *([] if sets is None else [sets.sentence()]), *labels.notes, *words],
    )


def _overlap(labels: Judgments, copies: Duplicates | None, relevant: str | None) -> Overlap:
    from venire.agreement.overlap import overlap

    return overlap(labels, copies, relevant=relevant)


def _table(records: list[dict[str, Any]], *, people: bool) -> Table:
    """Lay records out; people see numbers that rest on few pairs in brackets."""
    from venire.kernels.shares import FEW_PAIRS

    rows = []
    for record in records:
        cells = [record[key] for key in KEYS]
        if people and record["pairs"] < FEW_PAIRS:
            cells[3:7] = [None if cell is None else f"({cell:.4f})" for cell in cells[3:7]]
        rows.append(cells)
    return Table(KEYS, rows)
