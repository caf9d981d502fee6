"""Topic influence: how much p(R|i) depends on the topics it was estimated from, and on which of them.

Demeester et al. (2015), Section 6.2 and Figure 2: topics are drawn anew with replacement, all pairs of a topic as often
as the topic is drawn, 300 times over.  Besides, every topic is left out once: by how much p(R|i) is higher with it than
without it is its influence.  Both come from counts of pairs by topic; nothing is fitted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.data.scale import Scale
from venire.errors import PairsError, SettingError
from venire.kernels.resample import resampled_sums, topic_weights
from venire.kernels.shares import shares
from venire.models.predicted_relevance import PredictedRelevanceFit
from venire.models.relevance import RelevantSets
from venire.tabular import Records, Tabular, known
from venire.types import Floats, Ints, RNGLike
from venire.words import counted

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
N_DRAWS = 300


@dataclass(frozen=True, eq=False)
class TopicInfluence(Tabular):
    """p (relevant, label), its quantiles (5, relevant, label) over drawn topics, and what each topic does to it.

    influence (topic, relevant, label): p with the topic less p without it, NaN where it alone has the label; pairs
    (topic, label); topics: those with pairs.
    """

    scale: Scale
    relevant: RelevantSets
    topics: tuple[str, ...]
    p: Floats
    quantiles: Floats
    influence: Floats
    pairs: Floats

    def strongest(self, row: int, level: int, *, most: int = 3) -> list[int]:
        """Numbers of the topics that move p(R|i) most, the strongest first."""
        moved = np.abs(self.influence[:, row, level])
        order: Ints = np.argsort(-np.nan_to_num(moved, nan=-1.0), kind="stable")[:most]
        return [int(topic) for topic in order if moved[topic] > 0]

    def sentence(self, row: int = 0) -> str:
        """Say which label depends most on its topics, and on which one."""
        width = self.quantiles[-1, row] - self.quantiles[0, row]
        level = int(np.nanargmax(width))
        name = f"p({self.relevant.names[row]}|{self.scale.labels[level]})"
        words = (
            f"With other topics {name} = {self.p[row, level]:.2f} would lie between "
            f"{self.quantiles[0, row, level]:.2f} and {self.quantiles[-1, row, level]:.2f} nine times in ten"
        )
        strongest = self.strongest(row, level, most=1)
        if not strongest:
            return f"{words}."
        topic = strongest[0]
        without = self.p[row, level] - self.influence[topic, row, level]
        return f"{words}; without topic {self.topics[topic]} it would be {without:.2f}."

    def records(self) -> Records:
        """Return one row per notion of relevance and label: p(R|i), and its quantiles over drawn topics."""
        names = [f"q{round(100 * level):02}" for level in LEVELS]
        return [
            {"relevant": relevant, "label": label, "p": known(self.p[row, level])}
            | {name: known(value) for name, value in zip(names, self.quantiles[:, row, level], strict=True)}
            for row, relevant in enumerate(self.relevant.names)
            for level, label in enumerate(self.scale.labels)
        ]


def topic_influence(
    fit: PredictedRelevanceFit, topics: Sequence[str], *, n_draws: int = N_DRAWS, rng: RNGLike = 0
) -> TopicInfluence:
    """Draw topics anew, and leave each out once; topics: names, as in the judgments that were fitted.

    Cost: one product of (draw, topic) and (topic, label x label).
    """
    if len(topics) != len(fit.by_topic):
        raise SettingError(
            f"{counted(len(topics), 'name')} for the {counted(len(fit.by_topic), 'topic')} of the fit",
            hint="give those of the judgments it was made from; a fit that was saved no longer knows its topics",
        )
    there = np.flatnonzero(fit.by_topic.sum(axis=(1, 2)) > 0)
    if len(there) < 2 or n_draws < 2:
        raise PairsError(
            f"{counted(len(there), 'topic')} with items judged twice, and {counted(n_draws, 'draw')}: "
            "nothing varies over topics",
            hint="judge items of more topics twice, and draw more than once",
        )
    counts = fit.by_topic[there]
    p, _ = shares(counts.sum(axis=0), fit.relevant.labels)
    without, _ = shares(counts.sum(axis=0) - counts, fit.relevant.labels)
    weights = topic_weights(len(there), n_draws, np.random.default_rng(rng))
    drawn, _ = shares(resampled_sums(counts, weights), fit.relevant.labels)
    return TopicInfluence(
        fit.scale,
        fit.relevant,
        tuple(topics[int(topic)] for topic in there),
        p,
        _quantiles(drawn),
        p - without,
        counts.sum(axis=2),
    )


def _quantiles(drawn: Floats) -> Floats:
    """Quantiles over the draws in which a label was there: drawn (draw, relevant, label) -> (5, relevant, label)."""
    found = np.full((len(LEVELS), *drawn.shape[1:]), np.nan)
    known = ~np.isnan(drawn).all(axis=0)
    found[:, known] = np.nanquantile(drawn[:, known], LEVELS, axis=0)
    return found
