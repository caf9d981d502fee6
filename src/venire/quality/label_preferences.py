r"""Label preferences: how often a document with one label is preferred to a document with another.

Chu et al. (2021, doi:10.1145/3459637.3482428), Section 3.4.  A preference test (q, d1, d2) is one tuple, and its signal
the median of the assessors' strengths, or what most chose (Sections 3.4.2 and 5.1.1).  Where the two middle strengths
of an even number have different signs, the test counts as one half for either, like a tie.

    individual   Eq. (10): every assessor's labels of d1 and d2 are one observation of the tuple
    aggregate    Eq. (11): the labels of a document are pooled first; where the median lies between two labels, or two
                 occur most often, they share the weight, and a tuple counts as up to four observations

Departures (the published code has them too): both orientations are counted, a tie as one half of each, and
:math:`p(a > b) = n_{ab} / (n_{ab} + n_{ba})`, so that p(a > b) + p(b > a) = 1 and p(a > a) = 1/2; as printed neither
need hold.  For two labels that were never compared p is 1/2, and a note names them.  ``prior`` adds so many wins to
either side.

With many labels (100 grades, magnitude estimation) most pairs are never compared.  Then labels are put into bins with
equal shares of the labels given, or p is a logistic function of the difference of the labels read as numbers,
:math:`\sigma(c (x_a - x_b))`, logarithms of them on a ratio scale; c is fitted by maximum likelihood.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.panel import in_isolation, majority, median
from venire.data.preferences import Preferences
from venire.data.scale import Scale
from venire.errors import ScaleError, SettingError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.preferences import PreferencesLike, read_preferences
from venire.kernels.paired_labels import PairedLabels, by_person, count_wins, every_two, middle_entries, pooled_entries
from venire.results import Note, Records, Tabular, counted
from venire.types import Bools, Codes, Floats, Ints
from venire.users.preferences import consensus, item_numbers

MODES, POOLS, FORMS = (
    ("individual", "aggregate"),
    {"median": median, "majority": majority},
    ("table", "bins", "logistic"),
)
MANY_LABELS = 20
"""With more labels than this they are put into bins, unless another form is asked for."""
MOST_LABELS = 200
"""More labels than this, as in magnitude estimation, are first merged into so many, unless a table is asked for."""
MOST_SHOWN = 12
FEW_TUPLES = {"individual": 40, "aggregate": 160}
"""Tests per pair of labels that the paper recommends (Section 4.2.3)."""
STEPS, RIDGE = 50, 1e-6
CYCLES_BY_CHANCE = 0.25

Paired = Callable[[Ints, Ints], PairedLabels]
"""Pairs the labels of two items (pair,): those of one assessor, or pooled ones."""


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
    found = consensus(preferences, signal)
    one, other = item_numbers(found.table, judgments)
    labelled = np.append(np.bincount(judgments.item, minlength=len(judgments.items)) > 0, False)
    present = np.flatnonzero(labelled[one] & labelled[other])
    return Signals(one[present], other[present], found.left_share[present], present, len(found.table))


def cycle_warnings(preferences: Preferences, *, signal: str = "median") -> list[Note]:
    """Return a note on cycles: three documents of which each is preferred to the next, which no order explains."""
    cycles, triples = count_cycles(consensus(preferences, signal).table)
    words = (
        "preferences contain cycles (a > b > c > a), which no order of documents explains: {cycles:,} of "
        "{triples:triple} without ties ({share:.0%}; random choices give {chance:.0%})"
    )
    how = {"cycles": cycles, "triples": triples, "share": cycles / max(triples, 1), "chance": CYCLES_BY_CHANCE}
    return [Note("cycles", words, **how)] if cycles else []


def count_cycles(table: Preferences) -> tuple[int, int]:
    """Count cycles d > e > f > d, and triples without ties, of documents of a topic; each pair occurs once.

    With P (document, document) 1 where the first is preferred and S = P + P^T, there are tr P^3 / 3 cycles and
    tr S^3 / 6 triples (Kendall and Babington Smith 1940, doi:10.1093/biomet/31.3-4.324).  The matrices of all topics
    are blocks of one sparse matrix.  Cost: the sum of squares of how often each document was compared.
    """
    from scipy.sparse import coo_array

    strict = table.outcome != 0
    first = table.topic[strict].astype(np.int64) * max(len(table.docs), 1)
    sides = np.concatenate([first + table.left[strict], first + table.right[strict]])
    nodes, node = np.unique(sides, return_inverse=True)
    left, right = np.split(node, 2)
    won = table.outcome[strict] > 0
    places = np.where(won, left, right), np.where(won, right, left)
    p = coo_array((np.ones(len(left), dtype=np.int64), places), shape=(len(nodes),) * 2).tocsr()
    s = p + p.T
    return int((p @ p * p.T).sum()) // 3, int((s @ s * s).sum()) // 6


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

    def records(self) -> Records:
        """Return one row per pair of labels or bins, the higher one first; of very many labels a dozen are shown."""
        names, first = _group_names(self.scale, self.group)
        won, p = _grouped(self.wins, self.group), self.p[np.ix_(first, first)]
        n_shown = MOST_SHOWN if len(names) > MANY_LABELS else len(names)
        places = np.unique(np.linspace(0, len(names) - 1, n_shown).astype(np.int64)).tolist()[::-1]
        pairs = [(a, b) for a in places for b in places if b < a]
        sizes = [{"wins": float(won[a, b]), "n": float(won[a, b] + won[b, a])} for a, b in pairs]
        rows = [{"a": names[a], "b": names[b], "p": float(p[a, b])} for a, b in pairs]
        return [row | size for row, size in zip(rows, sizes, strict=True)]

    def sentence(self) -> str:
        """Return the pair of neighbouring labels with the lowest preference for the higher one."""
        steps = np.array([self.p[n + 1, n] for n in range(len(self.scale) - 1)])
        if not len(steps):
            return "There is one label, so there are no preferences between labels."
        low = int(steps.argmin())
        a, b = self.scale.labels[low + 1], self.scale.labels[low]
        return (
            f"A document labelled {a} is preferred to one labelled {b} in {steps[low]:.0%} of tests "
            f"({self.setting.mode} mode), the lowest of neighbouring labels."
        )

    def warnings(self) -> list[Note]:
        """Return what limits the conclusions: higher labels that lose, labels that were never or seldom compared."""
        notes = self.reversals()
        if self.given or self.form == "logistic":
            return notes
        won, names = _grouped(self.wins, self.group), _group_names(self.scale, self.group)[0]
        a, b = np.triu_indices(len(won), 1)
        met, few = won[a, b] + won[b, a], FEW_TUPLES[self.setting.mode]
        never, seldom = (
            [f"{names[b[n]]} vs {names[a[n]]}" for n in np.flatnonzero(which)]
            for which in (met == 0, (met > 0) & (met < few))
        )
        if never:
            words = "labels that were never compared in a test, so p = 1/2 is assumed: {pairs:list}"
            notes.append(Note("never-compared", words, pairs=never))
        if seldom:
            words = "{n:pair} of labels compared in fewer than {few} tests (Chu et al. 2021, {mode} mode): {pairs:list}"
            notes.append(Note("seldom-compared", words, n=len(seldom), few=few, mode=self.setting.mode, pairs=seldom))
        return notes

    def reversals(self) -> list[Note]:
        """Return a note where documents with the higher label lose most tests: in all, or else by pairs of labels."""
        won, names = _grouped(self.wins, self.group), _group_names(self.scale, self.group)[0]
        a, b = np.tril_indices(len(won), -1)
        higher, met = won[a, b], won[a, b] + won[b, a]
        if not self.scale.ordered or not met.any():
            return []
        per_test = max(float(self.wins.sum()) / max(self.n_tests, 1), 1.0)
        if _mostly_lost(higher.sum(), met.sum(), per_test):
            words = (
                "documents with the higher label lose {lost:.0%} of the preference tests: the sign of the strengths "
                "(positive: the left document is better) or the order of the labels may be reversed"
            )
            return [Note("reversed-preferences", words, lost=float(1 - higher.sum() / met.sum()))]
        some = np.flatnonzero(_mostly_lost(higher, met, per_test)).tolist()
        pairs = [f"{names[a[n]]} against {names[b[n]]} (wins {higher[n] / met[n]:.0%})" for n in some]
        words = "the higher label loses most preference tests: {pairs:list}"
        return [Note("higher-label-loses", words, pairs=pairs)] if pairs else []


@dataclass(frozen=True, kw_only=True)
class LabelPreferences:
    """Settings for the estimation of label preferences; see the module.

    Parameters
    ----------
    mode : "individual" or "aggregate"
    pool : "median" or "majority": the label of a document in aggregate mode
    signal : "median" or "majority": how the choices of several people on one tuple are combined
    form : "table" (a probability for every two labels), "bins", "logistic"; None: table, or bins beyond 20 labels
    n_bins : number of bins at most
    prior : wins added to either side of every two labels
    """

    mode: str = "individual"
    pool: str = "median"
    signal: str = "median"
    form: str | None = None
    n_bins: int = 7
    prior: float = 0.0

    def __post_init__(self) -> None:
        for name, known in (("mode", MODES), ("pool", POOLS), ("signal", POOLS), ("form", (None, *FORMS))):
            if getattr(self, name) not in known:
                raise UnknownName(name, getattr(self, name), [each for each in known if each])
        if self.n_bins < 2 or self.prior < 0:
            message = f"{self.n_bins} bins, prior {self.prior:g}: expected 2 bins or more and no negative prior"
            raise SettingError(message)

    def fit(self, judgments: JudgmentsLike, preferences: PreferencesLike) -> LabelPreferencesFit:
        """Estimate from labels and preference tests.  O(choices log choices + observations)."""
        judgments = as_judgments(judgments)
        preferences = read_preferences(preferences)
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
        """Merge very many labels into ``MOST_LABELS`` with equal shares of those given; else return them unchanged.

        Medians stay medians, since merging neighbours keeps the order.
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
            message = f"a matrix of shape {p.shape} for {counted(len(scale), 'label')}"
            raise SettingError(message, hint="one row per label")
        if not (np.abs(p + p.T - 1) <= 1e-6).all() or (p < 0).any():
            raise SettingError("the matrix has p(a > b) + p(b > a) other than 1", hint="and p(a > a) must be 1/2")
        return LabelPreferencesFit(self, scale, p, np.zeros_like(p), np.arange(len(scale)), "table", 0, given=True)

    def paired(self, judgments: Judgments) -> Paired:
        """Return the function that pairs labels of items in this mode."""
        if self.mode == "individual":
            columns = judgments.item, judgments.assessor.codes, judgments.label
            return partial(by_person, middle_entries(*columns, len(judgments.items)))
        if self.pool == "median" and not judgments.scale.ordered:
            raise ScaleError(f"the labels {judgments.scale} have no order, so no median", hint="pool by majority")
        counts = judgments.label_counts()
        judged = np.flatnonzero(counts.sum(axis=1))
        return partial(every_two, pooled_entries(POOLS[self.pool](counts[judged]), judged, len(counts)))

    def _form(self, scale: Scale) -> str:
        return self.form or ("bins" if len(scale) > MANY_LABELS and scale.ordered else "table")


