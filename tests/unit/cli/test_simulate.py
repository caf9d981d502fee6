from __future__ import annotations

import json
from pathlib import Path

import pytest

from venire.cli import recipes
from venire.cli.recipes import CONTEXT_HOLDS, HOLDS, NOISE_PER, PERCEIVED_HOLDS, context_setting, perceived_setting
from venire.cli.simulate import command
from venire.data.scale import Scale
from venire.simulation.assessors import parse_assessors
from venire.simulation.context.aspects import AspectModel
from venire.simulation.context.setting import ContextSetting
from venire.simulation.context.truth import DESIGNS, LABELLED, Engine
from venire.simulation.context.users import ClickModel
from venire.simulation.levels import Synthetic
from venire.simulation.perceived_truth import NOISE, PerceivedRelevance
from venire.simulation.systems import Systems, scattered

SMALL = ("--topics", "3", "--docs", "6", "--systems", "2")
CONTEXT = ("--recipe", "golbus2014", "--topics", "6", "--sessions", "3")
PERCEIVED = ("--recipe", "chu2021", "--topics", "6", "--batch", "4", "--assessors", "3")


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


def test_the_recipe_of_chu_writes_preferences_too(venire, tmp_path):
    folder = tmp_path / "demo"
    answer = venire("simulate", "-o", folder, *PERCEIVED, "--grades", "5", "--comparers", "2", "--systems", "2")
    assert answer.code == 0
    assert answer.err.startswith("wrote 90 labels on 30 items of 6 topics by 6 assessors, scale 0<1<2<3<4; 120 pref")
    listed = [str(Path(line.split()[0]).relative_to(folder)) for line in answer.out.splitlines()[1:]]
    assert listed == list(PERCEIVED_HOLDS)
    written = {name if not name.startswith("runs") else "runs" for name in files(folder)}
    assert written == set(PERCEIVED_HOLDS)
    lines = (folder / "preferences.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["topic", "left", "right", "assessor", "strength"]
    assert len(lines) == 1 + 6 * 10 * 2


def test_the_recipe_of_chu_has_runs_only_where_asked(venire, tmp_path):
    answer = venire("simulate", "-o", tmp_path / "demo", *PERCEIVED, "--format", "json", "-q")
    document = json.loads(answer.out)
    assert set(files(tmp_path / "demo")) == set(PERCEIVED_HOLDS) - {"runs"}
    assert len(document["files"]) == len(PERCEIVED_HOLDS) - 1
    assert document["truth"]["topics"] == 6
    assert len(document["truth"]["sigma_of_batches"]) == 2
    assert document["truth"]["systems_best_first"] == []


def test_the_recipe_of_chu_takes_all_its_parameters(venire, tmp_path):
    flags = ["--sigma", "0.05", "0.05", "--shape", "1", "3", "--spread", "-0.1", "0.1", "--unlike", "--pairs", "4"]
    flags += ["--noise-per", "assessor", "--preference-noise", "0.2", "--tie", "0.01", "--docs", "7", "--grades", "9"]
    assert venire("simulate", "-o", tmp_path / "demo", *PERCEIVED, *flags).code == 0
    setting = json.loads((tmp_path / "demo" / "truth" / "setting.json").read_text())["setting"]
    assert setting | {"systems": None} == {
        "n_topics": 6,
        "docs_per_topic": 7,
        "n_assessors": 3,
        "n_grades": 9,
        "topics_per_batch": 4,
        "shape": [1.0, 3.0],
        "sigma": [0.05, 0.05],
        "spread": [-0.1, 0.1],
        "alike": False,
        "noise_per": "assessor",
        "preference_noise": 0.2,
        "tie_threshold": 0.01,
        "preference_assessors": 1,
        "pairs_per_topic": 4,
        "systems": None,
    }


def test_what_is_not_said_of_the_recipe_is_as_in_the_paper():
    assert perceived_setting({}, own_options("Recipe chu2021")) == PerceivedRelevance()
    assert NOISE_PER == NOISE


def own_options(section: str) -> dict[str, object]:
    params = command.make_context("simulate", ["-o", "x"]).params
    return {each.name: params[each.name] for each in command.params if getattr(each, "section", "") == section}


def test_the_recipe_of_golbus_writes_all_that_is_needed(venire, tmp_path):
    folder = tmp_path / "demo"
    answer = venire("simulate", "-o", folder, *CONTEXT, "--aspects")
    assert answer.code == 0
    assert "30 preferences between two lists; 18 click sessions" in answer.err
    listed = [str(Path(line.split()[0]).relative_to(folder)) for line in answer.out.splitlines()[1:]]
    assert listed == list(CONTEXT_HOLDS)
    assert {name if not name.startswith("runs") else "runs" for name in files(folder)} == set(CONTEXT_HOLDS)
    bare = venire("simulate", "-o", folder, *CONTEXT, "--sessions", "0", "--format", "json", "-q")
    document = json.loads(bare.out)
    assert len(document["files"]) == len(CONTEXT_HOLDS) - 2
    assert document["truth"]["topics"] == 6
    assert {name if not name.startswith("runs") else "runs" for name in files(folder)} == set(CONTEXT_HOLDS) - {
        "clicks.tsv",
        "aspects.tsv",
    }


def test_what_the_recipe_of_golbus_writes_can_be_evaluated(venire, tmp_path):
    folder = tmp_path / "demo"
    assert venire("simulate", "-o", folder, *CONTEXT).code == 0
    flags = ("-m", "CCG(alpha=0.5)@5", "--pool", "median", "--format", "json")
    answer = venire("evaluate", folder / "judgments.tsv", folder / "runs", *flags)
    assert [row["system"] for row in json.loads(answer.out)["scores"]] == ["left", "right"]


def test_what_is_not_said_of_the_recipe_of_golbus_is_as_in_the_library():
    assert context_setting({}, own_options("Recipe golbus2014")) == ContextSetting()
    assert (recipes.DESIGNS, recipes.LABELLED) == (DESIGNS, LABELLED)


def test_the_recipe_of_golbus_takes_all_its_parameters():
    shared = {"n_topics": 9, "docs_per_topic": 12, "assessors": "4", "scale": "no<yes"}
    own = {"redundancy": 0.1, "complementarity": 0.2, "context": 0.3, "disagreement": 0.4, "noise": 0.5}
    own |= {"quality": (1.0, 2.0), "diversity": (3.0, 4.0), "design": "neighbours", "labelled": "left"}
    own |= {"judged_again": 0.6, "n_users": 7, "user_noise": 0.8, "weak": 0.9, "strong": 0.2, "sessions": 3}
    assert set(own) | {"aspects"} == set(own_options("Recipe golbus2014"))
    assert context_setting(shared, own | {"aspects": True}) == ContextSetting(
        n_topics=9,
        docs_per_topic=12,
        n_assessors=4,
        scale=Scale.parse("no<yes"),
        redundancy=0.1,
        complementarity=0.2,
        context=0.3,
        disagreement=0.4,
        noise=0.5,
        engines=(Engine(1.0, 3.0), Engine(2.0, 4.0)),
        design="neighbours",
        labelled="left",
        judged_again=0.6,
        n_users=7,
        preference_noise=0.8,
        weak=0.9,
        strong=0.2,
        clicks=ClickModel(sessions=3),
        aspects=AspectModel(),
    )


def test_recipes_follow_each_other_in_one_folder(venire, tmp_path):
    for _ in range(2):
        assert venire("simulate", "-o", tmp_path / "demo", *PERCEIVED, "--systems", "4").code == 0
        assert venire("simulate", "-o", tmp_path / "demo", *CONTEXT).code == 0
        assert venire("simulate", "-o", tmp_path / "demo", *SMALL).code == 0
    written = {name if not name.startswith("runs") else "runs" for name in files(tmp_path / "demo")}
    assert written == set(HOLDS)
    assert len([name for name in files(tmp_path / "demo") if name.startswith("runs")]) == 2


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--grades", "5"], "--grades is for --recipe chu2021"),
        (["--recipe", "levels", "--sigma", "0", "1"], "--sigma is for --recipe chu2021"),
        (["--recipe", "chu2021", "--scale", "0<1"], "--scale is not for --recipe chu2021"),
        (["--recipe", "chu2021", "--pattern", "again"], "--pattern is not for --recipe chu2021"),
        (["--recipe", "chu2021", "--assessors", "lazy"], "'lazy' is no number"),
        (["--recipe", "chu2021", "--assessors", "0"], "n_assessors is 0"),
        (["--recipe", "chu2021", "--sigma", "0.3", "0.1"], "sigma goes from 0.3 to 0.1"),
        (["--recipe", "chu2020"], "--recipe"),
        (["--redundancy", "0.5"], "--redundancy is for --recipe golbus2014"),
        (["--recipe", "chu2021", "--aspects"], "--aspects is for --recipe golbus2014"),
        (["--recipe", "golbus2014", "--grades", "5"], "--grades is for --recipe chu2021"),
        (["--recipe", "golbus2014", "--systems", "5"], "--systems is not for --recipe golbus2014"),
        (["--recipe", "golbus2014", "--docs", "9"], "docs_per_topic is 9"),
        (["--recipe", "golbus2014", "--assessors", "lazy"], "'lazy' is no number"),
    ],
)
def test_parameters_of_another_recipe_write_nothing(venire, tmp_path, flags, words):
    answer = venire("simulate", "-o", tmp_path / "demo", *flags)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert not (tmp_path / "demo").exists()
