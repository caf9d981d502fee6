from __future__ import annotations

import csv
import gzip
import io

import polars as pl
import pytest
import zstandard

from json_results import loaded

QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a 0\n2 0 d 1\n"
RUN = "1 Q0 a 1 3.5 sys\n1 Q0 b 2 2.5 sys\n1 Q0 c 3 1.5 sys\n2 Q0 a 1 2 sys\n2 Q0 d 2 1 sys\n"


def looked_at(venire, *args: object, code: int = 0) -> dict[str, object]:
    """Inspect one file; what is said of it, in JSON."""
    answer = venire("inspect", *args, "--format", "json")
    assert answer.code == code, answer
    document = loaded(answer.out)
    assert list(document) == ["files"]
    (found,) = document["files"]
    assert list(found) == ["file", "kind", "facts", "problems"]
    assert all(list(problem) == ["line", "what", "hint"] for problem in found["problems"])
    return found


def problems(found: dict[str, object]) -> list[tuple[int | None, str]]:
    return [(each["line"], each["what"]) for each in found["problems"]]


def test_qrels(venire, qrels):
    found = looked_at(venire, qrels)
    assert (found["file"], found["kind"], found["problems"]) == (str(qrels), "TREC qrels", [])
    expected = {
        "compression": "none",
        "bytes": len(QRELS),
        "lines": 5,
        "encoding": "ASCII",
        "line_ends": "LF",
        "comments": 0,
        "empty_lines": 0,
        "scale": "0<1<2",
        "labels": 5,
        "topics": 2,
        "items": 5,
        "assessors": 1,
        "labels_per_item": {"1": 5},
        "label_counts": {"qrels": {"0": 2, "1": 2, "2": 1}},
    }
    (note,) = found["facts"].pop("notes")
    assert "0<1<2 is inferred" in note
    assert found["facts"] == expected


def test_labels_in_condition_are_counted_and_one_given_itself_is_a_problem(venire, write):
    head, rows = "topic,doc,label,given,aspect\n", "1,a,2,,x\n1,b,1,,x\n1,b,0,a,x\n"
    facts = looked_at(venire, write("given.csv", head + rows))["facts"]
    assert (facts["labels"], facts["labels_in_condition"], facts["values_of_aspect"]) == (3, 1, ["x"])
    assert "values_of_given" not in facts
    wrong = looked_at(venire, write("itself.csv", f"{head}{rows}1,b,0,b,x\n"), code=2)
    assert problems(wrong) == [
        (5, "document 'b' is given itself for topic '1', expected another that was read before it")
    ]


def test_a_run(venire, run):
    found = looked_at(venire, run)
    assert (found["kind"], found["problems"]) == ("TREC run", [])
    assert found["facts"] == {
        "compression": "none",
        "bytes": len(RUN),
        "lines": 5,
        "encoding": "ASCII",
        "line_ends": "LF",
        "comments": 0,
        "empty_lines": 0,
        "rows": 5,
        "systems": ["sys"],
        "topics": 2,
        "topics_per_system": {"min": 2, "median": 2.0, "max": 2},
        "depth": {"min": 2, "median": 2.5, "max": 3},
        "tied_share": 0.0,
        "tied_share_float32": 0.0,
        "rising_scores": 0,
        "contradicting_ranks": 0,
        "scattered_lists": 0,
        "repeated_documents": 0,
    }


def test_a_long_table(venire, write):
    found = looked_at(venire, write("j.csv", "qid,docid,worker,rel\n1,a,w1,1\n1,a,w2,0\n1,b,w1,0\n"))
    assert found["kind"] == "judgments table (long)"
    assert found["facts"]["labels_per_item"] == {"1": 1, "2": 1}
    assert found["facts"]["label_counts"] == {"w1": {"0": 1, "1": 1}, "w2": {"0": 1, "1": 0}}
    assert "worker" in found["facts"]["notes"][0]


def test_a_wide_table_is_recognised(venire, write):
    table = write("j.tsv", "qid\tdocid\tann\tbob\n1\ta\t1\t0\n1\tb\t\t2\n")
    found = looked_at(venire, table)
    assert found["kind"] == "judgments table (wide)"
    assert found["facts"]["label_counts"] == {"ann": {"0": 0, "1": 1, "2": 0}, "bob": {"0": 1, "1": 0, "2": 1}}
    assert found["problems"] == []
    assert "wide table" in found["facts"]["notes"][0]


def test_tables_in_other_formats(venire, write, tmp_path):
    assert looked_at(venire, write("j.jsonl", '{"topic": "1", "doc": "a", "label": 1}\n'))["facts"]["labels"] == 1
    pl.DataFrame({"topic": ["1"], "doc": ["a"], "label": [1]}).write_parquet(tmp_path / "j.parquet")
    found = looked_at(venire, tmp_path / "j.parquet")
    assert (found["kind"], found["facts"]["labels"]) == ("judgments table (long)", 1)


