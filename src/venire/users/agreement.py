"""Agreement of measures with users' preferences between result lists, and which measure and gains agree best.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Sections 4.2 and 5.2.2: Cohen's kappa and Jaccard's coefficient
between the directions of a measure and those of users (``users.verdicts``).  The paper names the Jaccard coefficient
without a formula; here it is a / (2 - a) with a the share of equal directions, ties among them
(``kernels.directions``).  Always answering "tie" has kappa 0, and the Jaccard coefficient that the users' ties give:
the baseline.

A measure prefers the list with the higher score; a difference of at most t is a tie.  Three conditions differ in how
the threshold t is set, by the share of ties that it makes:

    weak           the share of ties is that of weak user preference
    strong         the share of ties is that of strong user preference
    simultaneous   the share for which the sum of both kappas, with weak and with strong preference, is largest

A threshold is 0 or one of the differences, so not every share is possible: the nearest is taken, the smaller of two.
The smallest is the share of differences that are exactly 0 (the paper's plots are flat up to there); it is used for any
share below.  In ``simultaneous`` one share is used for all measures that are compared, as in the paper (there about
25 %): of 41 shares from 0 to 1 the one with the largest sum on average over measures, the smallest of several.  It is
chosen on the same data, so kappa is biased upwards, in the paper as here.  Undefined kappa (both give one and the same
answer throughout) counts as 0 in the sum.

Departure: the paper has no intervals.  Here topics are resampled with all their cases, and thresholds are set anew in
every draw.  Two measures are compared on the same draws: p is the share of draws in which the difference of kappas
deviates from the observed one by at least the size of the observed one.  The best measure is chosen by the same data,
so p_adjusted compares with the largest such deviation, in standard errors, over every two measures.

When not to use this: to report the kappa of the best of several measures as its kappa on other topics.  It is biased
upwards; p_adjusted accounts for the choice.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from venire.data.context import Context
from venire.data.gains import GainsLike
from venire.data.judgments import Judgments
from venire.data.panel import Pool
from venire.data.preferences import Preferences
from venire.errors import MissingTopicsWarning, SettingError
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.preferences import PreferencesLike, read_preferences
from venire.io.runs import RunsLike, as_runs
from venire.kernels.directions import Curves, at_places, jaccard_of, nearest_places, thresholds_at, tie_curves
from venire.measures.evaluate import as_list, evaluate
from venire.measures.scoring import MeasureLike
from venire.randomness import topic_weights
from venire.results import Note, Records, Tabular, counted, known
from venire.types import Floats, Ints, RNGLike
from venire.users.verdicts import STRENGTHS, UserVerdicts, score_differences, user_verdicts

CONDITIONS = ("weak", "strong", "simultaneous")
SHARES = np.linspace(0.0, 1.0, 41)
BLOCK_CELLS = 1 << 19
"""Number of places (measures x draws x cases) that are held at a time, some twenty numbers each."""
CONFIDENCE, N_DRAWS = 0.95, 1000
TOPICS_FOR_INTERVALS = 20
"""Over fewer topics, intervals are too narrow."""
EQUAL = 1e-12
KEYS = {"kappa": ("kappa", "low", "high"), "jaccard": ("jaccard", "jaccard_low", "jaccard_high")}
VIEWS = ((0, 0), (1, 1), (2, 0), (2, 1))
"""What is reported: (condition, weak or strong preference), as in Figures 7, 8 and both rows of 9."""


class Conditioned(NamedTuple):
    """Agreement under each condition: kappa, jaccard (condition, weak or strong, measure, draw).

    ties, threshold (condition, measure, draw): the share of ties of the measure, and the threshold that gives it.
    """

    kappa: Floats
    jaccard: Floats
    ties: Floats
    threshold: Floats


def conditioned(difference: Floats, users: Ints, weights: Floats) -> Conditioned:
    """Set the thresholds of every measure in every draw, and compare it with the users.

    difference (measure, case), users (weak or strong, case) directions, weights (draw, case): how often a case counts.
    Cost: O(measures x draws x cases), memory bounded.
    """
    if difference.ndim != 2 or difference.shape[1] == 0 or not np.isfinite(difference).all():
        message = f"differences of scores have shape {difference.shape}, expected numbers (measure, case) and no NaN"
        raise SettingError(message, hint="leave out cases without a score")

    def shares(curves: Curves, block: Floats) -> Floats:
        own = (block @ (users == 0).T) / block.sum(axis=1, keepdims=True)
        return np.concatenate([own, _best_share(curves)[:, None]], axis=1)

    return Conditioned(*(np.moveaxis(each, -1, 0) for each in _at_shares(difference, users, weights, shares)))


def swept(difference: Floats, users: Ints, weights: Floats, shares: Floats) -> tuple[Floats, Floats, Floats]:
    """Return kappa and jaccard (weak or strong, measure, draw, share) at the thresholds nearest to shares of ties.

    The third array has the shares of ties that were reached (measure, draw, share).
    """
    found = _at_shares(difference, users, weights, lambda _, block: np.tile(shares, (len(block), 1)))
    return found.kappa, found.jaccard, found.ties


def _at_shares(
    difference: Floats, users: Ints, weights: Floats, shares: Callable[[Curves, Floats], Floats]
) -> Conditioned:
    """Compare measures with users at shares of ties (draw, share), a block of draws at a time; shares come last."""
    step, parts = max(1, BLOCK_CELLS // max(1, difference.size)), []
    for first in range(0, len(weights), step):
        block = weights[first : first + step]
        curves = tie_curves(difference, users, block)
        place = nearest_places(curves, shares(curves, block))
        kappa, same, ties = (at_places(each, place) for each in (curves.kappa, curves.same, curves.ties))
        parts.append((kappa, jaccard_of(same), ties, thresholds_at(difference, place)))
    return Conditioned(*(np.concatenate(each, axis=-2) for each in zip(*parts, strict=True)))


def _best_share(curves: Curves) -> Floats:
    """Return the share of ties for which the sum of both kappas is largest, on average over measures -> (draw,)."""
    n_draws = curves.ties.shape[1]
    places = nearest_places(curves, np.broadcast_to(SHARES, (n_draws, len(SHARES))))
    both = np.nan_to_num(at_places(curves.kappa, places)).sum(axis=0).mean(axis=0)
    return np.asarray(SHARES[np.round(both, 12).argmax(axis=-1)])


@dataclass(frozen=True, eq=False)
class UserAgreement(Tabular):
    """Agreement of measures with users: seen has one draw, drawn those of resampled topics (None: no intervals).

    Shapes are those of ``Conditioned``: (condition, weak or strong, measure, draw).
    """

    verdicts: UserVerdicts
    seen: Conditioned
    drawn: Conditioned | None

    def record(self, measure: int, view: tuple[int, int]) -> dict[str, Any]:
        """Return one row: a measure under a condition, against weak or strong preference."""
        condition, strength = view
        at = (condition, strength, measure)
        found: dict[str, Any] = {
            "condition": CONDITIONS[condition],
            "preference": STRENGTHS[strength],
            "share_of_ties": float(self.seen.ties[condition, measure, 0]),
            "threshold": float(self.seen.threshold[condition, measure, 0]),
        }
        for name in KEYS:
            value = known(getattr(self.seen, name)[at][0])
            found |= dict(zip(KEYS[name], (value, *self.limits(name, at)), strict=True))
        found["reason"] = None if found["kappa"] is not None else "users and measure give one and the same answer"
        return found

    def sentence(self) -> str:
        """Return the highest kappa with weak preference."""
        best = int(np.argmax(np.nan_to_num(self.seen.kappa[*VIEWS[0], :, 0], nan=-np.inf)))
        which = f"Measure {best + 1} of {self.seen.kappa.shape[2]}"
        return f"{which} agrees best with users: {kappa_words(self.record(best, VIEWS[0]))}."

    def records(self) -> Records:
        """Return one row per measure, numbered from 1, and condition."""
        n_measures = self.seen.kappa.shape[2]
        return [{"measure": n + 1, **self.record(n, view)} for view in VIEWS for n in range(n_measures)]

    def limits(self, name: str, at: tuple[int, ...]) -> tuple[float | None, float | None]:
        """Return the interval of kappa or jaccard over resampled topics; None where there is none."""
        return (None, None) if self.drawn is None else limits(getattr(self.drawn, name)[at])

    def p_values(self, view: tuple[int, int]) -> tuple[Floats, Floats]:
        """Return p-values of every measure against the best, raw and adjusted -> (measure,); NaN: none."""
        return against_best(self.seen.kappa[*view, :, 0], None if self.drawn is None else self.drawn.kappa[view])

    def baseline(self) -> list[dict[str, Any]]:
        """Return the agreement of always answering "tie" with weak and with strong preference."""
        jaccard = jaccard_of(self.verdicts.ties)
        return [
            {"preference": name, "kappa": 0.0 if ties < 1 else None, "jaccard": float(value)}
            for name, ties, value in zip(STRENGTHS, self.verdicts.ties, jaccard, strict=True)
        ]

    def notes(self) -> tuple[Note, ...]:
        """Return what limits the conclusions."""
        n = self.verdicts.n_topics
        few = self.drawn is not None and n < TOPICS_FOR_INTERVALS
        return (*self.verdicts.notes, *(Note("few-topics", "intervals over {n:topic} are too narrow", n=n),) * few)


def kappa_words(record: Mapping[str, Any]) -> str:
    """Return the kappa of a record of agreement with its interval, or why there is none."""
    if record["kappa"] is None:
        return f"kappa is not defined ({record['reason']})"
    interval = "" if record["low"] is None else f" [{record['low']:.2f}, {record['high']:.2f}]"
    return f"kappa {record['kappa']:.2f}{interval} ({record['preference']} preference)"


@dataclass(frozen=True, eq=False)
class TieSweep:
    """Agreement by share of ties (Figure 6): kappa, jaccard (value or low or high, weak or strong, measure, share).

    ties (measure, share): the share of ties that was reached for each of shares.
    """

    shares: Floats
    ties: Floats
    kappa: Floats
    jaccard: Floats

    def records(self, names: list[dict[str, Any]]) -> Records:
        """Return one row per measure, preference and share; names (measure,) are put in front."""
        return [
            {
                **names[measure],
                "preference": STRENGTHS[strength],
                "share": float(self.shares[place]),
                "share_of_ties": float(self.ties[measure, place]),
                **{
                    key: known(value)
                    for name in KEYS
                    for key, value in zip(KEYS[name], getattr(self, name)[:, strength, measure, place], strict=True)
                },
            }
            for measure in range(len(names))
            for strength in range(len(STRENGTHS))
            for place in range(len(self.shares))
        ]


def agreement_with_users(
    difference: Floats, verdicts: UserVerdicts, *, n_draws: int = N_DRAWS, rng: RNGLike = 0
) -> UserAgreement:
    """Compare measures with users under the three conditions: difference (measure, case), left less right.

    n_draws : number of resamples of topics; 0: no intervals
    Cost: O(measures x draws x cases).
    """
    seen = conditioned(difference, verdicts.directions, np.ones((1, len(verdicts))))
    drawn = conditioned(difference, verdicts.directions, _weights(verdicts, n_draws, rng)) if n_draws else None
    return UserAgreement(verdicts, seen, drawn)


def tie_sweep(difference: Floats, verdicts: UserVerdicts, *, n_draws: int = 200, rng: RNGLike = 0) -> TieSweep:
    """Compare measures with users by share of ties, from 0 to 1 (Figure 6), with 95 % intervals."""
    seen = swept(difference, verdicts.directions, np.ones((1, len(verdicts))), SHARES)
    if n_draws:
        drawn = swept(difference, verdicts.directions, _weights(verdicts, n_draws, rng), SHARES)
        bands = [quantiles(each, axis=-2) for each in drawn[:2]]
    else:
        bands = [np.full((2, *each[..., 0, :].shape), np.nan) for each in seen[:2]]
    kappa, jaccard = (np.concatenate([each[None, :, :, 0], band]) for each, band in zip(seen[:2], bands, strict=True))
    return TieSweep(SHARES, seen[2][:, 0], kappa, jaccard)


def against_best(seen: Floats, drawn: Floats | None) -> tuple[Floats, Floats]:
    """Return p-values of kappas (measure,) against the highest, by kappas of resampled topics (measure, draw).

    Both p and p_adjusted are (measure,): 1 for the best itself and for its equals.  Cost: O(measures^2 x draws).
    """
    n = len(seen)
    if drawn is None or np.isnan(seen).all():
        return np.full(n, np.nan), np.full(n, np.nan)
    best = int(np.nanargmax(seen))
    drawn = np.where(np.isnan(drawn), 0.0, drawn)
    deviation, behind = drawn - np.nan_to_num(seen)[:, None], seen[best] - seen
    spread = (drawn[best] - drawn).std(axis=-1)
    size = np.where((spread <= EQUAL) & (behind > EQUAL), np.inf, _ratio(behind, spread)) - EQUAL
    own = np.abs(_ratio(deviation[best] - deviation, spread[:, None]))
    largest = np.zeros(drawn.shape[1])  # deviation of any difference of two measures, in standard errors
    for first in range(n):
        errors = (drawn[first] - drawn[first + 1 :]).std(axis=-1)[:, None]
        ratio = _ratio(deviation[first] - deviation[first + 1 :], errors)
        np.maximum(largest, np.abs(ratio).max(axis=0, initial=0.0), out=largest)
    p, adjusted = (
        np.where(behind > EQUAL, (1 + (each >= size[:, None]).sum(axis=-1)) / (1 + drawn.shape[1]), 1.0)
        for each in (own, largest)
    )
    return np.where(np.isnan(seen), np.nan, p), np.where(np.isnan(seen), np.nan, adjusted)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros(np.shape(part)), where=np.broadcast_to(whole > EQUAL, np.shape(part)))


def limits(drawn: Floats) -> tuple[float | None, float | None]:
    """Return the interval of draws (draw,); None where most are undefined."""
    if np.isnan(drawn).mean() > 0.5:
        return None, None
    low, high = quantiles(drawn)
    return float(low), float(high)


def quantiles(drawn: Floats, axis: int = -1) -> Floats:
    """Return the 95 % interval of draws along an axis -> (low or high, ...); undefined draws count as 0."""
    return np.asarray(np.quantile(np.nan_to_num(drawn), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=axis))


def _weights(verdicts: UserVerdicts, n_draws: int, rng: RNGLike) -> Floats:
    """Return how often each case counts in each draw of topics -> (draw, case)."""
    return topic_weights(verdicts.n_topics, n_draws, np.random.default_rng(rng))[:, verdicts.topic]


@dataclass(frozen=True, eq=False)
class ScoredCases:
    """Differences of scores (measure, case), left less right, of measures with gains, and the users' verdicts."""

    names: tuple[tuple[str, str], ...]
    difference: Floats
    verdicts: UserVerdicts
    notes: tuple[Note | str, ...] = ()


