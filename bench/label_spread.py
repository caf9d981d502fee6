"""How second labels depend on the first ones: `python bench/label_spread.py`.

For every two of NIST and 23 language models in VENIRE_DATA/dl21_full, relevant labels from 1, 2 or 3 on, and each label
i on 100 items or more: of every item, the label of one of both judges, drawn at random, is the first.  Prints, for all
pairs of judges and for those of each half of the judges,

- the prior of p(R|i) of highest likelihood: Beta, with a weight in pairs, around that of a judge who gives the same
  label with some probability, and else one at random;
- the intra-class correlation of p(R|i) over topics, over that of whether a first label is relevant (posterior means,
  ``planning.shares``): the exponent of the share of label i to which the ratio is in proportion, by least squares, and
  the standard deviation of the logarithm around that.  Shares p(R|i) below .02 or above .98 are left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.optimize import minimize
from scipy.special import betaln, expit

from venire.planning.shares import CORRELATION, Prior, posterior
from venire.types import Bools, Ints

FEWEST, LEAST = 100, 0.02


class Found(NamedTuple):
    """A share p(R|i): whether label i is relevant, its share, that of relevant labels, p(R|i), and the ratio or NaN."""

    relevant: bool
    share: float
    relevant_share: float
    p: float
    ratio: float


def correlation(topic: Ints, hit: Bools) -> float:
    """Posterior mean of the intra-class correlation of hits over topics."""
    n_topics = int(topic.max()) + 1
    hits, cases = np.bincount(topic, hit, minlength=n_topics), np.bincount(topic, minlength=n_topics)
    return float(posterior(hits, cases.astype(np.float64), Prior.vague()).sum(axis=0) @ CORRELATION)


def shares(table: pl.DataFrame, rng: np.random.Generator) -> Iterator[Found]:
    """Yield what two judges say; columns topic, one, other."""
    topic, one, other = (table[name].to_numpy().astype(np.int64) for name in ("topic", "one", "other"))
    turn = rng.random(len(topic)) < 0.5
    first, second = np.where(turn, other, one), np.where(turn, one, other)
    for least in (1, 2, 3):
        among = float((first >= least).mean())
        if not LEAST < among < 1 - LEAST:
            continue
        of_label = correlation(topic, first >= least)
        for label in range(4):
            some = first == label
            if some.sum() >= FEWEST:
                p = float((second[some] >= least).mean())
                known = LEAST < p < 1 - LEAST
                ratio = correlation(topic[some], second[some] >= least) / of_label if known else np.nan
                yield Found(label >= least, float(some.mean()), among, p, ratio)


def same_and_weight(found: np.ndarray) -> tuple[float, float]:
    """Probability of the same label, and weight, of highest likelihood."""
    relevant, _, among, p, _ = found.T
    p = np.clip(p, 0.002, 0.998)

    def loss(at: np.ndarray) -> float:
        same, weight = expit(at[0]), np.exp(at[1])
        a = weight * (same * relevant + (1 - same) * among)
        return -float(((a - 1) * np.log(p) + (weight - a - 1) * np.log(1 - p) - betaln(a, weight - a)).mean())

    same, weight = minimize(loss, [0.0, 1.0], method="Nelder-Mead").x
    return float(expit(same)), float(np.exp(weight))


def main() -> None:
    table = pl.read_csv(Path(os.environ["VENIRE_DATA"]) / "dl21_full" / "judges.tsv.gz", separator="\t")
    table = table.with_columns(topic=pl.col("qid").rank("dense") - 1)
    judges = [name for name in table.columns if name == "nist" or name.startswith(("gpt4_", "llama", "mistral"))]
    for name, some in (("all", judges), ("even", judges[::2]), ("odd", judges[1::2])):
        rng = np.random.default_rng(0)
        pairs = (table.select("topic", one=a, other=b).drop_nulls() for a, b in combinations(some, 2))
        found = np.array([each for pair in pairs for each in shares(pair, rng)], dtype=float)
        same, weight = same_and_weight(found)
        known = found[np.isfinite(found[:, 4])]
        x, y = np.log(known[:, 1]), np.log(known[:, 4])
        exponent = float(x @ y / (x @ x))
        spread = float(np.sqrt(((y - exponent * x) ** 2).mean()))
        print(
            f"{name}: {len(found)} shares, same label {same:.2f}, weight {weight:.1f}; {len(known)} correlations, "
            f"exponent {exponent:.2f}, spread {spread:.2f}"
        )


if __name__ == "__main__":
    main()
