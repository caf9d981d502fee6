r"""How many double judgments, or topics, p(R|i) needs, and whether the lowest label needs them.

Demeester et al. (2015), Section 6.3, ask for enough double judgments; Section 6.2 finds that topics matter more.  With
v the variance of p(R|i) from one double judgment (``kernels.shares``) and T topics of variance A each,

.. math:: sd^2(m, T) = \frac{A}{T} + \frac{v}{m}, \qquad  \frac{A}{T} = \max(0, sd_{topics}^2 - sd_{items}^2)

since the variance over topics includes that of their items.  A standard deviation of at most d takes

    judgments                  v / d^2, if topics did not differ
    judgments_on_these_topics  v / (d^2 - A / T); no number is enough where A / T >= d^2
    topics                     T sd_topics^2 / d^2, each with as many double judgments as a topic has now

p is an estimate, and few pairs may agree by chance: 0 of 2 would require less than 1 of 2.  So v is the largest within
the 95 % interval of p(R|i), and sd_topics is at least half the width of the interval, divided by 1.96.  Every label
needs 50 pairs, below which Demeester et al. (2014), Section 7, put numbers in brackets.

Section 5.2.1 stops judging the lowest label again once p(R|lowest) is negligible.  Here that is where the upper end of
its 95 % interval is below .02, the paper's own case being .01.

Annotation rounds: Section 6.3 and Figure 3.  The double judgments are resampled with replacement, and p(R|i) is
computed for a growing number of them, 50 times.  A double judgment is two labels of one item; where items have more
labels, every pair of them is one.  Only the two labels matter, so a round is a few multinomial draws from the counts of
a fit, whatever their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.data.scale import RelevantSets, Scale
from venire.disagreement.predicted_relevance import PredictedRelevanceFit, label_rows
from venire.errors import PairsError, SettingError
from venire.kernels.shares import FEW_PAIRS, Z95, annotation_rounds, shares, variance_per_judgment, wilson
from venire.results import Records, Tabular
from venire.types import Bools, Floats, Ints, RNGLike

N_ROUNDS = 50
MIRRORED = ("paired", "labels")
"""Estimators in which either label of a double judgment comes first once."""

_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_FIRST = 10


@dataclass(frozen=True, eq=False)
class AnnotationRounds(Tabular):
    """Mean and standard deviation of p(R|i) over rounds, both (step, relevant, label), by sizes (step,).

    Over the rounds in which the label was seen; NaN where fewer than two have seen it.
    """

    scale: Scale
    relevant: RelevantSets
    sizes: Ints
    mean: Floats
    sd: Floats
    n_rounds: int

    def sentence(self, row: int = 0) -> str:
        """Say the largest standard deviation over rounds, with few and with many double judgments."""
        last = self.sd[-1, row]
        if np.isnan(last).all():
            return "No label occurs often enough in the rounds to estimate how p(R|i) varies."
        label = int(np.nanargmax(last))
        seen = np.flatnonzero(~np.isnan(self.sd[:, row, label]))
        few = int(seen[len(seen) // 2])
        return (
            f"p({self.relevant.names[row]}|{self.scale.labels[label]}) has the largest standard deviation over rounds: "
            f"{self.sd[few, row, label]:.3f} with {self.sizes[few]:,} double judgments, {last[label]:.3f} with "
            f"{self.sizes[-1]:,}."
        )

    def records(self) -> Records:
        """Return one row per number of double judgments, notion of relevance and label: mean and sd over rounds."""
        return [
            {"judgments": size, **row}
            for size, mean, sd in zip(self.sizes.tolist(), self.mean, self.sd, strict=True)
            for row in label_rows(self.relevant, self.scale, {"mean": mean, "sd": sd})
        ]


def simulate_rounds(
    fit: PredictedRelevanceFit, *, sizes: Sequence[int] | None = None, n_rounds: int = N_ROUNDS, rng: RNGLike = 0
) -> AnnotationRounds:
    """Simulate rounds of annotation from the double judgments of a fit.  O(rounds x steps x labels^2).

    sizes : numbers of double judgments; None: 10, 15, 20, 30, 50, 70, 100, ... up to as many as there are
    """
    grid = np.unique(np.asarray(default_sizes(available(fit)) if sizes is None else sizes, dtype=np.int64))
    if n_rounds < 2 or len(grid) == 0 or grid[0] < 1:
        raise SettingError(
            f"{n_rounds} rounds of {', '.join(map(str, grid)) or 'no'} double judgments",
            hint="expected 2 rounds or more, of 1 double judgment or more",
        )
    counts = annotation_rounds(
        fit.by_topic.sum(axis=0), grid, n_rounds, mirrored=mirrored(fit), rng=np.random.default_rng(rng)
    )
    p = shares(counts, fit.relevant.labels)
    return AnnotationRounds(fit.scale, fit.relevant, grid, *_moments(p), n_rounds)


def mirrored(fit: PredictedRelevanceFit) -> bool:
    """Whether either label of a double judgment comes first once."""
    return fit.setting.estimator in MIRRORED


def available(fit: PredictedRelevanceFit) -> int:
    """Number of double judgments of a fit; of items, where every item has the same weight."""
    total = float(fit.by_topic.sum())
    return round(total / 2 if mirrored(fit) and fit.setting.weight == "pair" else total)


def default_sizes(most: int) -> list[int]:
    """Numbers of double judgments, about evenly spaced on a logarithmic scale, up to ``most``.

    Examples
    --------
    >>> default_sizes(120)
    [10, 15, 20, 30, 50, 70, 120]
    """
    if most < 1:
        raise PairsError("there is no double judgment to draw from", hint="have some items judged a second time")
    tens = range(len(str(most)))
    sizes = (round(_FIRST * step * 10**ten) for ten in tens for step in _STEPS)
    return [*(size for size in sizes if 1.2 * size < most), most]


def _moments(p: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation over the first axis without NaN; NaN where fewer than two are left."""
    known: Bools = ~np.isnan(p)
    n = known.sum(axis=0)
    enough = n > 1
    mean = np.where(known, p, 0.0).sum(axis=0) / np.maximum(n, 1)
    squares = np.where(known, (p - mean) ** 2, 0.0).sum(axis=0)
    sd = np.sqrt(squares / np.maximum(n - 1, 1))
    return np.where(enough, mean, np.nan), np.where(enough, sd, np.nan)


