"""Files of other tools: each is recognised, read with all its assessors, and refused with its place if it is wrong."""

from __future__ import annotations

import json
import math

import pytest

import source_files as files
from venire import read_judgments, read_runs
from venire.errors import BadRowsWarning, FormatError
from venire.io.exchange import run_scores
from venire.io.inspect import inspect_file
from venire.io.sources.known import BY_NAME, SOURCES, recognised
from venire.io.sources.nuggets import read_nuggets

judged = pytest.mark.parametrize(("name", "source", "content", "expected"), files.JUDGED.values(), ids=files.JUDGED)
ranked = pytest.mark.parametrize(("name", "source", "content", "system"), files.RANKED.values(), ids=files.RANKED)


@pytest.fixture
def write(tmp_path):
    def written(name: str, content: bytes | list | dict):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    return written


def rows(judgments) -> list[tuple[str, ...]]:
    return sorted(zip(*(judgments.column(name).texts() for name in ("topic", "doc", "assessor", "label")), strict=True))


@judged
def test_judgments_are_read_with_their_assessors(write, name, source, content, expected):
    assert recognised(content, name) is BY_NAME[source]
    path = write(name, content)
    assert rows(read_judgments(path)) == sorted(expected)
    assert rows(read_judgments([path])) == sorted(expected)


@judged
def test_inspect_recognises_judgments(write, name, source, content, expected):
    found = inspect_file(write(name, content))
    assert found.kind.startswith(BY_NAME[source].title)
    assert found.readable
    assert not found.problems
    assert found.facts["labels"] == len(expected)
    assert found.facts["use"] == "judgments of any command"


@ranked
def test_runs_are_read(write, name, source, content, system):
    assert recognised(content, name) is BY_NAME[source]
    path = write(name, content)
    assert run_scores(read_runs(path)) == {system: files.MAPPING}
    found = inspect_file(path)
    assert found.kind.startswith(BY_NAME[source].title)
    assert (found.facts["systems"], found.facts["topics"]) == ([system], 2)
    assert found.facts["use"] == "runs of any command"
    assert not found.problems


def test_judgments_are_no_runs_and_runs_no_judgments(write):
    with pytest.raises(FormatError, match="looks like Prodigy annotations, expected runs"):
        read_runs(write("x.jsonl", files.lines(files.PRODIGY)))
    with pytest.raises(FormatError, match="looks like MTEB predictions, expected judgments"):
        read_judgments(write("x.json", files.MTEB))
    for read in (read_judgments, read_runs):
        with pytest.raises(FormatError, match="JSON list of another kind"):
            read(write("x.json", [{"some": "thing"}]))
    assert "JSON list of another kind" in inspect_file(write("x.json", [])).problems[0].what


@pytest.mark.parametrize("value", [{"topic": "q1", "doc": "d1", "label": 1}, {"queries": {"$query": "a b c d e f"}}])
def test_an_object_over_several_lines_is_json_of_another_kind(write, value):
    path = write("x.json", json.dumps(value, indent=1).encode())
    for read in (read_judgments, read_runs):
        with pytest.raises(FormatError, match="is a JSON object of another kind than those that are read"):
            read(path)
    found = inspect_file(path)
    assert (found.kind, [problem.line for problem in found.problems]) == ("unknown", [None])
    broken = write("x.jsonl", b'{"topic": "q1"\n{"topic": "q1", "doc": "d1", "label": 1}\n')
    with pytest.raises(FormatError, match=r"x\.jsonl:1: .* is not JSON"):
        read_judgments(broken)


def test_a_list_of_records_is_no_run(write):
    found = inspect_file(write("x.json", [{"topic": "q1", "doc": "d1", "label": 1}]))
    assert (found.kind, len(found.problems)) == ("unknown", 1)


def test_scores_of_mteb_are_no_lists(write):
    scores = {"task_name": "Eggs", "mteb_version": "2.0", "scores": {"test": [{"ndcg_at_10": 0.5}]}}
    with pytest.raises(FormatError, match="has scores of measures, and no lists") as found:
        read_runs(write("Eggs.json", scores))
    assert "prediction_folder" in str(found.value)


