"""Data frames of Spark as rows of known columns: which column is what, which rows are bad, how rows are collected.

Columns are recognised by their names, as in files (``io.tables.columns``).  A row is bad if its topic, document,
assessor or system is empty, its score is not a finite number, or its label is not on the scale.  Bad rows are left out,
counted and sampled by file (``BadRows``), or the first of them is an error (``strict``).
"""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from venire.errors import BadRowsWarning, FormatError, SettingError
from venire.io.tables.columns import (
    JSON_LINES,
    RUN_ROLES,
    SEPARATOR,
    Form,
    ending_of,
    find_columns,
    find_roles,
    missing_role,
)
from venire.results import Note, counted, first_few

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

MOST_FILES, MOST_SHOWN = 100, 3
"""Files whose bad rows are counted, and how many of them a note names."""
SMALL_BYTES = 1 << 23
"""A table of at most this size in its files is collected before its rows are counted."""


def start_session(master: str | None = None) -> SparkSession:
    """Return the active session, or start one; master: the cluster, as in "local[4]" or "spark://host:7077"."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise SettingError("Spark is not installed", hint='pip install "venire[spark]"') from None
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        hint = "install Java 17 or newer (Debian: openjdk-17-jre-headless), or set JAVA_HOME"
        raise SettingError("Spark needs Java, which is not installed", hint=hint)
    if (master or "local").startswith("local"):  # executors on this machine have what this process has
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("venire").config("spark.ui.showConsoleProgress", "false")
    try:
        spark = (builder if master is None else builder.master(master)).getOrCreate()
    except Exception as error:  # of Java, in many classes
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise SettingError(f"Spark did not start: {reason}", hint="check the URL of the master") from None
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def read_table(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Read Parquet, or by the ending of the first path CSV, TSV or JSON lines; paths are those of Spark."""
    from pyspark.errors import AnalysisException

    ending, reader = ending_of(paths[0]), spark.read
    try:
        if ending in SEPARATOR:
            return reader.csv([*paths], header=True, sep=SEPARATOR[ending])
        return reader.json([*paths]) if ending in JSON_LINES else reader.parquet(*paths)
    except AnalysisException as error:
        reason = str(error).strip().splitlines()[0]
        hint = "expected Parquet, CSV, TSV or JSON lines at a path that the cluster can read"
        raise FormatError(", ".join(paths), None, f"cannot be read ({reason})", hint=hint) from None


def label_columns(frame: DataFrame, columns: Mapping[str, str] | None = None) -> DataFrame:
    """Select topic, doc, assessor and label as text, and facets and time where the frame has them."""
    from pyspark.sql import functions as F

    roles = find_columns(frame.columns, Form("judgments", layout="long", columns=dict(columns or {}))).roles
    known = [role for role in ("topic", "doc", "label", "intent", "aspect", "given", "unit", "task") if role in roles]
    chosen = {
        role: F.trim(text_of(frame, roles[role])) if role == "label" else text_of(frame, roles[role]) for role in known
    }
    chosen["assessor"] = text_of(frame, roles["assessor"]) if "assessor" in roles else F.lit("assessor")
    if "time" in roles:
        name = quoted(roles["time"])
        chosen["time"] = F.expr(f"coalesce(try_cast({name} AS DOUBLE), CAST(try_cast({name} AS TIMESTAMP) AS DOUBLE))")
    return frame.select(*(column.alias(role) for role, column in chosen.items()))


