"""Every further file of judgments is read and chosen among as JUDGMENTS are: --where, --scale and so on."""

from __future__ import annotations

from typing import NamedTuple

import click
import pytest

from json_results import loaded
from venire.cli.main import cli

SCALE = "Non<Rel<HRel"
LABELS = SCALE.split("<")
OTHER_FILES = {
    "--docs",
    *("--preferences", "--clicks", "--topics", "--duplicates", "--predict", "--features"),
    *("--intents", "--groups", "--features", "--check"),
}
"""Options that name a file of something else."""
FURTHER = {
    ("evaluate", "--fit-on"): "RUNS --assessor ann --gains prm:HRel",
    ("compare", "--fit-on"): "RUNS --assessor ann --gains prm:HRel --draws 20",
    ("certify", "--fit-on"): "RUNS --reference ann --judge bob --gains prm:HRel --draws 5",
    ("plan", "--fit-on"): "RUNS --goal best --budget 9 --reference cy --gains prm:HRel",
    ("count", "--fit-on"): "RUNS --assessor ann --relevant HRel --draws 5",
    ("robustness", "--fit-on"): "RUNS --gains linear --gains prm:HRel --draws 5",
    ("power", "--fit-on"): "RUNS --assessor ann --gains prm:HRel --draws 20",
    ("preferences", "--fit-on"): "RUNS --preferences lists.tsv --assessor ann --gains prm:HRel --draws 5",
    ("clicks", "--fit-on"): "RUNS --assessor ann --gains prm:HRel --draws 5",
    ("export", "--fit-on"): "--assessor ann --gains prm:HRel -o out.qrels",
    ("pdp", "--against"): "docs.tsv --top 3 --draws 5",
    ("disagreement", "--combine"): "--draws 5",
    ("report", "--before"): "RUNS --assessor ann --draws 5 -o page.html",
}


class Row(NamedTuple):
    topic: str
    doc: str
    who: str
    level: int


def rows(shift: int) -> list[Row]:
    return [
        Row(f"t{t}", f"d{d}", who, (t + d * d + shift * (d % 2) + (w * t * d) % 3 % 2) % 3)
        for t in range(6)
        for d in range(6)
        for w, who in enumerate(("ann", "bob"))
    ]


def table(found: list[Row], *, names=LABELS, task: str = "") -> str:
    head, end = ("\ttask\n", f"\t{task}\n") if task else ("\n", "\n")
    return f"topic\tdoc\tassessor\tlabel{head}" + "".join(f"{t}\t{d}\t{who}\t{names[n]}{end}" for t, d, who, n in found)


def plain(found: list[Row]) -> str:
    return f"# scale: {SCALE}\n" + table(found)


def with_other_tasks(found: list[Row]) -> str:
    odd = [row._replace(level=2 - row.level) for row in found]
    return f"# scale: {SCALE}\n" + table(found, task="search") + table(odd, task="other").partition("\n")[2]


def wide(found: list[Row]) -> str:
    cells = {(row.topic, row.doc, row.who): LABELS[row.level] for row in found}
    lines = [f"{t}\t{d}\t{cells[t, d, 'ann']}\t{cells[t, d, 'bob']}\n" for t, d, who in cells if who == "ann"]
    return f"# scale: {SCALE}\ntopic\tdoc\tann\tbob\n" + "".join(lines)


def qrels(found: list[Row]) -> str:
    return f"# scale: {SCALE}\n" + "".join(f"{t} {who} {d} {LABELS[n]}\n" for t, d, who, n in found)


def said_twice(found: list[Row]) -> str:
    odd = [row._replace(level=2 - row.level) for row in found]
    return plain(found) + table(odd).partition("\n")[2]


FORMS = {
    "where": (with_other_tasks, ("--where", "task=search")),
    "scale": (table, ("--scale", SCALE)),
    "wide": (wide, ()),
    "second-column": (qrels, ("--second-column", "assessor")),
    "duplicate_labels": (said_twice, ("--duplicate-labels", "first")),
}
"""How labels are written otherwise, and the options that make them the same again."""
RUNS = "".join(f"t{t} Q0 d{d} 0 {(d * n) % 7} s{n}\n" for n in (1, 2, 3) for t in range(6) for d in range(6))
LISTS = "".join(f"t{t}\ts1\ts2\tu{u}\t{'left' if (t + u) % 3 else 'right'}\n" for t in range(6) for u in range(3))
DOCS = "".join(
    f"t{t}\td{a}\td{b}\tu\t{'left' if (a + t) % 3 else 'right'}\n" for t in range(6) for a in range(6) for b in range(a)
)
LOG = "".join(
    f"{t}{s}\tt{t}\t{d + 1}\td{d}\t{int((t * s + d) % 3 == 0)}\n" for t in range(6) for s in range(3) for d in range(6)
)
WRITTEN = {"-o", "--plot", "--save", "--posterior", "--save-labels", "--json"}


