r"""Rank correlations over topics between offline measures, from labels, and online measures, from clicks.

Golbus et al. (2014, doi:10.1145/2566486.2568015), Figures 4 and 5: topics are ordered by an offline and by an online
measure (``users.clicks``), and the two orders are correlated by Kendall's tau (b) and Spearman's rho, over weights
alpha of conditional labels.  Scores closer than 1e-10 are tied.

The paper has no intervals.  Here they are Student's around the value, from its standard deviation over resampled
topics; so is that of ``gain``, the correlation at an alpha less the one at alpha = 0 on the same topics.  Where several
systems are scored, ``all`` is the mean of their correlations.

Resamples of few topics vary too little: all of those of three topics in perfect order are in perfect order.  So for
fewer than ten topics, or where no resample differs, the interval has the values :math:`\rho` that satisfy

.. math:: (r - \rho)^2 \le t_{n-1}^2 \, v \, (1 - \rho^2)

(Wilson's form, of a variance that falls with the correlation), where v is the variance :math:`s^2 / (1 - r^2)` by
resampling, but at least that of n topics in unrelated orders: 2 (2n + 5) / (9 n (n - 1)) for tau, 1 / (n - 1) for rho
(Kendall 1938, doi:10.1093/biomet/30.1-2.81).  The gain then has the differences of these limits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import isnan, sqrt
from typing import Any, NamedTuple

import numpy as np

from venire.comparison.rank_agreement import CONFIDENCE, STEADY, interval, resampled_sd, student
from venire.data.gains import GainsLike
from venire.data.judgments import Judgments
from venire.data.runs import Runs
from venire.errors import SettingError, UnjudgedWarning, UnknownName
from venire.io.clicks import ClicksLike, read_clicks
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import RunsLike, scan
from venire.kernels.rank_correlation import resampled_rho, resampled_tau
from venire.measures.evaluate import as_list, evaluate
from venire.measures.measure import ContextMeasure
from venire.measures.names import parse_measure, spelled
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike
from venire.randomness import FEW_TOPICS, topic_weights
from venire.results import Note, Records, Tabular, counted
from venire.types import Floats, RNGLike
from venire.users.clicks import MANY_UNSEEN, Online, lists_of, online_scores

DIGITS = 10
FEWEST = 3
NO_INTERVALS = "no intervals: topics were not resampled"
CORRELATIONS = {"kendall": resampled_tau, "spearman": resampled_rho}
UNRELATED: dict[str, Callable[[int], float]] = {
    "kendall": lambda n: 2 * (2 * n + 5) / (9 * n * (n - 1)),
    "spearman": lambda n: 1 / (n - 1),
}
"""The variance of each correlation over n topics in unrelated orders."""


@dataclass(frozen=True)
class OnlineCorrelation:
    """One correlation over topics, NaN where it is not known; alpha None: a measure of labels in isolation.

    gain is the value less that at alpha = 0; None without alpha.
    """

    system: str
    measure: str
    alpha: float | None
    online: str
    correlation: str
    value: float
    low: float
    high: float
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    topics: int

    def record(self) -> dict[str, Any]:
        """Return a row; None where a number is not known."""
        return {key: None if isinstance(each, float) and isnan(each) else each for key, each in asdict(self).items()}


@dataclass(frozen=True)
class OnlineCorrelations(Tabular):
    """Correlations between offline and online measures; ``method`` describes the intervals."""

    rows: tuple[OnlineCorrelation, ...]
    notes: tuple[Note | str, ...]
    method: str
    scores: tuple[Scores, Scores]

    def records(self) -> Records:
        """Return one row per correlation."""
        return [row.record() for row in self.rows]

    def headline(self) -> tuple[OnlineCorrelation, ...]:
        """Return the means over all systems; of a single system, its own."""
        return tuple(row for row in self.rows if row.system == "all") or self.rows

    def sentence(self) -> str:
        """Return the highest tau with each online measure."""
        known = [row for row in self.headline() if row.correlation == "kendall" and not isnan(row.value)]
        if not known:
            return "No correlation over topics is known: one side is the same for all of them."
        best = [
            max((row for row in known if row.online == online), key=lambda row: row.value)
            for online in dict.fromkeys(row.online for row in known)
        ]
        return (
            f"Highest rank correlation (tau) over {counted(known[0].topics, 'topic')}: "
            f"{'; '.join(f'{row.online} with {_words(row)}' for row in best)}."
        )


def _words(row: OnlineCorrelation) -> str:
    at = "" if row.alpha is None else f" at alpha {row.alpha:g}"
    return f"{row.measure}{at} {row.value:.2f}" + ("" if isnan(row.low) else f" [{row.low:.2f}, {row.high:.2f}]")


class _Offline(NamedTuple):
    """A measure to compute, with the name that is reported, and its alpha."""

    measure: MeasureLike
    name: str
    alpha: float | None


def correlate_online(
    judgments: JudgmentsLike,
    clicks: ClicksLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("nDCG@5",),
    *,
    runs: RunsLike | None = None,
    gains: GainsLike = "linear",
    alphas: Sequence[float] = (),
    online: Online = Online(),  # noqa: B008 - frozen
    n_draws: int = 300,
    rng: RNGLike = 0,
    topics: Iterable[str] | None = None,
    **scoring: Any,
) -> OnlineCorrelations:
    """Correlate offline with online measures over topics.

    Parameters
    ----------
    judgments : labels, as ``read_judgments`` takes them
    clicks : what ``read_clicks`` returns
    measures, gains, scoring : as in ``evaluate``
    runs : the lists to score; None: the one that was shown most often for each topic
    alphas : weights of conditional labels, for measures that take ``alpha``
    online : how clicks become scores
    n_draws : number of resamples of topics
    topics : only these

    Notes
    -----
    Only topics that were judged, are in the log and are ranked by the runs are used.
    """
    clicks = read_clicks(clicks)
    labels, sources = as_judgments(judgments), lists_of(clicks, runs)
    wanted = _wanted(as_list(measures), alphas)
    logged = set(clicks.topics)
    shared = [topic for topic in (labels.topics if topics is None else topics) if topic in logged]
    if not shared:
        raise UnknownName("topic in the click log called", labels.topics[0], clicks.topics)
    given: list[MeasureLike] = [each.measure for each in wanted]
    lists = scan(sources, labels.items)
    with warnings.catch_warnings():
        if runs is None:  # a note replaces the warning
            warnings.simplefilter("ignore", UnjudgedWarning)
        offline = evaluate(labels, lists, given, gains=gains, topics=shared, **{"missing": "skip", **scoring})
    behaviour = online_scores(clicks, sources, topics=offline.names["topic"], setting=online)
    names = behaviour.names["topic"]
    values = offline.values[:, [offline.names["topic"].index(topic) for topic in names]]
    offline = replace(offline, values=values, names={**offline.names, "topic": names})
    found = list(_correlated(offline, behaviour, n_draws=n_draws, rng=rng))
    rows = [row for each in found for row in _rows(each, wanted, online.names)]
    fewest = min((row.topics for row in rows if not isnan(row.value)), default=FEW_TOPICS)
    words = "correlations rest on as few as {n:topic}: their intervals are wide"
    few = [Note("few-topics", words, n=fewest)] * (fewest < FEW_TOPICS)
    form = f", in Wilson's form below {FEW_TOPICS} topics" if few else ""
    method = f"{CONFIDENCE:.0%} intervals: Student, sd from a bootstrap over topics, n={n_draws}{form}"
    unjudged: list[Note] = []
    if runs is None:
        whose = labels if scoring.get("assessor") is None else labels.where(assessor=scoring["assessor"])
        unjudged = _unjudged(whose, lists, topics=offline.names["topic"], top=online.top)
    notes: tuple[Any, ...] = tuple(dict.fromkeys([*clicks.notes, *offline.notes, *unjudged, *behaviour.notes, *few]))
    return OnlineCorrelations(tuple(rows), notes, method if n_draws else NO_INTERVALS, (offline, behaviour))


def _unjudged(labels: Judgments, lists: Runs, *, topics: Sequence[str], top: int) -> list[Note]:
    """Note that many of the first documents shown have no label."""
    facts = scan(lists, labels.items).facts
    judged = np.bincount(labels.item, minlength=len(labels.items)) > 0
    scored = np.isin(list(labels.items.topics), topics)[facts.topic]
    shown = int(np.minimum(facts.depth, top)[scored].sum())
    share = 1 - float(facts.documents(judged, depth=top)[scored].sum() / max(shown, 1))
    words = "{share:.0%} of the first {top} documents of the lists that were shown have no label"
    return [Note("unjudged", words, share=share, top=top)] * (share > MANY_UNSEEN)


class _Found(NamedTuple):
    """Draws of a correlation for one system (1 + draw, offline, online), the first without resampling."""

    system: str
    correlation: str
    topics: int
    draws: Floats


def _wanted(measures: Sequence[MeasureLike], alphas: Sequence[float]) -> list[_Offline]:
    """Repeat measures that take alpha for every alpha; keep the others."""
    for alpha in alphas:
        if not 0 <= alpha <= 1:
            raise SettingError(f"alpha is {alpha}, expected a weight from 0 to 1", hint="as in 0, 0.25, 0.5, 1")
    wanted = []
    for each in measures:
        measure = parse_measure(each) if isinstance(each, str) else each
        name = spelled(each) if isinstance(each, str) else str(each)
        if not isinstance(measure, ContextMeasure):
            wanted.append(_Offline(measure, name, None))
        elif alphas:
            wanted += [_Offline(replace(measure, alpha=float(alpha)), name, float(alpha)) for alpha in alphas]
        else:
            wanted.append(_Offline(measure, name, measure.alpha or None))
    return wanted


def _correlated(offline: Scores, online: Scores, *, n_draws: int, rng: RNGLike) -> Iterator[_Found]:
    """Correlate the scores of each system on its topics, all on the same draws; the mean of systems comes first."""
    n_topics, systems = len(offline.names["topic"]), offline.names["system"]
    drawn = topic_weights(n_topics, n_draws, np.random.default_rng(rng))
    weights = np.concatenate([np.ones((1, n_topics)), drawn])
    for name, correlate in CORRELATIONS.items():
        each = []
        for number, system in enumerate(systems):
            x, y = (np.round(scores.values[number].T, DIGITS) for scores in (offline, online))
            both = ~(np.isnan(x).any(axis=0) | np.isnan(y).any(axis=0))
            draws = np.full((len(weights), len(x), len(y)), np.nan)
            if both.sum() >= FEWEST:
                draws = correlate(x[:, both], y[:, both], weights[:, both])
            each.append(_Found(system, name, int(both.sum()), draws))
        if len(each) > 1:
            mean = np.mean([found.draws for found in each], axis=0)
            yield _Found("all", name, max(found.topics for found in each), mean)
        yield from each


def _rows(found: _Found, wanted: Sequence[_Offline], names: Sequence[str]) -> Iterator[OnlineCorrelation]:
    zero = {each.name: place for place, each in enumerate(wanted) if each.alpha == 0}
    for (place, each), (column, online) in ((i, j) for i in enumerate(wanted) for j in enumerate(names)):
        draws = found.draws[:, place, column]
        gain: Any = (None, None, None)
        if each.name in zero and each.alpha:
            gain = _gained(draws, found.draws[:, zero[each.name], column], found)
        limits = (*estimated(draws, found.topics, found.correlation), *gain)
        row: Any = (found.system, each.name, each.alpha, online, found.correlation, *limits, found.topics)
        yield OnlineCorrelation(*row)


def estimated(draws: Floats, n_topics: int, correlation: str) -> tuple[float, float, float]:
    """Return value and limits of a correlation from its draws, the first of them on the topics as they are."""
    value, sd = float(draws[0]), resampled_sd(draws[1:], n_topics)
    if len(draws) == 1 or isnan(value):
        return value, np.nan, np.nan
    if n_topics < FEW_TOPICS or sd <= STEADY:
        return value, *_wilson(value, sd, n_topics, UNRELATED[correlation](n_topics))
    return value, *interval(value, sd, n_topics)


def _wilson(value: float, sd: float, n_topics: int, unrelated: float) -> tuple[float, float]:
    """Return limits by Wilson's form; unrelated: the least variance, as a share of 1 - correlation^2."""
    rest = 1 - value**2
    share = max(sd**2 / rest if rest > STEADY and not isnan(sd) else 0.0, unrelated)
    reach = student(n_topics) ** 2 * share
    half = sqrt(reach * (rest + reach))
    return (value - half) / (1 + reach), (value + half) / (1 + reach)


def _gained(draws: Floats, without: Floats, found: _Found) -> tuple[float, float, float]:
    """Return value and limits of the difference between a correlation and the one at alpha = 0, on the same draws."""
    difference = draws - without
    value, sd = float(difference[0]), resampled_sd(difference[1:], found.topics)
    if found.topics >= FEW_TOPICS:
        return value, *interval(value, sd, found.topics, lowest=-2.0, highest=2.0)
    (_, low, high), (_, low_0, high_0) = (estimated(each, found.topics, found.correlation) for each in (draws, without))
    return value, low - high_0, high - low_0
