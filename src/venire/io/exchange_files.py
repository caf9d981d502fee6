"""write_scaled_qrels: relevance in whole numbers, in the file that another tool reads as it is.

- ``trec``: qrels of four columns, for trec_eval, pytrec_eval and ir_measures;
- ``ir_measures``: the same;
- ``ranx``: ``{topic: {doc: relevance}}`` in a file that ends in .json, qrels in one that ends in .trec, .txt or .gz;
  ranx goes by the ending;
- ``groups``: qrels whose second column names the assessor: trec_eval's judgment groups (``trec_eval -R qrels_jg``),
  which average over assessors (``-m map_avgjg``, ``-m P_avgjg``); as preferences with ``-R qrels_prefs``.

Most of these tools know no comments in qrels.  Where the numbers are not the gains themselves, a TOML file beside says
so; it also tells ``read_judgments`` which labels there are, so that Venire reads its own files, with ``gains="raw"``.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from venire.data.ids import as_bytes
from venire.errors import FormatError, UnknownName
from venire.io.exchange import ScaledQrels
from venire.io.lines import refuse_comments, written
from venire.io.scales import scale_file

TOOLS = ("trec", "ir_measures", "ranx", "groups")
RANX_QRELS = (".trec", ".txt", ".gz")


def write_scaled_qrels(qrels: ScaledQrels, path: str | Path, *, to: str = "trec") -> Path | None:
    """Write qrels for a tool; returns the file beside that states the scale, if there is one.

    Parameters
    ----------
    to : "trec", "ir_measures", "ranx" or "groups"

    Examples
    --------
    >>> import tempfile
    >>> from venire import read_judgments
    >>> from venire.data.gains import gains_for
    >>> from venire.data.panel import build_panel
    >>> from venire.io.exchange import scaled_qrels
    >>> labels = read_judgments({"q1": {"d1": 1, "d2": 0}})
    >>> qrels = scaled_qrels(labels, gains_for({"1": 0.9, "0": 0.25}, labels.scale), build_panel(labels))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     beside = write_scaled_qrels(qrels, f"{folder}/prm.qrels")
    ...     print(Path(f"{folder}/prm.qrels").read_text(), beside.name)
    q1 0 d1 900
    q1 0 d2 250
     prm.qrels.toml
    """
    target = Path(path)
    if to not in TOOLS:
        raise UnknownName("tool", to, TOOLS)
    if to != "groups":
        qrels.refuse_groups(f"qrels for {to}")
    data = _ranx_json(qrels, target) if to == "ranx" and _as_json(target) else _lines(qrels, target)
    with written(target) as file:
        file.write(data)
    needed = qrels.scale_by != 1 or scale_file(target) is not None
    return _state_scale(qrels, target) if needed else None


def _lines(qrels: ScaledQrels, path: Path) -> bytes:
    """Write a line per row; refuse names that white space would cut."""
    topic, doc = (set(names) for names in qrels.names())
    refuse_comments(topic, path)
    named = set(qrels.group.names) if qrels.group is not None else set()
    for what, names in (("topic", topic), ("document", doc), ("assessor", named)):
        wrong = min((name for name in names if len(name.split()) != 1), default=None)
        if wrong is not None:
            message = f"{what} {wrong!r} has no place in columns that white space separates"
            raise FormatError(path, None, message, hint="give it a name without white space")
    return as_bytes("".join(f"{row.query_id} {row.iteration} {row.doc_id} {row.relevance}\n" for row in qrels.lines()))


def _as_json(path: Path) -> bool:
    """Whether ranx takes a file of this name for JSON; refuse names that it does not read."""
    if path.suffix == ".json":
        return True
    if path.suffix not in RANX_QRELS:
        message = f"the ending {path.suffix!r} is none that ranx reads"
        raise FormatError(path, None, message, hint=f"call it .json, or, as qrels, {', '.join(RANX_QRELS)}")
    return False


def _ranx_json(qrels: ScaledQrels, path: Path) -> bytes:
    try:
        return (json.dumps(qrels.to_dict(), ensure_ascii=False) + "\n").encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"the name {error.object[error.start : error.end]!r} is not UTF-8, as all text in JSON is"
        raise FormatError(path, None, message, hint="write qrels, which keep bytes as they are: .txt") from None


def _state_scale(qrels: ScaledQrels, path: Path) -> Path:
    """Write beside a file what its numbers are: the labels that occur, and how gains became of them."""
    beside = path.with_name(path.name + ".toml")
    labels = ", ".join(f'"{number}"' for number in np.unique(qrels.relevance).tolist())
    gains = json.dumps(qrels.labels.name, ensure_ascii=False)
    words = "# relevance in this file is scale_by times the gain, rounded\n"
    text = f'labels = [{labels}]\nmeasurement = "interval"\n\n[gains]\nname = {gains}\nscale_by = {qrels.scale_by}\n'
    worth = zip(qrels.labels.scale.labels, qrels.labels.values.tolist(), strict=True)
    text += "\n[gains.labels]\n" + "".join(
        f"{json.dumps(label, ensure_ascii=False)} = {gain!r}\n" for label, gain in worth
    )
    beside.write_text(words + text, encoding="utf-8", newline="\n")
    return beside