def test_what_is_wrong_in_a_json_list_is_one_error(write):
    words = json.loads(json.dumps(files.LABEL_STUDIO).replace('["2"]', '["yes"]'))
    found = inspect_file(write("studio.json", json.dumps(words, indent=2).encode()))
    assert [problem.what.partition(",")[0] for problem in found.problems] == ["label 'yes' is not a number"]


def test_every_source_has_a_file():
    tried = {source for _, source, *_ in [*files.JUDGED.values(), *files.RANKED.values()]}
    assert tried | {"nuggets", "quepid-snapshot"} == {source.name for source in SOURCES}


@pytest.mark.parametrize(
    ("name", "reasons"),
    {
        "label-studio": {"cancelled": 1},
        "label-studio, short, a rating": {"no label was chosen": 1},
        "quepid": {"said to be unrateable": 1},
        "quepid, of the programming interface": {"put off by the judge": 1},
        "argilla, columns": {"draft, not submitted": 1},
        "prodigy": {"the answer is ignore": 1},
        "doccano": {"no label was chosen": 1},
        "umbrela": {"the reply of the model could not be read (result_status 0)": 1},
    }.items(),
)
def test_what_is_no_label_is_counted(write, name, reasons):
    path, _, content, _ = files.JUDGED[name]
    notes = read_judgments(write(path, content)).notes
    assert {note.fields["why"]: note.fields["n"] for note in notes if note.kind == "left-out"} == reasons


@pytest.mark.parametrize("name", ["umbrela", "doccano", "argilla", "argilla, columns", "prodigy"])
def test_a_first_text_that_is_long_does_not_hide_what_a_file_is(write, name):
    path, source, content, expected = files.JUDGED[name]
    long = b"x" * (1 << 17 if name != "umbrela" else 1 << 16)
    key = next(key for key in (b'"prompt": "', b'"text": "', b'"passage": "', b'"query": "') if key in content)
    path = write(path, content.replace(key, key + long, 1))
    assert rows(read_judgments(path)) == sorted(expected)
    assert inspect_file(path).kind == BY_NAME[source].title


def test_an_annotation_without_a_value_is_counted(write):
    task = {**files.LABEL_STUDIO[0], "annotations": [*files.LABEL_STUDIO[0]["annotations"], {"result": []}]}
    (note,) = (note for note in read_judgments(write("studio.json", [task])).notes if note.kind == "left-out")
    assert (note.fields["why"], note.fields["n"]) == ("no label was chosen", 1)


def left_out(judgments) -> dict[str, int]:
    return {note.fields["why"]: note.fields["n"] for note in judgments.notes if note.kind == "left-out"}


@pytest.mark.parametrize("value", [["d1", "d2"], ["d1"], [{"label": "x", "start": 0, "end": 3}]])
def test_answers_of_argilla_that_are_lists_are_counted_beside_others(write, value):
    ranking = {"order": [{"value": value, "user_id": "u-ann"}]}
    record = {**files.ARGILLA[0], "responses": {**files.ARGILLA[0]["responses"], **ranking}}
    found = read_judgments(write("records.json", [record]))
    assert rows(found) == [("q1", "d1", "u-ann", "2"), ("q1", "d1", "u-bob", "1")]
    assert left_out(found) == {"answers to 'order' are lists": 1}


def test_a_response_of_argilla_without_a_value_is_counted(write):
    draft = {"relevance": [*files.ARGILLA[0]["responses"]["relevance"], {"value": None, "user_id": "u-eve"}]}
    found = read_judgments(write("records.json", [{**files.ARGILLA[0], "responses": draft}]))
    assert rows(found) == [("q1", "d1", "u-ann", "2"), ("q1", "d1", "u-bob", "1")]
    assert left_out(found) == {"no label was chosen": 1}


SEVERAL = {
    "doccano": ([files.DOCCANO[0], {**files.DOCCANO[1], "label": ["1", "2"]}], "label"),
    "prodigy": ([files.PRODIGY[0], {**files.PRODIGY[0], "accept": ["0", "2"]}], "accept"),
    "label-studio": (
        [*files.LABEL_STUDIO_MIN, {**files.LABEL_STUDIO_MIN[0], "relevance": {"choices": ["0", "2"]}}],
        "relevance",
    ),
}


