"""The pytest plugin: search quality as tests.

The fixture ``venire`` compares two systems, and fails the test unless one is better than the other, or not worse by
more than a margin, over topics and under another judge (``comparison.gate``)::

    def test_the_new_ranking_is_better(venire):
        venire.assert_better("new", "old", judgments="qrels.txt", runs="runs")

Judgments and runs for all tests are named once, as ``venire_judgments`` and ``venire_runs`` in the settings of pytest.
A test with the marker ``venire_run("new")`` returns a run, ``{topic: {doc: score}}``, in place of a file; such tests
come first.

pytest imports this module whenever Venire is installed, so it imports nothing that is not needed then.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from venire import Judgments, Runs
    from venire.comparison import Claim

MARKER = "venire_run"
Run = Mapping[str, Mapping[str, float]]
DATASET = re.compile(r"^.*[/\\](?=irds:)")
"""The folder that pytest puts before the name of a dataset."""
COLLECTED = pytest.StashKey[dict[str, Run]]()
PROMISED = pytest.StashKey[set[str]]()
"""The systems whose runs tests return."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings."""
    parser.addini("venire_judgments", "files of judgments for the fixture venire", type="paths", default=[])
    parser.addini("venire_runs", "files or folders of runs for the fixture venire", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", f"{MARKER}(system): the test returns the run of a system, topic -> doc -> score")
    config.stash[COLLECTED], config.stash[PROMISED] = {}, set()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note which systems have tests that return their runs, before any of these is left out."""
    marks = [mark for item in items if (mark := item.get_closest_marker(MARKER)) is not None]
    config.stash[PROMISED] |= {name for mark in marks for name in mark.args if isinstance(name, str)}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Let tests that return runs come first, since others use them; also where failed or random ones would."""
    session.items.sort(key=lambda item: item.get_closest_marker(MARKER) is None)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a test that returns a run, and keep the run."""
    marker = pyfuncitem.get_closest_marker(MARKER)
    if marker is None:
        return None
    if len(marker.args) != 1 or not isinstance(marker.args[0], str) or not marker.args[0] or marker.kwargs:
        pytest.fail(f'the marker names one system, as in @pytest.mark.{MARKER}("new")', pytrace=False)
    (system,) = marker.args
    names = pyfuncitem._fixtureinfo.argnames  # as pytest itself calls a test
    run = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    collected = pyfuncitem.config.stash[COLLECTED]
    if system in collected:
        pytest.fail(f"two tests return the run of {system!r}", pytrace=False)
    if found := _not_a_run(run):
        pytest.fail(f"the run of {system!r} {found}, expected {{topic: {{doc: score}}}}", pytrace=False)
    collected[system] = run
    return True


def _not_a_run(run: object) -> str | None:
    """Return what is wrong with a run that a test returned, since other tests would fail by it."""
    if not isinstance(run, Mapping):
        return f"is {type(run).__name__}"
    for topic, scores in run.items():
        if not isinstance(scores, Mapping):
            return f"has {type(scores).__name__} for topic {topic!r}"
        for doc, score in scores.items():
            if not _is_finite(score):
                return f"has the score {score!r} of document {doc!r} for topic {topic!r}"
    empty = None if any(map(len, run.values())) else "is an empty run"
    return next(filter(None, (empty, *map(_not_ids, (run, *run.values())))), None)


def _not_ids(names: Mapping[Any, Any]) -> str | None:
    """Return what is wrong with the ids of topics, or of the documents of one."""
    from venire.data.ids import is_id

    texts = list(map(str, names))
    if odd := [text for text in texts if not is_id(text)]:
        return f"has the id {odd[0]!r}"
    twice = len(texts) > len({*texts}) and next(text for text in texts if texts.count(text) > 1)
    return f"has the id {twice!r} twice, as text and as a number" if twice else None


def _is_finite(score: Any) -> bool:
    try:
        return math.isfinite(score)
    except (TypeError, ValueError, OverflowError):
        return False


class SearchQuality:
    """Assertions about systems: what the fixture ``venire`` is."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._labels: Judgments | None = None

    def assert_better(
        self, candidate: str, baseline: str | None = None, measure: str = "nDCG@10", **options: Any
    ) -> Claim:
        """Fail unless the candidate is better than the baseline; options as in ``claim``."""
        __tracebackhide__ = True
        return self._assert(self.claim(candidate, baseline, measure, **options))

    def assert_no_regression(
        self,
        candidate: str,
        baseline: str | None = None,
        measure: str = "nDCG@10",
        *,
        margin: float = 0.01,
        **options: Any,
    ) -> Claim:
        """Fail unless the candidate is shown to be at most ``margin`` behind the baseline; options as in ``claim``."""
        __tracebackhide__ = True
        if not (_is_finite(margin) and margin > 0):
            pytest.fail(f"the margin is {margin!r}, expected a number above 0", pytrace=False)
        return self._assert(self.claim(candidate, baseline, measure, margin=margin, **options))

    def claim(
        self,
        candidate: str,
        baseline: str | None = None,
        measure: str = "nDCG@10",
        *,
        margin: float = 0.0,
        judgments: Any = None,
        runs: Any = None,
        level: float = 0.05,
        sure: float = 0.9,
        **options: Any,
    ) -> Claim:
        """Compare two systems.

        baseline : None: the other of two systems
        judgments : of one or several judges, in any form; None: as set by ``venire_judgments``
        runs : in any form, of at least the two systems; None: as set by ``venire_runs``.  Of the runs that tests
            returned, those of the two systems are added; all without a baseline.
        level, sure : the level of the test over topics, and the least probability under another judge
        options : of ``venire.compare``, such as assessor and new_judge
        """
        from venire import compare
        from venire.comparison import Claim
        from venire.errors import VenireError, VenireWarning
        from venire.results import visible

        __tracebackhide__ = True
        if not isinstance(candidate, str):
            pytest.fail(f"the candidate is {candidate!r}, expected the name of a system", pytrace=False)
        self._need_returned(candidate, baseline)
        try:
            labels, systems = self._judgments(judgments), self._runs(runs, candidate, baseline)
            found = compare(labels, systems, measure, candidate=candidate, baseline=baseline, **options)
            return Claim(found, margin, level, sure)
        except (VenireError, VenireWarning) as error:  # warnings, where pytest turns them into errors
            raise pytest.fail.Exception(
                visible(str(error), keep="\n"), pytrace=False
            ) from None  # else pytest prints both

    def _need_returned(self, *systems: object) -> None:
        """Fail where a run is that of a test which did not return it."""
        lacking = self._config.stash[PROMISED] - self._config.stash[COLLECTED].keys()
        for system in systems:
            if isinstance(system, str) and system in lacking:
                why = "it failed, was left out, or ran in another process (pytest-xdist: distribute tests by loadfile)"
                pytest.fail(f"the test that returns the run of {system!r} did not return it: {why}", pytrace=False)

    def _assert(self, claim: Claim) -> Claim:
        __tracebackhide__ = True
        if claim.reasons:
            pytest.fail(claim.message(), pytrace=False)
        return claim

    def _judgments(self, given: Any) -> Judgments:
        """Read judgments; those of the settings are read once."""
        from venire import read_judgments

        if given is not None:
            return read_judgments(given)
        if self._labels is None:
            self._labels = read_judgments(self._named("venire_judgments", "judgments"))
        return self._labels

    def _runs(self, given: Any, candidate: str, baseline: str | None) -> Runs:
        """Return the runs that are given or set, and those that tests returned; of these only what is asked for."""
        from dataclasses import replace

        from venire import read_runs

        collected = self._config.stash[COLLECTED]
        if given is None and collected and not self._config.getini("venire_runs"):
            return read_runs(dict(collected))
        found = read_runs(self._named("venire_runs", "runs") if given is None else given)
        collected = {name: run for name, run in collected.items() if baseline is None or name in (candidate, baseline)}
        return replace(found, sources=(*found.sources, *read_runs(collected).sources)) if collected else found

    def _named(self, setting: str, what: str) -> list[str]:
        found: list[Path] = self._config.getini(setting)
        if not found:
            more = f"; no test with the marker {MARKER} ran before" if what == "runs" else ""
            pytest.fail(f"no {what}: give {what}=..., or set {setting} in the settings of pytest{more}", pytrace=False)
        return [DATASET.sub("", str(path)) for path in found]


@pytest.fixture(scope="session")
def venire(request: pytest.FixtureRequest) -> SearchQuality:
    """Assertions about the quality of search systems."""
    return SearchQuality(request.config)
