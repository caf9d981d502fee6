"""How long Spark takes, on paper: `python bench/spark_model.py [COSTS.json]` prints the tables of the documentation.

Times of stages from measured constants (`bench/scale_spark.py --costs COSTS.json`), and a simulation of tasks that are
slower than others and of a topic with many rows.  Tasks go to the first free core, as Spark schedules them.
"""

from __future__ import annotations

import heapq
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CORES, BANDWIDTH = 4, 1.25e8
"""Of an executor: cores, and bytes per second that it reads from others (a shared line of 1 Gbit/s)."""
SLOW_SHARE, SLOW_FACTOR, SPREAD = 0.02, 4.0, 0.15
"""Share of tasks on slow cores, how much slower they are, and the spread (sd of the logarithm) of all others."""
AFTER = 0.5
"""Share of the floor after the shuffle: an assumption."""
TASK_START = 0.1
"""Seconds to start a task."""
N_DRAWS = 200


@dataclass(frozen=True)
class Costs:
    """Seconds of a core per million rows: the floor, and Python above it; bytes of a row in the shuffle; start-up (s).

    The floor is reading, the shuffle, the sort, and rows on their way to Python.
    """

    floor: float
    python: float
    bytes: float
    start: float

    @property
    def after(self) -> float:
        """Seconds of a core per million rows after the shuffle."""
        return AFTER * self.floor + self.python


def makespan(seconds: np.ndarray, n_cores: int) -> float:
    """Time until all tasks have ended, each on the first free core."""
    free = [0.0] * n_cores
    for each in seconds.tolist():
        heapq.heappush(free, heapq.heappop(free) + each)
    return max(free)


def stage(rows: np.ndarray, per_row: float, n_cores: int, rng: np.random.Generator, *, speculation: bool) -> float:
    """Simulate a stage: rows of each task; with speculation, a task three times the median is started again."""
    work = rows * per_row
    seconds = work * np.exp(rng.normal(0, SPREAD, len(rows)))
    seconds[rng.random(len(rows)) < SLOW_SHARE] *= SLOW_FACTOR
    if speculation:
        late = seconds > 3 * max(np.median(seconds), 1e-9)
        seconds[late] = np.minimum(seconds[late], 3 * np.median(seconds) + work[late])
    return makespan(seconds + TASK_START, n_cores)


def predicted(n_rows: float, n_executors: int, costs: Costs) -> dict[str, float]:
    """Seconds of each step without slow tasks; reading from others overlaps with nothing."""
    cores, million = n_executors * CORES, n_rows / 1e6
    steps = {
        "before": million * (1 - AFTER) * costs.floor / cores,
        "network": n_rows * costs.bytes * (1 - 1 / n_executors) / (n_executors * BANDWIDTH),
        "after": million * AFTER * costs.floor / cores,
        "Python": million * costs.python / cores,
    }
    return steps | {"total": costs.start + sum(steps.values())}


def partitions(n_rows: float, n_parts: int, *, share: float, splits: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of each partition where one topic has a share of all rows, in some splits, and the others are even."""
    rows = rng.multinomial(1_000_000, np.full(n_parts, 1 / n_parts)) / 1e6 * n_rows * (1 - share)
    np.add.at(rows, rng.integers(0, n_parts, splits), n_rows * share / splits)
    return rows


def simulated(n_rows: float, n_executors: int, costs: Costs, *, share: float, splits: int, speculation: bool) -> float:
    """Mean seconds of the stage after the shuffle over many draws."""
    n_cores, per_row = n_executors * CORES, costs.after / 1e6
    found = []
    for seed in range(N_DRAWS):
        rng = np.random.default_rng(seed)
        rows = partitions(n_rows, 8 * n_cores, share=share, splits=splits, rng=rng)
        found.append(stage(rows, per_row, n_cores, rng, speculation=speculation))
    return float(np.mean(found))


def main(costs: Costs) -> None:
    print(costs)
    print("\n| rows | executors | before the shuffle | network | sort | Python | total |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for power in (9, 11):
        for n_executors in (10, 100):
            steps = predicted(10.0**power, n_executors, costs)
            print(f"| 10^{power} | {n_executors} | " + " | ".join(f"{each:,.0f}" for each in steps.values()) + " |")
    print("\n| | without speculation | with speculation |\n| --- | --- | --- |")
    even = costs.after * 1e3 / (10 * CORES)
    print(f"| all tasks alike | {even:.0f} | {even:.0f} |")
    for words, share, splits in (
        ("slow tasks", 0.0, 1),
        ("and a topic with half of the rows, whole", 0.5, 1),
        ("and the same topic in splits of 4 million rows", 0.5, 125),
    ):
        both = (simulated(1e9, 10, costs, share=share, splits=splits, speculation=each) for each in (False, True))
        print(f"| {words} | " + " | ".join(f"{each:.0f}" for each in both) + " |")


MEASURED = Costs(floor=1.013, python=0.405, bytes=14.235, start=2.413)
"""Constants by ``bench/scale_spark.py``."""

if __name__ == "__main__":
    main(Costs(**json.loads(Path(sys.argv[1]).read_text())) if len(sys.argv) > 1 else MEASURED)
