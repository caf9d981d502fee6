"""Numbers of papers beside ours: a table is a function from a cell's name to its value, and what the paper has there.

A cell is of one of three kinds.

    printed   a number that the paper prints
    stated    what the paper says in words; ours is yes or no, or a number that was put into words
    implied   what follows from a formula of the paper or from its correction, and is not printed

The tolerance is the paper's rounding, half a unit of the last printed digit; whole numbers, fractions and yes or no are
exact, and a fraction that is computed as counts must have the same counts.  ``known`` holds the reason for every cell
that does not come out.  ``needs`` is a data set, a folder of the one that VENIRE_DATA names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import polars as pl

from venire import Judgments, read_judgments

NAMES = ("turpin2009", "demeester2014", "golbus2014", "demeester2015", "chu2021")
PAGES = Path(__file__).parents[2] / "docs" / "papers"
HEADER = "| cell | kind | paper | Venire | holds |\n| --- | --- | --- | --- | --- |\n"
SLACK = 1e-9
"""Floating-point error that is allowed where the paper's value is exact."""


class Ratio(NamedTuple):
    """A fraction as counts: 4/10 is not 2/5."""

    hits: int
    pairs: int

    def __float__(self) -> float:
        return self.hits / self.pairs

    def __str__(self) -> str:
        return f"{self.hits}/{self.pairs}"


Value = float | Ratio


@dataclass(frozen=True)
class Row:
    """A cell as in the paper and as computed; ``ours`` is None where the data are missing."""

    cell: str
    kind: str
    text: str
    ours: Value | None
    known: str | None

    @property
    def holds(self) -> bool:
        value, within = read_text(self.text)
        same_counts = not isinstance(self.ours, Ratio) or str(self.ours) == self.text
        return self.ours is not None and abs(float(self.ours) - value) <= within + SLACK and same_counts

    @property
    def shown(self) -> str:
        """Our value in the form of the paper's, with two digits more."""
        if isinstance(self.ours, Ratio | bool):
            return {"True": "yes", "False": "no"}.get(str(self.ours), str(self.ours))
        if "/" in self.text or self.text.replace(",", "").isdigit():
            return f"{self.ours:,.6g}"
        if self.text.endswith("%"):
            return f"{self.ours:.2%}"
        return f"{self.ours:.{len(self.text.partition('.')[2]) + 2}f}"

    @property
    def markdown(self) -> str:
        verdict = "yes" if self.holds else f"known: {self.known}" if self.known else "no"
        return f"| {self.cell} | {self.kind} | {self.text} | {self.shown} | {verdict} |\n"


@dataclass(frozen=True)
class Table:
    """A table, figure or sentence of a paper; ``slow`` if it takes minutes."""

    paper: str
    where: str
    title: str
    compute: Callable[[str], Value]
    cells: Mapping[str, tuple[str, str]]
    known: Mapping[str, str]
    needs: str | None = None
    slow: bool = False

    @property
    def name(self) -> str:
        return f"{self.where}: {self.title}"

    @property
    def missing(self) -> str | None:
        """Why it cannot be computed."""
        there = self.needs is None or (os.environ.get("VENIRE_DATA") and data(self.needs).is_dir())
        return None if there else f"real data: set VENIRE_DATA to the folder that holds {self.needs}"

    def row(self, cell: str) -> Row:
        return Row(cell, *self.cells[cell], self.compute(cell), self.known.get(cell))

    @property
    def rows(self) -> list[Row]:
        return [self.row(cell) for cell in self.cells]


@dataclass(frozen=True)
class Paper:
    """The tables of a paper, in its order."""

    name: str
    tables: list[Table] = field(default_factory=list)

    def table(
        self, where: str, title: str, *, known: Mapping[str, str] | None = None, needs=None, slow=False, **cells
    ) -> Callable[[Callable[[str], Value]], Callable[[str], Value]]:
        """Make a function the table of these cells, ``kind={cell: text}``."""
        kinds = {cell: (kind, text) for kind, texts in cells.items() for cell, text in texts.items()}

        def add(compute: Callable[[str], Value]) -> Callable[[str], Value]:
            self.tables.append(Table(self.name, where, title, compute, kinds, known or {}, needs, slow))
            return compute

        return add


def read_text(text: str) -> tuple[float, float]:
    """Read a number of a paper: its value, and the rounding of its last digit.

    >>> read_text(".49"), read_text("39%")[0], read_text("2,738"), read_text("2/4"), read_text("yes")
    ((0.49, 0.005), 0.39, (2738.0, 0.0), (0.5, 0.0), (1.0, 0.0))

    """
    if text in ("yes", "no"):
        return float(text == "yes"), 0.0
    if "/" in text:
        return float(Fraction(text)), 0.0
    unit = 0.01 if text.endswith("%") else 1.0
    digits = text.removesuffix("%").replace(",", "")
    decimals = len(digits.partition(".")[2])
    return float(digits) * unit, 0.0 if decimals == 0 and unit == 1 else 0.5 * unit * 10**-decimals


def all_tables() -> list[Table]:
    """Return the tables of all papers."""
    return [table for name in NAMES for table in import_module(f"papers.{name}").PAPER.tables]


def yes(*cells: str) -> dict[str, str]:
    """Return cells in which the paper says yes."""
    return dict.fromkeys(cells, "yes")


def data(name: str) -> Path:
    """Return the folder of a data set."""
    return Path(os.environ["VENIRE_DATA"]) / name


@cache
def rf10_frame() -> pl.DataFrame:
    """Crowd labels of the TREC 2010 Relevance Feedback track beside the gold label of each item, as published."""
    return pl.read_csv(data("rf10_crowd") / "trec-rf10-data.tsv.gz", separator="\t")


@cache
def rf10() -> Judgments:
    """Results with six labels or more, of the crowd and gold alike, each taken as another person's; no broken links."""
    frame = rf10_frame()
    crowd = frame.select(topic="topicID", doc="docID", assessor="workerID", label="label")
    gold = frame.select(topic="topicID", doc="docID", assessor=pl.lit("gold"), label="gold").unique(maintain_order=True)
    judgments = read_judgments(pl.concat([crowd, gold]).filter(pl.col("label") >= 0), duplicate_labels="keep")
    return judgments.labelled(at_least=6).anonymous()


@cache
def fedweb13() -> Judgments:
    """Single judgments of pages, TREC FedWeb 2013."""
    return read_judgments(data("fedweb13") / "FW13-QRELS-RM.txt.gz", scale="0<1<3<7")
