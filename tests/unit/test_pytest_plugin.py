"""The pytest plugin: assertions, settings and markers, in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from venire import compare, read_judgments
from venire.comparison import Claim
from venire.errors import MissingTopicsWarning, SettingError

DOCS = [f"d{n}" for n in range(12)]
N_TOPICS = 20
pytest_plugins = ["pytester"]


def run_of(quality, seed):
    """Documents with lower numbers are relevant; a system of some quality ranks them higher."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=(N_TOPICS, len(DOCS))) + quality * (np.arange(len(DOCS)) < 4)
    return {f"t{t}": dict(zip(DOCS, score[t].tolist(), strict=True)) for t in range(N_TOPICS)}


def labels_of(n_judges, flipped=0):
    return {
        f"judge{judge}": {
            f"t{t}": {doc: int((n < 4) != (judge > 0 and t < flipped)) for n, doc in enumerate(DOCS)}
            for t in range(N_TOPICS)
        }
        for judge in range(n_judges)
    }


RUNS = {"good": run_of(3, 1), "like": run_of(3, 2), "poor": run_of(0, 3)}


def claim(candidate, baseline, *, n_judges=1, flipped=0, runs=RUNS, **options):
    found = compare(
        read_judgments(labels_of(n_judges, flipped)),
        runs,
        assessor="judge0",
        candidate=candidate,
        baseline=baseline,
        n_draws=200,
    )
    return Claim(found, **options)


@pytest.mark.parametrize("n_judges", [1, 2])
def test_a_better_system_is_claimed_in_one_direction(n_judges):
    assert not claim("good", "poor", n_judges=n_judges).reasons
    reasons = claim("poor", "good", n_judges=n_judges).reasons
    assert any("not ahead" in reason for reason in reasons)


def test_systems_that_are_alike_are_neither_better_nor_far_apart():
    assert claim("good", "like").reasons
    assert claim("good", "like", margin=0.001).reasons
    assert not claim("good", "like", margin=0.2).reasons


def test_the_lower_bound_is_the_one_sided_one_of_student():
    from scipy.stats import ttest_1samp

    found = claim("good", "like", margin=0.05)
    difference = found.topics("nDCG@10").difference
    expected = ttest_1samp(difference, 0.0, alternative="greater").confidence_interval(0.95).low
    assert found.lower_bound("nDCG@10") == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "setting",
    [
        *({"level": 0}, {"level": 0.5}, {"level": 5}, {"level": "5%"}, {"sure": 90}, {"sure": np.nan}),
        *({"margin": -1}, {"margin": 10**400}),
    ],
)
def test_settings_with_which_any_or_no_claim_could_be_made_are_refused(setting):
    (name,) = setting
    with pytest.raises(SettingError, match=rf"{name} is .*, expected"):
        claim("poor", "good", **setting)


def test_a_margin_that_allows_any_loss_allows_none():
    (reason,) = claim("poor", "good", margin=1).reasons
    assert reason.startswith("by nDCG@10, good scores 0.")
    assert reason.endswith(": the margin of 1 allows any loss")
    assert not claim("good", "poor", margin=1).reasons


def test_a_claim_is_about_one_pair():
    with pytest.raises(SettingError, match="about 1 pair of systems, found 2"):
        claim(None, "poor")


def test_a_judge_who_contradicts_is_a_reason():
    assert any("judge" in reason for reason in claim("good", "poor", n_judges=2, flipped=N_TOPICS).reasons)


def test_words_name_the_worst_topics():
    found = claim("poor", "good")
    worst = found.topics("nDCG@10").topics[-1]
    assert f"worst topics by nDCG@10: {worst} (" in found.message()


def test_words_for_one_judge_and_one_topic():
    runs = {name: {"t0": run["t0"]} for name, run in RUNS.items()}
    labels = {"t0": labels_of(1)["judge0"]["t0"]}
    found = Claim(compare(labels, runs, candidate="poor", baseline="good", n_draws=9))
    assert "the baseline is ahead with the labels of assessor" in found.message()
    assert "95% interval not known, 1 topic\n" in found.message()


