"""Where a command writes: what cannot be written, or would destroy an input, is refused before any work is done.

An output is a parameter whose callback is one of PLACES; every other parameter that takes a path is an input.
"""

from __future__ import annotations

import glob
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from venire.errors import OutputError
from venire.io.outputs import followed, refuse_place

if TYPE_CHECKING:
    from venire.io.fingerprints import Input


class NamedPath(click.Path):
    """A name and a file: NAME=FILE."""


def checked_place(ctx: click.Context, parameter: click.Parameter, text: str | None) -> Path | None:
    """Refuse a place where nothing can be written before any work is done."""
    if text is None or text == "-":
        return None
    path = Path(text)
    if not text:
        raise click.BadParameter("the name of the file is empty", ctx, parameter)
    if path.is_dir():
        raise click.BadParameter(f"{text} is a folder, expected a file", ctx, parameter)
    if not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {path.parent}", ctx, parameter)
    refuse_place(path)
    return path


def file_place(ctx: click.Context, parameter: click.Parameter, text: str | None) -> Path | None:
    """Refuse a place where no file can be written, standard output too."""
    if text == "-":
        raise click.BadParameter("expected a file, not standard output (-)", ctx, parameter)
    return checked_place(ctx, parameter, text)


def judgments_place(ctx: click.Context, parameter: click.Parameter, text: str | None) -> Path | None:
    """Refuse a place where no judgments can be written, beside which there may be a TOML file."""
    path = file_place(ctx, parameter, text)
    if path is not None:
        refuse_place(_beside(path))
    return path


def folder_place(ctx: click.Context, parameter: click.Parameter, text: Path | None) -> Path | None:
    """Refuse a folder in which no collection can be written, or which holds other files than one."""
    if text is None:
        return None
    there = next(each for each in (text.absolute(), *text.absolute().parents) if os.path.lexists(each))
    if not there.is_dir():
        raise click.BadParameter(f"{there} is a file, expected a folder", ctx, parameter)
    try:
        refuse_place(there / "file")
    except OutputError as error:
        raise OutputError(error.errno, f"{text}: nothing can be written in {there}", hint=error.hint) from None
    from venire.simulation.folders import earlier_files

    earlier_files(text)
    return text


DEMO, DEMO_STUDY = Path("venire-demo"), Path("venire-demo-study")


def demo_place(ctx: click.Context, parameter: click.Parameter, text: Path | None) -> Path | None:
    """Return the folder of a demo; one with a study is kept, with the answers in it."""
    if not ctx.params.get("judge"):
        return folder_place(ctx, parameter, text or DEMO)
    return shared_folder_place(ctx, parameter, str(text or DEMO_STUDY))


def shared_folder_place(ctx: click.Context, parameter: click.Parameter, text: str | None) -> Path | None:
    """Refuse a folder in which no files can be written, besides those that are there."""
    if text is None:
        return None
    path = Path(text)
    there = next(each for each in (path.absolute(), *path.absolute().parents) if os.path.lexists(each))
    if not there.is_dir():
        raise click.BadParameter(f"{there} is a file, expected a folder", ctx, parameter)
    refuse_place(there / "file")
    return path


def study_place(ctx: click.Context, parameter: click.Parameter, text: str) -> Path:
    """Refuse a place where no study can be written; its folder is made, in one that is there."""
    path = Path(text)
    if path.suffix != ".toml":
        raise click.BadParameter(f"{text} does not end in .toml", ctx, parameter)
    refuse_place(path if path.parent.is_dir() else path.parent)
    return path


PLACES = (checked_place, file_place, judgments_place, folder_place, demo_place, shared_folder_place, study_place)
FOLDERS = (folder_place, demo_place, study_place)
"""Of them those that files are written in, or beside, rather than under the name itself."""


class Place(NamedTuple):
    """A file that is read or written, and the parameter that names it."""

    said: str
    path: Path


def refuse_clashes(ctx: click.Context) -> None:
    """Refuse outputs that are inputs, two outputs with one name, and closed standard input."""
    sources = list(_inputs(ctx))
    if sys.stdin is None and any(each.path == Path("-") for each in sources):
        raise click.UsageError("standard input (-) is closed", ctx)
    outputs = [each for each in _outputs(ctx) if followed(each.path) is not None]
    for one, other in combinations(outputs, 2):
        if one.said != other.said and _identity(_target(one)) == _identity(_target(other)):
            raise click.UsageError(f"{one.said} and {other.said} are the same file, {other.path}", ctx)
    printed = _standard_output()
    for source in sources if outputs or printed is not None else []:
        read = _read(source.path)
        for each in outputs:
            _refuse_input(ctx, each, source, read)
        if printed is not None and printed in map(_identity, read):
            raise click.UsageError(f"standard output goes to {source.path}, which is read ({source.said})", ctx)


