"""What a file of judgments declares in its header, or in a small TOML file beside it: the scale, and who judged.

The header are first lines such as ``# scale: Non<Rel<HRel``, ``# reference: ann`` (assessors whose labels are the truth
that others are compared with), ``# machines: gpt4,llama`` (assessors that are programs) and ``# prompt gpt4: HASH`` (a
hash of the prompt of one).  The file beside
``judges.tsv.gz`` is called ``judges.tsv.gz.toml``, ``judges.tsv.toml`` or ``judges.toml``; it holds
``scale = "Non<Rel<HRel"``, or ``labels = ["Non", "Rel", "HRel"]`` and ``measurement = "ordinal"``; and
``reference = ["ann"]``, ``machines = ["gpt4", "llama"]`` and ``prompts = {"gpt4" = "HASH"}``.  What the header states
counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from venire.data.ids import as_bytes, as_text
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.errors import FormatError, ScaleError, VenireError
from venire.io.documents import read_toml
from venire.io.files import is_readable
from venire.io.limits import current, over
from venire.io.outputs import NewFiles

DECLARED = ("reference", "machines")
"""What an assessor may be declared as."""
PROMPT, PROMPTS = "prompt", "prompts"


class Role(NamedTuple):
    """An assessor declared as ``kind``, one of DECLARED, and where that was declared; line None: in a TOML file.

    kind PROMPT: ``text`` is the hash of the assessor's prompt.
    """

    kind: str
    assessor: str
    where: object
    line: int | None = None
    text: str = ""


def scale_beside(path: Path) -> Scale | None:
    """Read the scale from the file beside a file of judgments, if it states one."""
    beside = scale_file(path)
    if beside is None:
        return None
    table = _table(beside)
    if table and set(table) <= {*DECLARED, PROMPTS}:
        return None
    try:
        return _within_limit(Scale.from_table(table), beside)
    except ScaleError as error:
        raise FormatError(beside, None, error.message, hint=error.hint) from None


def declared_roles(data: bytes, path: Path) -> tuple[Role, ...]:
    """Find who is declared as the reference and who as a machine, by the first bytes of a file, else beside it."""
    header, beside = _header(data), scale_file(path)
    table = {} if beside is None else _table(beside)
    found: list[Role] = []
    for kind in DECLARED:
        if kind in header:
            line, text = header[kind]
            found += [Role(kind, name, path, line) for name in _names(text)]
        else:
            found += [Role(kind, name, beside) for name in _listed(table, kind, beside)]
    return (*found, *_prompts(data, path))


def _prompts(data: bytes, path: Path) -> list[Role]:
    """Find the hashes of prompts, by the first bytes of a file, else beside it."""
    lines = ((key.partition(" "), *found) for key, found in _header(data).items())
    own = [Role(PROMPT, name.strip(), path, line, text) for (key, _, name), line, text in lines if key == PROMPT]
    beside = scale_file(path)
    held = {} if own or beside is None else _table(beside).get(PROMPTS, {})
    if not isinstance(held, dict) or not all(isinstance(text, str) for text in held.values()):
        hint = f'write {PROMPTS} = {{"gpt4" = "HASH"}}'
        raise FormatError(beside, None, f"{PROMPTS} is {held!r}, expected a text for each assessor", hint=hint)
    return own or [Role(PROMPT, name, beside, None, text) for name, text in held.items()]


def _table(beside: Path) -> dict[str, Any]:
    return read_toml(beside, hint='a scale file holds scale = "Non<Rel<HRel"')


def _within_limit(scale: Scale, where: object, line: int | None = None) -> Scale:
    """Raise where a declared scale has more labels than can be compared with each other."""
    if len(scale) > current().scale_labels:
        hint = (
            "if these are scores, not labels, round them; gains of many labels belong into a table of labels and gains"
        )
        raise over("scale_labels", where, line, f"a scale of {len(scale):,} labels", hint=hint)
    return scale


def _listed(table: Mapping[str, Any], kind: str, where: object) -> tuple[str, ...]:
    """Return the names that a TOML file lists under a key; one name may be a text."""
    names = table.get(kind, [])
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FormatError(where, None, f"{kind} is {names!r}, expected names", hint=f'write {kind} = ["ann", "bob"]')
    return tuple(dict.fromkeys(names))


def _names(text: str) -> tuple[str, ...]:
    """Split names at commas."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def scale_file(path: Path) -> Path | None:
    """Find the scale file of a file of judgments: the one with the longest name that exists."""
    name = path.name
    while True:
        beside = path.with_name(name + ".toml")
        if is_readable(beside) and beside != path:
            return beside
        shorter = Path(name).stem
        if shorter == name:
            return None
        name = shorter


