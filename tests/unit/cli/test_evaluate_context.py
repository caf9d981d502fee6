"""venire evaluate with labels in condition."""

from __future__ import annotations

import pytest

from context_pairs import drawn_in_context, redundancy
from json_results import loaded
from venire import evaluate, read_judgments
from venire.cli import inputs
from venire.context import cross_fitted
from venire.data import Context, context

ALONE = "1\ta\t3\t\n1\tb\t1\t\n1\tc\t2\t\n1\td\t0\t\n1\te\t1\t\n"
AFTER = "1\tb\t3\ta\n1\tc\t0\tb\n1\te\t3\ta\n"
RUN = "".join(f"1 Q0 {doc} {rank} {-rank} s\n" for rank, doc in enumerate("abcde", 1))


@pytest.fixture
def labels(write):
    return write("labels.tsv", f"topic\tdoc\tlabel\tgiven\n{ALONE}{AFTER}")


@pytest.fixture
def five(write):
    return write("five.run", RUN)


def value(answer):
    assert answer.code == 0, answer.err
    return loaded(answer.out)["scores"][0]["value"]


@pytest.mark.parametrize(
    ("measure", "flags", "expected"),
    [
        ("CCG(alpha=0)@5", [], 13.815748),
        ("CCGsingle(alpha=0)@5", [], 20.910572),
        ("CCG(alpha=0.5)@5", [], 14.446678),
        ("CCG(alpha=0.5)@5", ["--backoff", "first"], 14.446678 + 1 / 2.584962500721156),
    ],
)
def test_ccg_of_a_run_whose_labels_are_3_1_2_0_1(venire, labels, five, measure, flags, expected):
    answer = venire("evaluate", labels, five, "-m", measure, "--gains", "linear", "--format", "json", *flags)
    assert value(answer) == pytest.approx(expected, abs=1e-6)


def test_json_says_where_labels_in_condition_come_from_and_so_do_the_notes(venire, labels, five):
    measures = ("-m", "nCCG(alpha=0.5)@5", "-m", "nDCG@5")
    answer = venire("evaluate", labels, five, *measures, "--format", "json", "--backoff", "first")
    document = loaded(answer.out)
    assert list(document) == ["scores", "context"]
    assert document["context"] == {
        "backoff": "first",
        "expected": False,
        "first_rank": 1,
        "collected": 2,
        "predicted": 0,
        "backoff_first": 1,
        "backoff_isolation": 1,
        "after_unjudged": 0,
        "best_orders": [{"measure": "nCCG(alpha=0.5)@5", "exact": 1, "searched": 0, "furthest": 0.0}],
    }
    assert "2 collected, 0 predicted, 1 as after the first document, 1 as in isolation" in answer.err
    assert "nCCG(alpha=0.5)@5: best orders of judged documents: 1 exact" in answer.err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["-m", "CCG(alpha=2)@5"], "alpha is 2.0, expected a weight from 0 to 1"),
        (["-m", "CCG(alpha=0.5)"], "CCG needs a cut-off"),
        (["--expected"], "use it with --predict"),
        (["--backoff", "last"], "'last' is not one of"),
        (
            ["-m", "CCG(alpha=0.5)@5", "--users", "5", "--gains", "0=0,1=0.2,2=0.5,3=1"],
            "only labels in isolation are used",
        ),
    ],
)
def test_bad_options(venire, labels, five, flags, words):
    answer = venire("evaluate", labels, five, *flags)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_alpha_without_labels_in_condition(venire, qrels, run):
    answer = venire("evaluate", qrels, run, "-m", "CCG(alpha=0.5)@5")
    assert answer.code == 2
    assert "they have no column given" in answer.err
    assert "give a model that predicts conditional labels" in answer.err


def test_a_document_given_itself_names_its_line(venire, write, five):
    table = write("bad.tsv", f"topic\tdoc\tlabel\tgiven\n{ALONE}1\tb\t1\tb\n")
    answer = venire("evaluate", table, five, "-m", "CCG(alpha=0.5)@5")
    assert answer.err.startswith(f"error: {table}:7: document 'b' is given itself for topic '1'")


def test_the_words_are_those_of_the_library():
    assert inputs.BACKOFFS == context.BACKOFFS


class TestPredicted:
    """Labels in condition that are known for one pair of documents in two, the others predicted."""

    @pytest.fixture
    def some(self, write):
        table = drawn_in_context(redundancy(), topics=6, rng=2).to_polars()
        kept = [not given or doc < given for doc, given in table.select("doc", "given").iter_rows()]
        return write("some.tsv", table.filter(kept).write_csv(separator="\t"))

    @pytest.fixture
    def ranked(self, write):
        return write("ranked.run", "".join(f"t{t} Q0 d{7 - d} 0 {-d} s\n" for t in range(6) for d in range(8)))

    @pytest.fixture
    def features(self, write):
        rows = "".join(f"t{t},d{d},{(t * d) % 5}\n" for t in range(6) for d in range(8))
        return write("features.csv", f"topic,doc,length\n{rows}")

    MEASURE = ("-m", "CCG(alpha=1)@5", "--format", "json")

    @pytest.mark.parametrize("expected", [False, True])
    def test_each_topic_by_a_model_fitted_on_the_others(self, venire, some, ranked, expected):
        answer = venire("evaluate", some, ranked, *self.MEASURE, "--predict", "fit", *["--expected"] * expected)
        labels = read_judgments(some)
        rules = Context(predictor=cross_fitted(labels, folds=6), expected=expected)
        assert value(answer) == evaluate(labels, ranked, "CCG(alpha=1)@5", context=rules).mean().values[0, 0]
        assert "0 collected, 24 predicted, 0 as in isolation" in answer.err

    def test_a_saved_model_with_features(self, venire, some, ranked, features, tmp_path):
        model = tmp_path / "model.json"
        quick = ("--folds", "2", "--splits", "1", "--draws", "10", "--features", features)
        assert venire("context", "predict", some, *quick, "--save", model).code == 0
        saved = ("evaluate", some, ranked, *self.MEASURE, "--predict", model)
        refused = venire(*saved)
        assert (refused.code, refused.out) == (2, "")
        assert "--features FILE" in refused.err
        answer = venire(*saved, "--features", features)
        assert f"{model} was fitted on the same labels" in answer.err
        apart = venire("evaluate", some, ranked, *self.MEASURE, "--predict", "fit", "--features", features)
        assert value(answer) > 0 < value(apart)

    @pytest.mark.parametrize(
        ("flags", "words"),
        [
            (["--expected"], "--expected is for predicted labels"),
            (["--features", "f.csv"], "--features is for predicted labels"),
        ],
    )
    def test_options_that_do_not_go_together(self, venire, some, ranked, flags, words, write):
        write("m.json", "{}"), write("f.csv", "")
        answer = venire("evaluate", some, ranked, *flags)
        assert (answer.code, answer.out) == (2, "")
        assert words in answer.err
