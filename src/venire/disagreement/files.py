"""Files of fits, in JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from venire.data.scale import RelevantSets, Scale
from venire.disagreement.predicted_relevance import KEYS, PredictedRelevance, PredictedRelevanceFit
from venire.errors import FormatError
from venire.io.documents import counts, numbers, read_saved, saved, typed
from venire.io.outputs import write_bytes
from venire.kernels.shares import Spread
from venire.types import Floats

KIND = "venire fit of predicted relevance"
PROBABILITIES = ("p", "low", "high")


def write_fit(fit: PredictedRelevanceFit, path: Path, *, fingerprint: str) -> None:
    """Save a fit with its setting; fingerprint: that of the judgments it was made from."""
    text = saved(
        KIND,
        fingerprint=fingerprint,
        scale={"labels": fit.scale.labels, "measurement": fit.scale.measurement},
        setting=asdict(fit.setting),
        relevant={
            name: [label for label, marked in zip(fit.scale.labels, row, strict=True) if marked]
            for name, row in zip(fit.relevant.names, fit.relevant.labels, strict=True)
        },
        topics=fit.n_topics,
        counts=fit.by_topic.sum(axis=0),
        parameters=fit.records(),
    )
    write_bytes(path, text.encode())


def read_fit(path: Path) -> PredictedRelevanceFit:
    """Read a fit that ``write_fit`` wrote."""
    held = read_saved(path, KIND, what="a saved fit", hint="save a fit with write_fit or venire disagreement")
    try:
        return _fit(held)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise FormatError(path, None, f"is not a whole fit ({error!r})", hint="make it again") from None


def _fit(held: Mapping[str, Any]) -> PredictedRelevanceFit:
    scale = Scale(tuple(typed(label, str) for label in held["scale"]["labels"]), held["scale"]["measurement"])
    names = tuple(held["relevant"])
    marked = [[label in typed(held["relevant"][name], list) for label in scale.labels] for name in names]
    columns: dict[str, Floats] = {key: np.full((len(names), len(scale)), np.nan) for key in KEYS}
    for record in held["parameters"]:
        place = names.index(record["relevant"]), scale.level_of(record["label"])
        for key, column in columns.items():
            column[place] = _parameter(record, key)
    setting, topics = PredictedRelevance(**held["setting"]), int(counts(held, "topics", ()))
    found = numbers(held, "counts", (len(scale), len(scale)))
    if not names or len(held["parameters"]) != len(names) * len(scale):
        raise ValueError(f"{len(held['parameters'])} parameters, expected one for each label and notion of relevance")
    if (found < 0).any() or not topics:
        raise ValueError("its counts are not those of labels")
    relevant = RelevantSets(names, np.array(marked))
    return PredictedRelevanceFit(setting, scale, relevant, Spread(**columns), found[None], topics)


def _parameter(record: Mapping[str, Any], key: str) -> float:
    """Return a parameter, NaN where it is not known; probabilities are from 0 to 1, all others from 0."""
    if record[key] is None:
        return math.nan
    value = float(record[key])
    if not 0 <= value <= (1.0 if key in PROBABILITIES else math.inf) or math.isinf(value):
        raise ValueError(f"{key} is {value:g} for {record['label']!r}")
    return value
