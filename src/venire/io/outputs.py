"""Files that are written: a new file takes the place of an old one only once it is complete.

A file is written under another name in the same folder, ``.venire-*.tmp``, flushed to the disk, and renamed.  Whatever
goes wrong before that, the old file stands; a temporary file is left behind only where the process is killed.  Readers
of folders leave such files out, since their names begin with a dot.  A link is followed, and the permissions of an old
file are kept.  Devices, pipes and the streams of the process are written as they are.

All of Venire's files are written by this module; a test holds the others to it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

from venire.errors import OutputError

PREFIX, SUFFIX = ".venire-", ".tmp"
STREAMS = ("/proc/", "/dev/fd/")
"""Where the open files of a process have names."""
MOST_LINKS = 40
"""Links from one to the next that are followed, as in Linux."""
WAYS = {
    errno.ENOSPC: "free some space, or write to another disk",
    errno.EDQUOT: "free some space, or write to another disk",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f), or write less",
    errno.EROFS: "write to another folder",
    errno.EACCES: "change the permissions, or write to another folder",
    errno.EPERM: "change the permissions, or write to another folder",
    errno.ENOENT: "make the folder first",
    errno.ENOTDIR: "make the folder first",
    errno.EISDIR: "name a file",
    errno.ENAMETOOLONG: "choose a shorter name",
}
MOST_AT_ONCE = 1 << 24
OF_THE_FOLDER = (errno.ENOENT, errno.ENOTDIR, errno.EROFS)
NOT_SYNCED = (errno.EINVAL, errno.ENOTSUP, errno.EROFS)
"""Errors of a file system that cannot flush a file; the file is complete."""


class NewFiles:
    """Files that take their places together, when the block ends without an error and all of them are complete."""

    def __init__(self) -> None:
        self._parts: list[Path] = []
        self._complete: list[tuple[Path, Path, Path]] = []

    def __enter__(self) -> NewFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for path, part, target in self._complete if kind is None else []:
                with _named(path):
                    part.replace(target)
                    _flush_folder(target.parent)
        finally:
            for part in self._parts:
                with suppress(OSError):
                    part.unlink(missing_ok=True)

    @contextmanager
    def open(self, path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
        """Open a file for writing, with these permissions if it is new; an error names it."""
        with _named(path):
            target = followed(path)
            old = None if target is None else _old(target)
        if target is None:
            with _Sink(path, path, os.O_APPEND) as sink:
                yield cast("BinaryIO", sink)
            return
        part = target.with_name(f"{PREFIX}{os.urandom(8).hex()}{SUFFIX}")
        self._parts.append(part)
        with _Sink(path, part, os.O_CREAT | os.O_EXCL, mode) as sink:
            yield cast("BinaryIO", sink)
            sink.finish(old)
        self._complete.append((path, part, target))

    def add(self, path: Path, data: bytes, mode: int = 0o666) -> None:
        """Write a whole file."""
        with self.open(path, mode) as file:
            file.write(data)


def write_bytes(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a whole file, with these permissions if it is new."""
    with NewFiles() as files:
        files.add(path, data, mode)


def is_temporary(path: Path) -> bool:
    """Return whether a file was left by a process that was killed while it wrote."""
    return path.name.startswith(PREFIX) and path.name.endswith(SUFFIX)


def followed(path: Path) -> Path | None:
    """Return the file that a path leads to, through links; None where it is written as it is: a device, a stream."""
    place = path.absolute()
    for _ in range(MOST_LINKS):
        place = place.parent.resolve() / place.name
        if str(place).startswith(STREAMS):
            return None
        if not place.is_symlink():
            break
        place = place.parent / place.readlink()
    else:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return place
    return place if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else None


def refuse_place(path: Path) -> None:
    """Raise where a file of this name could not be written, before the work of which it is the result."""
    with _named(path):
        target = followed(path)
        if target is None:
            _need_access(path)
            return
        _old(target)
        _need_access(target.parent, os.W_OK | os.X_OK)


def _need_access(path: Path, mode: int = os.W_OK) -> None:
    if not os.access(path, mode):
        code = errno.EACCES if path.exists() else errno.ENOENT
        raise OSError(code, os.strerror(code))


def _old(target: Path) -> os.stat_result | None:
    """Return what is known of an old file, or None if there is none; raise if it may not be written."""
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder")
    if not target.exists():
        return None
    _need_access(target)
    return target.stat()


class _Sink:
    """An open file that is written whole; an error of writing is kept, since libraries wrap it in their own."""

    def __init__(self, named: Path, path: Path, how: int, mode: int = 0o666) -> None:
        self._path, self._is_open = named, True
        self._failure: OSError | None = None
        with _named(named):
            self._descriptor = os.open(path, os.O_WRONLY | how | getattr(os, "O_BINARY", 0), mode)

    def __enter__(self) -> _Sink:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._is_open = False
        with _named(self._path):
            os.close(self._descriptor)
        if error is not None and self._failure is not None and error is not self._failure:
            raise self._failure from error

    def write(self, data: bytes) -> int:
        """Write all of these bytes; nothing once it is closed, which compressors try when they are thrown away."""
        rest = memoryview(data).cast("B")
        try:
            with _named(self._path):
                while rest and self._is_open:
                    rest = rest[os.write(self._descriptor, rest[:MOST_AT_ONCE]) :]
        except OSError as error:
            self._failure = error
            raise
        return len(data)

    def flush(self) -> None:
        """Do nothing: nothing is held back."""

    def finish(self, old: os.stat_result | None) -> None:
        """Flush to the disk, and set owner and permissions as the old file has them; raise if a write had failed."""
        if self._failure is not None:
            raise self._failure
        with _named(self._path):
            if old is not None and hasattr(os, "fchown"):
                with suppress(OSError):
                    os.fchown(self._descriptor, old.st_uid, old.st_gid)
                os.fchmod(self._descriptor, stat.S_IMODE(old.st_mode))
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                if error.errno not in NOT_SYNCED:
                    raise


def _flush_folder(folder: Path) -> None:
    """Flush a renaming to the disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn an error of the system into one that names the file and the reason."""
    try:
        yield
    except (BrokenPipeError, OutputError):
        raise
    except OSError as error:
        folder = f" ({path.parent})" if error.errno in OF_THE_FOLDER else ""
        reason = (error.strerror or str(error)).lower()
        message = f"{path}: cannot be written: {reason}{folder}"
        raise OutputError(error.errno, message, hint=WAYS.get(error.errno or 0)) from error
