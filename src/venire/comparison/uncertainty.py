r"""Sources of uncertainty: what other topics change in a comparison, what another judge changes, and both together.

With :math:`x_{st}` the score of system s on topic t now, :math:`x_{std}` in draw d of a judge, its mean over draws
:math:`\mu_{st}`, and :math:`w_{dt}` how often topic t is among n topics drawn with replacement,

    topics   :math:`\sum_t x_{st} / n + c \sum_t (w_{dt} - 1) x_{st} / n`          other topics, the same judge
    judges   :math:`\sum_t x_{std} / n`                                           the same topics, another judge
    both     :math:`\sum_t x_{std} / n + c \sum_t (w_{dt} - 1) \mu_{st} / n`

Other topics are *another sample of as many topics*, whose mean differs from the mean over these topics by twice the
variance of one mean: hence :math:`c = \sqrt{2n / (n - 1)}` (``kernels.resampling.between_samples``).  With c = 1, the
plain bootstrap, the probability of coming first is too high: on halves of the topics of TREC Deep Learning 2021
(``bench/first_place.py``).  The draws are not intervals of a mean over topics; for those see ``evaluate`` and
``comparison.significance``.

Resampling the topics of a draw, :math:`\sum_t w_{dt} x_{std} / n`, would count chance in single labels twice, once in
the draw and once more between its topics: in trials with known truth its standard deviation is 15 to 25 % too large
(``tests/unit/comparison/test_uncertainty_sources.py``), that of the form above is right.  ``both`` may still be
narrower than ``topics``: a new judge does not repeat every label, so that systems differ less on each topic.

The share of draws of ``both`` in which A is ahead of B estimates the probability that A beats B for a random user and a
new set of as many topics.  It holds for topics like these, and for the judges that the judge model describes.

``compare_judge_models`` forecasts the same pairs with one transition matrix, with a matrix per assessor, and with
matrices that vary with assessor and topic (``disagreement.transitions``).  Where the results differ, the probabilities
depend on the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.comparison.forecast import DEFAULT_MODEL, TIE, JudgeSwap
from venire.comparison.stability import Stability, stability
from venire.disagreement.transitions import FORMS
from venire.errors import SettingError, UnknownName
from venire.results import Tabular, known
from venire.types import Floats, RNGLike

DRAWN = ("topics", "judges", "both")
"""The sources of uncertainty: what is drawn."""
VALUES = ("expected_delta", "sd", "low", "high", "p_ahead", "p_tie", "se")
"""The keys of a record that are None where a source is not known."""
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class UncertaintySources(Tabular):
    """Mean scores now, (system,), and draws by source, each (draw, system): of the same systems on another sample of as
    many topics ("topics"), under another judge ("judges"), and both.  With one topic, only "judges" is known.
    """

    systems: tuple[str, ...]
    measure: str
    mean: Floats
    draws: Mapping[str, Floats]
    judge_model: str
    notes: tuple[Any, ...] = ()

    def number(self, system: str) -> int:
        """Return the number of a system."""
        if system not in self.systems:
            raise UnknownName("system", system, self.systems)
        return self.systems.index(system)

    def difference(self, source: str, a: str, b: str) -> Floats:
        """Return the draws of the difference between two systems by one source -> (draw,)."""
        if source not in DRAWN:
            raise UnknownName("source of uncertainty", source, DRAWN)
        if source not in self.draws:
            raise SettingError("there is one topic, so the effect of other topics is not known", hint="add topics")
        return self.draws[source][:, self.number(a)] - self.draws[source][:, self.number(b)]

    def p_beats(self, a: str, b: str, *, source: str = "both") -> float:
        """Return the probability that a is strictly ahead of b, by default for a random user and new topics."""
        return float((self.difference(source, a, b) > TIE).mean())

    def records(self, pairs: Iterable[tuple[str, str]] | None = None) -> list[dict[str, Any]]:
        """Return one JSON object per pair and source; all pairs, if none are named.  None where it is not known."""
        if pairs is None:
            first, second = np.triu_indices(len(self.systems), 1)
            pairs = [(self.systems[a], self.systems[b]) for a, b in zip(first, second, strict=True)]
        return [self._record(source, a, b) for a, b in pairs for source in DRAWN]

    def _record(self, source: str, a: str, b: str) -> dict[str, Any]:
        delta = float(self.mean[self.number(a)] - self.mean[self.number(b)])
        about = {"a": a, "b": b, "measure": self.measure, "source": source, "delta": delta}
        return about | (self._values(source, a, b) if source in self.draws else dict.fromkeys(VALUES))

    def _values(self, source: str, a: str, b: str) -> dict[str, Any]:
        found = self.difference(source, a, b)
        low, high = np.quantile(found, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]).tolist()
        p = float((found > TIE).mean())
        return {
            **{"expected_delta": float(found.mean()), "sd": float(found.std(ddof=1)), "low": low, "high": high},
            **{"p_ahead": p, "p_tie": float((np.abs(found) <= TIE).mean())},
            "se": float(np.sqrt(p * (1 - p) / len(found))),
        }

    def sentence(self, a: str | None = None, b: str | None = None) -> str:
        """Return the probabilities of one pair, by default the best system and the next that it is ahead of."""
        if len(self.systems) < 2:
            return f"There is one system only, {self.systems[0]}; its {self.measure} is {self.mean[0]:.4f}."
        first = int(np.argmax(self.mean))
        below = np.where(self.mean < self.mean[first] - TIE, self.mean, -np.inf)
        if (a is None or b is None) and not np.isfinite(below).any():
            return f"By {self.measure}, all {len(self.systems)} systems have the same mean, {self.mean[first]:.4f}."
        a, b = a or self.systems[first], b or self.systems[int(np.argmax(below))]
        p = {source: self.p_beats(a, b, source=source) for source in self.draws}
        if "topics" not in p:
            return (
                f"By {self.measure}, {a} beats {b} under another judge with probability {p['judges']:.2f}; with one "
                "topic, the effect of other topics is not known."
            )
        return (
            f"By {self.measure}, {a} beats {b} on other topics with probability {p['topics']:.2f}, under another judge "
            f"with {p['judges']:.2f}, and for a random user and a new set of topics with {p['both']:.2f}."
        )


def uncertainty_sources(
    swap: JudgeSwap, *, judge_model: str = DEFAULT_MODEL, n_draws: int = 2000, rng: RNGLike = 0
) -> UncertaintySources:
    """Draw mean scores on other topics, under another judge, and both, by the one measure of a judge swap.

    judge_model : "fixed", "assessors" or "hierarchical" (``disagreement.transitions``)
    Cost: that of ``forecast``; memory: a block of draws, and draws x (systems + topics).
    """
    found = swap.forecasts(judge_model=judge_model, n_draws=n_draws, rng=rng)[0]
    known_ones = {**found.others, "judges": found.draws}
    draws = {source: known_ones[source] for source in DRAWN if source in known_ones}
    return UncertaintySources(found.systems, found.measure, found.mean, draws, judge_model, found.notes)


@dataclass(frozen=True, eq=False)
class JudgeModelComparison(Tabular):
    """The stability of the same systems under several judge models, by name; the first is the reference."""

    found: dict[str, Stability]

    @property
    def stays(self) -> Floats:
        """Probability that each order stays -> (judge model, pair)."""
        return np.stack([each.stays for each in self.found.values()])

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per judge model: means over all pairs, and differences from the first model."""
        stays = self.stays
        return [
            {
                "judge_model": name,
                "tau": known(each.correlation().value),
                "tau_low": known(each.correlation().low),
                "tau_high": known(each.correlation().high),
                "mean_p_stays_ahead": float(each.stays.mean()),
                "fragile": int(each.fragile.sum()),
                "pairs": len(each.stays),
                "mean_change": float(np.abs(stays[n] - stays[0]).mean()),
                "most_change": float(np.abs(stays[n] - stays[0]).max()),
            }
            for n, (name, each) in enumerate(self.found.items())
        ]

    def pair_records(self) -> list[dict[str, Any]]:
        """Return one JSON object per pair, in descending order of the range over judge models."""
        first = next(iter(self.found.values()))
        a, b = first.pairs
        names, stays = first.forecast.systems, self.stays
        order = np.argsort(-np.ptp(stays, axis=0), kind="stable")
        return [
            {"a": names[a[n]], "b": names[b[n]], "delta": float(first.delta[n])}
            | {f"p_stays_ahead_{name}": float(stays[row, n]) for row, name in enumerate(self.found)}
            for n in order.tolist()
        ]

    def sentence(self) -> str:
        """Return how much the probabilities differ between judge models."""
        spread = np.ptp(self.stays, axis=0)
        most = self.pair_records()[0]
        counts = ", ".join(f"{int(each.fragile.sum()):,} ({name})" for name, each in self.found.items())
        return (
            f"Between judge models, the probability that an order stays differs by {spread.mean():.2f} on average and "
            f"by {spread.max():.2f} at most ({most['a']} and {most['b']}); fragile pairs: {counts}."
        )


def compare_judge_models(
    swap: JudgeSwap, *, judge_models: Sequence[str] = FORMS, n_draws: int = 2000, rng: RNGLike = 0
) -> JudgeModelComparison:
    """Forecast the pairs of a judge swap under several judge models, by its first measure.

    Cost: that of one forecast per judge model.
    """
    if not judge_models:
        raise SettingError("no judge model was given", hint=f"there are {', '.join(FORMS)}")
    drawn = {name: swap.forecasts(judge_model=name, n_draws=n_draws, rng=rng)[0] for name in judge_models}
    return JudgeModelComparison({name: stability(found) for name, found in drawn.items()})
