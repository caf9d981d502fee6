"""``venire judge serve`` on a study, in a process of its own, which tests may kill."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from venire.judging.store import Store
from venire.judging.study_files import read_study


class Served:
    """A study that is served; a context that ends the process."""

    def __init__(self, path: Path, *options: str) -> None:
        self.path, self.port, self.options = path, 0, options
        self.start()

    def start(self) -> None:
        """Start the server, at the port that it had before."""
        words = [sys.executable, "-m", "venire", "judge", "serve", str(self.path), "--port", str(self.port)]
        words += self.options
        self.log = self.path.with_suffix(".log").open("ab")
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:
            if line.startswith("Organiser:"):
                self.organiser = line.split()[1]
                break
        self.root = self.organiser.partition("/join/")[0]
        self.port = int(self.root.rpartition(":")[2])

    def kill(self) -> None:
        """End the server without warning."""
        self.process.kill()
        self.process.wait()
        self.close_streams()

    def close_streams(self) -> None:
        """Close what the server wrote to."""
        self.process.stdout.close()
        self.log.close()

    def store(self) -> Store:
        """Open the same database."""
        return Store.open(*read_study(self.path))

    def link(self, assessor: str, *, again: bool = False) -> str:
        """Invite an assessor."""
        with self.store() as store:
            return f"{self.root}/join/{store.invite(assessor, again=again)}"

    def answers(self) -> list[tuple[str, str, dict[str, object]]]:
        """Return who answered which document how, in the order in which answers were stored."""
        with self.store() as store:
            return [(each.assessor, each.task.doc, dict(each.value)) for each in store.stored(surplus=True)]

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
