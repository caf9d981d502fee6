"""Chu et al. (2021), CIKM, doi:10.1145/3459637.3482428: pairwise discriminative power.

The example of Section 3.5 (Figure 1, Eqs. 13 and 14) is worked out on five images.  The paper draws 50,000 rankings to
estimate PDP (Eq. 6); ours is exact.  What Figures 4 to 6 show on generated collections is in ``chu2021_figures``.  What
rests on the judgments of NTCIR WWW-3 cannot be computed without them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import permutations
from math import ceil

import numpy as np
from scipy.special import bdtr, ndtri

from papers.chu2021_figures import FIGURES
from papers.tables import Paper, yes
from venire.agreement.alpha import alpha
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.io import read_grid
from venire.kernels.ranking_entropy import scores_of_wins
from venire.quality.label_preferences import LabelPreferences
from venire.quality.label_scales import split_labels
from venire.quality.lists import TopLists, orders_of
from venire.quality.pdp import pdp
from venire.quality.power import discriminative_power
from venire.simulation.perceived import PerceivedCollection, PerceivedRelevance, generate_perceived
from venire.simulation.systems import Systems, scattered
from venire.types import Floats

PAPER = Paper("chu2021")

FOUR_GRADES = """
    3 2 2 3 3
    3 3 2 3 3
    3 3 2 3 3"""
SEVEN_GRADES = """
    5 4 3 6 5
    6 5 5 6 5
    5 5 3 6 4"""
"""Figure 1: labels of five images by three assessors."""

BELOW_FOUR = (0.15, 0.10, 0.05)
BELOW_SEVEN = (0.20, 0.15, 0.10, 0.06, 0.03, 0.01)
"""Eqs. (13), (14): probability that an image is preferred to one labelled 1, 2, 3, ... grades higher."""

MODES = ("individual", "aggregate")
PRINTED = {
    "4-grade, individual": "4.2142",
    "4-grade, aggregate": "4.1705",
    "7-grade, individual": "4.0249",
    "7-grade, aggregate": "3.8180",
}
N_RANKINGS = 50_000
SAMPLED = "the paper's value is a mean over 50,000 random rankings (standard error about .005); ours is exact"


def label_preferences(below: tuple[float, ...]) -> Floats:
    """Make the matrix of Eq. (13) or (14), which depends on the difference of labels alone -> (label, label)."""
    up = np.array([0.5, *below])
    apart = np.arange(len(up))[:, None] - np.arange(len(up))
    return np.where(apart > 0, 1 - up[np.abs(apart)], up[np.abs(apart)])


def example(grades: str) -> tuple[Judgments, Floats]:
    """Labels and label preferences of one of the two scales."""
    labels, below = (FOUR_GRADES, BELOW_FOUR) if grades == "4" else (SEVEN_GRADES, BELOW_SEVEN)
    return read_grid(labels, scale="<".join(map(str, range(int(grades))))), label_preferences(below)


def matrix(cell: str) -> Floats:
    """Document-level preferences of Figure 1, by grades and mode, images in their order -> (1, 5, 5)."""
    grades, mode = cell.split("-grade, ")
    judgments, p = example(grades)
    lists = TopLists(judgments.items, np.zeros(1, dtype=np.int32), np.arange(5)[None, :], "all images")
    return orders_of(lists, LabelPreferences(mode=mode).paired(judgments)).preferences(p)


@PAPER.table(
    "Section 3.5",
    "PDP of Figure 1, exact where the paper drew rankings",
    printed=PRINTED,
    known=dict.fromkeys(PRINTED, SAMPLED),
)
def pdp_of_example(cell):
    grades, mode = cell.split("-grade, ")
    judgments, p = example(grades)
    return pdp(judgments, p, labels=LabelPreferences(mode=mode), k=5).value


@PAPER.table("Section 3.5", "the printed PDP is within two standard errors of the exact one", implied=yes(*PRINTED))
def within_sampling_error(cell):
    worth = np.exp(scores_of_wins(matrix(cell).sum(axis=2) - 0.5)[0])
    orders = worth[np.array(list(permutations(range(5))))]
    log_p = (np.log(orders) - np.log(np.cumsum(orders[:, ::-1], axis=1)[:, ::-1])).sum(axis=1)
    p = np.exp(log_p)
    mean = -(p * log_p).sum()
    error = np.sqrt((p * (log_p + mean) ** 2).sum() / N_RANKINGS)
    return bool(abs(float(PRINTED[cell]) - mean) <= 2 * error)


@PAPER.table(
    "Section 3.5",
    "p(d1 > d2) in the 7-grade setting, Eqs. (7) and (8)",
    printed={"individual": "0.70", "aggregate": "0.50"},
)
def first_over_second(mode):
    return float(matrix(f"7-grade, {mode}")[0, 0, 1])


@PAPER.table("Figure 1", "Krippendorff's alpha, ordinal, by number of grades", printed={"7": "0.57", "4": "0.68"})
def alpha_of_example(grades):
    return alpha(example(grades)[0], "ordinal", n_draws=0).value


@PAPER.table(
    "Sections 1 and 3.5", "PDP is lower with 7 grades than with 4, though alpha is lower too", stated=yes(*MODES)
)
def seven_below_four(mode):
    lower = pdp_of_example(f"7-grade, {mode}") < pdp_of_example(f"4-grade, {mode}")
    return lower and alpha_of_example("7") < alpha_of_example("4")


@PAPER.table("Section 4.2.1", "PDP of labels at random, log K!", printed={"5": "4.7875"})
def highest(k):
    return pdp(read_grid(" ".join("0" * int(k)), scale="0<1"), np.full((2, 2), 0.5), k=int(k)).value


@PAPER.table("Section 5.2.3", "4to7(infinity) has the PDP of 4 grades, on Figure 1", stated=yes(*MODES))
def same_when_stretched(mode):
    tests = Preferences.of([("1", f"d{a}", f"d{b}", b - a) for a in range(1, 6) for b in range(1, 6) if a != b])
    return _same_pdp(read_grid(FOUR_GRADES, scale="0<1<2<3"), tests, mode)


def _same_pdp(judgments: Judgments, tests: Preferences, mode: str) -> bool:
    """Whether labels 0, 1, 2, 3 and 0, 2, 4, 6 have the same PDP under the same tests (w infinite in Eq. 16)."""
    both = (judgments, split_labels(judgments, w=float("inf")))
    four, seven = (pdp(each, tests, labels=LabelPreferences(mode=mode), k=5, n_draws=0).value for each in both)
    return four is not None and four == seven


@cache
def with_runs() -> PerceivedCollection:
    """80 topics judged by three assessors on 4 grades, and 11 systems, as in the Chinese subtask (Table 1)."""
    systems = Systems(quality=scattered(11, worst=1.0, best=3.0))
    who = PerceivedRelevance(n_topics=80, topics_per_batch=80, n_assessors=3, sigma=(0.1, 0.1))
    return generate_perceived(replace(who, docs_per_topic=20, systems=systems))


@PAPER.table("Section 5.2.3", "4to7(infinity) has the PDP of 4 grades, on a generated collection", stated=yes(*MODES))
def same_on_a_collection(mode):
    return _same_pdp(with_runs().judgments, with_runs().preferences, mode)


@PAPER.table(
    "Section 5.2.3",
    "4to7(infinity) has less discriminative power than 4 grades, on a generated collection",
    stated=yes("nDCG@5, exponential gains", "Q, exponential gains", "nERR@5", "nDCG@5, linear gains"),
    known={
        "nDCG@5, linear gains": "0, 2, 4, 6 are twice 0, 1, 2, 3, and nDCG is a ratio of gains: linear gains that "
        "start at 0 change nothing"
    },
)
def less_power(cell):
    measure, _, gains = cell.partition(", ")
    labels = {"4": with_runs().judgments, "4to7": split_labels(with_runs().judgments, w=float("inf"))}
    kind = "exponential" if gains.startswith("exponential") else "linear"
    found = discriminative_power(labels, with_runs().runs, [measure], gains=[kind], pool="median")
    four, seven = (found.of(measure, name).share or 0.0 for name in labels)
    return seven < four


@PAPER.table(
    "Eq. (12)",
    "erratum: 95 of 100 estimates are within .05 of p = .3, with as many tests as it says",
    stated=yes("as printed, z"),
    implied=yes("corrected, z squared"),
    known={
        "as printed, z": "the normal quantile must be squared: 165 tests are within .05 in 83 of 100 cases, 323 in 95.5"
    },
)
def covers(form):
    n = ceil(0.3 * 0.7 / 0.05**2 * ndtri(0.975) ** (2 if "squared" in form else 1))
    return bool(bdtr(ceil(0.35 * n) - 1, n, 0.3) - bdtr(np.floor(0.25 * n), n, 0.3) >= 0.95)


PAPER.tables.extend(FIGURES.tables)