def test_a_system_that_returned_nothing_has_no_scores():
    for names in (("none", "good"), ("good", "none")):
        runs = {"good": RUNS["good"], "none": {"another": {"d1": 1.0}}}
        with pytest.warns(MissingTopicsWarning):
            found = claim(*names, runs=runs, margin=0.5)
        assert found.reasons == ["none returned nothing for any scored topic"]
        assert {row["delta"] for row in found.records()} == {None}
        assert found.found.records()[0]["delta"] is None
        assert "Nothing is compared" in found.found.sentence()
        assert "<svg" in found.found._repr_html_()
        assert len(found.message().splitlines()) == 2


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_names_in_words_cannot_act(margin):
    name = "po\x1b[31m\nor"
    found = claim(name, "good", runs={"good": RUNS["good"], name: RUNS["poor"]}, margin=margin)
    for text in (found.message(), repr(found)):
        assert r"po\x1b[31m" in text
        assert "\x1b" not in text
    assert found.message().startswith(r"po\x1b[31m\nor is ")


def test_topics_without_a_list_are_a_part_of_the_message():
    runs = {"good": RUNS["good"], "poor": {f"t{t}": RUNS["poor"][f"t{t}"] for t in range(15)}}
    with pytest.warns(MissingTopicsWarning):
        found = claim("poor", "good", runs=runs)
    assert "\n  poor returned nothing for 5 of 20 topics\n" in found.message()
    assert "returned nothing" not in claim("poor", "good").message()


def test_one_topic_has_no_lower_bound():
    runs = {name: {"t0": run["t0"]} for name, run in RUNS.items()}
    labels = {"t0": labels_of(1)["judge0"]["t0"]}
    found = Claim(compare(labels, runs, candidate="good", baseline="poor", n_draws=9), margin=0.1)
    assert "by nDCG@10, there are too few topics for a lower bound of the difference" in found.reasons


@pytest.fixture
def project(pytester):
    """A project with judgments of one judge, and two runs."""
    lines = [
        f"t{t} 0 {doc} {label}" for t, each in enumerate(labels_of(1)["judge0"].values()) for doc, label in each.items()
    ]
    pytester.makefile(".qrels", judge="\n".join(lines) + "\n")
    for name in ("good", "poor"):
        rows = [f"{t} Q0 {doc} 1 {score} {name}" for t, each in RUNS[name].items() for doc, score in each.items()]
        pytester.makefile(".run", **{name: "\n".join(rows) + "\n"})
    return pytester


def run_pytest(project, test, ini="", *more):
    """Run pytest where the plugin is registered by its entry point, as for users, or by name."""
    project.makeini(f"[pytest]\n{ini}")
    project.makepyfile(test_search=test)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "test_search.py"]
    code = "from importlib.metadata import entry_points as e; print([x.value for x in e(group='pytest11')])"
    known = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    if "venire.pytest_plugin" not in known:
        command += ["-p", "venire.pytest_plugin"]
    command += more
    return subprocess.run(command, cwd=project.path, env=environment, capture_output=True, text=True, check=False)


def test_assertions_pass_and_fail_with_settings(project):
    result = run_pytest(
        project,
        """
        def test_better(venire):
            venire.assert_better("good", "poor")

        def test_no_regression(venire):
            venire.assert_no_regression("good", "poor", "P@3", margin=0.05)

        def test_better_than_the_other(venire):
            venire.assert_better("good")
            venire.assert_no_regression("good", measure="P@3", margin=0.05)

        def test_not_better_than_the_other(venire):
            venire.assert_better("poor")

        def test_of_which(venire):
            venire.assert_better("good", runs={"good": {"t1": {"d": 1}}, "poor": {}, "like": {"t1": {"d": 1}}})

        def test_worse(venire):
            venire.assert_better("poor", "good")
        """,
        "venire_judgments = judge.qrels\nvenire_runs = good.run poor.run\n",
    )
    assert "3 failed, 3 passed" in result.stdout
    assert result.stdout.count("poor is not shown to be better than good\n") >= 2
    assert "name the baseline (baseline SYSTEM)" in result.stdout
    assert "poor is not shown to be better than good" in result.stdout
    assert "worst topics by nDCG@10" in result.stdout
    failures, _ = result.stdout.split(" warnings summary ")
    assert "pytest_plugin.py" not in failures


