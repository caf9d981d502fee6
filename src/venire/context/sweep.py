r"""Weights of conditional labels: agreement with users by alpha, and the gain of context.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Figures 6 to 10.  Each measure with ``alpha`` is scored for every
weight and compared with users' preferences under the conditions of Section 5.2.2.  The sweep over thresholds (Figure 6)
is at the alpha nearest to 0.5, as in the paper.

The gain of context: does a weight alpha bring a measure nearer to users?  The paper looks for the alpha with the
highest agreement.  The best of several alphas never agrees less than alpha = 0, which is one of them: on the topics
that chose it, a gain is always observed.  Here alpha and the thresholds for ties are chosen on some topics and tested
on others, and the gain is paired,

.. math:: \kappa(\alpha\ \text{chosen on other topics}) - \kappa(0)

*Forward* cross-validation: topics are put in a random order and divided into blocks; a block uses what does best on the
blocks before it, starting with a fifth of the topics.  Given the earlier blocks, the expected gain of a block is 0
under the null hypothesis, so the gains of topics are a martingale difference sequence, and swapping both answers topic
by topic tests them (``kernels.directions``).  (With the usual folds each topic helps to choose for all others: the same
test then rejects in 6 to 16 % where all alphas are alike, instead of 5.)  The result depends on the order.  Many orders
are drawn, and the mean over orders of the test's normal score is taken as one normal score; its variance is no larger,
so the test is conservative.  The interval is the mean gain and 1.96 mean standard errors.  P-values of several measures
are adjusted by Holm's method within a condition.

Where several alphas do equally well the smallest is chosen.  In ``simultaneous`` kappa is the mean of those with weak
and with strong preference.

When not to use this: a conditional label by the same assessor is also a second label of the document.  Where labels are
noisy, two labels agree better with users than one, even if context means nothing to them; such a gain is not due to
context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from venire.comparison.tests import holm
from venire.data.gains import GainsLike
from venire.errors import MeasureError, SettingError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.preferences import PreferencesLike, read_preferences
from venire.io.runs import RunsLike
from venire.kernels.directions import directions, flip_test, kappa_gains
from venire.measures.measure import ContextMeasure
from venire.measures.names import KINDS, parse_measure
from venire.results import Note, Records, Tabular, known
from venire.types import Floats, Ints, RNGLike
from venire.users.agreement import (
    CONDITIONS,
    CONFIDENCE,
    N_DRAWS,
    VIEWS,
    Conditioned,
    ScoredCases,
    TieSweep,
    UserAgreement,
    agreement_with_users,
    conditioned,
    limits,
    scored_cases,
    tie_sweep,
)
from venire.users.verdicts import UserVerdicts

ALPHAS = tuple(n / 10 for n in range(11))
MIDDLE = 0.5
N_ORDERS, N_BLOCKS, N_FLIPS = 20, 8, 999
FIRST_SHARE = 0.2
"""The share of topics that are used to choose only."""
FEWEST_TOPICS = 15
AGAINST = {"weak": (0,), "strong": (1,), "simultaneous": (0, 1)}
SAME = "users and measure give one and the same answer on all topics of some order"
_NORMAL = NormalDist()


@dataclass(frozen=True)
class ContextGain(Tabular):
    """The gain of a weight on conditional labels: kappa with alpha chosen on other topics, less kappa_0 with alpha 0.

    low, high: 95 % interval of the gain; p: one-sided, of no gain; p_adjusted: for the number of measures, if several
    are tested.  alpha does best on all topics; used is the share of choices that were not 0.  All but alpha are None
    where there is a reason.
    """

    condition: str
    alpha: float
    n_topics: int
    used: float | None = None
    kappa: float | None = None
    kappa_0: float | None = None
    gain: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    reason: str | None = None

    @property
    def decisive_p(self) -> float | None:
        """The p-value that decides: the adjusted one, if there is one."""
        return self.p if self.p_adjusted is None else self.p_adjusted

    @property
    def found(self) -> bool:
        """Whether the gain is significant at the 5 % level."""
        return self.decisive_p is not None and self.decisive_p <= 1 - CONFIDENCE

    def record(self) -> dict[str, Any]:
        """Return a JSON object."""
        names = ("condition", "alpha", "used", "kappa", "kappa_0", "gain", "low", "high", "p", "reason")
        found = {name: getattr(self, name) for name in names}
        return {**found, "topics": self.n_topics, "p_adjusted": self.decisive_p}

    def records(self) -> Records:
        """Return one row."""
        return [self.record()]

    def sentence(self) -> str:
        """Return whether context significantly increases the agreement with users."""
        if self.gain is None or self.decisive_p is None:
            return f"the gain of context is not known ({self.condition} preference): {self.reason}"
        effect = "context increases" if self.found else "context does not significantly increase"
        return (
            f"{effect} agreement with users ({self.condition} preference): kappa {self.kappa:.3f} with alpha chosen on "
            f"other topics, {self.kappa_0:.3f} with alpha 0, gain {self.gain:+.3f} [{self.low:+.3f}, {self.high:+.3f}],"
            f" p = {self.decisive_p:.2g}, {self.n_topics} topics; alpha {self.alpha:g} agrees best on all of them"
        )


def context_gains(
    difference: Floats,
    alphas: Floats,
    verdicts: UserVerdicts,
    *,
    conditions: tuple[str, ...] = CONDITIONS,
    n_orders: int = N_ORDERS,
    rng: RNGLike = 0,
) -> list[ContextGain]:
    """Test the gain of context of one measure, a result per condition.

    Parameters
    ----------
    difference : (alpha, case), score of the left list less that of the right one
    alphas : (alpha,), ascending, the first of them 0
    n_orders : number of random orders of the topics

    Notes
    -----
    Cost: O(alphas x orders x cases) for each of 8 blocks.
    """
    _check(difference, alphas, conditions)
    whole = conditioned(difference, verdicts.directions, np.ones((1, len(verdicts))))
    best = {each: float(alphas[_chosen(whole, each)[0]]) for each in conditions}
    if verdicts.n_topics < FEWEST_TOPICS:
        few = f"{verdicts.n_topics} topics are too few to choose alpha on some and test it on others"
        return [ContextGain(each, best[each], verdicts.n_topics, reason=few) for each in conditions]
    generator = np.random.default_rng(rng)
    number = _blocks(verdicts, n_orders, generator)
    earlier = (number[:, None] < np.arange(1, N_BLOCKS + 1)[:, None]).reshape(-1, number.shape[1]).astype(np.float64)
    trial = _Trial(difference, verdicts, number, conditioned(difference, verdicts.directions, earlier))
    return [_gain(each, best[each], trial, generator) for each in conditions]


class _Trial(NamedTuple):
    """Scores and verdicts; number (order, case) of the block, 0 for the first, which only chooses.

    learnt has a draw for every order and tested block: the agreement on the cases of earlier blocks.
    """

    difference: Floats
    verdicts: UserVerdicts
    number: Ints
    learnt: Conditioned


def _blocks(verdicts: UserVerdicts, n_orders: int, rng: np.random.Generator) -> Ints:
    """Put topics in random orders and divide them into blocks -> (order, case)."""
    n_topics = verdicts.n_topics
    place = (np.argsort(rng.random((n_orders, n_topics)), axis=1) + 0.5) / n_topics
    number = np.ceil((place - FIRST_SHARE) / (1 - FIRST_SHARE) * N_BLOCKS).clip(0, N_BLOCKS).astype(np.int64)
    return np.asarray(number[:, verdicts.topic])


def _gain(condition: str, alpha: float, trial: _Trial, rng: np.random.Generator) -> ContextGain:
    """Compare what was chosen on earlier blocks with users on later topics."""
    verdicts, tested = trial.verdicts, trial.number > 0
    chosen = _chosen(trial.learnt, condition)
    threshold = trial.learnt.threshold[CONDITIONS.index(condition)]
    one, none = (_answers(trial, each, threshold) for each in (chosen, np.zeros_like(chosen)))
    kappas = [kappa_gains(one, none, verdicts.directions[strength], tested) for strength in AGAINST[condition]]
    kappa, kappa_0, by_case = (np.mean(each, axis=0) for each in zip(*kappas, strict=True))
    if np.isnan(kappa + kappa_0).any():
        return ContextGain(condition, alpha, verdicts.n_topics, reason=SAME)
    sums = [np.bincount(verdicts.topic, each, minlength=verdicts.n_topics) for each in by_case]
    value = np.stack(sums).astype(np.float64, copy=False)
    gain, error = float((kappa - kappa_0).mean()), float(np.sqrt((value**2).sum(axis=1)).mean())
    reach = _NORMAL.inv_cdf((1 + CONFIDENCE) / 2) * error
    scores = [_NORMAL.inv_cdf(1 - each) for each in flip_test(value, N_FLIPS, rng).tolist()]
    p = 1 - _NORMAL.cdf(float(np.mean(scores)))  # by the mean normal score of the orders
    found = float((chosen > 0).mean()), float(kappa.mean()), float(kappa_0.mean()), gain, gain - reach, gain + reach
    return ContextGain(condition, alpha, verdicts.n_topics, *found, p)


def _chosen(found: Conditioned, condition: str) -> Ints:
    """Return the first alpha that agrees best in each draw -> (draw,)."""
    kappa = found.kappa[CONDITIONS.index(condition), list(AGAINST[condition])]
    return np.round(np.nan_to_num(kappa).mean(axis=0), 12).argmax(axis=0).astype(np.int64)


def _answers(trial: _Trial, chosen: Ints, threshold: Floats) -> Ints:
    """Return the measure's answers with what was chosen -> (order, case): chosen (draw,), threshold (alpha, draw)."""
    number = trial.number
    draw = np.arange(len(number))[:, None] * N_BLOCKS + np.maximum(number - 1, 0)
    alpha = chosen[draw]
    difference = trial.difference[alpha, np.arange(number.shape[1])]
    return np.where(np.abs(difference) <= threshold[alpha, draw], 0, directions(difference)).astype(np.int64)