@dataclass(frozen=True, eq=False)
class MeasureChoice(Tabular):
    """Agreement of measures with users; ``cases.names`` has (measure, gains) of each."""

    cases: ScoredCases
    agreement: UserAgreement
    notes: tuple[Note | str, ...] = ()

    def records(self) -> Records:
        """Return one row per measure, gains and condition, best first under each."""
        return [record for view in VIEWS for record in self._ranked(view)]

    def sentence(self) -> str:
        """Return the highest kappa with weak preference, and how many other kappas are significantly lower."""
        first, *others = self._ranked(VIEWS[0])
        tested = [each["p_adjusted"] for each in others if each["p_adjusted"] is not None]
        lower = sum(p <= 1 - CONFIDENCE for p in tested)
        test = f"; {lower} of {counted(len(others), 'other')} significantly lower (adjusted)" if tested else ""
        return f"{first['measure']} with {first['gains']} gains agrees best with users: {kappa_words(first)}{test}."

    def _ranked(self, view: tuple[int, int]) -> Records:
        p, adjusted = self.agreement.p_values(view)
        order = np.argsort(-np.nan_to_num(self.agreement.seen.kappa[*view, :, 0], nan=-2.0), kind="stable")
        return [
            {
                "rank": rank,
                "measure": self.cases.names[at][0],
                "gains": self.cases.names[at][1],
                **self.agreement.record(at, view),
                "p": known(p[at]),
                "p_adjusted": known(adjusted[at]),
            }
            for rank, at in enumerate(order.tolist(), start=1)
        ]


