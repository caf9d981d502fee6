"""The scale of a file of judgments: in its header, or in a small TOML file beside it.

The header is a first line ``# scale: Non<Rel<HRel``.  The file beside ``judges.tsv.gz`` is called
``judges.tsv.gz.toml``, ``judges.tsv.toml`` or ``judges.toml``; it holds ``scale = "Non<Rel<HRel"``, or
``labels = ["Non", "Rel", "HRel"]`` and ``measurement = "ordinal"``.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from venire.data.ids import Category, as_bytes
from venire.data.judgments import Judgments
from venire.data.rows import inferred_scale
from venire.data.scale import Scale
from venire.errors import FormatError, ScaleError, VenireError


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


def header_scale(data: bytes, where: object) -> Scale | None:
    """Find ``# scale: Non<Rel<HRel`` among the comment lines that a text begins with."""
    for number, line in enumerate(data[: 1 << 16].splitlines(), start=1):
        if not line.startswith(b"#"):
            return None
        key, _, value = line.lstrip(b"# ").partition(b":")
        if key.strip().lower() == b"scale":
            try:
                return Scale.parse(value.decode("utf-8", "replace").strip())
            except ScaleError as error:
                raise FormatError(where, number, error.message, hint=error.hint) from None
    return None


def declare_scale(judgments: Judgments, path: Path, *, comments: bool) -> bytes:
    """Return the comment that declares the scale, if one is needed and can; write it beside the table if none can."""
    scale = judgments.scale
    if scale_file(path) is None and (scale.inferred or _like_inferred(scale, inferred_from(judgments))):
        return b""
    comment = as_bytes(f"# scale: {scale}\n")
    if comments and _read_back(comment) == scale:
        return comment
    write_scale_beside(scale, path)
    return b""


def _like_inferred(scale: Scale, inferred: Scale | None) -> bool:
    """Whether a scale need not be declared: reading would infer the same labels, with the same linear gains."""
    return inferred is not None and inferred == scale and inferred.steps().tolist() == scale.steps().tolist()


def used_labels(judgments: Judgments) -> list[str]:
    """Return the labels that occur, lowest first."""
    return [judgments.scale.labels[level] for level in sorted(set(judgments.label.tolist()))]


def inferred_from(judgments: Judgments) -> Scale | None:
    """Return the scale that reading would infer."""
    try:
        return inferred_scale(Category.of(used_labels(judgments)))
    except (VenireError, IndexError):
        return None


def _read_back(comment: bytes) -> Scale | None:
    try:
        return header_scale(comment, "")
    except VenireError:
        return None
