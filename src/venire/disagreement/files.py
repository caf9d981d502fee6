"""Fits in JSON: saved with what made them, and read back as gains for any command."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from venire.data.relevance import RelevantSets
from venire.data.scale import Scale
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.errors import FormatError
from venire.kernels.shares import Spread
from venire.results import known, known_count
from venire.types import Floats

KIND = "venire fit of predicted relevance"
KEYS = ("relevant", "label", "p", "sd", "sd_items", "sd_topics", "low", "high", "hits", "pairs")


def parameters(fit: PredictedRelevanceFit) -> list[dict[str, Any]]:
    """One record per notion of relevance and label, highest label first; None where nothing is known."""
    return [
        {
            "relevant": name,
            "label": fit.scale.labels[level],
            **{key: known(getattr(fit.spread, key)[row, level]) for key in KEYS[2:8]},
            **{key: known_count(getattr(fit.spread, key)[row, level]) for key in KEYS[8:]},
        }
        for row, name in enumerate(fit.relevant.names)
        for level in reversed(range(len(fit.scale)))
    ]


def document(fit: PredictedRelevanceFit, fingerprint: str) -> dict[str, Any]:
    """A fit as a JSON object, with what made it."""
    from importlib.metadata import version

    return {
        "kind": KIND,
        "venire": version("venire"),
        "fingerprint": fingerprint,
        "scale": {"labels": list(fit.scale.labels), "measurement": fit.scale.measurement},
        "setting": asdict(fit.setting),
        "relevant": {
            name: [label for label, marked in zip(fit.scale.labels, row, strict=True) if marked]
            for name, row in zip(fit.relevant.names, fit.relevant.labels, strict=True)
        },
        "topics": fit.n_topics,
        "counts": fit.by_topic.sum(axis=0).tolist(),
        "parameters": parameters(fit),
    }


def write_fit(fit: PredictedRelevanceFit, path: Path, *, fingerprint: str) -> None:
    """Save a fit; fingerprint: that of the judgments it was made from."""
    text = json.dumps(document(fit, fingerprint), ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def read_fit(path: Path) -> PredictedRelevanceFit:
    """Read a fit that was saved."""
    try:
        held = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise FormatError(path, None, f"cannot be read as JSON ({error})") from None
    if not isinstance(held, Mapping) or held.get("kind") != KIND:
        raise FormatError(path, None, "is not a saved fit", hint="make one with venire disagreement --save FIT.json")
    try:
        return _fit(held)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FormatError(path, None, f"is not a whole fit ({error!r})", hint="make it again") from None


def _fit(held: Mapping[str, Any]) -> PredictedRelevanceFit:
    scale = Scale(tuple(held["scale"]["labels"]), held["scale"]["measurement"])
    names = tuple(held["relevant"])
    relevant = RelevantSets(
        names, np.array([[label in held["relevant"][name] for label in scale.labels] for name in names])
    )
    shape = (len(names), len(scale))
    columns: dict[str, Floats] = {key: np.full(shape, np.nan) for key in KEYS[2:]}
    for record in held["parameters"]:
        place = names.index(record["relevant"]), scale.level_of(record["label"])
        for key, column in columns.items():
            column[place] = math.nan if record[key] is None else float(record[key])
    counts = np.array(held["counts"], dtype=np.float64)[None]
    setting = PredictedRelevance(**held["setting"])
    return PredictedRelevanceFit(setting, scale, relevant, Spread(**columns), counts, int(held["topics"]))
