"""Nuggets of answers: which facts an answer states, as nuggetizer assigns them.

nuggetizer (castorini, 0.0.6) writes a line for each answer: ``qid``, ``run_id`` and ``nuggets``, a list of objects
with ``text``, ``importance`` (vital or okay) and ``assignment`` (support, partial_support or not_support).  For
retrieved passages it writes ``docid`` instead of ``run_id``.  A file without assignments lists the nuggets alone.

An assignment that nuggetizer could not make (``failed``) is no label, and is left out.

A nugget is named by its text, so that judges of the same nuggets can be compared, whatever their order.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from venire.errors import BadRowsWarning, FormatError
from venire.io.files import is_readable, opened, stem
from venire.io.paths import expanded_all
from venire.io.sources.labels import Imported
from venire.io.sources.records import Columns, Record, is_name, records
from venire.results import counted, first_few

if TYPE_CHECKING:
    import polars as pl

LABELS = ("not_support", "partial_support", "support")
FAILED = "failed"
LEFT_OUT = "nuggetizer failed to assign it"
IMPORTANCE = ("okay", "vital")
COLUMNS = ("topic", "run", "nugget", "importance", "assessor", "label")
HINT = 'expected lines such as {"qid": "q1", "run_id": "a", "nuggets": [{"text": "...", "assignment": "support"}]}'


def read_nuggets(source: Any) -> pl.DataFrame:
    """Read which nuggets answers state: columns topic, run, nugget, importance, assessor, label.

    Parameters
    ----------
    source : path, folder, pattern, or several of these in a list
        Files of nuggetizer, a line per answer.  Each file is one assessor, named after it.

    Notes
    -----
    ``run`` is the run, and the passage where passages were assigned; ``importance`` is okay or vital; ``label`` is
    not_support, partial_support or support.  Assignments that failed are left out, and a warning counts them.

    Examples
    --------
    >>> import json, tempfile
    >>> nugget = {"text": "eggs take 8 minutes", "importance": "vital", "assignment": "support"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "gpt4.jsonl"
    ...     _ = path.write_text(json.dumps({"qid": "q1", "run_id": "a", "nuggets": [nugget]}))
    ...     read_nuggets(path).row(0)
    ('q1', 'a', 'eggs take 8 minutes', 'vital', 'gpt4', 'support')
    """
    import polars as pl

    found = [
        (qid, run, text, importance, stem(path), label)
        for path in expanded_all(source)
        for _, qid, run, text, importance, label in _assignments(path)
    ]
    rows = [row for row in found if row[-1] != FAILED]
    if len(rows) < len(found):
        warnings.warn(f"{counted(len(found) - len(rows), 'label')} left out: {LEFT_OUT}", BadRowsWarning, stacklevel=2)
    if not rows:
        raise FormatError(source, None, "holds no nuggets", hint=HINT)
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


def of_answers(path: Path) -> bool:
    """Return whether a file holds assignments to answers, not to passages, by its first object."""
    from venire.io.sources.known import first_keys, read_head, recognised

    if not is_readable(path):
        return False
    with opened(path) as file:
        head = read_head(file)
    found = recognised(head, path.name)
    return found is not None and found.name == "nuggets" and "run_id" in first_keys(head)


def labels(path: Path, columns: Columns) -> Iterator[Imported]:  # noqa: ARG001 - the keys are fixed
    """Read assignments to passages as judgments by intent: each nugget is an intent of its topic."""
    for record, qid, doc, text, _, label in _assignments(path):
        if "docid" not in record.held:
            hint = "only evaluate, compare and agreement take it, without runs; in Python: venire.io.read_nuggets"
            raise record.fault("has the nuggets of an answer, not of a document", hint=hint)
        left_out = LEFT_OUT if label == FAILED else ""
        yield Imported(topic=qid, doc=doc, label=label, intent=text, left_out=left_out, line=record.place)


def _assignments(path: Path) -> Iterator[tuple[Record, str, str, str, str, str]]:
    """Yield the record, topic, run or passage, nugget, importance and label of every assignment."""
    kind, empty = "", []
    for record in records(path, hint=HINT):
        qid, nuggets = record.held.get("qid"), record.held.get("nuggets")
        named = "run_id" if "run_id" in record.held else "docid"
        run = record.held.get(named)
        if not is_name(qid) or not isinstance(nuggets, list):
            raise record.fault("has no qid, or no list of nuggets", hint=HINT)
        if not is_name(run):
            hint = "assign the nuggets to answers first; such a file has run_id and assignment"
            raise record.fault("names neither a run (run_id) nor a passage (docid)", hint=hint)
        if named != (kind := kind or named):
            raise record.fault(f"names a {named}, where the first line has a {kind}", hint="give them in two files")
        if not nuggets:
            empty.append(f"{run} (topic {qid})")
        seen: set[str] = set()
        _refuse_half_texts(record, str(qid), str(run))
        for nugget in nuggets:
            text, importance, label = _nugget(record, nugget)
            if text in seen:
                raise record.fault(f"has the nugget {text[:60]!r} twice", hint="name each nugget once")
            seen.add(text)
            yield record, str(qid), str(run), text, importance, label
    if empty:
        message = f"{path}: {counted(len(empty), 'answer')} without nuggets left out: {first_few(empty, 3)}"
        warnings.warn(message, BadRowsWarning, stacklevel=2)


def _nugget(record: Record, nugget: Any) -> tuple[str, str, str]:
    """Return text, importance and label of a nugget."""
    if not isinstance(nugget, dict) or not isinstance(nugget.get("text"), str) or not nugget["text"]:
        raise record.fault(f"has a nugget without text: {str(nugget)[:60]!r}", hint=HINT)
    text, importance, label = nugget["text"], nugget.get("importance", "vital"), nugget.get("assignment")
    _refuse_half_texts(record, text)
    for key, value, known in (("importance", importance, IMPORTANCE), ("assignment", label, (*LABELS, FAILED))):
        if value not in known:
            message = f"has the nugget {text[:60]!r} with the {key} {str(value)[:30]!r}"
            raise record.fault(message, hint=f"expected {', '.join(known)}")
    return text, str(importance), str(label)


def _refuse_half_texts(record: Record, *texts: str) -> None:
    """Raise where a text is not UTF-8, which a frame cannot hold."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise record.fault(f"has {text[:60]!r}, which is no text", hint="save it as UTF-8") from None
