"""Runs: the rankings of any number of systems, as sources and rules; read when first needed.

A source is a file, or columns already in memory.  The rules say how lines become ranked lists; every one of them
can change a score, so all are named here and none is hidden in a reader.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from venire.data.facts import Facts
from venire.data.ids import Category
from venire.results import Records, Tabular, counted
from venire.types import Floats, Ints

ORDERS = ("score", "rank")
SCORE_TYPES = ("float64", "float32")
REPEATED = ("error", "first")
SYSTEM_FROM = ("tag", "file")


@dataclass(frozen=True, kw_only=True)
class RunRules:
    """How lines become lists.

    order : "score" (descending) or "rank" (the rank column, ascending); ties by document id, descending bytewise.
    score_type : "float64", or "float32" as in trec_eval 9 and pytrec_eval, where close scores become ties.
    repeated : a document twice in a list is an "error", or only its "first" line counts.
    system_from : the system is the run's "tag", or the name of its "file".
    """

    order: str = "score"
    score_type: str = "float64"
    repeated: str = "error"
    system_from: str = "tag"


@dataclass(frozen=True, eq=False)
class RunTable:
    """Runs in memory, all columns (row,); perhaps with ranks, and the lines of a file that rows stood on."""

    name: str
    system: Category
    topic: Category
    doc: Category
    score: Floats
    rank: Floats | None = None
    line: Ints | None = None


@dataclass(frozen=True, eq=False)
class Runs(Tabular):
    """Sources of runs and the rules to read them by."""

    sources: tuple[Path | RunTable, ...]
    rules: RunRules = RunRules()
    scanned: dict[int, Facts] = field(default_factory=dict, repr=False)
    """Facts by identity of the items they were scanned for: the memory of ``io.scanning.scan``."""

    def sentence(self) -> str:
        """Say in one line what is there."""
        return f"Runs from {counted(len(self.sources), 'source')}, ranked by {self.rules.order}"

    def records(self) -> Records:
        """Return one row per source; of those in memory how many systems and lines they have."""
        return [
            {"source": each.name, "kind": "memory", "systems": len(each.system.names), "lines": len(each.score)}
            if isinstance(each, RunTable)
            else {"source": each.name, "kind": "file", "systems": None, "lines": None}
            for each in self.sources
        ]

    def __repr__(self) -> str:
        names = [source.name for source in self.sources[:3]]
        more = ", ..." if len(self.sources) > 3 else ""
        return f"<Runs: {', '.join(names)}{more} ({counted(len(self.sources), 'source')})>"
