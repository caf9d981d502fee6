"""The compiled scan: built where there is a C compiler, left out where there is none.

Built against Python's stable ABI, so that one wheel serves every Python from 3.11 on.  Free-threaded builds of Python
3.13 and 3.14 have no stable ABI: there the wheel is for that Python alone.
"""

import sys
import sysconfig
from pathlib import Path
from typing import Any

from setuptools import Extension, setup

ROOT = Path(__file__).resolve().parent
FILES = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "src/venire/scan/native").iterdir())]
HIDDEN = [] if sys.platform == "win32" else ["-fvisibility=hidden"]
"""What the C files share is not visible outside of the module."""
NO_SYMBOLS = ["-Wl,-s"] if sys.platform.startswith("linux") else []
"""Two thirds of the file are symbols for a debugger."""


def build_options(*, free_threaded: bool) -> dict[str, Any]:
    """Return the arguments of ``setup`` for one kind of Python."""
    module = Extension(
        "venire.scan._scan",
        [path for path in FILES if path.endswith(".c")],
        depends=[path for path in FILES if path.endswith(".h")],
        define_macros=[] if free_threaded else [("Py_LIMITED_API", "0x030B0000")],
        extra_compile_args=HIDDEN,
        extra_link_args=NO_SYMBOLS,
        py_limited_api=not free_threaded,
        optional=True,
    )
    if free_threaded:
        return {"ext_modules": [module]}
    return {"ext_modules": [module], "options": {"bdist_wheel": {"py_limited_api": "cp311"}}}


if __name__ == "__main__":
    setup(**build_options(free_threaded=bool(sysconfig.get_config_var("Py_GIL_DISABLED"))))
