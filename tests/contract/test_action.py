"""The GitHub action: its steps run as on a runner, and what a pull request can write is never part of a command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from documented_files import write_documented_files

ROOT = Path(__file__).parents[2]
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
YAML = [ROOT / "action.yml", *sorted((ROOT / ".github" / "workflows").glob("*.yml"))]
GATE = ROOT / ".github" / "gate" / "gate.sh"
SETTINGS = {"MEASURE": "nDCG@5\nP@3\n", "REQUIRE": "delta>0\np_adjusted<=0.05\n", "ASSESSOR": ""}
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the action runs in bash")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("action")
    docs = [f"d{n}" for n in range(8)]
    labels = [f"t{t} 0 {doc} {int(n < 3)}" for t in range(12) for n, doc in enumerate(docs)]
    (folder / "qrels.txt").write_text("\n".join(labels) + "\n")
    runs = {"good": docs, "poor": docs[::-1], "`x`$(touch`": docs[1:] + docs[:1], "@team": docs[2:] + docs[:2]}
    for number, (name, order) in enumerate(runs.items()):
        lines = [f"t{t} Q0 {doc} {n} {-n} {name}" for t in range(12) for n, doc in enumerate(order, start=1)]
        (folder / f"{number}.run").write_text("\n".join(lines) + "\n")
    return folder


def run_gate(files, results, **settings):
    """Run the script of the action; -> the process, the summary and the outputs."""
    program = results / "bin"
    program.mkdir(parents=True)
    (program / "venire").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m venire "$@"\n')
    (program / "venire").chmod(0o755)
    given = {"JUDGMENTS": "qrels.txt", "RUNS": "\n".join(path.name for path in sorted(files.glob("*.run")))}
    places = {"RESULTS": results / "out", "GITHUB_STEP_SUMMARY": results / "summary.md", "GITHUB_OUTPUT": results / "o"}
    environment = {**os.environ, **SETTINGS, **given, **settings, **{name: str(path) for name, path in places.items()}}
    environment["PATH"] = f"{program}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["bash", GATE],
        **{"cwd": files, "env": environment, "capture_output": True, "text": True, "check": False},
    )
    summary, output = (path.read_text() if path.exists() else "" for path in list(places.values())[1:])
    return done, summary, dict(line.split("=", 1) for line in output.splitlines())


@pytest.mark.slow
def test_a_better_candidate_passes(files, tmp_path):
    done, summary, output = run_gate(files, tmp_path, CANDIDATE="good", BASELINE="poor")
    assert (done.returncode, output) == (0, {"code": "0", "passed": "true"}), done.stderr
    assert summary.startswith("## Passed")
    assert "note: passed: good against poor: delta" in summary
    assert "### All systems" in summary
    shown = re.findall(r"^\| (\S+) \| (\d\S+) ", summary.split("### All systems")[1], re.M)
    scores = [float(score) for _, score in shown]
    assert (len(shown), shown[0][0], shown[-1][0]) == (4, "good", "poor")
    assert scores == sorted(scores, reverse=True)
    assert (tmp_path / "out" / "report.html").stat().st_size > 100_000


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "code"), [("1.run\n0.run", "0"), ("0.run\n1.run", "1")])
def test_without_names_the_first_run_is_the_baseline(files, tmp_path, runs, code):
    done, summary, output = run_gate(files, tmp_path, CANDIDATE="", BASELINE="", RUNS=runs)
    assert (done.returncode, output["code"]) == (0, code), done.stderr
    assert "the first system of RUNS; --baseline names another" in summary


@pytest.mark.slow
@pytest.mark.parametrize(("candidate", "baseline"), [("none", "poor"), ("good", "none")])
def test_a_system_that_returned_nothing_has_no_number_in_the_summary(files, tmp_path, candidate, baseline):
    (tmp_path / "none.run").write_text("other Q0 d1 1 1 none\n")
    runs = f"0.run\n1.run\n{tmp_path / 'none.run'}"
    done, summary, output = run_gate(files, tmp_path, CANDIDATE=candidate, BASELINE=baseline, RUNS=runs)
    assert (done.returncode, output["code"]) == (0, "1"), done.stderr
    assert summary.startswith("## Not passed")
    said = f"error: not passed: {candidate} against {baseline}: none returned nothing for any scored topic\n"
    assert said in summary
    assert "warning: none returned nothing for any scored topic (of 12), so it has no score" in summary
    rows = [line for line in summary.splitlines() if re.search(r"\| none \|", line)]
    assert len(rows) >= 4
    assert not [line for line in rows if re.search(r"\d\.\d", line)]
    assert summary.split("### All systems")[1].split("<details>")[0].strip().splitlines()[-1] == "| none | - | - |"
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.slow
def test_the_step_on_the_page_of_integrations_runs(tmp_path):
    page = (ROOT / "docs" / "integrations" / "index.md").read_text(encoding="utf-8")
    (step,) = re.findall(r"^```yaml\n(- uses: \./tools/venire.*?)^```$", page, re.M | re.S)
    given = {name.upper(): value for name, value in re.findall(r"^    ([a-z]+): (.*)$", step, re.M)}
    assert {"JUDGMENTS", "RUNS", "CANDIDATE", "BASELINE"} <= set(given)
    write_documented_files(tmp_path)
    done, summary, output = run_gate(tmp_path, tmp_path / "results", **{"MEASURE": "nDCG@10", **given})
    assert (done.returncode, output["code"]) == (0, "0"), done.stderr + summary


def settings_of(text, indent):
    """Read the keys of an indented block of YAML, with their texts; those of several lines begin with |."""
    own = re.findall(rf"^ {{{indent}}}([a-z-]+): (?:\|\n((?: {{{indent + 2}}}.*\n)+)|(.*)\n)", text, re.M)
    return {name: re.sub(r"^ +", "", lines, flags=re.M) or one.strip('"') for name, lines, one in own}


def variables(inputs):
    """Return what the action gives its script: variables by the names of inputs, as action.yml has them."""
    defaults = dict(
        re.findall(r"^  ([a-z-]+):\n(?:    [^d].*\n|    de[^f].*\n)*    default: (?!\|)(.*)$", ACTION, re.M)
    )
    lists = settings_of(ACTION.split("  require:\n")[1].split("  assessor:")[0], 4)
    known = {**{name: text.strip('"') for name, text in defaults.items()}, "require": lists["default"], **inputs}
    return {
        name: known[key] for name, key in re.findall(r"^        ([A-Z]+): \$\{\{ inputs\.([a-z-]+) \}\}$", ACTION, re.M)
    }


@pytest.mark.slow
@pytest.mark.parametrize(("share", "code"), [(1, 0), (-1, 1), (0, 2)], ids=["better", "worse", "no run"])
def test_the_example_workflow_runs_step_by_step(tmp_path, share, code):
    page = (ROOT / "docs" / "howto" / "release-gate.md").read_text(encoding="utf-8")
    (workflow,) = re.findall(r"^```yaml\n(name: .*?)^```$", page, re.M | re.S)
    ranking, action = re.findall(r"^      - (?:run|uses): (?!actions/)(.*)$", workflow, re.M)
    inputs = settings_of(workflow.split("        with:\n")[1], 10)
    write_documented_files(tmp_path)
    (tmp_path / action).mkdir(parents=True)
    new = tmp_path / "runs" / "new.run"
    fields = [line.split() for line in new.read_text().splitlines()]
    lines = [f"{' '.join(field[:4])} {share * float(field[4])} $2\n" for field in fields if share]
    script = tmp_path / "rank-test-queries"
    script.write_text(f"#!/bin/sh\ncat <<EOT\n{''.join(lines)}EOT\n")
    script.chmod(0o755)
    subprocess.run(["bash", "-e", "-c", ranking], cwd=tmp_path, check=True)
    done, summary, output = run_gate(tmp_path, tmp_path / "results", **variables(inputs))
    assert inputs["comment"] == "true"
    if code == 2:
        assert (done.returncode, output) == (2, {})
        assert "new.run: holds no run lines" in summary
        return
    assert (done.returncode, output["code"]) == (0, str(code)), done.stderr
    assert summary.startswith("## Passed" if code == 0 else "## Not passed")
    fake = tmp_path / "results" / "bin" / "gh"
    fake.write_text('#!/bin/sh\necho "$@" > said\ncat "$5" > body\n')
    fake.chmod(0o755)
    environment = {"PATH": f"{fake.parent}{os.pathsep}{os.environ['PATH']}", "CODE": output["code"], "NUMBER": "7"}
    environment["RESULTS"] = str(tmp_path / "results" / "out")
    comment, last = re.findall(r"run: ((?:gh|exit) .*)", ACTION)
    subprocess.run(["bash", "-e", "-c", comment], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "said").read_text().startswith("pr comment 7 --body-file")
    assert (tmp_path / "body").read_text() == summary
    ended = subprocess.run(["bash", "-e", "-c", last], cwd=tmp_path, env=environment, check=False)
    assert ended.returncode == code


def test_a_comment_that_cannot_be_written_does_not_decide_the_gate(tmp_path):
    (comment,) = re.findall(r"run: (gh .*)", ACTION)
    (tmp_path / "gh").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "gh").chmod(0o755)
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "NUMBER": "7", "RESULTS": str(tmp_path)}
    command = ["bash", "-e", "-c", comment]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "::warning::Venire could not comment\n")


@pytest.mark.slow
def test_a_worse_candidate_does_not_and_names_act_as_text(files, tmp_path):
    done, summary, output = run_gate(files, tmp_path, CANDIDATE="poor", BASELINE="`x`$(touch`", MEASURE="P(rel=1)@5")
    assert (done.returncode, output) == (0, {"code": "1", "passed": "false"})
    assert summary.startswith("## Not passed")
    fences = [line for line in summary.splitlines() if line.startswith("```")]
    assert fences == ["```text", "```"] * 2
    tables = "".join(summary.split("```")[::2])
    assert "| @\u200bteam |" in tables  # GitHub would tell a team that it is mentioned, also with a backslash before it
    assert "@team" not in tables
    assert "P(rel=1)@5" in tables


def test_the_report_of_another_gate_is_not_uploaded(files, tmp_path):
    """The results of a job are in one folder, and a report that cannot be written is no reason to end."""
    report = tmp_path / "out" / "report.html"
    report.parent.mkdir()
    report.write_text("of another gate in the same job")
    run_gate(files, tmp_path, JUDGMENTS="nosuch.txt")
    assert not report.exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"JUDGMENTS": "\n"}, "name files of judgments"),
        ({"JUDGMENTS": "nosuch.txt"}, "nosuch.txt"),
        ({"CANDIDATE": "$(touch stolen)"}, "$(touch stolen)"),
        ({"CANDIDATE": "##[add-mask]x"}, "there is no system '##[add-mask]x'"),
        ({"REQUIRE": "delta>0; touch stolen"}, "not a condition"),
        ({"REQUIRE": "\n  \n"}, "without one, every candidate would pass"),
    ],
)
def test_broken_inputs_end_with_2_and_their_message(files, tmp_path, settings, said):
    done, summary, output = run_gate(files, tmp_path, **{"CANDIDATE": "good", "BASELINE": "poor", **settings})
    assert (done.returncode, output) == (2, {})
    assert summary.startswith("## Not compared\n\n```text\n")
    begun, *text, ended = done.stderr.splitlines()  # what is printed between them is no command of the runner
    assert re.fullmatch(r"::stop-commands::[0-9a-f]{32}", begun)
    assert ended == f"::{begun.split('::')[2]}::"
    assert said in "\n".join(text)
    assert said in summary
    assert not list(files.glob("stolen*"))


def test_the_script_needs_no_later_shell_than_any_runner_has():
    """Runners with macOS have bash 3.2 and the sed of BSD."""
    script = "".join(line for line in GATE.read_text(encoding="utf-8").splitlines(True) if not line.startswith("#"))
    assert not re.findall(r"mapfile|readarray|declare -A|\$\{\w+[,^]|\|&|&>>|set -\w*u|\\\|", script)


def test_every_input_is_documented_and_reaches_the_script_as_a_variable():
    names = re.findall(r"^  ([a-z-]+):$", ACTION.split("\noutputs:")[0], re.M)
    page = (ROOT / "docs" / "howto" / "release-gate.md").read_text(encoding="utf-8")
    assert len(names) == 10
    assert [name for name in names if name != "python-version" and f"`{name}`" not in page] == []
    commands = re.findall(r"run: (.*)", ACTION)
    assert commands
    assert not [command for command in commands if "${{" in command]
    used = set(re.findall(r"\$\{?([A-Z]+)\b", GATE.read_text(encoding="utf-8")))
    given = set(re.findall(r"^        ([A-Z]+): ", ACTION, re.M))
    assert used - {"LINES"} <= given


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_actions_are_pinned_by_hash_and_use_no_secrets(path):
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    assert [each for each in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", each[0]) or "# v" not in each[1]] == []
    assert "pull_request_target" not in text
    assert "secrets." not in text


def test_a_release_that_is_started_by_hand_publishes_nothing():
    """Started by hand on a tag, the workflow has the tag's reference, too."""
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    (publish,) = re.findall(r"^  publish:\n((?: {4}.*\n)+)", workflow, re.M)
    assert "    if: github.event_name == 'push' && github.ref_type == 'tag'\n" in publish
