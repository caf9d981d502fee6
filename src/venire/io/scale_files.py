"""A scale in a small TOML file beside the data: ``judges.tsv.gz.toml``, ``judges.tsv.toml`` or ``judges.toml``.

It holds ``scale = "Non<Rel<HRel"``, or ``labels = ["Non", "Rel", "HRel"]`` and ``measurement = "ordinal"``.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from venire.data.scale import Scale
from venire.errors import FormatError


def scale_beside(path: Path) -> Scale | None:
    """Read the scale that stands beside a file of judgments, if there is one."""
    beside = scale_file(path)
    if beside is None:
        return None
    try:
        table = tomllib.loads(beside.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(
            beside, None, f"is not TOML ({error})", hint='a scale file holds scale = "Non<Rel<HRel"'
        ) from None
    return Scale.from_table(table, where=beside)


def scale_file(path: Path) -> Path | None:
    """Find the scale file of a file of judgments: the one with the longest name that is there."""
    name = path.name
    while True:
        beside = path.with_name(name + ".toml")
        if beside.is_file() and beside != path:
            return beside
        shorter = Path(name).stem
        if shorter == name:
            return None
        name = shorter


def write_scale_beside(scale: Scale, path: Path) -> Path:
    """Write the scale of a file of judgments beside it; returns where."""
    beside = path.with_name(path.name + ".toml")
    labels = ", ".join(_quoted(label) for label in scale.labels)
    text = f"labels = [{labels}]\nmeasurement = {_quoted(scale.measurement)}\n"
    beside.write_text(text, encoding="utf-8", newline="\n")
    return beside


def _quoted(text: str) -> str:
    """Write a text as TOML's basic string, which is JSON's but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