def test_runs_in_parquet(venire, tmp_path):
    frame = pl.DataFrame(
        {"topic": ["1", "1", "2", "1"], "doc": ["a", "b", "a", "a"], "score": [1.0, 1.0, 2.0, 0.5], "tag": ["x"] * 4}
    )
    frame[:3].write_parquet(tmp_path / "r.parquet")
    found = looked_at(venire, tmp_path / "r.parquet")
    assert (found["kind"], len(found["problems"])) == ("run table", 1)
    assert "all scores of x tie" in found["problems"][0]["what"]
    assert found["facts"]["systems"] == ["x"]
    assert found["facts"]["tied_share"] == pytest.approx(2 / 3)
    frame.write_parquet(tmp_path / "r.parquet")
    found = looked_at(venire, tmp_path / "r.parquet", code=2)
    assert problems(found)[0] == (4, "document 'a' is ranked twice for topic '1'")


def test_runs_in_csv(venire, write):
    found = looked_at(venire, write("r.csv", "query,doc,rank,score,run\n1,a,1,0.5,x\n1,b,2,1.5,x\n"))
    assert (found["kind"], found["facts"]["systems"], found["facts"]["rising_scores"]) == ("run table", ["x"], 1)
    assert [each["line"] for each in found["problems"]] == [2, 3]
    judged = looked_at(venire, write("j.csv", "topic,doc,assessor,score\n1,a,ann,1\n"))
    assert judged["kind"] == "judgments table (long)"


def test_duplicates(venire, write):
    found = looked_at(venire, write("copies.txt", "0\td1\td2\n0\td3\td4\td5\n1\td6\td7\n"))
    assert (found["kind"], found["problems"]) == ("duplicates", [])
    assert found["facts"]["groups"] == 3


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty", b"", "is empty"),
        ("blank", b"\n\n", "is empty"),
        (
            "prose.txt",
            b"The quick brown fox\njumps over the lazy dog, and then some\n",
            "is neither judgments nor a run",
        ),
        ("five.txt", b"1 Q0 a 1 2.5\n1 Q0 b 2 1.5\n", "most of its 2 lines have 5 columns"),
        ("x.zip", b"PK\x03\x04rest", "is compressed with zip"),
        ("x.bz2", b"BZh91AY", "is compressed with bzip2"),
        ("utf16.txt", "1 0 a 1\n".encode("utf-16"), "is UTF-16 text"),
        ("binary", b"a\x00b c\x01", "is not text: found the control byte 0x00"),
    ],
)
def test_what_cannot_be_read_says_why(venire, write, name, content, words):
    found = looked_at(venire, write(name, content), code=2)
    assert found["kind"] == "unknown"
    assert words in found["problems"][0]["what"]


def test_preferences_are_not_taken_for_judgments(venire, write):
    found = looked_at(venire, write("prefs.txt", "1 a b a\n1 a c c\n"), code=2)
    assert found["kind"] == "unknown"
    assert "preferences" in found["problems"][0]["what"]


def test_a_damaged_file(venire, write):
    found = looked_at(venire, write("x.gz", gzip.compress(RUN.encode() * 100)[:60]), code=2)
    assert (found["kind"], len(found["problems"])) == ("unknown", 1)
    assert "end early or are damaged" in found["problems"][0]["what"]


def test_parquet_in_name_only(venire, write):
    found = looked_at(venire, write("x.parquet", b"PAR1 not really"), code=2)
    assert "cannot be read as Parquet" in found["problems"][0]["what"]


@pytest.mark.parametrize(("pack", "name"), [(gzip.compress, "gzip"), (zstandard.compress, "zstd")])
@pytest.mark.parametrize(("content", "kind"), [(QRELS, "TREC qrels"), (RUN, "TREC run")])
def test_compression(venire, write, pack, name, content, kind):
    found = looked_at(venire, write("packed", pack(content.encode())))
    assert (found["kind"], found["facts"]["compression"]) == (kind, name)
    assert found["facts"]["bytes"] == len(content)


@pytest.mark.parametrize("content", [QRELS, RUN])
def test_oddities_of_the_text(venire, write, content):
    lines = content.encode().splitlines()
    odd = b"\xef\xbb\xbf# a comment\r\n" + b"\r\n".join(lines[:2]) + b"\r\n\r\n" + b"\n".join(lines[2:])
    found = looked_at(venire, write("odd.txt", odd))
    facts = found["facts"]
    assert facts["encoding"] == "ASCII with byte order mark"
    assert (facts["line_ends"], facts["comments"], facts["empty_lines"], facts["lines"]) == ("LF and CRLF", 1, 1, 7)
    assert problems(found) == [
        (None, "4 of 7 lines end in CRLF, the others in LF"),
        (7, "the last line has no line end"),
    ]


