"""Table of agreement: all coefficients of agreement of some judgments.

Each function of ``FUNCTIONS`` computes the coefficients of one name.  A coefficient that cannot be computed has the
value None and a ``reason``.

Krippendorff's alpha is computed on the scale's own level of measurement and on the lower ones, or on the one given.
Kappas and Gwet's coefficient have weights (nominal, linear, quadratic); on a scale without an order only the first.
Jaccard overlap has one coefficient per label from which on a result counts as relevant, and that label is its level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

from venire.agreement.alpha import alpha
from venire.agreement.cohen import PairCounts, cohen_kappa, pair_counts
from venire.agreement.distance import DISTANCES, WEIGHTS, levels_of
from venire.agreement.intervals import OVER, Coefficient, Options, Resampling, chosen_units
from venire.agreement.kappa import AssessorSums, assessor_sums, conger_kappa, fleiss_kappa, gwet_ac, raw_agreement
from venire.agreement.label_facts import LabelFacts
from venire.agreement.overlap import jaccard
from venire.agreement.patterns import LabelPatterns, label_patterns
from venire.agreement.phi import phi
from venire.data.judgments import Judgments
from venire.data.scale import LEVELS
from venire.errors import PairsError, UnknownName, VenireError
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.limits import refuse_crowd
from venire.results import Records, Tabular

MOST_PAIRS = 100
"""With more pairs of assessors than this, only the mean of their kappas is in the table."""
TOGETHER = "take every label as that of a different person (anonymous)"
"""What to do with the labels of a crowd."""


@dataclass(frozen=True, eq=False)
class AgreementTable(Tabular):
    """Coefficients of agreement, in the order of ``FUNCTIONS``."""

    coefficients: tuple[Coefficient, ...]

    def records(self) -> Records:
        """Return one row per coefficient, with the keys of ``intervals.KEYS``."""
        return [each.record() for each in self.coefficients]

    def sentence(self) -> str:
        """Say what the first coefficient that has a value means."""
        return next(
            (each.meaning for each in self.coefficients if each.value is not None), "No coefficient is defined."
        )


class Question:
    """Judgments and options of a table; what several coefficients need is computed once."""

    def __init__(
        self, judgments: Judgments, level: str | None, how: Options, counted: LabelFacts | None = None
    ) -> None:
        self.judgments, self.level, self.how, self.counted = judgments, level, how, counted
        self.asked, self.n_assessors = Resampling(**how), len(judgments.assessors)

    @cached_property
    def patterns(self) -> LabelPatterns:
        """Items by pattern of labels."""
        return label_patterns(self.judgments) if self.counted is None else self.counted.table(self.judgments.scale)

    @cached_property
    def pairs(self) -> PairCounts:
        """Labels of every two assessors."""
        if self.counted is None:
            return pair_counts(self.judgments, self.patterns, self.asked)
        return self._by_assessor(self.counted).pair_counts(self.patterns, self.asked, self.n_assessors)

    @cached_property
    def sums(self) -> AssessorSums:
        """Labels by assessor."""
        if self.counted is None:
            return assessor_sums(self.judgments, self.patterns, self.asked)
        return self._by_assessor(self.counted).assessor_sums(self.patterns, self.asked, self.n_assessors)

    @staticmethod
    def _by_assessor(counted: LabelFacts) -> LabelFacts:
        """Return the facts; raise where labels were not counted by assessor."""
        if not len(counted.labels):
            raise PairsError("the labels were not counted by assessor", hint=FEW)
        return counted

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

    def raw_weights(self) -> list[str]:
        """Weights for raw agreement."""
        return self.weights() if self.level in WEIGHTS else ["nominal"]

    def phi_levels(self) -> list[str]:
        """Levels of measurement for phi."""
        level = self.level or self.judgments.scale.measurement
        return [level] if level in LEVELS else []


Maker = Callable[[Question, str], list[Coefficient]]


def _cohen(asked: Question, level: str) -> list[Coefficient]:
    found = cohen_kappa(asked.judgments, level, patterns=asked.patterns, counts=asked.pairs, **asked.how)
    return [found.mean, *(found.pairs() if len(found.value) <= MOST_PAIRS else [])]


def _phi(asked: Question, level: str) -> list[Coefficient]:
    over, interval, n_draws, rng = asked.asked
    counted = None if asked.counted is None else asked.patterns
    how: dict[str, Any] = {"over": over, "interval": interval, "n_draws": n_draws, "rng": rng}
    return [phi(asked.judgments, measurement=level, counted=counted, **how).coefficient()]


FUNCTIONS: dict[str, tuple[Maker, Callable[[Question], list[str]]]] = {
    "krippendorff_alpha": (lambda asked, level: [alpha(asked.patterns, level, **asked.how)], Question.levels),
    "fleiss_kappa": (lambda asked, level: [fleiss_kappa(asked.patterns, level, **asked.how)], Question.weights),
    "conger_kappa": (
        lambda asked, level: [
            conger_kappa(asked.judgments, level, patterns=asked.patterns, sums=asked.sums, **asked.how)
        ],
        Question.weights,
    ),
    "cohen_kappa": (_cohen, Question.weights),
    "gwet_ac": (lambda asked, level: [gwet_ac(asked.patterns, level, **asked.how)], Question.weights),
    "raw_agreement": (lambda asked, level: [raw_agreement(asked.patterns, level, **asked.how)], Question.raw_weights),
    "phi": (_phi, Question.phi_levels),
    "jaccard": (
        lambda asked, _: jaccard(asked.judgments, patterns=asked.patterns, counts=asked.pairs, **asked.how),
        lambda _: ["all"],
    ),
}
"""By name: the function that computes the coefficients on a level, and the levels."""
RATERS = {"cohen_kappa": "mean", "jaccard": "mean"}
BY_PATTERN = ("krippendorff_alpha", "fleiss_kappa", "gwet_ac", "raw_agreement", "phi")
"""Coefficients that need to know only how many items have each pattern of labels."""
FEW = "use judgments on one machine, with assessors who are named"
COUNTED_ONLY = "there is no interval over items: labels were counted by topic, so only topics can be drawn"


def table(
    judgments: JudgmentsLike,
    *,
    measurement: str | None = None,
    names: Sequence[str] | None = None,
    counted: LabelFacts | None = None,
    **how: Unpack[Options],
) -> AgreementTable:
    r"""Compute coefficients of agreement.

    measurement: a level of measurement for all (nominal, ordinal, interval, ratio) or weights for kappas (linear,
    quadratic); None: that of the scale.  names: which of ``FUNCTIONS``, all if None.  counted: labels that were counted
    elsewhere; judgments then state the scale and who judged, and coefficients of pairs of assessors have an interval
    where topics are drawn.
    how: over, resample, n_draws, rng (``resampling.Options``).

    Examples
    --------
    >>> from venire.io import read_grid
    >>> found = table(read_grid("1 0 1 1 0\n1 0 0 1 0"), names=["krippendorff_alpha", "raw_agreement"])
    >>> [(each.name[:3], each.level, round(each.value, 3)) for each in found.coefficients]
    [('kri', 'ordinal', 0.64), ('kri', 'nominal', 0.64), ('raw', 'nominal', 0.8)]
    """
    judgments = as_judgments(judgments)
    for name in names or ():
        if name not in FUNCTIONS:
            raise UnknownName("statistic", name, FUNCTIONS)
    if measurement is not None and measurement not in DISTANCES and measurement not in WEIGHTS:
        raise UnknownName("level of measurement", measurement, dict.fromkeys([*DISTANCES, *WEIGHTS]))
    asked = Resampling(**how)
    if asked.over not in OVER:
        raise UnknownName("what the statistic is over", asked.over, OVER)
    chosen_units(asked.resample, 0)
    if counted is None:
        refuse_crowd(len(judgments.assessors), hint=TOGETHER)
    question = Question(judgments, measurement, how, counted)
    return AgreementTable(tuple(found for name in names or FUNCTIONS for found in _coefficients(name, question)))


agreement_table = table
"""Its name in ``venire``."""


def _coefficients(name: str, asked: Question) -> list[Coefficient]:
    """Compute the coefficients of one name on all its levels."""
    compute, levels = FUNCTIONS[name]
    found: list[Coefficient] = []
    for level in levels(asked):
        try:
            found += compute(asked, level)
        except VenireError as error:
            reason, n_raters = error.message + (f"; {error.hint}" if error.hint else ""), len(asked.judgments.assessors)
            raters, meaning = RATERS.get(name, "all"), f"{name} is undefined."
            found.append(Coefficient(name, level, raters, None, None, None, 0, n_raters, meaning, reason))
    if asked.counted is None or name in BY_PATTERN or asked.asked.n_draws < 2:
        return found
    lost = [each.value is not None and each.low is None and "items" in each.method for each in found]
    return [replace(each, reason=COUNTED_ONLY) if gone else each for each, gone in zip(found, lost, strict=True)]
