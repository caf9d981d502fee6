"""Judgments and click logs at scale: `python bench/scale.py [N_LABELS] [N_ROWS]`, or a step: `STEP FILE [N]`.

make        write N labels as Parquet, rows in no order: 20 assessors, five labels per item, 1,000 documents per topic
venire      read_judgments: codes of names in byte order, rows by item and assessor, repeated labels resolved
polars      the same columns as codes: the rank of each name among the distinct ones, and rows sorted by them
pandas      the same with pandas: factorize with sorting, and rows sorted by the codes
agreement, disagreement, evaluate   what they need on these labels, and what they print
clicks      read_clicks on a log of N rows that `bench/clicks.py make` wrote
polars_log, pandas_log   plain reading of the log, and its impressions and clicks by topic and document

--spark     runs on a cluster of two executors, in place of all this: `--spark 1e6 1e7 1e8` (``bench/scale_spark.py``)

Every step is a process of its own, one after the other.  Prints seconds, CPU seconds with those of the processes it
started, the peak of its memory, bytes a label that remain, and how long polars and pandas took, as multiples.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from machine import megabytes

N_LABELS, N_ROWS, N_ASSESSORS, PER_ITEM, PER_TOPIC, N_SYSTEMS, DEPTH = 10_000_000, 10_000_000, 20, 5, 1_000, 3, 20
MOST_SECONDS, MOST_MB, MOST_BYTES = 20.0, 6_000, 40.0
"""Bars of 10^8 labels: seconds on two cores, peak in MB, bytes a label."""


def make(path: Path, n_labels: int) -> None:
    """Write labels; an assessor judges an item once."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(n_labels)
    place = rng.permutation(n_labels).astype(np.int32)
    item, turn = place // PER_ITEM, place % PER_ITEM
    who = (item.astype(np.int64) * 7_919 + turn * 211) % N_ASSESSORS
    numbers = pl.DataFrame({"item": item, "who": who.astype(np.int16), "label": rng.integers(0, 4, n_labels, np.int8)})
    numbers.lazy().select(
        topic=pl.format("q{}", pl.col("item") // PER_TOPIC),
        doc=pl.format("doc{}", "item"),
        assessor=pl.format("worker{}", "who"),
        label="label",
    ).sink_parquet(path)


def bytes_of(judgments: Any) -> int:
    """Memory of the arrays and names of judgments."""
    items = judgments.items
    names = (items.topics, items.doc, judgments.assessor.names)
    codes = (items.topic, judgments.item, judgments.assessor.codes, judgments.label)
    return sum(each.nbytes for each in codes) + sum(part.nbytes for each in names for part in each.slices)


def venire(path: Path) -> dict[str, Any]:
    from venire import read_judgments

    judgments = read_judgments(path)
    return {"labels": len(judgments), "bytes": bytes_of(judgments) / len(judgments)}


def polars(path: Path) -> dict[str, Any]:
    import polars as pl

    frame = pl.read_parquet(path)
    codes = frame.select(pl.col("topic", "doc", "assessor").rank("dense").cast(pl.Int32), "label")
    codes = codes.sort("topic", "doc", "assessor")
    return {"labels": codes.height, "bytes": codes.estimated_size() / codes.height}


def pandas(path: Path) -> dict[str, Any]:
    import pandas as pd

    frame = pd.read_parquet(path)
    codes = pd.DataFrame({name: pd.factorize(frame[name], sort=True)[0] for name in ("topic", "doc", "assessor")})
    codes["label"] = frame["label"]
    codes = codes.sort_values(["topic", "doc", "assessor"])
    return {"labels": len(codes), "bytes": codes.memory_usage(deep=True).sum() / len(codes)}


def agreement(path: Path) -> dict[str, Any]:
    from venire import read_judgments
    from venire.agreement.alpha import alpha

    judgments = read_judgments(path)
    return {"labels": len(judgments), "found": alpha(judgments, n_draws=0).value}


def disagreement(path: Path) -> dict[str, Any]:
    from venire import PredictedRelevance, read_judgments

    judgments = read_judgments(path)
    fit = PredictedRelevance(relevant="2", estimator="labels").fit(judgments)
    return {"labels": len(judgments), "found": fit.p.round(4).tolist()}


def evaluate(path: Path) -> dict[str, Any]:
    import numpy as np

    from venire import evaluate as score, read_judgments
    from venire.data.ids import Category, Ids
    from venire.data.runs import Runs, RunTable

    judgments = read_judgments(path)
    items = judgments.items
    start = np.searchsorted(items.topic, np.arange(len(items.topics)))
    item = np.concatenate([start[:, None] + np.arange(n, n + DEPTH) for n in range(N_SYSTEMS)])
    system = np.repeat(np.arange(N_SYSTEMS, dtype=np.int32), len(start) * DEPTH)
    topic, doc = Category(items.topic[item.ravel()], items.topics), Category(item.ravel().astype(np.int32), items.doc)
    names = Ids.of(f"s{n}" for n in range(N_SYSTEMS))
    rank = -np.tile(np.arange(DEPTH, dtype=np.float64), len(start) * N_SYSTEMS)
    scores = score(judgments, Runs((RunTable("runs", Category(system, names), topic, doc, rank),)), per="assessor")
    return {"labels": len(judgments), "found": float(np.nanmean(scores.values))}


def clicks(path: Path) -> dict[str, Any]:
    from venire.io.clicks import read_clicks

    found = read_clicks(path)
    return {"labels": int(found.impressions.sum()), "found": int(found.satisfied.sum())}


def polars_log(path: Path) -> dict[str, Any]:
    import polars as pl

    log = pl.scan_csv(path, separator="\t").group_by("topic", "doc").agg(pl.len(), pl.col("clicked").sum())
    found = log.collect(engine="streaming")
    return {"labels": int(found["len"].sum()), "found": int(found["clicked"].sum())}


def pandas_log(path: Path) -> dict[str, Any]:
    import pandas as pd

    log = pd.read_csv(path, sep="\t", usecols=["topic", "doc", "clicked"])
    found = log.groupby(["topic", "doc"])["clicked"].agg(["size", "sum"])
    return {"labels": int(found["size"].sum()), "found": int(found["sum"].sum())}


STEPS: dict[str, Callable[[Path], dict[str, Any]]] = {
    each.__name__: each
    for each in (venire, polars, pandas, agreement, disagreement, evaluate, clicks, polars_log, pandas_log)
}


LOGS = ("clicks", "polars_log", "pandas_log")
RATIOS = [(ours, theirs) for ours, *others in (("venire", "polars", "pandas"), LOGS) for theirs in others]


def step(name: str, path: Path) -> None:
    """Take one step in this process, and print what it cost."""
    start = perf_counter()
    found = STEPS[name](path)
    seconds = perf_counter() - start
    if (decoder := sys.modules.get("venire.io.tables.parquet")) is not None:
        while decoder._WAITING:  # the work of a process counts when it has ended
            decoder._WAITING.pop().end()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(each.ru_utime + each.ru_stime for each in used)
    print(json.dumps({"seconds": seconds, "cpu": cpu, "peak": megabytes(used[0].ru_maxrss), **found}))


def whole(n_labels: int, n_rows: int) -> None:
    """Take all steps, and print a line for each."""
    with tempfile.TemporaryDirectory() as folder:
        labels, log = Path(folder) / "labels.parquet", Path(folder) / "log.tsv"
        subprocess.run([sys.executable, __file__, "make", labels, str(n_labels)], check=True)
        subprocess.run([sys.executable, Path(__file__).with_name("clicks.py"), "make", log, str(n_rows)], check=True)
        print(f"{n_labels:,} labels, {labels.stat().st_size / 1e6:.0f} MB; a log of {n_rows:,} rows")
        costs: dict[str, dict[str, Any]] = {}
        for name in STEPS:
            path = log if name in LOGS else labels
            done = subprocess.run([sys.executable, __file__, name, path], capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{name:14s} failed: {done.stderr.strip().splitlines()[-1:]}")
                continue
            cost = costs[name] = json.loads(done.stdout.splitlines()[-1])
            more = f"{cost['bytes']:.1f} bytes a label" if "bytes" in cost else f"{cost['found']}"
            print(f"{name:14s} {cost['seconds']:8.1f} s {cost['cpu']:8.1f} s CPU {cost['peak']:8.0f} MB  {more}")
        for ours, theirs in RATIOS:
            if ours in costs and theirs in costs:
                time, cpu, peak = (
                    f"{costs[theirs][each] / costs[ours][each]:.2f}" for each in ("seconds", "cpu", "peak")
                )
                print(f"{theirs} / {ours}: {time} of the time, {cpu} of the CPU, {peak} of the memory")
    print(f"bars at 10^8 labels: {MOST_SECONDS:.0f} s, {MOST_MB} MB, {MOST_BYTES:.0f} bytes a label")


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["--spark"]:
        import scale_spark

        scale_spark.main(words[1:])
    elif words and words[0] == "make":
        make(Path(words[1]), int(words[2]))
    elif words and words[0] in STEPS:
        step(words[0], Path(words[1]))
    else:
        whole(*(int(float(each)) for each in (words + [str(N_LABELS), str(N_ROWS)][len(words) :])[:2]))
