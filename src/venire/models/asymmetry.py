"""Asymmetry: does it matter who of two assessors, or groups, is observed and who stands for users?

Demeester et al. (2015), Section 5.2.1: assessors differ in how much they find relevant, and then p(U1=R|U2=i) and
p(U2=R|U1=i) differ, while Eq. (5) averages them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.data.judgments import Judgments
from venire.kernels.resample import resampled_sums, topic_weights
from venire.models.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.types import Floats, RNGLike


@dataclass(frozen=True, eq=False)
class Asymmetry:
    """Both one-sided fits, and their difference (relevant, label) with its 95 % interval over resampled topics."""

    forth: PredictedRelevanceFit
    back: PredictedRelevanceFit
    difference: Floats
    low: Floats
    high: Floats


def asymmetry(
    judgments: Judgments,
    setting: PredictedRelevance,
    *,
    observed: Sequence[str],
    reference: Sequence[str],
    rng: RNGLike = 0,
) -> Asymmetry:
    """Fit one-sided in both directions, and compare; pairs of a topic stay together when topics are resampled."""
    one_sided = replace(setting, estimator="one-sided", prior=0.0)
    forth = replace(one_sided, observed=observed, reference=reference).fit(judgments, rng=rng)
    back = replace(one_sided, observed=reference, reference=observed).fit(judgments, rng=rng)
    there = forth.by_topic.sum(axis=(1, 2)) > 0
    weights = topic_weights(int(there.sum()), max(setting.n_draws, 2), np.random.default_rng(rng))
    drawn = [_shares(resampled_sums(fit.by_topic[there], weights), fit) for fit in (forth, back)]
    with np.errstate(all="ignore"):
        low, high = np.nanquantile(drawn[0] - drawn[1], [0.025, 0.975], axis=0)
    return Asymmetry(forth, back, forth.p - back.p, low, high)


def _shares(counts: Floats, fit: PredictedRelevanceFit) -> Floats:
    """Shares of hits from counts (draw, first, second) -> (draw, relevant, label)."""
    hits = np.einsum("dij,rj->dri", counts, fit.relevant.labels.astype(np.float64))
    n = counts.sum(axis=2)[:, None]
    return np.where(n > 0, hits / np.where(n > 0, n, 1), np.nan)
