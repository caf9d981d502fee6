"""Statistics: all that can be said of how far assessors agree, as a list of records.

Each function of ``FUNCTIONS`` makes the coefficients of one name.  What a statistic cannot say is a record whose value
is None and whose ``reason`` tells why; the others are not held up by it.

By level: Krippendorff's alpha is computed on the scale's own level of measurement and on the lower ones, or on the one
asked for.  Kappas and Gwet's coefficient have weights (nominal, linear, quadratic); on a scale without an order only
the first.  Overlap has one record per label that may make a result relevant, and that label is its level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from venire.agreement.alpha import alpha
from venire.agreement.coefficient import Coefficient
from venire.agreement.cohen import PairCounts, cohen_kappa, pair_counts
from venire.agreement.distance import DISTANCES, WEIGHTS, levels_of
from venire.agreement.kappa import conger_kappa, fleiss_kappa, gwet_ac, raw_agreement
from venire.agreement.overlap import jaccard
from venire.agreement.phi import phi
from venire.agreement.resampling import OVER, LabelPatterns, Resampling, chosen_units, label_patterns
from venire.data.judgments import Judgments
from venire.data.scale import LEVELS
from venire.errors import UnknownName, VenireError
from venire.types import RNGLike

MOST_PAIRS = 100
"""Where more than so many twos of assessors met, only the mean of their kappas is in the records."""


class Question:
    """What is asked of the judgments; what several statistics need is computed once."""

    def __init__(self, judgments: Judgments, level: str | None, resampling: Resampling) -> None:
        self.judgments = judgments
        self.level = level
        self.resampling = resampling

    @cached_property
    def patterns(self) -> LabelPatterns:
        """Items by pattern of labels."""
        return label_patterns(self.judgments)

    @cached_property
    def pairs(self) -> PairCounts:
        """Labels of every two assessors."""
        return pair_counts(self.judgments, self.patterns, self.resampling)

    @property
    def how(self) -> dict[str, Any]:
        """Keywords on resampling."""
        asked = self.resampling
        return {"over": asked.over, "resample": asked.units, "n_draws": asked.n_draws, "rng": asked.rng}

    def levels(self) -> list[str]:
        """Levels of measurement for alpha."""
        if self.level is None:
            return levels_of(self.judgments.scale)
        return [self.level] if self.level in DISTANCES else []

    def weights(self) -> list[str]:
        """Weights for kappas."""
        if self.level in WEIGHTS:
            return [self.level]
        return list(WEIGHTS) if self.level or self.judgments.scale.ordered else ["nominal"]


Maker = Callable[[Question, str], list[Coefficient]]


def _cohen(asked: Question, level: str) -> list[Coefficient]:
    found = cohen_kappa(asked.judgments, level, patterns=asked.patterns, counts=asked.pairs, **asked.how)
    return [found.mean, *(found.pairs() if len(found.value) <= MOST_PAIRS else [])]


def _conger(asked: Question, level: str) -> list[Coefficient]:
    return [conger_kappa(asked.judgments, level, patterns=asked.patterns, **asked.how)]


def _jaccard(asked: Question, _: str) -> list[Coefficient]:
    return jaccard(asked.judgments, patterns=asked.patterns, counts=asked.pairs, **asked.how)


def _phi(asked: Question, level: str) -> list[Coefficient]:
    over, units, n_draws, rng = asked.resampling
    how: dict[str, Any] = {"over": over, "interval": units, "n_draws": n_draws, "rng": rng}
    return [phi(asked.judgments, level=level, **how).coefficient()]


def _phi_levels(asked: Question) -> list[str]:
    level = asked.level or asked.judgments.scale.measurement
    return [level] if level in LEVELS else []


def _raw_levels(asked: Question) -> list[str]:
    return asked.weights() if asked.level in WEIGHTS else ["nominal"]


FUNCTIONS: dict[str, tuple[Maker, Callable[[Question], list[str]]]] = {
    "krippendorff_alpha": (lambda asked, level: [alpha(asked.patterns, level, **asked.how)], Question.levels),
    "fleiss_kappa": (lambda asked, level: [fleiss_kappa(asked.patterns, level, **asked.how)], Question.weights),
    "conger_kappa": (_conger, Question.weights),
    "cohen_kappa": (_cohen, Question.weights),
    "gwet_ac": (lambda asked, level: [gwet_ac(asked.patterns, level, **asked.how)], Question.weights),
    "raw_agreement": (lambda asked, level: [raw_agreement(asked.patterns, level, **asked.how)], _raw_levels),
    "phi": (_phi, _phi_levels),
    "jaccard": (_jaccard, lambda _: ["all"]),
}
"""By name: what makes the coefficients on a level, and the levels that are asked for."""
RATERS = {"cohen_kappa": "mean", "jaccard": "mean"}


def statistics(
    judgments: Judgments,
    *,
    level: str | None = None,
    names: Sequence[str] | None = None,
    over: str = "items",
    resample: str | None = None,
    n_draws: int = 1000,
    rng: RNGLike = 0,
) -> list[dict[str, Any]]:
    r"""Compute statistics of agreement; one record each, with the keys of ``coefficient.KEYS``.

    level: a level of measurement for all (nominal, ordinal, interval, ratio) or weights for kappas (linear, quadratic);
    None: as the scale says.  names: which of ``FUNCTIONS``, all if None.  over: pooled "items", or means over "topics".
    resample: draw "items" or "topics" anew for the intervals; None: topics where two or more have pairs of labels.

    Examples
    --------
    >>> from venire import read_grid
    >>> found = statistics(read_grid("1 0 1 1 0\n1 0 0 1 0"), names=["krippendorff_alpha", "raw_agreement"])
    >>> [(each["name"][:3], each["level"], round(each["value"], 3)) for each in found]
    [('kri', 'ordinal', 0.64), ('kri', 'nominal', 0.64), ('raw', 'nominal', 0.8)]
    """
    for name in names or ():
        if name not in FUNCTIONS:
            raise UnknownName("statistic", name, FUNCTIONS)
    if level is not None and level not in DISTANCES and level not in WEIGHTS:
        raise UnknownName("level", level, dict.fromkeys([*DISTANCES, *WEIGHTS]))
    if over not in OVER:
        raise UnknownName("what the statistic is over", over, OVER)
    chosen_units(resample, 0)
    asked = Question(judgments, level, Resampling(over, resample, n_draws, rng))
    return [found.record() for name in names or FUNCTIONS for found in _made(name, asked)]


def _made(name: str, asked: Question) -> list[Coefficient]:
    """Coefficients of one name on all its levels."""
    make, levels = FUNCTIONS[name]
    found: list[Coefficient] = []
    for level in levels(asked):
        try:
            found += make(asked, level)
        except VenireError as error:
            found.append(_unknown(name, level, asked, error))
    return found


def _unknown(name: str, level: str, asked: Question, error: VenireError) -> Coefficient:
    """Return a coefficient without a value."""
    reason = error.message + (f"; {error.hint}" if error.hint else "")
    n_raters = len(asked.judgments.assessor.names)
    meaning = f"{name} cannot be computed."
    return Coefficient(name, level, RATERS.get(name, "all"), None, None, None, 0, n_raters, meaning, reason)
