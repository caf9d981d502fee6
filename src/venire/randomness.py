"""Random numbers: seeds that can be reused, and a stream for each draw that does not depend on the size of blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from venire.types import RNGLike

if TYPE_CHECKING:
    from numpy.random import Generator, SeedSequence


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


def stream(seed: SeedSequence, number: int) -> Generator:
    """Return the generator of one draw, that of the child of this number of ``seed.spawn``."""
    key = (*seed.spawn_key, number)
    return np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=key, pool_size=seed.pool_size))
