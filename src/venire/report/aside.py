"""A second process, which writes some chapters of a large report while this one writes the others.

The chapters on the judgments and on their quality depend on no other, and with the contradictions between judges they
take as long as the others together.  The process is given what is known so far, and returns the chapters, with what
else it computed on the way.  It runs the same code with the same seeds, so that the numbers are the same.  Should it
end without an answer, for whatever reason, the chapters are written here.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from venire.report import labels, quality
from venire.report.document import Chapter
from venire.report.evidence import Evidence

MANY = 100_000
"""With fewer labels, starting a process takes longer than it saves."""
WRITERS: Mapping[str, Callable[[Evidence], Chapter | None]] = {
    "judgments": labels.judgments_chapter,
    "quality": quality.chapter,
}
"""The chapters that it writes."""


class Aside:
    """The process, and the thread that waits for its answer."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", "-c", "from venire.report.aside import answer; answer()"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        path = os.pathsep.join(each for each in sys.path if each)
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            command, **pipes, env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
        )
        self._pool = ThreadPoolExecutor(1)
        self._answer: Future[tuple[bytes, bytes]] | None = None

    def ask(self, evidence: Evidence) -> tuple[str, ...]:
        """Send what is known, and return the names of the chapters that the process will write."""
        try:
            content = pickle.dumps(evidence)
        except (pickle.PicklingError, TypeError, AttributeError):  # something that another process cannot know
            return ()
        self._answer = self._pool.submit(self.process.communicate, content)
        return tuple(WRITERS)

    def chapters(self, evidence: Evidence) -> dict[str, Chapter | None]:
        """Wait for the chapters, and take over what was computed for them; none if the process failed."""
        content = b"" if self._answer is None else self._answer.result()[0]
        if not content or self.process.returncode != 0:
            return {}
        found, known, said = pickle.loads(content)
        vars(evidence).update({name: value for name, value in known.items() if name not in vars(evidence)})
        for message in said:
            warnings.warn(message, stacklevel=2)
        return dict(found)

    def end(self) -> None:
        """End the process if it still runs."""
        self.process.kill()
        self._pool.shutdown()
        self.process.communicate()


@contextmanager
def second_process(n_labels: int) -> Iterator[Aside | None]:
    """Start a process where it pays: for many labels, with more than one core."""
    if n_labels < MANY or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else "12") < 2:
        yield None
        return
    aside = Aside()
    try:
        yield aside
    finally:
        aside.end()


def answer() -> None:
    """Write the chapters that are asked for on standard input, as the second process."""
    evidence = pickle.load(sys.stdin.buffer)
    before = set(vars(evidence))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        chapters = {name: write(evidence) for name, write in WRITERS.items()}
        evidence.contradictions  # noqa: B018  # which needs the scores by every judge
    known = {name: value for name, value in vars(evidence).items() if name not in before}
    sys.stdout.buffer.write(pickle.dumps((chapters, known, [each.message for each in said])))
