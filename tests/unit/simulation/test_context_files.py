from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from venire.data.scale import Scale
from venire.errors import FormatError
from venire.io.aspects import read_aspects
from venire.io.judgments import read_judgments
from venire.io.preferences import read_preferences
from venire.io.runs import read_runs, scan
from venire.simulation.context.collection import ContextCollection, ContextSetting, generate_context
from venire.simulation.context.setting import Aspect, AspectModel, ClickModel, Engine
from venire.simulation.folders import write_collection
from venire.simulation.levels import Synthetic, generate
from venire.simulation.perceived import PerceivedRelevance, generate_perceived

SETTING = ContextSetting(n_topics=15, judged_again=0.2, aspects=AspectModel(), clicks=ClickModel(sessions=4))


@pytest.fixture(scope="module")
def collection() -> ContextCollection:
    return generate_context(SETTING, rng=7)


@pytest.fixture(scope="module")
def folder(collection, tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("context") / "made"
    write_collection(collection, made)
    return made


def table(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, separator="\t", comment_prefix="#", schema_overrides={"topic": pl.String})


def written(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_judgments_read_back_with_what_was_given(collection, folder):
    read = read_judgments(folder / "judgments.tsv")
    assert read.scale == collection.judgments.scale
    simulated = collection.judgments.to_polars().select(read.to_polars().columns)
    assert read.to_polars().sort(simulated.columns).rows() == simulated.sort(simulated.columns).rows()
    assert '"' not in (folder / "judgments.tsv").read_text()


def test_preferences_and_runs_read_back(collection, folder):
    read = read_preferences(folder / "preferences.tsv")
    assert read.to_polars().rows() == collection.preferences.to_polars().rows()
    items = collection.judgments.items
    simulated, facts = scan(collection.runs, items).facts, scan(read_runs([folder / "runs"]), items).facts
    assert facts.systems == ("left", "right")
    for column in ("system", "topic", "rank", "item"):
        np.testing.assert_array_equal(getattr(facts, column), getattr(simulated, column), err_msg=column)


def test_clicks_and_aspects_read_back(collection, folder):
    assert table(folder / "clicks.tsv").cast(collection.clicks.schema).equals(collection.clicks)
    aspects = pl.read_csv(folder / "aspects.tsv", separator="\t", comment_prefix="#", infer_schema=False)
    assert aspects.with_columns(pl.col("given").fill_null("")).equals(collection.aspects)
    read = read_aspects(folder / "aspects.tsv")
    assert set(read.names) == {"overall", *(each.name for each in SETTING.aspects.aspects)}
    absent = (collection.aspects["label"] == "N/A").sum()
    assert int((read.grade == -1).sum()) == absent > 0


def test_the_truth_stands_beside(collection, folder):
    contents, docs = collection.truth.contents, list(collection.truth.docs)
    items = table(folder / "truth" / "items.tsv")
    assert np.array_equal(items["worth"].to_numpy(), contents.worth.ravel())
    facets = [[int(each) - 1 for each in str(cell).split(",")] for cell in items["facets"]]
    assert facets == [np.flatnonzero(row).tolist() for row in contents.covers.reshape(-1, SETTING.n_facets)]
    pairs = table(folder / "truth" / "pairs.tsv")
    place = [(int(t) - 1, docs.index(d), docs.index(g)) for t, d, g in pairs.select("topic", "doc", "given").rows()]
    assert np.allclose(pairs["worth"].to_numpy(), contents.worth_given(*np.array(place).T), rtol=1e-12)
    asked = {row for row in collection.judgments.to_polars().select("topic", "doc", "given").rows() if row[2]}
    for topic, both in enumerate(collection.truth.lists):
        asked |= {(str(topic + 1), docs[d], docs[c]) for one in both for c, d in pairwise(one)}
    assert set(pairs.select("topic", "doc", "given").rows()) == asked
    topics = table(folder / "truth" / "topics.tsv")
    assert topics["design"].to_list() == ["fifth" if each else "tenth" for each in collection.truth.fifth]
    assert np.array_equal(topics.select("left", "right").to_numpy(), collection.truth.utility)
    who = set(table(folder / "truth" / "assessors.tsv").select("topic", "assessor").rows())
    assert who == set(collection.judgments.to_polars().select("topic", "assessor").rows())
    assert table(folder / "truth" / "systems.tsv")["system"].to_list() == ["left", "right"]


def test_the_setting_makes_it_again(collection, folder):
    made = json.loads((folder / "truth" / "setting.json").read_text())
    assert (made["kind"], made["rng"]) == ("context", 7)
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in made["setting"].items()}
    values["scale"] = Scale.parse(values["scale"])
    values["engines"] = tuple(Engine(**each) for each in values["engines"])
    for name, kind in (("clicks", ClickModel), ("aspects", AspectModel)):
        values[name] = {key: tuple(value) if isinstance(value, list) else value for key, value in values[name].items()}
        if name == "aspects":
            listed = [
                {key: tuple(v) if isinstance(v, list) else v for key, v in a.items()} for a in values[name]["aspects"]
            ]
            values[name]["aspects"] = tuple(Aspect(**each) for each in listed)
        values[name] = kind(**values[name])
    assert ContextSetting(**values) == SETTING
    assert generate_context(ContextSetting(**values), rng=7).clicks.equals(collection.clicks)


def test_recipes_replace_each_other_and_leave_nothing_behind(collection, tmp_path):
    usual = {
        "judgments.tsv",
        *(f"truth/{name}" for name in ("items.tsv", "assessors.tsv", "topics.tsv", "systems.tsv")),
    }
    usual |= {"truth/setting.json"}
    levels = generate(Synthetic(n_topics=2, docs_per_topic=4, n_unjudged=0))
    perceived = generate_perceived(PerceivedRelevance(n_topics=2, n_assessors=2))
    both = {"runs/left.run", "runs/right.run"}
    for _ in range(2):
        write_collection(collection, tmp_path)
        assert written(tmp_path) - usual == both | {"preferences.tsv", "clicks.tsv", "aspects.tsv", "truth/pairs.tsv"}
        bare = replace(SETTING, aspects=None, clicks=ClickModel(sessions=0))
        write_collection(generate_context(bare), tmp_path)
        assert written(tmp_path) - usual == both | {"preferences.tsv", "truth/pairs.tsv"}
        write_collection(perceived, tmp_path)
        assert written(tmp_path) - usual == {"preferences.tsv"}
        write_collection(levels, tmp_path)
        assert written(tmp_path) - usual == {f"runs/{name}.run" for name in levels.truth.systems}


def test_other_folders_are_left_alone(collection, tmp_path):
    (tmp_path / "thesis.tex").write_text("dear")
    with pytest.raises(FormatError, match="is not empty"):
        write_collection(collection, tmp_path)
    with pytest.raises(FormatError, match="is a file"):
        write_collection(collection, tmp_path / "thesis.tex")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
