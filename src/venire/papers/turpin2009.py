"""Turpin and Scholer (2009), Australasian Document Computing Symposium: modelling disagreement between judges.

The paper prints formulas more often than numbers.  Where a cell is a formula, ``printed`` is its value at the stated
agreement rates, and ours comes another way: by going through all new labels, from the exact distribution, or by
simulation.  Tables called *erratum* put a printed form beside the right one.  The user data of Section 4 are not
published; what can be checked there is arithmetic.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from venire import evaluate, read_grid, read_judgments, read_runs
from venire.agreement.directed import directed_agreement
from venire.comparison.judge_change import RULES, TWO_SIDED, RankCounts, min_agreement_to_stay_ahead
from venire.papers.table import Ratio, Table, Value

PAPER = "turpin2009"

TABLE_1 = {
    "old": ((1, 1, 0, 1, 1), (0, 0, 0, 1, 0)),
    "new": ((0, 1, 0, 1, 0), (0, 1, 1, 1, 0)),
}
"""Columns J_A, J_B and J'_A, J'_B: relevance at the five ranks, under the corpus judge and under the new one."""

A0, A1 = 0.85, 0.70
"""Agreement rates at which formulas are compared; two digits, so that products have four."""

OTHER_RATES = {"a0 = a1 = .80": (0.80, 0.80), "a0 = .60, a1 = .95": (0.60, 0.95), "a0 = .35, a1 = .20": (0.35, 0.20)}

TABLE_2 = {
    "00 00": "a0 a0",
    "00 01": "a0 (1-a0)",
    "00 10": "(1-a0) a0",
    "00 11": "(1-a0) (1-a0)",
    "01 00": "a0 (1-a1)",
    "01 01": "a0 a1",
    "01 10": "(1-a0) (1-a1)",
    "01 11": "(1-a0) a1",
    "10 00": "(1-a1) a0",
    "10 01": "(1-a1) (1-a0)",
    "10 10": "a1 a0",
    "10 11": "a1 (1-a0)",
    "11 00": "(1-a1) (1-a1)",
    "11 01": "(1-a1) a1",
    "11 10": "a1 (1-a1)",
    "11 11": "a1 a1",
}
"""Labels of A and B before and after, with the probability as printed."""

SIGNS = {"00": 0, "01": 1, "10": -1, "11": 0}
"""The expectations E00 = 0, E01 = 1 - a0 - a1, E10 = a0 + a1 - 1, E11 = 0, over 1 - a0 - a1."""

EXAMPLE = RankCounts(c00=3, c01=2, c10=4, c11=1)
ONE_RANK = {"00": RankCounts(c00=1), "01": RankCounts(c01=1), "10": RankCounts(c10=1), "11": RankCounts(c11=1)}
P_AT_1 = RankCounts(c10=1)
N_DRAWS = 400_000
N_USERS = 37


def table_1(cell: str) -> Value:
    """Differences of P@5 as counts, and the scores of the caption."""
    judge = "new" if "new" in cell or "'" in cell else "old"
    a, b = TABLE_1[judge]
    if "Delta" in cell:
        return Ratio(sum(a) - sum(b), len(a))
    labels = {f"d{rank}": label for rank, label in enumerate(a if cell[0] == "A" else b, start=1)}
    runs = read_runs({"1": {doc: -rank for rank, doc in enumerate(labels)}})
    return float(evaluate(read_judgments({"1": labels}, scale="0<1"), runs, ["P@5"]).mean().values[0, 0])


def printed_product(row: str, a0: float, a1: float) -> float:
    """Probability of a row of Table 2 as printed."""
    value = {"a0": a0, "a1": a1, "(1-a0)": 1 - a0, "(1-a1)": 1 - a1}
    return prod(value[factor] for factor in TABLE_2[row].split())


def chances(before: str, a0: float, a1: float) -> dict[str, float]:
    """Probability of every two new labels for two documents with these old ones, label by label."""
    becomes = {"0": {"0": a0, "1": 1 - a0}, "1": {"0": 1 - a1, "1": a1}}
    return {x + y: becomes[before[0]][x] * becomes[before[1]][y] for x, y in product("01", repeat=2)}


def probability(cell: str) -> float:
    """Probability of a row of Table 2."""
    before, after = cell.partition(":")[0].split()
    return chances(before, A0, A1)[after]


def weighted(row: str) -> float:
    """Probability times delta' of a row of Table 2, from the exact distribution for one rank."""
    return step(row) * float(ONE_RANK[row[:2]].exact(A0, A1)[1 + step(row)])


