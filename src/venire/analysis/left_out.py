"""Gains by a model for every topic, from what assessors said on all other topics (leave one topic out)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from venire.data.judgments import Judgments
from venire.models.gain_names import read_model
from venire.models.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.models.user_disagreement import at_least, udm_weights
from venire.types import Floats


def left_out_gains(names: Iterable[str], judgments: Judgments) -> dict[str, Floats]:
    """Gains of each topic by models fitted without it -> {name: (topic, label)}; NaN where others have no pairs.

    names: prm:LABEL, prm:LABEL:M/N, udm:M/N, udm:M/N:LABEL.  One pass over the labels per notion of relevance; leaving
    a topic out is a subtraction.
    """
    fits: dict[str | None, PredictedRelevanceFit] = {}
    gains = {}
    for name in names:
        model, relevant, share = read_model(name, judgments.scale)
        if relevant not in fits:
            fits[relevant] = PredictedRelevance(relevant=relevant, n_draws=0).fit(judgments)
        p, marked = _without_each(fits[relevant]), fits[relevant].relevant.labels[0]
        known = np.nan_to_num(p)
        worth = at_least(*share, known) if model == "prm" else udm_weights(*share, known, marked)
        if model == "udm" and judgments.scale.ordered and not marked[0]:
            worth[:, 0] = 0.0
        gains[name] = np.where(np.isnan(p), np.nan, worth)
    return gains


def _without_each(fit: PredictedRelevanceFit) -> Floats:
    """p(R|i) from all topics but one -> (topic, label); 0 for a lowest label that nobody judged twice."""
    others = fit.by_topic.sum(axis=0) - fit.by_topic
    hits, pairs = others[:, :, fit.relevant.labels[0]].sum(axis=2), others.sum(axis=2)
    p = np.divide(hits, pairs, out=np.full(hits.shape, np.nan), where=pairs > 0)
    p[:, 0] = np.nan_to_num(p[:, 0])
    return p
