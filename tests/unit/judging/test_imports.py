"""Imports: labels that were given elsewhere become answers, once."""

from __future__ import annotations

import json

import pytest

from studies_on_disk import HEAD, LABELS, write_study
from venire.data.scale import Scale
from venire.errors import BadRowsWarning, FormatError, SettingError
from venire.judging.imports import Imported, import_labels, read_labels
from venire.judging.store import Store
from venire.judging.study_files import read_study

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 other 1\nq9 0 d1 1\n"
TASK = {"id": 1, "data": {"query": "q1", "doc_id": "d1"}}


def annotation(who, label, **more):
    result = [{"from_name": "relevance", "to_name": "text", "type": "choices", "value": {"choices": [label]}}]
    return {"completed_by": who, "result": result, "was_cancelled": False, "lead_time": 4.5, **more}


STUDIO = [
    {
        **TASK,
        "annotations": [
            annotation({"id": 7, "email": "ann@example.org"}, "2", updated_at="2024-03-09T22:16:08.728353Z"),
            annotation(8, "1", created_at="2024-03-09T22:16:08"),
            annotation(9, "0", was_cancelled=True),
        ],
    },
    {**TASK, "data": {"topic": "q2", "docno": "d4"}, "annotations": [annotation(8, "0")]},
]
MINIMAL = [
    {"id": 1, "topic": "q1", "doc": "d1", "relevance": "2", "annotator": 8, "lead_time": 3.0, "annotation_id": 1},
    {"id": 2, "topic": "q2", "doc": "d4", "relevance": {"choices": ["1"]}, "annotator": 8},
]
BOOK = {
    "name": "book",
    "query_doc_pairs": [
        {
            "query_text": "boil eggs",
            "doc_id": "d1",
            "judgements": [
                {"rating": 2.0, "unrateable": False, "user_email": "ann", "explanation": "times are there"},
                {"rating": None, "unrateable": True, "user_email": "bob"},
            ],
        },
        {"query_text": "chain oil", "doc_id": "d4", "judgements": [{"rating": 1, "user_email": "bob"}]},
    ],
}
CASE = {"case_name": "c", "queries": [{"query_text": "boil eggs", "ratings": {"d1": 2, "d2": 0}}]}
LISTED = {"queries": [{"query_text": "boil eggs", "ratings": [{"doc_id": "d1", "rating": 2, "user_email": "ann"}]}]}


def labels_of(tmp_path, name, content, source, **settings) -> list[tuple]:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    found = read_labels(path, source, **settings)
    return [(each.topic, each.doc, each.label, each.assessor) for each in found]


def test_what_files_hold(tmp_path):
    def found(*args, **settings):
        return labels_of(tmp_path, *args, **settings)

    assert found("a.qrels", QRELS, "qrels")[:2] == [("q1", "d1", "2", ""), ("q1", "d2", "0", "")]
    table = "topic,doc,assessor,label\nq1,d1,ann,2\nq1,d1,bob,1\n"
    assert found("a.csv", table, "qrels") == [("q1", "d1", "2", "ann"), ("q1", "d1", "1", "bob")]
    studio = [("q1", "d1", "2", "ann@example.org"), ("q1", "d1", "1", "8"), ("q2", "d4", "0", "8")]
    with pytest.warns(BadRowsWarning, match=r"a\.json: 1 label left out: cancelled"):
        assert found("a.json", STUDIO, "label-studio") == studio
    book = [("boil eggs", "d1", "2.0", "ann"), ("chain oil", "d4", "1", "bob")]
    with pytest.warns(BadRowsWarning, match=r"book\.json: 1 label left out: said to be unrateable"):
        assert found("book.json", BOOK, "quepid") == book
    wide = "query,docid,ann,bob\nboil eggs,d1,2.0,\nchain oil,d4,,1\n -x,d4,,\n"
    assert found("book.csv", wide, "quepid") == book
    assert found("case.csv", "query,docid,rating\nboil eggs,d1,2\nchain oil,,\n", "quepid") == [
        ("boil eggs", "d1", "2", "")
    ]
    assert found("case.json", CASE, "quepid") == [("boil eggs", "d1", "2", ""), ("boil eggs", "d2", "0", "")]
    assert found("listed.json", LISTED, "quepid") == [("boil eggs", "d1", "2", "ann")]


