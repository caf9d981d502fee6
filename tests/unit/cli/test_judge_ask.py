import json
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import venire.judging
from model_server import Model, ModelServer, Reply
from venire.cli.main import cli
from venire.judging.machines.prompts import Prompts
from venire.judging.store import Store
from venire.judging.study_files import read_study

ASSETS = Path(venire.judging.__file__).parent / "assets"
KEY = "sk-0123456789abcdef"
SERVER = Path(__file__).parents[2] / "model_server.py"


@pytest.fixture
def study(tmp_path):
    """Return the sample study, in a folder of its own."""
    shutil.copytree(ASSETS, tmp_path / "sample")
    return tmp_path / "sample" / "study.toml"


def run(*words, **settings):
    found = CliRunner().invoke(cli, ["judge", "ask", *map(str, words)], prog_name="venire", **settings)
    return found, click.unstyle(found.output)


def stored(study):
    read, tasks = read_study(study)
    with Store.open(read, tasks) as store:
        return store.stored(), store.unread("model")


def test_the_prompts_are_shown_without_a_server(study):
    found, text = run(study, "--show-prompt")
    read, tasks = read_study(study)
    assert found.exit_code == 0
    heads = [line for line in text.splitlines() if line.startswith("=== ") and line.endswith("system")]
    assert {task.kind for task in tasks} == {line.split()[1].rstrip(",") for line in heads}
    assert read.guidelines.strip() in text
    assert text.strip().endswith(Prompts(read).hash)
    assert not study.with_suffix(".db").exists()


def test_asking_states_a_forecast_and_a_summary(study):
    with ModelServer() as server:
        words = (study, "--model", "toy", "--base-url", server.url, "--price-in", "2", "--price-out", "8")
        found, text = run(*words, "--limit", "5")
        assert found.exit_code == 0
        assert "model: 5 requests to toy, about " in text
        assert ", cost about 0.0055" in text
        found, text = run(*words, "--format", "json", "-q")
    record = json.loads(found.stdout)
    answers, _ = stored(study)
    assert record["stored"] + 5 == len(answers) == len(read_study(study)[1])
    assert record["cost"] == pytest.approx((record["tokens_in"] * 2 + record["tokens_out"] * 8) / 1e6)
    assert record["prompt"] == answers[0].machine["prompt"]


def test_the_base_url_may_be_in_the_environment_and_the_key_only_there(study):
    model = Model()
    with ModelServer(model) as server:
        environment = {"OPENAI_BASE_URL": server.url, "OTHER_KEY": KEY, "OPENAI_API_KEY": "sk-of-somebody-else"}
        found, text = run(study, "--model", "toy", "--key-variable", "OTHER_KEY", "--limit", "1", env=environment)
    assert found.exit_code == 0, text
    assert model.headers[0]["authorization"] == f"Bearer {KEY}"
    files = [path.read_bytes() for path in study.parent.iterdir()]
    assert not any(KEY.encode() in data for data in [*files, text.encode()])


def test_an_error_of_the_server_is_one_line_and_the_summary_is_there(study):
    with ModelServer(Model(script=lambda *_: Reply(401, f"bad key {KEY}".encode()))) as server:
        found, text = run(study, "--model", "toy", "--base-url", server.url, env={"OPENAI_API_KEY": KEY})
    assert found.exit_code == 2
    assert "error: " in text
    assert "refuses (status 401): bad key (key)" in text
    assert "hint: is the key in the environment variable" in text
    assert KEY not in text
    assert "asked" in found.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--base-url", "http://127.0.0.1:1/v1"], "--model NAME is missing"),
        (["--model", "toy"], "--base-url URL is missing"),
        (["--model", "toy", "--base-url", "nowhere"], "the base URL is 'nowhere'"),
        (["--model", "toy", "--base-url", "http://127.0.0.1:1/v1", "--assessor", "ann"], "ann is a person"),
        (["--model", "toy", "--base-url", "http://127.0.0.1:1/v1", "--assessor", "modle"], "did you mean 'model'?"),
    ],
)
def test_what_is_wrong_with_the_command(study, words, message):
    found, text = run(study, *words, env={"OPENAI_BASE_URL": None})
    assert found.exit_code == 2
    assert message in text