@pytest.mark.parametrize("content", [QRELS, RUN])
def test_windows_line_ends_are_a_fact_and_no_problem(venire, write, content):
    found = looked_at(venire, write("odd.txt", content.replace("\n", "\r\n")))
    assert (found["facts"]["line_ends"], found["problems"]) == ("CRLF", [])


def test_bytes_that_are_not_utf8(venire, write):
    for content in (b"1 0 a 1\n1 0 caf\xe9 0\n", b"1 Q0 a 1 2 x\n1 Q0 caf\xe9 2 1 x\n"):
        found = looked_at(venire, write("latin.txt", content))
        assert found["facts"]["encoding"] == "not UTF-8"
        assert problems(found) == [(2, "is not UTF-8 from here on")]
    found = looked_at(venire, write("utf8.txt", "1 0 café 1\n"))
    assert (found["facts"]["encoding"], found["problems"]) == ("UTF-8", [])


def test_qrels_with_all_sorts_of_trouble(venire, write):
    lines = ["1 0 a 1", "1 0 b", "1 0 c 0 x", "1 0 a 1", "1 0 d 1", "1 0 d 0", "1 0 e\x01 0", "1 0 d 2"]
    found = looked_at(venire, write("q.txt", "\n".join(lines) + "\n"), code=2)
    assert found["kind"] == "TREC qrels"
    assert [line for line, _ in problems(found)] == [2, 3, 6, 7, 8, 4]
    assert problems(found)[2] == (6, "document 'd' gets label '0' for topic '1', but had another label before")
    assert "with the same label" in problems(found)[-1][1]


def test_repeated_labels_are_no_trouble_if_told_what_to_do(venire, write):
    qrels = write("q.txt", "1 0 a 1\n1 0 a 0\n")
    assert looked_at(venire, qrels, code=2)["facts"].get("labels") is None
    found = looked_at(venire, qrels, "--duplicate-labels", "keep")
    assert found["facts"]["labels"] == 2
    assert found["problems"] == []
    told_apart = looked_at(venire, write("g.txt", "1 x a 1\n1 y a 0\n"), "--second-column", "assessor")
    assert told_apart["problems"] == []
    assert told_apart["facts"]["assessors"] == 2


def test_labels_without_order_need_a_scale(venire, write):
    qrels = write("q.txt", "1 0 a Rel\n1 0 b Non\n")
    found = looked_at(venire, qrels, code=2)
    assert "the order of the labels is not known" in found["problems"][0]["what"]
    assert found["problems"][0]["line"] is not None
    assert looked_at(venire, qrels, "--scale", "Non<Rel")["facts"]["label_counts"] == {"q": {"Non": 1, "Rel": 1}}


def test_qrels_of_which_nothing_counts(venire, write):
    found = looked_at(venire, write("q.txt", "1 0 a -1\n"), code=2)
    assert "no label that counts" in found["problems"][0]["what"]


def test_a_table_with_a_bad_row(venire, write):
    found = looked_at(venire, write("j.csv", "topic,doc,label\n1,a,1\n1,b\n"), code=2)
    assert found["kind"] == "judgments table (long)"
    assert found["problems"][0]["line"] == 3


def test_a_run_with_all_sorts_of_trouble(venire, write):
    lines = [
        *["1 Q0 a 1 3 x", "1 Q0 b 2 5 x", "1 Q0 c 3 5 x", "1 Q0 a 4 1 x", "1 Q0 d 5 x"],
        *["2 Q0 a 1 high x", "2 Q0 b first 2 x", "2 Q0 c 1 nan x", "2 Q0 d 9 1 x"],
    ]
    found = looked_at(venire, write("r.run", "\n".join(lines) + "\n"), code=2)
    assert problems(found) == [
        (4, "document 'a' is ranked twice for topic '1'"),
        (5, "found 5 columns in '1 Q0 d 5 x', expected 6: topic, Q0, document, rank, score, tag"),
        (6, "score 'high' is not a finite number, expected one in column 5"),
        (8, "score 'nan' is not a finite number, expected one in column 5"),
        (1, "the rank column contradicts the scores"),
        (2, "the score is higher than on the line before"),
        (7, "the rank is not a number"),
    ]
    assert found["facts"]["rows"] == 6
    assert found["facts"]["tied_share"] == pytest.approx(2 / 6)


def test_interleaved_topics(venire, write):
    found = looked_at(venire, write("r.run", "1 Q0 a 1 3 x\n2 Q0 a 1 3 x\n1 Q0 b 2 2 x\n2 Q0 b 2 2 x"))
    assert problems(found) == [
        (3, "the list of topic '1' goes on after other lists (2 scattered lists)"),
        (4, "the last line has no line end"),
    ]
    assert found["facts"]["depth"] == {"min": 2, "median": 2.0, "max": 2}


