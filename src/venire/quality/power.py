r"""Discriminative power: the share of pairs of systems whose difference is significant, by measure and label set.

Sakai (2006, Evaluating evaluation metrics based on the bootstrap, doi:10.1145/1148170.1148261; 2012, Evaluation with
informational and navigational intents, WWW, for Tukey's test).  Every two systems are tested for a difference in mean
score (``comparison.tests``), with the same resamples of topics for all pairs, measures and label sets, and

    share        pairs with a p-value (achieved significance level, ASL) of at most alpha, of all pairs that have one
    curve        p-values in ascending order: where the curve crosses alpha, the share is read off (Sakai draws it in
                 descending order)
    difference   of means, that is required: the largest over pairs of what each would need (bootstrap; see below), or
                 the one that any pair needs (``TukeyHSD.critical``).  Pairs that differ on so few topics that no
                 difference is enough are left out, and counted

The bootstrap's p-values are not adjusted for the number of pairs, as Sakai's are not: some pairs are significant by
chance.  Tukey's hold for all pairs together.

Power is not validity.  It shows that scores vary little over topics compared with the differences of systems, not that
these differences are right; and it depends on the gains of the labels, so that it changes when the same labels are
written on another scale (Chu et al. 2021, doi:10.1145/3459637.3482428, Section 5.2.3).

Required differences (Sakai 2006): of the resamples of the shifted differences w, take the one whose :math:`|t^*|` is
the k-th largest, k = alpha B of B resamples; its :math:`|\bar w^*|` is the difference that the pair would have needed.
With :math:`S_1 = \sum w^*` and :math:`S_2 = \sum w^{*2}` over the n topics of a resample,

.. math:: t^{*2} = (n - 1) \frac{r}{1 - r}, \qquad r = \frac{S_1^2}{n S_2} ,

so that both sums are matrix products, as in ``kernels.paired_tests``, and all pairs share the resamples.  Where the
k-th largest t* is infinite (a resample without spread), no difference is enough.

Cost: O(draws x topics x pairs) for each measure and label set, as matrix products; the runs are scanned once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from venire.comparison.robustness import Measures
from venire.comparison.tests import PairedBootstrap, PairedScores, PairTest, TukeyHSD, paired_scores
from venire.data.judgments import Judgments
from venire.data.panel import Pool
from venire.data.runs import Runs
from venire.disagreement.top_results import ManyGains, labels_of_fit, named_gains
from venire.errors import MissingTopicsWarning, SettingError, UnjudgedWarning
from venire.io.judgments import JudgmentSets, JudgmentsLike, as_judgment_sets, as_judgments
from venire.io.runs import Progress, RunsLike, as_runs, scan
from venire.kernels.paired_tests import Differences
from venire.measures.evaluate import evaluate, labels_for
from venire.measures.scores import Scores
from venire.randomness import copied, seed_of, topic_weights
from venire.results import Note, Records, Tabular, counted
from venire.types import Bools, Floats, RNGLike

ALPHA = 0.05
NAMES: dict[type, str] = {PairedBootstrap: "bootstrap", TukeyHSD: "tukey"}
Tests = PairTest | Sequence[PairTest] | None
BLOCK_CELLS = 1 << 18
"""Number of resampled statistics that are held at a time."""
NO_SPREAD = 1e-9
"""A resample has no spread if r lies closer to 1 than this."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Power(Tabular):
    """Pairs of systems tested by one measure with one set of labels.

    pairs_of (pair,) names both systems; delta, p_value (pair,): difference of means and p-value, NaN where there is
    none.  ``difference`` is required for a p-value of alpha, None with a ``reason`` where it is not known; ``never``
    counts pairs for which no difference would be enough, which are left out of it.  ``method`` describes the test.
    """

    measure: str
    labels: str
    test: str
    alpha: float
    pairs_of: tuple[tuple[str, str], ...]
    delta: Floats
    p_value: Floats
    topics: int
    difference: float | None
    reason: str | None
    method: str
    never: int = 0

    @property
    def pairs(self) -> int:
        """Number of pairs of systems that have a p-value."""
        return int((~np.isnan(self.p_value)).sum())

    @property
    def told_apart(self) -> Bools:
        """Pairs with a p-value of at most alpha -> (pair,)."""
        return self.p_value <= self.alpha + 1e-12

    @property
    def share(self) -> float | None:
        """Share of pairs with a significant difference; None where no pair has a p-value."""
        return float(self.told_apart.sum() / self.pairs) if self.pairs else None

    def curve(self) -> tuple[Floats, Floats]:
        """Return the share of pairs up to each, and p-values in ascending order; both (pair,), without unknown ones."""
        p = np.sort(self.p_value[~np.isnan(self.p_value)])
        return np.arange(1, len(p) + 1) / max(len(p), 1), p

    def record(self) -> dict[str, Any]:
        """Return a row; None where nothing is known, and the reason."""
        first, last = ("measure", "labels", "test", "alpha", "share", "pairs"), ("difference", "topics", "reason")
        found = {name: getattr(self, name) for name in first} | {"told_apart": int(self.told_apart.sum())}
        return found | {name: getattr(self, name) for name in last}

    def records(self) -> Records:
        """Return one row."""
        return [self.record()]

    def what(self) -> str:
        """Return the measure and the label set."""
        return f"{self.measure} with labels {self.labels}"

    def sentence(self) -> str:
        """Return the share of pairs with a significant difference, and the difference that is required."""
        if self.share is None:
            return f"No pair of systems can be tested by {self.what()}: {self.reason}."
        needed = "" if self.difference is None else f"; a difference of {self.difference:.4f} is required"
        return (
            f"By {self.what()}, {int(self.told_apart.sum()):,} of {counted(self.pairs, 'pair')} of systems "
            f"({self.share:.1%}) differ significantly on {counted(self.topics, 'topic')} (level {self.alpha:g}, "
            f"{self.method}){needed}."
        )


