"""Figures 4 to 6 of Chu et al. (2021), Sections 4.1 and 4.2: what the text says of them, at the paper's size.

The numbers behind the figures are not printed.  A batch is topics judged by assessors of one quality sigma.  The paper
leaves two things open.

    noise       whether e_1 of Eq. (15) is drawn for every annotation, or once for each assessor ("assessor-level bias
                factor"): both are computed.  A bias of an assessor leaves comparisons of that assessor's labels as
                they are, but lowers agreement between assessors
    preferences whether label preferences are estimated for each batch or for all together: for each batch, whose
                quality is measured.  With one matrix for all, PDP in aggregate mode would rise with quality

Statistics of agreement are means over topics (Eq. 2).  All tables together take about four minutes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.stats import spearmanr

from papers.tables import Paper, yes
from venire.agreement.alpha import alpha
from venire.agreement.kappa import fleiss_kappa
from venire.agreement.phi import phi
from venire.kernels.paired_labels import count_wins
from venire.quality.label_preferences import LabelPreferences
from venire.quality.lists import orders_of, top_of_pool
from venire.quality.pdp import evidence_of, pdp
from venire.simulation.perceived import PerceivedCollection, PerceivedRelevance, generate_perceived, graded
from venire.types import Floats, Ints

FIGURES = Paper("chu2021")
MODES = ("individual", "aggregate")
AGREEMENT = {
    "Fleiss' kappa": lambda judgments: fleiss_kappa(judgments, "nominal", over="topics", n_draws=0),
    "weighted kappa": lambda judgments: fleiss_kappa(judgments, "quadratic", over="topics", n_draws=0),
    "Krippendorff's alpha": lambda judgments: alpha(judgments, "ordinal", over="topics", n_draws=0),
    "Phi": lambda judgments: phi(judgments, over="topics", n_draws=0),
}
NOISE = ("assessor", "annotation")
N_BATCHES, N_TOPICS, N_CHOICES = 100, 100, 100
GRADES, PHI_GRADES = range(2, 31), (2, 4, 7, 16, 30)
QUALITIES = {"high": (0.0, 0.1), "medium": (0.1, 0.2), "low": (0.2, 0.3)}
"""Section 4.2.1: ranges of sigma, without the lower end."""
MIDDLES = (0.05, 0.15, 0.25)
"""Section 4.2.3: sigma of the batches for which tests are drawn."""
RISE = 0.01
"""Nats by which a mean over batches may rise from one number of grades to the next by chance."""
OFTEN = 0.9
"""Share of choices of tests that must give the right order, for a number of tests to be enough."""


def batch_of(sigma: float, noise: str, rng: int) -> PerceivedCollection:
    setting = PerceivedRelevance(n_topics=N_TOPICS, topics_per_batch=N_TOPICS, noise_per=noise)
    return generate_perceived(replace(setting, sigma=(float(sigma), float(sigma))), rng=rng)


@cache
def batches(noise: str) -> tuple[PerceivedCollection, ...]:
    """Batches of all qualities; sigma is spread evenly over its range, where the paper draws it."""
    lowest, highest = PerceivedRelevance().sigma
    sigma = lowest + (highest - lowest) * (np.arange(N_BATCHES) + 0.5) / N_BATCHES
    return tuple(batch_of(each, noise, rng) for rng, each in enumerate(sigma))


def sigmas(noise: str) -> Floats:
    """How much the assessors of each batch err -> (batch,)."""
    return np.array([batch.sigma[0, 0] for batch in batches(noise)])


@cache
def values(statistic: str, n_grades: int, noise: str) -> Floats:
    """A statistic of every batch; one of ``MODES``, or of ``AGREEMENT`` -> (batch,)."""
    if statistic in AGREEMENT:
        found = [AGREEMENT[statistic](batch.at(n_grades)) for batch in batches(noise)]
    else:
        labels = LabelPreferences(mode=statistic, form="table")
        found = [pdp(each.at(n_grades), each.preferences, labels=labels, k=5, n_draws=0) for each in batches(noise)]
    return np.array([each.value for each in found], dtype=np.float64)


def mean_pdp(mode: str, noise: str) -> Floats:
    """Mean PDP by number of grades and quality, high first -> (grades, 3)."""
    sigma = sigmas(noise)
    rows = [values(mode, n_grades, noise) for n_grades in GRADES]
    return np.array([[row[(low < sigma) & (sigma <= high)].mean() for low, high in QUALITIES.values()] for row in rows])


def consistency(statistic: str, n_grades: int, noise: str) -> float:
    """Spearman's correlation of a statistic with sigma over batches, without its sign (Section 4.2.2)."""
    return abs(float(spearmanr(values(statistic, n_grades, noise), sigmas(noise)).statistic))


@cache
def chosen_pdp(mode: str, n_grades: int, per_pair: int) -> Floats:
    """PDP of a batch of each quality under repeated choices of tests -> (choice, 3).

    So many tests are drawn with replacement for every two grades, those of the documents' median labels (Section 4.1).
    """
    middling = [batch_of(sigma, "assessor", 500 + rng) for rng, sigma in enumerate(MIDDLES)]
    return np.stack([pdp_of_choices(batch, mode, n_grades, per_pair) for batch in middling], axis=1)


