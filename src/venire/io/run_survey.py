"""What a run file holds and what is wrong with it: counted over all its lines, in parts of whole lists.

A file whose lists are scattered (topics interleaved) is read again as a whole, as an evaluation would do.
Cost: O(lines), plus a sort of the parts whose lines are not in the order of their scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from venire.data.ids import as_text
from venire.data.runs import RunTable
from venire.engine.local import map_partitions
from venire.errors import FormatError
from venire.io.comments import data_in_comments
from venire.io.lines import Chunk, chunks, opened, read_bytes
from venire.io.run_findings import List, Part, RunSurvey, summed
from venire.io.runs import refuse_cut_line
from venire.io.text_survey import Found, Problem, TextFacts, problem_of, split_leniently, survey_text
from venire.scan.fields import Fields
from venire.scan.lists import DOC, RANK, SCORE, TAG, TOPIC, all_tied, repeated
from venire.scan.lookup import grouped
from venire.scan.numbers import decimals
from venire.scan.slices import Slices, changes, encode, hashes
from venire.types import Bools, Floats, Ints


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
        topic, tag, doc, rank, score, line = self
        return Lines(topic.take(which), tag.take(which), doc.take(which), rank[which], score[which], line[which])


def survey_run(path: Path, *, progress: Callable[[int], None] | None = None) -> RunSurvey:
    """Look at every line of a run file."""
    parts: list[Part] = []
    seen: set[List] = set()
    with (
        opened(path) as file,
        closing(map_partitions(lambda chunk: (chunk, survey_chunk(path, chunk)), chunks(file))) as surveyed,
    ):
        for chunk, part in surveyed:
            if progress is not None:
                progress(len(chunk.data))
            if len(set(part.lists)) < len(part.lists) or not seen.isdisjoint(part.lists):
                parts = [_survey_scattered(path)]
                break
            seen.update(part.lists)
            parts.append(part)
    return summed(parts)


def survey_chunk(path: Path, chunk: Chunk) -> Part:
    """Look at the lines of whole lists."""
    fields, found = split_leniently(chunk.data, 6)
    part = _survey_fields(fields, {**found, **_odd_comments(chunk)}, survey_text(chunk.data))
    return part._replace(ended=not chunk.cut, cut=_cut_line(path, chunk))


def _odd_comments(chunk: Chunk) -> dict[str, Found]:
    odd = data_in_comments(chunk.data, 6)
    return {} if odd is None else {"comment": odd}


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
    part = _survey_fields(together, {**found, **_odd_comments(chunk)}, survey_text(chunk.data))
    found = {**part.found, "scattered": Found(int(fields.line[row]), n_lists, name)}
    return part._replace(found=found, ended=not chunk.cut, cut=_cut_line(path, chunk))


def _survey_fields(fields: Fields, found: Mapping[str, Found], text: TextFacts) -> Part:
    """Count what the lines of whole lists hold."""
    topic, tag, doc = (fields.column(number) for number in (TOPIC, TAG, DOC))
    rank, score = (decimals(fields.column(number))[0] for number in (RANK, SCORE))
    for name, number, values in (("score", SCORE, score), ("rank", RANK, rank)):
        bad = np.isnan(values)
        if bad.any():
            row = int(np.flatnonzero(bad)[np.argmin(fields.line[bad])])
            wrong = as_text(fields.column(number).at(row))
            found = {**found, name: Found(int(fields.line[row]), int(bad.sum()), wrong)}
    return _survey_lines(Lines(topic, tag, doc, rank, score, fields.line), found, text)


def survey_table(table: RunTable) -> RunSurvey:
    """Look at every row of runs in memory."""
    order = np.lexsort((np.arange(len(table.score)), table.topic.codes, table.system.codes))
    columns = (table.topic, table.system, table.doc)
    topic, tag, doc = (each.names.slices.take(each.codes[order]) for each in columns)
    rank = np.full(len(order), np.nan) if table.rank is None else table.rank[order]
    line = np.arange(len(order)) if table.line is None else table.line - 1
    bad = np.flatnonzero(~np.isfinite(table.score))
    found = {"score": Found(int(line[bad[0]]), len(bad), str(table.score[bad[0]]))} if len(bad) else {}
    lines = Lines(topic, tag, doc, rank, table.score[order], line[order])
    return summed([_survey_lines(lines, found, TextFacts())])


def _survey_lines(lines: Lines, found: Mapping[str, Found], text: TextFacts) -> Part:
    lines = lines.take(np.isfinite(lines.score))
    begins = changes(lines.topic) | changes(lines.tag)
    first, number = np.flatnonzero(begins), np.cumsum(begins) - 1
    named = list(zip(lines.tag.take(first).to_bytes(), lines.topic.take(first).to_bytes(), strict=True))
    found = {**found, **_twice(lines, number), **_out_of_order(lines, number)}
    depth = np.diff(first, append=len(number))
    return Part(text, named, depth, *_in_ties(lines.score, number), all_tied(lines.score, first, depth), found)


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
        found["order"] = Found(int(lines.line[rises].min()), len(rises))
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
