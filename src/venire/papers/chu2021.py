"""Chu et al. (2021), CIKM, doi:10.1145/3459637.3482428: pairwise discriminative power.

The example of Section 3.5 (Figure 1, Eqs. 13 and 14) is worked out on five images.  The paper draws 50,000 rankings to
estimate PDP (Eq. 6), so that its four values are random; ours are exact, and the printed ones lie within two standard
errors of them.  Eq. (12) is printed without the square of the normal quantile.  What Figures 4 to 6 show on generated
collections is in ``chu2021_figures``.  What rests on the judgments of NTCIR WWW-3 cannot be computed without them.
"""

from __future__ import annotations

from itertools import permutations
from math import ceil

import numpy as np

from venire import read_grid
from venire.agreement.alpha import alpha
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.kernels.plackett_luce import scores_of
from venire.papers.chu2021_figures import FIGURES
from venire.papers.table import Table
from venire.quality.label_preferences import LabelPreferences
from venire.quality.lists import TopLists, orders_of
from venire.quality.pdp import pdp
from venire.types import Floats

PAPER = "chu2021"

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

PRINTED = {
    "4-grade, individual": "4.2142",
    "4-grade, aggregate": "4.1705",
    "7-grade, individual": "4.0249",
    "7-grade, aggregate": "3.8180",
}
N_RANKINGS = 50_000
"""Section 3.5: PDP of Figure 1 as printed; and how many rankings the published code draws for each."""


def label_preferences(below: tuple[float, ...]) -> Floats:
    """Make the matrix of Eq. (13) or (14), which depends on the difference of labels alone -> (label, label)."""
    up = np.array([0.5, *below])
    apart = np.arange(len(up))[:, None] - np.arange(len(up))
    return np.where(apart > 0, 1 - up[np.abs(apart)], up[np.abs(apart)])


def _setting(grades: str) -> tuple[Judgments, Floats]:
    """Labels and label preferences of one of the two scales."""
    labels, below = (FOUR_GRADES, BELOW_FOUR) if grades == "4" else (SEVEN_GRADES, BELOW_SEVEN)
    return read_grid(labels, scale="<".join(map(str, range(int(grades))))), label_preferences(below)


def _matrix(cell: str) -> Floats:
    """Document-level preferences of Figure 1, by grades and mode, images in their order -> (1, 5, 5)."""
    grades, mode = cell.split("-grade, ")
    judgments, p = _setting(grades)
    images = np.arange(5)[None, :]
    lists = TopLists(judgments.items, np.zeros(1, dtype=np.int32), images, "all images")
    return orders_of(lists, LabelPreferences(mode=mode).paired(judgments)).preferences(p)


def pdp_of_example(cell: str) -> float:
    """PDP of Figure 1, exact, by grades and mode."""
    grades, mode = cell.split("-grade, ")
    judgments, p = _setting(grades)
    value = pdp(judgments, p, labels=LabelPreferences(mode=mode), k=5).value
    return float("nan") if value is None else value


def within_sampling_error(cell: str) -> bool:
    """Whether the printed PDP is within two standard errors of a mean over the paper's rankings."""
    worth = np.exp(scores_of(_matrix(cell))[0])
    orders = worth[np.array(list(permutations(range(5))))]
    log_p = (np.log(orders) - np.log(np.cumsum(orders[:, ::-1], axis=1)[:, ::-1])).sum(axis=1)
    p = np.exp(log_p)
    mean = -(p * log_p).sum()
    error = np.sqrt((p * (log_p + mean) ** 2).sum() / N_RANKINGS)
    return bool(abs(float(PRINTED[cell]) - mean) <= 2 * error)


def first_over_second(mode: str) -> float:
    """p(d1 > d2) in the 7-grade setting, Eqs. (7) and (8)."""
    return float(_matrix(f"7-grade, {mode}")[0, 0, 1])


def alpha_of_example(grades: str) -> float:
    """Krippendorff's ordinal alpha of Figure 1."""
    value = alpha(_setting(grades)[0], "ordinal", n_draws=0).value
    return float("nan") if value is None else value


