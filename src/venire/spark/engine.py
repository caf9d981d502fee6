"""The engine of a cluster: a job is applied to the parts of every partition, where they are, and facts come back.

A task reads the rows of its partition as Arrow batches (``mapInArrow``), cuts them into parts, merges the facts of its
parts, and returns them as one row of bytes (``engine.seam.pack``).  Bad rows are left out and counted
(``parts.UsableRows``).  Spark runs a task again where an executor fails, and counts the answer of one attempt; facts do
not depend on the attempt.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from venire import errors
from venire.engine.seam import Fact, Job, pack, unpack
from venire.errors import FormatError, SettingError, VenireError
from venire.spark.parts import UsableRows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

Part = TypeVar("Part")
Cut = Callable[[Iterable["pa.RecordBatch"]], Iterator[Part]]
"""From the batches of a partition to parts."""
MOST_HELD = 16
"""Facts of so many parts are merged at a time."""
SCHEMA = "facts binary, n_bad long, fault string"


class Answer(NamedTuple, Generic[Fact]):
    """What a job found: the merged facts, None without rows, and how many rows were bad."""

    facts: Fact | None
    n_bad: int


@dataclass(frozen=True)
class Spark(Generic[Part]):
    """The engine of a cluster; cut: how the rows of a partition become parts."""

    cut: Cut[Part]

    def run(self, job: Job[Part, Fact], rows: DataFrame, kind: type[Fact]) -> Answer[Fact]:
        """Apply a job to all rows, which are divided as it asks for, and merge the facts."""
        from pyspark.errors import PythonException

        try:
            found = rows.mapInArrow(partial(task, job=job, cut=self.cut), SCHEMA).collect()
        except PythonException as error:
            if "No module named 'venire'" not in str(error):
                raise
            hint = "install it there, or set PYSPARK_PYTHON to a Python that has it"
            raise SettingError("the executors' Python does not have Venire", hint=hint) from None
        if faults := sorted(row.fault for row in found if row.fault is not None):
            raise _fault(**json.loads(faults[0]))
        facts = [unpack(kind, bytes(row.facts)) for row in found if row.facts is not None]
        return Answer(job.merged(facts) if facts else None, sum(row.n_bad for row in found))


def task(batches: Iterable[pa.RecordBatch], *, job: Job[Part, Fact], cut: Cut[Part]) -> Iterator[pa.RecordBatch]:
    """Compute the facts of a partition: one row, or none if it is empty; a user's mistake is a fault, not a failure."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # a task has one core, and threads take memory that Spark limits
    held: list[Fact] = []
    rows = UsableRows(batches)
    try:
        for part in cut(rows):
            held.append(job.facts(part))
            if len(held) > MOST_HELD:
                held = [job.merged(held)]
    except VenireError as error:
        for _ in batches:  # Spark expects that all of them are read
            pass
        where, what = (str(error.where), error.what) if isinstance(error, FormatError) else ("", error.message)
        about = {"kind": type(error).__name__, "where": where, "what": what, "hint": str(error.hint or "")}
        yield _answer(fault=json.dumps(about))
        return
    if held or rows.n_bad:
        yield _answer(pack(job.merged(held)) if held else None, rows.n_bad)


def _answer(facts: bytes | None = None, n_bad: int = 0, fault: str | None = None) -> pa.RecordBatch:
    import pyarrow as pa

    columns = [pa.array([facts], pa.binary()), pa.array([n_bad], pa.int64()), pa.array([fault], pa.string())]
    return pa.RecordBatch.from_arrays(columns, names=["facts", "n_bad", "fault"])


def _fault(kind: str, where: str, what: str, hint: str) -> VenireError:
    """Return the error that a task found; those whose arguments are not known here are of the general kind."""
    if where:
        return FormatError(where, None, what, hint=hint or None)
    known = getattr(errors, kind, VenireError)
    simple = known.__init__ is VenireError.__init__
    found: VenireError = (known if simple else VenireError)(what, hint=hint or None)
    return found
