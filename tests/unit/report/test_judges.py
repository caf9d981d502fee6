"""Judges side by side: one statistic, and how to read it."""

from __future__ import annotations

import pytest

from two_judges import judged, lists, table
from venire import read_runs
from venire.agreement.alpha import alpha
from venire.report.evidence import Evidence
from venire.report.judges import judges_panel
from venire.report.question import Question
from venire.simulation import Synthetic, generate

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")


def panel(labels, runs, **how):
    return judges_panel(Evidence(Question(labels, runs, n_draws=20, **how)))


def test_without_declarations_people_elsewhere_are_named():
    found = panel(judged(table()), read_runs(lists()))
    assert found.alpha == pytest.approx(alpha(judged(table()), n_draws=2).value)
    assert found.low < found.alpha < found.high
    assert found.people is None
    assert "Nothing declares who is a person" in found.reading
    assert "Golbus" in found.reading
    assert found.findings[0].startswith("Judges contradict each other on 2 of 3 pairs")


def test_beside_machines_people_are_read_alone():
    made = generate(Synthetic(n_topics=8, docs_per_topic=30), rng=1)
    people, labels = [*made.judgments.assessors[:3]], made.judgments
    found = panel(labels.declare(machines=labels.assessors[3:]), made.runs)
    assert found.people == pytest.approx(alpha(labels.where(assessor=people), n_draws=2).value)
    assert "among themselves" in found.reading


def test_who_favours_systems_is_said_if_there_is_a_reference():
    found = panel(judged(table()), read_runs(lists()), reference=("expert",))
    assert any("llm favours" in text for text in found.findings)
    same = panel(judged(table(identical=True)), read_runs(lists()), reference=("expert",))
    assert "Compared with expert, llm favours no system significantly." in same.findings


def test_one_judge_has_no_agreement():
    found = panel(judged(table()).where(assessor="expert"), read_runs(lists()))
    assert found.alpha is None
    assert "not known" in found.reading
