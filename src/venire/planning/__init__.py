"""What to judge next, and how much."""

from venire._lazy import lazy_names

lazy_names(__name__)
