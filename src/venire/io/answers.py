"""Nuggets: facts that an answer should state, judged answer by answer, as judgments and runs.

A nugget is to an answer what an intent is to a document: the answer of a system supports it or not, says one assessor
or another.  So judgments of nuggets are judgments by intent of lists that hold one document, the answer, and every
function takes them: ``evaluate`` with assessors as an axis, ``compare``, the coefficients of agreement.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from venire.data.intents import by_intent
from venire.data.judgments import Judgments
from venire.data.runs import Runs
from venire.errors import FormatError, UnjudgedWarning
from venire.io.judgments import read_judgments
from venire.io.runs import read_runs
from venire.io.tables.blocks import frame_of
from venire.results import first_few

SUPPORT = "not_support<partial_support<support"
"""The labels of nuggetizers and of TREC RAG."""
IMPORTANCE = {"vital": 1.0, "okay": 0.5, "ok": 0.5}
"""The weight of nuggets by their importance (Pradeep et al. 2024, doi:10.48550/arXiv.2411.09607, Section 3.5)."""
COLUMNS = ("topic", "run", "nugget", "importance", "label")


class Answers(NamedTuple):
    """Judgments of nuggets, whose documents are answers and whose intents are nuggets; and the answers as runs."""

    judgments: Judgments
    runs: Runs


def as_answers(table: Any, *, scale: str | None = None, weights: Mapping[str, float] = IMPORTANCE) -> Answers:
    """Make judgments and runs of a table of nuggets.

    Parameters
    ----------
    table : a frame, or columns by name: topic, run, nugget, importance, label, and perhaps assessor
    scale : the labels, lowest first; None: not_support<partial_support<support, if there are no others, else those that
        occur
    weights : the weight of each importance; nuggets of weight 1 are vital

    Notes
    -----
    A nugget has one importance.  To compare assessors who differ in that, score each with a table of their own; their
    importances are labels of nuggets, for which ``agreement`` takes a table with the columns topic, doc (the nugget),
    assessor and label (the importance).

    Examples
    --------
    >>> from venire import evaluate
    >>> nuggets = {"topic": ["q", "q", "q"], "run": ["a", "a", "a"], "nugget": ["n1", "n2", "n3"],
    ...            "importance": ["vital", "vital", "okay"], "label": ["support", "partial_support", "not_support"]}
    >>> print(evaluate(*as_answers(nuggets), ["VitalScore", "VitalScore(strict=True)", "AllScore", "WeightedScore"]))
    Scores: 1 system x 1 topic x 4 measures, means over topics
    system  VitalScore  VitalScore(strict=True)  AllScore  WeightedScore
    a       0.7500      0.5000                   0.5000    0.6000
    """
    frame, _, where = frame_of(table, "nuggets")
    if missing := [name for name in COLUMNS if name not in frame.columns]:
        found = ", ".join(frame.columns) or "(none)"
        raise FormatError(
            where, None, f"has no column {missing[0]}", hint=f"found {found}; needed: {', '.join(COLUMNS)}"
        )
    topic, run, nugget, importance, label = (list(map(str, frame[name].to_list())) for name in COLUMNS)
    known = scale or (SUPPORT if set(label) <= set(SUPPORT.split("<")) else None)
    kept = frame.drop("importance", "doc", "intent", strict=False).rename({"run": "doc", "nugget": "intent"})
    judgments = read_judgments(kept, scale=known)
    found_weights: dict[tuple[str, str], float] = {}
    for number, (pair, grade) in enumerate(zip(zip(topic, nugget, strict=True), importance, strict=True), start=1):
        if grade not in weights:
            hint = f"known are {', '.join(weights)}; give the weights of others"
            raise FormatError(where, number, f"nugget {pair[1]!r} has the importance {grade!r}", hint=hint)
        if found_weights.setdefault(pair, weights[grade]) != weights[grade]:
            message = f"nugget {pair[1]!r} of topic {pair[0]!r} has a second importance, {grade!r}"
            raise FormatError(
                where, number, message, hint="score assessors who differ in that each with their own table"
            )
    _warn_of_unjudged(judgments)
    lists: dict[str, dict[str, dict[str, float]]] = {}
    for system, name in dict.fromkeys(zip(run, topic, strict=True)):
        lists.setdefault(system, {})[name] = {system: 1.0}
    return Answers(by_intent(judgments, found_weights), read_runs(lists))


def _warn_of_unjudged(judgments: Judgments) -> None:
    """Warn of assessors who judged some of the answers only."""
    judged = judgments.to_polars().select("assessor", "topic", "doc").unique()
    n_answers = judged.select("topic", "doc").n_unique()
    judged = judged.group_by("assessor").len().sort("assessor")
    few = [f"{name} judged {n} of {n_answers}" for name, n in judged.rows() if n < n_answers]
    if few:
        message = f"answers that an assessor did not judge have no support by them: {first_few(few, 3)}"
        warnings.warn(message, UnjudgedWarning, stacklevel=3)
