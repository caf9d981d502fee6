"""The sweep over alpha: how well a measure agrees with users as the weight of conditional labels grows.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Figures 6 to 10.  Each measure with ``alpha`` is scored for every
weight and compared with users' preferences under the conditions of Section 5.2.2.  The gain of context is tested as in
``context.gain``; p-values of several measures are adjusted by Holm's method within a condition.  The sweep over
thresholds (Figure 6) is at the alpha nearest to 0.5, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venire.comparison.tests import holm
from venire.context.gain import ContextGain, context_gains
from venire.data.gains import GainsLike
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.errors import MeasureError, SettingError
from venire.io.run_sources import RunsLike
from venire.measures.measure import ContextMeasure
from venire.measures.names import KINDS, parse_measure
from venire.results import Note, Tabular, known
from venire.types import Floats, RNGLike
from venire.users.agreement import (
    CONDITIONS,
    N_DRAWS,
    VIEWS,
    ScoredCases,
    TieSweep,
    UserAgreement,
    agreement_with_users,
    limits,
    scored_cases,
    tie_sweep,
)

ALPHAS = tuple(n / 10 for n in range(11))
MIDDLE = 0.5


@dataclass(frozen=True, eq=False)
class ContextSweep(Tabular):
    """Measures (measure,) by alphas (alpha,): agreement with users over measure x alpha, and the gain of context.

    ``agreement`` numbers its measures by measure, then alpha; ``ties`` is at alpha ``middle``.
    """

    measures: tuple[str, ...]
    alphas: Floats
    cases: ScoredCases
    agreement: UserAgreement
    ties: TieSweep
    middle: float
    gains: tuple[tuple[ContextGain, ...], ...]
    notes: tuple[Note | str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return one row per measure, alpha and condition; difference is kappa less that with alpha 0."""
        return [
            {
                "measure": measure,
                "alpha": float(alpha),
                **self.agreement.record(self._at(row, place), view),
                **self._difference(row, place, view),
            }
            for view in VIEWS
            for row, measure in enumerate(self.measures)
            for place, alpha in enumerate(self.alphas)
        ]

    def gain_records(self) -> list[dict[str, Any]]:
        """Return one row per measure and condition: the gain of context, tested."""
        return [
            {"measure": measure, **gain.record()}
            for measure, gains in zip(self.measures, self.gains, strict=True)
            for gain in gains
        ]

    def tie_records(self) -> list[dict[str, Any]]:
        """Return one row per measure, preference and share of ties."""
        return self.ties.records([{"measure": measure, "alpha": self.middle} for measure in self.measures])

    def sentence(self) -> str:
        """Return the gain of context for the first measure."""
        return self.sentences()[0]

    def sentences(self) -> list[str]:
        """Return the gain of context for every measure, against weak user preference."""
        return [f"{measure}: {gains[0].sentence()}." for measure, gains in zip(self.measures, self.gains, strict=True)]

    def curve(self, name: str, measure: int, view: tuple[int, int]) -> Floats:
        """Return kappa or jaccard by alpha with intervals -> (value or low or high, alpha); NaN where there is none."""
        at = slice(self._at(measure, 0), self._at(measure, len(self.alphas)))
        value = getattr(self.agreement.seen, name)[*view, at, 0]
        if self.agreement.drawn is None:
            return np.stack([value, *(np.full(len(value), np.nan),) * 2])
        found = [limits(each) for each in getattr(self.agreement.drawn, name)[*view, at]]
        return np.array([value, *zip(*found, strict=True)], dtype=np.float64)

    def _at(self, measure: int, alpha: int) -> int:
        return measure * len(self.alphas) + alpha

    def _difference(self, measure: int, alpha: int, view: tuple[int, int]) -> dict[str, float | None]:
        """Return kappa less that with alpha 0, paired, with its interval."""
        one, none = self._at(measure, alpha), self._at(measure, 0)
        seen = self.agreement.seen.kappa[view]
        low, high = (None, None)
        if self.agreement.drawn is not None:
            drawn = self.agreement.drawn.kappa[view]
            low, high = limits(drawn[one] - drawn[none])
        value = known(seen[one, 0] - seen[none, 0])
        return {"difference": value, "difference_low": low, "difference_high": high}


def sweep_context(
    judgments: Judgments,
    runs: RunsLike,
    preferences: Preferences,
    measures: Sequence[str] = ("CCG@5",),
    *,
    alphas: Sequence[float] = ALPHAS,
    gains: GainsLike = "linear",
    n_draws: int = N_DRAWS,
    rng: RNGLike = 0,
    **scoring: Any,
) -> ContextSweep:
    """Compare measures with users for every weight of conditional labels, and test the gain of context.

    Parameters
    ----------
    judgments : with conditional labels, facet ``given``
    measures : names of measures that take alpha, such as "CCG@5", without it
    alphas : weights from 0 to 1; 0 is added where it is missing
    scoring : slight, missing, assessor, pool, context, unjudged as ``choose_measure`` takes them

    Notes
    -----
    Cost: one evaluation of measures x alphas, and O(measures x alphas x draws x cases).
    """
    weights, names = checked_alphas(alphas), list(dict.fromkeys(str(without_alpha(name)) for name in measures))
    every = [replace(without_alpha(name), alpha=alpha) for name in names for alpha in weights.tolist()]
    cases = scored_cases(judgments, runs, preferences, every, gains={"gains": gains}, **scoring)
    generator = np.random.default_rng(rng)
    agreement = agreement_with_users(cases.difference, cases.verdicts, n_draws=n_draws, rng=generator)
    by_measure = cases.difference.reshape(len(names), len(weights), -1)
    middle = int(np.abs(weights - MIDDLE).argmin())
    ties = tie_sweep(by_measure[:, middle], cases.verdicts, n_draws=min(n_draws, 300), rng=generator)
    tested = [context_gains(each, weights, cases.verdicts, conditions=CONDITIONS, rng=generator) for each in by_measure]
    found = tuple(zip(*(_adjusted(each) for each in zip(*tested, strict=True)), strict=True))
    notes = (*cases.notes, *agreement.notes())
    return ContextSweep(tuple(names), weights, cases, agreement, ties, float(weights[middle]), found, notes)


def _adjusted(gains: Sequence[ContextGain]) -> list[ContextGain]:
    """Adjust the p-values of several measures by Holm's method."""
    if len(gains) == 1:
        return list(gains)
    adjusted = holm(np.array([np.nan if each.p is None else each.p for each in gains]))
    return [replace(each, p_adjusted=known(p)) for each, p in zip(gains, adjusted, strict=True)]


def without_alpha(name: str) -> ContextMeasure:
    """Parse a measure that takes alpha and states none."""
    measure = parse_measure(name)
    if not isinstance(measure, ContextMeasure):
        known = ", ".join(kind for kind, each in KINDS.items() if issubclass(each, ContextMeasure))
        raise MeasureError(f"{name} takes no alpha, so there is nothing to sweep", hint=f"use one of {known}")
    if measure.alpha:
        raise MeasureError(
            f"{name} states an alpha, which the sweep varies", hint=f"write {replace(measure, alpha=0.0)}"
        )
    return measure


def checked_alphas(alphas: Sequence[float]) -> Floats:
    """Sort weights, each once, 0 first."""
    found = np.unique(np.round([0.0, *alphas], 12))
    if not ((found >= 0) & (found <= 1)).all():
        raise SettingError(f"alphas are {', '.join(map(str, alphas))}, expected weights from 0 to 1")
    if len(found) < 2:
        raise SettingError("there is no alpha but 0", hint="give some weights over 0, as in 0.25, 0.5, 1")
    return found