def pdp_of_choices(batch: PerceivedCollection, mode: str, n_grades: int, per_pair: int) -> Floats:
    judgments, setting = batch.at(n_grades), LabelPreferences(mode=mode, form="table")
    evidence = evidence_of(judgments, batch.preferences, setting)
    tests = evidence.tests
    orders = orders_of(top_of_pool(judgments, 5), setting.paired(judgments))
    middle = np.median(graded(batch.perceived, n_grades), axis=1).astype(np.int64)
    low, high = np.sort([middle[tests.first], middle[tests.second]], axis=0)
    rng, found = np.random.default_rng(per_pair), []
    for _ in range(N_CHOICES):
        wins = count_wins(evidence.observed, tests.won, draw(low * n_grades + high, per_pair, rng), n_grades)
        found.append(orders.pdp(setting.fit_wins(wins, judgments).p)[0].mean())
    return np.array(found)


def draw(cell: Ints, per_pair: int, rng: np.random.Generator) -> Floats:
    """How often each test is drawn, so many for every cell that has any; cell (test,) -> (test,)."""
    order = np.argsort(cell, kind="stable")
    _, start, n = np.unique(cell[order], return_index=True, return_counts=True)
    place = start[:, None] + rng.integers(0, n[:, None], size=(len(n), per_pair))
    return np.bincount(order[place.ravel()], minlength=len(cell)).astype(np.float64)


def by_noise(*names: str, noise: tuple[str, ...] = NOISE) -> dict[str, str]:
    return yes(*(f"{name}, noise per {each}" for each in noise for name in names))


def split(cell: str) -> tuple[str, str]:
    """Take "individual, noise per assessor" apart."""
    what, _, noise = cell.partition(", noise per ")
    return what, noise


@FIGURES.table(
    "Figure 4", "mean PDP falls with the number of grades, at each quality", stated=by_noise(*MODES), slow=True
)
def falls_with_grades(cell):
    steps = np.diff(mean_pdp(*split(cell)), axis=0)
    return bool((steps < RISE).all() and (steps.sum(axis=0) < 0).all())


@FIGURES.table(
    "Figure 4", "better assessors have a lower mean PDP, at each number of grades", stated=by_noise(*MODES), slow=True
)
def falls_with_quality(cell):
    return bool((np.diff(mean_pdp(*split(cell)), axis=1) > 0).all())


@FIGURES.table("Figure 4", "PDP in aggregate mode is lower, in most batches", stated=by_noise("aggregate"), slow=True)
def aggregate_is_lower(cell):
    individual, aggregate = (np.array([values(mode, n, split(cell)[1]) for n in GRADES]) for mode in MODES)
    return bool(((aggregate < individual).mean(axis=1) > 0.5).all())


@FIGURES.table(
    "Section 4.2.1",
    "mean PDP of low quality in individual mode, about",
    printed={f"noise per {noise}": "4.6" for noise in NOISE},
    known={"noise per annotation": "it comes out where e_1 of Eq. (15) is drawn once for each assessor"},
    slow=True,
)
def low_quality(cell):
    return float(mean_pdp("individual", cell.removeprefix("noise per "))[:, -1].mean())


@FIGURES.table(
    "Figure 5",
    "individual mode follows quality as closely as this or more, at each number of grades",
    stated=by_noise("aggregate", *AGREEMENT),
    known={
        "Phi, noise per annotation": "if assessors have no bias of their own, Phi follows quality more closely (on 4 "
        "grades Spearman's correlation is .9996, and .9965 for PDP)"
    },
    slow=True,
)
def follows_most_closely(cell):
    other, noise = split(cell)
    grades = PHI_GRADES if other == "Phi" else GRADES
    return all(consistency("individual", n, noise) >= consistency(other, n, noise) for n in grades)


@FIGURES.table(
    "Figure 5",
    "with more grades, 16 rather than 2, quality is followed more closely, or less",
    stated=by_noise("aggregate: more", "Fleiss' kappa: less", noise=("assessor",)),
    slow=True,
)
def with_grades(cell):
    other, noise = split(cell)
    few, many = (consistency(other.split(":")[0], n, noise) for n in (2, 16))
    return many > few if other.endswith("more") else many < few


@FIGURES.table(
    "Figure 6",
    "so many tests for every two grades order three qualities correctly, in 9 of 10 choices",
    stated=yes(
        *(f"individual, 40 tests, {grades} grades" for grades in (4, 7, 16)),
        *(f"aggregate, 160 tests, {grades} grades" for grades in (4, 7, 16)),
    ),
    slow=True,
)
def right_order(cell):
    mode, per_pair, grades = cell.split(", ")
    found = chosen_pdp(mode, int(grades.split()[0]), int(per_pair.split()[0]))
    return bool((np.diff(found, axis=1) > 0).all(axis=1).mean() >= OFTEN)


@FIGURES.table(
    "Figure 6",
    "PDP varies less in individual mode than in aggregate mode with 40 tests, at each quality",
    stated=yes("4 grades"),
    slow=True,
)
def steadier(cell):
    individual, aggregate = (chosen_pdp(mode, int(cell.split()[0]), 40).std(axis=0) for mode in MODES)
    return bool((individual < aggregate).all())


@FIGURES.table(
    "Figure 6",
    "PDP varies less, the more tests there are for every two grades (10, 40, 160)",
    stated=yes(*(f"{mode}, 4 grades" for mode in MODES)),
    slow=True,
)
def steadier_with_more(cell):
    mode, grades = cell.split(", ")
    spread = [chosen_pdp(mode, int(grades.split()[0]), n).std(axis=0).mean() for n in (10, 40, 160)]
    return bool((np.diff(spread) < 0).all())