DEVIATION = 0.02
NEGLIGIBLE = 0.02
"""p(R|lowest) is negligible where the upper end of its interval is below this."""

_MEANINGS = {("labels", "pair"): "pairs of labels on an item", ("labels", "item"): "items judged twice"}


@dataclass(frozen=True, eq=False)
class JudgingEffort(Tabular):
    """What a standard deviation of at most ``deviation`` takes; arrays (relevant, label), NaN where unknown.

    n_judgments: how many double judgments there are, and ``meaning`` what counts as one; variance: of one double
    judgment, the largest within the interval of p(R|i); floor: the standard deviation that remains on these topics with
    any number of double judgments.
    """

    scale: Scale
    relevant: RelevantSets
    deviation: float
    n_judgments: int
    meaning: str
    n_topics: int
    variance: Floats
    floor: Floats
    judgments: Floats
    judgments_on_these_topics: Floats
    topics: Floats

    def sentences(self, row: int = 0) -> list[str]:
        """Say how many double judgments p(R|i) needs, and how many topics."""
        if np.isnan(self.judgments[row]).all():
            return []
        found = [
            f"A standard deviation of at most {self.deviation:g} on p({self.relevant.names[row]}|i) takes this many "
            f"{self.meaning} if topics do not differ: {self._listed(self.judgments[row])} (there are "
            f"{self.n_judgments:,})."
        ]
        above = self.floor[row] >= self.deviation
        if above.any():
            level = int(np.nanargmax(self.floor[row]))
            found.append(
                f"On these {self.n_topics} topics the standard deviation of p({self.relevant.names[row]}|"
                f"{self.scale.labels[level]}) stays at {self.floor[row, level]:.3f} or more with any number of them; "
                f"judge more topics: {self._listed(np.where(above, self.topics[row], np.nan))}."
            )
        elif not np.isnan(self.floor[row]).all():
            listed = self._listed(self.judgments_on_these_topics[row])
            found.append(f"With the differences between these {self.n_topics} topics it takes {listed}.")
        return found

    def sentence(self) -> str:
        """Say how many double judgments are needed, by the first notion of relevance."""
        return (self.sentences() or ["No label has been judged twice, so the effort is unknown."])[0]

    def records(self) -> Records:
        """Return one row per notion of relevance and label, the highest first: what it takes, None if unknown."""
        names = ("judgments", "topics", "judgments_on_these_topics")
        columns = {"deviation": np.full_like(self.judgments, self.deviation)}
        return label_rows(self.relevant, self.scale, columns | {name: getattr(self, name) for name in names})

    def _listed(self, numbers: Floats) -> str:
        levels = [level for level in reversed(range(len(self.scale))) if not np.isnan(numbers[level])]
        return ", ".join(f"{int(numbers[level]):,} for {self.scale.labels[level]}" for level in levels)


