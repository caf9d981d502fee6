"""What holds the package together: layers, light imports, public names, its own words."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import ismodule
from pathlib import Path

import pytest

import venire

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))

import house  # noqa: E402 - the folder of tools is known now

SOURCE = ROOT / "src"
MODULES = sorted((SOURCE / "venire").rglob("*.py"))

FRONT_DOOR = "venire"  # the names of venire/__init__.py
LAYERS = {
    "__main__": 7,
    "_lazy": 0,
    "_version": 0,
    "cli": 6,
    "integrations": 6,
    "pytest_plugin": 6,
    "judging": 5,
    "report": 5,
    "plots": 4,
    "spark": 4,
    "agreement": 3,
    "aspects": 3,
    "certification": 3,
    "comparison": 3,
    "context": 3,
    "disagreement": 3,
    "planning": 3,
    "quality": 3,
    "simulation": 3,
    "users": 3,
    "measures": 2,
    "engine": 1,
    "io": 1,
    "checks": 0,
    "data": 0,
    "errors": 0,
    "kernels": 0,
    "randomness": 0,
    "scan": 0,
    "results": 0,
    "types": 0,
}
LOW = ("checks", "errors", "randomness", "results", "types")
SAME_LAYER = {
    *(("data", other) for other in (*LOW, "kernels", "scan")),
    *((one, other) for one in LOW for other in LOW),
    ("kernels", "randomness"),
    ("kernels", "types"),
    ("scan", "types"),
    ("io", "engine"),
    ("aspects", "agreement"),
    ("aspects", "comparison"),
    ("aspects", "disagreement"),
    ("certification", "agreement"),
    ("certification", "comparison"),
    ("certification", "disagreement"),
    ("comparison", "disagreement"),
    ("context", "comparison"),
    ("context", "users"),
    ("planning", "agreement"),
    ("planning", "comparison"),
    ("planning", "disagreement"),
    ("planning", "users"),
    ("quality", "agreement"),
    ("quality", "comparison"),
    ("quality", "disagreement"),
    ("quality", "users"),
    ("users", "agreement"),
    ("users", "comparison"),
}
"""Between parts of one layer: the edges that are allowed, from who imports to what is imported."""
COMES_BY_THE_FRONT_DOOR = {"__main__", "cli", "pytest_plugin"}

FLAG = re.compile(r"(?<!var\()--[a-z]")  # var(--ink) is a property of a style sheet
OWNS_FLAGS = {"__main__", "cli"}

HEAVY = {
    *("alembic", "httpx", "ir_measures", "matplotlib", "mlflow", "pandas", "polars", "pyarrow", "pyspark"),
    *("pyterrier", "ranx", "scipy", "sklearn", "sqlalchemy", "starlette"),
}

# Written in pieces, so that this file does not contain them.
ANYWHERE = ["py" + "pi.org", "python" + "hosted.org", "ana" + "conda.org", "sub" + "agent", "/wo" + "rk/"]
ONLY_IN_CI_RUN = ["sha" + "red/"]


def dotted(path: Path) -> str:
    """src/venire/io/trec.py -> venire.io.trec; a package's __init__ keeps its last part."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def imported(code: str, module: str) -> Iterator[str]:
    """Full names of what a module imports, at any depth of its code."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".")[: -node.level] if node.level else []
            origin = ".".join([*package, *filter(None, [node.module])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def part(name: str) -> str:
    """venire.io.trec.read_runs -> io; venire.evaluate (no package of ours) -> the front door."""
    second = name.split(".")[1] if "." in name else ""
    return second if second in LAYERS or is_ours(second) else FRONT_DOOR


def is_ours(second: str) -> bool:
    place = SOURCE / "venire" / second
    return bool(second) and second != "__init__" and (place.is_dir() or place.with_suffix(".py").is_file())


def may_import(importer: str, target: str) -> bool:
    if importer == target or target == "_lazy" or (importer, target) in SAME_LAYER:
        return True
    if target == FRONT_DOOR:
        return importer in COMES_BY_THE_FRONT_DOOR
    return LAYERS[target] < LAYERS[importer]


def forbidden_imports(code: str, module: str) -> list[str]:
    importer = part(module)
    if importer == FRONT_DOOR:
        return []
    ours = {name for name in imported(code, module) if name.split(".")[0] == "venire"}
    return sorted(name for name in ours if not may_import(importer, part(name)))


def test_imports_go_down():
    found = {dotted(path): forbidden_imports(path.read_text(encoding="utf-8"), dotted(path)) for path in MODULES}
    assert not {module: wrong for module, wrong in found.items() if wrong}


def test_imports_have_no_cycles():
    assert house.cycle(house.modules()) == []


def test_a_cycle_is_found_within_functions_too(tmp_path):
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("from venire.other import x\n")
    other.write_text("def x():\n    from venire.one import y\n")
    assert set(house.cycle({"venire.one": one, "venire.other": other})) == {"venire.one", "venire.other"}


def flags(code: str) -> list[str]:
    """Return the strings of a module, docstrings among them, that name an option of the command line."""
    strings = (node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant))
    return [text for text in strings if isinstance(text, str) and FLAG.search(text)]


@pytest.mark.parametrize("name", sorted({part(dotted(path)) for path in MODULES} - OWNS_FLAGS))
def test_only_the_command_line_names_its_options(name):
    """Below cli, errors name the thing, in words that fit Python and command line alike."""
    own = [path for path in MODULES if part(dotted(path)) == name]
    found = {dotted(path): flags(path.read_text(encoding="utf-8")) for path in own}
    assert not {module: texts for module, texts in found.items() if texts}


def test_the_rule_on_options_itself():
    code = 'f(f"give --pool {x}")\n"a -- b, -----"\nx = "--jobs"  # --x'
    assert set(flags(code)) == {"give --pool ", "--jobs"}


def test_every_part_has_a_layer():
    found = {part(dotted(path)) for path in MODULES} - {FRONT_DOOR}
    assert found
    assert found <= LAYERS.keys(), "give each new part a layer, here and in docs/decisions"


@pytest.mark.parametrize(
    ("module", "code", "wrong"),
    [
        ("venire.data.scale", "from venire.kernels.label_pairs import tally", []),
        ("venire.data.scale", "from venire.data import gains", []),
        ("venire.data.scale", "from venire.io.trec import read", ["venire.io.trec.read"]),
        ("venire.data.scale", "def f():\n    import venire.measures", ["venire.measures"]),
        ("venire.data.scale", "from venire import io, types", ["venire.io"]),
        ("venire.data.scale", "from ..io import trec", ["venire.io.trec"]),
        ("venire.data.__init__", "from .scale import Scale", []),
        ("venire.data.scale", "from venire import evaluate", ["venire.evaluate"]),
        ("venire.data.scale", "import venire", ["venire"]),
        ("venire.cli.main", "import venire\nfrom venire import evaluate", []),
        ("venire.io.trec", "from venire.engine import local", []),
        ("venire.engine.local", "from venire.io import trec", ["venire.io.trec"]),
        ("venire.kernels.em", "from venire.types import Floats", []),
        ("venire.kernels.em", "from venire.errors import VenireError", ["venire.errors.VenireError"]),
        ("venire.measures.fit", "from venire.disagreement import gains", ["venire.disagreement.gains"]),
        ("venire.types", "import numpy as np", []),
        ("venire.__init__", "from venire.cli import main", []),
    ],
)
def test_the_rule_itself(module, code, wrong):
    assert forbidden_imports(code, module) == wrong


def test_the_command_line_starts_light():
    code = "import sys, venire.cli.main; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "venire" in loaded.split()
    assert not HEAVY & set(loaded.split())


PACKAGES = ["venire", *(f"venire.{path.parent.name}" for path in (SOURCE / "venire").glob("*/__init__.pyi"))]


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_there(package):
    module = import_module(package)
    assert module.__all__
    assert not [name for name in dir(module) if not hasattr(module, name)]
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing


def test_few_names_at_the_top():
    assert len(venire.__all__) <= 40
    assert {name for name in dir(venire) if ismodule(getattr(venire, name))} <= LAYERS.keys()


def test_a_public_function_wins_over_the_module_of_its_name():
    code = "import venire.agreement.alpha; from venire.agreement import alpha; print(callable(alpha))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "True"


def files_of_the_project() -> list[Path]:
    """List what is, or would be, under version control."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs git and a clone")
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_the_project_speaks_of_itself_alone():
    found = []
    for path in files_of_the_project():
        name = path.relative_to(ROOT).as_posix()
        words = ANYWHERE + ([] if name == ".ci/run" else ONLY_IN_CI_RUN)
        text = path.read_bytes().lower()
        found += [f"{name}: {word}" for word in words if word.encode() in text]
    assert not found