@pytest.mark.parametrize(("records", "question"), SEVERAL.values(), ids=SEVERAL)
def test_several_choices_where_one_was_expected_are_counted(write, records, question):
    found = read_judgments(write("x.json", records))
    assert (len(found), left_out(found)) == (1, {f"answers to {question!r} have several values": 1})


def test_controls_of_label_studio_beside_the_labels_are_counted(write):
    task = json.loads(json.dumps(files.LABEL_STUDIO[0]))
    more = [{"from_name": "why", "type": "choices", "value": {"choices": ["a", "b"]}}]
    more += [{"from_name": "note", "type": "textarea", "value": {"text": ["good"]}}]
    task["annotations"][0]["result"] += more
    path = write("studio.json", [task])
    found = read_judgments(path)
    assert rows(found) == [("q1", "d1", "7", "1"), ("q1", "d1", "ann@example.org", "2")]
    assert left_out(found) == {
        "answers to 'why' have several values": 1,
        "controls of type textarea are not read": 1,
    }
    assert left_out(read_judgments(path, columns={"label": "relevance"})) == {}


def test_a_review_of_prodigy_counts_the_answers_that_it_does_not_hold_as_such(write):
    versions = [{**files.PRODIGY[0], "sessions": ["eggs-ann"], "default": True}, {**files.PRODIGY[1], "default": False}]
    review = {**files.PRODIGY[0], "_view_id": "review", "_session_id": None, "versions": versions}
    found = read_judgments(write("eggs.jsonl", files.lines([{**review, "_annotator_id": None}])))
    assert rows(found) == [("q1", "d1", "eggs", "2")]
    assert left_out(found) == {"answers that were reviewed: export the datasets of the annotators, too": 2}


def test_files_of_those_who_labelled_nothing_are_named_beside_others(write):
    write("doccano/ann.jsonl", files.lines(files.DOCCANO))
    empty = write("doccano/admin.jsonl", files.lines([{**record, "label": []} for record in files.DOCCANO]))
    found = read_judgments(empty.parent)
    assert list(found.assessors) == ["ann"]
    assert [note.fields["where"] for note in found.notes if note.kind == "no-labels"] == [str(empty)]
    assert [note.fields["n"] for note in found.notes if note.kind == "left-out"] == [3, 1]
    with pytest.raises(FormatError, match=r"admin\.jsonl: holds no labels\n.*3 labels left out: no label was chosen"):
        read_judgments(empty)
    assert not inspect_file(empty).readable


def test_judgments_of_one_name_in_a_response_are_several_assessors(write):
    other = json.loads(json.dumps(files.OPENSEARCH).replace("3.000", "1.000"))
    hits = [{"_id": own, "_source": source} for own, source in (("x", files.OPENSEARCH), ("y", other))]
    found = read_judgments(write("response.json", {"hits": {"hits": hits}}))
    assert [row for row in rows(found) if row[1] == "d1"] == [
        *(("boil eggs", "d1", "gpt/x", "3"), ("boil eggs", "d1", "gpt/y", "1"))
    ]
    assert found.machines == ("gpt/x", "gpt/y")
    failed = {"_id": "z", "_source": {"name": "gpt", "status": "ERROR"}}
    assert read_judgments(write("retried.json", {"hits": {"hits": [hits[0], failed]}})).machines == ("gpt",)


def test_judgments_computed_from_clicks_are_by_a_machine(write):
    path = write("response.json", {**files.OPENSEARCH, "name": "clicks", "type": "UBI_JUDGMENT"})
    assert read_judgments(path).machines == ("clicks",)


@pytest.mark.parametrize(("name", "n"), [("argilla", [2]), ("argilla, columns", [])])
def test_responses_of_which_it_is_not_known_whether_they_were_submitted_are_counted(write, name, n):
    path, _, content, _ = files.JUDGED[name]
    notes = read_judgments(write(path, content)).notes
    assert [note.fields["n"] for note in notes if note.kind == "doubtful-labels"] == n