def double_judgments_needed(fit: PredictedRelevanceFit, deviation: float = DEVIATION) -> JudgingEffort:
    """Compute how many double judgments, or topics, give p(R|i) a standard deviation of at most ``deviation``.

    Examples
    --------
    >>> from venire import PredictedRelevance
    >>> from venire.io import read_grid
    >>> fit = PredictedRelevance(estimator="one-sided", observed=["U1"]).fit(read_grid('''
    ...     1 1 1 1 0 0 0 0
    ...     1 1 1 0 0 0 0 1'''))
    >>> double_judgments_needed(fit, 0.05).judgments  # .5 * .5 / .05^2, half of the items having each label
    array([[200., 200.]])
    """
    if not 0 < deviation < 1:
        raise SettingError(f"a deviation of {deviation:g}: expected one between 0 and 1", hint="for example 0.02")
    variance = _largest_variance(fit)
    n_topics, square = fit.n_topics, deviation**2
    least = FEW_PAIRS / _pairs_each(fit)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_topics = fit.spread.sd_topics**2 * (n_topics / (n_topics - 1) if n_topics > 1 else np.nan)
        between = np.maximum(of_topics - fit.spread.sd_items**2, 0.0)
        most = np.maximum(of_topics, ((fit.spread.high - fit.spread.low) / (2 * Z95)) ** 2)
        here = np.where(between < square, variance / (square - between), np.nan)
    return JudgingEffort(
        fit.scale,
        fit.relevant,
        deviation,
        available(fit),
        _MEANINGS.get((str(fit.setting.estimator), fit.setting.weight), "double judgments"),
        n_topics,
        variance,
        np.sqrt(between),
        _whole(np.maximum(variance / square, least)),
        _whole(np.maximum(here, least)),
        _whole(np.maximum(n_topics * most / square, 1.0)),
    )


def _largest_variance(fit: PredictedRelevanceFit) -> Floats:
    """The largest variance of one double judgment with p(R|i) within its interval -> (relevant, label).

    As a function of p it is a parabola through its values at both ends and between them.  Pairs of one topic have no
    interval over topics, and that over items (Wilson) is used.
    """
    counts, spread = fit.by_topic.sum(axis=0), fit.spread
    with np.errstate(divide="ignore", invalid="ignore"):
        alike = wilson(fit.p, counts.sum(axis=1) / (2 if mirrored(fit) else 1))
    low, high = (np.where(np.isnan(end), own, end) for end, own in zip((spread.low, spread.high), alike, strict=True))

    def variance(p: Floats) -> Floats:
        return variance_per_judgment(counts, p, fit.relevant.labels, mirrored=mirrored(fit))

    at_low, between, at_high = (variance(p) for p in (low, (low + high) / 2, high))
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = at_low - 2 * between + at_high
        place = np.where(bend < 0, 0.5 + (at_low - at_high) / (4 * bend), 0.5)
    top = variance(low + np.clip(place, 0.0, 1.0) * (high - low))
    return np.maximum(np.maximum(at_low, at_high), top)


def _pairs_each(fit: PredictedRelevanceFit) -> Floats:
    """Pairs that begin with a label, for every double judgment -> (label,); NaN for a label without."""
    counts = fit.by_topic.sum(axis=0)
    each = counts.sum(axis=1) / counts.sum() * (2 if mirrored(fit) else 1)
    return np.where(each > 0, each, np.nan)


def _whole(numbers: Floats) -> Floats:
    """Round up, ignoring rounding errors."""
    return np.ceil(numbers * (1 - 1e-12))


@dataclass(frozen=True)
class LowestLabel:
    """Whether p(R|lowest) is small enough to stop judging the lowest label again, and what that saves.

    saved: share of the double judgments; part: share of the relevant results that would not be counted.
    """

    relevant: str
    label: str
    p: float
    high: float
    saved: float
    part: float

    @property
    def negligible(self) -> bool:
        """Whether the upper end of the interval is known, and below .02."""
        return bool(self.high < NEGLIGIBLE)

    def sentence(self) -> str:
        """Say whether p(R|lowest) is negligible."""
        limit = "unknown" if np.isnan(self.high) else f"{self.high:.3f}"
        text = f"the upper limit of p({self.relevant}|{self.label}) is {limit}"
        if not self.negligible:
            return f"Continue judging {self.label} again: {text}, not below {NEGLIGIBLE:g}."
        return (
            f"Judging {self.label} again can stop: {text}, below {NEGLIGIBLE:g}. It saves {self.saved:.0%} of the "
            f"double judgments, leaves out {self.part:.0%} of the relevant results, and needs the one-sided estimate."
        )


def lowest_labels(fit: PredictedRelevanceFit) -> list[LowestLabel]:
    """Examine p(R|lowest) for each notion of relevance; none where labels have no order."""
    if not fit.scale.ordered:
        return []
    counts = fit.by_topic.sum(axis=0)
    p = shares(counts, fit.relevant.labels)
    hits = counts @ fit.relevant.labels.T.astype(np.float64)
    saved = float(counts[0].sum() / counts.sum())
    return [
        LowestLabel(
            name,
            fit.scale.labels[0],
            float(p[row, 0]),
            float(fit.spread.high[row, 0]) if counts[0].sum() > 0 else np.nan,
            saved,
            float(hits[0, row] / max(hits[:, row].sum(), 1e-300)),
        )
        for row, name in enumerate(fit.relevant.names)
        if not fit.relevant.labels[row, 0]
    ]
