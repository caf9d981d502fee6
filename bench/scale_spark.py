"""Runs at scale on Spark: `python bench/scale_spark.py [N_ROWS ...] [--folder DIR] [--repeat N] [--costs FILE]`.

For each number of rows, runs and judgments are written as Parquet and scored by five measures on a cluster of two real
executors on this machine (`local-cluster[2,1,1024]`), each with 1 GB for Java and 1 GB for Python:

floor       the same shuffle and sort, and a `mapInArrow` that reads all rows and does nothing
venire      `venire.spark.evaluate`, end to end
pytrec_eval `applyInPandas` with pytrec_eval-terrier on the lists of each topic (at most `--peer-rows` rows)

They take turns, and the least time of each counts; the first turn of the first size, in which Java compiles, does not.
The start-up of each is its time on a run of one list with judgments of the same size.  Prints seconds, CPU seconds of
all processes, bars with and without start-up, bytes that are shuffled, and the largest memory of the driver (Python and
Java) so far.  On a machine with other work CPU seconds are meaningful, seconds are not.  Files are removed.  The last
line has the constants of `bench/spark_model.py`, which `--costs` writes to a file.  The bars are for `1e6 1e7 1e8`.
Java is needed.

`--equal` compares scores, agreement and disagreement on Spark with those on one machine instead (``spark_equal.py``).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

N_TOPICS, DEPTH, JUDGED = 1_000, 1_000, 300
TINY = DEPTH
"""Rows of the run on which start-up is measured: one list."""
MEASURES = ["nDCG@10", "AP", "RR", "P@10", "Rprec"]
PEER_MEASURES = {"ndcg_cut.10", "map", "recip_rank", "P.10", "Rprec"}
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executor.memory": "1024m",
    "spark.executor.pyspark.memory": "1g",
    "spark.executorEnv.MALLOC_ARENA_MAX": "1",
    "spark.sql.shuffle.partitions": "64",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def make(folder: Path, n_rows: int) -> None:
    """Write runs, a file per system in no order of topics, and judgments of some documents of each topic."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(n_rows)
    (folder / "runs").mkdir(parents=True)
    for system in range(max(n_rows // (N_TOPICS * DEPTH), 1)):
        n_lists = min(n_rows // DEPTH, N_TOPICS)
        topic = np.repeat(rng.permutation(N_TOPICS)[:n_lists], DEPTH)
        first, rank = np.repeat(rng.integers(0, 2_000, n_lists), DEPTH), np.tile(np.arange(DEPTH), n_lists)
        doc = topic * 2_000 + (first + 7 * rank) % 2_000
        frame = pl.DataFrame({"topic": topic, "doc": doc, "score": rng.random(len(topic))})
        frame.select(
            *(pl.format("q{}", "topic").alias("topic"), pl.format("doc{}", "doc").alias("doc")),
            *(pl.lit(f"system{system}").alias("system"), "score"),
        ).write_parquet(folder / "runs" / f"{system:04d}.parquet")
    topic = np.repeat(np.arange(N_TOPICS), JUDGED)
    place = np.concatenate([rng.permutation(2_000)[:JUDGED] for _ in range(N_TOPICS)])
    pl.DataFrame({"topic": topic, "doc": topic * 2_000 + place, "label": rng.integers(0, 4, len(topic))}).select(
        pl.format("q{}", "topic").alias("topic"), pl.format("doc{}", "doc").alias("doc"), "label"
    ).write_parquet(folder / "judgments.parquet")


def start(folder: Path) -> Any:
    """Start the cluster; its home is a copy by links, since executors write their logs there."""
    home = folder / "home"
    home.mkdir()
    for each in Path(str(importlib.util.find_spec("pyspark").origin)).parent.iterdir():  # type: ignore[union-attr]
        (home / each.name).symlink_to(each)
    os.environ |= {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.local.dir", str(folder / "local"))
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def nothing(batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    n = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"n": [n]})


def floor(spark: Any, folder: Path) -> float:
    from venire.spark.evaluate import divided, runs_of
    from venire.spark.parts import LIST

    rows = divided(runs_of(spark.read.parquet(str(folder / "runs")), None), None, LIST)
    return float(sum(row.n for row in rows.mapInArrow(nothing, "n long").collect()))


def venire(spark: Any, folder: Path) -> float:
    from venire.spark import evaluate

    read = spark.read.parquet
    scores = evaluate(read(str(folder / "judgments.parquet")), read(str(folder / "runs")), MEASURES)
    return float(scores.values[:, :, 1].sum())


def pytrec_eval(spark: Any, folder: Path) -> float:
    qrels: dict[str, dict[str, int]] = {}
    for row in spark.read.parquet(str(folder / "judgments.parquet")).collect():
        qrels.setdefault(row.topic, {})[row.doc] = row.label
    known = spark.sparkContext.broadcast(qrels)

    def score(frame: Any) -> Any:
        import pandas as pd
        from pytrec_eval import RelevanceEvaluator

        topic = frame["topic"].iloc[0]
        judge = RelevanceEvaluator({topic: known.value.get(topic, {})}, PEER_MEASURES)
        rows = []
        for system, lists in frame.groupby("system"):
            found = judge.evaluate({topic: dict(zip(lists["doc"], lists["score"], strict=True))})
            rows.append({"system": system, "topic": topic, **found.get(topic, {})})
        return pd.DataFrame(rows, columns=["system", "topic", "ndcg_cut_10", "map", "recip_rank", "P_10", "Rprec"])

    runs = spark.read.parquet(str(folder / "runs"))
    schema = "system string, topic string, ndcg_cut_10 double, map double, recip_rank double, P_10 double, Rprec double"
    found = runs.groupBy("topic").applyInPandas(score, schema).collect()
    return float(sum(row.map for row in found))


def driver_memory(spark: Any) -> float:
    """Largest memory of the driver so far, Python and Java, in MB."""
    java = spark._jvm.java.lang.ProcessHandle.current().pid()
    status = Path(f"/proc/{java}/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    return (peak + resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024


def used_cpu(spark: Any) -> float:
    """CPU seconds of this process, of Java, and of all processes that they started."""
    fields = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
    known = {os.getpid(), int(spark._jvm.java.lang.ProcessHandle.current().pid())}
    while more := {pid for pid, each in fields.items() if int(each[1]) in known} - known:
        known |= more
    return sum(int(tick) for pid in known & fields.keys() for tick in fields[pid][11:15]) / os.sysconf("SC_CLK_TCK")


def shuffled_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("**/shuffle_*.data"))


@dataclass
class Times:
    """Least seconds and CPU seconds of each step on one size, bytes of a row in the shuffle, memory of the driver."""

    rows: float
    seconds: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)
    bytes: float = 0.0
    memory: float = 0.0

    def add(self, name: str, seconds: float, cpu: float) -> None:
        self.seconds[name] = min(seconds, self.seconds.get(name, seconds))
        self.cpu[name] = min(cpu, self.cpu.get(name, cpu))


def measured(spark: Any, folder: Path, repeat: int, *, first: bool, peer: bool) -> Times:
    """Time each step in turn; the first size has one turn more, in which Java compiles."""
    steps: list[Callable[[Any, Path], float]] = [floor, venire, *[pytrec_eval] * peer]
    found, answers = Times(float(folder.name)), dict[str, float]()
    for turn in range(repeat + first):
        for step in steps:
            before, begin, shuffled = used_cpu(spark), perf_counter(), shuffled_bytes(folder.parent)
            answers[step.__name__] = step(spark, folder)
            seconds, own = perf_counter() - begin, used_cpu(spark) - before
            if step is floor:
                found.bytes = max(found.bytes, (shuffled_bytes(folder.parent) - shuffled) / answers["floor"])
            if turn or not first:
                found.add(step.__name__, seconds, own)
    n_lists = answers["floor"] / DEPTH  # scores are rounded to single precision by trec_eval, so ties differ
    if peer and abs(answers["pytrec_eval"] - answers["venire"]) / n_lists > 1e-6:
        raise SystemExit(f"scores differ: {answers}")
    found.rows, found.memory = answers["floor"], driver_memory(spark)
    return found


def report(found: Times, start: Times) -> None:
    """Print times, and bars with and without start-up."""
    print(f"{found.rows:,.0f} rows, driver {found.memory:.0f} MB, shuffled {found.bytes:.1f} bytes a row")
    for name, seconds in found.seconds.items():
        cpu, begin = found.cpu[name], start.seconds[name]
        per = (cpu - start.cpu[name]) / found.rows * 1e6
        more = f"of which start-up {begin:.1f} s; CPU {cpu:.1f} s, {per:.2f} s per million rows after start-up"
        print(f"  {name:12s} {seconds:8.1f} s, {more}")
    for unit in ("seconds", "cpu"):
        whole, begin = getattr(found, unit), getattr(start, unit)
        for words, own in (("start-up included", whole), ("after start-up", _minus(whole, begin))):
            line = f"  {unit}, {words}: venire takes {own['venire'] / own['floor']:.2f} times the floor (at most 1.3)"
            if "pytrec_eval" in own:
                ours, theirs = (own[name] - own["floor"] for name in ("venire", "pytrec_eval"))
                times = f"{theirs / ours:.1f} times (at least 5)" if ours > 0 else "too few rows to tell"
                line += f"; above the floor {ours:.1f} s, pytrec_eval {theirs:.1f} s: {times}"
            print(line, flush=True)


def _minus(whole: dict[str, float], begin: dict[str, float]) -> dict[str, float]:
    return {name: each - begin[name] for name, each in whole.items()}


def growth(small: Times, large: Times, start: Times) -> None:
    """Print how time per row and memory grow between two sizes."""
    for unit in ("seconds", "cpu"):
        begin = getattr(start, unit)["venire"]
        one, other = ((getattr(each, unit)["venire"] - begin) / each.rows for each in (small, large))
        words = f"{unit} per row after start-up, {large.rows:.0e} rows against {small.rows:.0e}"
        print(f"{words}: {other / one:.2f} times (at most 1.2)")
    print(f"memory of the driver: {small.memory:.0f} MB, then {large.memory:.0f} MB")


def costs(found: Times, start: Times) -> dict[str, float]:
    """Return the constants of the model: CPU seconds per million rows after start-up, bytes of a row, and start-up."""
    per = {name: each / found.rows * 1e6 for name, each in _minus(found.cpu, start.cpu).items()}
    numbers = {"floor": per["floor"], "python": per["venire"] - per["floor"], "bytes": found.bytes}
    return {name: round(each, 3) for name, each in (numbers | {"start": start.seconds["venire"]}).items()}


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*", type=lambda text: int(float(text)), default=[10_000_000])
    parser.add_argument("--folder", default=None)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--peer-rows", type=lambda text: int(float(text)), default=10_000_000)
    parser.add_argument("--costs", type=Path, default=None, help="write the constants of bench/spark_model.py here")
    parser.add_argument("--equal", action="store_true", help="compare results with those of one machine instead")
    options = parser.parse_args(words)
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        print("skipped: the part on Spark needs Java 17")
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        spark = start(Path(name))
        try:
            if options.equal:
                from spark_equal import compare

                compare(spark, Path(name))
            else:
                timed(spark, Path(name), options)
        finally:
            spark.stop()


def timed(spark: Any, place: Path, options: argparse.Namespace) -> None:
    """Time all sizes, start-up first."""
    found: list[Times] = []
    for n_rows in (TINY, *options.rows):
        folder = place / f"{n_rows}"
        make(folder, n_rows)
        peer = n_rows <= options.peer_rows
        found.append(measured(spark, folder, options.repeat, first=not found, peer=peer))
        shutil.rmtree(folder)
        if len(found) > 1:
            report(found[-1], found[0])
    if len(found) > 2:
        growth(*found[-2:], found[0])
    text = json.dumps(costs(found[-1], found[0]))
    print(f"constants of bench/spark_model.py: {text}")
    if options.costs is not None:
        options.costs.write_text(text + "\n")


if __name__ == "__main__":
    main()
