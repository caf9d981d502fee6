"""Answers of a study as the tables that Venire reads: labels, labels by aspect, preferences, and qrels.

A row is one label, with the columns that ``read_judgments`` knows (topic, doc, assessor, label, given, aspect, unit,
time, probability) and others that it passes over (seconds, repeat, comment, cannot, distribution, status, version).
What cannot be judged is the label N/A, which is read as no label, and ``cannot`` is the reason.  Preferences are rows
of ``read_preferences``: ``strength`` is positive where ``left`` is better, whichever side it was shown on.

Repeats and surplus answers are left out unless they are asked for.  A label given another document is left out as long
as that document has no label itself, since readers refuse it.  Notes count what was left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from venire.data.judgments import Judgments
from venire.data.scale import NOT_APPLICABLE, Scale
from venire.errors import FormatError, SettingError, VenireError
from venire.io.compression import written
from venire.io.declarations import declarations
from venire.io.judgments import read_judgments
from venire.io.outputs import NewFiles
from venire.io.preferences import read_preferences
from venire.io.qrels import add_qrels
from venire.io.tables.columns import JSON_LINES, SEPARATOR, ending_of
from venire.judging.answers import SURPLUS, Stored
from venire.judging.study import ASPECTS, CONDITIONAL, LABEL, LISTS, MACHINE, PREFERENCE, Study
from venire.results import Note

if TYPE_CHECKING:
    import polars as pl

LABELS, PREFERENCES = "labels", "preferences"
CONTENTS: Mapping[str, tuple[str, ...]] = {
    LABELS: (LABEL, CONDITIONAL),
    ASPECTS: (ASPECTS,),
    PREFERENCES: (PREFERENCE,),
    LISTS: (LISTS,),
}
"""What can be exported, and the kinds of task that it consists of."""
OPTIONAL = ("given", "unit", "probability", "repeat", "comment", "cannot", "distribution", "status", "version")
"""Columns that are left out where they say nothing."""
Record = dict[str, Any]


@dataclass(frozen=True)
class Export:
    """A table of answers, with the judgments in it (None: preferences), and notes on what was left out."""

    frame: pl.DataFrame
    judgments: Judgments | None
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return self.frame.height


def export(study: Study, stored: Sequence[Stored], content: str = LABELS, *, repeats: bool = False) -> Export:
    """Return the answers of one of CONTENTS as a table; those that are surplus have a status.

    repeats: with answers to tasks that came again, for ``venire consistency``
    """
    chosen = [each for each in stored if each.task.kind in CONTENTS[content]]
    kept = [each for each in chosen if repeats or not each.repeat]
    notes = (
        [] if len(kept) == len(chosen) else [_left_out("repeats", len(chosen) - len(kept), "to tasks that came again")]
    )
    if content in (PREFERENCES, LISTS):
        return _preferences(kept, notes, content)
    return _labels(study, kept, notes, content)


def _left_out(kind: str, n: int, why: str) -> Note:
    return Note(f"left-out-{kind}", "{n:answer} left out: {why}", n=n, why=why)


def _labels(study: Study, stored: Sequence[Stored], notes: list[Note], content: str) -> Export:
    on_scale = [each for each in stored if _is_on_scale(study, each)]
    if len(on_scale) < len(stored):
        why = "they have labels that the scale had in an earlier version of the study"
        notes.append(_left_out("labels", len(stored) - len(on_scale), why))
    stored, kept = on_scale, _with_given_label(on_scale)
    if len(kept) < len(stored):
        why = "the document that was given has no label yet, which readers need"
        notes.append(_left_out("given", len(stored) - len(kept), why))
    records = [
        record for each in kept for record in (_by_aspect(study, each) if content == ASPECTS else [_label(each)])
    ]
    frame = _frame(records, content, notes)
    scale = _scale(study, content)
    if scale is None:
        note = "aspects have labels of their own: a label is its place on them, from 0 for the lowest"
        notes.append(Note("places-of-labels", note))
    return Export(frame, _declared(study, frame, scale, stored), tuple(notes))


def _is_on_scale(study: Study, stored: Stored) -> bool:
    """Return whether the labels of an answer are those of the study as it is now."""
    value = stored.value
    if "label" in value:
        return value["label"] in study.labels.labels
    known = {each.name: {NOT_APPLICABLE, *(label.name for label in each.labels)} for each in study.aspects}
    return all(label in known[aspect] for aspect, label in value.get("labels", {}).items() if aspect in known)


def _with_given_label(stored: Sequence[Stored]) -> list[Stored]:
    """Leave out labels given a document that has no label in isolation for the topic."""
    labelled = {(each.task.topic, each.task.doc) for each in stored if not each.task.given and _is_label(each)}
    return [each for each in stored if not each.task.given or (each.task.topic, each.task.given) in labelled]


def _is_label(stored: Stored) -> bool:
    return "cannot" not in stored.value


def _common(stored: Stored) -> Record:
    """Return the columns that labels and preferences share."""
    machine = stored.machine or {}
    shares = machine.get("distribution")
    return {
        "time": stored.at,
        "seconds": stored.seconds,
        "probability": stored.task.probability,
        "repeat": stored.repeat,
        "comment": stored.comment,
        "cannot": stored.value.get("cannot", ""),
        "distribution": json.dumps(shares, ensure_ascii=False) if shares else "",
        "status": stored.status if stored.status == SURPLUS else "",
        "version": stored.version,
    }


def _label(stored: Stored, **more: Any) -> Record:
    task = stored.task
    label = stored.value.get("label", NOT_APPLICABLE)
    names = {"topic": task.topic, "doc": task.doc, "assessor": stored.assessor, "label": label}
    return {**names, "given": task.given, "unit": task.view, **_common(stored), **more}


def _by_aspect(study: Study, stored: Stored) -> Iterable[Record]:
    """Return a row for each aspect."""
    labels = stored.value.get("labels", {})
    shares = (stored.machine or {}).get("distribution") or {}
    places = {each.name: {label.name: str(n) for n, label in enumerate(each.labels)} for each in study.aspects}
    named = _scale(study, ASPECTS) is not None
    for aspect in places:
        label = labels.get(aspect, NOT_APPLICABLE)
        own = shares.get(aspect)
        shown = label if named else places[aspect].get(label, NOT_APPLICABLE)
        text = json.dumps(own, ensure_ascii=False) if own else ""
        yield _label(stored, aspect=aspect, label=shown, distribution=text)


def _scale(study: Study, content: str) -> Scale | None:
    """Return the scale of the labels; None where aspects have different ones."""
    if content != ASPECTS:
        return study.labels
    scales = {tuple(label.name for label in each.labels) for each in study.aspects}
    return Scale(next(iter(scales))) if len(scales) == 1 else None


def _frame(records: Sequence[Record], content: str, notes: Sequence[Note]) -> pl.DataFrame:
    """Return records as a table, without columns that say nothing; notes: why there may be no records."""
    import polars as pl

    if not records:
        why = "; ".join(map(str, notes))
        message = f"there are no answers to export ({content})" + (f": {why}" if why else "")
        raise SettingError(message, hint=None if why else "has anybody answered such a task?")
    numbers: dict[str, Any] = {
        "time": pl.Float64,
        "seconds": pl.Float64,
        "probability": pl.Float64,
        "strength": pl.Int64,
    }
    numbers |= {"repeat": pl.Int64, "version": pl.Int64, "swapped": pl.Boolean}
    columns = {
        name: pl.Series(name, [record[name] for record in records], dtype=numbers.get(name, pl.String))
        for name in records[0]
        if name not in OPTIONAL or _says_something(name, [record[name] for record in records])
    }
    return pl.DataFrame(columns)


def _says_something(name: str, values: Sequence[Any]) -> bool:
    return len(set(values)) > 1 if name in ("unit", "version") else any(value not in ("", None, 0) for value in values)


def _declared(study: Study, frame: pl.DataFrame, scale: Scale | None, stored: Sequence[Stored]) -> Judgments:
    """Read the table as a user would, with repeats, and declare who is who."""
    try:
        judgments = read_judgments(frame, scale=scale, duplicate_labels="keep")
    except VenireError as error:
        raise SettingError(f"the answers cannot be exported: {error.message}", hint=error.hint) from error
    known = set(judgments.assessors)
    reference = [each.name for each in study.assessors if each.reference and each.name in known]
    machines = [name for name in dict.fromkeys(e.assessor for e in stored if e.kind == MACHINE) if name in known]
    return replace(
        judgments,
        reference=tuple(reference),
        machines=tuple(name for name in machines if name not in reference),
        prompts={name: text for name, text in _prompts(stored).items() if name in known},
    )


def _prompts(stored: Sequence[Stored]) -> dict[str, str]:
    """Return the hash of the prompt of each machine that has one only."""
    found: dict[str, set[str]] = {}
    for each in stored:
        text = (each.machine or {}).get("prompt")
        if text:
            found.setdefault(each.assessor, set()).add(str(text))
    return {name: next(iter(texts)) for name, texts in found.items() if len(texts) == 1}


def _preferences(stored: Sequence[Stored], notes: list[Note], content: str) -> Export:
    kept = [each for each in stored if _is_label(each)]
    if len(kept) < len(stored):
        notes.append(_left_out("cannot", len(stored) - len(kept), "these pairs could not be judged"))
    records = [
        {
            "topic": each.task.topic,
            "left": each.task.doc,
            "right": each.task.other,
            "assessor": each.assessor,
            "strength": each.value["strength"],
            "swapped": each.swapped,
            **_common(each),
        }
        for each in kept
    ]
    frame = _frame(records, content, notes)
    read_preferences(frame)
    return Export(frame, None, tuple(notes))


def write_export(export: Export, path: Path) -> None:
    """Write a table in the format that its name says: .csv, .tsv, .jsonl or .parquet; .gz or .zst may follow."""
    ending = ending_of(path.name)
    if ending not in (*SEPARATOR, *JSON_LINES, ".parquet"):
        message = f"the ending {ending!r} is not that of a table"
        raise FormatError(path, None, message, hint="call it .csv, .tsv, .jsonl or .parquet; .gz or .zst may follow")
    with NewFiles() as files:
        comment = b""
        if export.judgments is not None:
            comment = declarations(files, export.judgments, path, comments=ending in SEPARATOR)
        with written(path, files) as file:
            if ending in SEPARATOR:
                file.write(comment)
                export.frame.write_csv(file, separator=SEPARATOR[ending])
            elif ending in JSON_LINES:
                export.frame.write_ndjson(file)
            else:
                export.frame.write_parquet(file)


def by_assessor(export: Export, folder: Path) -> dict[Path, Judgments]:
    """Return the labels in isolation by file of qrels, one for each assessor; in page and snippet if both occur."""
    import polars as pl

    judgments = export.judgments
    if judgments is None or "aspect" in export.frame.columns:
        raise SettingError("qrels hold labels", hint="export labels")
    frame = export.frame.filter(pl.col("label") != NOT_APPLICABLE)
    frame = frame.filter(pl.col("given") == "") if "given" in frame.columns else frame
    frame = frame.filter(pl.col("repeat") == 0) if "repeat" in frame.columns else frame
    frame = frame.filter(pl.col("status") == "") if "status" in frame.columns else frame
    units = frame["unit"].unique().to_list() if "unit" in frame.columns else [""]
    found: dict[Path, Judgments] = {}
    for unit in sorted(units):
        some = frame.filter(pl.col("unit") == unit) if unit else frame
        for name in some["assessor"].unique().sort().to_list():
            own = some.filter(pl.col("assessor") == name).select("topic", "doc", "assessor", "label")
            found[folder / unit / f"{name}.qrels"] = _of_one(own, judgments, name)
    return found


def write_qrels(judgments: Mapping[Path, Judgments]) -> None:
    """Write files of qrels, in folders that are made."""
    with NewFiles() as files:
        for path, own in judgments.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            add_qrels(files, own, path)


def _of_one(frame: pl.DataFrame, judgments: Judgments, name: str) -> Judgments:
    """Return the labels of one assessor, with what is declared about them."""
    own = read_judgments(frame, scale=judgments.scale)
    return replace(
        own,
        reference=(name,) if name in judgments.reference else (),
        machines=(name,) if name in judgments.machines else (),
        prompts={name: judgments.prompts[name]} if name in judgments.prompts else {},
    )
