"""Second judgments planned for alpha: is the half-width that is reached the one that was forecast?

    python bench/plan_agreement.py DATA [--samples N] [--pilot N] [--collections]

DATA holds ``rf10_crowd`` and ``dl21_full``.  Each sample is a pair of judges of the latter on 10 to 53 topics, or with
--collections a part of the crowd labels, as in ``bench/plan_labels.py``.  Each plans and reveals 100, 300 or 800 second
judgments, after a pilot of so many.  The calibration compares the probability of a forecast with how often it came
true, for half-widths from .03 to .3.  Also printed: the correlation of topics, by all double judgments of a sample.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from plan_labels import BINS, Sample, collections, crowd, judges, pairs_of_judges

from venire import Judgments
from venire.agreement import alpha
from venire.planning.agreement import _assumed, _known
from venire.planning.second_judgments import candidates
from venire.types import Floats, Ints

BUDGETS = (100, 300, 800)
WITHIN = (0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.3)


def main() -> None:
    """Print the correlation of topics, half-widths over their forecast, and the calibration."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--pilot", type=int, default=0)
    parser.add_argument("--collections", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    labels = crowd(asked.data / "rf10_crowd") if asked.collections else judges(asked.data / "dl21_full")
    streams = np.random.default_rng(1).spawn(asked.samples)
    samples = (collections if asked.collections else pairs_of_judges)(labels, streams)
    found = [case for each, rng in zip(samples, streams, strict=True) for case in cases(each, asked.pilot, rng)]
    p, reached, ratio, correlation = (np.array(each) for each in zip(*found, strict=True))
    shown = np.quantile(correlation, (0.16, 0.5, 0.84)).round(3).tolist()
    print(f"correlation: mean {correlation.mean():.3f}, sd {correlation.std():.3f}, quantiles {shown}")
    print(f"{len(found)} cases: half-width over its forecast {np.median(ratio):.2f}")
    for low, high in pairwise(BINS.tolist()):
        some = (p >= low) & ((p < high) | (high == 1))
        if some.any():
            mean, decided = p[some].mean(), (reached[:, None] <= WITHIN)[some].mean()
            print(f"p {low:.1f} to {high:.1f}: {some.sum()} goals, mean p {mean:.3f}, decided {decided:.3f}")


def cases(sample: Sample, pilot: int, rng: np.random.Generator) -> list[tuple[Floats, float, float, float]]:
    """Probability of each of ``WITHIN``, half-width, that over its forecast, and correlation, by budget."""
    topic = sample.labels.items.topic[sample.labels.item[sample.first]]
    topics = np.unique(topic)
    kept = np.isin(topic, rng.choice(topics, int(rng.integers(min(10, len(topics)), len(topics) + 1)), replace=False))
    order = rng.permutation(np.flatnonzero(kept))
    first, second = sample.first[order], sample.second[order]
    now = candidates(labels_of(sample, first, second[:pilot]), None, "another")
    present, whole = _known(now) or _assumed(now), _known(candidates(labels_of(sample, first, second), None, "another"))
    found = []
    for n in (n for n in BUDGETS if pilot + n <= len(first) and whole is not None):
        coefficient = alpha(labels_of(sample, first, second[: pilot + n]))
        if coefficient.low is not None and coefficient.high is not None:
            reached = (coefficient.high - coefficient.low) / 2
            p = np.array([present.expected(n, n, within).p_decided for within in WITHIN])
            found.append((p, reached, reached / present.expected(n, n, 0.1).half_width, whole.correlation))
    return found


def labels_of(sample: Sample, first: Ints, second: Ints) -> Judgments:
    """The first labels, and second ones of some items."""
    return replace(sample.labels.take(np.append(first, second)), probability=None)


if __name__ == "__main__":
    main()