def seven_below_four(mode: str) -> bool:
    """Whether the 7-grade labels tell more of the order, though assessors agree less on them."""
    more = pdp_of_example(f"7-grade, {mode}") < pdp_of_example(f"4-grade, {mode}")
    return more and alpha_of_example("7") < alpha_of_example("4")


def highest(k: str) -> float:
    """PDP where nothing is known of the order of K documents."""
    judgments = read_grid(" ".join("0" * int(k)), scale="0<1")
    value = pdp(judgments, np.full((2, 2), 0.5), k=int(k)).value
    return float("nan") if value is None else value


def same_when_stretched(mode: str) -> bool:
    """Whether labels 0, 1, 2, 3 and 0, 2, 4, 6 have the same PDP under the same tests (w infinite in Eq. 16)."""
    tests = Preferences.of([("1", f"d{a}", f"d{b}", b - a) for a in range(1, 6) for b in range(1, 6) if a != b])
    stretched = "\n".join(" ".join(str(2 * int(label)) for label in line.split()) for line in FOUR_GRADES.splitlines())
    both = [read_grid(FOUR_GRADES, scale="0<1<2<3"), read_grid(stretched, scale="0<1<2<3<4<5<6")]
    one, other = (pdp(labels, tests, labels=LabelPreferences(mode=mode), k=5, n_draws=0).value for labels in both)
    return one is not None and one == other


def samples_needed(power: int) -> int:
    """Tests for p = .3 within .05 at 95 %, by Eq. (12) with this power of the normal quantile."""
    from scipy.special import ndtri

    return ceil(0.3 * 0.7 / 0.05**2 * ndtri(0.975) ** power)


def covers(form: str) -> bool:
    """Whether a share of so many tests is within .05 of p = .3 at least 95 times in 100, by the binomial law."""
    from scipy.special import bdtr

    n = samples_needed(FORMS[form])
    return bool(bdtr(ceil(0.35 * n) - 1, n, 0.3) - bdtr(np.floor(0.25 * n), n, 0.3) >= 0.95)


FORMS = {"as printed, z": 1, "corrected, z squared": 2}
SAMPLED = "the paper's value is a mean over 50,000 random rankings (standard error about .005); ours is exact"

TABLES = [
    Table(
        paper=PAPER,
        where="Section 3.5",
        title="PDP of Figure 1, exact where the paper drew rankings",
        compute=pdp_of_example,
        printed=PRINTED,
        findings=dict.fromkeys(PRINTED, SAMPLED),
    ),
    Table(
        paper=PAPER,
        where="Section 3.5",
        title="the printed PDP is within two standard errors of the exact one",
        compute=within_sampling_error,
        printed=dict.fromkeys(PRINTED, "yes"),
    ),
    Table(
        paper=PAPER,
        where="Section 3.5",
        title="p(d1 > d2) in the 7-grade setting, Eqs. (7) and (8)",
        compute=first_over_second,
        printed={"individual": "0.70", "aggregate": "0.50"},
    ),
    Table(
        paper=PAPER,
        where="Figure 1",
        title="Krippendorff's alpha, ordinal, by number of grades",
        compute=alpha_of_example,
        printed={"7": "0.57", "4": "0.68"},
    ),
    Table(
        paper=PAPER,
        where="Sections 1 and 3.5",
        title="7 grades tell more of the order than 4, though alpha is lower",
        compute=seven_below_four,
        printed={"individual": "yes", "aggregate": "yes"},
    ),
    Table(
        paper=PAPER,
        where="Section 4.2.1",
        title="PDP of labels at random, log K!",
        compute=highest,
        printed={"5": "4.7875"},
    ),
    Table(
        paper=PAPER,
        where="Section 5.2.3",
        title="4to7(infinity) has the PDP of 4 grades",
        compute=same_when_stretched,
        printed={"individual": "yes", "aggregate": "yes"},
    ),
    Table(
        paper=PAPER,
        where="Eq. (12), erratum",
        title="95 of 100 estimates are within .05 of p = .3, with as many tests as it says",
        compute=covers,
        printed={"as printed, z": "yes", "corrected, z squared": "yes"},
        findings={
            "as printed, z": "the normal quantile z must be squared: as printed, 165 tests are within .05 in 83 of 100 "
            "cases; squared, 323 tests in 95.5",
        },
    ),
    *FIGURES,
]
