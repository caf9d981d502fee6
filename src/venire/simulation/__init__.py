"""Simulated collections with a known truth."""

from venire._lazy import lazy_names

lazy_names(__name__)
