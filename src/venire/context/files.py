"""Predictors of labels in condition, in JSON: plain coefficients with what made them, never code.

A file that is read is checked as a whole: what it is, its version, its scale, the names and numbers of its columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from venire.context.features import Standard
from venire.context.model import ConditionalLabels, Regression, column_names
from venire.data.scale import Scale
from venire.errors import FormatError, ScaleError, SettingError
from venire.types import Floats, Ints

KIND = "venire predictor of labels in condition"
VERSION = 1
AGAIN = "make it again with venire context predict --save MODEL.json"


def document(model: ConditionalLabels, fingerprint: str) -> dict[str, Any]:
    """A predictor as a JSON object, with what made it."""
    from importlib.metadata import version

    standard = model.standard
    return {
        "kind": KIND,
        "version": VERSION,
        "venire": version("venire"),
        "fingerprint": fingerprint,
        "scale": {"labels": list(model.scale.labels), "measurement": model.scale.measurement},
        "setting": asdict(model.setting),
        "pairs": model.n_pairs,
        "topics": model.n_topics,
        "same": model.n_same,
        "counts": model.counts.tolist(),
        "joint": model.joint.tolist(),
        "features": None
        if standard is None
        else {
            "paired": standard.paired,
            "names": list(standard.names),
            "centre": standard.centre.tolist(),
            "spread": standard.spread.tolist(),
        },
        "columns": list(model.columns),
        "intercept": model.intercept.tolist(),
        "coefficients": model.coefficients.tolist(),
    }


def write_conditional_labels(model: ConditionalLabels, path: str | Path, *, fingerprint: str) -> None:
    """Save a predictor; fingerprint: that of the judgments it was made from (``venire.data.fingerprints``)."""
    text = json.dumps(document(model, fingerprint), ensure_ascii=False, indent=1, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def read_conditional_labels(path: str | Path) -> ConditionalLabels:
    """Read a predictor that was saved; one that uses features needs ``with_features`` before it predicts."""
    path = Path(path)
    try:
        held = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise FormatError(path, None, f"cannot be read as JSON ({error})") from None
    if not isinstance(held, Mapping) or held.get("kind") != KIND:
        raise FormatError(path, None, "is not a saved predictor of labels in condition", hint=AGAIN)
    if held.get("version") != VERSION:
        message = f"has version {held.get('version')!r}, expected {VERSION}"
        raise FormatError(path, None, message, hint="read it with the venire that wrote it, or " + AGAIN)
    try:
        return _model(held)
    except KeyError as error:
        raise FormatError(path, None, f"lacks {error}", hint=AGAIN) from None
    except (ScaleError, SettingError) as error:
        raise FormatError(path, None, error.message, hint=error.hint) from None
    except (TypeError, ValueError, AttributeError) as error:
        raise FormatError(path, None, f"is not a whole predictor ({error})", hint=AGAIN) from None


def _model(held: Mapping[str, Any]) -> ConditionalLabels:
    scale = Scale(tuple(map(_text, held["scale"]["labels"])), _text(held["scale"]["measurement"]))
    setting = Regression(**held["setting"])
    if not isinstance(setting.interactions, bool):
        raise ValueError(f"interactions is {setting.interactions!r}, expected true or false")
    n, standard = len(scale), _standard(held["features"])
    columns = column_names(scale, setting, () if standard is None else standard.names)
    if tuple(held["columns"]) != columns:
        raise ValueError(f"columns are not the {len(columns)} that its scale, setting and features have")
    counts, joint = _counts(held, "counts", (n,)), _counts(held, "joint", (n, n))
    pairs, topics, same = (int(_counts(held, name, ())) for name in ("pairs", "topics", "same"))
    if not (counts.sum() == joint.sum() == pairs > 0 and same <= pairs and 0 < topics <= pairs):
        raise ValueError("its numbers of pairs contradict each other")
    intercept = _numbers(held, "intercept", (n,))
    coefficients = _numbers(held, "coefficients", (n, len(columns)))
    made = ConditionalLabels(setting, scale, intercept, coefficients, counts, joint, same, topics, standard)
    return replace(made, fingerprint=_text(held["fingerprint"]))


def _standard(held: Any) -> Standard | None:
    if held is None:
        return None
    names = tuple(map(_text, held["names"]))
    if not isinstance(held["paired"], bool):
        raise ValueError(f"paired is {held['paired']!r}, expected true or false")
    spread = _numbers(held, "spread", (len(names),))
    if not (spread > 0).all():
        raise ValueError("spread of features is not positive")
    return Standard(names, held["paired"], _numbers(held, "centre", (len(names),)), spread)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"found {value!r}, expected text")
    return value


def _numbers(held: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Floats:
    numbers = np.array(held[name], dtype=np.float64)
    if numbers.shape != shape:
        raise ValueError(f"{name} has the shape {numbers.shape}, expected {shape}")
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} holds a number that is not finite")
    return numbers


def _counts(held: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Ints:
    numbers = _numbers(held, name, shape)
    if (numbers < 0).any() or (numbers != np.floor(numbers)).any():
        raise ValueError(f"{name} is not a count")
    return numbers.astype(np.int64)
