"""Judgments and runs are coerced in one place, ``as_judgments`` and ``as_runs``; tables of ours stay untouched."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from inspect import isfunction, ismodule
from pathlib import Path

import polars as pl
import pytest

import venire
import venire.io
from venire import Judgments, Runs, read_aspects, read_clicks, read_judgments, read_preferences, read_runs
from venire.io.judgments import as_judgment_sets, as_judgments
from venire.io.runs import as_runs, scan

SOURCE = Path(__file__).parents[2] / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts): path.read_text(encoding="utf-8")
    for path in sorted((SOURCE / "venire").rglob("*.py"))
}
LIKE = {"JudgmentsLike", "JudgmentSets", "RunsLike"}
COERCE = {
    "venire.io.judgments.as_judgments",
    "venire.io.judgments.as_judgment_sets",
    "venire.io.runs.as_runs",
    "venire.agreement.patterns.label_patterns",
}
READ = {
    "venire.io.aspects.read_aspects",
    "venire.io.aspects.aspect_labels",
    "venire.io.judgments.read_judgments",
    "venire.io.runs.read_runs",
}
"""These look at what they are given; all other functions hand it on to one that coerces."""
MAY_READ = (
    *("venire.io.", "venire.cli.", "venire.judging.study_", "venire.judging.exports", "venire.judging.imports"),
    "venire.spark.",
)
"""What reads files, or rows on an executor: on the command line and in a study, the rules of reading are stated."""
READS = ("read_", "rows_from_", "rows_of_")
ALSO_COERCE = {"read_also", "read_aspects", "read_clicks", "read_features", "read_preferences", "read_saved"}
"""Coercion of other input; ``read_also`` hands judgments on to ``as_judgments``; ``read_saved`` is for saved models."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
parsed = cache(ast.parse)


@dataclass(frozen=True)
class Signature:
    """Which parameters of a function take anything that can be read: their names, in order, and those by keyword."""

    parameters: tuple[str, ...]
    like: frozenset[str]

    def takes(self, place: int | str) -> bool:
        if isinstance(place, str):
            return place in self.like
        return place < len(self.parameters) and self.parameters[place] in self.like


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield the functions of a module and the methods of its classes, by name."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{each.name}", each) for each in node.body if isinstance(each, Function))


def signature(function: Function) -> Signature:
    arguments = function.args
    ordered = [*arguments.posonlyargs, *arguments.args]
    names = [each.arg for each in ordered]
    bound = names[1:] if names[:1] in (["self"], ["cls"]) else names
    like = {each.arg for each in [*ordered, *arguments.kwonlyargs] if is_like(each.annotation)}
    return Signature(tuple(bound), frozenset(like))


def is_like(annotation: ast.expr | None) -> bool:
    """Whether an annotation is one of the types, or one of them or None."""
    if isinstance(annotation, ast.BinOp):
        return is_like(annotation.left) or is_like(annotation.right)
    return isinstance(annotation, ast.Name) and annotation.id in LIKE


