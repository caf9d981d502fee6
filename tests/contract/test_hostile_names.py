"""Names are text everywhere: one collection whose names are escapes, markup and formulas, through every command."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from html.parser import HTMLParser
from inspect import signature
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from every_command import COMMANDS, FOLDERS, arguments, outputs, write_files
from hostile_names import FORMULAS, NAMES
from venire.cli.main import cli
from venire.cli.output import FORMATS
from venire.io.plans import read_plan
from venire.results import CONTROLS

COMPUTED = [words for words in COMMANDS if words not in FOLDERS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("hostile")
    write_files(made, NAMES)
    return made


def run(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> tuple[str, str]:
    """Standard output and standard error; -o, where it is the file of the result, is standard output."""
    monkeypatch.chdir(folder)
    args = arguments(words, NAMES)
    if words not in ("report", "certify", "export"):
        args[args.index("-o") + 1] = "-"
    apart = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}  # click before 8.2
    result = CliRunner(**apart).invoke(cli, [*args, *more], prog_name="venire")
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert result.exit_code == 0, result.stderr
    return result.stdout, result.stderr


def controls(text: str) -> Counter[str]:
    return Counter(found for found in CONTROLS.findall(text) if found != "\n")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("words", COMPUTED)
def test_no_name_acts(folder, monkeypatch, words, form):
    if words == "report" and form not in ("table", "csv"):
        pytest.skip("takes long, and is written by the same functions")
    out, err = run(words, folder, monkeypatch, "--format", form)
    assert not controls(out)
    assert not controls(err)
    assert all(re.match("note: |warning: |wrote ", line) for line in err.splitlines())  # no name adds a line
    if form == "json":
        assert json.loads(out)
    if form == "csv":
        cells = [cell for row in csv.reader(io.StringIO(out)) for cell in row]
        formulas = [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
        assert not [cell for cell in formulas if not re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?|-", cell)]
    if form == "latex":
        rows = out.split("\\\\\n")
        assert not [row for row in rows if re.match(r"\s*(\\[a-z]+rule\s*)*[\[*]", row)]
    if form == "markdown":
        assert not re.search(r"(?<!\\)[<`\[\]!$]|(?<!\\)\|\|", out.replace("| ", "").replace(" |", ""))


@pytest.mark.parametrize("words", [words for words in COMPUTED if "--plot" in outputs(words)])
def test_figures_are_whole(folder, monkeypatch, words):
    name = outputs(words)["--plot"]
    run(words, folder, monkeypatch)
    texts = [each.text or "" for each in ET.parse(folder / name).iter() if each.tag.endswith("}text")]
    assert texts
    assert not any(map(controls, texts))


def test_names_come_out_as_they_went_in(folder, monkeypatch):
    """In JSON, and in CSV where that is asked for, a name is the same; in text, it can be recognised."""
    out, _ = run("evaluate", folder, monkeypatch, "--format", "json")
    found = {row[key] for row in json.loads(out)["scores"] for key in ("system", "assessor")}
    assert found == {*NAMES.systems, *NAMES.assessors}
    out, _ = run("evaluate", folder, monkeypatch, "--format", "csv", "--raw-names")
    rows = list(csv.DictReader(io.StringIO(out, newline="")))
    assert {row[key] for row in rows for key in ("system", "assessor")} == {*NAMES.systems, *NAMES.assessors}
    out, _ = run("evaluate", folder, monkeypatch, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["assessor"] for row in rows} >= {r"\x1b[31mred\x1b[0m", "'" + FORMULAS[0], r"$\frac{3$"}
    out, _ = run("evaluate", folder, monkeypatch)
    assert r"\x9b2J" in out
    assert "two lines" in out
    assert "\\x1b[31mred\\x1b[0m" in out


def test_messages_show_names(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for args in (
        ["evaluate", "labels.parquet", "runs", "--assessor", "\x1b[31m"],
        ["evaluate", "labels.parquet", "\x1b[31m"],
        ["evaluate", "labels.parquet", "runs", "--\x1b[31m"],
        ["\x1b[31m"],
        ["evaluate", "labels.parquet", "runs", "-m", "\x1b[31m\x9b"],
        ["export", "labels.parquet", "-o", "out.qrels"],
        ["export", "labels.parquet", "--assessor", NAMES.assessors[0], "-o", "out.qrels"],
        ["inspect", "\x9b.txt"],
    ):
        result = CliRunner().invoke(cli, args, prog_name="venire")
        assert result.exit_code == 2
        assert not controls(result.output.replace("\t", "")), args


class Page(HTMLParser):
    """Tags, and attributes that act."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.acting: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.acting += [name for name, _ in attrs if name.startswith("on") or name == "style"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize(("words", "name"), [("report", "page.html"), ("certify", "certificate.html")])
def test_pages_hold_no_markup_of_names(folder, monkeypatch, words, name):
    run(words, folder, monkeypatch)
    text = (folder / name).read_text(encoding="utf-8")
    found = Page()
    found.feed(text)
    assert (found.tags["style"], found.tags["img"], found.acting) == (1, 0, [])
    assert found.tags["script"] == (2 if words == "report" else 1)  # the data of a report are JSON in a script element
    assert "http://www.w3.org/2000/svg" in text  # which is a name, not an address
    assert not controls(text)
    shown = "".join(found.texts)
    assert "<script>alert(1)</script>" in shown
    if words == "report":
        assert "#000000 url(#x)" in "".join(part for part in found.texts if "url" in part)
        drawn = [svg for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL) if "url(#x)" in svg]
        assert drawn
        assert all("#000000 url(#x)" in svg or "url(#x)" in svg for svg in drawn)


def test_a_plan_has_names_as_they_are_and_its_forecast_does_not(folder, monkeypatch):
    out, err = run("plan", folder, monkeypatch)
    (folder / "read.tsv").write_text(out, encoding="utf-8", newline="")
    found = read_plan(folder / "read.tsv")
    assert {each.topic for each in found} <= {*NAMES.topics}
    assert {each.doc for each in found} <= {f"{doc}{topic}" for doc in NAMES.docs for topic in NAMES.topics}
    assert {each.judge for each in found} == {f"new {NAMES.assessors[0]}"}
    assert not controls(err)
    first, second = NAMES.systems[:2]
    out, _ = run("plan", folder, monkeypatch, "--format", "text", "--goal", f"pair:{first},{second}")
    assert out.startswith("Goal pair:")
    assert not controls(out)
