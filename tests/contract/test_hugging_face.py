"""Datasets of Hugging Face, with the package: in memory, saved to disk, and in the layout of a repository."""

from __future__ import annotations

import polars as pl
import pytest

import source_files as files
from venire import read_judgments, read_runs
from venire.errors import FormatError
from venire.io import read_texts

pytestmark = pytest.mark.slow
datasets = pytest.importorskip("datasets")
QRELS = pl.read_csv(files.BEIR_QRELS, separator="\t")
LABELS = [("q1", "d1", "2"), ("q1", "d2", "0"), ("q2", "d3", "1")]


def labels(source) -> list[tuple[str, str, str]]:
    return read_judgments(source).to_polars().select("topic", "doc", "label").rows()


@pytest.fixture(autouse=True)
def quiet():
    datasets.disable_progress_bars()


def test_a_dataset_in_memory_is_a_frame():
    qrels = datasets.Dataset.from_polars(QRELS)
    assert labels(qrels) == LABELS
    run = datasets.Dataset.from_polars(QRELS.rename({"query-id": "qid", "corpus-id": "docid"}))
    assert read_runs(run).sources[0].score.tolist() == [2.0, 0.0, 1.0]
    with pytest.raises(FormatError, match="several splits: train, test"):
        read_judgments(datasets.DatasetDict(train=qrels, test=qrels))


def test_a_dataset_on_disk_is_a_table(tmp_path):
    datasets.Dataset.from_polars(QRELS).save_to_disk(tmp_path / "qrels")
    assert labels(tmp_path / "qrels") == LABELS


def test_a_folder_of_several_splits_is_refused_by_their_names(tmp_path):
    qrels = datasets.Dataset.from_polars(QRELS)
    datasets.DatasetDict(train=qrels, test=qrels).save_to_disk(tmp_path / "both")
    with pytest.raises(FormatError, match=r"both: has several splits: test, train\n.*the folder .*both.test"):
        read_judgments(tmp_path / "both")
    assert labels(tmp_path / "both" / "test") == LABELS
    datasets.DatasetDict(test=qrels).save_to_disk(tmp_path / "one")
    assert labels(tmp_path / "one") == LABELS


def test_classes_have_their_names_and_not_their_numbers():
    """Their numbers follow the order in which they were listed, which need not be that of relevance."""
    table = {"qid": ["q1", "q1"], "docid": ["d1", "d2"], "label": [0, 1]}
    made = datasets.Dataset.from_dict(table).cast_column("label", datasets.ClassLabel(names=["yes", "no"]))
    found = read_judgments(made, scale="no<yes")
    assert found.column("label").texts() == ["yes", "no"]
    with pytest.raises(FormatError, match=r"label 'no' is not a number"):
        read_judgments(made)


def test_the_layout_of_a_repository(tmp_path):
    parts = {"corpus": pl.DataFrame(files.CORPUS), "queries": pl.DataFrame(files.QUERIES), "qrels": QRELS}
    for name, frame in parts.items():
        (tmp_path / name).mkdir()
        datasets.Dataset.from_polars(frame).to_parquet(tmp_path / name / "test-00000-of-00001.parquet")
    assert labels(tmp_path) == LABELS
    texts = read_texts(topics=tmp_path, docs=tmp_path)
    assert texts.of_topics(["q1"]) == {"q1": "boil eggs"}
    assert texts.of_docs(["d3"]) == {"d3": "Oil it."}


def test_our_judgments_are_a_dataset():
    """The other direction: a frame of ours becomes a dataset, and is read back."""
    made = datasets.Dataset.from_polars(read_judgments(QRELS).to_polars())
    assert labels(made) == LABELS
