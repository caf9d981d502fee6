"""A second process, which computes a part of the evidence of a large report while this one computes the rest.

It is started before this one imports what a report needs, and is told twice what is known: first the labels and lists,
with which it computes agreement and the effect of merging labels; then also who scores the runs, with which it computes
discriminative power.  It runs the same code with the same seeds, so that the
numbers are the same.  Should it end without an answer, for whatever reason, its part is computed here.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from venire.report.evidence import Evidence
    from venire.report.question import Question

MANY = 100_000
"""With fewer labels, starting a process takes longer than it saves."""
FIRST = ("agreement", "scales", "selection")
THEN = ("power",)
"""The evidence that it computes: without knowing who scores the runs, and then."""


class Aside:
    """The process, and the thread that speaks with it."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", "-c", "from venire.report.aside import answer; answer()"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        path = os.pathsep.join(each for each in sys.path if each)
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            command, **pipes, env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
        )
        self._pool = ThreadPoolExecutor(1)
        self._said: set[str] = set()
        self._answer: Future[bytes] | None = None

    def ask(self, evidence: Evidence) -> None:
        """Send the question, and what is known of it."""
        self._said = set(vars(evidence))
        self._send(evidence)

    def tell(self, evidence: Evidence) -> None:
        """Send what is known in addition; the answer is expected then."""
        self._send({name: value for name, value in vars(evidence).items() if name not in self._said})
        self._answer = self._pool.submit(lambda: self.process.communicate()[0])

    def _send(self, what: object) -> None:
        """Send something while this process goes on; where it cannot be sent, there will be no answer."""
        with suppress(pickle.PicklingError, TypeError, AttributeError):  # something that another process cannot know
            content = pickle.dumps(what)
            self._pool.submit(
                lambda: self.process.stdin and (self.process.stdin.write(content), self.process.stdin.flush())
            )

    def take_over(self, evidence: Evidence) -> tuple[str, ...]:
        """Wait for the answer, and add it to the evidence -> what was added; nothing if the process failed."""
        content = b"" if self._answer is None else self._answer.result()
        if not content or self.process.returncode != 0:
            return ()
        found, said = pickle.loads(content)
        added = {name: value for name, value in found.items() if name not in vars(evidence)}
        vars(evidence).update(added)
        for message in said:
            warnings.warn(message, stacklevel=2)
        return tuple(added)

    def end(self) -> None:
        """End the process if it still runs."""
        self.process.kill()
        self._pool.shutdown()
        self.process.communicate()


@contextmanager
def second_process(question: Question) -> Iterator[Aside | None]:
    """Start a process where it pays: for many labels and some runs, with more than one core."""
    n_cores = len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else "12")
    if len(question.judgments) < MANY or not question.runs.sources or n_cores < 2:
        yield None
        return
    aside = Aside()
    try:
        yield aside
    finally:
        aside.end()


def answer() -> None:
    """Compute what is asked for on standard input, as the second process."""
    import venire.report.evidence  # noqa: F401  # while the question is not there yet

    gc.disable()  # it lives for seconds
    evidence = pickle.load(sys.stdin.buffer)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        known = set(vars(evidence))
        _compute(evidence, FIRST)
        more = pickle.load(sys.stdin.buffer)
        vars(evidence).update(more)
        _compute(evidence, THEN)
    found = {name: value for name, value in vars(evidence).items() if name not in known and name not in more}
    sys.stdout.buffer.write(pickle.dumps((found, [each.message for each in said])))


def _compute(evidence: Evidence, names: tuple[str, ...]) -> None:
    """Compute results, which the evidence then holds."""
    for name in names:
        getattr(evidence, name)
