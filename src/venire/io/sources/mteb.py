"""MTEB (2.x) saves the lists of a task, ``mteb.evaluate(..., prediction_folder=...)``: ``TASK_predictions.json``.

``mteb_model_meta`` names the model; every other key is a subset, with an object of splits, each of them
``{topic: {document: score}}``.  The topics of all subsets and splits become one run, named after the model; a topic
that two of them have is an error.  MTEB 1.x saves ``{topic: {document: score}}`` alone (``mapping``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from venire.data.runs import RunTable
from venire.errors import FormatError
from venire.io.documents import read_json
from venire.io.files import stem
from venire.io.sources.mapping import once, run_table, scores
from venire.io.sources.records import LIMIT

META = "mteb_model_meta"
HINT = "save the lists of a retrieval task with mteb.evaluate(model, task, prediction_folder=...)"


def lists(path: Path) -> RunTable:
    """Read the lists of one model."""
    held = read_json(path, hint=HINT, limit=LIMIT)
    if not isinstance(held, dict) or META not in held:
        what = (
            "has scores of measures, and no lists" if isinstance(held, dict) and "scores" in held else f"has no {META}"
        )
        raise FormatError(path, None, what, hint=HINT)
    parts = {f"{subset}/{split}": topics for subset, split, topics in _splits(held, path)}
    meta = held[META]
    model = meta.get("model_name") if isinstance(meta, dict) else None
    system = model if isinstance(model, str) and model else stem(path)
    return run_table(path, system, scores(once(parts, path), path))


def _splits(held: dict[str, Any], path: Path) -> list[tuple[str, str, Any]]:
    found = []
    for subset, splits in held.items():
        if subset != META:
            if not isinstance(splits, dict):
                raise FormatError(path, None, f"subset {subset[:60]!r} is no object of splits", hint=HINT)
            found += [(subset, split, topics) for split, topics in splits.items()]
    return found