def step(row: str) -> int:
    """Return delta' of a row of Table 2."""
    return int(row[-2]) - int(row[-1])


def expectation(before: str, a0: float, a1: float) -> float:
    """Expected delta' of two old labels, over all new ones."""
    return round(sum(step(after) * chance for after, chance in chances(before, a0, a1).items()), 12) + 0.0


def all_agree(cell: str) -> bool:
    """Whether all printed products and expectations are those of going through the labels, at other rates."""
    a0, a1 = OTHER_RATES[cell]
    gaps = [printed_product(row, a0, a1) - chances(row[:2], a0, a1)[row[3:]] for row in TABLE_2]
    gaps += [sign * (1 - a0 - a1) - expectation(before, a0, a1) for before, sign in SIGNS.items()]
    return max(map(abs, gaps)) < 1e-9


def mean_and_variance(counts: RankCounts, a0: float, a1: float) -> tuple[float, float]:
    """Mean and variance of Delta', from its exact distribution."""
    mass, values = counts.exact(a0, a1), np.arange(-counts.n, counts.n + 1) / counts.n
    mean = float(mass @ values)
    return mean, float(mass @ (values - mean) ** 2)


def expected(cell: str) -> float:
    """E[Delta'], Eq. (1), from the exact distribution."""
    rates = {"perfect agreement": (1.0, 1.0), "complete disagreement": (0.0, 0.0), "a0 = .85, a1 = .70": (A0, A1)}
    return mean_and_variance(EXAMPLE, *rates[cell])[0]


def variance(cell: str) -> float:
    """Var[Delta'] of the example, Eq. (2) in both forms, and by two ways that need no formula."""
    if cell == "400,000 simulated rejudgings":
        return _simulated()
    if cell == "exact distribution":
        return mean_and_variance(EXAMPLE, A0, A1)[1]
    return EXAMPLE.variance(A0, A1, printed=cell == "as printed")


@lru_cache(maxsize=1)
def _simulated() -> float:
    """Variance of Delta' over draws of a new judge, document by document."""
    rng = np.random.default_rng(0)
    old = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [EXAMPLE.c00, EXAMPLE.c01, EXAMPLE.c10, EXAMPLE.c11], axis=0)
    agreement = np.array([A0, A1])
    lead = np.zeros(N_DRAWS)
    for a, b in old.tolist():
        for sign, label in ((1, a), (-1, b)):
            agrees = rng.random(N_DRAWS) < agreement[label]
            lead += sign * np.where(agrees, label, 1 - label)
    return float((lead / EXAMPLE.n).var())


def extreme_variance(cell: str) -> float:
    """Var[Delta'] where all of A's n documents were relevant and none of B's, a0 = a1 = .9 and n = 10."""
    extreme = RankCounts(c10=10)
    if cell == "exact distribution":
        return mean_and_variance(extreme, 0.9, 0.9)[1]
    return extreme.variance(0.9, 0.9, printed=cell == "Eq. (2) as printed")


def special_case(cell: str) -> float:
    """Mean and variance in the special cases, from the exact distribution."""
    what, _, n = cell.partition(", n = ")
    return mean_and_variance(RankCounts(c10=int(n)), A0, A1)[int(what == "Var")]


def stays_ahead(cell: str) -> float:
    """Pr[Delta'(1) >= 0] at equal rates, by the normal approximation and exactly; or Pr[Delta'(1) > 0]."""
    rule, _, rate = cell.partition(", a0 = a1 = ")
    a = float(rate)
    if rule == "normal":
        return P_AT_1.normal(a, a)
    ahead, level, _ = P_AT_1.chances(a, a)
    return ahead if rule == "exact, > 0" else ahead + level


