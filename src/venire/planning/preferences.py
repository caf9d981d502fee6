r"""Preference tests: which pairs of documents to ask people about, and how many.

Chu et al. (2021, doi:10.1145/3459637.3482428) estimate p(a > b), the probability that a document labelled a is
preferred to one labelled b, from B tests per pair of labels.  For an estimate within :math:`\delta` of p at some
confidence, Eq. (12), corrected (the paper prints z, not its square, and so covers 83 % where 95 % was asked):

.. math:: B = \frac{p (1 - p)}{\delta^2} z^2

    sample_size         B by that equation
    pairs_to_ask        B pairs for every two labels, spread over topics first, then over documents
    check_sample_size   accuracy of p(a > b) from B of the available tests for every two labels

The paper finds 40 tests per pair of labels enough in individual mode and asks for 160 in aggregate mode; that is for
the discriminative power as a whole, not for single probabilities, and for its own collections.  Pairs are chosen by the
median labels of documents, the lower of two.

``check_sample_size`` draws B tests for every two labels with replacement from those available, as in Section 4.1, and
estimates p(a > b) from all tests drawn, in one of two ways:

    individual   Eq. (10): a test counts for the labels of every assessor who labelled both documents
    aggregate    Eq. (11): it counts for the median labels of the documents, split where there are two

In individual mode a test counts for several pairs of labels, also for some that it was not drawn for; so the same B
is worth more (Section 4.2.3: 40 tests are enough, where aggregate mode takes 160).  The distance from the p(a > b) of
all tests, weighted as they are drawn, is compared with what Eq. (12), corrected, expects of independent tests,
:math:`z \sqrt{p(1-p)/(rB)}`, with rB the number of tests that count for a pair of labels.  For p the value of the
largest p(1 - p) within its 95 % interval (Wilson 1927, on the available tests) is taken, since few tests may agree by
chance.  Cost: O(draws x tests).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.panel import median
from venire.data.preferences import Preferences
from venire.data.scale import Scale
from venire.errors import PairsError, SettingError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.preferences import PreferencesLike, read_preferences
from venire.kernels.paired_labels import by_person, every_two, middle_entries, pooled_entries
from venire.kernels.shares import largest_variance, wilson
from venire.results import Records, Tabular, counted, first_few
from venire.types import Codes, Floats, Ints, RNGLike
from venire.users.preferences import consensus, item_numbers

if TYPE_CHECKING:
    import polars as pl

CONFIDENCE = 0.95
PER_LABEL_PAIR = 40
MANY_LABELS = 60
SIZES = (10, 20, 40, 80, 160, 320)
MODES = ("individual", "aggregate")


def sample_size(p: float = 0.5, *, within: float = 0.05, confidence: float = CONFIDENCE) -> int:
    """Return how many tests put an estimate of p within this distance of it; p = 1/2 needs most.

    Examples
    --------
    >>> sample_size(0.3, within=0.05)
    323
    """
    from scipy.special import ndtri

    if not (0 <= p <= 1 and within > 0 and 0 < confidence < 1):
        message = f"p {p:g} within {within:g} at confidence {confidence:g}"
        raise SettingError(message, hint="expected 0 <= p <= 1, within > 0 and 0 < confidence < 1")
    return int(np.ceil(p * (1 - p) / within**2 * ndtri((1 + confidence) / 2) ** 2))


@dataclass(frozen=True, eq=False)
class PairsToAsk(Tabular):
    """Pairs to show to people, all (pair,): items left and right of the judgments, and their labels.

    Sides and order are random.  short: pairs of labels, as levels, with fewer documents to compare than asked for, and
    how many pairs they have.
    """

    judgments: Judgments
    left: Ints
    right: Ints
    label_left: Codes
    label_right: Codes
    per_label_pair: int
    short: tuple[tuple[int, int, int], ...]

    def __len__(self) -> int:
        return len(self.left)

    @property
    def topic(self) -> Codes:
        """The topic of each pair, into ``judgments.items.topics`` -> (pair,)."""
        return self.judgments.items.topic[self.left]

    def sentence(self) -> str:
        """Return how many pairs there are, of how many topics, and for which labels there are too few."""
        topics, labels = len(np.unique(self.topic)), self.judgments.scale.labels
        short = [f"{labels[a]} against {labels[b]} ({n:,})" for a, b, n in self.short]
        lack = f"; fewer are available for {first_few(short, 6)}" if short else ""
        each = f"{self.per_label_pair} for every two labels"
        return f"{counted(len(self), 'pair')} of {counted(topics, 'topic')} to ask about, {each}{lack}."

    def to_polars(self) -> pl.DataFrame:
        """Return the table: topic, left, right, label_left, label_right."""
        import polars as pl

        items, labels = self.judgments.items, np.array(self.judgments.scale.labels)
        docs = {"left": list(items.doc.take(self.left)), "right": list(items.doc.take(self.right))}
        sides = {"label_left": self.label_left, "label_right": self.label_right}
        found = {"topic": list(items.topics.take(self.topic)), **docs}
        return pl.DataFrame(found | {name: labels[side].tolist() for name, side in sides.items()})

    def records(self) -> Records:
        """Return one row per pair: topic, documents and labels."""
        return self.to_polars().to_dicts()


def pairs_to_ask(judgments: JudgmentsLike, per_label_pair: int = PER_LABEL_PAIR, *, rng: RNGLike = 0) -> PairsToAsk:
    """Choose pairs of documents of a topic, the same number for every two labels, none of them twice.

    The pairs of two labels come from as many topics as have both, in turn; within a topic documents take turns too.
    Cost: O(items log items), and labels^2 x topics x per_label_pair cells.
    """
    judgments = as_judgments(judgments)
    if per_label_pair < 1:
        raise SettingError(f"{per_label_pair} pairs for every two labels", hint="expected one or more; 40 is usual")
    refuse_many(judgments.scale)
    generator = np.random.default_rng(rng)
    label = middle_labels(judgments)
    cells = cells_of(judgments, label, generator)
    a, b = np.triu_indices(len(judgments.scale), 1)
    found, short = _chosen(cells, (a, b), per_label_pair, generator)
    turn = generator.random(len(found)) < 0.5
    left, right = (np.where(turn, found[:, n], found[:, 1 - n]) for n in (0, 1))
    return PairsToAsk(judgments, left, right, label[left], label[right], per_label_pair, short)


class Cells(NamedTuple):
    """Items by topic and label, shuffled: start, n (topic, label) into item."""

    item: Ints
    start: Ints
    n: Ints

    def items(self, topic: int, label: int) -> Ints:
        """Return the items of a topic with a label."""
        start = int(self.start[topic, label])
        return self.item[start : start + int(self.n[topic, label])]


def middle_labels(judgments: Judgments) -> Codes:
    """Return the lower median of each item's labels -> (item,); -1 where there is none."""
    counts = judgments.label_counts()
    below = np.cumsum(counts, axis=1)
    enough = 2 * below >= below[:, -1:]
    return np.where(below[:, -1] > 0, enough.argmax(axis=1), -1).astype(np.int32)


