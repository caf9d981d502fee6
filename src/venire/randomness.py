"""Random numbers: seeds that can be reused, streams of draws that do not depend on the size of blocks, and resamples.

Topics are resampled as weights, so that sums over topics are one matrix product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from venire.types import Floats, RNGLike

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator, SeedSequence

FEW_TOPICS = 10
"""With fewer topics, resampling estimates the variation between topics poorly."""


def seed_of(rng: RNGLike) -> np.random.SeedSequence:
    """Return a seed that can be kept and used again."""
    if isinstance(rng, np.random.Generator):
        return cast("np.random.SeedSequence", rng.spawn(1)[0].bit_generator.seed_seq)
    return copied(rng) if isinstance(rng, np.random.SeedSequence) else np.random.SeedSequence(rng)


def copied(seed: np.random.SeedSequence) -> np.random.SeedSequence:
    """Return a copy of a seed, so that spawning does not change the original."""
    return np.random.SeedSequence(
        seed.entropy,
        spawn_key=seed.spawn_key,
        pool_size=seed.pool_size,
        n_children_spawned=seed.n_children_spawned,
    )


def named_seeds(seed: SeedSequence, parts: Sequence[str]) -> dict[str, SeedSequence]:
    """Spawn a seed for each part by its position, so that parts draw independently; ``seed`` is not changed."""
    return dict(zip(parts, copied(seed).spawn(len(parts)), strict=True))


def generators(seed: SeedSequence, number: int) -> list[Generator]:
    """Spawn so many generators; ``seed`` is not changed."""
    return [np.random.default_rng(each) for each in copied(seed).spawn(number)]


def stream(seed: SeedSequence, number: int) -> Generator:
    """Return the generator of one draw, that of the child of this number of ``seed.spawn``."""
    key = (*seed.spawn_key, number)
    return np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=key, pool_size=seed.pool_size))


def topic_weights(n_topics: int, n_draws: int, rng: Generator) -> Floats:
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
