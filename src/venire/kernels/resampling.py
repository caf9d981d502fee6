"""Resampling: whole topics drawn anew, as weights; sums over topics then are one matrix product."""

from __future__ import annotations

import numpy as np

from venire.types import Floats

FEW_TOPICS = 10
"""Fewer topics, drawn anew, say little of how far topics differ."""


def topic_weights(n_topics: int, n_draws: int, rng: np.random.Generator) -> Floats:
    """How often each topic is drawn, when as many are drawn as there are, with replacement -> (draw, topic)."""
    drawn = rng.integers(n_topics, size=(n_draws, n_topics)) + n_topics * np.arange(n_draws)[:, None]
    return np.bincount(drawn.ravel(), minlength=n_draws * n_topics).reshape(n_draws, n_topics).astype(np.float64)


def resampled_sums(by_topic: Floats, weights: Floats) -> Floats:
    """Sum over the topics of every draw: by_topic (topic, ...), weights (draw, topic) -> (draw, ...)."""
    return (weights @ by_topic.reshape(len(by_topic), -1)).reshape(len(weights), *by_topic.shape[1:])