@pytest.mark.filterwarnings("ignore:.*left out. cancelled")
def test_label_studio_has_times_and_seconds(tmp_path):
    (tmp_path / "x.json").write_text(json.dumps(STUDIO))
    first, second, _ = read_labels(tmp_path / "x.json", "label-studio")
    assert (first.at, first.seconds) == (1710022568.728353, 4.5)
    assert second.at == 1710022568.0, "without a zone it is UTC"


def test_the_short_export_of_label_studio(tmp_path):
    assert labels_of(tmp_path, "m.json", MINIMAL[:1], "label-studio") == [("q1", "d1", "2", "8")]
    with pytest.warns(BadRowsWarning, match=r"m\.json: 1 label left out: answers to 'relevance' have several values"):
        labels_of(tmp_path, "m.json", MINIMAL, "label-studio", control="relevance")


def test_several_controls_need_a_choice(tmp_path):
    more = {"from_name": "clarity", "type": "rating", "value": {"rating": 4}}
    task = {**TASK, "annotations": [annotation(8, "2")]}
    task["annotations"][0]["result"].append(more)
    with pytest.raises(FormatError, match="answers to 2 controls"):
        labels_of(tmp_path, "x.json", [task], "label-studio")
    assert labels_of(tmp_path, "x.json", [task], "label-studio", control="clarity") == [("q1", "d1", "4", "8")]
    for content, source in ((CASE, "quepid"), (QRELS, "qrels")):
        with pytest.raises(FormatError, match=f"x.json: {source} has no control 'clarity'"):
            labels_of(tmp_path, "x.json", content, source, control="clarity")


WRONG = {
    "no list": ({}, "label-studio", "is no list of tasks"),
    "no data": ([{"annotations": []}], "label-studio", "record 1 has no data"),
    "no topic": ([{"data": {"text": "x"}, "annotations": []}], "label-studio", "does not name its topic"),
    "no result": ([{**TASK, "annotations": [{}]}], "label-studio", "an annotation without a result"),
    "nothing": ([{**TASK, "annotations": []}], "label-studio", "holds no labels"),
    "no book": ({"name": "x"}, "quepid", "neither query_doc_pairs nor queries"),
    "no document": (
        {"queries": [{"query_text": "x", "ratings": [{"rating": 1}]}]},
        "quepid",
        "without query_text and doc_id",
    ),
    "no CSV": ("a,b\n1,2\n", "quepid", "expected query, docid and ratings"),
}


@pytest.mark.parametrize(("content", "source", "message"), WRONG.values(), ids=WRONG)
def test_other_files_are_refused(tmp_path, content, source, message):
    with pytest.raises(FormatError, match=message):
        labels_of(tmp_path, "x.csv" if isinstance(content, str) else "x.json", content, source)


@pytest.fixture
def study(tmp_path):
    return read_study(write_study(tmp_path, HEAD + LABELS))


def stored(study, tasks) -> list[tuple[str, ...]]:
    with Store.open(study, tasks) as store:
        return [
            (each.task.topic, each.task.doc, each.assessor, each.value["label"], each.status) for each in store.stored()
        ]


def labels(text: str) -> list[Imported]:
    """Labels written as "topic doc label" or "topic doc label assessor"."""
    names = ("topic", "doc", "label", "assessor")
    return [Imported(**dict(zip(names, line.split(), strict=False))) for line in text.strip().splitlines()]


