"""Asymmetry: does it matter who of two assessors, or groups, is observed and who stands for users?

Demeester et al. (2015), Section 5.2.1: assessors differ in how much they find relevant, and then p(U1=R|U2=i) and
p(U2=R|U1=i) differ, while Eq. (5) averages them.  The interval of the difference is Student's, with the spread over
resampled topics (a topic's pairs in both directions stay together) and the topics that have the label, less one, as
degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.data.judgments import Judgments
from venire.kernels.resample import resampled_sums, topic_weights
from venire.models.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.models.spread import LEVEL, sd_of_draws, shares
from venire.tabular import Records, Tabular, known
from venire.types import Floats, RNGLike


@dataclass(frozen=True, eq=False)
class Asymmetry(Tabular):
    """Both one-sided fits, and their difference (relevant, label) with its 95 % interval.

    NaN where a label has no pairs; the interval also where one topic has all of them.
    """

    forth: PredictedRelevanceFit
    back: PredictedRelevanceFit
    difference: Floats
    low: Floats
    high: Floats

    def sentence(self) -> str:
        """Say whether it matters who is observed, and for which label most."""
        notable = (self.low > 0) | (self.high < 0)
        if not notable.any():
            return "It makes no notable difference who of the two is observed."
        row, level = np.unravel_index(int(np.argmax(np.where(notable, np.abs(self.difference), -1.0))), notable.shape)
        first, second = (float(fit.p[row, level]) for fit in (self.forth, self.back))
        return (
            f"It matters who is observed: p({self.forth.relevant.names[row]}|{self.forth.scale.labels[level]}) is "
            f"{first:.2f} one way and {second:.2f} the other (difference {self.low[row, level]:+.2f} to "
            f"{self.high[row, level]:+.2f})."
        )

    def records(self) -> Records:
        """Return one row per notion of relevance and label, the highest first; None where nothing is known."""
        columns = {
            "observed_first": self.forth.p,
            "reference_first": self.back.p,
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
        }
        return [
            {"relevant": name, "label": label, **{key: known(each[row, level]) for key, each in columns.items()}}
            for row, name in enumerate(self.forth.relevant.names)
            for level, label in reversed(list(enumerate(self.forth.scale.labels)))
        ]


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
    half = _half_width(forth, back, n_draws=setting.n_draws, rng=np.random.default_rng(rng))
    difference = forth.p - back.p
    return Asymmetry(forth, back, difference, np.maximum(difference - half, -1), np.minimum(difference + half, 1))


def _half_width(
    forth: PredictedRelevanceFit, back: PredictedRelevanceFit, *, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Half the width of the interval -> (relevant, label): Student's t times the spread over resampled topics."""
    from scipy.special import stdtrit

    there = (forth.by_topic + back.by_topic).sum(axis=(1, 2)) > 0
    weights, labels = topic_weights(int(there.sum()), n_draws, rng), forth.relevant.labels
    one, other = (shares(resampled_sums(fit.by_topic[there], weights), labels) for fit in (forth, back))
    n_topics = ((forth.by_topic + back.by_topic).sum(axis=2) > 0).sum(axis=0)
    t = stdtrit(np.maximum(n_topics - 1, 1), (1 + LEVEL) / 2) * np.sqrt(n_topics / np.maximum(n_topics - 1, 1))
    return np.where(n_topics > 1, t * sd_of_draws(one - other), np.nan)