def choose_measure(
    judgments: JudgmentsLike,
    runs: RunsLike,
    preferences: PreferencesLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("nDCG@10",),
    *,
    gains: Mapping[str, GainsLike] | Sequence[str] = ("linear",),
    slight: float | None = None,
    n_draws: int = N_DRAWS,
    rng: RNGLike = 0,
    **scoring: Any,
) -> MeasureChoice:
    """Rank measures and gains by their agreement with users who compared result lists.

    Parameters
    ----------
    judgments, runs : left and right of the preferences name systems of the runs
    gains : names, or {name: gains}
    slight : the largest strength that is slight; None: 1, where strengths go further
    n_draws : number of resamples of topics for intervals; 0: none
    scoring : ``missing`` ("error" or "skip" lists that have no score); and assessor, pool, context, unjudged as
        ``evaluate`` takes them

    Notes
    -----
    Cost: one evaluation per gains, O(measures x gains x draws x cases), and the square of measures x gains x draws.
    """
    judgments = as_judgments(judgments)
    preferences = read_preferences(preferences)
    cases = scored_cases(judgments, runs, preferences, measures, gains=gains, slight=slight, **scoring)
    agreement = agreement_with_users(cases.difference, cases.verdicts, n_draws=n_draws, rng=rng)
    return MeasureChoice(cases, agreement, (*cases.notes, *agreement.notes()))


