"""Conditional labels: how relevant a document is after another one."""

from venire._lazy import lazy_names

lazy_names(__name__)
