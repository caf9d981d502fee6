"""The scale of a file of judgments: in its header, or in a small TOML file beside it.

The header is a first line ``# scale: Non<Rel<HRel``.  The file beside ``judges.tsv.gz`` is called
``judges.tsv.gz.toml``, ``judges.tsv.toml`` or ``judges.toml``; it holds ``scale = "Non<Rel<HRel"``, or
``labels = ["Non", "Rel", "HRel"]`` and ``measurement = "ordinal"``.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from venire.data.ids import as_bytes
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.errors import FormatError, ScaleError, VenireError


def scale_beside(path: Path) -> Scale | None:
    """Read the scale file beside a file of judgments, if there is one."""
    beside = scale_file(path)
    if beside is None:
        return None
    try:
        table = tomllib.loads(beside.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        hint = 'a scale file holds scale = "Non<Rel<HRel"'
        raise FormatError(beside, None, f"is not TOML ({error})", hint=hint) from None
    return Scale.from_table(table, where=beside)


def scale_file(path: Path) -> Path | None:
    """Find the scale file of a file of judgments: the one with the longest name that exists."""
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
    """Write a text as TOML's basic string, which is JSON's except for DEL."""
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
    """Return the comment that declares the scale, if it needs one; write a scale file if a comment cannot hold it."""
    scale = judgments.scale
    if scale_file(path) is None and (scale.inferred or _would_be_inferred(judgments)):
        return b""
    comment = as_bytes(f"# scale: {scale}\n")
    try:
        if comments and header_scale(comment, "") == scale:
            return comment
    except VenireError:
        pass
    write_scale_beside(scale, path)
    return b""


def _would_be_inferred(judgments: Judgments) -> bool:
    """Return whether reading the labels would infer the same scale, with the same linear gains."""
    try:
        inferred = Scale.infer(used_labels(judgments))
    except ScaleError:
        return False
    return inferred == judgments.scale and inferred.steps().tolist() == judgments.scale.steps().tolist()


def used_labels(judgments: Judgments) -> list[str]:
    """Return the labels that occur, lowest first."""
    return [judgments.scale.labels[level] for level in sorted(set(judgments.label.tolist()))]
