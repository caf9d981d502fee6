r"""Prediction of conditional labels: multinomial logistic regression on the labels in isolation of both documents.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Sections 3.2 and 5.3: "only the overall isolation labels g(d_i) and
g(d_(i-1))" are the features.  With a = g(d), b = g(c), and x further features if there are any,

.. math:: P(g(d|c) = k) \propto \exp(w_k + u_{ka} + v_{kb} + z_{kab} + y_k^T x)

Labels are classes, not numbers (one column each).  The interactions z, a column for every pair of labels, are optional;
``context.validation`` compares both forms.  All coefficients but w are shrunk: the sum of their squares times
regularisation / 2 is added to the negative log likelihood (scikit-learn's C is 1 / regularisation).  Features are
standardised.  Further decisions:

- A missing label in isolation (-1) is averaged over, weighted by the training pairs that have the other label plus one
  pair spread evenly over all values.  With neither label this is nearly the share of each conditional label.
- A label that never occurs as a conditional label gets the probability 1 / (pairs + labels), taken evenly from the
  others; where all labels occur the probabilities are scikit-learn's.

Cross-fitting: a model predicts the labels it was fitted on too well.  Topics are assigned at random to folds of nearly
equal size, and the model of a fold is fitted on the topics of the other folds.

A saved predictor is JSON with plain coefficients, never code.  A file is checked as a whole when it is read: its kind,
version, scale, and the names and numbers of its columns.

A prediction needs numpy alone.  Cost: O(pairs x labels); where a label is missing, x labels^2.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from venire.context.pairs import Features, LabelledPairs, Standard, bound_features, labelled_pairs
from venire.data.context import ContextPairs
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.errors import FormatError, PairsError, ScaleError, SettingError, Way
from venire.io.documents import counts, numbers, read_saved, saved, typed
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.outputs import write_bytes
from venire.results import Note, Records, Tabular, counted
from venire.types import Bools, Codes, Floats, Ints, RNGLike

REGULARISATION, FOLDS = 1.0, 10
MOST_LABELS = 20
"""With more labels than this there are no interactions: they would be columns without pairs."""
UNSETTLED = 1e-5
"""A gradient per pair above this is no optimum."""
CELLS_AT_ONCE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Regression:
    """Settings of the regression: the weight of the penalty, and whether labels interact."""

    regularisation: float = REGULARISATION
    interactions: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.regularisation) and self.regularisation > 0):
            message = f"regularisation is {self.regularisation:g}, expected a positive number"
            raise SettingError(message, hint="1 is usual; near 0 hardly anything is shrunk")


def design_matrix(label: Ints, given: Ints, n_labels: int, *, setting: Regression, x: Floats | None) -> Floats:
    """Return the design matrix, a column per coefficient -> (row, column)."""
    one = np.eye(n_labels)
    blocks = [one[label], one[given]]
    if setting.interactions:
        blocks.append(np.eye(n_labels * n_labels)[label * n_labels + given])
    return np.hstack(blocks if x is None else [*blocks, x])


def column_names(scale: Scale, setting: Regression, features: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of the columns of a design matrix."""
    names = [f"{role}={label}" for role in ("label", "given") for label in scale.labels]
    if setting.interactions:
        names += [f"label={label}, given={given}" for label in scale.labels for given in scale.labels]
    return (*names, *(f"feature {name}" for name in features))


def fitted_coefficients(
    design: Floats, outcome: Codes, n_labels: int, *, weight: Floats, setting: Regression, rng: RNGLike
) -> tuple[Floats, Floats]:
    """Fit by scikit-learn -> intercept (label,), coefficients (label, column)."""
    from sklearn.linear_model import LogisticRegression

    intercept, coefficients = np.zeros(n_labels), np.zeros((n_labels, design.shape[1]))
    if len(np.unique(outcome)) == 1:
        return intercept, coefficients
    seed = int(np.random.default_rng(rng).integers(1 << 31))
    solver = LogisticRegression(
        C=1 / setting.regularisation, solver="newton-cg", tol=1e-8, max_iter=1000, random_state=seed
    )
    with warnings.catch_warnings():  # convergence is checked by the gradient
        warnings.simplefilter("ignore")
        solver.fit(design, outcome, sample_weight=weight)
    excess = weight[:, None] * (solver.predict_proba(design) - (outcome[:, None] == solver.classes_))
    rise = (excess.T @ design)[-len(solver.coef_) :] + solver.coef_ / solver.C
    if not np.abs(rise).max() <= UNSETTLED * weight.sum():
        message = f"the regression did not converge with regularisation {1 / solver.C:g}"
        raise SettingError(message, hint="raise the regularisation, and leave out features with a very large range")
    at = solver.classes_ if len(solver.classes_) > 2 else solver.classes_[1:]  # of two, the first has none
    intercept[at], coefficients[at] = solver.intercept_, solver.coef_
    return intercept, coefficients