def test_runs_come_from_marked_functions_whatever_their_order(project):
    result = run_pytest(
        project,
        """
        import pytest

        def test_better(venire):
            venire.assert_better("good", "made", judgments="judge.qrels", runs=["good.run"])

        @pytest.mark.venire_run("made")
        def test_run(tmp_path):
            return {f"t{t}": {f"d{n}": float(n) for n in range(12)} for t in range(20)}
        """,
    )
    assert "2 passed" in result.stdout


def test_runs_come_first_also_where_failed_tests_do(project):
    test = """
        import pytest

        def test_worse(venire):
            venire.assert_better("made", "good", judgments="judge.qrels", runs=["good.run"])

        @pytest.mark.venire_run("made")
        def test_run():
            return {f"t{t}": {f"d{n}": float(n) for n in range(12)} for t in range(20)}
        """
    for _ in range(2):
        result = run_pytest(project, test, "", "-p", "cacheprovider", "--ff")
        assert "1 failed, 1 passed" in result.stdout
        assert "made is not shown to be better than good" in result.stdout


def test_a_run_that_is_not_asked_for_changes_no_other_test(project):
    test = """
        import pytest

        @pytest.mark.venire_run("poor")
        def test_run():
            return {"t1": {"d1": 1.0}}

        def test_better(venire):
            venire.assert_better("good", "like", runs={"good": {"t1": {"d1": 1}, "t2": {"d1": 1}}, "like": {}})

        def test_of_a_folder(venire):
            venire.assert_no_regression("good", "like", margin=0.5, runs=["good.run", "poor.run", "like.run"])

        def test_twice(venire):
            venire.assert_better("good", "poor", runs=["good.run", "poor.run"])
        """
    rows = [f"{t} Q0 {doc} 1 {score} like" for t, each in RUNS["like"].items() for doc, score in each.items()]
    project.makefile(".run", like="\n".join(rows) + "\n")
    result = run_pytest(project, test, "venire_judgments = judge.qrels\n")
    assert "2 failed, 2 passed" in result.stdout
    assert "like returned nothing for any scored topic" in result.stdout
    assert "system 'poor' is in" in result.stdout


@pytest.mark.parametrize(
    ("body", "more"), [("1 / 0", ()), ("return {}", ()), ("return {'t1': {'d1': 1.0}}", ("-k", "better"))]
)
def test_a_run_that_was_not_returned_is_said_to_be_lacking(project, body, more):
    test = f"""
        import pytest

        @pytest.mark.venire_run("made")
        def test_run():
            {body}

        def test_better(venire):
            venire.assert_better("made", "poor", judgments="judge.qrels")
        """
    result = run_pytest(project, test, "venire_runs = good.run poor.run\n", *more)
    assert "the test that returns the run of 'made' did not return it: it failed, was left out" in result.stdout
    assert "no system" not in result.stdout


def test_warnings_as_errors_fail_with_their_words(project):
    test = """
        def test_missing(venire):
            runs = {"good": {"t1": {"d1": 1.0}}, "poor": {"t2": {"d1": 1.0}}}
            venire.assert_better("good", "poor", runs=runs)
        """
    result = run_pytest(project, test, "venire_judgments = judge.qrels\nfilterwarnings = error\n")
    assert "1 failed" in result.stdout
    assert "topics without a list score 0 (the rule 'skip' omits them): good (19 of 20), poor" in result.stdout
    assert "measures" not in result.stdout


