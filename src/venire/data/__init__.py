"""Tables of judgments, runs, preferences, clicks and aspects."""

from venire._lazy import lazy_names

lazy_names(__name__)
