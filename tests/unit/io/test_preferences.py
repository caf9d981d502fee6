"""Reading preferences: formats, signs, marks, lines of errors, and real files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from venire import FormatError
from venire.data.preferences import Preferences
from venire.io.preferences import read_preferences
from venire.io.tables.columns import kind_of_table

LONG = pl.DataFrame(
    {
        "topic": ["q1", "q1", "q2"],
        "left": ["d1", "d2", "d1"],
        "right": ["d2", "d3", "d9"],
        "assessor": ["ann", "bob", "ann"],
        "strength": [2.0, 0.0, -1.5],
    }
)


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def rows(table: Preferences) -> list[tuple[object, ...]]:
    return table.to_polars().rows()


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "txt"])
def test_every_format_reads_alike(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"prefs.{ending}"
    if ending == "jsonl":
        LONG.write_ndjson(path)
    elif ending == "parquet":
        LONG.write_parquet(path)
    else:
        LONG.write_csv(path, separator={"csv": ",", "tsv": "\t", "txt": " "}[ending])
    assert rows(read_preferences(path)) == LONG.rows()


def test_frames_dictionaries_and_lists_of_sources(tmp_path: Path) -> None:
    path = tmp_path / "more.csv"
    LONG.write_csv(path)
    for source in (LONG, LONG.to_pandas(), LONG.to_dict(as_series=False), Preferences.of([])):
        if not isinstance(source, Preferences):
            assert rows(read_preferences(source)) == LONG.rows()
    assert rows(read_preferences([LONG, str(path)])) == LONG.rows() * 2
    assert read_preferences(table := Preferences.of([("t", "a", "b", 1)])) is table


@pytest.mark.parametrize(
    ("column", "sign"),
    [("strength", 1), ("Strength", 1), ("left_better", 1), ("strength_right", -1), ("Right Better", -1), ("score", 1)],
)
def test_the_column_names_the_sign(tmp_path: Path, column: str, sign: int) -> None:
    path = written(tmp_path / "p.csv", f"QID,A,B,{column}\nq,d1,d2,+3\nq,d1,d3,-.5\nq,d2,d3,0\n")
    table = read_preferences(path)
    assert table.strength.tolist() == [3 * sign, -0.5 * sign, 0]
    assert table.assessors == ("p",)
    assert [note.kind for note in table.notes] == ["sign-assumed"] * (column == "score")


def test_the_simple_form_reads_ids_ties_and_marks(tmp_path: Path) -> None:
    lines = ["d1", "d2", "=", "tie", "TIE", "", "?", "!", "left", "right"]
    text = "topic,a,b,preferred\n" + "".join(f"q{n},d1,d2,{each}\n" for n, each in enumerate(lines))
    table = read_preferences(written(tmp_path / "p.csv", text))
    assert table.strength.tolist() == [1, -1, 0, 0, 0, 0, 1, 1, -1]
    assert [str(note) for note in table.notes] == [f"{tmp_path / 'p.csv'}: 1 row marked '?' (not judged) left out"]
    assert "q6" not in [row[0] for row in rows(table)]


def test_a_document_may_be_called_as_a_mark_is(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", "topic,a,b,preferred\nq,right,left,right\nq,=,x,=\n")
    assert read_preferences(path).strength.tolist() == [1, 1]


PLANNED = "topic\tdoc\tjudge\tkind\tprobability\treason\tother"


@pytest.mark.parametrize(("judge", "who"), [("", "choices"), ("ann", "ann")])
@pytest.mark.parametrize("ending", ["tsv", "txt"])
def test_a_plan_with_its_choices_is_read(tmp_path: Path, ending: str, judge: str, who: str) -> None:
    lines = [f"q1\td 1\t{judge}\tpreference\t0.5\t2 against 1\td 2\t{each}" for each in ("d 1", "d 2", "=", "?")]
    path = written(tmp_path / f"choices.{ending}", "\n".join([f"{PLANNED}\tpreferred", *lines]))
    assert rows(read_preferences(path)) == [("q1", "d 1", "d 2", who, each) for each in (1.0, -1.0, 0.0)]
    signs = written(tmp_path / "choices.tsv", f"{PLANNED}\tstrength\n{lines[0].removesuffix('d 1')}-2")
    assert rows(read_preferences(signs)) == [("q1", "d 1", "d 2", who, -2.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{PLANNED}\nq1\td1\t\tpreference\t0.5\t2 against 1\td2", "with one more column, preferred"),
        (f"{PLANNED}\tpreferred\nq1\td1\t\tpreference\t0.5\t2 against 1\td2\t", "the choice is empty"),
    ],
)
def test_what_is_planned_is_no_choice(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError) as error:
        read_preferences(written(tmp_path / "plan.tsv", text))
    assert message in f"{error.value.message} {error.value.hint}"


def test_columns_of_a_plan_name_documents_in_plans_only(tmp_path: Path) -> None:
    lists = read_preferences(written(tmp_path / "lists.csv", "topic,doc,other,strength\nq1,d1,a remark,1"))
    assert rows(lists) == [("q1", "left", "right", "lists", 1.0)]
    for text in ("topic,doc,other,rating,label\nq1,d1,a remark,1,2", f"{PLANNED}\tlabel\tpreferred".replace("\t", ",")):
        with pytest.raises(FormatError, match="looks like judgments"):
            read_preferences(written(tmp_path / "labels.csv", text + "\n1,2,3,4,5,6,7,8,9"))


@pytest.mark.parametrize("choice", ["preferred", "strength", "winner"])
def test_a_plan_with_its_choices_is_recognised_as_preferences(choice: str) -> None:
    assert kind_of_table([*PLANNED.split(), choice]) == "preferences"
    assert kind_of_table([name for name in PLANNED.split() if name != "other"] + [choice]) == "a plan"


def test_lines_without_header(tmp_path: Path) -> None:
    path = tmp_path / "prefs.txt.gz"
    path.write_bytes(gzip.compress(b"# by a crowd\n23287 p1 p2 p1\n23287\tp3  p4 p4\n\n23287 p3 p5 =\n23287 p3 p6 ?"))
    table = read_preferences(path)
    assert rows(table)[:2] == [("23287", "p1", "p2", "prefs", 1.0), ("23287", "p3", "p4", "prefs", -1.0)]
    assert table.strength.tolist() == [1, -1, 0]


def test_lists_compared_as_a_whole_have_no_documents(tmp_path: Path) -> None:
    path = written(tmp_path / "serps.tsv", "assessor\tqid\tscore\n1\t363\t-2\n7\t363\t4\n")
    table = read_preferences(path, sides=("PSCM", "UBM"))
    assert rows(table) == [("363", "PSCM", "UBM", "1", -2.0), ("363", "PSCM", "UBM", "7", 4.0)]
    assert (table.notes[0].kind, table.notes[0].fields["left"]) == ("lists-compared", "PSCM")


def test_one_sign_with_zeros_is_remarked_on(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", "topic,a,b,left_better\nq,d1,d2,1\nq,d1,d3,0\n")
    assert read_preferences(path).notes[0].kind == "one-sign"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("topic,a,b,preferred\nq,d1,d2,d1\nq,d1,d2,d3\n", 3, "'d3' is preferred, which is neither of 'd1' and 'd2'"),
        ("topic,a,b,preferred\n\nq,d1,d1,d1\n", 3, "'d1' is compared with itself"),
        ("topic,a,b,preferred\nq,d1,,d1\n", 2, "the right is empty"),
        ("topic,a,b,preferred\n,d1,d2,d1\n", 2, "the topic is empty"),
        ("topic,a,b,preferred\nq,d1,d2\n", 2, "found 3 fields, expected 4"),
        ("topic,a,b,strength\nq,d1,d2,much\n", 2, "'much' is not a number"),
        ("topic,a,b,strength\nq,d1,d2,1\nq,d1,d2,nan\n", 3, "'nan' is not a number"),
        ("topic,a,b,strength\nq,d1,d2,\n", 2, "the strength is empty"),
        ("topic,a,b,assessor,strength\nq,d1,d2,,1\n", 2, "the assessor is empty"),
        ("topic,a,b,strength,preferred\nq,d1,d2,1,d1\n", 1, "'strength' and 'preferred' both contain the choice"),
        ("topic,a,doc1,b,strength,note\nq,d1,d2,d3,,x\n", 2, "the strength is empty"),
        ("topic,a,b,note\nq,d1,d2,x\n", 1, "no column for the choice: found topic, a, b, note"),
        ("topic,a,strength\nq,d1,2\n", 1, "no column for the other document"),
        ("topic,left,leftdoc,b,strength\nq,d1,d2,d3,1\n", 1, "'left' and 'leftdoc' could both be the left"),
        ("topic,preferred\nq,d1\n", 1, "no columns for the two documents"),
        ("topic,a,b,strength\n", None, "holds no preferences"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    path = written(tmp_path / "p.csv", text)
    with pytest.raises(FormatError) as caught:
        read_preferences(path)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("q d1 d2 d1\nq d1 d2\n", 2, "found 3 columns in 'q d1 d2', expected 4: topic, left, right, preferred"),
        ("q d1 d2 d1\n\nq d1 d2 d7\n", 3, "'d7' is preferred"),
        ("topic a b strength\nq d1 d2 1\nq d2 d2 1\n", 3, "compared with itself"),
        ("q d1 d2 \x01\n", 1, "control byte"),
        ("# nothing\n", None, "holds no preferences"),
    ],
)
def test_errors_in_plain_lines_name_the_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_preferences(written(tmp_path / "p.txt", text))
    assert message in str(caught.value)
    assert caught.value.line == line


def test_errors_in_json_and_frames_name_the_row(tmp_path: Path) -> None:
    good = {"topic": "q", "a": "d1", "b": "d2", "preferred": "d1"}
    text = "\n".join(json.dumps(each) for each in (good, good | {"preferred": "d3"}))
    with pytest.raises(FormatError, match=r"p\.jsonl:2: 'd3' is preferred"):
        read_preferences(written(tmp_path / "p.jsonl", text))
    with pytest.raises(FormatError, match="frame:3: 'd1' is compared with itself"):
        read_preferences(LONG.with_columns(right=pl.Series(["d2", "d3", "d1"])))
    with pytest.raises(FormatError, match="nothing was named"):
        read_preferences([])


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("dl21_full/prefs_crowd.txt.gz", "11,681 choices (0 ties) on 8,685 pairs of 50 topics by 1 assessor"),
        (
            "dl21_full/prefs_gpt4o_same_pairs.txt.gz",
            "9,416 choices (2,423 ties) on 6,742 pairs of 46 topics by 1 assessor",
        ),
        ("cast19_prefs/prefs_crowd.txt.gz", "14,573 choices (0 ties) on 12,490 pairs of 171 topics by 1 assessor"),
        ("cast19_prefs/prefs_local.txt.gz", "3,743 choices (0 ties) on 3,704 pairs of 171 topics by 1 assessor"),
        (
            "serp_prefs_clicks_sogou/serp_preferences.tsv",
            "1,104 choices (287 ties) on 200 pairs of 200 topics by 22 assessors",
        ),
    ],
)
def test_real_files(data_dir: Path, name: str, sentence: str) -> None:
    assert read_preferences(data_dir / name).sentence() == sentence


def test_the_marked_file_leaves_out_what_was_not_judged(data_dir: Path) -> None:
    table = read_preferences(data_dir / "dl21_full" / "prefs_gpt4o_same_pairs.txt.gz")
    assert int((table.strength == 1).sum()) == 6993
    assert (table.notes[0].kind, table.notes[0].fields["n"]) == ("not-judged", 2265)
