r"""Discriminative power: how many pairs of systems a measure tells apart, with these labels on these topics.

Sakai (2006, Evaluating evaluation metrics based on the bootstrap, doi:10.1145/1148170.1148261; 2012, Evaluation with
informational and navigational intents, WWW, for Tukey's test).  Every two systems are tested for a difference in mean
score (``comparison.tests``), with the same resamples of topics for all pairs, measures and label sets, and

    share        pairs with a p-value (achieved significance level, ASL) of at most alpha, of all pairs that have one
    curve        p-values in ascending order: where the curve crosses alpha, the share is read off (Sakai draws it in
                 descending order)
    difference   of means, that is required: the largest over pairs of what each would need (bootstrap; Sakai
                 2006, see below), or the one that any pair needs (``TukeyHSD.critical``).  Pairs
                 that differ on so few topics that no difference is enough are left out, and counted

The bootstrap's p-values are not adjusted for the number of pairs, as Sakai's are not: some of the pairs are told apart
by chance.  Tukey's hold for all pairs together.

Power is no quality by itself.  It says that scores vary little from topic to topic beside how much systems differ, not
that what is told apart is right; and it depends on the gains of the labels, so that it moves when the same labels are
written on another scale (Chu et al. 2021, doi:10.1145/3459637.3482428, Section 5.2.3).

Cost: O(draws x topics x pairs) for each measure and label set, as matrix products; the runs are scanned once.

Powers: pairs of systems told apart, by measure and label set, as rows that say what was tested.

Required differences: how far apart two systems' means must lie before resampled topics cannot explain it.

Sakai (2006, doi:10.1145/1148170.1148261): of the resamples of the shifted differences w, take the one whose
:math:`|t^*|` is the k-th largest, k = alpha B of B resamples; its :math:`|\bar w^*|` is the difference that the pair
would have needed.  With :math:`S_1 = \sum w^*` and :math:`S_2 = \sum w^{*2}` over the n topics of a resample,

.. math:: t^{*2} = (n - 1) \frac{r}{1 - r}, \qquad r = \frac{S_1^2}{n S_2} ,

so that both sums are matrix products, as in ``kernels.paired_tests``, and all pairs share the resamples.  Where the
k-th largest t* is infinite (a resample without spread), no difference would do.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from venire.comparison.robustness import ManyGains, Measures, labels_of_fit, named_gains
from venire.comparison.tests import PairedBootstrap, PairedScores, PairTest, TukeyHSD, paired_scores
from venire.data.judgments import Judgments
from venire.data.panel import Pool
from venire.data.runs import Runs
from venire.errors import MissingTopicsWarning, SettingError, UnjudgedWarning
from venire.io.judgment_sources import JudgmentsLike, read_judgments
from venire.io.runs import Progress, RunsLike, scan
from venire.kernels.paired_tests import Differences
from venire.kernels.resampling import topic_weights
from venire.measures.evaluate import evaluate
from venire.measures.scores import Scores
from venire.randomness import copied, seed_of
from venire.results import Records, Tabular, counted
from venire.types import Bools, Floats, RNGLike


@dataclass(frozen=True, eq=False, kw_only=True)
class Power(Tabular):
    """Pairs of systems tested by one measure with one set of labels.

    systems, the first and the second of each pair (pair,) by name; delta, p_value (pair,): difference of means and
    p-value, NaN where there is none.  ``difference`` is what is required for a p-value of alpha, None with a
    ``reason`` where that is not known; ``never`` is how many pairs differ on so few topics that none would be enough,
    which are left out of it.  ``method`` says the test in words.
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
        """How many pairs of systems have a p-value."""
        return int((~np.isnan(self.p_value)).sum())

    @property
    def told_apart(self) -> Bools:
        """Pairs with a p-value of at most alpha -> (pair,)."""
        return self.p_value <= self.alpha + 1e-12

    @property
    def share(self) -> float | None:
        """Share of pairs that are told apart; None where no pair has a p-value."""
        return float(self.told_apart.sum() / self.pairs) if self.pairs else None

    def curve(self) -> tuple[Floats, Floats]:
        """Share of pairs up to each, and p-values in ascending order; both (pair,), without unknown ones."""
        p = np.sort(self.p_value[~np.isnan(self.p_value)])
        return np.arange(1, len(p) + 1) / max(len(p), 1), p

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object: null where nothing is known, and the reason."""
        return {
            "measure": self.measure,
            "labels": self.labels,
            "test": self.test,
            "alpha": self.alpha,
            "share": self.share,
            "pairs": self.pairs,
            "told_apart": int(self.told_apart.sum()),
            "difference": self.difference,
            "topics": self.topics,
            "reason": self.reason,
        }

    def records(self) -> Records:
        """Return one row."""
        return [self.record()]

    def what(self) -> str:
        """Say what was tested."""
        return f"{self.measure} with labels {self.labels}"

    def sentence(self) -> str:
        """Say it in one sentence."""
        if self.share is None:
            return f"By {self.measure} with labels {self.labels}, no pair of systems can be tested: {self.reason}."
        needed = "" if self.difference is None else f"; a difference of {self.difference:.4f} is required"
        return (
            f"By {self.measure} with labels {self.labels}, {int(self.told_apart.sum()):,} of "
            f"{counted(self.pairs, 'pair')} of systems ({self.share:.1%}) are told apart on "
            f"{counted(self.topics, 'topic')} (level {self.alpha:g}, {self.method}){needed}."
        )


@dataclass(frozen=True, eq=False)
class DiscriminativePower(Tabular):
    """Power by measure, test and label set; ``notes`` says what to be careful about."""

    rows: tuple[Power, ...]
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per measure, test and label set."""
        return [row.record() for row in self.rows]

    def of(self, measure: str, labels: str, test: str | None = None) -> Power:
        """Return the row of a measure and label set; the test may be left out where there is but one."""
        for row in self.rows:
            if (row.measure, row.labels) == (measure, labels) and test in (None, row.test):
                return row
        there = ", ".join(f"{row.measure} with labels {row.labels}" for row in self.rows[:4])
        raise SettingError(f"nothing was tested by {measure} with labels {labels}", hint=f"there are {there}")

    def sentence(self) -> str:
        """Say the main finding in one sentence: that of the first test, where there are several."""
        known = [row for row in self.rows if row.share is not None and row.test == self.rows[0].test]
        if len(known) < 2:
            return (known or self.rows)[0].sentence()
        most, least = max(known, key=_share), min(known, key=_share)
        if _share(most) == _share(least):
            return (
                f"All {len(known)} combinations of measure and labels tell the same share of pairs of systems apart, "
                f"{most.share:.1%} (level {most.alpha:g}, {most.method})."
            )
        whose, begin, by = "", "Most", (most.what(), least.what())
        if len({row.labels for row in known}) == 1:
            whose, begin, by = f"With labels {most.labels}, ", "most", (most.measure, least.measure)
        return (
            f"{whose}{begin} pairs of systems are told apart by {by[0]} ({most.share:.1%} of {most.pairs:,}), fewest "
            f"by {by[1]} ({least.share:.1%}), at level {most.alpha:g} ({most.method})."
        )

    def __str__(self) -> str:
        lines = [f"  {row.what()}, {row.test}: {'-' if row.share is None else f'{row.share:.4f}'}" for row in self.rows]
        return "\n".join([self.sentence(), *lines])


