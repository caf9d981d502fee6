"""Do topics differ in p(R|i) as far as in the label itself? `python bench/label_spread.py`.

For every two of NIST and four language models in VENIRE_DATA/dl21_full, grades 2 or 3 or grade 3 alone as relevant, and
each label i of the first judge on 100 items or more: the intra-class correlation over topics of p(R|i) of the second
judge, over that of whether a label of the first judge is relevant (posterior means, ``planning.shares``).  Shares below
.02 or above .98 are left out.  Prints the geometric mean of the ratio, and the standard deviation of its logarithm.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl

from venire.planning.shares import CORRELATION, Prior, posterior
from venire.types import Bools, Ints

JUDGES = ("nist", "gpt4_umbrela", "mistral_p18", "mistral_p26", "llama3.2_p19")
FEWEST, LEAST = 100, 0.02


def correlation(topic: Ints, hit: Bools) -> float:
    """Posterior mean of the intra-class correlation of hits over topics."""
    n_topics = int(topic.max()) + 1
    hits, cases = np.bincount(topic, hit, minlength=n_topics), np.bincount(topic, minlength=n_topics)
    return float(posterior(hits, cases.astype(np.float64), Prior.vague()).sum(axis=0) @ CORRELATION)


def ratios(table: pl.DataFrame) -> Iterator[float]:
    """Yield the ratio of both correlations; columns topic, first, second."""
    topic, first, second = (table[name].to_numpy().astype(np.int64) for name in ("topic", "first", "second"))
    for least in (2, 3):
        if not LEAST < (first >= least).mean() < 1 - LEAST:
            continue
        of_label = correlation(topic, first >= least)
        for label in range(4):
            some = first == label
            if some.sum() >= FEWEST and LEAST < (second[some] >= least).mean() < 1 - LEAST:
                yield correlation(topic[some], second[some] >= least) / of_label


def main() -> None:
    table = pl.read_csv(Path(os.environ["VENIRE_DATA"]) / "dl21_full" / "judges.tsv.gz", separator="\t")
    table = table.with_columns(topic=pl.col(table.columns[0]).rank("dense") - 1)
    found = [
        ratio
        for one, other in permutations(JUDGES, 2)
        for ratio in ratios(table.select("topic", first=one, second=other).drop_nulls())
    ]
    log = np.log(found)
    print(f"{len(found)} shares: ratio {np.exp(log.mean()):.2f}, standard deviation of its logarithm {log.std():.2f}")


if __name__ == "__main__":
    main()