def _refuse_input(ctx: click.Context, output: Place, source: Place, read: list[Path]) -> None:
    place = _target(output)
    if is_folder(source.path) and not place.name.startswith(".") and _identity(place.parent) == _identity(source.path):
        message = f"{output.said} {output.path} is in the folder {source.path}, which is read ({source.said})"
        raise click.UsageError(f"{message}: choose another folder", ctx)
    if place.suffix == ".toml":
        from venire.io.declarations import scale_file

        read = [*read, *filter(None, map(scale_file, read))]
    if place.exists() and _identity(place) in map(_identity, read):
        _refuse_same(ctx, output, source)


def _refuse_same(ctx: click.Context, output: Place, source: Place) -> NoReturn:
    message = f"{output.said} {output.path} is the same file as {source.path}, which is read ({source.said})"
    raise click.UsageError(f"{message}: choose another file", ctx)


def refuse_overwriting(files: Iterable[Path], said: str, outputs: Iterable[Place] | None = None) -> None:
    """Refuse outputs of the running command, or those that are given, that are among files which an input names."""
    ctx = click.get_current_context()
    read = {_identity(followed(path) or path): path for path in files}
    for output in _outputs(ctx) if outputs is None else outputs:
        source = read.get(_identity(_target(output)))
        if source is not None:
            _refuse_same(ctx, output, Place(said, source))


def smaller_input(ctx: click.Context) -> str:
    """Return a way out of too little memory: less of the largest input, or of what was asked for."""
    files = [path for each in _inputs(ctx) for path in _read(each.path) if is_file(path)]
    if not files:
        return "ask for less: fewer topics, documents, systems or assessors"
    largest = max(files, key=lambda path: path.stat().st_size)
    return f"the largest input is {largest}, with {largest.stat().st_size:,} bytes: use fewer topics, systems or labels"


def input_files() -> tuple[Input, ...]:
    """Identify the files that the running command read, with the TOML files beside judgments."""
    from venire.io.files import DATASET, is_readable
    from venire.io.fingerprints import files_of
    from venire.io.paths import expanded_all

    named = [each.path for each in _inputs(click.get_current_context())]
    there = [path for path in named if str(path).startswith(DATASET) or any(map(is_readable, _read(path)))]
    read = expanded_all(there)
    return files_of(list(dict.fromkeys([*read, *scale_files(read)])))


def scale_files(names: Iterable[str | Path]) -> list[Path]:
    """Return the TOML files beside files, each once."""
    from venire.io.declarations import scale_file

    found = (scale_file(Path(name)) for name in names if is_file(name))
    return list(dict.fromkeys(path for path in found if path is not None))


def _target(output: Place) -> Path:
    return followed(output.path) or output.path


def _inputs(ctx: click.Context) -> Iterator[Place]:
    """Yield what the parameters of a command name that are read, as they name it."""
    for parameter in _path_parameters(ctx):
        if parameter.callback not in PLACES:
            for text in _texts(ctx.params.get(parameter.name or "")):
                name = text.partition("=")[2] if isinstance(parameter.type, NamedPath) else text
                yield Place(parameter.opts[0] if isinstance(parameter, click.Option) else "an argument", Path(name))


def _outputs(ctx: click.Context) -> Iterator[Place]:
    """Yield the files that a command writes; a folder is not among them."""
    for parameter in _path_parameters(ctx):
        path = ctx.params.get(parameter.name or "")
        if parameter.callback in PLACES and parameter.callback not in FOLDERS and isinstance(path, Path):
            yield Place(parameter.opts[0], path)
            if parameter.callback is judgments_place:
                yield Place(parameter.opts[0], _beside(path))


def _path_parameters(ctx: click.Context) -> list[click.Parameter]:
    return [each for each in ctx.command.get_params(ctx) if isinstance(each.type, click.Path)]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Iterable):
        for each in value:
            yield from _texts(each)


def _read(path: Path) -> list[Path]:
    """Return the files behind a name, as the readers find them; none where there are none."""
    if is_folder(path):
        return [each for each in path.iterdir() if not each.name.startswith(".")]
    if is_file(path) or not glob.has_magic(str(path)):
        return [path]
    return [Path(each) for each in glob.glob(str(path), recursive=True)]  # noqa: PTH207 - absolute patterns too


def _identity(path: Path) -> object:
    """Return what is the same for two names of one file."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return path.absolute()
    return found.st_dev, found.st_ino


def _standard_output() -> object:
    """Return the identity of the file that standard output goes to; None if it is no file."""
    try:
        found = os.fstat(1)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def is_file(path: str | Path) -> bool:
    """Return whether this is a file; a text that is too long for a name is none."""
    return os.path.isfile(path)  # noqa: PTH113 - which does not raise


def is_folder(path: str | Path) -> bool:
    """Return whether this is a folder; a text that is too long for a name is none."""
    return os.path.isdir(path)  # noqa: PTH112 - which does not raise


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.toml")
