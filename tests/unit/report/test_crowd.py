"""Many assessors: labels of a crowd are pooled, workers are a distribution, judges are ranked by nearness."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from crowds import crowd_runs, crowd_table
from venire import compare, evaluate, read_judgments, read_runs, report_on
from venire.agreement.flags import FlaggedProfiles
from venire.agreement.profiles import profiles
from venire.cli.main import cli
from venire.errors import SettingError, UnknownName
from venire.plots.agreement import plot_workers
from venire.report.assessors import worker_record
from venire.report.evidence import Evidence
from venire.report.page import page
from venire.report.question import POOLS, Question
from venire.report.scoring_judge import is_crowd

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")


def asked(frame: pl.DataFrame, **how) -> Evidence:
    return Evidence(Question(read_judgments(frame), read_runs(crowd_runs()), n_draws=50, **how))


def content(frame: pl.DataFrame, runs=None, **how):
    return report_on(
        read_judgments(frame), read_runs(crowd_runs()) if runs is None else runs, n_draws=50, **how
    ).content()


def words(chapter) -> str:
    return " ".join(part["text"] for part in chapter["parts"] if "text" in part)


@pytest.fixture(scope="module")
def frame():
    return crowd_table()


def test_many_people_with_a_part_each_are_a_crowd(frame):
    labels = read_judgments(frame)
    assert is_crowd(labels)
    assert not is_crowd(read_judgments(crowd_table(10, 0.25)))
    assert not is_crowd(read_judgments(crowd_table(30, 0.8)))
    once = frame.unique(["topic", "doc"], keep="first", maintain_order=True)
    assert not is_crowd(read_judgments(once))
    assert not is_crowd(labels.declare(machines=labels.assessors))


@pytest.mark.parametrize("pool", POOLS)
def test_the_pool_scores_the_runs(frame, pool):
    found = asked(frame, pool=pool)
    assert found.judge == f"{pool} of 30 assessors"
    own = found.own.to_polars()
    assert own.height == own.unique(["topic", "doc"]).height
    if pool == "majority":
        truth = frame.group_by("topic", "doc").agg(pl.col("label").mode().min()).sort("topic", "doc")
        assert own.sort("topic", "doc")["label"].cast(int).to_list() == truth["label"].to_list()
    alone = evaluate(found.own, read_runs(crowd_runs()), "nDCG@10")
    np.testing.assert_allclose(found.scores["linear"].values, alone.values)


def test_without_a_rule_a_crowd_is_pooled_by_majority_and_the_page_says_so(frame):
    made = content(frame)
    assert made["judgments"]["pool"]["rule"] == "majority"
    assert made["judgments"]["pool"]["n_assessors"] == 30
    assert sum(made["judgments"]["pool"]["labels"].values()) == made["judgments"]["pool"]["n_items"]
    assert "The labels of 30 assessors are pooled by majority" in words(made["judgments"])
    assert made["verdict"]["verdict"]["judge"] == "majority of 30 assessors"
    assert {row["judge"] for row in made["verdict"]["by_judge"]} == {"majority of 30 assessors"}
    assert "The other judge is another crowd" in words(made["verdict"])
    assert asked(frame, assessor="w01").judge == "w01"


def test_another_judge_of_a_crowd_is_that_of_compare(frame):
    found = asked(frame).comparison
    other = compare(read_judgments(frame), read_runs(crowd_runs()), "nDCG@10", pool="majority", n_draws=50, rng=0)
    ours, theirs = (each.transitions.matrix for each in (found.forecast, other.by_measure[0].forecast))
    np.testing.assert_allclose(ours, theirs)


def test_an_expert_who_labelled_a_part_is_not_pooled_and_stands_for_users():
    found = asked(crowd_table(expert=0.4), reference=("expert",))
    assert found.judge == "majority of 30 assessors"
    assert found.labels.assessors == ("majority of 30 assessors", "expert")
    assert found.people == ("expert",)
    assert "The labels of expert are not pooled" in words(
        content(crowd_table(expert=0.4), reference="expert")["judgments"]
    )


def test_a_reference_who_labelled_all_scores_the_runs_in_place_of_a_crowd():
    found = asked(crowd_table(expert=1.0), reference=("expert",))
    assert found.pool is None
    assert found.judge == "expert"


def test_rules_that_cannot_be(frame):
    with pytest.raises(UnknownName, match="way to pool"):
        report_on(read_judgments(frame), pool="mean")
    with pytest.raises(SettingError, match="'w01' is named"):
        report_on(read_judgments(frame), pool="median", assessor="w01")


def test_workers_are_a_distribution_and_those_who_differ_are_named(frame):
    made = content(frame)["judgments"]
    names = [part.get("name") for part in made["parts"]]
    assert "workers" in names
    assert "workers_kappa" in names
    assert "labels_by_assessor" not in names
    workers = made["workers"]
    assert workers["n"] == 30
    assert "w00" in [row["assessor"] for row in workers["outliers"]]
    given = frame.group_by("assessor").len()["len"].to_numpy()
    quantiles = workers["quantiles"][0]
    assert (quantiles["least"], quantiles["median"], quantiles["most"]) == (given.min(), np.median(given), given.max())
    assert sum(row["assessors"] for row in workers["histogram"]) == workers["n_compared"]


def test_workers_who_share_too_little_are_not_compared():
    found = FlaggedProfiles(profiles(read_judgments(crowd_table(30, 0.05))))
    record = worker_record(found)
    assert record["n_compared"] == 0
    assert record["histogram"] == []
    with pytest.raises(SettingError, match="no assessor shares 20 labels"):
        plot_workers(found.profiles)


def judges(noise=(0.6, 0.1, 0.3, 0.0)) -> pl.DataFrame:
    """An expert, and judges who give other labels than the expert in these shares."""
    rng, rows = np.random.default_rng(3), []
    for topic in range(8):
        for doc in range(24):
            label = int(rng.integers(0, 3))
            rows.append((f"q{topic}", f"d{doc:02}", "expert", label))
            for number, share in enumerate(noise):
                changed = int(rng.integers(0, 3)) if rng.random() < share else label
                rows.append((f"q{topic}", f"d{doc:02}", f"j{number}", changed))
    return pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")


def test_judges_are_ranked_by_kappa_with_the_reference_whatever_their_names():
    rows = content(judges(), reference="expert")["judgments"]["nearness"]
    assert [row["judge"] for row in rows] == ["j3", "j1", "j2", "j0"]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    wide = judges().pivot("assessor", index=["topic", "doc"], values="label")
    a, b = wide["expert"].to_numpy(), wide["j2"].to_numpy()
    chance = sum((a == label).mean() * (b == label).mean() for label in range(3))
    assert rows[2]["kappa"] == pytest.approx(((a == b).mean() - chance) / (1 - chance))
    renamed = judges().with_columns(pl.col("assessor").replace({"j3": "zz", "j0": "aa"}))
    again = content(renamed, reference="expert")["judgments"]["nearness"]
    assert [row["judge"] for row in again] == ["zz", "j1", "j2", "aa"]
    assert [row["kappa"] for row in again] == [row["kappa"] for row in rows]


def test_without_a_reference_nobody_is_nearest():
    assert content(judges())["judgments"]["nearness"] == []


def test_judges_are_shown_by_nearness_and_not_by_name():
    found = asked(judges(), reference=("expert",))
    assert found.by_judge.judges == ("expert", "j3", "j1", "j2", "j0")
    assert asked(judges()).by_judge.judges[0] == asked(judges()).judge


def test_a_report_on_judgments_alone(frame):
    made = report_on(read_judgments(frame), n_draws=50)
    assert [each.name for each in made.chapters] == ["summary", "judgments", "label_worth", "plan", "method"]
    assert made.title == "Judgments by 30 assessors"
    assert "Krippendorff's alpha" in made.sentence()
    told = words(made.content()["summary"])
    assert "no systems are compared" in told
    assert "w00 (one label" in told
    assert "double judgments" in told or "more results twice" in told
    assert "nDCG" not in json.dumps(made.content()["method"])
    assert page(made).startswith("<!doctype html>")


def test_judgments_alone_by_one_assessor():
    made = report_on({"q1": {"a": 1, "b": 0}, "q2": {"c": 1, "d": 0}})
    assert "one assessor" in made.sentence()
    assert "second assessor" in words(made.content()["summary"])


def test_the_order_of_rows_does_not_matter(frame):
    made = [
        page(report_on(read_judgments(each), n_draws=50))
        for each in (frame, frame.sample(fraction=1, shuffle=True, seed=1))
    ]
    assert made[0] == made[1]


def test_the_command(frame, tmp_path):
    frame.write_csv(tmp_path / "crowd.tsv", separator="\t")
    where = ["-o", str(tmp_path / "page.html"), "--json", str(tmp_path / "report.json")]
    words = ["report", str(tmp_path / "crowd.tsv"), "--pool", "dawid-skene", *where]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Summary\n")
    assert json.loads((tmp_path / "report.json").read_text())["judgments"]["pool"]["rule"] == "dawid-skene"
