"""Resampling of topics as weights, so that sums over topics are one matrix product."""

from __future__ import annotations

import numpy as np

from venire.types import Floats

FEW_TOPICS = 10
"""With fewer topics, resampling estimates the variation between topics poorly."""


def topic_weights(n_topics: int, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw as many topics as there are, with replacement; how often each is drawn -> (draw, topic)."""
    drawn = rng.integers(n_topics, size=(n_draws, n_topics)) + n_topics * np.arange(n_draws)[:, None]
    return np.bincount(drawn.ravel(), minlength=n_draws * n_topics).reshape(n_draws, n_topics).astype(np.float64)


def resampled_sums(by_topic: Floats, weights: Floats) -> Floats:
    """Sum over the topics of every draw: by_topic (topic, ...), weights (draw, topic) -> (draw, ...)."""
    return (weights @ by_topic.reshape(len(by_topic), -1)).reshape(len(weights), *by_topic.shape[1:])