def test_judgments_that_are_not_there_yet_are_counted(write):
    waiting = {"name": "llm", "type": "LLM_JUDGMENT", "status": "PROCESSING"}
    hits = [{"_source": source} for source in ({**files.OPENSEARCH, "status": "COMPLETED"}, waiting)]
    found = read_judgments(write("response.json", {"hits": {"hits": hits}}))
    assert list(found.assessors) == ["gpt"]
    (note,) = (note for note in found.notes if note.kind == "left-out")
    assert note.fields["why"] == "judgments 'llm' are PROCESSING"


def test_nuggets_that_could_not_be_assigned_are_counted(write):
    path = write("gpt4.jsonl", files.lines(files.NUGGETS).replace(b"partial_support", b"failed"))
    with pytest.warns(BadRowsWarning, match="1 label left out: nuggetizer failed to assign it"):
        assert read_nuggets(path).height == 3
    found = inspect_file(path)
    assert (found.facts["labels"], [problem.fatal for problem in found.problems]) == (3, [False])
    passages = files.lines(files.NUGGETS_OF_PASSAGES).replace(b"not_support", b"failed")
    judgments = read_judgments(write("passages.jsonl", passages), scale="not_support<partial_support<support")
    assert len(judgments) == 1
    assert [note.fields["n"] for note in judgments.notes if note.kind == "left-out"] == [1]


def test_answers_without_nuggets_are_counted(write):
    records = [files.NUGGETS[0], {**files.NUGGETS[1], "nuggets": []}]
    path = write("gpt4.jsonl", files.lines(records))
    with pytest.warns(BadRowsWarning, match=r"gpt4\.jsonl: 1 answer without nuggets left out: b \(topic q1\)"):
        assert read_nuggets(path).height == 2
    (problem,) = inspect_file(path).problems
    assert not problem.fatal


def test_nuggets_of_answers_and_of_passages_are_in_two_files(write):
    path = write("gpt4.jsonl", files.lines([*files.NUGGETS, *files.NUGGETS_OF_PASSAGES]))
    with pytest.raises(FormatError, match=r"gpt4\.jsonl:3: names a docid, where the first line has a run_id"):
        read_nuggets(path)


def test_two_judges_of_one_name_are_refused(write):
    path = write("book.csv", b"query,docid,Ann,Bob,Ann\nboil eggs,d1,2,1,0\n")
    with pytest.raises(FormatError, match=r"book\.csv:1: two judges are called 'Ann'\n.*as JSON, which has e-mail"):
        read_judgments(path)


def test_a_rating_without_a_document_is_refused(write):
    path = write("book.csv", b"query,docid,Ann,Bob\nboil eggs,d1,2,1\nboil eggs,,0,\n")
    with pytest.raises(FormatError, match=r"book\.csv:3: has the rating '0' without a document"):
        read_judgments(path)


def test_a_run_whose_first_score_is_no_number_is_one_all_the_same(write):
    path = write("run.json", {"q1": {"d1": math.nan, "d2": 0.5}})
    with pytest.raises(FormatError, match=r"run\.json: document 'd1' of topic 'q1' has 'nan', expected a number"):
        run_scores(read_runs(path))


def test_a_snapshot_of_quepid_is_a_run(write):
    path = write("snapshot.csv", files.QUEPID_SNAPSHOT)
    assert run_scores(read_runs(path)) == {"before": {"q1": {"d1": -1.0, "d2": -2.0}, "q2": {"d3": -1.0}}}
    found = inspect_file(path)
    assert (found.kind, found.facts["systems"], list(found.problems)) == ("Quepid snapshot", ["before"], [])
    for old, new, message in (
        (b"before,2021-01-01 10:00:00,6,q2", b"after,,6,q2", "several snapshots: before, after"),
        (b"d3,1", b"d3,first", r":4: found the position 'first'"),
    ):
        with pytest.raises(FormatError, match=message):
            read_runs(write("snapshot.csv", files.QUEPID_SNAPSHOT.replace(old, new)))


