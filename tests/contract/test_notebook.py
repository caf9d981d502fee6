"""What a notebook shows: every table and result of a public function, and every plot."""

from __future__ import annotations

import inspect
import json
import math
import re
import runpy
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import polars as pl
import pytest

import venire
import venire.plots.results
from result_examples import EXAMPLES, example
from venire.errors import UnknownName
from venire.plots.results import claim_rows
from venire.results import MOST_NOTES, MOST_ROWS, Tabular, as_html, shown

ROOT = Path(__file__).parents[2]
PLOTS = ROOT / "src" / "venire" / "plots"
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
DRAWN = re.compile(r"<svg.*?</svg>", re.DOTALL)  # differs between versions of matplotlib
SETTINGS = {"Measure", "CustomMeasure", "Scale"}  # values whose repr is all there is to say
INPUTS = {"Answers", "Asked", "Limits", "Study", "Task", "Texts"}  # what is read besides tables, and limits of reading
FORMULAS = {"plot_contour", "plot_limits"}  # pictures of a formula, of no result
NOT_OF_A_RESULT = {"plot_statistics", "plot_slope"}


def returned(function: Callable[..., object]) -> list[type]:
    """Classes of ours that stand in the annotation of what a function returns."""
    names = re.findall(r"[A-Za-z_]\w*", str(function.__annotations__.get("return")))
    found = [function.__globals__.get(name) for name in names]
    return [each for each in found if inspect.isclass(each) and each.__module__.startswith("venire")]


def public_members() -> list[object]:
    """Everything that the stub of a package names."""
    stubs = sorted((ROOT / "src" / "venire").rglob("__init__.pyi"))
    packages = [import_module(".".join(path.parent.relative_to(ROOT / "src").parts)) for path in stubs]
    return [getattr(package, name) for package in packages for name in package.__all__]


def public_results() -> set[str]:
    members = public_members()
    functions = [each for each in members if inspect.isfunction(each)]
    functions += [each.fit for each in members if inspect.isclass(each) and hasattr(each, "fit")]
    return {each.__name__ for function in functions for each in returned(function)}


def test_every_result_of_a_public_function_is_shown_here():
    assert len(public_results()) > 40
    assert public_results() - SETTINGS - INPUTS <= EXAMPLES.keys(), "make it Tabular, and give an example here"


def tabular(kind: type = Tabular) -> Iterator[type]:
    """All classes of ours that are tables and results."""
    for each in kind.__subclasses__():
        if each.__module__.startswith("venire.") and not each.__name__.startswith("_"):
            yield each
        yield from tabular(each)


