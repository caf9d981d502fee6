"""What setup.py builds: one extension for every Python, except for those without the stable ABI."""

from __future__ import annotations

import ast
import runpy
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def build_options():
    pytest.importorskip("setuptools")
    return runpy.run_path(str(ROOT / "setup.py"), run_name="setup")["build_options"]


def test_one_build_serves_every_python(build_options):
    options = build_options(free_threaded=False)
    (module,) = options["ext_modules"]
    assert module.py_limited_api
    assert module.define_macros == [("Py_LIMITED_API", "0x030B0000")]
    assert options["options"] == {"bdist_wheel": {"py_limited_api": "cp311"}}


def test_a_free_threaded_python_has_a_build_of_its_own(build_options):
    """Its headers refuse Py_LIMITED_API, and its wheels may not be called abi3."""
    options = build_options(free_threaded=True)
    (module,) = options["ext_modules"]
    assert not module.py_limited_api
    assert not module.define_macros
    assert "options" not in options


@pytest.mark.parametrize("free_threaded", [False, True])
def test_a_failing_build_leaves_the_scan_in_numpy(build_options, free_threaded):
    (module,) = build_options(free_threaded=free_threaded)["ext_modules"]
    assert module.optional
    assert module.sources
    assert all((ROOT / path).is_file() for path in [*module.sources, *module.depends])


def test_the_module_says_that_it_needs_no_lock():
    code = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "src/venire/scan/native").iterdir()}
    assert "#ifdef Py_GIL_DISABLED\n    {Py_mod_gil, Py_MOD_GIL_NOT_USED}" in code["module.c"]
    assert not [name for name, text in code.items() if "define Py_LIMITED_API" in text]  # setup.py decides


def test_what_the_c_files_share_is_hidden():
    module = pytest.importorskip("venire.scan._scan")
    if sys.platform != "linux" or not shutil.which("nm"):
        pytest.skip("symbols are listed by nm of Linux")
    done = subprocess.run(["nm", "-D", "--defined-only", module.__file__], capture_output=True, text=True, check=True)
    names = [line.split()[-1] for line in done.stdout.splitlines()]
    assert [name for name in names if not name.startswith("_")] == ["PyInit__scan"]  # some linkers add _init and _end


@pytest.mark.parametrize("error", ["ImportError", "ModuleNotFoundError"])
def test_a_failing_import_leaves_the_scan_in_numpy(error):
    code = f"""
import sys

class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == "venire.scan._scan":
            raise {error}("broken")

sys.meta_path.insert(0, Broken())
from venire import evaluate
from venire.scan import scanner
print(scanner.COMPILED, evaluate({{"1": {{"a": 1}}}}, {{"1": {{"a": 2.0, "b": 1.0}}}}, ["P@1"]).values.ravel().tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "False [1.0]\n", done.stderr


def test_what_fuzzers_import_is_there():
    """They are not run here where atheris is missing, and would break unnoticed."""
    wanted = {
        (node.module, name.name)
        for path in (ROOT / "fuzz").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and node.module
        and node.module.partition(".")[0] in ("venire", "slow_reader")
        for name in node.names
    }
    assert len(wanted) > 10
    for module, name in wanted:
        assert hasattr(import_module(module), name) or find_spec(f"{module}.{name}"), f"{module}.{name}"
