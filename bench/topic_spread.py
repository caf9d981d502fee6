"""How far topics differ in the residuals of a prediction of labels: `python bench/topic_spread.py`.

Corrected scores (``comparison.residual_model``) estimate this deviation, in log-odds, from the labels of the reference,
with a prior.  Here it is the one of highest likelihood, from all labels, for references and judges other than those of
``bench/corrected.py`` and ``bench/plan.py``: NIST and workers in VENIRE_DATA/rf10_crowd (the mean of their labels, and
the mirror), and each of four language models by each other one in VENIRE_DATA/dl21_full.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl

from venire.comparison.residual_model import Linearised, Thresholds, item_features, topic_likelihoods
from venire.disagreement.reference_labels import matrix_rows

MODELS = ("gpt4_umbrela", "mistral_p18", "mistral_p26", "llama3.2_p19")
DEVIATIONS = np.exp(np.linspace(np.log(0.2), np.log(2.5), 60))


def most_likely(table: pl.DataFrame, least: int) -> float:
    """Return the deviation between topics; columns topic, reference, judge; relevant from a label on."""
    table = table.drop_nulls().sort("topic")
    reference, group = (table[name].cast(pl.Int64).to_numpy() for name in ("reference", "judge"))
    n_labels, n_items = int(max(reference.max(), group.max())) + 1, len(table)
    shares = np.eye(n_labels)[reference]
    rows = matrix_rows(shares, group, ordered=True)[group]
    thresholds = Thresholds.of(rows, shares, (np.arange(n_labels) >= least).astype(float))
    features = item_features(np.ones((1, n_items)), group)
    around, gain = Linearised.at(thresholds, np.zeros(n_items)), thresholds.known @ thresholds.steps
    found = topic_likelihoods(around, gain, features, topic=table["topic"].to_numpy(), deviations=DEVIATIONS)
    return float(DEVIATIONS[found.argmax()])


def of_workers(folder: Path) -> Iterator[tuple[str, float]]:
    labels = pl.read_csv(folder / "trec-rf10-data.tsv.gz", separator="\t").filter(
        pl.col("label") >= 0, pl.col("gold") >= 0
    )
    means = labels.group_by("topicID", "docID").agg(pl.col("gold").first(), (pl.col("label").mean() + 0.5).floor())
    for least in (1, 2):
        for reference, judge in permutations(("gold", "label")):
            table = means.select(topic="topicID", reference=reference, judge=judge)
            yield f"rf10: {reference} >= {least} by {judge}", most_likely(table, least)


def of_models(folder: Path) -> Iterator[tuple[str, float]]:
    labels = pl.read_csv(folder / "judges.tsv.gz", separator="\t")
    for reference, judge in permutations(MODELS, 2):
        table = labels.select(topic="qid", reference=reference, judge=judge)
        yield f"dl21: {reference} >= 2 by {judge}", most_likely(table, 2)


def main() -> None:
    data = Path(os.environ["VENIRE_DATA"])
    found = [*of_workers(data / "rf10_crowd"), *of_models(data / "dl21_full")]
    for name, deviation in found:
        print(f"{name:<45} {deviation:.2f}")
    logarithm = np.log([deviation for _, deviation in found])
    print(f"geometric mean {np.exp(logarithm.mean()):.2f}, deviation of the logarithm {logarithm.std(ddof=1):.2f}")


if __name__ == "__main__":
    main()
