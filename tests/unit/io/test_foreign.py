from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pytest

from venire import FormatError, evaluate, read_judgments, read_runs
from venire.io.exchange import run_scores


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: Any
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    query_id: str
    doc_id: str
    score: float


class Ranx:
    """An object as ranx has them: Qrels hold ``qrels``, a Run holds ``run``."""

    def __init__(self, holds: str, content: dict[str, dict[str, Any]], name: str | None = None) -> None:
        setattr(self, holds, content)
        self.content, self.name = content, name

    def to_dict(self) -> dict[str, dict[str, Any]]:
        return self.content

    def __len__(self) -> int:
        return len(self.content)

    def __getitem__(self, topic: str) -> dict[str, Any]:
        return self.content[topic]


GRADES = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1}}
ROWS = [Qrel(topic, doc, grade) for topic, docs in GRADES.items() for doc, grade in docs.items()]
LISTS = {"q1": {"b": 2.5, "a": 1.0}, "q2": {"a": 1.0}}
SCORED = [ScoredDoc(topic, doc, score) for topic, docs in LISTS.items() for doc, score in docs.items()]


def table(judgments: Any, **options: Any) -> list[tuple[str, ...]]:
    return sorted(read_judgments(judgments, **options).to_polars().rows())


@pytest.mark.parametrize(
    "source",
    [
        ROWS,
        tuple(ROWS),
        iter(ROWS),
        (row for row in ROWS),
        pd.DataFrame(ROWS),
        pl.DataFrame(ROWS),
        Ranx("qrels", GRADES),
    ],
    ids=["list", "tuple", "iterator", "generator", "pandas", "polars", "ranx"],
)
def test_judgments_of_other_tools_are_read_as_a_dictionary_is(source):
    assert table(source) == table(GRADES)


@pytest.mark.parametrize(
    "source",
    [SCORED, iter(SCORED), Ranx("run", LISTS), [Ranx("run", LISTS, "run")], {"run": SCORED}, {"run": iter(SCORED)}],
    ids=["list", "iterator", "ranx", "list of ranx", "named rows", "named iterator"],
)
def test_runs_of_other_tools_are_read_as_a_dictionary_is(source):
    assert run_scores(source) == {"run": LISTS}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_the_iteration_is_the_second_column(frame):
    twice = [row._replace(iteration=who) for who in ("ann", "bob") for row in ROWS]
    for source in (twice, frame(twice)):
        judgments = read_judgments(source, second_column="assessor")
        assert judgments.assessors == ("ann", "bob")
        assert len(judgments) == 2 * len(ROWS)
    assert read_judgments(twice, second_column="intent").column("intent").names == ["ann", "bob"]


def test_two_grades_for_one_document_are_an_error_that_names_the_row():
    with pytest.raises(FormatError, match="Qrel rows:4"):
        read_judgments([*ROWS, ROWS[0]._replace(relevance=1)])


def test_assessors_by_name():
    named = read_judgments({"ann": ROWS, "bob": iter(ROWS), "cat": GRADES, "dan": pd.DataFrame(ROWS)})
    assert named.assessors == ("ann", "bob", "cat", "dan")
    assert table(named.where(assessor="cat")) == [(*row[:2], "cat", row[3]) for row in table(GRADES)]


def test_assessors_by_name_with_dictionaries_alone():
    assert read_judgments({"ann": GRADES, "bob": GRADES}).assessors == ("ann", "bob")


def test_a_source_that_names_its_assessors_keeps_their_names():
    frame = pl.DataFrame({"topic": ["q1", "q1"], "doc": ["a", "a"], "assessor": ["x", "y"], "label": [0, 1]})
    assert read_judgments({"crowd": frame, "ann": GRADES}).assessors == ("ann", "x", "y")


def test_a_named_collection_of_ranx_names_its_assessor():
    both = [Ranx("qrels", GRADES, "nist"), Ranx("qrels", GRADES, "crowd")]
    assert read_judgments(both).assessors == ("crowd", "nist")


def test_systems_by_name():
    runs = {
        "a": Ranx("run", LISTS, "other"),
        "b": LISTS,
        "c": SCORED,
        "d": pd.DataFrame(SCORED),
        "e": pl.DataFrame(SCORED),
    }
    assert run_scores(runs) == dict.fromkeys("abcde", LISTS)


def test_a_frame_with_a_column_called_run_is_a_frame():
    frame = pd.DataFrame(SCORED).assign(run="x")
    assert run_scores(frame) == {"x": LISTS}


def test_fractions_are_labels_of_an_interval_scale():
    judgments = read_judgments([Qrel("q", "a", 0.25), Qrel("q", "b", 0.5), Qrel("q", "c", 1.0)])
    assert judgments.scale.labels == ("0.25", "0.5", "1")


