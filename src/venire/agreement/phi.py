r"""Phi: agreement as the precision with which assessors hit a value that each item has for itself.

Checco, Roitero, Maddalena, Mizzaro and Demartini (2017), Let's Agree to Disagree, HCOMP.  A label x on a scale from lo
to hi is brought inside (0, 1) and taken as drawn around the item's own centre,

.. math::
    y &= \frac{(x - lo) / (hi - lo) \cdot (l - 1) + 1/2}{l}, \qquad
    y_{ij} \sim Beta(\mu_i \rho, (1 - \mu_i) \rho) \\
    \Phi &= 1 - 2^{1 - E[\rho | y] / 2}

with flat priors on the precision rho > 0 and on each centre, and l the largest number of labels that an item has.
Phi is 1 for perfect agreement, 0 where labels are spread evenly over the scale (rho = 2), and negative where they are
at its ends.  It is not corrected for chance, so a rare label does not lower it; it needs an order, and treats steps of
an ordinal scale as equal.  The fewer labels an item has, the more l moves them away from the ends, and the higher is
Phi: without any agreement it is near 0 only where items have many labels.  Compare Phi only at the same l, and with
``chance``: its value where the labels of an item are drawn from those of all items (a simulation of 4,000 items).

The centres are integrated out (``agreement.phi_posterior``) and the posterior of rho is summed on a grid of log rho: no
sampling, the same number each time.  The authors' package draws samples; on small examples it gives these values to
two or three digits.  On a thousand items with three labels each its sampler has not converged even where its own
convergence test says so: .65, .80 and .90 after 1,000, 5,000 and 20,000 draws, where the integral is .944.

The interval is the region of highest posterior density of rho, mapped to Phi, as in the package.  It assumes
independent items; ``interval="items"`` or ``"topics"`` resample them instead.  Where agreement depends on the topic,
the posterior's interval is too narrow (its coverage was 71 % in a simulation of 25 topics): ``interval=None`` resamples
topics where two or more have pairs of labels (fewer than ten by the jackknife, on the scale of log rho).

Departures: items with one label are left out.  Several labels of an assessor for an item count as one, their mean.
Where all labels of every item are equal the posterior has no finite mean; the limit 1 is given without an interval.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from venire.agreement.distance import level_values
from venire.agreement.intervals import OVER, Coefficient, chosen_units, topic_mean, why_no_interval
from venire.agreement.patterns import LabelPatterns
from venire.agreement.phi_posterior import Ratings, Sets, distinct_sets, phi_by_topic, phi_of, posterior_of, resampled
from venire.data.judgments import Judgments
from venire.data.label_pairs import distinct_items, refuse_mixed
from venire.data.scale import LEVELS, Scale
from venire.errors import UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.kernels.distinct import numbered
from venire.kernels.ragged import copied, offsets
from venire.results import Records, Tabular, counted, known
from venire.types import Floats, Ints, RNGLike

Number = TypeVar("Number", Floats, Ints)
INTERVALS = ("posterior", "items", "topics")
SIMULATED = 4000
ALL_ALIKE = "all labels of every item are equal, so the precision has no bound: the limit, without an interval"


@dataclass(frozen=True)
class Phi(Tabular):
    """Phi and its 95 % interval, the posterior mean of rho (``precision``), and what they rest on; None: not known."""

    value: float | None
    low: float | None
    high: float | None
    precision: float | None
    n_items: int
    n_raters: int
    level: str
    interval: str = "posterior"
    chance: float | None = None
    reason: str | None = None
    n_topics: int = 0
    n_undefined: int = 0
    n_most: int = 0
    """The largest number of labels that an item has."""

    def sentence(self) -> str:
        """Say the value, its interval, and the value expected by chance."""
        if self.value is None:
            return f"Phi is unknown: {self.reason}."
        within = "" if self.low is None or self.high is None else f" (95% interval {self.low:.3f} to {self.high:.3f})"
        if self.n_topics:
            without = f", without {counted(self.n_undefined, 'topic')} that have no pair of labels"
            mean = f" as the mean over {counted(self.n_topics, 'topic')}"
            return f"Phi is {self.value:.3f}{within}{mean}{without if self.n_undefined else ''}."
        most = counted(self.n_most, "label")
        chance = "" if self.chance is None else f", {self.chance:.3f} is chance with at most {most} per item"
        return f"Phi is {self.value:.3f}{within}: 1 is perfect agreement{chance}."

    def records(self) -> Records:
        """Return one row: the value, its interval, and what it rests on."""
        return [{name: value for name, value in self.coefficient().record().items() if name != "meaning"}]

    def coefficient(self) -> Coefficient:
        """Return it as a coefficient of agreement."""
        names = ("level", "value", "low", "high", "n_items", "n_raters", "reason", "n_topics", "n_undefined")
        fields = {name: getattr(self, name) for name in names}
        return Coefficient(name="phi", raters="all", meaning=self.sentence(), method=self.interval, **fields)


def phi(
    judgments: JudgmentsLike,
    *,
    measurement: str | None = None,
    over: str = "items",
    interval: str | None = "posterior",
    n_draws: int = 1000,
    chance: bool = True,
    counted: LabelPatterns | None = None,
    rng: RNGLike = 0,
) -> Phi:
    '''Estimate Phi.

    measurement: interval or ratio use labels as numbers, ordinal their ranks; None: that of the scale.  over: pooled
    items, or the mean over topics (Chu et al. 2021, Eq. 2).  interval: of the posterior, or by ``n_draws`` resamples of
    items or topics; None: of topics where there are two, else of the posterior.  chance: simulate the value by chance.
    counted: items that were counted elsewhere (``label_facts``), in place of those of the judgments.

    Cost: O(rows log rows), and up to 64 integrals for each number of labels that an item may have and each of about 100
    values of rho, however many items there are; 400 values for a mean over topics.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> found = phi(read_grid("""
    ...     4 0 4 2 3
    ...     3 1 1 0 4
    ...     3 1 3 2 2""", scale="0<1<2<3<4"))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.918, 0.372, 0.992)
    '''
    judgments = as_judgments(judgments)
    found: Judgments | LabelPatterns = judgments if counted is None else counted
    for kind, name, names in (("interval of phi", interval, INTERVALS), ("what phi is over", over, OVER)):
        if name is not None and name not in names:
            raise UnknownName(kind, name, names)
    level = found.scale.measurement if measurement is None else measurement
    if level not in LEVELS:
        raise UnknownName("level of measurement", level, LEVELS)
    places = _places(found.scale, level)
    ratings = _counted_ratings(found, places) if isinstance(found, LabelPatterns) else _ratings(found, places)
    if interval is None:
        several = chosen_units(None, len(np.unique(ratings.topic))) == "topics"
        interval = "topics" if several and n_draws >= 2 else "posterior"
    empty = Phi(None, None, None, None, ratings.n_items, ratings.n_raters, level, interval)
    reason = _reason(found.scale, level, ratings)
    if reason is not None:
        return replace(empty, reason=reason)
    sets = distinct_sets(ratings, int(ratings.n.max()))
    if not sets.apart.any():
        return replace(empty, value=1.0, reason=ALL_ALIKE)
    generator = np.random.default_rng(rng)
    if over == "topics":
        return _mean_over_topics(empty, sets, ratings, _n_judged(found), n_draws, generator)
    posterior = posterior_of(sets)
    if interval == "posterior":
        low, high = phi_of(posterior.densest()).tolist()
    else:
        low, high = resampled(sets, posterior, ratings.topic, units=interval, n_draws=n_draws, rng=generator)
    value = float(phi_of(np.array(posterior.mean)))
    reason = None if low is not None else why_no_interval(low, high, n_draws)
    by_chance = _chance(ratings, generator) if chance else None
    estimate = replace(empty, value=value, low=low, high=high, precision=posterior.mean, reason=reason)
    return replace(estimate, n_most=int(ratings.n.max()), chance=by_chance)


def _mean_over_topics(
    empty: Phi, sets: Sets, ratings: Ratings, n_judged: int, n_draws: int, rng: np.random.Generator
) -> Phi:
    """Mean of Phi over topics (Chu et al. 2021, Eq. 2), with an interval over topics."""
    found = topic_mean(phi_by_topic(sets, ratings.topic), n_draws, rng)
    low, high = (known(end) for end in (found.low, found.high))
    reason = None if low is not None else why_no_interval(low, high, n_draws)
    mean = replace(empty, value=found.value, low=low, high=high, interval="topics", reason=reason)
    return replace(mean, n_topics=found.n_topics, n_undefined=n_judged - found.n_topics)


def _n_judged(found: Judgments | LabelPatterns) -> int:
    """Count the topics that have labels."""
    topic = found.topic[found.pattern >= 0] if isinstance(found, LabelPatterns) else found.items.topic[found.item]
    return len(np.unique(topic))


def _places(scale: Scale, level: str) -> Floats:
    """Positions of labels between the ends of the scale, 0 to 1 -> (label,); NaN if they have none."""
    values = level_values(scale, level)
    if values is None:
        return np.full(len(scale), np.nan)
    extent = values.max() - values.min()
    return (values - values.min()) / extent if extent > 0 else np.full(len(values), np.nan)


def _reason(scale: Scale, level: str, ratings: Ratings) -> str | None:
    """Say why there is no Phi; None if there is one."""
    if level == "nominal":
        return "the labels have no order, and Phi needs one"
    if len(scale) < 2:
        return "the scale has a single label"
    if level_values(scale, level) is None:
        return f"the labels {scale} are not all numbers, so they are not on the level {level}"
    return None if len(ratings.n) else "no item was judged by two assessors"


def _ratings(judgments: Judgments, places: Floats) -> Ratings:
    """Gather one rating per assessor and item, of items that two assessors or more judged."""
    refuse_mixed(judgments)
    item, topic = distinct_items(judgments)
    n_raters = max(len(judgments.assessor.names), 1)
    key, cell = numbered(item.astype(np.int64) * n_raters + judgments.assessor.codes)
    place = np.bincount(cell, places[judgments.label]) / np.bincount(cell) if len(cell) else np.zeros(0)
    several = np.bincount(key // n_raters, minlength=len(topic)) > 1
    rows = several[key // n_raters]
    item, place = (np.cumsum(several) - 1)[key[rows] // n_raters], place[rows]
    start = np.flatnonzero(np.diff(item, prepend=-1))
    n = np.diff(np.append(start, len(item)))
    place = place[np.lexsort((place, item))]
    sharing = int((np.bincount(key[rows] % n_raters) > 0).sum())
    return Ratings(place, start, n, topic[several], sharing, np.ones(len(n)))


def _counted_ratings(table: LabelPatterns, places: Floats) -> Ratings:
    """Gather the ratings of items that are counted by topic and pattern, where two assessors or more judged them."""
    several = np.flatnonzero((table.pattern >= 0) & table.paired[table.pattern])
    pattern, _ = copied(table.size)
    place = np.repeat(places[table.patterns.label], table.patterns.times)
    place = place[np.lexsort((place, pattern))]
    of_item = table.pattern[several]
    n = table.size[of_item]
    item, number = copied(n)
    times = np.ones(len(several)) if table.times is None else table.times[several].astype(np.float64)
    start = offsets(table.size)[of_item]
    return Ratings(place[start[item] + number], offsets(n)[:-1], n, table.topic[several], table.n_sharing, times)


def _chance(ratings: Ratings, rng: np.random.Generator) -> float:
    """Phi of items whose labels are drawn from those of all items."""
    n = _drawn(ratings.n, ratings.times, SIMULATED, rng)
    item, _ = copied(n)
    place = _drawn(ratings.place, np.repeat(ratings.times, ratings.n), len(item), rng)
    place = place[np.lexsort((place, item))]
    drawn = Ratings(place, offsets(n)[:-1], n, np.zeros(0, dtype=np.int32), 0, np.ones(len(n)))
    sets = distinct_sets(drawn, int(ratings.n.max()))
    return float(phi_of(np.array(posterior_of(sets).mean))) if sets.apart.any() else 1.0


def _drawn(values: Number, times: Floats, size: int, rng: np.random.Generator) -> Number:
    """Draw values, each of which occurs some times; the result does not depend on their order."""
    order = np.argsort(values, kind="stable")
    last = np.cumsum(times[order])
    return values[order][np.searchsorted(last, rng.integers(int(last[-1]), size=size), side="right")]
