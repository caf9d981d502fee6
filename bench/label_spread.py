"""How second labels depend on the first ones: `python bench/label_spread.py`.

For every two of NIST and 23 language models in VENIRE_DATA/dl21_full, relevant labels from 1, 2 or 3 on, and each label
i on 100 items or more: of every item, the label of one of both judges, drawn at random, is the first.  Prints the
constants of ``planning.labels`` of highest marginal likelihood, for all pairs of judges and for those of each half of
the judges:

- the prior of p(R|i): Beta, with a weight in pairs, around that of a judge who gives the same label with some
  probability, with another one a label near it, and else one at random;
- the intra-class correlation of p(R|i) over topics, given that of whether a first label is relevant: the exponents of
  the share of label i and of p(1 - p), and the standard deviation of its logarithm.

Pairs of judges share judges and items, so that standard errors cannot be given; the halves show how much is noise.
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
from scipy.special import logsumexp, softmax

from venire.planning.labels import LEAST
from venire.planning.shares import CORRELATION, P_GRID, Prior, correlations_like, posterior

FEWEST, LABELS, RARELY = 100, 4, 0.02
SHIFTS = np.linspace(-3, 3, 121)
"""Logarithms of factors of a correlation; others are rounded to these."""
FLAT = Prior(np.zeros(len(P_GRID)), np.zeros(len(CORRELATION)))


class Share(NamedTuple):
    """What is known of a share p(R|i).

    Whether label i is relevant, probability of a relevant label among those near i, share of i, share of relevant
    labels, probabilities of the correlation of the label, and likelihood of p and the correlation of p(R|i).
    """

    relevant: bool
    near: float
    share: float
    among: float
    of_label: np.ndarray
    likelihood: np.ndarray


def shares(table: pl.DataFrame, rng: np.random.Generator) -> Iterator[Share]:
    """Yield what two judges say; columns topic, one, other."""
    topic, one, other = (table[name].to_numpy().astype(np.int64) for name in ("topic", "one", "other"))
    turn = rng.random(len(topic)) < 0.5
    first, second = np.where(turn, other, one), np.where(turn, one, other)
    share = np.bincount(first, minlength=LABELS) / len(first)
    for least in range(1, LABELS):
        if not RARELY < (among := float(share[least:].sum())) < 1 - RARELY:
            continue
        of_label = counted(topic, first >= least, Prior.vague()).sum(axis=0)
        for label in range(LABELS):
            if (some := first == label).sum() >= FEWEST:
                near = share * (np.abs(np.arange(LABELS) - label) <= 1)
                likelihood = counted(topic[some], second[some] >= least, FLAT)
                yield Share(label >= least, near[least:].sum() / near.sum(), share[label], among, of_label, likelihood)


def counted(topic: np.ndarray, hit: np.ndarray, prior: Prior) -> np.ndarray:
    """Posterior of p and the correlation given cases."""
    cases = np.bincount(topic).astype(np.float64)
    return posterior(np.bincount(topic, hit), cases, prior)


def likelihoods(found: list[Share], near: float, same: float, weight: float, rare: float, middle: float, spread: float):
    """Logarithms of the marginal likelihood of each share, but for a constant."""
    relevant, of_near, share, among = (np.array([each[n] for each in found], dtype=float) for n in range(4))
    mean = same * relevant + near * of_near + (1 - same - near) * among
    a, b = weight * mean, weight * (1 - mean)
    p = (a[:, None] - 0.5) * np.log(P_GRID) + (b[:, None] - 0.5) * np.log(1 - P_GRID)
    p = np.exp(p - logsumexp(p, axis=1, keepdims=True))
    usual = -rare * np.log(np.maximum(share, LEAST)) - middle * np.log(among * (1 - among))
    shift = usual[:, None] + middle * np.log(P_GRID * (1 - P_GRID))
    place = np.clip(np.round((shift - SHIFTS[0]) / (SHIFTS[1] - SHIFTS[0])), 0, len(SHIFTS) - 1).astype(int)
    expected = np.stack(
        [np.exp(correlations_like(level, np.exp(SHIFTS), spread)) for level in np.eye(len(CORRELATION))]
    )
    by_shift = np.einsum("nk,kgl->ngl", np.stack([each.of_label for each in found]), expected)
    correlation = np.take_along_axis(by_shift, place[:, :, None], axis=1)
    return np.log(np.einsum("np,npl,npl->n", p, np.stack([each.likelihood for each in found]), correlation))


def fitted(found: list[Share]) -> dict[str, float]:
    """Constants of highest likelihood."""

    def constants(at: np.ndarray) -> dict[str, float]:
        same, near, _ = softmax([at[0], at[1], 0.0])
        return {
            **{"same": same, "near": near, "weight": np.exp(at[2])},
            **{"rare": at[3], "middle": at[4], "spread": np.exp(at[5])},
        }

    start = np.array([-1.5, 0.0, 1.6, 0.1, 0.3, -0.7])
    best = minimize(
        lambda at: -likelihoods(found, **constants(at)).mean(), start, method="Nelder-Mead", options={"fatol": 1e-5}
    )
    return constants(best.x)


def main() -> None:
    table = pl.read_csv(Path(os.environ["VENIRE_DATA"]) / "dl21_full" / "judges.tsv.gz", separator="\t")
    table = table.with_columns(topic=pl.col("qid").rank("dense") - 1)
    judges = [name for name in table.columns if name == "nist" or name.startswith(("gpt4_", "llama", "mistral"))]
    for name, some in (("all", judges), ("even", judges[::2]), ("odd", judges[1::2])):
        rng = np.random.default_rng(0)
        pairs = (table.select("topic", one=a, other=b).drop_nulls() for a, b in combinations(some, 2))
        found = [each for pair in pairs for each in shares(pair, rng)]
        constants = ", ".join(f"{key} {value:.2f}" for key, value in fitted(found).items())
        print(f"{name}: {len(found)} shares, {constants}", flush=True)


if __name__ == "__main__":
    main()
