"""A copy is told from a judge who agrees."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from two_judges import judged, lists, table, write_files
from venire import read_judgments, report_on
from venire.cli.main import cli
from venire.data.assessors import FEWEST, Copy, copies, copy_notes


def labels(*columns, names="abcd"):
    """Labels by assessors, -1 for none; columns (item,)."""
    rows = [
        ("q", f"d{n}", name, str(label))
        for name, column in zip(names, columns, strict=False)
        for n, label in enumerate(column)
        if label >= 0
    ]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    return read_judgments(frame, scale="0<1<2<3")


def test_a_second_file_with_the_same_labels_is_a_copy():
    assert copies(judged(table(identical=True))) == (Copy("expert", "llm", 360),)
    assert copies(judged(table(identical=True).reverse())) == (Copy("expert", "llm", 360),)
    assert copies(judged(table())) == ()


def test_a_part_may_be_a_copy_and_one_difference_is_enough_to_be_none():
    rng = np.random.default_rng(1)
    whole = rng.integers(0, 4, 300)
    part = np.where(np.arange(300) < 150, whole, -1)
    odd = whole.copy()
    odd[7] = (odd[7] + 1) % 4
    assert copies(labels(whole, part, odd)) == (Copy("a", "b", 150),)
    assert copies(labels(whole, part, odd, names="bac"), ["b", "c"]) == ()


@pytest.mark.parametrize(("n", "share", "found"), [(FEWEST, 0.5, 0), (80, 0.5, 0), (200, 0.5, 1), (200, 0.02, 0)])
def test_few_labels_or_labels_that_are_nearly_all_one_prove_nothing(n, share, found):
    label = (np.arange(n) < share * n).astype(int)
    assert len(copies(labels(label, label))) == found
    assert copies(labels(np.zeros(500, dtype=int), np.zeros(500, dtype=int))) == ()


def test_independent_judges_who_agree_very_well_are_hardly_ever_taken_for_copies():
    rng, hits = np.random.default_rng(4), 0
    for _ in range(200):
        truth = rng.choice(4, p=[0.6, 0.2, 0.1, 0.1], size=200)
        other = np.where(rng.random(200) < 0.9, truth, rng.choice(4, p=[0.6, 0.2, 0.1, 0.1], size=200))
        hits += len(copies(labels(truth, other)))
    assert hits == 0


def test_notes_name_a_few():
    column = np.random.default_rng(2).integers(0, 4, 200)
    found = copies(labels(column, column, column, column))
    assert len(found) == 6
    assert len(copy_notes(found)) == 5
    assert len(copy_notes(found, "d")) == 3
    assert copy_notes(found, "b")[0].fields == {"first": "a", "second": "b", "n_items": 200}


def test_a_copy_is_announced_wherever_the_other_judge_is_discussed(tmp_path):
    paths = write_files(tmp_path, table(identical=True))
    said = "llm is a copy of expert"
    for arguments in (["agreement", paths[0]], ["agreement", paths[0], "--by", "assessor"]):
        assert said in CliRunner().invoke(cli, arguments).stderr
        warnings = json.loads(CliRunner().invoke(cli, [*arguments, "--format", "json", "-q"]).stdout)["warnings"]
        assert any(said in each for each in warnings)
    asked = ["compare", *paths, "--assessor", "llm", "--draws", "20"]
    for more in ([], ["--agreement", "0.9,0.8"]):  # the scores by both are shown in both cases
        assert CliRunner().invoke(cli, [*asked, *more]).stderr.count(said) == 1
    made = report_on(judged(table(identical=True)), lists(), n_draws=20)
    for name in ("verdict", "judgments", "another_judge"):
        assert said in json.dumps(made.content()[name], ensure_ascii=False), name
    assert said in made.chapters[0].finding