def _mostly_lost(won: Floats, met: Floats, per_test: float) -> Bools:
    """Return whether less than half was won, by more than two standard errors; per_test: observations of one test."""
    half = 0.5 - np.sqrt(per_test / np.maximum(met, 1e-9))
    return np.asarray(won < met * half)


def _table(wins: Floats, group: Ints, prior: float) -> Floats:
    """Return shares of wins for every two groups of labels, one half without tests -> (label, label)."""
    won = _grouped(wins, group) + prior
    met = won + won.T
    p = np.divide(won, met, out=np.full(won.shape, 0.5), where=met > 0)
    return p[group[:, None], group[None, :]]


def _grouped(wins: Floats, group: Ints) -> Floats:
    """Sum the wins of the labels of a group -> (group, group)."""
    member = np.eye(int(group.max()) + 1)[group]
    return np.asarray(member.T @ wins @ member)


def _bins(judgments: Judgments, n_bins: int) -> Ints:
    """Put neighbouring labels into bins that hold about equally many of the labels given -> (label,)."""
    counts = np.bincount(judgments.label, minlength=len(judgments.scale))
    middle = (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1)
    raw = np.minimum((middle * n_bins).astype(np.int64), n_bins - 1)
    return np.unique(raw, return_inverse=True)[1]


def _logistic(wins: Floats, scale: Scale) -> Floats:
    """Fit the slope of p on the difference of labels by Newton's method; a ridge bounds the slope."""
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
    """Return labels as numbers, on a ratio scale their logarithms if all are positive; else their levels."""
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
