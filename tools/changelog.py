"""Move the fragments of changelog.d into CHANGELOG.md, under the version of pyproject.toml.

``python tools/changelog.py`` writes the section of this version, and deletes the fragments;
``python tools/changelog.py --notes`` prints the section of this version, for the page of the release; with ``--tag``,
the tag has to be that of the version.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADINGS = ("Added", "Changed", "Deprecated", "Removed", "Fixed")
PART = re.compile(rf"^### ({'|'.join(HEADINGS)})\n\n((?:- .*\n(?:  .*\n)*\n*)+)", re.MULTILINE)


class ChangelogError(Exception):
    """What keeps a section from being written."""


def parts_of(text: str, where: str) -> list[tuple[str, str]]:
    """Return the headings of a fragment, each with its bullets; whatever else it holds is an error."""
    text = text.rstrip() + "\n"
    rest = PART.sub("", text).strip()
    if rest:
        expected = f"a heading (### {', ### '.join(HEADINGS)}), an empty line, and bullets (- ...)"
        raise ChangelogError(f"{where}: found {rest.splitlines()[0]!r}, expected {expected}")
    return [(heading, re.sub(r"\n+", "\n", bullets)) for heading, bullets in PART.findall(text)]


def section(fragments: dict[str, str], version: str, day: dt.date) -> str:
    """Return the section of a version, bullets of all fragments below the headings in their usual order."""
    parts = [part for where, text in sorted(fragments.items()) for part in parts_of(text, where)]
    if not parts:
        raise ChangelogError("there are no fragments in changelog.d: nothing has changed since the last release")
    lines = [f"## {version} ({day})\n"]
    for heading in HEADINGS:
        bullets = [text for name, text in parts if name == heading]
        lines += [f"### {heading}\n", "".join(bullets)] if bullets else []
    return "\n".join(lines)


def notes(changelog: str, version: str) -> str:
    """Return what a changelog says of a version."""
    found = re.search(rf"^## {re.escape(version)} \(.*?\)\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if not found:
        raise ChangelogError(f"CHANGELOG.md has no section {version}: run python tools/changelog.py, and commit it")
    return found[1].strip() + "\n"


def release(root: Path, day: dt.date) -> None:
    """Write the section of the version in pyproject.toml above those of earlier ones, and delete the fragments."""
    path, version = root / "CHANGELOG.md", version_of(root)
    changelog = path.read_text(encoding="utf-8")
    if f"\n## {version} (" in changelog:
        raise ChangelogError(f"CHANGELOG.md has a section {version} already: set a new version in pyproject.toml")
    found = {each: each.read_text(encoding="utf-8") for each in (root / "changelog.d").glob("*.md")}
    found = {each: text for each, text in found.items() if each.name != "README.md"}
    new = section({each.name: text for each, text in found.items()}, version, day)
    before, mark, after = changelog.partition("\n## ")
    path.write_text(f"{before.rstrip()}\n\n{new}{mark}{after}", encoding="utf-8")
    for each in found:
        each.unlink()


def version_of(root: Path) -> str:
    """Return the version in pyproject.toml, the only place where it is written."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def main() -> None:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", action="store_true", help="print the section of this version")
    parser.add_argument("--tag", help="the tag of the release, v and the version")
    given = parser.parse_args()
    try:
        if given.tag not in {None, f"v{version_of(ROOT)}"}:
            raise ChangelogError(f"the tag is {given.tag}, and the version in pyproject.toml is {version_of(ROOT)}")
        if given.notes:
            print(notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version_of(ROOT)), end="")
        else:
            release(ROOT, dt.datetime.now(dt.UTC).date())
    except ChangelogError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