def test_the_first_query_of_a_run_may_have_no_results(write):
    path = write(
        "ir.jsonl", files.lines([{"query_id": "q0", "query": "x", "results": []}, *files.SENTENCE_TRANSFORMERS])
    )
    assert run_scores(read_runs(path)) == {"ir": files.MAPPING}


def test_answers_about_several_labels_are_several_questions(write):
    tasks = [files.PRODIGY_BINARY[0], {**files.PRODIGY_BINARY[0], "label": "SPAM", "answer": "reject"}]
    found = read_judgments(write("eggs.jsonl", files.lines(tasks)))
    assert list(zip(found.column("aspect").texts(), found.column("label").texts(), strict=True)) == [
        *(("RELEVANT", "1"), ("SPAM", "0"))
    ]


def test_errors_in_a_list_name_the_record(write):
    words = json.loads(json.dumps(files.LABEL_STUDIO))
    words[1]["annotations"][0]["result"][0]["value"]["choices"] = ["bad\0"]
    with pytest.raises(FormatError, match=r"studio\.json:2: label: found"):
        read_judgments(write("studio.json", words))


def studio_with(**result):
    return [{**files.LABEL_STUDIO[0], "annotations": [{"completed_by": 7, "result": [{"from_name": "x", **result}]}]}]


def test_numbers_of_label_studio_are_labels(write):
    path = write("studio.json", studio_with(type="number", value={"number": 3}))
    assert rows(read_judgments(path)) == [("q1", "d1", "7", "3")]


def test_controls_that_are_not_read_are_named(write):
    with pytest.raises(FormatError, match=r"holds no labels\n.*controls of type textarea are not read"):
        read_judgments(write("studio.json", studio_with(type="textarea", value={"text": ["good"]})))


def test_topics_of_a_run_may_be_empty_and_documents_in_any_order(write):
    path = write("run.json", {"q0": {}, "q 1": {"d1": 0.5, "d2": 0.9}})
    found = inspect_file(path)
    assert (found.facts["topics"], found.facts["depth"]["median"], list(found.problems)) == (1, 2, [])
    with pytest.raises(FormatError, match=r"empty\.json: holds no documents"):
        run_scores(read_runs(write("empty.json", {"q0": {}, "q1": {}})))


@pytest.mark.parametrize(("name", "machine"), {"opensearch": "gpt", "umbrela": "gpt-4o"}.items())
def test_models_are_declared_as_machines(write, name, machine):
    path, _, content, _ = files.JUDGED[name]
    assert read_judgments(write(path, content)).machines == (machine,)


def test_times_are_read(write):
    times = read_judgments(write("eggs.jsonl", files.lines(files.PRODIGY))).time
    assert times.tolist() == [1707211049.0, 1707211049.0]


def test_several_questions_are_aspects_and_one_can_be_chosen(write):
    record = {**files.ARGILLA[0], "responses": {**files.ARGILLA[0]["responses"]}}
    record["responses"]["clarity"] = [{"value": 4, "user_id": "u-ann"}]
    path = write("records.json", [record])
    both = read_judgments(path)
    assert sorted(zip(both.column("aspect").texts(), both.column("label").texts(), strict=True)) == [
        *(("clarity", "4"), ("relevance", "1"), ("relevance", "2"))
    ]
    assert rows(read_judgments(path, columns={"label": "clarity"})) == [("q1", "d1", "u-ann", "4")]
    studio = [
        {**files.LABEL_STUDIO[0], "annotations": [json.loads(json.dumps(files.LABEL_STUDIO[0]["annotations"][0]))]}
    ]
    studio[0]["annotations"][0]["result"].append({"from_name": "clear", "type": "rating", "value": {"rating": 3}})
    path = write("studio.json", studio)
    assert set(read_judgments(path).facets["aspect"].names) == {"relevance", "clear"}
    assert [row[3] for row in rows(read_judgments(path, columns={"label": "clear"}))] == ["3"]
    tasks = [files.PRODIGY_BINARY[0], {**files.PRODIGY_BINARY[0], "label": "SPAM", "answer": "reject"}]
    path = write("eggs.jsonl", files.lines(tasks))
    assert [row[3] for row in rows(read_judgments(path, columns={"label": "SPAM"}))] == ["0"]


