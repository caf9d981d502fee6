"""Are results on Spark those of one machine?  `python bench/scale_spark.py --equal` prints the largest differences.

dl21_full   scores of all runs by all assessors
rf10_crowd  agreement, p(R|i), and scores of runs that are made of its documents
w2          scores of one run of 6,980,000 lines (``bench/workloads.py``)

Rows are shuffled, with 1, 2 and 7 partitions; judgments are sent to all executors, or divided with the runs.  The first
two are in the folder that VENIRE_DATA names, and skipped without it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

MEASURES = ["nDCG@10", "AP", "RR", "P@10", "Rprec"]
RUN = ["topic", "q0", "doc", "rank", "score", "system"]
DIVIDED: list[dict[str, int]] = [{"partitions": n} for n in (1, 2, 7)]
UNITED: list[dict[str, int]] = [{**each, "broadcast": 0, "split_rows": 3_000} for each in DIVIDED]
BAR = 1e-12


def compare(spark: Any, folder: Path) -> None:
    """Compare all collections; raise where a difference is above the bar."""
    data = Path(os.environ.get("VENIRE_DATA", ""))
    largest = []
    if (data / "dl21_full").is_dir():
        largest = [*dl21(spark, folder, data / "dl21_full"), *rf10(spark, folder, data / "rf10_crowd")]
    largest += [*w2(spark, folder)]
    print(f"largest difference of all: {max(largest):.1e} (at most {BAR:.0e})")
    if not max(largest) <= BAR:
        raise SystemExit("results differ")


def stored(spark: Any, frame: Any, path: Path) -> Any:
    """Write rows in random order, and read them as a data frame of Spark."""
    frame.sample(fraction=1.0, shuffle=True, seed=2).write_parquet(path)
    return spark.read.parquet(str(path))


def shown(words: str, differences: Iterable[float]) -> float:
    """Print the largest difference."""
    largest = float(np.max([*differences]))
    print(f"{words}: {largest:.1e}", flush=True)
    return largest


def difference(found: Any, expected: Any) -> float:
    """Return the largest difference of two arrays; infinite where one is NaN and the other is not."""
    one, other = (np.asarray(each, dtype=np.float64) for each in (found, expected))
    if one.shape != other.shape or (np.isnan(one) != np.isnan(other)).any():
        return np.inf
    return float(np.abs(np.nan_to_num(one) - np.nan_to_num(other)).max(initial=0.0))


def of_scores(found: Any, expected: Any) -> float:
    """Compare scores by name."""
    order = [found.names["system"].index(name) for name in expected.names["system"]]
    same = {**found.names, "system": ()} == {**expected.names, "system": ()}
    return difference(found.values[order], expected.values) if same else np.inf


def of_rows(found: Any, expected: Any) -> float:
    """Compare coefficients and their intervals."""
    columns = [[[row[key] for key in ("value", "low", "high")] for row in each.records()] for each in (found, expected)]
    return difference(*columns)


def of_fits(found: Any, expected: Any) -> float:
    """Compare p(R|i), intervals and counts of pairs."""
    names = ("p", "low", "high", "hits", "pairs")
    return max(difference(getattr(found.spread, name), getattr(expected.spread, name)) for name in names)


def w2(spark: Any, folder: Path) -> Iterable[float]:
    """Compare scores of one long run."""
    import polars as pl
    import workloads

    from venire import evaluate, read_judgments
    from venire.spark import evaluate as on_spark

    workloads.main(folder, ["w2"])
    place = folder / "w2"
    judgments = read_judgments(place / "qrels")
    expected = evaluate(judgments, place / "runs" / "dense.txt", MEASURES)
    text = dict.fromkeys(("topic", "doc"), pl.String)
    run = pl.read_csv(
        place / "runs" / "dense.txt", separator=" ", has_header=False, new_columns=RUN, schema_overrides=text
    )
    labels = stored(spark, judgments.to_polars(), folder / "w2-labels.parquet")
    lists = stored(spark, run.select("topic", "system", "doc", "score"), folder / "w2-runs.parquet")
    ways = [*DIVIDED, UNITED[-1]]
    yield shown("w2, scores", (of_scores(on_spark(labels, lists, MEASURES, **way), expected) for way in ways))


def dl21(spark: Any, folder: Path, place: Path) -> Iterable[float]:
    """Compare scores of all runs by all assessors, and agreement."""
    import polars as pl

    from venire import evaluate, read_judgments
    from venire.agreement import agreement_table
    from venire.spark import agreement, evaluate as on_spark

    judgments = read_judgments(place / "judges.tsv.gz")
    runs = pl.read_csv(place / "runs.trec.gz", separator=" ", has_header=False, new_columns=RUN).drop("q0", "rank")
    labels = stored(spark, judgments.to_polars(), folder / "dl21-labels.parquet")
    lists, how = stored(spark, runs, folder / "dl21-runs.parquet"), {"per": "assessor"}
    expected = evaluate(judgments, runs, MEASURES, **how)
    ways = [*DIVIDED, *UNITED]
    yield shown(
        f"dl21_full, scores {expected.values.shape}",
        (of_scores(on_spark(labels, lists, MEASURES, **how, **way), expected) for way in ways),
    )
    table = agreement_table(judgments)
    yield shown("dl21_full, agreement", (of_rows(agreement(labels, **way), table) for way in DIVIDED))


def rf10(spark: Any, folder: Path, place: Path) -> Iterable[float]:
    """Compare agreement, p(R|i) and scores on labels of a crowd."""
    import polars as pl

    from venire import PredictedRelevance, evaluate, read_judgments
    from venire.agreement import agreement_table
    from venire.agreement.table import BY_PATTERN
    from venire.spark import agreement, disagreement, evaluate as on_spark

    crowd = pl.read_csv(place / "trec-rf10-data.tsv.gz", separator="\t").filter(pl.col("label") >= 0)
    keep: dict[str, Any] = {"duplicate_labels": "keep"}
    judgments, labels = read_judgments(crowd, **keep), stored(spark, crowd, folder / "rf10.parquet")
    rows = judgments.to_polars().select("topic", "doc").unique(maintain_order=True)
    runs = pl.concat(
        rows.select("topic", "doc", system=pl.lit(f"s{seed}"), score=pl.col("doc").hash(seed) % 1000)
        for seed in range(5)
    ).with_columns(pl.col("score").cast(pl.Float64))
    lists, pooled = stored(spark, runs, folder / "rf10-runs.parquet"), {"pool": "mean", **keep}
    expected = evaluate(judgments, runs, MEASURES, pool="mean")
    found = (of_scores(on_spark(labels, lists, MEASURES, **pooled, **way), expected) for way in [*DIVIDED, *UNITED])
    yield shown(f"rf10_crowd, scores {expected.values.shape}", found)
    table = agreement_table(judgments.anonymous(), names=BY_PATTERN)
    tables = (agreement(labels, anonymous=True, names=BY_PATTERN, **way) for way in DIVIDED)
    yield shown("rf10_crowd, agreement", (of_rows(each, table) for each in tables))
    fit = PredictedRelevance(estimator="labels").fit(judgments)
    yield shown("rf10_crowd, p(R|i)", (of_fits(disagreement(labels, **keep, **way), fit) for way in DIVIDED))