@dataclass(frozen=True, eq=False)
class DiscriminativePower(Tabular):
    """Power by measure, test and label set."""

    rows: tuple[Power, ...]
    notes: tuple[Note | str, ...] = ()

    def records(self) -> Records:
        """Return one row per measure, test and label set."""
        return [row.record() for row in self.rows]

    def of(self, measure: str, labels: str, test: str | None = None) -> Power:
        """Return the row of a measure and label set; with one test it may be left out."""
        for row in self.rows:
            if (row.measure, row.labels) == (measure, labels) and test in (None, row.test):
                return row
        known = ", ".join(row.what() for row in self.rows[:4])
        raise SettingError(f"nothing was tested by {measure} with labels {labels}", hint=f"there are {known}")

    def sentence(self) -> str:
        """Return the largest and the smallest share of significant pairs, by the first test."""
        known = [row for row in self.rows if row.share is not None and row.test == self.rows[0].test]
        if len(known) < 2:
            return (known or self.rows)[0].sentence()
        most, least = (choose(known, key=lambda row: row.share or 0.0) for choose in (max, min))
        return (
            f"Share of pairs of systems that differ significantly: from {least.share:.1%} by {least.what()} to "
            f"{most.share:.1%} by {most.what()} ({most.pairs:,} pairs, level {most.alpha:g}, {most.method})."
        )