@dataclass(frozen=True, eq=False)
class ConditionalLabels(Tabular):
    """A fitted predictor of conditional labels (a ``venire.data.context.Predictor``).

    intercept      (label,)
    coefficients   (label, column): a column for each label of the document, of the document before, with interactions
                   of each two of them, and of each feature; 0 for labels that never occur as conditional labels
    counts         how often each label occurs as a conditional label (label,)
    joint          pairs by label and label of the document before (label, label)
    n_same         pairs whose conditional label equals the label in isolation
    fingerprint    of the judgments it was fitted on, where it was read from a file
    """

    setting: Regression
    scale: Scale
    intercept: Floats
    coefficients: Floats
    counts: Ints
    joint: Ints
    n_same: int
    n_topics: int
    standard: Standard | None = None
    features: Features | None = None
    notes: tuple[Note, ...] = ()
    fingerprint: str | None = None

    @property
    def n_pairs(self) -> int:
        """Number of pairs it was fitted on."""
        return int(self.counts.sum())

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``coefficients``."""
        return column_names(self.scale, self.setting, () if self.standard is None else self.standard.names)

    def probabilities(self, pairs: ContextPairs) -> Floats:
        """Return the probability of each label -> (pair, label); rows sum to 1.

        A missing label in isolation (-1) is averaged over, see the module.
        """
        highest = int(max(pairs.label.max(initial=-1), pairs.given_label.max(initial=-1)))
        if highest >= len(self.scale):
            message = f"found a label of level {highest}, expected 0 to {len(self.scale) - 1} of the scale {self.scale}"
            hint = "the predictor was fitted for another scale: fit it again, or declare the scale"
            raise SettingError(message, hint=hint)
        if self.standard is not None:
            if self.features is None:
                way = Way("give the features that it was fitted with", features="FILE")
                raise SettingError("this predictor uses features, and none are bound to it", hint=[way])
            return self._each(pairs.label, pairs.given_label, self.standard(self.features.of(pairs)))
        width = len(self.scale) + 1
        kinds, of = np.unique((pairs.label + 1).astype(np.int64) * width + pairs.given_label + 1, return_inverse=True)
        return self._each(kinds // width - 1, kinds % width - 1, None)[of]

    def at_mean(self) -> Floats:
        """Return probabilities for every two labels, features at their mean -> (label, label before, conditional)."""
        n = len(self.scale)
        label, given = (each.ravel() for each in np.indices((n, n)))
        return self._known(label, given, None).reshape(n, n, n)

    def with_features(self, judgments: Judgments, features: Any) -> ConditionalLabels:
        """Bind features to the items of these judgments, as a predictor that was read from a file needs it."""
        bound = bound_features(features, judgments)
        if self.standard is None or bound is None:
            raise SettingError("this predictor was fitted without features", hint="fit it with features=...")
        if (bound.names, bound.paired) != (self.standard.names, self.standard.paired):
            message = f"found the features {', '.join(bound.names)}, expected {', '.join(self.standard.names)}"
            raise SettingError(message, hint="give the columns that the predictor was fitted with, in the same order")
        return replace(self, features=bound)

    def sentence(self) -> str:
        """Return what the predictor was fitted on."""
        others = "" if self.standard is None else f" and {counted(len(self.standard.names), 'feature')}"
        return (
            f"Conditional labels are predicted from the labels in isolation of both documents{others}; fitted on "
            f"{counted(self.n_pairs, 'pair')} of {counted(self.n_topics, 'topic')}, {self.n_same / self.n_pairs:.0%} "
            "with the same label as in isolation"
        )

    def records(self) -> Records:
        """Return one row per label, label of the document before and conditional label, features at their mean."""
        labels = self.scale.labels
        return [
            {"label": labels[i], "before": labels[j], "in_condition": labels[k], "probability": float(p)}
            for (i, j, k), p in np.ndenumerate(self.at_mean())
        ]

    def __str__(self) -> str:
        return self.sentence()

    def _each(self, label: Ints | Codes, given: Ints | Codes, x: Floats | None) -> Floats:
        """Predict rows in blocks, averaging over missing labels; x (row, feature)."""
        p = np.empty((len(label), len(self.scale)))
        known = (label >= 0) & (given >= 0)
        p[known] = self._known(label[known], given[known], None if x is None else x[known])
        open_rows = np.flatnonzero(~known)
        step = max(1, CELLS_AT_ONCE // len(self.scale) ** 3)
        for begin in range(0, len(open_rows), step):
            rows = open_rows[begin : begin + step]
            p[rows] = self._averaged(label[rows], given[rows], None if x is None else x[rows])
        return p

    def _known(self, label: Ints | Codes, given: Ints | Codes, x: Floats | None) -> Floats:
        """P(conditional label | both labels in isolation, features) -> (row, label)."""
        n, by_column = len(self.scale), self.coefficients.T
        logits = self.intercept + by_column[label] + by_column[n + given]
        if self.setting.interactions:
            logits = logits + by_column[2 * n + label * n + given]
        if x is not None:
            logits = logits + x @ by_column[by_column.shape[0] - x.shape[1] :]
        seen = self.counts > 0
        logits = np.where(seen, logits, -np.inf)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        p = odds / odds.sum(axis=1, keepdims=True)
        unseen = ~seen / (self.n_pairs + n)  # taken evenly from the others
        return p if seen.all() else p * (1 - unseen.sum()) + unseen

    def _averaged(self, label: Ints | Codes, given: Ints | Codes, x: Floats | None) -> Floats:
        """Return the mean prediction over the possible values of missing labels -> (row, label)."""
        n, rows = len(self.scale), len(label)
        level = np.arange(n)
        weight = (self.joint + 1.0 / n**2) * (
            ((label[:, None] < 0) | (label[:, None] == level))[:, :, None]
            & ((given[:, None] < 0) | (given[:, None] == level))[:, None, :]
        )
        row, a, b = np.nonzero(weight)
        share = weight[row, a, b] / weight.sum(axis=(1, 2))[row]
        p = share[:, None] * self._known(a, b, None if x is None else x[row])
        cell = row[:, None] * n + level
        mean = np.bincount(cell.ravel(), weights=p.ravel(), minlength=rows * n).astype(np.float64, copy=False)
        return mean.reshape(rows, n)


@dataclass(frozen=True, eq=False)
class Training:
    """Training data and settings of a predictor: the pairs, their features if any, and the regression."""

    learnt: LabelledPairs
    scale: Scale
    n_topics: int
    setting: Regression
    features: Features | None

    @classmethod
    def of(
        cls,
        judgments: Judgments,
        features: Any = None,
        interactions: bool = False,
        regularisation: float = REGULARISATION,
    ) -> Training:
        """Collect the pairs of judgments, and check the settings."""
        n = len(judgments.scale)
        if interactions and n > MOST_LABELS:
            message = f"interactions of {n} labels are {n * n:,} columns, expected at most {MOST_LABELS} labels"
            raise SettingError(message, hint="leave interactions out, or map the labels to a coarser scale")
        setting = Regression(regularisation=regularisation, interactions=interactions)
        learnt, bound = labelled_pairs(judgments), bound_features(features, judgments)
        return cls(learnt, judgments.scale, len(judgments.items.topics), setting, bound)

    def fit(self, rows: Ints | Bools | None = None, *, rng: RNGLike = 0) -> ConditionalLabels:
        """Fit on all pairs or some of them.  Without features equal pairs are fitted as one, with a weight."""
        learnt, n = self.learnt if rows is None else self.learnt.take(rows), len(self.scale)
        pairs, outcome = learnt.pairs, learnt.outcome
        standard = x = None
        weight: Floats = np.ones(len(outcome))
        label, given = pairs.label.astype(np.int64), pairs.given_label.astype(np.int64)
        joint = np.bincount(label * n + given, minlength=n * n).reshape(n, n)
        firsts, n_same = np.bincount(outcome, minlength=n), int((pairs.label == outcome).sum())
        if self.features is not None:
            values = self.features.of(pairs)
            standard = Standard.of(self.features, values)
            x = standard(values)
        else:
            cells, times = np.unique((label * n + given) * n + outcome, return_counts=True)
            label, given, outcome = cells // n // n, cells // n % n, (cells % n).astype(np.int32)
            weight = times.astype(np.float64)
        design = design_matrix(label, given, n, setting=self.setting, x=x)
        fitted = fitted_coefficients(design, outcome, n, weight=weight, setting=self.setting, rng=rng)
        made = ConditionalLabels(self.setting, self.scale, *fitted, firsts, joint, n_same, len(learnt.topics))
        return replace(made, standard=standard, features=self.features, notes=learnt.notes())

    def topic_folds(self, folds: int | None, rng: np.random.Generator) -> Ints:
        """Assign the topics that have pairs to folds at random -> fold of each topic, -1 without pairs (topic,)."""
        topics = self.learnt.topics
        folds = max(2, min(FOLDS, len(topics))) if folds is None else folds
        if folds < 2:
            raise SettingError(f"{counted(folds, 'fold')} cannot leave topics out", hint="use at least 2 folds")
        if len(topics) < folds:
            hint = "label pairs of documents on more topics"
            message = f"conditional labels are known for {counted(len(topics), 'topic')}, too few for {folds} folds"
            hint = f"use {len(topics)} folds, one topic each, or {hint}" if len(topics) > 1 else hint
            raise PairsError(message, hint=hint)
        fold = np.full(self.n_topics, -1, dtype=np.int64)
        fold[rng.permutation(topics)] = np.arange(len(topics)) % folds
        return fold


def fit_conditional_labels(
    judgments: JudgmentsLike,
    *,
    features: Any = None,
    interactions: bool = False,
    regularisation: float = REGULARISATION,
    rng: RNGLike = 0,
) -> ConditionalLabels:
    """Fit a predictor of the label that a document gets after another one.

    Parameters
    ----------
    judgments : with a facet ``given``, the document read just before, empty for labels in isolation
    features : further numbers: a file, frame or columns by name with topic, doc, perhaps given, and the numbers;
        without ``given`` the features of both documents of a pair are used
    interactions : whether each two labels have a coefficient of their own, beside one for each label
    regularisation : weight of the squares of the coefficients
    rng : seed of the solver

    Examples
    --------
    >>> from venire import read_judgments
    >>> docs, given = ["a", "b", "c", "b", "c", "a"], ["", "", "", "a", "a", "c"]
    >>> held = {"topic": ["1"] * 6, "doc": docs, "given": given, "label": ["2", "2", "0", "1", "0", "2"]}
    >>> import polars as pl
    >>> model = fit_conditional_labels(read_judgments(pl.DataFrame(held)))
    >>> model.n_pairs, model.n_same
    (3, 2)

    Notes
    -----
    When not to use this: to estimate how well labels are predicted, or to score runs on the training topics;
    ``cross_fitted`` predicts each topic with a model fitted on the others.
    """
    judgments = as_judgments(judgments)
    return Training.of(judgments, features, interactions, regularisation).fit(rng=rng)


@dataclass(frozen=True, eq=False)
class CrossFitted(Tabular):
    """Predictors of conditional labels, one per fold (a ``venire.data.context.Predictor``).

    models   (fold,); whole: fitted on all topics, for topics without conditional labels
    fold     of each topic, -1 for such topics (topic,); topic of each item (item,)
    """

    scale: Scale
    models: tuple[ConditionalLabels, ...]
    whole: ConditionalLabels
    fold: Ints
    topic: Codes

    def probabilities(self, pairs: ContextPairs) -> Floats:
        """Return the probability of each label -> (pair, label), by the model fitted without the pair's topic."""
        if int(pairs.item.max(initial=-1)) >= len(self.topic):
            message = f"this predictor knows the topics of {len(self.topic):,} items, and a pair names one beyond them"
            raise SettingError(message, hint="fit it on the judgments that are scored: cross_fitted(judgments)")
        p = np.empty((len(pairs), len(self.scale)))
        fold = self.fold[self.topic[pairs.item]]
        for number, model in [*enumerate(self.models), (-1, self.whole)]:
            p[fold == number] = model.probabilities(pairs.take(fold == number))
        return p

    def sentence(self) -> str:
        """Return what the predictors were fitted on."""
        return f"{self.whole.sentence()}; cross-fitted in {counted(len(self.models), 'fold')} of topics"

    def records(self) -> Records:
        """Return the rows of the model that was fitted on all topics."""
        return self.whole.records()


