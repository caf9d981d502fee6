"""The local engine: partitions are processed by threads, results come in the order of the partitions.

The functions are pure and spend their time in numpy or C, where the interpreter lock is released.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from venire.engine.seam import Fact, Job

if TYPE_CHECKING:
    from concurrent.futures import Future

Part = TypeVar("Part")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Local:
    """The engine of this machine; workers: number of threads, None for one per core."""

    workers: int | None = None

    def run(self, job: Job[Part, Fact], parts: Iterable[Part]) -> Fact:
        """Apply a job to all parts by threads, and merge the facts."""
        with closing(map_partitions(job.facts, parts, workers=self.workers)) as facts:
            return job.merged(list(facts))


def map_partitions(
    function: Callable[[Part], Answer],
    parts: Iterable[Part],
    *,
    workers: int | None = None,
    stop: Callable[[], None] | None = None,
) -> Generator[Answer, None, None]:
    """Apply a function to every part; only a few parts per worker are held at a time.

    Close the generator where it may be left early (``contextlib.closing``), so that its threads end in time.
    stop: called where it is left early, by an interrupt too, to end the calls of the function that are under way.
    """
    workers = workers or os.cpu_count() or 1
    waiting_parts = iter(parts)
    first = list(islice(waiting_parts, 2))
    if workers == 1 or len(first) < 2:
        yield from map(function, chain(first, waiting_parts))
    else:
        yield from _over_threads(function, chain(first, waiting_parts), workers, stop)


def _over_threads(
    function: Callable[[Part], Answer], parts: Iterator[Part], workers: int, stop: Callable[[], None] | None
) -> Generator[Answer, None, None]:
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(workers)
    waiting: deque[Future[Answer]] = deque()
    try:
        for part in parts:
            waiting.append(pool.submit(function, part))
            if len(waiting) > workers + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BaseException:
        if stop is not None:
            stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
