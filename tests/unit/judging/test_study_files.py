"""Study files: what is read, and where an error is."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies_on_disk import HEAD, LABELS, write_study
from venire.data.asked import Asked
from venire.errors import FormatError
from venire.io.plans import write_plan
from venire.judging.samples import ASSETS, write_sample
from venire.judging.study import Aspect, Assessor, Defined, Order
from venire.judging.study_files import read_study
from venire.judging.study_keys import KEYS, REQUIRED, shown


@pytest.fixture
def tasks(tmp_path):
    """Read the tasks of a study whose [[tasks]] are these."""

    def read(text: str, **files):
        return read_study(write_study(tmp_path, HEAD + text, {k.replace("_", "."): v for k, v in files.items()}))[1]

    return read


def refused(folder: Path, text: str, files=None) -> FormatError:
    with pytest.raises(FormatError) as caught:
        read_study(write_study(folder, text, files or {}))
    return caught.value


def line_of(text: str, words: str) -> int:
    """The first line with these words."""
    return next(n for n, line in enumerate(text.splitlines(), start=1) if words in line)


def test_what_a_study_says_is_read(tmp_path):
    study, tasks = read_study(write_study(tmp_path))
    assert (study.name, study.title, study.guidelines) == ("small", "small", "Judge the page.")
    assert study.scale == (Defined("0", "not relevant"), Defined("1"), Defined("2"))
    assert study.assessors == (Assessor("ann", reference=True), Assessor("bob"), Assessor("model", "machine"))
    assert (study.people, study.machines) == (("ann", "bob"), ("model",))
    assert study.topics["q1"].description == "how long"
    assert study.documents["d2"].data() == b"Text of d2"
    assert study.order == Order()
    assert study.database == str(tmp_path / "study.db")
    assert [(task.topic, task.doc, task.needed, task.position) for task in tasks] == [
        ("q1", "d1", 1, 0),
        ("q1", "d2", 1, 1),
        ("q1", "d3", 1, 2),
        ("q2", "d1", 1, 3),
        ("q2", "d4", 1, 4),
    ]


def test_the_sample_runs_and_has_every_kind(tmp_path):
    path = tmp_path / "demo.toml"
    assert {each.name for each in write_sample(path)} == {"demo.toml", *ASSETS[1:]}
    study, tasks = read_study(path)
    assert {task.kind for task in tasks} == {"label", "conditional", "aspects", "preference", "lists"}
    assert [task.needed for task in tasks if task.kind == "label"] == [2, 1, 2, 2, 2, 1]
    assert study.aspects[0] == Aspect("reliability", "Would you rely on what this page says?", study.scale)
    assert [label.name for label in study.aspects[1].labels] == ["low", "high"]
    assert list(study.lists) == ["first", "second"]


def test_nothing_is_overwritten_by_the_sample(tmp_path):
    (tmp_path / "pool.tsv").write_text("mine")
    with pytest.raises(OSError, match=r"pool.tsv: is there already"):
        write_sample(tmp_path / "demo.toml")
    assert [each.name for each in tmp_path.iterdir()] == ["pool.tsv"]


def test_a_plan_keeps_judges_and_probabilities(tmp_path, tasks):
    plan = [
        Asked("q1", "d1", "bob", "second", 0.25, "label 2"),
        Asked("q1", "d2", "ann", "reference", 1.0, "rank 1"),
        Asked("q2", "d4", "", "preference", 0.5, "close", "d1"),
    ]
    write_plan(plan, tmp_path / "plan.tsv")
    found = tasks('[[tasks]]\nplan = "plan.tsv"\njudgments = 2\n')
    assert [(t.kind, t.doc, t.other, t.judge, t.probability, t.needed) for t in found] == [
        ("label", "d1", "", "bob", 0.25, 1),
        ("label", "d2", "", "ann", 1.0, 1),
        ("preference", "d4", "d1", "", 0.5, 2),
    ]


def test_tasks_come_from_runs_pairs_and_qrels(tasks):
    runs = '[[tasks]]\nkind = "{}"\nruns = ["a.run", "b.run"]\ndepth = 2\n'
    assert [(t.topic, t.doc) for t in tasks(runs.format("label"))] == [
        ("q1", "d1"),
        ("q1", "d2"),
        ("q2", "d4"),
        ("q2", "d1"),
        ("q1", "d3"),
    ]
    assert [(t.topic, t.doc, t.given) for t in tasks(runs.format("conditional"))] == [
        ("q1", "d2", "d1"),
        ("q2", "d1", "d4"),
        ("q1", "d1", "d3"),
    ]
    assert [(t.topic, t.doc, t.other) for t in tasks(runs.format("lists"))] == [("q1", "a", "b"), ("q2", "a", "b")]
    pairs = (
        '[[tasks]]\nkind = "preference"\npairs = "pairs.tsv"\n[[tasks]]\nkind = "conditional"\npairs = "given.tsv"\n'
    )
    assert [(t.doc, t.other, t.given) for t in tasks(pairs)] == [
        ("d1", "d2", ""),
        ("d1", "d4", ""),
        ("d2", "", "d1"),
        ("d3", "", "d1"),
    ]
    qrels = tasks('[[tasks]]\nkind = "label"\npool = "some.qrels"\n', some_qrels="q1 0 d3 1\nq2 0 d4 0\n")
    assert [(t.topic, t.doc, t.gold) for t in qrels] == [("q1", "d3", ""), ("q2", "d4", "")]


def test_a_pool_may_have_probabilities(tasks):
    found = tasks(LABELS, pool_tsv="topic\tdoc\tprobability\nq1\td1\t0.5\nq1\td2\t\n")
    assert [task.probability for task in found] == [0.5, None]


def test_columns_that_are_not_asked_for_are_not_read(tasks):
    found = tasks(LABELS, pool_tsv="topic\tdoc\tgiven\tother\nq1\td1\td2\td3\n")
    assert [(task.doc, task.given, task.other) for task in found] == [("d1", "", "")]


def test_second_judgments_gold_and_fixed_assignment(tasks):
    more = LABELS + 'second = { share = 0.4 }\ngold = "gold.qrels"\nassign = "fixed"\nassessors = ["bob", "ann"]\n'
    found = tasks(more, gold_qrels="q1 0 d1 2\nq7 0 x 0\n")
    assert sum(task.needed for task in found) == len(found) == 7, "two of five have a second judge"
    assert {task.judge for task in found} == {"ann", "bob"}
    assert {task.doc for task in found if task.gold == "2" and task.topic == "q1"} == {"d1"}


def test_second_judgments_of_what_is_in_the_lists_of_runs(tasks):
    found = tasks(LABELS + 'second = { share = 1, runs = ["b.run"], depth = 1 }\n')
    assert [(task.topic, task.doc) for task in found if task.needed == 2] == [("q1", "d3"), ("q2", "d1")]


def test_one_document_goes_to_one_person_in_all_kinds(tasks):
    fixed = 'assign = "fixed"\n'
    found = tasks(LABELS + fixed + '[[tasks]]\nkind = "conditional"\npairs = "given.tsv"\n' + fixed)
    judge = {(task.topic, task.doc): task.judge for task in found if task.kind == "label"}
    assert all(task.judge == judge[task.topic, task.doc] for task in found)


ON_ASPECTS = '[[aspects]]\nname = "overall"\n[[aspects]]\nname = "new"\n'


def test_golbus_as_a_preset(tasks):
    preset = '[[tasks]]\npreset = "golbus"\nruns = ["a.run", "b.run"]\n'
    twice = tasks(f"{ON_ASPECTS}{preset}judgments = 2\n")
    assert {(task.kind, bool(task.given)) for task in twice} == {
        ("aspects", False),
        ("aspects", True),
        ("lists", False),
    }
    found = tasks(preset)
    assert sum(task.kind != "lists" for task in twice) == 2 * sum(task.kind != "lists" for task in found)
    assert {task.kind for task in found} == {"label", "conditional", "lists"}, "a study without aspects"
    judges = {topic: {task.judge for task in found if task.topic == topic and task.judge} for topic in ("q1", "q2")}
    assert all(len(names) == 1 for names in judges.values()), "one assessor judges all documents of a topic"
    assert {task.needed for task in found if task.kind == "lists"} == {2}


def test_documents_are_in_a_folder_beside_their_titles(tmp_path):
    text = (HEAD + LABELS).replace('file = "docs.jsonl"', 'file = "docs.jsonl"\nfolder = "pages"')
    docs = '{"doc": "d1", "title": "One"}\n{"doc": "d2", "html": "<p>2"}\n{"doc": "d3", "file": "more/d3.PNG"}\n'
    pages = {"pages/d1.html": b"<p>\xff", "pages/d4.txt": "four", "more/d3.PNG": b"\x89PNG", "pages/README": "no page"}
    study, _ = read_study(write_study(tmp_path, text, {"docs.jsonl": docs, **pages}))
    assert {doc: (each.kind, each.data()) for doc, each in study.documents.items()} == {
        "d1": ("html", b"<p>\xff"),
        "d2": ("html", b"<p>2"),
        "d3": ("image", b"\x89PNG"),
        "d4": ("text", b"four"),
    }
    assert study.documents["d1"].title == "One"


def test_pages_of_many_megabytes_are_read_when_they_are_shown(tmp_path):
    text = (HEAD + LABELS).replace('file = "docs.jsonl"', 'folder = "pages"')
    path = write_study(tmp_path, text, {f"pages/d{n}.txt": "" for n in range(1, 5)})
    with (tmp_path / "pages" / "d1.txt").open("wb") as file:
        file.truncate(1 << 34)
    study, _ = read_study(path)
    assert study.documents["d1"].file == tmp_path / "pages" / "d1.txt"


@pytest.mark.parametrize("way", ["link", "parent", "absolute", "folder", "linked folder"])
def test_documents_do_not_leave_the_folder_of_the_study(tmp_path, way):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    home = tmp_path / "home"
    home.mkdir()
    text, docs = HEAD + LABELS, '{"doc": "d1", "file": "d1.txt"}\n'
    if way == "link":
        (home / "d1.txt").symlink_to(secret)
    elif way in ("parent", "absolute"):
        docs = docs.replace("d1.txt", "../secret.txt" if way == "parent" else str(secret))
    else:
        name = "away" if way == "linked folder" else ".."
        (home / "away").symlink_to(tmp_path)
        text = text.replace('file = "docs.jsonl"', f'folder = "{name}"')
    error = refused(home, text, {"docs.jsonl": docs})
    assert "not in the folder of the study" in error.what or "no folder" in error.what
    assert error.line == line_of(text, "docs.jsonl" if "docs.jsonl" in text else "folder =")
    assert str(tmp_path) not in error.what.replace(str(home / "docs.jsonl"), "")


WRONG = {
    "unknown key": ('name = "small"', 'nmae = "small"', "nmae", "there is no key of [study] 'nmae'"),
    "unknown table": ("[topics]", "[topic]", "[topic]", "there is no table 'topic'"),
    "missing key": ('name = "small"\n', "", "[study]", "[study] needs name"),
    "a name with a space": ('name = "small"', 'name = "a b"', 'name = "a b"', "name is 'a b'"),
    "a number for a text": ('name = "small"', "name = 7", "name = 7", "name is 7, expected text"),
    "a label twice": ('name = "2"', 'name = "1"', 11, "label '1' comes twice"),
    "the label for nothing": ('name = "2"', 'name = "N/A"', "N/A", "the label is 'N/A'"),
    "an assessor twice": ('name = "bob"', 'name = "ann"', 23, "assessor 'ann' comes twice"),
    "a name that is a path": ('name = "bob"', 'name = "../bob"', "../bob", "the name of the assessor is '../bob'"),
    "an unknown kind of assessor": ('"machine"', '"machina"', "machina", "there is no kind 'machina'"),
    "a missing file": ('"topics.tsv"', '"topic.tsv"', "topic.tsv", "there is no file 'topic.tsv'"),
    "an unknown kind": ('kind = "label"', 'kind = "labels"', '"labels"', "there is no kind 'labels'"),
    "no source": ('pool = "pool.tsv"', "", "[[tasks]]", "found nothing, expected one of plan, pool, runs, pairs"),
    "two sources": ("pool =", 'pairs = "pairs.tsv"\npool =', "[[tasks]]", "found pool and pairs"),
    "a source of another kind": ('"label"', '"preference"', "pool =", "is no source of preference tasks"),
    "too many judgments": ("pool =", "judgments = 3\npool =", "judgments", "3 judgments of each, by 2 people"),
    "none": ("pool =", "judgments = 0\npool =", "judgments", "judgments is 0, expected a whole number from 1 to 1,000"),
    "true for a number": ("pool =", "depth = true\npool =", "depth", "depth is True, expected a whole number"),
    "not a number": ("[topics]", "[order]\nrepeats = nan\n[topics]", "nan", "repeats is nan, expected"),
    "assessors that are not fixed": ("pool =", 'assessors = ["ann"]\npool =', "assessors =", "everybody may come"),
    "an unknown person": (
        "pool =",
        'assign = "fixed"\nassessors = [\n"ann",\n"anne"]\npool =',
        '"anne"',
        "there is no person 'anne'",
    ),
    "no share": ("pool =", "second = { }\nsecond.x = 1\npool =", 31, "Cannot mutate immutable namespace"),
    "an unknown key of second": ("pool =", "second = { shares = 1 }\npool =", "shares", "no key of [tasks.second]"),
    "aspects that are not defined": ('"label"', '"aspects"', "aspects", "there are no aspects"),
    "not TOML": ("[topics]", "[topics", "[topics", "is not TOML"),
    "a preset with a kind": ("pool =", 'preset = "golbus"\npool =', 'kind = "label"', "has kinds of its own"),
}


@pytest.mark.parametrize(("old", "new", "place", "message"), WRONG.values(), ids=WRONG)
def test_an_error_names_the_line(tmp_path, old, new, place, message):
    text = (HEAD + LABELS).replace(old, new, 1)
    error = refused(tmp_path, text)
    assert message in error.what
    assert error.line == (place if isinstance(place, int) else line_of(text, place))
    assert error.where == tmp_path / "study.toml"


OTHERS = {
    "a topic twice": ({"topics.tsv": "topic\tquery\nq1\ta\nq1\tb\n"}, "topics.tsv:3: topic 'q1' comes twice"),
    "no header": ({"topics.tsv": "q1\ta\nq2\tb\n"}, "no column for the topic"),
    "an unknown topic": ({"pool.tsv": "topic\tdoc\nq1\td1\nq7\td1\n"}, "line 3 of pool.tsv: there is no topic 'q7'"),
    "an unknown document": ({"pool.tsv": "topic\tdoc\nq1\td1\nq1\td11\n"}, "there is no document 'd11'"),
    "no document": ({"pool.tsv": "topic\tdoc\nq1\t\n"}, "line 2 of pool.tsv: found an empty cell"),
    "a document twice": ({"docs.jsonl": '{"doc": "d1", "text": ""}\n' * 2}, "docs.jsonl:2: document 'd1' comes twice"),
    "no JSON": ({"docs.jsonl": '{"doc": "d1"}\n{]\n'}, "docs.jsonl:2: found '{]'"),
    "no id": ({"docs.jsonl": '{"text": "x"}\n'}, "docs.jsonl:1: no id"),
    "two pages": ({"docs.jsonl": '{"doc": "d1", "text": "", "html": ""}\n'}, "document 'd1' has html and text"),
    "no page": ({"docs.jsonl": '{"doc": "d1", "title": "x"}\n'}, "document 'd1' has no page"),
    "a control": ({"topics.tsv": "topic\tquery\nq\x01\ta\n"}, "the topic is 'q\\x01'"),
    "a long line": ({"docs.jsonl": '{"doc": "d1", "text": "' + "x" * (1 << 20) + '"}'}, "the limit is 1MiB"),
    "a probability": ({"pool.tsv": "topic\tdoc\tprobability\nq1\td1\t2\n"}, "pool.tsv:2: the probability is 2"),
}


@pytest.mark.parametrize(("files", "message"), OTHERS.values(), ids=OTHERS)
def test_what_is_wrong_in_another_file(tmp_path, files, message):
    error = refused(tmp_path, HEAD + LABELS, files)
    assert message in error.what
    assert error.line is not None


@pytest.mark.parametrize("name", ["x" * 5_000, "a\\u0000b", "."])
@pytest.mark.parametrize("key", ['file = "topics.tsv"', 'file = "docs.jsonl"', 'folder = "pages"', 'pool = "pool.tsv"'])
def test_a_name_that_no_file_can_have(tmp_path, key, name):
    text = (HEAD + LABELS).replace('file = "docs.jsonl"', 'file = "docs.jsonl"\nfolder = "pages"')
    (tmp_path / "pages").mkdir()
    value = key.partition(" = ")[2]
    if (key, name) != ('folder = "pages"', "."):
        error = refused(tmp_path, text.replace(value, f'"{name}"'))
        assert "there is no f" in error.what
        assert error.line == line_of(text, key)


def test_nearest_names_are_suggested(tmp_path):
    error = refused(tmp_path, (HEAD + LABELS).replace("judgments", "x").replace("pool =", "judgements = 2\npool ="))
    assert "'judgments'" in (error.hint or "")


def test_the_same_task_twice(tmp_path):
    text = HEAD + LABELS + LABELS
    error = refused(tmp_path, text)
    assert "asked for twice" in error.what
    assert error.line == len(text.splitlines()) - 2


def test_aspects_given_another_document_come_from_pairs(tasks):
    found = tasks(f'{ON_ASPECTS}[[tasks]]\nkind = "aspects"\npairs = "given.tsv"\n')
    assert [(task.kind, task.doc, task.given) for task in found] == [("aspects", "d2", "d1"), ("aspects", "d3", "d1")]


@pytest.mark.parametrize(("kind", "columns"), [("preference", "left\tright"), ("conditional", "doc\tgiven")])
def test_a_pair_has_two_documents(tmp_path, kind, columns):
    text = f'{HEAD}[[tasks]]\nkind = "{kind}"\npairs = "pairs.tsv"\n'
    error = refused(tmp_path, text, {"pairs.tsv": f"topic\t{columns}\nq1\td1\td2\nq1\td2\t\n"})
    assert "line 3 of pairs.tsv: found an empty cell" in error.what


GOLD = {
    "label": ("topic\tdoc\tlabel\nq1\td1\t2\n", {"d1": "2"}),
    "conditional": ("topic\tdoc\tgiven\tlabel\nq1\td1\t\t2\nq1\td2\td1\t0\n", {"d2": "0"}),
    "aspects": (
        "topic\tdoc\taspect\tlabel\nq1\td1\toverall\t2\nq1\td1\tnew\tN/A\nq2\td4\tnew\t1\n",
        {"d1": '{"new": "N/A", "overall": "2"}', "d4": '{"new": "1"}'},
    ),
    "preference": ("topic\tleft\tright\tstrength\nq1\td2\td1\t2\nq2\td1\td4\t0\n", {"d1": "-1", "d1 d4": "0"}),
    "lists": ("topic\tleft\tright\tstrength\nq1\ta\tb\t1\n", {"a": "1"}),
}


@pytest.mark.parametrize("kind", GOLD)
def test_gold_of_every_kind(tasks, kind):
    text, expected = GOLD[kind]
    source = {"lists": 'runs = ["a.run", "b.run"]', "preference": 'pairs = "pairs.tsv"'}
    source |= {"conditional": 'pairs = "given.tsv"'}
    found = tasks(
        f'{ON_ASPECTS}[[tasks]]\nkind = "{kind}"\ngold = "gold.tsv"\n{source.get(kind, LABELS.splitlines()[-1])}\n',
        gold_tsv=text,
    )
    gold = {task.doc if (task.doc, task.other) != ("d1", "d4") else "d1 d4": task.gold for task in found if task.gold}
    assert gold == expected


def test_gold_is_on_the_scale_and_of_the_tasks(tmp_path):
    text = HEAD + LABELS + 'gold = "gold.qrels"\n'
    assert "label '7' is not on the scale" in refused(tmp_path, text, {"gold.qrels": "q1 0 d1 7\n"}).what
    assert "no answer to what is asked" in refused(tmp_path, text, {"gold.qrels": "q1 0 d9 1\n"}).what


def test_lists_of_one_system_do_not_change(tmp_path):
    lists = '[[tasks]]\nkind = "lists"\nruns = ["a.run", "b.run"]\ndepth = {}\n'
    assert "has other lists" in refused(tmp_path, HEAD + lists.format(1) + lists.format(2)).what


def test_bytes_that_are_no_text_do_not_reach_titles(tmp_path):
    docs = b'{"doc": "d1", "title": "caf\xe9 \\ud800", "text": "\\ud83d"}\n'
    pool = "topic\tdoc\nq1\td1\n"
    study, _ = read_study(write_study(tmp_path, HEAD + LABELS, {"docs.jsonl": docs, "pool.tsv": pool}))
    assert study.documents["d1"].title.encode() == b"caf? ?"
    assert study.documents["d1"].data() == b"?"


def test_every_key_is_documented():
    page = Path(__file__).parents[3] / "docs" / "reference" / "study-file.md"
    text = page.read_text(encoding="utf-8")
    for title, keys in KEYS.items():
        section = text.partition(f"\n## `{shown(title)}`" if title else "\n## Tables")[2].partition("\n## ")[0]
        rows = {line.split("`")[1]: line for line in section.splitlines() if line.startswith("| `")}
        expected = {shown(name) if not title else name for name in keys}
        assert set(rows) == expected, title
        for name, key in keys.items():
            cells = [cell.strip() for cell in rows[shown(name) if not title else name].strip("|").split("|")]
            assert cells[-1].rstrip(".").casefold() == key.meaning.casefold(), name
            assert (cells[2] == "required") == (key.default is REQUIRED), name
