"""What a run file holds and what is wrong with it: counted over all its lines, in parts of whole lists.

A file whose lists are scattered (topics interleaved) is read again as a whole, as an evaluation would do.
Cost: O(lines), plus a sort of the parts whose lines are not in the order of their scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from venire.data.ids import as_text
from venire.data.runs import RunTable
from venire.engine.local import map_partitions
from venire.errors import FormatError
from venire.io.faults import COLUMNS, refuse_cut_line
from venire.io.lines import Chunk, chunks, opened, read_bytes
from venire.io.text_survey import (
    Found,
    Problem,
    TextFacts,
    joined,
    misfits,
    problem_of,
    split_leniently,
    survey_text,
    text_problems,
)
from venire.kernels.fields import Fields
from venire.kernels.lookup import grouped
from venire.kernels.numbers import decimals
from venire.kernels.scan import DOC, RANK, SCORE, TAG, TOPIC, repeated
from venire.kernels.slices import Slices, changes, encode, hashes
from venire.types import Bools, Floats, Ints

List = tuple[bytes, bytes]


class Lines(NamedTuple):
    """Lines of whole lists, those of one list together: what stands on them, and where in the file; all (line,)."""

    topic: Slices
    tag: Slices
    doc: Slices
    rank: Floats
    score: Floats
    line: Ints

    def take(self, which: Bools) -> Lines:
        """Choose some of the lines."""
        return Lines(*(column.take(which) for column in self[:3]), *(column[which] for column in self[3:]))


class Part(NamedTuple):
    """What part of a file comes to: its lists and their depths, lines in ties, and what was found wrong."""

    text: TextFacts
    lists: list[List]
    depth: Ints
    tied: int
    tied_single: int
    found: Mapping[str, Found]
    ended: bool = True
    cut: Problem | None = None


class RunSurvey(NamedTuple):
    """What a run file comes to."""

    text: TextFacts
    facts: Mapping[str, object]
    problems: list[Problem]


def survey_run(path: Path, *, progress: Callable[[int], None] | None = None) -> RunSurvey:
    """Look at every line of a run file."""
    parts: list[Part] = []
    seen: set[List] = set()
    with opened(path) as file:
        for chunk, part in map_partitions(lambda chunk: (chunk, survey_chunk(path, chunk)), chunks(file)):
            if progress is not None:
                progress(len(chunk.data))
            if len(set(part.lists)) < len(part.lists) or not seen.isdisjoint(part.lists):
                parts = [_survey_scattered(path)]
                break
            seen.update(part.lists)
            parts.append(part)
    return _summed(parts)


def survey_chunk(path: Path, chunk: Chunk) -> Part:
    """Look at the lines of whole lists."""
    fields, found = split_leniently(chunk.data, 6)
    part = _survey_fields(fields, found, survey_text(chunk.data))
    return part._replace(ended=not chunk.cut, cut=_cut_line(path, chunk))


def _cut_line(path: Path, chunk: Chunk) -> Problem | None:
    """Say whether the last line was cut off, as a reader would."""
    try:
        if chunk.cut:
            refuse_cut_line(path, chunk)
    except FormatError as error:
        return problem_of(error)
    return None


def _survey_scattered(path: Path) -> Part:
    """Look at a file whose lists are scattered: bring their lines together first."""
    data = read_bytes(path)
    chunk = Chunk(data if data.endswith(b"\n") else data + b"\n", not data.endswith(b"\n"))
    fields, found = split_leniently(chunk.data, 6)
    topic, tag = encode(fields.column(TOPIC))[0], encode(fields.column(TAG))[0]
    key = tag.astype(np.int64) * (int(topic.max(initial=0)) + 1) + topic
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    again = np.ones(len(begins), dtype=np.bool_)
    again[np.unique(key[begins], return_index=True)[1]] = False
    n_lists = len(np.unique(key[begins[again]]))
    row = int(begins[np.argmax(again)])
    name = as_text(fields.column(TOPIC).at(row))
    together = fields.take(np.argsort(key, kind="stable"))
    part = _survey_fields(together, found, survey_text(chunk.data))
    found = {**part.found, "scattered": Found(int(fields.line[row]), n_lists, name)}
    return part._replace(found=found, ended=not chunk.cut, cut=_cut_line(path, chunk))


def _survey_fields(fields: Fields, found: Mapping[str, Found], text: TextFacts) -> Part:
    """Count what the lines of whole lists hold."""
    columns = [fields.column(number) for number in (TOPIC, TAG, DOC)]
    rank, score = (decimals(fields.column(number))[0] for number in (RANK, SCORE))
    for name, number, values in (("score", SCORE, score), ("rank", RANK, rank)):
        bad = np.isnan(values)
        if bad.any():
            row = int(np.flatnonzero(bad)[np.argmin(fields.line[bad])])
            wrong = as_text(fields.column(number).at(row))
            found = {**found, name: Found(int(fields.line[row]), int(bad.sum()), wrong)}
    return _survey_lines(Lines(*columns, rank, score, fields.line), found, text)


def survey_table(table: RunTable) -> RunSurvey:
    """Look at every row of runs in memory; they have no rank column."""
    order = np.lexsort((np.arange(len(table.score)), table.topic.codes, table.system.codes))
    columns = (each.names.slices.take(each.codes[order]) for each in (table.topic, table.system, table.doc))
    rank, score = np.full(len(order), np.nan), table.score[order]
    bad = np.flatnonzero(~np.isfinite(table.score))
    found = {"score": Found(int(bad[0]), len(bad), str(table.score[bad[0]]))} if len(bad) else {}
    return _summed([_survey_lines(Lines(*columns, rank, score, order), found, TextFacts())])


def _survey_lines(lines: Lines, found: Mapping[str, Found], text: TextFacts) -> Part:
    lines = lines.take(np.isfinite(lines.score))
    begins = changes(lines.topic) | changes(lines.tag)
    first, number = np.flatnonzero(begins), np.cumsum(begins) - 1
    named = list(zip(lines.tag.take(first).to_bytes(), lines.topic.take(first).to_bytes(), strict=True))
    found = {**found, **_twice(lines, number), **_out_of_order(lines, number)}
    depth = np.diff(first, append=len(number))
    return Part(text, named, depth, *_in_ties(lines.score, number), found)


def _twice(lines: Lines, number: Ints) -> dict[str, Found]:
    """Find documents that stand twice in a list; number (line,) is that of the list."""
    again = repeated(lines.doc, grouped(hashes(lines.doc), number), number)
    if not again.any():
        return {}
    row = int(np.flatnonzero(again)[np.argmin(lines.line[again])])
    doc, topic = as_text(lines.doc.at(row)), as_text(lines.topic.at(row))
    words = f"document {doc!r} is ranked twice for topic {topic!r}"
    return {"twice": Found(int(lines.line[row]), int(again.sum()), words)}


def _out_of_order(lines: Lines, number: Ints) -> dict[str, Found]:
    """Find scores that rise down a list, and ranks that contradict the scores; within ties any ranks will do."""
    found = {}
    same = number[1:] == number[:-1]
    rises = np.flatnonzero((lines.score[1:] > lines.score[:-1]) & same) + 1
    if len(rises):
        n_lists = len(np.unique(number[rises]))
        found["order"] = Found(int(lines.line[rises].min()), len(rises), f"{n_lists:,}")
    if len(rises) or ((lines.rank[1:] < lines.rank[:-1]) & same).any():
        order = np.lexsort((lines.rank, -lines.score, number))
        rank, line = lines.rank[order], lines.line[order]
        falls = np.flatnonzero((rank[1:] < rank[:-1]) & same) + 1
        if len(falls):
            found["contradiction"] = Found(int(line[falls].min()), len(falls))
    return found


def _in_ties(score: Floats, number: Ints) -> tuple[int, int]:
    """Count the lines whose score another line of their list has too, in double and in single precision."""
    same = number[1:] == number[:-1]
    if ((score[1:] > score[:-1]) & same).any():
        score = score[np.lexsort((-score, number))]
    with np.errstate(over="ignore"):
        single = score.astype(np.float32)
    double_ties, single_ties = ((each[1:] == each[:-1]) & same for each in (score, single))
    return _members(double_ties), _members(single_ties)


def _members(alike: Bools) -> int:
    """Count the members of runs of equal neighbours; alike (pair of neighbours,)."""
    return int((np.append(alike, False) | np.append(False, alike)).sum())


def _summed(parts: list[Part]) -> RunSurvey:
    """Add up the parts of a file."""
    text, before = TextFacts(), []
    for part in parts:
        before.append(text.n_lines)
        text = text.plus(part.text)
    found = joined((n, part.found) for n, part in zip(before, parts, strict=True))
    problems = [*misfits(found, f"6: {COLUMNS}"), *_run_problems(found)]
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
    return found[kind].count if kind in found else 0


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
    if one := found.get("rank"):
        yield Problem(f"rank {one.detail!r} is not a number{one.such()}", one.line + 1, "only --order rank reads ranks")
    if one := found.get("order"):
        what = f"the score is higher than on the line before{one.such()}, in {one.detail} lists"
        yield Problem(what, one.line + 1, f"lists are ordered by score; {by_rank}")
    if one := found.get("contradiction"):
        what = f"the rank column contradicts the scores{one.such('such places')}"
        yield Problem(what, one.line + 1, f"lists are ordered by score; {by_rank}")
    if one := found.get("scattered"):
        what = f"the list of topic {one.detail!r} goes on after other lists{one.such('scattered lists')}"
        yield Problem(what, one.line + 1, "it is read as a whole, which takes memory; sort it by topic and tag")
