"""Files of fits, in JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from venire.data.scale import RelevantSets, Scale
from venire.disagreement.predicted_relevance import KEYS, PredictedRelevance, PredictedRelevanceFit
from venire.errors import FormatError
from venire.io.documents import read_json
from venire.io.outputs import write_bytes
from venire.kernels.shares import Spread
from venire.types import Floats

KIND = "venire fit of predicted relevance"


def document(fit: PredictedRelevanceFit, fingerprint: str) -> dict[str, Any]:
    """Return a fit as a JSON object, with its setting and the fingerprint of its judgments."""
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
        "parameters": fit.records(),
    }


def write_fit(fit: PredictedRelevanceFit, path: Path, *, fingerprint: str) -> None:
    """Save a fit; fingerprint: that of the judgments it was made from."""
    text = json.dumps(document(fit, fingerprint), ensure_ascii=False, indent=1, allow_nan=False)
    write_bytes(path, f"{text}\n".encode())


def read_fit(path: Path) -> PredictedRelevanceFit:
    """Read a fit that ``write_fit`` wrote."""
    held = read_json(path)
    if not isinstance(held, Mapping) or held.get("kind") != KIND:
        raise FormatError(path, None, "is not a saved fit", hint="save a fit with write_fit or venire disagreement")
    try:
        return _fit(held)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise FormatError(path, None, f"is not a whole fit ({error!r})", hint="make it again") from None


def _fit(held: Mapping[str, Any]) -> PredictedRelevanceFit:
    scale = Scale(tuple(held["scale"]["labels"]), held["scale"]["measurement"])
    names = tuple(held["relevant"])
    relevant = RelevantSets(
        names, np.array([[label in held["relevant"][name] for label in scale.labels] for name in names])
    )
    shape = (len(names), len(scale))
    columns: dict[str, Floats] = {key: np.full(shape, np.nan) for key in KEYS}
    for record in held["parameters"]:
        place = names.index(record["relevant"]), scale.level_of(record["label"])
        for key, column in columns.items():
            column[place] = math.nan if record[key] is None else float(record[key])
    counts = np.array(held["counts"], dtype=np.float64)[None]
    setting = PredictedRelevance(**held["setting"])
    return PredictedRelevanceFit(setting, scale, relevant, Spread(**columns), counts, int(held["topics"]))