def threshold(cell: str) -> float:
    """Smallest agreement a0 = a1 that keeps the winner, in the extreme case."""
    n, _, rule = cell.removeprefix("n = ").partition(", ")
    return min_agreement_to_stay_ahead(int(n), rule)


def over_80(cell: str) -> float:
    """Smallest agreement for P@1: of both rates, or of one where the other is 1."""
    if cell in RULES:
        return min_agreement_to_stay_ahead(1, cell)
    from scipy.optimize import brentq

    return float(brentq(lambda a: P_AT_1.expected(a, 1) - TWO_SIDED * P_AT_1.variance(a, 1) ** 0.5, 0.5, 0.999))


def user_pairs(cell: str) -> float:
    """Pairs of users who all judged the same documents."""
    if cell == "self-pairs among them":
        return float(N_USERS**2)
    return float(len(directed_agreement(read_grid("\n".join(["1 0"] * N_USERS)))))


def _shown(value: float) -> str:
    return f"{value:.4f}" if value else "0"


TABLES = [
    Table(
        paper=PAPER,
        where="Table 1",
        title="P@5 of both systems under two judges, and its difference",
        compute=table_1,
        printed={
            "Delta(5)": "3/5",
            "Delta'(5)": "-1/5",
            "A": "0.8",
            "A, new judge": "0.4",
            "B": "0.2",
            "B, new judge": "0.6",
        },
        note="from the printed columns of relevance",
    ),
    Table(
        paper=PAPER,
        where="Table 2",
        title="probability of new labels for A and B, at a0 = .85, a1 = .70",
        compute=probability,
        printed={f"{row}: {text}": _shown(printed_product(row, A0, A1)) for row, text in TABLE_2.items()},
        note="old labels of A and B, new ones, and the printed product; ours goes through all new labels",
    ),
    Table(
        paper=PAPER,
        where="Table 2",
        title="probability times delta', at a0 = .85, a1 = .70",
        compute=weighted,
        printed={row: _shown(step(row) * printed_product(row, A0, A1)) for row in TABLE_2},
        note="ours from the exact distribution for one rank",
    ),
    Table(
        paper=PAPER,
        where="Table 2",
        title="the four expectations of delta', at a0 = .85, a1 = .70",
        compute=lambda cell: expectation(cell[1:3], A0, A1),
        printed={"E00 = 0": "0", "E01 = 1 - a0 - a1": "-0.55", "E10 = a0 + a1 - 1": "0.55", "E11 = 0": "0"},
    ),
    Table(
        paper=PAPER,
        where="Table 2",
        title="all 16 products and 4 expectations at other agreement rates",
        compute=all_agree,
        printed=dict.fromkeys(OTHER_RATES, "yes"),
    ),
    Table(
        paper=PAPER,
        where="Eq. (1)",
        title="expected Delta'(10) where Delta(10) = .2",
        compute=expected,
        printed={"perfect agreement": "0.2", "complete disagreement": "-0.2", "a0 = .85, a1 = .70": "0.110"},
        note="c00 = 3, c01 = 2, c10 = 4, c11 = 1; ours from the exact distribution",
    ),
    Table(
        paper=PAPER,
        where="Eq. (2)",
        title="erratum: variance of Delta'(10) at a0 = .85, a1 = .70",
        compute=variance,
        printed={
            "as printed": "0.03815",
            "with c01 + c10 in its last term": "0.0321",
            "exact distribution": "0.0321",
            "400,000 simulated rejudgings": "0.032",
        },
        note="c00 = 3, c01 = 2, c10 = 4, c11 = 1; no such number is printed: the first is what the printed formula "
        "gives, the others are what is right",
    ),
    Table(
        paper=PAPER,
        where="Eq. (2)",
        title="erratum: variance of Delta'(10) in the extreme case, a0 = a1 = .9",
        compute=extreme_variance,
        printed={
            "Eq. (2) as printed": "-0.558",
            "Eq. (2) corrected": "0.018",
            "exact distribution": "0.018",
        },
        note="a variance below zero; Section 3.2 has the right form for this case, and .018",
    ),
    Table(
        paper=PAPER,
        where="Sections 3.1, 3.2",
        title="mean and variance in the P@1 and the extreme case, at a0 = .85, a1 = .70",
        compute=special_case,
        printed={
            "E, n = 1": "0.55",
            "Var, n = 1": f"{A0 + A1 - A0**2 - A1**2:.4f}",
            "E, n = 5": "0.55",
            "Var, n = 5": f"{(1 - A0 - A1 + 2 * A0 * A1 - (A0 + A1 - 1) ** 2) / 5:.4f}",
            "E, n = 10": "0.55",
            "Var, n = 10": f"{(1 - A0 - A1 + 2 * A0 * A1 - (A0 + A1 - 1) ** 2) / 10:.5f}",
        },
        note="the formulas of these sections follow from the corrected Eq. (2), not from the printed one",
    ),
    Table(
        paper=PAPER,
        where="Section 3.1",
        title="Pr[Delta'(1) >= 0] where a0 + a1 = 1",
        compute=stays_ahead,
        printed={"normal, a0 = a1 = .5": "50%", "exact, a0 = a1 = .5": "50%"},
        findings={
            "exact, a0 = a1 = .5": "where the new judge tosses coins, A is behind one time in four, and level two",
        },
    ),
    Table(
        paper=PAPER,
        where="Section 3.1",
        title="erratum: that A stays ahead at P@1, by normal approximation and exactly",
        compute=stays_ahead,
        printed={
            "normal, a0 = a1 = .8": "0.856",
            "exact, a0 = a1 = .8": "0.960",
            "exact, > 0, a0 = a1 = .8": "0.640",
        },
        note="no such number is printed: the first is what the paper's approximation gives, the others are exact",
    ),
    Table(
        paper=PAPER,
        where="Section 3.2",
        title="agreement that keeps the winner with 95 % confidence",
        compute=threshold,
        printed={"n = 1, two-sided": "90%", "n = 5, two-sided": "75%", "n = 10, two-sided": "70%"},
        note="where the limits of Figure 2, 1.96 standard deviations off the mean, meet zero; the paper reads the plot",
        findings={
            "n = 1, two-sided": "the limits meet zero at .9055",
            "n = 5, two-sided": "the limits meet zero at .763",
        },
    ),
    Table(
        paper=PAPER,
        where="Section 3.2",
        title="erratum: the same by other rules",
        compute=threshold,
        printed={
            **{"n = 1, one-sided": "0.879", "n = 5, one-sided": "0.731", "n = 10, one-sided": "0.673"},
            **{"n = 1, exact": "0.776", "n = 5, exact": "0.696", "n = 10, exact": "0.653"},
            **{
                "n = 1, exact, strictly": "0.975",
                "n = 5, exact, strictly": "0.778",
                "n = 10, exact, strictly": "0.698",
            },
        },
        note="no such number is printed; one-sided is 1.645 standard deviations, exact is not behind, strictly ahead",
    ),
    Table(
        paper=PAPER,
        where="Sections 3.1, 5",
        title="erratum: agreement that keeps the winner at P@1 with 95 % confidence",
        compute=over_80,
        printed=dict.fromkeys([*RULES, "two-sided, the other rate 1"], "80%"),
        findings={
            "two-sided": "contradicts the 90 % of Section 3.2, which this rule gives",
            "one-sided": "where both rates are equal on the 95 % contour of Figure 1",
            "exact": "not behind, by the exact distribution, which the paper does not compute",
            "exact, strictly": "ahead, by the exact distribution, which the paper does not compute",
            "two-sided, the other rate 1": "what one rate needs if the other is perfect: both must be over .793, which "
            "is needed and does not suffice; perhaps this is what was meant",
        },
    ),
    Table(
        paper=PAPER,
        where="Section 4.2",
        title="erratum: pairs of 37 users",
        compute=user_pairs,
        printed={"directed pairs": "1,369", "self-pairs among them": "1,369"},
        findings={"directed pairs": "37 times 36 are 1,332; 37 squared counts each user as a pair with themselves"},
    ),
]
