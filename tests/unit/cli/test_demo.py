"""venire demo: the command that it prints, and its stages; what it says is tested with the report."""

from __future__ import annotations

import shlex
import sys
from contextlib import contextmanager

import pytest

from venire.cli import demo
from venire.judging.store import Store
from venire.judging.study_files import read_study
from venire.report import making
from venire.report.document import Chapter, Report


@pytest.fixture
def begun(monkeypatch):
    """Write a report of nothing, and keep what it was asked and which stages were begun."""
    kept = {"stages": []}

    @contextmanager
    def stages(total, **_):
        kept["total"] = total
        yield kept["stages"].append

    def nothing(question, *, stage):
        kept["command"] = question.command
        for name in (*making.CHAPTERS, "plan", "method"):
            stage(name)
        told = Chapter("verdict", "Verdict", "No winner can be named.")
        return Report("Systems", (told,), question.made_with())

    monkeypatch.setattr(demo, "stages", stages)
    monkeypatch.setattr(making, "make_report", nothing)
    return kept


def test_the_command_it_prints_is_that_of_the_report_and_can_be_run(venire, begun, tmp_path):
    folder = tmp_path / "my demo"
    answer = venire("demo", "-o", folder, "--rng", 3)
    assert answer.code == 0, answer.err
    again = next(line for line in answer.err.splitlines() if "then: " in line).partition("then: ")[2]
    assert again == begun["command"]
    files = [str(folder / "judgments.tsv"), str(folder / "runs")]
    assert shlex.split(again) == ["venire", "report", *files, "-o", str(folder / "report.html"), "--rng", "3"]


def test_every_stage_of_the_bar_is_begun(venire, begun, tmp_path):
    assert venire("demo", "-o", tmp_path / "demo").code == 0
    assert (begun["stages"][0], begun["stages"][-1]) == ("collection", "page")
    assert len(begun["stages"]) == begun["total"]


def test_a_study_is_served_with_links_and_kept(venire, tmp_path, monkeypatch):
    monkeypatch.setattr("venire.judging.web.serving.serve", lambda _, site, ready: ready(site))
    folder = tmp_path / "study"
    first = venire("demo", "--judge", "-o", folder)
    assert first.code == 0, first.err
    (folder / "mine.txt").touch()
    second = venire("demo", "--judge", "-o", folder)
    assert second.code == 0, second.err
    assert (folder / "mine.txt").exists()
    links = dict(line.split(": ", 1) for line in second.out.splitlines()[1:])
    with Store.open(*read_study(folder / "study.toml")) as store:
        found = {name: store.open_session(link.rpartition("/")[2]).assessor for name, link in links.items()}
    assert found == {"ann": "ann", "bob": "bob", "organiser": ""}


def test_without_the_packages_for_judging_it_says_what_to_install(venire, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "venire.judging.web.serving", raising=False)
    answer = venire("demo", "--judge", "-o", tmp_path / "study")
    assert answer.code == 2
    assert 'pip install "venire[judge]"' in answer.err
