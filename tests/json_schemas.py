"""JSON that commands write, checked against the schemas of the documentation while tests run.

Every test that runs a command in this process checks its JSON, since ``checked`` replaces the function that writes it.
With ``VENIRE_JSON`` the documents are kept in that folder instead, one of each shape, for ``tools/schemas.py``.
"""

from __future__ import annotations

import json
import os
import runpy
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "docs" / "schemas"
FOLDER = Path(os.environ["VENIRE_JSON"]).resolve() if "VENIRE_JSON" in os.environ else None
"""Where documents are kept; tests change the working directory."""
MOST = 20
"""So many records of a list are checked."""


@cache
def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "schemas.py"))


def current_command() -> str | None:
    """Return the name of the schema of the command that runs."""
    from venire.cli.output import schema_name

    context = click.get_current_context(silent=True)
    return None if context is None else schema_name(context)


@cache
def validator(name: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")))


def check(name: str, document: Any) -> None:
    """Raise where a document does not follow its schema; keep it where documents are collected."""
    short = shortened(document)
    if FOLDER is None:
        validator(name).validate(short)
        return
    text = json.dumps(short)
    shape = sha256(json.dumps(tool()["shape"](short), sort_keys=True).encode()).hexdigest()[:16]
    (FOLDER / f"{name}={shape}.json").write_text(text, encoding="utf-8")


def shortened(value: Any) -> Any:
    """Return a document with the first and last records of long lists."""
    if isinstance(value, dict):
        return {name: shortened(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shortened(each) for each in (value if len(value) <= MOST else [*value[: MOST - 1], value[-1]])]
    return value
