"""The data sets that some tables need; the environment variable VENIRE_DATA names the folder that holds them.

    rf10_crowd   crowd labels of the TREC 2010 Relevance Feedback track: topicID, workerID, docID, gold, label
    fedweb13     qrels of TREC FedWeb 2013, and its file of pages that are copies of each other

None of them comes with Venire.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from venire.data.judgments import Judgments
    from venire.io.duplicates import Duplicates

VARIABLE = "VENIRE_DATA"


def absence(name: str) -> str | None:
    """Why a data set cannot be read, or None if its folder is there."""
    root = os.environ.get(VARIABLE)
    if not root:
        return f"needs the data set {name}; set {VARIABLE} to the folder that holds it"
    return None if (Path(root) / name).is_dir() else f"needs the data set {name}; there is no such folder in {root}"


def folder(name: str) -> Path:
    """Return the folder of a data set."""
    return Path(os.environ[VARIABLE]) / name


def rf10_frame() -> pl.DataFrame:
    """Labels of the crowd with the gold label of each item beside them, as published."""
    return _frame(folder("rf10_crowd") / "trec-rf10-data.tsv.gz")


def rf10() -> Judgments:
    """Labels of the crowd and gold labels alike, all labels of a worker kept, none for broken links."""
    return _rf10(folder("rf10_crowd") / "trec-rf10-data.tsv.gz")


def fedweb13() -> tuple[Judgments, Duplicates]:
    """Single judgments of pages, and which pages are copies of each other."""
    place = folder("fedweb13")
    return _fedweb13(place / "FW13-QRELS-RM.txt.gz", place / "duplicates.txt.gz")


@lru_cache(maxsize=1)
def _frame(path: Path) -> pl.DataFrame:
    import polars as pl

    return pl.read_csv(path, separator="\t")


@lru_cache(maxsize=1)
def _rf10(path: Path) -> Judgments:
    import polars as pl

    from venire import read_judgments

    frame = _frame(path)
    crowd = frame.select(topic="topicID", doc="docID", assessor="workerID", label="label")
    gold = frame.select(topic="topicID", doc="docID", assessor=pl.lit("gold"), label="gold").unique(maintain_order=True)
    return read_judgments(pl.concat([crowd, gold]).filter(pl.col("label") >= 0), repeats="keep")


@lru_cache(maxsize=1)
def _fedweb13(qrels: Path, copies: Path) -> tuple[Judgments, Duplicates]:
    from venire import read_duplicates, read_judgments

    return read_judgments(qrels, scale="0<1<3<7"), read_duplicates(copies)
