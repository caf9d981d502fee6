"""Verdicts and intervals of certificates where all labels of the reference are known, and some are shown."""

from __future__ import annotations

import numpy as np
import pytest

from venire import certify
from venire.simulation import Synthetic, generate
from venire.simulation.systems import Systems

SETTING = Synthetic(n_topics=25, docs_per_topic=40, n_unjudged=0, systems=Systems(depth=20))
JUDGE, REFERENCE, SHARE, N = "lenient1", "careful1", 0.2, 60
OPEN = "NOT ENOUGH LABELS"


def some_of(labels, rng):
    """Keep a random share of the labels of the reference."""
    theirs = labels.assessor.among(REFERENCE, "assessor")
    return labels.take(~theirs | (rng.random(len(labels)) < SHARE))


@pytest.mark.parametrize("measure", ["P(rel=2)@10", "nDCG@10"])
def test_intervals_hold_the_true_tau_and_verdicts_are_rarely_wrong(measure):
    held, wrong = 0, dict.fromkeys(("levels", "order", "top"), 0)
    for seed, rng in enumerate(np.random.default_rng(5).spawn(N)):
        made = generate(SETTING, rng=seed)
        labels = made.judgments.where(assessor=[JUDGE, REFERENCE])
        how = {"judges": JUDGE, "reference": REFERENCE, "n_draws": 100, "rng": seed}
        (truth,) = certify(labels, made.runs, measure, **how).judges
        (found,) = certify(some_of(labels, rng), made.runs, measure, **how).judges
        tau = found.scores.order[0].tau
        held += tau.low - 1e-9 <= truth.tau <= tau.high + 1e-9
        for name in wrong:
            verdict = found.verdict(name).verdict
            wrong[name] += verdict not in (OPEN, truth.verdict(name).verdict)
    assert held >= 0.9 * N
    assert max(wrong.values()) <= 0.1 * N, wrong
