"""write_judgments: Judgments into any of the formats they are read from."""

from __future__ import annotations

from pathlib import Path

from venire.data.judgments import Judgments
from venire.io.qrels import write_qrels
from venire.io.table_writing import write_table

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")


def write_judgments(
    judgments: Judgments,
    path: str | Path,
    *,
    wide: bool = False,
    wide_aspects: bool = False,
    second_column: str = "ignore",
) -> None:
    """Write judgments; the format follows from the name: .csv, .tsv, .jsonl, .parquet, anything else is TREC qrels.

    The parameters are those of ``read_judgments``; reading the file back with them gives the same judgments.
    """
    target = Path(path)
    name = target.name.removesuffix(".gz").removesuffix(".zst")
    if name.endswith(TABLES):
        write_table(judgments, target, wide=wide, wide_aspects=wide_aspects)
    else:
        write_qrels(judgments, target, second_column=second_column)
