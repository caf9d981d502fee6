"""What new judgments changed: nothing, other topics, or no score at all before."""

from __future__ import annotations

import polars as pl
import pytest

from venire import read_judgments, read_runs
from venire.report.changes import changes_chapter
from venire.report.document import Grid, Words
from venire.report.evidence import Evidence
from venire.report.question import Question

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
TOPICS = ("t1", "t2", "t3", "t4")


def judged(topics=TOPICS, label=lambda n, k: (n + k * (n % 2)) % 3):
    rows = [(t, f"d{n}", who, label(n, k)) for t in topics for n in range(6) for k, who in enumerate(("ann", "bob"))]
    return read_judgments(pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row"), scale="0<1<2")


def changed(before, now=None):
    rows = [(s, t, f"d{n}", float(n * m % 5)) for s, m in (("x", 2), ("y", 3)) for t in TOPICS for n in range(6)]
    runs = read_runs(pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row"))
    return changes_chapter(Evidence(Question(now or judged(), runs, n_draws=30, before=before)))


def test_the_same_judgments_change_nothing():
    found = changed(judged())
    assert "the same as before" in found.finding
    assert found.parts == ()


def test_as_many_labels_are_not_called_more():
    found = changed(judged(label=lambda n, _: n % 3))
    assert "as many labels as before" in found.finding


def test_other_topics_are_warned_of():
    found = changed(judged(("t1", "t2")), judged(("t2", "t3", "t4")))
    warned = [part for part in found.parts if isinstance(part, Words) and part.kind == "warning"]
    assert [part.about for part in warned] == ["other-topics"]
    assert "2 topics before, and there are 3 now (1 in both)" in warned[0].text
    assert any(part.name == "changes_systems" for part in found.parts if isinstance(part, Grid))


def test_nobody_leads_where_all_score_nothing():
    found = changed(judged(label=lambda *_: 0))
    assert "(before: all systems scored the same)" in found.finding
