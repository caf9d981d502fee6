r"""The gain of context: does a weight alpha on conditional labels bring a measure nearer to users?

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.2.2, look for the alpha with the highest agreement.  The
best of several alphas never agrees less than alpha = 0, which is one of them: on the topics that chose it, a gain is
always observed.  Here alpha and the thresholds for ties are chosen on some topics and tested on others, and the gain is
paired,

.. math:: \kappa(\alpha\ \text{chosen on other topics}) - \kappa(0)

*Forward* cross-validation: topics are put in a random order and divided into blocks; a block uses what does best on the
blocks before it, starting with a fifth of the topics.  Given the earlier blocks, the expected gain of a block is 0
under the null hypothesis, so the gains of topics are a martingale difference sequence, and swapping both answers topic
by topic tests them (``kernels.directions``).  (With the usual folds each topic helps to choose for all others: the same
test then rejects in 6 to 16 % where all alphas are alike, instead of 5.)  The result depends on the order.  Many orders
are drawn, and the mean over orders of the test's normal score is taken as one normal score; its variance is no larger,
so the test is conservative.  The interval is the mean gain and 1.96 mean standard errors.

Where several alphas do equally well the smallest is chosen.  In ``simultaneous`` kappa is the mean of those with weak
and with strong preference.

When not to use this: a conditional label by the same assessor is also a second label of the document.  Where labels are
noisy, two labels agree better with users than one, even if context means nothing to them; such a gain is not due to
context.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from venire.errors import SettingError, UnknownName
from venire.kernels.directions import directions, flip_test, kappa_gains
from venire.results import Records, Tabular
from venire.types import Floats, Ints, RNGLike
from venire.users.agreement import CONDITIONS, CONFIDENCE, Conditioned, conditioned
from venire.users.verdicts import UserVerdicts

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
    found = [kappa_gains(one, none, verdicts.directions[strength], tested) for strength in AGAINST[condition]]
    kappa, kappa_0, by_case = (np.mean(each, axis=0) for each in zip(*found, strict=True))
    if np.isnan(kappa + kappa_0).any():
        return ContextGain(condition, alpha, verdicts.n_topics, reason=SAME)
    sums = [np.bincount(verdicts.topic, each, minlength=verdicts.n_topics) for each in by_case]
    value = np.stack(sums).astype(np.float64, copy=False)
    gain, error = float((kappa - kappa_0).mean()), float(np.sqrt((value**2).sum(axis=1)).mean())
    reach = _NORMAL.inv_cdf((1 + CONFIDENCE) / 2) * error
    return ContextGain(
        condition,
        alpha,
        verdicts.n_topics,
        used=float((chosen > 0).mean()),
        kappa=float(kappa.mean()),
        kappa_0=float(kappa_0.mean()),
        gain=gain,
        low=gain - reach,
        high=gain + reach,
        p=_p_value(flip_test(value, N_FLIPS, rng)),
    )


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


def _p_value(p: Floats) -> float:
    """Combine the p-values of several orders by their mean normal score."""
    return 1 - _NORMAL.cdf(float(np.mean([_NORMAL.inv_cdf(1 - each) for each in p.tolist()])))


def _check(difference: Floats, alphas: Floats, conditions: tuple[str, ...]) -> None:
    if len(difference) != len(alphas) or len(alphas) < 2 or alphas[0] != 0 or (np.diff(alphas) <= 0).any():
        listed = ", ".join(f"{each:g}" for each in alphas) or "none"
        message = f"alphas are {listed}, for {len(difference)} rows of scores"
        raise SettingError(message, hint="give two or more in ascending order, the first of them 0, and a row for each")
    for each in conditions:
        if each not in CONDITIONS:
            raise UnknownName("condition", each, CONDITIONS)