def beside_name(path: Path) -> Path:
    """Return the name of the file that is written beside a file of judgments."""
    return path.with_name(path.name + ".toml")


def beside_text(
    scale: Scale | None,
    roles: Mapping[str, tuple[str, ...]] | None = None,
    *,
    prompts: Mapping[str, str] | None = None,
) -> bytes:
    """Return what a file beside a file of judgments holds: its scale, unless that is None, and who is declared."""
    text = "" if scale is None else f"labels = {_list(scale.labels)}\nmeasurement = {_quoted(scale.measurement)}\n"
    text += "".join(f"{kind} = {_list(names)}\n" for kind, names in (roles or {}).items() if names)
    pairs = ", ".join(f"{_quoted(name)} = {_quoted(hashed)}" for name, hashed in (prompts or {}).items())
    text += f"{PROMPTS} = {{ {pairs} }}\n" if pairs else ""
    return text.encode("utf-8")


def _list(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    """Write a text as TOML's basic string, which is JSON's except for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def header_scale(data: bytes, where: object) -> Scale | None:
    """Find ``# scale: Non<Rel<HRel`` among the comment lines that a text begins with."""
    if "scale" not in (header := _header(data)):
        return None
    number, text = header["scale"]
    try:
        return _within_limit(Scale.parse(text), where, number)
    except ScaleError as error:
        raise FormatError(where, number, error.message, hint=error.hint) from None


def _header(data: bytes) -> dict[str, tuple[int, str]]:
    """Return line and text of each ``# key: text`` in the comments that a text begins with; the first counts."""
    found: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(data[: 1 << 16].splitlines(), start=1):
        if not line.startswith(b"#"):
            break
        key, _, value = line.lstrip(b"# ").partition(b":")
        word, space, rest = key.strip().decode("utf-8", "replace").partition(" ")  # prompt NAME: names keep their case
        found.setdefault(word.lower() + space + rest, (number, as_text(value).strip()))
    return found


def declarations(files: NewFiles, judgments: Judgments, path: Path, *, comments: bool) -> bytes:
    """Return comments that declare the scale, if it needs one, who is the reference and who a machine, and prompts.

    What a comment cannot hold is written beside.  A file that is beside already is overruled, or written again.
    """
    beside, roles = scale_file(path), {kind: getattr(judgments, kind) for kind in DECLARED}
    needless = judgments.scale.inferred or _would_be_inferred(judgments)
    scale = None if beside is None and needless else judgments.scale
    stated = {kind: names for kind, names in roles.items() if names or beside is not None}
    lines = [] if scale is None else [as_bytes(f"# scale: {scale}\n")]
    lines += [as_bytes(f"# {kind}: {','.join(names)}\n") for kind, names in stated.items()]
    lines += [as_bytes(f"# {PROMPT} {name}: {text}\n") for name, text in judgments.prompts.items()]
    comment = b"".join(lines)
    prompts = {role.assessor: role.text for role in _prompts(comment, path)}
    if lines and not (comments and _can_be_read(comment, scale, stated) and prompts == judgments.prompts):
        files.add(beside_name(path), beside_text(scale, roles, prompts=judgments.prompts))
        return b""
    return comment


def _can_be_read(comment: bytes, scale: Scale | None, stated: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether comments are read back as what they are to state."""
    found = _header(comment)
    try:
        same = scale is None or header_scale(comment, "") == scale
    except VenireError:
        return False
    return same and all(kind in found and _names(found[kind][1]) == names for kind, names in stated.items())


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
