"""venire papers: printed numbers of papers beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from venire.cli.options import output_options, rng_option
from venire.cli.output import Output
from venire.cli.rendering import Cell, Table, as_text
from venire.cli.sections import Command, option
from venire.papers import PAPERS, tables_of

if TYPE_CHECKING:
    from venire.papers.table import Checked, Value
    from venire.papers.table import Table as PaperTable

HOLDS, GATE = 0, 1
COLUMNS = ("paper", "table", "cell", "printed", "ours", "difference", "holds", "skipped")
EXAMPLES = """\b
Examples:
  venire papers
  venire papers check
  venire papers check demeester2015 --format json
  venire papers check chu2021 --full
"""


class Papers(Command, click.Group):
    """A group whose help lists its options in sections, and then its commands."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write both."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group("papers", cls=Papers, invoke_without_command=True, epilog=EXAMPLES)
@output_options()
@rng_option(used=False)
@click.pass_context
def command(ctx: click.Context, *, out: Output) -> None:
    """List the papers, and the tables of each that Venire computes."""
    if ctx.invoked_subcommand is not None:
        return
    rows: list[tuple[Cell, ...]] = [
        (paper, table.where, table.title, len(table.printed), table.needs)
        for paper in PAPERS
        for table in tables_of(paper)
    ]
    papers = [{"paper": paper, "citation": words} for paper, words in PAPERS.items()]
    out.table("tables", Table(("paper", "table", "title", "cells", "needs"), rows), beside={"papers": papers})
    out.notes(f"{paper}: {words}" for paper, words in PAPERS.items())


@command.command("check", cls=Command, epilog=EXAMPLES)
@click.argument("paper", required=False)
@option("--full", section="Size", is_flag=True, help="Run experiments at the size of the paper, which takes minutes.")
@output_options()
@rng_option(used=False)
def check(*, paper: str | None, full: bool, out: Output) -> int:
    """Compute every printed number again, of all papers or of PAPER.

    Exits with 1 if one does not come out within the paper's rounding.  Numbers that are known not to, and numbers
    whose data are not at hand, are listed with the reason.  Simulations run at a reduced size.
    """
    from venire.papers.table import check as compute

    found = compute((table for name in ([paper] if paper else PAPERS) for table in tables_of(name)), full=full)
    if out.format == "json":
        out.json({"cells": [as_record(each) for each in found]})
    elif out.format == "table":
        out.text("\n".join("".join(f"{line}\n" for line in block) for block in in_words(found)))
    else:
        out.table("cells", as_table(found))
    missing = dict.fromkeys(each.skipped for each in found if each.holds is None and each.skipped)
    out.notes([sentence(found), *missing])
    return GATE if any(each.failed for each in found) else HOLDS


def as_record(checked: Checked) -> dict[str, Any]:
    """Return a cell as JSON holds it."""
    ours, difference = (_known(value) for value in (checked.ours, checked.difference))
    table = checked.table
    values = (table.paper, table.name, checked.cell, checked.printed, ours, difference, checked.holds)
    return dict(zip(COLUMNS, (*values, checked.skipped), strict=True))


def _known(value: Value | None) -> float | None:
    """Return a finite number as such, and nothing else."""
    return float(value) if value is not None and isfinite(float(value)) else None


def as_table(found: Sequence[Checked]) -> Table:
    """Return a row per cell, with a word for whether it holds."""
    records = [as_record(each) | {"holds": each.verdict} for each in found]
    return Table(COLUMNS, [list(record.values()) for record in records])


def in_words(found: Sequence[Checked]) -> Iterator[list[str]]:
    """Say what came of each table: its cells, and below them what one has to know."""
    for table, group in groupby(found, key=lambda each: each.table):
        cells = list(group)
        head = f"{table.paper}, {table.name}"
        if all(each.holds is None for each in cells):
            yield [head, f"  skipped: {cells[0].skipped}"]
            continue
        rows = [(each.cell, each.printed, each.shown, each.difference, each.verdict) for each in cells]
        shown = as_text(Table(("cell", "printed", "ours", "difference", "holds"), rows)).splitlines()
        yield [head, *(f"  {line}" for line in [*shown, *remarks(table, cells)])]


def remarks(table: PaperTable, cells: Sequence[Checked]) -> Iterator[str]:
    """Say what one has to know of a table: its note, another tolerance than rounding, findings."""
    if table.note:
        yield f"note: {table.note}"
    if table.tolerance is not None:
        yield f"tolerance {table.tolerance:g}, not the rounding: {table.reason}"
    yield from (f"known, {each.cell}: {each.skipped}" for each in cells if each.verdict == "known")


def sentence(found: Sequence[Checked]) -> str:
    """Count what holds."""
    n = {word: sum(each.verdict == word for each in found) for word in ("yes", "no", "known", "skipped")}
    return (
        f"of {len(found)} cells {n['yes']} hold and {n['no']} do not; {n['known']} are known not to, "
        f"{n['skipped']} were skipped"
    )
