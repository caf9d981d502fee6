"""What inspect counts in a run is what a slow survey counts, line by line."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from venire.io.inspect import inspect_file

FIELDS = {
    "topic": st.sampled_from(["1", "2", "topic-with-a-long-name"]),
    "doc": st.sampled_from(["a", "b", "c", "document-with-a-long-name", "document-with-a-long-nam"]),
    "rank": st.sampled_from(["1", "2", "3", "x"]),
    "score": st.sampled_from(["3", "2", "2.00000001", "1e0", "-1", "nan", "?"]),
    "tag": st.sampled_from(["x", "y"]),
}
ROW = st.tuples(*FIELDS.values()).map(lambda f: f"{f[0]} Q0 {f[1]} {f[2]} {f[3]} {f[4]}")
LINE = st.one_of(ROW, ROW, ROW, ROW, st.sampled_from(["", "# comment", "1 Q0 a 1 2", "1 Q0 a 1 2 x y", "one"]))


def slow_survey(text: str) -> dict[str, object]:
    """Count by hand what ``inspect_file`` counts."""
    lists: dict[tuple[str, str], list[tuple[str, float, float]]] = defaultdict(list)
    wrong_columns = bad_scores = bad_ranks = 0
    opened: list[tuple[str, str]] = []
    for line in text.splitlines():
        fields = line.split()
        if not fields or line.startswith("#"):
            continue
        if len(fields) != 6:
            wrong_columns += 1
            continue
        topic, _, doc, rank, score, tag = fields
        if not opened or opened[-1] != (tag, topic):
            opened.append((tag, topic))
        bad_ranks += rank == "x"
        if score in ("nan", "?"):
            bad_scores += 1
            continue
        lists[tag, topic].append((doc, float(score), np.nan if rank == "x" else float(rank)))
    facts = {
        "rows": sum(map(len, lists.values())),
        "systems": sorted({tag for tag, _ in lists}),
        "topics": len({topic for _, topic in lists}),
        "tied": sum(in_ties([score for _, score, _ in rows]) for rows in lists.values()),
        "tied_float32": sum(in_ties([float(np.float32(score)) for _, score, _ in rows]) for rows in lists.values()),
        "rising_scores": sum(b[1] > a[1] for rows in lists.values() for a, b in pairwise(rows)),
        "repeated_documents": sum(len(rows) - len({row[0] for row in rows}) for rows in lists.values()),
        "contradicts": any(contradicts(rows) for rows in lists.values()),
        "scattered_lists": sum(count > 1 for count in Counter(opened).values()),
    }
    return facts | {"columns": wrong_columns, "score": bad_scores, "rank": bad_ranks}


def in_ties(scores: list[float]) -> int:
    return sum(count for count in Counter(scores).values() if count > 1)


def contradicts(rows: list[tuple[str, float, float]]) -> bool:
    """Whether some line has a higher score and a higher (worse) rank than another."""
    return any(a[1] > b[1] and a[2] > b[2] for a in rows for b in rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("runs")


@given(lines=st.lists(LINE, min_size=1, max_size=25), together=st.booleans())
def test_counts_are_those_of_going_line_by_line(folder, lines, together):
    if together:
        lines = sorted(lines, key=lambda line: (line.split()[::5], len(line.split())) if line.split() else ([], 0))
    path = folder / "x.run"
    path.write_text("\n".join(lines) + "\n")
    slow, found = slow_survey(path.read_text()), inspect_file(path)
    assume(found.kind == "TREC run")
    shown = " ".join(problem.what for problem in found.problems)
    for name, words in (("columns", "columns? in "), ("score", "finite number")):
        assert bool(re.search(words, shown)) == (slow[name] > 0), name
    assert found.readable == (slow["rows"] > 0 and not any(slow[n] for n in ("columns", "score", "repeated_documents")))
    facts = dict(found.facts)
    if "rows" not in facts:
        assert slow["rows"] == 0 or "further errors" in shown
        return
    for name in ("rows", "systems", "topics", "rising_scores", "repeated_documents"):
        assert facts[name] == slow[name], name
    assert facts["tied_share"] == pytest.approx(slow["tied"] / slow["rows"])
    assert facts["tied_share_float32"] == pytest.approx(slow["tied_float32"] / slow["rows"])
    if slow["rank"] == 0:
        assert (facts["contradicting_ranks"] > 0) == slow["contradicts"]
    if slow["score"] == 0:
        assert facts["scattered_lists"] == slow["scattered_lists"]
        assert ("rank is not a number" in shown) == (slow["rank"] > 0)


def test_progress_counts_every_byte(folder):
    path = folder / "x.run"
    path.write_text("1 Q0 a 1 2 x\n" * 1 + "2 Q0 a 1 2 x\n")
    done: list[int] = []
    inspect_file(path, progress=done.append)
    assert sum(done) == path.stat().st_size