def test_importing_twice_adds_nothing(study):
    given = labels("q1 d1 2.0\nq1 d2 0\nq2 other 1\nq9 d1 1")
    first, notes = import_labels(*study, given, names={"": "ann"})
    assert [(each.assessor, each.added, each.known, each.surplus) for each in first] == [("ann", 3, 0, 0)]
    assert [(note.kind, note.fields["n"]) for note in notes] == [("other-topics", 1)]
    again, _ = import_labels(*study, given, names={"": "ann"})
    assert [(each.added, each.known) for each in again] == [(0, 3)]
    expected = [("q1", "d1", "ann", "2"), ("q1", "d2", "ann", "0"), ("q2", "other", "ann", "1")]
    assert stored(*study) == [(*row, "counted") for row in expected]


def test_a_label_takes_the_place_of_the_task_and_a_further_one_does_not(study):
    import_labels(*study, labels("q1 d1 2 ann"), names={})
    with Store.open(*study) as store:
        docs = {lease.task.doc for lease in store.next_tasks("bob", n=9) if lease.task.topic == "q1"}
    assert docs == {"d2", "d3"}, "one judgment of d1 is needed, and is there"
    import_labels(*study, labels("q1 d1 0 bob\nq1 d1 1 model"), names={})
    assert stored(*study) == [
        ("q1", "d1", "ann", "2", "counted"),
        ("q1", "d1", "bob", "0", "counted"),
        ("q1", "d1", "model", "1", "counted"),
    ]


def test_another_label_is_refused_and_nothing_is_stored(study):
    import_labels(*study, labels("q1 d1 2"), names={"": "ann"})
    with pytest.raises(SettingError, match="ann has another label for 'd1' of topic 'q1': '2', not '1'"):
        import_labels(*study, labels("q1 d2 1\nq1 d1 1"), names={"": "ann"})
    assert len(stored(*study)) == 1


def test_names_are_those_of_the_study(study):
    import_labels(*study, labels("q1 d1 2 a@x\nq1 d2 1 bob"), names={"a@x": "ann"})
    assert [row[2] for row in stored(*study)] == ["ann", "bob"]
    with pytest.raises(SettingError, match="there is no assessor 'eve'"):
        import_labels(*study, labels("q1 d1 2 eve"), names={})
    with pytest.raises(SettingError, match="does not say who judged"):
        import_labels(*study, labels("q1 d1 2"), names={})


def test_one_name_does_not_stand_for_several_assessors(study):
    several = labels("q1 d1 2 a@x\nq1 d2 1 b@x")
    with pytest.raises(SettingError, match="labels by a@x, b@x, not by one"):
        import_labels(*study, several, names={"": "ann"})
    import_labels(*study, several, names={"": "ann", "b@x": "bob"})
    assert [row[2] for row in stored(*study)] == ["ann", "bob"]


def test_judgments_are_read_on_the_scale_of_the_study(tmp_path):
    path = tmp_path / "x.qrels"
    path.write_text("q1 0 d1 good\n")
    assert [each.label for each in read_labels(path, "qrels", scale=Scale(("bad", "good")))] == ["good"]
    with pytest.raises(FormatError, match=r"x.qrels:1: label 'good' is not on the scale"):
        read_labels(path, "qrels", scale=Scale(("0", "1")))


def test_units_are_views(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("topic,doc,label,unit\nq1,d1,1,snippet\nq1,d2,1,page\n")
    assert [each.view for each in read_labels(path, "qrels")] == ["snippet", "page"]
    path.write_text("topic,doc,label,unit\nq1,d1,1,passage\n")
    with pytest.raises(FormatError, match="unit is 'passage'"):
        read_labels(path, "qrels")


def test_topics_are_known_by_their_query_and_labels_by_the_scale(study):
    given = [Imported(topic="chain oil", doc="d4", label="1", assessor="ann")]
    import_labels(*study, given, names={})
    assert stored(*study) == [("q2", "d4", "ann", "1", "counted")]
    with pytest.raises(SettingError, match="no label is of a topic of the study"):
        import_labels(*study, labels("x d1 1 ann"), names={})
    with pytest.raises(SettingError, match="label '3' of 'd1' for topic 'q1' is not on the scale"):
        import_labels(*study, labels("q1 d1 3 ann"), names={})
