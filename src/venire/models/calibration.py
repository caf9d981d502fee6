r"""Calibration: whether what is said with confidence p is right with the share p.

Expected calibration error, over ten bins of the confidence (Naeini et al. 2015, AAAI):

.. math:: ECE = \sum_b \frac{n_b}{n} |\text{share right}_b - \text{mean confidence}_b|

With few cases it is above 0 even where every confidence is right; ``calibrated_error`` says how far.  Intervals of the
share that is right are by ``kernels.clustered_shares``, since cases of one topic are alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.kernels.clustered_shares import LEVEL, clustered_shares
from venire.types import Bools, Codes, Floats, Ints

BINS, CALIBRATED_DRAWS = 10, 100


class Reliability(NamedTuple):
    """Confidence against the share that is right, bin by bin, all (bin,); share and its interval NaN without cases."""

    low: Floats
    high: Floats
    n_cases: Ints
    confidence: Floats
    share: Floats
    share_low: Floats
    share_high: Floats


def calibration_error(confidence: Floats, hit: Bools) -> float:
    """Expected calibration error over ten bins; confidence, hit (case,)."""
    off = np.bincount(_bin(confidence), weights=hit - confidence, minlength=BINS)
    return float(np.abs(off).sum() / len(confidence))


def calibrated_error(confidence: Floats, rng: np.random.Generator) -> float:
    """Mean calibration error if every confidence were right and cases independent, by simulation."""
    drawn = [calibration_error(confidence, rng.random(len(confidence)) < confidence) for _ in range(CALIBRATED_DRAWS)]
    return float(np.mean(drawn))


def _bin(confidence: Floats) -> Ints:
    """Bin of each confidence; 1 is in the last."""
    return np.minimum((confidence * BINS).astype(np.int64), BINS - 1)


def reliability(confidence: Floats, hit: Bools, topic: Codes) -> Reliability:
    """Compare confidence with the share that is right, bin by bin, with intervals over topics; all (case,)."""
    at = _bin(confidence)
    n = np.bincount(at, minlength=BINS)
    _, number = np.unique(topic, return_inverse=True)
    cell, size = number * BINS + at, (int(number.max()) + 1) * BINS
    hits = np.bincount(cell, weights=hit, minlength=size).astype(np.float64, copy=False).reshape(-1, BINS)
    cases = np.bincount(cell, minlength=size).reshape(-1, BINS).astype(np.float64)
    share, low, high = clustered_shares(hits, cases, level=LEVEL)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(at, weights=confidence, minlength=BINS) / n
    edges = np.arange(BINS + 1) / BINS
    return Reliability(edges[:-1], edges[1:], n, mean, share, low, high)
