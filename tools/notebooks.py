"""Notebooks of the documentation: run by a plain interpreter, and written with their outputs and as pages.

A Jupyter kernel takes some thirty packages; what the examples need of it is here: cells run in order in one namespace,
the last expression of a cell is shown, as HTML or PNG where it can show itself so.  ``python tools/notebooks.py`` runs
every notebook of docs/notebooks again.
"""

from __future__ import annotations

import ast
import base64
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
MARK = "<!-- Written by tools/notebooks.py from {}; edit that. -->"

Notebook = dict[str, Any]


def read(path: Path) -> Notebook:
    """Read a notebook."""
    return json.loads(path.read_text(encoding="utf-8"))


def run_again(notebook: Notebook) -> Notebook:
    """Run the code cells in order, and return the notebook with what they show now."""
    space: dict[str, Any] = {"__name__": "__main__"}
    cells, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            outputs = list(_outputs("".join(cell["source"]), space, number))
            cell = {**cell, "execution_count": number, "metadata": {}, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(source: str, space: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(StringIO()) as printed:
        exec(compile(tree, f"<cell {number}>", "exec"), space)
        value = None if last is None else eval(compile(last, f"<cell {number}>", "eval"), space)
    if printed.getvalue():
        yield {"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())}
    if value is not None:
        yield {"data": _bundle(value), "execution_count": number, "metadata": {}, "output_type": "execute_result"}


def _bundle(value: object) -> dict[str, Any]:
    """What a value shows: as text, and as HTML or PNG where it can."""
    held: dict[str, Any] = {"text/plain": _lines(repr(value))}
    html, png = (getattr(value, name, lambda: None)() for name in ("_repr_html_", "_repr_png_"))
    if html is not None:
        held["text/html"] = _lines(html)
    if png is not None:
        held["image/png"] = base64.b64encode(png).decode()
    return held


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def page(notebook: Notebook, name: str) -> tuple[str, dict[str, bytes]]:
    """Write a notebook as a page of the documentation -> its Markdown, and its pictures by file name."""
    parts, pictures = [MARK.format(f"{name}.ipynb")], {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else _fenced(source, "python"))
        for output in cell.get("outputs", ()):
            held = output.get("data", {})
            if "image/png" in held:
                file = f"{name}-{len(pictures) + 1}.png"
                pictures[file] = base64.b64decode(held["image/png"])
                parts.append(f"![{source.splitlines()[-1]}]({file})")
            elif "text/html" in held:
                parts.append("".join(held["text/html"]))
            else:
                parts.append(_fenced("".join(output.get("text") or held["text/plain"]), "text"))
    return "\n\n".join(parts) + "\n", pictures


def _fenced(text: str, language: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def write(path: Path) -> None:
    """Run a notebook, and write it and its page."""
    notebook = run_again(read(path))
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    text, pictures = page(notebook, path.stem)
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    for old in path.parent.glob(f"{path.stem}-*.png"):
        old.unlink()
    for file, held in pictures.items():
        (path.parent / file).write_bytes(held)


if __name__ == "__main__":
    for each in sorted(FOLDER.glob("*.ipynb")):
        write(each)
