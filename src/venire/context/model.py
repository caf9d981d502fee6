r"""Labels in condition, predicted: multinomial logistic regression on the labels in isolation of both documents.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Sections 3.2 and 5.3: "only the overall isolation labels g(d_i) and
g(d_(i-1))" are the features.  With a = g(d), b = g(c), and x further features if there are any,

.. math:: P(g(d|c) = k) \propto \exp(w_k + u_{ka} + v_{kb} + z_{kab} + y_k^T x)

The labels are classes, not numbers (one column each); z, a column for every pair of labels, is an option: without it
a label read before moves the odds alike whatever the document is.  Which form predicts better is told by
``conditional_validation``.  Coefficients but for w are shrunk: the sum of their squares times regularisation / 2 is
added to the negative log likelihood (scikit-learn's C is 1 / regularisation).  Features are standardised.

What else is decided here:

- a label in isolation that is missing (-1) is averaged over, with the shares that its values have among the pairs
  learnt from that have the other label, one pair more being spread evenly over all values.  With neither label this is
  nearly the share of each label in condition.
- a label that nobody gave in condition gets the probability 1 / (pairs + labels), taken evenly from the others; where
  all labels occur the probabilities are scikit-learn's own.

A prediction needs numpy alone.  Cost: O(pairs x labels); where a label is missing, x labels^2.

Multinomial logistic regression on labels and features: its columns, and its coefficients by scikit-learn.

The formula is that of ``conditional_labels``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venire.context.features import Features, Standard, bound_features, standard_of
from venire.context.pairs import LabelledPairs, labelled_pairs
from venire.data.conditional import ContextPairs
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.errors import SettingError
from venire.results import Records, Tabular, counted
from venire.types import Codes, Floats, Ints, RNGLike

REGULARISATION = 1.0
MOST_LABELS = 20
"""With more labels than this there are no interactions: they would be columns without pairs."""
UNSETTLED = 1e-5
"""A gradient per pair above this is no optimum."""


@dataclass(frozen=True, kw_only=True)
class Regression:
    """How labels in condition are predicted: the weight of the penalty, and whether labels interact."""

    regularisation: float = REGULARISATION
    interactions: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.regularisation) and self.regularisation > 0):
            raise SettingError(
                f"regularisation is {self.regularisation:g}, expected a positive number",
                hint="1 is usual; near 0 hardly anything is shrunk",
            )


def design_matrix(label: Ints, given: Ints, n_labels: int, *, setting: Regression, x: Floats | None) -> Floats:
    """What is learnt from, a column per coefficient -> (row, column)."""
    one = np.eye(n_labels)
    blocks = [one[label], one[given]]
    if setting.interactions:
        blocks.append(np.eye(n_labels * n_labels)[label * n_labels + given])
    return np.hstack(blocks if x is None else [*blocks, x])


def column_names(scale: Scale, setting: Regression, features: Sequence[str] = ()) -> tuple[str, ...]:
    """Names of the columns of a design matrix."""
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
    with warnings.catch_warnings():  # whether it has settled is seen from the gradient
        warnings.simplefilter("ignore")
        solver.fit(design, outcome, sample_weight=weight)
    _refuse_unsettled(solver, design, outcome, weight=weight)
    at = solver.classes_ if len(solver.classes_) > 2 else solver.classes_[1:]  # of two, the first has none
    intercept[at], coefficients[at] = solver.intercept_, solver.coef_
    return intercept, coefficients


def _refuse_unsettled(solver: Any, design: Floats, outcome: Codes, *, weight: Floats) -> None:
    """Refuse coefficients at which the penalised log likelihood, per pair, still rises."""
    excess = weight[:, None] * (solver.predict_proba(design) - (outcome[:, None] == solver.classes_))
    rise = (excess.T @ design)[-len(solver.coef_) :] + solver.coef_ / solver.C
    if not np.abs(rise).max() <= UNSETTLED * weight.sum():
        raise SettingError(
            f"no best coefficients were found for regularisation {1 / solver.C:g}",
            hint="raise the regularisation, and leave out features of huge range",
        )


CELLS_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class ConditionalLabels(Tabular):
    """A fitted predictor of labels in condition (a ``venire.data.conditional.Predictor``).

    intercept      (label,)
    coefficients   (label, column): a column for each label of the document, of the document before, with interactions
                   of each two of them, and of each feature; 0 for labels that nobody gave in condition
    counts         how often each label was given in condition (label,)
    joint          pairs by label and label of the document before (label, label)
    n_same         pairs whose label in condition is the one in isolation
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
    notes: tuple[str, ...] = ()
    fingerprint: str | None = None

    @property
    def n_pairs(self) -> int:
        """How many pairs it was fitted on."""
        return int(self.counts.sum())

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``coefficients``."""
        return column_names(self.scale, self.setting, () if self.standard is None else self.standard.names)

    def probabilities(self, pairs: ContextPairs) -> Floats:
        """Probability of each label -> (pair, label); rows sum to 1.

        A label in isolation that is missing (-1) is averaged over, as the module says.
        """
        _refuse_labels(pairs, self.scale)
        if self.standard is not None:
            return self._each(pairs.label, pairs.given_label, self._standardised(pairs))
        width = len(self.scale) + 1
        kinds, of = np.unique((pairs.label + 1).astype(np.int64) * width + pairs.given_label + 1, return_inverse=True)
        return self._each(kinds // width - 1, kinds % width - 1, None)[of]

    def at_mean(self) -> Floats:
        """Probabilities for every two labels, features at their mean -> (label, label before, label in condition)."""
        n = len(self.scale)
        label, given = (each.ravel() for each in np.indices((n, n)))
        return self._known(label, given, None).reshape(n, n, n)

    def with_features(self, judgments: Judgments, features: Any) -> ConditionalLabels:
        """Bind features to the items of these judgments; a fit that was saved knows no documents until then."""
        if self.standard is None:
            raise SettingError("this predictor was fitted without features", hint="fit it with features=...")
        bound = bound_features(features, judgments)
        if (bound.names, bound.paired) != (self.standard.names, self.standard.paired):
            raise SettingError(
                f"found the features {', '.join(bound.names)}, expected {', '.join(self.standard.names)}",
                hint="give the columns that the predictor was fitted with, in the same order",
            )
        return replace(self, features=bound)

    def sentence(self) -> str:
        """Say in one line what it was made from."""
        same = self.n_same / self.n_pairs
        others = "" if self.standard is None else f" and {counted(len(self.standard.names), 'feature')}"
        return (
            f"Labels in condition are predicted from the labels in isolation of both documents{others}: fitted on "
            f"{counted(self.n_pairs, 'pair')} of {counted(self.n_topics, 'topic')}, {same:.0%} of them with the same "
            "label as in isolation"
        )

    def records(self) -> Records:
        """Return one row per label, label of the document before and label in condition, features at their mean."""
        labels = self.scale.labels
        return [
            {"label": labels[i], "before": labels[j], "in_condition": labels[k], "probability": float(p)}
            for (i, j, k), p in np.ndenumerate(self.at_mean())
        ]

    def __str__(self) -> str:
        return self.sentence()

    def _standardised(self, pairs: ContextPairs) -> Floats:
        if self.features is None or self.standard is None:
            raise SettingError(
                "this predictor uses features, and none are bound to it",
                hint="model.with_features(judgments, features), on the command line --context-features FILE",
            )
        return self.standard(self.features.of(pairs))

    def _each(self, label: Ints | Codes, given: Ints | Codes, x: Floats | None) -> Floats:
        """Predict, averaging over what is missing, a block of such rows at a time; x (row, feature)."""
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
        """P(label in condition | both labels in isolation, features) -> (row, label)."""
        n, by_column = len(self.scale), self.coefficients.T
        logits = self.intercept + by_column[label] + by_column[n + given]
        if self.setting.interactions:
            logits = logits + by_column[2 * n + label * n + given]
        if x is not None:
            logits = logits + x @ by_column[by_column.shape[0] - x.shape[1] :]
        seen = self.counts > 0
        logits = np.where(seen, logits, -np.inf)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return with_unseen(odds / odds.sum(axis=1, keepdims=True), self.counts)

    def _averaged(self, label: Ints | Codes, given: Ints | Codes, x: Floats | None) -> Floats:
        """The mean prediction over the labels that may stand where one is missing -> (row, label)."""
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


def fit_conditional_labels(
    judgments: Judgments,
    *,
    features: Any = None,
    interactions: bool = False,
    regularisation: float = REGULARISATION,
    rng: RNGLike = 0,
) -> ConditionalLabels:
    """Learn which label a document gets after another, from judgments that have labels in condition.

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
    When not to use this: to judge how well labels are predicted, or to score runs on the topics that were learnt from;
    ``cross_fitted`` predicts each topic by a model that has not seen it.
    """
    learnt = labelled_pairs(judgments)
    bound = None if features is None else bound_features(features, judgments)
    setting = Regression(regularisation=regularisation, interactions=interactions)
    return fit_pairs(learnt, judgments.scale, setting, features=bound, rng=rng)


def fit_pairs(
    learnt: LabelledPairs, scale: Scale, setting: Regression, *, features: Features | None = None, rng: RNGLike = 0
) -> ConditionalLabels:
    """Fit on pairs whose labels are known.  Without features pairs of the same labels are fitted as one, by weight."""
    n = len(scale)
    if setting.interactions and n > MOST_LABELS:
        raise SettingError(
            f"interactions of {n} labels are {n * n:,} columns, expected at most {MOST_LABELS} labels",
            hint="leave interactions out, or map the labels to a coarser scale",
        )
    pairs, outcome = learnt.pairs, learnt.outcome
    standard = x = None
    weight: Floats = np.ones(len(outcome))
    label, given = pairs.label.astype(np.int64), pairs.given_label.astype(np.int64)
    joint = np.bincount(label * n + given, minlength=n * n).reshape(n, n)
    n_same = int((pairs.label == outcome).sum())
    counts = np.bincount(outcome, minlength=n)
    if features is not None:
        values = features.of(pairs)
        standard = standard_of(features, values)
        x = standard(values)
    else:
        cells, times = np.unique((label * n + given) * n + outcome, return_counts=True)
        label, given, outcome = cells // n // n, cells // n % n, (cells % n).astype(np.int32)
        weight = times.astype(np.float64)
    design = design_matrix(label, given, n, setting=setting, x=x)
    intercept, coefficients = fitted_coefficients(design, outcome, n, weight=weight, setting=setting, rng=rng)
    return ConditionalLabels(
        setting,
        scale,
        intercept,
        coefficients,
        counts,
        joint,
        n_same,
        len(learnt.topics),
        standard,
        features,
        tuple(learnt.notes()),
    )


def with_unseen(p: Floats, counts: Ints) -> Floats:
    """Give a label that nobody gave in condition 1 / (pairs + labels), taken evenly from the others; p (row, label)."""
    unseen = counts == 0
    share = unseen / (counts.sum() + len(counts))
    return p * (1 - share.sum()) + share if unseen.any() else p


def _refuse_labels(pairs: ContextPairs, scale: Scale) -> None:
    highest = int(max(pairs.label.max(initial=-1), pairs.given_label.max(initial=-1)))
    if highest >= len(scale):
        raise SettingError(
            f"found a label of level {highest}, expected one of the scale {scale} (levels 0 to {len(scale) - 1})",
            hint="the predictor was fitted for another scale: fit it again, or declare the scale",
        )