def test_unreadable_replies_are_counted_in_the_summary(study):
    script = lambda request, _: Reply(200, b'{"choices": [{"message": {"content": "2 or 1"}}]}')  # noqa: ARG005, E731
    with ModelServer(Model(script=script)) as server:
        found, text = run(study, "--model", "toy", "--base-url", server.url, "--limit", "3")
    assert found.exit_code == 0
    assert "3 replies could not be read (not JSON)" in text
    answers, unread = stored(study)
    assert (answers, [each.text for each in unread]) == ([], ["2 or 1"] * 3)


def test_on_a_terminal_it_asks_first(study, monkeypatch):
    monkeypatch.setattr("venire.cli.judge.ask.on_a_terminal", lambda: True)
    with ModelServer() as server:
        words = (study, "--model", "toy", "--base-url", server.url, "--limit", "1")
        found, text = run(*words, input="n\n")
        assert (found.exit_code, server.model.requests) == (130, [])
        assert "send the requests? [y/N]" in text
        assert run(*words, input="y\n")[0].exit_code == 0
        assert run(*words, "--yes")[0].exit_code == 0
    assert len(stored(study)[0]) == 2


@contextmanager
def a_server(*words):
    """Run the server of models in a process of its own; yield its address."""
    command = [sys.executable, str(SERVER), *map(str, words)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.terminate()


def asking(study, url, *words):
    command = [sys.executable, "-m", "venire", "judge", "ask", str(study), "--model", "toy", "--base-url", url]
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    heed = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731 - ignored in the background
    return subprocess.Popen([*command, "--format", "json", *map(str, words)], **piped, preexec_fn=heed)


@pytest.mark.slow
def test_an_interrupt_ends_with_a_summary(study, tmp_path):
    log = tmp_path / "log"
    with a_server("--delay", "0.3", "--log", log) as url:
        process = asking(study, url, "--concurrency", "2")
        while not (log.exists() and log.read_text()):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    record = json.loads(out)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert 0 < record["stored"] == len(stored(study)[0])
    assert record["left"] > 0


@pytest.mark.slow
def test_ten_thousand_tasks_of_a_failing_server_and_two_kills(tmp_path):
    n, concurrency = 10_000, 64
    study, log = large_study(tmp_path / "large", n), tmp_path / "log"
    log.touch()
    with a_server("--failing", "0.2", "--log", log) as url:
        for share in (0.3, 0.6):
            process = asking(study, url, "--concurrency", concurrency)
            while log.read_bytes().count(b"\n") < share * n:
                assert process.poll() is None, process.communicate()
                time.sleep(0.05)
            process.kill()
            process.communicate()
        process = asking(study, url, "--concurrency", concurrency)
        out, err = process.communicate()
    assert process.returncode == 0, err
    answers, unread = stored(study)
    assert len(answers) == len({(each.task.key, each.repeat) for each in answers}) == n
    assert {(each.machine["model"], each.status) for each in answers} == {("toy", "counted")}
    assert unread == []
    sent = Counter(log.read_text().split())
    assert len(sent) == n
    again = sum(sent.values()) - n
    assert again <= 2 * concurrency
    assert 0 < json.loads(out)["repeated"] <= concurrency


def large_study(folder, n):
    """Write a study of n tasks."""
    shutil.copytree(ASSETS, folder)
    topics = [f"t{k}" for k in range(100)]
    docs = [f"d{k}" for k in range(n)]
    rows = [f"{topics[k % 100]}\t{doc}" for k, doc in enumerate(docs)]
    (folder / "topics.tsv").write_text("topic\tquery\n" + "".join(f"{each}\tquery of {each}\n" for each in topics))
    (folder / "pool.tsv").write_text("topic\tdoc\n" + "\n".join(rows) + "\n")
    texts = (
        {"doc": doc, "title": doc, "text": f"This is {doc}, about the query of t{k % 7}."} for k, doc in enumerate(docs)
    )
    (folder / "documents.jsonl").write_text("".join(json.dumps(each) + "\n" for each in texts))
    study = folder / "study.toml"
    head = study.read_text(encoding="utf-8").partition("[[tasks]]")[0]
    study.write_text(f'{head}[[tasks]]\nkind = "label"\npool = "pool.tsv"\n', encoding="utf-8")
    return study
