"""Judgments at scale: `python bench/labels.py make|read FILE N_LABELS`.

make  write a long table in no order: 1,000 assessors, five labels per item, 1,000 documents per topic
read  read it and count labels per item; prints seconds of both and the peak in MB as JSON
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from time import perf_counter

from machine import megabytes


def make(path: Path, n_labels: int) -> None:
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(n_labels)
    item, who = rng.permutation(n_labels) // 5, rng.integers(0, 1_000, n_labels)
    numbers = pl.DataFrame({"item": item, "who": who, "label": rng.integers(0, 4, n_labels)})
    numbers.select(
        topic=pl.format("q{}", pl.col("item") // 1_000),
        doc=pl.format("doc{}", "item"),
        assessor=pl.format("worker{}", "who"),
        label="label",
    ).write_csv(path, separator="\t")


def read(path: Path, n_labels: int) -> None:
    from venire import read_judgments

    start = perf_counter()
    judgments = read_judgments(path)
    middle = perf_counter()
    counts = judgments.label_counts()
    end = perf_counter()
    if counts.sum() != n_labels:
        raise SystemExit(f"{path}: {counts.sum()} labels, {n_labels} were written")
    peak = megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(json.dumps({"work": middle - start, "count": end - middle, "peak": peak, "items": len(counts)}))


if __name__ == "__main__":
    {"make": make, "read": read}[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
