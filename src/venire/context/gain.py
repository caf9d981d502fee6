r"""The gain of context: does a weight alpha on conditional labels bring a measure nearer to users?

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.2.2, look for the alpha with the highest agreement.  The
best of several alphas never agrees less than alpha = 0, which is one of them and at the end of their range: on the
topics that chose it, a gain is bound to be seen.  So alpha and the thresholds for ties are chosen on some topics and
held against users on others, and the gain is paired,

.. math:: \kappa(\alpha\ \text{chosen on other topics}) - \kappa(0)

*Forward* cross-validation: topics are put in a random order and parted into blocks; what is used on a block is what
does best on the blocks before it, starting with a fifth of the topics.  Given what came before, a block then has no
gain on average unless there is one, so the gains of topics add up as in a fair game, and swapping both answers topic by
topic tests them (``kernels.directions``).  (With the usual folds each topic helps to choose for all others: the same
test then claims a gain in 6 to 16 % where all alphas are alike, instead of 5.)  One order would be a matter of luck.
Many are drawn, and the mean over orders of the test's normal score is taken as one; it varies no more than one does, so
this errs on the safe side.  The interval is the mean gain and 1.96 mean standard errors.

Where alphas do equally well the smallest is chosen.  In ``simultaneous`` kappa is the mean of those with weak and with
strong preference.

When not to use this: a conditional label by the same assessor is also a second look at the document.  Where labels are
noisy, two looks agree better with users than one, even if context means nothing to them; a gain then is real, yet it is
not the context's.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from venire.errors import SettingError, UnknownName
from venire.kernels.directions import directions, flip_test, kappa_gains
from venire.results import Records, Tabular
from venire.types import Bools, Floats, Ints, RNGLike
from venire.users.agreement import CONDITIONS, Conditioned, conditioned
from venire.users.verdicts import UserVerdicts

LEVEL = 0.95
N_ORDERS, N_BLOCKS, N_FLIPS = 20, 8, 999
FIRST_SHARE = 0.2
"""The share of topics that only choose."""
FEWEST_TOPICS = 15
AGAINST = {"weak": (0,), "strong": (1,), "simultaneous": (0, 1)}
SAME = "users and measure give one and the same answer on all topics of some order"
_NORMAL = NormalDist()


@dataclass(frozen=True)
class ContextGain(Tabular):
    """What a weight on conditional labels gains: kappa with alpha chosen on other topics, less kappa_0 with alpha 0.

    low, high: 95 % interval of the gain; p: one-sided, that there is none; p_adjusted: for the number of measures, if
    several are tested.  alpha does best on all topics; used is the share of choices that were not 0.  All but
    alpha are None where reason says why.
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
        """The p-value that decides: adjusted, if it was."""
        return self.p if self.p_adjusted is None else self.p_adjusted

    @property
    def found(self) -> bool:
        """Whether a gain is found at the 5 % level."""
        return self.decisive_p is not None and self.decisive_p <= 1 - LEVEL

    def record(self) -> dict[str, Any]:
        """Return a JSON object."""
        names = ("condition", "alpha", "used", "kappa", "kappa_0", "gain", "low", "high", "p", "reason")
        found = {name: getattr(self, name) for name in names}
        return {**found, "topics": self.n_topics, "p_adjusted": self.decisive_p}

    def records(self) -> Records:
        """Return one row."""
        return [self.record()]

    def sentence(self) -> str:
        """Say whether context brings the measure nearer to users."""
        if self.gain is None or self.decisive_p is None:
            return f"nothing can be said on the gain of context ({self.condition} preference): {self.reason}"
        adjusted = "" if self.p_adjusted is None else "adjusted "
        word = "context brings it nearer to users" if self.found else "context is not shown to bring it nearer to users"
        return (
            f"{word} ({self.condition}): kappa {self.kappa:.3f} with alpha chosen on other topics and "
            f"{self.kappa_0:.3f} with alpha 0, gain {self.gain:+.3f} ({self.low:+.3f} to {self.high:+.3f}), "
            f"{adjusted}p = {self.decisive_p:.2g}, {self.n_topics} topics; on all of them alpha {self.alpha:g} agrees "
            "best"
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
    n_orders : in how many orders topics come

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
    blocks = _blocks(verdicts, n_orders, generator)
    learnt = conditioned(difference, verdicts.directions, blocks.earlier)
    return [_gain(each, best[each], _Trial(difference, verdicts, blocks, learnt), generator) for each in conditions]


class _Blocks(NamedTuple):
    """Topics in random orders: number (order, case) of the block, 0 for the first, which only chooses.

    earlier (order x block, case): 1.0 for the cases of the blocks before the first, second, ... that is tested.
    """

    number: Ints
    earlier: Floats


class _Trial(NamedTuple):
    difference: Floats
    verdicts: UserVerdicts
    blocks: _Blocks
    learnt: Conditioned


def _blocks(verdicts: UserVerdicts, n_orders: int, rng: np.random.Generator) -> _Blocks:
    n_topics = verdicts.n_topics
    place = (np.argsort(rng.random((n_orders, n_topics)), axis=1) + 0.5) / n_topics
    number = np.ceil((place - FIRST_SHARE) / (1 - FIRST_SHARE) * N_BLOCKS).clip(0, N_BLOCKS).astype(np.int64)
    number = number[:, verdicts.topic]
    earlier = number[:, None] < np.arange(1, N_BLOCKS + 1)[:, None]
    return _Blocks(number, earlier.reshape(-1, number.shape[1]).astype(np.float64))


def _gain(condition: str, alpha: float, trial: _Trial, rng: np.random.Generator) -> ContextGain:
    """Hold what was chosen against users on later topics."""
    verdicts, tested = trial.verdicts, trial.blocks.number > 0
    chosen = _chosen(trial.learnt, condition)
    threshold = trial.learnt.threshold[CONDITIONS.index(condition)]
    one, none = (_answers(trial, each, threshold) for each in (chosen, np.zeros_like(chosen)))
    found = [kappa_gains(one, none, verdicts.directions[strength], tested) for strength in AGAINST[condition]]
    kappa, kappa_0, by_case = (np.mean(each, axis=0) for each in zip(*found, strict=True))
    if np.isnan(kappa + kappa_0).any():
        return ContextGain(condition, alpha, verdicts.n_topics, reason=SAME)
    value = _by_topic(by_case, verdicts)
    gain, error = float((kappa - kappa_0).mean()), float(np.sqrt((value**2).sum(axis=1)).mean())
    reach = _NORMAL.inv_cdf((1 + LEVEL) / 2) * error
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
    """The first alpha that agrees best in each draw -> (draw,)."""
    kappa = found.kappa[CONDITIONS.index(condition), list(AGAINST[condition])]
    return np.round(np.nan_to_num(kappa).mean(axis=0), 12).argmax(axis=0).astype(np.int64)


def _answers(trial: _Trial, chosen: Ints, threshold: Floats) -> Ints:
    """What the measure says with what was chosen earlier -> (order, case): chosen (draw,), threshold (alpha, draw)."""
    number = trial.blocks.number
    draw = np.arange(len(number))[:, None] * N_BLOCKS + np.maximum(number - 1, 0)
    alpha = chosen[draw]
    difference = trial.difference[alpha, np.arange(number.shape[1])]
    tied: Bools = np.abs(difference) <= threshold[alpha, draw]
    return np.where(tied, 0, directions(difference)).astype(np.int64)


def _by_topic(by_case: Floats, verdicts: UserVerdicts) -> Floats:
    """Sum what cases add by topic: (order, case) -> (order, topic)."""
    shape = (len(by_case), verdicts.n_topics)
    cell = np.arange(shape[0])[:, None] * shape[1] + verdicts.topic
    sums = np.bincount(cell.ravel(), weights=by_case.ravel(), minlength=shape[0] * shape[1])
    return np.asarray(sums, dtype=np.float64).reshape(shape)


def _p_value(p: Floats) -> float:
    """One p-value of those of several orders: that of their mean normal score."""
    scores = [_NORMAL.inv_cdf(1 - each) for each in p.tolist()]
    return 1 - _NORMAL.cdf(float(np.mean(scores)))


def _check(difference: Floats, alphas: Floats, conditions: tuple[str, ...]) -> None:
    if len(difference) != len(alphas) or len(alphas) < 2 or alphas[0] != 0 or (np.diff(alphas) <= 0).any():
        listed = ", ".join(f"{each:g}" for each in alphas) or "none"
        message = f"alphas are {listed}, for {len(difference)} rows of scores"
        raise SettingError(message, hint="give two or more in ascending order, the first of them 0, and a row for each")
    for each in conditions:
        if each not in CONDITIONS:
            raise UnknownName("condition", each, CONDITIONS)
