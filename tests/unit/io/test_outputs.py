from __future__ import annotations

import errno
import gzip
import os
import stat
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from venire.errors import OutputError, VenireError
from venire.io import outputs
from venire.io.compression import written
from venire.io.outputs import NewFiles, refuse_place, write_bytes


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def fails(code: int):
    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


@contextmanager
def new_file(path: Path):
    with NewFiles() as files, files.open(path) as file:
        yield file


def write_both(one: Path, other: Path) -> None:
    with NewFiles() as files:
        files.add(one, b"new")
        files.add(other, b"new")


def test_a_file_is_written_whole_and_nothing_else_is_left(tmp_path):
    write_bytes(tmp_path / "a", b"one")
    write_bytes(tmp_path / "a", b"other")
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (["a"], b"other")


def test_the_old_file_stands_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with new_file(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
        assert [name.startswith(".venire-") and name.endswith(".tmp") for name in names(tmp_path)] == [True, False]
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_file_and_no_other(tmp_path, error):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(error), new_file(tmp_path / "a"):
        raise error
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (["a"], b"old")


@pytest.mark.parametrize("step", ["write", "fsync"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EDQUOT])
def test_each_step_may_fail(tmp_path, monkeypatch, step, code):
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(outputs.os, step, fails(code))
    with pytest.raises(OutputError, match="a: cannot be written: ") as caught:
        write_bytes(tmp_path / "a", b"new")
    monkeypatch.undo()
    assert isinstance(caught.value, VenireError | OSError)
    assert caught.value.errno == code
    assert os.strerror(code).lower() in str(caught.value)
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (["a"], b"old")


def test_a_renaming_that_fails_leaves_the_files_after_it(tmp_path, monkeypatch):
    for name in "ab":
        (tmp_path / name).write_bytes(b"old")
    rename = Path.replace

    def refuse(self, target):
        return fails(errno.EACCES)() if target.name == "b" else rename(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OutputError, match="b: cannot be written"):
        write_both(tmp_path / "a", tmp_path / "b")
    assert names(tmp_path) == ["a", "b"]
    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"new", b"old"]


def test_files_take_their_places_together(tmp_path):
    with pytest.raises(OutputError):
        write_both(tmp_path / "a", tmp_path / "nowhere" / "b")
    assert names(tmp_path) == []


def test_a_file_system_that_cannot_flush_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs.os, "fsync", fails(errno.EINVAL))
    write_bytes(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_permissions_of_the_old_file_are_kept(tmp_path, mode):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_bytes(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_permissions_of_any_other(tmp_path):
    (tmp_path / "usual").write_bytes(b"")
    write_bytes(tmp_path / "new", b"")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_links_are_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a").write_bytes(b"old")
    for name, target in (("one", "two"), ("two", "there/a"), ("new", "there/b"), ("folder", "there")):
        (tmp_path / name).symlink_to(target)
    write_bytes(tmp_path / "one", b"new")
    write_bytes(tmp_path / "new", b"new")
    write_bytes(tmp_path / "folder" / "c", b"new")
    assert (tmp_path / "one").is_symlink()
    assert (tmp_path / "two").is_symlink()
    assert names(tmp_path / "there") == ["a", "b", "c"]
    assert {path.read_bytes() for path in (tmp_path / "there").iterdir()} == {b"new"}


def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OutputError, match="a: cannot be written"):
        write_bytes(tmp_path / "a", b"")


@pytest.mark.parametrize("place", ["nowhere/a", "file/a", ".", "x" * 300])
def test_places_where_nothing_can_be_written(tmp_path, place):
    (tmp_path / "file").write_bytes(b"old")
    for act in (refuse_place, lambda path: write_bytes(path, b"")):
        with pytest.raises(OutputError, match="cannot be written") as caught:
            act(tmp_path / place)
        assert caught.value.hint
    assert names(tmp_path) == ["file"]


def test_a_device_is_written_as_it_is():
    refuse_place(Path("/dev/null"))
    write_bytes(Path("/dev/null"), b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_full_device_is_an_error_that_names_it():
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with pytest.raises(OutputError, match="/dev/full: cannot be written: no space left"):
        write_bytes(Path("/dev/full"), b"x")


def test_a_pipe_is_written_as_it_is(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_bytes(path, b"x")
    reader.join()
    assert read == [b"x"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_stream_of_the_process_is_appended_to(tmp_path):
    """The file that a shell opened stays that file, with what others wrote to it."""
    path = tmp_path / "log"
    with path.open("ab") as file:
        file.write(b"before\n")
        file.flush()
        write_bytes(Path(f"/proc/self/fd/{file.fileno()}"), b"ours\n")
        write_bytes(Path(f"/dev/fd/{file.fileno()}"), b"more\n")
        file.write(b"after\n")
    assert path.read_bytes() == b"before\nours\nmore\nafter\n"


def test_an_error_that_a_library_wraps_is_still_ours(tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.setattr(outputs.os, "write", fails(errno.ENOSPC))
    for name in ("write_parquet", "write_csv", "write_ndjson"):
        with pytest.raises(OutputError, match="no space left"), new_file(tmp_path / "a") as file:
            getattr(polars.DataFrame({"x": [1]}), name)(file)
    assert names(tmp_path) == []


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_compressed_files_fail_alike(tmp_path, monkeypatch, ending):
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"old")
    monkeypatch.setattr(outputs.os, "write", fails(errno.ENOSPC))
    with pytest.raises(OutputError), NewFiles() as files, written(path, files) as file:
        file.write(b"new" * 1000)
    monkeypatch.undo()
    assert (names(tmp_path), path.read_bytes()) == ([path.name], b"old")
    with NewFiles() as files, written(path, files) as file:
        file.write(b"new")
    if ending == ".gz":
        assert gzip.decompress(path.read_bytes()) == b"new"


def test_a_file_whose_error_is_caught_does_not_take_its_place(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with NewFiles() as files:
        files.add(tmp_path / "b", b"new")
        with suppress(ValueError), files.open(tmp_path / "a") as file:
            file.write(b"ne")
            raise ValueError
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (["a", "b"], b"old")


def test_an_error_that_a_library_swallows_is_still_one(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(outputs.os, "write", fails(errno.ENOSPC))
    with pytest.raises(OutputError), new_file(tmp_path / "a") as file, suppress(OSError):
        file.write(b"new")
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (["a"], b"old")


def test_what_is_written_after_the_end_goes_nowhere(tmp_path):
    """The number of a closed file may be that of another one by then."""
    with new_file(tmp_path / "a") as late:
        late.write(b"a")
    with new_file(tmp_path / "b") as file:
        late.write(b"late")
        file.write(b"b")
    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"a", b"b"]
