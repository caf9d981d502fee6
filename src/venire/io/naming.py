"""Names that files give to what they hold."""

from __future__ import annotations

from pathlib import Path

ENDINGS = (
    *(".gz", ".zst"),
    *(".txt", ".tsv", ".csv", ".jsonl", ".ndjson", ".parquet"),
    *(".qrels", ".qrel", ".run", ".runs", ".trec", ".res"),
)


def stem(path: Path) -> str:
    """Name a file's assessor or system: the file's name without its endings of format and compression."""
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending) or name
    return name
