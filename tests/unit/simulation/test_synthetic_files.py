from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from small_collections import SMALL, same_labels
from venire.data.scale import Scale
from venire.errors import FormatError
from venire.io.judgments import read_judgments
from venire.io.runs import read_runs, scan
from venire.simulation.assessors import (
    Assessor,
    Everyone,
    OnePerItem,
    Rejudge,
    parse_assessors,
    parse_pattern,
)
from venire.simulation.folders import write_collection
from venire.simulation.levels import Synthetic, generate
from venire.simulation.systems import Systems


class TestFiles:
    @pytest.mark.parametrize("scale", ["0<1<2<3", "Non<Rel<Key", "0<1 : interval", "0<1<2<3<4<5<6<7<8<9"])
    @pytest.mark.parametrize("pattern", [Everyone(), Rejudge(OnePerItem(twice=0.2))], ids=repr)
    def test_judgments_read_back(self, tmp_path, scale, pattern):
        collection = generate(replace(SMALL, scale=Scale.parse(scale), pattern=pattern), rng=8)
        write_collection(collection, tmp_path)
        judgments, read = collection.judgments, read_judgments(tmp_path / "judgments.tsv", duplicate_labels="keep")
        assert read.scale == judgments.scale
        assert (list(read.items.doc), read.topics) == (list(judgments.items.doc), judgments.topics)
        assert read.items.topic.tolist() == judgments.items.topic.tolist()
        assert read.assessor.texts() == judgments.assessor.texts()
        assert (read.item.tolist(), read.label.tolist()) == (judgments.item.tolist(), judgments.label.tolist())

    def test_the_scale_is_declared_only_where_labels_do_not_tell_it(self, tmp_path):
        usual = generate(SMALL, rng=8)
        write_collection(usual, tmp_path / "usual")
        write_collection(generate(replace(SMALL, assessors=parse_assessors("lazy(idle=1)")), rng=8), tmp_path / "zero")
        assert (tmp_path / "usual/judgments.tsv").read_text().startswith("topic\tdoc\tassessor\tlabel\n1\td")
        assert (tmp_path / "zero/judgments.tsv").read_text().startswith("# scale: 0<1<2<3\ntopic\t")

    @pytest.mark.parametrize("tie_step", [0.0, 0.1])
    def test_runs_read_back(self, tmp_path, tie_step):
        systems = Systems(depth=20, tie_step=tie_step, missing=0.2)
        collection = generate(replace(SMALL, systems=systems), rng=8)
        write_collection(collection, tmp_path)
        items = collection.judgments.items
        simulated, read = scan(collection.runs, items).facts, scan(read_runs(tmp_path / "runs"), items).facts
        assert read.systems == simulated.systems
        for column in ("system", "topic", "depth", "offset", "rank", "item"):
            np.testing.assert_array_equal(getattr(read, column), getattr(simulated, column), err_msg=column)

    def test_a_run_has_six_columns_and_the_very_scores(self, tmp_path):
        collection = generate(SMALL, rng=8)
        write_collection(collection, tmp_path)
        run = collection.runs.sources[2]
        lines = [line.split(" ") for line in (tmp_path / "runs/s03.run").read_text().splitlines()]
        assert [line[3] for line in lines] == [str(rank) for _ in range(6) for rank in range(1, 16)]
        assert [float(line[4]) for line in lines] == run.score.tolist()
        assert {(line[1], line[5]) for line in lines} == {("Q0", "s03")}

    def test_the_truth_stands_beside(self, tmp_path):
        collection = generate(replace(SMALL, scale=Scale.parse("Non<Rel<Key")), rng=8)
        truth = collection.truth
        write_collection(collection, tmp_path)

        def table(name: str) -> dict[str, list[str]]:
            head, *rows = (line.split("\t") for line in (tmp_path / "truth" / name).read_text().splitlines())
            return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))

        items, systems = table("items.tsv"), table("systems.tsv")
        assert [int(level) for level in items["level"]] == truth.level.tolist()
        assert items["label"] == [truth.scale.labels[level] for level in truth.level]
        assert items["doc"] == list(truth.items.doc)
        assert sorted(systems["system"], key=lambda name: int(systems["order"][systems["system"].index(name)])) == list(
            truth.order
        )
        assert [float(effect) for effect in table("topics.tsv")["effect"]] == truth.effect.tolist()
        assessors = table("assessors.tsv")
        assert [float(p) for p in assessors["p"]] == truth.confusion.ravel().tolist()
        row = next(n for n, name in enumerate(assessors["assessor"]) if name == "strict1")
        assert (assessors["kind"][row], assessors["true"][row + 3], assessors["label"][row + 4]) == (
            "strict",
            "Rel",
            "Rel",
        )

    @pytest.mark.parametrize("rng", [5, np.random.default_rng(5)])
    def test_the_setting_makes_it_again(self, tmp_path, rng):
        collection = generate(replace(SMALL, pattern=OnePerItem(twice=0.5), concentration=math.inf), rng=rng)
        write_collection(collection, tmp_path)
        written = json.loads((tmp_path / "truth/setting.json").read_text())
        seed, setting = written["rng"], written["setting"]
        again = Synthetic(
            **{name: setting[name] for name in ("n_topics", "docs_per_topic", "n_unjudged", "missed", "topic_effect")},
            scale=Scale.parse(setting["scale"]),
            prevalence=tuple(setting["prevalence"]),
            concentration=float(setting["concentration"]),
            assessors=tuple(
                Assessor(each["name"], parse_assessors(each["kind"])[0].kind) for each in setting["assessors"]
            ),
            pattern=parse_pattern(setting["pattern"]),
        )
        seed = seed if isinstance(seed, int) else np.random.SeedSequence(**seed)
        assert same_labels(collection, generate(again, rng=seed))

    def test_a_later_collection_replaces_an_earlier_one(self, tmp_path):
        write_collection(generate(SMALL, rng=8), tmp_path)
        (tmp_path / "runs/mine.run").write_text("1 Q0 d0001 1 1.0 mine\n")
        write_collection(generate(replace(SMALL, systems=Systems(quality=(1.0, 2.0))), rng=8), tmp_path)
        assert {path.name for path in (tmp_path / "runs").iterdir()} == {"s01.run", "s02.run", "mine.run"}

    def test_a_folder_of_other_things_is_left_alone(self, tmp_path):
        (tmp_path / "thesis.tex").write_text("precious")
        with pytest.raises(FormatError, match="is not empty, and contains no simulated collection"):
            write_collection(generate(SMALL), tmp_path)
        with pytest.raises(FormatError, match="is a file, expected a folder"):
            write_collection(generate(SMALL), tmp_path / "thesis.tex")
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