def _check(difference: Floats, alphas: Floats, conditions: tuple[str, ...]) -> None:
    if len(difference) != len(alphas) or len(alphas) < 2 or alphas[0] != 0 or (np.diff(alphas) <= 0).any():
        listed = ", ".join(f"{each:g}" for each in alphas) or "none"
        message = f"alphas are {listed}, for {len(difference)} rows of scores"
        raise SettingError(message, hint="give two or more in ascending order, the first of them 0, and a row for each")
    for each in conditions:
        if each not in CONDITIONS:
            raise UnknownName("condition", each, CONDITIONS)


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

    def records(self) -> Records:
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

    def gain_records(self) -> Records:
        """Return one row per measure and condition: the gain of context, tested."""
        return [
            {"measure": measure, **gain.record()}
            for measure, gains in zip(self.measures, self.gains, strict=True)
            for gain in gains
        ]

    def tie_records(self) -> Records:
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
        at = slice(self._at(measure, 0), self._at(measure + 1, 0))
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
        drawn = None if self.agreement.drawn is None else self.agreement.drawn.kappa[view]
        low, high = (None, None) if drawn is None else limits(drawn[one] - drawn[none])
        return {"difference": known(seen[one, 0] - seen[none, 0]), "difference_low": low, "difference_high": high}


def sweep_context(
    judgments: JudgmentsLike,
    runs: RunsLike,
    preferences: PreferencesLike,
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
    judgments = as_judgments(judgments)
    preferences = read_preferences(preferences)
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
        message = f"{name} states an alpha, which the sweep varies"
        raise MeasureError(message, hint=f"write {replace(measure, alpha=0.0)}")
    return measure


def checked_alphas(alphas: Sequence[float]) -> Floats:
    """Sort weights, each once, 0 first."""
    found = np.unique(np.round([0.0, *alphas], 12))
    if not ((found >= 0) & (found <= 1)).all():
        raise SettingError(f"alphas are {', '.join(map(str, alphas))}, expected weights from 0 to 1")
    if len(found) < 2:
        raise SettingError("there is no alpha but 0", hint="give some weights over 0, as in 0.25, 0.5, 1")
    return found
