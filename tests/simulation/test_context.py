"""Users who compare lists: the gain of context is found where it is, and not claimed where it is not.

Collections are parts of one large one, which is scored once.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from user_directions import verdicts_of
from venire.context.sweep import context_gains
from venire.simulation.context.collection import ContextSetting, generate_context
from venire.simulation.context.setting import ClickModel
from venire.types import Floats
from venire.users.agreement import VIEWS, agreement_with_users, conditioned, limits, scored_cases
from venire.users.verdicts import UserVerdicts

N_COLLECTIONS = 100
ALPHAS = np.linspace(0, 1, 5)


def claims(setting: ContextSetting) -> int:
    """Count the collections in which a gain of context is claimed."""
    made = generate_context(setting, rng=20)
    names = [f"CCG(alpha={alpha:g})@5" for alpha in ALPHAS]
    cases = scored_cases(made.judgments, made.runs, made.preferences, names, pool="median")
    return sum(
        context_gains(difference, ALPHAS, verdicts, conditions=("weak",), n_orders=6, rng=seed)[0].found
        for seed, (difference, verdicts) in enumerate(parts(cases.difference, cases.verdicts))
    )


def parts(difference: Floats, verdicts: UserVerdicts) -> list[tuple[Floats, UserVerdicts]]:
    """Take the topics in collections of equal size."""
    order = np.random.default_rng(1).permutation(len(verdicts)).reshape(N_COLLECTIONS, -1)
    return [(difference[:, some], verdicts.take(some)) for some in np.sort(order, axis=1)]


def made(n_topics: int, **settings: float) -> ContextSetting:
    """Many collections of so many topics in one."""
    many, few = N_COLLECTIONS * n_topics, ClickModel(sessions=1)
    return ContextSetting(n_topics=many, design="neighbours", clicks=few, **settings)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore")
def test_the_gain_is_found_where_redundancy_drives_preference() -> None:
    assert claims(made(100, context=1.0, redundancy=0.9)) >= 80


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "settings", [{"context": 0.0, "redundancy": 0.9}, {"context": 1.0, "redundancy": 0.0, "complementarity": 0.0}]
)
def test_no_gain_is_claimed_where_context_plays_no_role(settings: dict[str, float]) -> None:
    assert binomtest(claims(made(60, **settings)), N_COLLECTIONS, 0.05, alternative="greater").pvalue > 1e-3


def test_no_gain_is_claimed_where_all_alphas_are_alike() -> None:
    """The hardest case: every alpha is as good as 0, each with errors of its own."""
    rng, found = np.random.default_rng(8), 0
    for seed in range(60):
        utility = rng.normal(0, 1.5, 60)
        difference = np.round(utility + rng.normal(0, 1.5, (5, 60)), 2)
        verdicts = verdicts_of(utility, rng)
        found += context_gains(difference, ALPHAS, verdicts, conditions=("weak",), n_orders=6, rng=seed)[0].found
    assert binomtest(found, 60, 0.05, alternative="greater").pvalue > 1e-3


def test_intervals_cover_the_kappa_of_all_topics_there_could_be() -> None:
    rng = np.random.default_rng(6)

    def drawn(n_topics: int) -> tuple[Floats, UserVerdicts]:
        utility = rng.normal(0, 1.5, n_topics)
        return np.round(utility + rng.normal(0, 1, (1, n_topics))), verdicts_of(utility, rng)

    difference, verdicts = drawn(8_000)
    truth = conditioned(difference, verdicts.directions, np.ones((1, len(verdicts)))).kappa[..., 0, 0]
    hits = np.zeros(len(VIEWS))
    for seed in range(100):
        found = agreement_with_users(*drawn(60), n_draws=200, rng=seed)
        assert found.drawn is not None
        for number, view in enumerate(VIEWS):
            low, high = limits(found.drawn.kappa[*view, 0])
            hits[number] += low <= truth[view] <= high  # type: ignore[operator]
    assert (hits[:2] >= 88).all()
    assert (hits[2:] >= 84).all()  # the threshold is chosen to look well


def test_equal_measures_are_seldom_said_to_be_behind() -> None:
    rng, claimed = np.random.default_rng(9), 0
    for seed in range(60):
        utility = rng.normal(0, 1.5, 60)
        difference = utility + rng.normal(0, 1, (6, 60))
        _, adjusted = agreement_with_users(difference, verdicts_of(utility, rng), n_draws=100, rng=seed).p_values(
            VIEWS[0]
        )
        claimed += bool((adjusted <= 0.05).any())
    assert binomtest(claimed, 60, 0.05, alternative="greater").pvalue > 1e-3
