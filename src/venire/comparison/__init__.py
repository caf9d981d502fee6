"""Which systems differ, and what other judges say about it."""

from venire._lazy import lazy_names

lazy_names(__name__)
