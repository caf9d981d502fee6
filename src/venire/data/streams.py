"""Streams: random numbers of their own for each of many draws, the same however draws are divided among blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # numpy.random takes time to load
    from numpy.random import Generator, SeedSequence


def stream(seed: SeedSequence, number: int) -> Generator:
    """Random numbers of one draw, as ``seed.spawn`` would give its child of that number."""
    key = (*seed.spawn_key, number)
    return np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=key, pool_size=seed.pool_size))
