from __future__ import annotations

import csv
import io

import pytest

from context_pairs import drawn_in_context, no_context, redundancy
from json_results import loaded
from venire.context.model import read_conditional_labels

KEYS = [
    *("pairs", "topics", "folds", "interactions", "regularisation"),
    *("scores", "split", "reliability", "confusion", "warnings"),
]
QUICK = ("--folds", "3", "--splits", "2", "--draws", "50")


def table(judgments) -> str:
    return judgments.to_polars().write_csv(separator="\t")


@pytest.fixture
def labels(write):
    return write("labels.tsv", table(drawn_in_context(redundancy(), topics=12, rng=1)))


def refused(answer) -> str:
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: ")
    return answer.err


def test_the_contract(venire, labels):
    answer = venire("context", "predict", labels, *QUICK, "--format", "json")
    assert answer.code == 0, answer.err
    document = loaded(answer.out)
    assert list(document) == KEYS
    assert (document["pairs"], document["topics"], document["folds"]) == (96, 12, 3)
    assert [each["method"] for each in document["scores"]] == [
        "predictor",
        "interactions",
        "isolation",
        "same",
        "prior",
    ]
    ends = ("", "_low", "_high")
    scores = [f"{name}{end}" for name in ("accuracy", "log_loss") for end in ends]
    differences = [f"{name}_difference{end}" for name in ("accuracy", "log_loss") for end in ends]
    columns = ["method", *scores, "calibration_error", "calibrated", *differences]
    assert list(document["scores"][0]) == columns
    assert document["scores"][0]["accuracy_difference"] is None
    assert set(document["split"]) == {"accuracy", "sd", "same", "pairs", "splits"}
    assert sum(each["pairs"] for each in document["confusion"]) == 96
    assert sum(each["pairs"] for each in document["reliability"]) == 96
    assert document["reliability"][0] == {
        **{"low": 0.0, "high": 0.1, "pairs": 0},
        **dict.fromkeys(("confidence", "share", "share_low", "share_high")),
    }
    rows = list(csv.reader(io.StringIO(venire("context", "predict", labels, *QUICK, "--format", "csv").out)))
    assert rows[0] == columns
    assert float(rows[1][1]) == document["scores"][0]["accuracy"]


def test_the_table_and_its_words(venire, labels):
    answer = venire("context", "predict", labels, *QUICK)
    assert answer.out.splitlines()[0].split("  ")[0] == "method"
    assert "conditional labels are predicted correctly on held-out topics" in answer.err
    assert "on random tenths of the pairs" in answer.err
    assert "3 folds of topics; 95% intervals: bootstrap over topics, n=50" in answer.err
    assert venire("context", "predict", labels, *QUICK, "-q").err == ""


def test_a_model_is_saved_and_drawn(venire, labels, tmp_path):
    model, plot = tmp_path / "model.json", tmp_path / "plot.svg"
    answer = venire("context", "predict", labels, *QUICK, "--interactions", "--save", model, "--plot", plot)
    assert answer.code == 0, answer.err
    assert read_conditional_labels(model).n_pairs == 96
    assert read_conditional_labels(model).setting.interactions
    assert "Calibration" in plot.read_text(encoding="utf-8")


def test_features_from_a_file(venire, labels, write, tmp_path):
    features = write(
        "f.csv", "topic,doc,length\n" + "".join(f"t{t},d{d},{t + d}\n" for t in range(12) for d in range(8))
    )
    model = tmp_path / "model.json"
    assert venire("context", "predict", labels, *QUICK, "--features", features, "--save", model).code == 0
    assert read_conditional_labels(model).columns[-2:] == ("feature length", "feature given length")
    bad = write("bad.csv", "topic,doc,length\nt0,d0,long\n")
    assert "bad.csv:2: 'long' in column 'length' is not a finite number" in refused(
        venire("context", "predict", labels, "--features", bad)
    )


def test_the_same_seed_gives_the_same(venire, labels):
    args = ("context", "predict", labels, *QUICK, "--format", "json")
    assert venire(*args, "--rng", 4).out == venire(*args, "--rng", 4).out != venire(*args, "--rng", 5).out


@pytest.mark.parametrize(
    ("rows", "args", "words"),
    [
        ("1\ta\t2\t\n1\tb\t1\t\n", (), "there is no conditional label to learn from"),
        ("1\ta\t2\t\n1\tb\t1\t\n1\tb\t0\ta\n", (), "known for 1 topic, too few for 10 folds"),
        ("1\ta\t2\t\n1\tb\t1\ta\n", (), "none of 1 conditional label has labels in isolation of both documents"),
        ("1\ta\t2\t\n1\ta\t1\ta\n", (), "document 'a' is given itself"),
        ("1\ta\t2\t\n", ("--folds", "1"), "--folds"),
        ("1\ta\t2\t\n", ("--regularisation", "0"), "--regularisation"),
        ("1\ta\t2\t\n", ("--where", "aspect=x"), "there is no column 'aspect'"),
    ],
)
def test_what_is_refused(venire, write, rows, args, words):
    path = write("labels.tsv", "topic\tdoc\tlabel\tgiven\n" + rows)
    assert words in refused(venire("context", "predict", path, *args))


def test_too_few_topics_say_how_many_folds_there_could_be(venire, write):
    path = write("labels.tsv", table(drawn_in_context(no_context(), topics=4)))
    assert "use 4 folds" in refused(venire("context", "predict", path))


def test_the_group_lists_its_commands(venire):
    answer = venire("context", "--help")
    assert answer.code == 0
    assert "predict  Predict conditional labels" in answer.out
    assert "Usage: " in venire("context", "predict", "--help").out
    assert "No such command" in refused(venire("context", "nothing"))
