"""Fits whose parameters are stated, and counts made with them."""

from __future__ import annotations

import warnings

import numpy as np

from venire import PredictedRelevance, Scale
from venire.data.scale import relevant_sets
from venire.disagreement.counting import count_relevant
from venire.disagreement.predicted_relevance import PredictedRelevanceFit
from venire.kernels.shares import Spread

SCALE = Scale.parse("Non<Rel<Key")
P_KEY, P_REL = (0.1, 0.25, 0.5), (0.2, 0.6, 0.9)


def stated_fit(*rows: tuple[float, ...], scale: Scale = SCALE, relevant: str = "all") -> PredictedRelevanceFit:
    """A fit whose parameters are stated, highest threshold first."""
    p, n = np.array(rows), np.full((len(rows), len(scale)), 1000.0)
    nothing = np.zeros_like(p)
    spread = Spread(p, p * n, n, nothing, nothing, nothing, p, p)
    setting = PredictedRelevance(relevant=relevant)
    counts = np.ones((1, len(scale), len(scale)))
    return PredictedRelevanceFit(setting, scale, relevant_sets(scale, relevant), spread, counts, 50)


FIT = stated_fit(P_KEY, P_REL)


def by_system(counts, relevant="Key"):
    return {each["system"]: each for each in counts.records() if each["relevant"] == relevant}


def quiet_count(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return count_relevant(*args, **options)


def read_table(qrels, assessor):
    import polars as pl

    rows = [(topic, doc, assessor, label) for topic, docs in qrels.items() for doc, label in docs.items()]
    return pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
