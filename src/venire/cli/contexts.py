"""Contexts for a command: weights of labels in condition, and what stands for those that were not collected."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from venire.cli.labels import SCORING
from venire.cli.options import PATH
from venire.cli.sections import Decorator, gathered, one_of, option
from venire.errors import VenireWarning
from venire.results import read_number

if TYPE_CHECKING:
    from venire.data.conditional import Predictor
    from venire.data.context import Context
    from venire.data.judgments import Judgments

BACKOFFS = ("isolation", "first")
CONTEXT = "Context (measures with alpha, labels with a column given)"


def _check(values: Mapping[str, Any]) -> None:
    if values["predict"] and values["model"] is not None:
        raise click.UsageError("--predict fits models of its own: leave out --context-model, or --predict")
    if values["predict"] or values["model"] is not None:
        return
    for name, given in (("--expected", values["expected"]), ("--context-features", values["features"] is not None)):
        if given:
            raise click.UsageError(f"{name} is for predicted labels: give --predict, or --context-model FILE")


in_context = gathered(
    "in_context",
    {
        "predict": option(
            "--predict",
            section=CONTEXT,
            is_flag=True,
            help="Predict labels in condition that were not collected, each topic by a model fitted on the others.",
        ),
        "model": option(
            *("--context-model", "model"),
            section=CONTEXT,
            type=PATH,
            metavar="FILE.json",
            help="Predict them by a model that was fitted on other judgments, and saved by venire context predict.",
        ),
        "features": option(
            *("--context-features", "features"),
            section=CONTEXT,
            type=PATH,
            metavar="FILE",
            help="Predict from these numbers too, as in venire context predict.",
        ),
        "backoff": one_of(
            "--backoff",
            choices=BACKOFFS,
            section=CONTEXT,
            default="isolation",
            help="Labels that are neither collected nor predicted: {}; first is as after the first document, if "
            "that was collected.",
        ),
        "expected": option(
            "--expected",
            section=CONTEXT,
            is_flag=True,
            help="Take the mean gain over predicted labels, not the gain of the most probable one.",
        ),
    },
    check=_check,
)
"""Options that reach a command as ``in_context``, for ``context_for``."""


def alphas_option(help: str, default: str | None = None) -> Decorator:
    """Declare --alphas, a text that ``weights_of`` reads."""
    return option("--alphas", section=SCORING, default=default, metavar="A,B,...", help=help)


def weights_of(text: str | None) -> list[float]:
    """Read numbers with commas between them; none where there is no text."""
    try:
        return [read_number(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        raise click.BadParameter(f"{text!r} are not numbers, as in 0,0.5,1", param_hint="--alphas") from None


def context_for(labels: Judgments, *, backoff: str, expected: bool, **predicted_by: Any) -> Context:
    """Settle what stands for labels in condition of these judgments that were not collected."""
    from venire.data.context import Context

    return Context(predictor=_predictor(labels, **predicted_by), backoff=backoff, expected=expected)


def _predictor(labels: Judgments, *, predict: bool, model: str | None, features: str | None) -> Predictor | None:
    if predict:
        from venire.context.cross_fits import cross_fitted

        return cross_fitted(labels, features=features)
    if model is None:
        return None
    from venire.context.files import read_conditional_labels
    from venire.data.judgments import fingerprint

    fitted = read_conditional_labels(model)
    if fitted.fingerprint == fingerprint(labels):
        words = f"{model} was fitted on these very labels: --predict leaves each topic out of its own model"
        warnings.warn(words, VenireWarning, stacklevel=2)
    return fitted if features is None else fitted.with_features(labels, features)
