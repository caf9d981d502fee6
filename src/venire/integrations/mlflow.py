"""Results in MLflow: numbers with their intervals as metrics, the page or the table as artifacts.

A metric is named after its measure and system, ``nDCG_10/bm25``, and its limits are ``nDCG_10/bm25/low`` and
``nDCG_10/bm25/high``.  MLflow allows letters, digits, ``_``, ``-``, ``.``, ``:`` and spaces in names; other characters
become ``_``.  Without a system, as for agreement, a metric is named after its row: ``krippendorff_alpha/ordinal/all``,
and after the numbers that tell rows apart: ``click_rate/rank_1``.  Rows that nothing tells apart are in the artifacts.

Everything is logged to the active run of MLflow, or to a new one, as by MLflow's own functions.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from math import isfinite
from typing import Any

from venire.errors import SettingError, UnknownName
from venire.measures.scores import Scores
from venire.plots.results import NO_NAMES, mean_rows
from venire.report.document import Report
from venire.report.page import page
from venire.results import Records, Tabular, interval_columns

FOLDER = "venire"
MOST_METRICS = 1000
"""Metrics that MLflow takes at a time."""
LONGEST_TAG = 5000
_NOT_ALLOWED = re.compile(r"[^\w.\- :]")


def log_report(report: Report, *, system: str | None = None, folder: str = FOLDER) -> dict[str, float]:
    """Log a report: the page and its JSON as artifacts, the verdict as a tag, and the leaderboard as metrics.

    Parameters
    ----------
    system : log the scores of this system only, without its name: ``nDCG_10``, as for one run of MLflow per system
    folder : of the artifacts ``report.html`` and ``report.json``

    Returns
    -------
    The metrics that were logged.
    """
    _refuse_other(report, Report, "a report, as report_on makes it", hint="log other results with log_result")
    found = metrics_of(report, system=system)
    _log_text(page(report), f"{folder}/report.html")
    _log_text(json.dumps(report.to_dict(), ensure_ascii=False), f"{folder}/report.json")
    _mlflow().set_tag("venire.verdict", _storable(report.sentence())[:LONGEST_TAG])
    return _log_metrics(found)


def log_result(result: Tabular, *, system: str | None = None, folder: str = FOLDER) -> dict[str, float]:
    """Log any other result: what a notebook shows and its rows as artifacts, its numbers and their limits as metrics.

    Artifacts are named after the class: ``Scores.html`` and ``Scores.json``.
    """
    found, name = metrics_of(result, system=system), f"{folder}/{type(result).__name__}"
    _log_text(f'<!doctype html><meta charset="utf-8">{result._repr_html_()}\n', f"{name}.html")
    _log_text(json.dumps(Tabular.to_dict(result), ensure_ascii=False), f"{name}.json")
    return _log_metrics(found)


def metrics_of(result: Tabular, *, system: str | None = None) -> dict[str, float]:
    """Return the metrics of a result: numbers by name, and their limits; those that are not known are left out.

    Examples
    --------
    >>> from venire import evaluate
    >>> scores = evaluate({"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 2.0}}}, "nDCG@10")
    >>> metrics_of(scores)
    {'nDCG_10/bm25': 1.0}
    """
    hint = "log data frames and numbers with functions of MLflow"
    _refuse_other(result, Tabular, "a result, as evaluate returns it", hint=hint)
    rows = _rows_of(result)
    if system is not None:
        known = list(dict.fromkeys(str(row["system"]) for row in rows if "system" in row))
        if system not in known:
            raise UnknownName("system", system, known)
        rows = [row for row in rows if row.get("system") == system]
    held: dict[str, float] = {}
    for name, value in _named_values(rows, one_system=system is not None):
        if name in held:
            hint = "give the systems names that differ in letters and digits, or log one system at a time"
            raise SettingError(f"two metrics would be named {name!r}", hint=hint)
        held[name] = float(value)
    return held


def _refuse_other(found: object, expected: type[Any], what: str, *, hint: str) -> None:
    if not isinstance(found, expected):
        raise SettingError(f"found {type(found).__name__}, expected {what}", hint=hint)


def _rows_of(result: Tabular) -> Records:
    """Return the rows with numbers: means of scores, the leaderboard of a report, or the rows themselves."""
    if isinstance(result, Scores):
        return mean_rows(result)
    if not isinstance(result, Report):
        return result.records()
    held = {"leaderboard": []} if result.front is None else result.front.content()
    keys = ("system", "score", "low", "high")
    return [{"measure": held["measure"], **{key: row[key] for key in keys}} for row in held["leaderboard"]]


def _named_values(rows: Records, *, one_system: bool) -> Iterator[tuple[str, float]]:
    """Yield the names and values of rows; rows that nothing tells apart are left out."""
    value, low, high = interval_columns(rows)
    if value is None:
        return
    names = _names(rows, value, one_system=one_system)
    times = Counter(names)
    for row, words in zip(rows, names, strict=True):
        name = "/".join(map(_allowed, words))
        for key, ending in ((value, ""), (low, "/low"), (high, "/high")):
            if times[words] == 1 and key is not None and isinstance(row[key], int | float) and isfinite(row[key]):
                yield f"{name}{ending}", row[key]


def _names(rows: Records, value: str, *, one_system: bool) -> list[tuple[str, ...]]:
    """Name each row by the measure, then its other texts; of one system, without its name.

    Where that leaves rows of one name, columns before the value that tell some of them apart are added.
    """
    names = []
    for row in rows:
        texts = {key: cell for key, cell in row.items() if isinstance(cell, str) and key not in NO_NAMES}
        if one_system:
            del texts["system"]
        names.append(tuple(word for word in (texts.pop("measure", None), *texts.values()) if word) or (value,))
    for key in list(rows[0])[: list(rows[0]).index(value)]:
        more = [(*words, _word(key, row[key])) for words, row in zip(names, rows, strict=True)]
        names = more if len({*more}) > len({*names}) else names
    return names


def _word(key: str, cell: Any) -> str:
    """Return a cell as a part of a name: a text as it is, a number after its column."""
    if isinstance(cell, list | tuple):
        cell = "_".join(map(str, cell)) or None
    return cell if isinstance(cell, str) else f"{key}_{cell}"


def _allowed(word: str) -> str:
    """Return a part of the name of a metric, which is also a part of a path."""
    return _NOT_ALLOWED.sub("_", word).strip(".") or "_"


def _log_text(text: str, path: str) -> None:
    _mlflow().log_text(_storable(text), path)


def _storable(text: str) -> str:
    """Return text that can be written as UTF-8: bytes that are not are escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _log_metrics(found: dict[str, float]) -> dict[str, float]:
    names = list(found)
    for first in range(0, len(names), MOST_METRICS):
        _mlflow().log_metrics({name: found[name] for name in names[first : first + MOST_METRICS]})
    return found


def _mlflow() -> Any:
    try:
        import mlflow
    except ImportError as error:
        raise ImportError('venire.integrations.mlflow needs MLflow: pip install "venire[mlflow]"') from error
    return mlflow