def file_options() -> set[tuple[str, str]]:
    """Command and option of every file that is read beside the arguments, and -j."""
    found = set()
    for words in [*cli.list_commands(click.Context(cli)), "context sweep", "context predict"]:
        command = cli
        for name in words.split():
            command = command.get_command(click.Context(command), name)
        for option in command.params:
            written = (
                option.name in ("path", "plot", "saved", "posterior", "save_labels", "folder") or option.opts[0] == "-o"
            )
            file = (option.metavar or "").startswith("FILE") and not written and "--json" not in option.opts
            if isinstance(option, click.Option) and file and "-j" not in option.opts:
                found.add((words, option.opts[0]))
    return {(words, name) for words, name in found if name not in OTHER_FILES}


def test_every_further_file_of_judgments_is_tried():
    """All but context sweep, which takes the gains of evaluate, but also labels in condition."""
    assert file_options() == {*FURTHER, ("context sweep", "--fit-on")}


@pytest.fixture
def asked(venire, write, tmp_path, monkeypatch):
    """Ask a command about judgments and a further file of them, both written in the same form."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("venire.report.page.inline_svg", lambda picture: picture.name)  # drawing takes longest
    write("runs.txt", RUNS)
    for name, text in (("lists.tsv", LISTS), ("docs.tsv", DOCS)):
        write(name, "topic\tleft\tright\tassessor\tpreferred\n" + text)
    write("log.tsv", "session\ttopic\trank\tdoc\tclicked\n" + LOG)

    def ask(words: str, option: str, form, *more: str):
        write("labels.txt", form(rows(0)))
        write("further.txt", form(rows(1)))
        first, last = (("log.tsv",), ("-j", "labels.txt")) if words == "clicks" else (("labels.txt",), ())
        args = FURTHER[words, option].replace("RUNS", "runs.txt").split()
        return venire(*words.split(), *first, *args, *last, option, "further.txt", *more, "--format", "json")

    return ask


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("words", "option"), FURTHER, ids=map(" ".join, FURTHER))
def test_a_further_file_is_read_as_the_judgments_are(asked, words, option, form):
    if words == "report" and form != "where":
        pytest.skip("takes long, and reads in the same way")
    expected = asked(words, option, plain)
    assert expected.code == 0, expected.err
    write, options = FORMS[form]
    found = asked(words, option, write, *options)
    assert found.code == 0, found.err
    assert results(found) == results(expected)


def results(answer) -> dict[str, object]:
    """What came out, without the remarks on how files were read, the settings, and the hashes of files."""
    aside = ("notes", "warnings", "inputs", "settings", "method")
    return {key: value for key, value in loaded(answer.out).items() if key not in aside}


def test_labels_that_the_scale_lacks_have_one_of_their_own(venire, write):
    args = (write("pages.tsv", table(rows(0))), "--scale", SCALE, "--draws", "5", "--format", "json")
    numbers = write("snippets.tsv", table(rows(1), names="012"))
    answer = venire("disagreement", *args, "--combine", numbers)
    assert answer.code == 0, answer.err
    assert "snippets.tsv:2: label" in answer.err
    assert {each["snippet"] for each in loaded(answer.out)["combined"]} >= {"0", "1", "2"}
    wrong = write("wrong.tsv", table(rows(1), names=["Non", "Rel", "Relevant"]))
    assert venire("disagreement", *args, "--combine", wrong).code == 2


def test_where_leaves_nothing_of_a_further_file(venire, write):
    files = (write("one.tsv", plain(rows(0))), write("docs.tsv", f"topic\tleft\tright\tassessor\tpreferred\n{DOCS}"))
    other = write("two.tsv", plain([row._replace(who="eve") for row in rows(1)]))
    answer = venire("pdp", *files, "--against", other, "--where", "assessor=ann", "--top", "3")
    assert (answer.code, answer.out) == (2, "")
    assert str(other) in answer.err
