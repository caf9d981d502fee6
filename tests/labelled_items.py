"""Judgments made from plain labels, item by item."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.data.scale import Scale
from venire.disagreement.many_labels import Heterogeneity, heterogeneity, kinds_of, labels_of_many, one_relevant


def labelled(items: Sequence[Sequence[int]], *, scale: str = "0<1<2", n_topics: int = 1) -> Judgments:
    """Each item's labels, by assessors 1, 2, ...; a label of -1 was not given."""
    rows = [(item, who, label) for item, labels in enumerate(items) for who, label in enumerate(labels) if label >= 0]
    item, who, label = np.array(rows, dtype=np.int32).reshape(-1, 3).T
    topic = np.sort(np.arange(len(items)) % n_topics).astype(np.int32)
    docs = Ids.of(f"d{number:06}" for number in range(len(items)))
    names = Ids.of(str(number) for number in range(1, max(map(len, items)) + 1))
    of = Items(Ids.of(f"t{number:04}" for number in range(n_topics)), topic, docs)
    return Judgments(Scale.parse(scale), of, item, Category(who, names), label)


def correlations(judgments: Judgments) -> Heterogeneity:
    """Return the correlation of two other users' opinions given a label, from all items with three labels."""
    pairs = labels_of_many(judgments)
    _, relevant = one_relevant(pairs, None)
    return heterogeneity(kinds_of(pairs.sides.first, relevant).with_labels(3), pairs.scale.labels)
