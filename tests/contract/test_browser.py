"""The report in a real browser: no request, no error, nothing wider than the window."""

from __future__ import annotations

import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from every_command import arguments, write_files
from hostile_names import NAMES
from json_results import loaded
from venire import report_on, write_report
from venire.cli.main import cli
from venire.simulation import Synthetic, generate
from venire.simulation.systems import Systems

pytestmark = pytest.mark.slow

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PROBE = """
window.addEventListener("load", () => {
  const wide = document.documentElement.scrollWidth;
  document.body.dataset.found = JSON.stringify({wide, inner: window.innerWidth, sorted: sorted()});
});
function sorted() {
  const header = document.querySelector("#assessors th:nth-child(4)");
  header.querySelector("button").click();
  const cells = Array.from(document.querySelectorAll("#assessors td:nth-child(4)"));
  return [header.getAttribute("aria-sort"), cells.map((cell) => Number(cell.dataset.value || cell.textContent))];
}
"""


@pytest.fixture(scope="module")
def browser() -> str:
    for name in BROWSERS:
        if path := shutil.which(name):
            return path
    pytest.skip(f"no browser: install one of {', '.join(BROWSERS)}")


@pytest.fixture(scope="module")
def page_path(tmp_path_factory):
    small = Synthetic(n_topics=12, docs_per_topic=25, n_unjudged=0, systems=Systems(quality=(0.5, 2.0, 3.0), depth=20))
    made = generate(small, rng=3)
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(report_on(made.judgments, made.runs, n_draws=100), path)
    add_script(path, PROBE)
    return path


def add_script(path: Path, script: str) -> None:
    """Add a script to a page, and allow it by the policy of the page."""
    allowed = f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}' "
    text = path.read_text(encoding="utf-8")
    assert "script-src " in text
    text = text.replace("script-src ", allowed, 1).replace("</body>", f"<script>{script}</script></body>")
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_works_alone(browser, page_path, tmp_path, width):
    dom, said, log = visit(browser, page_path, tmp_path, width)
    assert "CONSOLE" not in said
    assert requests_of(log) == []
    found = loaded(dom.split('data-found="', 1)[1].split('"', 1)[0].replace("&quot;", '"'))
    assert found["wide"] <= max(found["inner"], width)
    direction, values = found["sorted"]
    assert direction == "descending"
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(("words", "name"), [("report", "page.html"), ("certify", "certificate.html")])
def test_names_do_nothing(browser, tmp_path, monkeypatch, words, name):
    """Nothing of the page is blocked by its policy, and no name runs or asks for something."""
    write_files(tmp_path, NAMES)
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, arguments(words, NAMES), prog_name="venire").exit_code == 0
    _, said, log = visit(browser, tmp_path / name, tmp_path, 1280)
    assert "CONSOLE" not in said
    assert requests_of(log) == []


def test_the_policy_blocks_other_scripts_and_styles(browser, tmp_path, page_path):
    path = tmp_path / "other.html"
    text = page_path.read_text(encoding="utf-8")
    more = "<script>document.body.dataset.ran = 'yes'</script><p style='color: red' onclick='x()'>x</p></body>"
    path.write_text(text.replace("</body>", more), encoding="utf-8")
    dom, said, _ = visit(browser, path, tmp_path, 1280)
    assert "data-ran" not in dom
    assert len([line for line in said.splitlines() if "CONSOLE" in line and "Content Security Policy" in line]) >= 2


def test_a_page_that_asks_for_something_would_be_caught(browser, tmp_path):
    path = tmp_path / "asks.html"
    path.write_text('<img src="http://127.0.0.1:9/x.png"><script>console.error("no")</script>', encoding="utf-8")
    _, said, log = visit(browser, path, tmp_path, 400)
    assert "CONSOLE" in said
    assert requests_of(log) == ["http://127.0.0.1:9/x.png"]


def visit(browser: str, page: Path, folder: Path, width: int) -> tuple[str, str, Path]:
    """Open a page: what it is once loaded, what the browser says, and its log of the network."""
    log, errors = folder / "net.json", folder / "chrome.log"
    command = [
        *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
        *("--disable-background-networking", "--disable-component-update"),
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        *(f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900", f"--log-net-log={log}"),
        *("--enable-logging=stderr", "--log-level=0", "--virtual-time-budget=3000", "--dump-dom", page.as_uri()),
    ]
    with errors.open("w") as sink:
        dom = subprocess.run(command, stdout=subprocess.PIPE, stderr=sink, text=True, timeout=120, check=True).stdout
    return dom, errors.read_text(encoding="utf-8", errors="replace"), log


def requests_of(log: Path) -> list[str]:
    """Addresses that a page asked for, each once; what the browser asks for by itself is not the page's doing."""
    text = log.read_text(encoding="utf-8", errors="replace").rstrip()
    events = loaded(text if text.endswith("}") else text.rstrip(",") + "]}")["events"]
    asked = [event.get("params", {}) for event in events]
    from_page = [
        each["url"] for each in asked if "url" in each and each.get("initiator") not in (None, "not an origin")
    ]
    return list(dict.fromkeys(url for url in from_page if url.startswith(("http", "ws"))))
