r"""Multiplicity: p-values adjusted for how many there are.

With m p-values in ascending order :math:`p_{(1)} \le \dots \le p_{(m)}`,

    Holm                 :math:`\max_{j \le i} \min(1, (m - j + 1) p_{(j)})`
    Benjamini-Hochberg   :math:`\min_{j \ge i} \min(1, m p_{(j)} / j)`

Holm's (1979, jstor.org/stable/4615733) keeps the probability of any false finding below the level, whatever the
dependence between tests; Benjamini and Hochberg's (1995, doi:10.1111/j.2517-6161.1995.tb02031.x) the expected share of
false ones among the findings, under positive dependence.  A p-value that is NaN stays so and is not counted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from venire.errors import UnknownName
from venire.types import Floats, Ints

Adjust = Callable[[Floats], Floats]


def holm(p: Floats) -> Floats:
    """Adjust by Holm's step-down; (test,) -> (test,).

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    return _in_order(p, lambda ordered, rank: np.maximum.accumulate(ordered * (len(ordered) - rank + 1)))


def benjamini_hochberg(p: Floats) -> Floats:
    """Adjust by Benjamini and Hochberg's step-up; (test,) -> (test,)."""
    return _in_order(p, lambda ordered, rank: np.minimum.accumulate((ordered * len(ordered) / rank)[::-1])[::-1])


def unadjusted(p: Floats) -> Floats:
    """Leave p-values as they are."""
    return p


ADJUSTMENTS: dict[str, Adjust] = {"holm": holm, "bh": benjamini_hochberg, "none": unadjusted}
WORDS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "not adjusted"}


def adjustment(adjust: str | Adjust | None) -> tuple[str, Adjust]:
    """Settle an adjustment, by name or as a function of p-values, with its name."""
    name = "none" if adjust is None else adjust
    if not isinstance(name, str):
        return str(getattr(name, "__name__", "own")), name
    if name not in ADJUSTMENTS:
        raise UnknownName("adjustment", name, ADJUSTMENTS)
    return name, ADJUSTMENTS[name]


def _in_order(p: Floats, step: Callable[[Floats, Ints], Floats]) -> Floats:
    """Apply a step to the known p-values in ascending order."""
    found = np.full(p.shape, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    found[order] = np.minimum(step(p[order], np.arange(1, len(order) + 1)), 1.0)
    return found
