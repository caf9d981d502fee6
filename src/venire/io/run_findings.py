"""What the parts of a run file come to together, as facts under names and problems in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from venire.data.ids import as_text
from venire.io.comments import comment_words
from venire.io.runs import COLUMNS, tied_systems
from venire.io.text_survey import Found, Problem, TextFacts, joined, misfits, text_problems
from venire.results import first_few
from venire.types import Bools, Ints

List = tuple[bytes, bytes]
"""The system and the topic of a list."""


class Part(NamedTuple):
    """What part of a file comes to: its lists, their depths, lines in ties, which lists tie throughout, and faults."""

    text: TextFacts
    lists: list[List]
    depth: Ints
    tied: int
    tied_single: int
    level: Bools
    found: Mapping[str, Found]
    ended: bool = True
    cut: Problem | None = None


class RunSurvey(NamedTuple):
    """What a run file comes to."""

    text: TextFacts
    facts: Mapping[str, object]
    problems: list[Problem]


def summed(parts: list[Part]) -> RunSurvey:
    """Add up the parts of a file."""
    text, before = TextFacts(), []
    for part in parts:
        before.append(text.n_lines)
        text = text.plus(part.text)
    found = joined((n, part.found) for n, part in zip(before, parts, strict=True))
    problems = [*misfits(found, f"6: {COLUMNS}"), *_run_problems(found)]
    problems += [] if any(each.fatal for each in problems) else _ties(parts)
    problems += text_problems(text, cut=not all(part.ended for part in parts))
    for n, part in zip(before, parts, strict=True):
        if part.cut is not None:
            line = n + (part.cut.line or 0)
            problems = [each for each in problems if each.line != line or each.fatal]
            problems.append(Problem(part.cut.what, line, part.cut.hint, fatal=True))
    lists = [each for part in parts for each in part.lists]
    if not lists:
        problems.append(Problem("holds no run lines", None, f"expected {COLUMNS}", fatal=True))
    return RunSurvey(text, _run_facts(parts, lists, found), problems)


def _ties(parts: list[Part]) -> Iterator[Problem]:
    """Say which systems have scores that say nothing."""
    lists = (zip(part.lists, part.depth.tolist(), part.level.tolist(), strict=True) for part in parts)
    if tied := tied_systems((system, depth, level) for each in lists for (system, _), depth, level in each):
        what = f"all scores of {first_few(tied, 5)} tie: documents would be ordered by their ids"
        yield Problem(what, hint="to go by the rank column: --order rank")


def _run_facts(parts: list[Part], lists: list[List], found: Mapping[str, Found]) -> dict[str, object]:
    depth = np.concatenate([np.zeros(0, dtype=np.int64), *(part.depth for part in parts)])
    n_rows = int(depth.sum())
    topics_of = Counter(system for system, _ in lists)
    return {
        "rows": n_rows,
        "systems": [as_text(system) for system in sorted(topics_of)],
        "topics": len({topic for _, topic in lists}),
        "topics_per_system": _range(np.array(list(topics_of.values()))),
        "depth": _range(depth),
        "tied_share": sum(part.tied for part in parts) / max(n_rows, 1),
        "tied_share_float32": sum(part.tied_single for part in parts) / max(n_rows, 1),
        "rising_scores": _count(found, "order"),
        "contradicting_ranks": _count(found, "contradiction"),
        "scattered_lists": _count(found, "scattered"),
        "repeated_documents": _count(found, "twice"),
    }


def _count(found: Mapping[str, Found], kind: str) -> int:
    return found[kind].n_lines if kind in found else 0


def _range(counts: Ints) -> dict[str, float]:
    if len(counts) == 0:
        return {}
    return {"min": int(counts.min()), "median": float(np.median(counts)), "max": int(counts.max())}


def _run_problems(found: Mapping[str, Found]) -> Iterator[Problem]:
    """Say what is wrong with the lines of a run."""
    by_rank = "to go by the rank column instead: --order rank"
    if one := found.get("score"):
        what = f"score {one.detail!r} is not a finite number{one.such()}"
        yield Problem(what, one.line + 1, f"the columns are {COLUMNS}", fatal=True)
    if one := found.get("twice"):
        hint = "keep the first with --repeated first, or correct the run"
        yield Problem(one.detail + one.such(), one.line + 1, hint, fatal=True)
    if one := found.get("comment"):
        yield Problem(comment_words(one), one.line + 1, "rename the topic if it is data")
    if one := found.get("rank"):
        yield Problem(f"rank {one.detail!r} is not a number{one.such()}", one.line + 1, "only --order rank reads ranks")
    if one := found.get("order"):
        what = f"the score is higher than on the line before{one.such()}"
        yield Problem(what, one.line + 1, f"lists are ordered by score; {by_rank}")
    if one := found.get("contradiction"):
        what = f"the rank column contradicts the scores{one.such('such places')}"
        yield Problem(what, one.line + 1, f"lists are ordered by score; {by_rank}")
    if one := found.get("scattered"):
        what = f"the list of topic {one.detail!r} goes on after other lists{one.such('scattered lists')}"
        yield Problem(what, one.line + 1, "it is read as a whole, which takes memory; sort it by topic and tag")
