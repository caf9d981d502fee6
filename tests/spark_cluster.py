"""A cluster of Spark for tests: two real executors on this machine, in a folder of its own, listening on loopback."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "600m",
    "spark.executor.memory": "700m",
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def require_spark() -> None:
    """Skip where Spark or Java is missing."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip('needs Spark: pip install "venire[spark]"')
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("needs Java 17 or newer (Debian: openjdk-17-jre-headless)")


@contextmanager
def cluster(folder: Path, master: str = "local-cluster[2,1,1024]", **more: str):
    """Start Spark, whose files and logs are in a folder; its home is a copy by links, since it writes there, too."""
    require_spark()
    home = folder / "home"
    home.mkdir()
    for each in Path(importlib.util.find_spec("pyspark").origin).parent.iterdir():
        (home / each.name).symlink_to(each)
    own = {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    own |= {"SPARK_LOCAL_HOSTNAME": "localhost", "OPENBLAS_NUM_THREADS": "1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in own.items():
            patch.setenv(name, value)
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(master).appName("tests")
        places = {"spark.local.dir": str(folder / "local"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
        for name, value in (SETTINGS | places | more).items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        try:
            yield spark
        finally:
            spark.stop()


def executors(spark) -> list[int]:
    """Return the process ids of the executors that this session started, from the table of processes."""
    driver = spark._jvm.java.lang.ProcessHandle.current().pid()
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            parent = next(line for line in status.read_text().splitlines() if line.startswith("PPid:"))
            command = (status.parent / "cmdline").read_bytes()
        except (OSError, StopIteration):
            continue
        if int(parent.split()[1]) == driver and b"CoarseGrainedExecutorBackend" in command:
            found.append(int(status.parent.name))
    return found