def cross_fitted(
    judgments: JudgmentsLike, *, folds: int | None = None, rng: RNGLike = 0, **fitting: Any
) -> CrossFitted:
    """Fit predictors of conditional labels so that no pair is predicted from labels of its own topic.

    folds : of topics; None: 10, or as many as there are topics with pairs.  ``fitting``: features, interactions and
    regularisation, as in ``fit_conditional_labels``.  The predictor is for the items of these judgments.
    """
    judgments = as_judgments(judgments)
    training, generator = Training.of(judgments, **fitting), np.random.default_rng(rng)
    fold = training.topic_folds(folds, generator)
    of_pair = fold[training.learnt.topic]
    models = tuple(training.fit(of_pair != number, rng=generator) for number in range(int(fold.max()) + 1))
    return CrossFitted(judgments.scale, models, training.fit(rng=generator), fold, judgments.items.topic)


KIND = "venire predictor of conditional labels"
AGAIN = "fit the predictor again and save it"


def write_conditional_labels(model: ConditionalLabels, path: str | Path, *, fingerprint: str) -> None:
    """Save a predictor as JSON; fingerprint: that of the judgments it was fitted on (``data.judgments``)."""
    text = saved(
        KIND,
        fingerprint=fingerprint,
        scale={"labels": model.scale.labels, "measurement": model.scale.measurement},
        setting=asdict(model.setting),
        pairs=model.n_pairs,
        topics=model.n_topics,
        same=model.n_same,
        counts=model.counts,
        joint=model.joint,
        features=None if model.standard is None else vars(model.standard),
        columns=model.columns,
        intercept=model.intercept,
        coefficients=model.coefficients,
    )
    write_bytes(Path(path), text.encode())


