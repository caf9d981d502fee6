"""Head to head: on which topics one system beats another, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.measures.paired_scores import paired_scores
from venire.measures.scores import Scores
from venire.tabular import Tabular
from venire.types import Floats
from venire.words import counted


@dataclass(frozen=True, eq=False)
class HeadToHead(Tabular):
    """Topics that both systems have, the largest gain of a first; score_a, score_b, difference (topic,).

    ``missing`` are the topics that one of them lacks.
    """

    a: str
    b: str
    measure: str
    topics: tuple[str, ...]
    score_a: Floats
    score_b: Floats
    difference: Floats
    missing: tuple[str, ...] = ()

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many topics a wins, ties and loses."""
        wins, losses = int((self.difference > 0).sum()), int((self.difference < 0).sum())
        return wins, len(self.topics) - wins - losses, losses

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per topic, in order."""
        outcome = np.array(["loss", "tie", "win"])[np.sign(self.difference).astype(np.int64) + 1].tolist()
        rows = zip(
            self.topics, self.score_a.tolist(), self.score_b.tolist(), self.difference.tolist(), outcome, strict=True
        )
        return [dict(zip(("topic", "score_a", "score_b", "difference", "outcome"), row, strict=True)) for row in rows]

    def sentence(self) -> str:
        """Say who wins on how many topics, and where most."""
        if not self.topics:
            return f"{self.a} and {self.b} have no topic in common."
        wins, ties, losses = self.counts
        words = f"By {self.measure}, {self.a} beats {self.b} on {wins} of {counted(len(self.topics), 'topic')}"
        words += f", loses on {losses} and ties on {ties}"
        if wins:
            words += f"; it gains most on topic {self.topics[0]} ({self.difference[0]:+.4f})"
        if losses:
            words += f"; it loses most on topic {self.topics[-1]} ({self.difference[-1]:+.4f})"
        return f"{words}."


def head_to_head(scores: Scores, a: str, b: str, *, measure: str | None = None) -> HeadToHead:
    """List the topics of two systems by the difference of their scores, the largest gain of a first.

    Ties keep the order of the topics.  A difference below the twelfth digit of the scores is a tie.
    """
    paired = paired_scores(scores, measure, pairs=[(a, b)])
    there, difference = paired.differences.there[:, 0], paired.differences.value[:, 0]
    order = np.flatnonzero(there)[np.argsort(-difference[there], kind="stable")]
    one, other = paired.values[paired.a[0]], paired.values[paired.b[0]]
    return HeadToHead(
        a,
        b,
        paired.measure,
        tuple(paired.topics[topic] for topic in order),
        one[order],
        other[order],
        difference[order],
        tuple(paired.topics[topic] for topic in np.flatnonzero(~there)),
    )