def _share(row: Power) -> float:
    return row.share if row.share is not None else float("nan")


BLOCK_CELLS = 1 << 18
"""How many resampled statistics are held at a time."""

NO_SPREAD = 1e-9
"""A resample has no spread if r lies closer to 1 than this."""


def required_differences(differences: Differences, weights: Floats, most: int) -> Floats:
    """Difference that at most so many resamples are as large as: weights (draw, topic) -> (pair,).

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
    """Mean of the resample whose t* is at place ``most``, the largest at 0 -> (pair,)."""
    w = np.where(differences.present, differences.value - differences.mean, 0.0)
    sums, squares = w.T @ weights.T, (w * w).T @ weights.T
    r = np.divide(sums * sums, squares, out=np.zeros(sums.shape), where=squares > 0)
    n = differences.n[:, None].astype(np.float64)
    if not differences.complete:
        n = differences.present.T.astype(np.float64) @ weights.T
        r /= np.maximum(n, 1)
        r = np.where((n < 2) | (1 - r < NO_SPREAD), np.inf, (n - 1) * r / np.maximum(1 - r, NO_SPREAD))
    place = np.argpartition(r, -1 - most, axis=1)[:, -1 - most, None]
    largest, total = (np.take_along_axis(each, place, axis=1) for each in (r, np.abs(sums)))
    if differences.complete:
        return np.where(n - largest < n * NO_SPREAD, np.inf, total / n)[:, 0]
    return np.where(np.isinf(largest), np.inf, total / np.maximum(np.take_along_axis(n, place, axis=1), 1))[:, 0]


ALPHA = 0.05
NAMES: dict[type, str] = {PairedBootstrap: "bootstrap", TukeyHSD: "tukey"}
Tests = PairTest | Sequence[PairTest] | None


def discriminative_power(
    judgments: JudgmentsLike | Mapping[str, Judgments],
    runs: RunsLike,
    measures: Measures = ("nDCG@10",),
    *,
    test: Tests = None,
    alpha: float = ALPHA,
    gains: ManyGains = ("linear",),
    assessor: str | None = None,
    per: str | None = None,
    pool: str | Pool | None = None,
    fit_on: Judgments | None = None,
    fit_to: str | None = None,
    topics: Iterable[str] | None = None,
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> DiscriminativePower:
    """Tell how many pairs of systems each measure tells apart, for several label sets side by side.

    Parameters
    ----------
    judgments : as ``evaluate`` takes them, or several by name: {"4": judgments, "4to2(>=1)": reduced(judgments, ...)}
    runs, measures, assessor, per, pool, topics : as ``evaluate`` takes them; with ``per="assessor"`` every assessor's
        labels are a set of their own
    test : ``PairedBootstrap(n)`` (the default), ``TukeyHSD(n)``, another test of pairs, or several
    alpha : level at which systems are told apart
    gains : several, by name or as {name: gains}; None: the usual ones of ``between_gains``
    fit_on, fit_to : what gains by a model are fitted on, as in ``between_gains``

    Returns
    -------
    DiscriminativePower: a row for each measure, test and label set.  A label set is named after what differs: the set
    of judgments, the assessor, the gains.
    """
    how = {"assessor": assessor, "per": per, "pool": pool, "topics": topics, "progress": progress}
    sets = _sets(judgments)
    scored: dict[str, Scores] = {}
    notes = _of_scales(sets)
    for name, labels in sets.items():
        runs = scan(runs, labels.items, progress=progress)
        chosen = partial(labels_of_fit, labels, runs, fit_on=fit_on, fit_to=fit_to)
        worths, said = named_gains(labels, gains, chosen=chosen)
        notes += said
        for worth, scores in _scored(labels, runs, measures, worths, quiet=bool(scored), **how):
            whose = assessor or (pool if isinstance(pool, str) else labels.assessors[0] if pool is None else "pool")
            parts = [name] * (len(sets) > 1) + [worth] * (len(worths) > 1)
            scored[", ".join(parts) or ("" if per else whose)] = scores
            notes += scores.notes
    found = power_of(scored, test=test, alpha=alpha, rng=rng)
    return DiscriminativePower(found.rows, tuple(dict.fromkeys([*notes, *found.notes])))


def power_of(
    scores: Scores | Mapping[str, Scores], *, test: Tests = None, alpha: float = ALPHA, rng: RNGLike = 0
) -> DiscriminativePower:
    """Tell how many pairs of systems are told apart by scores, for one or more label sets by name.

    Scores with an axis ``assessor`` are taken apart, a label set for each; the rest as in ``discriminative_power``.

    Examples
    --------
    >>> values = np.array([[0.7, 0.3, 0.2, 0.6, 0.4], [0.5, 0.1, 0.0, 0.2, 0.4], [0.0, 0.0, 0.2, 0.1, 0.3]])
    >>> names = {"system": ("a", "b", "c"), "topic": ("1", "2", "3", "4", "5")}
    >>> print(power_of(Scores(values, ("system", "topic"), names), test=TukeyHSD(n=999)).sentence())
    By score with labels all, 1 of 3 pairs of systems (33.3%) are told apart on 5 topics (level 0.05, randomised \
Tukey HSD, 999 permutations); a difference of 0.3000 is required.
    """
    if not 0 < alpha < 1:
        raise SettingError(f"alpha is {alpha:g}, expected a level between 0 and 1, as 0.05")
    tests = _tests(test)
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


def _sets(judgments: JudgmentsLike | Mapping[str, Judgments]) -> dict[str, Judgments]:
    """Label sets by name; one that is not named is called after whose labels it has."""
    if isinstance(judgments, Mapping) and judgments:
        sets = {str(name): each for name, each in judgments.items() if isinstance(each, Judgments)}
        if len(sets) == len(judgments):
            return sets
    return {"": read_judgments(judgments)}


def _scored(
    labels: Judgments, runs: Runs, measures: Measures, worths: Mapping[str, Any], *, quiet: bool, **how: Any
) -> Iterator[tuple[str, Scores]]:
    """Score with one gains after the other; what the first warns of, the others need not repeat."""
    for number, (name, worth) in enumerate(worths.items()):
        with warnings.catch_warnings():
            for kind in (MissingTopicsWarning, UnjudgedWarning) if number or quiet else ():
                warnings.simplefilter("ignore", kind)
            yield name, evaluate(labels, runs, measures, gains=worth, **how)


def _of_scales(sets: Mapping[str, Judgments]) -> list[str]:
    """Warn where label sets are on different scales."""
    if len({len(each.scale) for each in sets.values()}) < 2:
        return []
    return [
        "the label sets are on different scales, and power moves with the gains of a scale even where labels say the "
        "same: compare them with care"
    ]


def _tests(test: Tests) -> list[PairTest]:
    if test is None:
        return [PairedBootstrap()]
    return list(test) if isinstance(test, Sequence) else [test]


def _label_sets(scores: Mapping[str, Scores]) -> Iterator[tuple[str, Scores]]:
    """Label sets by name, assessors apart."""
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
    there: Bools = np.asarray(~np.isnan(values).all(axis=0))
    topics = tuple(name for name, has in zip(one.names["topic"], there.tolist(), strict=True) if has)
    names = {"system": one.names["system"], "topic": topics, "measure": (measure,)}
    return paired_scores(Scores(values[:, there, None], ("system", "topic", "measure"), names), measure)


def _tested(paired: PairedScores, labels: str, test: PairTest, *, alpha: float, seed: np.random.SeedSequence) -> Power:
    """Test all pairs, and find the difference that is required on the same draws."""
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
        pairs_of=tuple(paired.names(pair) for pair in range(len(paired.a))),
        delta=paired.differences.mean,
        p_value=p,
        topics=len(paired.topics),
        difference=float(enough.max()) if len(enough) else None,
        reason=reason,
        method=test.words(len(paired.topics)),
        never=int(np.isinf(required).sum()) if len(enough) else 0,
    )


def _required(paired: PairedScores, test: PairTest, alpha: float, rng: np.random.Generator) -> Floats:
    """Differences required for a p-value of alpha: of every pair, or the one of all (infinite: none is enough)."""
    if isinstance(test, TukeyHSD):
        return np.array([test.critical(paired, rng, alpha=alpha)])
    if not isinstance(test, PairedBootstrap) or test.finest(len(paired.topics)) > alpha:
        return np.empty(0)
    most = int(np.floor(alpha * (1 + test.n) + 1e-9)) - 1
    return required_differences(paired.differences, topic_weights(len(paired.topics), test.n, rng), most)


def _unknown(required: Floats, test: PairTest, alpha: float, n_topics: int) -> str | None:
    """Why it is not known which difference is required; None where it is."""
    if np.isfinite(required).any():
        return None
    if not isinstance(test, (PairedBootstrap, TukeyHSD)):
        return "this test does not say which difference is required"
    if test.finest(n_topics) > alpha:
        return f"{counted(test.n, 'draw')} cannot give a p-value of {alpha:g}, expected {1 / alpha - 1:.0f} or more"
    return "differences have no spread, or too little, to say which is required"


def _notes(rows: Sequence[Power], tests: Sequence[PairTest]) -> list[str]:
    """What to be careful about."""
    notes = []
    coarse = [test for test in tests if max(test.finest(row.topics) for row in rows) > rows[0].alpha]
    for test in coarse:
        words = test.words(rows[0].topics)
        notes.append(
            f"the smallest p-value that the {words} can give is above {rows[0].alpha:g}: nothing is told apart"
        )
    lacking = [row for row in rows if 0 < row.pairs < len(row.p_value)]
    if lacking:
        row = lacking[0]
        notes.append(
            f"by {row.what()}, {len(row.p_value) - row.pairs:,} of {len(row.p_value):,} pairs have fewer than two "
            "topics in common and are left out"
        )
    never = [row for row in rows if row.never]
    if never:
        row = max(never, key=lambda each: each.never)
        notes.append(
            f"by {row.what()}, {counted(row.never, 'pair')} of systems differ on so few topics that no difference "
            "would tell them apart: left out of the difference required"
        )
    notes += _by_seed(rows, tests)
    unknown = [row for row in rows if row.share is None]
    if unknown:
        listed = ", ".join(dict.fromkeys(row.labels for row in unknown))
        notes.append(f"no pair of systems could be tested with labels {listed}: {unknown[0].reason}")
    return notes


def _by_seed(rows: Sequence[Power], tests: Sequence[PairTest]) -> list[str]:
    """Say how many pairs another seed may move over the level: two standard errors of a p-value by so many draws."""
    draws = {NAMES[type(test)]: test.n for test in tests if isinstance(test, (PairedBootstrap, TukeyHSD))}
    error = {name: 2 * np.sqrt(rows[0].alpha * (1 - rows[0].alpha) / n) for name, n in draws.items()}
    close = [(int((np.abs(row.p_value - row.alpha) <= error.get(row.test, 0)).sum()), row) for row in rows]
    n, row = max(close, key=lambda each: each[0])
    if not n or row.test not in draws:
        return []
    return [
        f"by {row.what()}, p-values of {n:,} of {counted(row.pairs, 'pair')} are within {error[row.test]:.3f} of "
        f"{row.alpha:g}, the error of {draws[row.test]:,} draws: another seed may decide these differently"
    ]