def read_conditional_labels(path: str | Path) -> ConditionalLabels:
    """Read a saved predictor; one that uses features needs ``with_features`` before it predicts."""
    held = read_saved(Path(path), KIND, what="a saved predictor of conditional labels", hint=AGAIN)
    try:
        return _model(held)
    except KeyError as error:
        raise FormatError(path, None, f"lacks {error}", hint=AGAIN) from None
    except (ScaleError, SettingError) as error:
        raise FormatError(path, None, error.message, hint=error.hint) from None
    except (TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        raise FormatError(path, None, f"is not a complete predictor ({error})", hint=AGAIN) from None


def _model(held: Mapping[str, Any]) -> ConditionalLabels:
    scale = Scale(tuple(typed(label, str) for label in held["scale"]["labels"]), held["scale"]["measurement"])
    setting = Regression(**held["setting"])
    typed(setting.interactions, bool)
    n, standard = len(scale), _standard(held["features"])
    columns = column_names(scale, setting, () if standard is None else standard.names)
    if tuple(held["columns"]) != columns:
        raise ValueError(f"columns are not the {len(columns)} that its scale, setting and features have")
    firsts, joint, pairs, topics, same = (
        counts(held, name, shape)
        for name, shape in (("counts", (n,)), ("joint", (n, n)), ("pairs", ()), ("topics", ()), ("same", ()))
    )
    if not (firsts.sum() == joint.sum() == pairs > 0 and same <= pairs and 0 < topics <= pairs):
        raise ValueError("its numbers of pairs contradict each other")
    fitted = numbers(held, "intercept", (n,)), numbers(held, "coefficients", (n, len(columns)))
    found = ConditionalLabels(setting, scale, *fitted, firsts, joint, int(same), int(topics), standard)
    return replace(found, fingerprint=typed(held["fingerprint"], str))


def _standard(held: Any) -> Standard | None:
    if held is None:
        return None
    names, paired = tuple(typed(name, str) for name in held["names"]), typed(held["paired"], bool)
    centre, spread = (numbers(held, name, (len(names),)) for name in ("centre", "spread"))
    if not (spread > 0).all():
        raise ValueError("spread of features is not positive")
    return Standard(names, paired, centre, spread)
