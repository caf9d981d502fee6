"""Verdicts against the known truth of simulated collections."""

from __future__ import annotations

import numpy as np
import pytest

from venire import evaluate
from venire.comparison.forecast import resampled
from venire.comparison.verdict import verdict
from venire.planning.topics import plan_topics
from venire.simulation import Synthetic, generate
from venire.simulation.assessors import Assessor, Careful, Lenient
from venire.simulation.systems import Systems

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
N_SEEDS, N_TOPICS = 200, 30
CLOSE = (1.6, 1.7, 1.8, 2.1, 2.5)
EQUAL = tuple(1.8 + 1e-9 * n for n in range(5))
FAR = (1.6, 1.61, 1.62, 1.63, 3.4)


def setting(quality, n_topics: int = N_TOPICS) -> Synthetic:
    return Synthetic(
        n_topics=n_topics,
        docs_per_topic=40,
        n_unjudged=0,
        assessors=(Assessor("careful1", Careful()), Assessor("lenient1", Lenient())),
        systems=Systems(quality=quality, depth=12),
    )


def true_means(quality) -> np.ndarray:
    """What the systems score with the true levels, over very many topics."""
    made = generate(setting(quality, 4000), rng=1)
    return evaluate(made.truth.as_judgments(), made.runs, "nDCG@10").mean("topic").values[:, 0]


def verdicts(quality):
    for seed in range(N_SEEDS):
        made = generate(setting(quality), rng=seed)
        scores = evaluate(made.judgments, made.runs, "nDCG@10", assessor="careful1")
        yield scores, verdict(scores, draws={"topics": resampled(scores.values[:, :, 0], 300, rng=seed)})


def test_the_named_winner_is_best_or_within_the_margin():
    true, held = true_means(CLOSE), []
    for _, found in verdicts(CLOSE):
        if found.winner is not None:
            behind = true.max() - true[found.systems.index(found.winner)]
            held.append(behind <= found.margin["topics"] + 1e-12)
    assert len(held) >= 10
    assert np.mean(held) >= 0.95


def test_a_large_gap_is_found():
    true, named, gaps = true_means(FAR), [], []
    for scores, found in verdicts(FAR):
        gaps.append((true[-1] - true[:-1].max()) / plan_topics(scores).median_detectable)
        named.append(found.winner == found.systems[-1])
    assert np.mean(gaps) == pytest.approx(2, abs=0.25)
    assert np.mean(named) >= 0.8


def test_no_winner_among_equals():
    named = [found.winner is not None for _, found in verdicts(EQUAL)]
    assert np.mean(named) <= 0.1
