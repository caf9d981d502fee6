"""The compiled scan: built where there is a C compiler, left out where there is none.

Built against Python's stable ABI, so that one wheel serves every Python from 3.11 on.  Free-threaded builds of Python
3.13 and 3.14 have no stable ABI: there the wheel is for that Python alone.
"""

import sys
import sysconfig
from typing import Any

from setuptools import Extension, setup

SOURCE = "src/venire/scan/_scan.c"
NO_SYMBOLS = ["-Wl,-s"] if sys.platform.startswith("linux") else []
"""Two thirds of the file are symbols for a debugger."""


def build_options(*, free_threaded: bool) -> dict[str, Any]:
    """Return the arguments of ``setup`` for one kind of Python."""
    if free_threaded:
        return {"ext_modules": [Extension("venire.scan._scan", [SOURCE], extra_link_args=NO_SYMBOLS, optional=True)]}
    stable = [("Py_LIMITED_API", "0x030B0000")]
    module = Extension(
        "venire.scan._scan",
        [SOURCE],
        define_macros=stable,
        extra_link_args=NO_SYMBOLS,
        py_limited_api=True,
        optional=True,
    )
    return {"ext_modules": [module], "options": {"bdist_wheel": {"py_limited_api": "cp311"}}}


if __name__ == "__main__":
    setup(**build_options(free_threaded=bool(sysconfig.get_config_var("Py_GIL_DISABLED"))))