def test_every_class_of_results_is_shown_here():
    """Those of all modules, whatever returns them; two may have one name."""
    for module in walk_packages(venire.__path__, "venire."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # of packages that an extra would install
                import_module(module.name)
    assert Counter(each.__name__ for each in set(tabular())) == Counter(map(class_name, EXAMPLES))


def test_public_classes_with_a_sentence_are_tabular():
    classes = [each for each in public_members() if inspect.isclass(each) and hasattr(each, "sentence")]
    assert len(classes) > 20
    assert [each for each in classes if not issubclass(each, Tabular)] == []


def class_name(name: str) -> str:
    """The name of the class of an example; before it may stand its package."""
    return name.rpartition(".")[2]


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_result_shows_itself_and_becomes_plain_data(name, monkeypatch):
    result = example(name)
    assert type(result).__name__ == class_name(name)
    assert isinstance(result, Tabular)
    becomes_plain_data(result)
    monkeypatch.setattr(venire.plots.results, "picture_of", lambda *_: "")  # drawing takes longest, see below
    html = result._repr_html_()
    assert html.startswith('<div class="venire"><p>')
    assert html.count("<tr>") <= MOST_ROWS + 1
    assert html.count("<li>") <= MOST_NOTES + 1
    assert "colo" not in html.replace("colon", "")


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_result_is_short_as_text(name):
    """As a prompt of Python shows it, and as a notebook holds it beside the HTML."""
    text = repr(example(name))
    assert class_name(name) in text
    assert len(text) < 500
    assert "array(" not in text


WITHOUT_NUMBERS = {"AltTest", "Report"}  # these examples: too few labels for the test, a report without systems


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_result_shows_its_picture(name):
    result = example(name)
    assert pictured(result) == (name not in WITHOUT_NUMBERS)


@pytest.mark.parametrize("name", ["Profiles", "Judgments", "Scores", "Aspects", "AltTest"])
def test_pictures_of_each_kind(name):
    """A plot of its own, a column counted, rows with intervals, rows made for the picture, and nothing to draw."""
    assert pictured(example(name)) == (name not in WITHOUT_NUMBERS)


def pictured(result: Tabular) -> bool:
    """Whether the HTML has a drawing that is one well-formed element, labelled by the sentence, with ids of its own."""
    html = result._repr_html_()
    if "<svg" not in html:
        with pytest.raises(venire.VenireError):
            result.plot()
        return False
    drawn = html[html.index("<svg") : html.index("</svg>") + 6]
    root = ET.fromstring(drawn)
    assert root.get("aria-label") == result.sentence()
    assert "<style" not in drawn
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert ids
    assert all(each.startswith("venire-") for each in ids)
    return True


def test_pictures_leave_no_trace_in_matplotlib():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    example("Scores")._repr_html_()
    assert dict(mpl.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_a_large_drawing_is_shown_as_pixels(monkeypatch):
    monkeypatch.setattr(venire.plots.results, "LARGEST_SVG", 100)
    html = example("Gains")._repr_html_()
    assert "<svg" not in html
    assert f'<img alt="{example("Gains").sentence()}" src="data:image/png;base64,iVBOR' in html


def test_names_in_a_picture_are_text():
    runs = {f"<script>{n}": {"q1": {"d1": 1.0}, "q2": {"d2": float(n)}} for n in range(2)}
    html = venire.evaluate({"q1": {"d1": 1}, "q2": {"d2": 0}}, runs, "P@1")._repr_html_()
    assert "<svg" in html
    assert "<script" not in html
    assert html.count("&lt;script&gt;0") == 4  # sentence, label of the picture, picture and table


def test_counts_have_ticks_at_whole_numbers():
    judgments = venire.read_judgments({"ann": {"q": {"a": 1, "b": 0, "c": 1}}, "bob": {"q": {"a": 1, "b": 0, "c": 0}}})
    figures = judgments.summary().plot(), judgments.plot(), venire.agreement.directed_agreement(judgments).plot()
    for figure, axis in zip(figures, ("xaxis", "yaxis", "yaxis"), strict=True):
        ticks = getattr(figure.axes[0], axis).get_major_locator()()
        assert all(float(tick).is_integer() for tick in ticks), ticks


def test_labels_are_counted_in_their_order():
    judgments = venire.read_judgments({"q": {"a": "low", "b": "high", "c": "low"}}, scale="low<high")
    axes = judgments.plot().axes[0]
    assert [each.get_text() for each in axes.get_xticklabels()] == ["low", "high"]
    assert [bar.get_height() for bar in axes.patches] == [2, 1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Changes", ["overall 0", "overall 1", "overall 2"]),
        ("Prediction", ["isolation none", "isolation novelty", "isolation topicality"]),
        ("SampleSizeCheck", ["5", "10"]),
        ("PreferenceAgreement", ["p1 p2"]),
        ("Estimate", [""]),
    ],
)
def test_rows_of_a_picture_have_different_names(name, expected):
    names = [each.get_text() for each in example(name).plot().axes[0].get_yticklabels()]
    assert names[: len(expected)] == expected
    assert len(set(names)) == len(names)


def test_numbers_of_different_sizes_and_fractions_can_be_read():
    wide = example("TopicPlan").plot().axes[0]
    assert wide.get_xscale() == "log"
    assert "1,000" in [each.get_text() for each in wide.get_xticklabels()]
    assert [each.get_text() for each in example("OrderAgreement").plot().axes[0].get_yticklabels()][-1] == "rbo"
    fractions = example("ItemRelevance").plot().axes[0]
    assert sum(bar.get_height() for bar in fractions.patches) == len(example("ItemRelevance").records())
    assert fractions.get_xlim()[1] < 1.1


def test_a_picture_takes_the_options_of_its_plot():
    assert example("Confusions").plot(a="careful1", b="lazy1").axes[0].get_ylabel() == "label by careful1"
    assert example("SystemComparison").plot(value="effect").axes[0].get_xlabel().startswith("effect, with its interval")


@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
def test_what_there_is_of_one_judge_is_drawn():
    runs = {name: {"q1": {"d1": first}, "q2": {"d2": 1.0}} for name, first in (("a", 1.0), ("b", 2.0))}
    judgments = venire.read_judgments({"q1": {"d1": 1}, "q2": {"d2": 0}})
    found = venire.compare(judgments, runs)
    assert found.plot().axes[0].get_xlabel().startswith("delta")
    assert "<svg" not in judgments.take([])._repr_html_()
    with pytest.raises(venire.VenireError, match="no rows to plot"):
        judgments.take([]).plot()
    with pytest.raises(UnknownName, match="nowhere"):
        venire.evaluate(judgments, runs).plot(value="nowhere")


def test_an_interval_in_a_picture_is_that_of_its_number():
    """The number of the claim about pairs is a difference of scores, its limits are those of a share of pairs."""
    found = example("Certificate")
    rows = {row["claim"]: row for row in found.records()}
    shown = claim_rows(found)
    limits = {row["claim"]: (row["value"], row["low"], row["high"]) for row in shown}
    assert limits["levels"] == (rows["levels"]["value"], rows["levels"]["low"], rows["levels"]["high"])
    assert limits["pairs"] == pytest.approx((rows["pairs"]["value"], math.nan, math.nan), nan_ok=True)
    (claim,) = claim_rows(found.judges[0].verdict("pairs"))
    assert math.isnan(claim["low"])


def test_a_report_is_shown_by_its_leaderboard():
    front = SimpleNamespace(content=lambda: {"leaderboard": [{"system": "s1", "score": 0.5, "low": 0.4, "high": 0.6}]})
    report = venire.Report("One system", (), {}, front)
    assert [each.get_text() for each in report.plot().axes[0].get_yticklabels()] == ["s1"]


def becomes_plain_data(result: Tabular) -> None:
    json.dumps(result.to_dict(), allow_nan=False)
    held = Tabular.to_dict(result)
    json.dumps(held, allow_nan=False)
    assert held["sentence"] == result.sentence()
    assert all(row.keys() == held["rows"][0].keys() for row in held["rows"])
    frame = result.to_polars()
    assert len(frame) == len(held["rows"])
    assert not held["rows"] or frame.columns == list(held["rows"][0])
    assert list(result.to_pandas().columns) == frame.columns
    untyped = [name for name, kind in frame.schema.items() if kind == pl.Null]
    assert set(untyped) <= {"observed"}, "columns without a value have the type of their values"


def plots() -> dict[str, Callable[..., object]]:
    modules = [import_module(f"venire.plots.{path.stem}") for path in sorted(PLOTS.glob("[a-z]*.py"))]
    return {name: each for module in modules for name, each in vars(module).items() if name.startswith("plot_")}


def subject(plot: Callable[..., object]) -> str:
    """What a plot takes: the annotation of its first parameter."""
    return str(next(iter(inspect.signature(plot).parameters.values())).annotation)


@pytest.mark.parametrize("name", plots())
def test_a_plot_takes_a_result_and_returns_a_figure(name):
    plot = plots()[name]
    assert plot.__annotations__["return"] == "Figure"
    if name not in FORMULAS | NOT_OF_A_RESULT:
        assert [each for each in re.findall(r"\w+", subject(plot)) if each[0].isupper() and each != "Sequence"]
    parameters = list(inspect.signature(plot).parameters.values())
    needed = [each for each in parameters if each.default is each.empty]
    for kind in set(re.findall(r"\w+", subject(plot))) & EXAMPLES.keys() if len(needed) == 1 else ():
        from matplotlib.figure import Figure

        one = example(kind)
        assert isinstance(plot([one] if subject(plot).startswith("Sequence") else one), Figure)


def test_html_is_escaped():
    html = as_html("a < b", [{"<i>": "<script>"}], n_rows=1, notes=["x & y"])
    assert "a &lt; b" in html
    assert "&lt;script&gt;" in html
    assert "&lt;i&gt;" in html
    assert "x &amp; y" in html


def test_counts_kept_as_floats_lose_their_zeros():
    rows = [{"pairs": 116.0, "strength": -1.0, "p": 1.0}, {"pairs": float("nan"), "strength": 1.0, "p": 0.0}]
    html = as_html("s", rows, n_rows=2)
    assert re.findall(r"<td[^>]*>([^<]*)<", html) == ["116", "-1", "1.0000", "-", "1", "0.0000"]


@pytest.mark.parametrize(("said", "shown"), [("10 labels", "10 labels."), ("So it is.", "So it is."), ("Why?", "Why?")])
def test_a_sentence_ends(said, shown):
    assert as_html(said, [], n_rows=0).startswith(f'<div class="venire"><p>{shown}</p>')


def test_html_says_what_it_leaves_out():
    rows = [{"a": 1, "b": None}] * 3
    html = as_html("s", rows[:2], n_rows=3, notes=["n"] * 8)
    assert "and 1 more row<" in html
    assert "and 3 more notes<" in html
    assert ">b<" not in html


def test_a_long_text_is_cut_where_there_are_many_columns():
    html = as_html("s", [{"a": "<" * 100, "b": 1, "c": 2, "d": 3}], n_rows=1)
    assert f'title="{"&lt;" * 100}">{"&lt;" * 59}…</td>' in html
    assert f">{'&lt;' * 100}</td>" in as_html("s", [{"a": "<" * 100, "b": 1}], n_rows=1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (float("nan"), "-"),
        (True, "yes"),
        (0.12345, "0.1235"),
        (3e-7, "3e-07"),
        (0.0, "0.0000"),
        (12345, "12,345"),
        (1234.5, "1,234.5000"),
        (2e9, "2,000,000,000"),
        (2.2e-16, "0.0000"),
        ([], "-"),
        (["a", 2], "a, 2"),
    ],
)
def test_cells(value, text):
    assert shown(value) == text