def scored_cases(
    judgments: Judgments,
    runs: RunsLike,
    preferences: Preferences,
    measures: Sequence[MeasureLike] | MeasureLike,
    *,
    gains: Mapping[str, GainsLike] | Sequence[str] = ("linear",),
    slight: float | None = None,
    missing: str = "error",
    assessor: str | None = None,
    pool: str | Pool | None = None,
    context: Context | None = None,
    unjudged: float | str = 0.0,
) -> ScoredCases:
    """Score both lists of every case, by every measure with every gains."""
    verdicts = user_verdicts(preferences, slight=slight)
    sources, asked = as_runs(runs), as_list(measures)
    by_name = gains if isinstance(gains, Mapping) else {name: name for name in gains}
    rules: dict[str, Any] = {"assessor": assessor, "pool": pool, "unjudged": unjudged, "context": context}
    rules |= {"topics": preferences.topics, "missing": "skip"}
    parts, names, notes, kept = [], [], [], verdicts
    for name, each in by_name.items():
        with warnings.catch_warnings():  # missing lists that matter are reported with their lines
            warnings.simplefilter("ignore", MissingTopicsWarning)
            scores = evaluate(judgments, sources, asked, gains=each, **rules)
        difference, kept = score_differences(scores, verdicts, missing=missing)
        parts.append(difference)
        names += [(measure, name) for measure in scores.names["measure"]]
        notes += [note for note in scores.notes if getattr(note, "kind", "") != "topics-not-judged"]
    return ScoredCases(tuple(names), np.concatenate(parts), kept, tuple(dict.fromkeys((*notes, *preferences.notes))))
