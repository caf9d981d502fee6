r"""Label preferences: how often a document with one label is preferred to a document with another.

Chu et al. (2021, doi:10.1145/3459637.3482428), Section 3.4.  A preference test (q, d1, d2) is one tuple; the choices of
several people on it are one signal, their median (or majority).

    individual   Eq. (10): every assessor's labels of d1 and d2 are one observation of the tuple
    aggregate    Eq. (11): the labels of a document are pooled first; where the median lies between two labels, or two
                 occur most often, they share the weight, and a tuple counts as up to four observations

Departures (the published code has them too): both orientations are counted, a tie as one half of each, and
:math:`p(a > b) = n_{ab} / (n_{ab} + n_{ba})`, so that p(a > b) + p(b > a) = 1 and p(a > a) = 1/2; as printed neither
need hold.  Of two labels that never met in a test nothing is known: p is 1/2, and a warning names them.  ``prior``
adds so many wins to either side.

With many labels (100 grades, magnitude estimation) most pairs never meet.  Then labels are put into bins with equal
shares of the labels given, or p is a logistic function of the difference of the labels read as numbers,
:math:`\sigma(c (x_a - x_b))`, logarithms of them on a ratio scale; c is fitted by maximum likelihood.

Preference signals: what the choices of several people on the same two documents come to, for labelled documents.

Chu et al. (2021, doi:10.1145/3459637.3482428), Sections 3.4.2 and 5.1.1: a test is a tuple (topic, document, document),
and its signal the median of the assessors' strengths, or what most chose.  Where the two middle strengths of an
even number point different ways, the test counts as one half for either, like a tie.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.panel import in_isolation, majority, median
from venire.data.preferences import Preferences
from venire.data.scale import Scale
from venire.errors import ScaleError, SettingError, UnknownName
from venire.kernels.paired_labels import (
    Entries,
    PairedLabels,
    by_person,
    count_wins,
    every_two,
    middle_entries,
    pooled_entries,
)
from venire.results import Tabular, counted, first_few
from venire.types import Bools, Codes, Floats, Ints
from venire.users.by_label import item_numbers
from venire.users.preferences import settled
from venire.users.transitivity import BY_COIN, count_triples


class Signals(NamedTuple):
    """Tests on labelled documents: first, second (test,) items, won (test,) by the first: 1, one half or 0.

    number (test,) is the test's number among all ``n`` of the table, labelled or not.
    """

    first: Ints
    second: Ints
    won: Floats
    number: Ints
    n: int


def signals_of(judgments: Judgments, preferences: Preferences, *, signal: str = "median") -> Signals:
    """Combine choices on the same two documents, and find the documents among the labelled ones.  O(n log n)."""
    found = settled(preferences, signal)
    one, other = item_numbers(found.table, judgments)
    labelled = np.append(np.bincount(judgments.item, minlength=len(judgments.items)) > 0, False)
    there = np.flatnonzero(labelled[one] & labelled[other])
    return Signals(one[there], other[there], found.left_share[there], there, len(found.table))


def cycle_warnings(preferences: Preferences, *, signal: str = "median") -> list[str]:
    """Warn of cycles: three documents of which each is preferred to the next.  No order fits them."""
    found = settled(preferences, signal).table
    if not len(found):
        return []
    _, cycles, _, strict = count_triples(found, found.topic.astype(np.int64)).sum(axis=0).tolist()
    if not cycles:
        return []
    return [
        f"preferences contain cycles (a > b > c > a), so that no order of documents fits all of them: {cycles:,} of "
        f"{counted(strict, 'triple')} without ties ({cycles / strict:.0%}; choices at random give {BY_COIN:.0%})"
    ]


MODES, POOLS, FORMS = (
    ("individual", "aggregate"),
    {"median": median, "majority": majority},
    ("table", "bins", "logistic"),
)
MANY_LABELS = 20
"""With more labels than this they are put into bins, unless another form is asked for."""
MOST_LABELS = 200
"""More labels than this, as in magnitude estimation, are brought to so many first, unless a table is asked for."""
MOST_TOLD = 12
FEW_TUPLES = {"individual": 40, "aggregate": 160}
"""Tests per pair of labels that the paper recommends (Section 4.2.3)."""
STEPS, RIDGE = 50, 1e-6


@dataclass(frozen=True, eq=False)
class LabelPreferencesFit(Tabular):
    """p (label, label): that a document with the first label is preferred; wins (label, label) and tests behind it.

    n_pairs (label, label) are observations in either orientation; group (label,) is the bin of a label, or itself.
    """

    setting: LabelPreferences
    scale: Scale
    p: Floats
    wins: Floats
    group: Ints
    form: str
    n_tests: int
    given: bool = False

    @property
    def n_pairs(self) -> Floats:
        """Observations of two labels, whichever was first -> (label, label)."""
        own = np.eye(len(self.wins), dtype=np.bool_)
        return np.where(own, self.wins, self.wins + self.wins.T)

    def records(self) -> list[dict[str, Any]]:
        """One record per pair of labels or bins, the higher one first; of very many labels a dozen are told."""
        names, first = _group_names(self.scale, self.group)
        won, p = _grouped(self.wins, self.group), self.p[np.ix_(first, first)]
        told = (
            np.unique(np.linspace(0, len(names) - 1, MOST_TOLD).astype(np.int64)) if len(names) > MANY_LABELS else None
        )
        places = (range(len(names)) if told is None else told.tolist())[::-1]
        return [
            {
                "a": names[a],
                "b": names[b],
                "p": float(p[a, b]),
                "wins": float(won[a, b]),
                "n": float(won[a, b] + won[b, a]),
            }
            for a in places
            for b in places
            if b < a
        ]

    def sentence(self) -> str:
        """Say how well neighbouring labels are told apart."""
        steps = np.array([self.p[n + 1, n] for n in range(len(self.scale) - 1)])
        if not len(steps):
            return "There is one label, so no document can be preferred because of its label."
        low = int(steps.argmin())
        a, b = self.scale.labels[low + 1], self.scale.labels[low]
        return (
            f"A document labelled {a} is preferred to one labelled {b} in {steps[low]:.0%} of tests "
            f"({self.setting.mode} mode): of neighbouring labels these are the hardest to tell apart."
        )

    def warnings(self) -> list[str]:
        """What to be careful about: higher labels that lose, labels that never met, labels that seldom did."""
        if self.given or self.form == "logistic":
            return self.reversals()
        words, pairs, few = self.reversals(), self._pairs(), FEW_TUPLES[self.setting.mode]
        never = [f"{a} and {b}" for a, b, n in pairs if n == 0]
        seldom = [f"{a} and {b}" for a, b, n in pairs if 0 < n < few]
        if never:
            words.append(f"labels that never met in a test, so nothing is known (p = 1/2): {first_few(never, 5)}")
        if seldom:
            words.append(
                f"{counted(len(seldom), 'pair')} of labels met less than {few} times; Chu et al. (2021) recommend as "
                f"many tests in {self.setting.mode} mode: {first_few(seldom, 5)}"
            )
        return words

    def reversals(self) -> list[str]:
        """Say where documents with the higher label lose most tests: in all, or else by pairs of labels."""
        won, names = _grouped(self.wins, self.group), _group_names(self.scale, self.group)[0]
        a, b = np.tril_indices(len(won), -1)
        higher, met = won[a, b], won[a, b] + won[b, a]
        if not self.scale.ordered or not met.any():
            return []
        per_test = max(float(self.wins.sum()) / max(self.n_tests, 1), 1.0)
        if _mostly_lost(higher.sum(), met.sum(), per_test):
            lost = 1 - higher.sum() / met.sum()
            return [
                f"documents with the higher label lose {lost:.0%} of the preference tests between different labels: "
                "probably the sign of the strengths (positive: the left document is better) or the order of the labels "
                "is reversed"
            ]
        some = np.flatnonzero(_mostly_lost(higher, met, per_test)).tolist()
        pairs = [f"{names[a[n]]} against {names[b[n]]} (wins {higher[n] / met[n]:.0%})" for n in some]
        return [f"the higher label loses most preference tests: {first_few(pairs, 5)}"] if pairs else []

    def _pairs(self) -> list[tuple[str, str, float]]:
        """Pairs of different labels (or bins), and how often they met."""
        names, first = _group_names(self.scale, self.group)
        n = _grouped(self.wins, self.group)
        n = n + n.T
        return [(names[b], names[a], float(n[a, b])) for a in range(len(first)) for b in range(a + 1, len(first))]


@dataclass(frozen=True, kw_only=True)
class LabelPreferences:
    """How label preferences are estimated; see the module.

    Parameters
    ----------
    mode : "individual" or "aggregate"
    pool : "median" or "majority": the label of a document in aggregate mode
    signal : "median" or "majority": what the choices of several people on one tuple come to
    form : "table" (a probability for every two labels), "bins", "logistic"; None: table, or bins beyond 20 labels
    n_bins : how many bins at most
    prior : wins added to either side of every two labels
    """

    mode: str = "individual"
    pool: str = "median"
    signal: str = "median"
    form: str | None = None
    n_bins: int = 7
    prior: float = 0.0

    def __post_init__(self) -> None:
        known = (("mode", MODES), ("pool", POOLS), ("signal", POOLS))
        for name, words in known:
            if getattr(self, name) not in words:
                raise UnknownName(name, getattr(self, name), words)
        if self.form is not None and self.form not in FORMS:
            raise UnknownName("form", self.form, FORMS)
        if self.n_bins < 2 or self.prior < 0:
            raise SettingError(
                f"{self.n_bins} bins, prior {self.prior:g}: expected 2 bins or more and no negative prior"
            )

    def fit(self, judgments: Judgments, preferences: Preferences) -> LabelPreferencesFit:
        """Estimate from labels and preference tests.  O(choices log choices + observations)."""
        judgments = self.coarse(in_isolation(judgments)[0])
        tests = signals_of(judgments, preferences, signal=self.signal)
        pairs = self.paired(judgments)(tests.first, tests.second)
        wins = count_wins(pairs, tests.won, np.ones(len(tests.won)), len(judgments.scale))
        return self.fit_wins(wins, judgments, n_tests=len(tests.won))

    def fit_wins(self, wins: Floats, judgments: Judgments, *, n_tests: int = 0) -> LabelPreferencesFit:
        """Estimate from how often labels won: wins (label, label)."""
        scale, form = judgments.scale, self._form(judgments.scale)
        group = _bins(judgments, self.n_bins) if form == "bins" else np.arange(len(scale))
        p = _logistic(wins, scale) if form == "logistic" else _table(wins, group, self.prior)
        return LabelPreferencesFit(self, scale, p, wins, group, form, n_tests)

    def coarse(self, judgments: Judgments) -> Judgments:
        """Bring very many labels to ``MOST_LABELS``, each standing for as many of those given; else as they are.

        Medians stay medians: putting neighbours together keeps the order.
        """
        scale = judgments.scale
        if len(scale) <= MOST_LABELS or self._form(scale) == "table":
            return judgments
        group = _bins(judgments, MOST_LABELS)
        first = np.unique(group, return_index=True)[1]
        middle = (first + np.append(first[1:], len(group)) - 1) // 2
        labels = tuple(scale.labels[level] for level in middle.tolist())
        return replace(judgments, scale=Scale(labels, scale.measurement), label=group[judgments.label].astype(np.int32))

    def given(self, p: Floats, scale: Scale) -> LabelPreferencesFit:
        """Take label preferences as given: p (label, label) with p(a > b) + p(b > a) = 1."""
        p = np.asarray(p, dtype=np.float64)
        if p.shape != (len(scale), len(scale)):
            raise SettingError(
                f"a matrix of shape {p.shape} for {counted(len(scale), 'label')}", hint="one row per label"
            )
        if not (np.abs(p + p.T - 1) <= 1e-6).all() or (p < 0).any():
            raise SettingError("the matrix has p(a > b) + p(b > a) other than 1", hint="and p(a > a) must be 1/2")
        return LabelPreferencesFit(self, scale, p, np.zeros_like(p), np.arange(len(scale)), "table", 0, given=True)

    def paired(self, judgments: Judgments) -> Paired:
        """Return the function that pairs labels of items as this mode does."""
        if self.mode == "individual":
            columns = judgments.item, judgments.assessor.codes, judgments.label
            return Paired(middle_entries(*columns, len(judgments.items)), by_assessor=True)
        if self.pool == "median" and not judgments.scale.ordered:
            raise ScaleError(f"the labels {judgments.scale} have no order, so no median", hint="pool by majority")
        counts = judgments.label_counts()
        judged = np.flatnonzero(counts.sum(axis=1))
        return Paired(pooled_entries(POOLS[self.pool](counts[judged]), judged, len(counts)), by_assessor=False)

    def _form(self, scale: Scale) -> str:
        return self.form or ("bins" if len(scale) > MANY_LABELS and scale.ordered else "table")


@dataclass(frozen=True, eq=False)
class Paired:
    """Pairs the labels of two items: those of one assessor, or pooled ones."""

    entries: Entries
    by_assessor: bool

    def __call__(self, first: Ints, second: Ints) -> PairedLabels:
        """Labels of both items of every pair; first, second (pair,)."""
        return (by_person if self.by_assessor else every_two)(self.entries, first, second)


def _mostly_lost(won: Floats, met: Floats, per_test: float) -> Bools:
    """Whether less than half was won, by more than two standard errors; so many observations are of one test."""
    half = 0.5 - np.sqrt(per_test / np.maximum(met, 1e-9))
    return np.asarray(won < met * half)


def _table(wins: Floats, group: Ints, prior: float) -> Floats:
    """Shares of wins for every two groups of labels, one half where they never met -> (label, label)."""
    won = _grouped(wins, group) + prior
    met = won + won.T
    p = np.divide(won, met, out=np.full(won.shape, 0.5), where=met > 0)
    return p[group[:, None], group[None, :]]


def _grouped(wins: Floats, group: Ints) -> Floats:
    """Add the wins of labels of a group up -> (group, group)."""
    member = np.eye(int(group.max()) + 1)[group]
    return np.asarray(member.T @ wins @ member)


def _bins(judgments: Judgments, n_bins: int) -> Ints:
    """Put neighbouring labels into bins that hold about equally many of the labels given -> (label,)."""
    counts = np.bincount(judgments.label, minlength=len(judgments.scale))
    middle = (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1)
    raw = np.minimum((middle * n_bins).astype(np.int64), n_bins - 1)
    return np.unique(raw, return_inverse=True)[1]


def _logistic(wins: Floats, scale: Scale) -> Floats:
    """Fit the slope of p on the difference of labels by Newton's method; a slope without bound is held by a ridge."""
    x = _numbers(scale)
    difference = x[:, None] - x[None, :]
    met = wins + wins.T
    a, b = np.nonzero(np.triu(met, 1))
    size = np.sqrt(np.mean(difference[a, b] ** 2)) if len(a) else 1.0
    apart, n, won = difference[a, b] / (size or 1.0), met[a, b], wins[a, b]
    slope = 0.0
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(slope * apart, -500, 500)))
        gradient = ((won - n * p) * apart).sum() - RIDGE * slope
        step = gradient / ((n * p * (1 - p) * apart**2).sum() + RIDGE)
        slope += float(np.clip(step, -1, 1))
        if abs(step) < 1e-12:
            break
    return 1 / (1 + np.exp(-np.clip(slope * difference / (size or 1.0), -500, 500)))


def _numbers(scale: Scale) -> Floats:
    """Labels as numbers, on a ratio scale their logarithms if all are positive; else their levels."""
    try:
        x = scale.numbers()
    except ScaleError:
        return np.arange(len(scale), dtype=np.float64)
    return np.log(x) if scale.measurement == "ratio" and (x > 0).all() else x


def _group_names(scale: Scale, group: Ints) -> tuple[list[str], Codes]:
    """Name bins by their lowest and highest label -> names, and the first label of each."""
    first = np.unique(group, return_index=True)[1]
    last = len(group) - 1 - np.unique(group[::-1], return_index=True)[1]
    labels = scale.labels
    names = [labels[a] if a == b else f"{labels[a]}..{labels[b]}" for a, b in zip(first, last, strict=True)]
    return names, first.astype(np.int32)
