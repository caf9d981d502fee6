"""Readers and writers of files, and of objects of other tools."""

from venire._lazy import lazy_names

lazy_names(__name__)
