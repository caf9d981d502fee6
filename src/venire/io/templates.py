"""Templates of pages: all that they show is escaped, and what cannot be seen in a text is made visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from venire.results import visible

if TYPE_CHECKING:
    from jinja2 import Environment


def templates(package: str, folder: str, *, keep: str = "\n") -> Environment:
    """Return the templates in a folder of a package; keep: control characters that are left as they are.

    A name that a template uses and is not given is an error.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: visible(value, keep=keep) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