def test_annotations_without_an_answer_to_the_question_that_was_chosen_are_counted(write):
    studio = json.loads(json.dumps(files.LABEL_STUDIO))
    studio[0]["annotations"][0]["result"][0]["from_name"] = "clear"
    found = read_judgments(write("studio.json", studio), columns={"label": "relevance"})
    reasons = {note.fields["why"]: note.fields["n"] for note in found.notes if note.kind == "left-out"}
    assert (len(found), reasons) == (2, {"cancelled": 1, "no label was chosen": 1})


@pytest.mark.parametrize(
    ("name", "known"),
    {
        "label-studio": "there is only 'relevance'",
        "label-studio, short": "there are 'id', 'query_id', 'doc_id', 'relevance'",
        "argilla": "there is only 'relevance'",
        "argilla, columns": "there is only 'relevance'",
        "prodigy": "there is only 'accept'",
        "prodigy, binary": "there is only 'RELEVANT'",
        "doccano": "there are 'id', 'text'",
        "doccano, old": "there are 'id', 'text'",
    }.items(),
)
def test_a_question_that_nobody_was_asked_is_an_error_that_names_the_others(write, name, known):
    path, _, content, _ = files.JUDGED[name]
    with pytest.raises(FormatError, match=rf"has no labels called 'zzz'\n.*{known}"):
        read_judgments(write(path, content), columns={"label": "zzz"})


NOT_STATED = {
    "rank-eval": {"doc": "url"},
    "quepid, CSV": {"topic": "query"},
    "opensearch": {"label": "rating"},
    "mapping": {"doc": "url"},
    "umbrela": {"label": "judgment"},
    "argilla": {"assessor": "who"},
}


@pytest.mark.parametrize(("name", "columns"), NOT_STATED.items())
def test_a_key_that_is_stated_and_not_read_is_an_error(write, name, columns):
    file, _, content, _ = files.JUDGED[name]
    ((role, key),) = columns.items()
    for path in (write(file, content), write("qrels.txt", b"q1 0 d1 1\n")):
        with pytest.raises(FormatError, match=f"{path.name}: has no column '{key}' for the {role}"):
            read_judgments(path, columns=columns)


def test_columns_of_a_table_may_be_stated_beside_a_file_that_has_none(write):
    table = write("table.csv", b"url,topic,label\nd1,boil eggs,1\n")
    both = read_judgments([table, write("book.csv", files.QUEPID_CSV)], columns={"doc": "url"})
    assert list(both.assessors) == ["Bob B", "ann", "table"]


def test_a_key_twice_in_an_object_is_an_error(write):
    for content, key in ((b'{"q1": {"d1": 1}, "q1": {"d2": 2}}', "q1"), (b'{"q1": {"d1": 1, "d1": 2}}', "d1")):
        path = write("both.json", content)
        for read in (read_judgments, lambda path: run_scores(read_runs(path))):
            with pytest.raises(FormatError, match=rf"both\.json: an object has the key '{key}' twice"):
                read(path)
        assert not inspect_file(path).readable
    line = files.lines(files.PRODIGY[:1])
    twice = write("eggs.jsonl", line + line.replace(b'"answer"', b'"answer": "reject", "answer"'))
    with pytest.raises(FormatError, match=r"eggs\.jsonl:2: an object has the key 'answer' twice"):
        read_judgments(twice)


def test_keys_can_be_stated(write):
    record = {"id": 1, "text": "x", "frage": "q7", "url": "a.org", "label": ["2"], "Comments": []}
    path = write("ann.jsonl", files.lines([record]))
    with pytest.raises(FormatError, match=r"ann.jsonl:1: does not name its topic: found id, text, frage, url"):
        read_judgments(path)
    assert rows(read_judgments(path, columns={"topic": "frage", "doc": "url"})) == [("q7", "a.org", "ann", "2")]


def test_several_files_are_several_assessors(write):
    write("doccano/ann.jsonl", files.lines(files.DOCCANO))
    folder = write("doccano/bob.jsonl", files.lines(files.DOCCANO)).parent
    assert list(read_judgments(folder).assessors) == ["ann", "bob"]


