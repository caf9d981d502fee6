"""Batches of the generator of Chu et al. (2021), Section 4.1, and what statistics make of them: Figures 4, 5 and 6.

A batch is topics judged by assessors of one quality sigma.  The paper leaves two things open.

    noise       whether e_1 of Eq. (15) is drawn for every annotation, or once for each assessor, who then leans one way
                throughout ("assessor-level bias factor"): both are computed.  Leaning takes nothing from comparisons
                of one assessor's labels, but from agreement between assessors
    preferences whether label preferences are estimated for each batch or for all together: for each batch, whose
                quality is measured.  With one matrix for all, PDP in aggregate mode would rise with quality

Statistics of agreement are means over topics (Eq. 2).  Everything is kept once it was computed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from venire.agreement.alpha import alpha
from venire.agreement.kappa import fleiss_kappa
from venire.agreement.phi import phi
from venire.data.judgments import Judgments
from venire.kernels.paired_labels import count_wins
from venire.quality.label_preferences import LabelPreferences
from venire.quality.lists import orders_of, top_of_pool
from venire.quality.pdp import pdp
from venire.quality.preference_evidence import evidence_of
from venire.simulation.perceived import PerceivedCollection, PerceivedRelevance, generate_perceived, graded
from venire.types import Floats, Ints

MODES = ("individual", "aggregate")
QUALITIES = {"high": (0.0, 0.1), "medium": (0.1, 0.2), "low": (0.2, 0.3)}
"""Section 4.2.1: ranges of sigma, without the lower end."""
MIDDLES = (0.05, 0.15, 0.25)
"""Section 4.2.3: sigma of the batches for which tests are drawn."""


@dataclass(frozen=True)
class Size:
    """How much is generated: batches and topics of each; numbers of grades, for Phi fewer; choices of tests."""

    n_batches: int
    n_topics: int
    grades: tuple[int, ...]
    phi_grades: tuple[int, ...]
    n_choices: int


REDUCED = Size(n_batches=18, n_topics=60, grades=(2, 4, 16), phi_grades=(4,), n_choices=12)
FULL = Size(n_batches=100, n_topics=100, grades=tuple(range(2, 31)), phi_grades=(2, 4, 7, 16, 30), n_choices=100)
"""Full is the paper's size."""


@lru_cache(maxsize=4)
def batches(size: Size, noise_per: str) -> tuple[PerceivedCollection, ...]:
    """Batches of all qualities; sigma is spread evenly over its range, where the paper draws it."""
    lowest, highest = PerceivedRelevance().sigma
    share = (np.arange(size.n_batches) + 0.5) / size.n_batches
    sigma = lowest + (highest - lowest) * share
    return tuple(_judged(size, each, noise_per, rng) for rng, each in enumerate(sigma))


@lru_cache(maxsize=4)
def _middling(size: Size, noise_per: str) -> tuple[PerceivedCollection, ...]:
    """A batch of high, medium and low quality, of the paper's size."""
    whole = replace(size, n_topics=FULL.n_topics)
    return tuple(_judged(whole, sigma, noise_per, 500 + rng) for rng, sigma in enumerate(MIDDLES))


def _judged(size: Size, sigma: float, noise_per: str, rng: int) -> PerceivedCollection:
    setting = PerceivedRelevance(n_topics=size.n_topics, topics_per_batch=size.n_topics, noise_per=noise_per)
    return generate_perceived(replace(setting, sigma=(float(sigma), float(sigma))), rng=rng)


def sigmas(size: Size, noise_per: str) -> Floats:
    """How much the assessors of each batch err -> (batch,)."""
    return np.array([batch.sigma[0, 0] for batch in batches(size, noise_per)])


@lru_cache(maxsize=1024)
def values(statistic: str, n_grades: int, size: Size, noise_per: str) -> Floats:
    """A statistic of every batch; one of ``MODES``, or of agreement -> (batch,)."""
    return np.array([_value(statistic, batch, n_grades) for batch in batches(size, noise_per)], dtype=np.float64)


def _value(statistic: str, batch: PerceivedCollection, n_grades: int) -> float | None:
    judgments = batch.at(n_grades)
    if statistic in MODES:
        labels = LabelPreferences(mode=statistic, form="table")
        return pdp(judgments, batch.preferences, labels=labels, k=5, n_draws=0).value
    return _agreement(statistic, judgments)


def _agreement(statistic: str, judgments: Judgments) -> float | None:
    """Mean over topics of a statistic of agreement."""
    if statistic == "Phi":
        return phi(judgments, over="topics", n_draws=0).value
    if statistic == "Krippendorff's alpha":
        return alpha(judgments, "ordinal", over="topics", n_draws=0).value
    weights = "quadratic" if statistic == "weighted kappa" else "nominal"
    return fleiss_kappa(judgments, weights, over="topics", n_draws=0).value


def mean_pdp(mode: str, size: Size, noise_per: str) -> Floats:
    """Mean PDP by number of grades and quality, high first -> (grades, 3)."""
    sigma = sigmas(size, noise_per)
    rows = [values(mode, n_grades, size, noise_per) for n_grades in size.grades]
    return np.array([[row[(low < sigma) & (sigma <= high)].mean() for low, high in QUALITIES.values()] for row in rows])


def consistency(statistic: str, n_grades: int, size: Size, noise_per: str) -> float:
    """Spearman's correlation of a statistic with sigma over batches, without its sign (Section 4.2.2)."""
    from scipy.stats import spearmanr

    found = spearmanr(values(statistic, n_grades, size, noise_per), sigmas(size, noise_per)).statistic
    return abs(float(found))


@lru_cache(maxsize=256)
def chosen_pdp(mode: str, n_grades: int, per_pair: int, size: Size) -> Floats:
    """PDP of a batch of each quality under repeated choices of tests -> (choice, 3).

    So many tests are drawn with replacement for every two grades, those of the documents' median labels (Section 4.1).
    """
    return np.stack([_choices(batch, mode, n_grades, per_pair, size) for batch in _middling(size, "assessor")], axis=1)


def _choices(batch: PerceivedCollection, mode: str, n_grades: int, per_pair: int, size: Size) -> Floats:
    """PDP of a batch under repeated choices of tests -> (choice,)."""
    judgments, setting = batch.at(n_grades), LabelPreferences(mode=mode, form="table")
    evidence = evidence_of(judgments, batch.preferences, setting)
    tests, observed = evidence.tests, evidence.observed
    if tests is None or observed is None:
        return np.full(size.n_choices, np.nan)
    orders = orders_of(top_of_pool(judgments, 5), setting.paired(judgments))
    middle = np.median(graded(batch.perceived, n_grades), axis=1).astype(np.int64)
    low, high = np.sort([middle[tests.first], middle[tests.second]], axis=0)
    rng = np.random.default_rng(per_pair)
    found = []
    for _ in range(size.n_choices):
        times = _drawn(low * n_grades + high, per_pair, rng)
        wins = count_wins(observed, tests.won, times, n_grades)
        found.append(orders.pdp(setting.fit_wins(wins, judgments).p)[0].mean())
    return np.array(found)


def _drawn(cell: Ints, per_pair: int, rng: np.random.Generator) -> Floats:
    """How often each test is drawn, so many for every cell that has any; cell (test,) -> (test,)."""
    order = np.argsort(cell, kind="stable")
    _, start, n = np.unique(cell[order], return_index=True, return_counts=True)
    place = start[:, None] + rng.integers(0, n[:, None], size=(len(n), per_pair))
    return np.bincount(order[place.ravel()], minlength=len(cell)).astype(np.float64)