def test_a_run_that_was_cut_off(venire, write):
    found = looked_at(venire, write("r.run", "1 Q0 a 1 3 bm25\n1 Q0 b 2 2 bm25\n1 Q0 c 3 1 bm"), code=2)
    assert [line for line, _ in problems(found)] == [3]
    assert "cut off" in found["problems"][0]["hint"]


def test_single_precision_would_make_more_ties(venire, write):
    found = looked_at(venire, write("r.run", "1 Q0 a 1 1.00000001 x\n1 Q0 b 2 1.0 x\n1 Q0 c 3 0.5 x\n1 Q0 d 4 0.5 x\n"))
    assert (found["facts"]["tied_share"], found["facts"]["tied_share_float32"]) == (0.5, 1.0)


def test_systems_of_several_files(venire, run, write):
    write("runs/a.run", RUN)
    write("runs/b.run", RUN.replace("sys", "other"))
    answer = venire("inspect", run.parent / "runs", run, "--format", "json")
    assert answer.code == 0
    assert [each["kind"] for each in loaded(answer.out)["files"]] == ["TREC run"] * 3
    assert answer.err.startswith("note: system 'sys' is in ")
    assert "--system-from file" in answer.err


def test_in_words(venire, qrels, write):
    bad = write("bad.run", "1 Q0 a 1 1 x\n1 Q0 a 2 1 x\n")
    answer = venire("inspect", qrels, bad)
    assert answer.code == 2
    assert answer.out.splitlines() == [
        f"{qrels}: TREC qrels",
        "  not compressed, 40 bytes, 5 lines, ASCII, LF",
        "  scale: 0<1<2",
        "  labels: 5",
        "  topics: 2",
        "  items: 5",
        "  assessors: 1",
        "  labels per item: 5 with 1",
        "  assessor  labels  0     1     2",
        "  qrels          5   40%   40%   20%",
        "  note: the scale 0<1<2 is inferred from the labels that occur; linear gains are their numbers",
        "",
        f"{bad}: TREC run, not readable",
        "  not compressed, 26 bytes, 2 lines, ASCII, LF",
        "  rows: 2",
        "  systems: 1 (x)",
        "  topics: 1",
        "  topics per system: 1",
        "  depth: 2",
        "  tied share: 100.00% of the rows",
        "  tied share float32: 100.00% of the rows",
        "  repeated documents: 1",
        "  error: line 2: document 'a' is ranked twice for topic '1'",
        "    hint: correct the run or keep the first of repeated documents (duplicate_docs first)",
    ]


def test_many_assessors_are_not_all_shown_to_people(venire, write):
    rows = "".join(f"1,a,w{n:02d},1\n" for n in range(30))
    answer = venire("inspect", write("j.csv", f"topic,doc,assessor,label\n{rows}"))
    assert "w19" in answer.out
    assert "w20" not in answer.out
    assert "and 10 more assessors" in answer.out


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_a_row_per_fact_and_problem(venire, write, form):
    bad = write("bad.run", "1 Q0 a 1 1 x\n1 Q0 a 2 1 x\n")
    answer = venire("inspect", bad, "--format", form)
    assert answer.code == 2
    assert "ranked twice" in answer.out
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(answer.out)))
        assert rows[0] == {
            "file": str(bad),
            "kind": "TREC run",
            "about": "compression",
            "line": "",
            "value": "not compressed",
        }
        assert [row["line"] for row in rows if row["about"] == "problem"] == ["2"]


def test_the_result_can_go_to_a_file(venire, qrels, tmp_path):
    answer = venire("inspect", qrels, "-o", tmp_path / "facts.txt")
    assert (answer.code, answer.out) == (0, "")
    assert (tmp_path / "facts.txt").read_text() == venire("inspect", qrels).out


@pytest.mark.parametrize(("args", "words"), [(["nowhere"], "no such file"), ([], "FILES")])
def test_nothing_to_look_at(venire, args, words):
    answer = venire("inspect", *args)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_a_limit_is_named_with_its_option(venire, write):
    answer = venire("inspect", write("q.txt", f"1 0 a 1\n1 0 b 1\n1 0 {'d' * 200_000} 1\n"))
    assert answer.code == 2
    assert "raise the limit (--limit field-length=512KiB)" in answer.out


def test_an_error_in_the_file_beside_names_it(venire, write):
    write("q.toml", "scale = ")
    answer = venire("inspect", write("q.txt", "1 0 a 1\n"))
    assert answer.code == 2
    assert "q.toml: is not TOML" in answer.out


def test_standard_input_is_inspected(venire):
    assert "TREC qrels" in venire("inspect", "-", stdin="1 0 a 1\n1 0 b 0\n").out
