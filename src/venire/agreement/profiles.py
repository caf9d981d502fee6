r"""Profiles: how each assessor labels, compared with the others on the same items.

Of an assessor, from labels of items that others judged too (``agreement.with_others``):

    agreement   how often a random other assessor gives the item the same label
    kappa       the same beyond chance: (agreement - chance) / (1 - chance), chance by the assessor's own marginals
    difference  mean distance from the others' labels, in steps of the scale
    leniency    mean label less that of the others
    shift       leniency against the typical assessor: solves label = item + shift, so that it does not depend on who
                judged the same items; 0 for the median assessor (``agreement.with_others``)

and from all labels: entropy in bits, the most frequent label and its share.  Where labels have times: ``drift`` and
``agreement_drift``, the change of leniency and agreement from the first to the last label of the assessor's own
sequence, by least squares with Student's t; ``seconds``, the median time between consecutive labels.

Where assessors are named as the reference, "the others" are these alone, and shift is leniency.  The reference itself
is compared with the rest of the reference, if there is any.  Intervals are 95 % by Student's t over the assessor's
labels, with items taken as independent and the others as fixed.  ``agreement.flags`` flags differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from venire.agreement.distance import level_values
from venire.agreement.with_others import Rest, Shifts, balance, cleared, ratio, rest_of, shifts, summed
from venire.data.judgments import Judgments
from venire.data.label_pairs import named_assessors, refuse_mixed
from venire.data.scale import Scale
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.results import Tabular, counted
from venire.types import Bools, Floats, Ints

TAIL = 0.975
FAR = 2


class Mean(NamedTuple):
    """A mean per assessor, its standard error and 95 % interval, all (assessor,); NaN where not known."""

    value: Floats
    se: Floats
    low: Floats
    high: Floats


class Trend(NamedTuple):
    """Change from the first label of an assessor to the last, and its p-value, both (assessor,); NaN: not known."""

    change: Floats
    p: Floats


@dataclass(frozen=True, eq=False)
class Profiles(Tabular):
    """How each assessor labels; all arrays are (assessor,) unless they say otherwise, NaN where nothing is known.

    labels (assessor, label) counts all labels; own, usual (assessor, label) are the shares of each label among the
    assessor's own labels of shared items, and among the others' labels of the same items.  far, far_rest (assessor,
    label): how often the assessor, and everybody else, gives a label to an item on which another gave one that is at
    least two steps away; far_n how many such meetings there were.  reference: with whom the others are compared; if
    nobody is named, everyone is compared with all others.
    """

    scale: Scale
    assessors: tuple[str, ...]
    labels: Ints
    own: Floats
    usual: Floats
    n_shared: Ints
    agreement: Mean
    chance: Floats
    kappa: Mean
    difference: Floats
    leniency: Mean
    shift: Floats
    shift_se: Floats
    """Standard error of ``shift``; NaN also beyond 2,000 assessors."""
    height: Floats
    """How far the typical assessor's labels of the same items lie above the lowest label, on average."""
    drift: Trend
    agreement_drift: Trend
    n_timed: Ints
    seconds: Floats
    far: Floats
    far_rest: Floats
    far_n: Floats
    reach: float
    """From the lowest label to the highest; NaN if labels have no order."""
    reference: tuple[str, ...] = ()

    @property
    def n_labels(self) -> Ints:
        """How many labels each assessor gave -> (assessor,)."""
        return self.labels.sum(axis=1)

    @property
    def entropy(self) -> Floats:
        """Entropy of an assessor's labels, in bits -> (assessor,)."""
        share = self.labels / np.maximum(self.n_labels, 1)[:, None]
        bits: Floats = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1) + 0.0
        return bits

    @property
    def top(self) -> Ints:
        """The label given most, the lowest of those given equally often -> (assessor,)."""
        return self.labels.argmax(axis=1)

    def columns(self) -> Mapping[str, Floats | Ints]:
        """Return all numbers by name, each (assessor,)."""
        n = self.n_labels
        return {
            "n_labels": n,
            "n_shared": self.n_shared,
            "agreement": self.agreement.value,
            "low": self.agreement.low,
            "high": self.agreement.high,
            "chance": self.chance,
            "kappa": self.kappa.value,
            "difference": self.difference,
            "leniency": self.leniency.value,
            "leniency_low": self.leniency.low,
            "leniency_high": self.leniency.high,
            "shift": self.shift,
            "entropy": self.entropy,
            "top_share": self.labels.max(axis=1) / np.maximum(n, 1),
            "drift": self.drift.change,
            "drift_p": self.drift.p,
            "agreement_drift": self.agreement_drift.change,
            "agreement_drift_p": self.agreement_drift.p,
            "seconds": self.seconds,
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per assessor, None where unknown."""
        columns = {name: column.tolist() for name, column in self.columns().items()}
        return [
            {
                "assessor": name,
                **{key: None if column[n] != column[n] else column[n] for key, column in columns.items()},
                "top_label": self.scale.labels[self.top[n]],
            }
            for n, name in enumerate(self.assessors)
        ]

    def sentence(self) -> str:
        """Say how well the assessors agree with the others."""
        shared = self.n_shared > 0
        found = (self.agreement.value[shared], self.kappa.value[shared])
        agreement, kappa = (np.nanmedian(each) if (each == each).any() else np.nan for each in found)
        return (
            f"{counted(int(shared.sum()), 'assessor')} of {len(self.assessors):,} share items with others: median "
            f"agreement {agreement:.2f}, median kappa {kappa:.2f}."
        )


def profiles(
    judgments: JudgmentsLike, *, measurement: str | None = None, reference: str | Sequence[str] = ()
) -> Profiles:
    '''Describe how every assessor labels.

    measurement: interval or ratio use labels as numbers, ordinal their ranks; None: that of the scale.  reference:
    assessors with whom the others are compared; by default each is compared with all others, which says who differs,
    not who is right.

    Cost: O(rows log rows + rows x distinct labels of an item), and that of the shift; memory linear in rows, and in
    assessors x labels.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> labels = read_grid("""
    ...     2 1 0 0 1 2
    ...     2 1 0 1 1 2
    ...     2 2 1 1 2 2""")
    >>> found = profiles(labels)
    >>> found.leniency.value.round(2).tolist(), found.agreement.value.round(2).tolist()
    ([-0.42, -0.17, 0.58], [0.58, 0.67, 0.42])
    >>> profiles(labels, reference="U3").leniency.value.round(2).tolist()
    [-0.67, -0.5, nan]
    '''
    judgments = as_judgments(judgments)
    refuse_mixed(judgments)
    level = judgments.scale.measurement if measurement is None else measurement
    values = level_values(judgments.scale, level)
    names, n_assessors, n_labels = named_assessors(reference), len(judgments.assessor.names), len(judgments.scale)
    codes = [judgments.assessor.code_of(name, "assessor") for name in names]
    rest = rest_of(judgments, values, np.isin(np.arange(n_assessors), codes) if codes else None)
    size = (n_assessors, n_labels)
    who = judgments.assessor.codes.astype(np.int64)
    labels = np.bincount(who * n_labels + judgments.label, minlength=n_assessors * n_labels).reshape(size)
    unknown = np.full(n_assessors, np.nan)
    ordered = values is not None
    agreement, chance = (_mean(rest, each, n_assessors) for each in (rest.equal, rest.chance))
    none = Mean(unknown, unknown, unknown, unknown)
    timed, order = _sequences(judgments, rest)
    far, far_rest, far_n = _far(rest, size)
    usual = _shares(rest, rest.met_other, size)
    leniency = _mean(rest, rest.gap, n_assessors) if ordered else none
    shift = shifts(rest, n_assessors) if ordered and not names else Shifts(leniency.value, leniency.se)
    return Profiles(
        scale=judgments.scale,
        assessors=judgments.assessors,
        labels=labels,
        own=_shares(rest, rest.met_own, size),
        usual=usual,
        n_shared=np.bincount(rest.own.who, minlength=n_assessors),
        agreement=agreement._replace(low=np.maximum(agreement.low, 0.0), high=np.minimum(agreement.high, 1.0)),
        chance=chance.value,
        kappa=_kappa(rest, chance.value, n_assessors),
        difference=_mean(rest, rest.distance, n_assessors).value if ordered else unknown,
        leniency=leniency,
        shift=shift.value,
        shift_se=shift.se,
        height=unknown if values is None else usual @ (values - values.min()) + leniency.value - shift.value,
        drift=_trend(rest, rest.gap, order, n_assessors) if ordered else Trend(unknown, unknown),
        agreement_drift=_trend(rest, rest.equal, order, n_assessors),
        n_timed=np.bincount(who[timed], minlength=n_assessors),
        seconds=_seconds(judgments, timed),
        far=far,
        far_rest=far_rest,
        far_n=far_n,
        reach=float(np.ptp(values)) if values is not None else np.nan,
        reference=tuple(names),
    )


def _mean(rest: Rest, values: Floats, n_assessors: int) -> Mean:
    """Mean over an assessor's labels, values (shared,), each item of theirs weighing the same."""
    from scipy.special import stdtrit

    who, weight = rest.own.who, rest.own.weight
    total = summed(who, weight, n_assessors)
    n = np.where(total > 0, total, np.nan)
    mean = balance(who, weight * values, n_assessors) / n
    squares = summed(who, weight * cleared(values - mean[who], np.abs(values)) ** 2, n_assessors)
    se = np.sqrt(squares / np.where(n > 1, n - 1, np.nan) / n)
    half = stdtrit(np.where(n > 1, n - 1, 1.0), TAIL) * se
    return Mean(mean, se, mean - half, mean + half)


def _kappa(rest: Rest, chance: Floats, n_assessors: int) -> Mean:
    """Agreement beyond chance, with the chance term taken as known; NaN where chance is all there is."""
    excess = _mean(rest, rest.equal - rest.chance, n_assessors)
    room = np.where(1.0 - chance > 1e-9, 1.0 - chance, np.nan)
    return Mean(*(each / room for each in excess))


def _shares(rest: Rest, label: Ints, size: tuple[int, int]) -> Floats:
    """Share of each label in what an assessor met, own or others' labels -> (assessor, label); NaN: no others."""
    counts = summed(rest.met_who * size[1] + label, rest.met, size[0] * size[1]).reshape(size)
    return ratio(counts, counts.sum(axis=1, keepdims=True))


def _far(rest: Rest, size: tuple[int, int]) -> tuple[Floats, Floats, Floats]:
    """How often a label is given where another's is far from it, by each and by everybody else -> (assessor, label).

    Third, how many labels of others are that far from it.
    """
    n_assessors, n_labels = size
    at_other = summed(rest.met_who * n_labels + rest.met_other, rest.met, n_assessors * n_labels)
    below = np.cumsum(np.pad(at_other.reshape(size), ((0, 0), (FAR, 0))), axis=1)[:, :n_labels]
    above = np.cumsum(np.pad(at_other.reshape(size)[:, ::-1], ((0, 0), (FAR, 0))), axis=1)[:, :n_labels][:, ::-1]
    meetings = below + above
    far = np.abs(rest.met_own - rest.met_other) >= FAR
    hits = summed((rest.met_who * n_labels + rest.met_own)[far], rest.met[far], n_assessors * n_labels)
    hits = hits.reshape(size)
    others, others_n = hits.sum(axis=0) - hits, meetings.sum(axis=0) - meetings
    return ratio(hits, meetings), ratio(others, others_n), meetings


def _sequences(judgments: Judgments, rest: Rest) -> tuple[Bools, Floats]:
    """Which labels have a time (row,), and the place of shared labels in the assessor's own sequence, NaN without."""
    order = np.full(len(rest.own.row), np.nan)
    if judgments.time is None:
        return np.zeros(len(judgments), dtype=np.bool_), order
    time = judgments.time[rest.own.row]
    known = np.flatnonzero(~np.isnan(time))
    sequence = known[np.lexsort((time[known], rest.own.who[known]))]
    who = rest.own.who[sequence]
    order[sequence] = np.arange(len(sequence)) - np.searchsorted(who, who)
    return ~np.isnan(judgments.time), order


def _trend(rest: Rest, values: Floats, order: Floats, n_assessors: int) -> Trend:
    """Slope over an assessor's sequence, as change from its first label to its last, with the p-value of t."""
    from scipy.special import stdtr

    timed = ~np.isnan(order)
    who, x, y = rest.own.who[timed], order[timed], values[timed]

    def sums(weights: Floats) -> Floats:
        return summed(who, weights, n_assessors)

    n = np.bincount(who, minlength=n_assessors).astype(np.float64)
    at_least_one = np.maximum(n, 1)
    x, y = x - (sums(x) / at_least_one)[who], cleared(y - (sums(y) / at_least_one)[who], np.abs(y))
    sxx, sxy, syy = sums(x * x), sums(x * y), sums(y * y)
    known = (n > 2) & (sxx > 0)
    slope = sxy / np.where(known, sxx, 1.0)
    noise = np.maximum(cleared(syy - slope * sxy, syy), 0.0) / np.maximum(n - 2, 1)
    se = np.sqrt(noise / np.where(known, sxx, 1.0))
    t = np.where(se > 0, slope / np.where(se > 0, se, 1.0), np.where(np.abs(slope) > 0, np.inf, 0.0))
    p = 2 * stdtr(np.maximum(n - 2, 1), -np.abs(t))
    return Trend(np.where(known, slope * (n - 1), np.nan), np.where(known, p, np.nan))


def _seconds(judgments: Judgments, timed: Bools) -> Floats:
    """Median time between consecutive labels of an assessor -> (assessor,); NaN with fewer than two times."""
    n_assessors = len(judgments.assessor.names)
    seconds = np.full(n_assessors, np.nan)
    if judgments.time is None or not timed.any():
        return seconds
    time, who = judgments.time[timed], judgments.assessor.codes[timed]
    order = np.lexsort((time, who))
    time, who = time[order], who[order]
    same = who[1:] == who[:-1]
    gap, who = np.diff(time)[same], who[1:][same]
    order = np.lexsort((gap, who))
    gap, n = gap[order], np.bincount(who, minlength=n_assessors)
    start, timed = np.cumsum(n) - n, n > 0
    low, high = start + (n - 1) // 2, start + n // 2
    seconds[timed] = (gap[low[timed]] + gap[high[timed]]) / 2
    return seconds
