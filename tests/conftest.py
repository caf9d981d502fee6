"""What all tests share: how random examples are chosen, where real data lie, and the size of simulations.

A simulation with known truth asks for two fixtures: ``collections(few)`` is how many collections it makes
(``VENIRE_COLLECTIONS``, 1,000 in ``make test-slow``, or else ``few``), and ``figure(name, value)`` records what came
out, a coverage or a rate of false positives, which is printed below the results.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import settings

from json_schemas import check, current_command

# The same examples on every machine, in ``make test-slow`` more of them; ``make fuzz`` explores others.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("thorough", deadline=None, derandomize=True, max_examples=300)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("VENIRE_EXAMPLES", "repeatable"))


SIMULATIONS = Path(__file__).parent / "simulation"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder of real judgments and runs, or skip."""
    if not os.environ.get("VENIRE_DATA"):
        pytest.skip("real data: set VENIRE_DATA to the folder")
    return Path(os.environ["VENIRE_DATA"])


@pytest.fixture(scope="session", autouse=True)
def _json_follows_its_schema():
    """Check the JSON of every command that a test runs in this process (``json_schemas``)."""
    from venire.cli import output

    usual = output.as_json

    def checked(document):
        text, name = usual(document), current_command()
        if name is not None:
            check(name, json.loads(text))
        return text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "as_json", checked)
        yield


@pytest.fixture
def collections():
    """Return a function from the number of collections in a quick run to the number in this one."""
    return lambda few: int(os.environ.get("VENIRE_COLLECTIONS", few))


@pytest.fixture
def figure(record_property):
    """Return a function that records a figure of a simulation, to be printed and quoted."""
    return lambda name, value: record_property(name, f"{value:.3f}")


def pytest_collection_modifyitems(items):
    for item in items:
        if SIMULATIONS in item.path.parents:
            item.add_marker("simulation")


def pytest_terminal_summary(terminalreporter):
    done = [
        each for kind in ("passed", "failed") for each in terminalreporter.stats.get(kind, ()) if each.user_properties
    ]
    if done:
        terminalreporter.section("figures of simulations")
    for each in sorted(done, key=lambda each: each.nodeid):
        figures = ", ".join(f"{name} {value}" for name, value in each.user_properties)
        terminalreporter.write_line(f"{each.nodeid.removeprefix('tests/simulation/')}: {figures}")
