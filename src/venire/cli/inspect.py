"""venire inspect: descriptions of files and their problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from venire.cli.options import PATH, Command, output_options, reading, rng_option, with_flags
from venire.cli.output import Cell, Output, Table, as_text, bar
from venire.errors import Way, joined_ways

if TYPE_CHECKING:
    from pathlib import Path

    from venire.io.inspect import Inspection, Problem

MOST_ASSESSORS, MOST_NAMES = 20, 8
TEXT = ("compression", "bytes", "lines", "encoding", "line_ends")

EXAMPLES = """\b
Examples:
  venire inspect qrels.txt runs
  venire inspect judges.tsv --scale "Non<Rel<HRel"
  venire inspect runs --format json
"""


@click.command("inspect", cls=Command, epilog=EXAMPLES)
@click.argument("files", nargs=-1, required=True, type=PATH)
@reading
@output_options()
@rng_option(used=False)
def command(*, files: tuple[str, ...], reading: dict[str, Any], out: Output) -> int:
    """Describe FILES, and list the problems in them.

    FILES are judgments, runs, plans, texts or lists of duplicates, or folders or patterns of them, or files of other
    tools; the kind of each is recognised.  Files are read as other commands read them.  The exit code is 2 if a file
    cannot be read.
    """
    from venire.io.inspect import inspect_file

    paths = list(_paths(files))
    with bar(paths, quiet=out.quiet) as progress:
        found = [inspect_file(path, reading=reading, progress=progress) for path in paths]
    notes = shared_systems(found)
    if out.format == "json":
        out.json({"files": [as_record(each) for each in found]})
    elif out.format == "table":
        out.text("\n".join("".join(f"{line}\n" for line in in_words(each)) for each in found))
    else:
        out.table("files", as_table(found))
    out.notes(notes)
    return 0 if all(each.readable for each in found) else 2


def _paths(sources: Iterable[str]) -> Iterator[Path]:
    from pathlib import Path

    from venire.io.paths import expanded
    from venire.io.sources.folders import all_files, is_collection

    for source in sources:
        yield from all_files(Path(source)) if is_collection(Path(source)) else expanded(source)


def _hint(problem: Problem) -> str | None:
    """Return the hint; the way to raise a limit is named with its option, others are of other commands."""
    ways = [with_flags(way) if isinstance(way, Way) and "limit" in way.settings else way for way in problem.ways]
    return joined_ways(ways) if ways else problem.hint


def shared_systems(found: Iterable[Inspection]) -> list[str]:
    """Return notes on systems that are in several files, which an evaluation of both would refuse."""
    home: dict[str, str] = {}
    notes = []
    for each in found:
        for system in each.facts.get("systems", ()):
            if home.setdefault(system, each.file) != each.file:
                notes.append(
                    f"system {system!r} is in {home[system]} and in {each.file}; evaluate both with --system-from file"
                )
    return notes


def as_record(found: Inspection) -> dict[str, object]:
    """Return what was found about a file as JSON has it."""
    problems = [{"line": each.line, "what": each.what, "hint": _hint(each)} for each in found.problems]
    return {"file": found.file, "kind": found.kind, "facts": dict(found.facts), "problems": problems}


def as_table(found: Iterable[Inspection]) -> Table:
    """Return a row per fact and per problem."""
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        facts = ((name, value) for name, value in each.facts.items() if name != "label_counts")
        rows += [(each.file, each.kind, _words(name), None, in_short(name, value)) for name, value in facts]
        rows += [(each.file, each.kind, "problem", problem.line, problem.what) for problem in each.problems]
    return Table(("file", "kind", "about", "line", "value"), rows)


def in_words(found: Inspection) -> Iterator[str]:
    """Yield lines of text about a file; facts that are zero or empty are left out."""
    from venire.results import counted

    yield f"{found.file}: {found.kind}{'' if found.readable else ', not readable'}"
    facts = dict(found.facts)
    if of_text := [in_short(name, facts.pop(name)) for name in TEXT if name in facts]:
        yield f"  {', '.join(of_text)}"
    counts, notes = facts.pop("label_counts", None), facts.pop("notes", ())
    yield from (f"  {_words(name)}: {in_short(name, value)}" for name, value in facts.items() if value)
    if counts:
        yield from (f"  {line}" for line in as_text(label_table(counts)).splitlines())
        if len(counts) > MOST_ASSESSORS:
            yield f"  and {counted(len(counts) - MOST_ASSESSORS, 'more assessor')}"
    yield from (f"  note: {note}" for note in notes)
    for problem in found.problems:
        place = "" if problem.line is None else f"line {problem.line:,}: "
        yield f"  {'error' if problem.fatal else 'problem'}: {place}{problem.what}"
        if problem.hint:
            yield f"    hint: {_hint(problem)}"


def label_table(counts: Mapping[str, Mapping[str, int]]) -> Table:
    """Return each assessor's number of labels and the share of each."""
    labels = list(next(iter(counts.values())))
    rows: list[list[Cell]] = [
        [assessor, sum(own.values()), *(f"{own[label] / max(sum(own.values()), 1):4.0%}" for label in labels)]
        for assessor, own in list(counts.items())[:MOST_ASSESSORS]
    ]
    return Table(["assessor", "labels", *labels], rows)


def in_short(name: str, value: object) -> str:
    """Return a fact as text."""
    if name == "compression":
        return "not compressed" if value == "none" else str(value)
    if name in ("bytes", "lines"):
        return f"{value:,} {name}"
    if isinstance(value, Mapping) and "median" in value:
        low, high = value["min"], value["max"]
        return f"{low:,}" if low == high else f"{low:,} to {high:,}, median {value['median']:,.10g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{each:,} with {key}" for key, each in value.items())
    if isinstance(value, list):
        shown = ", ".join(map(str, value[:MOST_NAMES])) + ", ..." * (len(value) > MOST_NAMES)
        return f"{len(value):,} ({shown})"
    if isinstance(value, float):
        return f"{value:.2%} of the rows"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _words(name: str) -> str:
    return name.replace("_", " ")
