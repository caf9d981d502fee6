"""Predictive power of aspects: accuracy of the overall label predicted from the labels of some aspects.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.1: a multinomial logistic regression predicts the overall
label, N/A among its classes, from every set of aspects; accuracy on a random tenth of the documents.  Labels of an
aspect are one-hot, with N/A (and no label) as levels of their own.  Departures: the random split is repeated and the
mean is given; and since documents of one topic are alike, accuracy is also measured on held-out topics
(cross-validation grouped by topic).  The empty set of aspects predicts the most frequent class: the baseline.

Documents with the same labels are fitted as one, with a weight, so the cost of a fit grows with distinct patterns only.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from venire.aspects.cases import CONDITION, ISOLATION, NO_CONDITION, NO_ISOLATION, Cases, Interval
from venire.data.aspects import NO_LABEL
from venire.results import Note, Records, Tabular, counted
from venire.types import Bools, Floats, Ints, RNGLike

MOST_ASPECTS = 6
"""With more aspects, only sets of one, of two, and of all are tried."""
HELD_OUT = 0.1


@dataclass(frozen=True)
class Power:
    """Accuracy from one set of aspects: on a random tenth (mean and deviation), and on held-out topics."""

    context: str
    aspects: tuple[str, ...]
    labels: int
    accuracy: float | None
    deviation: float | None
    held_out_topics: Interval

    def record(self) -> dict[str, Any]:
        """Return a row."""
        names = ("context", "aspects", "labels", "accuracy", "sd", "accuracy_held_out_topics", "low", "high", "reason")
        found = self.context, list(self.aspects), self.labels, self.accuracy, self.deviation, *self.held_out_topics
        return dict(zip(names, found, strict=True))


@dataclass(frozen=True)
class Prediction(Tabular):
    """Accuracy of every set of aspects, the empty one first."""

    overall: str | None
    powers: tuple[Power, ...]
    splits: int
    folds: int
    notes: tuple[Note, ...] = ()
    reason: str | None = None

    def records(self) -> Records:
        """Return one row per context and set of aspects; the empty set is the baseline."""
        return [each.record() for each in self.powers]

    def find(self, aspects: tuple[str, ...] = (), context: str = ISOLATION) -> Power:
        """Return the accuracy from one set of aspects, in any order."""
        return next(each for each in self.powers if set(each.aspects) == set(aspects) and each.context == context)

    def sentence(self) -> str:
        """Return the best accuracy on held-out topics, and the baseline."""
        shown = [words for context in (ISOLATION, CONDITION) if (words := self._best(context))]
        if self.reason is not None or not shown:
            return f"Predictive power is not known: {self.reason or 'fewer than two topics'}."
        return f"Accuracy of predicting {self.overall!r} on held-out topics: {'; '.join(shown)}."

    def _best(self, context: str) -> str:
        known = [each for each in self.powers if each.context == context and each.held_out_topics.value is not None]
        if not known:
            return ""
        best = max(known, key=lambda each: (each.held_out_topics.value or 0.0, -len(each.aspects)))
        named = " and ".join(best.aspects) or "no aspect"
        base = self.find((), context).held_out_topics.value
        return f"in {context} {best.held_out_topics.value:.1%} from {named} (most frequent label: {base:.1%})"


def aspect_prediction(cases: Cases, *, splits: int = 5, folds: int = 5, rng: RNGLike = 0) -> Prediction:
    """Predict overall from every set of aspects.

    splits: number of random tenths held out; folds: number of folds of topics.
    Cost: sets x (splits + folds) fits, each O(patterns of labels x classes).
    """
    if cases.overall is None:
        return Prediction(None, (), splits, folds, reason="no aspect is named as overall")
    if not cases.others:
        return Prediction(cases.overall, (), splits, folds, reason="there is no other aspect")
    sets, many = _sets(cases.others), len(cases.others) > MOST_ASPECTS
    words = "more than {n} aspects: only sets of one, two and all of them predict"
    notes = (Note("many-aspects", words, n=MOST_ASPECTS),) * many
    with _one_thread():
        powers = [
            _power(cases, context, aspects, divided)
            for context in (ISOLATION, CONDITION)
            for divided in [_divided(cases, cases.overall, context, splits, folds, rng)]
            for aspects in sets
        ]
    return Prediction(cases.overall, tuple(powers), splits, folds, notes)


def _sets(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    sizes = range(len(names) + 1) if len(names) <= MOST_ASPECTS else (0, 1, 2, len(names))
    return [some for size in sizes for some in combinations(names, size)]


class Divided(NamedTuple):
    """Documents with an overall label, its class (row,), and the held-out ones: tests (split, row), fold (row,)."""

    rows: Ints
    y: Ints
    n_classes: int
    tests: list[Bools]
    fold: Ints


def _divided(cases: Cases, overall: str, context: str, splits: int, folds: int, rng: RNGLike) -> Divided:
    """Choose random tenths of the documents, and assign topics to folds."""
    random = np.random.default_rng(rng)
    grade = cases.aspects.grades(overall)
    rows = np.flatnonzero((grade > NO_LABEL) & (cases.aspects.is_conditional == (context == CONDITION)))
    classes, y = np.unique(grade[rows], return_inverse=True)
    n_test = max(1, round(HELD_OUT * len(rows)))
    tests = [random.permutation(len(rows)) < n_test for _ in range(splits if len(rows) > 1 else 0)]
    topics, topic = np.unique(cases.aspects.topic[rows], return_inverse=True)
    place = random.permutation(len(topics)) % max(min(folds, len(topics)), 1)
    return Divided(rows, y, len(classes), tests, place[topic] if len(topics) else topic)


def _power(cases: Cases, context: str, aspects: tuple[str, ...], divided: Divided) -> Power:
    """Measure the accuracy from one set of aspects."""
    rows, y, n_classes, tests, fold = divided
    columns = [cases.aspects.number_of(name) for name in aspects]
    patterns, pattern = np.unique(cases.aspects.grade[rows][:, columns].astype(np.int64), axis=0, return_inverse=True)
    marks = [column[:, None] == np.unique(column)[None, :] for column in patterns.T]
    one_hot = np.concatenate([np.zeros((len(patterns), 0)), *marks], axis=1).astype(np.float64)
    case = _Case(one_hot, pattern.reshape(-1).astype(np.int64), y, n_classes)
    right = [float(case.right(test)[test].mean()) for test in tests]
    deviation = float(np.std(right, ddof=1)) if len(right) > 1 else None
    mean, n_folds = float(np.mean(right)) if right else None, int(fold.max(initial=-1)) + 1
    if n_folds < 2:
        none = NO_ISOLATION if context == ISOLATION else NO_CONDITION
        found = f"{counted(n_folds, 'topic')}, expected two or more to hold some out"
        unknown = Interval(None, None, None, found if len(rows) else none)
        return Power(context, aspects, len(rows), mean, deviation, unknown)
    hits = np.zeros(len(rows), dtype=np.bool_)
    for number in range(n_folds):
        test = fold == number
        hits[test] = case.right(test)[test]
    return Power(context, aspects, len(rows), mean, deviation, cases.share(rows, hits, "there is no document"))


class _Case:
    """Features of each pattern (pattern, feature); pattern and class of each document (row,); the last model."""

    def __init__(self, features: Floats, pattern: Ints, y: Ints, n_classes: int) -> None:
        self.features, self.pattern, self.y, self.n_classes = features, pattern, y, n_classes
        self.model: Any = None

    def right(self, test: Bools) -> Bools:
        """Fit on the documents that are not held out; return whether each document is predicted correctly (row,)."""
        cell = self.pattern[~test] * self.n_classes + self.y[~test]
        counts = np.bincount(cell, minlength=len(self.features) * self.n_classes).reshape(-1, self.n_classes)
        return np.asarray(self._predicted(counts)[self.pattern] == self.y)

    def _predicted(self, counts: Ints) -> Ints:
        """Predict the class of each pattern from counts (pattern, class) -> (pattern,); starts from the last model."""
        from sklearn.linear_model import LogisticRegression

        classes = np.flatnonzero(counts.sum(axis=0))
        if len(classes) < 2 or not self.features.shape[1]:
            return np.full(len(counts), counts.sum(axis=0).argmax())
        pattern, label = np.nonzero(counts)
        if self.model is None or list(self.model.classes_) != classes.tolist():
            self.model = LogisticRegression(max_iter=1000, warm_start=True)
        self.model.fit(self.features[pattern], label, sample_weight=counts[pattern, label].astype(np.float64))
        return np.asarray(self.model.predict(self.features), dtype=np.int64)


def _one_thread() -> Any:
    """Limit matrix products to one core: small fits take ten times as long on several.

    Only libraries that are loaded can be limited, so scikit-learn is imported first.
    """
    import sklearn.linear_model  # noqa: F401
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)
