"""Small values written as text: an assessor's kind or a pattern, as it is printed, in any case.

As in ``strict``, ``strict(shift=0.4)``, ``OnePerItem(twice=0.2)``; nothing in the text is run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from inspect import signature
from typing import TypeVar

from venire.errors import SettingError, UnknownName, VenireError

T = TypeVar("T")


def parsed(text: str) -> ast.expr:
    """Read text as one expression; nothing in it is run."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise SettingError(f"{text!r} cannot be read", hint="write name, or name(parameter=number)") from None


def value_of(node: ast.expr, kind: str, known: Mapping[str, Callable[..., T]]) -> T:
    """Make the value that ``name`` or ``name(parameter=number)`` stands for; ``kind`` says what is meant."""
    call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    if not isinstance(call.func, ast.Name) or call.args or not all(each.arg for each in call.keywords):
        raise SettingError(f"{ast.unparse(node)!r} is no {kind}", hint="write name, or name(parameter=number)")
    name = call.func.id.lower()
    if name not in known:
        raise UnknownName(kind, name, known)
    try:
        return known[name](**{str(each.arg): ast.literal_eval(each.value) for each in call.keywords})
    except TypeError:
        hint = f"its parameters are {', '.join(signature(known[name]).parameters) or 'none'}"
        raise SettingError(f"{ast.unparse(node)!r} does not fit the {kind} {name!r}", hint=hint) from None
    except ValueError as error:
        if isinstance(error, VenireError):
            raise
        raise SettingError(f"{ast.unparse(node)!r}: a parameter is not a plain value") from None
