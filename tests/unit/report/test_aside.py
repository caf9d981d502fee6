"""A second process computes the same evidence, and a report does not depend on whether it lives."""

from __future__ import annotations

import json

import pytest

from venire.report import aside
from venire.report.making import report_on
from venire.simulation import Synthetic, generate
from venire.simulation.systems import Systems

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")]


@pytest.fixture(scope="module")
def written():
    made = generate(Synthetic(n_topics=6, docs_per_topic=12, systems=Systems(quality=(1.0, 2.0), depth=10)), rng=1)

    def write() -> str:
        return json.dumps(report_on(made.judgments, made.runs, n_draws=30).content())

    return write, write()


def test_the_report_is_the_same(written, monkeypatch):
    write, alone = written
    monkeypatch.setattr(aside, "MANY", 0)
    asked = []
    monkeypatch.setattr(aside.Aside, "take_over", _noted(aside.Aside.take_over, asked))
    assert write() == alone
    assert [set(each) >= {*aside.FIRST, *aside.THEN} for each in asked] == [True]


@pytest.mark.parametrize("program", ["/bin/false", "/bin/cat"])
def test_a_process_without_an_answer_is_not_missed(written, monkeypatch, program):
    write, alone = written
    monkeypatch.setattr(aside, "MANY", 0)
    monkeypatch.setattr(aside.sys, "executable", program)
    assert write() == alone


def _noted(take_over, asked):
    def note(self, evidence):
        found = take_over(self, evidence)
        asked.append(found)
        return found

    return note
