"""Public names of a package, imported when they are first used, so that ``import venire`` is quick.

The names are written once, in the package's ``__init__.pyi``: ``from venire.agreement.alpha import alpha as alpha``.
Type checkers and editors read that stub; :func:`lazy_names` reads it at run time.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

IMPORTS = re.compile(r"^from (\S+) import (\([^)]*\)|.+)", re.MULTILINE)


class LazyPackage(ModuleType):
    """A package that imports a public name when it is first asked for."""

    _home: dict[str, str]
    __all__: list[str]

    def __getattr__(self, name: str) -> Any:
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
    stub = Path(str(module.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    home = {name: where for where, names in IMPORTS.findall(stub) for name in re.findall(r"(\w+) as ", names)}
    vars(module).update(_home=home, __all__=sorted(name for name in home if home[name] != package))
    module.__class__ = LazyPackage
