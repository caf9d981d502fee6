"""Multinomial logistic regression on labels and features: its columns, and its coefficients by scikit-learn.

The formula is that of ``conditional_labels``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.data.scale import Scale
from venire.errors import SettingError
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
