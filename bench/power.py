"""Discriminative power: `python bench/power.py CONTENDER`; prints what it cost as JSON.

venire                 power_of: ASLs of all 666 pairs of 37 systems on 160 topics with 1,000 resamples of topics, the
                       share told apart and the difference required; scores in memory
scipy.stats.bootstrap  t of the shifted differences, vectorised, pair after pair; timed on a few pairs and taken times
                       666 / pairs
loop over resamples    what one writes first: topics drawn and t computed, resample after resample; likewise timed on a
                       few pairs

The sizes are those of the English subtask of NTCIR-15 WWW-3.  All work on one core.
"""
# ruff: noqa: E402 - how many cores numpy takes is settled before it is loaded

from __future__ import annotations

import json
import os
import resource
import sys
from time import perf_counter

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np
from machine import megabytes

from venire import Scores
from venire.comparison.tests import PairedBootstrap
from venire.quality.power import power_of

N_SYSTEMS, N_TOPICS, N_DRAWS = 37, 160, 1_000
N_PAIRS = N_SYSTEMS * (N_SYSTEMS - 1) // 2
SAMPLED = {"scipy.stats.bootstrap": 60, "loop over resamples": 6}


def drawn() -> Scores:
    rng = np.random.default_rng(0)
    quality, ease = rng.normal(0.0, 0.06, (N_SYSTEMS, 1)), rng.normal(0.5, 0.15, N_TOPICS)
    values = np.clip(ease + quality + rng.normal(0.0, 0.15, (N_SYSTEMS, N_TOPICS)), 0.0, 1.0)
    names = {"system": tuple(map(str, range(N_SYSTEMS))), "topic": tuple(map(str, range(N_TOPICS)))}
    return Scores(values, ("system", "topic"), names)


def t(z: np.ndarray, axis: int = -1) -> np.ndarray:
    return z.mean(axis=axis) / z.std(axis=axis, ddof=1) * np.sqrt(z.shape[axis])


def pairs(scores: Scores, n: int) -> list[tuple[float, np.ndarray]]:
    """t and shifted differences of every so many pairs."""
    a, b = np.triu_indices(N_SYSTEMS, k=1)
    chosen = np.linspace(0, N_PAIRS - 1, n).astype(int)
    differences = (scores.values[a[pair]] - scores.values[b[pair]] for pair in chosen)
    return [(abs(float(t(z))), z - z.mean()) for z in differences]


def venire(scores: Scores) -> tuple[float, float]:
    start = perf_counter()
    found = power_of(scores, test=PairedBootstrap(N_DRAWS)).rows[0]
    return perf_counter() - start, float(found.share or 0.0)


def scipy_bootstrap(scores: Scores) -> tuple[float, float]:
    from scipy.stats import bootstrap

    rng, asls = np.random.default_rng(0), []
    how = {"n_resamples": N_DRAWS, "vectorized": True, "method": "percentile"}
    n = SAMPLED["scipy.stats.bootstrap"]
    bootstrap((np.arange(9.0),), t, **how, random_state=rng)
    start = perf_counter()
    for seen, w in pairs(scores, n):
        again = bootstrap((w,), t, **how, random_state=rng).bootstrap_distribution
        asls.append((np.abs(again) >= seen).mean())
    return (perf_counter() - start) * N_PAIRS / n, float(np.mean(np.array(asls) < 0.05))


def loop(scores: Scores) -> tuple[float, float]:
    rng, asls = np.random.default_rng(0), []
    n = SAMPLED["loop over resamples"]
    start = perf_counter()
    for seen, w in pairs(scores, n):
        larger = sum(abs(t(w[rng.integers(N_TOPICS, size=N_TOPICS)])) >= seen for _ in range(N_DRAWS))
        asls.append(larger / N_DRAWS)
    return (perf_counter() - start) * N_PAIRS / n, float(np.mean(np.array(asls) < 0.05))


CONTENDERS = {"venire": venire, "scipy.stats.bootstrap": scipy_bootstrap, "loop over resamples": loop}

if __name__ == "__main__":
    scores = drawn()
    venire(Scores(scores.values[:3], scores.axes, {**scores.names, "system": ("a", "b", "c")}))  # loads what it needs
    work, share = CONTENDERS[sys.argv[1]](scores)
    peak = megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(json.dumps({"work": work, "peak": peak, "share": share}))
