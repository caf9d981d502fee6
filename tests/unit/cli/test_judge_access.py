"""venire judge invite, revoke, erase, backup and restore."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner

from people import said
from venire.cli.main import cli
from venire.judging.samples import write_sample
from venire.judging.store import Store
from venire.judging.study_files import read_study


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_sample(tmp_path / "study.toml")
    return tmp_path / "study.toml"


def run(*words, code=0):
    found = CliRunner().invoke(cli, ["judge", *map(str, words)], prog_name="venire")
    assert found.exit_code == code, found.output
    return click.unstyle(found.output)


def told(*words):
    return json.loads(run(*words, "--format", "json", "-q"))


def opened(study):
    return Store.open(*read_study(study))


def judge(study, assessor):
    with opened(study) as store:
        (lease,) = store.next_tasks(assessor)
        store.answer(assessor, said(lease, value={"cannot": "does not load"}, comment="my own words"))


def test_an_invitation_is_a_link_that_opens_a_session(study):
    (invitation,) = told("invite", study, "ann", "--address", "https://judge.example.org/")["invitation"]
    start = "https://judge.example.org/join/"
    assert invitation["link"].startswith(start)
    with opened(study) as store:
        assert store.open_session(invitation["link"].removeprefix(start)).assessor == "ann"
    assert "invite them again (--again)" in run("invite", study, "ann", code=2)
    run("invite", study, "ann", "--again")


def test_an_unknown_assessor_is_named(study):
    for command in ("invite", "revoke", "erase"):
        assert "did you mean 'ann'?" in run(command, study, "anne", code=2)


def test_revocation_keeps_the_answers(study):
    judge(study, "ann")
    assert told("revoke", study, "ann")["revoked"] == [{"assessor": "ann", "answers kept": 1}]
    with opened(study) as store:
        assert store.standing("ann").revoked


def test_access_ends_also_where_the_guidelines_were_changed_since(study):
    judge(study, "ann")
    guidelines = read_study(study)[0].guidelines.splitlines()[0]
    for path in study.parent.rglob("*"):
        if path.suffix in (".toml", ".md"):
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(guidelines, guidelines + " anew"), encoding="utf-8")
    assert "undo the change" in run("invite", study, "bob", code=2)
    assert told("revoke", study, "ann")["revoked"] == [{"assessor": "ann", "answers kept": 1}]
    run("erase", study, "ann")
    assert "undo the change" in run("invite", study, "bob", code=2)


@pytest.mark.parametrize(("options", "kept"), [((), 1), (("--answers",), 0)])
def test_erasure(study, options, kept):
    judge(study, "ann")
    (erased,) = told("erase", study, "ann", *options)["erased"]
    assert erased["answers kept"] == kept
    data = study.with_suffix(".db").read_bytes()
    assert b"my own words" not in data
    assert erased["now called"].encode() in data


def test_a_copy_and_back(study, tmp_path):
    judge(study, "ann")
    (copied,) = told("backup", study, "-o", "copy.db")["backup"]
    assert copied == {"file": "copy.db", "bytes": (tmp_path / "copy.db").stat().st_size}
    judge(study, "bob")
    assert "lose what came since (--lose-newer)" in run("restore", study, "copy.db", code=2)
    (restored,) = told("restore", study, "copy.db", "--lose-newer")["restored"]
    assert (tmp_path / restored["replaced, copied to"]).is_file()
    with opened(study) as store:
        assert [each.assessor for each in store.stored()] == ["ann"]
    assert "backup-" in run("backup", study)


def test_a_changed_scale_names_the_way_that_the_command_has(study):
    judge(study, "ann")
    study.write_text(study.read_text().replace('name = "2"', 'name = "3"'))
    text = run("invite", study, "ann", code=2)
    assert "scale, aspects or guidelines are not those of the answers so far" in text
    assert "undo the change" in text
    assert "--new-version" not in text
