from __future__ import annotations

from pathlib import Path

import pytest

from json_results import loaded
from venire.cli import simulate
from venire.data.scale import Scale
from venire.simulation.assessors import parse_assessors, parse_pattern
from venire.simulation.context.setting import DESIGNS, AspectModel, ClickModel, ContextSetting
from venire.simulation.folders import FILES
from venire.simulation.levels import Synthetic
from venire.simulation.perceived import PerceivedRelevance
from venire.simulation.systems import Systems, scattered

SMALL = ("levels", "--topics", "3", "--docs", "6", "--systems", "2")
CONTEXT = ("context", "--topics", "6", "--sessions", "3")
PERCEIVED = ("perceived", "--topics", "6", "--assessors", "3")


class SettingFoundError(Exception):
    """Carries a setting out of a command, before anything is made."""


@pytest.fixture
def setting_of(monkeypatch):
    """Return the setting that a command line makes."""

    def raise_setting(setting, **_):
        raise SettingFoundError(setting)

    for module, name in (
        ("levels", "generate"),
        ("perceived", "generate_perceived"),
        ("context.collection", "generate_context"),
    ):
        monkeypatch.setattr(f"venire.simulation.{module}.{name}", raise_setting)

    def setting_of(*args: str) -> object:
        with pytest.raises(SettingFoundError) as asked:
            simulate.command.main([*args, "-o", "x"], standalone_mode=False)
        return asked.value.args[0]

    return setting_of


def places(folder: Path) -> set[str]:
    """Name the files of a collection, all runs as one."""
    return {name if not name.startswith("runs") else "runs" for name in files(folder)}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_writes_a_collection_that_can_be_evaluated(venire, tmp_path):
    folder = tmp_path / "demo"
    answer = venire("simulate", *SMALL, "-o", folder)
    assert answer.code == 0
    assert answer.err.startswith("wrote 90 labels on 18 items of 3 topics by 5 assessors")
    assert answer.err.count("\n") == 1
    evaluated = venire("evaluate", folder / "judgments.tsv", folder / "runs", "--pool", "median", "--format", "json")
    assert [row["system"] for row in loaded(evaluated.out)["scores"]] == ["s01", "s02"]


def test_says_what_it_wrote(venire, tmp_path):
    answer = venire("simulate", *SMALL, "-o", tmp_path / "demo")
    listed = [Path(line.split()[0]) for line in answer.out.splitlines()[1:]]
    assert [str(path.relative_to(tmp_path / "demo")) for path in listed] == list(FILES["levels"])
    assert all(path.exists() for path in listed)
    assert places(tmp_path / "demo") == set(FILES["levels"])


def test_json_lists_files_and_truth(venire, tmp_path):
    args = ("simulate", *SMALL, "-o", tmp_path / "demo", "--assessors", "strict, lazy", "--format", "json", "--quiet")
    answer = venire(*args)
    assert answer.err == ""
    document = loaded(answer.out)
    assert [set(row) for row in document["files"]] == [{"file", "holds"}] * len(FILES["levels"])
    assert document["truth"] == {
        "scale": "0<1<2<3",
        "topics": 3,
        "assessors": ["lazy1", "strict1"],
        "systems_best_first": ["s01", "s02"],
    }


def test_the_seed_settles_everything(venire, tmp_path):
    for name, seed in (("a", "0"), ("b", "0"), ("c", "1")):
        venire("simulate", *SMALL, "-o", tmp_path / name, "--rng", seed)
    venire("simulate", *SMALL, "-o", tmp_path / "d")
    a, b, c, d = (files(tmp_path / name) for name in "abcd")
    assert a == b == d
    assert a["judgments.tsv"] != c["judgments.tsv"]


def test_assessors_pattern_and_scale(venire, tmp_path):
    folder = tmp_path / "demo"
    setting = ("--assessors", "2*careful(slip=0), random", "--pattern", "random-assessors(k=2)", "--scale", "Non<Rel")
    assert venire("simulate", *SMALL, "-o", folder, *setting).code == 0
    lines = (folder / "judgments.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")][1:]
    assert len(rows) == 3 * 6 * 2
    assert {row[2] for row in rows} == {"careful1", "careful2", "random1"}
    assert {row[3] for row in rows} <= {"Non", "Rel"}


def test_defaults_are_those_of_the_library(setting_of):
    assert setting_of("levels") == Synthetic()
    assert setting_of("perceived") == PerceivedRelevance()
    assert setting_of("context") == ContextSetting()
    assert simulate.DESIGNS == DESIGNS


def test_levels_takes_all_its_parameters(setting_of):
    flags = ["--topics", "9", "--docs", "12", "--systems", "3", "--scale", "no<yes"]
    flags += ["--assessors", "2*strict", "--pattern", "one-per-item(twice=0.2)"]
    assert setting_of("levels", *flags) == Synthetic(
        n_topics=9,
        docs_per_topic=12,
        systems=Systems(quality=scattered(3)),
        scale=Scale.parse("no<yes"),
        assessors=parse_assessors("2*strict"),
        pattern=parse_pattern("OnePerItem(twice=0.2)"),
    )


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--assessors", "sloppy"], "there is no kind of assessor 'sloppy'"),
        (["--pattern", "everybody"], "there is no pattern 'everybody'"),
        (["--pattern", "random-assessors(k=9)"], "9 labels per item"),
        (["--scale", "one"], "no two levels in order"),
        (["--topics", "0"], "--topics"),
        (["--rng", "-1"], "--rng"),
    ],
)
def test_bad_settings_write_nothing(venire, tmp_path, flags, words):
    answer = venire("simulate", "levels", "-o", tmp_path / "demo", *flags)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert not (tmp_path / "demo").exists()


