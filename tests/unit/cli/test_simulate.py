from __future__ import annotations

import json
from pathlib import Path

import pytest

from venire.analysis.assessors import parse_assessors
from venire.analysis.synthetic import Synthetic
from venire.analysis.systems import Systems, scattered
from venire.cli.simulate import HOLDS, command

SMALL = ("--topics", "3", "--docs", "6", "--systems", "2")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_writes_a_collection_that_can_be_evaluated(venire, tmp_path):
    folder = tmp_path / "demo"
    answer = venire("simulate", "-o", folder, *SMALL)
    assert answer.code == 0
    assert answer.err.startswith("wrote 90 labels on 18 items of 3 topics by 5 assessors")
    assert answer.err.count("\n") == 1
    evaluated = venire("evaluate", folder / "judgments.tsv", folder / "runs", "--pool", "median", "--format", "json")
    assert [row["system"] for row in json.loads(evaluated.out)["scores"]] == ["s01", "s02"]


def test_says_what_it_wrote(venire, tmp_path):
    answer = venire("simulate", "-o", tmp_path / "demo", *SMALL)
    listed = [Path(line.split()[0]) for line in answer.out.splitlines()[1:]]
    assert [str(path.relative_to(tmp_path / "demo")) for path in listed] == list(HOLDS)
    assert all(path.exists() for path in listed)
    written = {name if not name.startswith("runs") else "runs" for name in files(tmp_path / "demo")}
    assert written == set(HOLDS)


def test_json_lists_files_and_truth(venire, tmp_path):
    args = ("simulate", "-o", tmp_path / "demo", *SMALL, "--assessors", "strict, lazy", "--format", "json", "--quiet")
    answer = venire(*args)
    assert answer.err == ""
    document = json.loads(answer.out)
    assert [set(row) for row in document["files"]] == [{"file", "holds"}] * len(HOLDS)
    assert document["truth"] == {
        "scale": "0<1<2<3",
        "topics": 3,
        "assessors": ["lazy1", "strict1"],
        "systems_best_first": ["s01", "s02"],
    }


def test_the_seed_settles_everything(venire, tmp_path):
    for name, seed in (("a", "0"), ("b", "0"), ("c", "1")):
        venire("simulate", "-o", tmp_path / name, *SMALL, "--rng", seed)
    venire("simulate", "-o", tmp_path / "d", *SMALL)
    a, b, c, d = (files(tmp_path / name) for name in "abcd")
    assert a == b == d
    assert a["judgments.tsv"] != c["judgments.tsv"]


def test_assessors_pattern_and_scale(venire, tmp_path):
    folder = tmp_path / "demo"
    setting = ("--assessors", "2*careful(slip=0), random", "--pattern", "atrandom(k=2)", "--scale", "Non<Rel")
    assert venire("simulate", "-o", folder, *SMALL, *setting).code == 0
    lines = (folder / "judgments.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")][1:]
    assert len(rows) == 3 * 6 * 2
    assert {row[2] for row in rows} == {"careful1", "careful2", "random1"}
    assert {row[3] for row in rows} <= {"Non", "Rel"}


def test_defaults_are_those_of_the_library():
    default = {option.name: option.default for option in command.params}
    usual = Synthetic()
    assert default["n_topics"] == usual.n_topics
    assert default["docs_per_topic"] == usual.docs_per_topic
    assert Systems(quality=scattered(default["n_systems"])) == usual.systems
    assert parse_assessors(default["assessors"]) == usual.assessors
    assert default["scale"] == str(usual.scale)
    assert default["rng"] == 0


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--assessors", "sloppy"], "there is no kind of assessor 'sloppy'"),
        (["--pattern", "everybody"], "there is no pattern 'everybody'"),
        (["--pattern", "atrandom(k=9)"], "9 labels per item"),
        (["--scale", "one"], "no two levels in order"),
        (["--topics", "0"], "--topics"),
        (["--rng", "-1"], "--rng"),
    ],
)
def test_bad_settings_write_nothing(venire, tmp_path, flags, words):
    answer = venire("simulate", "-o", tmp_path / "demo", *flags)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert not (tmp_path / "demo").exists()


def test_the_folder_is_required_and_must_be_one(venire, qrels, tmp_path):
    assert "-o" in venire("simulate").err
    answer = venire("simulate", "-o", qrels, *SMALL)
    assert (answer.code, answer.out) == (2, "")
    assert "is a file" in answer.err
    assert venire("simulate", "-o", tmp_path, *SMALL).code == 2
