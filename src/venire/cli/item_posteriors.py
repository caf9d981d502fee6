"""Probabilities of relevance of single items, given all their labels, for venire disagreement --posterior."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from venire.data.judgments import Judgments
    from venire.disagreement.predicted_relevance import PredictedRelevanceFit
    from venire.disagreement.several_labels import ItemRelevance

SAME, DAWID_SKENE = "same", "dawid-skene"
COLUMNS = ("topic", "doc", "relevant", "labels", "probability")


def item_posteriors(labels: Judgments, fit: PredictedRelevanceFit, model: str) -> tuple[list[ItemRelevance], list[str]]:
    """Probabilities for every notion of relevance of the fit, and what to say about them.

    model: assessors are all the same (``disagreement.several_labels``), or each errs in their own way
    (``disagreement.dawid_skene``).
    """
    if model == DAWID_SKENE:
        from venire.disagreement.dawid_skene import DawidSkene

        latent = DawidSkene().fit(labels)
        found = [latent.relevance(name) for name in fit.relevant.names]
        words = [latent.sentence()]
    else:
        from venire.disagreement.several_labels import posterior

        found = [posterior(labels, fit, relevant=name) for name in fit.relevant.names]
        words = []
    return found, [*words, *(each.sentence() for each in found), *(str(note) for each in found for note in each.notes)]


def write_posteriors(labels: Judgments, found: Sequence[ItemRelevance], path: Path) -> None:
    """Write a line per notion of relevance and item that has a label; commas apart in a .csv, else tabs."""
    from venire.data.ids import Category
    from venire.io.lines import written

    text = io.StringIO()
    table = csv.writer(text, delimiter="," if ".csv" in path.suffixes else "\t", lineterminator="\n")
    table.writerow(COLUMNS)
    for each in found:
        rows = np.flatnonzero(each.n_labels > 0).astype(np.int32)
        topic, doc = Category(labels.items.topic[rows], labels.items.topics), Category(rows, labels.items.doc)
        numbers = each.n_labels[rows].tolist(), each.probability[rows].tolist()
        table.writerows(zip(topic.texts(), doc.texts(), [each.relevant] * len(rows), *numbers, strict=True))
    with written(path) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))