def run_columns(frame: DataFrame, *, order: str | None = None) -> DataFrame:
    """Select topic, system and doc as text, and score, by which documents are ranked: the negative rank without one."""
    from pyspark.sql import functions as F

    roles = find_roles(frame.columns, RUN_ROLES, where="runs")
    for role in ("topic", "doc", *["score"] * ("rank" not in roles), *["rank"] * (order == "rank")):
        if role not in roles:
            hint = f"name the column {role!r}"
            raise missing_role(role, RUN_ROLES, frame.columns, where="runs", line=None, hint=hint)
    by_rank = order == "rank" or "score" not in roles
    score = F.expr(f"try_cast({quoted(roles['rank' if by_rank else 'score'])} AS DOUBLE)")
    system = text_of(frame, roles["system"]) if "system" in roles else F.lit("run")
    return frame.select(
        text_of(frame, roles["topic"]).alias("topic"),
        system.alias("system"),
        text_of(frame, roles["doc"]).alias("doc"),
        (-score if by_rank else score).alias("score"),
    )


def quoted(name: str) -> str:
    """Return the name of a column as an expression of SQL."""
    return "`" + name.replace("`", "``") + "`"


def text_of(frame: DataFrame, name: str) -> Column:
    """Return a column as text."""
    return frame[quoted(name)].cast("string")


def any_of(conditions: Sequence[Column]) -> Column:
    """Return whether one of some conditions holds."""
    return reduce(lambda one, other: one | other, conditions)


def empty(*names: str) -> list[Column]:
    """Return for each column whether its cell is null or without text."""
    from pyspark.sql import functions as F

    return [F.coalesce(F.col(name), F.lit("")) == "" for name in names]


@dataclass(frozen=True, eq=False)
class BadRows:
    """Rows of a table that cannot be used: which they are."""

    table: str
    frame: DataFrame
    bad: Column

    @classmethod
    def of(cls, table: str, frame: DataFrame, conditions: Sequence[Column], *, strict: bool) -> BadRows:
        """Find bad rows by conditions; strict: raise at one of them, which takes one more pass over the table."""
        from pyspark.sql import functions as F

        found = cls(table, frame, F.coalesce(any_of(conditions), F.lit(True)))
        if strict:
            found.refuse()
        return found

    def without(self) -> tuple[DataFrame, Any]:
        """Return the other rows, and an observation that counts the bad ones (``n``) while these are read."""
        from pyspark.sql import Observation, functions as F

        count = Observation()
        return self.frame.observe(count, F.count(F.when(self.bad, 1)).alias("n")).filter(~self.bad), count

    def refuse(self) -> None:
        """Raise if there is a bad row."""
        for row in self._by_file(1):
            raise FormatError(row["file"] or self.table, None, f"a row cannot be used: {row['sample']}", hint=HINT)

    def notes(self, n: int) -> list[Note]:
        """Count bad rows by file, with a warning, where there are n of them; without any this costs nothing."""
        if not n:
            return []
        files = [(row["file"] or self.table, row["n"], row["sample"]) for row in self._by_file(MOST_FILES)]
        shown = first_few([f"{counted(k, 'row')} of {file}, such as {sample}" for file, k, sample in files], MOST_SHOWN)
        note = Note(
            "bad-rows",
            "{n:row} of the {table} not used: {shown}",
            n=n,
            table=self.table,
            shown=shown,
        )
        warnings.warn(str(note), BadRowsWarning, stacklevel=4)
        return [note]

    def _by_file(self, most: int) -> list[Any]:
        from pyspark.sql import functions as F

        sample = F.min(F.to_json(F.struct(*self.frame.columns), {"ignoreNullFields": "false"}))
        named = self.frame.withColumn("file", F.input_file_name()).filter(self.bad)
        counts = named.groupBy("file").agg(F.count("*").alias("n"), sample.alias("sample"))
        return counts.orderBy("file").limit(most).collect()


HINT = "correct or remove it; or count bad rows and leave them out (not strict)"


def is_small(frame: DataFrame) -> bool:
    """Whether Spark knows, before it reads a table, that it is small; not known for rows that are computed."""
    try:
        size = frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()
    except AttributeError:  # a session that is not of this process
        return False
    return int(str(size)) <= SMALL_BYTES


def collected(frame: DataFrame) -> pa.Table:
    """Collect a small table as Arrow."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    import pyarrow as pa

    return pa.Table.from_pandas(frame.toPandas())
