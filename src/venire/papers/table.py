"""Tables of papers: what was printed, how Venire computes it, and whether the two agree.

The tolerance is the paper's rounding, half a unit of the last printed digit, never ours.  Whole numbers, fractions
and plain statements ("yes") are exact; a fraction that is computed as counts must have the same counts.  A table may
state another ``tolerance``, with the reason.  Where a printed number is known not to come out, ``findings`` say what
is known; such a cell is still computed and shown, and does not count as a failure.

Experiments of minutes have two sizes: ``compute`` is quick, ``at_full`` takes the paper's size and is used where that
is asked for.  A table without a quick form is skipped else, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from venire.errors import UnknownName
from venire.papers.real_data import absence

SLACK = 1e-9
"""What floating-point numbers may be off where the print is exact."""
STATEMENTS = ("yes", "no")
ONLY_FULL = "takes minutes, and is computed at full size only: venire papers check --full"


class Ratio(NamedTuple):
    """A fraction as counts: 4/10 is not 2/5."""

    hits: int
    pairs: int

    def __float__(self) -> float:
        return self.hits / self.pairs

    def __str__(self) -> str:
        return f"{self.hits}/{self.pairs}"


Value = float | Ratio


class Reading(NamedTuple):
    """A printed number: its value, and how far a computed one may be from it."""

    value: float
    within: float


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table, figure or sentence of a paper: cells as printed, and the function that computes a cell from its name.

    ``needs`` names the data set without which nothing can be computed; ``findings`` explain cells that are known to
    come out differently.  ``at_full`` computes a cell at the paper's size, None: as ``compute`` does; ``only_full``:
    there is no quick form.

    Examples
    --------
    >>> halves = Table(paper="us", where="Table 1", title="halves", compute=lambda n: int(n) / 2, printed={"3": "1.5"})
    >>> check_cell(halves, "3").holds
    True
    """

    paper: str
    where: str
    title: str
    compute: Callable[[str], Value]
    printed: Mapping[str, str]
    needs: str | None = None
    note: str = ""
    tolerance: float | None = None
    reason: str = ""
    findings: Mapping[str, str] = field(default_factory=dict)
    at_full: Callable[[str], Value] | None = None
    only_full: bool = False

    @property
    def name(self) -> str:
        """Where it stands in the paper, and what it is."""
        return f"{self.where}: {self.title}"

    def absence(self, *, full: bool) -> str | None:
        """Why its cells cannot be computed, or None."""
        if self.only_full and not full:
            return ONLY_FULL
        return None if self.needs is None else absence(self.needs)


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A cell as printed and as computed.

    ours, difference and holds are None where it was not computed; ``skipped`` says so, or states a finding.  Between
    statements ("yes") there is no difference.
    """

    table: Table
    cell: str
    ours: Value | None = None
    difference: float | None = None
    holds: bool | None = None
    skipped: str | None = None

    @property
    def printed(self) -> str:
        """The cell as the paper prints it."""
        return self.table.printed[self.cell]

    @property
    def failed(self) -> bool:
        """Whether it should hold and does not."""
        return self.holds is False and self.skipped is None

    @property
    def verdict(self) -> str:
        """Whether it holds: yes, no, known (it does not, and a finding says what is known), or skipped."""
        if self.holds is None:
            return "skipped"
        return "yes" if self.holds else "known" if self.skipped else "no"

    @property
    def shown(self) -> str:
        """Our value in the form of the print, with two digits more; a dash where there is none."""
        if self.ours is None:
            return "-"
        if isinstance(self.ours, Ratio | bool):
            return {"True": "yes", "False": "no"}.get(str(self.ours), str(self.ours))
        if "/" in self.printed or self.printed.replace(",", "").isdigit():
            return f"{self.ours:,.6g}"
        if self.printed.endswith("%"):
            return f"{self.ours:.2%}"
        return f"{self.ours:.{len(self.printed.partition('.')[2]) + 2}f}"


def read_printed(text: str) -> Reading:
    """Read a number as printed: its value, and the rounding of its last digit.

    Examples
    --------
    >>> read_printed(".49"), read_printed("39%").value, read_printed("2,738").value, read_printed("yes").value
    (Reading(value=0.49, within=0.005), 0.39, 2738.0, 1.0)
    """
    if text in STATEMENTS:
        return Reading(float(text == "yes"), SLACK)
    if "/" in text:
        return Reading(float(Fraction(text)), SLACK)
    unit = 0.01 if text.endswith("%") else 1.0
    digits = text.removesuffix("%").replace(",", "")
    decimals = len(digits.partition(".")[2])
    exact = decimals == 0 and unit == 1.0
    return Reading(float(digits) * unit, SLACK if exact else 0.5 * unit * 10**-decimals)


def check_cell(table: Table, cell: str, *, full: bool = False) -> Checked:
    """Compute a cell and hold it against the print; skip it, with a reason, where its data are missing.

    full: at the paper's size, where that differs.
    """
    if cell not in table.printed:
        raise UnknownName(f"cell of {table.name}", cell, table.printed)
    missing = table.absence(full=full)
    if missing is not None:
        return Checked(table=table, cell=cell, skipped=missing)
    compute = table.at_full if full and table.at_full is not None else table.compute
    ours, printed = compute(cell), table.printed[cell]
    difference = float(ours) - read_printed(printed).value
    difference = 0.0 if abs(difference) <= SLACK else difference
    holds = abs(difference) <= _within(table, printed) and (not isinstance(ours, Ratio) or str(ours) == printed)
    finding = table.findings.get(cell)
    shown = None if printed in STATEMENTS else difference
    return Checked(table=table, cell=cell, ours=ours, difference=shown, holds=holds, skipped=finding)


def check(tables: Iterable[Table], *, full: bool = False) -> list[Checked]:
    """Compute every cell of these tables; full: at the paper's size, where that differs."""
    return [check_cell(table, cell, full=full) for table in tables for cell in table.printed]


def _within(table: Table, printed: str) -> float:
    return (read_printed(printed).within if table.tolerance is None else table.tolerance) + SLACK
