"""A PostgreSQL server of the tests' own: in a temporary folder, on a socket there, as a user that is not root."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import psycopg

USER = "postgres"
FAST_TO_MAKE = ("--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8", "--username=postgres")


def programs() -> Path | None:
    """Return the folder of the server's programs; Debian keeps it off the search path."""
    found = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    places = [*([] if found is None else [Path(found).resolve()]), *reversed(debian)]
    return next((place.parent for place in places if (place.parent / "postgres").exists()), None)


def why_not() -> str:
    """Return why there can be no server here, or nothing."""
    if programs() is None:
        return "needs PostgreSQL (on Debian: apt-get install postgresql)"
    if os.getuid() == 0 and (shutil.which("setpriv") is None or not _has_user()):
        return "PostgreSQL does not run as root: needs setpriv and a user named postgres"
    return ""


def _has_user() -> bool:
    return any(each.pw_name == USER for each in pwd.getpwall())


class Server:
    """A server that can be killed and started again; what was committed survives."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        if os.getuid() == 0:
            shutil.chown(folder, USER)
            for above in folder.parents[: len(folder.parents) - 2]:
                above.chmod(above.stat().st_mode | 0o011)
        self._run("initdb", *FAST_TO_MAKE, "-D", self.data)
        self.start()

    def address(self, name: str) -> str:
        """Make an empty schema, which is quicker than a database, and return an address that leads there."""
        address = f"postgresql://{USER}@/{USER}?host={quote(str(self.folder))}"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{address}&options=-csearch_path%3D{name}"

    def start(self) -> None:
        options = ("-D", self.data, "-k", self.folder, "-c", "listen_addresses=", "-c", "max_connections=200")
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command("postgres", *options), stdout=log, stderr=log)
        for _ in range(300):
            if subprocess.run(self._command("pg_isready", "-q", "-h", self.folder), check=False).returncode == 0:
                return
            time.sleep(0.1)
        raise TimeoutError((self.folder / "log").read_text())

    def kill(self) -> None:
        """End the server as a power cut would: at once, with its children."""
        process = int((self.data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        for each in (process, *map(int, children)):
            os.kill(each, signal.SIGKILL)
        self._wait()
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
            self._wait()

    def _wait(self) -> None:
        if self._process is not None:
            self._process.wait(timeout=30)

    def _run(self, program: str, *options: object) -> None:
        done = subprocess.run(self._command(program, *options), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def _command(self, program: str, *options: object) -> Sequence[str]:
        folder = programs()
        assert folder is not None
        run = [str(folder / program), *map(str, options)]
        return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *run] if os.getuid() == 0 else run