def test_the_folder_is_required_and_must_be_one(venire, qrels, tmp_path):
    assert "-o" in venire("simulate", "levels").err
    assert venire("simulate").code == 2
    answer = venire("simulate", *SMALL, "-o", qrels)
    assert (answer.code, answer.out) == (2, "")
    assert "is a file" in answer.err
    assert venire("simulate", *SMALL, "-o", tmp_path).code == 2


def test_perceived_writes_preferences_too(venire, tmp_path):
    folder = tmp_path / "demo"
    answer = venire("simulate", *PERCEIVED, "-o", folder, "--grades", "5", "--comparers", "2", "--systems", "2")
    assert answer.code == 0
    assert answer.err.startswith("wrote 90 labels on 30 items of 6 topics by 3 assessors, scale 0<1<2<3<4; 120 pref")
    listed = [str(Path(line.split()[0]).relative_to(folder)) for line in answer.out.splitlines()[1:]]
    assert listed == list(FILES["perceived"])
    assert places(folder) == set(FILES["perceived"])
    lines = (folder / "preferences.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["topic", "left", "right", "assessor", "strength"]
    assert len(lines) == 1 + 6 * 10 * 2


def test_perceived_has_runs_only_where_asked(venire, tmp_path):
    answer = venire("simulate", *PERCEIVED, "-o", tmp_path / "demo", "--format", "json", "-q")
    document = loaded(answer.out)
    assert set(files(tmp_path / "demo")) == set(FILES["perceived"]) - {"runs"}
    assert len(document["files"]) == len(FILES["perceived"]) - 1
    assert document["truth"]["topics"] == 6
    assert len(document["truth"]["sigma_of_batches"]) == 1
    assert document["truth"]["systems_best_first"] == []


def test_perceived_takes_all_its_parameters(setting_of):
    flags = ["--sigma", "0.05", "0.05", "--pairs", "4", "--docs", "7", "--grades", "9", "--systems", "2"]
    flags += ["--preference-noise", "0.2", "--tie", "0.01", "--comparers", "5"]
    assert setting_of(*PERCEIVED, *flags) == PerceivedRelevance(
        n_topics=6,
        docs_per_topic=7,
        n_assessors=3,
        n_grades=9,
        sigma=(0.05, 0.05),
        preference_noise=0.2,
        tie_threshold=0.01,
        preference_assessors=5,
        pairs_per_topic=4,
        systems=Systems(quality=scattered(2)),
    )


def test_context_writes_all_that_is_needed(venire, tmp_path):
    folder = tmp_path / "demo"
    answer = venire("simulate", *CONTEXT, "-o", folder, "--aspects")
    assert answer.code == 0
    assert "30 preferences between two lists; 18 click sessions" in answer.err
    listed = [str(Path(line.split()[0]).relative_to(folder)) for line in answer.out.splitlines()[1:]]
    assert listed == list(FILES["context"])
    assert places(folder) == set(FILES["context"])
    bare = venire("simulate", *CONTEXT, "-o", folder, "--sessions", "0", "--format", "json", "-q")
    document = loaded(bare.out)
    assert len(document["files"]) == len(FILES["context"]) - 2
    assert document["truth"]["topics"] == 6
    assert places(folder) == set(FILES["context"]) - {"clicks.tsv", "aspects.tsv"}


def test_what_context_writes_can_be_evaluated(venire, tmp_path):
    folder = tmp_path / "demo"
    assert venire("simulate", *CONTEXT, "-o", folder).code == 0
    flags = ("-m", "CCG(alpha=0.5)@5", "--pool", "median", "--format", "json")
    answer = venire("evaluate", folder / "judgments.tsv", folder / "runs", *flags)
    assert [row["system"] for row in loaded(answer.out)["scores"]] == ["left", "right"]


def test_context_takes_all_its_parameters(setting_of):
    flags = ["--topics", "9", "--docs", "12", "--assessors", "4", "--scale", "no<yes", "--redundancy", "0.1"]
    flags += ["--complementarity", "0.2", "--context", "0.3", "--aspects", "--users", "7", "--sessions", "3"]
    flags += ["--design", "neighbours"]
    assert setting_of("context", *flags) == ContextSetting(
        n_topics=9,
        docs_per_topic=12,
        n_assessors=4,
        scale=Scale.parse("no<yes"),
        redundancy=0.1,
        complementarity=0.2,
        context=0.3,
        design="neighbours",
        n_users=7,
        clicks=ClickModel(sessions=3),
        aspects=AspectModel(),
    )


def test_kinds_replace_each_other_in_one_folder(venire, tmp_path):
    for _ in range(2):
        assert venire("simulate", *PERCEIVED, "-o", tmp_path / "demo", "--systems", "4").code == 0
        assert venire("simulate", *CONTEXT, "-o", tmp_path / "demo").code == 0
        assert venire("simulate", *SMALL, "-o", tmp_path / "demo").code == 0
    assert places(tmp_path / "demo") == set(FILES["levels"])
    assert len([name for name in files(tmp_path / "demo") if name.startswith("runs")]) == 2


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["levels", "--grades", "5"], "--grades"),
        (["perceived", "--scale", "0<1"], "--scale"),
        (["perceived", "--assessors", "lazy"], "--assessors"),
        (["perceived", "--assessors", "0"], "--assessors"),
        (["perceived", "--sigma", "0.3", "0.1"], "sigma goes from 0.3 to 0.1"),
        (["context", "--systems", "5"], "--systems"),
        (["context", "--docs", "9"], "docs_per_topic is 9"),
        (["chu2020"], "chu2020"),
    ],
)
def test_bad_parameters_write_nothing(venire, tmp_path, flags, words):
    answer = venire("simulate", *flags, "-o", tmp_path / "demo")
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert not (tmp_path / "demo").exists()