def cells_of(judgments: Judgments, label: Codes, rng: np.random.Generator) -> Cells:
    """Group labelled items by topic and label (item,), in random order."""
    shape = n_topics, n_labels = len(judgments.items.topics), len(judgments.scale)
    labelled = np.flatnonzero(label >= 0)
    cell = judgments.items.topic[labelled].astype(np.int64) * n_labels + label[labelled]
    order = np.lexsort((rng.random(len(labelled)), cell))
    n = np.bincount(cell, minlength=n_topics * n_labels)
    return Cells(labelled[order], (np.cumsum(n) - n).reshape(shape), n.reshape(shape))


def _chosen(
    cells: Cells, labels: tuple[Ints, Ints], most: int, rng: np.random.Generator
) -> tuple[Ints, tuple[tuple[int, int, int], ...]]:
    """Choose pairs -> items (pair, 2), in any order; and the pairs of labels that have fewer than ``most``.

    In turn k of a topic the documents are at the places (k mod n_a, k + k div lcm(n_a, n_b) mod n_b) of their labels,
    which runs through all n_a n_b pairs.
    """
    a, b = labels
    n_a, n_b = cells.n[:, a], cells.n[:, b]
    total, room = (n_a * n_b).sum(axis=0), np.minimum(n_a * n_b, most).ravel()
    cell = np.repeat(np.arange(len(room)), room)
    turn = np.arange(len(cell)) - np.repeat(np.cumsum(room) - room, room)
    topic, which = np.divmod(cell, len(a))
    order = np.lexsort((rng.random(len(turn)), turn, which))
    place = np.arange(len(order)) - np.searchsorted(which[order], which[order])
    kept = rng.permutation(order[place < most])
    topic, which, turn = topic[kept], which[kept], turn[kept]
    n_a, n_b = n_a[topic, which], n_b[topic, which]
    places = (a, turn % n_a), (b, (turn + turn // np.lcm(n_a, n_b)) % n_b)
    one, other = (cells.item[cells.start[topic, side[which]] + at] for side, at in places)
    short = [(int(a[n]), int(b[n]), int(total[n])) for n in np.flatnonzero(total < most).tolist()]
    return np.stack([one, other], axis=1), tuple(short)


def refuse_many(scale: Scale) -> None:
    """Refuse a scale with too many labels to ask about every two of them."""
    if len(scale) > MANY_LABELS:
        message = f"the scale has {len(scale)} labels, which makes {len(scale) * (len(scale) - 1) // 2:,} pairs of them"
        raise SettingError(message, hint=f"merge neighbouring labels first, to {MANY_LABELS} or fewer")


@dataclass(frozen=True, eq=False)
class SampleSizeCheck(Tabular):
    """Distance of p(a > b) from that of all tests, if B tests are drawn for every two labels.

    By number of tests (size,): error, the mean distance; error_95, its 95 % quantile; expected, that by Eq. (12).  By
    pair of labels (label pair,), those that occur: lower, higher (levels), p of the higher one from all tests, n_tests.
    """

    scale: Scale
    mode: str
    sizes: tuple[int, ...]
    error: Floats
    error_95: Floats
    expected: Floats
    lower: Ints
    higher: Ints
    p: Floats
    n_tests: Ints
    n_draws: int

    def enough(self, within: float) -> int | None:
        """Return the smallest size with 95 % of estimates within this distance, drawn and by Eq. (12); or None."""
        far = np.maximum(self.error_95, self.expected).tolist()
        return min((size for size, each in zip(self.sizes, far, strict=True) if each <= within), default=None)

    def by_equation(self, within: float) -> int:
        """Return how many tests for every two labels put p(a > b) within this distance, by Eq. (12) alone."""
        return int(np.ceil((float(self.expected[0]) / within) ** 2 * self.sizes[0] * (1 - 1e-12)))

    def records(self) -> Records:
        """Return one row per number of tests."""
        names = ("per_label_pair", "mean_error", "error_95", "expected_95")
        columns = (column.tolist() for column in (self.error, self.error_95, self.expected))
        return [dict(zip(names, row, strict=True)) for row in zip(self.sizes, *columns, strict=True)]

    def sentence(self) -> str:
        """Return the error of the estimates with the usual number of tests, or the nearest to it that was tried."""
        at = int(np.abs(np.log(np.array(self.sizes) / PER_LABEL_PAIR)).argmin())
        few = int((self.n_tests < self.sizes[at]).sum())
        return (
            f"With {counted(self.sizes[at], 'test')} for every two labels ({self.mode} mode) the error of p(a > b) is "
            f"{self.error[at]:.3f} on average and at most {self.error_95[at]:.3f} in 95% of cases; {few} of "
            f"{counted(len(self.n_tests), 'pair')} of labels have fewer tests."
        )


def check_sample_size(
    preferences: PreferencesLike,
    judgments: JudgmentsLike,
    *,
    sizes: Sequence[int] = SIZES,
    mode: str = "individual",
    n_draws: int = 200,
    rng: RNGLike = 0,
) -> SampleSizeCheck:
    """Draw B of the available tests for every two labels, and compare p(a > b) with that of all tests.

    Choices on one pair of documents are one test, combined by their median.  When not to use this: where two labels
    have far fewer tests than B (see ``n_tests``), drawing with replacement shows their own spread, not that of new
    tests.
    """
    preferences = read_preferences(preferences)
    judgments = as_judgments(judgments)
    from scipy.special import ndtri

    if mode not in MODES:
        raise UnknownName("mode", mode, MODES)
    if not sizes or min(sizes) < 1 or n_draws < 2:
        message = f"{n_draws} draws of {list(sizes)} tests"
        raise SettingError(message, hint="expected one test or more, two draws or more")
    refuse_many(judgments.scale)
    asked, tests = (_tests(preferences, judgments, each) for each in ("aggregate", mode))
    generator = np.random.default_rng(rng)
    chance = np.bincount(asked.test, 1 / np.repeat(asked.n, asked.n), minlength=asked.n_tests)[tests.test]
    p = np.add.reduceat(chance * tests.hits, tests.start) / np.add.reduceat(chance * tests.cases, tests.start)
    away = np.stack([np.abs(_drawn_shares(asked, tests, size, n_draws, generator) - p) for size in sizes])
    lower, higher = (each[tests.pair] for each in np.triu_indices(len(judgments.scale), 1))
    reach = np.add.reduceat(chance, tests.start)  # tests that count for two labels, per test drawn for each two
    variance = (largest_variance(*wilson(p, tests.n)) / reach).mean()
    expected = float(ndtri((1 + CONFIDENCE) / 2)) * np.sqrt(variance / np.array(sizes))
    errors = np.nanmean(away, axis=(1, 2)), np.nanquantile(away, CONFIDENCE, axis=(1, 2)), expected
    return SampleSizeCheck(judgments.scale, mode, tuple(sizes), *errors, lower, higher, p, tests.n, n_draws)


class _Tests(NamedTuple):
    """Tests by pair of labels: pair (label pair,), n and start of its entries; all others (entry,), n_tests alone.

    test: its number; hits of the higher label, cases.
    """

    pair: Ints
    n: Ints
    start: Ints
    test: Ints
    hits: Floats
    cases: Floats
    n_tests: int


def _tests(preferences: Preferences, judgments: Judgments, mode: str) -> _Tests:
    """Combine the choices on each pair of documents, find their labels, and group tests by labels."""
    answers = consensus(preferences)
    left, right = item_numbers(answers.table, judgments)
    judged = (left >= 0) & (right >= 0)
    if mode == "individual":
        entries = middle_entries(judgments.item, judgments.assessor.codes, judgments.label, len(judgments.items))
        pairs = by_person(entries, left[judged], right[judged])
    else:
        counts = judgments.label_counts()
        labelled = np.flatnonzero(counts.sum(axis=1))
        entries = pooled_entries(median(counts[labelled]), labelled, len(counts))
        pairs = every_two(entries, left[judged], right[judged])
    low, high = np.minimum(pairs.a, pairs.b).astype(np.int64), np.maximum(pairs.a, pairs.b).astype(np.int64)
    label_pair = low * (2 * len(judgments.scale) - low - 1) // 2 + high - low - 1  # as triu_indices numbers them
    differ, share = low != high, answers.left_share[judged][pairs.pair]
    if not differ.any():
        hint = "check that both files name topics and documents alike"
        raise PairsError("no test is between documents with different labels", hint=hint)
    won = np.where(pairs.a > pairs.b, share, 1 - share)
    key, cell = np.unique(label_pair[differ] * len(judged) + pairs.pair[differ], return_inverse=True)
    cases: Floats = np.bincount(cell, weights=pairs.weight[differ]).astype(np.float64)
    hits: Floats = np.bincount(cell, weights=(pairs.weight * won)[differ]).astype(np.float64)
    pair, start, n = np.unique(key // len(judged), return_index=True, return_counts=True)
    return _Tests(pair, n, start, key % len(judged), hits, cases, len(judged))


def _drawn_shares(asked: _Tests, tests: _Tests, size: int, n_draws: int, rng: np.random.Generator) -> Floats:
    """Return the share of the higher label in every draw of tests -> (draw, label pair)."""
    drawn = np.empty((n_draws, len(tests.pair)))
    for row in drawn:
        place = asked.start[:, None] + (rng.random((len(asked.n), size)) * asked.n[:, None]).astype(np.int64)
        times = np.bincount(asked.test[place].ravel(), minlength=asked.n_tests)[tests.test]
        cases = np.add.reduceat(times * tests.cases, tests.start)
        hits = np.add.reduceat(times * tests.hits, tests.start)
        row[:] = np.divide(hits, cases, out=np.full(len(cases), np.nan), where=cases > 0)
    return drawn
