"""Judges who agree except for chance are hardly ever said to contradict each other; those who disagree are."""

from __future__ import annotations

import numpy as np
import pytest

from venire.comparison import ScoresByJudge

pytestmark = pytest.mark.simulation
N = 300


def drawn(rng, effect, noise):
    """Scores by judge from mean scores (judge, system): topics are shared, noise (relative to topics) is not."""
    n_judges, n_systems = effect.shape
    by_topic = 0.5 + rng.normal(0, 0.1, (1, 1, 40)) + rng.normal(0, 0.15, (1, n_systems, 40))
    scores = (effect[:, :, None] + by_topic + rng.normal(0, noise, (n_judges, n_systems, 40)))[..., None]
    names = [tuple(f"{what}{n}" for n in range(size)) for what, size in zip("jst", scores.shape[:3], strict=True)]
    return ScoresByJudge(*names, ("m",), scores, np.ones_like(scores), np.ones(scores.shape[1:]))


@pytest.mark.parametrize(("n_judges", "n_systems"), [(2, 2), (2, 10), (5, 5), (37, 2), (24, 8)])
@pytest.mark.parametrize("spread", [0.0, 0.1])
@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_judges_who_agree_are_rarely_said_to_contradict(n_judges, n_systems, spread, noise):
    rng, alarms = np.random.default_rng(11), 0
    for _ in range(N):
        effect = np.tile(rng.normal(0, spread, n_systems), (n_judges, 1))
        alarms += bool(drawn(rng, effect, noise).contradictions().found)
    assert alarms / N <= 0.05


def test_judges_who_stretch_the_scale_do_not_contradict():
    rng, alarms = np.random.default_rng(12), 0
    for _ in range(N):
        effect = rng.normal(0, 0.05, 5) * rng.uniform(0.3, 1, (4, 1))
        alarms += bool(drawn(rng, effect, 0.15).contradictions().found)
    assert alarms / N <= 0.05


def test_opposite_differences_are_found():
    rng, found = np.random.default_rng(13), 0
    for _ in range(N):
        effect = np.array([[0.15, 0.0, 0.0], [0.0, 0.09, 0.0]])
        pairs = drawn(rng, effect, 0.05).contradictions().pairs()
        found += ("s0", "s1") in pairs or ("s1", "s0") in pairs
    assert found / N >= 0.9