def required_differences(differences: Differences, weights: Floats, most: int) -> Floats:
    """Return the difference that at most so many resamples reach: weights (draw, topic) -> (pair,).

    NaN for pairs whose differences have no spread; infinite where no difference is enough.
    Cost: O(draws x topics x pairs), as two matrix products (three where topics are missing); memory bounded.
    """
    found = np.full(len(differences.n), np.nan)
    spread = np.flatnonzero(~differences.without_spread)
    step = max(1, BLOCK_CELLS // max(1, len(weights)))
    for first in range(0, len(spread), step):
        block = spread[first : first + step]
        found[block] = _required_by_draws(differences.take(block), weights, most)
    return found


def _required_by_draws(differences: Differences, weights: Floats, most: int) -> Floats:
    """Return the mean of the resample whose t* is at place ``most``, the largest at 0 -> (pair,)."""
    w = np.where(differences.present, differences.value - differences.mean, 0.0)
    sums, squares = w.T @ weights.T, (w * w).T @ weights.T
    squares[squares <= 0] = np.inf
    r = np.divide(sums * sums, squares, out=squares)
    n = differences.n[:, None].astype(np.float64)
    if not differences.complete:
        n = differences.present.T.astype(np.float64) @ weights.T
        r /= np.maximum(n, 1)
        r = np.where((n < 2) | (1 - r < NO_SPREAD), np.inf, (n - 1) * r / np.maximum(1 - r, NO_SPREAD))
    largest = np.partition(r, -1 - most, axis=1)[:, -1 - most, None]
    place = (r == largest).argmax(axis=1)[:, None]
    total = np.abs(np.take_along_axis(sums, place, axis=1))
    if differences.complete:
        return np.where(n - largest < n * NO_SPREAD, np.inf, total / n)[:, 0]
    return np.where(np.isinf(largest), np.inf, total / np.maximum(np.take_along_axis(n, place, axis=1), 1))[:, 0]


def discriminative_power(
    judgments: JudgmentSets,
    runs: RunsLike,
    measures: Measures = ("nDCG@10",),
    *,
    test: Tests = None,
    alpha: float = ALPHA,
    gains: ManyGains = ("linear",),
    assessor: str | None = None,
    per: str | None = None,
    pool: str | Pool | None = None,
    fit_on: JudgmentsLike | None = None,
    fit_to: str | None = None,
    topics: Iterable[str] | None = None,
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> DiscriminativePower:
    """Measure the share of pairs of systems with a significant difference, for several measures and label sets.

    Parameters
    ----------
    judgments : as ``evaluate`` takes them, or several by name: {"4": judgments, **all_thresholds(judgments)}
    runs, measures, assessor, per, pool, topics : as ``evaluate`` takes them; with ``per="assessor"`` every assessor's
        labels are a set of their own
    test : ``PairedBootstrap(n)`` (the default), ``TukeyHSD(n)``, another test of pairs, or several
    alpha : significance level
    gains : several, by name or as {name: gains}; None: the usual ones of ``between_gains``
    fit_on, fit_to : what gains by a model are fitted on, as in ``between_gains``

    Returns
    -------
    DiscriminativePower: a row for each measure, test and label set.  A label set is named after what differs: the set
    of judgments, the assessor, the gains.
    """
    fit_on = None if fit_on is None else as_judgments(fit_on)
    how = {"assessor": assessor, "per": per, "pool": pool, "topics": topics, "progress": progress}
    sets, sources = as_judgment_sets(judgments), as_runs(runs)
    scored: dict[str, Scores] = {}
    notes: list[Any] = []
    if len({len(each.scale) for each in sets.values()}) > 1:
        notes.append(Note("different-scales", "the label sets are on different scales: power depends on the gains"))
    for name, labels in sets.items():
        labels = labels_for(labels, measures)
        sources = scan(sources, labels.items, progress=progress)
        chosen = partial(labels_of_fit, labels, sources, fit_on=fit_on, fit_to=fit_to)
        by_gains, about = named_gains(labels, gains, chosen=chosen)
        notes += about
        for gain, scores in _scored(labels, sources, measures, by_gains, quiet=bool(scored), **how):
            whose = assessor or (pool if isinstance(pool, str) else labels.assessors[0] if pool is None else "pool")
            parts = [name] * (len(sets) > 1) + [gain] * (len(by_gains) > 1)
            scored[", ".join(parts) or ("" if per else whose)] = scores
            notes += scores.notes
    found = power_of(scored, test=test, alpha=alpha, rng=rng)
    return DiscriminativePower(found.rows, tuple(dict.fromkeys([*notes, *found.notes])))


def power_of(
    scores: Scores | Mapping[str, Scores], *, test: Tests = None, alpha: float = ALPHA, rng: RNGLike = 0
) -> DiscriminativePower:
    """Measure the share of pairs of systems with a significant difference in scores, for label sets by name.

    Scores with an axis ``assessor`` are a label set for each assessor; the rest as in ``discriminative_power``.

    Examples
    --------
    >>> values = np.array([[0.7, 0.3, 0.2, 0.6, 0.4], [0.5, 0.1, 0.0, 0.2, 0.4], [0.0, 0.0, 0.2, 0.1, 0.3]])
    >>> names = {"system": ("a", "b", "c"), "topic": ("1", "2", "3", "4", "5")}
    >>> found = power_of(Scores(values, ("system", "topic"), names), test=TukeyHSD(n=999)).rows[0]
    >>> round(found.share, 3), round(found.difference, 3)
    (0.333, 0.3)
    """
    if not 0 < alpha < 1:
        raise SettingError(f"alpha is {alpha:g}, expected a level between 0 and 1, as 0.05")
    tests = [PairedBootstrap()] if test is None else list(test) if isinstance(test, Sequence) else [test]
    seed = seed_of(rng)
    rows: list[Power] = []
    for labels, one in _label_sets({"all": scores} if isinstance(scores, Scores) else scores):
        for measure in one.names["measure"] if "measure" in one.axes else ("score",):
            paired = _with_topics(one, measure)
            rows += [_tested(paired, labels, each, alpha=alpha, seed=seed) for each in tests]
    if not rows:
        raise SettingError("there are no scores to test", hint="score two runs or more with one measure or more")
    order = list(dict.fromkeys((row.measure, row.test) for row in rows))
    rows.sort(key=lambda row: order.index((row.measure, row.test)))
    return DiscriminativePower(tuple(rows), tuple(_notes(rows, tests)))


def _scored(
    labels: Judgments, runs: Runs, measures: Measures, by_gains: Mapping[str, Any], *, quiet: bool, **how: Any
) -> Iterator[tuple[str, Scores]]:
    """Score with each of the gains; only the first scoring warns."""
    for number, (name, gains) in enumerate(by_gains.items()):
        with warnings.catch_warnings():
            for kind in (MissingTopicsWarning, UnjudgedWarning) if number or quiet else ():
                warnings.simplefilter("ignore", kind)
            yield name, evaluate(labels, runs, measures, gains=gains, **how)


def _label_sets(scores: Mapping[str, Scores]) -> Iterator[tuple[str, Scores]]:
    """Return label sets by name, one for each assessor."""
    for name, each in scores.items():
        if "assessor" not in each.axes:
            yield name, each
            continue
        for who in each.names["assessor"]:
            yield ", ".join([who, name] if name and name != "all" else [who]), each.select(assessor=who)


def _with_topics(scores: Scores, measure: str) -> PairedScores:
    """Pair systems on the topics for which any of them has a score."""
    one = scores.select(measure=measure) if "measure" in scores.axes else scores
    values = np.moveaxis(one.values, one.axes.index("topic"), -1)
    present: Bools = np.asarray(~np.isnan(values).all(axis=0))
    topics = tuple(name for name, has in zip(one.names["topic"], present.tolist(), strict=True) if has)
    names = {"system": one.names["system"], "topic": topics, "measure": (measure,)}
    return paired_scores(Scores(values[:, present, None], ("system", "topic", "measure"), names), measure)


def _tested(paired: PairedScores, labels: str, test: PairTest, *, alpha: float, seed: np.random.SeedSequence) -> Power:
    """Test all pairs, and find the required difference on the same draws."""
    reason = None
    p = np.full(len(paired.a), np.nan)
    required = np.empty(0)
    try:
        if len(paired.topics) > 1:
            p = test.p_values(paired, np.random.default_rng(copied(seed)))
    except SettingError as error:
        reason = error.message
    if np.isnan(p).all():
        reason = reason or f"{counted(len(paired.topics), 'topic')} with scores, expected two or more"
    else:
        required = _required(paired, test, alpha, np.random.default_rng(copied(seed)))
        reason = _unknown(required, test, alpha, len(paired.topics))
    enough = required[np.isfinite(required)]
    return Power(
        measure=paired.measure,
        labels=labels,
        test=NAMES.get(type(test), type(test).__name__),
        alpha=alpha,
        pairs_of=paired.all_names(),
        delta=paired.differences.mean,
        p_value=p,
        topics=len(paired.topics),
        difference=float(enough.max()) if len(enough) else None,
        reason=reason,
        method=test.words(len(paired.topics)),
        never=int(np.isinf(required).sum()) if len(enough) else 0,
    )


def _required(paired: PairedScores, test: PairTest, alpha: float, rng: np.random.Generator) -> Floats:
    """Return differences required for a p-value of alpha: of every pair, or one for all (infinite: none is enough)."""
    if isinstance(test, TukeyHSD):
        return np.array([test.critical(paired, rng, alpha=alpha)])
    if not isinstance(test, PairedBootstrap) or test.finest(len(paired.topics)) > alpha:
        return np.empty(0)
    most = int(np.floor(alpha * (1 + test.n) + 1e-9)) - 1
    return required_differences(paired.differences, topic_weights(len(paired.topics), test.n, rng), most)


def _unknown(required: Floats, test: PairTest, alpha: float, n_topics: int) -> str | None:
    """Return why the required difference is not known; None where it is."""
    if np.isfinite(required).any():
        return None
    if not isinstance(test, (PairedBootstrap, TukeyHSD)):
        return "this test has no required difference"
    if test.finest(n_topics) > alpha:
        return f"{counted(test.n, 'draw')} cannot give a p-value of {alpha:g}, expected {1 / alpha - 1:.0f} or more"
    return "differences have no spread, or too little, to say which is required"


def _notes(rows: Sequence[Power], tests: Sequence[PairTest]) -> Iterator[Note]:
    """Yield what limits the conclusions."""
    alpha = rows[0].alpha
    for test in tests:
        if max(test.finest(row.topics) for row in rows) > alpha:
            words = "the smallest p-value of the {test} is above {alpha:g}: nothing is significant"
            yield Note("too-few-draws", words, test=test.words(rows[0].topics), alpha=alpha)
    lacking = [row for row in rows if 0 < row.pairs < len(row.p_value)]
    if lacking:
        n, n_pairs = len(lacking[0].p_value) - lacking[0].pairs, len(lacking[0].p_value)
        words = "by {what}, {n:,} of {pairs:,} pairs have fewer than two topics in common and are left out"
        yield Note("too-few-topics", words, what=lacking[0].what(), n=n, pairs=n_pairs)
    row = max(rows, key=lambda each: each.never)
    if row.never:
        words = "by {what}, {n:pair} of systems differ on too few topics for any difference to be significant"
        yield Note("never-significant", words, what=row.what(), n=row.never)
    yield from _near_level(rows, tests)
    unknown = [row for row in rows if row.share is None]
    if unknown:
        words = "no pair of systems could be tested with labels {labels:list}: {reason}"
        labels = list(dict.fromkeys(row.labels for row in unknown))
        yield Note("untested", words, labels=labels, reason=unknown[0].reason)


def _near_level(rows: Sequence[Power], tests: Sequence[PairTest]) -> Iterator[Note]:
    """Yield how many p-values are within two standard errors, by the number of draws, of the level."""
    draws = {NAMES[type(test)]: test.n for test in tests if isinstance(test, (PairedBootstrap, TukeyHSD))}
    error = {name: 2 * np.sqrt(rows[0].alpha * (1 - rows[0].alpha) / n) for name, n in draws.items()}
    close = [(int((np.abs(row.p_value - row.alpha) <= error.get(row.test, 0)).sum()), row) for row in rows]
    n, row = max(close, key=lambda each: each[0])
    if n and row.test in draws:
        words = "by {what}, {n:,} of {pairs:pair} have p within {error:.3f} of {alpha:g}, the error of {draws:,} draws"
        how: dict[str, Any] = {"error": float(error[row.test]), "alpha": row.alpha, "draws": draws[row.test]}
        yield Note("near-level", words, what=row.what(), n=n, pairs=row.pairs, **how)
