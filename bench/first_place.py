"""Does the best system come first on other topics as often as stated? `python bench/first_place.py [--halves N]`.

On TREC DL 2021 (VENIRE_DATA/dl21_full: 63 runs, 53 topics, NIST): 1,000 times, two sets of 26 topics are drawn at
random, and 5, 10 or all systems.  On one half, the system with the highest mean is the best, and the probability that
it comes first on other topics is stated: by the draws of ``verdict`` (another sample of as many topics), and by a plain
bootstrap.  On the other half, the best comes first or not; a first place shared by k systems counts 1/k.  Printed: mean
of the stated probabilities, share of first places, Brier score, and calibration error (ten bins).

With all systems the trials are no independent cases: of two systems with nearly the same mean over all 53 topics, the
one that is ahead on one half is behind on the other, and three of the 63 have the same first ten results.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from venire import evaluate, read_judgments, read_runs
from venire.comparison.forecast import TIE, other_topics, resampled

MEASURE, JUDGE, BINS = "nDCG@10", "nist", 10
DRAWS: dict[str, Callable[..., np.ndarray]] = {"other topics": other_topics, "plain bootstrap": resampled}


def first_places(means: np.ndarray, best: int) -> np.ndarray:
    """Share of the first place that a system has, in each row of means (..., system)."""
    top = means >= means.max(axis=-1, keepdims=True) - TIE
    return top[..., best] / top.sum(axis=-1)


def calibration_error(p: np.ndarray, y: np.ndarray) -> float:
    """Mean distance of stated and true shares over bins."""
    place = np.minimum((p * BINS).astype(int), BINS - 1)
    inside = [place == n for n in range(BINS)]
    return float(sum(abs(p[some].mean() - y[some].mean()) * some.mean() for some in inside if some.any()))


def trials(
    values: np.ndarray, n_systems: int, *, n_halves: int, n_draws: int
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return stated probabilities by sort of draws, and outcomes, each (half,); values (system, topic)."""
    rng = np.random.default_rng(7)
    stated: dict[str, list[float]] = {name: [] for name in DRAWS}
    outcomes = []
    half = values.shape[1] // 2
    for number in range(n_halves):
        systems = rng.choice(len(values), n_systems, replace=False)
        order = rng.permutation(values.shape[1])
        here, there = (values[np.ix_(systems, some)] for some in (order[:half], order[half : 2 * half]))
        best = int(here.mean(axis=1).argmax())
        outcomes.append(float(first_places(there.mean(axis=1), best)))
        for name, draw in DRAWS.items():
            stated[name].append(float(first_places(draw(here, n_draws, rng=number), best).mean()))
    return {name: np.array(each) for name, each in stated.items()}, np.array(outcomes)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halves", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--measure", default=MEASURE)
    asked = parser.parse_args()
    folder = Path(os.environ.get("VENIRE_DATA", "")) / "dl21_full"
    if not folder.is_dir():
        raise SystemExit("set VENIRE_DATA to the folder that holds dl21_full")
    warnings.simplefilter("ignore")
    labels, runs = read_judgments(folder / "judges.tsv.gz"), read_runs(folder / "runs.trec.gz")
    values = evaluate(labels, runs, asked.measure, assessor=JUDGE).values[:, :, 0]
    print(f"{'systems':>7}  {'draws':<16} {'stated':>7} {'true':>6} {'Brier':>7} {'calibration':>12}")
    for n_systems in (5, 10, len(values)):
        stated, y = trials(values, n_systems, n_halves=asked.halves, n_draws=asked.draws)
        for name, p in stated.items():
            scores = f"{p.mean():>7.3f} {y.mean():>6.3f} {((p - y) ** 2).mean():>7.4f} {calibration_error(p, y):>12.3f}"
            print(f"{n_systems:>7}  {name:<16} {scores}")


if __name__ == "__main__":
    main()
