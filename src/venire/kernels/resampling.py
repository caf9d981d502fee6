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


def between_samples(n_topics: int) -> float:
    r"""Return by how much to widen a bootstrap over topics for the mean over another sample of as many topics.

    The mean over another sample of n topics differs from the mean over these by a variance of
    :math:`2 \sigma^2 / n`, as both means vary.  Resampled means vary by :math:`(n - 1) s^2 / n^2`, with :math:`s^2` the
    unbiased estimate of :math:`\sigma^2`.  The factor of the deviations is therefore :math:`\sqrt{2n / (n - 1)}`.

    Examples
    --------
    >>> between_samples(2)
    2.0
    """
    return float(np.sqrt(2 * n_topics / (n_topics - 1))) if n_topics > 1 else 1.0


def resampled_sums(by_topic: Floats, weights: Floats) -> Floats:
    """Sum over the topics of every draw: by_topic (topic, ...), weights (draw, topic) -> (draw, ...)."""
    return (weights @ by_topic.reshape(len(by_topic), -1)).reshape(len(weights), *by_topic.shape[1:])