def test_documents_of_several_indices_keep_them(write):
    spec = json.loads(json.dumps(files.RANK_EVAL))
    spec["requests"][0]["ratings"][1]["_index"] = "news"
    assert [row[1] for row in rows(read_judgments(write("x.json", spec)))] == ["news/d2", "web/d1"]


def test_subsets_of_mteb_are_one_run_unless_they_share_topics(write):
    both = {**files.MTEB, "de": {"test": {"q9": {"d1": 1.5}}, "dev": {"q8": {"d1": 1.5}}}}
    assert set(run_scores(read_runs(write("a.json", both)))["some/model"]) == {"q1", "q2", "q8", "q9"}
    both["de"]["test"] = {"q1": {"d1": 1.5}}
    with pytest.raises(FormatError, match="topic 'q1' is in default/test and in de/test"):
        read_runs(write("a.json", both))


def test_compressed_files_and_a_scale_beside(write):
    import gzip

    path = write("ann.jsonl.gz", gzip.compress(files.lines(files.DOCCANO)))
    write("ann.toml", b'scale = "0<1<2<3"\nmachines = ["ann"]\n')
    found = read_judgments(path)
    assert (str(found.scale), found.machines) == ("0<1<2<3", ("ann",))


WRONG_LABELS = {
    "no answer": ("prodigy", [{**files.PRODIGY[0], "answer": "yes"}], r":1: has the answer 'yes'"),
    "no topic": ("prodigy", [{**files.PRODIGY[0], "meta": {}}], r":1: does not name its topic"),
    "users and values": (
        "argilla",
        [{**files.ARGILLA_FLAT[0], "relevance.responses.users": ["u-ann"]}],
        r":1: has not one user for each value",
    ),
    "no judgment": ("umbrela", [{**files.UMBRELA[0], "judgment": None}], r":1: has 'None' where one choice"),
    "no object": ("prodigy", [files.PRODIGY[0], []], r":2: is no object"),
    "a zero byte": ("umbrela", [{**files.UMBRELA[0], "query": "a\0"}], r":1: topic: found the id"),
    "an empty topic": (
        "doccano",
        [{**files.DOCCANO[0], "query_id": ""}],
        r":1: does not name its topic: 'query_id' is ''",
    ),
    "a number": ("doccano", [{**files.DOCCANO[0], "doc_id": 3.0}], r":1: does not name its doc: 'doc_id' is 3\.0"),
    "an empty label": ("umbrela", [{**files.UMBRELA[0], "judgment": ""}], r":1: has '' where one choice"),
    "half a pair": ("umbrela", [{**files.UMBRELA[0], "passage": "\ud800"}], r":1: doc: found the id"),
}


@pytest.mark.parametrize(("source", "records", "message"), WRONG_LABELS.values(), ids=WRONG_LABELS)
def test_a_wrong_line_is_named(write, source, records, message):
    path = write("x.jsonl", files.lines(records))
    with pytest.raises(FormatError, match=message):
        BY_NAME[source].rows(path, {})


