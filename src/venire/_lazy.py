"""Public names of a package, imported when they are first used, so that ``import venire`` is quick.

The names are written once, in the package's ``__init__.pyi``: ``from venire.agreement.alpha import alpha as alpha``.
Type checkers and editors read that stub; :func:`lazy_names` reads it at run time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from types import ModuleType


class LazyPackage(ModuleType):
    """A package that imports a public name when it is first asked for."""

    _home: dict[str, str]
    __all__: list[str]

    def __getattr__(self, name: str) -> object:
        if name not in self._home:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        home = self._home[name]
        found = import_module(f"{home}.{name}") if home == self.__name__ else getattr(import_module(home), name)
        vars(self)[name] = found
        return found

    def __setattr__(self, name: str, value: object) -> None:
        """Let a public name win over the module of that name: ``venire.agreement.alpha`` is the function."""
        if not (isinstance(value, ModuleType) and self._home.get(name, self.__name__) != self.__name__):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self._home, *(name for name in vars(self) if name.startswith("__"))})


def lazy_names(package: str) -> None:
    """Give a package the public names of its stub."""
    module = sys.modules[package]
    with open(f"{str(module.__file__).removesuffix('.py')}.pyi", encoding="utf-8") as file:  # noqa: PTH123
        home = dict(_imports(file.read()))
    vars(module).update(_home=home, __all__=sorted(name for name in home if home[name] != package))
    module.__class__ = LazyPackage


def _imports(stub: str) -> Iterator[tuple[str, str]]:
    """Yield each name of a stub and its module; pathlib and re would take longer to import than all the rest."""
    for line in f"\n{stub}".split("\nfrom ")[1:]:
        where, _, names = line.partition(" import ")
        words = names.replace("(", " ").split()
        yield from ((name, where) for name, word in pairwise(words) if word == "as")
