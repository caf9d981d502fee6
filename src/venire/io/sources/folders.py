"""Folders of test collections as BEIR and MTEB lay them out: a corpus, queries, and qrels for each split.

BEIR has ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/SPLIT.tsv``, with the header ``query-id corpus-id score``.
Datasets of Hugging Face have a folder for each part, with Parquet or JSONL files of a split:
``corpus/test-00000-of-00001.parquet``, ``queries/...``, and the qrels in ``qrels``, ``default`` or ``data``.  A table
that ``datasets`` (2 to 5) saves to disk is a folder with ``state.json`` and ``data-00000-of-00001.arrow``.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from venire.errors import FormatError
from venire.io.files import stem
from venire.results import first_few

PARTS = {"qrels": ("qrels", "default", "data"), "queries": ("queries",), "corpus": ("corpus",)}
"""Names of the files or folders of each part."""
ENDINGS = (".jsonl", ".ndjson", ".tsv", ".csv", ".parquet", ".arrow")
COMPRESSED = ("", ".gz", ".zst")
MOST = 10_000
SPLITS = "dataset_dict.json"
"""What a folder of several splits has that ``datasets`` saves to disk."""


def is_collection(folder: Path) -> bool:
    """Return whether a folder has a corpus or queries, and qrels beside."""
    return bool(_files(folder, "qrels")) and bool(_files(folder, "corpus") or _files(folder, "queries"))


def data_files(folder: Path) -> list[Path]:
    """Return the files that a folder stands for: its qrels, or a table that ``Dataset.save_to_disk`` wrote, or none.

    Several splits that ``DatasetDict.save_to_disk`` wrote are an error that names these.
    """
    if (folder / SPLITS).is_file():
        splits = sorted(path.parent for path in folder.glob("*/state.json"))
        if len(splits) == 1:
            return data_files(splits[0])
        hint = f"name the folder of one of them{f', such as {splits[0]}' if splits else ''}"
        named = first_few([path.name for path in splits], 6)
        raise FormatError(folder, None, f"has several splits: {named}" if splits else "has no splits", hint=hint)
    if (folder / "state.json").is_file() and (found := sorted(folder.glob("data-*.arrow"))):
        return found
    return collection_files(folder, "qrels") if is_collection(folder) else []


def collection_files(folder: Path, part: str) -> list[Path]:
    """Return the files of the qrels, queries or corpus; qrels of several splits are an error that names these."""
    files = _files(folder, part)
    if not files:
        expected = " or ".join(f"{name}/" for name in PARTS[part])
        hint = f"expected {part}.jsonl, or files in {expected}"
        raise FormatError(folder, None, f"the folder has no {part}", hint=hint)
    splits = list(dict.fromkeys(stem(path) for path in files))
    if part == "qrels" and len(splits) > 1:
        hint = f"name the file of one of them, such as {files[0]}"
        raise FormatError(folder, None, f"has qrels of several splits: {first_few(splits, 6)}", hint=hint)
    return files


def all_files(folder: Path) -> list[Path]:
    """Return the files of all parts and splits."""
    return [path for part in PARTS for path in _files(folder, part)]


def _files(folder: Path, part: str) -> list[Path]:
    """Return the file of a part, or the files in its folder."""
    for name in PARTS[part]:
        single = [folder / f"{name}{ending}{packed}" for ending in ENDINGS for packed in COMPRESSED]
        if found := [path for path in single if path.is_file()][:1]:
            return found
        inside = folder / name
        if inside.is_dir():
            listed = islice(inside.iterdir(), MOST)
            found = sorted(path for path in listed if path.is_file() and _is_data(path.name))
            if found:
                return found
    return []


def _is_data(name: str) -> bool:
    return any(name.endswith(f"{ending}{packed}") for ending in ENDINGS for packed in COMPRESSED)
