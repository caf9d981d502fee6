"""venire judge init, export and import: from a sample to judgments that other commands read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studies_on_disk import HEAD, LABELS, write_study
from venire import read_judgments
from venire.cli.judge import export as export_command, init as init_command
from venire.judging import exports, imports

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d4 1\n"


@pytest.fixture
def study(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.qrels").write_text(QRELS)
    return write_study(tmp_path, HEAD + LABELS)


def test_the_words_are_those_of_the_library():
    from importlib import import_module

    assert tuple(exports.CONTENTS) == export_command.CONTENTS
    assert import_module("venire.cli.judge.import").SOURCES == imports.SOURCES
    assert init_command.command.name == "init"


def test_a_study_from_its_sample_to_its_export(venire, tmp_path):
    path = tmp_path / "demo" / "study.toml"
    made = venire("judge", "init", path)
    assert made.code == 0
    assert str(path) in made.out
    (tmp_path / "x.qrels").write_text("q1 0 egg-times 2\nq2 0 chain-care 1\n")
    assert venire("judge", "import", path, tmp_path / "x.qrels", "--assessor", "ann").code == 0
    done = venire("judge", "export", path, "-o", tmp_path / "x.csv", "--qrels", tmp_path / "qrels", "--format", "json")
    assert done.code == 0
    assert json.loads(done.out)["assessors"] == [{"assessor": "ann", "rows": 2}]
    assert len(read_judgments(tmp_path / "x.csv")) == len(read_judgments(tmp_path / "qrels")) == 2


def test_init_overwrites_nothing(venire, tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("mine")
    answer = venire("judge", "init", path)
    assert (answer.code, path.read_text()) == (2, "mine")
    assert "is there already" in answer.err
    assert [each.name for each in tmp_path.iterdir()] == ["study.toml"]
    assert venire("judge", "init", tmp_path / "study.txt").code == 2
    assert venire("judge", "init", tmp_path / "no" / "such" / "study.toml").code == 2


def test_importing_again_adds_nothing(venire, study):
    first = venire("judge", "import", study, "first.qrels", "--assessor", "ann", "--format", "csv")
    again = venire("judge", "import", study, "first.qrels", "--assessor", "ann", "--format", "csv")
    assert first.out == "assessor,added,known,surplus\nann,3,0,0\n"
    assert again.out == "assessor,added,known,surplus\nann,0,3,0\n"


def test_names_in_the_file_are_mapped(venire, study):
    Path("book.csv").write_text("query,docid,Ann B,bob@x\nboil eggs,d1,2,1\n")
    args = ("judge", "import", study, "book.csv", "--from", "quepid")
    refused = venire(*args, "--assessor", "Ann B=ann")
    assert refused.code == 2
    assert "there is no assessor 'bob@x'" in refused.err
    assert "--assessor bob@x=NAME" in refused.err
    assert venire(*args, "--assessor", "Ann B=ann", "--assessor", "bob@x=bob").code == 0
    assert venire(*args, "--assessor", "x=").code == 2
    assert venire(*args, "--assessor", "ann", "--assessor", "bob").code == 2


def test_what_export_cannot_do(venire, study):
    assert "name a file" in venire("judge", "export", study).err
    assert "there are no answers yet" in venire("judge", "export", study, "-o", "x.csv").err
    assert not study.with_suffix(".db").exists()
    venire("judge", "import", study, "first.qrels", "--assessor", "ann")
    assert "--qrels is for labels" in venire("judge", "export", study, "--of", "lists", "--qrels", "x").err
    assert "is not that of a table" in venire("judge", "export", study, "-o", "x.txt").err
    assert "there are no answers to export" in venire("judge", "export", study, "--of", "lists", "-o", "x.csv").err
    assert "which is read" in venire("judge", "export", study, "-o", study).err
    assert study.read_text() == HEAD + LABELS
    assert venire("judge", "export", study, "--qrels", "first.qrels").code == 2
    assert not Path("x.csv").exists()


def test_answers_are_exported_though_the_study_has_changed(venire, study):
    venire("judge", "import", study, "first.qrels", "--assessor", "ann")
    study.write_text((HEAD + LABELS).replace("Judge the page.", "Judge it.").replace('name = "2"', 'name = "3"'))
    done = venire("judge", "export", study, "-o", "x.csv")
    assert done.code == 0
    assert "1 answer left out" in done.err
    assert len(read_judgments("x.csv")) == 2
    assert venire("judge", "import", study, "first.qrels", "--assessor", "ann").code == 2


def test_an_error_in_the_study_names_the_line(venire, study):
    study.write_text((HEAD + LABELS).replace("pool =", "pol ="))
    answer = venire("judge", "export", study, "-o", "x.csv")
    assert answer.code == 2
    assert "study.toml:30: there is no key of [[tasks]] 'pol'" in answer.err
    assert "did you mean 'pool'" in answer.err


def test_a_limit_can_be_raised(venire, study):
    with Path("docs.jsonl").open("a") as file:
        file.write(json.dumps({"doc": "x", "text": "y" * (1 << 20)}) + "\n")
    args = ("judge", "import", study, "first.qrels", "--assessor", "ann")
    refused = venire(*args)
    assert refused.code == 2
    assert "--limit line-length=4MiB" in refused.err
    assert venire(*args, "--limit", "line-length=4MiB").code == 0


@pytest.mark.parametrize(
    ("name", "extra"),
    [("sqlalchemy.orm", "judge"), ("alembic", "judge"), ("psycopg", "postgresql"), ("venire.x", None)],
)
def test_a_module_that_is_not_installed(venire, study, monkeypatch, name, extra):
    def missing(*_, **__):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr("venire.judging.store.Store.open", missing)
    answer = venire("judge", "import", study, "first.qrels", "--assessor", "ann")
    assert answer.code == (70 if extra is None else 2)
    assert (f'pip install "venire[{extra}]"' in answer.err) == (extra is not None)


def test_an_unknown_command_suggests_one(venire):
    answer = venire("judge", "exprot")
    assert answer.code == 2
    assert "did you mean 'export'" in answer.err


def test_no_output_is_a_file_of_the_study(venire, study):
    """Nor is one that it names in a folder, or another database."""
    Path("ann.qrels").write_text(QRELS)
    study.write_text(f'{HEAD}{LABELS}gold = "ann.qrels"\n')
    venire("judge", "import", study, "first.qrels", "--assessor", "ann", "--database", "other.db")
    before = {path.name: path.read_bytes() for path in study.parent.iterdir()}
    for args in (
        ("--qrels", "."),
        ("-o", "other.db"),
        ("-o", "other.db-journal"),
        ("-o", "topics.tsv", "--qrels", "x"),
    ):
        answer = venire("judge", "export", study, "--database", "other.db", *args)
        assert answer.code == 2
        assert f"{args[0]} {'ann.qrels' if args[1] == '.' else args[1]} is the same file" in answer.err
    assert {path.name: path.read_bytes() for path in study.parent.iterdir()} == before


def test_a_sample_that_was_cut_short_is_finished(venire, tmp_path):
    path = tmp_path / "study.toml"
    assert venire("judge", "init", path).code == 0
    again = venire("judge", "init", path)
    assert "study.toml: is there already" in again.err
    path.unlink()
    assert venire("judge", "init", path).code == 0