def test_judgments_may_be_a_dataset_in_the_settings(project):
    ini = "venire_judgments = irds:no/such/dataset\nvenire_runs = good.run poor.run\n"
    result = run_pytest(project, "def test_it(venire):\n    venire.assert_better('good', 'poor')\n", ini)
    assert "\nirds:no/such/dataset: ir_datasets " in result.stdout


WRONG = {
    "venire.assert_better('good', 'poor')": "no judgments: give judgments=..., or set venire_judgments",
    "venire.assert_better('good', 'poor', judgments='no.qrels', runs='good.run')": "no.qrels",
    "venire.assert_better('good', 'nosuch', judgments='judge.qrels', runs='good.run')": "nosuch",
    "venire.assert_better('good', 'poor', judgments='no\\x1b.qrels', runs='good.run')": r"no\x1b.qrels: ",
    "venire.assert_better('good', 'poor', judgments='judge.qrels')": "settings of pytest; no test with the marker",
    "venire.assert_better('good', 'poor', judgments='judge.qrels', runs=['good.run', 'poor.run'], asessor='x')": (
        "unexpected keyword argument 'asessor'"
    ),
    "venire.assert_no_regression('good', 'poor', margin=0)": "the margin is 0",
    "venire.assert_no_regression('good', 'poor', margin='1%')": "the margin is '1%', expected a number above 0",
    "venire.assert_no_regression('good', 'poor', margin=float('inf'))": "the margin is inf",
    "venire.assert_better('poor', 'good', judgments='judge.qrels', runs=['good.run', 'poor.run'], level=5)": (
        "level is 5, expected a number above 0 and below 0.5"
    ),
    "venire.assert_better('good', 'poor', judgments=7, runs='good.run')": "judgments: found int",
    "venire.assert_better(None, 'poor', judgments='judge.qrels', runs=['good.run', 'poor.run'])": (
        "the candidate is None, expected the name of a system"
    ),
    "venire.assert_better('good', 4, judgments='judge.qrels', runs=['good.run', 'poor.run'])": "there is no system 4",
    "venire.assert_no_regression('good', 'poor', .02, judgments='judge.qrels', runs=['good.run', 'poor.run'])": (
        "found 0.02, expected a measure"
    ),
    "venire.assert_better('good', 'poor', judgments='judge.qrels', runs=['good.run', 'poor.run'], n_draws=0)": (
        "n_draws is 0, expected 1 or more"
    ),
}
NO_RUNS = {
    "None": "NoneType",
    "{}": "an empty run",
    "{'t1': 2}": "has int for topic 't1', expected {topic: {doc: score}}",
    "{'t1': {'d 1': 'high'}}": "has the score 'high' of document 'd 1' for topic 't1'",
    "{'t1': {'d1': float('nan')}}": "has the score nan of document 'd1'",
    "{'t1': {'d1': 10**400}}": "has the score 1000",
    "{'t1': {}}": "the run of 'x6' is an empty run",
    "{'t1': {'': 1.0}}": "has the id '', expected",
    "{'t1': {'d1': 1.0}, 't\\ud800': {}}": "has the id 't\\ud800', expected",
    "{'t1': {7: 1.0, '7': 2.0}}": "has the id '7' twice, as text and as a number",
}


def test_what_is_wrong_is_said_without_a_traceback(project):
    tests = [f"def test_{n}(venire):\n    {test}\n" for n, test in enumerate(WRONG)]
    tests += [
        f"@pytest.mark.venire_run('x{n}')\ndef test_run_{n}():\n    return {value}\n" for n, value in enumerate(NO_RUNS)
    ]
    tests += ["@pytest.mark.venire_run('')\ndef test_no_name():\n    return {'t1': {'d1': 1.0}}\n"]
    result = run_pytest(project, "import pytest\n\n" + "\n".join(tests))
    assert f"{len(tests)} failed" in result.stdout
    for said in (*WRONG.values(), *NO_RUNS.values(), "the marker names one system"):
        assert said in result.stdout
    assert "Traceback" not in result.stdout
    assert "During handling" not in result.stdout
    assert "pytest_plugin.py" not in result.stdout
