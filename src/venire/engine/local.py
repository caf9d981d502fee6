"""The machine at hand: partitions shared out over threads, answers in the order of the questions.

The functions handed in are pure and spend their time inside numpy, which lets go of the interpreter while it works.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Answer = TypeVar("Answer")


def map_partitions(
    function: Callable[[Part], Answer], parts: Iterable[Part], *, workers: int | None = None
) -> Iterator[Answer]:
    """Apply a function to every part; only a few parts per worker are held at a time."""
    workers = workers or os.cpu_count() or 1
    if workers == 1:
        yield from map(function, parts)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Answer]] = deque()
        for part in parts:
            waiting.append(pool.submit(function, part))
            if len(waiting) > workers + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
