"""venire evaluate on Spark: what is refused in words, and one table from start to end."""

from __future__ import annotations

import polars as pl
import pytest
from click.testing import CliRunner

from spark_cluster import require_spark
from venire.cli.main import cli
from venire.errors import MeasureError, SettingError
from venire.spark.tables import start_session


@pytest.fixture
def tables(tmp_path):
    labels = [(f"q{t}", f"d{d}", ["no", "maybe", "yes"][(t + d) % 3]) for t in range(4) for d in range(9)]
    lists = [
        (f"q{t}", s, f"d{(d * k) % 11}", float(-d)) for t in range(4) for s, k in (("x", 3), ("y", 5)) for d in range(9)
    ]
    pl.DataFrame(labels, schema=["qid", "docno", "rating"], orient="row").write_parquet(tmp_path / "judgments.parquet")
    pl.DataFrame(lists, schema=["qid", "run", "docno", "sim"], orient="row").write_parquet(tmp_path / "runs.parquet")
    return [str(tmp_path / "judgments.parquet"), str(tmp_path / "runs.parquet")]


def run(*words):
    return CliRunner().invoke(cli, ["evaluate", *words])


@pytest.mark.parametrize("measure", ["alpha_nDCG@10", "statAP"])
def test_measures_that_spark_does_not_have_are_refused_before_anything_is_read(measure):
    evaluate = pytest.importorskip("venire.spark.evaluate", reason="no pyspark: install venire[spark]").evaluate
    with pytest.raises(MeasureError, match=f"{measure} is not computed on Spark"):
        evaluate(None, None, ["nDCG@10", measure])


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--master", "local"], "--master is for the engine spark"),
        (["--engine", "spark", "--users", "9"], "--users cannot be used with --engine spark"),
        (["--engine", "spark", "--gains", "prm:yes"], "models are fitted on this machine"),
    ],
)
def test_settings_that_spark_does_not_have_are_refused(tables, words, reason):
    found = run(*tables, *words)
    assert found.exit_code == 2
    assert reason in found.stderr


def test_without_java_there_is_a_way_out(monkeypatch):
    pytest.importorskip("pyspark", reason="needs Spark")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SettingError, match="needs Java") as caught:
        start_session()
    assert "openjdk" in caught.value.hint


def test_without_spark_there_is_a_way_out(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)
    with pytest.raises(SettingError, match="Spark is not installed") as caught:
        start_session()
    assert "venire[spark]" in caught.value.hint


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_table_is_the_same_on_both_engines(tables, monkeypatch):
    require_spark()
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    options = ["--scale", "no<maybe<yes", "-m", "nDCG@5", "-m", "AP", "--per-topic", "--quiet"]
    local, spark = run(*tables, *options), run(*tables, *options, "--engine", "spark", "--master", "local[2]")
    assert (spark.exit_code, local.exit_code) == (0, 0), spark.stderr
    assert spark.stdout == local.stdout
