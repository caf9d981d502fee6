r"""Preference tests: which pairs of documents to ask about, so that p(a > b) is known to within a half-width.

p(a > b) is the probability that a document labelled b, the higher label, is preferred to one labelled a (Chu et al.
2021, doi:10.1145/3459637.3482428).  For one half-width, Eq. (12), corrected (``planning.preferences``), takes tests in
proportion to p(1 - p); the least sum of variances takes :math:`\sqrt{p(1 - p)}` (Neyman 1934), less the tests that
there are, which count as few where they are of few topics.  A tenth of the budget is divided equally, so that every
pair of labels has a chance.  The tests of two labels are divided over the topics that have both, as equally as these
have pairs.  Numbers are rounded by systematic sampling (Hartley and Rao 1962), and pairs of documents are drawn at
random from those of a topic and two labels that nobody compared yet.  So the probability of a pair is the expected
number of tests of its topic and labels, over the number of pairs to draw from.

The label of a document is the median of its labels, the lower of two.  Choices on one pair are one test, combined by
their median.  The forecast (``planning.shares``) allows for topics that differ, which Eq. (12) does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from venire.data.asked import PREFERENCE, Asked
from venire.data.judgments import Judgments
from venire.data.panel import in_isolation
from venire.data.preferences import Preferences
from venire.errors import PairsError
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.preferences import PreferencesLike, read_preferences
from venire.kernels.shares import Z95, clustered_shares, largest_variance, wilson
from venire.planning.allocation import neyman
from venire.planning.earlier import own_draws
from venire.planning.preferences import Cells, cells_of, middle_labels, refuse_many
from venire.planning.result import DECIDED, JUDGE, UNDECIDABLE, Plan, check_within, costs, enough
from venire.planning.second_judgments import affordable
from venire.planning.shares import UNKNOWN, TopicShares, budgets, expectations, half_widths
from venire.results import Note, first_few
from venire.types import Bools, Codes, Floats, Ints, RNGLike
from venire.users.preferences import consensus, item_numbers

GOAL, WHAT = "preferences", "p(a > b)"
EQUALLY = 0.1
"""Share of the budget that is divided equally over the pairs of labels."""


def plan_preferences(
    judgments: JudgmentsLike,
    preferences: PreferencesLike | None = None,
    *,
    budget: float,
    batch: float | None = None,
    within: float = 0.1,
    cost: Mapping[str, float] | None = None,
    rng: RNGLike = 0,
) -> Plan:
    """Choose pairs of documents to ask people about, so that p(a > b) of every two labels is known well enough.

    Parameters
    ----------
    judgments : labels of the documents
    preferences : choices that are known; their pairs are not asked again.  None: there are none yet
    budget : what may be spent, in the unit of ``cost``
    batch : how much of it to spend now; None: all
    within : the goal is decided where the 95 % interval of p(a > b) has at most this half-width for every two labels
    cost : of a judgment by kind (``planning.costs``)

    Returns
    -------
    Plan : ``doc`` and ``other`` of a row are the two documents, on random sides; ``judge`` is "", anybody

    Notes
    -----
    When not to use this: to compare two rankings.  Ask about their own documents then.

    Examples
    --------
    >>> labels = {f"q{t}": {f"d{n}": n % 3 for n in range(12)} for t in range(20)}
    >>> plan = plan_preferences(labels, budget=60)
    >>> len(plan), len({each.topic for each in plan.asked}), plan.asked[0].kind
    (60, 20, 'preference')
    """
    check_within(within)
    choices = None if preferences is None else read_preferences(preferences)
    generator = own_draws(rng, 0 if choices is None else len(choices))
    case = LabelTests.of(as_judgments(judgments), choices)
    notes, price = list(case.notes), costs(cost)[PREFERENCE]
    n_most = int(case.room().sum())
    n = affordable(price, n_most, notes, budget=budget, batch=batch)
    sizes = budgets(budget, min(n_most * price, MOST_TIMES * budget))
    widths = case.half_widths([min(size / price, n_most) for size in sizes], generator)
    forecast = expectations(sizes, widths, within)
    widest = case.half_width()
    state = DECIDED if widest <= within else UNDECIDABLE if n == 0 else JUDGE
    rows = case.asked(n, generator) if state == JUDGE else ()
    needed = enough(forecast, n_most * price)
    outcome = f"The widest interval of {WHAT} has a half-width of {widest:.3f}."
    return Plan(GOAL, budget, rows, forecast, WHAT, needed, state, notes=tuple(notes), outcome=outcome)


MOST_TIMES = 64
"""A forecast goes up to so many times the budget."""


@dataclass(frozen=True, eq=False)
class LabelTests:
    """Documents by topic and label, and the tests there are: present (topic, label pair); lower, higher (label pair,).

    known (test, 2): items of the lower and of the higher label; untested (topic, label pair): pairs not yet compared.
    """

    judgments: Judgments
    cells: Cells
    lower: Ints
    higher: Ints
    present: TopicShares
    known: Ints
    untested: Ints
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(cls, judgments: Judgments, preferences: Preferences | None) -> LabelTests:
        """Find the labels of the documents of each test."""
        refuse_many(judgments.scale)
        labels, notes = in_isolation(judgments)
        label = middle_labels(labels)
        lower, higher = np.triu_indices(len(labels.scale), 1)
        cells = cells_of(labels, label, np.random.default_rng(0))
        pairs = cells.n[:, lower] * cells.n[:, higher]
        known, present = _tests(labels, label, preferences, pairs.shape)
        tested = np.zeros(pairs.shape, dtype=np.int64)
        np.add.at(tested, _cell(labels, label, known), 1)
        if not pairs.any():
            hint = ["add topics whose documents have different labels", "use a scale with more labels"]
            raise PairsError("no topic has documents with two different labels to compare", hint=hint)
        if (pairs.sum(axis=1) > 0).sum() == 1:
            text = "one topic alone has documents to compare, so that there is no interval over topics: add topics"
            notes.append(Note("one-topic", text))
        if never := _never(cells.n, labels.scale.labels):
            text = "no topic has documents of both labels, so they are not compared: {pairs}"
            notes.append(Note("never-together", text, pairs=first_few(never, 6)))
        return cls(labels, cells, lower, higher, present, known, pairs - tested, tuple(notes))

    def room(self) -> Ints:
        """Pairs to ask by pair of labels -> (label pair,)."""
        found: Ints = self.untested.sum(axis=0)
        return found

    def counted(self) -> Bools:
        """Whether two labels can be compared, or were -> (label pair,)."""
        return np.asarray((self.room() > 0) | (self.present.cases.sum(axis=0) > 0))

    def half_width(self) -> float:
        """Half-width of the widest interval at present."""
        _, low, high = clustered_shares(*self.present)
        return float((high - low)[self.counted()].max(initial=0.0)) / 2

    def expected(self, n: float) -> Floats:
        """Expected numbers of tests of n -> (topic, label pair)."""
        room, have = self.room().astype(np.float64), self._effective()
        equal = neyman(np.ones(len(room)), np.zeros(len(room)), room, n)
        numbers = EQUALLY * equal + (1 - EQUALLY) * neyman(self._deviation(), have, room, n)
        one, none = np.ones(len(self.untested)), np.zeros(len(self.untested))
        each = [neyman(one, none, left.astype(np.float64), m) for left, m in zip(self.untested.T, numbers, strict=True)]
        return np.stack(each, axis=1)

    def _effective(self) -> Floats:
        """As how many independent tests the present ones count, by their intervals over topics -> (label pair,)."""
        _, low, high = clustered_shares(*self.present)
        middle = (low + high) / 2
        n = middle * (1 - middle) * (2 * Z95 / (high - low)) ** 2
        return np.minimum(np.nan_to_num(n), self.present.cases.sum(axis=0))

    def _deviation(self) -> Floats:
        """Largest standard deviation of one test, p(a > b) within its interval -> (label pair,)."""
        hits, cases = (each.sum(axis=0) for each in self.present)
        n = np.maximum(cases, 1.0)
        low, high = wilson(hits / n, n)
        return np.where(cases > 0, np.sqrt(largest_variance(low, high)), UNKNOWN)

    def half_widths(self, numbers: list[float], rng: np.random.Generator) -> Floats:
        """Draw the half-width of the widest interval by number of tests -> (number, draw)."""
        drawn = half_widths(self.present, np.stack([self.expected(n) for n in numbers]), rng)
        return drawn[:, :, self.counted()].max(axis=2, initial=0.0)

    def asked(self, n: int, rng: np.random.Generator) -> tuple[Asked, ...]:
        """Draw n pairs of documents that were not compared, in the order of their topics."""
        expected = self.expected(n)
        numbers = _rounded(expected, rng)
        rows = [
            (topic, pair, float(expected[topic, pair] / self.untested[topic, pair]), one, other)
            for topic, pair in zip(*(each.tolist() for each in np.nonzero(numbers)), strict=True)
            for one, other in self._drawn(topic, pair, int(numbers[topic, pair]), rng)
        ]
        return tuple(self._row(*row, turn=turn) for row, turn in zip(rows, rng.random(len(rows)) < 0.5, strict=True))

    def _drawn(self, topic: int, pair: int, n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
        """Draw n of the pairs of a topic and two labels that were not compared: items of the lower and higher label."""
        sides = [self.cells.items(topic, int(side[pair])) for side in (self.lower, self.higher)]
        mine = np.isin(self.known[:, 0], sides[0]) & np.isin(self.known[:, 1], sides[1])
        known = {(int(one), int(other)) for one, other in self.known[mine].tolist()}
        places = rng.choice(len(sides[0]) * len(sides[1]), size=n + len(known), replace=False)
        one, other = np.divmod(places, len(sides[1]))
        pairs = zip(sides[0][one].tolist(), sides[1][other].tolist(), strict=True)
        return [each for each in pairs if each not in known][:n]

    def _row(self, topic: int, pair: int, chance: float, one: int, other: int, *, turn: bool) -> Asked:
        items, labels = self.judgments.items, self.judgments.scale.labels
        left, right = (other, one) if turn else (one, other)
        reason = f"{labels[self.higher[pair]]} against {labels[self.lower[pair]]}"
        return Asked(items.topics[topic], items.doc[left], "", PREFERENCE, chance, reason, items.doc[right])


def _never(n: Ints, names: Sequence[str]) -> list[str]:
    """Name the pairs of labels that occur, and never in one topic; n (topic, label)."""
    there = n > 0
    return [
        f"{names[a]} and {names[b]}"
        for a, b in combinations(np.flatnonzero(there.any(axis=0)).tolist(), 2)
        if not (there[:, a] & there[:, b]).any()
    ]


def _tests(
    judgments: Judgments, label: Codes, preferences: Preferences | None, shape: tuple[int, ...]
) -> tuple[Ints, TopicShares]:
    """Return tests between different labels (test, 2), lower first, and their hits and cases by topic and labels."""
    if preferences is None or len(preferences) == 0:
        return np.zeros((0, 2), dtype=np.int64), TopicShares(np.zeros(shape), np.zeros(shape))
    answers = consensus(preferences)
    sides = np.stack(item_numbers(answers.table, judgments), axis=1)
    levels = np.where(sides >= 0, label[sides], -1)
    used = (levels >= 0).all(axis=1) & (levels[:, 0] != levels[:, 1])
    sides, levels, left = sides[used], levels[used], answers.left_share[used]
    turn = levels[:, 0] > levels[:, 1]
    known = np.where(turn[:, None], sides[:, ::-1], sides)
    cell = _cell(judgments, label, known)
    hits, cases = np.zeros(shape), np.zeros(shape)
    np.add.at(hits, cell, np.where(turn, left, 1 - left))
    np.add.at(cases, cell, 1.0)
    return known, TopicShares(hits, cases)


def _cell(judgments: Judgments, label: Codes, known: Ints) -> tuple[Ints, Ints]:
    """Return topic and pair of labels of tests (test, 2) -> both (test,)."""
    n_labels = len(judgments.scale)
    low, high = label[known].astype(np.int64).T if len(known) else np.zeros((2, 0), dtype=np.int64)
    return judgments.items.topic[known[:, 0]].astype(np.int64), low * (2 * n_labels - low - 1) // 2 + high - low - 1


def _rounded(expected: Floats, rng: np.random.Generator) -> Ints:
    """Round expected numbers (topic, label pair) at random, their sum kept, those of two labels next to each other."""
    order = np.argsort(rng.random(len(expected)))
    ends = np.cumsum(expected[order].T.ravel())
    numbers = np.diff(np.floor(ends + rng.random() + 1e-9), prepend=0).astype(np.int64)
    found = np.empty(expected.shape, dtype=np.int64)
    found[order] = numbers.reshape(expected.shape[1], -1).T
    return found
