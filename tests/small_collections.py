"""A small generated collection, and whether two have the same labels."""

from __future__ import annotations

import numpy as np

from venire.simulation.levels import Collection, Synthetic
from venire.simulation.systems import Systems

SMALL = Synthetic(n_topics=6, docs_per_topic=30, n_unjudged=10, systems=Systems(depth=15))


def same_labels(one: Collection, other: Collection) -> bool:
    a, b = one.judgments, other.judgments
    return (
        np.array_equal(a.item, b.item) and a.assessor.texts() == b.assessor.texts() and np.array_equal(a.label, b.label)
    )