@cache
def tool() -> dict[str, Callable[..., object]]:
    return runpy.run_path(str(ROOT / "tools" / "notebooks.py"))


def words(notebook: dict[str, object]) -> str:
    """Everything a notebook shows as text, without drawings."""
    outputs = [each for cell in notebook["cells"] for each in cell.get("outputs", ())]
    shown = [text for each in outputs for kind, text in each["data"].items() if kind.startswith("text/")]
    return DRAWN.sub("", "\n".join(map("".join, shown)))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebooks_of_the_documentation_are_what_they_give_today(path):
    stored = tool()["read"](path)
    found = tool()["run_again"](stored)
    before, after = words(stored), words(found)
    assert len(before) > 1000
    assert NUMBER.sub("0", after) == NUMBER.sub("0", before), "run python tools/notebooks.py"
    pairs = zip(NUMBER.findall(before), NUMBER.findall(after), strict=True)
    far = [(a, b) for a, b in pairs if float(a.replace(",", "")) != pytest.approx(float(b.replace(",", "")), abs=2e-3)]
    assert not far, "run python tools/notebooks.py"
    assert [pictures(cell) for cell in stored["cells"]] == [pictures(cell) for cell in found["cells"]]


def pictures(cell: dict[str, object]) -> int:
    shown = [each["data"] for each in cell.get("outputs", ())]
    return sum("image/png" in each or "<svg" in "".join(each.get("text/html", "")) for each in shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_their_pages_are_the_same(path):
    text, pictures = tool()["page"](tool()["read"](path), path.stem)
    assert path.with_suffix(".md").read_text(encoding="utf-8") == text, "run python tools/notebooks.py"
    assert {file: (path.parent / file).read_bytes() for file in pictures} == pictures
    assert path.stat().st_size < 400_000