WRONG_WHOLE = {
    "no requests": ("rank-eval", {"requests": {}}, "no list of requests"),
    "no id": ("rank-eval", {"requests": [{"ratings": []}]}, "record 1 has no id"),
    "no ratings": ("rank-eval", {"requests": [{"id": 1}]}, "record 1 has no list of ratings"),
    "no document": ("rank-eval", {"requests": [{"id": 1, "ratings": [{}]}]}, "a rating without _id"),
    "nothing rated": ("rank-eval", {"requests": [{"id": 1, "ratings": []}]}, "holds no labels"),
    "no judgments": ("opensearch", {"hits": {"hits": [{}]}}, "no list of judgmentRatings"),
    "no query": ("opensearch", {"judgmentRatings": [{}]}, "record 1 has no query"),
    "no docId": ("opensearch", {"judgmentRatings": [{"query": "x", "ratings": [{}]}]}, "a rating without docId"),
    "a response": ("argilla", [{**files.ARGILLA[0], "responses": {"r": ["2"]}}], "record 1 has a response to 'r'"),
    "no value": (
        "label-studio",
        [{**files.LABEL_STUDIO[0], "annotations": [{"result": [{"from_name": "r", "type": "choices", "value": "2"}]}]}],
        "record 1 has a result of 'r' without a value",
    ),
    "a result": ("label-studio", [{**files.LABEL_STUDIO[0], "annotations": [{"result": ["2"]}]}], "without a result"),
    "a query": ("quepid", {"queries": ["x"]}, "record 1 is no object with a list of ratings"),
    "a number of ratings": ("quepid", {"queries": [{"query": "x", "ratings": 7}]}, "record 1 is no object with a list"),
    "a rating": ("quepid", {"queries": [{"query": "x", "ratings": [2]}]}, "record 1 is no object with a list"),
    "a pair": ("quepid", {"query_doc_pairs": [7]}, "record 1 is no object with a list of judgements"),
    "a judgement": ("quepid", {"query_doc_pairs": [{"judgements": [2]}]}, "no object with a list of judgements"),
    "no index": (
        "rank-eval",
        {"requests": [{"id": 1, "ratings": [{"_index": "a", "_id": "d1", "rating": 1}, {"_id": "d2", "rating": 1}]}]},
        "record 1 has a rating of 'd2' without _index",
    ),
    "not a number": ("mapping", {"q1": {"d1": math.nan}}, "document 'd1' of topic 'q1' has 'nan', expected a number"),
    "a grade": ("mapping", {"q1": {"d1": "x"}}, "document 'd1' of topic 'q1' has 'x', expected a number"),
    "no documents": ("mapping", {"q1": []}, "topic 'q1' has no object of documents"),
}


@pytest.mark.parametrize(("source", "content", "message"), WRONG_WHOLE.values(), ids=WRONG_WHOLE)
def test_a_wrong_file_says_what_is_wrong(write, source, content, message):
    with pytest.raises(FormatError, match=message):
        BY_NAME[source].rows(write("x.json", content), {})


WRONG_RUNS = {
    "no lists": ("mteb", {"mteb_model_meta": {}}, "holds no documents"),
    "no splits": ("mteb", {"mteb_model_meta": {}, "default": 1}, "subset 'default' is no object"),
    "no score": ("mteb", {"mteb_model_meta": {}, "default": {"test": {"q": {"d": None}}}}, "expected a number"),
    "no results": ("sentence-transformers", {"query_id": "q"}, ":1: has no query_id, or no list"),
    "no corpus_id": ("sentence-transformers", {"query_id": "q", "results": [{}]}, ":1: has a result without"),
    "not a number": ("mteb", {"mteb_model_meta": {}, "a": {"b": {"q": {"d": math.nan}}}}, "'d' of topic 'q' has 'nan'"),
    "infinite": (
        "sentence-transformers",
        {"query_id": "q", "results": [{"corpus_id": "d", "score": math.inf}]},
        ":1: ",
    ),
    "too large": ("mapping", {"q": {"d": 10**299 * 10**20}}, "more than 300 digits|too large"),
    "empty": ("mapping", {}, "holds no documents"),
}


@pytest.mark.parametrize(("source", "content", "message"), WRONG_RUNS.values(), ids=WRONG_RUNS)
def test_a_wrong_run_says_what_is_wrong(write, source, content, message):
    with pytest.raises(FormatError, match=message):
        BY_NAME[source].lists(write("x.json", content))


def test_tables_of_ours_are_no_files_of_other_tools():
    tables = {
        "a.jsonl": b'{"topic": "q1", "doc": "d1", "label": 1}\n',
        "b.jsonl": b'{"query": "q1", "docid": "d1", "judgment": 1, "worker": "ann"}\n',
        "a.csv": b"query,docid,label\nq1,d1,1\n",
        "b.csv": b"query,docid,rank,score\nq1,d1,1,2\n",
        "c.csv": b"topic,doc,ann,bob\nq1,d1,1,2\n",
        "q.txt": b"q1 0 d1 1\n",
        "n.jsonl": b'{"q1": {"d1": 1}}\n{"q2": {"d1": 1}}\n',
    }
    assert [name for name, head in tables.items() if recognised(head, name) is not None] == []