def names_of(tree: ast.Module, module: str) -> dict[str, str]:
    """Map the names that a module defines or imports from us to full names."""
    found = {node.name: f"{module}.{node.name}" for node in tree.body if isinstance(node, Function | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("venire."):
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return found


def known_signatures(sources: dict[str, str]) -> dict[str, Signature]:
    found = {
        f"{module}.{name}": signature(function)
        for module, code in sources.items()
        for name, function in functions(parsed(code))
    }
    return {name: each for name, each in found.items() if name not in READ}


def looked_at(function: Function, names: dict[str, str], known: dict[str, Signature]) -> list[str]:
    """Return uses of such parameters other than: handed on to a function that takes the same, or compared with None.

    What a statement of the function replaces, as in ``judgments = as_judgments(judgments)``, is a table below it.
    """
    inputs = signature(function).like
    if not inputs:
        return []
    fine: set[ast.Name] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            callee = known.get(called(node.func, names), Signature((), frozenset()))
            places = [*enumerate(node.args), *((each.arg or "", each.value) for each in node.keywords)]
            fine |= {name for place, value in places if callee.takes(place) for name in handed_on(value)}
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            fine |= {node.left} if isinstance(node.left, ast.Name) else set()
    used = (node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id in inputs)
    tables = dict(replaced(function, names))
    used = (node for node in used if node.lineno < tables.get(node.id, node.lineno + 1))
    return [f"line {node.lineno}: {node.id}" for node in used if node not in fine]


def replaced(function: Function, names: dict[str, str]) -> Iterator[tuple[str, int]]:
    """Yield the parameters that a statement of the function replaces by what they are coerced to, and its line."""
    for node in function.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            value = value.orelse if isinstance(value, ast.IfExp) else value
            coerced = isinstance(value, ast.Call) and called(value.func, names) in COERCE
            if coerced and [each.id for each in value.args if isinstance(each, ast.Name)] == [name]:
                yield name, node.lineno


def handed_on(value: ast.expr) -> list[ast.Name]:
    """Return the name that an argument is, or the names of its two cases."""
    if isinstance(value, ast.IfExp):
        return [*handed_on(value.body), *handed_on(value.orelse)]
    return [value] if isinstance(value, ast.Name) else []


def called(callee: ast.expr, names: dict[str, str]) -> str:
    """Return the full name of what is called: a function, or a method of a class."""
    if isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name):
        return f"{names.get(callee.value.id, '')}.{callee.attr}"
    return names.get(callee.id, "") if isinstance(callee, ast.Name) else ""


def found_in(module: str, code: str, known: dict[str, Signature]) -> list[str]:
    tree = parsed(code)
    names = names_of(tree, module)
    own = ((f"{module}.{name}", function) for name, function in functions(tree))
    return [
        f"{name}, {use}"
        for name, function in own
        if name not in COERCE | READ
        for use in looked_at(function, names, known)
    ]


def test_what_can_be_read_is_handed_on_to_one_place():
    known = known_signatures(MODULES)
    assert known.keys() >= COERCE
    assert sum(bool(each.like) for each in known.values()) > 30
    assert not [use for module, code in MODULES.items() for use in found_in(module, code, known)]


@pytest.mark.parametrize(
    ("body", "n_wrong"),
    [
        ("labels = as_judgments(judgments)", 0),
        ("labels = None if judgments is None else as_judgments(judgments)", 0),
        ("return other(1, judgments)", 0),
        ("return other(1, {} if judgments is None else judgments)", 0),
        ("return other(1, judgments or {})", 1),
        ("return other(2, data=judgments)", 0),
        ("return other(judgments, 1)", 1),
        ("return Case.of(judgments)", 0),
        ("return judgments.scale", 1),
        ("judgments = as_judgments(judgments)\n    return judgments.scale", 0),
        ("n = judgments.scale\n    judgments = as_judgments(judgments)", 1),
        ("judgments = None if judgments is None else as_judgments(judgments)\n    return judgments", 0),
        ("judgments = read_judgments(judgments)\n    return judgments.scale", 3),
        ("return read_judgments(judgments)", 1),
        ("labels = judgments if isinstance(judgments, dict) else as_judgments(judgments)", 2),
        ("return len(list(judgments))", 1),
        ("def inner():\n        return judgments.labels\n    return inner", 1),
    ],
)
def test_the_rule_itself(body, n_wrong):
    code = f"""
from venire.io.judgments import as_judgments, read_judgments

def other(n, data: JudgmentsLike | None): pass

class Case:
    @classmethod
    def of(cls, judgments: JudgmentsLike): pass

def tested(judgments: JudgmentsLike, n: int):
    {body}
"""
    sources = {"venire.io.judgments": MODULES["venire.io.judgments"], "venire.some": code}
    assert len(found_in("venire.some", code, known_signatures(sources))) == n_wrong


def readers_imported(code: str) -> list[str]:
    """Return the readers of io that a module imports, at any depth of its code."""
    nodes = (node for node in ast.walk(parsed(code)) if isinstance(node, ast.ImportFrom))
    names = (each.name for node in nodes if (node.module or "").startswith("venire.io") for each in node.names)
    return [name for name in names if name.startswith(READS) and name not in ALSO_COERCE]


def test_only_io_and_the_command_line_read():
    others = {name: code for name, code in MODULES.items() if not name.startswith(MAY_READ)}
    assert len(others) > 100
    assert not {name: found for name, code in others.items() if (found := readers_imported(code))}


def test_the_rule_on_readers_itself():
    code = "from venire.io.judgments import as_judgments, read_judgments\ndef f():\n    from venire.io import read_runs"
    assert readers_imported(code) == ["read_judgments", "read_runs"]


JUDGED, RANKED = {"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 2.0, "d2": 1.0}}


def test_tables_of_ours_are_returned_untouched():
    labels, runs = read_judgments(JUDGED), read_runs(RANKED)
    assert as_judgments(labels) is labels
    assert as_judgment_sets({"all": labels})["all"] is labels
    assert as_runs(runs) is runs
    scanned = scan(runs, labels.items)
    assert as_runs(scanned) is scanned
    assert scan(scanned, labels.items) is scanned


def test_anything_else_is_read():
    assert isinstance(as_judgments(JUDGED), Judgments)
    assert list(as_judgment_sets(JUDGED)) == [""]
    assert isinstance(as_runs(RANKED), Runs)


def test_preferences_and_clicks_are_returned_untouched():
    preferences = read_preferences({"topic": ["q1"], "left": ["d1"], "right": ["d2"], "preferred": ["d1"]})
    clicks = read_clicks({"session": ["s1"], "topic": ["q1"], "doc": ["d1"], "rank": [1], "clicked": [1]})
    assert read_preferences(preferences) is preferences
    assert read_clicks(clicks) is clicks


TABLE = re.compile(r"\b(Judgments|Runs|Preferences|Clicks|Aspects)\b")


def public_functions() -> dict[str, Callable[..., object]]:
    packages = [venire, *(getattr(venire, name) for name in dir(venire) if ismodule(getattr(venire, name))), venire.io]
    members = [getattr(package, name) for package in packages for name in package.__all__]
    found = [each for each in members if isfunction(each)] + [each.fit for each in members if hasattr(each, "fit")]
    return {each.__qualname__: each for each in found}


def test_public_functions_take_tables_in_any_form():
    """Those of ours, files, data frames of pandas and polars, dictionaries: types such as ``JudgmentsLike``."""
    found = public_functions()
    assert len(found) > 80
    kinds = [(name, str(kind)) for each in found.values() for name, kind in each.__annotations__.items()]
    only_ours = [(name, kind) for name, kind in kinds if name != "return" and TABLE.search(kind)]
    assert not only_ours


LABELS = [(topic, doc, who, label) for topic in "12" for doc, label in ("a2", "b1", "c0") for who in ("ann", "bob")]
FRAMES = {
    "judgments": pl.DataFrame(LABELS, ["topic", "doc", "assessor", "label"], orient="row"),
    "preferences": pl.DataFrame({"topic": ["1"], "left": ["a"], "right": ["b"], "strength": [1], "assessor": ["x"]}),
    "runs": pl.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "score": [1.0, 2.0], "system": ["s", "s"]}),
    "clicks": pl.DataFrame({"session": ["s"], "topic": ["1"], "doc": ["a"], "rank": [1], "clicked": [1]}),
    "aspects": pl.DataFrame(LABELS, ["topic", "doc", "aspect", "label"], orient="row"),
}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_are_tables(library):
    pytest.importorskip(library)
    frames = FRAMES if library == "polars" else {name: frame.to_pandas() for name, frame in FRAMES.items()}
    judgments = frames["judgments"]
    assert venire.agreement.alpha(judgments).value == 1
    assert venire.agreement.profiles(judgments).to_pandas()["assessor"].tolist() == ["ann", "bob"]
    assert venire.disagreement.DawidSkene().fit(judgments).to_polars().height == 2
    assert venire.evaluate(judgments, frames["runs"], "P@1", pool="mean").values.ravel().tolist() == [1, 1]
    assert venire.users.consensus(frames["preferences"]).to_polars().height == 1
    assert venire.users.summarise_clicks(frames["clicks"]).to_polars()["clicks"].to_list() == [1]
    assert venire.aspects.combine_aspects(frames["aspects"], ["ann", "bob"]).to_polars().height > 1
    assert read_aspects(read_aspects(frames["aspects"])).names == ("ann", "bob")