def test_evaluate_takes_both():
    expected = evaluate(GRADES, LISTS, "nDCG@10").values.tolist()
    assert evaluate(iter(ROWS), iter(SCORED), "nDCG@10").values.tolist() == expected


@pytest.mark.parametrize(
    ("read", "rows", "words"),
    [
        (read_judgments, [ROWS[0], ("q1", "a", 1)], "not every row is a Qrel"),
        (read_judgments, [Qrel("", "a", 1)], "found the id ''"),
        (read_runs, [SCORED[0], ("q1", "a")], "not every row is a ScoredDoc"),
        (read_runs, [ScoredDoc("q", "d", "high")], "not every row is a ScoredDoc"),  # type: ignore[arg-type]
    ],
)
def test_rows_that_are_none(read, rows, words):
    with pytest.raises(FormatError, match=words):
        read(rows)


@pytest.mark.parametrize("read", [read_judgments, read_runs])
@pytest.mark.parametrize(
    ("source", "words"),
    [
        (7, "found int, expected the name of a file, a data frame or a dictionary"),
        (None, "found NoneType"),
        (b"qrels.txt", "found bytes"),
        ([7], "found int"),
        ({"q1": 3}, "found int under 'q1', expected a dictionary of documents"),
        ({"q1": ["d1"]}, "found list under 'q1'"),
        ([{"topic": "q1", "doc": "d1", "label": 1}], r"found str under 'topic'.*\n.*polars.DataFrame\(records\)"),
    ],
)
def test_what_is_no_source_is_named(read, source, words):
    with pytest.raises(FormatError, match=words):
        read(source)


def test_a_topic_without_documents_in_a_dictionary_of_systems_is_named():
    with pytest.raises(FormatError, match="found float under 'q2'"):
        read_runs({"bm25": {"q1": {"d1": 1.0}, "q2": 2.0}})


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_row_without_relevance_is_named(missing):
    with pytest.raises(FormatError, match="Qrel rows:2: has no relevance"):
        read_judgments([Qrel("q", "a", 1, "0"), Qrel("q", "b", missing, "0")])


def test_rows_of_several_assessors_lead_to_the_second_column():
    rows = [Qrel("q", "a", 1, "ann"), Qrel("q", "a", 0, "bob")]
    with pytest.raises(FormatError, match="had another label before") as found:
        read_judgments(rows)
    assert "second column" in str(found.value)
    assert len(read_judgments(rows, second_column="assessor").assessors) == 2
    assert read_judgments(rows, duplicate_labels="first").label.tolist() == [1]


def test_nothing_is_no_judgments():
    for nothing in ([], iter([])):
        with pytest.raises(FormatError, match="holds no judgments"):
            read_judgments(nothing)


def test_runs_and_qrels_are_not_mixed_up():
    with pytest.raises(FormatError, match="which is a run"):
        read_judgments([ScoredDoc("q", "a", 0.5)])
    with pytest.raises(FormatError, match="which is qrels"):
        read_runs([Qrel("q", "a", 1, "0")])


class Both(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    score: float


def test_rows_with_relevance_and_score_are_either():
    rows = [Both(topic, doc, GRADES[topic][doc], score) for topic, docs in LISTS.items() for doc, score in docs.items()]
    assert table(rows) == table(GRADES)
    assert run_scores(rows) == {"run": LISTS}


RANKED = pl.DataFrame({"qid": ["q1"], "docno": ["d1"], "score": [1.0]})
LABELLED = pl.DataFrame({"qid": ["q1"], "docno": ["d1"], "label": [1]})


NOTHING = {"polars": RANKED.clear(), "pandas": RANKED.clear().to_pandas(), "list": [], "dict": {}, "topic": {"q1": {}}}


@pytest.mark.parametrize("nothing", NOTHING.values(), ids=NOTHING)
def test_a_system_that_returned_nothing_is_named(nothing):
    with pytest.raises(FormatError, match=r"^old: holds no run lines"):
        evaluate({"q1": {"d1": 1}}, {"old": nothing, "new": RANKED}, "RR")


def test_errors_in_frames_of_several_name_the_system_or_the_assessor():
    with pytest.raises(FormatError, match=r"^old:1: score nan is not a finite number"):
        run_scores(read_runs({"old": RANKED.with_columns(score=float("nan")), "new": RANKED}))
    for wrong, message in (
        (LABELLED.clear(), "^ann: holds no judgments"),
        (LABELLED.with_columns(label=None), "^ann:1: "),
    ):
        with pytest.raises(FormatError, match=message):
            read_judgments({"ann": wrong, "bob": LABELLED})


def test_several_systems_under_one_name_are_refused():
    lists = {"q1": {"d1": 1.0}}
    with pytest.raises(FormatError, match=r"^old: holds several systems: a, b"):
        read_runs({"old": {"a": lists, "b": lists}, "new": RANKED})
