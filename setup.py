"""The compiled scan: built where there is a C compiler, left out where there is none."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension("venire.scan._scan", ["src/venire/scan/_scan.c"], py_limited_api=True, optional=True),
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
